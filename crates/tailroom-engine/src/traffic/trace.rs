//! Flows from a list: when each starts, what it sends, and, where the list says so, how fast and over
//! which round trip.

use std::sync::Arc;

use super::passing::Draws;
use super::{FlowPlan, FlowSource};
use crate::distribution::Distribution;
use crate::units::{Rate, Time};

/// Flows of a list, each a connection of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpec {
    /// In order of their start.
    pub flows: Arc<[TraceFlow]>,
    /// Two-way propagation delay where the list has none, in picoseconds.
    pub rtt: Distribution,
    /// Rate of the access link where the list has none, in bit/s; `None` for one that takes no time.
    pub peak_rate: Option<Distribution>,
    /// How many completed flows are kept one by one.
    pub flow_log: usize,
}

impl TraceSpec {
    /// Mean time that flows take at their own rates.
    pub fn mean_transfer_s(&self) -> f64 {
        let drawn = self.peak_rate.as_ref().map_or(f64::INFINITY, Distribution::mean);
        let seconds = |flow: &TraceFlow| {
            let rate = flow.rate.map_or(drawn, |rate| rate.bits_per_second() as f64);
            8.0 * flow.bytes as f64 / rate
        };
        self.flows.iter().map(seconds).sum::<f64>() / self.flows.len().max(1) as f64
    }

    /// Mean round trip of its flows, in picoseconds.
    pub fn mean_rtt(&self) -> f64 {
        let drawn = self.rtt.mean();
        let listed = |flow: &TraceFlow| flow.rtt.map_or(drawn, |rtt| rtt.picoseconds() as f64);
        self.flows.iter().map(listed).sum::<f64>() / self.flows.len().max(1) as f64
    }
}

/// A flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFlow {
    /// When it starts.
    pub start: Time,
    /// Its payload, at least 1.
    pub bytes: u64,
    /// The rate that it cannot exceed, if it is known.
    pub rate: Option<Rate>,
    /// Its round trip, if it is known.
    pub rtt: Option<Time>,
}

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
