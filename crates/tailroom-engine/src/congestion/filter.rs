//! Filters that the rate-based controls share: windowed maxima and minima, round trips counted by
//! deliveries, and the test whether a rate has ceased to grow.

use super::rate_based::RateSample;
use crate::units::Time;

/// The longest window of a [`WindowedMax`], in steps.
const MAX_STEPS: usize = 10;

/// The largest value of the last steps, where a step is a round trip or a cycle of probing. The
/// filter is exact: it keeps one maximum per step. It forgets values only when a new value arrives,
/// so it is never empty again.
#[derive(Debug, Default)]
pub struct WindowedMax {
    maxima: [f64; MAX_STEPS],
    step: u64,
    /// The maximum of the current step; a smaller value changes nothing.
    present: f64,
    largest: f64,
}

impl WindowedMax {
    /// The largest value; 0 before the first.
    #[inline]
    pub fn get(&self) -> f64 {
        self.largest
    }

    /// Takes a value of `step`, which never falls; the values of the last `window` steps count,
    /// including this step (at most ten).
    pub fn update(&mut self, value: f64, step: u64, window: usize) {
        if step == self.step && value <= self.present {
            return;
        }
        let index = |step: u64| (step % MAX_STEPS as u64) as usize;
        if step > self.step {
            self.present = 0.0;
            let passed = (step - self.step).min(MAX_STEPS as u64);
            (0..passed).for_each(|back| self.maxima[index(step - back)] = 0.0);
            self.step = step;
            let first = (step + 1).saturating_sub(window.min(MAX_STEPS) as u64);
            let kept = (first..step).map(|step| self.maxima[index(step)]);
            self.largest = kept.fold(value, f64::max);
        }
        self.present = self.present.max(value);
        self.maxima[index(step)] = self.present;
        self.largest = self.largest.max(value);
    }
}

/// The smallest recent RTT, and when it was measured. A sample replaces it if the sample is smaller
/// or the held one is older than the window.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMin {
    /// The smallest RTT; [`Time::NEVER`] before the first.
    pub value: Time,
    /// When it was measured.
    pub stamp: Time,
}

impl WindowedMin {
    /// A filter without samples, at `now`.
    pub fn new(now: Time) -> Self {
        WindowedMin { value: Time::NEVER, stamp: now }
    }

    /// Whether the held RTT is older than `window`.
    pub fn is_expired(&self, now: Time, window: Time) -> bool {
        now > self.stamp.saturating_add(window)
    }

    /// Replaces the held RTT by this sample.
    pub fn set(&mut self, value: Time, stamp: Time) {
        (self.value, self.stamp) = (value, stamp);
    }
}

/// Counts round trips by deliveries: a round trip ends when a packet that was sent after its
/// beginning is acknowledged. Selective acknowledgements count, so round trips end during recovery,
/// too.
#[derive(Debug, Default)]
pub struct DeliveryRounds {
    end: u64,
    /// Number of round trips that have ended.
    pub count: u64,
}

impl DeliveryRounds {
    /// Whether this sample ends a round trip and begins the next; `delivered` counts the packets
    /// that have been acknowledged.
    pub fn is_over(&mut self, rate: &RateSample, delivered: u64) -> bool {
        let is_over = rate.prior_delivered >= self.end;
        if is_over {
            self.end = delivered;
            self.count += 1;
        }
        is_over
    }

    /// Begins a new round trip.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// Least growth of the rate per round trip (draft-cardwell-iccrg-bbr-congestion-control-00 sec.
/// 4.3.2.2, draft-ietf-ccwg-bbr `CheckFullBWReached`).
const GROWTH: f64 = 1.25;
/// Number of round trips without that growth (same sources).
const ROUNDS_WITHOUT_GROWTH: u32 = 3;

/// Detects that a rate has ceased to grow: three round trips in which it grows by less than a
/// quarter.
#[derive(Debug, Default)]
pub struct Plateau {
    baseline: f64,
    rounds: u32,
    /// Whether the rate has ceased to grow.
    pub is_reached: bool,
}

impl Plateau {
    /// Starts the detection at this rate.
    pub fn from(baseline: f64) -> Self {
        Plateau { baseline, ..Plateau::default() }
    }

    /// Forgets the rate that the next round trip is compared with.
    pub fn forget_rate(&mut self) {
        self.baseline = 0.0;
    }

    /// Takes the rate at the end of a round trip.
    pub fn on_round(&mut self, rate: f64) {
        if self.is_reached {
            return;
        }
        if rate >= GROWTH * self.baseline {
            *self = Plateau::from(rate);
            return;
        }
        self.rounds += 1;
        self.is_reached = self.rounds >= ROUNDS_WITHOUT_GROWTH;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list of every value, with steps skipped.
    #[test]
    fn the_maximum_is_that_of_the_values_in_the_window() {
        let mut state = 7_u64;
        let mut draw = move |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for window in [1, 2, 10] {
            let (mut filter, mut values, mut step) = (WindowedMax::default(), Vec::new(), 0);
            for _ in 0..2_000 {
                step += [0, 0, 0, 1, 1, 3, 20][draw(7) as usize];
                let value = draw(1_000) as f64;
                values.push((step, value));
                filter.update(value, step, window);
                let recent = values.iter().filter(|(at, _)| at + window as u64 > step);
                let expected = recent.map(|(_, value)| *value).fold(0.0, f64::max);
                assert!((filter.get() - expected).abs() < 1e-12, "window {window}, step {step}");
            }
        }
    }

    /// Startup that doubles, then stays: the first round at the top still grows, the next three do
    /// not.
    #[test]
    fn a_plateau_is_three_rounds_without_a_quarter_more() {
        let mut plateau = Plateau::default();
        for (rate, is_reached) in [
            (10.0, false),
            (20.0, false),
            (24.9, false), // 24.5 %: the first
            (25.0, false), // 25 % above 20: a new start
            (25.0, false),
            (31.2, false),
            (30.0, true),
        ] {
            plateau.on_round(rate);
            assert_eq!(plateau.is_reached, is_reached, "{rate}");
        }
    }
}
