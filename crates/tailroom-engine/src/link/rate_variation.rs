//! A rate that varies at random: the changes of a run, which follow from its seed.

use super::draws::Draws;
use super::serializer::RateChange;
use crate::derives::{Deserialize, JsonSchema, Serialize};
use crate::distribution::config::{DistributionConfig, FileTexts};
use crate::parameters::BadParameter;
use crate::quantity::{BitRate, PositiveDuration};
use crate::random::stream;
use crate::units::{Rate, Time};

/// Shortest time between two draws.
const SHORTEST: PositiveDuration = PositiveDuration::new(100_000_000);
/// Most changes of a run, a few hundred megabytes.
const MOST_CHANGES: u64 = 10_000_000;

/// A rate that is drawn anew in the course of a run, from its start on.
///
/// It depends on the seed and not on the traffic. `rate` stays the rate by which limits in time, bdp
/// and the bdp are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateVariationConfig {
    /// Distribution of the rate.
    #[schemars(
        example = serde_json::json!({ "kind": "uniform", "from": "60 Mbit/s", "to": "140 Mbit/s" })
    )]
    rate: DistributionConfig<BitRate>,
    /// Draw the rate anew at each multiple of this time; at least 100 us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "15 s")]
    every: Option<PositiveDuration>,
    /// Draw the rate anew at random times with this mean between them (a Poisson process), so that
    /// the correlation of two rates falls exponentially with the time between them; at least 100 us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "100 ms")]
    on_average_every: Option<PositiveDuration>,
}

impl RateVariationConfig {
    /// The changes of rate of the link `name` in a run that ends at `duration`.
    ///
    /// # Errors
    /// A distribution that contradicts itself, no or two kinds of draws, or draws that follow one
    /// another too fast.
    pub(crate) fn changes(
        &self,
        texts: &FileTexts,
        seed: u64,
        name: &str,
        duration: Time,
    ) -> Result<Vec<RateChange>, BadParameter> {
        let rates = self.rate.resolve("rate", texts)?;
        let draws = Draws::read(self.every, self.on_average_every, SHORTEST)?;
        let (Draws::Every(between) | Draws::OnAverageEvery(between)) = draws else {
            let remedy = "add `every = \"15 s\"` or `on_average_every = \"100 ms\"`";
            return Err(BadParameter::new("every", "is missing", remedy));
        };
        let count = duration.picoseconds() / between.picoseconds();
        if count > MOST_CHANGES {
            let key = if self.every.is_some() { "every" } else { "on_average_every" };
            let problem = format!("the rate would change {count} times");
            let remedy = format!("lengthen it, so that there are at most {MOST_CHANGES} changes");
            return Err(BadParameter::new(key, problem, remedy));
        }
        let mut random = stream(seed, &format!("rate of {name}"));
        let mut changes = Vec::new();
        let mut next = Some(Time::ZERO);
        while let Some(at) = next.filter(|&at| at <= duration) {
            let rate = Rate::from_bits_per_second(libm::round(rates.sample(&mut random)) as u64);
            changes.push(RateChange { at, rate });
            next = draws.after(at, &mut random);
        }
        Ok(changes)
    }
}
