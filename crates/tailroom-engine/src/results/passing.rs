//! The results of flows that come and go: their completion times, and who is bottlenecked where.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{FlowCounts, FlowLog, GroupSummary, Named};
use crate::dynamic_flows::bottlenecked::BottleneckedFlows;
use crate::dynamic_flows::{FlowGenerator, FlowGenerators};
use crate::network::{GroupSpec, Network};
use crate::probe::dynamic_flows::{SIZE_CLASSES, SizeClass};
use crate::units::Time;

/// What is known of passing flows at the end of a run.
#[derive(Debug)]
pub struct PassingResults<'a> {
    /// The groups whose flows come and go.
    pub generators: &'a FlowGenerators,
    /// By link.
    pub sharing: &'a [BottleneckedFlows],
}

/// Offered load from which a link is overloaded.
const FULL: f64 = 1.0;
/// A link is transparent if flows are bottlenecked for less than this share of the time.
const RARELY: f64 = 0.01;

/// How a link is used (Auge and Roberts 2006 sec. III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// The flows' own limits leave the link room nearly all the time.
    Transparent,
    /// Some flows are bottlenecked; they share what the others leave.
    Elastic,
    /// More is offered than the link can carry: flows pile up.
    Overload,
}

/// Who shares a link, over the measured window. Which flows are in progress and bottlenecked, see
/// [`crate::dynamic_flows::bottlenecked`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharingSummary {
    /// What arrives whatever the link does, over its capacity: bytes on the wire of the flows that
    /// arrived, and the mean rates of what nothing controls. Permanent flows under congestion control
    /// take what is left and count as nothing.
    pub offered_load: f64,
    /// Time-weighted mean of the flows in progress.
    pub flows_in_progress_mean: Option<f64>,
    /// Time-weighted 99th percentile of the same.
    pub flows_in_progress_p99: Option<f64>,
    /// Time-weighted mean of the bottlenecked flows.
    pub bottlenecked_flows_mean: Option<f64>,
    /// Time-weighted 99th percentile of the same.
    pub bottlenecked_flows_p99: Option<f64>,
    /// Share of the time in which some flow is bottlenecked.
    pub bottlenecked_time_fraction: f64,
    /// `overload` from an offered load of 1 on, else `transparent` if flows are bottlenecked in less
    /// than 1 % of the time, else `elastic`.
    pub regime: Regime,
}

/// Flows of one class of sizes that arrived in the measured window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeClassSummary {
    /// Smallest payload of the class.
    pub from_bytes: u64,
    /// The classes above begin here; null for the last class.
    pub to_bytes: Option<u64>,
    /// Flows that completed before the end of the run.
    pub completed_flows: u64,
    /// Flows that did not.
    pub unfinished_flows: u64,
    /// Of the packets sent in the window, those lost by the end of the run.
    pub loss_fraction: Option<f64>,
    /// Mean time from arrival until the last byte is acknowledged.
    pub completion_time_s_mean: Option<f64>,
    /// Median of the same.
    pub completion_time_s_p50: Option<f64>,
    /// 99th percentile of the same.
    pub completion_time_s_p99: Option<f64>,
    /// Mean of completion time over what the flow would take alone: its bits, headers included, at its
    /// peak rate or the slowest link's, and one round trip.
    pub slowdown_mean: Option<f64>,
    /// Median of the same.
    pub slowdown_p50: Option<f64>,
    /// 99th percentile of the same.
    pub slowdown_p99: Option<f64>,
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The sum; 0, and not the -0 of [`Iterator::sum`], if there are none.
pub(super) fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Who shares link `index`, which carried `capacity_bps` on average.
pub(super) fn sharing_summary(
    network: &Network,
    passing: &PassingResults<'_>,
    index: usize,
    capacity_bps: f64,
) -> SharingSummary {
    let sharing = &passing.sharing[index];
    let span = network.duration.since(network.measure_from).seconds();
    let crossing = |group: &GroupSpec| group.path.contains(&index);
    let uncontrolled = network.flows.iter().filter_map(|flow| {
        let group = &network.groups[flow.group];
        let end = group.stop.unwrap_or(Time::NEVER).min(network.duration);
        let active = end.since(flow.start.max(network.measure_from)).seconds();
        let rate = group.source.offered_rate_bps().filter(|_| crossing(group))?;
        Some(rate * active / span)
    });
    let arrived = passing
        .generators
        .all()
        .iter()
        .filter(|generator| crossing(&network.groups[generator.group]))
        .map(|generator| generator.probe.arrived_wire_bytes as f64 * 8.0 / span);
    let offered_bps = total(uncontrolled) + total(arrived);
    let offered_load = ratio(offered_bps, capacity_bps).unwrap_or(0.0);
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

/// The sums of a group whose flows come and go, and its flows by size.
pub(super) fn passing_group(
    network: &Network,
    generator: &FlowGenerator,
    capacities: &[f64],
) -> GroupSummary {
    let group = &network.groups[generator.group];
    let span = network.duration.since(network.measure_from).seconds();
    let probe = &generator.probe;
    let totals = &probe.totals;
    let capacity = group.path.iter().map(|&link| capacities[link]).fold(f64::INFINITY, f64::min);
    let delay = ratio(totals.rtt_sum as f64 * 1e-12, totals.rtt_count as f64);
    let throughput_bps = totals.sent_bytes as f64 * 8.0 / span;
    GroupSummary {
        flows: probe.arrived,
        congestion: group.tcp.as_ref().map(|tcp| tcp.congestion.name().to_owned()),
        goodput_bps: totals.delivered_bytes as f64 * 8.0 / span,
        throughput_bps,
        share: ratio(throughput_bps, capacity).unwrap_or(0.0),
        loss_fraction: ratio(probe.lost as f64, totals.sent as f64),
        marked_fraction: ratio(probe.marked as f64, totals.sent as f64),
        retransmissions: totals.retransmissions,
        rtt_s_mean: group.tcp.as_ref().and(delay),
        queue_delay_s_mean: None,
        queue_delay_s_p99: None,
        // Media flows are not answered.
        one_way_delay_s_mean: if group.tcp.is_none() { delay } else { None },
        one_way_delay_s_p99: None,
        jitter_s_mean: None,
        cwnd_packets_mean: None,
        congestion_events: totals.reductions,
        timeouts: totals.timeouts,
        completed_flows: probe.all.completed,
        refused_flows: probe.refused,
        refused_fraction: ratio(probe.refused as f64, probe.arrived as f64),
        jain_index: None,
        all_sizes: Some(class_summary(0, None, &probe.all)),
        size_classes: size_classes(&probe.classes),
        links: Named(Vec::new()),
    }
}

fn size_classes(classes: &[SizeClass]) -> Vec<SizeClassSummary> {
    let lower = std::iter::once(0).chain(SIZE_CLASSES);
    let bounds = lower.zip(SIZE_CLASSES.map(|to| (to < u64::MAX).then_some(to)));
    let all = bounds.zip(classes).map(|((from, to), class)| class_summary(from, to, class));
    all.filter(|class| class.completed_flows + class.unfinished_flows > 0).collect()
}

fn class_summary(from_bytes: u64, to_bytes: Option<u64>, class: &SizeClass) -> SizeClassSummary {
    let duration = |quantile| class.duration.quantile(quantile).map(|value| value * 1e-12);
    SizeClassSummary {
        from_bytes,
        to_bytes,
        completed_flows: class.completed,
        unfinished_flows: class.unfinished,
        loss_fraction: ratio(class.lost as f64, class.sent as f64),
        completion_time_s_mean: class.mean_duration_s(),
        completion_time_s_p50: duration(0.5),
        completion_time_s_p99: duration(0.99),
        slowdown_mean: class.mean_slowdown(),
        slowdown_p50: class.slowdown_quantile(0.5),
        slowdown_p99: class.slowdown_quantile(0.99),
    }
}

/// Shares of the time by number of flows.
pub(super) fn flow_counts(sharing: &[BottleneckedFlows]) -> FlowCounts {
    let mut counts = FlowCounts::default();
    for (index, link) in sharing.iter().enumerate() {
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
    counts
}

/// The completed flows that were to be kept one by one, of each group by start.
pub(super) fn flow_log(generators: &[FlowGenerator]) -> FlowLog {
    let mut log = FlowLog::default();
    for generator in generators {
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
    log
}
