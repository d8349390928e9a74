//! Constant bit rate: equally spaced packets of one size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{GroupContext, StartingFlow};
use super::{Emission, OfferedPackets, PacketSource, Parameters};
use crate::link::serializer::Serializer;
use crate::parameters::BadParameter;
use crate::quantity::BitRate;
use crate::units::Time;

/// Parameters of a constant-rate source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrParams {
    /// Rate of each flow, headers included.
    #[schemars(example = "1 Mbit/s")]
    pub rate: BitRate,
}

impl Parameters for CbrParams {
    type Spec = Self;

    fn resolve(&self, _context: &GroupContext<'_>) -> Result<Self, BadParameter> {
        Ok(self.clone())
    }
}

impl OfferedPackets for CbrParams {
    fn rate_bps(&self) -> f64 {
        self.rate.rate().bits_per_second() as f64
    }
}

/// A constant-rate source; the spacing is exact, its fraction of a picosecond carried.
#[derive(Debug)]
pub struct Cbr {
    spacing: Serializer,
    bytes: u32,
    next: Time,
}

impl Cbr {
    /// Starts the source: the first packet leaves when the flow starts.
    pub fn new(params: &CbrParams, flow: &StartingFlow<'_>) -> Self {
        let spacing = Serializer::constant(params.rate.rate());
        Cbr { spacing, bytes: flow.packet_bytes, next: flow.start }
    }
}

impl PacketSource for Cbr {
    fn next_emission(&mut self) -> Emission {
        let time = self.next;
        self.next = self.spacing.finish(time, self.bytes);
        Emission { time, bytes: self.bytes }
    }
}
