//! Time series of the memory that links share.

use super::{FinishedRun, Labels, table};

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
        let pools = run.pools.list();
        run.network.series_interval.filter(|_| !pools.is_empty())?;
        let mut series = PoolSeries::default();
        let samples = pools.first().map_or(0, |pool| pool.probe.samples.len());
        for sample in 0..samples {
            for (index, pool) in pools.iter().enumerate() {
                let row = &pool.probe.samples[sample];
                for (&link, &cells) in run.pools.links_of(index).iter().zip(&row.occupied) {
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
