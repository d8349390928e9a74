//! The timestamps of packets that arrive.

use super::{FinishedRun, table};

table! {
    /// Timestamps of packets (RFC 7323), in ms since the run began, modulo 2^32: one row per row of
    /// `arrival_log`, in its order. Recorded at the links with an `arrival_log` if a packet has one.
    pub struct ArrivalTimestamps {
        /// When the packet left its sender, or the ACK its receiver; 0 without congestion control.
        pub timestamp_ms: Vec<u32>,
        /// The `timestamp_ms` that the packet echoes (RFC 7323 sec. 4.3); 0 before there is one.
        pub echo_ms: Vec<u32>,
    }
}

impl ArrivalTimestamps {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut timestamps = ArrivalTimestamps::default();
        let logs = run.links.iter().filter_map(|link| link.probe.arrivals.as_ref());
        for arrival in logs.flat_map(|log| log.list()) {
            timestamps.timestamp_ms.push(arrival.identity.timestamps.value_ms);
            timestamps.echo_ms.push(arrival.identity.timestamps.echo_ms);
        }
        timestamps.timestamp_ms.iter().any(|value| *value > 0).then_some(timestamps)
    }
}
