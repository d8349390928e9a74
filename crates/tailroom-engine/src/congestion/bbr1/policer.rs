//! The rate of a token-bucket policer (`bbr_lt_bw_sampling`; Flach et al. 2016, "An Internet-Wide
//! Analysis of Traffic Policing"). If two consecutive intervals deliver at the same rate, and the
//! packets lost in each exceed a fifth of those delivered, the flow keeps to that rate for 48 round
//! trips.

use crate::units::{Time, float};

/// `bbr_lt_intvl_min_rtts`: an interval lasts 4 to 16 round trips.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// `bbr_lt_loss_thresh`: packets lost over packets delivered.
const LOSS_THRESHOLD: f64 = 50.0 / 256.0;
/// `bbr_lt_bw_ratio`: two rates are the same if they differ by no more than this.
const SAME_RATIO: f64 = 1.0 / 8.0;
/// `bbr_lt_bw_diff`, 4 kbit/s: two rates are also the same if they differ by no more than this.
const SAME_BYTES_PER_SECOND: f64 = 500.0;
/// `bbr_lt_bw_max_rtts`
const ROUNDS_IN_USE: u32 = 48;
const SHORTEST_INTERVAL: Time = Time::from_milliseconds(1);

/// The state of the connection at an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Sample {
    pub(super) now: Time,
    /// Packets delivered since the connection began.
    pub(super) delivered: u64,
    /// Packets lost since the connection began.
    pub(super) lost: u64,
    /// Whether packets are newly lost.
    pub(super) has_loss: bool,
    pub(super) is_app_limited: bool,
    pub(super) is_round_start: bool,
    pub(super) is_probing_bandwidth: bool,
}

/// Detects a policer.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    is_in_use: bool,
    /// Delivery rate of the previous interval, in packets/s; 0 without one.
    rate: f64,
    /// Number of round trips in the interval, or since the rate is in use.
    rounds: u32,
    since: Time,
    delivered_before: u64,
    lost_before: u64,
}

impl Policer {
    /// The policer's rate in packets/s, if a policer has been detected.
    pub(super) fn rate(&self) -> Option<f64> {
        self.is_in_use.then_some(self.rate)
    }

    /// Takes in a sample; returns whether the flow has just ceased to keep to the policer's rate.
    pub(super) fn on_sample(&mut self, sample: &Sample, packet_bytes: f64) -> bool {
        if self.is_in_use {
            return self.is_over(sample);
        }
        if !self.is_sampling {
            // The tokens last until the first loss.
            if !sample.has_loss {
                return false;
            }
            self.begin_interval(sample);
            self.is_sampling = true;
        }
        if sample.is_app_limited {
            self.reset(sample);
            return false;
        }
        self.rounds += u32::from(sample.is_round_start);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > MOST_ROUNDS {
            self.reset(sample);
        } else if sample.has_loss {
            self.end_interval(sample, packet_bytes);
        }
        false
    }

    fn is_over(&mut self, sample: &Sample) -> bool {
        if !sample.is_probing_bandwidth || !sample.is_round_start {
            return false;
        }
        self.rounds += 1;
        let is_over = self.rounds >= ROUNDS_IN_USE;
        if is_over {
            self.reset(sample);
        }
        is_over
    }

    fn end_interval(&mut self, sample: &Sample, packet_bytes: f64) {
        let lost = float(sample.lost - self.lost_before);
        let delivered = float(sample.delivered - self.delivered_before);
        let span = sample.now.since(self.since);
        if delivered == 0.0 || lost < LOSS_THRESHOLD * delivered || span < SHORTEST_INTERVAL {
            return;
        }
        let rate = delivered / span.seconds();
        let change = (rate - self.rate).abs();
        let is_same =
            change <= SAME_RATIO * self.rate || change * packet_bytes <= SAME_BYTES_PER_SECOND;
        if self.rate > 0.0 && is_same {
            self.rate = f64::midpoint(rate, self.rate);
            self.is_in_use = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin_interval(sample);
        }
    }

    fn begin_interval(&mut self, sample: &Sample) {
        self.rounds = 0;
        self.since = sample.now;
        (self.delivered_before, self.lost_before) = (sample.delivered, sample.lost);
    }

    /// `bbr_reset_lt_bw_sampling`
    pub(super) fn reset(&mut self, sample: &Sample) {
        *self = Policer::default();
        self.begin_interval(sample);
    }
}
