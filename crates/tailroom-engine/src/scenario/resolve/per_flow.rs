//! One value for each flow of a group: the same, evenly spread, or drawn.

use crate::distribution::Distribution;
use crate::distribution::config::FileTexts;
use crate::quantity::{Kind, Quantity};
use crate::random::Random;
use crate::scenario::format::flows::PerFlow;
use crate::scenario::text::error::{Fault, Path, bad_parameter};
use crate::units::Time;

impl<K: Kind> PerFlow<Quantity<K>> {
    /// The values of `count` flows. An even spread is cut into `parts`; values are rounded to the
    /// nearest picosecond.
    pub(in crate::scenario) fn spread(
        &self,
        count: u32,
        parts: u32,
        mut stream: impl Random,
        at: &Path,
        files: &FileTexts,
    ) -> Result<Vec<Time>, Fault> {
        let values: Vec<u64> = match self {
            PerFlow::Fixed(value) => vec![value.base_units(); count as usize],
            PerFlow::Even { from, to } => (0..count)
                .map(|index| interpolate(from.base_units(), to.base_units(), index, parts))
                .collect(),
            PerFlow::Uniform { uniform: [low, high] } => {
                check_bounds(*low, *high, at)?;
                let span = high.base_units() - low.base_units();
                (0..count).map(|_| low.base_units() + draw_up_to(span, &mut stream)).collect()
            }
            PerFlow::Drawn(distribution) => {
                let distribution =
                    distribution.resolve("", files).map_err(|bad| bad_parameter(at, bad))?;
                (0..count).map(|_| libm::round(distribution.sample(&mut stream)) as u64).collect()
            }
        };
        Ok(values.into_iter().map(Time::from_picoseconds).collect())
    }

    /// What each flow that arrives draws; such flows cannot be spread evenly.
    pub(in crate::scenario) fn distribution(
        &self,
        at: &Path,
        files: &FileTexts,
    ) -> Result<Distribution, Fault> {
        let base = |value: &Quantity<K>| value.base_units() as f64;
        match self {
            PerFlow::Fixed(value) => Ok(Distribution::Fixed(base(value))),
            PerFlow::Even { .. } => {
                let problem =
                    "an even spread needs a number of flows, and these flows arrive and depart";
                let remedy = "draw it, as in { uniform = [a, b] }";
                Err(Fault::new(at, problem, remedy))
            }
            PerFlow::Uniform { uniform: [low, high] } => {
                check_bounds(*low, *high, at)?;
                Ok(Distribution::Uniform { from: base(low), to: base(high) })
            }
            PerFlow::Drawn(distribution) => {
                distribution.resolve("", files).map_err(|bad| bad_parameter(at, bad))
            }
        }
    }

    /// The one value that it must be.
    pub(in crate::scenario) fn one(&self, at: &Path) -> Result<Time, Fault> {
        if let PerFlow::Fixed(value) = self {
            return Ok(Time::from_picoseconds(value.base_units()));
        }
        let problem = "flows that arrive and depart have one start in common";
        Err(Fault::new(at, problem, "write one value, as in \"10 s\""))
    }
}

fn check_bounds<K: Kind>(low: Quantity<K>, high: Quantity<K>, at: &Path) -> Result<(), Fault> {
    if low.base_units() <= high.base_units() {
        return Ok(());
    }
    let problem = format!("the lower bound {low} is above the upper bound {high}");
    Err(Fault::new(&at.key("uniform"), problem, "swap the bounds"))
}

/// `from + (to - from) * index / parts`, to the nearest integer.
fn interpolate(from: u64, to: u64, index: u32, parts: u32) -> u64 {
    let (span, parts) = (i128::from(to) - i128::from(from), i128::from(parts));
    let rounded = (2 * span * i128::from(index) + parts).div_euclid(2 * parts);
    // It lies between the two ends.
    (i128::from(from) + rounded) as u64
}

/// A whole number from 0 to `span`, all as likely up to one part in 2^64 / `span`.
fn draw_up_to(span: u64, stream: &mut impl Random) -> u64 {
    ((u128::from(stream.next_u64()) * (u128::from(span) + 1)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Duration;
    use crate::random;

    fn spread(values: &PerFlow<Duration>, count: u32, parts: u32) -> Vec<u64> {
        let stream = random::stream(1, "flows.a.start");
        let times =
            values.spread(count, parts, stream, &Path::default(), &FileTexts::new()).unwrap();
        times.into_iter().map(Time::picoseconds).collect()
    }

    fn even(from: u64, to: u64) -> PerFlow<Duration> {
        PerFlow::Even { from: Duration::new(from), to: Duration::new(to) }
    }

    #[test]
    fn an_even_spread_goes_up_or_down_and_rounds_to_the_nearest() {
        assert_eq!(spread(&even(0, 10), 4, 3), [0, 3, 7, 10]);
        assert_eq!(spread(&even(10, 0), 4, 3), [10, 7, 3, 0]);
        assert_eq!(spread(&even(0, 10), 5, 5), [0, 2, 4, 6, 8]);
        assert_eq!(spread(&even(7, 9), 1, 1), [7]);
    }

    #[test]
    fn draws_fill_the_range_and_stay_in_it() {
        let bounds = [Duration::new(5), Duration::new(8)];
        let drawn = spread(&PerFlow::Uniform { uniform: bounds }, 1000, 1000);
        for value in 5..=8 {
            let count = drawn.iter().filter(|drawn| **drawn == value).count();
            // 250 expected, standard deviation 14.
            assert!((180..320).contains(&count), "{value} drawn {count} times");
        }
        assert!(drawn.iter().all(|value| (5..=8).contains(value)));
    }

    #[test]
    fn a_longer_draw_starts_like_a_shorter_one() {
        let bounds = [Duration::new(0), Duration::new(1_000_000)];
        let uniform = PerFlow::Uniform { uniform: bounds };
        assert_eq!(spread(&uniform, 20, 20)[..10], spread(&uniform, 10, 10));
    }
}
