//! Illinois (Liu, Basar and Srikant 2006): losses determine when the window shrinks; delay
//! determines how fast it grows and by how much it shrinks.

use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, Rounds, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::{BadParameter, check};
use crate::units::Time;

/// Parameters of Illinois; defaults as in Linux. According to the manual of ns-3, the paper has
/// 0.1 for `alpha_min` and 10 packets for `window_threshold`.
///
/// The delays are queueing delays: the mean RTT of the last round trip and the largest RTT of the
/// connection, each minus the smallest RTT. RTTs during slow start count only through the smoothed
/// RTT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct IllinoisParams {
    /// Increase at the largest delay, in packets per round trip (Linux: 0.3).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha_min: f64,
    /// Increase at delays up to 1 % of the largest delay, in packets per round trip (Linux: 10).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha_max: f64,
    /// Fraction by which a loss reduces the window at delays up to 10 % of the largest delay
    /// (Linux: 0.125).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub beta_min: f64,
    /// Fraction by which a loss reduces the window at delays from 80 % of the largest delay on
    /// (Linux: 0.5).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub beta_max: f64,
    /// Window below which the control behaves as standard TCP, in packets (Linux: 15).
    #[schemars(range(min = 0.0))]
    pub window_threshold: f64,
    /// Number of round trips with a delay of at most 1 % of the largest delay after which the
    /// increase returns to `alpha_max` (Linux: 5).
    #[schemars(range(min = 1))]
    pub theta: u32,
}

impl Default for IllinoisParams {
    fn default() -> Self {
        IllinoisParams {
            alpha_min: 0.3,
            alpha_max: 10.0,
            beta_min: 0.125,
            beta_max: 0.5,
            window_threshold: 15.0,
            theta: 5,
        }
    }
}

impl ControlParameters for IllinoisParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let allowed = format!("at most alpha_max, {}", self.alpha_max);
        check("alpha_min", self.alpha_min, self.alpha_min <= self.alpha_max, &allowed)?;
        let allowed = format!("at most beta_max, {}", self.beta_max);
        check("beta_min", self.beta_min, self.beta_min <= self.beta_max, &allowed)
    }
}

// Thresholds, as fractions of the largest delay (Liu, Basar and Srikant 2006, sec. 4.3; Linux).
const ETA_1: f64 = 0.01; // below it, the increase is alpha_max
const ETA_2: f64 = 0.1; // below it, the decrease is beta_min
const ETA_3: f64 = 0.8; // above it, the decrease is beta_max

impl IllinoisParams {
    /// The increase at a mean delay of `fraction` times the largest: the hyperbola k1 / (k2 + d)
    /// through `alpha_max` at `ETA_1` and `alpha_min` at 1.
    fn increase(&self, fraction: f64) -> f64 {
        let above = (fraction - ETA_1) / (1.0 - ETA_1);
        self.alpha_max / (1.0 + above * (self.alpha_max / self.alpha_min - 1.0))
    }

    /// The decrease at a mean delay of `fraction` times the largest: linear between `beta_min` at
    /// `ETA_2` and `beta_max` at `ETA_3`.
    fn decrease(&self, fraction: f64) -> f64 {
        let above = ((fraction - ETA_2) / (ETA_3 - ETA_2)).clamp(0.0, 1.0);
        self.beta_min + above * (self.beta_max - self.beta_min)
    }
}

/// The state of Illinois for one flow.
#[derive(Clone, Debug)]
pub struct Illinois {
    params: IllinoisParams,
    increase: f64,
    decrease: f64,
    rounds: Rounds,
    rtt_sum: u64,
    samples: u64,
    max_rtt: Time,
    /// Whether the delay has exceeded `ETA_1` since the increase was last `alpha_max`.
    has_been_above: bool,
    /// Round trips with a delay of at most `ETA_1` since then.
    low_rounds: u32,
}

impl Illinois {
    /// Creates the control in its initial state.
    pub fn new(params: &IllinoisParams) -> Self {
        Illinois {
            params: params.clone(),
            increase: params.alpha_max,
            decrease: params.beta_max,
            rounds: Rounds::default(),
            rtt_sum: 0,
            samples: 0,
            max_rtt: Time::ZERO,
            has_been_above: false,
            low_rounds: 0,
        }
    }

    fn end_round(&mut self, window: f64, min_rtt: Time) {
        if window < self.params.window_threshold {
            (self.increase, self.decrease) = (1.0, self.params.beta_max);
        } else if let Some(mean) = self.rtt_sum.checked_div(self.samples) {
            let mean = Time::from_picoseconds(mean).since(min_rtt).picoseconds() as f64;
            let largest = self.max_rtt.since(min_rtt).picoseconds() as f64;
            self.set_increase(mean, largest);
            // Without any queueing delay, a loss is no sign of congestion.
            self.decrease = if largest > 0.0 {
                self.params.decrease(mean / largest)
            } else {
                self.params.beta_min
            };
        }
        (self.rtt_sum, self.samples) = (0, 0);
    }

    fn set_increase(&mut self, mean: f64, largest: f64) {
        if mean > ETA_1 * largest {
            self.has_been_above = true;
            self.increase = self.params.increase(mean / largest);
            return;
        }
        // A single round trip with a low delay may be chance, so the increase returns to its
        // maximum only after `theta` of them.
        self.low_rounds += u32::from(self.has_been_above);
        if !self.has_been_above || self.low_rounds >= self.params.theta {
            self.increase = self.params.alpha_max;
            (self.has_been_above, self.low_rounds) = (false, 0);
        }
    }
}

impl WindowLaw for Illinois {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // The smoothed RTT never exceeds the largest sample, and includes the samples of slow
        // start.
        self.max_rtt = self.max_rtt.max(event.srtt);
        if let Some(rtt) = event.rtt {
            self.max_rtt = self.max_rtt.max(rtt);
            self.rtt_sum = self.rtt_sum.saturating_add(rtt.picoseconds());
            self.samples += 1;
        }
        if self.rounds.is_over(event) {
            self.end_round(cwnd_packets, event.min_rtt);
        }
        cwnd_packets + self.increase * event.acked_packets as f64 / cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        if event.kind == CongestionKind::Timeout {
            // The delays measured before the timeout are stale.
            (self.increase, self.decrease) = (1.0, self.params.beta_max);
            (self.has_been_above, self.low_rounds) = (false, 0);
            (self.rtt_sum, self.samples) = (0, 0);
        }
        (1.0 - self.decrease) * event.cwnd_packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, assert_close, ms};
    use super::*;

    /// A control whose RTTs are 100 ms to 200 ms, so that its largest queueing delay is 100 ms.
    fn settled() -> (Illinois, Script) {
        let (mut illinois, mut script) = (Illinois::new(&IllinoisParams::default()), Script::new());
        script.held_round(&mut illinois, 100.0, ms(100.0));
        script.held_round(&mut illinois, 100.0, ms(200.0));
        (illinois, script)
    }

    #[test]
    fn the_increase_follows_the_published_hyperbola() {
        // k1 = (dm - d1) amin amax / (amax - amin) = 99 ms x 3 / 9.7 = 30.618557 ms,
        // k2 = (dm - d1) amin / (amax - amin) - d1 = 99 x 0.3 / 9.7 - 1 = 2.061856 ms.
        let (k1, k2) = (30.618_556_701_030_927, 2.061_855_670_103_093);
        for delay_ms in [2.0, 10.0, 50.0, 100.0] {
            let (mut illinois, mut script) = settled();
            script.held_round(&mut illinois, 100.0, ms(100.0 + delay_ms));
            let expected = k1 / (k2 + delay_ms); // 7.54, 2.54, 0.588, 0.3
            assert!((illinois.increase / expected - 1.0).abs() < 1e-9, "{delay_ms} ms");
            let window = script.ack(&mut illinois, 100.0, ms(100.0 + delay_ms));
            assert_close(window, 100.0 + expected / 100.0);
        }
    }

    #[test]
    fn the_decrease_is_linear_between_a_tenth_and_eight_tenths_of_the_largest_delay() {
        // beta = (0.125 x 80 - 0.5 x 10 + 0.375 d) / 70: at 45 ms (5 + 16.875) / 70 = 0.3125.
        for (delay_ms, beta) in
            [(0.0, 0.125), (10.0, 0.125), (45.0, 0.3125), (66.0, 0.425), (80.0, 0.5), (100.0, 0.5)]
        {
            let (mut illinois, mut script) = settled();
            script.held_round(&mut illinois, 100.0, ms(100.0 + delay_ms));
            let target = script.congestion(&mut illinois, 100.0, CongestionKind::Loss);
            assert_close(target, 100.0 * (1.0 - beta));
        }
    }

    #[test]
    fn the_largest_increase_returns_after_five_round_trips_without_delay() {
        let (mut illinois, mut script) = settled();
        assert_close(illinois.increase, 0.3);
        for _ in 0..4 {
            script.held_round(&mut illinois, 100.0, ms(100.5));
            assert_close(illinois.increase, 0.3);
        }
        script.held_round(&mut illinois, 100.0, ms(100.5));
        assert_close(illinois.increase, 10.0);
    }

    #[test]
    fn the_increase_depends_on_the_mean_rtt_of_the_round_trip() {
        let (mut illinois, mut script) = settled();
        // 100 ACKs at 120 ms, and the ACK that ends the round trip at 160 ms: a mean queueing
        // delay of 20.4 ms.
        for _ in 0..100 {
            script.ack(&mut illinois, 100.0, ms(120.0));
        }
        script.ack(&mut illinois, 100.0, ms(160.0));
        let mean = (100.0 * 20.0 + 60.0) / 101.0;
        let expected = 30.618_556_701_030_927 / (2.061_855_670_103_093 + mean);
        assert!((illinois.increase / expected - 1.0).abs() < 1e-9, "{}", illinois.increase);
    }

    #[test]
    fn equals_standard_tcp_at_small_windows_and_after_a_timeout() {
        let (mut illinois, mut script) = settled();
        for _ in 0..12 {
            script.held_round(&mut illinois, 14.0, ms(101.0));
        }
        assert_close(script.ack(&mut illinois, 14.0, ms(101.0)), 14.0 + 1.0 / 14.0);
        assert_close(script.congestion(&mut illinois, 14.0, CongestionKind::Loss), 7.0);

        let (mut illinois, mut script) = settled();
        script.held_round(&mut illinois, 100.0, ms(100.0));
        assert_close(script.congestion(&mut illinois, 100.0, CongestionKind::Timeout), 50.0);
        assert_close(illinois.increase, 1.0);
    }
}
