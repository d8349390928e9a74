//! What an application wants to send when no congestion control asks it to wait.
//!
//! A bulk source needs no code of its own: the TCP sender takes packets whenever its window allows.

pub mod cbr;
pub mod finite_flows;
pub mod on_off;
pub mod poisson;

use crate::topology::{GroupSpec, SourceSpec};
use crate::units::{Rate, Time};
use cbr::Cbr;
use on_off::OnOff;
use poisson::Poisson;

/// A packet that a source emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When.
    pub time: Time,
    /// Its size on the wire.
    pub bytes: u32,
}

/// A flow under congestion control, as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPlan {
    /// When.
    pub start: Time,
    /// Payload bytes to send; `None` for a permanent flow.
    pub bytes: Option<u64>,
    /// Two-way propagation delay of its path.
    pub rtt: Time,
    /// Rate of its own access link, its exogenous peak rate; `None` for one that takes no time.
    pub access_rate: Option<Rate>,
    /// What its congestion control draws from.
    pub seed: u64,
}

/// Decides when flows begin and how much they send.
pub trait FlowSource {
    /// The next flow, not before the one before it; `None` when there are no more.
    fn next_flow(&mut self) -> Option<FlowPlan>;
}

/// Decides when packets leave and how large they are.
pub trait TrafficSource {
    /// The next packet, not before the one before it.
    fn next_emission(&mut self) -> Emission;
}

/// A running source.
#[derive(Debug)]
pub enum Source {
    /// Exponential gaps.
    Poisson(Box<Poisson>),
    /// Equal gaps.
    Cbr(Cbr),
    /// Equal gaps in on periods, nothing in off periods.
    OnOff(Box<OnOff>),
}

impl Source {
    /// The source of one flow; `None` for bulk data, which the TCP sender takes by itself.
    pub fn new(group: &GroupSpec, start: Time, seed: u64, flow_name: &str) -> Option<Self> {
        let bytes = group.packet_size;
        match &group.source {
            SourceSpec::Bulk { .. } | SourceSpec::FiniteFlows(_) => None,
            SourceSpec::Poisson { rate, sizes } => {
                let poisson = Poisson::new(*rate, bytes, sizes.clone(), start, seed, flow_name);
                Some(Source::Poisson(Box::new(poisson)))
            }
            SourceSpec::OnOff { rate, on, off } => {
                let on_off = OnOff::new(*rate, bytes, (on, off), start, seed, flow_name);
                Some(Source::OnOff(Box::new(on_off)))
            }
            SourceSpec::Cbr { rate } => Some(Source::Cbr(Cbr::new(*rate, bytes, start))),
        }
    }
}

impl TrafficSource for Source {
    fn next_emission(&mut self) -> Emission {
        match self {
            Source::Poisson(source) => source.next_emission(),
            Source::Cbr(source) => source.next_emission(),
            Source::OnOff(source) => source.next_emission(),
        }
    }
}
