//! Random streams, one per component, so that adding a flow or a probe changes no other draw.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// Returns the random stream of a component in a run.
///
/// The hash of the component's name (64-bit FNV-1a) is combined with the run's seed, mixed by
/// [`SplitMix64`]; the result seeds a xoshiro256++ as its authors advise (again by `SplitMix64`).
/// The same seed and name give the same stream on every machine and in every version.
pub fn stream(seed: u64, component: &str) -> Xoshiro256PlusPlus {
    let mixed_seed = SplitMix64::seed_from_u64(seed).next_u64();
    Xoshiro256PlusPlus::seed_from_u64(mixed_seed ^ fnv1a(component))
}

/// Returns the random stream of a component that may exist in millions, in 8 bytes instead of 32: a
/// [`SplitMix64`] (Steele, Lea and Flood 2014) seeded from the component's [`stream`]. Use it only
/// for values that are not combined further, such as delays.
pub fn small_stream(seed: u64, component: &str) -> SplitMix64 {
    SplitMix64::seed_from_u64(stream(seed, component).next_u64())
}

/// Draws a number from `[0, 1)`, a multiple of 2^-53.
pub fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Draws a whole number below `bound`; the probabilities are equal except for a bias of at most
/// 2^-64 `bound`.
pub fn below(random: &mut impl Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
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
