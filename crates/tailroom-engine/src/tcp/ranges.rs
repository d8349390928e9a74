//! Lists of ranges of sequence numbers: what a receiver has above a gap, and what a sender knows of it.

use std::collections::VecDeque;

use crate::packet::Range;

/// Ranges that are sorted, disjoint, not empty and do not touch each other.
///
/// The last one lies in the list itself and the others in a buffer: most lists have one range, and most
/// packets lengthen the last one, so that a flow with a loss needs no further cache line.
#[derive(Clone, Debug, Default)]
pub struct RangeList {
    /// Empty if there is none.
    last: Range,
    others: VecDeque<Range>,
}

impl RangeList {
    /// Whether there is no range.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.others.len() + usize::from(!self.is_empty())
    }

    /// Memory of the buffer, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.others.capacity() * size_of::<Range>()) as u64
    }

    /// The first range.
    #[inline]
    pub fn first_mut(&mut self) -> Option<&mut Range> {
        if self.others.is_empty() { self.last_mut() } else { self.others.front_mut() }
    }

    /// The last range.
    #[inline]
    pub fn last(&self) -> Option<&Range> {
        if self.is_empty() { None } else { Some(&self.last) }
    }

    /// The last range.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut Range> {
        if self.is_empty() { None } else { Some(&mut self.last) }
    }

    /// The range at `index`.
    pub fn get(&self, index: usize) -> Option<&Range> {
        if index == self.others.len() { self.last() } else { self.others.get(index) }
    }

    /// All ranges, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Range> {
        self.others.iter().chain(self.last())
    }

    /// The number of ranges at the beginning that end before `sequence`.
    pub fn count_before(&self, sequence: u64) -> usize {
        let ends_before = |range: &Range| range.end < sequence;
        if self.last().is_some_and(ends_before) {
            return self.len();
        }
        self.others.partition_point(ends_before)
    }

    /// Adds a range behind all others.
    #[inline]
    pub fn push(&mut self, range: Range) {
        if !self.is_empty() {
            self.others.push_back(self.last);
        }
        self.last = range;
    }

    /// Adds a range as the one at `index`, which is at most [`RangeList::len`].
    pub fn insert(&mut self, index: usize, range: Range) {
        if index == self.len() {
            self.push(range);
        } else {
            self.others.insert(index, range);
        }
    }

    /// Replaces the ranges from `from` to before `to`, of which there is at least one, by `range`.
    pub fn replace(&mut self, from: usize, to: usize, range: Range) {
        if to == self.len() {
            self.others.truncate(from);
            self.last = range;
        } else {
            self.others[from] = range;
            self.others.drain(from + 1..to);
        }
    }

    /// Takes the first range away.
    pub fn remove_first(&mut self) {
        if self.others.pop_front().is_none() {
            self.last = Range::default();
        }
    }

    /// Takes all ranges away.
    pub fn clear(&mut self) {
        self.others.clear();
        self.last = Range::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    fn list(ranges: &[(u64, u64)]) -> RangeList {
        let mut list = RangeList::default();
        for &(start, end) in ranges {
            list.push(range(start, end));
        }
        list
    }

    fn content(list: &RangeList) -> Vec<(u64, u64)> {
        list.iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn one_range_takes_no_buffer() {
        let mut list = list(&[(3, 4)]);
        list.last_mut().expect("there is one").end = 9;
        assert_eq!((list.memory_bytes(), list.len()), (0, 1));
        list.remove_first();
        assert!(list.is_empty() && list.last().is_none() && list.get(0).is_none());
    }

    #[test]
    fn ranges_are_inserted_before_and_behind_the_last() {
        let mut list = RangeList::default();
        for (index, start) in [(0, 50), (0, 10), (1, 30), (3, 70), (3, 60)] {
            list.insert(index, range(start, start + 5));
        }
        assert_eq!(content(&list), [(10, 15), (30, 35), (50, 55), (60, 65), (70, 75)]);
        assert_eq!(list.get(4), Some(&range(70, 75)));
        assert_eq!(list.get(0).copied(), list.first_mut().copied());
    }

    #[test]
    fn ranges_that_end_before_a_number_are_counted() {
        let list = list(&[(1, 3), (5, 7), (9, 11)]);
        let counts = [3, 4, 8, 11, 12].map(|sequence| list.count_before(sequence));
        assert_eq!(counts, [0, 1, 2, 2, 3]);
    }

    #[test]
    fn several_ranges_are_replaced_by_one() {
        let ranges = [(1, 2), (3, 4), (5, 6), (7, 8)];
        let replaced = |from, to, by: Range| {
            let mut list = list(&ranges);
            list.replace(from, to, by);
            content(&list)
        };
        assert_eq!(replaced(0, 2, range(1, 4)), [(1, 4), (5, 6), (7, 8)]);
        assert_eq!(replaced(1, 4, range(3, 8)), [(1, 2), (3, 8)]);
        assert_eq!(replaced(3, 4, range(7, 9)), [(1, 2), (3, 4), (5, 6), (7, 9)]);
        assert_eq!(replaced(0, 4, range(1, 8)), [(1, 8)]);
    }

    #[test]
    fn the_first_range_is_removed_until_none_is_left() {
        let mut list = list(&[(1, 2), (3, 4)]);
        list.remove_first();
        assert_eq!(content(&list), [(3, 4)]);
        list.remove_first();
        list.remove_first();
        assert_eq!(list.len(), 0);
    }
}
