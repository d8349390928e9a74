//! Flows of a source of the caller's. Each flow is checked, and a wrong one stops the run.

use std::fmt;

use super::context::{Group, GroupContext};
use super::custom::{self, FlowsMaker};
use super::draws::Draws;
use super::pace::Pace;
use super::{
    FlowRequest, FlowSource, FlowStatistics, OfferedFlows, Parameters, TraceFlow, seconds,
};
#[cfg(feature = "scenario")]
use crate::custom::Arguments;
use crate::custom::{CallersCode, CustomFault, FirstFault, Guest, Missing};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::parameters::BadParameter;
use crate::quantity::Size;
use crate::units::Time;

/// Parameters of flows of a source of your own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CustomFlowsParams {
    /// Name of the source: in Python its module and class, as in `"mymodule:MySource"`, whose code the
    /// run executes.
    #[schemars(length(min = 1), example = "mymodule:MySource")]
    pub source: String,
    /// Mean number of flows per second. Loads and models read it; the run begins the flows of the
    /// source.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9), example = 2.0)]
    pub arrivals_per_second: f64,
    /// Mean payload of a flow, which loads and models read.
    #[schemars(example = "100 kB")]
    pub size: Size,
    /// Arguments from which the source of the group is made: in Python the keyword arguments of the
    /// class.
    #[cfg(feature = "scenario")]
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub parameters: Arguments,
    /// How many completed flows to record one by one, the first to complete.
    #[serde(default)]
    #[schemars(range(max = 100_000_000))]
    pub flow_log: u32,
    #[serde(skip)]
    maker: Option<FlowsMaker>,
}

impl CustomFlowsParams {
    /// The source of this name, still to be found, which begins this many flows per second of this
    /// mean payload.
    pub fn named(source: impl Into<String>, arrivals_per_second: f64, size: Size) -> Self {
        CustomFlowsParams {
            source: source.into(),
            arrivals_per_second,
            size,
            #[cfg(feature = "scenario")]
            parameters: Arguments::default(),
            flow_log: 0,
            maker: None,
        }
    }

    /// The same parameters with the maker of the source that they name.
    #[must_use]
    pub fn made_by(self, maker: FlowsMaker) -> Self {
        CustomFlowsParams { maker: Some(maker), ..self }
    }

    /// Whether the source has been found.
    pub fn is_found(&self) -> bool {
        self.maker.is_some()
    }
}

impl Parameters for CustomFlowsParams {
    type Spec = CustomFlowsSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<CustomFlowsSpec, BadParameter> {
        Ok(CustomFlowsSpec {
            params: self.clone(),
            start: context.flows.start,
            stop: context.flows.stop,
            rtt: context.flows.rtt.clone(),
            peak_rate: context.flows.access_rate.clone(),
        })
    }
}

/// Flows of a source of the caller's, each a connection of its own.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct CustomFlowsSpec {
    /// The source, and what is known of its flows.
    pub params: CustomFlowsParams,
    /// The group's start, before which no flow begins.
    pub start: Time,
    /// From when on none begins.
    pub stop: Time,
    /// Two-way propagation delay where the source has none, in picoseconds.
    pub rtt: Distribution,
    /// Rate of the access link where the source has none, in bit/s; `None` for one that takes no time.
    pub peak_rate: Option<Distribution>,
}

impl CustomFlowsSpec {
    /// Flows of a source from the beginning of the run, without access links. `rtt` is in picoseconds.
    pub fn new(params: CustomFlowsParams, rtt: Distribution) -> Self {
        CustomFlowsSpec { params, start: Time::ZERO, stop: Time::NEVER, rtt, peak_rate: None }
    }
}

impl OfferedFlows for CustomFlowsSpec {
    fn mean_rtt_ps(&self) -> f64 {
        self.rtt.mean()
    }

    fn flow_log(&self) -> usize {
        self.params.flow_log as usize
    }

    fn mean_transfer_s(&self) -> Option<f64> {
        Some(8.0 * self.params.size.bytes() as f64 / self.peak_rate.as_ref()?.mean())
    }

    fn statistics(&self, group: &Group<'_>, _duration_s: f64, draws: usize) -> FlowStatistics {
        let size = Distribution::Fixed(self.params.size.bytes() as f64);
        FlowStatistics {
            rtt_s: seconds(self.mean_rtt_ps()),
            ..FlowStatistics::of_drawn(
                group,
                self.params.arrivals_per_second,
                &size,
                &self.rtt,
                self.peak_rate.as_ref(),
                draws,
            )
        }
    }
}

/// The most flows that begin within 0.2 ms: they take some hundreds of MB.
const MOST_AT_ONCE: u32 = 100_000;
const SPAN: Time = Time::from_picoseconds(200_000_000);

/// A running flow source of the caller's; without one, no flow begins.
#[derive(Clone)]
pub struct CustomFlows {
    source: Option<CallersCode<dyn custom::CustomFlows + Send>>,
    next: Option<TraceFlow>,
    /// No flow begins earlier.
    earliest: Time,
    stop: Time,
    draws: Draws,
    /// Flows that have begun.
    begun: u32,
    pace: Pace,
    fault: FirstFault,
}

impl fmt::Debug for CustomFlows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CustomFlows").field("next", &self.next).finish_non_exhaustive()
    }
}

impl CustomFlows {
    /// Starts the source of a group.
    pub fn new(spec: &CustomFlowsSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        let mut flows = CustomFlows {
            source: spec.params.maker.as_ref().map(|maker| CallersCode(maker(group, spec.start))),
            next: None,
            earliest: spec.start,
            stop: spec.stop,
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), group, shortest_rtt),
            begun: 0,
            pace: Pace::new(MOST_AT_ONCE, SPAN),
            fault: FirstFault::default(),
        };
        flows.ask();
        flows
    }

    /// Why the source stopped the run, if it did.
    pub fn fault(&self) -> Option<&CustomFault> {
        self.fault.get()
    }

    /// Asks the source for the flow after the last.
    fn ask(&mut self) {
        let Some(source) = self.source.as_mut().filter(|_| self.fault.is_none()) else { return };
        let next = source.next_flow();
        self.fault.note(self.earliest, source.failure());
        let Some(flow) = next.filter(|_| self.fault.is_none()) else { return };
        let earliest = self.earliest;
        if flow.start < earliest {
            let problem = format!(
                "next_flow returned a flow that begins at {}; it begins at {earliest} or later, after \
                 the flow before it and what it waits for",
                flow.start
            );
            self.fault.keep(earliest, problem);
        } else if flow.start < self.stop {
            if self.pace.exceeds(flow.start) {
                let problem = format!(
                    "next_flow returned {MOST_AT_ONCE} flows in 0.2 ms, until {}; let time pass",
                    flow.start
                );
                return self.fault.keep(earliest, problem);
            }
            self.next = Some(flow);
        }
    }
}

impl FlowSource for CustomFlows {
    fn next_arrival(&self) -> Time {
        self.next.map_or(Time::NEVER, |flow| flow.start)
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        let flow = self.next.take()?;
        let request = self.draws.request(flow, self.begun);
        self.begun = self.begun.wrapping_add(1);
        self.earliest = flow.start;
        self.ask();
        Some(request)
    }

    fn on_completion(&mut self, tag: u32, at: Time) {
        let Some(source) = self.source.as_mut().filter(|_| self.fault.is_none()) else { return };
        source.on_completion(tag, at);
        self.fault.note(at, source.failure());
        if self.next.is_none() {
            self.earliest = self.earliest.max(at);
            self.ask();
        }
    }
}

impl Guest for dyn custom::CustomFlows + Send {
    fn failing(reason: String) -> Box<Self> {
        Box::new(Missing(reason))
    }
}

impl custom::CustomFlows for Missing {
    fn next_flow(&mut self) -> Option<TraceFlow> {
        None
    }

    fn failure(&mut self) -> Option<String> {
        Some(self.0.clone())
    }
}
