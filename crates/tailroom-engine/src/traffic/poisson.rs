//! A Poisson stream of packets.

use super::context::{GroupContext, StartingFlow};
use super::{Emission, OfferedPackets, PacketSource, Parameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::DistributionConfig;
use crate::parameters::BadParameter;
use crate::quantity::{BitRate, Size};
use crate::random::{Stream, exponential};
use crate::units::{Rate, Time};

/// Parameters of a Poisson stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PoissonParams {
    /// Mean rate of each flow, headers included.
    #[schemars(example = "1 Mbit/s")]
    pub rate: BitRate,
    /// Sizes of packets: all `packet_size`, exponential with that mean, or drawn from a
    /// distribution in which none is larger. The mean rate is `rate` in each case.
    #[serde(default)]
    pub sizes: SizesConfig,
}

/// Sizes of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SizesConfig {
    /// By `packet_size`.
    Named(SizesName),
    /// Drawn, to the nearest byte.
    Drawn(DistributionConfig<Size>),
}

impl Default for SizesConfig {
    fn default() -> Self {
        SizesConfig::Named(SizesName::Fixed)
    }
}

/// Sizes of packets that `packet_size` alone determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizesName {
    /// All the same.
    Fixed,
    /// Exponential, rounded up to whole bytes, at most 65,535.
    Exponential,
}

impl Parameters for PoissonParams {
    type Spec = PoissonSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<PoissonSpec, BadParameter> {
        let sizes = match &self.sizes {
            SizesConfig::Named(SizesName::Fixed) => PacketSizes::Fixed,
            SizesConfig::Named(SizesName::Exponential) => PacketSizes::Exponential,
            SizesConfig::Drawn(sizes) => PacketSizes::Drawn(sizes.resolve("sizes", context.files)?),
        };
        let spec = PoissonSpec { rate: self.rate.rate(), sizes };
        spec.validate(context.group.packet_bytes)?;
        Ok(spec)
    }
}

/// A Poisson stream of packets.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct PoissonSpec {
    /// Mean rate on the wire, per flow.
    pub rate: Rate,
    /// Sizes of packets.
    pub sizes: PacketSizes,
}

impl PoissonSpec {
    /// A stream of this rate, with packets of these sizes.
    pub fn new(rate: Rate, sizes: PacketSizes) -> Self {
        PoissonSpec { rate, sizes }
    }
}

impl OfferedPackets for PoissonSpec {
    fn rate_bps(&self) -> f64 {
        self.rate.bits_per_second() as f64
    }

    /// Refuses sizes that do not fit in a packet: with longer ones cut off, the mean rate would not
    /// be the given one.
    fn validate(&self, packet_bytes: u32) -> Result<(), BadParameter> {
        let PacketSizes::Drawn(distribution) = &self.sizes else { return Ok(()) };
        let (largest, packet_size) = (distribution.maximum(), Size::new(packet_bytes.into()));
        if largest <= f64::from(packet_bytes) {
            return Ok(());
        }
        Err(if largest.is_finite() {
            let problem = format!(
                "sizes reach {}, more than packet_size, {packet_size}",
                Size::new(largest as u64)
            );
            BadParameter::new("sizes", problem, "raise packet_size, or draw smaller sizes")
        } else {
            let problem = "sizes have no upper bound, but a packet has one, packet_size";
            let remedy = "use a kind that has: uniform, bounded_pareto, mix or empirical; \
                          or, cut at 65535 B, `sizes = \"exponential\"`";
            BadParameter::new("sizes", problem, remedy)
        })
    }

    fn has_fixed_size(&self) -> bool {
        self.sizes == PacketSizes::Fixed
    }
}

/// Sizes of the packets of a Poisson stream.
#[derive(Clone, Debug, PartialEq, Ranges)]
pub enum PacketSizes {
    /// All `packet_size`.
    Fixed,
    /// Exponential with mean `packet_size`, rounded up, at most 65,535 bytes.
    Exponential,
    /// Drawn and rounded to the nearest byte; none is larger than `packet_size`.
    Drawn(Distribution),
}

const MAX_BYTES: f64 = 65_535.0;

/// Packets at exponential gaps, of one size or of drawn sizes. Gaps and sizes have streams of
/// their own, so that changing the sizes leaves the arrival times alone.
#[derive(Clone, Debug)]
pub struct Poisson {
    mean_gap_ps: f64,
    bytes: u32,
    drawn_sizes: PacketSizes,
    next: Time,
    gaps: Stream,
    sizes: Stream,
}

impl Poisson {
    /// Starts the source of a flow: the first gap begins when the flow starts.
    pub fn new(spec: &PoissonSpec, flow: &StartingFlow<'_>) -> Self {
        let mean_bytes = match &spec.sizes {
            PacketSizes::Fixed | PacketSizes::Exponential => f64::from(flow.packet_bytes),
            PacketSizes::Drawn(distribution) => distribution.mean(),
        };
        let mean_gap = mean_bytes * 8.0 / spec.rate.bits_per_second() as f64;
        Poisson {
            mean_gap_ps: Time::from_seconds(1.0).picoseconds() as f64 * mean_gap,
            bytes: flow.packet_bytes,
            drawn_sizes: spec.sizes.clone(),
            next: flow.start,
            gaps: flow.stream("gaps"),
            sizes: flow.stream("sizes"),
        }
    }

    fn draw_bytes(&mut self) -> u32 {
        let bytes = match &self.drawn_sizes {
            PacketSizes::Fixed => return self.bytes,
            PacketSizes::Exponential => {
                let draw: f64 = exponential(&mut self.sizes);
                libm::ceil(draw * f64::from(self.bytes))
            }
            // To the nearest, so that the mean stays what it is.
            PacketSizes::Drawn(distribution) => libm::round(distribution.sample(&mut self.sizes)),
        };
        bytes.clamp(1.0, MAX_BYTES) as u32
    }
}

impl PacketSource for Poisson {
    fn next_emission(&mut self) -> Emission {
        // Ziggurat (Marsaglia and Tsang 2000): a logarithm only in the tail.
        let gap = exponential(&mut self.gaps);
        let gap = Time::from_picoseconds(libm::round(gap * self.mean_gap_ps) as u64);
        self.next = self.next.saturating_add(gap);
        Emission { time: self.next, bytes: self.draw_bytes() }
    }
}
