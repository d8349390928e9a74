//! What each flow of a source of flows draws for its path: round trip and peak rate.

use super::context::Group;
use crate::distribution::Distribution;
use crate::random::{Random, Stream};
use crate::units::{Rate, Time};

/// The shortest round trip: a sender takes none for one that has not been measured.
pub(crate) const MIN_RTT: Time = Time::from_picoseconds(1_000_000);

/// Round trip, peak rate and seed of each flow. Every quantity has a stream of its own, so that
/// changing one leaves the others alone.
#[derive(Debug)]
pub struct Draws {
    rtt: Distribution,
    /// Propagation of the shared links there and back: no round trip is shorter.
    shortest_rtt: Time,
    rtts: Stream,
    peak_rate: Option<Distribution>,
    peak_rates: Stream,
    seeds: Stream,
}

impl Draws {
    /// The draws of a group; no round trip is shorter than `shortest_rtt`.
    pub fn new(
        rtt: &Distribution,
        peak_rate: Option<&Distribution>,
        group: &Group<'_>,
        shortest_rtt: Time,
    ) -> Self {
        Draws {
            rtt: rtt.clone(),
            shortest_rtt: shortest_rtt.max(MIN_RTT),
            rtts: group.stream("round trips"),
            peak_rate: peak_rate.cloned(),
            peak_rates: group.stream("peak rates"),
            seeds: group.stream("controls"),
        }
    }

    /// Two-way propagation delay of the next flow.
    pub fn rtt(&mut self) -> Time {
        let rtt = Time::from_picoseconds(libm::round(self.rtt.sample(&mut self.rtts)) as u64);
        self.possible_rtt(rtt)
    }

    /// The round trip, or the shortest possible one if that is longer.
    pub fn possible_rtt(&self, rtt: Time) -> Time {
        rtt.max(self.shortest_rtt)
    }

    /// Rate of the next flow's access link; `None` for one that takes no time.
    pub fn access_rate(&mut self) -> Option<Rate> {
        let peak_rate = self.peak_rate.as_ref()?;
        Some(whole_rate(peak_rate.sample(&mut self.peak_rates)))
    }

    /// Seed of what the next flow draws for itself.
    pub fn seed(&mut self) -> u64 {
        self.seeds.next_u64()
    }
}

/// The nearest possible rate.
pub fn whole_rate(bits_per_second: f64) -> Rate {
    Rate::from_bits_per_second(libm::round(bits_per_second).max(1.0) as u64)
}
