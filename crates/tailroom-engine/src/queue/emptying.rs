//! How often a queue empties: among the intervals of a fixed length in which packets arrived, the
//! fraction in which the queue was empty at least once.

use super::DelayTarget;
use crate::units::Time;

/// Name of the gauge: among the intervals in which packets arrived, the fraction in which the queue
/// was empty at least once.
pub const EMPTIED_INTERVALS: &str = "emptied_intervals_fraction";

/// Counts the intervals with arrivals since the last restart, and those in which the queue emptied.
#[derive(Clone, Debug)]
pub struct Emptying {
    interval: Time,
    /// Start of the first interval.
    start: Time,
    /// End of the current interval.
    end: Time,
    has_arrivals: bool,
    has_emptied: bool,
    /// Number of completed intervals with arrivals.
    busy: u64,
    /// Number of completed intervals with arrivals in which the queue was empty.
    emptied: u64,
}

impl Emptying {
    /// Creates a counter with the interval of `target`; without a target, the interval never ends.
    pub fn for_target(target: Option<DelayTarget>) -> Self {
        Self::new(target.map_or(Time::NEVER, |target| target.interval))
    }

    /// Creates a counter with intervals of the given length; the first starts at time zero.
    pub fn new(interval: Time) -> Self {
        Emptying {
            interval,
            start: Time::ZERO,
            end: interval,
            has_arrivals: false,
            has_emptied: false,
            busy: 0,
            emptied: 0,
        }
    }

    /// Records an arrival at `now` at a queue that is empty if `is_empty`.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, is_empty: bool) {
        self.advance(now);
        self.has_arrivals = true;
        self.has_emptied |= is_empty;
    }

    /// Records that the last waiting packet leaves the queue at `now`.
    #[inline]
    pub fn on_empty(&mut self, now: Time) {
        self.advance(now);
        self.has_emptied = true;
    }

    /// Discards all counts and starts the first interval at `now`.
    pub fn restart(&mut self, now: Time) {
        *self = Emptying {
            start: now,
            end: now.saturating_add(self.interval),
            ..Self::new(self.interval)
        };
    }

    /// Returns the fraction of the intervals completed by `now` in which the queue was empty; 0 if
    /// packets arrived in none of them.
    pub fn fraction(&self, now: Time) -> f64 {
        let (emptied, busy) = self.counts(now);
        if busy == 0 { 0.0 } else { emptied as f64 / busy as f64 }
    }

    /// Returns two numbers of intervals with arrivals completed by `now`: those in which the queue
    /// was empty, and all of them.
    fn counts(&self, now: Time) -> (u64, u64) {
        let is_over = now >= self.end && self.has_arrivals;
        (self.emptied + u64::from(is_over && self.has_emptied), self.busy + u64::from(is_over))
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        if now >= self.end {
            self.close(now);
        }
    }

    /// Closes the current interval and opens the interval that contains `now`.
    #[cold]
    fn close(&mut self, now: Time) {
        self.busy += u64::from(self.has_arrivals);
        self.emptied += u64::from(self.has_arrivals && self.has_emptied);
        (self.has_arrivals, self.has_emptied) = (false, false);
        let interval = self.interval.picoseconds();
        let past = now.since(self.start).picoseconds() / interval * interval;
        self.end = (self.start + Time::from_picoseconds(past)).saturating_add(self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Time {
        Time::from_milliseconds(count)
    }

    #[test]
    fn counts_the_intervals_with_arrivals_in_which_the_queue_was_empty() {
        let mut emptying = Emptying::new(ms(10));
        emptying.on_arrival(ms(1), true); // found empty
        emptying.on_arrival(ms(11), false); // never empty
        emptying.on_arrival(ms(21), false);
        emptying.on_empty(ms(29)); // emptied by a departure
        emptying.on_arrival(ms(55), true); // after two intervals without arrivals
        assert_eq!(emptying.counts(ms(59)), (2, 3));
        assert_eq!(emptying.counts(ms(60)), (3, 4));
    }

    #[test]
    fn an_interval_includes_its_start_but_not_its_end() {
        let mut emptying = Emptying::new(ms(10));
        emptying.on_arrival(ms(0), false);
        emptying.on_empty(ms(10));
        emptying.on_arrival(ms(10), true);
        assert_eq!(emptying.counts(ms(10)), (0, 1));
        assert_eq!(emptying.counts(ms(20)), (1, 2));
    }

    #[test]
    fn an_interval_without_arrivals_does_not_count() {
        let mut emptying = Emptying::new(ms(10));
        emptying.on_arrival(ms(5), false);
        emptying.on_empty(ms(15));
        assert_eq!(emptying.counts(ms(30)), (0, 1));
        assert_eq!(Emptying::new(ms(10)).counts(ms(30)), (0, 0));
        assert!(
            Emptying::new(ms(10)).fraction(ms(30)) < f64::MIN_POSITIVE,
            "without arrivals the fraction is 0, not NaN"
        );
    }

    #[test]
    fn a_restart_discards_the_counts_and_starts_an_interval() {
        let mut emptying = Emptying::new(ms(10));
        emptying.on_arrival(ms(1), true);
        emptying.restart(ms(14));
        assert_eq!(emptying.counts(ms(14)), (0, 0));
        emptying.on_arrival(ms(23), false); // in 14 to 24 ms
        emptying.on_arrival(ms(24), true);
        assert_eq!(emptying.counts(ms(34)), (1, 2));
    }
}
