//! The order of events: arrivals at shared links (and rare wake-ups), sorted by time.
//!
//! A timing wheel of coarse buckets, each of which is sorted when its turn comes. Events go to
//! pooled chunks in the order of insertion. A bucket that is opened is copied out in order of time;
//! events that are added to the open bucket later go to a small heap. Events beyond the
//! wheel's horizon wait in a second heap. Only the speed depends on the width of the buckets.
//!
//! The order is (time, turn of the flow at this time, hop, insertion), a wake-up before arrivals: the
//! reference loop of the tests, a plain heap over every stage of every packet, must give the same
//! results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::packet::ties::TieOrder;
use crate::packet::transit::Transit;
use crate::units::Time;

/// An event in one of the heaps, ordered by (time, turn, hop, insertion). The turn is computed at a
/// tie.
#[derive(Clone, Copy, Debug)]
struct Ordered {
    event: Transit,
    inserted: u64,
    ties: TieOrder,
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.inserted == other.inserted
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
        let by_time = self.event.time.cmp(&other.event.time);
        by_time.then_with(|| {
            let instant = self.ties.at(self.event.time());
            let order = |one: &Self| (one.event.order_at(instant), one.inserted);
            order(self).cmp(&order(other))
        })
    }
}

/// Memory that a chunk, an event of the open bucket and one of a heap take.
const CHUNK_BYTES: u64 = (CHUNK * size_of::<Transit>() + size_of::<u32>()) as u64;
const OPEN_EVENT_BYTES: u64 = (size_of::<Transit>() + 2 * size_of::<u32>()) as u64;
const HEAP_EVENT_BYTES: u64 = size_of::<Ordered>() as u64;
/// Number of events in a chunk, 768 bytes: a bucket of 1000 events wastes little memory, and is
/// copied in long runs.
const CHUNK: usize = 32;
const NO_CHUNK: u32 = u32::MAX;
/// Largest number of chunks whose events 32 bits can number: 100 GB.
const MOST_CHUNKS: usize = (1 << 27) - 1;
/// Widest bucket, 2^39 ps = 0.55 s.
const MAX_SHIFT: u32 = 39;

/// Whether a bucket at this distance from the open bucket is the open bucket or an earlier one,
/// whose distance has wrapped around. The heap takes the events of such buckets.
#[inline]
fn is_past(ahead: u64) -> bool {
    ahead == 0 || ahead > u64::MAX / 2
}

/// The pending events of a run.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    ties: TieOrder,
    shift: u32,
    /// By bucket, the place of its next event in `events`; a multiple of [`CHUNK`] means that the
    /// bucket has no room.
    tails: Vec<u32>,
    /// By bucket, its first chunk.
    heads: Vec<u32>,
    /// One bit per bucket: set if the bucket holds an event.
    occupied: Vec<u64>,
    events: Vec<Transit>,
    next_chunk: Vec<u32>,
    free_chunk: u32,
    /// Number of the open bucket since the start of the run.
    open: u64,
    /// The open bucket, in order.
    current: Vec<Transit>,
    /// Scratch space of the sort: the chunks of the bucket, and the ends of the cells.
    chunks: Vec<u32>,
    cell_ends: Vec<u32>,
    cursor: usize,
    near: BinaryHeap<Reverse<Ordered>>,
    far: BinaryHeap<Reverse<Ordered>>,
    inserted: u64,
    memory_limit_bytes: u64,
    /// Memory claimed for other data than events.
    claimed_bytes: u64,
    /// Whether an event was lost because there was no memory for it.
    is_overfull: bool,
}

impl Agenda {
    /// A wheel whose buckets hold about 1000 events at `events_per_second`, are no wider than
    /// `lookahead` (the shortest time in which an event causes another), and together cover
    /// `horizon`. Flows take turns at one instant as `ties` has it.
    pub(super) fn new(
        ties: TieOrder,
        events_per_second: f64,
        lookahead: Time,
        horizon: Time,
    ) -> Self {
        let ideal = Time::from_seconds(1024.0 / events_per_second.max(1.0)).picoseconds();
        // If the lookahead is tiny (several links without delay), the heap takes the events.
        let width = ideal.min(lookahead.picoseconds()).max(ideal / 64).max(1);
        let shift = width.ilog2().clamp(10, MAX_SHIFT);
        let buckets = (horizon.picoseconds() >> shift).clamp(64, 1 << 16).next_power_of_two();
        Agenda {
            ties,
            shift,
            tails: vec![0; buckets as usize],
            heads: vec![NO_CHUNK; buckets as usize],
            occupied: vec![0; buckets as usize / 64],
            events: Vec::new(),
            next_chunk: Vec::new(),
            free_chunk: NO_CHUNK,
            open: 0,
            current: Vec::new(),
            chunks: Vec::new(),
            cell_ends: Vec::new(),
            cursor: 0,
            near: BinaryHeap::new(),
            far: BinaryHeap::new(),
            inserted: 0,
            memory_limit_bytes: u64::MAX,
            claimed_bytes: 0,
            is_overfull: false,
        }
    }

    /// The same agenda with a limit on the memory of its events, in bytes.
    #[must_use]
    pub(super) fn with_memory(self, limit_bytes: u64) -> Self {
        Agenda { memory_limit_bytes: limit_bytes, ..self }
    }

    /// Whether there was no memory for an event. Events are lost then, and the run must end. The
    /// memory is checked here because one event may cause the events of a whole window.
    #[inline]
    pub(super) fn is_overfull(&self) -> bool {
        self.is_overfull
    }

    /// The beginning of the open bucket.
    pub(super) fn now(&self) -> Time {
        Time::from_picoseconds(self.open << self.shift)
    }

    /// Claims memory for other data than events; returns false if there is none, and the run must
    /// end.
    pub(super) fn claim(&mut self, bytes: u64) -> bool {
        let fits = !self.is_overfull && bytes <= self.spare_bytes();
        self.is_overfull |= !fits;
        self.claimed_bytes += if fits { bytes } else { 0 };
        fits
    }

    /// Ends the run as if its memory were used up.
    #[cold]
    pub(super) fn declare_full(&mut self) {
        self.is_overfull = true;
    }

    /// The memory, in bytes, that further events may take.
    fn spare_bytes(&self) -> u64 {
        self.memory_limit_bytes.saturating_sub(self.memory_bytes())
    }

    /// Adds an event; its time must not lie before the last event taken.
    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    pub(super) fn push(&mut self, event: Transit) {
        let ahead = (event.time >> self.shift).wrapping_sub(self.open);
        if ahead.wrapping_sub(1) < self.tails.len() as u64 - 1 {
            self.push_to_wheel(event);
        } else {
            self.push_to_heap(event, ahead);
        }
    }

    #[expect(clippy::inline_always, reason = "one caller a packet: the event stays in registers")]
    #[inline(always)]
    fn push_to_wheel(&mut self, event: Transit) {
        let slot = (event.time >> self.shift) as usize & (self.tails.len() - 1);
        let mut tail = self.tails[slot];
        if (tail as usize).is_multiple_of(CHUNK) {
            tail = self.grow(slot);
        }
        event.write_to(&mut self.events[tail as usize]);
        self.tails[slot] = tail + 1;
    }

    /// Gives the bucket in `slot` a fresh tail chunk; returns where it begins.
    #[cold]
    fn grow(&mut self, slot: usize) -> u32 {
        let chunk = if self.free_chunk == NO_CHUNK {
            let length = self.events.len() + CHUNK;
            if length > self.events.capacity() && !self.enlarge_pool() {
                return 0; // over an event of another bucket, which matters no more
            }
            self.events.resize(length, Transit::default());
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

    /// Makes room for a chunk; returns false if there is no memory for it.
    fn enlarge_pool(&mut self) -> bool {
        let fits = self.spare_bytes() / CHUNK_BYTES;
        let is_first = self.events.is_empty();
        if (fits == 0 && !is_first) || self.next_chunk.len() >= MOST_CHUNKS {
            self.is_overfull = true;
            return false;
        }
        // An eighth more, not twice as much: the pool is most of a run's memory.
        let chunks = (self.events.len() / 8).div_ceil(CHUNK).min(fits as usize).max(1);
        self.events.reserve_exact(chunks * CHUNK);
        true
    }

    /// Makes room for an open bucket of `count` events; returns false if there is no memory for them.
    #[cold]
    fn enlarge_current(&mut self, count: usize) -> bool {
        let room = count.next_power_of_two();
        let fits = self.spare_bytes() / OPEN_EVENT_BYTES;
        if ((room - self.current.capacity()) as u64) > fits && self.current.capacity() > 0 {
            self.is_overfull = true;
            return false;
        }
        self.current.clear();
        self.current.reserve_exact(room);
        true
    }

    #[cold]
    fn push_to_heap(&mut self, event: Transit, ahead: u64) {
        let heap = if is_past(ahead) { &self.near } else { &self.far };
        let (length, is_full) = (heap.len(), heap.len() == heap.capacity());
        let fits = if is_full { (self.spare_bytes() / HEAP_EVENT_BYTES) as usize } else { 1 };
        if fits == 0 && length > 0 {
            self.is_overfull = true;
            return;
        }
        let more = (length / 8).max(64).min(fits).max(1);
        self.inserted += 1;
        let ordered = Reverse(Ordered { event, inserted: self.inserted, ties: self.ties });
        let heap = if is_past(ahead) { &mut self.near } else { &mut self.far };
        if is_full {
            heap.reserve_exact(more);
        }
        heap.push(ordered);
    }

    /// Takes the next event if it comes before `until`.
    #[inline]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<Transit> {
        loop {
            if let Some(&event) = self.current.get(self.cursor) {
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

    /// The time of the next event if that comes before `until`.
    pub(super) fn next_before(&mut self, until: Time) -> Option<Time> {
        while self.cursor >= self.current.len() && self.near.is_empty() {
            if !self.open_next(until) {
                return None;
            }
        }
        let open = self.current.get(self.cursor).map(|event| event.time());
        let near = self.near.peek().map(|Reverse(first)| first.event.time());
        let next = open.unwrap_or(Time::NEVER).min(near.unwrap_or(Time::NEVER));
        (next < until).then_some(next)
    }

    /// The next event before `until`, if it is one of the open bucket's and no event was added to
    /// the bucket since. [`Agenda::skip`] takes it.
    #[inline]
    pub(super) fn peek_in_bucket(&self, until: Time) -> Option<Transit> {
        let &event = self.current.get(self.cursor)?;
        (self.near.is_empty() && event.time < until.picoseconds()).then_some(event)
    }

    /// The event of the open bucket that comes this many events after the next one.
    #[inline]
    pub(super) fn peek_ahead(&self, events: usize) -> Option<Transit> {
        self.current.get(self.cursor + events).copied()
    }

    /// Takes the event that [`Agenda::peek_in_bucket`] has returned.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.cursor += 1;
    }

    /// Whether the near heap's first event comes before `event`. At a tie of time and turn the
    /// bucket's came first: it was there before the bucket was opened.
    fn near_is_first(&self, event: Transit) -> bool {
        let Some(Reverse(first)) = self.near.peek() else { return false };
        if first.event.time != event.time {
            return first.event.time < event.time;
        }
        let instant = self.ties.at(event.time());
        first.event.order_at(instant) < event.order_at(instant)
    }

    fn pop_near(&mut self, until: Time) -> Option<Transit> {
        let Reverse(first) = self.near.peek()?;
        if first.event.time >= until.picoseconds() {
            return None;
        }
        self.near.pop().map(|Reverse(first)| first.event)
    }

    /// Opens the next bucket that holds anything; false if there is none before `until`.
    fn open_next(&mut self, until: Time) -> bool {
        let far = self.far.peek().map_or(u64::MAX, |Reverse(first)| first.event.time >> self.shift);
        let next = self.next_occupied().min(far);
        if next > until.picoseconds() >> self.shift {
            return false;
        }
        self.open = next;
        let horizon = next + self.tails.len() as u64;
        // Far events enter as soon as the horizon covers them, so before any later insertion.
        while let Some(Reverse(first)) = self.far.peek()
            && first.event.time >> self.shift < horizon
        {
            let Some(Reverse(first)) = self.far.pop() else { break };
            self.push_to_wheel(first.event);
        }
        self.cursor = 0;
        if self.is_overfull || !self.gather(next as usize & (self.tails.len() - 1)) {
            self.current.clear();
            return false;
        }
        self.finish_order();
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

    /// Copies the bucket in `slot` out and frees its chunks; false if there is no memory. A counting
    /// sort by the leading bits of the times, into about as many cells as there are events.
    fn gather(&mut self, slot: usize) -> bool {
        let count = self.list_chunks(slot);
        if count > self.current.capacity() && !self.enlarge_current(count) {
            return false;
        }
        self.current.resize(count, Transit::default()); // what it holds already is overwritten
        let Agenda { shift, cell_ends, chunks, current, events, next_chunk, free_chunk, .. } = self;
        // A bucket is often wider than the largest usize of a 32-bit machine, WebAssembly's.
        let widest = usize::try_from(1_u64 << *shift).unwrap_or(usize::MAX);
        let cells = count.next_power_of_two().clamp(2, widest);
        let cell_shift = *shift - cells.ilog2();
        cell_ends.clear();
        cell_ends.resize(cells, 0);
        let cell_ends = &mut cell_ends[..cells];
        // A bucket begins at a multiple of its width: the bits above the cell's are the bucket's.
        let cell = |event: &Transit| (event.time >> cell_shift) as usize & (cells - 1);
        let last = chunks.len().wrapping_sub(1);
        let events_of = |at: usize, chunk: u32| {
            let from = chunk as usize * CHUNK;
            let length = if at == last { count - last * CHUNK } else { CHUNK };
            &events[from..from + length]
        };
        for (at, &chunk) in chunks.iter().enumerate() {
            for event in events_of(at, chunk) {
                cell_ends[cell(event)] += 1;
            }
        }
        let mut sum = 0;
        for end in &mut *cell_ends {
            let size = *end;
            *end = sum;
            sum += size;
        }
        let current = &mut current[..count];
        for (at, &chunk) in chunks.iter().enumerate() {
            for event in events_of(at, chunk) {
                let place = &mut cell_ends[cell(event)];
                event.write_to(&mut current[*place as usize]);
                *place += 1;
            }
            next_chunk[chunk as usize] = *free_chunk;
            *free_chunk = chunk;
        }
        true
    }

    /// Empties the bucket in `slot` into the list of chunks; returns the number of its events.
    fn list_chunks(&mut self, slot: usize) -> usize {
        let tail = std::mem::take(&mut self.tails[slot]) as usize;
        let mut chunk = std::mem::replace(&mut self.heads[slot], NO_CHUNK);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.chunks.clear();
        let mut count = 0;
        while chunk != NO_CHUNK {
            let from = chunk as usize * CHUNK;
            count += self.chunk_end(from, tail) - from;
            self.chunks.push(chunk);
            chunk = self.next_chunk[chunk as usize];
        }
        count
    }

    /// Orders the open bucket, which is in order of its cells, by (time, turn, hop, insertion).
    fn finish_order(&mut self) {
        if !self.insertion_sort() {
            let Agenda { current, ties, .. } = self;
            // Stable: equal events keep the order of insertion.
            current.sort_by(|one, other| {
                one.time.cmp(&other.time).then_with(|| {
                    let instant = ties.at(one.time());
                    one.order_at(instant).cmp(&other.order_at(instant))
                })
            });
        }
    }

    /// Orders events that are nearly in order; gives up, saying false, when they are not because most
    /// fell into a few cells.
    fn insertion_sort(&mut self) -> bool {
        let Agenda { current, ties, .. } = self;
        let is_after = |one: &Transit, other: &Transit| {
            if one.time != other.time {
                return one.time > other.time;
            }
            let instant = ties.at(one.time());
            one.order_at(instant) > other.order_at(instant)
        };
        let mut moves_left = 16 * current.len();
        let mut latest = current.first().map_or(0, |event| event.time);
        for index in 1..current.len() {
            let time = current[index].time;
            // Most events are in order already.
            if latest < time {
                latest = time;
                continue;
            }
            let event = current[index];
            let mut place = index;
            while place > 0 && is_after(&current[place - 1], &event) {
                current[place] = current[place - 1];
                place -= 1;
            }
            current[place] = event;
            moves_left = moves_left.saturating_sub(index - place);
            if moves_left == 0 {
                return false;
            }
        }
        true
    }

    /// Memory that the pending events take.
    pub(super) fn memory_bytes(&self) -> u64 {
        let chunks = (self.events.capacity() / CHUNK) as u64;
        let in_heaps = (self.near.capacity() + self.far.capacity()) as u64;
        let open = self.current.capacity() as u64;
        let events = chunks * CHUNK_BYTES + in_heaps * HEAP_EVENT_BYTES;
        events + open * OPEN_EVENT_BYTES + self.claimed_bytes
    }

    /// Every event still pending, in no particular order: for the final account of packets.
    pub(super) fn events(&self) -> impl Iterator<Item = Transit> + '_ {
        let opened = self.current[self.cursor.min(self.current.len())..].iter().copied();
        let heaps = self.near.iter().chain(&self.far).map(|Reverse(ordered)| ordered.event);
        opened.chain(heaps).chain(self.wheel_events())
    }

    fn wheel_events(&self) -> impl Iterator<Item = Transit> + '_ {
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
    use crate::packet::ties::{Ties, turn};

    const SEED: u64 = 5;

    fn ties() -> TieOrder {
        TieOrder::new(Ties::ByChance, SEED)
    }

    fn numbered(time: u64, flow: u32, number: u32) -> Transit {
        Transit::ack_arrival(Time::from_picoseconds(time), flow, 0, 0, number)
    }

    /// Random pushes and pops against a sorted list, with many ties and far events.
    #[test]
    fn pops_in_order_of_time_turn_and_insertion() {
        let mut state = 7_u64;
        let mut draw = move |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for width in [1_000, 50_000, 3_000_000] {
            let mut agenda = Agenda::new(
                ties(),
                1.0,
                Time::from_picoseconds(width),
                Time::from_picoseconds(width * 100),
            );
            let mut expected: Vec<(u64, u32, u32, u32)> = Vec::new();
            let mut now = 0;
            for inserted in 0..20_000_u32 {
                let ahead = if draw(50) == 0 { draw(width * 1_000) } else { draw(200) * 1_000 };
                let (time, flow) = (now + ahead, draw(4) as u32);
                agenda.push(numbered(time, flow, inserted));
                let turn = turn(Ties::ByChance, SEED, Time::from_picoseconds(time), flow);
                expected.push((time, turn, inserted, flow));
                if draw(3) > 0 {
                    expected.sort_unstable();
                    let event = agenda.pop_before(Time::NEVER).expect("one is pending");
                    let first = expected.remove(0);
                    now = event.time().picoseconds();
                    let (time, _, inserted, flow) = first;
                    let popped = (now, event.slot(), event.flow());
                    assert_eq!(popped, (time, inserted, flow), "width {width}");
                    assert_eq!(agenda.events().count(), expected.len());
                }
            }
        }
    }

    #[test]
    fn nothing_comes_out_at_or_after_the_limit() {
        let (lookahead, horizon) = (Time::from_milliseconds(1), Time::from_milliseconds(100));
        let mut agenda = Agenda::new(ties(), 1e6, lookahead, horizon);
        agenda.push(Transit::wake(Time::from_picoseconds(5_000_000_000), 0));
        assert!(agenda.pop_before(Time::from_picoseconds(5_000_000_000)).is_none());
        assert!(agenda.pop_before(Time::from_picoseconds(5_000_000_001)).is_some());
    }
}
