//! What sources of the caller's have in common: how they are made, and how they are found.
//!
//! A program that builds a network puts a maker into the parameters of the source. A scenario names a
//! source; the caller that resolves the scenario provides a `FindSource`, which turns the name and the
//! arguments into the maker. `Sources` finds sources written in Rust.

#[cfg(feature = "scenario")]
mod find;

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "scenario")]
pub use self::find::{FindSource, Sources};
use super::context::{Group, StartingFlow};
use super::{
    AnyFlowSource, AnyPacketSource, Emission, FlowSourceSpec, PacketSourceSpec, SourceConfig,
    SourceSpec, TraceFlow,
};
use crate::congestion::custom::CustomFault;
use crate::parameters::{BadParameter, Ranges};
use crate::units::Time;

/// A packet source of the caller's.
pub trait CustomPackets {
    /// The next packet, no earlier than the one before and than the start of its flow; `None` if no
    /// packet follows.
    fn next_packet(&mut self) -> Option<Emission>;

    /// What has failed in the source since the last call, if anything has; the run then ends.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

/// A flow source of the caller's.
pub trait CustomFlows {
    /// The next flow, no earlier than the one before; `None` if none follows, or none until another is
    /// complete. Called before the first flow, when a flow has begun, and, after `None`, when a flow
    /// is complete.
    fn next_flow(&mut self) -> Option<TraceFlow>;

    /// The last byte of a flow is acknowledged at `at`. `number` counts the flows of the source from 0.
    /// A flow that follows from it begins at `at` or later.
    fn on_completion(&mut self, _number: u32, _at: Time) {}

    /// What has failed in the source since the last call, if anything has; the run then ends.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

/// A packet source that a simulation may take to another thread.
pub type BoxedPackets = Box<dyn CustomPackets + Send>;

/// A flow source that a simulation may take to another thread.
pub type BoxedFlows = Box<dyn CustomFlows + Send>;

type MakePackets = dyn Fn(&StartingFlow<'_>) -> BoxedPackets + Send + Sync;

/// Makes the packet sources of flows, one per flow.
#[derive(Clone)]
pub struct PacketsMaker(Arc<MakePackets>);

impl PacketsMaker {
    /// Makes the sources that `make` returns for a flow.
    pub fn new(make: impl Fn(&StartingFlow<'_>) -> BoxedPackets + Send + Sync + 'static) -> Self {
        PacketsMaker(Arc::new(make))
    }

    pub(super) fn make(&self, flow: &StartingFlow<'_>) -> BoxedPackets {
        (self.0)(flow)
    }
}

type MakeFlows = dyn Fn(&Group<'_>, Time) -> BoxedFlows + Send + Sync;

/// Makes flow sources, one per group; the time is that of the group's start.
#[derive(Clone)]
pub struct FlowsMaker(Arc<MakeFlows>);

impl FlowsMaker {
    /// Makes the sources that `make` returns for a group and its start.
    pub fn new(make: impl Fn(&Group<'_>, Time) -> BoxedFlows + Send + Sync + 'static) -> Self {
        FlowsMaker(Arc::new(make))
    }

    pub(super) fn make(&self, group: &Group<'_>, start: Time) -> BoxedFlows {
        (self.0)(group, start)
    }
}

impl fmt::Debug for PacketsMaker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PacketsMaker")
    }
}

impl fmt::Debug for FlowsMaker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FlowsMaker")
    }
}

impl Ranges for PacketsMaker {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        Ok(())
    }
}

impl Ranges for FlowsMaker {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        Ok(())
    }
}

impl PartialEq for PacketsMaker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for FlowsMaker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl AnyPacketSource {
    /// Why a source of the caller's stopped the run, if it did.
    pub fn fault(&self) -> Option<&CustomFault> {
        if let AnyPacketSource::CustomPackets(source) = self { source.fault() } else { None }
    }
}

impl AnyFlowSource {
    /// Why a source of the caller's stopped the run, if it did.
    pub fn fault(&self) -> Option<&CustomFault> {
        if let AnyFlowSource::CustomFlows(source) = self { source.fault() } else { None }
    }
}

impl SourceSpec {
    /// The name of the source of the caller's, if it is one.
    pub fn custom(&self) -> Option<&str> {
        match self {
            SourceSpec::Packets(PacketSourceSpec::CustomPackets(params)) => Some(&params.source),
            SourceSpec::Flows(FlowSourceSpec::CustomFlows(spec)) => Some(&spec.params.source),
            _ => None,
        }
    }
}

impl SourceConfig {
    /// The name of the source of the caller's, if it is one.
    pub fn custom(&self) -> Option<&str> {
        match self {
            SourceConfig::CustomPackets(params) => Some(&params.source),
            SourceConfig::CustomFlows(params) => Some(&params.source),
            _ => None,
        }
    }
}
