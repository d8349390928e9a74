//! Admission control of new flows at a link: a flow that arrives while the link is congested does
//! not begin, so that the flows in progress keep a useful rate (Benameur, Ben Fredj, Oueslati,
//! Roberts 2002; Kortebi, Oueslati, Roberts 2004).
//!
//! A link is congested while its fair rate is below a threshold or its priority load is above
//! another threshold. A meter measures both as a fair queue does (see [`crate::queue::fair`]). The
//! meter stands by the link: a priority fair queue of the same rate and limit that takes in the
//! arriving packets and sends them nowhere. The two quantities therefore mean the same at every
//! link, and no discipline needs to know of admission control.
//!
//! Simplifications: the decision is made when the flow starts, for all links of its path at once,
//! although its first packet arrives later; a refused flow does not try again; permanent flows and
//! unresponsive flows are always admitted. The meter sees the packets that arrive, not those that
//! the link's own discipline drops.

use crate::link::LinkSpec;
use crate::link::serializer::Serializer;
use crate::link::served::ServedQueue;
use crate::link::spec::FlowAdmissionSpec;
use crate::network::Network;
use crate::packet::transit::Transit;
use crate::quantity::BitRate;
use crate::queue::buffer::Buffer;
use crate::queue::fair::{Fair, FairParams, FairScheduler, Measured};
use crate::queue::{LinkInfo, QueueConfig, SchedulerQueue};
use crate::units::{Rate, Time, float};
use crate::work::{MOST_BEHIND, count_step};

/// Weight of an interval's priority load in its exponential average; not from a paper.
const PRIORITY_LOAD_WEIGHT: f64 = 0.5;

/// The admission controls of a network.
#[derive(Clone, Debug)]
pub(crate) struct FlowAdmissions {
    /// By link; empty if no link has one.
    links: Vec<Option<FlowAdmission>>,
}

impl FlowAdmissions {
    /// The admission controls of `network`, before the first packet; `facts` are its
    /// [`Network::link_facts`].
    pub(crate) fn new(network: &Network, facts: &[LinkInfo]) -> Self {
        let links = network.links.iter().zip(facts);
        let links = links.map(|(link, facts)| FlowAdmission::new(link, facts));
        let links: Vec<Option<FlowAdmission>> = links.collect();
        let is_any = links.iter().any(Option::is_some);
        FlowAdmissions { links: if is_any { links } else { Vec::new() } }
    }

    /// Takes note of a packet that arrives at a link; packets arrive in order of time.
    #[inline]
    pub(crate) fn on_arrival(&mut self, link: usize, packet: &Transit) {
        if let Some(Some(admission)) = self.links.get_mut(link) {
            admission.on_arrival(packet);
        }
    }

    /// Whether a link on `path` refuses a flow that arrives at `now`.
    pub(crate) fn refuse_flow(&mut self, path: &[usize], now: Time) -> bool {
        !self.links.is_empty()
            && path.iter().any(|&link| {
                self.links[link].as_mut().is_some_and(|admission| admission.refuses(now))
            })
    }

    /// A link sends at `rate` from `now` on.
    pub(crate) fn set_rate(&mut self, link: usize, now: Time, rate: Rate) {
        if let Some(Some(admission)) = self.links.get_mut(link) {
            admission.advance(now);
            admission.meter.set_rate(now, rate);
        }
    }

    /// When the first meter is [so far behind](MOST_BEHIND) that the run loop lets it catch up.
    pub(crate) fn behind_at(&self) -> Time {
        let admissions = self.links.iter().flatten();
        admissions.map(FlowAdmission::behind_at).min().unwrap_or(Time::NEVER)
    }

    /// Each meter catches up with `now`, by as many intervals as it may be behind.
    pub(crate) fn catch_up(&mut self, now: Time) {
        for admission in self.links.iter_mut().flatten() {
            admission.end_intervals(now, MOST_BEHIND);
        }
    }

    /// Memory of the packets in the meters, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.links.iter().flatten().map(|admission| admission.meter.queue.memory_bytes()).sum()
    }
}

/// The admission control of a link.
#[derive(Clone, Debug)]
struct FlowAdmission {
    spec: FlowAdmissionSpec,
    meter: Meter,
    /// End of the current interval.
    interval_end: Time,
    /// Fair rate of the last interval, in bit/s; infinite before the end of the first interval.
    fair_rate: f64,
    /// Exponential average over the intervals so far.
    priority_load: f64,
}

impl FlowAdmission {
    /// The admission control of a link, if it has one.
    fn new(link: &LinkSpec, info: &LinkInfo) -> Option<Self> {
        let spec = link.admission?;
        Some(FlowAdmission {
            spec,
            meter: Meter::new(link, info),
            interval_end: spec.interval.time(),
            fair_rate: f64::INFINITY,
            priority_load: 0.0,
        })
    }

    /// Takes note of a packet that arrives at the link; packets arrive in order of time.
    #[inline(never)]
    fn on_arrival(&mut self, packet: &Transit) {
        self.advance(packet.time());
        self.meter.on_arrival(packet);
    }

    /// Whether a flow that arrives at `now` is refused.
    fn refuses(&mut self, now: Time) -> bool {
        self.advance(now);
        let least = self.spec.min_fair_rate.map_or(0, BitRate::base_units) as f64;
        let most = self.spec.max_priority_load.unwrap_or(f64::INFINITY);
        self.fair_rate < least || self.priority_load > most
    }

    fn behind_at(&self) -> Time {
        let span = self.spec.interval.time().picoseconds().saturating_mul(MOST_BEHIND.into());
        self.interval_end.saturating_add(Time::from_picoseconds(span))
    }

    /// Ends the intervals up to `now`, and serves what is due.
    fn advance(&mut self, now: Time) {
        self.end_intervals(now, u32::MAX);
        self.meter.serve_until(now);
    }

    /// Ends some of the intervals up to `now`.
    fn end_intervals(&mut self, now: Time, most: u32) {
        for _ in 0..most {
            if self.interval_end > now {
                return;
            }
            count_step();
            let end = self.interval_end;
            self.meter.serve_until(end);
            let interval = self.spec.interval.time();
            let measured = self.meter.measured(end.since(interval), end);
            self.fair_rate = measured.fair_rate_bps;
            self.priority_load +=
                PRIORITY_LOAD_WEIGHT * (measured.priority_load - self.priority_load);
            self.interval_end = end.saturating_add(interval);
            // Of intervals in which nothing happens, and which have no priority load, the last is measured.
            let still_until = now.min(self.meter.is_still_until(end));
            let mut begin = end;
            if self.interval_end <= still_until {
                let rest = still_until.since(self.interval_end).picoseconds();
                let intervals = rest / interval.picoseconds();
                self.priority_load *= libm::pow(1.0 - PRIORITY_LOAD_WEIGHT, float(intervals));
                let rest = Time::from_picoseconds(intervals * interval.picoseconds());
                begin += rest;
                self.interval_end += rest;
            }
            self.meter.queue.restart_gauges(begin);
        }
    }
}

/// A fair queue with the rate and the limit of a link, whose packets go nowhere.
#[derive(Clone, Debug)]
struct Meter {
    queue: ServedQueue,
    serializer: Serializer,
    /// The rate of the shaper of the link, if it has one.
    most: Option<Rate>,
    busy_until: Time,
}

impl Meter {
    fn new(link: &LinkSpec, info: &LinkInfo) -> Self {
        let params = match &link.queue {
            QueueConfig::Fair(params) => params.clone(),
            other => FairParams {
                scheduler: FairScheduler::PriorityFair,
                ..FairParams::new(other.parameters().limit())
            },
        };
        let fair = Box::new(SchedulerQueue::Fair(Fair::new(&params, info)));
        Meter {
            queue: ServedQueue::of_scheduler(fair, Buffer::default()),
            serializer: Serializer::new(
                link.sustained_rate(),
                &link.rate_changes,
                link.rate_period,
            ),
            most: link.shaper.is_some().then(|| link.sustained_rate()),
            busy_until: Time::ZERO,
        }
    }

    fn set_rate(&mut self, now: Time, rate: Rate) {
        let rate = self.most.map_or(rate, |most| most.min(rate));
        // Nobody asks what the meter leaves unused.
        self.serializer.change_rate(now, rate, 0, self.busy_until);
    }

    /// What the queue has measured in `[from, to)`.
    fn measured(&mut self, from: Time, to: Time) -> Measured {
        if self.serializer.varies() {
            let mean = self.serializer.mean_rate(from, to);
            self.queue.set_rate(Rate::from_bits_per_second(libm::round(mean) as u64));
        }
        self.queue.measured(to).unwrap_or_default()
    }

    /// Until when nothing happens after `now`, if no packet arrives.
    fn is_still_until(&self, now: Time) -> Time {
        let free = self.queue.free_since();
        free.map_or(self.queue.next_service(), |at| if at > now { at } else { Time::NEVER })
    }

    fn on_arrival(&mut self, packet: &Transit) {
        self.queue.enqueue::<false>(*packet);
        self.queue.forget_dropped();
    }

    /// Sends the packets that are due by `now`. At equal times a departure comes before an arrival,
    /// as at the link.
    fn serve_until(&mut self, now: Time) {
        loop {
            let start = self.queue.next_service();
            if start > now || start == Time::NEVER {
                return;
            }
            if self.serializer.varies() {
                self.queue.set_rate(self.serializer.rate_at(start));
            }
            let Some(packet) = self.queue.dequeue() else { return };
            let free_at = self.serializer.finish(start, packet.bytes());
            self.busy_until = free_at;
            self.queue.set_next_start(free_at, free_at);
        }
    }
}
