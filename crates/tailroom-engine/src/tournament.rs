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
    /// The times; above them the minimum of each [`FAN`] times of the level below, up to a level of
    /// at most [`FAN`] times.
    levels: Vec<Vec<Time>>,
    /// The earliest of all times.
    earliest: Time,
}

impl Tournament {
    /// So many times, all of them [`Time::NEVER`].
    pub(crate) fn new(times: usize) -> Self {
        let mut levels = vec![vec![Time::NEVER; times]];
        while let Some(below) = levels.last().filter(|below| below.len() > FAN) {
            levels.push(vec![Time::NEVER; below.len().div_ceil(FAN)]);
        }
        Tournament { levels, earliest: Time::NEVER }
    }

    /// The earliest time; [`Time::NEVER`] if there are no times.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.earliest
    }

    /// The index of the earliest time, the lowest of several; 0 if there are no times.
    pub(crate) fn first(&self) -> usize {
        self.levels.iter().rev().fold(0, |node, level| {
            // The minimum of the children is the node, so it is among them.
            let child = children(level, node).iter().position(|time| *time == self.earliest);
            node * FAN + child.unwrap_or(0)
        })
    }

    /// Sets the time of an index.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, time: Time) {
        if time != self.levels[0][index] {
            self.change(index, time);
        }
    }

    fn change(&mut self, index: usize, mut time: Time) {
        let mut node = index;
        for level in 0..self.levels.len() {
            let before = std::mem::replace(&mut self.levels[level][node], time);
            node /= FAN;
            let parent = self.levels.get(level + 1).map_or(self.earliest, |above| above[node]);
            if time > parent {
                if before > parent {
                    return; // another child is the minimum
                }
                let children = children(&self.levels[level], node);
                time = children.iter().copied().fold(Time::NEVER, Time::min);
            }
            if time == parent {
                return;
            }
        }
        self.earliest = time;
    }
}

/// The times below a node.
#[inline]
fn children(level: &[Time], node: usize) -> &[Time] {
    let start = node * FAN;
    &level[start..level.len().min(start + FAN)]
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
