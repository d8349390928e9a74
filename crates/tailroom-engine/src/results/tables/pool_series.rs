//! Time series of the memory that links share.

use super::{FinishedRun, Labels, table};
use crate::pool::Pools;

table! {
    /// Time series of the memory that links share: one row per sample and link of a pool, in that
    /// order. Recorded if the scenario has a `[series]` and `[pools]`.
    pub struct PoolSeries {
        /// Instant of the sample.
        pub time_s: Vec<f64>,
        /// Name of the link.
        pub link: Vec<u32> as Labels::Links,
        /// Memory that the queue of the link occupies at that instant.
        pub memory_bytes: Vec<f64>,
    }
}

impl PoolSeries {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        run.network.series_interval.and(PoolSeries::of(run.pools))
    }

    /// What the pools have recorded so far; `None` without pools.
    pub(in crate::results) fn of(memory: &Pools) -> Option<Self> {
        let pools = memory.list();
        let samples = pools.first()?.probe.samples.len();
        let mut series = PoolSeries::default();
        for sample in 0..samples {
            for (index, pool) in pools.iter().enumerate() {
                let row = &pool.probe.samples[sample];
                for (&link, &cells) in memory.links_of(index).iter().zip(&row.occupied) {
                    series.time_s.push(row.time.seconds());
                    series.link.push(link as u32);
                    let bytes = cells as f64 * f64::from(pool.spec().cell_bytes);
                    series.memory_bytes.push(bytes);
                }
            }
        }
        Some(series)
    }
}
