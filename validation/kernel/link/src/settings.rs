//! How a run is recorded, and how much the machine may stall during it.

use tailroom_engine::units::Time;

/// Share of a run in which the machine may stall. The link stands still meanwhile, queue and all, and
/// the kernel's clock goes on, so times between losses are wrong by at most as much: a fifth of what
/// the comparison allows.
pub const MOST_STALLED: f64 = 0.01;
/// The longest stall that a run may have: far below the shortest timeout of the kernel, 200 ms, so that
/// no timer fires because of it.
pub const LONGEST_STALL_S: f64 = 0.05;

/// How a run is recorded; what is run is in the [`Plan`](crate::plan::Plan).
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// A delivery that is later than this is a stall.
    pub stall_threshold: Time,
    /// Interval of the samples of the connections.
    pub sample_interval: Time,
    /// Interval of the samples of the queues.
    pub queue_sample_interval: Time,
    /// Drops in a direction whose time is recorded; more are only counted.
    pub most_drops: usize,
    /// Whether a run ends when the machine has stalled for too long for it to be used.
    pub gives_up: bool,
    /// Whether the packets of host A are noted.
    pub logs_packets: bool,
}
