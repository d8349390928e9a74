//! What a run returns: a summary, the fields of `tailroom run --json`, and columns.

mod collect;
mod flow_data;
pub mod passing;
mod warnings;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use collect::collect;
pub use passing::{Regime, SharingSummary, SizeClassSummary};

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
    /// Shares of the time by number of flows, for each link.
    pub flow_counts: FlowCounts,
    /// Completed flows of the groups that keep them one by one, by group and start.
    pub flow_log: FlowLog,
    /// Burstiness of the arrivals by time scale, at the links where it is measured.
    pub arrival_dispersion: ArrivalDispersion,
    /// Arrivals at the links that record them, link by link in order of time.
    pub arrival_log: ArrivalLog,
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
    /// Bits sent in the window, headers included, over what the link could carry in it. Of a packet in
    /// transmission at an edge of the window the bits on the inner side count.
    pub utilization: f64,
    /// Of the packets that arrived in the window, those dropped by the end of the run.
    pub loss_fraction: Option<f64>,
    /// Packets that reached the buffer.
    pub arrivals_packets: u64,
    /// Packets that the queue discipline dropped.
    pub drops_packets: u64,
    /// Of those, packets for which the buffer had no room, or that made room for others.
    pub drops_overflow_packets: u64,
    /// Of those, packets dropped at arrival though there was room.
    pub drops_early_packets: u64,
    /// Of those, packets dropped at the head of their queue for having waited too long.
    pub drops_head_packets: u64,
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
    /// 1st percentile of the same.
    pub queue_seen_packets_p01: Option<f64>,
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
    /// Who shares the link, and how.
    #[serde(flatten)]
    pub sharing: SharingSummary,
    /// Kind of the queue discipline.
    pub discipline: &'static str,
    /// What the discipline reports of itself, by name: state at the end of the run, or means and
    /// extremes over the measured window, as its documentation says.
    pub discipline_state: Named<f64>,
}

/// Statistics of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Group, and place in it where there are several.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Its congestion control; null for an uncontrolled source.
    pub congestion: Option<String>,
    /// New payload delivered, per second.
    pub goodput_bps: f64,
    /// Everything sent, headers and retransmissions included, per second.
    pub throughput_bps: f64,
    /// Throughput over the smallest capacity on the path; above 1 where more is sent than that.
    pub share: f64,
    /// Of the packets sent in the window, those dropped or lost on the path by the end of the run.
    pub loss_fraction: Option<f64>,
    /// Of the packets sent in the window, those that arrived with a mark.
    pub marked_fraction: Option<f64>,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Mean of the RTT samples; null for an uncontrolled source.
    pub rtt_s_mean: Option<f64>,
    /// Mean time from sending to arrival of an uncontrolled source's packets; null under congestion
    /// control.
    pub one_way_delay_s_mean: Option<f64>,
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
    /// Flows in the group; those that arrived in the measured window, where they come and go.
    pub flows: u64,
    /// The group's congestion control; null for an uncontrolled source.
    pub congestion: Option<String>,
    /// Sum over flows.
    pub goodput_bps: f64,
    /// Sum over flows.
    pub throughput_bps: f64,
    /// Sum over flows.
    pub share: f64,
    /// Packets dropped or lost over packets sent, of all flows together; as for a flow.
    pub loss_fraction: Option<f64>,
    /// Packets that arrived with a mark over packets sent, of all flows together; as for a flow.
    pub marked_fraction: Option<f64>,
    /// Sum over flows.
    pub retransmissions: u64,
    /// Mean over flows.
    pub rtt_s_mean: Option<f64>,
    /// Mean time that a packet waits before its transmissions, added up over the links of its path; of the
    /// packets that the last of these has sent. Neither ACKs nor access links count.
    pub queue_delay_s_mean: Option<f64>,
    /// 99th percentile of the same, to 0.1 % of its value.
    pub queue_delay_s_p99: Option<f64>,
    /// Mean over flows of the mean time from sending to arrival of an uncontrolled source's packets:
    /// access link, waiting, transmission and propagation; null under congestion control.
    pub one_way_delay_s_mean: Option<f64>,
    /// 99th percentile of the same over the packets of all flows, to 0.1 % of its value.
    pub one_way_delay_s_p99: Option<f64>,
    /// Of an uncontrolled source's packets, mean absolute difference between the one-way delays of a packet
    /// and the packet of its flow that arrived before it (RFC 3550 sec. 6.4.1, without its smoothing; the
    /// absolute ipdv of RFC 3393).
    pub jitter_s_mean: Option<f64>,
    /// Mean over flows.
    pub cwnd_packets_mean: Option<f64>,
    /// Sum over flows.
    pub congestion_events: u64,
    /// Sum over flows.
    pub timeouts: u64,
    /// Sum over flows.
    pub completed_flows: u64,
    /// Flows that a link's admission control refused, among `flows`.
    pub refused_flows: u64,
    /// Refused over arrived; null where flows do not come and go.
    pub refused_fraction: Option<f64>,
    /// Jain's index of the flows' goodputs; null where they come and go.
    pub jain_index: Option<f64>,
    /// The flows that arrived in the measured window, where they come and go; else null.
    pub all_sizes: Option<SizeClassSummary>,
    /// The same by size; classes without a flow are left out.
    pub size_classes: Vec<SizeClassSummary>,
    /// What its packets meet at each link that they, or their ACKs, cross.
    pub links: Named<GroupLinkSummary>,
}

/// A group of flows at one link, ACKs included where they cross it too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupLinkSummary {
    /// Packets that reached the buffer.
    pub arrivals_packets: u64,
    /// Packets that the queue discipline dropped.
    pub drops_packets: u64,
    /// Of the packets that arrived in the window, those dropped by the end of the run.
    pub loss_fraction: Option<f64>,
    /// Mean time that accepted packets wait before transmission.
    pub queue_delay_s_mean: Option<f64>,
    /// 99th percentile of the same.
    pub queue_delay_s_p99: Option<f64>,
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
    /// Bits sent since the sample before, over what the link could carry.
    pub utilization: Vec<f64>,
    /// Drops since the sample before.
    pub drops_packets: Vec<f64>,
    /// Marks since the sample before.
    pub marks_packets: Vec<f64>,
    /// What the disciplines report of themselves, a column a name; NaN for a link whose discipline
    /// reports no such thing.
    pub discipline_state: Vec<(&'static str, Vec<f64>)>,
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
    /// Index of the flow; of one that comes and goes the number of flows plus the index of its group.
    pub flow: Vec<u32>,
    /// 0 arrival, 1 departure, 2 drop.
    pub event: Vec<u8>,
}

/// Shares of the measured time by number of flows: a row for each link and number that occurred. Numbers
/// above 1024 are middles of classes less than 0.2 % wide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowCounts {
    /// Index of the link.
    pub link: Vec<u32>,
    /// How many flows.
    pub flows: Vec<f64>,
    /// Share of the time with so many flows in progress.
    pub in_progress_fraction: Vec<f64>,
    /// Share of the time with so many of them bottlenecked.
    pub bottlenecked_fraction: Vec<f64>,
}

/// Flows that have come and gone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowLog {
    /// Index of the group.
    pub group: Vec<u32>,
    /// Arrival.
    pub start_s: Vec<f64>,
    /// Payload.
    pub bytes: Vec<f64>,
    /// From arrival until the last byte was acknowledged.
    pub completion_time_s: Vec<f64>,
    /// That over what the flow would take alone.
    pub slowdown: Vec<f64>,
}

/// Arrivals of packets, one by one. See [`crate::link::arrivals`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrivalLog {
    /// When.
    pub time_s: Vec<f64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Index of the flow; of one that comes and goes the number of flows plus the index of its group.
    pub flow: Vec<u32>,
    /// Size on the wire.
    pub bytes: Vec<u32>,
    /// Packets that it finds waiting.
    pub queue_packets: Vec<u32>,
    /// What becomes of it: 0 accepted, 1 marked, 2 overflow, 3 early drop, 4 drop at the head.
    pub fate: Vec<u8>,
}

/// Index of dispersion of arrivals: a row for each link and time scale. See
/// [`crate::probe::index_of_dispersion`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrivalDispersion {
    /// Index of the link.
    pub link: Vec<u32>,
    /// Length of the intervals.
    pub scale_s: Vec<f64>,
    /// How many there were.
    pub intervals: Vec<u64>,
    /// Mean packets that arrive in one, dropped ones included.
    pub mean_packets: Vec<f64>,
    /// Variance of that number over its mean.
    pub index: Vec<f64>,
}
