//! What the kind of a source says of its group before the group is read.

use toml::Value;

/// Kinds of sources that no congestion control governs.
const UNCONTROLLED: [&str; 4] = ["streaming", "poisson", "cbr", "on_off"];
/// Kinds of sources whose flows come and go, so that they have no `count`.
const PASSING: [&str; 4] = ["finite_flows", "trace", "streaming", "web"];

/// Whether a source as it is written, bulk if left out, is under congestion control.
pub(super) fn is_under_control(source: Option<&Value>) -> bool {
    !UNCONTROLLED.contains(&source_kind(source))
}

/// Whether the flows of a source as it is written come and go.
pub(super) fn comes_and_goes(source: Option<&Value>) -> bool {
    PASSING.contains(&source_kind(source))
}

fn source_kind(source: Option<&Value>) -> &str {
    let kind = match source {
        Some(Value::Table(table)) => table.get("kind").and_then(Value::as_str),
        named => named.and_then(Value::as_str),
    };
    kind.unwrap_or("bulk")
}
