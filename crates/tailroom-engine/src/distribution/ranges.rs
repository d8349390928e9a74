//! Which parameters a distribution may have: with others, a draw is no number, takes no end, or has no
//! mean.

use super::{CdfPoint, Count, Distribution, Empirical, normal_between};
use crate::parameters::{BadParameter, Range, Ranges, check, check_field};

/// Values: up to the picoseconds of 30 days, which are more than any size or rate.
const VALUES: Range = Range::ANY.at_least(0.0).at_most(2.592e18);
/// Bounds of a ratio or a logarithm.
const POSITIVE: Range = Range::ANY.more_than(0.0).at_most(2.592e18);
/// Standard deviations of a logarithm.
pub(super) const MOST_SIGMA: f64 = 10.0;
const SIGMAS: Range = Range::ANY.more_than(0.0).at_most(MOST_SIGMA);
/// Tail indices, and shapes of a Weibull distribution.
pub(super) const MOST_SHAPE: f64 = 1_000.0;
const SHAPES: Range = Range::ANY.more_than(0.0).at_most(MOST_SHAPE);
const SHAPES_WITH_MEAN: Range = Range::ANY.more_than(1.0).at_most(MOST_SHAPE);
pub(super) const LEAST_WEIBULL_SHAPE: f64 = 0.1;
const WEIBULL_SHAPES: Range = Range::ANY.at_least(LEAST_WEIBULL_SHAPE).at_most(MOST_SHAPE);
/// Whole numbers, as of the pages of a session.
pub(super) const MOST_COUNT: f64 = 1_000_000.0;
const COUNTS: Range = Range::ANY.at_least(0.0).at_most(MOST_COUNT);
/// A draw between bounds is repeated until it lies there: 1,000 times on average at most.
const LEAST_SHARE: f64 = 0.001;

impl Ranges for Distribution {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        match self {
            Distribution::Fixed(value) => VALUES.check(*value, value),
            Distribution::Uniform { from, to } => {
                check_field("from", from, &VALUES)?;
                check_field("to", to, &VALUES)?;
                check("to", to, from <= to, &format!("at least from, {from}"))
            }
            Distribution::Exponential { mean } => check_field("mean", mean, &VALUES),
            Distribution::Lognormal { log_mean, sigma } => {
                check_field("sigma", sigma, &SIGMAS)?;
                // The logarithm of a mean of 0 is infinite.
                let is_allowed = *log_mean < f64::INFINITY && VALUES.holds(self.mean());
                check(
                    "log_mean",
                    log_mean,
                    is_allowed,
                    "less, so that the mean is at most 2.592e18",
                )
            }
            Distribution::BoundedLognormal { log_mean, sigma, minimum, maximum } => {
                check_field("sigma", sigma, &SIGMAS)?;
                check_field("log_mean", log_mean, &Range::ANY)?;
                check_bounds(*minimum, *maximum)?;
                let from_mean = |bound: f64| (libm::log(bound) - log_mean) / sigma;
                let share = normal_between(from_mean(*minimum), from_mean(*maximum));
                let allowed =
                    "bounds between which a thousandth of the unbounded distribution lies";
                check("minimum", minimum, share >= LEAST_SHARE, allowed)
            }
            Distribution::Pareto { shape, minimum } => {
                check_field("shape", shape, &SHAPES_WITH_MEAN)?;
                check_field("minimum", minimum, &VALUES)
            }
            Distribution::BoundedPareto { shape, minimum, maximum } => {
                check_field("shape", shape, &SHAPES)?;
                check_bounds(*minimum, *maximum)
            }
            Distribution::Weibull { shape, scale } => {
                check_field("shape", shape, &WEIBULL_SHAPES)?;
                check_field("scale", scale, &VALUES)
            }
            Distribution::Empirical(empirical) => empirical.check_ranges(),
        }
    }
}

fn check_bounds(minimum: f64, maximum: f64) -> Result<(), BadParameter> {
    check_field("minimum", &minimum, &POSITIVE)?;
    check_field("maximum", &maximum, &POSITIVE)?;
    check("maximum", maximum, minimum < maximum, &format!("more than minimum, {minimum}"))
}

impl Ranges for Empirical {
    /// Checks the values; [`Empirical::new`] has checked their order and the probabilities.
    fn check_ranges(&self) -> Result<(), BadParameter> {
        let values = self.points.iter().map(|CdfPoint { value, .. }| value);
        let mut numbered = values.enumerate();
        numbered.try_for_each(|(index, value)| check_field(&format!("[{index}]"), value, &VALUES))
    }
}

impl Ranges for Count {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        match self {
            Count::Rounded(distribution) => {
                distribution.check_ranges()?;
                COUNTS.check(distribution.mean(), format!("a mean of {}", distribution.mean()))
            }
            Count::Geometric { least, mean } => {
                check_field("mean", mean, &COUNTS)?;
                check("mean", mean, *mean >= *least as f64, &format!("at least least, {least}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_without_a_mean_or_an_end_of_the_draws_are_refused() {
        let point = |value, probability| CdfPoint { value, probability };
        let wrong = [
            ("", Distribution::Fixed(f64::NAN)),
            ("", Distribution::Fixed(-1.0)),
            ("from", Distribution::Uniform { from: -1.0, to: 1.0 }),
            ("to", Distribution::Uniform { from: 2.0, to: 1.0 }),
            ("mean", Distribution::Exponential { mean: f64::INFINITY }),
            ("sigma", Distribution::Lognormal { log_mean: 1.0, sigma: 0.0 }),
            ("log_mean", Distribution::Lognormal { log_mean: 1e3, sigma: 1.0 }),
            ("shape", Distribution::Pareto { shape: 1.0, minimum: 1.0 }),
            ("minimum", Distribution::BoundedPareto { shape: 1.0, minimum: 0.0, maximum: 1.0 }),
            ("maximum", Distribution::BoundedPareto { shape: 1.0, minimum: 1.0, maximum: 1.0 }),
            ("shape", Distribution::Weibull { shape: 0.05, scale: 1.0 }),
            ("[0]", Distribution::Empirical(Empirical::new(vec![point(-1.0, 1.0)]))),
        ];
        for (key, distribution) in wrong {
            let bad = distribution.check_ranges().expect_err("it is out of range");
            assert_eq!(bad.key, key, "{distribution:?}");
        }
        // 20 standard deviations from the mean: a draw would take longer than any run.
        let (sigma, minimum, maximum) = (0.1, libm::exp(2.0), libm::exp(3.0));
        let far = Distribution::BoundedLognormal { log_mean: 0.0, sigma, minimum, maximum };
        assert_eq!(far.check_ranges().expect_err("no draw ends").key, "minimum");
        let near = Distribution::BoundedLognormal { log_mean: 2.0, sigma, minimum, maximum };
        assert_eq!(near.check_ranges(), Ok(()));
        let geometric = Count::Geometric { least: 2, mean: 1.0 };
        assert_eq!(geometric.check_ranges().expect_err("it is below least").key, "mean");
    }
}
