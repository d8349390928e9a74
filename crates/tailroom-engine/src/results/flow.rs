//! Statistics of a permanent flow.

use super::arithmetic::ratio;
use super::finished_run::FinishedRun;
use crate::derives::{JsonSchema, Serialize};
use crate::probe::flow::Reduction;

/// Statistics of a permanent flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FlowSummary {
    /// Name of its group, followed by its number if the group has several flows.
    pub name: String,
    /// Name of its group.
    pub group: String,
    /// Kind of its congestion control; null for an unresponsive flow.
    pub congestion: Option<String>,
    /// Rate of new payload delivered.
    pub goodput_bps: f64,
    /// Rate of all bytes sent, headers and retransmissions included.
    pub throughput_bps: f64,
    /// Throughput divided by the smallest capacity on the path; above 1 if the flow sends more than
    /// that.
    pub share: f64,
    /// Share of the packets sent in the measured window that are dropped or lost on the path by the
    /// end of the run.
    pub loss_fraction: Option<f64>,
    /// Share of the packets sent in the measured window that leave the last link of the path with a
    /// mark by the end of the run.
    pub marked_fraction: Option<f64>,
    /// Number of retransmitted packets.
    pub retransmissions: u64,
    /// Number of packets that arrived though the receiver had them already: retransmissions of packets
    /// that were not lost, by when they left the last link of the path.
    pub duplicate_packets: u64,
    /// Number of packets that arrived so late behind others that the receiver discarded them by their
    /// timestamps (RFC 7323 sec. 5), by when they left the last link of the path.
    pub discarded_packets: u64,
    /// Mean of the RTT samples; null for an unresponsive flow.
    pub rtt_s_mean: Option<f64>,
    /// Mean time from sending to arrival of the packets of an unresponsive flow; null under
    /// congestion control.
    pub one_way_delay_s_mean: Option<f64>,
    /// Time-weighted mean of the congestion window.
    pub cwnd_packets_mean: Option<f64>,
    /// Number of window reductions, timeouts included.
    pub congestion_events: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Number of window reductions, timeouts included, that the sender has taken back because no
    /// packet was lost.
    pub undone_reductions: u64,
    /// Number of tail loss probes: packets sent to get an ACK before the timeout (RFC 8985).
    pub loss_probes: u64,
    /// Mean number of packets sent between window reductions (`N_d` of Barman et al. 2004).
    pub packets_between_reductions_mean: Option<f64>,
    /// Mean time between window reductions (`T_d` of Barman et al. 2004).
    pub seconds_between_reductions_mean: Option<f64>,
    /// 1 if the flow has a last byte and the byte was acknowledged, else 0.
    pub completed_flows: u64,
}

/// Statistics of the flow with this index.
pub(super) fn flow_summary(run: &FinishedRun<'_>, index: usize) -> FlowSummary {
    let network = run.network;
    let data = &run.flows[index];
    let group = &network.groups[network.flows[index].group];
    let span = run.measured_s();
    let window = &data.window;
    let throughput_bps = window.sent_bytes as f64 * 8.0 / span;
    let between = between_reductions(&data.record.reductions);
    let measured = ratio(window.rtt_sum as f64 * 1e-12, window.rtt_count as f64);
    FlowSummary {
        name: network.flow_name(index),
        group: group.name.clone(),
        congestion: group.tcp.as_ref().map(|tcp| tcp.congestion.name().to_owned()),
        goodput_bps: window.delivered_bytes as f64 * 8.0 / span,
        throughput_bps,
        share: ratio(throughput_bps, run.path_capacity_bps(group)).unwrap_or(0.0),
        loss_fraction: ratio(data.account.lost_measured as f64, window.sent as f64),
        marked_fraction: ratio(data.account.marked_measured as f64, window.sent as f64),
        retransmissions: window.retransmissions,
        duplicate_packets: data.account.duplicates_measured,
        discarded_packets: data.account.discarded_measured,
        rtt_s_mean: measured.filter(|_| data.is_controlled),
        one_way_delay_s_mean: measured.filter(|_| !data.is_controlled),
        cwnd_packets_mean: data.is_controlled.then_some(window.cwnd_area * 1e-12 / span),
        congestion_events: window.reductions,
        timeouts: window.timeouts,
        undone_reductions: window.undone,
        loss_probes: window.loss_probes,
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
