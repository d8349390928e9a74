//! On-off: equally spaced packets during on periods, silence between them, both of drawn length.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Emission, TrafficSource};
use crate::distribution::Distribution;
use crate::link::serializer::Serializer;
use crate::random::{stream, uniform};
use crate::units::{Rate, Time};

/// An on-off source.
///
/// Its packets are those of a constant-rate source whose clock stands still in off periods: what is
/// left of a gap at the end of an on period goes on in the next one. So the mean rate is exactly the
/// rate times the share of on periods, however short they are.
///
/// It starts in equilibrium, as if it had gone on and off forever: on with a probability of its
/// share of time, somewhere in that period and somewhere in the gap between two packets.
#[derive(Debug)]
pub struct OnOff {
    on: Periods,
    off: Periods,
    spacing: Serializer,
    bytes: u32,
    /// When the next packet is due, on the clock that stands still in off periods.
    next: Time,
    /// When the on period ends, on the same clock.
    on_end: Time,
    /// How far that clock is behind.
    behind: Time,
}

impl OnOff {
    /// Packets of `bytes` at `rate` in on periods, from `start` on.
    pub fn new(
        rate: Rate,
        bytes: u32,
        (on, off): (&Distribution, &Distribution),
        start: Time,
        seed: u64,
        flow_name: &str,
    ) -> Self {
        let mut phase = stream(seed, &format!("phase of {flow_name}"));
        let mut spacing = Serializer::constant(rate);
        let gap = spacing.nominal_time(bytes).picoseconds() as f64;
        let is_on = uniform(&mut phase) * (on.mean() + off.mean()) < on.mean();
        let left = span(if is_on { on } else { off }.sample_residual(&mut phase));
        let mut on = Periods::new(on, seed, &format!("on periods of {flow_name}"));
        let (first_on, behind) = if is_on { (left, Time::ZERO) } else { (on.draw(), left) };
        OnOff {
            on,
            off: Periods::new(off, seed, &format!("off periods of {flow_name}")),
            spacing,
            bytes,
            next: start + span(gap * uniform(&mut phase)),
            on_end: start.saturating_add(first_on),
            behind,
        }
    }
}

impl TrafficSource for OnOff {
    fn next_emission(&mut self) -> Emission {
        while self.next >= self.on_end && self.behind < Time::AFTER_ALL_RUNS {
            self.behind = self.behind.saturating_add(self.off.draw());
            self.on_end = self.on_end.saturating_add(self.on.draw());
        }
        let time = self.next.saturating_add(self.behind).min(Time::AFTER_ALL_RUNS);
        self.next = self.spacing.finish(self.next, self.bytes);
        Emission { time, bytes: self.bytes }
    }
}

/// The on or the off periods of a source.
#[derive(Debug)]
struct Periods {
    lengths: Distribution,
    random: Xoshiro256PlusPlus,
}

impl Periods {
    fn new(lengths: &Distribution, seed: u64, component: &str) -> Self {
        Periods { lengths: lengths.clone(), random: stream(seed, component) }
    }

    fn draw(&mut self) -> Time {
        span(self.lengths.sample(&mut self.random))
    }
}

/// At least a picosecond, so that time goes on.
fn span(picoseconds: f64) -> Time {
    Time::from_picoseconds((libm::round(picoseconds) as u64).max(1))
}
