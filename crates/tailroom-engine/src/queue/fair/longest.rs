//! Which queue is the longest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::Flows;
use super::heap::{Heap, Key};

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

/// A length that a flow's queue has, or had: at least the present one.
#[derive(Clone, Copy, Debug)]
struct Mark {
    length: u64,
    flow: u32,
    slot: u32,
}

impl Key for Mark {
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        (other.length, self.flow) < (self.length, other.flow)
    }

    #[inline]
    fn slot(&self) -> u32 {
        self.slot
    }
}

/// The flows by length.
///
/// A queue that shrinks keeps its mark, which is lowered when it comes to the top: as every mark is
/// at least the length, a mark on top that is right is that of the longest.
#[derive(Debug)]
pub(super) struct Longest {
    unit: Length,
    heap: Heap<Mark>,
}

impl Longest {
    pub(super) fn new(unit: Length) -> Self {
        Longest { unit, heap: Heap::default() }
    }

    #[inline]
    fn length(&self, flows: &Flows, slot: u32) -> u64 {
        match self.unit {
            Length::Packets => flows[slot].line.packets(),
            Length::Bytes => flows[slot].line.bytes(),
        }
    }

    /// The queue of `slot` has grown.
    #[inline]
    pub(super) fn grow(&mut self, flows: &mut Flows, slot: u32) {
        let length = self.length(flows, slot);
        let flow = &mut flows[slot];
        if flow.mark < length {
            flow.mark = length;
            self.heap.set(Mark { length, flow: flow.number, slot });
        }
    }

    /// The flow in `slot` is forgotten.
    pub(super) fn remove(&mut self, slot: u32) {
        self.heap.remove(slot);
    }

    /// The longest: of several that of the packet that has just arrived in `arrived`, or else that
    /// of the flow with the lowest number.
    pub(super) fn find(&mut self, flows: &mut Flows, arrived: u32) -> Option<u32> {
        loop {
            let mark = self.heap.first()?;
            let slot = mark.slot;
            let length = self.length(flows, slot);
            if length == mark.length {
                let is_tie = self.length(flows, arrived) == length;
                return Some(if is_tie { arrived } else { slot });
            }
            flows[slot].mark = length;
            self.heap.set(Mark { length, ..mark });
        }
    }
}
