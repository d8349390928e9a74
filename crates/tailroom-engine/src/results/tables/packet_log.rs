//! Arrivals, departures, drops and marks of packets.

use super::{FinishedRun, Labels, table};
use crate::observe::Act;

const EVENTS: Labels = Labels::Words(&Act::EVENTS);

table! {
    /// Packet log: one row per event, link by link in order of time. Recorded at the links with a
    /// `packet_log`.
    pub struct PacketLog {
        /// Instant of the event.
        pub time_s: Vec<f64>,
        /// Name of the link.
        pub link: Vec<u32> as Labels::Links,
        /// Name of the flow; of a flow that arrives and departs, the name of its group.
        pub flow: Vec<u32> as Labels::FlowsAndGroups,
        /// `arrival` at the buffer, `departure` of the last bit, `drop`, or `mark` by this link: of a
        /// packet that has just arrived, or whose transmission begins.
        pub event: Vec<u8> as EVENTS,
    }
}

impl PacketLog {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut log = PacketLog::default();
        for (index, link) in run.links.iter().enumerate() {
            let Some(observer) = &link.probe.observer else { continue };
            let mut entries = observer.log.clone();
            entries.retain(|entry| entry.time < run.network.duration);
            entries.sort_by_key(|entry| entry.time);
            for entry in entries {
                log.time_s.push(entry.time.seconds());
                log.link.push(index as u32);
                log.flow.push(run.flow_label(entry.flow));
                log.event.push(entry.act.event());
            }
        }
        (!log.time_s.is_empty()).then_some(log)
    }
}
