//! The reaction to losses: the short-term model, and the limit of the packets in flight (sec.
//! "Updating the Model Upon Packet Loss").

use super::{Model, State};
use crate::congestion::rate_based::{LostPacketEvent, RateSample, RateSampleEvent};
use crate::units::{float, larger};

/// `BBR.LossThresh`
const LOSS_THRESHOLD: f64 = 0.02;
/// `BBR.Beta`
const BETA: f64 = 0.7;

impl Model {
    /// `IsInflightTooHigh`
    pub(super) fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        let is_above = || float(lost) > float(tx_in_flight) * LOSS_THRESHOLD;
        lost > 0 && (!self.has_sack || is_above())
    }

    /// `NoteLoss`
    pub(super) fn note_loss(&mut self, cwnd: f64) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.save_state_upon_loss(cwnd);
        }
        self.is_loss_in_round = true;
    }

    /// `HandleLostPacket`
    pub(super) fn handle_lost_packet(&mut self, packet: &LostPacketEvent) {
        self.delivered = packet.delivered;
        self.note_loss(packet.cwnd_packets);
        if self.last_lost.is_none_or(|last| packet.sequence != last + 1) {
            self.lost_ranges_in_round += 1;
        }
        self.last_lost = Some(packet.sequence);
        if self.is_bw_probe_sample && self.is_inflight_too_high(packet.lost, packet.tx_in_flight) {
            self.handle_inflight_too_high(packet);
        }
    }

    /// `HandleInflightTooHigh`
    fn handle_inflight_too_high(&mut self, packet: &LostPacketEvent) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !packet.is_app_limited {
            let target = self.target_inflight(packet.cwnd_packets);
            self.inflight_longterm =
                inflight_at_loss(packet.tx_in_flight, packet.lost).max(target * BETA);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_probe_bw_down(packet.now, packet.delivered);
        }
    }

    /// `UpdateLatestDeliverySignals`
    pub(super) fn update_latest_delivery_signals(&mut self, event: &RateSampleEvent) {
        self.delivered = event.delivered;
        self.is_loss_round_start = false;
        let Some(sample) = &event.rate else { return };
        self.bw_latest = larger(self.bw_latest, sample.delivery_rate.unwrap_or(0.0));
        self.inflight_latest = larger(self.inflight_latest, float(sample.delivered));
        if sample.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = event.delivered;
            self.is_loss_round_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`
    pub(super) fn advance_latest_delivery_signals(&mut self, sample: &RateSample) {
        if self.is_loss_round_start {
            self.bw_latest = sample.delivery_rate.unwrap_or(0.0);
            self.inflight_latest = float(sample.delivered);
        }
    }

    /// `ResetCongestionSignals`
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// `UpdateCongestionSignals`
    pub(super) fn update_congestion_signals(&mut self, event: &RateSampleEvent) {
        self.update_max_bw(event);
        if self.is_loss_round_start {
            self.adapt_lower_bounds();
            self.is_loss_in_round = false;
        }
    }

    /// `AdaptLowerBoundsFromCongestion`
    fn adapt_lower_bounds(&mut self) {
        let is_probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if is_probing || !self.is_loss_in_round {
            return;
        }
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw.get();
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
    }

    /// `ResetShortTermModel`
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }
}

/// `InflightAtLoss`, for a packet that is sent alone: the number of packets in flight at which the
/// losses crossed the threshold.
fn inflight_at_loss(tx_in_flight: u64, lost: u64) -> f64 {
    let inflight_prev = tx_in_flight as f64 - 1.0;
    let lost_prev = lost as f64 - 1.0;
    let lost_prefix = (LOSS_THRESHOLD * inflight_prev - lost_prev) / (1.0 - LOSS_THRESHOLD);
    inflight_prev + lost_prefix
}
