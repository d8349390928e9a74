//! The buffer under study: what may enter, what is dropped or marked, which packet leaves next.
//!
//! There are two shapes of queue discipline. An [`Admission`] rule decides when a packet arrives;
//! who is in is served first come, first served and never dropped, so that the link knows every
//! departure at once. A [`Scheduler`] holds the packets in a [`Buffer`], chooses which leaves next
//! and may drop any of them at any time. Use an admission rule where it suffices: it is faster.
//!
//! A discipline decides; the link and the buffer count, time and transmit. Adding one takes a file
//! here and a line in the registry at the end of this file.

pub mod buffer;
pub mod emptying;
pub mod flow_queues;
#[cfg(test)]
mod script;

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::Ecn;
use crate::packet::in_network::Event;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::random::stream;
use crate::units::{Rate, Time};
use buffer::{Buffer, DropReason, Unlisted};

/// A packet at the entrance of a buffer, and what stands in it.
#[derive(Clone, Copy, Debug)]
pub struct EnqueueEvent {
    /// When it arrives.
    pub now: Time,
    /// Its size on the wire.
    pub bytes: u32,
    /// Whether it may be marked.
    pub ecn: Ecn,
    /// When the link has sent all that it has taken in so far; the past when it is idle.
    pub free_at: Time,
    /// Packets that wait, the one in transmission not counted.
    pub waiting_packets: u64,
    /// Bytes that wait, the packet in transmission not counted.
    pub waiting_bytes: u64,
}

impl EnqueueEvent {
    /// Whether the link is idle, so that the packet need not wait.
    #[inline]
    pub fn is_link_idle(&self) -> bool {
        self.free_at <= self.now
    }

    /// Whether the packet fits into a buffer of this size. One that finds the link idle never
    /// waits, so no limit applies to it.
    #[inline]
    pub fn fits(&self, limit: Limit) -> bool {
        let bytes = self.waiting_bytes + u64::from(self.bytes);
        limit.holds(self.waiting_packets + 1, bytes) || self.is_link_idle()
    }

    /// Tells the transport of congestion to come: by a mark if it understands one, else by a drop.
    #[inline]
    pub fn mark_or_drop(&self) -> Verdict {
        if self.ecn.is_capable() { Verdict::Mark } else { Verdict::Drop(DropReason::Early) }
    }
}

/// What an admission rule decides about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It enters.
    Accept,
    /// It enters, marked; only for a packet whose transport understands marks.
    Mark,
    /// It is dropped.
    Drop(DropReason),
}

/// A quantity that a discipline reports of itself, by name.
pub type Gauge = (&'static str, f64);

/// A rule that decides at arrival, over a buffer that is served first come, first served.
pub trait Admission {
    /// Decides about an arriving packet.
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict;

    /// What it reports of itself at `now`; always the same names in the same order.
    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        Vec::new()
    }
}

/// A rule that orders the packets of a buffer and may drop any of them.
///
/// A packet is the event of its arrival: its time is when it came.
pub trait Scheduler {
    /// Takes in a packet that arrives at `packet.time()`: puts it into a list of its own in
    /// `buffer`, or drops it there. Others may be dropped to make room.
    fn enqueue(&mut self, packet: Event, buffer: &mut Buffer);

    /// The packet to send now, if any; it may drop some on the way to it. It must find one if any
    /// waits, unless it drops all.
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted>;

    /// What it reports of itself at `now`, over the time since [`Scheduler::restart_gauges`] where it
    /// is a mean; always the same names in the same order.
    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        Vec::new()
    }

    /// Starts the means of [`Scheduler::gauges`] afresh.
    fn restart_gauges(&mut self, _now: Time) {}
}

/// What a discipline may know about the link that it guards.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Name of the link, which names its random stream.
    pub name: String,
    /// Root of every random stream.
    pub seed: u64,
    /// Rate until the first change.
    pub rate: Rate,
    /// Bandwidth-delay product in bytes, 0 where no flow under congestion control crosses the link.
    pub bdp_bytes: f64,
    /// Size of the largest data packet that crosses the link.
    pub packet_bytes: u32,
    /// The groups of flows that cross the link, by name.
    pub groups: Vec<(String, Range<u32>)>,
}

impl LinkInfo {
    /// What an amount of a discipline comes to at this link.
    pub fn limit(&self, amount: QueueLimit) -> Limit {
        amount.at_link(self.rate, self.bdp_bytes)
    }

    /// The discipline's own stream of random numbers.
    pub fn random(&self) -> Xoshiro256PlusPlus {
        stream(self.seed, &format!("queue of {}", self.name))
    }
}

/// A parameter that contradicts another one, or the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// Which.
    pub key: &'static str,
    /// What is wrong.
    pub problem: String,
    /// What to do: the allowed range.
    pub remedy: String,
}

impl BadParameter {
    /// A fault of the parameter `key`.
    pub fn new(key: &'static str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        BadParameter { key, problem: problem.into(), remedy: remedy.into() }
    }
}

/// What a discipline with one queue for all packets promises of their delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayTarget {
    /// The delay that it allows to persist.
    pub target: Time,
    /// Bursts shorter than this are let through.
    pub interval: Time,
}

/// Parameters of a discipline, as a scenario gives them.
pub trait Parameters {
    /// How much may wait.
    fn limit(&self) -> QueueLimit;

    /// Every parameter that is an amount in the buffer, by its key, so that a scenario can turn
    /// bandwidth-delay products into bytes.
    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)>;

    /// Says what is wrong with parameters that contradict one another or the link. What lies out of
    /// its own range, as the schema gives it, has been refused before.
    ///
    /// # Errors
    /// The parameter, and its allowed range.
    fn validate(&self, _link: &LinkInfo) -> Result<(), BadParameter> {
        Ok(())
    }

    /// Its delay target, if it has one for all packets together. Such a discipline reports the gauge
    /// [`EMPTIED_INTERVALS`](emptying::EMPTIED_INTERVALS).
    fn delay_target(&self) -> Option<DelayTarget> {
        None
    }
}

/// Expands to the modules, the configuration enum (`kind = "..."` in a scenario) and the two state
/// enums that dispatch on the packet path without a virtual call.
macro_rules! registry {
    (
        admission { $($(#[$admission_doc:meta])*
            $admission_module:ident :: $admission:ident ( $admission_params:ident ) = $admission_name:literal,)+ }
        schedulers { $($(#[$scheduler_doc:meta])*
            $scheduler_module:ident :: $scheduler:ident ( $scheduler_params:ident ) = $scheduler_name:literal,)+ }
    ) => {
        $(pub mod $admission_module;)+
        $(pub mod $scheduler_module;)+

        /// A queue discipline and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", deny_unknown_fields)]
        pub enum QueueConfig {
            $($(#[$admission_doc])* #[serde(rename = $admission_name)]
                $admission($admission_module::$admission_params),)+
            $($(#[$scheduler_doc])* #[serde(rename = $scheduler_name)]
                $scheduler($scheduler_module::$scheduler_params),)+
        }

        /// A running admission rule.
        #[derive(Debug)]
        pub enum AdmissionQueue {
            $($(#[$admission_doc])* $admission($admission_module::$admission),)+
        }

        /// A running scheduler.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "one a link, in a box as a whole")]
        #[repr(u32)] // a number of its own to jump by, rather than one to be worked out of a field
        pub enum SchedulerQueue {
            $($(#[$scheduler_doc])* $scheduler($scheduler_module::$scheduler),)+
        }

        impl Queue {
            /// Starts the discipline that `config` describes at the link of `info`.
            pub fn new(config: &QueueConfig, info: &LinkInfo) -> Self {
                match config {
                    $(QueueConfig::$admission(params) => Queue::Admission(
                        AdmissionQueue::$admission($admission_module::$admission::new(params, info)),
                    ),)+
                    $(QueueConfig::$scheduler(params) => Queue::Scheduler(Box::new(
                        SchedulerQueue::$scheduler($scheduler_module::$scheduler::new(params, info)),
                    )),)+
                }
            }
        }

        impl Admission for AdmissionQueue {
            #[inline]
            fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
                match self {
                    $(AdmissionQueue::$admission(rule) => rule.on_enqueue(event),)+
                }
            }

            fn gauges(&self, now: Time) -> Vec<Gauge> {
                match self {
                    $(AdmissionQueue::$admission(rule) => rule.gauges(now),)+
                }
            }
        }

        impl Scheduler for SchedulerQueue {
            #[inline]
            fn enqueue(&mut self, packet: Event, buffer: &mut Buffer) {
                match self {
                    $(SchedulerQueue::$scheduler(queue) => queue.enqueue(packet, buffer),)+
                }
            }

            #[inline]
            fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted> {
                match self {
                    $(SchedulerQueue::$scheduler(queue) => queue.dequeue(now, buffer),)+
                }
            }

            fn gauges(&self, now: Time) -> Vec<Gauge> {
                match self {
                    $(SchedulerQueue::$scheduler(queue) => queue.gauges(now),)+
                }
            }

            fn restart_gauges(&mut self, now: Time) {
                match self {
                    $(SchedulerQueue::$scheduler(queue) => queue.restart_gauges(now),)+
                }
            }
        }

        impl QueueConfig {
            /// The name that a scenario and the results use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(QueueConfig::$admission(_) => $admission_name,)+
                    $(QueueConfig::$scheduler(_) => $scheduler_name,)+
                }
            }

            /// Its parameters.
            pub fn parameters(&self) -> &dyn Parameters {
                match self {
                    $(QueueConfig::$admission(params) => params,)+
                    $(QueueConfig::$scheduler(params) => params,)+
                }
            }

            /// The same, to be changed.
            pub fn parameters_mut(&mut self) -> &mut dyn Parameters {
                match self {
                    $(QueueConfig::$admission(params) => params,)+
                    $(QueueConfig::$scheduler(params) => params,)+
                }
            }
        }
    };
}

/// A running queue discipline.
#[derive(Debug)]
pub enum Queue {
    /// It decides at arrival.
    Admission(AdmissionQueue),
    /// It holds the packets.
    Scheduler(Box<SchedulerQueue>),
}

registry! {
    admission {
        /// First in, first out; refuses what does not fit.
        drop_tail::DropTail(DropTailParams) = "drop_tail",
        /// Random Early Detection: drops or marks at random, the more often the longer the queue.
        red::Red(RedParams) = "red",
        /// RED whose largest probability adapts to the load.
        adaptive_red::AdaptiveRed(AdaptiveRedParams) = "adaptive_red",
        /// Marks every packet that finds a threshold waiting, as DCTCP asks of its switches.
        step_mark::StepMark(StepMarkParams) = "step_mark",
    }
    schedulers {
        /// First in, first out; a full buffer drops the packet that has waited longest.
        drop_head::DropHead(DropHeadParams) = "drop_head",
        /// First in, first out; a full buffer drops any of its packets.
        random_drop::RandomDrop(RandomDropParams) = "random_drop",
        /// Controlled Delay (RFC 8289): drops or marks at departure what has waited too long.
        codel::Codel(CodelParams) = "codel",
        /// Proportional Integral controller Enhanced (RFC 8033): drops or marks at arrival.
        pie::Pie(PieParams) = "pie",
        /// Two coupled queues, one of them short for L4S traffic (RFC 9332).
        dual_pi2::DualPi2(DualPi2Params) = "dual_pi2",
        /// A queue a flow, each with its share of the link; a full buffer drops from the longest.
        fair::Fair(FairParams) = "fair",
        /// Flow Queue CoDel (RFC 8290): a queue a flow, each under CoDel, new flows first.
        fq_codel::FqCodel(FqCodelParams) = "fq_codel",
        /// Flow Queue PIE: a queue a flow, each under PIE, new flows first.
        fq_pie::FqPie(FqPieParams) = "fq_pie",
    }
}
