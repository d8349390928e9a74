//! What a run returns: a summary, whose fields `tailroom run --json` prints, and tables.
//!
//! A statistic is a field of [`LinkSummary`], [`FlowSummary`] or [`GroupSummary`], and its value in
//! the collector in the same file. A table is a file of [`tables`] and a line in its registry.
//!
//! The summary by name, and the samples of a link:
//!
//! ```
//! use tailroom_engine::congestion::CongestionConfig;
//! use tailroom_engine::congestion::reno::RenoParams;
//! use tailroom_engine::{LinkSpec, Network, Rate, Simulation, TcpSpec, Time};
//!
//! let link = LinkSpec::fq_codel(Rate::from_bits_per_second(20_000_000), Time::from_milliseconds(10));
//! let reno = TcpSpec::new(CongestionConfig::Reno(RenoParams::default()));
//! let (duration, rtt) = (Time::from_milliseconds(5_000), Time::from_milliseconds(40));
//! let mut network = Network::dumbbell(duration, link, reno, 2, rtt);
//! network.series_interval = Some(Time::from_milliseconds(100));
//! let results = Simulation::new(&network)?.finish()?;
//! let group = results.summary.groups.get("flows").expect("the name of the group");
//! assert!(group.jain_index.is_some_and(|index| index > 0.9), "FQ-CoDel is fair");
//! let samples = results.tables.link_series.expect("the network asks for them");
//! assert_eq!(samples.time_s.len(), 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arithmetic;
mod completion_times;
mod deadlock;
mod equal_periods;
mod finished_run;
mod flow;
mod flow_data;
mod group;
mod link;
mod lossless_warnings;
mod pause_memory;
mod pause_warnings;
mod pool;
#[cfg(feature = "scenario")]
mod schema;
#[cfg(any(feature = "results", feature = "scenario"))]
mod serialize;
#[cfg(feature = "results")]
mod series_json;
mod sharing;
mod short_windows;
pub mod tables;
mod time_series;
mod unfinished;
mod warning;
mod warnings;

pub use completion_times::CompletionTimes;
use finished_run::FinishedRun;
pub use finished_run::{DynamicFlowRecords, SharedLinks};
pub use flow::FlowSummary;
use flow::flow_summary;
use flow_data::FlowData;
use group::group_summary;
pub use group::{CoflowSummary, GroupLinkSummary, GroupSummary, SizeClassSummary};
pub use link::LinkSummary;
use link::link_summary;
use pool::pool_summary;
pub use pool::{PoolLinkSummary, PoolSummary};
#[cfg(all(feature = "results", feature = "scenario"))]
pub use schema::summary_schema;
#[cfg(feature = "results")]
pub use series_json::{SeriesJson, series_json};
pub use sharing::{Regime, SharingSummary};
pub use tables::{
    ArrivalDispersion, FlowCounts, FlowLog, FlowSeries, LinkSeries, PacketLog, Packets, PoolSeries,
    SackBlocks, Tables,
};
pub use time_series::TimeSeries;
pub use warning::{Warning, WarningKind};
use warnings::warnings;

use crate::derives::{JsonSchema, Serialize};
use crate::flow::Endpoints;
use crate::link::Link;
use crate::network::Network;
use crate::pool::Pools;
use crate::probe::flow::FlowAccount;
use crate::probe::group::GroupProbe;
use crate::probe::progress::first_fair_interval;
use crate::units::Time;

/// Flows count as converged if Jain's index is at least this.
const FAIR: f64 = 0.9;

/// Everything that a run returns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Results {
    /// Statistics over the measured window.
    pub summary: Summary,
    /// Time series, logs and distributions.
    pub tables: Tables,
}

/// Statistics over `[measured_from_s, measured_to_s]`. Units are in the last word of a name;
/// fractions lie in [0, 1]; `None` (null) if there was nothing to measure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Summary {
    /// Version of the engine.
    pub engine_version: &'static str,
    /// Seed of the random streams.
    pub seed: u64,
    /// Start of the measured window.
    pub measured_from_s: f64,
    /// End of the measured window and of the run.
    pub measured_to_s: f64,
    /// What a reader of the results should know before trusting them.
    pub warnings: Vec<Warning>,
    /// Time from the last start of a flow until Jain's index over a sliding window of a twentieth
    /// of the run reaches 0.9; null if the index never does or there are fewer than two flows under
    /// congestion control.
    pub convergence_time_s: Option<f64>,
    /// Statistics of the links by name, in the order of the scenario.
    pub links: Named<LinkSummary>,
    /// Statistics of the memory that links share, by the name of the pool, in the order of the
    /// scenario.
    pub pools: Named<PoolSummary>,
    /// Statistics of the permanent flows, in the order of the scenario.
    pub flows: Vec<FlowSummary>,
    /// Statistics of the groups of flows by name, in the order of the scenario.
    pub groups: Named<GroupSummary>,
    /// Number of events that the engine handled.
    pub events: u64,
    /// Number of packets offered to a link in the whole run, summed over the links.
    pub packet_hops: u64,
}

/// Entries that serialize as an object and keep their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    /// The entry with this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// Collects what the probes of a finished run recorded.
pub fn collect(
    network: &Network,
    shared: SharedLinks<'_>,
    endpoints: &[&Endpoints],
    accounts: &[FlowAccount],
    group_probes: &[GroupProbe],
    dynamic_flows: DynamicFlowRecords<'_>,
    events: u64,
) -> Results {
    let permanent = endpoints.iter().zip(accounts);
    let flows = permanent.map(|(endpoints, account)| FlowData::new(endpoints, *account)).collect();
    let run = FinishedRun::new(network, shared, flows, group_probes, dynamic_flows);
    let flows: Vec<FlowSummary> =
        (0..run.flows.len()).map(|index| flow_summary(&run, index)).collect();
    let links = network.links.iter().enumerate();
    let pools = network.pools.iter().enumerate();
    let groups = network.groups.iter().enumerate();
    let summary = Summary {
        engine_version: env!("CARGO_PKG_VERSION"),
        seed: network.seed,
        measured_from_s: network.measure_from.seconds(),
        measured_to_s: network.duration.seconds(),
        warnings: warnings(&run),
        convergence_time_s: convergence_time(&run),
        links: Named(
            links.map(|(index, link)| (link.name.clone(), link_summary(&run, index))).collect(),
        ),
        pools: Named(
            pools.map(|(index, pool)| (pool.name.clone(), pool_summary(&run, index))).collect(),
        ),
        groups: Named(
            groups
                .map(|(index, group)| (group.name.clone(), group_summary(&run, &flows, index)))
                .collect(),
        ),
        flows,
        events,
        packet_hops: run.links.iter().map(|link| link.probe.account().0).sum(),
    };
    Results { summary, tables: Tables::collect(&run) }
}

/// The time series that a run has recorded so far; `None` if its scenario has no `[series]`.
pub fn series_so_far(
    network: &Network,
    links: &[Link],
    pools: &Pools,
    endpoints: &[&Endpoints],
) -> Option<TimeSeries> {
    let interval = network.series_interval?;
    let records = endpoints.iter().enumerate().filter_map(|(index, endpoints)| match endpoints {
        Endpoints::Tcp(connection) => Some((index, connection.sender.probe.record())),
        Endpoints::Unresponsive(_) => None,
    });
    let records: Vec<_> = records.collect();
    Some(TimeSeries {
        links: LinkSeries::of(links, interval),
        flows: FlowSeries::of(&records, interval),
        pools: PoolSeries::of(pools),
    })
}

/// See [`Summary::convergence_time_s`].
fn convergence_time(run: &FinishedRun<'_>) -> Option<f64> {
    let network = run.network;
    let controlled = || network.flows.iter().zip(&run.flows).filter(|(_, data)| data.is_controlled);
    let last_start = controlled().map(|(flow, _)| flow.start).max()?;
    let progress: Vec<&[u64]> =
        controlled().map(|(_, data)| data.record.progress.as_slice()).collect();
    if progress.len() < 2 {
        return None;
    }
    let interval = network.checkpoints().progress_interval;
    let intervals = network.duration.picoseconds() / interval.picoseconds();
    let from = last_start.picoseconds().div_ceil(interval.picoseconds()).max(1) - 1;
    let end =
        first_fair_interval(&progress, from as usize, (intervals / 20).max(1) as usize, FAIR)?;
    let time = (end as u64 + 1) * interval.picoseconds();
    Some(Time::from_picoseconds(time).since(last_start).seconds())
}
