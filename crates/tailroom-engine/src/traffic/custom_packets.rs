//! Packets of a source of the caller's. Each packet is checked, and a wrong one stops the run.

use std::fmt;

use super::context::{GroupContext, StartingFlow};
use super::custom::{self, PacketsMaker};
use super::pace::Pace;
use super::{Emission, OfferedPackets, PacketSource, Parameters};
#[cfg(feature = "scenario")]
use crate::custom::Arguments;
use crate::custom::{CallersCode, CustomFault, FirstFault, Guest, Missing};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::BadParameter;
use crate::quantity::BitRate;
use crate::units::{Rate, Time};

/// The most packets that leave within 2 ms, many more than an interface sends: with more, the time of a
/// run would hardly pass.
const MOST_AT_ONCE: u32 = 1_000_000;
const SPAN: Time = Time::from_milliseconds(2);

/// Parameters of packets of a source of your own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CustomPacketsParams {
    /// Name of the source: in Python its module and class, as in `"mymodule:MySource"`, whose code the
    /// run executes.
    #[schemars(length(min = 1), example = "mymodule:MySource")]
    pub source: String,
    /// Mean rate of each flow, headers included. Loads and models read it; the run sends what the
    /// source says.
    #[schemars(example = "1 Mbit/s")]
    pub rate: BitRate,
    /// Arguments from which the source of each flow is made: in Python the keyword arguments of the
    /// class.
    #[cfg(feature = "scenario")]
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub parameters: Arguments,
    #[serde(skip)]
    maker: Option<PacketsMaker>,
}

impl CustomPacketsParams {
    /// The source of this name, still to be found, whose flows send at this mean rate.
    pub fn named(source: impl Into<String>, rate: Rate) -> Self {
        CustomPacketsParams {
            source: source.into(),
            rate: BitRate::new(rate.bits_per_second()),
            #[cfg(feature = "scenario")]
            parameters: Arguments::default(),
            maker: None,
        }
    }

    /// The same parameters with the maker of the source that they name.
    #[must_use]
    pub fn made_by(self, maker: PacketsMaker) -> Self {
        CustomPacketsParams { maker: Some(maker), ..self }
    }

    /// Whether the source has been found.
    pub fn is_found(&self) -> bool {
        self.maker.is_some()
    }
}

impl Parameters for CustomPacketsParams {
    type Spec = Self;

    fn resolve(&self, _context: &GroupContext<'_>) -> Result<Self, BadParameter> {
        Ok(self.clone())
    }
}

impl OfferedPackets for CustomPacketsParams {
    fn rate_bps(&self) -> f64 {
        self.rate.rate().bits_per_second() as f64
    }

    fn has_fixed_size(&self) -> bool {
        false
    }
}

/// A running packet source of the caller's; silent without one.
#[derive(Clone)]
pub struct CustomPackets {
    source: Option<CallersCode<dyn custom::CustomPackets + Send>>,
    /// The size of a packet when it is not known, and the largest.
    bytes: u32,
    last: Time,
    pace: Pace,
    fault: FirstFault,
}

impl fmt::Debug for CustomPackets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CustomPackets").field("last", &self.last).finish_non_exhaustive()
    }
}

impl CustomPackets {
    /// Starts the source of a flow.
    pub fn new(params: &CustomPacketsParams, flow: &StartingFlow<'_>) -> Self {
        let source = params.maker.as_ref().map(|maker| CallersCode(maker(flow)));
        let (bytes, last) = (flow.packet_bytes, flow.start);
        let pace = Pace::new(MOST_AT_ONCE, SPAN);
        CustomPackets { source, bytes, last, pace, fault: FirstFault::default() }
    }

    /// Why the source stopped the run, if it did.
    pub fn fault(&self) -> Option<&CustomFault> {
        self.fault.get()
    }

    /// What is wrong with a packet.
    fn problem(&mut self, Emission { time, bytes }: Emission) -> Option<String> {
        let (last, most) = (self.last, self.bytes);
        if time < last {
            return Some(format!(
                "next_packet returned the time {time} after {last}; packets leave in order of time, \
                 none before the flow starts"
            ));
        }
        if !(1..=most).contains(&bytes) {
            return Some(format!(
                "next_packet returned a packet of {bytes} B; a packet has at least 1 B and at most \
                 packet_size, {most} B"
            ));
        }
        self.pace.exceeds(time).then(|| {
            format!(
                "next_packet returned {MOST_AT_ONCE} packets in 2 ms, until {time}; let time pass"
            )
        })
    }
}

impl PacketSource for CustomPackets {
    fn next_emission(&mut self) -> Emission {
        let silence = Emission { time: Time::NEVER, bytes: self.bytes };
        let Some(source) = self.source.as_mut().filter(|_| self.fault.is_none()) else {
            return silence;
        };
        let next = source.next_packet();
        self.fault.note(self.last, source.failure());
        let Some(packet) = next.filter(|_| self.fault.is_none()) else { return silence };
        if let Some(problem) = self.problem(packet) {
            self.fault.keep(self.last, problem);
            return silence;
        }
        self.last = packet.time;
        packet
    }
}

impl Guest for dyn custom::CustomPackets + Send {
    fn failing(reason: String) -> Box<Self> {
        Box::new(Missing(reason))
    }
}

impl custom::CustomPackets for Missing {
    fn next_packet(&mut self) -> Option<Emission> {
        None
    }

    fn failure(&mut self) -> Option<String> {
        Some(self.0.clone())
    }
}
