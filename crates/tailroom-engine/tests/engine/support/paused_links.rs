//! The text of links with pause frames, and what a run says of them.

use tailroom_engine::results::{Results, Warning, WarningKind};

/// A link in Gbit/s with a delay of 1 us.
pub(crate) fn wire(name: &str, gigabits: f64, keys: &str) -> String {
    format!(
        "[links.{name}]
        rate = \"{gigabits} Gbit/s\"
        delay = \"1 us\"
        queue = {{ kind = \"drop_tail\", limit = \"400 kB\" }}
        {keys}\n"
    )
}

/// Pause frames whose headroom is large enough for 10 Gbit/s, and whose xon keeps a link busy while the
/// sender resumes: 3,400 B of the paused link are on the way at most.
pub(crate) const PAUSE: &str =
    "pause = { xoff = \"60 kB\", xon = \"30 kB\", headroom = \"20 kB\" }";

/// Packets of 1,000 B at a rate in Gbit/s.
pub(crate) fn stream(name: &str, path: &str, kind: &str, gigabits: f64) -> String {
    format!(
        "[flows.{name}]
        path = {path}
        packet_size = \"1000 B\"
        header_size = \"40 B\"
        source = {{ kind = \"{kind}\", rate = \"{gigabits} Gbit/s\" }}\n"
    )
}

pub(crate) fn warning(results: &Results, kind: WarningKind) -> Option<&Warning> {
    results.summary.warnings.iter().find(|warning| warning.kind == kind)
}

pub(crate) fn value(warning: &Warning, name: &str) -> f64 {
    *warning.values.get(name).unwrap_or_else(|| panic!("{name}: {warning:?}"))
}
