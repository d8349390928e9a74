//! What passes between the sender and a control that models the path: such a control measures
//! delivery rates, and answers each ACK with a window and a pacing rate.

use crate::units::Time;

/// What a control is told before the first packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beginning {
    /// When the flow may send its first packet.
    pub now: Time,
    /// For the control's random choices: follows from the scenario's seed and the flow's name.
    pub seed: u64,
    /// The initial window.
    pub cwnd_packets: f64,
    /// Size of a packet on the wire.
    pub packet_bytes: u32,
    /// Whether the receiver sends selective acknowledgements, so that more than one loss a round
    /// trip is found.
    pub has_sack: bool,
}

/// How the sender is to send from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    /// The window, in packets.
    pub cwnd_packets: f64,
    /// At which rate packets leave, in packets/s; finite and above 0.
    pub pacing_rate: f64,
    /// How many packets leave together, at least 1.
    pub send_quantum: u64,
    /// Whether the control holds the flow back, so that rates measured with what is in flight now
    /// say nothing about the path.
    pub holds_back: bool,
}

/// What is being repaired after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    None,
    /// Losses found by ACKs.
    FastRecovery,
    /// The flight that a timeout gave up.
    Timeout,
}

/// What a control that models the path learns from an ACK: every one, also of a repair and with
/// marks.
#[derive(Clone, Copy, Debug)]
pub struct PathEvent {
    /// When the ACK reaches the sender.
    pub now: Time,
    /// The window before it, in packets.
    pub cwnd_packets: f64,
    /// Smoothed RTT; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
    /// Packets in the network before the ACK.
    pub prior_in_flight: u64,
    /// Packets in the network after it, those that are newly lost not counted.
    pub in_flight: u64,
    /// Packets newly acknowledged, cumulatively or selectively.
    pub newly_delivered: u64,
    /// Packets newly taken for lost.
    pub newly_lost: u64,
    /// Packets acknowledged since the connection began.
    pub delivered: u64,
    /// RTT of the packet sent last of those newly acknowledged, unless it had been sent before.
    pub rtt: Option<Time>,
    /// What is measured with that packet; `None` if nothing is newly acknowledged.
    pub rate: Option<RateSample>,
    /// Whether the window was full at any time in the last round trip.
    pub is_cwnd_limited: bool,
    /// What is being repaired now.
    pub repair: Repair,
    /// When the pacer lets the next packet leave; not after `now` if it may leave at once.
    pub next_departure: Time,
}

/// What is measured with the packet that was sent last of those newly acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets acknowledged from the transmission of that packet to its ACK.
    pub delivered: u64,
    /// Packets acknowledged since the connection began, as of its transmission.
    pub prior_delivered: u64,
    /// The rate at which the network delivered, in packets/s; `None` if the interval is too short
    /// to be believed.
    pub delivery_rate: Option<f64>,
    /// Packets in the network when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Packets taken for lost from its transmission to its ACK.
    pub lost: u64,
    /// Whether it was sent while the application, or the control, held the flow back.
    pub is_app_limited: bool,
}

/// A packet that is newly taken for lost.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// When the sender concludes it.
    pub now: Time,
    /// Position in the flow.
    pub sequence: u64,
    /// Packets in the network when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Packets lost since it was sent, itself included.
    pub lost: u64,
    /// Whether it was sent while the application, or the control, held the flow back.
    pub is_app_limited: bool,
    /// Packets acknowledged since the connection began.
    pub delivered: u64,
    /// The window, in packets.
    pub cwnd_packets: f64,
}
