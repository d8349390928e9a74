//! What a scheduler of the caller's decides, and what it may know.

use crate::packet::Ecn;
use crate::packet::transit::Transit;
use crate::queue::buffer::{Buffer, DropReason, PacketList};
use crate::queue::{Gauge, Verdict};
use crate::units::Time;

/// A packet that arrives at a scheduler, or waits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueuedPacket {
    /// When it arrived.
    pub arrival: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// ECN field, which tells whether the packet may be marked.
    pub ecn: Ecn,
}

impl QueuedPacket {
    pub(super) fn of(packet: &Transit) -> Self {
        let (arrival, flow) = (packet.time(), packet.flow());
        QueuedPacket { arrival, flow, bytes: packet.bytes(), ecn: packet.ecn() }
    }
}

/// A list that holds packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingList {
    /// Its number.
    pub number: u32,
    /// Number of its packets.
    pub packets: u64,
    /// Sum of their sizes.
    pub bytes: u64,
    /// Its first packet, which leaves before the others.
    pub first: QueuedPacket,
}

/// The packets that wait, without the packet in transmission.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    pub(super) lists: &'a [(u32, PacketList)],
    pub(super) buffer: &'a Buffer,
}

impl Waiting<'_> {
    /// Number of packets in all lists.
    pub fn packets(&self) -> u64 {
        self.buffer.packets()
    }

    /// Sum of their sizes, in bytes.
    pub fn bytes(&self) -> u64 {
        self.buffer.bytes()
    }

    /// The lists that hold packets, by ascending number.
    pub fn lists(&self) -> impl Iterator<Item = WaitingList> + '_ {
        self.lists.iter().filter_map(|(number, list)| self.shown(*number, list))
    }

    /// The list of this number, if it holds packets.
    pub fn list(&self, number: u32) -> Option<WaitingList> {
        let at = self.lists.binary_search_by_key(&number, |list| list.0).ok()?;
        self.shown(number, &self.lists[at].1)
    }

    fn shown(&self, number: u32, list: &PacketList) -> Option<WaitingList> {
        let first = QueuedPacket::of(self.buffer.front(list)?);
        Some(WaitingList { number, packets: list.packets(), bytes: list.bytes(), first })
    }
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It waits at the end of the list of this number.
    Append(u32),
    /// It is marked and waits there; allowed only for ECN-capable packets.
    MarkAndAppend(u32),
    /// It is dropped.
    Drop(DropReason),
}

/// A scheduler of the caller's. Packets wait in lists that it numbers; a list exists while it holds
/// packets.
pub trait CustomScheduler {
    /// Decides about an arriving packet, which `waiting` does not hold yet. `fits` says whether the
    /// buffer has room for it.
    fn on_arrival(&mut self, packet: &QueuedPacket, fits: bool, waiting: &Waiting<'_>)
    -> Placement;

    /// Returns the list whose first packet is dropped, since the buffer is too small for `waiting`, in
    /// which `arrived` is the last packet of its list. Called until there is room. `None`: the arriving
    /// packet is dropped.
    fn make_room(&mut self, _arrived: &QueuedPacket, _waiting: &Waiting<'_>) -> Option<u32> {
        None
    }

    /// Returns the list whose first packet would be sent at `now`. Some list holds packets.
    fn next_packet(&mut self, now: Time, waiting: &Waiting<'_>) -> Option<u32>;

    /// Decides about that packet, which `waiting` no longer holds: it is sent, marked and sent, or
    /// dropped, so that [`CustomScheduler::next_packet`] is called again if packets wait.
    fn on_departure(
        &mut self,
        _now: Time,
        _packet: &QueuedPacket,
        _waiting: &Waiting<'_>,
    ) -> Verdict {
        Verdict::Accept
    }

    /// Returns the internal quantities to report at `now`. Their names and order never change.
    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        Vec::new()
    }

    /// What has failed in the scheduler since the last call, if anything has; the run then ends.
    fn failure(&mut self) -> Option<String> {
        None
    }
}
