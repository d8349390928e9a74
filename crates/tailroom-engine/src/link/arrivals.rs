//! Every packet that arrives at a link in a span of time: the queue that it finds, and its outcome.
//!
//! A scheduler may drop or mark a packet long after its arrival. The entry is found again by the
//! time of arrival, so that it holds the final outcome. Copies of one packet may arrive at one
//! instant: a partial ACK and a timeout can send the same packet twice. The reason of a drop tells
//! the copies apart: a drop at the head takes the first copy that is still in the queue, any other
//! drop takes the last copy, which has just arrived if the link refuses it.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::transit::Transit;
use crate::packet::{Ack, Ecn, Range};
use crate::quantity::Duration;
use crate::queue::buffer::DropReason;
use crate::units::Time;

/// The arrivals at a link that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ArrivalLogConfig")]
#[non_exhaustive]
pub struct ArrivalLogSpec {
    /// Start of the span: arrivals from this time on are recorded.
    pub from: Duration,
    /// End of the span: arrivals before this time are recorded.
    pub to: Duration,
    /// The most arrivals that may be recorded; the run ends with an error if more packets arrive in
    /// the span. An arrival takes about 130 bytes.
    #[serde(default = "ten_million")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub most_packets: u64,
}

impl ArrivalLogSpec {
    /// The arrivals from `from` until `to`, at most ten million.
    pub fn new(from: Duration, to: Duration) -> Self {
        ArrivalLogSpec { from, to, most_packets: ten_million() }
    }
}

fn ten_million() -> u64 {
    10_000_000
}

/// What became of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The link accepted the packet.
    Accepted,
    /// The link accepted and marked the packet.
    Marked,
    /// The link dropped the packet, on arrival or later.
    Dropped(DropReason),
}

impl Outcome {
    /// The word of each code.
    pub const WORDS: [&str; 2 + DropReason::COUNT] = {
        let mut words = ["accepted"; 2 + DropReason::COUNT];
        words[1] = "marked";
        words.split_at_mut(2).1.copy_from_slice(&DropReason::WORDS);
        words
    };

    /// The number of this outcome in tables.
    pub fn code(self) -> u8 {
        match self {
            Outcome::Accepted => 0,
            Outcome::Marked => 1,
            Outcome::Dropped(reason) => 2 + reason as u8,
        }
    }
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Data that are sent for the first time, or data of a flow without congestion control.
    #[default]
    Data = 0,
    /// Data that have been sent before.
    Retransmission = 1,
    /// An acknowledgement.
    Ack = 2,
}

/// Which packet of which flow arrives: the event holds only a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Position in the flow; of an ACK, the next position that it asks for.
    pub sequence: u64,
    /// When it left its sender; of an ACK, the arrival itself.
    pub sent: Time,
    /// When its flow began: the number of a flow that has departed is given to another.
    pub flow_start: Time,
    /// What it carries.
    pub content: Content,
    /// Its timestamps; zero without congestion control.
    pub timestamps: Timestamps,
    /// What its TCP header says of marks.
    pub feedback: EcnFeedback,
}

/// What the TCP header of a packet or ACK says of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnFeedback {
    /// ECN-Echo of an ACK (RFC 3168 sec. 6.1.3); never with accurate feedback.
    pub is_echo: bool,
    /// Congestion Window Reduced of a data packet (RFC 3168 sec. 6.1.2).
    pub is_cwr: bool,
    /// With accurate feedback (RFC 9768), the marked packets that the receiver of the data has had so
    /// far, modulo 2^32; of an ACK.
    pub marked_packets: u32,
}

impl EcnFeedback {
    /// That of an ACK.
    pub fn of_ack(ack: &Ack<'_>) -> Self {
        EcnFeedback { is_echo: ack.ece, is_cwr: false, marked_packets: ack.marked_packets as u32 }
    }
}

/// The timestamps of a packet (RFC 7323 sec. 3.2): clocks of milliseconds since the begin of the run,
/// modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// `TSval`: when the packet left its sender, or the ACK its receiver.
    pub value_ms: u32,
    /// `TSecr`: the timestamp of the packet that an ACK echoes, or of the ACK that a packet echoes; 0
    /// if there was none.
    pub echo_ms: u32,
}

/// A SACK block of an ACK that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// The place of the ACK in the log.
    pub arrival: usize,
    /// The packets that have arrived at the receiver.
    pub range: Range,
}

/// An arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The packet as it arrived.
    pub packet: Transit,
    /// Which packet it is.
    pub identity: Identity,
    /// Number of packets that it found waiting.
    pub queue: u32,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The arrivals at one link.
#[derive(Clone, Debug)]
pub struct Arrivals {
    spec: ArrivalLogSpec,
    list: Vec<Arrival>,
    blocks: Vec<SackBlock>,
    coming: Identity,
    /// Whether more packets arrived than may be recorded.
    pub is_overfull: bool,
}

impl Arrivals {
    /// An empty log.
    pub fn new(spec: ArrivalLogSpec) -> Self {
        Arrivals {
            spec,
            list: Vec::new(),
            blocks: Vec::new(),
            coming: Identity::default(),
            is_overfull: false,
        }
    }

    /// Tells which packet arrives next.
    pub fn announce(&mut self, identity: Identity) {
        self.coming = identity;
    }

    /// Tells which SACK blocks the ACK that arrives next at `time` carries, in their order.
    pub fn announce_blocks(&mut self, time: Time, blocks: impl Iterator<Item = Range>) {
        let arrival = self.list.len();
        if self.covers(time) && (arrival as u64) < self.spec.most_packets {
            self.blocks.extend(blocks.map(|range| SackBlock { arrival, range }));
        }
    }

    /// Records a packet that arrives and finds `queue` packets waiting; packets arrive in order of
    /// time.
    pub fn on_arrival(&mut self, packet: Transit, queue: u64) {
        if !self.covers(packet.time()) {
            return;
        }
        if self.list.len() as u64 == self.spec.most_packets {
            self.is_overfull = true;
            return;
        }
        let queue = u32::try_from(queue).unwrap_or(u32::MAX);
        let identity = self.coming;
        self.list.push(Arrival { packet, identity, queue, outcome: Outcome::Accepted });
    }

    /// Records that the link dropped a packet, now or long after its arrival.
    pub fn on_drop(&mut self, packet: Transit, reason: DropReason) {
        let mut copies = self.accepted_copies(packet);
        let arrival = match reason {
            DropReason::Head => copies.next(),
            _ => copies.next_back(),
        };
        if let Some(arrival) = arrival {
            arrival.outcome = Outcome::Dropped(reason);
        }
    }

    /// Records that a packet leaves the queue with this ECN field.
    pub fn on_pass(&mut self, packet: Transit) {
        if packet.ecn() != Ecn::Ce {
            return;
        }
        // A link does not mark what arrives marked.
        let mut unmarked = self.accepted_copies(packet).filter(|one| one.packet.ecn() != Ecn::Ce);
        if let Some(arrival) = unmarked.next_back() {
            arrival.outcome = Outcome::Marked;
        }
    }

    /// The arrivals in order of time.
    pub fn list(&self) -> &[Arrival] {
        &self.list
    }

    /// The SACK blocks of the arrivals, in their order.
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.blocks
    }

    /// Memory of the SACK blocks, in bytes; the arrivals are estimated before the run.
    pub fn blocks_bytes(&self) -> u64 {
        (self.blocks.capacity() * size_of::<SackBlock>()) as u64
    }

    fn covers(&self, time: Time) -> bool {
        self.spec.from.time() <= time && time < self.spec.to.time()
    }

    /// The arrivals of this packet that are neither dropped nor marked: one, or several copies at
    /// one instant.
    fn accepted_copies(
        &mut self,
        packet: Transit,
    ) -> impl DoubleEndedIterator<Item = &mut Arrival> {
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
        let copy = Transit::arrival(Time::from_milliseconds(930), 7, 0, &packet);
        let other = Transit::arrival(Time::from_milliseconds(930), 8, 0, &packet);
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
        use DropReason::{Early, Head, Overflow};
        use Outcome::{Accepted, Dropped};
        assert_eq!(outcomes(&[Overflow]), [Accepted, Accepted, Accepted, Dropped(Overflow)]);
        assert_eq!(outcomes(&[Head]), [Dropped(Head), Accepted, Accepted, Accepted]);
        let all = [Early, Head, Overflow];
        assert_eq!(outcomes(&all), [Dropped(Head), Accepted, Dropped(Overflow), Dropped(Early)]);
    }
}
