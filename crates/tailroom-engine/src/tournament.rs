//! The earliest of many times that change one at a time.
//!
//! The times are the leaves of a tree of minima. A node has eight children, adjacent times that fill a
//! cache line, so that a change touches a line per level, and up to eight times are a single scan.
//! Among equal times the lowest index comes first, whatever was set before.

use crate::units::Time;

/// Children of a node.
const FAN: usize = 8;

/// Times by index, of which the earliest is known.
#[derive(Debug)]
pub(crate) struct Tournament {
    times: Vec<Time>,
    /// The minimum of each [`FAN`] times of the level below, from just above the times up to a level
    /// of at most [`FAN`] minima; none above so few times.
    minima: Vec<Vec<Time>>,
    /// The earliest of all times, and the lowest index with it.
    earliest: Time,
    first: usize,
}

impl Tournament {
    /// So many times, all of them [`Time::NEVER`].
    pub(crate) fn new(times: usize) -> Self {
        let (mut below, mut minima) = (times, Vec::new());
        while below > FAN {
            below = below.div_ceil(FAN);
            minima.push(vec![Time::NEVER; below]);
        }
        Tournament { times: vec![Time::NEVER; times], minima, earliest: Time::NEVER, first: 0 }
    }

    /// The earliest time; [`Time::NEVER`] if there are no times.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.earliest
    }

    /// The index of the earliest time, the lowest of several; 0 if there are no times.
    #[inline]
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Sets the time of an index.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, time: Time) {
        let before = std::mem::replace(&mut self.times[index], time);
        if time != before {
            self.change(index, before, time);
        }
    }

    #[inline(never)]
    fn change(&mut self, index: usize, before: Time, time: Time) {
        if self.minima.is_empty() {
            self.find_first(0);
            return;
        }
        self.update_minima(index, before, time);
        if time < self.earliest || (time == self.earliest && index < self.first) {
            (self.earliest, self.first) = (time, index);
        } else if index == self.first {
            let start = self.minima.iter().rev().fold(0, |start, level| FAN * lowest(level, start));
            self.find_first(start);
        }
    }

    /// Updates the minima above an index whose time changes. The siblings matter only where the time
    /// was the minimum and is later now.
    fn update_minima(&mut self, index: usize, mut before: Time, mut time: Time) {
        let (mut below, mut node) = (&self.times, index);
        for level in &mut self.minima {
            node /= FAN;
            let minimum = level[node];
            if time > minimum && before > minimum {
                return;
            }
            if time > minimum {
                time = below[lowest(below, node * FAN)];
            }
            (before, level[node]) = (minimum, time);
            if time == before {
                return;
            }
            below = level;
        }
    }

    /// The earliest is among the [`FAN`] times from `start`.
    #[inline]
    fn find_first(&mut self, start: usize) {
        self.first = lowest(&self.times, start);
        self.earliest = self.times[self.first];
    }
}

/// The index of the first minimum of [`FAN`] times from `start`.
#[inline]
fn lowest(times: &[Time], start: usize) -> usize {
    let end = times.len().min(start + FAN);
    let mut first = (start, Time::NEVER);
    for (at, &time) in (start..).zip(&times[start..end]) {
        first = if time < first.1 { (at, time) } else { first };
    }
    first.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    /// Times of few values, so that many are equal, in trees of one to four levels.
    #[test]
    fn the_earliest_time_comes_first_and_of_equal_times_the_lowest_index() {
        let mut stream = random::stream(1, "times");
        for size in [1, 2, 7, 8, 9, 64, 65, 700] {
            let (mut tournament, mut times) = (Tournament::new(size), vec![Time::NEVER; size]);
            for _ in 0..5_000 {
                let index = random::below(&mut stream, size as u64) as usize;
                times[index] = match random::below(&mut stream, 12) {
                    0 | 1 => Time::NEVER,
                    time => Time::from_picoseconds(time),
                };
                tournament.set(index, times[index]);
                let first = (0..size).min_by_key(|&index| times[index]).expect("a time");
                assert_eq!(
                    (tournament.first(), tournament.earliest()),
                    (first, times[first]),
                    "{size}"
                );
            }
        }
    }
}
