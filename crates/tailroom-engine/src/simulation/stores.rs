//! What the 24 bytes of an event cannot hold: ACKs; when packets were sent that are older than an event
//! can say; and what packets have waited at the links behind them. The event carries the number of its
//! place here where a packet has its sequence number.

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
    /// Memory that the ACKs take; that of kept packets is claimed from the schedule.
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

/// Packets of which an event cannot say all: those that have been under way for longer than it can say,
/// 140 s, and those that have waited at one link and come to the next.
#[derive(Debug, Default)]
pub(super) struct KeptPackets {
    stored: Vec<KeptPacket>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct KeptPacket {
    sent: Time,
    /// What it has waited in total at the links behind it.
    waited: Time,
    sequence: u32,
}

impl KeptPackets {
    /// The event of a packet that was sent at `sent` and is kept from now on; the same event if
    /// `schedule` has no memory left, and the run ends.
    #[cold]
    pub(super) fn keep(&mut self, event: Event, sent: Time, schedule: &mut Schedule) -> Event {
        let slot = self.put(sent, event.slot(), Time::ZERO, schedule);
        slot.map_or(event, |slot| event.kept_in(slot))
    }

    /// The packet that has waited for `waited` at a link and goes on to the next. Hands no address of the
    /// event on, which thus stays in registers.
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

    /// Takes in a packet; `None` if `schedule` has no memory left.
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
        // A place, and its number when it is free.
        let bytes = more * (size_of::<KeptPacket>() + 2 * size_of::<u32>());
        let has_room = schedule.claim(bytes as u64);
        if has_room {
            self.stored.reserve_exact(more);
        }
        has_room
    }

    /// What a packet has waited in total at the links behind it.
    #[inline]
    pub(super) fn waited(&self, event: Event) -> Time {
        if event.is_kept() { self.stored[event.slot() as usize].waited } else { Time::ZERO }
    }

    /// The event with its sequence number again, and when the packet was sent, at the end of its way.
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

    /// How many there are.
    pub(super) fn held(&self) -> usize {
        self.stored.len() - self.free.len()
    }
}
