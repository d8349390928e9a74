//! The CPU time that a part of a benchmark takes.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::{Duration, Instant};

/// CPU time of this thread where the system tells it (Linux), and elapsed time elsewhere.
pub(crate) struct Stopwatch {
    cpu: Option<Duration>,
    wall: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { cpu: cpu_time(), wall: Instant::now() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        match (self.cpu, cpu_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }
}

/// Reads the CPU time of this thread; Linux brings it up to date some hundred times a second.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
