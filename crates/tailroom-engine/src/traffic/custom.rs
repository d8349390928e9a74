//! What sources of the caller's have in common, and how they are made.

use std::sync::Arc;

use super::context::{Group, StartingFlow};
use super::{
    AnyFlowSource, AnyPacketSource, Emission, FlowSourceSpec, PacketSourceSpec, SourceConfig,
    SourceSpec, TraceFlow,
};
use crate::custom::{CustomFault, Maker};
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

/// Makes the packet sources of flows, one per flow.
pub type PacketsMaker = Maker<dyn Fn(&StartingFlow<'_>) -> BoxedPackets + Send + Sync>;

impl PacketsMaker {
    /// Makes the sources that `make` returns for a flow.
    pub fn new(make: impl Fn(&StartingFlow<'_>) -> BoxedPackets + Send + Sync + 'static) -> Self {
        Maker(Arc::new(make))
    }
}

/// Makes flow sources, one per group; the time is that of the group's start.
pub type FlowsMaker = Maker<dyn Fn(&Group<'_>, Time) -> BoxedFlows + Send + Sync>;

impl FlowsMaker {
    /// Makes the sources that `make` returns for a group and its start.
    pub fn new(make: impl Fn(&Group<'_>, Time) -> BoxedFlows + Send + Sync + 'static) -> Self {
        Maker(Arc::new(make))
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
