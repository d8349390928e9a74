//! Random streams, one per component, so that adding a flow or a probe changes no other draw.

use std::convert::Infallible;

use rand_core::{Rng, SeedableRng, TryRng};
use rand_distr::{Distribution, Exp1, Gamma, StandardNormal};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A source of random numbers.
pub trait Random {
    /// Draws a number of 64 random bits.
    fn next_u64(&mut self) -> u64;
}

/// A random stream: a xoshiro256++ (Blackman and Vigna 2021).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of a seed, which `SplitMix64` spreads over the state, as the authors advise.
    pub fn seeded(seed: u64) -> Self {
        Stream(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
}

impl Random for Stream {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// A random stream in 8 bytes instead of 32: a `SplitMix64` (Steele, Lea and Flood 2014). Use it only
/// for values that are not combined further, such as delays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallStream(SplitMix64);

impl SmallStream {
    /// The stream of a seed.
    pub fn seeded(seed: u64) -> Self {
        SmallStream(SplitMix64::seed_from_u64(seed))
    }
}

impl Random for SmallStream {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Returns the random stream of a component in a run.
///
/// The hash of the component's name (64-bit FNV-1a) is combined with the run's seed, mixed by
/// `SplitMix64`; the result seeds the [`Stream`]. The same seed and name give the same stream on every
/// machine and in every version.
pub fn stream(seed: u64, component: &str) -> Stream {
    let mixed_seed = SmallStream::seeded(seed).next_u64();
    Stream::seeded(mixed_seed ^ fnv1a(component))
}

/// Returns the random stream of a component that may exist in millions, seeded from the component's
/// [`stream`].
pub fn small_stream(seed: u64, component: &str) -> SmallStream {
    SmallStream::seeded(stream(seed, component).next_u64())
}

/// Draws a number from `[0, 1)`, a multiple of 2^-53.
pub fn uniform(random: &mut impl Random) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Draws a whole number below `bound`; the probabilities are equal except for a bias of at most
/// 2^-64 `bound`.
pub fn below(random: &mut impl Random, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Draws from the exponential distribution of mean 1.
pub(crate) fn exponential(random: &mut impl Random) -> f64 {
    Exp1.sample(&mut Bits(random))
}

/// Draws from the standard normal distribution.
pub(crate) fn normal(random: &mut impl Random) -> f64 {
    StandardNormal.sample(&mut Bits(random))
}

/// Draws from the gamma distribution of this shape, a positive number, and scale 1.
pub(crate) fn gamma(shape: f64, random: &mut impl Random) -> f64 {
    Gamma::new(shape, 1.0).map_or(1.0, |gamma| gamma.sample(&mut Bits(random)))
}

/// A [`Random`] as the samplers of `rand_distr` want it, which stays out of the public interface.
struct Bits<'a, R>(&'a mut R);

impl<R: Random> TryRng for Bits<'_, R> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0.next_u64() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next_u64().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Computes the 64-bit FNV-1a hash (Fowler, Noll, Vo; offset basis and prime as in RFC 9923).
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_published_test_vectors() {
        // Test vectors of the FNV authors.
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn streams_differ_by_seed_and_by_component() {
        let first = |seed, component| stream(seed, component).next_u64();
        assert_eq!(first(1, "flows.a.start"), first(1, "flows.a.start"));
        assert_ne!(first(1, "flows.a.start"), first(2, "flows.a.start"));
        assert_ne!(first(1, "flows.a.start"), first(1, "flows.b.start"));
    }

    #[test]
    fn a_stream_stays_the_same_between_versions() {
        let mut draws = stream(1, "links.bottleneck.loss");
        assert_eq!(
            [draws.next_u64(), draws.next_u64()],
            [5_952_055_167_565_343_614, 16_365_820_477_721_194_724]
        );
    }
}
