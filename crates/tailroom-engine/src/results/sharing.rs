//! Who shares a link: the load offered to it, and the flows that it holds back.

use super::arithmetic::{ratio, total};
use super::finished_run::FinishedRun;
use crate::derives::{JsonSchema, Serialize};
use crate::units::Time;

/// A link is overloaded if the offered load is at least this.
const FULL: f64 = 1.0;
/// A link is transparent if flows are bottlenecked for less than this share of the time.
const RARELY: f64 = 0.01;

/// How a link is used (Auge and Roberts 2006 sec. III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Regime {
    /// The flows' own limits leave capacity to spare nearly all the time.
    Transparent,
    /// Some flows are bottlenecked; they share the capacity that the others leave.
    Elastic,
    /// The offered load exceeds the capacity: the number of flows in progress grows.
    Overload,
}

/// Who shares a link, over the measured window. [`crate::dynamic_flows::bottlenecked`] defines
/// which flows are in progress and which are bottlenecked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SharingSummary {
    /// Traffic that arrives whatever the link does, divided by the capacity: bytes on the wire of
    /// the flows that arrived, and the mean rates of unresponsive flows. Permanent flows under
    /// congestion control use the rest and do not count, nor do flows that begin when others are
    /// complete.
    pub offered_load: f64,
    /// Time-weighted mean number of flows in progress.
    pub flows_in_progress_mean: Option<f64>,
    /// Time-weighted 99th percentile of the number of flows in progress.
    pub flows_in_progress_p99: Option<f64>,
    /// Time-weighted mean number of bottlenecked flows.
    pub bottlenecked_flows_mean: Option<f64>,
    /// Time-weighted 99th percentile of the number of bottlenecked flows.
    pub bottlenecked_flows_p99: Option<f64>,
    /// Share of the time in which at least one flow is bottlenecked.
    pub bottlenecked_time_fraction: f64,
    /// `overload` if the offered load is 1 or more, else `transparent` if flows are bottlenecked
    /// for less than 1 % of the time, else `elastic`.
    pub regime: Regime,
}

/// Who shares the link with this index.
pub(super) fn sharing_summary(run: &FinishedRun<'_>, index: usize) -> SharingSummary {
    let network = run.network;
    let sharing = &run.dynamic_flows.sharing[index];
    let span = run.measured_s();
    let unresponsive = run.data_groups(index).filter_map(|at| {
        let group = &network.groups[at];
        let rate = group.source.offered_rate_bps()?;
        let end = group.stop.unwrap_or(Time::NEVER).min(network.duration);
        let members = network.members(at);
        let flows = &network.flows[members.start as usize..members.end as usize];
        let crossing = flows.iter().filter(move |flow| group.path_of(flow.route).contains(&index));
        Some(crossing.map(move |flow| {
            let active = end.since(flow.start.max(network.measure_from)).seconds();
            rate * active / span
        }))
    });
    let unresponsive = unresponsive.flatten();
    let is_offered = |group: &usize| {
        network.groups[*group].source.flows().is_some_and(|flows| !flows.is_closed_loop())
    };
    let arrived = run.data_groups(index).filter(is_offered).filter_map(|group| {
        let bits = run.generator_of(group)?.probe.arrived_wire_bytes as f64 * 8.0;
        Some(run.share_across(group, index).map_or(bits, |share| share * bits) / span)
    });
    let offered_bps = total(unresponsive) + total(arrived);
    let offered_load = ratio(offered_bps, run.capacities_bps[index]).unwrap_or(0.0);
    let bottlenecked = &sharing.bottlenecked_over_time;
    let free: u64 = bottlenecked.entries().take_while(|entry| entry.0 == 0.0).map(|e| e.1).sum();
    let bottlenecked_time_fraction =
        1.0 - ratio(free as f64, bottlenecked.total() as f64).unwrap_or(1.0);
    let regime = match () {
        () if offered_load >= FULL => Regime::Overload,
        () if bottlenecked_time_fraction < RARELY => Regime::Transparent,
        () => Regime::Elastic,
    };
    SharingSummary {
        offered_load,
        flows_in_progress_mean: sharing.in_progress_over_time.mean(),
        flows_in_progress_p99: sharing.in_progress_over_time.quantile(0.99),
        bottlenecked_flows_mean: bottlenecked.mean(),
        bottlenecked_flows_p99: bottlenecked.quantile(0.99),
        bottlenecked_time_fraction,
        regime,
    }
}
