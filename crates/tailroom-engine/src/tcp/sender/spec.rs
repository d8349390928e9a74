//! How the transport of a group of flows behaves.

use super::ecn::EcnMode;
use super::recovery::Recovery;
use super::rtt::RttSamples;
use super::slow_start::SlowStartSpec;
use crate::congestion::CongestionConfig;
use crate::tcp::receiver::DelayedAck;
use crate::units::Time;

/// How the transport of a group behaves; the congestion control is one part of it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario file")]
pub struct TcpSpec {
    /// How large the window is.
    pub congestion: CongestionConfig,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// Proportional rate reduction (RFC 9937) during recovery; needs [`Recovery::Sack`].
    pub prr: bool,
    /// Count lost packets in the pipe until their retransmissions are acknowledged (ns-2), instead
    /// of leaving them out (RFC 6675 sec. 4, Linux); needs [`Recovery::Sack`], and no `prr`.
    pub count_lost_in_pipe: bool,
    /// Delayed ACKs (RFC 5681 sec. 4.2); `None` acknowledges every packet.
    pub delayed_ack: Option<DelayedAck>,
    /// The ACK path releases ACKs only at multiples of this interval, as cable and wireless
    /// links do.
    pub ack_aggregation: Option<Time>,
    /// Initial window in packets (RFC 6928: 10).
    pub initial_window: u32,
    /// Initial slow-start threshold in packets; `None` for no bound.
    pub initial_ssthresh: Option<u32>,
    /// Lower bound of the retransmission timeout (RFC 6298: 1 s; Linux and ns-2: 200 ms).
    pub min_rto: Time,
    /// Clock granularity G of RFC 6298 sec. 2.3; Linux in effect takes its minimum here.
    pub rto_granularity: Time,
    /// Restart the timer when SACK recovery sends the first packet in flight again (as Linux and
    /// ns-2 do), not only when new data are acknowledged (RFC 6298 sec. 5.3).
    pub restart_rto_at_retransmission: bool,
    /// Which packets give RTT samples.
    pub rtt_samples: RttSamples,
    /// Upper bound of the window in packets.
    pub max_window: Option<u64>,
    /// How the window grows below ssthresh.
    pub slow_start: SlowStartSpec,
    /// After an idle time, start again from at most the initial window (RFC 5681 sec. 4.1).
    pub slow_start_after_idle: bool,
    /// Spread packets over the round trip instead of sending them when an ACK allows it.
    pub pacing: bool,
    /// A host with segmentation offload waits until it may send this many packets at once.
    pub send_burst: u32,
    /// Forget the SACK scoreboard at a timeout (RFC 2018 sec. 5, ns-2) instead of keeping it
    /// (RFC 6675 sec. 5.1, Linux).
    pub forget_sack_at_timeout: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Size of a pure ACK on the wire, in bytes; it matters on a reverse path.
    pub ack_size: u32,
}
