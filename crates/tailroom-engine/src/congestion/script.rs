//! Scripted ACKs and congestion events for unit tests of controls.

use super::rate_based::{
    BeginEvent, ControlOutput, RateBasedControl, RateSample, RateSampleEvent, Repair,
};
use super::{AckEvent, CongestionEvent, CongestionKind, Rounds, WindowLaw};
use crate::units::Time;

/// An ACK of this many packets at time zero, without an RTT sample.
pub(super) fn ack(acked_packets: u64) -> AckEvent {
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
pub(super) fn congestion(kind: CongestionKind, cwnd_packets: f64) -> CongestionEvent {
    CongestionEvent { now: Time::ZERO, kind, cwnd_packets, is_slow_start: false }
}

/// The window after one round trip: as many ACKs of one packet as `window` has packets.
pub(super) fn grow_one_round_trip(control: &mut impl WindowLaw, window: f64) -> f64 {
    (0..window as u64).fold(window, |cwnd, _| control.on_ack(cwnd, &ack(1)))
}

/// A path that acknowledges each packet, with an RTT that the test sets.
pub(super) struct Script {
    /// The next event; a test may change its fields.
    pub(super) event: AckEvent,
    rounds: Rounds,
    is_over: bool,
}

impl Script {
    /// A path before the first ACK.
    pub(super) fn new() -> Self {
        let event = AckEvent { delivered_packets: 0, next: 0, ..ack(1) };
        Script { event, rounds: Rounds::default(), is_over: false }
    }

    /// Delivers an ACK of one packet with this RTT and returns the new window.
    pub(super) fn ack(&mut self, control: &mut impl WindowLaw, window: f64, rtt: Time) -> f64 {
        self.event.delivered_packets += 1;
        self.event.next = self.event.delivered_packets + window as u64;
        (self.event.rtt, self.event.srtt) = (Some(rtt), rtt);
        self.event.min_rtt = self.event.min_rtt.min(rtt);
        self.event.now += Time::from_picoseconds((rtt.picoseconds() as f64 / window) as u64);
        self.is_over = self.rounds.is_over(&self.event);
        control.on_ack(window, &self.event)
    }

    /// Delivers ACKs up to and including the ACK that ends the round trip, and returns the new
    /// window. The first round trip of a connection ends with the first ACK.
    pub(super) fn round(&mut self, control: &mut impl WindowLaw, window: f64, rtt: Time) -> f64 {
        let mut window = window;
        loop {
            window = self.ack(control, window, rtt);
            if self.is_over {
                return window;
            }
        }
    }

    /// As [`round`](Script::round), but with the same window at each ACK, so that the next such
    /// round trip has `window + 1` ACKs.
    pub(super) fn held_round(
        &mut self,
        control: &mut impl WindowLaw,
        window: f64,
        rtt: Time,
    ) -> f64 {
        loop {
            let after = self.ack(control, window, rtt);
            if self.is_over {
                return after;
            }
        }
    }

    /// Signals congestion of this kind and returns the reduced window.
    pub(super) fn congestion(
        &self,
        control: &mut impl WindowLaw,
        window: f64,
        kind: CongestionKind,
    ) -> f64 {
        control.on_congestion(&CongestionEvent { now: self.event.now, ..congestion(kind, window) })
    }
}

/// The start of a connection with packets of 1500 B, for rate-based controls.
pub(super) fn begin_event(seed: u64) -> BeginEvent {
    BeginEvent {
        now: Time::ZERO,
        seed,
        cwnd_packets: 10.0,
        packet_bytes: 1_500,
        line_rate: 10e9 / 12_000.0,
        hops: 1,
        has_sack: true,
        srtt: Time::ZERO,
    }
}

/// A path for rate-based controls, whose rate, RTT and packets in flight the test sets.
pub(super) struct Path {
    /// The next event; a test may change the fields that `ack` does not set.
    pub(super) event: RateSampleEvent,
    /// Packets in flight when each packet was sent, which is also the number of ACKs per round
    /// trip.
    pub(super) flight: u64,
    /// Packets lost between the transmission of each packet and its ACK.
    pub(super) lost: u64,
    /// Whether the samples are limited by the application.
    pub(super) is_app_limited: bool,
}

impl Path {
    /// A path before the first ACK.
    pub(super) fn new(flight: u64) -> Self {
        let event = RateSampleEvent {
            now: Time::ZERO,
            cwnd_packets: 10.0,
            srtt: Time::ZERO,
            prior_in_flight: flight,
            in_flight: flight,
            newly_delivered: 1,
            newly_lost: 0,
            delivered: 0,
            marked: 0,
            rtt: None,
            rate: None,
            is_cwnd_limited: false,
            repair: Repair::None,
            next_departure: Time::ZERO,
        };
        Path { event, flight, lost: 0, is_app_limited: false }
    }

    /// Delivers an ACK of one packet, on a path that delivers `rate` packets/s with this RTT.
    pub(super) fn ack(
        &mut self,
        control: &mut impl RateBasedControl,
        rate: f64,
        rtt: Time,
    ) -> ControlOutput {
        let event = &mut self.event;
        event.now += Time::from_seconds(1.0 / rate);
        event.delivered += 1;
        (event.prior_in_flight, event.in_flight) = (self.flight, self.flight);
        (event.rtt, event.srtt) = (Some(rtt), rtt);
        event.rate = Some(RateSample {
            delivered: self.flight,
            prior_delivered: event.delivered.saturating_sub(self.flight),
            delivery_rate: Some(rate),
            tx_in_flight: self.flight,
            lost: self.lost,
            is_app_limited: self.is_app_limited,
        });
        let output = control.on_rate_sample(event);
        event.cwnd_packets = output.cwnd_packets;
        output
    }

    /// Delivers one ACK per packet in flight, which is one round trip.
    pub(super) fn round(
        &mut self,
        control: &mut impl RateBasedControl,
        rate: f64,
        rtt: Time,
    ) -> ControlOutput {
        (1..self.flight).for_each(|_| {
            self.ack(control, rate, rtt);
        });
        self.ack(control, rate, rtt)
    }
}

/// A time in milliseconds, with fractions.
pub(super) fn ms(milliseconds: f64) -> Time {
    Time::from_seconds(milliseconds / 1e3)
}

/// Asserts that two windows are equal up to rounding.
#[track_caller]
pub(super) fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-9 * expected.abs(), "{actual}, expected {expected}");
}
