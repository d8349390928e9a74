//! What each flow of a source of flows draws for its path: round trip and peak rate.

use super::context::Group;
use super::{FlowRequest, TraceFlow};
use crate::distribution::Distribution;
use crate::random::{Random, Stream};
use crate::units::{Rate, Time};

/// The shortest round trip: a sender takes none for one that has not been measured.
pub(crate) const MIN_RTT: Time = Time::from_picoseconds(1_000_000);

/// Round trip, peak rate and seed of each flow. Every quantity has a stream of its own, so that
/// changing one leaves the others alone.
#[derive(Clone, Debug)]
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
    fn possible_rtt(&self, rtt: Time) -> Time {
        rtt.max(self.shortest_rtt)
    }

    /// Rate of the next flow's access link; `None` for one that takes no time.
    pub fn access_rate(&mut self) -> Option<Rate> {
        let peak_rate = self.peak_rate.as_ref()?;
        Some(whole_rate(peak_rate.sample(&mut self.peak_rates)))
    }

    /// A flow, with what is drawn where the flow itself says nothing. All is drawn for every flow, so
    /// that a value more in one flow changes that flow alone.
    pub fn request(&mut self, flow: TraceFlow, tag: u32) -> FlowRequest {
        let (rtt, access_rate) = (self.rtt(), self.access_rate());
        FlowRequest {
            start: flow.start,
            bytes: Some(flow.bytes),
            rtt: flow.rtt.map_or(rtt, |rtt| self.possible_rtt(rtt)),
            access_rate: flow.rate.or(access_rate),
            seed: self.seed(),
            media: None,
            route: None,
            tag,
        }
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
