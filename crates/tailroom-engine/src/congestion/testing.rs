//! The events that tests of the controls start from.

use super::{AckEvent, CongestionControl, CongestionEvent, CongestionKind};
use crate::units::Time;

/// An ACK of this many packets at time zero, without an RTT sample.
pub(crate) fn ack(acked_packets: u64) -> AckEvent {
    AckEvent {
        now: Time::ZERO,
        acked_packets,
        rtt: None,
        srtt: Time::ZERO,
        min_rtt: Time::NEVER,
        delivered_packets: acked_packets,
        marked_packets: 0,
        next: acked_packets,
        is_slow_start: false,
    }
}

/// Congestion at time zero, in congestion avoidance.
pub(crate) fn congestion(kind: CongestionKind, cwnd_packets: f64) -> CongestionEvent {
    CongestionEvent { now: Time::ZERO, kind, cwnd_packets, is_slow_start: false }
}

/// The window after as many ACKs of one packet as it holds packets.
pub(crate) fn grow_one_round_trip(control: &mut impl CongestionControl, window: f64) -> f64 {
    (0..window as u64).fold(window, |cwnd, _| control.on_ack(cwnd, &ack(1)))
}
