//! Flows that arrive, send their data, and depart.

use super::arrivals::{Arrivals, ArrivalsConfig, FlowArrivals};
use super::context::{Group, GroupContext};
use super::draws::Draws;
use super::{FlowRequest, FlowSource, FlowStatistics, OfferedFlows, Parameters, whole_bytes};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::ValueConfig;
use crate::parameters::BadParameter;
use crate::quantity::Size;
use crate::random::Stream;
use crate::units::Time;

/// Parameters of flows with sizes from a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
#[non_exhaustive]
pub struct FiniteFlowsParams {
    /// Payload of a flow.
    #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "1 MB" }))]
    pub size: ValueConfig<Size>,
    /// When flows arrive.
    #[serde(flatten)]
    pub arrivals: ArrivalsConfig,
    /// How many completed flows to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub flow_log: u32,
}

impl Parameters for FiniteFlowsParams {
    type Spec = FiniteFlowsSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<FiniteFlowsSpec, BadParameter> {
        let size = self.size.resolve("size", context.files)?;
        let arrivals =
            self.arrivals.resolve(context, || context.group.estimated_wire_bytes(&size))?;
        Ok(FiniteFlowsSpec {
            arrivals,
            size,
            rtt: context.flows.rtt.clone(),
            peak_rate: context.flows.access_rate.clone(),
            flow_log: self.flow_log as usize,
        })
    }
}

/// Flows that arrive and depart, each a connection of its own.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct FiniteFlowsSpec {
    /// When they arrive.
    pub arrivals: FlowArrivals,
    /// Payload of a flow, in bytes.
    pub size: Distribution,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// Rate of a flow's own access link, in bit/s; `None` for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    #[schemars(range(max = 100_000_000))]
    pub flow_log: usize,
}

impl FiniteFlowsSpec {
    /// Flows whose access links take no time, none of them recorded.
    pub fn new(arrivals: FlowArrivals, size: Distribution, rtt: Distribution) -> Self {
        FiniteFlowsSpec { arrivals, size, rtt, peak_rate: None, flow_log: 0 }
    }
}

impl OfferedFlows for FiniteFlowsSpec {
    fn mean_rtt_ps(&self) -> f64 {
        self.rtt.mean()
    }

    fn flow_log(&self) -> usize {
        self.flow_log
    }

    fn mean_transfer_s(&self) -> Option<f64> {
        Some(8.0 * self.size.mean() / self.peak_rate.as_ref()?.mean())
    }

    fn statistics(&self, group: &Group<'_>, duration_s: f64, draws: usize) -> FlowStatistics {
        let arrivals_per_s = self.arrivals.per_second(duration_s);
        FlowStatistics {
            is_poisson: self.arrivals.is_poisson(),
            ..FlowStatistics::of_drawn(
                group,
                arrivals_per_s,
                &self.size,
                &self.rtt,
                self.peak_rate.as_ref(),
                draws,
            )
        }
    }
}

/// Flows at given times or as a Poisson process; size, round trip and peak rate of each are drawn.
#[derive(Clone, Debug)]
pub struct FiniteFlows {
    arrivals: Arrivals,
    size: Distribution,
    sizes: Stream,
    draws: Draws,
}

impl FiniteFlows {
    /// Starts the source of a group.
    pub fn new(spec: &FiniteFlowsSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        FiniteFlows {
            arrivals: Arrivals::new(&spec.arrivals, group),
            size: spec.size.clone(),
            sizes: group.stream("sizes"),
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), group, shortest_rtt),
        }
    }
}

impl FlowSource for FiniteFlows {
    fn next_arrival(&self) -> Time {
        self.arrivals.next()
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        Some(FlowRequest {
            start: self.arrivals.take()?,
            bytes: Some(whole_bytes(self.size.sample(&mut self.sizes))),
            rtt: self.draws.rtt(),
            access_rate: self.draws.access_rate(),
            seed: self.draws.seed(),
            media: None,
            route: None,
            tag: 0,
        })
    }
}
