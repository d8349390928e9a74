//! The tables with samples over time, of a run that has ended or goes on.

use super::{FlowSeries, LinkSeries, PoolSeries, Tables};

/// The time series of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TimeSeries {
    /// Samples of the links.
    pub links: LinkSeries,
    /// Samples of the permanent flows.
    pub flows: FlowSeries,
    /// Samples of the memory that links share; `None` without pools.
    pub pools: Option<PoolSeries>,
}

impl TimeSeries {
    /// A copy of those that a run returned; `None` if its scenario has no `[series]`.
    pub fn of(tables: &Tables) -> Option<Self> {
        let Tables { link_series, flow_series, pool_series, .. } = tables;
        Some(TimeSeries {
            links: link_series.clone()?,
            flows: flow_series.clone()?,
            pools: pool_series.clone(),
        })
    }

    #[cfg(feature = "results")]
    pub(super) fn into_tables(self) -> Tables {
        Tables {
            link_series: Some(self.links),
            flow_series: Some(self.flows),
            pool_series: self.pools,
            ..Tables::default()
        }
    }
}
