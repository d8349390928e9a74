//! Round-trip time estimation and the retransmission timeout (RFC 6298).

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::tcp::PathRtt;
use crate::units::Time;

/// Which packets give RTT samples.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RttSamplesConfig")]
#[non_exhaustive]
pub enum RttSamples {
    /// Every ACK of new data gives a sample, including ACKs of retransmissions (RFC 7323).
    #[default]
    Timestamps,
    /// ACKs of retransmitted packets give no sample (Karn's algorithm).
    Karn,
}

/// Upper bound of the timeout (RFC 6298 sec. 2.5: at least 60 s).
pub const MAX_RTO: Time = Time::from_milliseconds(60_000);
/// Largest number of times that the timeout doubles.
const MAX_BACKOFF: u32 = 16;
/// Estimates the smoothed RTT and its variation, and computes the timeout from them.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    smoothed: SmoothedRtt,
    /// The timeout before the first sample.
    initial_rto: Time,
    /// How often the timeout has doubled since the last sample.
    backoff: u32,
}

/// The smoothed RTT: what changes with every sample.
#[derive(Clone, Debug)]
pub struct SmoothedRtt {
    srtt: u64,
    min: Time,
    variation: u64,
    min_rto: Time,
    granularity: Time,
}

impl RttEstimator {
    /// Creates an estimator without samples.
    pub fn new(min_rto: Time, granularity: Time) -> Self {
        let smoothed = SmoothedRtt::new(min_rto, granularity);
        RttEstimator { smoothed, initial_rto: Time::from_milliseconds(1_000), backoff: 0 }
    }

    /// The same estimator with another timeout before the first sample than 1 s (RFC 6298 sec. 2.1).
    #[must_use]
    pub fn with_initial_rto(mut self, initial_rto: Time) -> Self {
        self.initial_rto = initial_rto;
        self
    }

    /// The timeout before the first sample.
    pub fn initial_rto(&self) -> Time {
        self.initial_rto
    }

    /// Adds a sample and ends the backoff.
    #[inline]
    pub fn on_sample(&mut self, sample: Time) {
        self.smoothed.on_sample(sample);
        self.backoff = 0;
    }

    /// The connection is in use, and has measured `rtt` before.
    pub fn know(&mut self, rtt: PathRtt) {
        self.on_sample(rtt.without_queues.saturating_add(rtt.wait));
        self.smoothed.min = rtt.without_queues;
    }

    /// What changes with every sample.
    pub fn smoothed(&self) -> &SmoothedRtt {
        &self.smoothed
    }

    /// Takes `smoothed` over, to which samples have been added.
    pub fn resume(&mut self, smoothed: SmoothedRtt) {
        self.smoothed = smoothed;
        self.backoff = 0;
    }

    /// Smoothed RTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Time {
        self.smoothed.srtt()
    }

    /// Smallest sample; [`Time::NEVER`] before the first sample.
    #[inline]
    pub fn min(&self) -> Time {
        self.smoothed.min()
    }

    /// Smallest sample; zero before the first sample.
    #[inline]
    pub fn least(&self) -> Time {
        self.smoothed.least()
    }

    /// The lower bound of the timeout.
    pub fn min_rto(&self) -> Time {
        self.smoothed.min_rto
    }

    /// The timeout, including the backoff.
    #[inline]
    pub fn rto(&self) -> Time {
        if self.backoff == 0 && self.smoothed.min != Time::NEVER {
            self.smoothed.rto()
        } else {
            self.rare_rto()
        }
    }

    /// The timeout before the first sample, or with a backoff.
    #[cold]
    fn rare_rto(&self) -> Time {
        let has_sample = self.smoothed.min != Time::NEVER;
        let rto = if has_sample {
            self.smoothed.rto()
        } else {
            self.initial_rto.max(self.smoothed.min_rto)
        };
        if self.backoff == 0 {
            return rto;
        }
        Time::from_picoseconds(rto.picoseconds().saturating_mul(1 << self.backoff)).min(MAX_RTO)
    }

    /// Doubles the timeout (RFC 6298 sec. 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
    }

    /// Whether the timer has expired since the last sample.
    pub fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }
}

impl SmoothedRtt {
    /// An estimate without samples.
    pub(super) fn new(min_rto: Time, granularity: Time) -> Self {
        SmoothedRtt { srtt: 0, min: Time::NEVER, variation: 0, min_rto, granularity }
    }

    /// Adds a sample.
    #[expect(clippy::inline_always, reason = "two callers a packet")]
    #[inline(always)]
    pub fn on_sample(&mut self, sample: Time) {
        self.min = self.min.min(sample);
        let sample = sample.picoseconds();
        if self.srtt == 0 {
            self.srtt = sample;
            self.variation = sample / 2;
        } else {
            // RFC 6298 sec. 2.3: beta = 1/4, alpha = 1/8; update the variation before the mean.
            let error = self.srtt.abs_diff(sample);
            self.variation = self.variation - self.variation / 4 + error / 4;
            self.srtt = self.srtt - self.srtt / 8 + sample / 8;
        }
    }

    /// Smoothed RTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Time {
        Time::from_picoseconds(self.srtt)
    }

    /// Smallest sample; zero before the first sample.
    #[inline]
    pub fn least(&self) -> Time {
        if self.min == Time::NEVER { Time::ZERO } else { self.min }
    }

    /// Smallest sample; [`Time::NEVER`] before the first sample.
    #[inline]
    pub fn min(&self) -> Time {
        self.min
    }

    /// The timeout after a sample.
    #[inline]
    pub fn rto(&self) -> Time {
        let margin = (4 * self.variation).max(self.granularity.picoseconds());
        Time::from_picoseconds(self.srtt + margin).max(self.min_rto).min(MAX_RTO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_rfc_6298_computed_by_hand() {
        let mut rtt = RttEstimator::new(Time::from_milliseconds(200), Time::from_milliseconds(1));
        assert_eq!(rtt.rto(), Time::from_milliseconds(1_000));
        rtt.on_sample(Time::from_milliseconds(100));
        // SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50.
        assert_eq!(rtt.rto(), Time::from_milliseconds(300));
        rtt.on_sample(Time::from_milliseconds(180));
        // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5; SRTT = 7/8 * 100 + 1/8 * 180 = 110; RTO = 340.
        assert_eq!(
            (rtt.srtt(), rtt.rto()),
            (Time::from_milliseconds(110), Time::from_milliseconds(340))
        );
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Time::from_milliseconds(1_360));
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), MAX_RTO);
        rtt.on_sample(Time::from_milliseconds(110));
        assert!(rtt.rto() < Time::from_milliseconds(340) && !rtt.is_backed_off());
    }

    #[test]
    fn the_timeout_is_at_least_the_minimum_and_the_srtt_plus_the_granularity() {
        let mut rtt = RttEstimator::new(Time::from_milliseconds(1_000), Time::from_milliseconds(1));
        (0..100).for_each(|_| rtt.on_sample(Time::from_milliseconds(10)));
        assert_eq!(rtt.rto(), Time::from_milliseconds(1_000));
        // As in Linux: 200 ms above a constant RTT of 300 ms.
        let mut rtt = RttEstimator::new(Time::from_milliseconds(200), Time::from_milliseconds(200));
        (0..100).for_each(|_| rtt.on_sample(Time::from_milliseconds(300)));
        assert_eq!(rtt.rto(), Time::from_milliseconds(500));
    }
}
