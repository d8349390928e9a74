//! Which queue is the longest.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::{Flow, Flows};

/// What the length of a flow's queue counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// The flows by length.
///
/// Built when a packet is dropped for the first time, so that a buffer that never overflows pays
/// nothing. A queue that shrinks keeps its mark, which is lowered when it comes to the top: as
/// every mark is at least the length, a mark on top that is right is that of the longest.
#[derive(Debug)]
pub(super) struct Longest {
    unit: Length,
    /// The mark of each slot, and lower ones that it had before; empty when it is to be built.
    heap: BinaryHeap<(u64, u32)>,
    /// The mark of each slot.
    marks: Vec<u64>,
}

impl Longest {
    pub(super) fn new(unit: Length) -> Self {
        Longest { unit, heap: BinaryHeap::new(), marks: Vec::new() }
    }

    /// The queue of `slot` has grown.
    #[inline]
    pub(super) fn grow(&mut self, flows: &Flows, slot: u32) {
        if !self.heap.is_empty() {
            self.raise(self.unit.of(&flows[slot]), slot);
        }
    }

    fn raise(&mut self, length: u64, slot: u32) {
        let index = slot as usize;
        if index >= self.marks.len() {
            self.marks.resize(index + 1, 0);
        }
        if self.marks[index] >= length {
            return;
        }
        self.marks[index] = length;
        self.heap.push((length, slot));
        // Building it anew costs less than these many pushes did.
        if self.heap.len() > 64 + 2 * self.marks.len() {
            self.heap.clear();
        }
    }

    fn build(&mut self, flows: &Flows) {
        self.marks.clear();
        self.marks.extend(flows.slots().iter().map(|flow| self.unit.of(flow)));
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.extend(self.marks.iter().copied().zip(0..).filter(|&(mark, _)| mark > 0));
        self.heap = BinaryHeap::from(entries);
    }

    /// The longest: of several that of the packet that has just arrived in `arrived`, or else any.
    pub(super) fn find(&mut self, flows: &Flows, arrived: u32) -> Option<u32> {
        if self.heap.is_empty() {
            self.build(flows);
        }
        loop {
            let mut top = self.heap.peek_mut()?;
            let (mark, slot) = *top;
            let length = self.unit.of(&flows[slot]);
            if length == mark {
                let is_tie = self.unit.of(&flows[arrived]) == length;
                return Some(if is_tie { arrived } else { slot });
            }
            // A mark that is not the slot's any more is one too many.
            if mark == self.marks[slot as usize] {
                self.marks[slot as usize] = length;
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

    /// Against a search of all queues, which grow and shrink at random.
    #[test]
    fn finds_the_longest_however_often_it_is_built_anew() {
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
                let found = longest.find(&flows, slot).expect("one waits");
                let most = slots.iter().map(|&slot| flows[slot].queue.bytes()).max();
                assert_eq!(Some(flows[found].queue.bytes()), most);
            }
        }
        assert!(builds > 10, "{builds}");
    }
}
