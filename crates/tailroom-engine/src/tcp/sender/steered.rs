//! The sender of a control that models the path. Such a control sees every ACK and sets window and
//! pacing rate itself: slow start, ssthresh and PRR have no part in it. What is lost, and what is
//! sent again, is found as for any control.

use super::rate_sample::RateSampler;
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::{PacketSink, Phase, Sender};
use crate::congestion::rate_based::{PathEvent, Repair, Steering};
use crate::congestion::{CongestionControl, CongestionKind};
use crate::packet::Ack;
use crate::units::{PICOSECONDS_PER_SECOND, Time, float};

/// What a sender keeps for such a control.
#[derive(Debug)]
pub struct Steered {
    sampler: RateSampler,
    steering: Steering,
    /// From packet to packet at the pacing rate.
    gap: Time,
}

impl Steered {
    /// Before the first packet.
    pub fn new(steering: Steering) -> Self {
        Steered { sampler: RateSampler::default(), steering, gap: gap(steering) }
    }

    /// Divides only where the rate has changed.
    fn follow(&mut self, steering: Steering) {
        if steering.pacing_rate.to_bits() != self.steering.pacing_rate.to_bits() {
            self.gap = gap(steering);
        }
        self.steering = steering;
    }

    /// Memory that it takes for packets in flight.
    pub fn memory_bytes(&self) -> u64 {
        self.sampler.memory_bytes()
    }

    /// The rate at which packets leave, in packets/s.
    pub fn pacing_rate(&self) -> f64 {
        self.steering.pacing_rate
    }
}

fn gap(steering: Steering) -> Time {
    Time::from_picoseconds((PICOSECONDS_PER_SECOND as f64 / steering.pacing_rate) as u64)
}

impl Sender {
    /// An ACK: measure, find what is lost, ask the control, send.
    #[inline(never)]
    pub(super) fn on_ack_steered(&mut self, now: Time, ack: Ack<'_>, out: &mut impl PacketSink) {
        if ack.cumulative < self.una {
            return; // overtaken by a later ACK
        }
        let prior_in_flight = self.scoreboard.pipe(self.next);
        let prior_una = self.una;
        self.note_app_limit(now);
        let is_marked = self.ecn.note(ack);
        self.take_in(now, ack);
        let newly_lost = self.show_losses(now);
        if is_marked {
            self.react_to_mark(now);
        }
        self.change_phase(now);
        if self.una > prior_una {
            self.restart_timer(now);
        }
        self.ask_control(now, prior_una, prior_in_flight, newly_lost);
        // Most ACKs come while the pacer holds the next packet back, which is set already.
        let is_held_back = now < self.release_at && self.release_at != Time::NEVER;
        if !is_held_back {
            self.send_allowed(now, out);
        }
    }

    /// A sender that could send and has nothing to send leaves a gap (`CheckIfApplicationLimited`).
    pub(super) fn note_app_limit(&mut self, now: Time) {
        if self.has_new_data(now) {
            return;
        }
        let in_flight = self.scoreboard.pipe(self.next);
        let has_room = (in_flight as f64) < self.cwnd && self.scoreboard.next_lost().is_none();
        if let Some(steered) = &mut self.steered
            && has_room
        {
            steered.sampler.mark_app_limited(in_flight);
        }
    }

    /// Takes in what an ACK acknowledges.
    fn take_in(&mut self, now: Time, ack: Ack<'_>) {
        let Some(steered) = &mut self.steered else { return };
        let sampler = &mut steered.sampler;
        let acked = ack.cumulative - self.una;
        if acked > 0 {
            sampler.on_acked(now, ack.cumulative);
            self.scoreboard.advance(ack.cumulative);
            self.una = ack.cumulative;
            self.duplicates = 0;
        }
        if self.is_sack {
            self.scoreboard.add(ack.blocks, self.next, |packets| sampler.on_sacked(now, packets));
        } else {
            self.count_duplicates(acked);
        }
    }

    /// Losses without SACK: RFC 6582, with its inflation of the window by duplicate ACKs.
    fn count_duplicates(&mut self, acked: u64) {
        match self.phase {
            Phase::Recovery if acked > 0 && self.una < self.recovery_point => {
                self.inflation -= acked.cast_signed() - 1;
                self.scoreboard.lose_first();
            }
            Phase::Recovery if acked == 0 => self.inflation += 1,
            Phase::Open if acked == 0 && self.next > self.una => {
                self.duplicates += 1;
                if self.duplicates == DUPLICATE_THRESHOLD && self.is_beyond_last_repair() {
                    self.inflation = DUPLICATE_THRESHOLD.cast_signed();
                    self.scoreboard.lose_first();
                }
            }
            _ => {}
        }
    }

    /// Shows the control each packet that is newly lost; how many there are.
    fn show_losses(&mut self, now: Time) -> u64 {
        let Some(steered) = &mut self.steered else { return 0 };
        let control = &mut self.congestion;
        let edge = self.scoreboard.lost_edge();
        steered.sampler.lose_below(now, edge, self.cwnd, |packet| control.on_lost(packet))
    }

    /// A timeout has given up what is in flight.
    pub(super) fn show_timeout(&mut self, now: Time) {
        let Some(steered) = &mut self.steered else { return };
        let control = &mut self.congestion;
        steered.sampler.lose_everything(now, self.cwnd, |packet| control.on_lost(packet));
    }

    fn change_phase(&mut self, now: Time) {
        if self.phase != Phase::Open && self.una >= self.recovery_point {
            self.phase = Phase::Open;
            self.inflation = 0;
        }
        if self.phase == Phase::Open && self.scoreboard.is_first_lost() {
            self.reduce(now, CongestionKind::Loss);
            self.begin_recovery();
        }
    }

    fn ask_control(&mut self, now: Time, prior_una: u64, prior_in_flight: u64, newly_lost: u64) {
        let Some(steered) = &mut self.steered else { return };
        let (newly_delivered, rtt, rate) = steered.sampler.finish(now);
        let in_flight = self.scoreboard.pipe(self.next);
        let event = PathEvent {
            now,
            cwnd_packets: self.cwnd,
            srtt: self.rtt.srtt(),
            prior_in_flight,
            in_flight,
            newly_delivered,
            newly_lost,
            delivered: steered.sampler.delivered(),
            rtt,
            rate,
            is_cwnd_limited: steered.sampler.is_cwnd_limited(prior_una),
            repair: match self.phase {
                Phase::Open => Repair::None,
                Phase::Recovery => Repair::FastRecovery,
                Phase::Timeout => Repair::Timeout,
            },
            next_departure: self.pacer.next_departure(),
        };
        let steering = self.congestion.on_rate_sample(&event);
        if steering.holds_back {
            steered.sampler.mark_app_limited(in_flight);
        }
        self.follow(now, steering);
    }

    /// Sends by this from now on.
    fn follow(&mut self, now: Time, steering: Steering) {
        self.probe.on_window(now, self.cwnd);
        self.cwnd = steering.cwnd_packets.max(1.0).min(self.max_window);
        if let Some(steered) = &mut self.steered {
            steered.follow(steering);
        }
    }

    /// A packet leaves.
    pub(super) fn note_departure(&mut self, now: Time, sequence: u64, is_retransmission: bool) {
        let in_flight = self.scoreboard.pipe(self.next);
        let restarts = |steered: &Steered| in_flight <= 1 && steered.sampler.is_app_limited();
        if self.steered.as_deref().is_some_and(restarts)
            && let Some(steering) = self.congestion.on_restart(now, self.cwnd)
        {
            self.follow(now, steering);
        }
        let Some(steered) = &mut self.steered else { return };
        let is_full = float(in_flight + 1) > self.cwnd;
        steered.sampler.on_sent(now, sequence, is_retransmission, in_flight, is_full);
        self.pacer.on_sent_at_rate(now, steered.gap, steered.steering.send_quantum);
    }
}
