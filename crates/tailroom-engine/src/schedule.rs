//! The order of events: arrivals at shared links (and rare wake-ups), sorted by time and flow.
//!
//! A timing wheel of coarse buckets, each sorted when its turn comes. Events go to pooled chunks in
//! the order of insertion; a bucket that is opened is copied out, its keys are sorted, and what
//! arrives late for the open bucket goes to a small heap. What lies beyond the wheel's horizon waits
//! in a second heap. Correctness does not depend on the bucket width; only speed does.
//!
//! The order is (time, flow, hop, insertion), a wake-up before arrivals: the reference loop of the
//! tests, a plain heap over every stage of every packet, must give the same results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::packet::{Ecn, Packet};
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

/// One event in 24 bytes: at 100 Gbit/s and 100 ms a million of them are pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    time: u64,
    /// Age of the packet (47 bits), retransmission (1 bit), bytes (16 bits).
    age_and_size: u64,
    /// Flow (24 bits), stage (8 bits), low bits of the sequence number (29 bits), CWR (1 bit), ECN field
    /// (2 bits). One word: a processor waits for two halves that it has just written to come back as one.
    place_and_sequence: u64,
}

/// Oldest packet that an event can carry, 140 s; an older one is taken as that old.
const MAX_AGE: u64 = (1 << 47) - 1;
/// Bits below the sequence number, and what they hold.
const SEQUENCE_SHIFT: u32 = 3;
const CWR_BIT: u32 = 0b100;
const ECN_BITS: u32 = 0b011;
/// Below the flow, and the stage beside it.
const STAGE_SHIFT: u32 = 32;
const FLOW_SHIFT: u32 = 40;
/// Before the arrivals, which have their hop + 1: a wake-up may cause arrivals at its own instant.
const WAKE: u64 = 0;

impl Event {
    /// `packet` of `flow` (below 2^24) reaches the link at position `hop` (below 255) of its circuit.
    #[inline]
    pub fn arrival(time: Time, flow: u32, hop: u8, packet: &Packet) -> Self {
        let age = time.since(packet.sent).picoseconds().min(MAX_AGE);
        Event {
            time: time.picoseconds(),
            age_and_size: age << 17
                | u64::from(packet.is_retransmission) << 16
                | u64::from(packet.bytes & 0xffff),
            place_and_sequence: u64::from(flow) << FLOW_SHIFT
                | (u64::from(hop) + 1) << STAGE_SHIFT
                | u64::from((packet.sequence as u32) << SEQUENCE_SHIFT)
                | u64::from(packet.is_cwr) << 2
                | packet.ecn as u64,
        }
    }

    /// The ACK that is stored in `slot` reaches a link.
    pub fn ack_arrival(time: Time, flow: u32, hop: u8, bytes: u32, slot: u32) -> Self {
        let sequence = u64::from(slot);
        // Pure ACKs are not ECN-capable (RFC 3168 sec. 6.1.4).
        let packet = Packet { sequence, bytes, sent: time, ..Packet::default() };
        Event::arrival(time, flow, hop, &packet)
    }

    /// A timer of `flow` may be due.
    pub fn wake(time: Time, flow: u32) -> Self {
        Event {
            time: time.picoseconds(),
            age_and_size: 0,
            place_and_sequence: u64::from(flow) << FLOW_SHIFT | WAKE << STAGE_SHIFT,
        }
    }

    /// The same packet at the next link of its circuit.
    #[inline]
    #[must_use]
    pub fn at_next_link(self, time: Time) -> Self {
        let age = (self.age_and_size >> 17) + (time.picoseconds() - self.time);
        Event {
            time: time.picoseconds(),
            age_and_size: age.min(MAX_AGE) << 17 | self.age_and_size & 0x1_ffff,
            place_and_sequence: self.place_and_sequence + (1 << STAGE_SHIFT),
        }
    }

    /// The same packet, stuck on a link.
    #[must_use]
    pub fn never(self) -> Self {
        Event { time: u64::MAX, ..self }
    }

    /// When it happens.
    #[inline]
    pub fn time(self) -> Time {
        Time::from_picoseconds(self.time)
    }

    /// Whose it is.
    #[inline]
    pub fn flow(self) -> u32 {
        (self.place_and_sequence >> FLOW_SHIFT) as u32
    }

    /// What it is.
    #[inline]
    pub fn stage(self) -> Stage {
        let stage = self.place_and_sequence >> STAGE_SHIFT & 0xff;
        if stage == WAKE { Stage::Wake } else { Stage::Arrival((stage - 1) as u8) }
    }

    /// When the packet left its sender.
    #[inline]
    pub fn sent(self) -> Time {
        Time::from_picoseconds(self.time - (self.age_and_size >> 17))
    }

    /// Size on the wire.
    #[inline]
    pub fn bytes(self) -> u32 {
        (self.age_and_size & 0xffff) as u32
    }

    /// Whether both are the same arrival of the same packet, whatever has marked it since.
    pub fn is_same_packet(self, other: Event) -> bool {
        let unmarked = |event: Event| {
            let place_and_sequence = event.place_and_sequence & !u64::from(ECN_BITS);
            Event { place_and_sequence, ..event }
        };
        unmarked(self) == unmarked(other)
    }

    /// The slot (below 2^29) of the ACK.
    pub fn slot(self) -> u32 {
        self.sequence_and_ecn() >> SEQUENCE_SHIFT
    }

    /// The packet's ECN field.
    #[inline]
    pub fn ecn(self) -> Ecn {
        Ecn::from_bits(self.sequence_and_ecn() & ECN_BITS)
    }

    /// Sets the ECN field to Congestion Experienced.
    #[inline]
    pub fn set_congestion_experienced(&mut self) {
        self.place_and_sequence |= Ecn::Ce as u64;
    }

    /// The data packet that arrives; of its sequence number the nearest to `expected` that has the
    /// right low bits.
    #[inline]
    pub fn packet(self, expected: u64) -> Packet {
        let sequence = self.sequence_and_ecn() & !(CWR_BIT | ECN_BITS);
        let ahead = sequence.wrapping_sub((expected as u32) << SEQUENCE_SHIFT).cast_signed();
        Packet {
            sequence: expected.wrapping_add_signed(i64::from(ahead >> SEQUENCE_SHIFT)),
            bytes: self.bytes(),
            sent: self.sent(),
            is_retransmission: self.age_and_size >> 16 & 1 == 1,
            ecn: self.ecn(),
            is_cwr: self.sequence_and_ecn() & CWR_BIT != 0,
        }
    }

    #[inline]
    fn sequence_and_ecn(self) -> u32 {
        self.place_and_sequence as u32
    }

    /// Of two events of one instant the smaller comes first.
    #[inline]
    fn flow_and_stage(self) -> u32 {
        (self.place_and_sequence >> STAGE_SHIFT) as u32
    }
}

/// An event in one of the heaps, ordered by (time, flow, hop, insertion).
#[derive(Clone, Copy, Debug)]
struct Ordered {
    key: (u64, u32, u64),
    event: Event,
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

impl TieBreak {
    /// What decides between events of one instant, before their insertion.
    #[inline]
    fn order(self, event: Event) -> u32 {
        if self == TieBreak::Flow { event.flow_and_stage() } else { 0 }
    }
}

/// Events a chunk holds: 768 bytes, so that a bucket of 1000 wastes little and copies in runs.
const CHUNK: usize = 32;
const NO_CHUNK: u32 = u32::MAX;
/// Bits of a sort key that hold the position in the open bucket.
const INDEX_BITS: u32 = 24;
/// Widest bucket, 2^39 ps = 0.55 s: offset and position share a 64-bit key.
const MAX_SHIFT: u32 = 39;

/// The event of the open bucket that a sort key stands for.
#[inline]
fn event_of(key: u64, bucket: &[Event]) -> Event {
    bucket[key as usize & ((1 << INDEX_BITS) - 1)]
}

/// The pending events of a run.
#[derive(Debug)]
pub struct Schedule {
    shift: u32,
    tie_break: TieBreak,
    /// For each bucket, where in `events` its next event goes; a multiple of [`CHUNK`] says that it
    /// has no room.
    tails: Vec<u32>,
    /// For each bucket its first chunk.
    heads: Vec<u32>,
    /// One bit a bucket: set when it holds an event.
    occupied: Vec<u64>,
    events: Vec<Event>,
    next_chunk: Vec<u32>,
    free_chunk: u32,
    /// Number of the open bucket since the start of the run.
    open: u64,
    current: Vec<Event>,
    keys: Vec<u64>,
    /// Scratch space of the sort.
    cell_ends: Vec<u32>,
    cursor: usize,
    near: BinaryHeap<Reverse<Ordered>>,
    far: BinaryHeap<Reverse<Ordered>>,
    inserted: u64,
}

impl Schedule {
    /// A wheel whose buckets hold about 1000 events at `events_per_second`, are no wider than
    /// `lookahead` (the shortest time in which an event causes another), and together cover
    /// `horizon`.
    pub fn new(
        events_per_second: f64,
        lookahead: Time,
        horizon: Time,
        tie_break: TieBreak,
    ) -> Self {
        let ideal = Time::from_seconds(1024.0 / events_per_second.max(1.0)).picoseconds();
        // Where the lookahead is tiny (links in a row without delay) the heap has to do.
        let width = ideal.min(lookahead.picoseconds()).max(ideal / 64).max(1);
        let shift = width.ilog2().clamp(10, MAX_SHIFT);
        let buckets = (horizon.picoseconds() >> shift).clamp(64, 1 << 16).next_power_of_two();
        Schedule {
            shift,
            tie_break,
            tails: vec![0; buckets as usize],
            heads: vec![NO_CHUNK; buckets as usize],
            occupied: vec![0; buckets as usize / 64],
            events: Vec::new(),
            next_chunk: Vec::new(),
            free_chunk: NO_CHUNK,
            open: 0,
            current: Vec::new(),
            keys: Vec::new(),
            cell_ends: Vec::new(),
            cursor: 0,
            near: BinaryHeap::new(),
            far: BinaryHeap::new(),
            inserted: 0,
        }
    }

    /// Adds an event; its time must not lie before the last event taken.
    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    pub fn push(&mut self, event: Event) {
        let ahead = (event.time >> self.shift).wrapping_sub(self.open);
        if ahead.wrapping_sub(1) < self.tails.len() as u64 - 1 {
            self.push_to_wheel(event);
        } else {
            self.push_to_heap(event, ahead);
        }
    }

    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    fn push_to_wheel(&mut self, event: Event) {
        let slot = (event.time >> self.shift) as usize & (self.tails.len() - 1);
        let mut tail = self.tails[slot];
        if (tail as usize).is_multiple_of(CHUNK) {
            tail = self.grow(slot);
        }
        self.events[tail as usize] = event;
        self.tails[slot] = tail + 1;
    }

    /// Gives the bucket in `slot` a fresh tail chunk; returns where it begins.
    #[cold]
    fn grow(&mut self, slot: usize) -> u32 {
        let chunk = if self.free_chunk == NO_CHUNK {
            let length = self.events.len() + CHUNK;
            if length > self.events.capacity() {
                // An eighth more, not twice as much: the pool is most of a run's memory.
                self.events.reserve_exact(CHUNK + self.events.len() / 8);
            }
            self.events.resize(length, Event::default());
            self.next_chunk.push(NO_CHUNK);
            self.next_chunk.len() as u32 - 1
        } else {
            let chunk = self.free_chunk;
            self.free_chunk = self.next_chunk[chunk as usize];
            self.next_chunk[chunk as usize] = NO_CHUNK;
            chunk
        };
        if self.heads[slot] == NO_CHUNK {
            self.heads[slot] = chunk;
            self.occupied[slot / 64] |= 1 << (slot % 64);
        } else {
            let full = (self.tails[slot] - 1) as usize / CHUNK;
            self.next_chunk[full] = chunk;
        }
        chunk * CHUNK as u32
    }

    #[cold]
    fn push_to_heap(&mut self, event: Event, ahead: u64) {
        self.inserted += 1;
        let order = self.tie_break.order(event);
        let ordered = Reverse(Ordered { key: (event.time, order, self.inserted), event });
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
                let event = event_of(key, &self.current);
                if !self.near.is_empty() && self.near_is_first(event) {
                    return self.pop_near(until);
                }
                if event.time >= until.picoseconds() {
                    return None;
                }
                self.cursor += 1;
                return Some(event);
            }
            if !self.near.is_empty() {
                return self.pop_near(until);
            }
            if !self.open_next(until) {
                return None;
            }
        }
    }

    /// Whether the near heap's first event comes before `event`. At a tie of time and flow the
    /// bucket's came first: it was there before the bucket was opened.
    fn near_is_first(&self, event: Event) -> bool {
        let order = self.tie_break.order(event);
        self.near
            .peek()
            .is_some_and(|Reverse(first)| (first.key.0, first.key.1) < (event.time, order))
    }

    fn pop_near(&mut self, until: Time) -> Option<Event> {
        let Reverse(first) = self.near.peek()?;
        if first.key.0 >= until.picoseconds() {
            return None;
        }
        self.near.pop().map(|Reverse(first)| first.event)
    }

    /// Opens the next bucket that holds anything; false if there is none before `until`.
    fn open_next(&mut self, until: Time) -> bool {
        let far = self.far.peek().map_or(u64::MAX, |Reverse(first)| first.key.0 >> self.shift);
        let next = self.next_occupied().min(far);
        if next > until.picoseconds() >> self.shift {
            return false;
        }
        self.open = next;
        let horizon = next + self.tails.len() as u64;
        self.gather(next as usize & (self.tails.len() - 1));
        // Far events enter as soon as the horizon covers them, so before any later insertion.
        while let Some(Reverse(first)) = self.far.peek()
            && first.key.0 >> self.shift < horizon
        {
            let Some(Reverse(first)) = self.far.pop() else { break };
            if first.key.0 >> self.shift == next {
                self.current.push(first.event);
            } else {
                self.push_to_wheel(first.event);
            }
        }
        self.sort();
        true
    }

    /// Number of the first occupied bucket after the open one, or `u64::MAX`.
    fn next_occupied(&self) -> u64 {
        let count = self.tails.len() as u64;
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
        let tail = std::mem::take(&mut self.tails[slot]) as usize;
        let mut chunk = std::mem::replace(&mut self.heads[slot], NO_CHUNK);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        while chunk != NO_CHUNK {
            let from = chunk as usize * CHUNK;
            self.current.extend_from_slice(&self.events[from..self.chunk_end(from, tail)]);
            let next = self.next_chunk[chunk as usize];
            self.next_chunk[chunk as usize] = self.free_chunk;
            self.free_chunk = chunk;
            chunk = next;
        }
    }

    /// Sorts the open bucket by (time, flow, hop, insertion).
    fn sort(&mut self) {
        assert!(self.current.len() < 1 << INDEX_BITS, "a bucket holds at most 2^24 events");
        self.distribute();
        if !self.insertion_sort() {
            let Schedule { keys, current, tie_break, .. } = self;
            // The position in a key makes it unique and keeps the order of insertion.
            keys.sort_unstable_by_key(|&key| {
                (key >> INDEX_BITS, tie_break.order(event_of(key, current)), key)
            });
        }
    }

    /// Finishes nearly sorted keys; gives up, saying false, when they are not nearly sorted because
    /// most fell into a few cells.
    fn insertion_sort(&mut self) -> bool {
        let Schedule { keys, current, tie_break, .. } = self;
        let is_after = |one: u64, other: u64| {
            let (time, other_time) = (one >> INDEX_BITS, other >> INDEX_BITS);
            let order = |key| tie_break.order(event_of(key, current));
            time > other_time || time == other_time && order(one) > order(other)
        };
        let mut moves_left = 16 * keys.len();
        for index in 1..keys.len() {
            let key = keys[index];
            let mut place = index;
            while place > 0 && is_after(keys[place - 1], key) {
                keys[place] = keys[place - 1];
                place -= 1;
            }
            keys[place] = key;
            moves_left = moves_left.saturating_sub(index - place);
            if moves_left == 0 {
                return false;
            }
        }
        true
    }

    /// Fills `keys` with one key an event, in order of the leading bits of its time: a counting sort
    /// into about as many cells as there are events.
    fn distribute(&mut self) {
        let count = self.current.len();
        let cells = count.next_power_of_two().max(2);
        let start = self.open << self.shift;
        let cell_shift = self.shift.saturating_sub(cells.ilog2());
        let cell = |event: &Event| ((event.time - start) >> cell_shift) as usize & (cells - 1);
        self.cell_ends.clear();
        self.cell_ends.resize(cells, 0);
        for event in &self.current {
            self.cell_ends[cell(event)] += 1;
        }
        let mut sum = 0;
        for end in &mut self.cell_ends {
            let size = *end;
            *end = sum;
            sum += size;
        }
        self.keys.clear();
        self.keys.resize(count, 0);
        for (index, event) in self.current.iter().enumerate() {
            let place = &mut self.cell_ends[cell(event)];
            self.keys[*place as usize] = (event.time - start) << INDEX_BITS | index as u64;
            *place += 1;
        }
    }

    /// Memory that the pending events take.
    pub fn memory_bytes(&self) -> u64 {
        let heaps = (self.near.capacity() + self.far.capacity()) * size_of::<Ordered>();
        (self.events.capacity() * size_of::<Event>() + heaps) as u64
    }

    /// Every event still pending, in no particular order: for the final account of packets.
    pub fn pending(&self) -> impl Iterator<Item = Event> + '_ {
        let opened = self.keys[self.cursor.min(self.keys.len())..]
            .iter()
            .map(|&key| event_of(key, &self.current));
        let heaps = self.near.iter().chain(&self.far).map(|Reverse(ordered)| ordered.event);
        opened.chain(heaps).chain(self.wheel_events())
    }

    fn wheel_events(&self) -> impl Iterator<Item = Event> + '_ {
        self.heads.iter().zip(&self.tails).flat_map(move |(&head, &tail)| {
            let mut chunk = head;
            let chunks = std::iter::from_fn(move || {
                let from = chunk as usize * CHUNK;
                (chunk != NO_CHUNK).then(|| {
                    chunk = self.next_chunk[chunk as usize];
                    from
                })
            });
            chunks.flat_map(move |from| {
                let end = self.chunk_end(from, tail as usize);
                self.events[from..end].iter().copied()
            })
        })
    }

    /// Where the events of the chunk that begins at `from` end, in a bucket whose tail is `tail`:
    /// only the last chunk may be part full.
    fn chunk_end(&self, from: usize, tail: usize) -> usize {
        let is_last = self.next_chunk[from / CHUNK] == NO_CHUNK;
        if is_last { tail } else { from + CHUNK }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(time: u64, flow: u32, number: u32) -> Event {
        Event::ack_arrival(Time::from_picoseconds(time), flow, 0, 0, number)
    }

    #[test]
    fn a_packet_survives_packing() {
        let sequence = 5 << 32 | 0xffff_fff0;
        let sent = Time::from_milliseconds(1);
        let packet = Packet {
            sequence,
            bytes: 65_535,
            sent,
            is_retransmission: true,
            ecn: Ecn::Ect1,
            is_cwr: true,
        };
        let event = Event::arrival(Time::from_milliseconds(5_000), 16_777_215, 249, &packet);
        let moved = event.at_next_link(Time::from_milliseconds(6_000));
        for expected in [sequence - 1_000_000, sequence, sequence + 1_000_000] {
            assert_eq!(event.packet(expected), packet);
            assert_eq!(moved.packet(expected), packet);
        }
        let mut marked = moved;
        marked.set_congestion_experienced();
        assert_eq!(marked.packet(sequence), Packet { ecn: Ecn::Ce, ..packet });
        assert_eq!((event.flow(), event.stage()), (16_777_215, Stage::Arrival(249)));
        assert_eq!((moved.flow(), moved.stage()), (16_777_215, Stage::Arrival(250)));
        assert_eq!(size_of::<Event>(), 24);
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
                schedule.push(numbered(time, flow, inserted));
                expected.push((time, flow, inserted));
                if draw(3) > 0 {
                    expected.sort_unstable();
                    let event = schedule.pop_before(Time::NEVER).expect("one is pending");
                    let first = expected.remove(0);
                    now = event.time().picoseconds();
                    assert_eq!((now, event.flow(), event.slot()), first, "width {width}");
                    assert_eq!(schedule.pending().count(), expected.len());
                }
            }
        }
    }

    #[test]
    fn nothing_comes_out_at_or_after_the_limit() {
        let mut schedule = Schedule::new(
            1e6,
            Time::from_milliseconds(1),
            Time::from_milliseconds(100),
            TieBreak::Flow,
        );
        schedule.push(Event::wake(Time::from_picoseconds(5_000_000_000), 0));
        assert!(schedule.pop_before(Time::from_picoseconds(5_000_000_000)).is_none());
        assert!(schedule.pop_before(Time::from_picoseconds(5_000_000_001)).is_some());
    }
}
