//! What the sources of flows that come and go have in common: when something arrives, and what every
//! flow draws.

use rand_core::Rng;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::distribution::Distribution;
use crate::random::stream;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// When flows or sessions arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowArrivals {
    /// As a Poisson process.
    Poisson {
        /// Mean number a second.
        per_second: f64,
        /// When the process begins.
        start: Time,
        /// When it ends; [`Time::NEVER`] if it does not.
        stop: Time,
    },
    /// At these times, in order.
    Given(Vec<Time>),
}

/// The shortest round trip: a sender takes none for one that has not been measured.
const MIN_RTT: Time = Time::from_picoseconds(1_000_000);

/// Arrivals at given times or as a Poisson process.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// The next one; [`Time::NEVER`] if there is none.
    pub(super) next: Time,
    process: Process,
}

#[derive(Debug)]
enum Process {
    Poisson { mean_gap_ps: f64, stop: Time, gaps: Xoshiro256PlusPlus },
    Given(std::vec::IntoIter<Time>),
}

impl Arrivals {
    /// Those of the group with this name.
    pub(super) fn new(arrivals: &FlowArrivals, seed: u64, group: &str) -> Self {
        let (next, process) = match arrivals {
            FlowArrivals::Poisson { per_second, start, stop } => {
                let mean_gap_ps = PICOSECONDS_PER_SECOND as f64 / per_second;
                let gaps = stream(seed, &format!("gaps of flows of {group}"));
                (*start, Process::Poisson { mean_gap_ps, stop: *stop, gaps })
            }
            FlowArrivals::Given(times) => (Time::ZERO, Process::Given(times.clone().into_iter())),
        };
        let mut arrivals = Arrivals { next, process };
        arrivals.advance();
        arrivals
    }

    /// Goes on to the arrival after the next one.
    pub(super) fn advance(&mut self) {
        self.next = match &mut self.process {
            Process::Poisson { mean_gap_ps, stop, gaps } => {
                let gap: f64 = Exp1.sample(gaps);
                let gap = Time::from_picoseconds(libm::round(gap * *mean_gap_ps) as u64);
                let next = self.next.saturating_add(gap);
                if next < *stop { next } else { Time::NEVER }
            }
            Process::Given(times) => times.next().unwrap_or(Time::NEVER),
        };
    }

    /// Takes the next arrival.
    pub(super) fn take(&mut self) -> Option<Time> {
        let next = self.next;
        self.advance();
        (next < Time::NEVER).then_some(next)
    }
}

/// Round trip, peak rate and seed of each flow. Every quantity has a stream of its own, so that
/// changing one leaves the others alone.
#[derive(Debug)]
pub(super) struct Draws {
    rtt: Distribution,
    /// Propagation of the shared links there and back: no round trip is shorter.
    shortest_rtt: Time,
    rtts: Xoshiro256PlusPlus,
    peak_rate: Option<Distribution>,
    peak_rates: Xoshiro256PlusPlus,
    seeds: Xoshiro256PlusPlus,
}

impl Draws {
    /// Those of the group with this name.
    pub(super) fn new(
        rtt: &Distribution,
        peak_rate: Option<&Distribution>,
        shortest_rtt: Time,
        seed: u64,
        group: &str,
    ) -> Self {
        let stream = |quantity: &str| stream(seed, &format!("{quantity} of flows of {group}"));
        Draws {
            rtt: rtt.clone(),
            shortest_rtt: shortest_rtt.max(MIN_RTT),
            rtts: stream("round trips"),
            peak_rate: peak_rate.cloned(),
            peak_rates: stream("peak rates"),
            seeds: stream("controls"),
        }
    }

    pub(super) fn rtt(&mut self) -> Time {
        let rtt = Time::from_picoseconds(libm::round(self.rtt.sample(&mut self.rtts)) as u64);
        self.possible_rtt(rtt)
    }

    /// The round trip, or the shortest that there is.
    pub(super) fn possible_rtt(&self, rtt: Time) -> Time {
        rtt.max(self.shortest_rtt)
    }

    pub(super) fn access_rate(&mut self) -> Option<Rate> {
        let peak_rate = self.peak_rate.as_ref()?;
        Some(whole_rate(peak_rate.sample(&mut self.peak_rates)))
    }

    pub(super) fn seed(&mut self) -> u64 {
        self.seeds.next_u64()
    }
}

/// The nearest rate that there is.
pub(super) fn whole_rate(bits_per_second: f64) -> Rate {
    Rate::from_bits_per_second(libm::round(bits_per_second).max(1.0) as u64)
}
