//! The SACK blocks of ACKs.

use super::{FinishedRun, table};

table! {
    /// SACK blocks of ACKs (RFC 2018): one row per block, by row of `packets`; the blocks of an ACK in
    /// their order, first a packet that has arrived twice (RFC 2883). Recorded if an ACK of `packets` has a
    /// block.
    pub struct SackBlocks {
        /// Row of the ACK in `packets`, from 0.
        pub packet: Vec<u64>,
        /// Position in the flow of the block's first packet.
        pub start: Vec<u64>,
        /// Position of the first packet behind the block.
        pub end: Vec<u64>,
    }
}

impl SackBlocks {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut blocks = SackBlocks::default();
        let mut first_row = 0;
        for (_, record) in run.records() {
            for block in record.sack_blocks() {
                blocks.packet.push((first_row + block.row) as u64);
                blocks.start.push(block.range.start);
                blocks.end.push(block.range.end);
            }
            first_row += record.packets().len();
        }
        (!blocks.packet.is_empty()).then_some(blocks)
    }
}
