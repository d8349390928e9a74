//! Rate-based controls: they answer each ACK, and the delivery rate that it shows, with a window
//! and a pacing rate.

use super::CongestionEvent;
use crate::units::{Time, larger};

/// A control that estimates the path's delivery rate and RTT, and sets window and pacing rate, such
/// as BBR.
///
/// Such a control sees every ACK and decides alone how to send: the sender's slow start, ssthresh
/// and proportional rate reduction do not apply to it. The sender still finds the losses and
/// chooses what to retransmit.
pub trait RateBasedControl {
    /// Returns how to send until the first ACK of data. Called once, before the first data leave.
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput;

    /// Returns how to send after an ACK: every ACK, including those of a recovery and those that
    /// echo a mark.
    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput;

    /// The sender has concluded that there is congestion: the first loss of a recovery, a timeout,
    /// or a mark. After a timeout the window is 1 packet until the next ACK.
    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    /// The sender has concluded that a packet is lost. The call of
    /// [`on_rate_sample`](RateBasedControl::on_rate_sample) for the same ACK follows, or after a
    /// timeout the call of [`on_congestion`](RateBasedControl::on_congestion).
    fn on_lost(&mut self, _packet: &LostPacketEvent) {}

    /// The recovery that began last was not necessary. Returns the window; the call of
    /// [`on_rate_sample`](RateBasedControl::on_rate_sample) for the same ACK follows.
    fn on_undo(&mut self, event: &UndoEvent) -> f64 {
        event.cwnd_packets
    }

    /// Returns how to send from the first packet after an idle time on; `None` leaves it as it was.
    fn on_restart(&mut self, _event: &RestartEvent) -> Option<ControlOutput> {
        None
    }

    /// Whether a rate that changes acts on the packet that waits, as in NICs, which time each packet. A
    /// host stamps the departure of a packet when the one before leaves (Linux
    /// `tcp_update_skb_after_send`), so that a rate acts from the packet after on.
    fn paces_what_waits(&self) -> bool {
        false
    }

    /// When the control changes the rate next unless an ACK comes before.
    fn next_change(&self) -> Time {
        Time::NEVER
    }

    /// Returns how to send at a [`next_change`](RateBasedControl::next_change) while a packet waits.
    fn on_time(&mut self, _event: &TimeEvent) -> Option<ControlOutput> {
        None
    }

    /// Why the run cannot go on. The sender asks only a control that is not in the registry, after
    /// each call.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

/// The beginning of a flow, before its first packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct BeginEvent {
    /// When the flow may send its first packet.
    pub now: Time,
    /// Seed of the control's random choices; it follows from the scenario's seed and the flow's
    /// name.
    pub seed: u64,
    /// The initial window, in packets.
    pub cwnd_packets: f64,
    /// Size of a packet on the wire.
    pub packet_bytes: u32,
    /// Rate at which the host sends, in packets/s: that of the access link, or of the first shared
    /// link if there is no access link.
    pub line_rate: f64,
    /// Number of shared links on the path.
    pub hops: u32,
    /// Whether the receiver sends selective acknowledgements, so that the sender finds more than
    /// one loss per round trip.
    pub has_sack: bool,
    /// The RTT of the handshake; zero if there was none.
    pub srtt: Time,
}

/// A time at which a control changes the rate without an ACK.
#[derive(Clone, Copy, Debug)]
pub struct TimeEvent {
    /// The time.
    pub now: Time,
    /// Smoothed RTT; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
    /// Packets in the network.
    pub in_flight: u64,
    /// Packets acknowledged since the connection began.
    pub delivered: u64,
}

/// How the sender sends from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlOutput {
    /// The window, in packets.
    pub cwnd_packets: f64,
    /// Rate at which packets leave, in packets/s; finite and above 0.
    pub pacing_rate: f64,
    /// Number of packets that leave together, at least 1.
    pub send_quantum: u64,
    /// Whether the control sends less than the path may carry, so that rates measured with the
    /// packets in flight now say nothing about the path.
    pub is_app_limited: bool,
}

/// Longer than any queue of a switch lasts.
const LONGEST_QUEUE_S: f64 = 10e-3;

impl ControlOutput {
    /// Packets leave one by one at `rate` under a control that has no window. The number in flight is
    /// at most what the host sends in two round trips and the longest queue, so that it limits a flow
    /// only if ACKs cease.
    pub(super) fn paced(rate: f64, line_rate: f64, srtt: Time) -> Self {
        let longest_s = 2.0 * srtt.seconds() + LONGEST_QUEUE_S;
        ControlOutput {
            cwnd_packets: larger(line_rate * longest_s, 1.0),
            pacing_rate: rate,
            send_quantum: 1,
            is_app_limited: false,
        }
    }

    /// Almost no sending, until the run ends because the control has failed.
    pub(super) fn standstill(cwnd_packets: f64) -> Self {
        ControlOutput { cwnd_packets, pacing_rate: 1.0, send_quantum: 1, is_app_limited: false }
    }
}

/// The kind of loss recovery after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// No recovery.
    None,
    /// Recovery of losses that ACKs have shown.
    FastRecovery,
    /// Recovery of the packets that a timeout has declared lost.
    Timeout,
}

/// An ACK, as a rate-based control sees it.
#[derive(Clone, Copy, Debug)]
pub struct RateSampleEvent {
    /// When the ACK reaches the sender.
    pub now: Time,
    /// The window before the ACK, in packets.
    pub cwnd_packets: f64,
    /// Smoothed RTT; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
    /// Packets in the network before the ACK.
    pub prior_in_flight: u64,
    /// Packets in the network after the ACK, without the newly lost ones.
    pub in_flight: u64,
    /// Packets newly acknowledged, cumulatively or selectively.
    pub newly_delivered: u64,
    /// Packets newly declared lost.
    pub newly_lost: u64,
    /// Packets acknowledged since the connection began.
    pub delivered: u64,
    /// Marks that the receiver has reported since the connection began; 0 without accurate
    /// feedback.
    pub marked: u64,
    /// RTT of the newly acknowledged packet that was sent last; `None` if that packet was a
    /// retransmission or no packet is newly acknowledged.
    pub rtt: Option<Time>,
    /// The rate sample of that packet; `None` if no packet is newly acknowledged.
    pub rate: Option<RateSample>,
    /// Whether the window was full at any time in the last round trip.
    pub is_cwnd_limited: bool,
    /// The recovery that the sender is in after the ACK.
    pub repair: Repair,
    /// When the pacer lets the next packet leave; not after `now` if it may leave at once.
    pub next_departure: Time,
}

/// The measurement that the newly acknowledged packet sent last gives
/// (draft-ietf-ccwg-bbr-06 sec. "Delivery Rate Samples").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets acknowledged from the transmission of that packet to its ACK.
    pub delivered: u64,
    /// Packets acknowledged since the connection began, as of its transmission.
    pub prior_delivered: u64,
    /// Rate at which the network delivered packets in that interval, in packets/s; `None` if the
    /// interval is shorter than the smallest RTT, so that the rate is not reliable.
    pub delivery_rate: Option<f64>,
    /// Packets in the network when the packet was sent, including the packet itself.
    pub tx_in_flight: u64,
    /// Packets declared lost from its transmission to its ACK.
    pub lost: u64,
    /// Whether the packet was sent while the application or the control limited the flow.
    pub is_app_limited: bool,
}

/// A packet that is newly declared lost. Each transmission is lost at most once. If the packet was sent
/// again before its loss was known, the first of its transmissions is lost first.
#[derive(Clone, Copy, Debug)]
pub struct LostPacketEvent {
    /// When the sender declares it lost.
    pub now: Time,
    /// Position in the flow.
    pub sequence: u64,
    /// Packets in the network when the packet was sent, including the packet itself.
    pub tx_in_flight: u64,
    /// Packets declared lost since the packet was sent, including the packet itself.
    pub lost: u64,
    /// Whether the packet was sent while the application or the control limited the flow.
    pub is_app_limited: bool,
    /// Packets acknowledged since the connection began.
    pub delivered: u64,
    /// The window, in packets.
    pub cwnd_packets: f64,
}

/// A recovery that has turned out to be unnecessary.
#[derive(Clone, Copy, Debug)]
pub struct UndoEvent {
    /// When the ACK that shows it reaches the sender.
    pub now: Time,
    /// The window, in packets.
    pub cwnd_packets: f64,
    /// Packets acknowledged since the connection began.
    pub delivered: u64,
}

/// The first packet after an idle time.
#[derive(Clone, Copy, Debug)]
pub struct RestartEvent {
    /// When the packet leaves.
    pub now: Time,
    /// The window, in packets.
    pub cwnd_packets: f64,
}
