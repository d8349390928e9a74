//! Packets that arrive at shared links at the same instant: whose comes first.

use crate::derives::{Deserialize, JsonSchema, Serialize};
use crate::units::Time;

/// The order of the flows whose packets arrive at shared links at the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// By a hash of the seed and the instant, which favours no flow.
    #[default]
    ByChance,
    /// In the order of the scenario at every instant, for comparisons with simulators that have a
    /// fixed order, as ns-2 does. It favours the groups that are named first.
    AsDeclared,
}

/// Bits of a flow's number.
const FLOWS: u32 = (1 << 24) - 1;

/// The [`Ties`] of a run with its seed, in one word, since events carry it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TieOrder(u64);

impl TieOrder {
    const AS_DECLARED: u64 = u64::MAX;

    pub(crate) fn new(ties: Ties, seed: u64) -> Self {
        match ties {
            // The largest two seeds have the same order.
            Ties::ByChance => TieOrder(seed.min(Self::AS_DECLARED - 1)),
            Ties::AsDeclared => TieOrder(Self::AS_DECLARED),
        }
    }

    /// The order at an instant: a hash by the finalizer of `SplitMix64` (Steele, Lea and Flood 2014).
    #[inline]
    pub(crate) fn at(self, time: Time) -> Instant {
        let TieOrder(seed) = self;
        if seed == Self::AS_DECLARED {
            return Instant(0);
        }
        let mut hash = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ time.picoseconds();
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Instant(hash ^ hash >> 31)
    }
}

/// A time in a run, as the hash from which turns follow; 0 is the order of the scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant(u64);

impl Instant {
    /// See [`turn`]. Every step can be reversed, so that turns differ: odd multiples and shifted
    /// copies of 24 bits.
    #[inline]
    pub(super) fn turn(self, flow: u32) -> u32 {
        let Instant(hash) = self;
        if hash == 0 {
            return flow;
        }
        let mut turn = (flow ^ hash as u32) & FLOWS;
        for odd in [hash as u32 >> 8 | 1, (hash >> 32) as u32 | 1] {
            turn = turn.wrapping_mul(odd) & FLOWS;
            turn ^= turn >> 12;
        }
        turn
    }
}

/// The place of a flow (below 2^24) in the order of the flows whose packets arrive at the same time;
/// no two flows have the same place. By chance it depends only on the run's seed, the time and the
/// flow.
pub fn turn(ties: Ties, seed: u64, time: Time, flow: u32) -> u32 {
    TieOrder::new(ties, seed).at(time).turn(flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_flows_have_the_same_turn() {
        for (seed, time) in [(0, 0), (1, 0), (0, 1), (7, 123_456_789), (u64::MAX, u64::MAX >> 2)] {
            let time = Time::from_picoseconds(time);
            let mut is_taken = vec![false; 1 << 24];
            for flow in 0..1 << 24 {
                let turn = turn(Ties::ByChance, seed, time, flow) as usize;
                assert!(!std::mem::replace(&mut is_taken[turn], true), "{seed} {time:?} {flow}");
            }
        }
    }

    /// Every place of twelve flows falls to every one of them equally often: chi squared with 121
    /// degrees of freedom, whose 99.99 % quantile is 188 (Abramowitz and Stegun 26.4.17).
    #[test]
    fn turns_favour_no_flow() {
        const FLOWS: usize = 12;
        const INSTANTS: u64 = 24_000;
        let mut counts = [[0_u32; FLOWS]; FLOWS];
        for instant in 0..INSTANTS {
            let time = Time::from_milliseconds(instant);
            let mut flows: Vec<u32> = (0..FLOWS as u32).collect();
            flows.sort_unstable_by_key(|&flow| turn(Ties::ByChance, 3, time, flow));
            for (place, &flow) in flows.iter().enumerate() {
                counts[flow as usize][place] += 1;
            }
        }
        let expected = INSTANTS as f64 / FLOWS as f64;
        let deviation = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
        let chi_squared: f64 = counts.iter().flatten().map(deviation).sum();
        assert!(chi_squared < 188.0, "{chi_squared} {counts:?}");
    }

    #[test]
    fn declared_flows_come_in_their_order() {
        for flow in [0, 1, 4_095, 4_096, (1 << 24) - 1] {
            assert_eq!(turn(Ties::AsDeclared, 7, Time::from_milliseconds(3), flow), flow);
        }
    }
}
