//! Queue disciplines: which packets a buffer accepts, marks or drops, and which packet leaves next.
//!
//! A queue discipline has one of two forms. An [`ArrivalRule`] decides about each packet when it
//! arrives; accepted packets are served first come, first served and are never dropped, so the link
//! can compute each departure at the arrival. A [`Scheduler`] stores the packets in a [`Buffer`],
//! selects the packet to send next and may drop any stored packet at any time. Prefer an arrival rule
//! where it suffices, because it is faster.
//!
//! A discipline only decides; the link and the buffer count, time and transmit packets. To add a
//! discipline, add one file here and one line to the registry at the end of this file.

pub mod buffer;
pub mod custom;
mod drop_reason;
#[doc(hidden)]
pub mod emptying;
#[doc(hidden)]
pub mod flow_queues;
#[cfg(test)]
mod full_packet;
#[cfg(test)]
mod script;
mod turns_ahead;

use std::ops::Range;

use crate::custom::CustomFault;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::Ecn;
use crate::packet::addresses::Headers;
use crate::packet::transit::Transit;
use crate::parameters::BadParameter;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::random::{Stream, stream};
use crate::units::{Rate, Time};
use buffer::{Buffer, DropReason, PacketHandle};
use custom::{CustomParams, RunningRule, RunningScheduler};

/// An arriving packet and the state of the buffer at its arrival.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EnqueueEvent {
    /// Arrival time.
    pub now: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// ECN field, which tells whether the packet may be marked.
    pub ecn: Ecn,
    /// Since when the link is idle, so that it would send the packet at once; `None` if it is busy.
    pub idle_since: Option<Time>,
    /// Number of waiting packets, excluding the packet in transmission.
    pub waiting_packets: u64,
    /// Number of waiting bytes, excluding the packet in transmission.
    pub waiting_bytes: u64,
}

impl EnqueueEvent {
    /// An arriving packet that finds `waiting` packets and bytes.
    #[inline]
    pub fn of_packet(packet: &Transit, idle_since: Option<Time>, waiting: (u64, u64)) -> Self {
        EnqueueEvent {
            now: packet.time(),
            flow: packet.flow(),
            bytes: packet.bytes(),
            ecn: packet.ecn(),
            idle_since,
            waiting_packets: waiting.0,
            waiting_bytes: waiting.1,
        }
    }

    /// Returns whether the link is idle, so that the packet need not wait.
    #[inline]
    pub fn is_link_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    /// Returns whether the packet fits into a buffer of size `limit`. A packet that finds the link
    /// idle does not wait, so no limit applies to it.
    #[inline]
    pub fn fits(&self, limit: Limit) -> bool {
        let bytes = self.waiting_bytes + u64::from(self.bytes);
        limit.holds(self.waiting_packets + 1, bytes) || self.is_link_idle()
    }

    /// Signals incipient congestion: marks the packet if it is ECN-capable, otherwise drops it.
    #[inline]
    pub fn mark_or_drop(&self) -> Verdict {
        if self.ecn.is_capable() { Verdict::Mark } else { Verdict::Drop(DropReason::Early) }
    }
}

/// The decision of an arrival rule about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet is accepted.
    Accept,
    /// The packet is accepted and marked; allowed only for ECN-capable packets.
    Mark,
    /// The packet is dropped.
    Drop(DropReason),
}

/// Name and value of an internal quantity that a discipline reports.
pub type Gauge = (&'static str, f64);

/// A rule that accepts, marks or drops each packet at its arrival at a FIFO queue.
pub trait ArrivalRule {
    /// Decides about an arriving packet. Called once per packet, in order of arrival time.
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict;

    /// Returns the internal quantities to report at `now`. Their names and order never change.
    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        Vec::new()
    }
}

/// A discipline that stores the packets of a link in an order of its own and may drop any of them.
///
/// A packet is represented by the event of its arrival; the event's time is the arrival time.
pub trait Scheduler {
    /// Adds a packet that arrives at `packet.time()` to one of the scheduler's lists in `buffer`,
    /// or drops it there. May drop other packets to make room.
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer);

    /// Returns the packet to send at `now`, or `None` if no packet is left. May drop packets before
    /// it. If packets wait, it returns one of them or drops them all, unless [`Scheduler::opens_at`] is later.
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle>;

    /// From when on a packet may leave: until then [`Scheduler::dequeue`] may return none although packets
    /// wait. `None` from a scheduler that never lets packets wait for a time.
    fn opens_at(&self) -> Option<Time> {
        None
    }

    /// Prefetches the queue of a flow whose packet will arrive soon.
    fn prefetch_flow(&self, _flow: u32) {}

    /// Memory of the flows that it knows, in bytes; the packets are the buffer's.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Returns the internal quantities to report at `now`; means cover the time since
    /// [`Scheduler::restart_gauges`]. Their names and order never change.
    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        Vec::new()
    }

    /// Restarts the means that [`Scheduler::gauges`] returns, at the start of the measured window.
    fn restart_gauges(&mut self, _now: Time) {}

    /// Follows the rate of a link on which it varies: before a packet is sent the rate of the moment, and before
    /// [`Scheduler::gauges`] the mean since [`Scheduler::restart_gauges`].
    fn set_rate(&mut self, _rate: Rate) {}
}

/// A discipline whose parameters may change while packets wait.
pub trait Retune {
    /// Its parameters.
    type Params;
    /// The keys of the parameters that say how the discipline holds packets: they never change.
    const FIXED: &'static [&'static str] = &[];

    /// Follows other parameters from now on; packets and state stay. A smaller limit drops no packet
    /// that waits, until a packet arrives.
    fn retune(&mut self, params: &Self::Params, link: &LinkInfo);
}

/// The properties of a link that its queue discipline may use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkInfo {
    /// Name of the link, after which the discipline's random stream is named.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// Rate of the link until its first rate change, or of its shaper.
    pub rate: Rate,
    /// Bandwidth-delay product in bytes; 0 if no congestion-controlled flow crosses the link.
    pub bdp_bytes: f64,
    /// Size of the largest data packet that crosses the link, in bytes.
    pub packet_bytes: u32,
    /// The groups of flows that cross the link: name and flow numbers.
    pub groups: Vec<(String, Range<u32>)>,
    /// What the packets of each group say of themselves, in the same order.
    pub headers: Vec<Headers>,
}

impl LinkInfo {
    /// A link that no congestion-controlled flow crosses, in a run with seed 0.
    pub fn new(name: impl Into<String>, rate: Rate, packet_bytes: u32) -> Self {
        let (name, groups, headers) = (name.into(), Vec::new(), Vec::new());
        LinkInfo { name, seed: 0, rate, bdp_bytes: 0.0, packet_bytes, groups, headers }
    }

    /// Converts a parameter of the discipline to packets or bytes at this link.
    pub fn limit(&self, amount: QueueLimit) -> Limit {
        amount.at_link(self.rate, self.bdp_bytes)
    }

    /// Returns the discipline's own random stream.
    pub fn random(&self) -> Stream {
        stream(self.seed, &format!("queue of {}", self.name))
    }
}

/// The delay target of a discipline with a single queue for all packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayTarget {
    /// Queueing delay that may persist.
    pub target: Time,
    /// Bursts shorter than this may exceed the target.
    pub interval: Time,
}

/// The parameters of a discipline, as a scenario gives them.
pub trait Parameters: Ranges {
    /// Returns the buffer size.
    fn limit(&self) -> QueueLimit;

    /// Returns every parameter that is an amount of data in the buffer, with its key. A scenario
    /// uses these to convert bandwidth-delay products to bytes.
    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)>;

    /// Checks parameters, each of which is in its own range, against one another and against the
    /// link.
    ///
    /// # Errors
    /// Returns the wrong parameter, the problem and the allowed range.
    fn validate(&self, _link: &LinkInfo) -> Result<(), BadParameter> {
        Ok(())
    }

    /// Checks each parameter against its range, and the parameters against one another and against
    /// the link.
    ///
    /// # Errors
    /// Returns the wrong parameter, the problem and the allowed range.
    fn check(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        self.check_ranges()?;
        self.validate(link)
    }

    /// Returns the keys of the parameters that decide on the queue before the limit is reached, the
    /// first of them for any traffic; empty if the limit alone decides.
    fn binding(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the delay target, if the discipline has one for all packets together. Such a
    /// discipline reports the gauge [`EMPTIED_INTERVALS`](emptying::EMPTIED_INTERVALS).
    fn delay_target(&self) -> Option<DelayTarget> {
        None
    }
}

/// Expands to the modules, the configuration enum (`kind = "..."` in a scenario) and the two state
/// enums, which dispatch without virtual calls on the packet path.
macro_rules! registry {
    (
        arrival_rules { $($(#[$rule_doc:meta])*
            $rule_module:ident :: $rule:ident ( $rule_params:ident ) = $rule_name:literal,)+ }
        schedulers { $($(#[$scheduler_doc:meta])*
            $scheduler_module:ident :: $scheduler:ident ( $scheduler_params:ident ) = $scheduler_name:literal,)+ }
    ) => {
        $(pub mod $rule_module;)+
        $(pub mod $scheduler_module;)+

        /// A queue discipline and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
        #[serde(tag = "kind", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum QueueConfig {
            $($(#[$rule_doc])* #[serde(rename = $rule_name)]
                $rule($rule_module::$rule_params),)+
            $($(#[$scheduler_doc])* #[serde(rename = $scheduler_name)]
                $scheduler($scheduler_module::$scheduler_params),)+
            /// A discipline of your own, in Python or in Rust: see docs/guide/own-discipline.md.
            #[serde(rename = "custom")]
            Custom(CustomParams),
        }

        /// A running arrival rule.
        #[derive(Debug)]
        #[non_exhaustive]
        #[derive(Clone)]
        pub enum AnyArrivalRule {
            $($(#[$rule_doc])* $rule($rule_module::$rule),)+
            /// A rule that the registry does not hold.
            Custom(RunningRule),
        }

        /// A running scheduler.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "one instance per link, boxed")]
        #[repr(u32)] // an explicit tag: one in a field's niche must be decoded at each dispatch
        #[non_exhaustive]
        #[derive(Clone)]
        pub enum SchedulerQueue {
            $($(#[$scheduler_doc])* $scheduler($scheduler_module::$scheduler),)+
            /// A scheduler that the registry does not hold.
            Custom(RunningScheduler),
        }

        impl Queue {
            /// Creates the discipline that `config` describes, at the link that `info` describes.
            pub fn new(config: &QueueConfig, info: &LinkInfo) -> Self {
                match config {
                    $(QueueConfig::$rule(params) => Queue::Rule(
                        AnyArrivalRule::$rule($rule_module::$rule::new(params, info)),
                    ),)+
                    $(QueueConfig::$scheduler(params) => Queue::Scheduler(Box::new(
                        SchedulerQueue::$scheduler($scheduler_module::$scheduler::new(params, info)),
                    )),)+
                    QueueConfig::Custom(params) => match RunningScheduler::new(params, info) {
                        Some(own) => Queue::Scheduler(Box::new(SchedulerQueue::Custom(own))),
                        None => {
                            Queue::Rule(AnyArrivalRule::Custom(RunningRule::new(params, info)))
                        }
                    },
                }
            }
        }

        impl AnyArrivalRule {
            /// Follows other parameters of the same discipline. Returns whether it can.
            pub fn retune(&mut self, config: &QueueConfig, link: &LinkInfo) -> bool {
                match (self, config) {
                    $((AnyArrivalRule::$rule(rule), QueueConfig::$rule(params)) => {
                        rule.retune(params, link);
                        true
                    })+
                    _ => false,
                }
            }
        }

        impl SchedulerQueue {
            /// Follows other parameters of the same discipline. Returns whether it can.
            pub fn retune(&mut self, config: &QueueConfig, link: &LinkInfo) -> bool {
                match (self, config) {
                    $((SchedulerQueue::$scheduler(queue), QueueConfig::$scheduler(params)) => {
                        queue.retune(params, link);
                        true
                    })+
                    _ => false,
                }
            }
        }

        #[deny(clippy::missing_trait_methods, reason = "each method goes to the variant")]
        impl ArrivalRule for AnyArrivalRule {
            #[inline]
            fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
                dispatch!(self, $($rule)+ Custom, rule => rule.on_enqueue(event))
            }

            fn gauges(&self, now: Time) -> Vec<Gauge> {
                dispatch!(self, $($rule)+ Custom, rule => rule.gauges(now))
            }
        }

        #[deny(clippy::missing_trait_methods, reason = "each method goes to the variant")]
        impl Scheduler for SchedulerQueue {
            #[inline]
            fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
                let [time, size, place] = packet.words();
                dispatch!(self, $($scheduler)+ Custom, queue => {
                    enqueue_by_words(queue, time, size, place, buffer);
                })
            }

            #[inline]
            fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
                dispatch!(self, $($scheduler)+ Custom, queue => queue.dequeue(now, buffer))
            }

            #[inline]
            fn opens_at(&self) -> Option<Time> {
                dispatch!(self, $($scheduler)+ Custom, queue => queue.opens_at())
            }

            #[inline]
            fn memory_bytes(&self) -> u64 {
                dispatch!(self, $($scheduler)+ Custom, queue => queue.memory_bytes())
            }

            fn prefetch_flow(&self, flow: u32) {
                dispatch!(self, $($scheduler)+ Custom, queue => queue.prefetch_flow(flow))
            }

            fn gauges(&self, now: Time) -> Vec<Gauge> {
                dispatch!(self, $($scheduler)+ Custom, queue => queue.gauges(now))
            }

            fn restart_gauges(&mut self, now: Time) {
                dispatch!(self, $($scheduler)+ Custom, queue => queue.restart_gauges(now))
            }

            fn set_rate(&mut self, rate: Rate) {
                dispatch!(self, $($scheduler)+ Custom, queue => queue.set_rate(rate))
            }
        }

        impl QueueConfig {
            /// Returns the name that scenarios and results use.
            pub fn name(&self) -> &str {
                match self {
                    $(QueueConfig::$rule(_) => $rule_name,)+
                    $(QueueConfig::$scheduler(_) => $scheduler_name,)+
                    QueueConfig::Custom(params) => &params.discipline,
                }
            }

            /// Returns the keys of parameters that never change in a run; `None` if none changes.
            pub fn fixed_keys(&self) -> Option<&'static [&'static str]> {
                match self {
                    $(QueueConfig::$rule(_) => Some($rule_module::$rule::FIXED),)+
                    $(QueueConfig::$scheduler(_) => Some($scheduler_module::$scheduler::FIXED),)+
                    QueueConfig::Custom(_) => None,
                }
            }

            /// Returns whether the discipline is a scheduler; otherwise it is an arrival rule.
            pub fn is_scheduler(&self) -> bool {
                match self {
                    $(QueueConfig::$rule(_) => false,)+
                    $(QueueConfig::$scheduler(_) => true,)+
                    QueueConfig::Custom(params) => params.is_scheduler(),
                }
            }

            /// Returns the parameters.
            pub fn parameters(&self) -> &dyn Parameters {
                match self {
                    $(QueueConfig::$rule(params) => params,)+
                    $(QueueConfig::$scheduler(params) => params,)+
                    QueueConfig::Custom(params) => params,
                }
            }

            /// Returns the parameters for modification.
            pub fn parameters_mut(&mut self) -> &mut dyn Parameters {
                match self {
                    $(QueueConfig::$rule(params) => params,)+
                    $(QueueConfig::$scheduler(params) => params,)+
                    QueueConfig::Custom(params) => params,
                }
            }
        }
    };
}

/// Hands a packet to a scheduler word by word, in registers: a copy of the event as a whole would wait
/// until the words, just written, are in memory.
#[inline(never)]
fn enqueue_by_words(
    scheduler: &mut impl Scheduler,
    time: u64,
    size: u64,
    place: u64,
    buffer: &mut Buffer,
) {
    scheduler.enqueue(Transit::from_words([time, size, place]), buffer);
}

impl QueueConfig {
    /// Returns whether the discipline decides about packets that wait, so that their departures are
    /// not known before they happen.
    pub fn needs_service(&self) -> bool {
        match self {
            QueueConfig::Custom(params) => params.needs_service(),
            other => other.is_scheduler(),
        }
    }

    /// Returns the parameters of a discipline that the registry does not hold.
    pub fn custom(&self) -> Option<&CustomParams> {
        match self {
            QueueConfig::Custom(params) => Some(params),
            _ => None,
        }
    }
}

impl AnyArrivalRule {
    /// Why a rule of the caller's stopped the run, as far as it has shown by `now`.
    pub fn fault(&mut self, now: Time) -> Option<&CustomFault> {
        if let AnyArrivalRule::Custom(rule) = self { rule.fault(now) } else { None }
    }
}

impl SchedulerQueue {
    /// Why a scheduler of the caller's stopped the run, as far as it has shown by `now`.
    pub fn fault(&mut self, now: Time) -> Option<&CustomFault> {
        if let SchedulerQueue::Custom(scheduler) = self { scheduler.fault(now) } else { None }
    }
}

/// A running queue discipline.
#[derive(Debug)]
pub enum Queue {
    /// Decides about packets when they arrive.
    Rule(AnyArrivalRule),
    /// Stores and orders the packets.
    Scheduler(Box<SchedulerQueue>),
}

registry! {
    arrival_rules {
        /// First in, first out; drops an arriving packet that does not fit.
        drop_tail::DropTail(DropTailParams) = "drop_tail",
        /// Random Early Detection: drops or marks at random, more often at a longer queue.
        red::Red(RedParams) = "red",
        /// RED whose maximum probability adapts to the load.
        adaptive_red::AdaptiveRed(AdaptiveRedParams) = "adaptive_red",
        /// Marks each packet that finds the queue at or above a threshold, as DCTCP asks.
        step_mark::StepMark(StepMarkParams) = "step_mark",
        /// RED as switches have it: marks with a probability that grows from Kmin to Kmax.
        wred::Wred(WredParams) = "wred",
    }
    schedulers {
        /// First in, first out; a full buffer drops the packet that has waited longest.
        drop_head::DropHead(DropHeadParams) = "drop_head",
        /// First in, first out; a full buffer drops a randomly chosen packet.
        random_drop::RandomDrop(RandomDropParams) = "random_drop",
        /// Controlled Delay (RFC 8289): drops or marks packets at departure after long waits.
        codel::Codel(CodelParams) = "codel",
        /// Proportional Integral controller Enhanced (RFC 8033): drops or marks arriving packets.
        pie::Pie(PieParams) = "pie",
        /// Two coupled queues, one of them short for L4S traffic (RFC 9332).
        dual_pi2::DualPi2(DualPi2Params) = "dual_pi2",
        /// One queue per flow, each with its share of the link; a full buffer cuts the longest.
        fair::Fair(FairParams) = "fair",
        /// Flow Queue CoDel (RFC 8290): one queue per flow, under CoDel; new flows go first.
        fq_codel::FqCodel(FqCodelParams) = "fq_codel",
        /// Flow Queue PIE: one queue per flow, under PIE; new flows go first.
        fq_pie::FqPie(FqPieParams) = "fq_pie",
        /// CAKE: a shaper, tins with priorities, fair queueing of hosts and flows, and COBALT.
        cake::Cake(CakeParams) = "cake",
    }
}
