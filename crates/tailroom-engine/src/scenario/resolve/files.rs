//! The files that the sources and distributions of a scenario name.

use std::cell::Cell;

use crate::distribution::config::FileTexts;
use crate::quantity::Size;
use crate::quoting::quoted;
use crate::scenario::FileLoader;
use crate::scenario::text::error::{Fault, Path};

/// Files may take this part of `memory_limit`: what is read from them takes several times as much.
const SHARE_OF_MEMORY: u64 = 8;

/// The files of a scenario, as far as its `memory_limit` allows.
pub(in crate::scenario) struct BoundedFiles<'a> {
    files: &'a dyn FileLoader,
    memory_limit: Size,
    left_bytes: Cell<u64>,
}

impl<'a> BoundedFiles<'a> {
    pub(in crate::scenario) fn new(files: &'a dyn FileLoader, memory_limit: Size) -> Self {
        let left_bytes = Cell::new(memory_limit.bytes() / SHARE_OF_MEMORY);
        BoundedFiles { files, memory_limit, left_bytes }
    }

    /// The text of the file that `key` names.
    pub(in crate::scenario) fn load(&self, path: &str, key: &Path) -> Result<String, Fault> {
        let loaded = self.files.load(path, self.left_bytes.get()).map_err(|reason| {
            let problem = format!("cannot read \"{}\": {reason}", quoted(path));
            let readable = "give a readable file, relative to the scenario file";
            let remedy = place_of_trace(path).map(|place| format!("{readable}; {place} has it"));
            Fault::new(key, problem, remedy.unwrap_or_else(|| readable.to_owned()))
        })?;
        let text = loaded.ok_or_else(|| {
            let problem = format!(
                "\"{}\" is too large: all files together may take an eighth of memory_limit ({})",
                quoted(path),
                self.memory_limit
            );
            Fault::new(key, problem, "raise memory_limit, or give a shorter file")
        })?;
        self.left_bytes.set(self.left_bytes.get().saturating_sub(text.len() as u64));
        Ok(text)
    }
}

/// Traces that Mahimahi distributes, each `.down` and `.up`.
const PUBLIC_TRACES: [&str; 8] = [
    "ATT-LTE-driving",
    "ATT-LTE-driving-2016",
    "TMobile-LTE-driving",
    "TMobile-LTE-short",
    "TMobile-UMTS-driving",
    "Verizon-EVDO-driving",
    "Verizon-LTE-driving",
    "Verizon-LTE-short",
];

/// Where to get the file, if it is a public trace.
fn place_of_trace(path: &str) -> Option<String> {
    let file = path.rsplit('/').next()?;
    let name = file.strip_suffix(".down").or_else(|| file.strip_suffix(".up"))?;
    let place = "https://raw.githubusercontent.com/ravinet/mahimahi/master/traces";
    PUBLIC_TRACES.contains(&name).then(|| format!("{place}/{file}"))
}

/// Loads every such file, wherever it stands in the scenario, and says which cannot be read: the
/// `file` of each table that has a `kind`, whatever the kind. A `file` of a congestion control is
/// the control's own parameter.
pub(in crate::scenario) fn load_files(
    table: &toml::Table,
    files: &BoundedFiles<'_>,
) -> (FileTexts, Vec<Fault>) {
    let mut loading = Loading { files, texts: FileTexts::new(), faults: Vec::new() };
    loading.table(table, &Path::default());
    (loading.texts, loading.faults)
}

/// Whether a component with this key may have parameters that only the code of the caller reads.
fn is_code(key: &str) -> bool {
    ["congestion", "queue", "nic_queue"].contains(&key)
}

struct Loading<'a> {
    files: &'a BoundedFiles<'a>,
    texts: FileTexts,
    faults: Vec<Fault>,
}

impl Loading<'_> {
    fn table(&mut self, table: &toml::Table, at: &Path) {
        if let (Some(_), Some(toml::Value::String(path))) = (table.get("kind"), table.get("file")) {
            self.file(path, &at.key("file"));
        }
        for (key, value) in table {
            match value {
                // A group or a link of such a name has no kind.
                toml::Value::Table(inner) if is_code(key) && inner.contains_key("kind") => {}
                toml::Value::Table(inner) => self.table(inner, &at.key(key)),
                toml::Value::Array(items) => {
                    let tables = items.iter().enumerate();
                    for (index, inner) in tables.filter_map(|(at, one)| Some((at, one.as_table()?)))
                    {
                        self.table(inner, &at.key(key).index(index));
                    }
                }
                _ => {}
            }
        }
    }

    fn file(&mut self, path: &str, at: &Path) {
        match self.files.load(path, at) {
            Ok(text) => drop(self.texts.insert(path.to_owned(), text)),
            Err(fault) => self.faults.push(fault),
        }
    }
}
