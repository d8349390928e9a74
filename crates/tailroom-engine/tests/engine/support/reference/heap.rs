//! The events of the reference loop and their order, by a plain binary heap.
//!
//! Events of one instant come in the order of [`Rank`]: what leaves the shared links, what is private to a flow before arrivals
//! at shared links, a packet before the receiver's timer, an ACK before the sender's; flows begin when
//! all completions of the instant are known, on which some follow; then, at shared links, by the turn
//! of the flow at that instant; then by flow, by hop, and by insertion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailroom_engine::observe::Timestamps;
use tailroom_engine::packet::ties::{Ties, turn};
use tailroom_engine::packet::{Packet, StoredAck};
use tailroom_engine::units::Time;

use super::flows::milliseconds;

/// When an ACK left its receiver, and when the packet that it echoes left its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) left: Time,
    pub(super) echo: Time,
}

impl Stamp {
    pub(super) fn timestamps(self) -> Timestamps {
        Timestamps { value_ms: milliseconds(self.left), echo_ms: milliseconds(self.echo) }
    }
}

/// What happens, and what is needed for it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happening {
    /// A data packet reaches the far end of the last link of its path, which it left at this time.
    ReachFarEnd(Packet, Time),
    /// An ACK reaches the far end of the last link of its path.
    AckAtFarEnd(StoredAck, Stamp),
    /// A data packet reaches the receiver; it left the last link of its path at this time.
    ReachReceiver(Packet, Time),
    /// A delayed ACK may be due.
    ReceiverTimer,
    /// An ACK reaches the sender.
    ReachSender(StoredAck, Stamp),
    /// A timeout or a paced release may be due.
    SenderTimer,
    /// An unresponsive source emits a packet of this size.
    Emission(u32),
    /// A packet reaches the flow's access link.
    ReachAccess(Packet),
    /// A packet reaches the shared link at this position of the forward path. The time is what it
    /// has waited at the links before.
    PacketAtLink(usize, Packet, Time),
    /// An ACK reaches the shared link at this position of the reverse path.
    AckAtLink(usize, StoredAck, Stamp),
    /// The scheduler of a shared link sends its next packet; no flow's, but the link's.
    Service,
    /// A pool drops the head of a queue; no flow's, but the pool's.
    HeadDrop,
    /// A dynamic flow arrives; it has no number yet.
    FlowArrives,
}

/// Order of happenings of one instant; derived from the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    FarEnd,
    Receiver,
    ReceiverTimer,
    Sender,
    SenderTimer,
    FlowArrival,
    Access,
    Service,
    HeadDrop,
    Link,
}

impl Happening {
    fn rank(&self) -> Rank {
        match self {
            Happening::ReachFarEnd(..) | Happening::AckAtFarEnd(..) => Rank::FarEnd,
            Happening::ReachReceiver(..) => Rank::Receiver,
            Happening::ReceiverTimer => Rank::ReceiverTimer,
            Happening::ReachSender(..) => Rank::Sender,
            Happening::SenderTimer | Happening::Emission(_) => Rank::SenderTimer,
            Happening::ReachAccess(_) => Rank::Access,
            Happening::Service => Rank::Service,
            Happening::HeadDrop => Rank::HeadDrop,
            Happening::FlowArrives => Rank::FlowArrival,
            Happening::PacketAtLink(..) | Happening::AckAtLink(..) => Rank::Link,
        }
    }

    /// Position in the flow's circuit; a packet and an ACK of one flow may meet at a link.
    fn hop(&self) -> usize {
        match self {
            Happening::PacketAtLink(hop, ..) => *hop,
            Happening::AckAtLink(hop, ..) => REVERSE + *hop,
            _ => 0,
        }
    }
}

/// More hops than a path can have, so that ACKs come behind the data of their flow.
const REVERSE: usize = 1_000;

/// A happening of a flow at a time; ordered by `key` alone.
#[derive(Debug)]
struct Scheduled {
    key: (Time, Rank, usize, usize, u64),
    flow: usize,
    happening: Happening,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Scheduled {}
impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// The order of the arrivals at shared links of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TieBreak {
    /// By turn, by hop, and by insertion, as the engine has it.
    ByTurn(Ties),
    /// The last flow first, which is wrong: a test shows that the comparison notices.
    LastFlowFirst,
}

/// The events that are still to come.
#[derive(Debug)]
pub(super) struct Heap {
    tie_break: TieBreak,
    seed: u64,
    pending: BinaryHeap<Reverse<Scheduled>>,
    inserted: u64,
}

impl Heap {
    pub(super) fn new(tie_break: TieBreak, seed: u64) -> Self {
        Heap { tie_break, seed, pending: BinaryHeap::new(), inserted: 0 }
    }

    pub(super) fn push(&mut self, time: Time, flow: usize, happening: Happening) {
        self.inserted += 1;
        let rank = happening.rank();
        let place = match self.tie_break {
            _ if rank != Rank::Link => flow,
            TieBreak::ByTurn(ties) => turn(ties, self.seed, time, flow as u32) as usize,
            TieBreak::LastFlowFirst => usize::MAX - flow,
        };
        let key = (time, rank, place, happening.hop(), self.inserted);
        self.pending.push(Reverse(Scheduled { key, flow, happening }));
    }

    /// Takes the next event, with its time and its flow, if it comes before `end`.
    pub(super) fn take_before(&mut self, end: Time) -> Option<(Time, usize, Happening)> {
        self.pending.peek().filter(|Reverse(next)| next.key.0 < end)?;
        let Reverse(next) = self.pending.pop()?;
        Some((next.key.0, next.flow, next.happening))
    }
}
