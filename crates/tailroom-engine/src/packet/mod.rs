//! Plain data: data packets, acknowledgements, ranges of sequence numbers.
//!
//! Sequence numbers count packets, not bytes: all data packets of a flow have the same size, so
//! byte arithmetic would only add rounding.

pub mod addresses;
pub mod dscp;
pub mod ties;
#[doc(hidden)]
pub mod transit;

use crate::units::Time;

/// The ECN field of the IP header (RFC 3168 sec. 5), with its two bits as the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: a queue must drop the packet instead of marking it.
    #[default]
    NotEct = 0b00,
    /// ECN-capable; in RFC 9331, the identifier of scalable (L4S) congestion controls.
    Ect1 = 0b01,
    /// ECN-capable.
    Ect0 = 0b10,
    /// Congestion experienced: a queue has marked the packet.
    Ce = 0b11,
}

impl Ecn {
    /// Converts the two bits of the field.
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Returns whether a queue may mark the packet instead of dropping it.
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
    /// Position in the flow, starting at 0.
    pub sequence: u64,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// When the sender handed it to its access link: the timestamp of RFC 7323.
    pub sent: Time,
    /// Whether the packet has been sent before.
    pub is_retransmission: bool,
    /// ECN field: whether queues may mark the packet, or have marked it.
    pub ecn: Ecn,
    /// Congestion Window Reduced: the sender has responded to ECN-Echo (RFC 3168 sec. 6.1.2).
    pub is_cwr: bool,
}

/// The half-open range of sequence numbers `[start, end)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First sequence number in the range.
    pub start: u64,
    /// First sequence number after the range.
    pub end: u64,
}

impl Range {
    /// Returns how many sequence numbers of this range are below `edge`.
    #[inline]
    pub fn count_below(self, edge: u64) -> u64 {
        self.end.min(edge).saturating_sub(self.start)
    }

    /// Returns the number of sequence numbers.
    #[inline]
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Returns whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// Largest number of SACK blocks in an ACK: four fill the space of TCP options (RFC 2018 sec. 3).
pub const MAX_SACK_BLOCKS: usize = 4;
/// The same next to timestamps, which take the space of one block.
pub const SACK_BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// An acknowledgement with borrowed SACK blocks.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// The next sequence number that the receiver expects.
    pub cumulative: u64,
    /// `sent` of the packet that the timestamp rule of RFC 7323 sec. 4.3 selects.
    pub echo: Time,
    /// Whether that packet was a retransmission, for Karn's algorithm.
    pub echoes_retransmission: bool,
    /// ECN-Echo (RFC 3168 sec. 6.1.3): a mark has arrived to which the sender has not yet
    /// responded. Never set with accurate feedback.
    pub ece: bool,
    /// With accurate feedback (RFC 9768), the number of marked packets that have arrived; unlike
    /// the counter of three bits on the wire, it never wraps. Zero without accurate feedback.
    pub marked_packets: u64,
    /// A packet that has arrived although it had arrived before (D-SACK, RFC 2883); reported to a
    /// sender that uses RACK-TLP.
    pub duplicate: Option<u64>,
    /// SACK blocks, the most recent first; at most [`MAX_SACK_BLOCKS`].
    pub blocks: &'a [Range],
}

impl Ack<'_> {
    /// The blocks as they stand in the ACK: a packet that has arrived twice comes first (RFC 2883 sec.
    /// 4).
    pub fn reported(&self) -> impl Iterator<Item = Range> {
        let twice = self.duplicate.map(|start| Range { start, end: start + 1 });
        twice.into_iter().chain(self.blocks.iter().copied())
    }
}

/// The sizes of the pure ACKs of a connection on the wire.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSizes {
    /// Bytes of an ACK without SACK blocks.
    pub least: u32,
    /// Whether ACKs carry SACK blocks.
    pub has_sack: bool,
}

impl AckSizes {
    /// The size of an ACK in bytes: the option takes 4 bytes with its padding, and 8 for each block
    /// (RFC 2018 sec. 3; `TCPOLEN_SACK_BASE_ALIGNED` and `TCPOLEN_SACK_PERBLOCK` of Linux).
    pub fn of(self, ack: &Ack<'_>) -> u32 {
        let blocks = ack.reported().count() as u32;
        let option = if self.has_sack && blocks > 0 { 4 + 8 * blocks } else { 0 };
        (self.least + option).min(MAX_PACKET_BYTES)
    }
}

/// An [`Ack`] that owns its blocks while it waits in a shared queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredAck {
    cumulative: u64,
    echo: Time,
    marked_packets: u64,
    echoes_retransmission: bool,
    ece: bool,
    block_count: u8,
    duplicate: Option<u64>,
    blocks: [Range; MAX_SACK_BLOCKS],
}

impl StoredAck {
    /// Returns the stored acknowledgement.
    pub fn ack(&self) -> Ack<'_> {
        Ack {
            cumulative: self.cumulative,
            echo: self.echo,
            echoes_retransmission: self.echoes_retransmission,
            ece: self.ece,
            marked_packets: self.marked_packets,
            duplicate: self.duplicate,
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
            duplicate: ack.duplicate,
            block_count: ack.blocks.len() as u8,
            blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2018 sec. 3 with the padding of RFC 7323 appendix A: 64, 72 and 80 B with timestamps, and a
    /// report of a duplicate is a block too.
    #[test]
    fn sack_blocks_make_an_ack_larger() {
        let blocks = [Range { start: 1, end: 2 }; MAX_SACK_BLOCKS];
        let ack = |count: usize, duplicate| Ack {
            cumulative: 0,
            echo: Time::ZERO,
            echoes_retransmission: false,
            ece: false,
            marked_packets: 0,
            duplicate,
            blocks: &blocks[..count],
        };
        let with_timestamps = AckSizes { least: 52, has_sack: true };
        let sizes = [0, 1, 2, 3].map(|count| with_timestamps.of(&ack(count, None)));
        assert_eq!(sizes, [52, 64, 72, 80]);
        assert_eq!(with_timestamps.of(&ack(1, Some(7))), 72);
        assert_eq!(AckSizes { least: 40, has_sack: false }.of(&ack(3, None)), 40);
        assert_eq!(AckSizes { least: 65_535, has_sack: true }.of(&ack(1, None)), 65_535);
    }
}
