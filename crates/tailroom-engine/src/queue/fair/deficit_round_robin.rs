//! Deficit round robin (Shreedhar, Varghese 1996): flows take turns; at its turn a flow is granted
//! its quantum and sends what that and the rest of its last turn cover.

use super::flows::{Flow, Flows};
use crate::packet::in_network::Event;
use crate::queue::buffer::Buffer;

/// The round. The marker in it stands for a flow of weight 1 that always waits: its grants are the
/// virtual time.
#[derive(Debug)]
pub(super) struct DeficitRoundRobin {
    /// Whose turn it is; it has been granted its quantum.
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

    /// What the marker has been granted since the restart, in bytes.
    pub(super) fn advance_bytes(&self) -> f64 {
        self.rounds as f64 * self.quantum
    }

    /// Counts the advance afresh.
    pub(super) fn restart_advance(&mut self) {
        self.rounds = 0;
    }

    /// A flow that waits joins the end of the round.
    pub(super) fn join(&mut self, flows: &mut Flows, slot: u32) {
        // Alone it need not wait for the marker, which sends nothing.
        let is_alone = flows.first(self.marker).is_none();
        flows.link(slot, self.first);
        flows[slot].tag = 0;
        if is_alone {
            self.begin_turn(flows, slot);
        }
    }

    /// The first packet of `flow` leaves, which has so many bytes.
    #[inline]
    pub(super) fn on_service(flow: &mut Flow, bytes: u32) {
        flow.tag -= u64::from(bytes);
    }

    /// A flow that waits no more leaves, and what is left of its grants lapses. False: nothing need
    /// be known of it any longer.
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

    /// The flow whose first packet is the next of the buffer, which holds one at least.
    #[inline]
    pub(super) fn next(&mut self, flows: &mut Flows, buffer: &Buffer) -> u32 {
        loop {
            let slot = self.first;
            let flow = &flows[slot];
            let covers = |packet: &Event| u64::from(packet.bytes()) <= flow.tag;
            // Most have spent all of it, which takes no look at the packet.
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
