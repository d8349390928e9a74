//! The bytes of the packets inside a link.

/// Largest packet that a link takes, in bytes.
pub const MAX_PACKET_BYTES: usize = 9_216;

/// Packets by slot. A slot is reused when its packet has left, and keeps its memory.
#[derive(Debug, Default)]
pub struct PacketStore {
    slots: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl PacketStore {
    /// Stores a copy of a packet.
    pub fn insert(&mut self, packet: &[u8]) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Vec::with_capacity(packet.len()));
            self.slots.len() as u32 - 1
        });
        let place = &mut self.slots[slot as usize];
        place.clear();
        place.extend_from_slice(packet);
        slot
    }

    /// The packet in a slot.
    pub fn get_mut(&mut self, slot: u32) -> &mut [u8] {
        &mut self.slots[slot as usize]
    }

    /// Frees a slot.
    pub fn remove(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there is no packet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
