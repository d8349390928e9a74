//! Statistics of the memory that links share.

use super::Named;
use super::arithmetic::ratio;
use super::finished_run::FinishedRun;
use crate::derives::{JsonSchema, Serialize};
use crate::queue::buffer::DropReason;

/// Statistics of memory that links share, whose unit of account is a cell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PoolSummary {
    /// The memory.
    pub size_bytes: f64,
    /// The memory without what links have reserved.
    pub shared_bytes: f64,
    /// Time-weighted mean of the memory that is occupied.
    pub memory_bytes_mean: f64,
    /// Time-weighted median of the memory that is occupied, to within 0.8 %.
    pub memory_bytes_p50: Option<f64>,
    /// Time-weighted 95th percentile of it.
    pub memory_bytes_p95: Option<f64>,
    /// Time-weighted 99th percentile of it.
    pub memory_bytes_p99: Option<f64>,
    /// The most memory that is occupied for some time, to within 0.8 %.
    pub memory_bytes_max: Option<f64>,
    /// Share of the packets that arrived at the links in the measured window that are dropped there by
    /// the end of the run, for whatever reason; null if no packet arrived.
    pub loss_fraction: Option<f64>,
    /// Packets that reached the links.
    pub arrivals_packets: u64,
    /// Packets dropped because the memory was full, or to make room.
    pub drops_pool_packets: u64,
    /// Packets refused because their queue had reached the limit that the policy sets.
    pub drops_threshold_packets: u64,
    /// Kind of the policy.
    pub policy: &'static str,
    /// The links by name, in the order of the scenario.
    pub links: Named<PoolLinkSummary>,
}

/// Statistics of a link in its pool.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PoolLinkSummary {
    /// Time-weighted mean of the memory that the queue occupies.
    pub memory_bytes_mean: f64,
    /// This mean divided by that of the pool; null if the pool was empty.
    pub memory_share: Option<f64>,
    /// The share of the arriving packets that are refused because the queue has reached the limit
    /// that the policy sets: how often the limit binds; null if no packet arrived.
    pub threshold_fraction: Option<f64>,
}

/// Statistics of the pool with this index.
pub(super) fn pool_summary(run: &FinishedRun<'_>, index: usize) -> PoolSummary {
    let (network, pool) = (run.network, &run.pools.list()[index]);
    let links = run.pools.links_of(index);
    let cell = f64::from(pool.spec().cell_bytes);
    let size_bytes = pool.spec().size_bytes as f64;
    // The middle of the last bin may lie above the memory.
    let bytes = |cells: Option<f64>| cells.map(|cells| (cells * cell).min(size_bytes));
    let over_time = pool.probe.over_time();
    let [p50, p95, p99] = over_time.quantiles([0.5, 0.95, 0.99]).map(bytes);
    let means = pool.member_bytes_mean(network.measured());
    let mean = means.iter().sum();
    let members = links.iter().zip(means).map(|(&link, member_mean)| {
        let totals = run.links[link].probe.totals();
        let refused = totals.drops[DropReason::Threshold as usize];
        let summary = PoolLinkSummary {
            memory_bytes_mean: member_mean,
            memory_share: ratio(member_mean, mean),
            threshold_fraction: ratio(refused as f64, totals.arrivals as f64),
        };
        (network.links[link].name.clone(), summary)
    });
    let totals = links.iter().map(|&link| run.links[link].probe.totals());
    let drops = |reason: DropReason| totals.clone().map(|all| all.drops[reason as usize]).sum();
    let arrivals: u64 = totals.clone().map(|all| all.arrivals).sum();
    let lost: u64 = totals.clone().map(|all| all.lost()).sum();
    PoolSummary {
        size_bytes,
        shared_bytes: pool.shared_bytes() as f64,
        memory_bytes_mean: mean,
        memory_bytes_p50: p50,
        memory_bytes_p95: p95,
        memory_bytes_p99: p99,
        memory_bytes_max: bytes(over_time.max()),
        loss_fraction: ratio(lost as f64, arrivals as f64),
        arrivals_packets: arrivals,
        drops_pool_packets: drops(DropReason::Pool),
        drops_threshold_packets: drops(DropReason::Threshold),
        policy: pool.spec().policy.name(),
        links: Named(members.collect()),
    }
}
