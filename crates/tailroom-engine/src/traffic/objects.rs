//! Objects for a connection that lasts: they arrive as a Poisson process, whatever has become of those
//! before, and wait for their turn in one queue.

use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::whole_bytes;
use crate::distribution::Distribution;
use crate::random::stream;
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
    /// Those of a flow that begins at `start`, as the first gap does, up to `stop`; a packet carries
    /// `payload_bytes`.
    pub fn new(
        spec: &ObjectsSpec,
        payload_bytes: u32,
        start: Time,
        stop: Option<Time>,
        seed: u64,
    ) -> Self {
        let mut objects = Objects {
            spec: spec.clone(),
            payload_bytes: u64::from(payload_bytes),
            stop: stop.unwrap_or(Time::NEVER),
            next: start,
            gaps: stream(seed, "gaps of objects"),
            sizes: stream(seed, "sizes of objects"),
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
