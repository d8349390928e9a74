//! Every packet that arrives at a link in a span of time: what it finds, and what becomes of it.
//!
//! A scheduler may drop or mark a packet long after it has arrived. Its entry is found again by the time
//! of its arrival, so that the record says what became of it in the end.

use crate::packet::Ecn;
use crate::queue::buffer::DropReason;
use crate::schedule::Event;
use crate::units::Time;

/// Which arrivals are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalLogSpec {
    /// From this instant on.
    pub from: Time,
    /// Until this instant, which is outside.
    pub to: Time,
    /// A run with more of them ends with an error.
    pub most_packets: usize,
}

/// What became of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Taken in.
    Accepted = 0,
    /// Taken in, and marked by this link.
    Marked = 1,
    /// Dropped because the buffer was full, on arrival or later.
    Overflow = 2,
    /// Dropped early.
    Early = 3,
    /// Dropped at the head of its queue.
    Head = 4,
}

/// An arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Which packet, as it arrived.
    pub packet: Event,
    /// Packets that it finds waiting.
    pub queue: u32,
    /// What became of it.
    pub outcome: Outcome,
}

/// The arrivals at one link.
#[derive(Clone, Debug)]
pub struct Arrivals {
    spec: ArrivalLogSpec,
    list: Vec<Arrival>,
    /// Whether one more came than may.
    pub is_overfull: bool,
}

impl Arrivals {
    /// None so far.
    pub fn new(spec: ArrivalLogSpec) -> Self {
        Arrivals { spec, list: Vec::new(), is_overfull: false }
    }

    /// A packet arrives and finds `queue` packets waiting; packets come in order of time.
    pub fn on_arrival(&mut self, packet: Event, queue: u64) {
        if !self.covers(packet.time()) {
            return;
        }
        if self.list.len() == self.spec.most_packets {
            self.is_overfull = true;
            return;
        }
        let queue = u32::try_from(queue).unwrap_or(u32::MAX);
        self.list.push(Arrival { packet, queue, outcome: Outcome::Accepted });
    }

    /// The link dropped a packet, now or long after it arrived.
    pub fn on_drop(&mut self, packet: Event, reason: DropReason) {
        if let Some(arrival) = self.find(packet) {
            arrival.outcome = match reason {
                DropReason::Overflow => Outcome::Overflow,
                DropReason::Early => Outcome::Early,
                DropReason::Head => Outcome::Head,
            };
        }
    }

    /// A packet goes on with this ECN field.
    pub fn on_pass(&mut self, packet: Event) {
        if packet.ecn() != Ecn::Ce {
            return;
        }
        // A link does not mark what arrives marked.
        if let Some(arrival) = self.find(packet).filter(|one| one.packet.ecn() != Ecn::Ce) {
            arrival.outcome = Outcome::Marked;
        }
    }

    /// In order of time.
    pub fn list(&self) -> &[Arrival] {
        &self.list
    }

    fn covers(&self, time: Time) -> bool {
        self.spec.from <= time && time < self.spec.to
    }

    fn find(&mut self, packet: Event) -> Option<&mut Arrival> {
        if !self.covers(packet.time()) {
            return None;
        }
        let first = self.list.partition_point(|one| one.packet.time() < packet.time());
        self.list[first..].iter_mut().find(|one| one.packet.is_same_packet(packet))
    }
}
