//! Flows from a list: when each starts, what it sends, and, where the list says so, how fast and
//! over which round trip.

use std::sync::Arc;

pub use super::TraceFlow;
use super::context::{Group, GroupContext};
use super::draws::Draws;
use super::flow_list::read_list;
use super::{FlowRequest, FlowSource, FlowStatistics, OfferedFlows, Parameters, seconds};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::parameters::BadParameter;
use crate::quoting::quoted;
use crate::units::Time;

/// Parameters of the flows of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TraceParams {
    /// A CSV or Parquet file, its path relative to the scenario file. Its columns, by the names
    /// in the first line: `start_s` (ascending), `bytes` (payload), and, each of which may be
    /// empty or missing, `rate_bps` and `rtt_s`; others are ignored. Flows without a rate or
    /// a round trip have `access_rate` and `rtt`; no round trip is shorter than the path's own.
    #[schemars(length(min = 1), example = "flows.csv")]
    pub file: String,
    /// How many completed flows to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub flow_log: u32,
}

impl Parameters for TraceParams {
    type Spec = TraceSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<TraceSpec, BadParameter> {
        let file = &self.file;
        let text = context.files.get(file).map_or("", String::as_str);
        let flows = read_list(text).map_err(|(problem, remedy)| {
            BadParameter::new("file", format!("\"{}\" {problem}", quoted(file)), remedy)
        })?;
        let (start, stop) = (context.flows.start, context.flows.stop);
        let shifted = flows.into_iter().map(|flow| TraceFlow { start: flow.start + start, ..flow });
        Ok(TraceSpec {
            flows: shifted.take_while(|flow| flow.start < stop).collect(),
            rtt: context.flows.rtt.clone(),
            peak_rate: context.flows.access_rate.clone(),
            flow_log: self.flow_log as usize,
        })
    }
}

/// Flows of a list, each a connection of its own.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct TraceSpec {
    /// In order of their start.
    pub flows: Arc<[TraceFlow]>,
    /// Two-way propagation delay where the list has none, in picoseconds.
    pub rtt: Distribution,
    /// Rate of the access link where the list has none, in bit/s; `None` for one that takes no
    /// time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    #[schemars(range(max = 100_000_000))]
    pub flow_log: usize,
}

impl TraceSpec {
    /// Flows whose access links take no time where they have no rate, none of them recorded.
    pub fn new(flows: impl Into<Arc<[TraceFlow]>>, rtt: Distribution) -> Self {
        TraceSpec { flows: flows.into(), rtt, peak_rate: None, flow_log: 0 }
    }

    fn mean(&self, quantity: impl Fn(&TraceFlow) -> f64) -> f64 {
        self.flows.iter().map(quantity).sum::<f64>() / self.flows.len().max(1) as f64
    }
}

impl OfferedFlows for TraceSpec {
    fn mean_rtt_ps(&self) -> f64 {
        let drawn = self.rtt.mean();
        self.mean(|flow| flow.rtt.map_or(drawn, |rtt| rtt.picoseconds() as f64))
    }

    fn flow_log(&self) -> usize {
        self.flow_log
    }

    fn mean_transfer_s(&self) -> Option<f64> {
        let drawn = self.peak_rate.as_ref().map_or(f64::INFINITY, Distribution::mean);
        Some(self.mean(|flow| {
            let rate = flow.rate.map_or(drawn, |rate| rate.bits_per_second() as f64);
            8.0 * flow.bytes as f64 / rate
        }))
    }

    fn statistics(&self, group: &Group<'_>, duration_s: f64, draws: usize) -> FlowStatistics {
        let count = self.flows.len().max(1);
        let bytes = || self.flows.iter().map(|flow| flow.bytes as f64);
        let packets = bytes().map(|bytes| libm::ceil(bytes / group.payload_bytes()).max(1.0));
        let headers = f64::from(group.header_bytes) * packets.sum::<f64>();
        FlowStatistics {
            arrivals_per_s: count as f64 / duration_s,
            is_poisson: false,
            size_bytes_mean: bytes().sum::<f64>() / count as f64,
            wire_bytes_mean: (bytes().sum::<f64>() + headers) / count as f64,
            sizes_bytes: bytes().step_by(count.div_ceil(draws)).collect(),
            rtt_s: seconds(self.mean_rtt_ps()),
            peak_rate_bps: self.peak_rate.as_ref().map(Distribution::mean),
        }
    }
}

/// Flows as a list has them; what it leaves open is drawn.
#[derive(Clone, Debug)]
pub struct Trace {
    flows: Arc<[TraceFlow]>,
    next: usize,
    draws: Draws,
}

impl Trace {
    /// Starts the source of a group.
    pub fn new(spec: &TraceSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        Trace {
            flows: Arc::clone(&spec.flows),
            next: 0,
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), group, shortest_rtt),
        }
    }
}

impl FlowSource for Trace {
    fn next_arrival(&self) -> Time {
        self.flows.get(self.next).map_or(Time::NEVER, |flow| flow.start)
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        let flow = *self.flows.get(self.next)?;
        self.next += 1;
        Some(self.draws.request(flow, 0))
    }
}
