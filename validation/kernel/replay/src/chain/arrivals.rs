//! The packets that have arrived, by the ACKs.

use std::collections::BTreeSet;

use super::recording::Received;

/// What the receiver has.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// The first packet that has not arrived.
    una: u64,
    /// Packets at or above `una`.
    beyond: BTreeSet<u64>,
    delivered: u64,
}

impl Arrivals {
    /// Takes in an ACK.
    pub fn take_in(&mut self, ack: &Received) {
        while self.una < ack.cumulative {
            self.delivered += u64::from(!self.beyond.remove(&self.una));
            self.una += 1;
        }
        for packet in ack.blocks.iter().flat_map(|block| block.start.max(self.una)..block.end) {
            self.delivered += u64::from(self.beyond.insert(packet));
        }
    }

    /// Number of packets that have arrived.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}
