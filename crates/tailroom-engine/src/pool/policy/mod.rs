//! Which packets find room in memory that several queues share.
//!
//! A policy sees a pool as an arriving packet finds it and answers whether the packet's queue may
//! take more. The pool itself refuses what does not fit, keeps the reserves of the queues, counts
//! and measures. To add a policy, add a file here and a line to the registry at the end of this
//! file.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// A packet that asks for memory, and the pool as it finds it. All amounts are cells of the shared
/// memory, which is the pool without the reserves of its queues.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What the packet takes, beyond what its queue has reserved.
    pub needed: u64,
    /// What its queue occupies.
    pub queue: u64,
    /// What the queues of its port occupy.
    pub port: u64,
    /// What all queues occupy.
    pub occupied: u64,
    /// The shared memory.
    pub size: u64,
    /// Alpha of the queue; 0 if the policy has none.
    pub alpha: f64,
}

/// What a policy may know of its pool before the run.
#[derive(Clone, Copy, Debug)]
pub struct PoolInfo {
    /// The shared memory, in cells.
    pub size: u64,
    /// Bytes of a cell.
    pub cell_bytes: u32,
    /// Number of queues.
    pub queues: u64,
}

/// A rule that limits the queues of a pool.
pub trait Policy {
    /// Whether the queue of an arriving packet may take more memory, if there is room. A packet that
    /// is admitted is also admitted if less is occupied.
    fn admits(&self, request: &Request) -> bool;
}

/// The parameters of a policy, as a scenario gives them.
pub trait Parameters: Ranges {
    /// Alpha of the queues that do not give their own; `None` if the policy has no alpha.
    fn alpha(&self) -> Option<f64> {
        None
    }

    /// Whether what the queues of a port occupy together matters.
    fn limits_ports(&self) -> bool {
        false
    }

    /// Whether a full memory drops packets that wait, to make room for an arriving packet.
    fn pushes_out(&self) -> bool {
        false
    }
}

/// Expands to the modules, the configuration enum (`kind = "..."` in a scenario) and the running
/// policy, which dispatches without a virtual call.
macro_rules! registry {
    ($($(#[$doc:meta])* $module:ident :: $policy:ident ( $params:ident ) = $name:literal,)+) => {
        $(pub mod $module;)+

        /// A policy and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
        #[serde(tag = "kind", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum PolicyConfig {
            $($(#[$doc])* #[serde(rename = $name)] $policy($module::$params),)+
        }

        impl PolicyConfig {
            /// The name that scenarios use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(PolicyConfig::$policy(_) => $name,)+
                }
            }

            /// The parameters.
            pub fn parameters(&self) -> &dyn Parameters {
                match self {
                    $(PolicyConfig::$policy(params) => params,)+
                }
            }
        }

        /// A running policy.
        #[derive(Debug)]
        pub(super) enum AnyPolicy {
            $($policy($module::$policy),)+
        }

        impl AnyPolicy {
            /// The policy that `config` describes, in the pool that `info` describes.
            pub(super) fn new(config: &PolicyConfig, info: &PoolInfo) -> Self {
                match config {
                    $(PolicyConfig::$policy(params) => {
                        AnyPolicy::$policy($module::$policy::new(params, info))
                    })+
                }
            }
        }

        impl Policy for AnyPolicy {
            #[inline]
            fn admits(&self, request: &Request) -> bool {
                dispatch!(self, $($policy)+, policy => policy.admits(request))
            }
        }
    };
}

registry! {
    /// Every packet that fits finds room.
    complete_sharing::CompleteSharing(CompleteSharingParams) = "complete_sharing",
    /// Each queue has an equal part of the memory to itself.
    complete_partitioning::CompletePartitioning(CompletePartitioningParams)
        = "complete_partitioning",
    /// Each queue has the same limit; together the limits may exceed the memory.
    static_threshold::StaticThreshold(StaticThresholdParams) = "static_threshold",
    /// A queue may grow to alpha times the memory that is free.
    dynamic_threshold::DynamicThreshold(DynamicThresholdParams) = "dynamic_threshold",
    /// Every packet finds room; a full memory drops the last packet of the longest queue.
    longest_queue_drop::LongestQueueDrop(LongestQueueDropParams) = "longest_queue_drop",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Size;
    use crate::random::{below, stream};
    use complete_partitioning::CompletePartitioningParams;
    use complete_sharing::CompleteSharingParams;
    use dynamic_threshold::DynamicThresholdParams;
    use longest_queue_drop::LongestQueueDropParams;
    use static_threshold::StaticThresholdParams;

    #[test]
    fn a_packet_that_is_admitted_is_admitted_if_less_is_occupied() {
        let mut random = stream(1, "requests");
        let mut below = |limit: u64| below(&mut random, limit);
        let info = PoolInfo { size: 1_000, cell_bytes: 1, queues: 3 };
        let threshold = Size::new(300);
        for config in [
            PolicyConfig::CompleteSharing(CompleteSharingParams::default()),
            PolicyConfig::CompletePartitioning(CompletePartitioningParams::default()),
            PolicyConfig::StaticThreshold(StaticThresholdParams { threshold }),
            PolicyConfig::DynamicThreshold(DynamicThresholdParams::default()),
            PolicyConfig::DynamicThreshold(DynamicThresholdParams {
                port_alpha: Some(2.0),
                ..DynamicThresholdParams::default()
            }),
            PolicyConfig::LongestQueueDrop(LongestQueueDropParams::default()),
        ] {
            let policy = AnyPolicy::new(&config, &info);
            for _ in 0..10_000 {
                let occupied = below(1_000);
                let port = below(occupied + 1);
                let queue = below(port + 1);
                let needed = 1 + below(20);
                let more = Request { needed, queue, port, occupied, size: 1_000, alpha: 0.7 };
                let fewer = below(queue + 1);
                let at_port = fewer + below(port - queue + 1);
                let others = below(occupied - port + 1);
                let less =
                    Request { queue: fewer, port: at_port, occupied: at_port + others, ..more };
                let is_admitted = [more, less].map(|request| policy.admits(&request));
                assert_ne!(is_admitted, [true, false], "{config:?}: {more:?}, {less:?}");
            }
        }
    }
}
