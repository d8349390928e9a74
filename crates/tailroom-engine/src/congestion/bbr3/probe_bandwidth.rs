//! The cycle that probes for bandwidth (sec. "`ProbeBW` Algorithm Details").

use super::{AckPhase, Model, State};
use crate::congestion::filter::Plateau;
use crate::congestion::rate_based::{RateSample, RateSampleEvent};
use crate::random;
use crate::units::{Time, float, larger, smaller};

/// `BBR.Headroom`
const HEADROOM: f64 = 0.15;
/// Number of round trips after which a probe is due at the latest (`IsRenoCoexistenceProbeTime`).
const MAX_RENO_ROUNDS: f64 = 63.0;
/// Least time until a probe is due, and the width of the random time added to it, in seconds
/// (`PickProbeWait`).
const PROBE_WAIT_S: (f64, f64) = (2.0, 1.0);
const MAX_PROBE_UP_ROUNDS: u32 = 30; // `RaiseInflightLongtermSlope`

impl Model {
    /// `UpdateProbeBWCyclePhase`
    pub(super) fn update_probe_bw_cycle_phase(
        &mut self,
        event: &RateSampleEvent,
        sample: &RateSample,
    ) {
        if !self.full_bw_reached || self.adapt_long_term_model(event, sample) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe_bw(event.now) => {
                self.start_probe_bw_refill(event.delivered);
            }
            State::Down if self.is_time_to_cruise(float(event.in_flight)) => {
                self.state = State::Cruise;
            }
            State::Refill if self.is_round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(event.delivered, sample);
            }
            State::Up if self.is_time_to_go_down(event, sample) => {
                self.prev_probe_too_high = false;
                self.start_probe_bw_down(event.now, event.delivered);
            }
            _ => {}
        }
    }

    /// `StartProbeBW_DOWN`
    pub(super) fn start_probe_bw_down(&mut self, now: Time, delivered: u64) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait
        self.rounds_since_probe_up = random::below(&mut self.random, 2);
        let (least, width) = PROBE_WAIT_S;
        self.bw_probe_wait = Time::from_seconds(least + width * random::uniform(&mut self.random));
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(delivered);
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`
    pub(super) fn start_probe_bw_refill(&mut self, delivered: u64) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.restart(delivered);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`
    fn start_probe_bw_up(&mut self, delivered: u64, sample: &RateSample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(delivered);
        self.full_bw = Plateau::from(sample.delivery_rate.unwrap_or(0.0));
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    /// `IsTimeToProbeBW` and `IsRenoCoexistenceProbeTime`
    fn is_time_to_probe_bw(&self, now: Time) -> bool {
        let has_elapsed = now > self.cycle_stamp.saturating_add(self.bw_probe_wait);
        let reno_rounds = self.target_inflight(self.cwnd).min(MAX_RENO_ROUNDS);
        has_elapsed || float(self.rounds_since_probe_up) >= reno_rounds
    }

    /// `TargetInflight`
    pub(super) fn target_inflight(&self, cwnd: f64) -> f64 {
        smaller(self.bdp(self.bw), cwnd)
    }

    /// `IsTimeToCruise`
    fn is_time_to_cruise(&self, in_flight: f64) -> bool {
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.inflight(self.max_bw.get(), 1.0)
    }

    /// `InflightWithHeadroom`
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(super::control::MIN_PIPE_CWND)
    }

    /// `IsTimeToGoDown`
    fn is_time_to_go_down(&mut self, event: &RateSampleEvent, sample: &RateSample) -> bool {
        if self.prev_probe_too_high && float(event.in_flight) >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if event.is_cwnd_limited && self.cwnd >= self.inflight_longterm {
            // The limit hides the rate that the path could carry.
            self.full_bw = Plateau::from(sample.delivery_rate.unwrap_or(0.0));
            return false;
        }
        self.full_bw.is_reached
    }

    /// `AdaptLongTermModel`; returns whether it has changed the state.
    fn adapt_long_term_model(&mut self, event: &RateSampleEvent, sample: &RateSample) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.is_round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.is_round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            let is_probe_bandwidth = self.state.is_probe_bandwidth();
            if is_probe_bandwidth && !sample.is_app_limited {
                self.cycle_count += 1; // AdvanceMaxBwFilter
            }
            if is_probe_bandwidth && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_probe_bw_refill(event.delivered);
                return true;
            }
        }
        let is_limited = self.inflight_longterm.is_finite();
        if is_limited && !self.is_inflight_too_high(sample.lost, sample.tx_in_flight) {
            self.inflight_longterm = larger(self.inflight_longterm, float(sample.tx_in_flight));
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(event);
            }
        }
        false
    }

    /// `ProbeInflightLongtermUpward`
    fn probe_inflight_longterm_upward(&mut self, event: &RateSampleEvent) {
        if !event.is_cwnd_limited || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += event.newly_delivered as f64;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = libm::floor(self.bw_probe_up_acked / self.probe_up_acked_per_inc);
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
        }
        if self.is_round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// `RaiseInflightLongtermSlope`
    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = f64::from(1_u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MAX_PROBE_UP_ROUNDS);
        self.probe_up_acked_per_inc = (self.cwnd / growth_this_round).max(1.0);
    }
}
