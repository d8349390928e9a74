//! The SACK blocks of ACKs at the ends of connections.

use super::{FinishedRun, table};

table! {
    /// SACK blocks of the ACKs of `endpoint_log` (RFC 2018): one row per block, by row of
    /// `endpoint_log`; the blocks of an ACK in their order, first a packet that has arrived twice
    /// (RFC 2883). Recorded if an ACK has a block.
    pub struct EndpointSackBlocks {
        /// Row of the ACK in `endpoint_log`, from 0.
        pub arrival: Vec<u64>,
        /// Position in the flow of the block's first packet.
        pub start: Vec<u64>,
        /// Position of the first packet behind the block.
        pub end: Vec<u64>,
    }
}

impl EndpointSackBlocks {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let (_, recorded) = run.endpoint_log.as_ref()?;
        let mut blocks = EndpointSackBlocks::default();
        for block in recorded {
            blocks.arrival.push(block.arrival as u64);
            blocks.start.push(block.range.start);
            blocks.end.push(block.range.end);
        }
        (!blocks.arrival.is_empty()).then_some(blocks)
    }
}
