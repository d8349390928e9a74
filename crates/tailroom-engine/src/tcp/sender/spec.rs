//! The keys of a transport, each declared once: a scenario gives them to a group of flows, and the two
//! ends of a connection read them.

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

/// How the transport of a group behaves; the congestion control is one part of it.
///
/// The doc comments of its keys are the user's documentation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario file")]
pub struct TcpSpec {
    // Not read with the other keys: a scenario may leave it out, or only name a control that has to
    // be found first. `scenario::transport` sets it when that is done.
    /// How large the window is.
    #[serde(skip, default = "reno")]
    pub congestion: CongestionConfig,
    /// How losses are found and repaired.
    #[serde(default)]
    pub recovery: Recovery,
    /// Proportional rate reduction during recovery (RFC 9937); needs `recovery = "sack"`.
    #[serde(default)]
    pub prr: bool,
    /// Count lost packets in the pipe of a SACK recovery until their retransmissions are
    /// acknowledged, as ns-2 does, instead of leaving them out (RFC 6675 sec. 4, Linux). The first
    /// round trip of a recovery then sends less. Needs `recovery = "sack"` and `prr = false`.
    #[serde(default)]
    pub count_lost_in_pipe: bool,
    /// Delayed acknowledgements (RFC 5681 sec. 4.2): `true` stands for 2 packets and 40 ms.
    #[serde(default)]
    pub delayed_ack: DelayedAck,
    /// The ACK path releases ACKs only at multiples of this time, as cable and wireless links do.
    /// Left out, it does not hold them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_aggregation: Option<PositiveDuration>,
    // The simulation reads the indices that the names are resolved to, in `GroupSpec::reverse_path`.
    /// Names of the shared links that the ACKs cross, in order. Left out, ACKs meet no queue.
    #[serde(default)]
    #[schemars(length(max = 250))]
    pub reverse_path: Vec<String>,
    /// Size of a pure ACK on the wire; it matters on a reverse path.
    #[serde(default = "small_packet")]
    pub ack_size: Size,
    /// Initial window, in packets (RFC 6928: 10).
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub initial_window: u32,
    /// Initial slow-start threshold, in packets. Left out, slow start goes on until the first loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000_000))]
    pub initial_ssthresh: Option<u32>,
    /// Lower bound of the retransmission timeout (RFC 6298: 1 s; Linux and ns-2: 200 ms).
    #[serde(default = "linux_min_rto")]
    pub min_rto: PositiveDuration,
    /// Clock granularity G of RFC 6298: the timeout is at least the smoothed RTT plus this. Left out, it
    /// is `min_rto`, as Linux has it: a timer that only just exceeds a steady RTT fires while the ACK of
    /// a retransmission is on its way. ns-2: "10 ms".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_granularity: Option<PositiveDuration>,
    /// Restart the timer when SACK recovery sends the first packet in flight again (as Linux and
    /// ns-2 do), not only when new data are acknowledged (RFC 6298 sec. 5.3).
    #[serde(default = "yes")]
    pub restart_rto_at_retransmission: bool,
    /// Which packets give RTT samples (RFC 6298 sec. 3).
    #[serde(default)]
    pub rtt_samples: RttSamples,
    /// Upper bound of the window, in packets. Left out, it is 100,000,000, more than a
    /// connection can have in flight (RFC 7323: 2^30 bytes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_window: Option<u64>,
    /// How the window grows below ssthresh.
    #[serde(default, deserialize_with = "kind_or_name::read")]
    #[schemars(schema_with = "kind_or_name::schema::<SlowStartSpec>")]
    pub slow_start: SlowStartSpec,
    /// A sender that has sent nothing for longer than its retransmission timeout starts again from
    /// the initial window, or from its window if that is smaller, with slow start up to the old
    /// `ssthresh` (RFC 5681 sec. 4.1; Linux has a sysctl of this name). It matters where an
    /// application pauses, as a source of kind `objects` does. Controls that model the path have rules
    /// of their own.
    #[serde(default = "yes")]
    pub slow_start_after_idle: bool,
    /// Spread packets over the round trip instead of sending them as soon as an ACK allows it.
    #[serde(default)]
    pub pacing: bool,
    /// A host with segmentation offload waits until it may send this many packets at once.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub send_burst: u32,
    /// Forget the SACK scoreboard at a timeout (RFC 2018 sec. 5, ns-2) instead of keeping it
    /// (RFC 6675 sec. 5.1, Linux).
    #[serde(default)]
    pub forget_sack_at_timeout: bool,
    /// Explicit congestion notification: whether queues may mark the flow's packets instead of
    /// dropping them, and how its receiver reports marks.
    #[serde(default)]
    pub ecn: EcnMode,
}

impl TcpSpec {
    /// Clock granularity of the retransmission timer.
    pub fn timer_granularity(&self) -> Time {
        self.rto_granularity.unwrap_or(self.min_rto).time()
    }

    /// Size of a pure ACK on the wire, in bytes. A scenario gives at most the size of an IP packet.
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
