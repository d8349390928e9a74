//! The sources that a scenario names and the caller supplies.

use serde::de::DeserializeOwned;

use super::super::context::{Group, StartingFlow};
use super::{CustomFlows, CustomPackets, FlowsMaker, PacketsMaker};
use crate::congestion::custom::entries::Entries;
use crate::congestion::custom::{Arguments, NotFound};
use crate::parameters::Ranges;
use crate::units::Time;

/// Finds the sources that the registry does not hold.
pub trait FindSource {
    /// Returns the maker of the packet source `name` with these arguments.
    ///
    /// # Errors
    /// Why there is no such source.
    fn find_packets(&self, name: &str, arguments: &Arguments) -> Result<PacketsMaker, NotFound>;

    /// Returns the maker of the flow source `name` with these arguments.
    ///
    /// # Errors
    /// Why there is no such source.
    fn find_flows(&self, name: &str, arguments: &Arguments) -> Result<FlowsMaker, NotFound>;
}

/// Sources written in Rust, by name.
#[derive(Default)]
pub struct Sources {
    packets: Entries<PacketsMaker>,
    flows: Entries<FlowsMaker>,
}

impl Sources {
    /// Lets scenarios name a packet source; `start` makes the source of a flow from the parameters
    /// that the scenario gives.
    pub fn register_packets<P, S>(
        &mut self,
        name: impl Into<String>,
        start: fn(&P, &StartingFlow<'_>) -> S,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        S: CustomPackets + Send + 'static,
    {
        self.packets.insert(name.into(), P::check_ranges, move |params: P| {
            PacketsMaker::new(move |flow| Box::new(start(&params, flow)))
        });
    }

    /// Lets scenarios name a flow source; `start` makes the source of a group, which starts at the
    /// given time, from the parameters that the scenario gives.
    pub fn register_flows<P, S>(
        &mut self,
        name: impl Into<String>,
        start: fn(&P, &Group<'_>, Time) -> S,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        S: CustomFlows + Send + 'static,
    {
        self.flows.insert(name.into(), P::check_ranges, move |params: P| {
            FlowsMaker::new(move |group, at| Box::new(start(&params, group, at)))
        });
    }
}

impl FindSource for Sources {
    fn find_packets(&self, name: &str, arguments: &Arguments) -> Result<PacketsMaker, NotFound> {
        self.packets.find(name, arguments)
    }

    fn find_flows(&self, name: &str, arguments: &Arguments) -> Result<FlowsMaker, NotFound> {
        self.flows.find(name, arguments)
    }
}
