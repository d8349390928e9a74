//! The order of events: arrivals at shared links (and rare wake-ups), sorted by time and flow.
//!
//! A timing wheel of coarse buckets, each sorted when its turn comes. Entries go to pooled chunks in
//! the order of insertion; a bucket that is opened is copied out, its keys are sorted, and what
//! arrives late for the open bucket goes to a small heap. What lies beyond the wheel's horizon waits
//! in a second heap. Correctness does not depend on the bucket width; only speed does.
//!
//! The order is (time, flow, order of insertion), whatever the widths: the reference loop of the
//! tests, a plain heap over every stage of every packet, must give the same results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::packet::Packet;
use crate::units::Time;

/// What happens when an event's time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A packet (or an ACK) reaches the link at this position of its flow's circuit: the forward
    /// path first, then the reverse path.
    Arrival(u8),
    /// A timer of a flow may be due.
    Wake,
}

/// One event, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Whose; below 2^24.
    pub flow: u32,
    /// What.
    pub stage: Stage,
    /// Low 32 bits of the packet's sequence number, or the slot of a stored ACK.
    pub sequence_low: u32,
    /// Size on the wire; at most 65,535.
    pub bytes: u32,
    /// `sent` of the packet; at most 140 s before `time` (an older one is taken as 140 s old).
    pub sent: Time,
    /// Whether the packet is a retransmission.
    pub is_retransmission: bool,
}

impl Event {
    /// The data packet that arrives; of its sequence number the nearest to `expected` that has the
    /// right low 32 bits.
    #[inline]
    pub fn packet(&self, expected: u64) -> Packet {
        let ahead = self.sequence_low.wrapping_sub(expected as u32).cast_signed();
        Packet {
            sequence: expected.wrapping_add_signed(i64::from(ahead)),
            bytes: self.bytes,
            sent: self.sent,
            is_retransmission: self.is_retransmission,
        }
    }
}

/// An event in 24 bytes: at 100 Gbit/s and 100 ms a million of them are in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    time: u64,
    /// Age of the packet (47 bits), retransmission (1 bit), bytes (16 bits).
    age_and_size: u64,
    /// Flow (24 bits), stage (8 bits).
    flow_and_stage: u32,
    sequence_low: u32,
}

const MAX_AGE: u64 = (1 << 47) - 1;
const WAKE: u32 = 0xff;

impl Entry {
    #[inline]
    fn pack(event: &Event) -> Self {
        let age = event.time.since(event.sent).picoseconds().min(MAX_AGE);
        let stage = match event.stage {
            Stage::Arrival(hop) => u32::from(hop),
            Stage::Wake => WAKE,
        };
        Entry {
            time: event.time.picoseconds(),
            age_and_size: age << 17
                | u64::from(event.is_retransmission) << 16
                | u64::from(event.bytes & 0xffff),
            flow_and_stage: event.flow << 8 | stage,
            sequence_low: event.sequence_low,
        }
    }

    #[inline]
    fn unpack(self) -> Event {
        let stage = self.flow_and_stage & 0xff;
        Event {
            time: Time::from_picoseconds(self.time),
            flow: self.flow(),
            stage: if stage == WAKE { Stage::Wake } else { Stage::Arrival(stage as u8) },
            sequence_low: self.sequence_low,
            bytes: (self.age_and_size & 0xffff) as u32,
            sent: Time::from_picoseconds(self.time - (self.age_and_size >> 17)),
            is_retransmission: self.age_and_size >> 16 & 1 == 1,
        }
    }

    #[inline]
    fn flow(self) -> u32 {
        self.flow_and_stage >> 8
    }
}

/// An entry of one of the heaps, ordered by (time, flow, insertion).
#[derive(Clone, Copy, Debug)]
struct Ordered {
    key: (u64, u32, u64),
    entry: Entry,
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Ordered {}
impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// How events of the same instant are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// By flow, then by insertion: the rule.
    Flow,
    /// By insertion alone: wrong on purpose, so that a test can show that the comparison with the
    /// reference loop notices.
    InsertionOnly,
}

/// Entries a chunk holds: 768 bytes, so that a bucket of 256 wastes little and copies in runs.
const CHUNK: usize = 32;
const NO_CHUNK: u32 = u32::MAX;
/// Bits of a sort key that hold the position in the open bucket.
const INDEX_BITS: u32 = 24;
/// Widest bucket, 2^39 ps = 0.55 s: offset and position share a 64-bit key.
const MAX_SHIFT: u32 = 39;

#[derive(Clone, Copy, Debug)]
struct Bucket {
    head: u32,
    tail: u32,
    /// Entries in the tail chunk; a full count also stands for "no chunk yet".
    fill: u32,
}

const EMPTY: Bucket = Bucket { head: NO_CHUNK, tail: NO_CHUNK, fill: CHUNK as u32 };

/// The pending events of a run.
#[derive(Debug)]
pub struct Schedule {
    shift: u32,
    tie_break: TieBreak,
    buckets: Vec<Bucket>,
    /// One bit a bucket: set when it holds an entry.
    occupied: Vec<u64>,
    entries: Vec<Entry>,
    next_chunk: Vec<u32>,
    free_chunk: u32,
    /// Number of the open bucket since the start of the run.
    open: u64,
    current: Vec<Entry>,
    keys: Vec<u64>,
    cursor: usize,
    near: BinaryHeap<Reverse<Ordered>>,
    far: BinaryHeap<Reverse<Ordered>>,
    inserted: u64,
}

impl Schedule {
    /// A wheel whose buckets hold about 256 events at `events_per_second`, are no wider than
    /// `lookahead` (the shortest time in which an event causes another), and together cover
    /// `horizon`.
    pub fn new(
        events_per_second: f64,
        lookahead: Time,
        horizon: Time,
        tie_break: TieBreak,
    ) -> Self {
        let ideal = Time::from_seconds(256.0 / events_per_second.max(1.0)).picoseconds();
        // Where the lookahead is tiny (links in a row without delay) the heap has to do.
        let width = ideal.min(lookahead.picoseconds()).max(ideal / 64).max(1);
        let shift = width.ilog2().clamp(10, MAX_SHIFT);
        let buckets = (horizon.picoseconds() >> shift).clamp(64, 1 << 16).next_power_of_two();
        Schedule {
            shift,
            tie_break,
            buckets: vec![EMPTY; buckets as usize],
            occupied: vec![0; buckets as usize / 64],
            entries: Vec::new(),
            next_chunk: Vec::new(),
            free_chunk: NO_CHUNK,
            open: 0,
            current: Vec::new(),
            keys: Vec::new(),
            cursor: 0,
            near: BinaryHeap::new(),
            far: BinaryHeap::new(),
            inserted: 0,
        }
    }

    /// Adds an event; its time must not lie before the last event taken.
    #[inline]
    pub fn push(&mut self, event: &Event) {
        let entry = Entry::pack(event);
        let ahead = (entry.time >> self.shift).wrapping_sub(self.open);
        if ahead.wrapping_sub(1) < self.buckets.len() as u64 - 1 {
            self.push_to_wheel(entry);
        } else {
            self.push_to_heap(entry, ahead);
        }
    }

    #[inline]
    fn push_to_wheel(&mut self, entry: Entry) {
        let slot = (entry.time >> self.shift) as usize & (self.buckets.len() - 1);
        if self.buckets[slot].fill == CHUNK as u32 {
            self.grow(slot);
        }
        let bucket = &mut self.buckets[slot];
        self.entries[bucket.tail as usize * CHUNK + bucket.fill as usize] = entry;
        bucket.fill += 1;
    }

    /// Gives the bucket in `slot` a fresh tail chunk.
    #[cold]
    fn grow(&mut self, slot: usize) {
        let chunk = if self.free_chunk == NO_CHUNK {
            self.entries.resize(self.entries.len() + CHUNK, Entry::default());
            self.next_chunk.push(NO_CHUNK);
            self.next_chunk.len() as u32 - 1
        } else {
            let chunk = self.free_chunk;
            self.free_chunk = self.next_chunk[chunk as usize];
            self.next_chunk[chunk as usize] = NO_CHUNK;
            chunk
        };
        let bucket = &mut self.buckets[slot];
        if bucket.head == NO_CHUNK {
            bucket.head = chunk;
            self.occupied[slot / 64] |= 1 << (slot % 64);
        } else {
            self.next_chunk[bucket.tail as usize] = chunk;
        }
        bucket.tail = chunk;
        bucket.fill = 0;
    }

    #[cold]
    fn push_to_heap(&mut self, entry: Entry, ahead: u64) {
        self.inserted += 1;
        let flow = if self.tie_break == TieBreak::Flow { entry.flow() } else { 0 };
        let ordered = Reverse(Ordered { key: (entry.time, flow, self.inserted), entry });
        // A bucket before the open one wraps around to a huge distance: it can only be the open
        // bucket's past, which the heap sorts in.
        if ahead == 0 || ahead > u64::MAX / 2 {
            self.near.push(ordered);
        } else {
            self.far.push(ordered);
        }
    }

    /// Takes the next event if it comes before `until`.
    #[inline]
    pub fn pop_before(&mut self, until: Time) -> Option<Event> {
        loop {
            if let Some(&key) = self.keys.get(self.cursor) {
                let entry = self.current[key as usize & ((1 << INDEX_BITS) - 1)];
                if !self.near.is_empty() && self.near_is_first(entry) {
                    return self.pop_near(until);
                }
                if entry.time >= until.picoseconds() {
                    return None;
                }
                self.cursor += 1;
                return Some(entry.unpack());
            }
            if !self.near.is_empty() {
                return self.pop_near(until);
            }
            if !self.open_next(until) {
                return None;
            }
        }
    }

    /// Whether the near heap's first event comes before `entry`. At a tie of time and flow the
    /// bucket's came first: it was there before the bucket was opened.
    fn near_is_first(&self, entry: Entry) -> bool {
        let flow = if self.tie_break == TieBreak::Flow { entry.flow() } else { 0 };
        self.near.peek().is_some_and(|Reverse(first)| {
            (first.key.0, first.key.1) < (entry.time, flow)
        })
    }

    fn pop_near(&mut self, until: Time) -> Option<Event> {
        let Reverse(first) = self.near.peek()?;
        if first.key.0 >= until.picoseconds() {
            return None;
        }
        self.near.pop().map(|Reverse(first)| first.entry.unpack())
    }

    /// Opens the next bucket that holds anything; false if there is none before `until`.
    fn open_next(&mut self, until: Time) -> bool {
        let far = self.far.peek().map_or(u64::MAX, |Reverse(first)| first.key.0 >> self.shift);
        let next = self.next_occupied().min(far);
        if next > until.picoseconds() >> self.shift {
            return false;
        }
        self.open = next;
        let horizon = next + self.buckets.len() as u64;
        self.gather(next as usize & (self.buckets.len() - 1));
        // Far events enter as soon as the horizon covers them, so before any later insertion.
        while let Some(Reverse(first)) = self.far.peek()
            && first.key.0 >> self.shift < horizon
        {
            let Some(Reverse(first)) = self.far.pop() else { break };
            if first.key.0 >> self.shift == next {
                self.current.push(first.entry);
            } else {
                self.push_to_wheel(first.entry);
            }
        }
        self.sort();
        true
    }

    /// Number of the first occupied bucket after the open one, or `u64::MAX`.
    fn next_occupied(&self) -> u64 {
        let count = self.buckets.len() as u64;
        let first = (self.open + 1) & (count - 1);
        let words = self.occupied.len();
        for step in 0..=words {
            let index = (first as usize / 64 + step) % words;
            let mut word = self.occupied[index];
            if step == 0 {
                word &= u64::MAX << (first % 64);
            } else if step == words {
                word &= !(u64::MAX << (first % 64));
            }
            if word != 0 {
                let slot = index as u64 * 64 + u64::from(word.trailing_zeros());
                return self.open + 1 + (slot.wrapping_sub(first) & (count - 1));
            }
        }
        u64::MAX
    }

    /// Copies the bucket in `slot` out and frees its chunks.
    fn gather(&mut self, slot: usize) {
        self.current.clear();
        self.cursor = 0;
        let bucket = std::mem::replace(&mut self.buckets[slot], EMPTY);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let mut chunk = bucket.head;
        while chunk != NO_CHUNK {
            let is_tail = chunk == bucket.tail;
            let length = if is_tail { bucket.fill as usize } else { CHUNK };
            let from = chunk as usize * CHUNK;
            self.current.extend_from_slice(&self.entries[from..from + length]);
            let next = self.next_chunk[chunk as usize];
            self.next_chunk[chunk as usize] = self.free_chunk;
            self.free_chunk = chunk;
            chunk = next;
        }
    }

    /// Sorts the open bucket by (time, flow, insertion).
    fn sort(&mut self) {
        assert!(self.current.len() < 1 << INDEX_BITS, "a bucket holds at most 2^24 events");
        let start = self.open << self.shift;
        self.keys.clear();
        let keyed = self.current.iter().enumerate();
        self.keys.extend(
            keyed.map(|(index, entry)| (entry.time - start) << INDEX_BITS | index as u64),
        );
        // The position makes keys unique and keeps insertion order at equal times.
        self.keys.sort_unstable();
        if self.tie_break == TieBreak::Flow {
            self.order_ties_by_flow();
        }
    }

    fn order_ties_by_flow(&mut self) {
        let mut from = 0;
        for index in 1..=self.keys.len() {
            let is_tie = index < self.keys.len()
                && self.keys[index] >> INDEX_BITS == self.keys[from] >> INDEX_BITS;
            if !is_tie {
                if index - from > 1 {
                    let current = &self.current;
                    self.keys[from..index].sort_by_key(|&key| {
                        current[key as usize & ((1 << INDEX_BITS) - 1)].flow()
                    });
                }
                from = index;
            }
        }
    }

    /// Every event still pending, in no particular order: for the final account of packets.
    pub fn pending(&self) -> impl Iterator<Item = Event> + '_ {
        let opened = self.keys[self.cursor.min(self.keys.len())..]
            .iter()
            .map(|&key| self.current[key as usize & ((1 << INDEX_BITS) - 1)]);
        let heaps = self.near.iter().chain(&self.far).map(|Reverse(ordered)| ordered.entry);
        opened.chain(heaps).chain(self.wheel_entries()).map(Entry::unpack)
    }

    fn wheel_entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.buckets.iter().flat_map(move |bucket| {
            let mut chunk = bucket.head;
            let chunks = std::iter::from_fn(move || {
                let this = chunk;
                if this == NO_CHUNK {
                    return None;
                }
                chunk = self.next_chunk[this as usize];
                let length = if this == bucket.tail { bucket.fill as usize } else { CHUNK };
                Some((this as usize * CHUNK, length))
            });
            chunks.flat_map(move |(from, length)| self.entries[from..from + length].iter().copied())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wake(time: u64, flow: u32, sequence_low: u32) -> Event {
        Event {
            time: Time::from_picoseconds(time),
            flow,
            stage: Stage::Wake,
            sequence_low,
            bytes: 0,
            sent: Time::from_picoseconds(time),
            is_retransmission: false,
        }
    }

    #[test]
    fn an_event_survives_packing() {
        let event = Event {
            time: Time::from_milliseconds(5_000),
            flow: 16_777_215,
            stage: Stage::Arrival(249),
            sequence_low: u32::MAX,
            bytes: 65_535,
            sent: Time::from_milliseconds(1),
            is_retransmission: true,
        };
        assert_eq!(Entry::pack(&event).unpack(), event);
        assert_eq!(size_of::<Entry>(), 24);
    }

    /// Random pushes and pops against a sorted list, with many ties and far events.
    #[test]
    fn pops_in_order_of_time_flow_and_insertion() {
        let mut state = 7_u64;
        let mut draw = move |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for width in [1_000, 50_000, 3_000_000] {
            let mut schedule = Schedule::new(
                1.0,
                Time::from_picoseconds(width),
                Time::from_picoseconds(width * 100),
                TieBreak::Flow,
            );
            let mut expected: Vec<(u64, u32, u32)> = Vec::new();
            let mut now = 0;
            for inserted in 0..20_000_u32 {
                let ahead = if draw(50) == 0 { draw(width * 1_000) } else { draw(200) * 1_000 };
                let (time, flow) = (now + ahead, draw(4) as u32);
                schedule.push(&wake(time, flow, inserted));
                expected.push((time, flow, inserted));
                if draw(3) > 0 {
                    expected.sort_unstable();
                    let event = schedule.pop_before(Time::NEVER).expect("one is pending");
                    let first = expected.remove(0);
                    now = event.time.picoseconds();
                    assert_eq!((now, event.flow, event.sequence_low), first, "width {width}");
                    assert_eq!(schedule.pending().count(), expected.len());
                }
            }
        }
    }

    #[test]
    fn nothing_comes_out_at_or_after_the_limit() {
        let mut schedule =
            Schedule::new(1e6, Time::from_milliseconds(1), Time::from_milliseconds(100), TieBreak::Flow);
        schedule.push(&wake(5_000_000_000, 0, 0));
        assert!(schedule.pop_before(Time::from_picoseconds(5_000_000_000)).is_none());
        assert!(schedule.pop_before(Time::from_picoseconds(5_000_000_001)).is_some());
    }
}
