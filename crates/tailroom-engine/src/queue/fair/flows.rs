//! The flows that a fair queue knows: those that wait, and those ahead of the virtual time.

use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

use crate::queue::buffer::PacketList;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// One flow, or one bucket of flows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// Its number: the flow's, or the bucket's.
    pub(super) number: u32,
    /// How many of its first packets go with priority.
    pub(super) express: u32,
    /// Its packets.
    pub(super) line: PacketList,
    /// Start tag of its first packet, or of the next one to arrive; the deficit under round robin.
    pub(super) tag: u64,
    /// Virtual time that a byte takes; the quantum under round robin.
    pub(super) share: u64,
    /// Length by which it is known among the longest: at least that of its queue.
    pub(super) mark: u64,
    /// Bytes that went with priority since it became active.
    pub(super) credit: u32,
    /// Neighbours in the round; of a free slot `next` is the next free one.
    pub(super) next: u32,
    pub(super) previous: u32,
}

/// Flows by number, in slots that are used again.
#[derive(Debug)]
pub(super) struct Flows {
    slots: Vec<Flow>,
    // Never iterated: its order would differ from that of other versions of the hash.
    by_number: HashMap<u32, u32, FxBuildHasher>,
    free: u32,
}

impl Default for Flows {
    fn default() -> Self {
        Flows { slots: Vec::new(), by_number: HashMap::default(), free: NONE }
    }
}

impl Flows {
    /// How many it knows.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// How many slots it takes, free ones included.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Where the flow with this number is, if it is known.
    #[inline]
    pub(super) fn find(&self, number: u32) -> Option<u32> {
        self.by_number.get(&number).copied()
    }

    /// Takes in a flow; returns its slot.
    pub(super) fn insert(&mut self, flow: Flow) -> u32 {
        let slot = self.allocate(flow);
        self.by_number.insert(flow.number, slot);
        slot
    }

    /// A slot for something that no number finds.
    pub(super) fn allocate(&mut self, flow: Flow) -> u32 {
        if self.free == NONE {
            self.slots.push(flow);
            return self.slots.len() as u32 - 1;
        }
        let slot = self.free;
        self.free = self.slots[slot as usize].next;
        self.slots[slot as usize] = flow;
        slot
    }

    /// Forgets a flow.
    pub(super) fn remove(&mut self, slot: u32) {
        let flow = &mut self.slots[slot as usize];
        self.by_number.remove(&flow.number);
        *flow = Flow { next: self.free, ..Flow::default() };
        self.free = slot;
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
