//! Flows that arrive, send what they have, and leave.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::passing::{Arrivals, Draws, FlowArrivals};
use super::{FlowPlan, FlowSource, whole_bytes};
use crate::distribution::Distribution;
use crate::random::stream;
use crate::units::Time;

/// Flows that come and go, each a connection of its own.
#[derive(Clone, Debug, PartialEq)]
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
    pub flow_log: usize,
}

/// Flows at given times or as a Poisson process; size, round trip and peak rate of each are drawn.
#[derive(Debug)]
pub struct FiniteFlows {
    arrivals: Arrivals,
    size: Distribution,
    sizes: Xoshiro256PlusPlus,
    draws: Draws,
}

impl FiniteFlows {
    /// The flows of the group with this name.
    pub fn new(spec: &FiniteFlowsSpec, shortest_rtt: Time, seed: u64, group: &str) -> Self {
        FiniteFlows {
            arrivals: Arrivals::new(&spec.arrivals, seed, group),
            size: spec.size.clone(),
            sizes: stream(seed, &format!("sizes of flows of {group}")),
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), shortest_rtt, seed, group),
        }
    }
}

impl FlowSource for FiniteFlows {
    fn next_arrival(&self) -> Time {
        self.arrivals.next
    }

    fn next_flow(&mut self) -> Option<FlowPlan> {
        Some(FlowPlan {
            start: self.arrivals.take()?,
            bytes: Some(whole_bytes(self.size.sample(&mut self.sizes))),
            rtt: self.draws.rtt(),
            access_rate: self.draws.access_rate(),
            seed: self.draws.seed(),
            media: None,
            tag: 0,
        })
    }
}
