//! Flows from a list: when each starts, what it sends, and, where the list says so, how fast and over
//! which round trip.

use std::sync::Arc;

use super::passing::Draws;
use super::{FlowPlan, FlowSource};
use crate::topology::{TraceFlow, TraceSpec};
use crate::units::Time;

/// Flows as a list has them; what it leaves open is drawn.
#[derive(Debug)]
pub struct Trace {
    flows: Arc<[TraceFlow]>,
    next: usize,
    draws: Draws,
}

impl Trace {
    /// The flows of the group with this name.
    pub fn new(spec: &TraceSpec, shortest_rtt: Time, seed: u64, group: &str) -> Self {
        Trace {
            flows: Arc::clone(&spec.flows),
            next: 0,
            draws: Draws::new(&spec.rtt, spec.peak_rate.as_ref(), shortest_rtt, seed, group),
        }
    }
}

impl FlowSource for Trace {
    fn next_arrival(&self) -> Time {
        self.flows.get(self.next).map_or(Time::NEVER, |flow| flow.start)
    }

    fn next_flow(&mut self) -> Option<FlowPlan> {
        let flow = *self.flows.get(self.next)?;
        self.next += 1;
        // Drawn for every flow, so that a value more in the list changes that flow alone.
        let (rtt, access_rate) = (self.draws.rtt(), self.draws.access_rate());
        Some(FlowPlan {
            start: flow.start,
            bytes: Some(flow.bytes),
            rtt: flow.rtt.map_or(rtt, |rtt| self.draws.possible_rtt(rtt)),
            access_rate: flow.rate.or(access_rate),
            seed: self.draws.seed(),
            media: None,
            tag: 0,
        })
    }
}
