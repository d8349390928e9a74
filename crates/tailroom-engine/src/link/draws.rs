//! The times at which something random of a link is drawn anew.

use crate::derives::Ranges;
use crate::distribution::Distribution;
use crate::parameters::BadParameter;
use crate::quantity::PositiveDuration;
use crate::random::Random;
use crate::units::Time;

/// When something is drawn anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Ranges)]
pub enum Draws {
    /// Whenever it is asked for.
    AtNoTime,
    /// At each multiple of a time.
    Every(Time),
    /// At the times of a Poisson process with this mean between them.
    OnAverageEvery(Time),
}

impl Draws {
    /// The values of the keys `every` and `on_average_every`, of which `shortest` is the least.
    ///
    /// # Errors
    /// Both are given, or one is too short.
    pub(crate) fn read(
        every: Option<PositiveDuration>,
        on_average_every: Option<PositiveDuration>,
        shortest: PositiveDuration,
    ) -> Result<Self, BadParameter> {
        let checked = |key: &str, time: PositiveDuration| {
            if time.time() >= shortest.time() {
                return Ok(time.time());
            }
            let remedy = format!("write at least \"{shortest}\"");
            Err(BadParameter::new(key, format!("{time} is too short"), remedy))
        };
        Ok(match (every, on_average_every) {
            (None, None) => Draws::AtNoTime,
            (Some(every), None) => Draws::Every(checked("every", every)?),
            (None, Some(mean)) => Draws::OnAverageEvery(checked("on_average_every", mean)?),
            (Some(_), Some(_)) => {
                let problem = "the times are both fixed and random";
                return Err(BadParameter::new("every", problem, "remove it or on_average_every"));
            }
        })
    }

    /// The time of the draw after the one at `time`, if there is one.
    pub(super) fn after(self, time: Time, random: &mut impl Random) -> Option<Time> {
        match self {
            Draws::AtNoTime => None,
            Draws::Every(period) => Some(time + period),
            Draws::OnAverageEvery(mean) => {
                let between = Distribution::Exponential { mean: mean.picoseconds() as f64 };
                Some(time + Time::from_picoseconds(between.sample(random) as u64))
            }
        }
    }
}
