//! The packets that wait behind an admission rule, first in, first out: a ring buffer that grows.

use crate::units::Time;

/// A packet whose transmission has not begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Start of its transmission.
    pub start: Time,
    /// Its size on the wire.
    pub bytes: u32,
}

/// Packets in order of transmission.
#[derive(Debug)]
pub struct Fifo {
    /// Start of the first transmission; [`Time::NEVER`] if the FIFO is empty. One comparison per
    /// arrival shows whether any transmission has begun.
    next_start: Time,
    head: u64,
    tail: u64,
    bytes: u64,
    /// The length is a power of two.
    ring: Vec<Waiting>,
}

impl Default for Fifo {
    fn default() -> Self {
        let ring = vec![Waiting::default(); 64];
        Fifo { next_start: Time::NEVER, head: 0, tail: 0, bytes: 0, ring }
    }
}

impl Fifo {
    /// Number of packets that wait.
    #[inline]
    pub fn len(&self) -> u64 {
        self.tail - self.head
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Total size of the packets that wait, in bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a packet behind all others, with its transmission no earlier than theirs.
    #[inline]
    pub fn push(&mut self, packet: Waiting) {
        if self.len() == self.ring.len() as u64 {
            self.grow();
        }
        if self.is_empty() {
            self.next_start = packet.start;
        }
        let slot = self.slot(self.tail);
        self.ring[slot] = packet;
        self.tail += 1;
        self.bytes += u64::from(packet.bytes);
    }

    /// Removes and returns the first packet if its transmission begins at `now` or before.
    #[inline]
    pub fn pop_until(&mut self, now: Time) -> Option<Waiting> {
        if self.next_start > now {
            return None;
        }
        let packet = self.ring[self.slot(self.head)];
        self.head += 1;
        self.bytes -= u64::from(packet.bytes);
        self.next_start =
            if self.is_empty() { Time::NEVER } else { self.ring[self.slot(self.head)].start };
        Some(packet)
    }

    /// Memory of the ring in bytes; for a large ring, its memory after `packets` more packets.
    pub fn memory_bytes_within(&self, packets: u64) -> u64 {
        let places = self.ring.len() as u64;
        let doubles = places >= packets && self.len() + packets > places;
        let places = if doubles { 2 * places } else { places };
        places * size_of::<Waiting>() as u64
    }

    #[inline]
    fn slot(&self, position: u64) -> usize {
        position as usize & (self.ring.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let start = self.slot(self.head);
        self.ring.rotate_left(start);
        (self.head, self.tail) = (0, self.ring.len() as u64);
        self.ring.resize(2 * self.ring.len(), Waiting::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_while_it_grows() {
        let mut fifo = Fifo::default();
        let packet = |number: u64| Waiting { start: Time::from_picoseconds(number), bytes: 10 };
        let mut popped = 0;
        for number in 0..1_000 {
            fifo.push(packet(number));
            if number % 3 == 0 {
                assert_eq!(fifo.pop_until(Time::NEVER), Some(packet(popped)));
                popped += 1;
            }
        }
        assert_eq!((fifo.len(), fifo.bytes()), (1_000 - popped, (1_000 - popped) * 10));
        assert_eq!(fifo.pop_until(Time::from_picoseconds(popped - 1)), None);
        while let Some(next) = fifo.pop_until(Time::from_picoseconds(2_000)) {
            assert_eq!(next, packet(popped));
            popped += 1;
        }
        assert!(fifo.is_empty() && popped == 1_000);
    }
}
