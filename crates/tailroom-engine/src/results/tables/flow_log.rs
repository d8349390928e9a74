//! Completed flows, one by one.

use super::{FinishedRun, Labels, table};

table! {
    /// Completed flows: one row per flow that arrived in the measured window and departed, by group
    /// and start. Recorded for the sources with a `flow_log`, which says how many flows are kept.
    pub struct FlowLog {
        /// Name of the group.
        pub group: Vec<u32> as Labels::Groups,
        /// Arrival of the flow.
        pub start_s: Vec<f64>,
        /// Payload of the flow.
        pub bytes: Vec<f64>,
        /// Time from the arrival until the last byte was acknowledged.
        pub completion_time_s: Vec<f64>,
        /// Completion time divided by the time that the flow would take alone.
        pub slowdown: Vec<f64>,
    }
}

impl FlowLog {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut log = FlowLog::default();
        for generator in run.dynamic_flows.generators.all() {
            let mut entries = generator.probe.log.clone();
            entries.sort_by_key(|entry| (entry.start, entry.duration, entry.bytes));
            for entry in entries {
                log.group.push(generator.group as u32);
                log.start_s.push(entry.start.seconds());
                log.bytes.push(entry.bytes as f64);
                log.completion_time_s.push(entry.duration.seconds());
                log.slowdown.push(entry.duration.seconds() / entry.ideal.seconds());
            }
        }
        (!log.start_s.is_empty()).then_some(log)
    }
}
