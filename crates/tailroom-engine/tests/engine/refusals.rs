//! The wrong scenarios of `refusals.toml` are refused with the line, the key and a remedy.

use std::collections::BTreeMap;
use std::fs;
use std::panic::catch_unwind;

use serde::Deserialize;
use toml::Value;

use crate::support::refusals::check_refusal;
use crate::support::scenario_text::{BASE, resolve_with};

#[derive(Deserialize)]
struct Table {
    texts: BTreeMap<String, String>,
    #[serde(flatten)]
    sections: BTreeMap<String, Section>,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Section {
    r#in: Option<String>,
    change: String,
    to: String,
    at: String,
    rows: Vec<Vec<Value>>,
    accepted: Vec<String>,
}

impl Default for Section {
    fn default() -> Self {
        let [change, at] = [String::new(), String::new()];
        Section { r#in: None, change, to: "ROW".into(), at, rows: vec![], accepted: vec![] }
    }
}

/// The text with its first `from` replaced.
fn replaced(text: &str, from: &str, to: &str) -> Result<String, String> {
    let changed = text.contains(from).then(|| text.replacen(from, to, 1));
    changed.ok_or_else(|| format!("{from} is not in {text}"))
}

/// Checks the refusal of a row, whose section has made `text`.
fn check_row(section: &Section, text: &str, row: &[Value]) -> Result<(), String> {
    let texts: Vec<&str> = row.iter().map_while(Value::as_str).collect();
    let lists = row[texts.len()..].iter().map(|list| list.clone().try_into::<Vec<String>>());
    let lists: Vec<Vec<String>> = lists.collect::<Result<_, _>>().map_err(|bad| bad.to_string())?;
    let (text, end) = match texts[..] {
        [change, end] => (replaced(text, "ROW", change)?, end),
        [from, to, end] => (replaced(text, from, to)?, end),
        _ => return Err("it has another form".into()),
    };
    let message = resolve_with(&text, &[]).err().ok_or("it is valid")?.to_string();
    let [names, mut elsewhere] = [0, 1].map(|at| lists.get(at).into_iter().flatten());
    let names: Vec<&str> = names.map(String::as_str).collect();
    check_refusal(&message, &format!("{}{end}", section.at), &names)?;
    let missing = elsewhere.find(|part| !message.contains(part.as_str()));
    missing.map_or(Ok(()), |part| Err(format!("{message}: without {part}")))
}

#[test]
fn every_wrong_scenario_is_refused_with_its_place_and_a_remedy() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/refusals.toml");
    let table = fs::read_to_string(file).expect("the table is there");
    let table: Table = toml::from_str(&table).expect("a table of refusals");
    let (mut rows, mut faults) = (0, Vec::new());
    for (name, section) in &table.sections {
        let mut text = section.r#in.as_ref().map_or(BASE, |text| &table.texts[text]).to_owned();
        if !section.change.is_empty() {
            text = replaced(&text, &section.change, &section.to).expect(name);
        }
        for row in &section.rows {
            rows += 1;
            let checked = catch_unwind(|| check_row(section, &text, row));
            if let Err(fault) = checked.unwrap_or_else(|_| Err("it panics".into())) {
                faults.push(format!("{name}, {}: {fault}", Value::from(row.clone())));
            }
        }
        for change in &section.accepted {
            let text = replaced(&text, "ROW", change).expect(name);
            if let Err(error) = resolve_with(&text, &[]) {
                faults.push(format!("{name}, accepted {change}: {error}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(rows >= 400, "{rows}");
}
