//! Objects for a connection that lasts: they arrive as a Poisson process or at given times, whatever has
//! become of those before, and wait for their turn in one queue.

use std::collections::VecDeque;

use super::arrivals::given;
use super::context::GroupContext;
use super::{OfferedData, Parameters, whole_bytes};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::ValueConfig;
use crate::parameters::BadParameter;
use crate::quantity::{Duration, Size};
use crate::random::{Stream, exponential, stream};
use crate::units::{PICOSECONDS_PER_SECOND, Time};
use crate::work::{MOST_STEPS, count_step};

/// Parameters of objects that arrive at a connection that lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ObjectsParams {
    /// Payload of an object. Each begins with a packet of its own, and its last packet is full:
    /// what is sent are whole packets.
    #[schemars(example = serde_json::json!({ "kind": "pareto", "shape": 1.2, "mean": "12 kB" }))]
    pub size: ValueConfig<Size>,
    /// Objects a second for each flow, on average: a Poisson process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9), example = 1.0)]
    pub arrivals_per_second: Option<f64>,
    /// Objects arrive at these times instead, in ascending order. In between, the application may pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), example = serde_json::json!(["0 s", "5 s"]))]
    pub arrivals: Option<Vec<Duration>>,
}

impl Parameters for ObjectsParams {
    type Spec = ObjectsSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<ObjectsSpec, BadParameter> {
        let size = self.size.resolve("size", context.files)?;
        let group = &context.group;
        let packets = size.mean_steps(group.payload_bytes());
        let object_bits = 8.0 * (f64::from(group.packet_bytes) * packets);
        let times = self.arrivals.as_deref().map(given).transpose()?;
        let per_second = match (self.arrivals_per_second, &times) {
            (Some(per_second), None) => per_second,
            (None, Some(times)) => mean_per_second(times),
            (None, None) => {
                let problem = "needs arrivals_per_second or arrivals";
                let remedy = "add one of them, as in `arrivals_per_second = 1`";
                return Err(BadParameter::new("", problem, remedy));
            }
            (Some(_), Some(_)) => {
                let problem = "more than one key says when objects arrive";
                let remedy = "keep one of arrivals_per_second and arrivals";
                return Err(BadParameter::new("", problem, remedy));
            }
        };
        Ok(ObjectsSpec { rate_bps: per_second * object_bits, size, per_second, times })
    }
}

/// The mean number of arrivals a second until the last one, or within the first second.
fn mean_per_second(times: &[Time]) -> f64 {
    let last_s = times.last().map_or(0.0, |last| last.seconds());
    times.len() as f64 / last_s.max(1.0)
}

/// Objects that arrive at a connection that lasts.
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
    /// When they arrive, in ascending order; without it, as a Poisson process.
    pub times: Option<Vec<Time>>,
}

impl ObjectsSpec {
    /// Objects of these sizes, in bytes, which arrive as a Poisson process and come to `rate_bps` on the
    /// wire.
    pub fn new(size: Distribution, per_second: f64, rate_bps: f64) -> Self {
        ObjectsSpec { size, per_second, rate_bps, times: None }
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
    /// Number of objects with given times that have arrived or are next.
    given: usize,
    /// Packets of all objects so far.
    packets: u64,
    /// The number of the packet behind each object, of those that the receiver may lack.
    ends: VecDeque<u64>,
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
            given: 0,
            packets: 0,
            ends: VecDeque::new(),
            gaps: stream(seed, "gaps of objects"),
            sizes: stream(seed, "sizes of objects"),
        };
        objects.advance();
        objects
    }

    /// No object ever arrives.
    pub fn none() -> Self {
        let spec = ObjectsSpec {
            size: Distribution::Fixed(0.0),
            per_second: 0.0,
            rate_bps: 0.0,
            times: Some(Vec::new()),
        };
        Self::new(&spec, 1, Time::ZERO, None, 0)
    }

    /// When the next object arrives; [`Time::NEVER`] if none does.
    pub fn next_arrival(&self) -> Time {
        self.next
    }

    /// Takes objects that have arrived by `now`; returns their packets. Each object begins with a new packet.
    /// If many have piled up, the rest is for when these are sent.
    pub fn take(&mut self, now: Time) -> u64 {
        let before = self.packets;
        for _ in 0..MOST_STEPS {
            if self.next > now {
                break;
            }
            count_step();
            let bytes = whole_bytes(self.spec.size.sample(&mut self.sizes));
            self.packets += bytes.div_ceil(self.payload_bytes);
            self.ends.push_back(self.packets);
            self.advance();
        }
        self.packets - before
    }

    /// The number of the packet behind the object of which the receiver, which has `received` packets in order,
    /// takes in the next one; [`u64::MAX`] if it lacks none.
    pub fn end_after(&mut self, received: u64) -> u64 {
        while self.ends.front().is_some_and(|end| *end <= received) {
            self.ends.pop_front();
        }
        self.ends.front().copied().unwrap_or(u64::MAX)
    }

    /// Memory, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (size_of::<Self>() + self.ends.capacity() * size_of::<u64>()) as u64
    }

    fn advance(&mut self) {
        let next = match &self.spec.times {
            Some(times) => {
                self.given += 1;
                times.get(self.given - 1).map_or(Time::NEVER, |time| self.next.max(*time))
            }
            None => self.next_by_chance(),
        };
        self.next = if next < self.stop { next } else { Time::NEVER };
    }

    fn next_by_chance(&mut self) -> Time {
        let gap = exponential(&mut self.gaps);
        let mean_gap_ps = PICOSECONDS_PER_SECOND as f64 / self.spec.per_second;
        let gap = Time::from_picoseconds(libm::round(gap * mean_gap_ps) as u64);
        self.next.saturating_add(gap)
    }
}
