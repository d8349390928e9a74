//! The data of packets and ACKs that do not fit into the 24 bytes of an event: ACKs, the send times
//! of packets that are older than the event's field can hold, and the waits of packets at previous
//! links. The event holds the slot in the store in place of the sequence number.

use super::schedule::Schedule;
use crate::packet::in_network::Event;
use crate::packet::{Ack, StoredAck};
use crate::units::Time;

/// Both stores of a run.
#[derive(Debug, Default)]
pub(super) struct Stores {
    pub(super) acks: AckStore,
    pub(super) kept_packets: KeptPackets,
}

impl Stores {
    /// Memory of the ACKs, in bytes. The memory of kept packets is claimed from the schedule.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.acks.stored.capacity() * size_of::<StoredAck>()) as u64
    }
}

/// ACKs that are in shared queues.
#[derive(Debug, Default)]
pub(super) struct AckStore {
    stored: Vec<StoredAck>,
    free: Vec<u32>,
}

impl AckStore {
    pub(super) fn put(&mut self, ack: Ack<'_>) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
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

    /// Number of stored entries.
    pub(super) fn held(&self) -> usize {
        self.stored.len() - self.free.len()
    }
}

/// Packets that are older than the 140 s that an event can hold, or have waited at a previous link.
#[derive(Debug, Default)]
pub(super) struct KeptPackets {
    stored: Vec<KeptPacket>,
    free: Vec<u32>,
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
    /// as it is if `schedule` has no memory left, which ends the run.
    #[cold]
    pub(super) fn keep(&mut self, event: Event, sent: Time, schedule: &mut Schedule) -> Event {
        let slot = self.put(sent, event.slot(), Time::ZERO, schedule);
        slot.map_or(event, |slot| event.kept_in(slot))
    }

    /// Adds the wait at a link to a packet that continues to the next link. The event is passed by
    /// value, so that it stays in registers.
    #[inline]
    pub(super) fn add_wait(
        &mut self,
        event: Event,
        waited: Time,
        schedule: &mut Schedule,
    ) -> Event {
        if event.is_kept() {
            self.stored[event.slot() as usize].waited += waited;
            return event;
        }
        let slot = self.put(event.sent(), event.slot(), waited, schedule);
        slot.map_or(event, |slot| event.kept_in(slot))
    }

    /// Stores a packet; `None` if `schedule` has no memory left.
    #[inline(never)]
    fn put(
        &mut self,
        sent: Time,
        sequence: u32,
        waited: Time,
        schedule: &mut Schedule,
    ) -> Option<u32> {
        let packet = KeptPacket { sent, waited, sequence };
        if let Some(slot) = self.free.pop() {
            self.stored[slot as usize] = packet;
            return Some(slot);
        }
        if self.stored.len() == self.stored.capacity() && !self.enlarge(schedule) {
            return None;
        }
        self.stored.push(packet);
        Some(self.stored.len() as u32 - 1)
    }

    #[cold]
    fn enlarge(&mut self, schedule: &mut Schedule) -> bool {
        let more = (self.stored.len() / 8).max(64);
        // A slot, and its index in the list of free slots.
        let bytes = more * (size_of::<KeptPacket>() + 2 * size_of::<u32>());
        let has_room = schedule.claim(bytes as u64);
        if has_room {
            self.stored.reserve_exact(more);
        }
        has_room
    }

    /// Total wait of a packet at the previous links.
    #[inline]
    pub(super) fn waited(&self, event: Event) -> Time {
        if event.is_kept() { self.stored[event.slot() as usize].waited } else { Time::ZERO }
    }

    /// Frees the slot of a packet at the end of its path; returns its event with the sequence
    /// number, and its send time.
    #[inline]
    pub(super) fn take(&mut self, event: Event) -> (Event, Time) {
        let (sequence, sent) = self.release(event.slot());
        (event.with_slot(sequence), sent)
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
