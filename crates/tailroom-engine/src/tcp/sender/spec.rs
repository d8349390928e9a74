//! The keys of a transport, each declared once: a scenario sets them for a group of flows, and the
//! sender and the receiver read them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ecn::EcnMode;
use super::recovery::Recovery;
use super::rtt::RttSamples;
use super::slow_start::SlowStartSpec;
use crate::congestion::CongestionConfig;
use crate::congestion::reno::RenoParams;
use crate::kind_or_name;
use crate::quantity::{PositiveDuration, Size};
use crate::tcp::receiver::DelayedAck;
use crate::units::Time;

/// The transport of a group of flows: its congestion control and its options.
///
/// The doc comments of its keys are the user's documentation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario file")]
pub struct TcpSpec {
    // Not read with the other keys: a scenario may leave it out, or name a control that has to be
    // found first. `scenario::transport` sets it afterwards.
    /// The congestion control.
    #[serde(skip, default = "reno")]
    pub congestion: CongestionConfig,
    /// How the sender detects and repairs losses.
    #[serde(default)]
    pub recovery: Recovery,
    /// Proportional rate reduction during recovery (RFC 9937); needs `recovery = "sack"`.
    #[serde(default)]
    pub prr: bool,
    /// Count lost packets in the pipe of a SACK recovery until their retransmissions are
    /// acknowledged, as ns-2 does. RFC 6675 sec. 4 and Linux leave them out. With this option the
    /// sender sends less in the first round trip of a recovery. Needs `recovery = "sack"` and
    /// `prr = false`.
    #[serde(default)]
    pub count_lost_in_pipe: bool,
    /// Delayed acknowledgements (RFC 5681 sec. 4.2): `true` stands for 2 packets and 40 ms.
    #[serde(default)]
    pub delayed_ack: DelayedAck,
    /// The ACK path releases ACKs only at multiples of this time, as cable and wireless links do.
    /// By default it does not hold ACKs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_aggregation: Option<PositiveDuration>,
    // The simulation reads the resolved indices in `GroupSpec::reverse_path`.
    /// Names of the shared links that the ACKs cross, in order. By default ACKs cross no queue.
    #[serde(default)]
    #[schemars(length(max = 250))]
    pub reverse_path: Vec<String>,
    /// Size of a pure ACK on the wire. It has an effect only with a `reverse_path`.
    #[serde(default = "small_packet")]
    pub ack_size: Size,
    /// Initial window, in packets (RFC 6928: 10).
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub initial_window: u32,
    /// Initial slow-start threshold, in packets. By default slow start lasts until the first loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000_000))]
    pub initial_ssthresh: Option<u32>,
    /// Lower bound of the retransmission timeout (RFC 6298: 1 s; Linux and ns-2: 200 ms).
    #[serde(default = "linux_min_rto")]
    pub min_rto: PositiveDuration,
    /// Clock granularity G of RFC 6298: the timeout is at least the smoothed RTT plus G. The
    /// default is `min_rto`, as in Linux, since a timeout that is hardly longer than a steady RTT
    /// expires while the ACK of a retransmission is on its way. ns-2: "10 ms".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_granularity: Option<PositiveDuration>,
    /// Restart the timer when SACK recovery retransmits the first packet in flight (as Linux and
    /// ns-2 do), not only when new data is acknowledged (RFC 6298 sec. 5.3).
    #[serde(default = "yes")]
    pub restart_rto_at_retransmission: bool,
    /// Which packets give RTT samples (RFC 6298 sec. 3).
    #[serde(default)]
    pub rtt_samples: RttSamples,
    /// Upper bound of the window, in packets. The default is 100,000,000, more than a connection
    /// can have in flight (RFC 7323: 2^30 bytes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_window: Option<u64>,
    /// How the window grows below ssthresh.
    #[serde(default, deserialize_with = "kind_or_name::read")]
    #[schemars(schema_with = "kind_or_name::schema::<SlowStartSpec>")]
    pub slow_start: SlowStartSpec,
    /// A sender that has sent nothing for longer than its retransmission timeout restarts from the
    /// initial window, or from its window if that is smaller, with slow start up to the old
    /// `ssthresh` (RFC 5681 sec. 4.1; Linux has a sysctl of this name). It has an effect if the
    /// application pauses, as with a source of kind `objects`. Rate-based controls have their own
    /// rules.
    #[serde(default = "yes")]
    pub slow_start_after_idle: bool,
    /// Spread packets over the round trip instead of sending each as soon as an ACK allows it.
    #[serde(default)]
    pub pacing: bool,
    /// Number of packets that a host with segmentation offload sends at once: it waits until the
    /// window has room for all of them.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub send_burst: u32,
    /// Forget the SACK scoreboard at a timeout (RFC 2018 sec. 5, ns-2) instead of keeping it
    /// (RFC 6675 sec. 5.1, Linux).
    #[serde(default)]
    pub forget_sack_at_timeout: bool,
    /// Explicit congestion notification: whether queues may mark the flow's packets instead of
    /// dropping them, and how the receiver reports marks.
    #[serde(default)]
    pub ecn: EcnMode,
}

impl TcpSpec {
    /// Clock granularity of the retransmission timer.
    pub fn timer_granularity(&self) -> Time {
        self.rto_granularity.unwrap_or(self.min_rto).time()
    }

    /// Size of a pure ACK on the wire, in bytes; a scenario allows at most the size of an IP
    /// packet.
    pub fn ack_bytes(&self) -> u32 {
        self.ack_size.bytes() as u32
    }
}

fn reno() -> CongestionConfig {
    CongestionConfig::Reno(RenoParams::default())
}

fn small_packet() -> Size {
    Size::new(40)
}

fn one() -> u32 {
    1
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
