//! What the 24 bytes of an event cannot hold: ACKs, and when packets were sent that are older than an
//! event can say. The event carries the number of its place here where a packet has its sequence number.

use crate::packet::{Ack, StoredAck};
use crate::schedule::{Event, Schedule};
use crate::units::Time;

/// Both stores of a run.
#[derive(Debug, Default)]
pub(super) struct Stores {
    pub(super) acks: AckStore,
    pub(super) old_packets: OldPackets,
}

impl Stores {
    /// Memory that the ACKs take; that of old packets is claimed from the schedule.
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

    /// How many there are.
    pub(super) fn held(&self) -> usize {
        self.stored.len() - self.free.len()
    }
}

/// Packets that have been under way for longer than an event can say, 140 s.
#[derive(Debug, Default)]
pub(super) struct OldPackets {
    stored: Vec<OldPacket>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OldPacket {
    sent: Time,
    sequence: u32,
}

impl OldPackets {
    /// The event of a packet that was sent at `sent` and has just become too old; the same event if
    /// `schedule` has no memory left, and the run ends.
    #[cold]
    pub(super) fn keep(&mut self, event: Event, sent: Time, schedule: &mut Schedule) -> Event {
        let is_full = self.free.is_empty() && self.stored.len() == self.stored.capacity();
        if is_full && !self.enlarge(schedule) {
            return event;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.stored.push(OldPacket::default());
            self.stored.len() as u32 - 1
        });
        self.stored[slot as usize] = OldPacket { sent, sequence: event.slot() };
        event.with_slot(slot)
    }

    fn enlarge(&mut self, schedule: &mut Schedule) -> bool {
        let more = (self.stored.len() / 8).max(64);
        // A place, and its number when it is free.
        let bytes = more * (size_of::<OldPacket>() + 2 * size_of::<u32>());
        let has_room = schedule.claim(bytes as u64);
        if has_room {
            self.stored.reserve_exact(more);
        }
        has_room
    }

    /// The event with its sequence number again, and when the packet was sent, at the end of its way.
    #[cold]
    pub(super) fn take(&mut self, event: Event) -> (Event, Time) {
        let slot = event.slot();
        self.free.push(slot);
        let OldPacket { sent, sequence } = self.stored[slot as usize];
        (event.with_slot(sequence), sent)
    }

    /// How many there are.
    pub(super) fn held(&self) -> usize {
        self.stored.len() - self.free.len()
    }
}
