//! Objects for a connection that lasts: they arrive as a Poisson process, whatever has become of those
//! before, and wait for their turn in one queue.

use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{FlowPlan, whole_bytes};
use crate::distribution::Distribution;
use crate::random::stream;
use crate::topology::GroupSpec;
use crate::units::{PICOSECONDS_PER_SECOND, Time};

/// Objects that arrive at a connection that lasts, as a Poisson process.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectsSpec {
    /// Payload of an object, in bytes.
    pub size: Distribution,
    /// Mean number of objects a second, for each connection.
    pub per_second: f64,
    /// What they come to on the wire on average, in bit/s.
    pub rate_bps: f64,
}

/// The objects of one connection. Gaps and sizes have streams of their own, so that changing the
/// sizes leaves the arrival times alone.
#[derive(Debug)]
pub struct Objects {
    spec: ObjectsSpec,
    payload_bytes: u64,
    stop: Time,
    /// When the next object arrives; [`Time::NEVER`] if none does.
    next: Time,
    gaps: Xoshiro256PlusPlus,
    sizes: Xoshiro256PlusPlus,
}

impl Objects {
    /// Those of the flow of `group` that `plan` describes, the first gap starting with it.
    pub fn new(spec: &ObjectsSpec, group: &GroupSpec, plan: &FlowPlan) -> Self {
        let mut objects = Objects {
            spec: spec.clone(),
            payload_bytes: u64::from(group.packet_size - group.header_size),
            stop: group.stop.unwrap_or(Time::NEVER),
            next: plan.start,
            gaps: stream(plan.seed, "gaps of objects"),
            sizes: stream(plan.seed, "sizes of objects"),
        };
        objects.advance();
        objects
    }

    /// When the next object arrives; [`Time::NEVER`] if none does.
    pub fn next_arrival(&self) -> Time {
        self.next
    }

    /// Takes the objects that have arrived by `now`: so many packets, each object in its own.
    pub fn take(&mut self, now: Time) -> u64 {
        let mut packets = 0;
        while self.next <= now {
            let bytes = whole_bytes(self.spec.size.sample(&mut self.sizes));
            packets += bytes.div_ceil(self.payload_bytes);
            self.advance();
        }
        packets
    }

    fn advance(&mut self) {
        let gap: f64 = Exp1.sample(&mut self.gaps);
        let mean_gap_ps = PICOSECONDS_PER_SECOND as f64 / self.spec.per_second;
        let gap = Time::from_picoseconds(libm::round(gap * mean_gap_ps) as u64);
        let next = self.next.saturating_add(gap);
        self.next = if next < self.stop { next } else { Time::NEVER };
    }
}
