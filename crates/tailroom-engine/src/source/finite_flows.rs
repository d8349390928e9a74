//! Flows that arrive, send what they have, and leave.

use rand_core::Rng;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{FlowPlan, FlowSource};
use crate::distribution::Distribution;
use crate::random::stream;
use crate::topology::{FiniteFlowsSpec, FlowArrivals};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// The largest flow: beyond it a size means "for ever".
const MAX_BYTES: f64 = 1e18;
/// The shortest round trip: a sender takes none for one that has not been measured.
const MIN_RTT: Time = Time::from_picoseconds(1_000_000);

/// Flows at given times or as a Poisson process; size, round trip and peak rate of each are drawn.
/// Every quantity has a stream of its own, so that changing the sizes leaves the arrivals alone.
#[derive(Debug)]
pub struct FiniteFlows {
    arrivals: Arrivals,
    size: Distribution,
    sizes: Xoshiro256PlusPlus,
    rtt: Distribution,
    /// Propagation of the shared links there and back: no round trip is shorter.
    shortest_rtt: Time,
    rtts: Xoshiro256PlusPlus,
    peak_rate: Option<Distribution>,
    peak_rates: Xoshiro256PlusPlus,
    seeds: Xoshiro256PlusPlus,
}

#[derive(Debug)]
enum Arrivals {
    Poisson { mean_gap_ps: f64, next: Time, stop: Time, gaps: Xoshiro256PlusPlus },
    Given(std::vec::IntoIter<Time>),
}

impl Arrivals {
    fn next(&mut self) -> Option<Time> {
        match self {
            Arrivals::Poisson { mean_gap_ps, next, stop, gaps } => {
                let gap: f64 = Exp1.sample(gaps);
                let gap = Time::from_picoseconds(libm::round(gap * *mean_gap_ps) as u64);
                *next = next.saturating_add(gap);
                (*next < *stop).then_some(*next)
            }
            Arrivals::Given(times) => times.next(),
        }
    }
}

impl FiniteFlows {
    /// The flows of the group with this name.
    pub fn new(spec: &FiniteFlowsSpec, shortest_rtt: Time, seed: u64, group: &str) -> Self {
        let stream = |quantity: &str| stream(seed, &format!("{quantity} of flows of {group}"));
        let arrivals = match &spec.arrivals {
            FlowArrivals::Poisson { per_second, start, stop } => Arrivals::Poisson {
                mean_gap_ps: PICOSECONDS_PER_SECOND as f64 / per_second,
                next: *start,
                stop: *stop,
                gaps: stream("gaps"),
            },
            FlowArrivals::Given(times) => Arrivals::Given(times.clone().into_iter()),
        };
        FiniteFlows {
            arrivals,
            size: spec.size.clone(),
            sizes: stream("sizes"),
            rtt: spec.rtt.clone(),
            shortest_rtt,
            rtts: stream("round trips"),
            peak_rate: spec.peak_rate.clone(),
            peak_rates: stream("peak rates"),
            seeds: stream("controls"),
        }
    }
}

impl FlowSource for FiniteFlows {
    fn next_flow(&mut self) -> Option<FlowPlan> {
        let start = self.arrivals.next()?;
        let bytes = libm::ceil(self.size.sample(&mut self.sizes)).clamp(1.0, MAX_BYTES) as u64;
        let rtt = Time::from_picoseconds(libm::round(self.rtt.sample(&mut self.rtts)) as u64);
        let access_rate = self.peak_rate.as_ref().map(|peak_rate| {
            let rate = libm::round(peak_rate.sample(&mut self.peak_rates)).max(1.0);
            Rate::from_bits_per_second(rate as u64)
        });
        let rtt = rtt.max(self.shortest_rtt).max(MIN_RTT);
        let seed = self.seeds.next_u64();
        Some(FlowPlan { start, bytes: Some(bytes), rtt, access_rate, seed })
    }
}
