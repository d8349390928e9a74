//! Admission control of new flows at a link: a flow that comes while the link is congested does not
//! begin, so that those in progress keep a useful rate (Benameur, Ben Fredj, Oueslati, Roberts 2002;
//! Kortebi, Oueslati, Roberts 2004).
//!
//! A link is congested while its fair rate is below a threshold or its priority load above another
//! one. Both are measured as a fair queue measures them (see [`crate::queue::fair`]): at a link with
//! another discipline a meter stands beside it, a priority fair queue of the same rate and limit that
//! takes in what arrives and sends it nowhere. So one measure means the same at every link, and no
//! discipline needs to know.
//!
//! Simplifications: the decision falls when the flow starts, for all links of its path at once, though
//! its first packet comes later; a flow that is refused does not come again; flows that are permanent or
//! that nothing controls are always admitted. The meter knows what arrives, not what the link's own
//! discipline drops of it, and takes the link's first rate for its capacity.

use crate::link::spec::FlowAdmissionSpec;
use crate::link::wire_loss::LossSpec;
use crate::link::{Link, LinkSpec};
use crate::network::Network;
use crate::packet::in_network::Event;
use crate::quantity::BitRate;
use crate::queue::fair::{FairParams, FairScheduler};
use crate::queue::{LinkInfo, QueueConfig};
use crate::units::Time;

/// Weight of an interval's priority load in its exponential average; not from a paper.
const PRIORITY_LOAD_WEIGHT: f64 = 0.5;

/// The admission controls of a network.
#[derive(Debug)]
pub struct FlowAdmissions {
    /// By link; empty if no link has one.
    links: Vec<Option<FlowAdmission>>,
}

impl FlowAdmissions {
    /// Those of `network`, before the first packet.
    pub fn new(network: &Network) -> Self {
        let links = network.links.iter().enumerate();
        let links = links.map(|(at, link)| FlowAdmission::new(link, &network.link_facts(at)));
        let links: Vec<Option<FlowAdmission>> = links.collect();
        let is_any = links.iter().any(Option::is_some);
        FlowAdmissions { links: if is_any { links } else { Vec::new() } }
    }

    /// A packet arrives at a link; packets come in order of time.
    #[inline]
    pub fn on_arrival(&mut self, link: usize, packet: &Event) {
        if let Some(Some(admission)) = self.links.get_mut(link) {
            admission.on_arrival(packet);
        }
    }

    /// Whether a link on `path` refuses a flow that comes at `now`.
    pub fn refuse_flow(&mut self, path: &[usize], now: Time) -> bool {
        !self.links.is_empty()
            && path.iter().any(|&link| {
                self.links[link].as_mut().is_some_and(|admission| admission.refuses(now))
            })
    }

    /// Memory of the packets in the meters; see [`Link::memory_bytes_within`].
    pub fn memory_bytes_within(&self, packets: u64) -> u64 {
        let admissions = self.links.iter().flatten();
        admissions.map(|admission| admission.meter.memory_bytes_within(packets)).sum()
    }
}

/// A link's admission control.
#[derive(Debug)]
pub struct FlowAdmission {
    spec: FlowAdmissionSpec,
    meter: Link,
    /// End of the interval under way.
    next_mark: Time,
    /// In bit/s, of the last interval; infinite before the first has ended.
    fair_rate: f64,
    /// Averaged over the intervals so far.
    priority_load: f64,
}

impl FlowAdmission {
    /// That of a link, if it has one.
    pub fn new(link: &LinkSpec, info: &LinkInfo) -> Option<Self> {
        let spec = link.admission?;
        Some(FlowAdmission {
            spec,
            meter: Link::new(&meter(link), info),
            next_mark: spec.interval.time(),
            fair_rate: f64::INFINITY,
            priority_load: 0.0,
        })
    }

    /// A packet arrives at the link; packets come in order of time.
    #[inline(never)]
    pub fn on_arrival(&mut self, packet: &Event) {
        self.pass(packet.time());
        // Not `arrive`, which is compiled into its only caller.
        self.meter.hold(packet, 0);
        self.meter.drain_dropped(packet.time(), |_| 0);
    }

    /// Whether a flow that comes at `now` is refused.
    pub fn refuses(&mut self, now: Time) -> bool {
        self.pass(now);
        let least = self.spec.min_fair_rate.map_or(0, BitRate::base_units) as f64;
        let most = self.spec.max_priority_load.unwrap_or(f64::INFINITY);
        self.fair_rate < least || self.priority_load > most
    }

    /// Ends the intervals up to `now`.
    fn pass(&mut self, now: Time) {
        while self.next_mark <= now {
            let mark = self.next_mark;
            self.serve_until(mark);
            for (name, value) in self.meter.gauges(mark) {
                match name {
                    "fair_rate_bps" => self.fair_rate = value,
                    "priority_load" => {
                        self.priority_load += PRIORITY_LOAD_WEIGHT * (value - self.priority_load);
                    }
                    _ => {}
                }
            }
            self.meter.restart_gauges(mark);
            self.next_mark = mark.saturating_add(self.spec.interval.time());
        }
        self.serve_until(now);
    }

    /// At equal times a departure comes before an arrival, as at the link.
    fn serve_until(&mut self, now: Time) {
        while self.meter.next_service() <= now && self.meter.next_service() < Time::NEVER {
            self.meter.serve(|_| 0);
        }
    }
}

/// A fair queue in the place of the link.
fn meter(link: &LinkSpec) -> LinkSpec {
    let queue = match &link.queue {
        QueueConfig::Fair(_) => link.queue.clone(),
        other => QueueConfig::Fair(FairParams {
            scheduler: FairScheduler::PriorityFair,
            ..FairParams::with_limit(other.parameters().limit())
        }),
    };
    LinkSpec {
        queue,
        loss: LossSpec::None,
        packet_log: 0,
        arrival_dispersion: None,
        arrival_log: None,
        admission: None,
        ..link.clone()
    }
}
