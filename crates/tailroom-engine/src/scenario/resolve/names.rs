//! Checks that the links of each path exist, in a scenario that the schema refuses.
//!
//! `resolve` checks the paths of a scenario that the schema accepts. This check reports wrong names
//! together with the other faults.

use toml::{Table, Value};

use crate::quoting::quoted;
use crate::scenario::text::error::{Fault, MOST_FAULTS, Path, Step, suggestion};

/// Returns the faults of the paths in `table`; `faults` are those that the schema has found.
pub(in crate::scenario) fn check(table: &Table, faults: &[Fault]) -> Vec<Fault> {
    // If the name of a table of links is misspelled, every path would be reported.
    let is_at_top = |fault: &Fault| matches!(fault.path.0.as_slice(), [Step::Key(_)]);
    if faults.iter().any(is_at_top) {
        return Vec::new();
    }
    let Some(links) = table.get("links").and_then(Value::as_table) else { return Vec::new() };
    let groups = table.get("flows").and_then(Value::as_table).into_iter().flatten();
    let paths = groups.flat_map(|(name, group)| {
        ["path", "reverse_path"].map(|key| (Path::of(&["flows", name, key]), group.get(key)))
    });
    let steps = paths.flat_map(|(at, path)| {
        let names = path.and_then(Value::as_array).into_iter().flatten();
        names.enumerate().map(move |(index, name)| (at.index(index), name.as_str()))
    });
    let named = steps.filter_map(|(at, name)| Some((at, name?)));
    let unknown = named.filter(|(_, name)| !links.contains_key(*name));
    let unknown = unknown.take(MOST_FAULTS);
    unknown.map(|(at, name)| no_such_link(name, links.keys().map(String::as_str), &at)).collect()
}

/// The fault of a path that names, at `at`, a link that does not exist.
pub(in crate::scenario) fn no_such_link<'a>(
    name: &str,
    known: impl ExactSizeIterator<Item = &'a str>,
    at: &Path,
) -> Fault {
    let remedy = if known.len() == 0 {
        format!("add a table [links.{}]", quoted(name))
    } else {
        suggestion(name, known)
    };
    Fault::new(at, format!("there is no link \"{}\"", quoted(name)), remedy)
}
