//! What the flows of a group have measured of the queues on their path, for connections that are in use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// By how much the smoothed RTT of a group's flows exceeded the RTT without queues when they ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// What the last flow measured that ended before the time up to which flows have begun.
    latest: Time,
    /// Ends behind that time, and what these flows measured. An end is computed before its time comes.
    ahead: BinaryHeap<Reverse<(Time, Time)>>,
}

impl Waits {
    /// A flow ends at `end`, and has measured `wait`.
    pub(super) fn learn(&mut self, end: Time, wait: Time) {
        self.ahead.push(Reverse((end, wait)));
    }

    /// What a connection knows that is used at `now`, which never goes back. Of flows that end at the same
    /// time, the largest wait counts; ends at `now` may not all be known yet, so none of them does.
    pub(super) fn known(&mut self, now: Time) -> Time {
        while let Some(&Reverse((end, wait))) = self.ahead.peek()
            && end < now
        {
            self.latest = wait;
            self.ahead.pop();
        }
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Time {
        Time::from_milliseconds(milliseconds)
    }

    #[test]
    fn the_last_flow_that_ended_before_tells_what_waits() {
        let mut waits = Waits::default();
        assert_eq!(waits.known(ms(1)), ms(0));
        for (end, wait) in [(30, 7), (10, 2), (20, 5), (20, 4)] {
            waits.learn(ms(end), ms(wait));
        }
        let known = [10, 11, 20, 21, 30, 31].map(|now| waits.known(ms(now)));
        assert_eq!(known, [0, 2, 2, 5, 5, 7].map(ms));
    }
}
