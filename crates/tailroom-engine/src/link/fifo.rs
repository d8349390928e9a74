//! The packets that wait behind an arrival rule, first in, first out: a ring buffer that grows.

use crate::units::Time;

/// A packet whose transmission has not begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Start of its transmission.
    pub start: Time,
    /// When it arrived.
    pub arrival: Time,
    /// Its size on the wire.
    pub bytes: u32,
    /// Its class of traffic.
    pub class: u32,
}

/// What lies behind the last packet: a transmission that never begins.
const END: Waiting = Waiting { start: Time::NEVER, arrival: Time::NEVER, bytes: 0, class: 0 };

/// Packets in order of transmission.
#[derive(Clone, Debug)]
pub struct Fifo {
    head: u64,
    tail: u64,
    bytes: u64,
    /// The length is a power of two. [`END`] stands behind the last packet, so that one comparison
    /// per arrival shows whether any transmission has begun.
    ring: Vec<Waiting>,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { head: 0, tail: 0, bytes: 0, ring: vec![END; 64] }
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

    /// Adds a packet behind all others, with its transmission no earlier than theirs and before
    /// [`Time::NEVER`].
    #[inline]
    pub fn push(&mut self, packet: Waiting) {
        if self.len() + 1 == self.ring.len() as u64 {
            self.grow();
        }
        let mask = self.ring.len() - 1;
        self.ring[self.tail as usize & mask] = packet;
        self.tail += 1;
        self.ring[self.tail as usize & mask].start = Time::NEVER;
        self.bytes += u64::from(packet.bytes);
    }

    /// Removes the next packet whose transmission begins at `now` or before; returns it with the
    /// number of packets that waited before its removal.
    #[expect(clippy::inline_always, reason = "in the loop over packets; a call costs 4 % of a hop")]
    #[inline(always)]
    pub fn pop_due(&mut self, now: Time) -> Option<(Waiting, u64)> {
        let first = self.ring[self.head as usize & (self.ring.len() - 1)];
        if first.start > now || self.head == self.tail {
            return None;
        }
        let waited = self.tail - self.head;
        self.head += 1;
        self.bytes -= u64::from(first.bytes);
        Some((first, waited))
    }

    /// When the transmission of the next packet begins; [`Time::NEVER`] if none waits.
    pub fn next_start(&self) -> Time {
        self.ring[self.head as usize & (self.ring.len() - 1)].start
    }

    /// Memory of the ring in bytes; for a large ring, its memory after `packets` more packets.
    pub fn memory_bytes_within(&self, packets: u64) -> u64 {
        let places = self.ring.len() as u64;
        let doubles = places >= packets && self.len() + packets > places;
        let places = if doubles { 2 * places } else { places };
        places * size_of::<Waiting>() as u64
    }

    #[cold]
    fn grow(&mut self) {
        let start = self.head as usize & (self.ring.len() - 1);
        self.ring.rotate_left(start);
        (self.head, self.tail) = (0, self.len());
        self.ring.resize(2 * self.ring.len(), END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_while_it_grows() {
        let mut fifo = Fifo::default();
        let packet = |number: u64| {
            let start = Time::from_picoseconds(number);
            Waiting { start, arrival: Time::ZERO, bytes: 10, class: 0 }
        };
        let mut taken = 0;
        let mut take_until = |fifo: &mut Fifo, now| {
            while let Some((next, waited)) = fifo.pop_due(now) {
                assert_eq!(next, packet(taken));
                assert!(waited > 0);
                taken += 1;
            }
            taken
        };
        for number in 0..1_000 {
            fifo.push(packet(number));
            if number % 3 == 0 {
                let taken = take_until(&mut fifo, Time::from_picoseconds(number / 3));
                assert_eq!(taken, number / 3 + 1);
            }
        }
        assert_eq!((fifo.len(), fifo.bytes()), (1_000 - 334, (1_000 - 334) * 10));
        assert_eq!(take_until(&mut fifo, Time::from_picoseconds(333)), 334, "nothing has begun");
        assert_eq!(take_until(&mut fifo, Time::NEVER), 1_000);
        assert!(fifo.is_empty());
    }
}
