//! Constant bit rate: equally spaced packets of one size.

use super::context::{GroupContext, StartingFlow};
use super::{Emission, OfferedPackets, PacketSource, Parameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::link::serializer::Serializer;
use crate::parameters::BadParameter;
use crate::quantity::{BitRate, Duration};
use crate::random::below;
use crate::units::{Rate, Time};

/// Parameters of a constant-rate source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CbrParams {
    /// Rate of each flow, headers included.
    #[schemars(example = "1 Mbit/s")]
    pub rate: BitRate,
    /// Time from a flow's start to its first packet, less than from one packet to the next. If left
    /// out, each flow draws it, so that no flow meets the packets of another in step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Duration>,
}

impl CbrParams {
    /// A source of this rate, each flow of which draws the time of its first packet.
    pub fn new(rate: Rate) -> Self {
        CbrParams { rate: BitRate::new(rate.bits_per_second()), phase: None }
    }

    /// A source of this rate whose first packet leaves at the start.
    pub fn at_once(rate: Rate) -> Self {
        CbrParams { phase: Some(Duration::new(0)), ..CbrParams::new(rate) }
    }

    /// The time from one packet to the next, rounded down to picoseconds.
    fn gap(&self, packet_bytes: u32) -> Time {
        Serializer::constant(self.rate.rate()).nominal_time(packet_bytes)
    }
}

impl Parameters for CbrParams {
    type Spec = Self;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<Self, BadParameter> {
        self.validate(context.group.packet_bytes)?;
        Ok(self.clone())
    }
}

impl OfferedPackets for CbrParams {
    fn validate(&self, packet_bytes: u32) -> Result<(), BadParameter> {
        let gap = self.gap(packet_bytes);
        match self.phase {
            Some(phase) if phase.time() > Time::ZERO && phase.time() >= gap => {
                let gap = Duration::new(gap.picoseconds());
                let problem = format!("{phase} is not below the {gap} from one packet to the next");
                let remedy = "lower phase, or set start, which delays a flow by any time";
                Err(BadParameter::new("phase", problem, remedy))
            }
            _ => Ok(()),
        }
    }

    fn rate_bps(&self) -> f64 {
        self.rate.rate().bits_per_second() as f64
    }

    fn period(&self, packet_bytes: u32) -> Option<Time> {
        Some(self.gap(packet_bytes))
    }
}

/// A constant-rate source; the spacing is exact, its fraction of a picosecond carried.
#[derive(Clone, Debug)]
pub struct Cbr {
    spacing: Serializer,
    bytes: u32,
    next: Time,
}

impl Cbr {
    /// Starts the source of a flow.
    pub fn new(params: &CbrParams, flow: &StartingFlow<'_>) -> Self {
        let mut spacing = Serializer::constant(params.rate.rate());
        let mut drawn = || {
            let gap = spacing.nominal_time(flow.packet_bytes).picoseconds();
            Time::from_picoseconds(below(&mut flow.stream("phase"), gap.max(1)))
        };
        let phase = params.phase.map_or_else(&mut drawn, Duration::time);
        Cbr { spacing, bytes: flow.packet_bytes, next: flow.start.saturating_add(phase) }
    }
}

impl PacketSource for Cbr {
    fn next_emission(&mut self) -> Emission {
        let time = self.next;
        self.next = self.spacing.finish(time, self.bytes);
        Emission { time, bytes: self.bytes }
    }
}
