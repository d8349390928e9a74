//! Deficit round robin (Shreedhar, Varghese 1996): flows take turns; at its turn a flow is granted
//! its quantum and sends what that and the rest of its last turn cover.

use super::flows::{Flow, Flows};
use crate::queue::buffer::Buffer;
use crate::schedule::Event;

/// The round. The marker in it stands for a flow of weight 1 that always waits: its grants are the
/// virtual time.
#[derive(Debug)]
pub(super) struct DeficitRoundRobin {
    /// Whose turn it is, or the next one's.
    first: u32,
    marker: u32,
    /// Whether `first` has been granted its quantum in this turn.
    is_granted: bool,
    /// Turns of the marker since the restart.
    rounds: u64,
    /// The quantum of weight 1.
    quantum: f64,
}

impl DeficitRoundRobin {
    pub(super) fn new(flows: &mut Flows, quantum: f64) -> Self {
        let marker = flows.allocate();
        (flows[marker].next, flows[marker].previous) = (marker, marker);
        DeficitRoundRobin { first: marker, marker, is_granted: false, rounds: 0, quantum }
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
        let last = flows[self.first].previous;
        (flows[slot].next, flows[slot].previous) = (self.first, last);
        flows[last].next = slot;
        flows[self.first].previous = slot;
        flows[slot].tag = 0;
        if self.first == self.marker && last == self.marker {
            // Alone it need not wait for the marker, which sends nothing.
            self.first = slot;
        }
    }

    /// A flow that waits no more leaves, and what is left of its grants lapses. False: nothing need
    /// be known of it any longer.
    pub(super) fn leave(&mut self, flows: &mut Flows, slot: u32) -> bool {
        let Flow { next, previous, .. } = flows[slot];
        flows[previous].next = next;
        flows[next].previous = previous;
        if self.first == slot {
            (self.first, self.is_granted) = (next, false);
        }
        false
    }

    /// Takes the next packet of the buffer, which holds one at least; returns its flow too.
    pub(super) fn take(&mut self, flows: &mut Flows, buffer: &mut Buffer) -> Option<(Event, u32)> {
        if buffer.packets() == 0 {
            return None;
        }
        loop {
            let slot = self.first;
            let flow = &mut flows[slot];
            if let Some(packet) = buffer.front(&flow.line) {
                if !self.is_granted {
                    flow.tag += flow.share;
                    self.is_granted = true;
                }
                if u64::from(packet.bytes()) <= flow.tag {
                    flow.tag -= u64::from(packet.bytes());
                    return buffer.pop_front(&mut flow.line).map(|packet| (packet, slot));
                }
            }
            if slot == self.marker {
                self.rounds += 1;
            }
            (self.first, self.is_granted) = (flow.next, false);
        }
    }
}
