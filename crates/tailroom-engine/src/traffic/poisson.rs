//! A Poisson stream of packets.

use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Emission, TrafficSource};
use crate::distribution::Distribution;
use crate::random::stream;
use crate::units::{Rate, Time};

/// Sizes of the packets of an uncontrolled stream.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Debug)]
pub struct Poisson {
    mean_gap_ps: f64,
    bytes: u32,
    drawn_sizes: PacketSizes,
    next: Time,
    gaps: Xoshiro256PlusPlus,
    sizes: Xoshiro256PlusPlus,
}

impl Poisson {
    /// Packets at mean `rate` from `start` on, the first gap starting there; `bytes` is the
    /// `packet_size` that `sizes` speaks of.
    pub fn new(
        rate: Rate,
        bytes: u32,
        sizes: PacketSizes,
        start: Time,
        seed: u64,
        flow_name: &str,
    ) -> Self {
        let mean_bytes = match &sizes {
            PacketSizes::Fixed | PacketSizes::Exponential => f64::from(bytes),
            PacketSizes::Drawn(distribution) => distribution.mean(),
        };
        let mean_gap = mean_bytes * 8.0 / rate.bits_per_second() as f64;
        Poisson {
            mean_gap_ps: Time::from_seconds(1.0).picoseconds() as f64 * mean_gap,
            bytes,
            drawn_sizes: sizes,
            next: start,
            gaps: stream(seed, &format!("gaps of {flow_name}")),
            sizes: stream(seed, &format!("sizes of {flow_name}")),
        }
    }

    fn draw_bytes(&mut self) -> u32 {
        let bytes = match &self.drawn_sizes {
            PacketSizes::Fixed => return self.bytes,
            PacketSizes::Exponential => {
                let draw: f64 = Exp1.sample(&mut self.sizes);
                libm::ceil(draw * f64::from(self.bytes))
            }
            // To the nearest, so that the mean stays what it is.
            PacketSizes::Drawn(distribution) => libm::round(distribution.sample(&mut self.sizes)),
        };
        bytes.clamp(1.0, MAX_BYTES) as u32
    }
}

impl TrafficSource for Poisson {
    fn next_emission(&mut self) -> Emission {
        // Ziggurat (Marsaglia and Tsang 2000): a logarithm only in the tail.
        let gap: f64 = Exp1.sample(&mut self.gaps);
        let gap = Time::from_picoseconds(libm::round(gap * self.mean_gap_ps) as u64);
        self.next = self.next.saturating_add(gap);
        Emission { time: self.next, bytes: self.draw_bytes() }
    }
}
