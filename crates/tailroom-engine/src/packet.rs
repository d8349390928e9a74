//! Plain data that travels: data packets, acknowledgements, ranges of sequence numbers.
//!
//! Sequence numbers count packets, not bytes: every data packet of a flow is of one size, so byte
//! arithmetic would only add rounding.

use crate::units::Time;

/// A data packet on its way to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Position in the flow, from 0.
    pub sequence: u64,
    /// Size on the wire.
    pub bytes: u32,
    /// When the sender handed it to its access link: the timestamp of RFC 7323.
    pub sent: Time,
    /// Whether it has been sent before.
    pub is_retransmission: bool,
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
    /// SACK blocks, the most recent first; at most [`MAX_SACK_BLOCKS`].
    pub blocks: &'a [Range],
}

/// An [`Ack`] that owns its blocks, for the time it spends in a shared queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredAck {
    cumulative: u64,
    echo: Time,
    echoes_retransmission: bool,
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
            blocks: &self.blocks[..usize::from(self.block_count)],
        }
    }
}

impl From<&Ack<'_>> for StoredAck {
    fn from(ack: &Ack<'_>) -> Self {
        let mut blocks = [Range::default(); MAX_SACK_BLOCKS];
        blocks[..ack.blocks.len()].copy_from_slice(ack.blocks);
        StoredAck {
            cumulative: ack.cumulative,
            echo: ack.echo,
            echoes_retransmission: ack.echoes_retransmission,
            block_count: ack.blocks.len() as u8,
            blocks,
        }
    }
}
