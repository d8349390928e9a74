//! The SACK scoreboard: the state of the packets in flight (RFC 6675 sec. 3 and 4).
//!
//! There is no record per packet. Sacked packets are a sorted list of ranges; lost and
//! retransmitted packets are the unsacked packets below two edges, and the retransmissions that
//! were lost in turn are a short list. All counts are updated incrementally, so the cost of an ACK
//! does not depend on the window.

use std::collections::VecDeque;

use crate::packet::{MAX_SACK_BLOCKS, Range};
use crate::tcp::ranges::RangeList;

/// Number of sacked packets above a packet that mark it lost (RFC 6675 sec. 2, `DupThresh`).
pub const DUPLICATE_THRESHOLD: u64 = 3;

/// The SACK scoreboard; sequence numbers count packets.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// Sacked ranges above `una`.
    ranges: RangeList,
    /// Blocks of earlier ACKs. Most blocks are reported repeatedly; known blocks are skipped
    /// without a search.
    reported: [Range; MAX_SACK_BLOCKS],
    una: u64,
    sacked: u64,
    /// Unsacked packets below this edge are lost (RFC 6675 `IsLost`).
    lost_edge: u64,
    lost: u64,
    /// Unsacked packets below this edge have been retransmitted (RFC 6675 `HighRxt` + 1).
    retransmitted_edge: u64,
    retransmitted: u64,
    /// Unsacked packets below `retransmitted_edge` whose retransmission is lost, in order. Only
    /// detection by time finds them.
    lost_again: VecDeque<u64>,
    /// Whether someone else decides which packets are lost, by the times of transmissions.
    is_timed: bool,
    /// Packets ever marked lost; one whose retransmission is lost counts again.
    ever_lost: u64,
}

impl Scoreboard {
    /// A scoreboard without packets. If `is_timed`, sacked packets mark no other packet lost: the
    /// caller does, by the times of transmissions (RFC 8985).
    pub fn new(is_timed: bool) -> Self {
        Scoreboard { is_timed, ..Scoreboard::default() }
    }

    /// Whether nothing is sacked, lost or retransmitted.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.ranges.is_empty() && self.lost == 0 && self.retransmitted == 0
    }

    /// Memory of the sacked ranges, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.ranges.memory_bytes() + (self.lost_again.capacity() * size_of::<u64>()) as u64
    }

    /// Packets sacked above the cumulative ACK.
    #[inline]
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// The sequence number after the highest sacked packet; the cumulative ACK if no packet is
    /// sacked.
    pub fn sacked_end(&self) -> u64 {
        self.ranges.last().map_or(self.una, |range| range.end)
    }

    /// The edge below which unsacked packets are lost. It decreases only if they are
    /// [taken for delayed](Scoreboard::unmark_lost).
    pub fn lost_edge(&self) -> u64 {
        self.lost_edge
    }

    /// Packets ever marked lost; one whose retransmission is lost counts again.
    pub fn ever_lost(&self) -> u64 {
        self.ever_lost
    }

    /// Whether the first packet in flight is lost.
    pub fn is_first_lost(&self) -> bool {
        self.lost_edge > self.una
    }

    /// Whether a packet is lost that has not been acknowledged, retransmitted or not.
    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Packets that are lost and not acknowledged, retransmitted or not.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets whose retransmission is in the network.
    pub fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Packets below `below` that are neither sacked nor sent again.
    pub fn not_sent_again(&self, below: u64) -> u64 {
        let sent_once = Range { start: self.una.max(self.retransmitted_edge), end: below };
        let sacked = |range: &Range| {
            let start = range.start.max(sent_once.start);
            range.end.min(below).saturating_sub(start)
        };
        sent_once.count_below(below) - self.ranges.iter().map(sacked).sum::<u64>()
    }

    /// Whether a packet at or above the cumulative ACK is sacked.
    pub fn is_sacked(&self, sequence: u64) -> bool {
        let index = self.ranges.count_before(sequence + 1);
        self.ranges.get(index).is_some_and(|range| range.start <= sequence)
    }

    /// Packets below `next` that are in the network (RFC 6675 sec. 4, `SetPipe`).
    #[inline]
    pub fn pipe(&self, next: u64) -> u64 {
        next - self.una - self.sacked - self.lost + self.retransmitted
    }

    /// Moves the cumulative ACK to `una`. The scoreboard must be [clear](Scoreboard::is_clear).
    #[inline]
    pub fn advance_clear(&mut self, una: u64) {
        self.una = una;
    }

    /// Moves the cumulative ACK to `una` and returns the number of newly acknowledged packets,
    /// which excludes packets that were sacked before.
    #[inline]
    pub fn advance(&mut self, una: u64) -> u64 {
        if self.is_clear() {
            let passed = una - self.una;
            self.una = una;
            return passed;
        }
        self.advance_in_repair(una)
    }

    fn advance_in_repair(&mut self, una: u64) -> u64 {
        let passed = Range { start: self.una, end: una };
        let mut unsacked = passed.len();
        let mut lost = passed.count_below(self.lost_edge);
        let mut retransmitted = passed.count_below(self.retransmitted_edge);
        while let Some(first) = self.ranges.first_mut()
            && first.start < una
        {
            let part = Range { start: first.start, end: first.end.min(una) };
            unsacked -= part.len();
            lost -= part.count_below(self.lost_edge);
            retransmitted -= part.count_below(self.retransmitted_edge);
            self.sacked -= part.len();
            if first.end > una {
                first.start = una;
                break;
            }
            self.ranges.remove_first();
        }
        self.lost -= lost;
        self.forget_lost_again(passed);
        self.retransmitted -= retransmitted;
        self.una = una;
        unsacked
    }

    /// Adds the SACK blocks of an ACK, limited to packets below `next`. Calls `on_sacked` with
    /// each range of newly sacked packets, and returns the number of these packets.
    #[inline]
    pub fn add(&mut self, blocks: &[Range], next: u64, on_sacked: impl FnMut(Range)) -> u64 {
        if blocks.is_empty() { 0 } else { self.add_blocks(blocks, next, on_sacked) }
    }

    /// Takes the blocks in the order of their packets, as Linux does (`tcp_sacktag_write_queue`): the
    /// most recent stands first in an ACK, but what one ACK reports has not overtaken each other.
    fn add_blocks(&mut self, blocks: &[Range], next: u64, mut on_sacked: impl FnMut(Range)) -> u64 {
        let before = self.sacked;
        let reported = self.reported;
        let (mut fresh, mut count) = ([Range::default(); MAX_SACK_BLOCKS], 0);
        for (index, block) in blocks.iter().enumerate() {
            if reported[index] == *block {
                continue;
            }
            self.reported[index] = *block;
            let known = Range { start: block.start.max(self.una), end: block.end.min(next) };
            if !reported.contains(block) && !known.is_empty() {
                fresh[count] = known;
                count += 1;
            }
        }
        fresh[..count].sort_unstable_by_key(|block| block.start);
        for &block in &fresh[..count] {
            self.add_block(block, &mut on_sacked);
        }
        if self.sacked > before && !self.is_timed {
            self.find_lost();
        }
        self.sacked - before
    }

    fn add_block(&mut self, block: Range, on_sacked: &mut impl FnMut(Range)) {
        // Without reordering, a packet lies in the last range or after it.
        match self.ranges.last_mut() {
            Some(last) if last.start <= block.start && block.start <= last.end => {
                let fresh = Range { start: last.end, end: block.end };
                last.end = last.end.max(block.end);
                self.count_sacked(fresh, on_sacked);
            }
            Some(last) if block.start <= last.end => self.merge_block(block, on_sacked),
            _ => {
                self.ranges.push(block);
                self.count_sacked(block, on_sacked);
            }
        }
    }

    fn merge_block(&mut self, block: Range, on_sacked: &mut impl FnMut(Range)) {
        // The ranges that overlap or touch the block: [first, last).
        let first = self.ranges.count_before(block.start);
        let mut merged = block;
        let mut last = first;
        let mut gap_start = block.start;
        while let Some(&range) = self.ranges.get(last)
            && range.start <= block.end
        {
            self.count_sacked(Range { start: gap_start, end: range.start }, on_sacked);
            gap_start = gap_start.max(range.end);
            merged.start = merged.start.min(range.start);
            merged.end = merged.end.max(range.end);
            last += 1;
        }
        self.count_sacked(Range { start: gap_start, end: block.end }, on_sacked);
        if first == last {
            self.ranges.insert(first, merged);
        } else {
            self.ranges.replace(first, last, merged);
        }
    }

    /// Updates the counts for packets that become sacked.
    fn count_sacked(&mut self, part: Range, on_sacked: &mut impl FnMut(Range)) {
        if !part.is_empty() {
            on_sacked(part);
            self.sacked += part.len();
            self.lost -= part.count_below(self.lost_edge);
            self.forget_lost_again(part);
            self.retransmitted -= part.count_below(self.retransmitted_edge);
        }
    }

    /// Takes packets that have arrived out of the list of those whose retransmission is lost, so
    /// that they count as retransmitted.
    #[inline]
    fn forget_lost_again(&mut self, arrived: Range) {
        if !self.lost_again.is_empty() {
            self.forget_some_lost_again(arrived);
        }
    }

    #[inline(never)]
    fn forget_some_lost_again(&mut self, arrived: Range) {
        let from = self.lost_again.partition_point(|&packet| packet < arrived.start);
        let to = self.lost_again.partition_point(|&packet| packet < arrived.end);
        self.retransmitted += (to - from) as u64;
        self.lost_again.drain(from..to);
    }

    /// Updates the lost edge. RFC 6675 `IsLost`: a packet is lost if at least three packets above
    /// it are sacked, so the edge is the third highest sacked packet.
    #[inline]
    fn find_lost(&mut self) {
        // Fast path: the last range has grown, and the edge moves inside it without passing an
        // unsacked packet.
        match self.ranges.last() {
            Some(last) if last.start <= self.lost_edge && last.len() >= DUPLICATE_THRESHOLD => {
                self.lost_edge = self.lost_edge.max(last.end - DUPLICATE_THRESHOLD);
            }
            _ => self.search_lost_edge(),
        }
    }

    fn search_lost_edge(&mut self) {
        let mut wanted = DUPLICATE_THRESHOLD;
        let edge = self.ranges.iter().rev().find_map(|range| {
            let edge = (range.len() >= wanted).then(|| range.end - wanted);
            wanted = wanted.saturating_sub(range.len());
            edge
        });
        if let Some(edge) = edge {
            self.raise_lost_edge(edge);
        }
    }

    /// Marks the unsacked packets below `edge` lost.
    pub fn raise_lost_edge(&mut self, edge: u64) {
        let from = self.lost_edge.max(self.una);
        if edge <= from {
            return;
        }
        let before = self.lost;
        self.lost += edge - from;
        let mut index = self.ranges.count_before(from + 1);
        while let Some(range) = self.ranges.get(index)
            && range.start < edge
        {
            self.lost -= range.count_below(edge) - range.count_below(from);
            index += 1;
        }
        self.ever_lost += self.lost - before;
        self.lost_edge = edge;
    }

    /// The first unsacked packet at or above `from` and below `below`.
    fn first_unsacked(&self, from: u64, below: u64) -> Option<u64> {
        // Fast path: all unsacked packets below the last range have been retransmitted.
        if let Some(last) = self.ranges.last()
            && last.start <= from
        {
            let sequence = from.max(last.end);
            return (sequence < below).then_some(sequence);
        }
        let index = self.ranges.count_before(from + 1);
        let sequence = match self.ranges.get(index) {
            Some(range) if range.start <= from => range.end,
            _ => from,
        };
        (sequence < below).then_some(sequence)
    }

    /// The first lost packet that has not been retransmitted (RFC 6675 `NextSeg` rule 1).
    pub fn next_lost(&self) -> Option<u64> {
        if let Some(&lost_again) = self.lost_again.front() {
            return Some(lost_again);
        }
        if self.lost == 0 {
            return None;
        }
        self.first_unsacked(self.retransmitted_edge.max(self.una), self.lost_edge)
    }

    /// The first packet below the highest sacked packet that is neither sacked nor retransmitted,
    /// whether or not it is lost (`NextSeg` rule 3).
    pub fn next_unsacked(&self) -> Option<u64> {
        self.first_unsacked(self.retransmitted_edge.max(self.una), self.sacked_end())
    }

    /// The highest packet below `next` that is not sacked (`NextSeg` rule 4).
    pub fn last_unsacked(&self, next: u64) -> Option<u64> {
        let last = match self.ranges.last() {
            Some(range) if range.end == next => range.start,
            _ => next,
        };
        (last > self.una).then(|| last - 1)
    }

    /// Records the retransmission of `sequence`, which [`next_lost`](Scoreboard::next_lost) or
    /// [`next_unsacked`](Scoreboard::next_unsacked) must have returned.
    pub fn on_retransmission(&mut self, sequence: u64) {
        self.retransmitted += 1;
        if self.lost_again.front() == Some(&sequence) {
            self.lost_again.pop_front();
        } else {
            self.retransmitted_edge = sequence + 1;
        }
    }

    /// Marks a packet lost whose retransmission was in the network.
    pub fn lose_again(&mut self, sequence: u64) {
        let index = self.lost_again.partition_point(|&packet| packet < sequence);
        self.lost_again.insert(index, sequence);
        self.retransmitted -= 1;
        self.ever_lost += 1;
    }

    /// Whether the first packet in flight is lost and its retransmission is in the network.
    pub fn is_first_repaired(&self) -> bool {
        self.una < self.retransmitted_edge && self.lost_again.front() != Some(&self.una)
    }

    /// Marks all unsacked packets below `next` lost, after a timeout.
    pub fn lose_everything(&mut self, next: u64, forget_sacked: bool) {
        if forget_sacked {
            self.ranges.clear();
            self.reported = [Range::default(); MAX_SACK_BLOCKS];
            self.sacked = 0;
        }
        self.lost_again.clear();
        self.retransmitted = 0;
        self.retransmitted_edge = self.una;
        self.lost_edge = next;
        self.lost = next - self.una - self.sacked;
    }

    /// No packet is lost: all that are not sacked are in the network, however often they have been
    /// sent.
    pub fn unmark_lost(&mut self) {
        self.lost_again.clear();
        (self.lost, self.lost_edge) = (0, self.una);
        (self.retransmitted, self.retransmitted_edge) = (0, self.una);
    }

    /// Marks the first packet in flight lost. Without SACK, duplicate and partial ACKs reveal no
    /// other losses.
    pub fn lose_first(&mut self) {
        if self.lost_edge <= self.una {
            self.lost_edge = self.una + 1;
            self.lost = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    #[test]
    fn a_packet_is_lost_when_three_packets_above_it_are_sacked() {
        let mut board = Scoreboard::default();
        assert_eq!(board.add(&[range(1, 3)], 10, |_| {}), 2);
        assert_eq!((board.next_lost(), board.pipe(10)), (None, 8));
        assert_eq!(board.add(&[range(1, 4)], 10, |_| {}), 1);
        assert_eq!((board.next_lost(), board.pipe(10)), (Some(0), 6));
        board.on_retransmission(0);
        assert_eq!((board.next_lost(), board.pipe(10)), (None, 7));
        assert_eq!(board.advance(4), 1);
        assert_eq!((board.is_clear(), board.pipe(10)), (true, 6));
    }

    #[test]
    fn three_discontiguous_ranges_count_as_three_packets() {
        let mut board = Scoreboard::default();
        board.add(&[range(5, 6), range(3, 4), range(1, 2)], 10, |_| {});
        assert_eq!(board.next_lost(), Some(0));
        board.on_retransmission(0);
        // Packets 2 and 4 have fewer than three sacked packets above them.
        assert_eq!((board.next_lost(), board.next_unsacked()), (None, Some(2)));
    }

    /// A range takes 16 bytes, and the memory at most doubles at a time.
    #[test]
    fn the_memory_of_sacked_ranges_is_counted() {
        let mut board = Scoreboard::default();
        for number in 0..100 {
            board.add(&[range(2 * number + 1, 2 * number + 2)], 300, |_| {});
        }
        let memory = board.memory_bytes();
        assert!((16 * 100..=2 * 16 * 100).contains(&memory), "{memory} B");
    }

    /// Compares all counts with a model that has a record per packet, under random operations.
    #[test]
    fn counts_match_those_of_a_record_per_packet() {
        let mut state = 3_u64;
        let mut draw = move |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for _ in 0..200 {
            let (mut board, mut una, next) = (Scoreboard::default(), 0_u64, 60_u64);
            let mut sacked = [false; 60];
            let (mut lost_edge, mut retransmitted_edge) = (0, 0);
            for _ in 0..60 {
                match draw(5) {
                    0 | 1 => {
                        let start = una + draw(next - una);
                        let end = (start + 1 + draw(6)).min(next);
                        let is_news = (start..end).any(|packet| !sacked[packet as usize]);
                        board.add(&[range(start, end)], next, |_| {});
                        (start..end).for_each(|packet| sacked[packet as usize] = true);
                        let above: Vec<u64> =
                            (una..next).filter(|&packet| sacked[packet as usize]).collect();
                        if is_news && above.len() >= 3 {
                            lost_edge = lost_edge.max(above[above.len() - 3]);
                        }
                    }
                    2 => {
                        let expected = (una.max(retransmitted_edge)..lost_edge)
                            .find(|&packet| !sacked[packet as usize]);
                        assert_eq!(board.next_lost(), expected);
                        if let Some(packet) = expected {
                            board.on_retransmission(packet);
                            retransmitted_edge = packet + 1;
                        }
                    }
                    3 if draw(4) == 0 => {
                        board.unmark_lost();
                        (lost_edge, retransmitted_edge) = (una, una);
                    }
                    _ if una + 6 < next => {
                        let to = una + draw(5);
                        board.advance(to);
                        una = to;
                    }
                    _ => {}
                }
                let unsacked = |packets: std::ops::Range<u64>| {
                    packets.filter(|&p| !sacked[p as usize]).count() as u64
                };
                let in_flight = unsacked(una..next);
                let lost = unsacked(una..lost_edge.max(una));
                let retransmitted = unsacked(una..retransmitted_edge.max(una));
                assert_eq!(board.pipe(next), in_flight - lost + retransmitted);
                assert_eq!(board.sacked(), next - una - in_flight);
                let below = una + draw(next - una);
                let sent_once = unsacked(una.max(retransmitted_edge)..below);
                assert_eq!(board.not_sent_again(below), sent_once);
            }
        }
    }
}
