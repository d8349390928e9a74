//! Whether the links that paths name exist, told together with what the schema refuses.
//!
//! A scenario that the schema accepts is checked in whole where it is resolved; this is for one
//! that it does not accept.

use toml::{Table, Value};

use super::error::{Fault, Path, Step, suggestion};

/// The faults of the paths of `table`, of which the schema has found `faults`.
pub(super) fn check(table: &Table, faults: &[Fault]) -> Vec<Fault> {
    // With a misspelled table of links each path would be wrong too.
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
    unknown.map(|(at, name)| no_such_link(name, links.keys().map(String::as_str), &at)).collect()
}

/// The fault of a path that names a link at `at` which is not among the known ones.
pub(super) fn no_such_link<'a>(
    name: &str,
    known: impl ExactSizeIterator<Item = &'a str>,
    at: &Path,
) -> Fault {
    let remedy = if known.len() == 0 {
        format!("add a table [links.{name}]")
    } else {
        suggestion(name, known)
    };
    Fault::new(at, format!("there is no link \"{name}\""), remedy)
}
