//! Plain data that travels: data packets, acknowledgements, ranges of sequence numbers.
//!
//! Sequence numbers count packets, not bytes: every data packet of a flow is of one size, so byte
//! arithmetic would only add rounding.

pub mod in_network;

use crate::units::Time;

/// The ECN field of the IP header (RFC 3168 sec. 5), its two bits as the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport cannot be told of congestion by a mark.
    #[default]
    NotEct = 0b00,
    /// Capable; RFC 9331 makes it the mark of a scalable (L4S) control.
    Ect1 = 0b01,
    /// Capable.
    Ect0 = 0b10,
    /// Congestion was experienced.
    Ce = 0b11,
}

impl Ecn {
    /// From the two bits of the field.
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Whether a queue may mark the packet instead of dropping it.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }
}

/// Largest packet in bytes: the length field of an IP header has 16 bits.
pub const MAX_PACKET_BYTES: u32 = 65_535;

/// A data packet on its way to the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Position in the flow, from 0.
    pub sequence: u64,
    /// Size on the wire.
    pub bytes: u32,
    /// When the sender handed it to its access link: the timestamp of RFC 7323.
    pub sent: Time,
    /// Whether it has been sent before.
    pub is_retransmission: bool,
    /// What queues may do, or have done, instead of dropping it.
    pub ecn: Ecn,
    /// Congestion Window Reduced: the sender has answered the echo (RFC 3168 sec. 6.1.2).
    pub is_cwr: bool,
}

/// The half-open range of sequence numbers `[start, end)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First sequence number inside.
    pub start: u64,
    /// First sequence number behind.
    pub end: u64,
}

impl Range {
    /// How many sequence numbers of this range lie below `edge`.
    #[inline]
    pub fn count_below(self, edge: u64) -> u64 {
        self.end.min(edge).saturating_sub(self.start)
    }

    /// How many sequence numbers it holds.
    #[inline]
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether it holds none.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// The most SACK blocks in an ACK: three, because timestamps take room too (RFC 2018 sec. 3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// An acknowledgement, its SACK blocks borrowed from whoever holds them.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// The next sequence number that the receiver expects.
    pub cumulative: u64,
    /// `sent` of the packet that the timestamp rule of RFC 7323 sec. 4.3 picks.
    pub echo: Time,
    /// Whether that packet was a retransmission (Karn's rule needs to know).
    pub echoes_retransmission: bool,
    /// ECN-Echo (RFC 3168 sec. 6.1.3): a mark has arrived that the sender has not answered yet. Never
    /// set with accurate feedback.
    pub ece: bool,
    /// With accurate feedback (RFC 9768), the marked packets that have arrived so far; its counter of
    /// three bits never wraps here. Zero without.
    pub marked_packets: u64,
    /// SACK blocks, the most recent first; at most [`MAX_SACK_BLOCKS`].
    pub blocks: &'a [Range],
}

/// An [`Ack`] that owns its blocks, for the time it spends in a shared queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredAck {
    cumulative: u64,
    echo: Time,
    marked_packets: u64,
    echoes_retransmission: bool,
    ece: bool,
    block_count: u8,
    blocks: [Range; MAX_SACK_BLOCKS],
}

impl StoredAck {
    /// The acknowledgement that is stored.
    pub fn ack(&self) -> Ack<'_> {
        Ack {
            cumulative: self.cumulative,
            echo: self.echo,
            echoes_retransmission: self.echoes_retransmission,
            ece: self.ece,
            marked_packets: self.marked_packets,
            blocks: &self.blocks[..usize::from(self.block_count)],
        }
    }
}

impl From<Ack<'_>> for StoredAck {
    fn from(ack: Ack<'_>) -> Self {
        let mut blocks = [Range::default(); MAX_SACK_BLOCKS];
        blocks[..ack.blocks.len()].copy_from_slice(ack.blocks);
        StoredAck {
            cumulative: ack.cumulative,
            echo: ack.echo,
            echoes_retransmission: ack.echoes_retransmission,
            ece: ack.ece,
            marked_packets: ack.marked_packets,
            block_count: ack.blocks.len() as u8,
            blocks,
        }
    }
}
