//! The SACK blocks of ACKs that arrive.

use super::{FinishedRun, table};

table! {
    /// SACK blocks of ACKs (RFC 2018): one row per block, by row of `arrival_log`; the blocks of an ACK
    /// in their order, first a packet that has arrived twice (RFC 2883). Recorded at the links with an
    /// `arrival_log`, if an ACK has a block.
    pub struct SackBlocks {
        /// Row of the ACK in `arrival_log`, from 0.
        pub arrival: Vec<u64>,
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
        for log in run.links.iter().filter_map(|link| link.probe.arrivals.as_ref()) {
            for block in log.sack_blocks() {
                blocks.arrival.push((first_row + block.arrival) as u64);
                blocks.start.push(block.range.start);
                blocks.end.push(block.range.end);
            }
            first_row += log.list().len();
        }
        (!blocks.arrival.is_empty()).then_some(blocks)
    }
}
