//! What a run returns: a summary, the fields of `tailroom run --json`, and columns.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::flow::Ends;
use crate::link::Link;
use crate::probe::flow::{FlowCounters, FlowProbe, FlowRecord, Reduction};
use crate::probe::progress::{first_fair_interval, jain_index};
use crate::simulation::FlowAccount;
use crate::topology::{Limit, LinkSpec, Network, QueueSpec, SourceSpec};
use crate::units::Time;

/// Everything a run returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Statistics over the measured window.
    pub summary: Summary,
    /// Time series of the links, if recorded.
    pub link_series: Option<LinkSeries>,
    /// Time series of the congestion-controlled flows, if recorded.
    pub flow_series: Option<FlowSeries>,
    /// The packet logs of the links that keep one, by time.
    pub packet_log: PacketLog,
}

/// Statistics over `[measured_from_s, measured_to_s]`. Units are in the last word of a name; fractions
/// lie in [0, 1]; `None` (null) where nothing was there to measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Version of the engine that ran.
    pub engine_version: &'static str,
    /// Root of the random streams.
    pub seed: u64,
    /// Start of the measured window.
    pub measured_from_s: f64,
    /// End of the measured window and of the run.
    pub measured_to_s: f64,
    /// What a reader of the figures should know.
    pub warnings: Vec<String>,
    /// From the last start until Jain's index over a sliding window of a twentieth of the run reaches
    /// 0.9; null if it never does or there are fewer than two flows.
    pub convergence_time_s: Option<f64>,
    /// By name, in the order of the scenario.
    pub links: Named<LinkSummary>,
    /// Every flow, in the order of the scenario.
    pub flows: Vec<FlowSummary>,
    /// By name, in the order of the scenario.
    pub groups: Named<GroupSummary>,
    /// Events that the engine handled.
    pub events: u64,
    /// Packets that were offered to a link in the whole run, links added up.
    pub packet_hops: u64,
}

/// Entries that serialize as an object and keep their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Named<T> {
    /// The entry with this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Statistics of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSummary {
    /// Mean capacity over the window, from the schedule of rates.
    pub capacity_bps: f64,
    /// Bits that left, headers included, over capacity times time.
    pub utilization: f64,
    /// Drops over arrivals.
    pub loss_fraction: Option<f64>,
    /// Packets that reached the buffer.
    pub arrivals_packets: u64,
    /// Packets that the queue discipline dropped.
    pub drops_packets: u64,
    /// Packets that it marked.
    pub marks_packets: u64,
    /// Packets lost on the wire.
    pub random_losses_packets: u64,
    /// Packets whose last bit left.
    pub departures_packets: u64,
    /// Time-weighted mean of the packets that wait, the one in transmission not counted.
    pub queue_packets_mean: f64,
    /// Time-weighted 1st percentile of the same.
    pub queue_packets_p01: Option<f64>,
    /// Time-weighted 99th percentile of the same.
    pub queue_packets_p99: Option<f64>,
    /// Mean of the packets that an arriving packet finds waiting.
    pub queue_seen_packets_mean: Option<f64>,
    /// 99th percentile of the same.
    pub queue_seen_packets_p99: Option<f64>,
    /// Mean time that accepted packets wait before transmission.
    pub queue_delay_s_mean: Option<f64>,
    /// 1st percentile of the same.
    pub queue_delay_s_p01: Option<f64>,
    /// 99th percentile of the same.
    pub queue_delay_s_p99: Option<f64>,
    /// The buffer in packets (of the mean size that passed, if the limit is in bytes).
    pub limit_packets: Option<f64>,
    /// The buffer in bytes (of the mean size that passed, if the limit is in packets).
    pub limit_bytes: Option<f64>,
    /// The buffer in milliseconds at the mean capacity.
    pub limit_ms: Option<f64>,
    /// The buffer over rate times mean propagation RTT of the flows under congestion control.
    pub limit_bdp: Option<f64>,
    /// Mean length of a burst: packets of one flow in a row, closer than the link can send them.
    pub burst_packets_mean: Option<f64>,
    /// 99th percentile of the same.
    pub burst_packets_p99: Option<f64>,
    /// Longest burst.
    pub burst_packets_max: Option<f64>,
    /// Groups of window reductions that lie within one largest RTT of the first of them.
    pub congestion_episodes: u64,
    /// Mean share of the crossing flows that reduce in an episode.
    pub loss_synchronization: Option<f64>,
}

/// Statistics of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Group, and place in it where there are several.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Its congestion control; null for an uncontrolled source.
    pub congestion: Option<&'static str>,
    /// New payload delivered, per second.
    pub goodput_bps: f64,
    /// Everything sent, headers and retransmissions included, per second.
    pub throughput_bps: f64,
    /// Throughput over the smallest capacity on the path.
    pub share: f64,
    /// Packets dropped or lost on the path over packets sent.
    pub loss_fraction: Option<f64>,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Mean of the RTT samples.
    pub rtt_s_mean: Option<f64>,
    /// Time-weighted mean window.
    pub cwnd_packets_mean: Option<f64>,
    /// Window reductions, timeouts included.
    pub congestion_events: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Mean packets sent between reductions (Barman's `N_d`).
    pub packets_between_reductions_mean: Option<f64>,
    /// Mean time between reductions (Barman's `T_d`).
    pub seconds_between_reductions_mean: Option<f64>,
    /// 1 if the flow had a last byte and it was acknowledged, else 0.
    pub completed_flows: u64,
}

/// Statistics of a group: sums of rates and counts, means of the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSummary {
    /// Flows in the group.
    pub flows: u64,
    /// The group's congestion control; null for an uncontrolled source.
    pub congestion: Option<&'static str>,
    /// Sum over flows.
    pub goodput_bps: f64,
    /// Sum over flows.
    pub throughput_bps: f64,
    /// Sum over flows.
    pub share: f64,
    /// Packets dropped or lost over packets sent, of all flows together.
    pub loss_fraction: Option<f64>,
    /// Sum over flows.
    pub retransmissions: u64,
    /// Mean over flows.
    pub rtt_s_mean: Option<f64>,
    /// Mean over flows.
    pub cwnd_packets_mean: Option<f64>,
    /// Sum over flows.
    pub congestion_events: u64,
    /// Sum over flows.
    pub timeouts: u64,
    /// Sum over flows.
    pub completed_flows: u64,
    /// Jain's index of the flows' goodputs.
    pub jain_index: Option<f64>,
}

/// Time series of the links: a row for each sample and link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSeries {
    /// When.
    pub time_s: Vec<f64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Packets waiting at that instant.
    pub queue_packets: Vec<f64>,
    /// Bits that left since the sample before, over what the link could carry.
    pub utilization: Vec<f64>,
    /// Drops since the sample before.
    pub drops_packets: Vec<f64>,
}

/// Time series of the flows under congestion control: a row for each sample and flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// When.
    pub time_s: Vec<f64>,
    /// Index of the flow, in the order of the scenario.
    pub flow: Vec<u32>,
    /// Window.
    pub cwnd_packets: Vec<f64>,
    /// Slow-start threshold; infinite before the first reduction.
    pub ssthresh_packets: Vec<f64>,
    /// Smoothed RTT; 0 before the first sample.
    pub srtt_s: Vec<f64>,
    /// New payload delivered since the sample before, per second.
    pub goodput_bps: Vec<f64>,
}

/// Packet logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketLog {
    /// When.
    pub time_s: Vec<f64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// 0 arrival, 1 departure, 2 drop.
    pub event: Vec<u8>,
}

/// Fewer window reductions a flow than this are not a steady state.
const REDUCTIONS_FOR_STEADY_STATE: f64 = 10.0;
/// Jain's index from which flows count as converged.
const FAIR: f64 = 0.9;

/// What is known of one flow at the end of a run.
struct FlowData<'a> {
    record: &'a FlowRecord,
    /// Counts inside the window; deliveries from the receiving side for uncontrolled sources.
    window: FlowCounters,
    account: FlowAccount,
    is_complete: bool,
    is_controlled: bool,
}

/// Counts between the marks of a probe.
fn between(probe: &FlowProbe) -> FlowCounters {
    let record = probe.record();
    let (before, after) = (record.before.unwrap_or_default(), record.after.unwrap_or_default());
    FlowCounters {
        sent: after.sent - before.sent,
        sent_bytes: after.sent_bytes - before.sent_bytes,
        retransmissions: after.retransmissions - before.retransmissions,
        rtt_sum: after.rtt_sum - before.rtt_sum,
        rtt_count: after.rtt_count - before.rtt_count,
        cwnd_area: after.cwnd_area - before.cwnd_area,
        reductions: after.reductions - before.reductions,
        timeouts: after.timeouts - before.timeouts,
        delivered: after.delivered - before.delivered,
        delivered_bytes: after.delivered_bytes - before.delivered_bytes,
    }
}

impl<'a> FlowData<'a> {
    fn new(ends: &'a Ends, account: FlowAccount) -> Self {
        match ends {
            Ends::Tcp(connection) => {
                let probe = &connection.sender.probe;
                FlowData {
                    record: probe.record(),
                    window: between(probe),
                    account,
                    is_complete: connection.sender.is_complete_at_end(),
                    is_controlled: true,
                }
            }
            Ends::Unresponsive(source) => {
                let received = between(&source.received);
                FlowData {
                    record: source.received.record(),
                    window: FlowCounters {
                        delivered: received.delivered,
                        delivered_bytes: received.delivered_bytes,
                        ..between(&source.sent)
                    },
                    account,
                    is_complete: false,
                    is_controlled: false,
                }
            }
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    ratio(sum, count)
}

/// Puts together what the probes of a finished run recorded.
pub fn collect(
    network: &Network,
    links: &[Link],
    ends: &[&Ends],
    accounts: &[FlowAccount],
    events: u64,
) -> Results {
    let data: Vec<FlowData<'_>> =
        ends.iter().zip(accounts).map(|(ends, account)| FlowData::new(ends, *account)).collect();
    let link_summaries: Vec<(String, LinkSummary)> = network
        .links
        .iter()
        .zip(links)
        .enumerate()
        .map(|(index, (spec, link))| {
            (spec.name.clone(), link_summary(network, &data, index, spec, link))
        })
        .collect();
    let capacities: Vec<f64> = link_summaries.iter().map(|(_, link)| link.capacity_bps).collect();
    let flows: Vec<FlowSummary> = (0..data.len())
        .map(|index| flow_summary(network, &data[index], index, &capacities))
        .collect();
    let groups = network.groups.iter().enumerate().map(|(index, group)| {
        let first = network.flows.partition_point(|flow| flow.group < index);
        let last = network.flows.partition_point(|flow| flow.group <= index);
        (group.name.clone(), group_summary(&flows[first..last], &data[first..last]))
    });
    let packet_hops = links.iter().map(|link| link.probe.account().0).sum();
    let summary = Summary {
        engine_version: env!("CARGO_PKG_VERSION"),
        seed: network.seed,
        measured_from_s: network.measure_from.seconds(),
        measured_to_s: network.duration.seconds(),
        warnings: warnings(network, &data),
        convergence_time_s: convergence_time(network, &data),
        links: Named(link_summaries),
        groups: Named(groups.collect()),
        flows,
        events,
        packet_hops,
    };
    Results {
        summary,
        link_series: network.series_interval.map(|interval| link_series(network, links, interval)),
        flow_series: network.series_interval.map(|interval| flow_series(&data, interval)),
        packet_log: packet_log(network, links),
    }
}

fn link_summary(
    network: &Network,
    data: &[FlowData<'_>],
    index: usize,
    spec: &LinkSpec,
    link: &Link,
) -> LinkSummary {
    let span = network.duration.since(network.measure_from);
    let capacity_bps = link.capacity_bits(network.measure_from, network.duration) / span.seconds();
    let probe = &link.probe;
    let totals = probe.totals();
    let mean_bytes = ratio(totals.departed_bytes as f64, totals.departures as f64);
    let (limit_packets, limit_bytes) = match spec.queue {
        QueueSpec::DropTail { limit: Limit::Packets(packets) } => {
            (Some(packets as f64), mean_bytes.map(|bytes| bytes * packets as f64))
        }
        QueueSpec::DropTail { limit: Limit::Bytes(bytes) } => {
            (mean_bytes.map(|mean| bytes as f64 / mean), Some(bytes as f64))
        }
    };
    let episodes = episodes(network, data, index);
    let seconds = |picoseconds: Option<f64>| picoseconds.map(|value| value * 1e-12);
    LinkSummary {
        capacity_bps,
        utilization: ratio(totals.departed_bytes as f64 * 8.0, capacity_bps * span.seconds())
            .unwrap_or(0.0),
        loss_fraction: ratio(totals.drops as f64, totals.arrivals as f64),
        arrivals_packets: totals.arrivals,
        drops_packets: totals.drops,
        marks_packets: 0,
        random_losses_packets: totals.random_losses,
        departures_packets: totals.departures,
        queue_packets_mean: probe.mean_queue(span),
        queue_packets_p01: probe.queue_over_time.quantile(0.01),
        queue_packets_p99: probe.queue_over_time.quantile(0.99),
        queue_seen_packets_mean: probe.queue_seen.mean(),
        queue_seen_packets_p99: probe.queue_seen.quantile(0.99),
        queue_delay_s_mean: probe.mean_delay_s(),
        queue_delay_s_p01: seconds(probe.delay.quantile(0.01)),
        queue_delay_s_p99: seconds(probe.delay.quantile(0.99)),
        limit_packets,
        limit_bytes,
        limit_ms: limit_bytes.and_then(|bytes| ratio(bytes * 8e3, capacity_bps)),
        limit_bdp: limit_bytes.and_then(|bytes| ratio(bytes, spec.bdp_bytes)),
        burst_packets_mean: probe.bursts.mean(),
        burst_packets_p99: probe.bursts.quantile(0.99),
        burst_packets_max: probe.bursts.max(),
        congestion_episodes: episodes.0,
        loss_synchronization: episodes.1,
    }
}

/// Congestion episodes of the flows that cross a link, and the mean share of them that reduce in one.
fn episodes(network: &Network, data: &[FlowData<'_>], link: usize) -> (u64, Option<f64>) {
    let crossing: Vec<usize> = (0..data.len())
        .filter(|&flow| {
            data[flow].is_controlled
                && network.groups[network.flows[flow].group].path.contains(&link)
        })
        .collect();
    let longest = crossing.iter().map(|&flow| network.flows[flow].rtt).max().unwrap_or(Time::ZERO);
    let mut reductions: Vec<(Time, usize)> = crossing
        .iter()
        .flat_map(|&flow| data[flow].record.reductions.iter().map(move |cut| (cut.time, flow)))
        .collect();
    reductions.sort_unstable();
    let mut episodes = 0;
    let mut shares = 0.0;
    let mut rest = reductions.as_slice();
    while let Some(&(first, _)) = rest.first() {
        let length = rest.partition_point(|(time, _)| time.since(first) <= longest);
        let mut flows: Vec<usize> = rest[..length].iter().map(|&(_, flow)| flow).collect();
        flows.sort_unstable();
        flows.dedup();
        episodes += 1;
        shares += flows.len() as f64 / crossing.len() as f64;
        rest = &rest[length..];
    }
    (episodes, ratio(shares, episodes as f64))
}

fn flow_summary(
    network: &Network,
    data: &FlowData<'_>,
    index: usize,
    capacities: &[f64],
) -> FlowSummary {
    let group = &network.groups[network.flows[index].group];
    let span = network.duration.since(network.measure_from).seconds();
    let window = &data.window;
    let capacity = group.path.iter().map(|&link| capacities[link]).fold(f64::INFINITY, f64::min);
    let throughput_bps = window.sent_bytes as f64 * 8.0 / span;
    let between = between_reductions(&data.record.reductions);
    FlowSummary {
        name: network.flow_name(index),
        group: group.name.clone(),
        congestion: group.tcp.as_ref().map(|tcp| tcp.congestion.name()),
        goodput_bps: window.delivered_bytes as f64 * 8.0 / span,
        throughput_bps,
        share: ratio(throughput_bps, capacity).unwrap_or(0.0),
        loss_fraction: ratio(data.account.lost_measured as f64, window.sent as f64),
        retransmissions: window.retransmissions,
        rtt_s_mean: ratio(window.rtt_sum as f64 * 1e-12, window.rtt_count as f64),
        cwnd_packets_mean: data.is_controlled.then_some(window.cwnd_area * 1e-12 / span),
        congestion_events: window.reductions,
        timeouts: window.timeouts,
        packets_between_reductions_mean: between.map(|(packets, _)| packets),
        seconds_between_reductions_mean: between.map(|(_, seconds)| seconds),
        completed_flows: u64::from(data.is_complete),
    }
}

/// Mean packets and mean time from one reduction to the next.
fn between_reductions(reductions: &[Reduction]) -> Option<(f64, f64)> {
    let (first, last) = (reductions.first()?, reductions.last()?);
    let intervals = (reductions.len() - 1) as f64;
    let packets = ratio((last.sent - first.sent) as f64, intervals)?;
    Some((packets, last.time.since(first.time).seconds() / intervals))
}

fn group_summary(flows: &[FlowSummary], data: &[FlowData<'_>]) -> GroupSummary {
    let sum = |value: fn(&FlowSummary) -> f64| flows.iter().map(value).sum::<f64>();
    let count = |value: fn(&FlowSummary) -> u64| flows.iter().map(value).sum::<u64>();
    let lost: u64 = data.iter().map(|flow| flow.account.lost_measured).sum();
    let sent: u64 = data.iter().map(|flow| flow.window.sent).sum();
    GroupSummary {
        flows: flows.len() as u64,
        congestion: flows.first().and_then(|flow| flow.congestion),
        goodput_bps: sum(|flow| flow.goodput_bps),
        throughput_bps: sum(|flow| flow.throughput_bps),
        share: sum(|flow| flow.share),
        loss_fraction: ratio(lost as f64, sent as f64),
        retransmissions: count(|flow| flow.retransmissions),
        rtt_s_mean: mean(flows.iter().filter_map(|flow| flow.rtt_s_mean)),
        cwnd_packets_mean: mean(flows.iter().filter_map(|flow| flow.cwnd_packets_mean)),
        congestion_events: count(|flow| flow.congestion_events),
        timeouts: count(|flow| flow.timeouts),
        completed_flows: count(|flow| flow.completed_flows),
        jain_index: jain_index(flows.iter().map(|flow| flow.goodput_bps)),
    }
}

fn warnings(network: &Network, data: &[FlowData<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, group) in network.groups.iter().enumerate() {
        let members = network.flows.iter().zip(data).filter(|(flow, _)| flow.group == index);
        let reductions = members.map(|(_, data)| data.window.reductions as f64);
        // A transfer that ends has no steady state to miss.
        let is_permanent = group.source == SourceSpec::Bulk { bytes: None };
        let Some(mean) = mean(reductions).filter(|_| is_permanent) else { continue };
        if mean < REDUCTIONS_FOR_STEADY_STATE {
            warnings.push(format!(
                "flows.{}: {mean:.1} window reductions a flow in the measured window; with fewer than \
                 10 its figures are not a steady state: lengthen duration",
                group.name
            ));
        }
    }
    let kept = network.marks().reductions_kept as u64;
    if data.iter().any(|flow| flow.window.reductions > kept) {
        warnings.push(format!(
            "only the first {kept} reductions of a flow were kept: loss_synchronization, N_d and T_d \
             cover those"
        ));
    }
    warnings
}

/// See [`Summary::convergence_time_s`].
fn convergence_time(network: &Network, data: &[FlowData<'_>]) -> Option<f64> {
    let controlled = || network.flows.iter().zip(data).filter(|(_, data)| data.is_controlled);
    let last_start = controlled().map(|(flow, _)| flow.start).max()?;
    let progress: Vec<&[u64]> =
        controlled().map(|(_, data)| data.record.progress.as_slice()).collect();
    if progress.len() < 2 {
        return None;
    }
    let interval = network.marks().progress_interval;
    let intervals = network.duration.picoseconds() / interval.picoseconds();
    let from = last_start.picoseconds().div_ceil(interval.picoseconds()).max(1) - 1;
    let end =
        first_fair_interval(&progress, from as usize, (intervals / 20).max(1) as usize, FAIR)?;
    let time = (end as u64 + 1) * interval.picoseconds();
    Some(Time::from_picoseconds(time).since(last_start).seconds())
}

fn link_series(network: &Network, links: &[Link], interval: Time) -> LinkSeries {
    let mut series = LinkSeries::default();
    for sample in 0..links.first().map_or(0, |link| link.probe.samples.len()) {
        for (index, link) in links.iter().enumerate() {
            let row = link.probe.samples[sample];
            let from = row.time.since(interval);
            series.time_s.push(row.time.seconds());
            series.link.push(index as u32);
            series.queue_packets.push(row.queue_packets as f64);
            let capacity = link.capacity_bits(from, row.time.min(network.duration));
            series
                .utilization
                .push(ratio(row.departed_bytes as f64 * 8.0, capacity).unwrap_or(0.0));
            series.drops_packets.push(row.drops as f64);
        }
    }
    series
}

fn flow_series(data: &[FlowData<'_>], interval: Time) -> FlowSeries {
    let mut series = FlowSeries::default();
    let samples = data.iter().map(|flow| flow.record.samples.len()).max().unwrap_or(0);
    for sample in 0..samples {
        for (index, flow) in data.iter().enumerate().filter(|(_, flow)| flow.is_controlled) {
            let Some(row) = flow.record.samples.get(sample) else { continue };
            series.time_s.push(row.time.seconds());
            series.flow.push(index as u32);
            series.cwnd_packets.push(row.cwnd_packets);
            series.ssthresh_packets.push(row.ssthresh_packets);
            series.srtt_s.push(row.srtt.seconds());
            series.goodput_bps.push(row.delivered_bytes as f64 * 8.0 / interval.seconds());
        }
    }
    series
}

fn packet_log(network: &Network, links: &[Link]) -> PacketLog {
    let mut log = PacketLog::default();
    for (index, link) in links.iter().enumerate() {
        let mut entries = link.probe.log.clone();
        entries.retain(|entry| entry.time < network.duration);
        entries.sort_by_key(|entry| entry.time);
        for entry in entries {
            log.time_s.push(entry.time.seconds());
            log.link.push(index as u32);
            log.flow.push(entry.flow);
            log.event.push(entry.event as u8);
        }
    }
    log
}
