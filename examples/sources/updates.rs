//! Updates: flows of one kind of size at equal intervals.
//!
//! A file of `src/traffic/` in the engine. Its line in `flow_sources` of the `registry!` there:
//!
//! ```text
//! /// Flows that arrive at equal intervals.
//! updates::Updates(UpdatesParams) = "updates",
//! ```

use super::context::{Group, GroupContext};
use super::draws::Draws;
use super::{FlowRequest, FlowSource, FlowStatistics, OfferedFlows, Parameters, whole_bytes};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::ValueConfig;
use crate::parameters::BadParameter;
use crate::quantity::{PositiveDuration, Size};
use crate::random::Stream;
use crate::units::Time;

/// Parameters of updates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct UpdatesParams {
    /// Payload of a flow.
    #[schemars(example = "100 kB")]
    pub size: ValueConfig<Size>,
    /// Time from the start of a flow to that of the next one.
    #[schemars(example = "500 ms")]
    pub interval: PositiveDuration,
}

impl Parameters for UpdatesParams {
    type Spec = UpdatesSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<UpdatesSpec, BadParameter> {
        Ok(UpdatesSpec {
            size: self.size.resolve("size", context.files)?,
            interval: self.interval.time(),
            start: context.flows.start,
            stop: context.flows.stop,
            rtt: context.flows.rtt.clone(),
            peak_rate: context.flows.access_rate.clone(),
        })
    }
}

/// Updates, resolved.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct UpdatesSpec {
    size: Distribution,
    interval: Time,
    start: Time,
    stop: Time,
    rtt: Distribution,
    peak_rate: Option<Distribution>,
}

impl OfferedFlows for UpdatesSpec {
    fn mean_rtt_ps(&self) -> f64 {
        self.rtt.mean()
    }

    fn statistics(&self, group: &Group<'_>, _duration_s: f64, draws: usize) -> FlowStatistics {
        let updates_per_s = 1.0 / self.interval.seconds();
        FlowStatistics::of_drawn(
            group,
            updates_per_s,
            &self.size,
            &self.rtt,
            self.peak_rate.as_ref(),
            draws,
        )
    }
}

/// A source of updates.
#[derive(Debug)]
pub struct Updates {
    spec: UpdatesSpec,
    next: Time,
    sizes: Stream,
    draws: Draws,
}

impl Updates {
    /// Starts the source of a group.
    pub fn new(spec: &UpdatesSpec, group: &Group<'_>, shortest_rtt: Time) -> Self {
        Updates {
            spec: spec.clone(),
            next: spec.start,
            sizes: group.stream("sizes"),
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), group, shortest_rtt),
        }
    }
}

impl FlowSource for Updates {
    fn next_arrival(&self) -> Time {
        if self.next < self.spec.stop { self.next } else { Time::NEVER }
    }

    fn next_flow(&mut self) -> Option<FlowRequest> {
        let start = self.next;
        self.next = start.saturating_add(self.spec.interval);
        (start < self.spec.stop).then(|| FlowRequest {
            start,
            bytes: Some(whole_bytes(self.spec.size.sample(&mut self.sizes))),
            rtt: self.draws.rtt(),
            access_rate: self.draws.access_rate(),
            seed: self.draws.seed(),
            media: None,
            route: None,
            tag: 0,
        })
    }
}
