//! Media flows: each sends at its own constant rate, whatever the network does, for as long as it
//! lasts.

use super::arrivals::{Arrivals, ArrivalsConfig, FlowArrivals};
use super::context::{Group, GroupContext};
use super::draws::{Draws, whole_rate};
use super::{FlowRequest, FlowSource, FlowStatistics, Media, OfferedFlows, Parameters, seconds};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::ValueConfig;
use crate::parameters::BadParameter;
use crate::quantity::{BitRate, PositiveDuration};
use crate::random::Stream;
use crate::units::{PICOSECONDS_PER_SECOND, Time};

/// Parameters of media flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
#[non_exhaustive]
pub struct StreamingParams {
    /// Rate of a flow, headers included.
    #[schemars(example = "1 Mbit/s")]
    pub rate: ValueConfig<BitRate>,
    /// How long a flow lasts.
    #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "60 s" }))]
    pub duration: ValueConfig<PositiveDuration>,
    /// When flows arrive.
    #[serde(flatten)]
    pub arrivals: ArrivalsConfig,
    /// How many completed flows to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub flow_log: u32,
}

impl Parameters for StreamingParams {
    type Spec = StreamingSpec;

    const IS_UNRESPONSIVE: bool = true;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<StreamingSpec, BadParameter> {
        let rate = self.rate.resolve("rate", context.files)?;
        let duration = self.duration.resolve("duration", context.files)?;
        let mean_bytes = || mean_wire_bytes(&rate, &duration, &context.group);
        let arrivals = self.arrivals.resolve(context, mean_bytes)?;
        let (rtt, flow_log) = (context.flows.rtt.clone(), self.flow_log as usize);
        Ok(StreamingSpec { arrivals, duration, rate, rtt, flow_log })
    }
}

/// Mean bytes on the wire of a flow: all packets are full.
fn mean_wire_bytes(rate: &Distribution, duration: &Distribution, group: &Group<'_>) -> f64 {
    let packet = f64::from(group.packet_bytes);
    let packets = 1.0 / (8.0 * packet * PICOSECONDS_PER_SECOND as f64);
    let excess = group.mean_excess("length", |stream| {
        let exact = rate.sample(stream) * duration.sample(stream) * packets;
        (exact, libm::ceil(exact))
    });
    packet * (rate.mean() * duration.mean() * packets + excess)
}

/// Media flows: a constant rate each, and no congestion control.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct StreamingSpec {
    /// When they arrive.
    pub arrivals: FlowArrivals,
    /// How long a flow lasts, in picoseconds.
    pub duration: Distribution,
    /// Rate of a flow on the wire, in bit/s.
    pub rate: Distribution,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// How many completed flows are kept one by one.
    #[schemars(range(max = 100_000_000))]
    pub flow_log: usize,
}

impl StreamingSpec {
    /// Flows of which none is recorded.
    pub fn new(
        arrivals: FlowArrivals,
        duration: Distribution,
        rate: Distribution,
        rtt: Distribution,
    ) -> Self {
        StreamingSpec { arrivals, duration, rate, rtt, flow_log: 0 }
    }
}

impl OfferedFlows for StreamingSpec {
    fn mean_rtt_ps(&self) -> f64 {
        self.rtt.mean()
    }

    fn flow_log(&self) -> usize {
        self.flow_log
    }

    fn statistics(&self, _group: &Group<'_>, duration_s: f64, _draws: usize) -> FlowStatistics {
        let wire_bytes = seconds(self.duration.mean()) * self.rate.mean() / 8.0;
        FlowStatistics {
            arrivals_per_s: self.arrivals.per_second(duration_s),
            is_poisson: self.arrivals.is_poisson(),
            size_bytes_mean: wire_bytes,
            wire_bytes_mean: wire_bytes,
            sizes_bytes: Vec::new(),
            rtt_s: seconds(self.rtt.mean()),
            peak_rate_bps: Some(self.rate.mean()),
        }
    }
}

/// Media flows at given times or as a Poisson process; duration, rate and round trip are drawn.
#[derive(Clone, Debug)]
pub struct Streaming {
    arrivals: Arrivals,
    duration: Distribution,
    durations: Stream,
    rate: Distribution,
    rates: Stream,
    draws: Draws,
    packet_bytes: u32,
    header_bytes: u32,
}

impl Streaming {
    /// Starts the source of a group.
    pub fn new(spec: &StreamingSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        Streaming {
            arrivals: Arrivals::new(&spec.arrivals, group),
            duration: spec.duration.clone(),
            durations: group.stream("durations"),
            rate: spec.rate.clone(),
            rates: group.stream("rates"),
            draws: Draws::new(&spec.rtt, None, group, shortest_rtt),
            packet_bytes: group.packet_bytes,
            header_bytes: group.header_bytes,
        }
    }
}

impl FlowSource for Streaming {
    fn next_arrival(&self) -> Time {
        self.arrivals.next()
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        let start = self.arrivals.take()?;
        let rate = whole_rate(self.rate.sample(&mut self.rates));
        let duration = libm::round(self.duration.sample(&mut self.durations)).max(1.0);
        let duration = Time::from_picoseconds(duration as u64);
        let media = Media { rate, end: start.saturating_add(duration) };
        let payload = u64::from(self.packet_bytes - self.header_bytes);
        Some(FlowRequest {
            start,
            bytes: Some(media.packets(start, self.packet_bytes).saturating_mul(payload)),
            rtt: self.draws.rtt(),
            access_rate: None,
            seed: self.draws.seed(),
            media: Some(media),
            route: None,
            tag: 0,
        })
    }
}
