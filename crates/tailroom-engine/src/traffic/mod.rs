//! What an application wants to send when no congestion control asks it to wait.
//!
//! A bulk source needs no code of its own: the TCP sender takes packets whenever its window allows.

pub mod cbr;
pub mod finite_flows;
pub mod objects;
pub mod on_off;
mod passing;
pub mod poisson;
pub mod streaming;
pub mod trace;
pub mod unresponsive;
pub mod web;

use crate::distribution::Distribution;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};
use cbr::Cbr;
use finite_flows::{FiniteFlows, FiniteFlowsSpec};
use objects::ObjectsSpec;
use on_off::OnOff;
pub use passing::FlowArrivals;
use poisson::{PacketSizes, Poisson};
use streaming::{Streaming, StreamingSpec};
use trace::{Trace, TraceSpec};
use web::{Web, WebSpec};

/// What an application wants to send.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceSpec {
    /// As much as the window allows, up to `bytes` of payload if given.
    Bulk {
        /// Payload bytes to send; `None` for a permanent flow.
        bytes: Option<u64>,
    },
    /// Objects that arrive at a connection that lasts.
    Objects(Box<ObjectsSpec>),
    /// Flows that come and go. The group has no entry in
    /// [`Network::flows`](crate::network::Network::flows).
    FiniteFlows(Box<FiniteFlowsSpec>),
    /// Flows of a list, which come and go.
    Trace(Box<TraceSpec>),
    /// Media flows, which come and go and which nothing controls.
    Streaming(Box<StreamingSpec>),
    /// Web sessions, whose objects are flows that come and go.
    Web(Box<WebSpec>),
    /// A Poisson stream of packets that nothing controls.
    Poisson {
        /// Mean rate on the wire, a flow.
        rate: Rate,
        /// How large they are.
        sizes: PacketSizes,
    },
    /// Equally spaced packets that nothing controls.
    Cbr {
        /// Rate on the wire, a flow.
        rate: Rate,
    },
    /// Equally spaced packets in on periods, nothing in off periods, and no control.
    OnOff {
        /// Rate on the wire in on periods, a flow.
        rate: Rate,
        /// Length of on periods, in picoseconds.
        on: Distribution,
        /// Length of off periods, in picoseconds.
        off: Distribution,
    },
}

impl SourceSpec {
    /// Mean round trip of flows that come and go, in picoseconds; `None` for permanent ones.
    pub fn passing_rtt(&self) -> Option<f64> {
        match self {
            SourceSpec::FiniteFlows(spec) => Some(spec.rtt.mean()),
            SourceSpec::Trace(spec) => Some(spec.mean_rtt()),
            SourceSpec::Streaming(spec) => Some(spec.rtt.mean()),
            SourceSpec::Web(spec) => Some(spec.rtt.mean()),
            SourceSpec::Bulk { .. }
            | SourceSpec::Objects(_)
            | SourceSpec::Poisson { .. }
            | SourceSpec::Cbr { .. }
            | SourceSpec::OnOff { .. } => None,
        }
    }

    /// How many completed flows are kept one by one.
    pub fn flow_log(&self) -> usize {
        match self {
            SourceSpec::FiniteFlows(spec) => spec.flow_log,
            SourceSpec::Trace(spec) => spec.flow_log,
            SourceSpec::Streaming(spec) => spec.flow_log,
            SourceSpec::Web(spec) => spec.flow_log,
            _ => 0,
        }
    }

    /// Mean rate on the wire that a permanent flow offers whatever becomes of it, in bit/s; flows that
    /// come and go count by themselves.
    pub fn offered_rate_bps(&self) -> Option<f64> {
        match self {
            SourceSpec::Bulk { .. }
            | SourceSpec::FiniteFlows(_)
            | SourceSpec::Trace(_)
            | SourceSpec::Streaming(_)
            | SourceSpec::Web(_) => None,
            SourceSpec::Objects(spec) => Some(spec.rate_bps),
            SourceSpec::Poisson { rate, .. } | SourceSpec::Cbr { rate } => {
                Some(rate.bits_per_second() as f64)
            }
            SourceSpec::OnOff { rate, on, off } => {
                let duty_cycle = on.mean() / (on.mean() + off.mean());
                Some(rate.bits_per_second() as f64 * duty_cycle)
            }
        }
    }
}

/// The largest flow: beyond it a size means "for ever".
const MAX_BYTES: f64 = 1e18;

/// A packet that a source emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When.
    pub time: Time,
    /// Its size on the wire.
    pub bytes: u32,
}

/// A flow as it begins.
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
    /// What is drawn for it alone comes from here: by its congestion control, its sender, its objects.
    pub seed: u64,
    /// What it sends if nothing controls it; such a flow's `bytes` are those of all its packets.
    pub media: Option<Media>,
    /// By which its source knows it.
    pub tag: u32,
}

/// A constant rate for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// On the wire.
    pub rate: Rate,
    /// From when on nothing is sent.
    pub end: Time,
}

impl Media {
    /// Packets of so many bytes that it sends: one at `start`, and one each time the rate has room.
    pub fn packets(&self, start: Time, packet_bytes: u32) -> u64 {
        let span = u128::from(self.end.since(start).picoseconds());
        let packet = 8 * u128::from(packet_bytes) * u128::from(PICOSECONDS_PER_SECOND);
        let room = span.saturating_mul(u128::from(self.rate.bits_per_second()));
        u64::try_from(room.div_ceil(packet)).unwrap_or(u64::MAX)
    }
}

/// Decides when flows begin and what they send.
pub trait FlowSource {
    /// When the next flow begins, as far as is known; [`Time::NEVER`] if none does.
    fn next_arrival(&self) -> Time;

    /// The next flow, not before the one before it; `None` when there is none.
    fn next_flow(&mut self) -> Option<FlowPlan>;

    /// The last byte of the flow with this tag is acknowledged at `at`; what that causes lies at
    /// least a round trip behind it.
    fn on_completion(&mut self, _tag: u32, _at: Time) {}
}

/// A source of flows that come and go.
#[derive(Debug)]
pub enum Flows {
    /// Flows with sizes from a distribution.
    Finite(Box<FiniteFlows>),
    /// Flows of a list.
    Trace(Box<Trace>),
    /// Media flows.
    Streaming(Box<Streaming>),
    /// Web sessions.
    Web(Box<Web>),
}

impl Flows {
    /// Those of the group `name`; `None` if its flows are permanent. `shortest` is the shortest RTT of
    /// its path, `sizes` are those of a packet on the wire and of its header, in bytes.
    pub fn new(
        spec: &SourceSpec,
        sizes: (u32, u32),
        shortest: Time,
        seed: u64,
        name: &str,
    ) -> Option<Self> {
        Some(match spec {
            SourceSpec::FiniteFlows(spec) => {
                Flows::Finite(Box::new(FiniteFlows::new(spec, shortest, seed, name)))
            }
            SourceSpec::Trace(spec) => {
                Flows::Trace(Box::new(Trace::new(spec, shortest, seed, name)))
            }
            SourceSpec::Streaming(spec) => {
                Flows::Streaming(Box::new(Streaming::new(spec, sizes, shortest, seed, name)))
            }
            SourceSpec::Web(spec) => Flows::Web(Box::new(Web::new(spec, shortest, seed, name))),
            SourceSpec::Bulk { .. }
            | SourceSpec::Objects(_)
            | SourceSpec::Poisson { .. }
            | SourceSpec::Cbr { .. }
            | SourceSpec::OnOff { .. } => return None,
        })
    }
}

impl FlowSource for Flows {
    fn next_arrival(&self) -> Time {
        match self {
            Flows::Finite(source) => source.next_arrival(),
            Flows::Trace(source) => source.next_arrival(),
            Flows::Streaming(source) => source.next_arrival(),
            Flows::Web(source) => source.next_arrival(),
        }
    }

    fn next_flow(&mut self) -> Option<FlowPlan> {
        match self {
            Flows::Finite(source) => source.next_flow(),
            Flows::Trace(source) => source.next_flow(),
            Flows::Streaming(source) => source.next_flow(),
            Flows::Web(source) => source.next_flow(),
        }
    }

    fn on_completion(&mut self, tag: u32, at: Time) {
        if let Flows::Web(source) = self {
            source.on_completion(tag, at);
        }
    }
}

/// A size as a flow can have it.
fn whole_bytes(bytes: f64) -> u64 {
    libm::ceil(bytes).clamp(1.0, MAX_BYTES) as u64
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
    /// The source of a permanent flow that nothing controls; data for a TCP sender it takes by itself.
    pub fn new(
        spec: &SourceSpec,
        packet_bytes: u32,
        start: Time,
        seed: u64,
        flow_name: &str,
    ) -> Option<Self> {
        let bytes = packet_bytes;
        match spec {
            SourceSpec::Bulk { .. }
            | SourceSpec::Objects(_)
            | SourceSpec::FiniteFlows(_)
            | SourceSpec::Trace(_)
            | SourceSpec::Streaming(_)
            | SourceSpec::Web(_) => None,
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
