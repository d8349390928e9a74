//! The bytes of a stream that have been sent, by sequence numbers that wrap around.

/// Largest window (RFC 7323 sec. 2.3): no valid sequence number is further from those seen before,
/// unless the capture has a gap.
const LARGEST_WINDOW: i64 = 1 << 30;

/// Largest number of ranges above a hole (16 KiB); beyond it, the lowest hole counts as sent.
const MOST_RANGES: usize = 1024;

/// A sequence number further away than any window.
#[derive(Debug, PartialEq, Eq)]
pub struct OutOfWindow;

/// The bytes of one direction that were seen or acknowledged, as offsets from the first one.
#[derive(Debug)]
pub struct Coverage {
    /// Sequence number of offset 0.
    base: u32,
    /// Every byte below this offset is accounted for.
    below: i64,
    /// Ranges above it: disjoint, ascending, not touching.
    above: Vec<(i64, i64)>,
    /// The highest offset that an ACK named.
    acknowledged: i64,
    /// The offset of the FIN, behind the last byte.
    end: Option<i64>,
}

impl Coverage {
    /// A stream whose first byte has the sequence number `base`.
    pub fn starting_at(base: u32) -> Self {
        Coverage { base, below: 0, above: Vec::new(), acknowledged: 0, end: None }
    }

    /// Sequence number of the first byte.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Adds `length` bytes from `sequence` on; returns how many of them are new.
    ///
    /// Bytes before the first byte of the stream and from the FIN on do not count: a segment without
    /// data that follows the FIN has the sequence number behind it.
    ///
    /// # Errors
    ///
    /// The sequence number is further from the highest one seen or acknowledged than any window
    /// reaches.
    pub fn add(&mut self, sequence: u32, length: u32) -> Result<u64, OutOfWindow> {
        let last = self.end.unwrap_or(i64::MAX);
        let start = self.offset(sequence).ok_or(OutOfWindow)?;
        let (start, end) = (start.min(last), (start + i64::from(length)).min(last));
        Ok(if end > self.below { self.insert(start.max(self.below), end) } else { 0 })
    }

    /// Notes that a FIN has this sequence number, so that no byte has it or a higher one.
    pub fn end_at(&mut self, sequence: u32) {
        self.end = self.end.or(self.offset(sequence));
    }

    /// Closes the holes below an acknowledged sequence number; returns the bytes in them.
    ///
    /// Acknowledged bytes were sent, even if the capture lacks them. Beyond the highest number seen
    /// no byte is inferred, since a FIN takes a sequence number without being a byte. But an ACK is
    /// cumulative, so it carries the count over a gap of the capture of up to 2^31 bytes.
    pub fn acknowledge(&mut self, sequence: u32) -> u64 {
        let end = self.advance(sequence).min(self.highest());
        if end > self.below { self.insert(self.below, end) } else { 0 }
    }

    /// Notes an acknowledged sequence number without closing holes; returns its offset.
    fn advance(&mut self, sequence: u32) -> i64 {
        let known = self.acknowledged.max(self.highest());
        let end = self.offset(sequence).unwrap_or(known + self.ahead_of(known, sequence));
        self.acknowledged = self.acknowledged.max(end);
        end
    }

    /// Whether the bytes up to `last`, further away than any window, are those that an ACK of `sequence`
    /// confirms: it is cumulative, and ends at them. Holes stay open.
    pub fn confirms(&mut self, sequence: u32, last: u32) -> bool {
        let is_end = sequence == last || sequence == last.wrapping_add(1); // of the data, or of a FIN
        if is_end {
            self.advance(sequence);
        }
        is_end
    }

    fn highest(&self) -> i64 {
        self.above.last().map_or(self.below, |&(_, end)| end)
    }

    /// The offset for `sequence` within a window of the highest offset acknowledged, or else of the
    /// highest seen: a false ACK far ahead must not hide the data.
    fn offset(&self, sequence: u32) -> Option<i64> {
        let near = |known| {
            let ahead = self.ahead_of(known, sequence);
            (ahead.abs() <= LARGEST_WINDOW).then_some(known + ahead)
        };
        near(self.acknowledged.max(self.highest())).or_else(|| near(self.highest()))
    }

    /// The distance of `sequence` from an offset, at most 2^31 either way.
    fn ahead_of(&self, offset: i64, sequence: u32) -> i64 {
        let ahead = sequence.wrapping_sub(self.base).wrapping_sub(offset as u32);
        i64::from(ahead.cast_signed())
    }

    /// Adds a range at or above `below`; returns how many bytes no range held before.
    fn insert(&mut self, mut start: i64, mut end: i64) -> u64 {
        let first = self.above.partition_point(|&(_, held)| held < start);
        let last = self.above.partition_point(|&(held, _)| held <= end);
        let mut new = end - start;
        for &(held_start, held_end) in &self.above[first..last] {
            new -= held_end.min(end) - held_start.max(start);
        }
        if first < last {
            start = start.min(self.above[first].0);
            end = end.max(self.above[last - 1].1);
        }
        if start <= self.below {
            self.above.drain(..last);
            self.below = end;
        } else {
            self.above.splice(first..last, [(start, end)]);
        }
        if self.above.len() > MOST_RANGES {
            self.below = self.above.remove(0).1;
        }
        new as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_before_is_not_new() {
        let mut stream = Coverage::starting_at(1000);
        assert_eq!(stream.add(1000, 100), Ok(100));
        assert_eq!(stream.add(1000, 100), Ok(0));
        assert_eq!(stream.add(1050, 100), Ok(50));
        assert_eq!(stream.add(999, 1), Ok(0), "a keep-alive repeats the byte before");
    }

    #[test]
    fn ranges_in_any_order_add_up_to_their_union() {
        // Bytes 0..10 in pieces of two, and one that bridges three of them.
        let mut stream = Coverage::starting_at(0);
        assert_eq!(stream.add(8, 2), Ok(2));
        assert_eq!(stream.add(4, 2), Ok(2));
        assert_eq!(stream.add(2, 7), Ok(4), "2, 3, 6 and 7 are new");
        assert_eq!(stream.add(0, 10), Ok(2));
        assert_eq!((stream.below, stream.above.len()), (10, 0));
    }

    #[test]
    fn what_follows_a_hole_in_order_is_one_range() {
        let mut stream = Coverage::starting_at(0);
        for start in [10, 20, 30] {
            assert_eq!(stream.add(start, 10), Ok(10));
        }
        assert_eq!(stream.above, [(10, 40)]);
    }

    #[test]
    fn sequence_numbers_wrap_around() {
        let mut stream = Coverage::starting_at(u32::MAX - 9);
        assert_eq!(stream.add(u32::MAX - 9, 10), Ok(10));
        assert_eq!(stream.add(5, 10), Ok(10), "ahead of a hole of five");
        assert_eq!(
            stream.add(u32::MAX - 4, 10),
            Ok(5),
            "the hole, after the last five before zero"
        );
        assert_eq!(stream.below, 25);
    }

    #[test]
    fn more_than_four_gigabytes_are_counted() {
        let mut stream = Coverage::starting_at(7);
        let mut sequence = 7_u32;
        let mut new = 0;
        for _ in 0..9 {
            new += stream.add(sequence, 1 << 29).expect("in order");
            sequence = sequence.wrapping_add(1 << 29);
        }
        assert_eq!(new, 9 << 29);
    }

    #[test]
    fn an_acknowledgment_accounts_for_a_hole_that_the_capture_has() {
        let mut stream = Coverage::starting_at(0);
        assert_eq!(stream.add(0, 10), Ok(10));
        assert_eq!(stream.add(30, 10), Ok(10));
        assert_eq!(stream.acknowledge(10), 0);
        assert_eq!(stream.acknowledge(25), 15);
        assert_eq!(stream.acknowledge(41), 5, "the rest of the hole; the FIN is no byte");
        assert_eq!(stream.add(12, 3), Ok(0), "a late copy of what was accounted for");
    }

    #[test]
    fn a_sequence_number_beyond_any_window_is_refused() {
        let mut stream = Coverage::starting_at(0);
        assert_eq!(stream.add((1 << 30) + 1, 10), Err(OutOfWindow));
        assert_eq!(stream.add(0_u32.wrapping_sub((1 << 30) + 1), 10), Err(OutOfWindow));
        assert_eq!(stream.add(1 << 30, 10), Ok(10));
    }

    #[test]
    fn a_fin_is_no_byte_whatever_follows_it() {
        let mut stream = Coverage::starting_at(0);
        assert_eq!(stream.add(0, 10), Ok(10));
        stream.end_at(10);
        assert_eq!(stream.add(11, 0), Ok(0), "an ACK without data, behind the FIN");
        assert_eq!(stream.acknowledge(11), 0);
        assert_eq!(stream.add(0, 10), Ok(0), "the data and the FIN once more");
        assert_eq!(stream.acknowledge(11), 0);
    }

    #[test]
    fn an_acknowledgment_carries_the_count_over_a_gap_larger_than_a_window() {
        const STEP: u64 = 2_000_000_000;
        let mut stream = Coverage::starting_at(7);
        let mut new = 0;
        for offset in (0..=3).map(|step| step * STEP) {
            let sequence = (offset as u32).wrapping_add(7);
            new += stream.acknowledge(sequence);
            new += stream.add(sequence, 1000).expect("near what was acknowledged");
            new += stream.acknowledge(sequence.wrapping_add(1000));
        }
        assert_eq!(new, 3 * STEP + 1000);
    }

    #[test]
    fn a_false_acknowledgment_far_ahead_hides_no_data() {
        let mut stream = Coverage::starting_at(0);
        assert_eq!(stream.add(0, 1000), Ok(1000));
        assert_eq!(stream.acknowledge(0x7000_0000), 0);
        assert_eq!(stream.add(1000, 1000), Ok(1000));
        assert_eq!(stream.acknowledge(2000), 0);
        assert_eq!(stream.add(2000, 1000), Ok(1000));
    }

    #[test]
    fn memory_stays_bounded_where_every_other_byte_is_missing() {
        let mut stream = Coverage::starting_at(0);
        let new: u64 = (0..100_000).map(|byte| stream.add(2 * byte + 1, 1).expect("near")).sum();
        assert_eq!(new, 100_000);
        assert!(stream.above.len() <= MOST_RANGES);
    }
}
