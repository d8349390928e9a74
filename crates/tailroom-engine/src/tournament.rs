//! The earliest of many times that change one at a time.
//!
//! The times are the leaves of a tree whose nodes hold the earliest time below them and its index. A
//! node has eight children, adjacent times that fill a cache line, so that a change looks at the
//! children of a node per level, and only as far up as it is the first; up to eight times are a single
//! scan. Among equal times the lowest index comes first, whatever was set before.

use crate::units::Time;

/// Children of a node.
const FAN: usize = 8;

/// A time and its index, in the order of the tournament.
type Entry = (Time, u32);

/// Times by index, of which the earliest is known.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    times: Vec<Time>,
    /// The first of each [`FAN`] entries of the level below, from just above the times up to a level of
    /// at most [`FAN`] entries; none above so few times.
    levels: Vec<Vec<Entry>>,
    /// The first of all entries.
    first: Entry,
}

impl Tournament {
    /// So many times, all of them [`Time::NEVER`].
    pub(crate) fn new(times: usize) -> Self {
        let (mut below, mut levels, mut span) = (times, Vec::new(), 1);
        while below > FAN {
            below = below.div_ceil(FAN);
            span *= FAN;
            levels.push((0..below).map(|node| (Time::NEVER, (node * span) as u32)).collect());
        }
        Tournament { times: vec![Time::NEVER; times], levels, first: (Time::NEVER, 0) }
    }

    /// The earliest time; [`Time::NEVER`] if there are no times.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.first.0
    }

    /// The index of the earliest time, the lowest of several; 0 if there are no times.
    #[inline]
    pub(crate) fn first(&self) -> usize {
        self.first.1 as usize
    }

    /// Sets the time of an index.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, time: Time) {
        if std::mem::replace(&mut self.times[index], time) != time {
            self.change(index, time);
        }
    }

    /// Updates the entries above an index that has a new time, as long as it is or was the first there.
    #[inline(never)]
    fn change(&mut self, index: usize, time: Time) {
        let Tournament { times, levels, first } = self;
        if levels.is_empty() {
            *first = first_of_times(times, 0);
            return;
        }
        let (mut was, mut entry) = (index as u32, (time, index as u32));
        let mut node = index;
        for level in 0..levels.len() {
            let start = node & !(FAN - 1);
            node /= FAN;
            let before = levels[level][node];
            if entry > before {
                if before.1 != was {
                    return;
                }
                entry = match level.checked_sub(1) {
                    None => first_of_times(times, start),
                    Some(below) => first_of_entries(&levels[below], start),
                };
            }
            (was, levels[level][node]) = (before.1, entry);
        }
        *first = first_of_entries(&levels[levels.len() - 1], 0);
    }
}

/// The first of [`FAN`] times from `start`.
#[inline]
fn first_of_times(times: &[Time], start: usize) -> Entry {
    let end = times.len().min(start + FAN);
    let mut first = (Time::NEVER, start);
    for (at, &time) in (start..).zip(&times[start..end]) {
        first = if time < first.0 { (time, at) } else { first };
    }
    (first.0, first.1 as u32)
}

/// The first of [`FAN`] entries from `start`.
#[inline]
fn first_of_entries(entries: &[Entry], start: usize) -> Entry {
    let end = entries.len().min(start + FAN);
    let mut first = entries[start];
    for &entry in &entries[start + 1..end] {
        // A later entry has a higher index.
        first = if entry.0 < first.0 { entry } else { first };
    }
    first
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
