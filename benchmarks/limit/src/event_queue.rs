//! A timing wheel: events lie in buckets in the order of insertion, and a bucket is sorted when its
//! turn comes. Two heaps take what does not fit: events of the open bucket, and those beyond the
//! wheel.

use std::alloc::Layout;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ptr::null_mut;

/// No event.
pub const NEVER: u64 = u64::MAX;

/// What a bucket holds per event. The time within the bucket and the identity are the key.
pub trait Entry: Copy {
    fn new(offset: u32, id: u32, payload: u64) -> Self;
    fn key(&self) -> u64;
    fn payload(&self) -> u64;
}

/// Without a payload.
impl Entry for u64 {
    #[inline(always)]
    fn new(offset: u32, id: u32, _: u64) -> u64 {
        u64::from(offset) << 32 | u64::from(id)
    }
    #[inline(always)]
    fn key(&self) -> u64 {
        *self
    }
    #[inline(always)]
    fn payload(&self) -> u64 {
        0
    }
}

/// With a payload of eight bytes.
#[derive(Clone, Copy)]
pub struct WithPayload(u64, u64);

impl Entry for WithPayload {
    #[inline(always)]
    fn new(offset: u32, id: u32, payload: u64) -> Self {
        Self(u64::new(offset, id, 0), payload)
    }
    #[inline(always)]
    fn key(&self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn payload(&self) -> u64 {
        self.1
    }
}

/// Time, identity and payload.
pub type Event = (u64, u32, u64);
type Heap = BinaryHeap<Reverse<Event>>;

/// Buckets are lists of chunks of this many bytes, aligned to their size. The first entry of a
/// chunk is the address of the next one.
const CHUNK_BYTES: usize = 1024;
const CHUNKS_AT_ONCE: usize = 256;
/// Copies of the last event behind the open bucket, for those who look ahead.
const PADDING: usize = 32;
/// Buckets with fewer events are sorted by insertion alone.
const SMALL_BUCKET: usize = 16;

/// Events in the order of time, then of identity.
pub struct EventQueue<E: Entry> {
    /// A bucket lasts 2 to this power, in picoseconds.
    shift: u32,
    /// The number of buckets, less one.
    mask: u64,
    /// Where the next event of a bucket goes: null if the bucket is empty, at the start of a chunk
    /// if the bucket's last chunk is full.
    tails: Vec<*mut E>,
    heads: Vec<*mut u8>,
    free: Vec<*mut u8>,
    /// The open bucket, sorted.
    open: Vec<E>,
    open_len: usize,
    position: usize,
    /// When the open bucket begins.
    base_ps: u64,
    in_wheel: usize,
    near: Heap,
    far: Heap,
}

impl<E: Entry> EventQueue<E> {
    const ENTRY_BYTES: usize = size_of::<E>();
    const ENTRIES_PER_CHUNK: usize = CHUNK_BYTES / Self::ENTRY_BYTES - 1;

    /// Returns an empty queue whose wheel covers the horizon.
    pub fn new(shift: u32, horizon_ps: u64) -> Self {
        assert!(shift <= 32);
        let buckets = ((horizon_ps >> shift) + 2).next_power_of_two();
        Self {
            shift,
            mask: buckets - 1,
            tails: vec![null_mut(); buckets as usize],
            heads: vec![null_mut(); buckets as usize],
            free: vec![],
            open: vec![E::new(0, 0, 0); 4096],
            open_len: 0,
            position: 0,
            base_ps: 0,
            in_wheel: 0,
            near: Heap::new(),
            far: Heap::new(),
        }
    }

    #[inline(always)]
    pub fn push(&mut self, at_ps: u64, id: u32, payload: u64) {
        let buckets_ahead = (at_ps >> self.shift).wrapping_sub(self.base_ps >> self.shift);
        if buckets_ahead.wrapping_sub(1) >= self.mask - 1 {
            return self.push_to_heap(at_ps, id, payload);
        }
        self.put(at_ps, id, payload);
    }

    /// Returns when the next event is due.
    #[inline(always)]
    pub fn next_time(&mut self) -> u64 {
        if self.position == self.open_len && self.near.is_empty() && !self.open_next() {
            return NEVER;
        }
        let in_bucket = if self.position < self.open_len { self.front().0 } else { NEVER };
        self.near.peek().map_or(in_bucket, |Reverse(event)| in_bucket.min(event.0))
    }

    /// Takes the next event; its time is `NEVER` if there is none.
    #[inline(always)]
    pub fn pop(&mut self) -> Event {
        if !self.near.is_empty() {
            return self.pop_near();
        }
        if self.position == self.open_len && !self.open_next() {
            return (NEVER, 0, 0);
        }
        let event = self.front();
        self.position += 1;
        event
    }

    /// Returns the identity of the event that comes this many places later in the open bucket.
    #[inline(always)]
    pub fn ahead(&self, places: usize) -> u32 {
        debug_assert!(places <= PADDING);
        // SAFETY: `open` is longer than the open bucket by `PADDING`.
        unsafe { self.open.get_unchecked(self.position + places - 1).key() as u32 }
    }

    /// Returns the next event of the open bucket, which has one.
    #[inline(always)]
    fn front(&self) -> Event {
        // SAFETY: callers check that `position` is below `open_len`, and `open` is no shorter.
        let entry = unsafe { *self.open.get_unchecked(self.position) };
        (self.base_ps + (entry.key() >> 32), entry.key() as u32, entry.payload())
    }

    #[cold]
    #[inline(never)]
    fn pop_near(&mut self) -> Event {
        let Reverse(near) = *self.near.peek().expect("the caller has checked");
        if self.position < self.open_len {
            let event = self.front();
            if (event.0, event.1) <= (near.0, near.1) {
                self.position += 1;
                return event;
            }
        }
        self.near.pop();
        near
    }

    #[cold]
    #[inline(never)]
    fn push_to_heap(&mut self, at_ps: u64, id: u32, payload: u64) {
        let is_near = at_ps < self.base_ps + (1 << self.shift);
        let heap = if is_near { &mut self.near } else { &mut self.far };
        heap.push(Reverse((at_ps, id, payload)));
    }

    /// Appends an event to its bucket.
    #[inline(always)]
    fn put(&mut self, at_ps: u64, id: u32, payload: u64) {
        let bucket = ((at_ps >> self.shift) & self.mask) as usize;
        let offset = (at_ps & ((1 << self.shift) - 1)) as u32;
        // SAFETY: a bucket's number is at most `mask`. A tail that is not at the start of a chunk
        // is inside a chunk of the bucket, behind its last entry.
        unsafe {
            let mut tail = *self.tails.get_unchecked(bucket);
            if tail.addr() & (CHUNK_BYTES - 1) == 0 {
                tail = self.append_chunk(bucket);
            }
            *tail = E::new(offset, id, payload);
            *self.tails.get_unchecked_mut(bucket) = tail.add(1);
        }
        self.in_wheel += 1;
    }

    /// Appends a chunk to a bucket; returns where its first event goes.
    #[cold]
    #[inline(never)]
    fn append_chunk(&mut self, bucket: usize) -> *mut E {
        if self.free.is_empty() {
            self.allocate_chunks();
        }
        let chunk = self.free.pop().expect("chunks were allocated");
        let tail = self.tails[bucket];
        // SAFETY: chunks are `CHUNK_BYTES` long and aligned; a tail that is not null is one chunk
        // behind the start of the bucket's last chunk.
        unsafe {
            *chunk.cast::<*mut u8>() = null_mut();
            if tail.is_null() {
                self.heads[bucket] = chunk;
            } else {
                *tail.cast::<u8>().sub(CHUNK_BYTES).cast::<*mut u8>() = chunk;
            }
            let first = chunk.add(Self::ENTRY_BYTES).cast::<E>();
            self.tails[bucket] = first;
            first
        }
    }

    fn allocate_chunks(&mut self) {
        let layout = Layout::from_size_align(CHUNK_BYTES * CHUNKS_AT_ONCE, 4096)
            .expect("the size is constant");
        // SAFETY: the size is not zero. The chunks live as long as the program.
        let memory = unsafe { std::alloc::alloc(layout) };
        assert!(!memory.is_null(), "out of memory");
        let chunks = (0..CHUNKS_AT_ONCE).rev();
        self.free.extend(chunks.map(|index| memory.wrapping_add(index * CHUNK_BYTES)));
    }

    /// Opens the next bucket that has events; returns whether there is one.
    #[inline(never)]
    fn open_next(&mut self) -> bool {
        let width = 1u64 << self.shift;
        loop {
            if self.in_wheel == 0 {
                let Some(Reverse(first)) = self.far.peek() else { return false };
                self.base_ps = ((first.0 >> self.shift) << self.shift).wrapping_sub(width);
            }
            self.base_ps = self.base_ps.wrapping_add(width);
            let horizon = self.base_ps + (self.mask << self.shift);
            while let Some(&Reverse((at_ps, id, payload))) = self.far.peek()
                && at_ps < horizon
            {
                self.far.pop();
                self.put(at_ps, id, payload);
            }
            let bucket = ((self.base_ps >> self.shift) & self.mask) as usize;
            if !self.tails[bucket].is_null() {
                self.sort_bucket(bucket);
                return true;
            }
        }
    }

    /// Moves a bucket's events to `open`: a counting sort by their leading bits, then insertion.
    #[inline(always)]
    fn sort_bucket(&mut self, bucket: usize) {
        let (first, end) = (self.heads[bucket], self.tails[bucket]);
        let mut count = 0;
        // SAFETY: `first` heads the bucket's chunks and `end` is its tail.
        unsafe { Self::each_chunk(first, end, |_, entries| count += entries.len()) };
        self.in_wheel -= count;
        if self.open.len() < count + PADDING {
            self.open.resize(2 * count + PADDING, E::new(0, 0, 0));
        }
        let open = self.open.as_mut_ptr();
        let free = &mut self.free;
        // SAFETY: `open` has room for all events and the padding. A histogram has one place more
        // than keys have values, so that places within it, and the sums of counts, are in bounds.
        unsafe {
            if count <= SMALL_BUCKET {
                let mut place = open;
                Self::each_chunk(first, end, |chunk, entries| {
                    for entry in entries {
                        *place = *entry;
                        place = place.add(1);
                    }
                    free.push(chunk);
                });
            } else {
                let bits = (64 - (count as u64).leading_zeros()).clamp(4, 11).min(self.shift);
                let key_shift = 32 + self.shift - bits;
                let mut places = [std::mem::MaybeUninit::<u32>::uninit(); 2050];
                let places = places.as_mut_ptr().cast::<u32>();
                places.write_bytes(0, (1 << bits) + 1);
                Self::each_chunk(first, end, |_, entries| {
                    for entry in entries {
                        *places.add((entry.key() >> key_shift) as usize + 1) += 1;
                    }
                });
                let mut sum = 0;
                for value in 0..1 << bits {
                    sum += *places.add(value);
                    *places.add(value) = sum;
                }
                Self::each_chunk(first, end, |chunk, entries| {
                    for entry in entries {
                        let place = places.add((entry.key() >> key_shift) as usize);
                        *open.add(*place as usize) = *entry;
                        *place += 1;
                    }
                    free.push(chunk);
                });
            }
            sort_by_insertion(std::slice::from_raw_parts_mut(open, count));
            let last = *open.add(count - 1);
            for index in 0..PADDING {
                *open.add(count + index) = last;
            }
        }
        self.open_len = count;
        self.position = 0;
        self.tails[bucket] = null_mut();
    }

    /// Hands the entries of each chunk of a bucket to `visit`, with the chunk.
    #[inline(always)]
    unsafe fn each_chunk(first: *mut u8, end: *mut E, mut visit: impl FnMut(*mut u8, &[E])) {
        let mut chunk = first;
        loop {
            // SAFETY: every chunk begins with the address of the next one, and all but the last are
            // full; the last ends where the bucket's tail is.
            unsafe {
                let next = *chunk.cast::<*mut u8>();
                let len = if next.is_null() {
                    (end.addr() - chunk.addr()) / Self::ENTRY_BYTES - 1
                } else {
                    Self::ENTRIES_PER_CHUNK
                };
                visit(chunk, std::slice::from_raw_parts(chunk.cast::<E>().add(1), len));
                if next.is_null() {
                    return;
                }
                chunk = next;
            }
        }
    }
}

/// Sorts events that are nearly in order already.
#[inline(always)]
fn sort_by_insertion<E: Entry>(entries: &mut [E]) {
    for index in 1..entries.len() {
        let entry = entries[index];
        let mut place = index;
        while place > 0 && entries[place - 1].key() > entry.key() {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        if place != index {
            entries[place] = entry;
        }
    }
}
