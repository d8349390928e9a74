//! Packets that left before one that has arrived, and are not known to have arrived themselves: those
//! that RACK waits for (RFC 8985 sec. 6.2 step 5).

use std::collections::VecDeque;

use crate::units::Time;

/// When a packet left, and its sequence number.
pub(super) type Transmission = (Time, u64);

/// Suspects in the order in which they left. Those that arrive stay until they are at an end of the list,
/// so that each enters and leaves it once, whatever the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspects {
    list: VecDeque<Transmission>,
    /// Number of suspects that were looked at.
    #[cfg(test)]
    pub(super) looks: u64,
}

impl Suspects {
    /// Adds a packet that left at `sent`.
    pub(super) fn push(&mut self, sent: Time, sequence: u64) {
        self.list.push_back((sent, sequence));
    }

    /// A packet with a higher number left at `sent`: none of the list counts as sent later. The list is in
    /// the order of the numbers, in which packets are lost; it may hold retransmissions that left after
    /// the first transmission of a higher number, if a recovery was undone.
    pub(super) fn cap(&mut self, sent: Time) {
        for suspect in self.list.iter_mut().rev() {
            #[cfg(test)]
            (self.looks += 1);
            if suspect.0 <= sent {
                return;
            }
            suspect.0 = sent;
        }
    }

    /// The packet that left first.
    pub(super) fn first(&mut self, has_arrived: impl Fn(u64) -> bool) -> Option<Transmission> {
        while let Some(&(_, sequence)) = self.list.front()
            && has_arrived(sequence)
        {
            self.pop_first();
        }
        self.list.front().copied()
    }

    /// The packet that left last.
    pub(super) fn last(&mut self, has_arrived: impl Fn(u64) -> bool) -> Option<Transmission> {
        while let Some(&(_, sequence)) = self.list.back()
            && has_arrived(sequence)
        {
            #[cfg(test)]
            (self.looks += 1);
            self.list.pop_back();
        }
        self.list.back().copied()
    }

    /// Takes the packet that left first away.
    pub(super) fn pop_first(&mut self) {
        #[cfg(test)]
        (self.looks += 1);
        self.list.pop_front();
    }

    /// Takes this packet away.
    pub(super) fn remove(&mut self, sequence: u64) {
        self.list.retain(|suspect| suspect.1 != sequence);
    }

    /// Takes the packets from this one on away, of a list in the order of numbers.
    pub(super) fn truncate(&mut self, from: u64) {
        self.list.truncate(self.list.partition_point(|suspect| suspect.1 < from));
    }

    /// Takes all packets away.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.list.capacity() * size_of::<Transmission>()) as u64
    }
}
