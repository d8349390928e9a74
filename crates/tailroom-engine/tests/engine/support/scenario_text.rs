//! A valid scenario, which tests vary to check how scenarios are read and refused.

use serde_json::Value;
use tailroom_engine::network::Network;
use tailroom_engine::scenario;
use tailroom_engine::scenario::{FileLoader, Scenario, ScenarioError};

/// The files that a scenario may read.
pub(crate) struct Files(&'static [(&'static str, &'static str)]);

impl FileLoader for Files {
    fn load(&self, path: &str, most_bytes: u64) -> Result<Option<String>, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        let (_, text) = found.ok_or_else(|| "no such file".to_owned())?;
        Ok(Some((*text).to_owned()).filter(|text| text.len() as u64 <= most_bytes))
    }
}

/// Valid and invalid traces, distribution functions and lists of flows.
pub(crate) const FILES: Files = Files(&[
    ("good.trace", "1\n1\n2\n4\n"),
    ("bad.trace", "1\nfast\n"),
    ("periods.csv", "# a step and a line\n\n1 s, 0.5\n1000 ms, 0.5\n3, 1\n"),
    ("imix.csv", "40,0.583333\n576 B,0.583333\n576,0.916667\n1.5 kB,0.916667\n1500,1\n"),
    ("empty.csv", "# nothing\n"),
    ("fields.csv", "1 s, 0.5\n2 s\n3 s, 1\n"),
    ("unit.csv", "1 MB, 1\n"),
    ("negative.csv", "-1, 0.5\n1, 1\n"),
    ("ns2.tcl", "1 1 0\n4 1 0.5\n100 1 1\n"),
    ("mean-of-values.txt", "2.25\n1 0.25\n2 0.5\n3 1\n"),
    ("mean-of-lines.txt", "1.875\n1 0.25\n2 0.5\n3 1\n"),
    ("mean-of-others.txt", "3.75\n1 0.25\n2 0.5\n3 1\n"),
    ("percent.txt", "0 0\n1 50\n3 s\t100\n"),
    ("probability.csv", "1 s, 0\n2 s, 150\n3 s, 100\n"),
    ("commas.csv", "1 s, 0\n2, 0, 1\n"),
    ("short-percent.txt", "1 50\n2 99.9\n"),
    ("nan.csv", "1 s, nan\n"),
    ("value.csv", "1 s, 0\n3 s, 0.5\n\n2 s, 1\n"),
    ("falling.csv", "1 s, 0\n2 s, 0.5\n3 s, 0.4\n"),
    ("short.csv", "1 s, 0.5\n2 s, 0.9\n"),
    ("zero.csv", "0, 0.5\n2 s, 1\n"),
    (
        "flows.csv",
        "start_s,bytes,rate_bps,rtt_s,flow\n\
         1,14600,,,a\n2,146000,1000000,0.04,b\n3.0,1460,,0.1,\"c, d\"\n",
    ),
    ("no-flows.csv", "start_s,bytes\n"),
    ("unsorted.csv", "start_s,bytes\n2,100\n1,100\n"),
    ("words.csv", "start_s,bytes\n2,many\n"),
]);

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
    scenario::parse(text, &owned, None, &FILES)
}

/// Parses and resolves.
pub(crate) fn resolve_with(
    text: &str,
    overrides: &[(&str, &str)],
) -> Result<Network, ScenarioError> {
    parse(text, overrides)?.resolve()
}

/// Resolves a valid scenario.
pub(crate) fn resolve(text: &str) -> Network {
    resolve_with(text, &[]).expect("the scenario is valid")
}

/// The base scenario with a part of its text replaced.
pub(crate) fn base_with(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "{from}");
    BASE.replacen(from, to, 1)
}

/// The refusal of the base scenario with a part of its text replaced.
pub(crate) fn message(from: &str, to: &str) -> String {
    refusal(&base_with(from, to))
}

/// The message with which a wrong scenario is refused.
pub(crate) fn refusal(text: &str) -> String {
    resolve_with(text, &[]).expect_err("the scenario is wrong").to_string()
}

/// The schema of scenarios.
pub(crate) fn schema() -> Value {
    serde_json::from_str(&scenario::schema()).expect("JSON")
}

/// The kinds of the registries.
pub(crate) fn components() -> Value {
    serde_json::from_str(&scenario::components()).expect("JSON")
}
