//! What is on its way through the network: the agenda, and the data of packets and ACKs that do not
//! fit into the 24 bytes of an event, which are ACKs, the send times of packets that are older than
//! the event's field can hold, and the waits of packets at previous links. The event holds the slot in
//! the store in place of the sequence number.

use super::agenda::Agenda;
use super::far_ends::FarEnds;
use super::timestamps::TimestampClocks;
use crate::observe::ends::EndRecorder;
use crate::packet::transit::{MAX_SLOTS, Transit};
use crate::packet::{Ack, Packet, StoredAck};
use crate::units::Time;

/// The agenda of a run, both stores, and the timestamps if arrivals are recorded.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) agenda: Agenda,
    pub(super) acks: AckStore,
    pub(super) kept_packets: KeptPackets,
    pub(super) timestamps: Option<Box<TimestampClocks>>,
    /// Only together with timestamps.
    pub(super) ends: Option<Box<EndRecorder>>,
    /// Only where links reorder.
    pub(super) far_ends: Option<Box<FarEnds>>,
}

impl Pending {
    /// Nothing is on its way.
    pub(super) fn new(agenda: Agenda) -> Self {
        Pending {
            agenda,
            acks: AckStore::default(),
            kept_packets: KeptPackets::default(),
            timestamps: None,
            ends: None,
            far_ends: None,
        }
    }

    /// Puts a packet of `flow` into the agenda, which reaches its first link at `time`.
    #[expect(clippy::inline_always, reason = "two callers: the packet stays in registers")]
    #[inline(always)]
    pub(super) fn inject(&mut self, flow: u32, time: Time, packet: &Packet) {
        let mut transit = Transit::arrival(time, flow, 0, packet);
        if transit.is_kept() {
            transit = self.kept_packets.keep(transit, packet.sent, &mut self.agenda);
        }
        self.agenda.push(transit);
    }

    /// The send time of a packet at the end of its path, and the packet with its sequence number.
    #[inline]
    pub(super) fn take_sent(&mut self, packet: Transit) -> (Transit, Time) {
        if packet.is_kept() { self.kept_packets.take(packet) } else { (packet, packet.sent()) }
    }

    /// What [`Pending::take_sent`] returns, of a packet that stays in the network.
    pub(super) fn sent(&self, packet: Transit) -> (Transit, Time) {
        if packet.is_kept() { self.kept_packets.look(packet) } else { (packet, packet.sent()) }
    }

    /// Memory of the events and the ACKs, in bytes; that of kept packets is claimed from the agenda.
    pub(super) fn memory_bytes(&self) -> u64 {
        let acks = self.acks.stored.capacity() * size_of::<StoredAck>();
        let clocks = self.timestamps.as_ref().map_or(0, |clocks| clocks.memory_bytes());
        let ends = self.ends.as_ref().map_or(0, |ends| ends.memory_bytes());
        let far_ends = self.far_ends.as_ref().map_or(0, |far_ends| far_ends.memory_bytes());
        self.agenda.memory_bytes() + acks as u64 + clocks + ends + far_ends
    }
}

/// ACKs that are in shared queues.
#[derive(Clone, Debug)]
pub(super) struct AckStore {
    stored: Vec<StoredAck>,
    free: Vec<u32>,
    most_slots: usize,
}

impl Default for AckStore {
    fn default() -> Self {
        AckStore { stored: Vec::new(), free: Vec::new(), most_slots: MAX_SLOTS }
    }
}

impl AckStore {
    /// Stores an ACK. If no slot is left, the run ends, and the ACK takes the slot of another.
    pub(super) fn put(&mut self, ack: Ack<'_>, agenda: &mut Agenda) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            if self.stored.len() == self.most_slots {
                agenda.declare_full();
                return 0;
            }
            self.stored.push(StoredAck::default());
            self.stored.len() as u32 - 1
        });
        self.stored[slot as usize] = StoredAck::from(ack);
        slot
    }

    pub(super) fn take(&mut self, slot: u32) -> StoredAck {
        self.free.push(slot);
        self.stored[slot as usize]
    }

    /// The ACK in a slot.
    pub(super) fn look(&self, slot: u32) -> Ack<'_> {
        self.stored[slot as usize].ack()
    }

    /// Number of stored entries.
    pub(super) fn held(&self) -> usize {
        self.stored.len() - self.free.len()
    }
}

/// Packets that are older than the 140 s that an event can hold, or have waited at a previous link.
#[derive(Clone, Debug)]
pub(super) struct KeptPackets {
    stored: Vec<KeptPacket>,
    free: Vec<u32>,
    most_slots: usize,
}

impl Default for KeptPackets {
    fn default() -> Self {
        KeptPackets { stored: Vec::new(), free: Vec::new(), most_slots: MAX_SLOTS }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct KeptPacket {
    sent: Time,
    /// Total wait at the previous links.
    waited: Time,
    sequence: u32,
}

impl KeptPackets {
    /// Stores a packet that was sent at `sent`; returns its event with the slot. Returns the event
    /// as it is if `agenda` has no memory left, which ends the run.
    #[cold]
    fn keep(&mut self, packet: Transit, sent: Time, agenda: &mut Agenda) -> Transit {
        let slot = self.put(sent, packet.slot(), Time::ZERO, agenda);
        slot.map_or(packet, |slot| packet.kept_in(slot))
    }

    /// Adds the wait at a link to a packet that continues to the next link. The event is passed by
    /// value, so that it stays in registers.
    #[inline]
    pub(super) fn add_wait(
        &mut self,
        packet: Transit,
        waited: Time,
        agenda: &mut Agenda,
    ) -> Transit {
        if packet.is_kept() {
            self.stored[packet.slot() as usize].waited += waited;
            return packet;
        }
        let slot = self.put(packet.sent(), packet.slot(), waited, agenda);
        slot.map_or(packet, |slot| packet.kept_in(slot))
    }

    /// Stores a packet; `None` if no slot or no memory of `agenda` is left, which ends the run.
    #[inline(never)]
    fn put(&mut self, sent: Time, sequence: u32, waited: Time, agenda: &mut Agenda) -> Option<u32> {
        let packet = KeptPacket { sent, waited, sequence };
        if let Some(slot) = self.free.pop() {
            self.stored[slot as usize] = packet;
            return Some(slot);
        }
        if self.stored.len() == self.stored.capacity() && !self.enlarge(agenda) {
            return None;
        }
        self.stored.push(packet);
        Some(self.stored.len() as u32 - 1)
    }

    #[cold]
    fn enlarge(&mut self, agenda: &mut Agenda) -> bool {
        let more = (self.stored.len() / 8).max(64).min(self.most_slots - self.stored.len());
        if more == 0 {
            agenda.declare_full();
            return false;
        }
        // A slot, and its index in the list of free slots.
        let bytes = more * (size_of::<KeptPacket>() + 2 * size_of::<u32>());
        let has_room = agenda.claim(bytes as u64);
        if has_room {
            self.stored.reserve_exact(more);
        }
        has_room
    }

    /// Total wait of a packet at the previous links.
    #[inline]
    pub(super) fn waited(&self, packet: Transit) -> Time {
        if packet.is_kept() { self.stored[packet.slot() as usize].waited } else { Time::ZERO }
    }

    /// The event of a packet with its sequence number, and its send time.
    fn look(&self, packet: Transit) -> (Transit, Time) {
        let KeptPacket { sent, sequence, .. } = self.stored[packet.slot() as usize];
        (packet.with_slot(sequence), sent)
    }

    /// Frees the slot of a packet at the end of its path; returns its event with the sequence
    /// number, and its send time.
    #[inline]
    fn take(&mut self, packet: Transit) -> (Transit, Time) {
        let (sequence, sent) = self.release(packet.slot());
        (packet.with_slot(sequence), sent)
    }

    #[inline(never)]
    fn release(&mut self, slot: u32) -> (u32, Time) {
        self.free.push(slot);
        let KeptPacket { sent, sequence, .. } = self.stored[slot as usize];
        (sequence, sent)
    }

    /// Number of stored entries.
    pub(super) fn held(&self) -> usize {
        self.stored.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ties::{TieOrder, Ties};

    fn agenda() -> Agenda {
        let ties = TieOrder::new(Ties::ByChance, 1);
        Agenda::new(ties, 1e3, Time::from_milliseconds(1), Time::from_milliseconds(100))
    }

    #[test]
    fn a_run_ends_when_no_slot_is_left_for_an_ack() {
        let mut agenda = agenda();
        let mut acks = AckStore { most_slots: 2, ..AckStore::default() };
        let slots = [0, 1].map(|_| acks.put(StoredAck::default().ack(), &mut agenda));
        assert_eq!((slots, agenda.is_overfull()), ([0, 1], false));
        acks.take(1);
        assert_eq!(
            (acks.put(StoredAck::default().ack(), &mut agenda), agenda.is_overfull()),
            (1, false)
        );
        acks.put(StoredAck::default().ack(), &mut agenda);
        assert!(agenda.is_overfull());
    }

    #[test]
    fn a_run_ends_when_no_slot_is_left_for_a_packet() {
        let mut agenda = agenda();
        let mut packets = KeptPackets { most_slots: 100, ..KeptPackets::default() };
        for slot in 0..100 {
            assert_eq!(packets.put(Time::ZERO, 0, Time::ZERO, &mut agenda), Some(slot));
        }
        assert!(!agenda.is_overfull());
        assert_eq!(packets.put(Time::ZERO, 0, Time::ZERO, &mut agenda), None);
        assert!(agenda.is_overfull());
    }
}
