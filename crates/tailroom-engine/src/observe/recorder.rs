//! A bounded record of packets, each with the last act at its place.
//!
//! A scheduler may drop or mark a packet long after its arrival. The row is found again by the time of
//! arrival, so that it holds the final outcome. Copies of one packet may arrive at one instant: a partial
//! ACK and a timeout can send the same packet twice. The reason of a drop tells the copies apart: a drop at
//! the head takes the first copy that is still in the queue, any other drop takes the last copy, which has
//! just arrived if the link refuses it.

use super::{Act, Observed, SackBlock};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::transit::Transit;
use crate::packet::{Ecn, Range};
use crate::quantity::Duration;
use crate::queue::buffer::DropReason;

/// The packets at a link, or at the ends of a group's flows, that are recorded.
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

/// The packets at one link, or at the ends of all connections.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// At a link, one; at ends, by group.
    bounds: Vec<Bound>,
    rows: Vec<Observed>,
    blocks: Vec<SackBlock>,
}

/// What is recorded at most.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Nothing is recorded without one.
    span: Option<ArrivalLogSpec>,
    recorded: u64,
    is_overfull: bool,
}

impl Recorder {
    /// An empty record with these bounds.
    pub fn new(bounds: impl IntoIterator<Item = Option<ArrivalLogSpec>>) -> Self {
        let bound = |span| Bound { span, recorded: 0, is_overfull: false };
        Recorder { bounds: bounds.into_iter().map(bound).collect(), ..Recorder::default() }
    }

    /// Whether there is a span under this bound.
    pub fn records(&self, bound: usize) -> bool {
        self.bounds[bound].span.is_some()
    }

    /// Records a packet with its SACK blocks, in their order, if it is in the span of a bound and there is
    /// room.
    pub fn record(
        &mut self,
        bound: usize,
        packet: Observed,
        blocks: impl IntoIterator<Item = Range>,
    ) {
        let Bound { span: Some(span), recorded, is_overfull } = &mut self.bounds[bound] else {
            return;
        };
        let time = packet.packet.time();
        if time < span.from.time() || time >= span.to.time() {
            return;
        }
        if *recorded == span.most_packets {
            *is_overfull = true;
            return;
        }
        *recorded += 1;
        let row = self.rows.len();
        self.rows.push(packet);
        self.blocks.extend(blocks.into_iter().map(|range| SackBlock { row, range }));
    }

    /// The first bound under which there are more packets than may be recorded, and how many may be.
    pub fn overfull(&self) -> Option<(usize, u64)> {
        let bound = self.bounds.iter().position(|bound| bound.is_overfull)?;
        Some((bound, self.bounds[bound].recorded))
    }

    /// The link drops a packet, now or long after its arrival; its packets were recorded in order of time.
    pub fn on_drop(&mut self, packet: Transit, reason: DropReason) {
        let mut copies = self.accepted_copies(packet);
        let copy = match reason {
            DropReason::Head => copies.next(),
            _ => copies.next_back(),
        };
        if let Some(copy) = copy {
            copy.act = Act::Dropped(reason);
        }
    }

    /// A packet leaves the queue of the link with this ECN field.
    pub fn on_pass(&mut self, packet: Transit) {
        if packet.ecn() != Ecn::Ce {
            return;
        }
        // A link does not mark what arrives marked.
        let mut unmarked = self.accepted_copies(packet).filter(|one| one.packet.ecn() != Ecn::Ce);
        if let Some(copy) = unmarked.next_back() {
            copy.act = Act::Marked;
        }
    }

    /// Puts the packets and their SACK blocks in order of time; those of one instant stay in that of the run.
    pub fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].packet.time());
        let mut place = vec![0; order.len()];
        for (at, row) in order.iter().enumerate() {
            place[*row] = at;
        }
        self.blocks.iter_mut().for_each(|block| block.row = place[block.row]);
        self.blocks.sort_by_key(|block| block.row);
        self.rows = order.into_iter().map(|row| self.rows[row]).collect();
    }

    /// The packets.
    pub fn packets(&self) -> &[Observed] {
        &self.rows
    }

    /// The SACK blocks, in the order of their packets.
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.blocks
    }

    /// Memory of the SACK blocks, in bytes; that of the packets is estimated before the run.
    pub fn blocks_bytes(&self) -> u64 {
        (self.blocks.capacity() * size_of::<SackBlock>()) as u64
    }

    /// The arrivals of this packet that are neither dropped nor marked: one, or several copies at one
    /// instant.
    fn accepted_copies(
        &mut self,
        packet: Transit,
    ) -> impl DoubleEndedIterator<Item = &mut Observed> {
        let first = self.rows.partition_point(|one| one.packet.time() < packet.time());
        let after = self.rows.partition_point(|one| one.packet.time() <= packet.time());
        self.rows[first..after]
            .iter_mut()
            .filter(move |one| one.act == Act::Arrived && one.packet.is_same_packet(packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Identity;
    use crate::packet::Packet;
    use crate::units::Time;

    fn outcomes(reasons: &[DropReason]) -> Vec<Act> {
        let span =
            ArrivalLogSpec { from: Time::ZERO.into(), to: Time::NEVER.into(), most_packets: 10 };
        let mut record = Recorder::new([Some(span)]);
        let packet = Packet { sequence: 9, bytes: 1_500, ..Packet::default() };
        let copy = Transit::arrival(Time::from_milliseconds(930), 7, 0, &packet);
        let other = Transit::arrival(Time::from_milliseconds(930), 8, 0, &packet);
        for packet in [copy, other, copy, copy] {
            let row =
                Observed { packet, identity: Identity::default(), queue: 0, act: Act::Arrived };
            record.record(0, row, []);
        }
        for reason in reasons {
            record.on_drop(copy, *reason);
        }
        record.rows.iter().map(|one| one.act).collect()
    }

    /// A partial ACK and a timeout may send the same packet at one instant.
    #[test]
    fn of_copies_that_arrive_at_one_instant_each_has_its_own_fate() {
        use Act::{Arrived, Dropped};
        use DropReason::{Early, Head, Overflow};
        assert_eq!(outcomes(&[Overflow]), [Arrived, Arrived, Arrived, Dropped(Overflow)]);
        assert_eq!(outcomes(&[Head]), [Dropped(Head), Arrived, Arrived, Arrived]);
        let all = [Early, Head, Overflow];
        assert_eq!(outcomes(&all), [Dropped(Head), Arrived, Dropped(Overflow), Dropped(Early)]);
    }
}
