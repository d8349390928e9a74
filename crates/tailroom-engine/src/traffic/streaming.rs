//! Media flows: each sends at its own constant rate, whatever the network does, for as long as it
//! lasts.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::passing::{Arrivals, Draws, FlowArrivals, whole_rate};
use super::{FlowPlan, FlowSource, Media};
use crate::distribution::Distribution;
use crate::random::stream;
use crate::units::Time;

/// Media flows: a constant rate each, and no congestion control.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamingSpec {
    /// When they arrive.
    pub arrivals: FlowArrivals,
    /// How long a flow lasts, in picoseconds.
    pub duration: Distribution,
    /// Rate of a flow on the wire, in bit/s.
    pub rate: Distribution,
    /// Two-way propagation delay, in picoseconds.
    pub rtt: Distribution,
    /// How many completed flows are kept one by one.
    pub flow_log: usize,
}

/// Media flows at given times or as a Poisson process; duration, rate and round trip are drawn.
#[derive(Debug)]
pub struct Streaming {
    arrivals: Arrivals,
    duration: Distribution,
    durations: Xoshiro256PlusPlus,
    rate: Distribution,
    rates: Xoshiro256PlusPlus,
    draws: Draws,
    packet_bytes: u32,
    header_bytes: u32,
}

impl Streaming {
    /// The flows of the group with this name, in packets of these bytes, so many of them header.
    pub fn new(
        spec: &StreamingSpec,
        (packet_bytes, header_bytes): (u32, u32),
        shortest_rtt: Time,
        seed: u64,
        group: &str,
    ) -> Self {
        Streaming {
            arrivals: Arrivals::new(&spec.arrivals, seed, group),
            duration: spec.duration.clone(),
            durations: stream(seed, &format!("durations of flows of {group}")),
            rate: spec.rate.clone(),
            rates: stream(seed, &format!("rates of flows of {group}")),
            draws: Draws::new(&spec.rtt, None, shortest_rtt, seed, group),
            packet_bytes,
            header_bytes,
        }
    }
}

impl FlowSource for Streaming {
    fn next_arrival(&self) -> Time {
        self.arrivals.next
    }

    fn next_flow(&mut self) -> Option<FlowPlan> {
        let start = self.arrivals.take()?;
        let rate = whole_rate(self.rate.sample(&mut self.rates));
        let duration = libm::round(self.duration.sample(&mut self.durations)).max(1.0);
        let duration = Time::from_picoseconds(duration as u64);
        let media = Media { rate, end: start.saturating_add(duration) };
        let payload = u64::from(self.packet_bytes - self.header_bytes);
        Some(FlowPlan {
            start,
            bytes: Some(media.packets(start, self.packet_bytes).saturating_mul(payload)),
            rtt: self.draws.rtt(),
            access_rate: None,
            seed: self.draws.seed(),
            media: Some(media),
            tag: 0,
        })
    }
}
