//! Statistics of a link.

use super::Named;
use super::arithmetic::ratio;
use super::finished_run::FinishedRun;
use super::sharing::{SharingSummary, sharing_summary};
use crate::derives::{JsonSchema, Serialize};
use crate::quantity::limit::Limit;
use crate::queue::buffer::DropCounts;
use crate::units::Time;

/// Statistics of a link.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LinkSummary {
    /// Mean capacity over the measured window, from the schedule of rates, or from the rate of the
    /// shaper or policer, if that is less; with overhead, in packets of the largest size.
    pub capacity_bps: f64,
    /// Bits sent in the measured window, headers included, divided by the bits that the link could
    /// carry in it. Of a packet in transmission at an edge of the window, the bits inside count.
    /// Behind a shaper or policer: the share of the tokens that did not find the bucket full, as only
    /// those are lost.
    pub utilization: f64,
    /// Utilization without the packets that arrive though their receiver had them already: the
    /// utilization, times the share of these packets in the bytes that left the link taken off. A
    /// packet counts at every link of its path, by when it left the last of them. Packets lost
    /// behind the link and ACKs are no duplicates.
    pub utilization_without_duplicates: f64,
    /// Share of the packets that arrived in the measured window that are dropped by the end of the
    /// run.
    pub loss_fraction: Option<f64>,
    /// Packets that reached the link.
    pub arrivals_packets: u64,
    /// Packets that the queue discipline, the policer or the pool dropped.
    pub drops_packets: u64,
    /// Those packets by reason.
    #[serde(flatten)]
    pub by_reason: DropCounts,
    /// Packets that the queue discipline or the pool marked.
    pub marks_packets: u64,
    /// Packets lost on the wire whose transmission began in the measured window.
    pub random_losses_packets: u64,
    /// Packets that a packet behind them overtook on the way to the far end, of the packets that left the
    /// link in the measured window (type-P-reordered, RFC 4737, with the packets of all flows as one
    /// stream). Null if the link keeps packets in order.
    pub reordered_packets: Option<u64>,
    /// Packets whose last bit left the link.
    pub departures_packets: u64,
    /// Time-weighted mean number of packets that wait, without the packet in transmission.
    pub queue_packets_mean: f64,
    /// Time-weighted 1st percentile of the number of packets that wait.
    pub queue_packets_p01: Option<f64>,
    /// Time-weighted median of the number of packets that wait.
    pub queue_packets_p50: Option<f64>,
    /// Time-weighted 95th percentile of the number of packets that wait.
    pub queue_packets_p95: Option<f64>,
    /// Time-weighted 99th percentile of the number of packets that wait.
    pub queue_packets_p99: Option<f64>,
    /// Time-weighted 99.9th percentile of the number of packets that wait.
    pub queue_packets_p999: Option<f64>,
    /// Largest number of packets that wait.
    pub queue_packets_max: Option<f64>,
    /// Mean number of packets that wait when a packet arrives.
    pub queue_seen_packets_mean: Option<f64>,
    /// 1st percentile of the number of packets that wait when a packet arrives.
    pub queue_seen_packets_p01: Option<f64>,
    /// 99th percentile of the number of packets that wait when a packet arrives.
    pub queue_seen_packets_p99: Option<f64>,
    /// Mean time that packets wait before their transmission; of the packets whose transmission begins
    /// in the measured window.
    pub queue_delay_s_mean: Option<f64>,
    /// 1st percentile of that time.
    pub queue_delay_s_p01: Option<f64>,
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
    /// Buffer limit in packets; a limit in bytes is divided by the mean packet size of the long flows
    /// that cross the link, else of the other data, else of the ACKs.
    pub limit_packets: f64,
    /// Buffer limit in bytes; a limit in packets is multiplied by the same size.
    pub limit_bytes: f64,
    /// Buffer limit in milliseconds at the link's rate before its first change, or at the rate of
    /// its shaper.
    pub limit_ms: f64,
    /// Buffer limit divided by the rate of the link, its shaper or its policer, whichever is least, times
    /// the mean propagation RTT of the long flows, or of the other flows under congestion control if no long flow crosses the link.
    pub limit_bdp: Option<f64>,
    /// Mean length of a burst: consecutive packets of one flow that arrive closer together than the
    /// link can send them.
    pub burst_packets_mean: Option<f64>,
    /// 99th percentile of the length of a burst.
    pub burst_packets_p99: Option<f64>,
    /// Length of the longest burst.
    pub burst_packets_max: Option<f64>,
    /// Number of congestion episodes: window reductions of crossing flows that lie within the
    /// largest RTT after the first of them.
    pub congestion_episodes: u64,
    /// Mean share of the crossing flows that reduce their window in a congestion episode.
    pub loss_synchronization: Option<f64>,
    /// Who shares the link.
    #[serde(flatten)]
    pub sharing: SharingSummary,
    /// Pause frames that the far end of the link has sent; null, as the next four, if it sends none by
    /// its configuration. Without them, `ingress` of the link still measures `ingress_bytes_max`.
    pub pause_frames: Option<u64>,
    /// Share of the measured window in which the link was paused.
    pub paused_fraction: Option<f64>,
    /// The longest time for which the link was paused without a break.
    pub pause_s_max: Option<f64>,
    /// The most bytes that had arrived over the link and waited at its far end.
    pub ingress_bytes_max: Option<f64>,
    /// The most bytes of them that were in the headroom.
    pub headroom_bytes_max: Option<f64>,
    /// Share of the measured window in which the link was free, would have sent a packet at once, while
    /// packets for it waited at a paused link: head-of-line blocking. Null if no link before it can be
    /// paused.
    pub blocked_fraction: Option<f64>,
    /// Kind of the queue discipline; the name of one of your own.
    pub discipline: String,
    /// What the discipline reports about itself, by name: its state at the end of the run, or means
    /// and extremes over the measured window, as its documentation says.
    pub discipline_state: Named<f64>,
}

/// Statistics of the link with this index.
pub(super) fn link_summary(run: &FinishedRun<'_>, index: usize) -> LinkSummary {
    let network = run.network;
    let (spec, link) = (&network.links[index], &run.links[index]);
    let span = network.duration.since(network.measure_from);
    let capacity_bps = run.capacities_bps[index];
    let probe = &link.probe;
    let totals = probe.totals();
    let packet_bytes = spec.packet_bytes;
    let (limit_packets, limit_bytes) = match spec.limit(spec.queue.parameters().limit()) {
        Limit::Packets(packets) => (packets as f64, packets as f64 * packet_bytes),
        Limit::Bytes(bytes) => (bytes as f64 / packet_bytes, bytes as f64),
    };
    let gauges = link.gauges(network.duration).into_iter();
    let (congestion_episodes, loss_synchronization) = episodes(run, index);
    let pause = link.pause_probe();
    let (over_time, seen) = (probe.queue_lengths.over_time(), probe.queue_lengths.seen());
    let [queue_p01, queue_p50, queue_p95, queue_p99, queue_p999] =
        over_time.quantiles([0.01, 0.5, 0.95, 0.99, 0.999]);
    let [seen_p01, seen_p99] = seen.quantiles([0.01, 0.99]);
    let [delay_p01, delay_p50, delay_p95, delay_p99, delay_p999] =
        probe.waits.quantiles_s([0.01, 0.5, 0.95, 0.99, 0.999]);
    let utilization =
        link.used_fraction(network.measure_from, network.duration, totals.idle_capacity);
    LinkSummary {
        capacity_bps,
        utilization,
        utilization_without_duplicates: utilization
            * new_fraction(run, index, totals.departed_bytes),
        loss_fraction: totals.loss_fraction(),
        arrivals_packets: totals.arrivals,
        drops_packets: totals.drops.iter().sum(),
        by_reason: totals.drops.into(),
        marks_packets: totals.marks,
        random_losses_packets: totals.random_losses,
        reordered_packets: link.reordered_packets(),
        departures_packets: totals.departures,
        queue_packets_mean: probe.mean_queue(span),
        queue_packets_p01: queue_p01,
        queue_packets_p50: queue_p50,
        queue_packets_p95: queue_p95,
        queue_packets_p99: queue_p99,
        queue_packets_p999: queue_p999,
        queue_packets_max: over_time.max(),
        queue_seen_packets_mean: seen.mean(),
        queue_seen_packets_p01: seen_p01,
        queue_seen_packets_p99: seen_p99,
        queue_delay_s_mean: probe.waits.mean_s(),
        queue_delay_s_p01: delay_p01,
        queue_delay_s_p50: delay_p50,
        queue_delay_s_p95: delay_p95,
        queue_delay_s_p99: delay_p99,
        queue_delay_s_p999: delay_p999,
        queue_delay_s_max: probe.waits.max_s(),
        limit_packets,
        limit_bytes,
        limit_ms: limit_bytes * 8e3 / spec.sustained_rate().bits_per_second() as f64,
        limit_bdp: ratio(limit_bytes, spec.bdp_bytes),
        burst_packets_mean: probe.bursts.mean(),
        burst_packets_p99: probe.bursts.quantile(0.99),
        burst_packets_max: probe.bursts.max(),
        congestion_episodes,
        loss_synchronization,
        sharing: sharing_summary(run, index),
        pause_frames: pause.map(|probe| probe.frames),
        paused_fraction: pause.and_then(|probe| ratio(probe.paused.seconds(), span.seconds())),
        pause_s_max: pause.map(|probe| probe.longest.seconds()),
        ingress_bytes_max: link.waiting_in_switch_max().map(|bytes| bytes as f64),
        headroom_bytes_max: pause.map(|probe| probe.headroom_bytes_max as f64),
        blocked_fraction: run.behind_pauses[index]
            .then(|| ratio(run.blocked[index].seconds(), span.seconds()))
            .flatten(),
        discipline: spec.queue.name().to_owned(),
        discipline_state: Named(gauges.map(|(name, value)| (name.to_owned(), value)).collect()),
    }
}

/// The share of the bytes that left a link in packets that are no duplicates.
fn new_fraction(run: &FinishedRun<'_>, link: usize, departed_bytes: u64) -> f64 {
    let probes = run.data_groups(link).map(|group| &run.group_probes[group]);
    let duplicate_bytes: u64 = probes.map(|probe| probe.duplicate_bytes).sum();
    // At the last link of a path the duplicates are among the packets that left in the window. At an
    // earlier one they may have left it before the window.
    let new_bytes = departed_bytes.saturating_sub(duplicate_bytes);
    ratio(new_bytes as f64, departed_bytes as f64).unwrap_or(1.0)
}

/// Number of congestion episodes of the flows that cross a link, and the mean share of these flows
/// that reduce their window in an episode.
fn episodes(run: &FinishedRun<'_>, link: usize) -> (u64, Option<f64>) {
    let (network, data) = (run.network, &run.flows);
    let flows = run.data_groups(link).flat_map(|group| network.members(group));
    let flows = flows.map(|flow| flow as usize).filter(|&flow| data[flow].is_controlled);
    let crossing: Vec<usize> = flows.collect();
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
