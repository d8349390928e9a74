//! The transport keys of a group of flows, each declared once. The same type is read from the
//! scenario file and by the two endpoints of a connection.

use super::burst::SendBurst;
use super::ecn::EcnMode;
use super::handshake::Handshake;
use super::recovery::Recovery;
use super::rtt::RttSamples;
use super::slow_start::SlowStartSpec;
use crate::congestion::CongestionConfig;
use crate::congestion::reno::RenoParams;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::observe::recorder::ArrivalLogSpec;
use crate::packet::AckSizes;
use crate::quantity::{PositiveDuration, Size};
use crate::tcp::receiver::DelayedAck;
use crate::units::Time;

/// An ACK with timestamps: IPv4 and TCP have 20 B each, and the option takes 12 B with its padding (Linux
/// `TCPOLEN_TSTAMP_ALIGNED`).
const ACK_WITH_TIMESTAMPS: u64 = 52;

/// Transport of a group of flows, including its congestion control.
///
/// The doc comments of the keys become the user's documentation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario file")]
pub struct TcpSpec {
    // Not deserialized with the other keys: the key may be missing, or name a control that must be
    // looked up first. `scenario::transport` sets the field after the lookup.
    /// Congestion control: determines the window, and for rate-based controls the pacing rate.
    #[serde(skip, default = "reno")]
    pub congestion: CongestionConfig,
    /// How losses are detected and repaired.
    #[serde(default)]
    pub recovery: Recovery,
    /// Proportional rate reduction during recovery (RFC 9937), and after a mark in the round trip that
    /// follows (Linux `tcp_enter_cwr`), unless the control answers marks in its own time; needs
    /// `recovery = "rack"` or `"sack"`. Without it, a mark stops the sender until the packets in flight
    /// fit into the smaller window.
    #[serde(default)]
    pub prr: bool,
    /// Count lost packets in the pipe of a SACK recovery until their retransmissions are
    /// acknowledged, as ns-2 does, instead of excluding them (RFC 6675 sec. 4, Linux). The first
    /// round trip of a recovery then sends less. Needs `recovery = "sack"` and `prr = false`.
    #[serde(default)]
    pub count_lost_in_pipe: bool,
    /// Delayed acknowledgements (RFC 5681 sec. 4.2): `true` means 2 packets and 40 ms.
    #[serde(default)]
    pub delayed_ack: DelayedAck,
    /// Number of ACKs at the beginning that are not delayed, and again after a packet that arrives twice,
    /// and after a time without packets that is longer than the retransmission timeout (Linux: 16,
    /// `TCP_MAX_QUICKACKS`). It has an effect only with `delayed_ack`.
    #[serde(default)]
    #[schemars(range(max = 65_536))]
    pub quick_acks: u32,
    /// Behind a gap, the ACKs of all but the first three packets wait for a twentieth of the RTT, at
    /// most 1 ms, and are sent as one (Linux: `tcp_comp_sack_delay_ns`, `tcp_comp_sack_nr`). Needs
    /// selective ACKs.
    #[serde(default)]
    pub sack_compression: bool,
    /// The ACK path releases ACKs only at multiples of this time, as cable and wireless links do.
    /// Default: ACKs are not held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_aggregation: Option<PositiveDuration>,
    // The simulation uses `GroupSpec::reverse_path`, the indices of these links.
    /// Names of the shared links that the ACKs cross, in order. Default: none, so that ACKs meet
    /// no queue.
    #[serde(default)]
    #[schemars(length(max = 250))]
    pub reverse_path: Vec<String>,
    /// Size of a pure ACK without SACK blocks on the wire; the first block adds 12 B, each other block
    /// 8 B (RFC 2018 sec. 3). At least 52 B with `timestamp_tick`: IPv4, TCP and its timestamps.
    /// Default: `header_size`, an ACK being a packet without data. It has an effect only with a
    /// `reverse_path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_size: Option<Size>,
    /// Initial window, in packets (RFC 6928: 10).
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub initial_window: u32,
    /// Initial slow-start threshold, in packets. Default: none, so that slow start lasts until the
    /// first loss or mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000_000))]
    pub initial_ssthresh: Option<u32>,
    /// Whether the connection is opened by the flow.
    #[serde(default)]
    pub handshake: Handshake,
    /// Retransmission timeout before the first RTT sample, at least `min_rto`. Default: 1 s (RFC 6298
    /// sec. 2.1), or `min_rto` if that is longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<PositiveDuration>,
    /// Lower bound of the retransmission timeout (RFC 6298: 1 s; Linux and ns-2: 200 ms), at most the
    /// upper bound of 60 s (RFC 6298 sec. 2.5). Packets whose RTT is longer time out each time.
    #[serde(default = "linux_min_rto")]
    pub min_rto: PositiveDuration,
    /// Clock granularity G of RFC 6298: the timeout is at least the smoothed RTT plus G. Default:
    /// `min_rto`, as in Linux, because a timeout barely above a constant RTT expires before the
    /// ACK of a retransmission arrives. ns-2: "10 ms".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_granularity: Option<PositiveDuration>,
    /// Restart the retransmission timer when SACK recovery retransmits the first packet in flight
    /// (as Linux and ns-2 do), not only when new data are acknowledged (RFC 6298 sec. 5.3).
    #[serde(default = "yes")]
    pub restart_rto_at_retransmission: bool,
    /// Which packets give RTT samples (RFC 6298 sec. 3).
    #[serde(default)]
    pub rtt_samples: RttSamples,
    /// Tick of the clock that an ACK of a retransmission is timed with, for a rate-based control: the
    /// RTT sample is the difference of two timestamps in whole ticks (Linux: "1 ms", `tcp_ack_update_rtt`).
    /// Default: such an ACK gives no sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_tick: Option<PositiveDuration>,
    /// Time by which two timers run longer than in RFC 8985: that of RACK's reordering window, and that
    /// of the tail loss probe if more than one packet is in flight (Linux: "2 ms",
    /// `TCP_TIMEOUT_MIN_US`). Without this time, a probe leaves in vain if the ACKs of a burst take
    /// longer than two round trips. Only with `recovery = "rack"`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack_timer_margin: Option<PositiveDuration>,
    /// Upper bound of the window, in packets. Default: 100,000,000, which is more than a
    /// connection can have in flight (RFC 7323: 2^30 bytes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_window: Option<u64>,
    /// How the window grows below ssthresh.
    #[serde(default, deserialize_with = "crate::kind_or_name::read")]
    #[schemars(schema_with = "crate::kind_or_name::schema::<SlowStartSpec>")]
    pub slow_start: SlowStartSpec,
    /// After an idle time longer than the retransmission timeout, restart from the initial window,
    /// or from the current window if that is smaller, with slow start up to the old `ssthresh`
    /// (RFC 5681 sec. 4.1). With `window_validation` the window halves instead for each timeout that has
    /// passed since the first one, down to the initial window (`tcp_slow_start_after_idle` in Linux). It
    /// has an effect if the application pauses, as with a source of kind `objects`. Rate-based controls
    /// have their own rules.
    #[serde(default = "yes")]
    pub slow_start_after_idle: bool,
    /// The window of an application that pauses follows the rules of Linux instead of RFC 5681 (source
    /// of kind `objects`). A loss reduces the window, not the packets in flight, however little of it was
    /// in use (`tcp_init_cwnd_reduction`). Only with `slow_start_after_idle`: an idle time halves the
    /// window for each timeout that it lasts (`tcp_cwnd_restart`, after RFC 2861), and a window that has
    /// neither been filled nor acknowledged for a timeout moves half of the way to what was in flight
    /// (`tcp_cwnd_application_limited`). With and without it, a window that was full at any time in a
    /// round trip may grow in it, and below ssthresh also one below twice what was in flight
    /// (`tcp_is_cwnd_limited`; RFC 7661 sec. 4.2, RFC 9438 sec. 5.8). Rate-based controls have their own
    /// rules.
    #[serde(default)]
    pub window_validation: bool,
    /// Spread packets over the round trip instead of sending them as soon as an ACK allows, at twice the
    /// rate of a window per round trip up to half of ssthresh, and at 1.2 times this rate beyond
    /// (`tcp_update_pacing_rate`). The first ten packets of a connection are not paced, those of a
    /// `send_burst` leave together, and a burst that leaves late is charged half at least
    /// (`tcp_update_skb_after_send`).
    #[serde(default)]
    pub pacing: bool,
    /// Wait until this many packets may be sent at once, as a host with segmentation offload does. Paced
    /// packets leave in such bursts.
    #[serde(default)]
    pub send_burst: SendBurst,
    /// Discard the SACK scoreboard at a timeout (RFC 2018 sec. 5, ns-2) instead of keeping it
    /// (RFC 6675 sec. 5.1, Linux). With `recovery = "rack"` the scoreboard is always kept.
    #[serde(default)]
    pub forget_sack_at_timeout: bool,
    /// Take a reduction of the window back if the recovery turns out to have been unnecessary: an
    /// ACK echoes a timestamp from before the first retransmission (RFC 3522), the receiver reports
    /// each retransmission as a duplicate (RFC 3708; with `recovery = "rack"`), or `frto` finds it.
    /// As in Linux (`tcp_undo_cwnd_reduction`), the window returns at once to what it was before.
    /// Needs `rtt_samples = "timestamps"`, `recovery = "rack"` or `frto = true`.
    #[serde(default)]
    pub undo: bool,
    /// After a timeout send new data before old data are sent again, and see from the next ACKs
    /// whether the packets in flight were lost or late (F-RTO, RFC 5682 sec. 3; Linux:
    /// `net.ipv4.tcp_frto`). Needs `undo = true` and selective ACKs that a timeout does not
    /// discard.
    #[serde(default)]
    pub frto: bool,
    /// Explicit congestion notification: whether queues may mark the flow's packets instead of
    /// dropping them, and how the receiver reports marks.
    #[serde(default)]
    pub ecn: EcnMode,
    /// Packets and ACKs at the senders and receivers of the group that are recorded one by one, in the
    /// table `packets`; `most_packets` counts both ends. It changes no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_log: Option<ArrivalLogSpec>,
}

impl TcpSpec {
    /// A transport under this congestion control with the keys of `host = "plain"`: SACK, without RACK-TLP, PRR,
    /// HyStart and delayed ACKs. (A scenario's default is a Linux host.)
    pub fn new(congestion: CongestionConfig) -> Self {
        TcpSpec {
            congestion,
            recovery: Recovery::default(),
            prr: false,
            count_lost_in_pipe: false,
            delayed_ack: DelayedAck::default(),
            quick_acks: 0,
            sack_compression: false,
            ack_aggregation: None,
            reverse_path: Vec::new(),
            ack_size: None,
            initial_window: ten(),
            initial_ssthresh: None,
            handshake: Handshake::default(),
            initial_rto: None,
            min_rto: linux_min_rto(),
            rto_granularity: None,
            restart_rto_at_retransmission: yes(),
            rtt_samples: RttSamples::default(),
            timestamp_tick: None,
            rack_timer_margin: None,
            max_window: None,
            slow_start: SlowStartSpec::default(),
            slow_start_after_idle: yes(),
            window_validation: false,
            pacing: false,
            send_burst: SendBurst::default(),
            forget_sack_at_timeout: false,
            undo: false,
            frto: false,
            ecn: EcnMode::default(),
            endpoint_log: None,
        }
    }

    /// Retransmission timeout before the first RTT sample.
    pub fn first_rto(&self) -> Time {
        let one_second = PositiveDuration::from_milliseconds(1_000);
        self.initial_rto.unwrap_or(one_second).time().max(self.min_rto.time())
    }

    /// Clock granularity of the retransmission timer.
    pub fn timer_granularity(&self) -> Time {
        self.rto_granularity.unwrap_or(self.min_rto).time()
    }

    /// The sizes of pure ACKs on the wire, where packets have headers of `header_bytes`. The check of
    /// the scenario limits them to the size of an IP packet.
    pub fn ack_sizes(&self, header_bytes: u32) -> AckSizes {
        let headers = u64::from(header_bytes).max(self.least_ack_bytes());
        let least = self.ack_size.map_or(headers, Size::bytes);
        AckSizes { least: least as u32, has_sack: self.recovery.has_sack() }
    }

    /// The smallest size that an ACK can have with the options of the host, in bytes; 1 if none is known.
    pub fn least_ack_bytes(&self) -> u64 {
        self.timestamp_clock().map_or(1, |_| ACK_WITH_TIMESTAMPS)
    }

    /// Whether packets and ACKs carry timestamps (RFC 7323).
    pub fn has_timestamps(&self) -> bool {
        self.rtt_samples == RttSamples::Timestamps
    }

    /// Tick of the timestamps that the host sends, if there are any and it is known.
    pub fn timestamp_clock(&self) -> Option<Time> {
        self.timestamp_tick.filter(|_| self.has_timestamps()).map(PositiveDuration::time)
    }
}

fn reno() -> CongestionConfig {
    CongestionConfig::Reno(RenoParams::default())
}

fn ten() -> u32 {
    10
}

fn yes() -> bool {
    true
}

fn linux_min_rto() -> PositiveDuration {
    PositiveDuration::from_milliseconds(200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_built_by_hand_has_the_defaults_of_a_scenario() {
        let read: TcpSpec = toml::from_str("").expect("every key has a default");
        assert_eq!(TcpSpec::new(reno()), read);
    }
}
