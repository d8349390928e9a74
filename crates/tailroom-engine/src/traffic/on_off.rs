//! On-off: equally spaced packets during on periods, silence between them, both of drawn length.

use super::context::{GroupContext, StartingFlow};
use super::{Emission, OfferedPackets, PacketSource, Parameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::distribution::config::ValueConfig;
use crate::link::serializer::Serializer;
use crate::parameters::BadParameter;
use crate::quantity::{BitRate, PositiveDuration};
use crate::random::{Stream, uniform};
use crate::units::{Rate, Time};
use crate::work::{MOST_STEPS, count_step};

/// Parameters of an on-off source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OnOffParams {
    /// Rate of each flow in an on period, headers included.
    #[schemars(example = "1 Mbit/s")]
    pub rate: BitRate,
    /// How long an on period lasts. What is left of the gap between two packets at its end goes
    /// on in the next one.
    #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "500 ms" }))]
    pub on: ValueConfig<PositiveDuration>,
    /// How long an off period lasts.
    #[schemars(example = serde_json::json!({ "kind": "exponential", "mean": "500 ms" }))]
    pub off: ValueConfig<PositiveDuration>,
}

impl Parameters for OnOffParams {
    type Spec = OnOffSpec;

    fn resolve(&self, context: &GroupContext<'_>) -> Result<OnOffSpec, BadParameter> {
        let rate = self.rate.rate();
        let on = self.on.resolve("on", context.files)?;
        let off = self.off.resolve("off", context.files)?;
        let spec = OnOffSpec { rate, on, off };
        spec.validate(context.group.packet_bytes)?;
        Ok(spec)
    }
}

/// Refuses on periods so short that a run would spend its time on counting them.
fn check_on_periods(on: &Distribution, rate: Rate, packet_bytes: u32) -> Result<(), BadParameter> {
    let gap = Serializer::constant(rate).nominal_time(packet_bytes);
    if on.mean() * 1_000.0 >= gap.picoseconds() as f64 {
        return Ok(());
    }
    let printed = |picoseconds: f64| PositiveDuration::new((picoseconds as u64).max(1));
    let problem = format!(
        "lasts {} on average, less than a thousandth of the {} from packet to packet",
        printed(on.mean()),
        printed(gap.picoseconds() as f64)
    );
    Err(BadParameter::new("on", problem, "raise on or rate, or lower packet_size"))
}

/// Equally spaced packets in on periods, nothing in off periods.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub struct OnOffSpec {
    /// Rate on the wire in on periods, per flow.
    pub rate: Rate,
    /// Length of on periods, in picoseconds.
    pub on: Distribution,
    /// Length of off periods, in picoseconds.
    pub off: Distribution,
}

impl OnOffSpec {
    /// This rate in on periods; the periods are in picoseconds.
    pub fn new(rate: Rate, on: Distribution, off: Distribution) -> Self {
        OnOffSpec { rate, on, off }
    }
}

impl OfferedPackets for OnOffSpec {
    fn validate(&self, packet_bytes: u32) -> Result<(), BadParameter> {
        check_on_periods(&self.on, self.rate, packet_bytes)
    }

    fn rate_bps(&self) -> f64 {
        let duty_cycle = self.on.mean() / (self.on.mean() + self.off.mean());
        self.rate.bits_per_second() as f64 * duty_cycle
    }

    fn period(&self, _packet_bytes: u32) -> Option<Time> {
        match (&self.on, &self.off) {
            (Distribution::Fixed(on), Distribution::Fixed(off)) => Some(span(*on) + span(*off)),
            _ => None,
        }
    }
}

/// An on-off source.
///
/// Its packets are those of a constant-rate source whose clock stands still in off periods: what is
/// left of a gap at the end of an on period goes on in the next one. So the mean rate is exactly
/// the rate times the share of on periods, however short they are.
///
/// It starts in equilibrium, as if it had gone on and off forever: on with a probability of its
/// share of time, somewhere in that period and somewhere in the gap between two packets.
#[derive(Clone, Debug)]
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
    /// Starts the source of a flow.
    pub fn new(spec: &OnOffSpec, flow: &StartingFlow<'_>) -> Self {
        let OnOffSpec { rate, on, off } = spec;
        let mut phase = flow.stream("phase");
        let mut spacing = Serializer::constant(*rate);
        let gap = spacing.nominal_time(flow.packet_bytes).picoseconds() as f64;
        let is_on = uniform(&mut phase) * (on.mean() + off.mean()) < on.mean();
        let left = span(if is_on { on } else { off }.sample_residual(&mut phase));
        let mut on = Periods { lengths: on.clone(), random: flow.stream("on periods") };
        let (first_on, behind) = if is_on { (left, Time::ZERO) } else { (on.draw(), left) };
        OnOff {
            on,
            off: Periods { lengths: off.clone(), random: flow.stream("off periods") },
            spacing,
            bytes: flow.packet_bytes,
            next: flow.start + span(gap * uniform(&mut phase)),
            on_end: flow.start.saturating_add(first_on),
            behind,
        }
    }
}

impl OnOff {
    /// Draws periods up to the on period in which the next packet is due; false if many more are to be drawn.
    fn reach_on_period(&mut self) -> bool {
        for _ in 0..MOST_STEPS {
            if self.next < self.on_end || self.behind >= Time::AFTER_ALL_RUNS {
                return true;
            }
            count_step();
            self.behind = self.behind.saturating_add(self.off.draw());
            self.on_end = self.on_end.saturating_add(self.on.draw());
        }
        false
    }
}

impl PacketSource for OnOff {
    fn next_emission(&mut self) -> Emission {
        let is_on = self.reach_on_period();
        let time = self.next.saturating_add(self.behind).min(Time::AFTER_ALL_RUNS);
        if !is_on {
            return Emission::nothing_before(time);
        }
        self.next = self.spacing.finish(self.next, self.bytes);
        Emission { time, bytes: self.bytes }
    }
}

/// The on or the off periods of a source.
#[derive(Clone, Debug)]
struct Periods {
    lengths: Distribution,
    random: Stream,
}

impl Periods {
    fn draw(&mut self) -> Time {
        span(self.lengths.sample(&mut self.random))
    }
}

/// At least a picosecond, so that time goes on.
fn span(picoseconds: f64) -> Time {
    Time::from_picoseconds((libm::round(picoseconds) as u64).max(1))
}
