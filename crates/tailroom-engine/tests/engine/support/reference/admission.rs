//! Admission control of new flows, by a meter that is a whole link with a fair queue.

use tailroom_engine::link::spec::FlowAdmissionSpec;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::link::{Link, LinkSpec};
use tailroom_engine::network::Network;
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::fair::{FairParams, FairScheduler};
use tailroom_engine::units::Time;

/// The admission control of one link.
#[derive(Debug)]
pub(super) struct Admission {
    spec: FlowAdmissionSpec,
    /// A link that sends the packets nowhere.
    meter: Link,
    interval_end: Time,
    fair_rate_bps: Option<f64>,
    priority_load: f64,
}

impl Admission {
    /// The admission control of the link at `index`, if it has one.
    pub(super) fn new(network: &Network, index: usize) -> Option<Self> {
        let link = &network.links[index];
        let spec = link.admission?;
        let queue = match &link.queue {
            fair @ QueueConfig::Fair(_) => fair.clone(),
            other => {
                let params = FairParams::new(other.parameters().limit());
                let scheduler = FairScheduler::PriorityFair;
                QueueConfig::Fair(with!(params, FairParams { scheduler }))
            }
        };
        let alike = with!(
            link.clone(),
            LinkSpec {
                queue,
                rate: link.sustained_rate(),
                shaper: None,
                policer: None,
                loss: LossSpec::None,
                packet_log: 0
            }
        );
        let meter = Link::new(&alike, &network.link_facts()[index], network.measured());
        let interval_end = spec.interval.time();
        Some(Admission { spec, meter, interval_end, fair_rate_bps: None, priority_load: 0.0 })
    }

    /// A packet arrives at the link.
    pub(super) fn on_arrival(&mut self, mut packet: Transit) {
        let now = packet.time();
        self.measure_until(now);
        self.meter.arrive(&mut packet, 0);
        self.meter.drain_dropped(now, |_| 0);
    }

    /// Whether the link refuses a flow that arrives at `now`.
    pub(super) fn refuses(&mut self, now: Time) -> bool {
        self.measure_until(now);
        let is_too_slow = match (self.spec.min_fair_rate, self.fair_rate_bps) {
            (Some(least), Some(rate)) => rate < least.base_units() as f64,
            _ => false,
        };
        is_too_slow || self.spec.max_priority_load.is_some_and(|most| self.priority_load > most)
    }

    /// Reads the meter at the end of each interval up to `now`.
    fn measure_until(&mut self, now: Time) {
        while self.interval_end <= now {
            let end = self.interval_end;
            self.send_until(end);
            // A sample is taken at the mean rate of the interval.
            self.meter.sample(end);
            let gauges = self.meter.probe.samples.pop().expect("one has been taken").gauges;
            let gauge =
                |wanted| gauges.iter().find(|(name, _)| *name == wanted).map(|gauge| gauge.1);
            self.fair_rate_bps = gauge("fair_rate_bps");
            // Half of the mean is the last interval's load, a quarter the one before, and so on.
            if let Some(load) = gauge("priority_load") {
                self.priority_load += (load - self.priority_load) / 2.0;
            }
            self.meter.begin_measuring(end);
            self.interval_end = end + self.spec.interval.time();
        }
        self.send_until(now);
    }

    fn send_until(&mut self, now: Time) {
        while self.meter.next_service() <= now && self.meter.next_service() < Time::NEVER {
            self.meter.serve(|_| 0);
        }
    }
}
