//! Batches: several packets at once, and then as long a gap as keeps the rate.
//!
//! A file of `src/traffic/` in the engine. Its line in `packet_sources` of the `registry!` there:
//!
//! ```text
//! /// Batches of packets at equal intervals, without congestion control.
//! batches::Batches(BatchesParams) = "batches",
//! ```

use super::context::{GroupContext, StartingFlow};
use super::{Emission, OfferedPackets, PacketSource, Parameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::link::serializer::Serializer;
use crate::parameters::BadParameter;
use crate::quantity::BitRate;
use crate::random::below;
use crate::units::Time;

/// Parameters of batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BatchesParams {
    /// Mean rate of each flow, headers included.
    #[schemars(example = "1 Mbit/s")]
    pub rate: BitRate,
    /// Packets of a batch.
    // A serializer takes up to 1 MB at once, which are 16 of the largest packets.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 16))]
    pub packets: u32,
}

fn ten() -> u32 {
    10
}

impl Parameters for BatchesParams {
    type Spec = Self;

    fn resolve(&self, _context: &GroupContext<'_>) -> Result<Self, BadParameter> {
        Ok(self.clone())
    }
}

impl OfferedPackets for BatchesParams {
    fn rate_bps(&self) -> f64 {
        self.rate.rate().bits_per_second() as f64
    }
}

/// A source of batches.
#[derive(Debug)]
pub struct Batches {
    spacing: Serializer,
    packets: u32,
    bytes: u32,
    left: u32,
    next: Time,
}

impl Batches {
    /// Starts the source at a random instant between two batches.
    pub fn new(params: &BatchesParams, flow: &StartingFlow<'_>) -> Self {
        let BatchesParams { rate, packets } = *params;
        let (bytes, mut spacing) = (flow.packet_bytes, Serializer::constant(rate.rate()));
        let gap = spacing.nominal_time(packets * bytes);
        let wait = below(&mut flow.stream("phase"), gap.picoseconds());
        let next = flow.start + Time::from_picoseconds(wait);
        Batches { spacing, packets, bytes, left: packets, next }
    }
}

impl PacketSource for Batches {
    fn next_emission(&mut self) -> Emission {
        let time = self.next;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.packets;
            self.next = self.spacing.finish(time, self.packets * self.bytes);
        }
        Emission { time, bytes: self.bytes }
    }
}
