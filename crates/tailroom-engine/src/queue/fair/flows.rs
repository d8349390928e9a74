//! The flows that a fair queue knows: those that wait, and those ahead of the virtual time.

use crate::queue::buffer::PacketList;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// One flow, or one bucket of flows: a cache line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// Its number: the flow's, or the bucket's.
    pub(super) number: u32,
    /// How many of its first packets go with priority.
    pub(super) express: u32,
    /// Its packets.
    pub(super) queue: PacketList,
    /// Start tag of its first packet, or of the next one to arrive; the deficit under round robin.
    pub(super) tag: u64,
    /// Virtual time that a byte takes; the quantum under round robin.
    pub(super) share: u64,
    /// Bytes that went with priority since it became active.
    pub(super) credit: u32,
    /// Neighbours in a ring; of a free slot `next` is the next free one.
    pub(super) next: u32,
    pub(super) previous: u32,
}

impl Flow {
    /// Whether packets of it wait.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        !self.queue.is_empty()
    }
}

/// Flows by number, in slots that are used again.
#[derive(Debug)]
pub(super) struct Flows {
    slots: Vec<Flow>,
    /// The slot of each number that ever came: four bytes a flow, and nothing to hash.
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
    /// How many it knows.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.known
    }

    /// Every slot, free ones included; nothing waits in those.
    pub(super) fn slots(&self) -> &[Flow] {
        &self.slots
    }

    /// Where the flow with this number is, if it is known.
    #[inline]
    pub(super) fn find(&self, number: u32) -> Option<u32> {
        self.by_number.get(number as usize).copied().filter(|&slot| slot != NONE)
    }

    /// Takes in a flow; returns its slot.
    #[inline]
    pub(super) fn insert(&mut self, number: u32, share: u64) -> u32 {
        let slot = self.allocate();
        // Field by field, as most are right in a slot that is used again.
        let flow = &mut self[slot];
        (flow.number, flow.express, flow.credit) = (number, 0, 0);
        (flow.tag, flow.share) = (0, share);
        match self.by_number.get_mut(number as usize) {
            Some(place) => *place = slot,
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

    /// Begins a ring of flows: a slot that stands for its end, in which nothing ever waits. As every
    /// neighbour is a slot, linking has no cases to tell apart.
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

    /// Forgets a flow, of which nothing waits.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) {
        let flow = &mut self.slots[slot as usize];
        self.by_number[flow.number as usize] = NONE;
        flow.next = self.free;
        self.free = slot;
        self.known -= 1;
    }

    /// Puts a flow into a ring, before the one in slot `next`: before its end, behind all others.
    #[inline]
    pub(super) fn link(&mut self, slot: u32, next: u32) {
        let previous = std::mem::replace(&mut self[next].previous, slot);
        self[previous].next = slot;
        let flow = &mut self[slot];
        (flow.next, flow.previous) = (next, previous);
    }

    /// Takes a flow out of its ring.
    #[inline]
    pub(super) fn unlink(&mut self, slot: u32) {
        let Flow { next, previous, .. } = self[slot];
        self[previous].next = next;
        self[next].previous = previous;
    }

    /// The first flow of the ring that ends at `end`.
    #[inline]
    pub(super) fn first(&self, end: u32) -> Option<u32> {
        let first = self[end].next;
        (first != end).then_some(first)
    }

    /// The flows of the ring that ends at `end`.
    pub(super) fn iter(&self, end: u32) -> impl Iterator<Item = &Flow> {
        let mut next = self[end].next;
        std::iter::from_fn(move || {
            let flow = (next != end).then(|| &self[next])?;
            next = flow.next;
            Some(flow)
        })
    }

    /// Empties the ring that ends at `end`, and hands `take` its flows.
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
