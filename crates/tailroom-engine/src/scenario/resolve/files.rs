//! The files that the sources and distributions of a scenario name.

use crate::distribution::config::FileTexts;
use crate::scenario::FileLoader;
use crate::scenario::text::error::{Fault, Path};

/// Loads every such file, wherever it stands in the scenario, and says which cannot be read: the
/// `file` of each table that has a `kind`, whatever the kind. A `file` of a congestion control is
/// the control's own parameter.
pub(in crate::scenario) fn load_files(
    table: &toml::Table,
    files: &dyn FileLoader,
) -> (FileTexts, Vec<Fault>) {
    let mut loading = Loading { files, texts: FileTexts::new(), faults: Vec::new() };
    loading.table(table, &Path::default());
    (loading.texts, loading.faults)
}

struct Loading<'a> {
    files: &'a dyn FileLoader,
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
                // A group of this name has no kind.
                toml::Value::Table(inner) if key == "congestion" && inner.contains_key("kind") => {}
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
        match self.files.load(path) {
            Ok(text) => drop(self.texts.insert(path.to_owned(), text)),
            Err(reason) => {
                let problem = format!("cannot read \"{path}\": {reason}");
                let remedy = "give a readable file, relative to the scenario file";
                self.faults.push(Fault::new(at, problem, remedy));
            }
        }
    }
}
