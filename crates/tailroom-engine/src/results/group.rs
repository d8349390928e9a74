//! Statistics of a group of flows.

use super::Named;
use super::arithmetic::{mean, ratio, total};
use super::completion_times::{CompletionTimes, at_most, is_lower_bound, value};
use super::finished_run::FinishedRun;
use super::flow::FlowSummary;
use super::flow_data::FlowData;
use crate::derives::{JsonSchema, Serialize};
use crate::dynamic_flows::FlowGenerator;
use crate::probe::coflows::CoflowProbe;
use crate::probe::delays::Delays;
use crate::probe::dynamic_flows::{SIZE_CLASSES, SizeClass};
use crate::probe::progress::jain_index;

/// Statistics of a group of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GroupSummary {
    /// Number of flows; if they arrive and depart, of those that arrived in the measured window.
    pub flows: u64,
    /// Kind of the group's congestion control; null for unresponsive flows.
    pub congestion: Option<String>,
    /// Rate of new payload delivered; sum over the flows.
    pub goodput_bps: f64,
    /// Rate of all bytes sent, headers and retransmissions included; sum over the flows.
    pub throughput_bps: f64,
    /// Throughput divided by the smallest capacity on the path; sum over the flows.
    pub share: f64,
    /// Share of the packets sent in the measured window, by all flows together, that are dropped or
    /// lost on the path by the end of the run.
    pub loss_fraction: Option<f64>,
    /// Share of the packets sent in the measured window, by all flows together, that leave the last
    /// link of the path with a mark by the end of the run.
    pub marked_fraction: Option<f64>,
    /// Number of retransmitted packets; sum over the flows.
    pub retransmissions: u64,
    /// Number of packets that arrived though the receiver had them already: retransmissions of packets
    /// that were not lost, by when they left the last link of the path; sum over the flows.
    pub duplicate_packets: u64,
    /// Number of packets that arrived so late behind others that the receiver discarded them by their
    /// timestamps (RFC 7323 sec. 5), by when they left the last link of the path; sum over the flows.
    pub discarded_packets: u64,
    /// Mean of the RTT samples: of permanent flows, the mean over the flows of their means; of
    /// flows that arrive and depart, the mean over all samples; null for unresponsive flows.
    pub rtt_s_mean: Option<f64>,
    /// Mean time that a packet waits before its transmissions, summed over the links of its path;
    /// of the packets that the last of these links begins to send in the measured window. Neither ACKs nor access links count.
    pub queue_delay_s_mean: Option<f64>,
    /// Median of that time, to within 0.1 % of its value.
    pub queue_delay_s_p50: Option<f64>,
    /// 95th percentile of that time, to within 0.1 % of its value.
    pub queue_delay_s_p95: Option<f64>,
    /// 99th percentile of that time, to within 0.1 % of its value.
    pub queue_delay_s_p99: Option<f64>,
    /// 99.9th percentile of that time, to within 0.1 % of its value.
    pub queue_delay_s_p999: Option<f64>,
    /// Largest of these times, to within 0.1 % of its value.
    pub queue_delay_s_max: Option<f64>,
    /// Mean time from sending to arrival of the packets of unresponsive flows (access link,
    /// waiting, transmission and propagation): of permanent flows, the mean over the flows of their
    /// means; null under congestion control.
    pub one_way_delay_s_mean: Option<f64>,
    /// 99th percentile of that time over the packets of all flows, to within 0.1 % of its value.
    pub one_way_delay_s_p99: Option<f64>,
    /// Mean absolute difference between the one-way delay of a packet of an unresponsive flow and
    /// that of the packet of the same flow that arrived before it (RFC 3550 sec. 6.4.1, without its
    /// smoothing; the absolute ipdv of RFC 3393).
    pub jitter_s_mean: Option<f64>,
    /// Time-weighted mean of the congestion window; mean over the flows; null if they arrive and
    /// depart.
    pub cwnd_packets_mean: Option<f64>,
    /// Number of window reductions, timeouts included; sum over the flows.
    pub congestion_events: u64,
    /// Number of retransmission timeouts; sum over the flows.
    pub timeouts: u64,
    /// Number of window reductions that the senders have taken back; sum over the flows.
    pub undone_reductions: u64,
    /// Number of tail loss probes; sum over the flows.
    pub loss_probes: u64,
    /// Number of flows whose last byte was acknowledged.
    pub completed_flows: u64,
    /// Number of flows, among `flows`, that the admission control of a link refused.
    pub refused_flows: u64,
    /// Share of the arrived flows that were refused; null for permanent flows.
    pub refused_fraction: Option<f64>,
    /// Jain's index of the flows' goodputs; null if they arrive and depart.
    pub jain_index: Option<f64>,
    /// The flows that arrived in the measured window; null for permanent flows.
    pub all_sizes: Option<SizeClassSummary>,
    /// These flows by size; classes without a flow are left out.
    pub size_classes: Vec<SizeClassSummary>,
    /// The queries or steps that began in the measured window; null for sources without coflows.
    pub coflows: Option<CoflowSummary>,
    /// What the packets of the group, and its ACKs, meet at each link that they cross.
    pub links: Named<GroupLinkSummary>,
}

/// Statistics of a group of flows at one link, its ACKs included if they cross the link.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GroupLinkSummary {
    /// Packets that reached the buffer.
    pub arrivals_packets: u64,
    /// Packets that the queue discipline dropped.
    pub drops_packets: u64,
    /// Share of the packets that arrived in the measured window that are dropped by the end of the
    /// run.
    pub loss_fraction: Option<f64>,
    /// Mean time that packets wait before their transmission, as for a link.
    pub queue_delay_s_mean: Option<f64>,
    /// Median of that time.
    pub queue_delay_s_p50: Option<f64>,
    /// 95th percentile of that time.
    pub queue_delay_s_p95: Option<f64>,
    /// 99th percentile of that time.
    pub queue_delay_s_p99: Option<f64>,
    /// 99.9th percentile of that time.
    pub queue_delay_s_p999: Option<f64>,
    /// Largest of these times, to within 0.1 % of its value.
    pub queue_delay_s_max: Option<f64>,
}

/// Flows of one class of sizes that arrived in the measured window and were not refused.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SizeClassSummary {
    /// Smallest payload in the class.
    pub from_bytes: u64,
    /// Smallest payload above the class; null for the last class.
    pub to_bytes: Option<u64>,
    /// Number of flows that completed before the end of the run.
    pub completed_flows: u64,
    /// Number of flows that did not complete before the end of the run.
    pub unfinished_flows: u64,
    /// Share of the packets that these flows sent in the measured window that are lost by the end
    /// of the run.
    pub loss_fraction: Option<f64>,
    /// Completion times.
    #[serde(flatten)]
    pub completion: CompletionTimes,
    /// Mean of the completion time divided by the time that the flow would take alone: its bits,
    /// headers included, at its peak rate or that of the slowest link, what the further links add
    /// because each sends whole packets, and one round trip. Flows that did not complete count with
    /// their age, as in the completion time.
    pub slowdown_mean: Option<f64>,
    /// Median of the slowdown.
    pub slowdown_p50: Option<f64>,
    /// 99th percentile of the slowdown.
    pub slowdown_p99: Option<f64>,
    /// Whether the mean slowdown is only a lower bound.
    pub slowdown_mean_is_lower_bound: bool,
    /// Whether the median slowdown is only a lower bound.
    pub slowdown_p50_is_lower_bound: bool,
    /// Whether the 99th percentile of the slowdown is only a lower bound.
    pub slowdown_p99_is_lower_bound: bool,
    /// What the median slowdown is at most; null if more than half did not complete.
    pub slowdown_p50_at_most: Option<f64>,
    /// What the 99th percentile of the slowdown is at most; null if more than 1 % did not complete.
    pub slowdown_p99_at_most: Option<f64>,
}

/// Coflows that began in the measured window. They are queries of a source of kind `incast`, or steps of
/// one of kind `collective`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CoflowSummary {
    /// Number of coflows that completed before the end of the run.
    pub completed_coflows: u64,
    /// Number of coflows that did not complete before the end of the run.
    pub unfinished_coflows: u64,
    /// Completion times, to the acknowledgement of the last byte of the last flow.
    #[serde(flatten)]
    pub completion: CompletionTimes,
}

/// Statistics of the group with this index. `flows` are the statistics of all permanent flows.
pub(super) fn group_summary(
    run: &FinishedRun<'_>,
    flows: &[FlowSummary],
    index: usize,
) -> GroupSummary {
    let at_flows = if let Some(generator) = run.generator_of(index) {
        dynamic_flows(run, generator)
    } else {
        let members = run.network.members(index);
        let members = members.start as usize..members.end as usize;
        permanent_flows(&flows[members.clone()], &run.flows[members])
    };
    let probe = &run.group_probes[index];
    let links = at_links(run, index);
    let only_queue = run.network.groups[index].only_queue().and(links.0.first());
    let queue_delay_s = match only_queue {
        Some((_, at)) => [
            at.queue_delay_s_mean,
            at.queue_delay_s_p50,
            at.queue_delay_s_p95,
            at.queue_delay_s_p99,
            at.queue_delay_s_p999,
            at.queue_delay_s_max,
        ],
        None => queue_delays_s(&probe.waits),
    };
    let [mean, p50, p95, p99, p999, max] = queue_delay_s;
    GroupSummary {
        duplicate_packets: probe.duplicates,
        discarded_packets: probe.discarded,
        queue_delay_s_mean: mean,
        queue_delay_s_p50: p50,
        queue_delay_s_p95: p95,
        queue_delay_s_p99: p99,
        queue_delay_s_p999: p999,
        queue_delay_s_max: max,
        one_way_delay_s_p99: probe.one_way.quantile_s(0.99),
        jitter_s_mean: probe.jitter_s(),
        links,
        ..at_flows
    }
}

/// What is measured at the flows of a group of permanent flows.
fn permanent_flows(flows: &[FlowSummary], data: &[FlowData<'_>]) -> GroupSummary {
    let sum = |value: fn(&FlowSummary) -> f64| total(flows.iter().map(value));
    let count = |value: fn(&FlowSummary) -> u64| flows.iter().map(value).sum::<u64>();
    let lost: u64 = data.iter().map(|flow| flow.account.lost_measured).sum();
    let marked: u64 = data.iter().map(|flow| flow.account.marked_measured).sum();
    let sent: u64 = data.iter().map(|flow| flow.window.sent).sum();
    GroupSummary {
        flows: flows.len() as u64,
        congestion: flows.first().and_then(|flow| flow.congestion.clone()),
        goodput_bps: sum(|flow| flow.goodput_bps),
        throughput_bps: sum(|flow| flow.throughput_bps),
        share: sum(|flow| flow.share),
        loss_fraction: ratio(lost as f64, sent as f64),
        marked_fraction: ratio(marked as f64, sent as f64),
        retransmissions: count(|flow| flow.retransmissions),
        rtt_s_mean: mean(flows.iter().filter_map(|flow| flow.rtt_s_mean)),
        one_way_delay_s_mean: mean(flows.iter().filter_map(|flow| flow.one_way_delay_s_mean)),
        cwnd_packets_mean: mean(flows.iter().filter_map(|flow| flow.cwnd_packets_mean)),
        congestion_events: count(|flow| flow.congestion_events),
        timeouts: count(|flow| flow.timeouts),
        undone_reductions: count(|flow| flow.undone_reductions),
        loss_probes: count(|flow| flow.loss_probes),
        completed_flows: count(|flow| flow.completed_flows),
        jain_index: jain_index(flows.iter().map(|flow| flow.goodput_bps)),
        ..GroupSummary::default()
    }
}

/// What is measured at the flows of a group whose flows arrive and depart.
fn dynamic_flows(run: &FinishedRun<'_>, generator: &FlowGenerator) -> GroupSummary {
    let group = &run.network.groups[generator.group];
    let span = run.measured_s();
    let probe = &generator.probe;
    let totals = &probe.totals;
    let delay = ratio(totals.rtt_sum as f64 * 1e-12, totals.rtt_count as f64);
    let throughput_bps = totals.sent_bytes as f64 * 8.0 / span;
    GroupSummary {
        flows: probe.arrived,
        congestion: group.tcp.as_ref().map(|tcp| tcp.congestion.name().to_owned()),
        goodput_bps: totals.delivered_bytes as f64 * 8.0 / span,
        throughput_bps,
        share: ratio(throughput_bps, run.path_capacity_bps(group)).unwrap_or(0.0),
        loss_fraction: ratio(probe.lost as f64, totals.sent as f64),
        marked_fraction: ratio(probe.marked as f64, totals.sent as f64),
        retransmissions: totals.retransmissions,
        rtt_s_mean: group.tcp.as_ref().and(delay),
        // Nothing answers media flows.
        one_way_delay_s_mean: if group.tcp.is_none() { delay } else { None },
        congestion_events: totals.reductions,
        timeouts: totals.timeouts,
        undone_reductions: totals.undone,
        loss_probes: totals.loss_probes,
        completed_flows: probe.all.durations.ended,
        refused_flows: probe.refused,
        refused_fraction: ratio(probe.refused as f64, probe.arrived as f64),
        all_sizes: Some(class_summary(0, None, &probe.all)),
        size_classes: size_classes(&probe.classes),
        coflows: probe.coflows.as_ref().map(coflow_summary),
        ..GroupSummary::default()
    }
}

fn size_classes(classes: &[SizeClass]) -> Vec<SizeClassSummary> {
    let lower = std::iter::once(0).chain(SIZE_CLASSES);
    let bounds = lower.zip(SIZE_CLASSES.map(|to| (to < u64::MAX).then_some(to)));
    let all = bounds.zip(classes).map(|((from, to), class)| class_summary(from, to, class));
    all.filter(|class| class.completed_flows + class.unfinished_flows > 0).collect()
}

fn class_summary(from_bytes: u64, to_bytes: Option<u64>, class: &SizeClass) -> SizeClassSummary {
    let [p50, p99] = class.slowdowns([0.5, 0.99]);
    SizeClassSummary {
        from_bytes,
        to_bytes,
        completed_flows: class.durations.ended,
        unfinished_flows: class.durations.unfinished,
        loss_fraction: ratio(class.lost as f64, class.sent as f64),
        completion: CompletionTimes::of(&class.durations),
        slowdown_mean: class.mean_slowdown(),
        slowdown_p50: value(p50),
        slowdown_p99: value(p99),
        slowdown_mean_is_lower_bound: class.durations.unfinished > 0,
        slowdown_p50_is_lower_bound: is_lower_bound(p50),
        slowdown_p99_is_lower_bound: is_lower_bound(p99),
        slowdown_p50_at_most: at_most(p50),
        slowdown_p99_at_most: at_most(p99),
    }
}

fn coflow_summary(probe: &CoflowProbe) -> CoflowSummary {
    CoflowSummary {
        completed_coflows: probe.durations.ended,
        unfinished_coflows: probe.durations.unfinished,
        completion: CompletionTimes::of(&probe.durations),
    }
}

/// The mean of some waits, their median, 95th, 99th and 99.9th percentile, and the largest.
fn queue_delays_s(waits: &Delays) -> [Option<f64>; 6] {
    let [p50, p95, p99, p999] = waits.quantiles_s([0.5, 0.95, 0.99, 0.999]);
    [waits.mean_s(), p50, p95, p99, p999, waits.max_s()]
}

/// What the packets and ACKs of a group meet at the links of its path and reverse path.
fn at_links(run: &FinishedRun<'_>, index: usize) -> Named<GroupLinkSummary> {
    let network = run.network;
    let group = &network.groups[index];
    let again = |link: &&usize| !group.path.contains(link);
    let circuit = group.path.iter().chain(group.reverse_path.iter().filter(again));
    let summaries = circuit.filter_map(|&link| {
        let class = run.crossing[link].binary_search(&index).ok()?;
        let probe = &run.links[link].probe;
        let counts = probe.class_counts(class);
        let [mean, p50, p95, p99, p999, max] = queue_delays_s(&probe.class_waits(class));
        let summary = GroupLinkSummary {
            arrivals_packets: counts.arrivals,
            drops_packets: counts.drops,
            loss_fraction: counts.loss_fraction(),
            queue_delay_s_mean: mean,
            queue_delay_s_p50: p50,
            queue_delay_s_p95: p95,
            queue_delay_s_p99: p99,
            queue_delay_s_p999: p999,
            queue_delay_s_max: max,
        };
        Some((network.links[link].name.clone(), summary))
    });
    Named(summaries.collect())
}
