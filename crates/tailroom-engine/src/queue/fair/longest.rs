//! The search for the longest queue.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::flows::{Flow, Flows};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Unit in which the length of a flow's queue is counted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Packets.
    Packets,
    /// Bytes.
    #[default]
    Bytes,
}

impl Length {
    #[inline]
    fn of(self, flow: &Flow) -> u64 {
        match self {
            Length::Packets => flow.queue.packets(),
            Length::Bytes => flow.queue.bytes(),
        }
    }
}

/// A heap of flows by the length of their queues.
///
/// Built at the first drop, so that a buffer that never overflows has no cost. Each queue has an
/// upper bound of its length, which rises when the queue grows; when a queue shrinks, its bound is
/// lowered only when it reaches the top of the heap. If the bound at the top is exact, it is the
/// length of the longest queue.
#[derive(Clone, Debug)]
pub(super) struct Longest {
    unit: Length,
    /// The bound of each slot, and lower bounds that it had before; empty until it is built.
    heap: BinaryHeap<(u64, u32)>,
    /// Upper bound of the length of each slot's queue.
    bounds: Vec<u64>,
}

impl Longest {
    pub(super) fn new(unit: Length) -> Self {
        Longest { unit, heap: BinaryHeap::new(), bounds: Vec::new() }
    }

    /// Records that the queue of `slot` has grown.
    #[inline]
    pub(super) fn grow(&mut self, flows: &Flows, slot: u32) {
        if !self.heap.is_empty() {
            self.raise(self.unit.of(&flows[slot]), slot);
        }
    }

    fn raise(&mut self, length: u64, slot: u32) {
        let index = slot as usize;
        if index >= self.bounds.len() {
            self.bounds.resize(index + 1, 0);
        }
        if self.bounds[index] >= length {
            return;
        }
        self.bounds[index] = length;
        self.heap.push((length, slot));
        // Rebuilding the heap costs less than this number of pushes.
        if self.heap.len() > 64 + 2 * self.bounds.len() {
            self.heap.clear();
        }
    }

    fn build(&mut self, flows: &Flows) {
        self.bounds.clear();
        self.bounds.extend(flows.slots().iter().map(|flow| self.unit.of(flow)));
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.extend(self.bounds.iter().copied().zip(0..).filter(|&(bound, _)| bound > 0));
        self.heap = BinaryHeap::from(entries);
    }

    /// Returns the longest queue; in a tie, `arrived` if it is one of the longest, otherwise any.
    pub(super) fn find(&mut self, flows: &Flows, arrived: u32) -> Option<u32> {
        if self.heap.is_empty() {
            self.build(flows);
        }
        loop {
            let mut top = self.heap.peek_mut()?;
            let (bound, slot) = *top;
            let length = self.unit.of(&flows[slot]);
            if length == bound {
                let is_tie = self.unit.of(&flows[arrived]) == length;
                return Some(if is_tie { arrived } else { slot });
            }
            // An entry that is not the slot's bound is outdated.
            if bound == self.bounds[slot as usize] {
                self.bounds[slot as usize] = length;
                if length > 0 {
                    top.0 = length;
                    continue;
                }
            }
            PeekMut::pop(top);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::buffer::Buffer;
    use crate::queue::script;
    use crate::random;
    use crate::units::Time;

    /// Compares with a search of all queues, which grow and shrink at random.
    #[test]
    fn finds_the_longest_queue_however_often_the_heap_is_rebuilt() {
        let mut random = random::stream(1, "longest");
        let (mut flows, mut buffer) = (Flows::default(), Buffer::default());
        let slots: Vec<u32> = (0..20).map(|number| flows.insert(number, 1)).collect();
        let mut longest = Longest::new(Length::Bytes);
        let mut builds = 0;
        for step in 0..20_000 {
            let slot = slots[random::below(&mut random, 20) as usize];
            if random::below(&mut random, 2) == 0 {
                buffer.pop_front(&mut flows[slot].queue);
                continue;
            }
            let bytes = 40 + random::below(&mut random, 1_000) as u32;
            let packet = script::packet(Time::ZERO, 0, step, bytes, Ecn::NotEct);
            buffer.push_back(&mut flows[slot].queue, packet);
            longest.grow(&flows, slot);
            builds += usize::from(longest.heap.is_empty());
            if random::below(&mut random, 4) == 0 {
                let found = longest.find(&flows, slot).expect("one packet waits");
                let most = slots.iter().map(|&slot| flows[slot].queue.bytes()).max();
                assert_eq!(Some(flows[found].queue.bytes()), most);
            }
        }
        assert!(builds > 10, "{builds}");
    }
}
