//! Pacing rate, send quantum and window (sec. "Updating Control Parameters").

use super::{Model, State};
use crate::congestion::rate_based::{RateSampleEvent, Repair};
use crate::units::{Time, float, larger, smaller};

/// `BBR.MinPipeCwnd`
pub(super) const MIN_PIPE_CWND: f64 = 4.0;
/// 1 minus `BBR.PacingMarginPercent`
const PACING_MARGIN: f64 = 0.99;
const EXTRA_ACKED_ROUNDS: usize = 10; // BBR.ExtraAckedFilterLen; 1 in Startup
const MAX_QUANTUM_BYTES: f64 = 65_536.0; // `SetSendQuantum`, 64 KBytes
const MIN_QUANTUM: u64 = 2; // `SetSendQuantum`
const OFFLOAD_QUANTA: f64 = 3.0; // `UpdateOffloadBudget` of TCP

impl Model {
    /// `UpdateControlParameters`
    pub(super) fn update_control_parameters(&mut self, event: &RateSampleEvent) {
        self.pace_initial_window(event.srtt);
        self.set_pacing_rate(self.state.gains().0);
        self.set_send_quantum();
        self.set_cwnd(event);
    }

    /// `InitPacingRate`, with the first RTT.
    pub(super) fn pace_initial_window(&mut self, srtt: Time) {
        if !self.has_rtt && srtt > Time::ZERO {
            self.has_rtt = true;
            let nominal_bandwidth = self.initial_cwnd / srtt.seconds();
            self.pacing_rate = State::Startup.gains().0 * nominal_bandwidth;
        }
    }

    /// `SetPacingRateWithGain`
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * PACING_MARGIN;
        if rate > self.pacing_rate || rate > 0.0 && self.full_bw_reached {
            self.pacing_rate = rate;
        }
    }

    /// `SetSendQuantum`
    pub(super) fn set_send_quantum(&mut self) {
        if self.quantum_rate.to_bits() == self.pacing_rate.to_bits() {
            return;
        }
        self.quantum_rate = self.pacing_rate;
        let bytes = (self.pacing_rate * self.packet_bytes * 1e-3).min(MAX_QUANTUM_BYTES);
        self.send_quantum = ((bytes / self.packet_bytes) as u64).max(MIN_QUANTUM);
    }

    /// `BDPMultiple`, of gain 1
    pub(super) fn bdp(&self, bandwidth: f64) -> f64 {
        if self.min_rtt.value() == Time::NEVER {
            return self.initial_cwnd;
        }
        bandwidth * self.min_rtt.seconds()
    }

    fn bdp_multiple(&self, bandwidth: f64, gain: f64) -> f64 {
        let gain = if self.min_rtt.value() == Time::NEVER { 1.0 } else { gain };
        gain * self.bdp(bandwidth)
    }

    /// `QuantizationBudget`
    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let offload_budget = OFFLOAD_QUANTA * float(self.send_quantum);
        let inflight_cap = larger(inflight_cap, offload_budget).max(MIN_PIPE_CWND);
        if self.state == State::Up { inflight_cap + 2.0 } else { inflight_cap }
    }

    /// `Inflight`
    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bandwidth, gain))
    }

    /// Begins an interval of `UpdateACKAggregation`: its start and what was delivered since then.
    pub(super) fn begin_ack_aggregation(&mut self, now: Time) {
        (self.extra_acked_start, self.extra_acked_delivered) = (now, 0.0);
    }

    /// `UpdateACKAggregation`
    pub(super) fn update_ack_aggregation(&mut self, event: &RateSampleEvent) {
        let interval = event.now.since(self.extra_acked_start);
        let mut expected_delivered = self.bw * interval.seconds();
        if self.extra_acked_delivered <= expected_delivered {
            self.begin_ack_aggregation(event.now);
            expected_delivered = 0.0;
        }
        self.extra_acked_delivered += float(event.newly_delivered);
        let extra = smaller(self.extra_acked_delivered - expected_delivered, self.cwnd);
        let window = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.update(extra, self.rounds.count, window);
    }

    /// `SetCwnd`
    fn set_cwnd(&mut self, event: &RateSampleEvent) {
        // UpdateMaxInflight
        let bdp_multiple = self.bdp_multiple(self.bw, self.state.gains().1);
        let max_inflight = self.quantization_budget(bdp_multiple + self.extra_acked.get());
        let grown = self.cwnd + float(event.newly_delivered);
        if self.full_bw_reached {
            self.cwnd = smaller(grown, max_inflight);
        } else if self.cwnd < max_inflight || (event.delivered as f64) < self.initial_cwnd {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// `BoundCwndForModel`
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::Startup | State::Drain => f64::INFINITY,
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
        };
        let cap = smaller(cap, self.inflight_shortterm).max(MIN_PIPE_CWND);
        self.cwnd = smaller(self.cwnd, cap);
    }

    /// `ProbeRTTCwnd`
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, State::ProbeRtt.gains().1).max(MIN_PIPE_CWND)
    }

    /// The window of before returns when everything is repaired.
    pub(super) fn note_end_of_repair(&mut self, event: &RateSampleEvent) {
        if event.repair == Repair::None && self.repair != Repair::None {
            self.restore_cwnd();
        }
        self.repair = event.repair;
        self.undo.is_saved &= event.repair != Repair::None;
    }

    /// `SaveCwnd`
    pub(super) fn save_cwnd(&mut self, cwnd: f64) {
        let is_modulated = self.repair != Repair::None || self.state == State::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    /// `RestoreCwnd`
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
