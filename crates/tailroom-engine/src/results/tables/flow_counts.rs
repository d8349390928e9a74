//! Numbers of flows at a link.

use std::collections::BTreeMap;

use super::{FinishedRun, Labels, table};

table! {
    /// Shares of the measured time by number of flows: one row per link and number that occurred,
    /// in that order. Always recorded. Numbers above 1024 are middles of classes less than 0.2 %
    /// wide.
    pub struct FlowCounts {
        /// Name of the link.
        pub link: Vec<u32> as Labels::Links,
        /// Number of flows.
        pub flows: Vec<f64>,
        /// Share of the time with this number of flows in progress.
        pub in_progress_fraction: Vec<f64>,
        /// Share of the time with this number of bottlenecked flows.
        pub bottlenecked_fraction: Vec<f64>,
    }
}

impl FlowCounts {
    #[expect(clippy::unnecessary_wraps, reason = "all tables are collected alike")]
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut counts = FlowCounts::default();
        for (index, link) in run.dynamic_flows.sharing.iter().enumerate() {
            // Numbers of flows are not negative, so that their bits are in order.
            let mut shares: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
            let both = [&link.in_progress_over_time, &link.bottlenecked_over_time];
            for (column, histogram) in both.into_iter().enumerate() {
                let total = histogram.total() as f64;
                for (flows, weight) in histogram.entries() {
                    shares.entry(flows.to_bits()).or_default()[column] = weight as f64 / total;
                }
            }
            for (flows, [in_progress, bottlenecked]) in shares {
                counts.link.push(index as u32);
                counts.flows.push(f64::from_bits(flows));
                counts.in_progress_fraction.push(in_progress);
                counts.bottlenecked_fraction.push(bottlenecked);
            }
        }
        Some(counts)
    }
}
