//! Filters of rate-based controls: windowed maxima and minima, round trips counted by deliveries,
//! and a detector for a rate that no longer grows.

use super::rate_based::RateSample;
use crate::units::{Time, larger};

/// The longest window of a [`WindowedMax`], in steps.
const MAX_STEPS: usize = 10;

/// The largest value in a window of steps, where a step is a round trip or a probing cycle. The
/// result is exact: one maximum is kept per step. Old values expire only when a new value arrives,
/// so the filter never becomes empty.
#[derive(Clone, Debug, Default)]
pub struct WindowedMax {
    maxima: [f64; MAX_STEPS],
    step: u64,
    /// The maximum of the current step. A smaller value in the same step changes nothing.
    present: f64,
    /// The maximum over the window.
    largest: f64,
}

impl WindowedMax {
    /// The largest value in the window; 0 before the first value.
    #[inline]
    pub fn get(&self) -> f64 {
        self.largest
    }

    /// Adds a value. `step` must not decrease from call to call; the maximum covers the last
    /// `window` steps, the current step included (at most ten).
    #[inline]
    pub fn update(&mut self, value: f64, step: u64, window: usize) {
        if step != self.step || value > self.present {
            self.change(value, step, window);
        }
    }

    #[inline(never)]
    fn change(&mut self, value: f64, step: u64, window: usize) {
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
        self.present = larger(self.present, value);
        self.maxima[index(step)] = self.present;
        self.largest = larger(self.largest, value);
    }
}

/// The smallest recent RTT and the time of its measurement. The caller replaces it with a smaller
/// sample, or with any sample once it has [expired](WindowedMin::is_expired).
#[derive(Clone, Copy, Debug)]
pub struct WindowedMin {
    value: Time,
    /// The same in seconds: a control reads it at every ACK.
    seconds: f64,
    /// When the RTT was measured.
    pub stamp: Time,
}

impl WindowedMin {
    /// Creates a filter whose window starts at `now`. Its first sample is the RTT of the handshake,
    /// if `handshake` is not 0.
    pub fn new(handshake: Time, now: Time) -> Self {
        let value = if handshake > Time::ZERO { handshake } else { Time::NEVER };
        WindowedMin { value, seconds: value.seconds(), stamp: now }
    }

    /// The smallest RTT; [`Time::NEVER`] before the first sample.
    #[inline]
    pub fn value(&self) -> Time {
        self.value
    }

    /// The smallest RTT in seconds; meaningless before the first sample.
    #[inline]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Whether the RTT was measured longer than `window` ago.
    pub fn is_expired(&self, now: Time, window: Time) -> bool {
        now > self.stamp.saturating_add(window)
    }

    /// Replaces the RTT with this sample.
    pub fn set(&mut self, value: Time, stamp: Time) {
        *self = WindowedMin { value, seconds: value.seconds(), stamp };
    }
}

/// Round trips, counted by deliveries: a round trip ends when a packet sent after its beginning is
/// acknowledged. Selective acknowledgements count, so round trips also end during loss recovery.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRounds {
    end: u64,
    /// Number of completed round trips.
    pub count: u64,
}

impl DeliveryRounds {
    /// Updates the state with a rate sample, and returns whether it ends a round trip and so
    /// begins the next. `delivered` is the number of packets acknowledged since the connection
    /// began.
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

/// Factor by which the rate must grow in a round trip
/// (draft-cardwell-iccrg-bbr-congestion-control-00 sec. 4.3.2.2, draft-ietf-ccwg-bbr
/// `CheckFullBWReached`).
const GROWTH: f64 = 1.25;
/// Number of round trips without such growth (same sections).
const ROUNDS_WITHOUT_GROWTH: u32 = 3;

/// Detects that a rate no longer grows: three round trips in which it grows by less than a
/// quarter.
#[derive(Clone, Debug, Default)]
pub struct Plateau {
    baseline: f64,
    rounds: u32,
    /// Whether the rate no longer grows.
    pub is_reached: bool,
}

impl Plateau {
    /// Creates a detector that compares the next round trip with the rate `baseline`.
    pub fn from(baseline: f64) -> Self {
        Plateau { baseline, ..Plateau::default() }
    }

    /// Discards the rate with which the next round trip would be compared.
    pub fn forget_rate(&mut self) {
        self.baseline = 0.0;
    }

    /// Begins to compare anew, and keeps whether the rate has ceased to grow.
    pub fn compare_anew(&mut self) {
        *self = Plateau { is_reached: self.is_reached, ..Plateau::default() };
    }

    /// Updates the state with the rate at the end of a round trip.
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

    /// Compares the filter with a list of all values. Some steps have no values.
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

    /// The rate doubles and then stays constant.
    #[test]
    fn a_plateau_is_three_rounds_that_grow_by_less_than_a_quarter() {
        let mut plateau = Plateau::default();
        for (rate, is_reached) in [
            (10.0, false),
            (20.0, false),
            (24.9, false), // 24.5 % above 20: the first round without growth
            (25.0, false), // 25 % above 20: the count starts again
            (25.0, false),
            (31.2, false),
            (30.0, true),
        ] {
            plateau.on_round(rate);
            assert_eq!(plateau.is_reached, is_reached, "{rate}");
        }
    }
}
