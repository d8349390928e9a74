//! Every packet that arrives at a link in a span of time: what it finds, and what becomes of it.
//!
//! A scheduler may drop or mark a packet long after it has arrived. Its entry is found again by the time
//! of its arrival, so that the record says what became of it in the end. Copies of one packet may arrive
//! at one instant: a partial ACK and a timeout can send the same one twice. They are told apart by what
//! drops them: a drop at the head takes the first that is still there, any other the last, which is the
//! one that has just arrived where a link refuses it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::Ecn;
use crate::packet::in_network::Event;
use crate::quantity::Duration;
use crate::queue::buffer::DropReason;
use crate::units::Time;

/// Which arrivals at a link are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ArrivalLogFile")]
pub struct ArrivalLogSpec {
    /// Arrivals from this time on.
    pub from: Duration,
    /// Arrivals before this time.
    pub to: Duration,
    /// The run ends with an error when more packets arrive in the span. Each takes some 60 bytes.
    #[serde(default = "ten_million")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub most_packets: u64,
}

fn ten_million() -> u64 {
    10_000_000
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
        if self.list.len() as u64 == self.spec.most_packets {
            self.is_overfull = true;
            return;
        }
        let queue = u32::try_from(queue).unwrap_or(u32::MAX);
        self.list.push(Arrival { packet, queue, outcome: Outcome::Accepted });
    }

    /// The link dropped a packet, now or long after it arrived.
    pub fn on_drop(&mut self, packet: Event, reason: DropReason) {
        let mut copies = self.accepted_copies(packet);
        let (arrival, outcome) = match reason {
            DropReason::Overflow => (copies.next_back(), Outcome::Overflow),
            DropReason::Early => (copies.next_back(), Outcome::Early),
            DropReason::Head => (copies.next(), Outcome::Head),
        };
        if let Some(arrival) = arrival {
            arrival.outcome = outcome;
        }
    }

    /// A packet goes on with this ECN field.
    pub fn on_pass(&mut self, packet: Event) {
        if packet.ecn() != Ecn::Ce {
            return;
        }
        // A link does not mark what arrives marked.
        let mut unmarked = self.accepted_copies(packet).filter(|one| one.packet.ecn() != Ecn::Ce);
        if let Some(arrival) = unmarked.next_back() {
            arrival.outcome = Outcome::Marked;
        }
    }

    /// In order of time.
    pub fn list(&self) -> &[Arrival] {
        &self.list
    }

    fn covers(&self, time: Time) -> bool {
        self.spec.from.time() <= time && time < self.spec.to.time()
    }

    /// The arrivals of a packet that nothing has been done to: one, or several at one instant.
    fn accepted_copies(&mut self, packet: Event) -> impl DoubleEndedIterator<Item = &mut Arrival> {
        let first = self.list.partition_point(|one| one.packet.time() < packet.time());
        let after = self.list.partition_point(|one| one.packet.time() <= packet.time());
        self.list[first..after].iter_mut().filter(move |one| {
            one.outcome == Outcome::Accepted && one.packet.is_same_packet(packet)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    fn outcomes(reasons: &[DropReason]) -> Vec<Outcome> {
        let span =
            ArrivalLogSpec { from: Time::ZERO.into(), to: Time::NEVER.into(), most_packets: 10 };
        let mut arrivals = Arrivals::new(span);
        let packet = Packet { sequence: 9, bytes: 1_500, ..Packet::default() };
        let copy = Event::arrival(Time::from_milliseconds(930), 7, 0, &packet);
        let other = Event::arrival(Time::from_milliseconds(930), 8, 0, &packet);
        for (queue, packet) in [copy, other, copy, copy].into_iter().enumerate() {
            arrivals.on_arrival(packet, queue as u64);
        }
        for reason in reasons {
            arrivals.on_drop(copy, *reason);
        }
        arrivals.list().iter().map(|one| one.outcome).collect()
    }

    /// A partial ACK and a timeout may send the same packet at one instant.
    #[test]
    fn of_copies_that_arrive_at_one_instant_each_has_its_own_fate() {
        use Outcome::{Accepted, Early, Head, Overflow};
        assert_eq!(outcomes(&[DropReason::Overflow]), [Accepted, Accepted, Accepted, Overflow]);
        assert_eq!(outcomes(&[DropReason::Head]), [Head, Accepted, Accepted, Accepted]);
        let all = [DropReason::Early, DropReason::Head, DropReason::Overflow];
        assert_eq!(outcomes(&all), [Head, Accepted, Overflow, Early]);
    }
}
