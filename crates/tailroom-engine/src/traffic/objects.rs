//! Objects for a connection that lasts: they arrive as a Poisson process, whatever has become of
//! those before, and wait for their turn in one queue.

use super::context::GroupContext;
use super::{OfferedData, Parameters, whole_bytes};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::ValueConfig;
use crate::parameters::BadParameter;
use crate::quantity::Size;
use crate::random::{Stream, exponential, stream};
use crate::units::{PICOSECONDS_PER_SECOND, Time};

/// Parameters of objects that arrive at a connection that lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ObjectsParams {
    /// Payload of an object. Each begins with a packet of its own, and its last packet is full:
    /// what is sent are whole packets.
    #[schemars(example = serde_json::json!({ "kind": "pareto", "shape": 1.2, "mean": "12 kB" }))]
    pub size: ValueConfig<Size>,
    /// Objects a second for each flow, on average.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9), example = 1.0)]
    pub arrivals_per_second: f64,
}

impl Parameters for ObjectsParams {
    type Spec = ObjectsSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<ObjectsSpec, BadParameter> {
        let size = self.size.resolve("size", context.files)?;
        let group = &context.group;
        let packets = size.mean_steps(group.payload_bytes());
        let object_bits = 8.0 * (f64::from(group.packet_bytes) * packets);
        let per_second = self.arrivals_per_second;
        Ok(ObjectsSpec { rate_bps: per_second * object_bits, size, per_second })
    }
}

/// Objects that arrive at a connection that lasts, as a Poisson process.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct ObjectsSpec {
    /// Payload of an object, in bytes.
    pub size: Distribution,
    /// Mean number of objects a second, for each connection.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9))]
    pub per_second: f64,
    /// What they come to on the wire on average, in bit/s.
    pub rate_bps: f64,
}

impl ObjectsSpec {
    /// Objects of these sizes, in bytes, which come to `rate_bps` on the wire.
    pub fn new(size: Distribution, per_second: f64, rate_bps: f64) -> Self {
        ObjectsSpec { size, per_second, rate_bps }
    }
}

impl OfferedData for ObjectsSpec {
    fn rate_bps(&self) -> Option<f64> {
        Some(self.rate_bps)
    }
}

/// The objects of one connection. Gaps and sizes have streams of their own, so that changing the
/// sizes leaves the arrival times alone.
#[derive(Clone, Debug)]
pub struct Objects {
    spec: ObjectsSpec,
    payload_bytes: u64,
    stop: Time,
    /// When the next object arrives; [`Time::NEVER`] if none does.
    next: Time,
    gaps: Stream,
    sizes: Stream,
}

impl Objects {
    /// Those of a flow that begins at `start`, as the first gap does, up to `stop`; a packet
    /// carries `payload_bytes`.
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

    /// Takes the objects that have arrived by `now`; returns their packets. Each object begins with
    /// a new packet.
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
        let gap = exponential(&mut self.gaps);
        let mean_gap_ps = PICOSECONDS_PER_SECOND as f64 / self.spec.per_second;
        let gap = Time::from_picoseconds(libm::round(gap * mean_gap_ps) as u64);
        let next = self.next.saturating_add(gap);
        self.next = if next < self.stop { next } else { Time::NEVER };
    }
}
