//! Cases of links with pause frames, and what their warnings say.

use tailroom_engine::results::Warning;

use super::case::Case;

/// Pause frames whose headroom is large enough for 10 Gbit/s, and whose xon keeps a link busy while the
/// sender resumes: 3,400 B of the paused link are on the way at most.
pub(crate) const PAUSE: &str = "pause = { xoff = '60 kB', xon = '30 kB', headroom = '20 kB' }";

/// A link with this key sends nothing.
pub(crate) const STOPPED: &str = "changes = [{ at = '0 s', rate = '0 bit/s' }]";

impl Case {
    /// A link in Gbit/s with a delay of 1 us.
    pub(crate) fn wire(self, name: impl AsRef<str>, gigabits: f64, keys: impl AsRef<str>) -> Self {
        self.link(name, format!("{gigabits} Gbit/s, 1 us, 400 kB, {}", keys.as_ref()))
    }

    /// Packets of 1,000 B: a kind of source, and its rate in Gbit/s.
    pub(crate) fn packets(
        self,
        name: impl AsRef<str>,
        path: impl AsRef<str>,
        (kind, gigabits): (&str, f64),
    ) -> Self {
        self.stream(name, path, format!("{kind} {gigabits} Gbit/s, 1000 B, header_size = '40 B'"))
    }
}

pub(crate) fn value(warning: &Warning, name: &str) -> f64 {
    *warning.values.get(name).unwrap_or_else(|| panic!("{name}: {warning:?}"))
}

/// A value that is a whole number.
pub(crate) fn count(warning: &Warning, name: &str) -> u64 {
    value(warning, name) as u64
}
