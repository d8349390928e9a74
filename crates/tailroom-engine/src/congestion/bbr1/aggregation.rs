//! ACK aggregation: the excess of acknowledged packets over those that the estimated rate would
//! have delivered (`bbr_update_ack_aggregation`). The window is larger by this excess, so that a
//! flow keeps sending while no ACK arrives.

use super::rounded_down;
use crate::units::{Time, float, smaller};

/// `bbr_extra_acked_win_rtts`: a maximum lasts five to ten round trips.
const WINDOW_ROUNDS: u32 = 5;
/// `bbr_ack_epoch_acked_reset_thresh`, in packets.
const EPOCH_PACKETS: u64 = 1 << 20;
/// `bbr_extra_acked_max_us`: no more than the estimated rate delivers in 100 ms.
const LONGEST_SILENCE_S: f64 = 0.1;

/// The largest recent excess.
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    epoch_start: Time,
    epoch_acked: u64,
    maxima: [u64; 2],
    index: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn new(now: Time) -> Self {
        Aggregation { epoch_start: now, epoch_acked: 0, maxima: [0; 2], index: 0, rounds: 0 }
    }

    /// Begins a new epoch, after a pause.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch_start, self.epoch_acked) = (now, 0);
    }

    /// Takes in an ACK of `acked` packets at an estimated rate of `bandwidth` packets/s.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        acked: u64,
        bandwidth: f64,
        cwnd: f64,
        is_round_start: bool,
    ) {
        if is_round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.index = 1 - self.index;
                self.maxima[self.index] = 0;
            }
        }
        let mut expected = (bandwidth * now.since(self.epoch_start).seconds()) as u64;
        if self.epoch_acked <= expected || self.epoch_acked + acked >= EPOCH_PACKETS {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(EPOCH_PACKETS - 1);
        let excess = self.epoch_acked - expected;
        let maximum = &mut self.maxima[self.index];
        if excess > *maximum {
            *maximum = excess.min(cwnd as u64).max(*maximum);
        }
    }

    /// The addition to the window for ACK aggregation, in packets (`bbr_ack_aggregation_cwnd`).
    pub(super) fn allowance(&self, bandwidth: f64) -> f64 {
        let excess = float(self.maxima[0].max(self.maxima[1]));
        smaller(excess, rounded_down(LONGEST_SILENCE_S * bandwidth))
    }
}
