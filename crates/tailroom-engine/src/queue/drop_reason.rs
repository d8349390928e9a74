//! Why a link drops packets: each reason stands here once, with the word in tables and the count among the
//! statistics of a link.

use crate::derives::{JsonSchema, Serialize};

macro_rules! drop_reasons {
    ($($(#[$about:meta])* $reason:ident $word:literal, $(#[$counted:meta])* $count:ident;)+) => {
        /// Why a link dropped a packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum DropReason {
            $($(#[$about])* $reason,)+
        }

        impl DropReason {
            /// All of them, in the order of their numbers.
            pub const ALL: &[DropReason] = &[$(DropReason::$reason),+];
            /// Their words in tables, in this order.
            pub const WORDS: [&str; DropReason::COUNT] = [$($word),+];
        }

        /// The packets that a link dropped, by reason.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
        #[non_exhaustive]
        pub struct DropCounts {
            $($(#[$counted])* pub $count: u64,)+
        }

        impl From<[u64; DropReason::COUNT]> for DropCounts {
            fn from(drops: [u64; DropReason::COUNT]) -> Self {
                DropCounts { $($count: drops[DropReason::$reason as usize],)+ }
            }
        }
    };
}

impl DropReason {
    /// Number of reasons.
    pub const COUNT: usize = DropReason::ALL.len();
}

drop_reasons! {
    /// The buffer was full: the arriving packet, or a packet dropped to make room for it.
    Overflow "overflow",
    /// Dropped packets for which the buffer had no room, or that made room for others.
    drops_overflow_packets;

    /// Dropped at arrival although there was room, to signal incipient congestion.
    Early "early",
    /// Packets dropped on arrival although there was room.
    drops_early_packets;

    /// Dropped at the head of its queue, because it had waited too long, or because its queue was beyond
    /// the limit that the policy of its pool sets.
    Head "head",
    /// Packets dropped at the head of their queue because they had waited too long, or because it was above
    /// its threshold under the policy `occamy`.
    drops_head_packets;

    /// Dropped by the policer, before the queue discipline saw it.
    Policed "policed",
    /// Packets dropped by the policer, before the queue discipline.
    drops_policed_packets;

    /// The memory that the link shares with others was full: the arriving packet, or a packet dropped
    /// to make room for it.
    Pool "pool",
    /// Packets dropped because the memory that the link shares was full, or to make room in it.
    drops_pool_packets;

    /// The queue had reached the limit that the policy of its pool sets.
    Threshold "threshold",
    /// Packets refused because the queue had reached the limit that the policy of its pool sets.
    drops_threshold_packets;

    /// The ingress over which the packet arrived had no memory left: its headroom was full, or without
    /// pause frames its threshold was reached.
    Headroom "headroom",
    /// Packets refused because the headroom of the link over which they arrived was full, or, without pause
    /// frames, the threshold of its `ingress` was reached.
    drops_headroom_packets;
}
