//! Deficit round robin (Shreedhar, Varghese 1996): flows take turns; a turn grants a flow its
//! quantum, and the flow sends the packets that the quantum and the rest of its last turn cover.

use super::flows::{Flow, Flows};
use crate::packet::transit::Transit;
use crate::queue::buffer::Buffer;

/// The round. The marker in it stands for a flow of weight 1 that is always backlogged: its grants
/// are the virtual time.
#[derive(Clone, Debug)]
pub(super) struct DeficitRoundRobin {
    /// The flow whose turn it is; its quantum has been granted.
    first: u32,
    marker: u32,
    /// Turns of the marker since the restart.
    rounds: u64,
    /// The quantum of weight 1.
    quantum: f64,
}

impl DeficitRoundRobin {
    pub(super) fn new(flows: &mut Flows, quantum: f64) -> Self {
        let marker = flows.begin_ring();
        DeficitRoundRobin { first: marker, marker, rounds: 0, quantum }
    }

    /// Returns the bytes granted to the marker since the restart.
    pub(super) fn advance_bytes(&self) -> f64 {
        self.rounds as f64 * self.quantum
    }

    /// Restarts the count of the advance.
    pub(super) fn restart_advance(&mut self) {
        self.rounds = 0;
    }

    /// Adds a flow that becomes backlogged to the end of the round.
    pub(super) fn join(&mut self, flows: &mut Flows, slot: u32) {
        // A flow that is alone need not wait for the marker, which sends nothing.
        let is_alone = flows.first(self.marker).is_none();
        flows.link(slot, self.first);
        flows[slot].tag = 0;
        if is_alone {
            self.begin_turn(flows, slot);
        }
    }

    /// Records that the first packet of `flow`, of `bytes` bytes, leaves.
    #[inline]
    pub(super) fn on_service(flow: &mut Flow, bytes: u32) {
        flow.tag -= u64::from(bytes);
    }

    /// Removes a flow that is no longer backlogged; the rest of its grants lapses. Returns false:
    /// the flow is no longer active and can be forgotten.
    pub(super) fn leave(&mut self, flows: &mut Flows, slot: u32) -> bool {
        flows.unlink(slot);
        if self.first == slot {
            let next = flows[slot].next;
            self.begin_turn(flows, next);
        }
        false
    }

    #[inline]
    fn begin_turn(&mut self, flows: &mut Flows, slot: u32) {
        self.first = slot;
        let flow = &mut flows[slot];
        flow.tag += flow.share;
    }

    /// Returns the flow whose first packet leaves next; the buffer must not be empty.
    #[inline]
    pub(super) fn next(&mut self, flows: &mut Flows, buffer: &Buffer) -> u32 {
        loop {
            let slot = self.first;
            let flow = &flows[slot];
            let covers = |packet: &Transit| u64::from(packet.bytes()) <= flow.tag;
            // Most flows have used up their grants; the packet is then not read.
            if flow.tag > 0 && buffer.front(&flow.queue).is_some_and(covers) {
                return slot;
            }
            if slot == self.marker {
                self.rounds += 1;
            }
            let next = flow.next;
            self.begin_turn(flows, next);
        }
    }
}
