//! The scenario that the tests of reading and refusing vary.

#![allow(dead_code, reason = "each test file uses a part of it")]

use tailroom_engine::scenario::{self, FileLoader, Scenario, ScenarioError};
use tailroom_engine::topology::Network;

/// Files that a scenario may name.
pub(crate) struct Files(&'static [(&'static str, &'static str)]);

impl FileLoader for Files {
    fn load(&self, path: &str) -> Result<String, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    }
}

/// A trace that is right and one that is not.
pub(crate) const TRACES: Files =
    Files(&[("good.trace", "1\n1\n2\n4\n"), ("bad.trace", "1\nfast\n")]);

/// The scenario that tests vary.
pub(crate) const BASE: &str = r#"
duration = "60 s"
measure_from = "10 s"

[links.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
queue = { kind = "drop_tail", limit = "100 packets" }

[flows.tcp]
count = 4
path = ["bottleneck"]
congestion = { kind = "highspeed" }
rtt = "80 ms"
"#;

/// Parses with overrides as `--set` gives them.
pub(crate) fn parse(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let owned: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    scenario::parse(text, &owned, None, &TRACES)
}

/// Parses and resolves.
pub(crate) fn resolve_with(
    text: &str,
    overrides: &[(&str, &str)],
) -> Result<Network, ScenarioError> {
    parse(text, overrides)?.resolve()
}

/// Resolves a scenario that is right.
pub(crate) fn resolve(text: &str) -> Network {
    resolve_with(text, &[]).unwrap()
}

/// The base scenario with a piece of its text replaced.
pub(crate) fn base_with(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "{from}");
    BASE.replacen(from, to, 1)
}

/// The message that the base scenario gives once a piece of its text is replaced.
pub(crate) fn message(from: &str, to: &str) -> String {
    resolve_with(&base_with(from, to), &[]).unwrap_err().to_string()
}
