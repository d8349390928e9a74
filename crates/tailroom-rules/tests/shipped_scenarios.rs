//! Another limit in each shipped scenario changes nothing else in its text.

use std::fs;
use std::path::{Path, PathBuf};

use tailroom_rules::scenario_text::set_key;
use toml_edit::DocumentMut;

fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the shipped scenarios");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(scenarios(&path));
        } else if path.extension().is_some_and(|kind| kind == "toml") {
            found.push(path);
        }
    }
    found
}

fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find('#').map(|at| &line[at..])).collect()
}

#[test]
fn another_limit_changes_nothing_else() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tailroom/scenarios");
    let files = scenarios(&shipped);
    assert!(files.len() > 10);
    for file in files {
        let text = fs::read_to_string(&file).expect("a scenario");
        let before: DocumentMut = text.parse().expect("TOML");
        // Switches and fabrics name no links.
        let table = before.get("links").and_then(|links| links.as_table_like());
        let Some((link, _)) = table.and_then(|links| links.iter().next()) else { continue };
        let path = ["links", link, "queue", "limit"].map(str::to_owned);
        let changed = set_key(&text, &path, "\"7 packets\"").expect("a change");
        let mut after: DocumentMut = changed.parse().expect("TOML");
        let limit = &mut after["links"][link]["queue"]["limit"];
        assert_eq!(limit.as_str(), Some("7 packets"), "{}", file.display());
        assert_eq!(after["flows"].to_string(), before["flows"].to_string(), "{}", file.display());
        assert_eq!(comments(&changed), comments(&text), "{}", file.display());
        let lines = text.lines().count().abs_diff(changed.lines().count());
        assert!(lines <= 1, "{}", file.display());
    }
}
