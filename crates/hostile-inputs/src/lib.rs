//! What must hold whatever a scenario, a trace, a list, a capture or a network contains: an error that names
//! the remedy, or a run that is the same on both paths of the engine and whose numbers are numbers.
//!
//! Each function is the body of a target of `make fuzz`, and of a test that mutates valid files.

mod network;
mod parameters;

use std::io::Cursor;

use serde_json::Value;
use tailroom_capture::Import;
use tailroom_engine::network::Network;
use tailroom_engine::scenario::{self, FileLoader, ScenarioError};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;

/// Both paths are compared if the run ends within this many events.
const MOST_EVENTS: u64 = 20_000;
/// Networks with more flows are checked, and not run: a run would take too long.
const MOST_FLOWS: usize = 1_000;
/// A line of a message quotes a few texts of the scenario, each by 80 characters.
const LONGEST_LINE: usize = 1_000;
/// Runs may take this much; a scenario may ask for more.
const MEMORY_LIMIT: &str = "64 MB";

/// A scenario as TOML. Lines `# set KEY = VALUE` are overrides, as `--set`, grids and `together` give
/// them.
///
/// # Panics
/// Panics if something does not hold.
pub fn scenario(text: &[u8]) {
    if let Ok(text) = std::str::from_utf8(text) {
        check_scenario(text, &Files { text: "" });
    }
}

/// A trace of transmission opportunities, as Mahimahi writes it.
///
/// # Panics
/// Panics if something does not hold.
pub fn trace(text: &[u8]) {
    check_file(include_str!("trace.toml"), text);
}

/// A list of flows as CSV.
///
/// # Panics
/// Panics if something does not hold.
pub fn flow_list(text: &[u8]) {
    check_file(include_str!("flow_list.toml"), text);
}

/// A distribution as CSV.
///
/// # Panics
/// Panics if something does not hold.
pub fn distribution(text: &[u8]) {
    check_file(include_str!("distribution.toml"), text);
}

/// A network built by hand: which fields of a good network have which values.
///
/// # Panics
/// Panics if something does not hold.
pub fn network(edits: &[u8]) {
    let network = network::of_bytes(edits);
    match network.validate() {
        Err(error) => assert!(error.to_string().contains("; "), "{error}: no remedy"),
        Ok(()) => check_run(&network),
    }
}

/// A capture as pcap or pcapng.
///
/// # Panics
/// Panics if the flows that are found make no sense.
pub fn capture(bytes: &[u8]) {
    let Ok(mut import) = Import::new(Cursor::new(bytes), 10_000_000) else { return };
    while import.read(1_000).expect("memory can be read") {}
    let (flows, report) = import.finish();
    assert!(flows.len() as u64 <= report.packets, "more flows than packets");
}

struct Files<'a> {
    text: &'a str,
}

impl FileLoader for Files<'_> {
    fn load(&self, _path: &str, most_bytes: u64) -> Result<Option<String>, String> {
        Ok(Some(self.text.to_owned()).filter(|text| text.len() as u64 <= most_bytes))
    }
}

fn check_file(scenario: &str, text: &[u8]) {
    if let Ok(text) = std::str::from_utf8(text) {
        check_scenario(scenario, &Files { text });
    }
}

fn overrides(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("# set ")?.split_once('='));
    lines.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

fn check_scenario(text: &str, files: &Files<'_>) {
    let mut overrides = overrides(text);
    overrides.push(("memory_limit".to_owned(), MEMORY_LIMIT.to_owned()));
    match scenario::parse(text, &overrides, None, files).and_then(|read| read.resolve()) {
        Err(error) => check_message(&error),
        Ok(network) if network.flows.len() <= MOST_FLOWS => check_run(&network),
        Ok(_) => {}
    }
}

/// A message has a problem and a remedy, and quotes little of the text.
fn check_message(error: &ScenarioError) {
    for line in error.to_string().lines() {
        assert!(line.contains("; ") || line.contains("problems"), "{line}: no remedy");
        assert!(line.len() < LONGEST_LINE, "{line}: too long");
        assert!(!line.contains(char::is_control), "{line}: a terminal obeys it");
    }
}

fn check_run(network: &Network) {
    let run = || Simulation::new(network).expect("the network is valid");
    let fast = outcome(run(), network);
    let general = outcome(run().without_fast_path(), network);
    // Runs that do not end within the events are not at the same place.
    let (Some(fast), Some(general)) = (fast, general) else { return };
    assert_eq!(fast, general, "both paths give the same");
}

/// The summary of a run, or why it failed; `None` if it has too many events.
fn outcome(mut run: Simulation, network: &Network) -> Option<Result<Value, String>> {
    let summary = match run.run_some(network.duration, MOST_EVENTS) {
        Ok(false) => return None,
        Ok(true) => run.finish().map(|results| serde_json::to_value(&results.summary)),
        Err(error) => Err(error),
    };
    match summary {
        Err(error @ RunError::Conservation { .. }) => panic!("{error}"),
        Err(error) => Some(Err(error.to_string())),
        Ok(summary) => {
            let summary = summary.expect("a summary is JSON");
            check_fractions(&summary, "");
            Some(Ok(summary))
        }
    }
}

/// A share is no fraction: a source may send more than a link carries.
fn is_fraction(key: &str) -> bool {
    key.ends_with("fraction")
        || ["utilization", "loss_synchronization", "jain_index"].contains(&key)
}

fn check_fractions(value: &Value, place: &str) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let number = value.as_f64().filter(|_| is_fraction(key));
                assert!(number.is_none_or(|one| (0.0..=1.0).contains(&one)), "{place}.{key}");
                check_fractions(value, &format!("{place}.{key}"));
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| check_fractions(entry, place)),
        _ => {}
    }
}
