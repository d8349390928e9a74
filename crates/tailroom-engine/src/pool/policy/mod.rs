//! Which packets find room in memory that several queues share.
//!
//! A policy sees a pool as an arriving packet finds it and answers whether the packet's queue may
//! take more. The pool itself refuses what does not fit, keeps the reserves of the queues, counts
//! and measures. To add a policy, add a file here and a line to the registry at the end of this
//! file.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::units::{Rate, Time, float};

/// A packet that asks for memory, and the pool as it finds it. All amounts are cells of the shared
/// memory, which is the pool without the reserves of its queues.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The place of its queue in the pool.
    pub member: usize,
    /// What the packet takes, beyond what its queue has reserved.
    pub needed: u64,
    /// What its queue occupies, or the packets of its loss priority there, if the policy counts these.
    pub queue: u64,
    /// What the queues of its port occupy.
    pub port: u64,
    /// What all queues occupy.
    pub occupied: u64,
    /// The shared memory.
    pub size: u64,
    /// Alpha of the queue, of the packet's loss priority or of favoured packets; 0 if the policy has none.
    pub alpha: f64,
}

impl Request {
    /// Whether the queue is shorter than alpha times the memory that is free (Choudhury and Hahne 1998).
    #[inline]
    fn is_below_dynamic_threshold(&self) -> bool {
        float(self.queue) < self.alpha * float(self.size - self.occupied)
    }
}

/// What a policy may know of its pool before the run.
#[derive(Clone, Copy, Debug)]
pub struct PoolInfo<'a> {
    /// The shared memory, in cells.
    pub size: u64,
    /// Bytes of a cell.
    pub cell_bytes: u32,
    /// Its queues.
    pub queues: &'a [QueueInfo],
}

/// What a policy may know of a queue before the run.
#[derive(Clone, Copy, Debug)]
pub struct QueueInfo {
    /// Alpha; 0 if the policy has none.
    pub alpha: f64,
    /// The place of the first queue of its port.
    pub port: usize,
    /// Its priority.
    pub priority: u32,
}

/// A queue when a policy looks at it, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// What it occupies of the shared memory.
    pub held: u64,
    /// What it has freed since the policy looked last.
    pub freed: u64,
}

/// Which flows are short, for a policy that favours their packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortFlows {
    /// Those of which fewer bytes have reached the pool.
    pub bytes: u64,
    /// A flow of which nothing has reached the pool for longer is new.
    pub window: Time,
}

/// What the memory of a pool can read, for a policy that drops heads of queues in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpulsionSpec {
    /// Rate at which it reads; `None` is that of the links together.
    pub rate: Option<Rate>,
    /// How much it can catch up with.
    pub bucket_bytes: u64,
}

/// What suffices to admit a packet that fits into the shared memory, if its queue has no reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickRule {
    /// Only the policy knows.
    None,
    /// Nothing more.
    Fits,
    /// The queue is shorter than its alpha times the memory that is free.
    DynamicThreshold,
}

/// A rule that limits the queues of a pool.
pub trait Policy {
    /// Whether the queue of an arriving packet may take more memory, if there is room. A packet that
    /// is admitted is also admitted if less is occupied.
    fn admits(&self, request: &Request) -> bool;

    /// Looks at all queues, after each [`Parameters::look_interval`]; `free` cells of the shared memory
    /// are free. Returns whether another look at the same queues would change the policy; after as many
    /// looks as there are queues, none does.
    fn look(&mut self, _queues: &[QueueState], _free: u64) -> bool {
        false
    }
}

/// The parameters of a policy, as a scenario gives them.
pub trait Parameters: Ranges {
    /// Alpha of the queues that do not give their own; `None` if the policy has no alpha.
    fn alpha(&self) -> Option<f64> {
        None
    }

    /// Alphas of packets of loss priority 1, 2 and so on.
    fn lower_alphas(&self) -> &[f64] {
        &[]
    }

    /// Alpha of the packets that the policy favours, if it is another: those of
    /// [short flows](Self::short_flows), or else those of first windows.
    fn favoured_alpha(&self) -> Option<f64> {
        None
    }

    /// Which flows are short, if their packets are favoured.
    fn short_flows(&self) -> Option<ShortFlows> {
        None
    }

    /// Whether a queue has a limit for the packets of each loss priority apart.
    fn counts_priorities(&self) -> bool {
        false
    }

    /// Whether it matters which queues are of one port.
    fn has_ports(&self) -> bool {
        false
    }

    /// How often the policy looks at all queues; `None` if it never does. Queues have priorities where
    /// it does.
    fn look_interval(&self) -> Option<Time> {
        None
    }

    /// What the pool may ask before it asks the policy, which admits no less.
    fn quick(&self) -> QuickRule {
        QuickRule::None
    }

    /// Whether the policy drops packets that wait.
    fn drops_waiting(&self) -> bool {
        self.pushes_out()
    }

    /// Whether a full memory drops packets that wait, to make room for an arriving packet.
    fn pushes_out(&self) -> bool {
        false
    }

    /// What the memory can read, if heads of queues above their thresholds are dropped in the background.
    fn expulsion(&self) -> Option<ExpulsionSpec> {
        None
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
        #[derive(Clone, Debug)]
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

        #[deny(clippy::missing_trait_methods, reason = "each method goes to the variant")]
        impl Policy for AnyPolicy {
            #[inline]
            fn admits(&self, request: &Request) -> bool {
                dispatch!(self, $($policy)+, policy => policy.admits(request))
            }

            fn look(&mut self, queues: &[QueueState], free: u64) -> bool {
                dispatch!(self, $($policy)+, policy => policy.look(queues, free))
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
    /// A priority may hold alpha times the free memory, which its congested queues divide.
    abm::Abm(AbmParams) = "abm",
    /// As `dynamic_threshold`, with a large alpha for packets of flows that have sent little.
    fab::Fab(FabParams) = "fab",
    /// As `dynamic_threshold`, and heads of queues above their thresholds are dropped.
    occamy::Occamy(OccamyParams) = "occamy",
    /// Every packet finds room; a full memory drops the last packet of the longest queue.
    longest_queue_drop::LongestQueueDrop(LongestQueueDropParams) = "longest_queue_drop",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Size;
    use crate::random::{below, stream};
    use abm::AbmParams;
    use complete_partitioning::CompletePartitioningParams;
    use complete_sharing::CompleteSharingParams;
    use dynamic_threshold::DynamicThresholdParams;
    use fab::FabParams;
    use longest_queue_drop::LongestQueueDropParams;
    use occamy::OccamyParams;
    use static_threshold::StaticThresholdParams;

    #[test]
    fn a_packet_that_is_admitted_is_admitted_if_less_is_occupied() {
        let mut random = stream(1, "requests");
        let mut below = |limit: u64| below(&mut random, limit);
        let queue = |port| QueueInfo { alpha: 0.7, port, priority: 0 };
        let info = PoolInfo { size: 1_000, cell_bytes: 1, queues: &[0, 0, 2].map(queue) };
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
            PolicyConfig::Abm(AbmParams::new(0.7, Time::from_picoseconds(80_000_000))),
            PolicyConfig::Fab(FabParams::default()),
            PolicyConfig::Occamy(OccamyParams::default()),
            PolicyConfig::LongestQueueDrop(LongestQueueDropParams::default()),
        ] {
            let mut policy = AnyPolicy::new(&config, &info);
            policy.look(
                &[(400, 30), (300, 10), (0, 0)].map(|(held, freed)| QueueState { held, freed }),
                300,
            );
            for _ in 0..10_000 {
                let occupied = below(1_000);
                let port = below(occupied + 1);
                let queue = below(port + 1);
                let needed = 1 + below(20);
                let (member, size, alpha) = (0, 1_000, 0.7);
                let more = Request { member, needed, queue, port, occupied, size, alpha };
                let fewer = below(queue + 1);
                let at_port = fewer + below(port - queue + 1);
                let others = below(occupied - port + 1);
                let less =
                    Request { queue: fewer, port: at_port, occupied: at_port + others, ..more };
                let is_admitted = [more, less].map(|request| policy.admits(&request));
                assert_ne!(is_admitted, [true, false], "{config:?}: {more:?}, {less:?}");
                let is_quick = match config.parameters().quick() {
                    QuickRule::None => false,
                    QuickRule::Fits => true,
                    QuickRule::DynamicThreshold => more.is_below_dynamic_threshold(),
                };
                assert!(!is_quick || is_admitted[0], "{config:?}: {more:?}");
            }
        }
    }
}
