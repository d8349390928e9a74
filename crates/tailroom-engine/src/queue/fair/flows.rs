//! The flows known to a fair queue: backlogged flows, and flows ahead of the virtual time.

use crate::prefetch::prefetch_start;
use crate::queue::buffer::PacketList;

/// No slot, in place of an index.
pub(super) const NONE: u32 = u32::MAX;

/// A flow, or a bucket of flows: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Flow {
    /// Number of the flow or of the bucket.
    pub(super) number: u32,
    /// Number of packets at the front of the queue that have priority.
    pub(super) express: u32,
    /// The waiting packets.
    pub(super) queue: PacketList,
    /// Start tag of the first packet, or of the next packet to arrive; the deficit under round
    /// robin.
    pub(super) tag: u64,
    /// Virtual time per byte; the quantum under round robin.
    pub(super) share: u64,
    /// Bytes sent with priority since the flow became active.
    pub(super) credit: u32,
    /// Neighbours in a ring; in a free slot, `next` is the next free slot.
    pub(super) next: u32,
    pub(super) previous: u32,
}

impl Flow {
    /// Returns whether packets of the flow wait.
    #[inline]
    pub(super) fn is_backlogged(&self) -> bool {
        !self.queue.is_empty()
    }
}

/// Flows by number, in slots that are reused.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    slots: Vec<Flow>,
    /// The slot of each number seen so far: four bytes per flow, and no hashing.
    by_number: Vec<u32>,
    known: usize,
    free: u32,
}

impl Default for Flows {
    fn default() -> Self {
        Flows { slots: Vec::new(), by_number: Vec::new(), known: 0, free: NONE }
    }
}

impl Flows {
    /// Memory of the known flows, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let slots_bytes = self.slots.capacity() * size_of::<Flow>();
        (slots_bytes + self.by_number.capacity() * size_of::<u32>()) as u64
    }

    /// Returns the number of known flows.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.known
    }

    /// Returns all slots, including free ones, in which no packets wait.
    pub(super) fn slots(&self) -> &[Flow] {
        &self.slots
    }

    /// Returns the flow in a slot, if there is such a slot.
    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Flow> {
        self.slots.get(slot as usize)
    }

    /// Prefetches a flow.
    #[inline]
    pub(super) fn prefetch(&self, slot: u32) {
        if let Some(flow) = self.get(slot) {
            prefetch_start(flow);
        }
    }

    /// Returns the slot of the flow with this number, if the flow is known.
    #[inline]
    pub(super) fn find(&self, number: u32) -> Option<u32> {
        self.by_number.get(number as usize).copied().filter(|&slot| slot != NONE)
    }

    /// Adds a flow; returns its slot.
    #[inline]
    pub(super) fn insert(&mut self, number: u32, share: u64) -> u32 {
        let slot = self.allocate();
        // Written field by field: most fields of a reused slot are already right.
        let flow = &mut self[slot];
        (flow.number, flow.express, flow.credit) = (number, 0, 0);
        (flow.tag, flow.share) = (0, share);
        match self.by_number.get_mut(number as usize) {
            Some(entry) => *entry = slot,
            None => self.grow(number, slot),
        }
        self.known += 1;
        slot
    }

    #[cold]
    fn grow(&mut self, number: u32, slot: u32) {
        self.by_number.resize(number as usize + 1, NONE);
        self.by_number[number as usize] = slot;
    }

    /// Creates a ring of flows; returns the slot that stands for its end, in which no packet ever
    /// waits. Every neighbour is a slot, so linking needs no special cases.
    pub(super) fn begin_ring(&mut self) -> u32 {
        let slot = self.allocate();
        (self[slot].next, self[slot].previous) = (slot, slot);
        slot
    }

    #[inline]
    fn allocate(&mut self) -> u32 {
        let slot = self.free;
        if slot == NONE {
            self.slots.push(Flow::default());
            return self.slots.len() as u32 - 1;
        }
        self.free = self[slot].next;
        slot
    }

    /// Forgets a flow without waiting packets.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) {
        let flow = &mut self.slots[slot as usize];
        self.by_number[flow.number as usize] = NONE;
        flow.next = self.free;
        self.free = slot;
        self.known -= 1;
    }

    /// Inserts a flow into a ring before the slot `next`; if that is the end of the ring, the flow
    /// becomes the last one.
    #[inline]
    pub(super) fn link(&mut self, slot: u32, next: u32) {
        let previous = std::mem::replace(&mut self[next].previous, slot);
        self[previous].next = slot;
        let flow = &mut self[slot];
        (flow.next, flow.previous) = (next, previous);
    }

    /// Removes a flow from its ring.
    #[inline]
    pub(super) fn unlink(&mut self, slot: u32) {
        let Flow { next, previous, .. } = self[slot];
        self[previous].next = next;
        self[next].previous = previous;
    }

    /// Returns the first flow of the ring that ends at `end`, or `None` if the ring is empty.
    #[inline]
    pub(super) fn first(&self, end: u32) -> Option<u32> {
        let first = self[end].next;
        (first != end).then_some(first)
    }

    /// Returns the flows of the ring that ends at `end`.
    pub(super) fn iter(&self, end: u32) -> impl Iterator<Item = &Flow> {
        let mut next = self[end].next;
        std::iter::from_fn(move || {
            let flow = (next != end).then(|| &self[next])?;
            next = flow.next;
            Some(flow)
        })
    }

    /// Empties the ring that ends at `end`, and calls `take` with each of its flows.
    #[inline]
    pub(super) fn drain(&mut self, end: u32, mut take: impl FnMut(&mut Flows, u32)) {
        let mut slot = self[end].next;
        (self[end].next, self[end].previous) = (end, end);
        while slot != end {
            let next = self[slot].next;
            take(self, slot);
            slot = next;
        }
    }
}

impl std::ops::Index<u32> for Flows {
    type Output = Flow;
    #[inline]
    fn index(&self, slot: u32) -> &Flow {
        &self.slots[slot as usize]
    }
}

impl std::ops::IndexMut<u32> for Flows {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Flow {
        &mut self.slots[slot as usize]
    }
}
