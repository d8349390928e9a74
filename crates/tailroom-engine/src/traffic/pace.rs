//! Whether a source lets time pass: one that does not would end a run at its limit of memory, or never.

use crate::units::Time;

/// What happens at a source, in blocks of a number of times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// So many may happen within `span`.
    most: u32,
    span: Time,
    /// When the block began, and what has happened since.
    since: Time,
    count: u32,
}

impl Pace {
    /// The pace of what may happen `most` times within `span`.
    pub(crate) const fn new(most: u32, span: Time) -> Self {
        Pace { most, span, since: Time::ZERO, count: 0 }
    }

    /// Counts what happens at `time`, no earlier than what was counted before. Returns whether more than the
    /// most has happened within the span.
    #[inline]
    pub(crate) fn exceeds(&mut self, time: Time) -> bool {
        let is_over = self.count == self.most;
        let exceeds = is_over && time.since(self.since) < self.span;
        if is_over || self.count == 0 {
            (self.since, self.count) = (time, 0);
        }
        self.count += 1;
        exceeds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number at which a source with these gaps, in picoseconds, exceeds 1,000 in a microsecond.
    fn exceeds_after(gap: u64) -> Option<u64> {
        let mut pace = Pace::new(1_000, Time::from_picoseconds(1_000_000));
        (1..100_000).find(|number| pace.exceeds(Time::from_picoseconds(number * gap)))
    }

    #[test]
    fn what_comes_too_often_is_found_after_the_most_that_may_come() {
        assert_eq!(exceeds_after(0), Some(1_001));
        assert_eq!(exceeds_after(1), Some(1_001));
        assert_eq!(exceeds_after(999), Some(1_001));
        assert_eq!(exceeds_after(1_000), None);
    }

    /// At most as many more: those of the block in which a burst begins.
    #[test]
    fn a_burst_after_a_silence_may_have_the_most() {
        let mut pace = Pace::new(1_000, Time::from_picoseconds(1_000_000));
        let mut at = |count: u64, time| (0..count).filter(|_| pace.exceeds(time)).count();
        assert_eq!(at(1_000, Time::from_milliseconds(1)), 0);
        assert_eq!(at(1_000, Time::from_milliseconds(2)), 0);
        assert_eq!(at(2_000, Time::from_milliseconds(3)), 1);
    }
}
