//! How a window law sends its window in blocks spread over the round trip: the readings of Figure 1
//! of Su, Pan, Lv, Ping 2005.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
/// Which packets wait for the beginning of a block.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum BlockHold {
    /// All packets: while a block waits, the sender sends nothing, as an ns-2 sender whose
    /// `delsnd_timer_` is pending.
    #[default]
    Block,
    /// Only the first packet of the block, as printed: `output(delay)` delays one packet, and the
    /// following packets are "sent directly", as when `Scheduler::schedule` delays one packet in
    /// ns-2. They overtake the delayed packet, and the receiver sees a gap in the sequence until
    /// it arrives.
    Packet,
}

/// How many packets a block has.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum BlockLength {
    /// cwnd / k, rounded up: k blocks make a window.
    #[default]
    WindowShare,
    /// floor(cwnd / k) + 2, as printed: `number > block` lets one packet more pass, and the delayed
    /// packet is not counted. After a window reduction a block lasts from the reduction on.
    Printed,
}

/// The rules by which a sender sends blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRules {
    /// Which packets wait for the beginning of a block.
    pub hold: BlockHold,
    /// How many packets a block has.
    pub length: BlockLength,
    /// Whether slow start is sent in blocks: until congestion avoidance begins in blocks of two
    /// packets per round trip, later in blocks as at the end of congestion avoidance.
    pub in_slow_start: bool,
}
