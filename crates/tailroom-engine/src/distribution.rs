//! Distributions of the random values of a scenario: sizes, times, rates.
//!
//! A draw is the same on every machine: all functions beyond plain arithmetic come from `libm`, as
//! do the tails of `rand_distr`'s exponential and normal samplers (ziggurat, Marsaglia and Tsang
//! 2000).

pub mod config;
pub mod count_config;
mod list_file;
pub mod published;
mod ranges;
mod steps;

use std::sync::Arc;

use crate::random::{Random, exponential, gamma, normal, uniform};

/// A distribution of positive values in base units: bytes, picoseconds or bit/s.
///
/// The variants have the parameters that a draw needs; the functions with the same names compute
/// them from a mean.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Distribution {
    /// Always the same value.
    Fixed(f64),
    /// All values of a range are equally likely.
    Uniform {
        /// Lower bound.
        from: f64,
        /// Upper bound.
        to: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// The logarithm is normally distributed.
    Lognormal {
        /// Mean of the logarithm.
        log_mean: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// A lognormal distribution conditioned on a value between two bounds.
    BoundedLognormal {
        /// Mean of the logarithm without the bounds.
        log_mean: f64,
        /// Standard deviation of the logarithm without the bounds.
        sigma: f64,
        /// Smallest value.
        minimum: f64,
        /// Largest value; draws are efficient only if the bounds enclose much of the distribution.
        maximum: f64,
    },
    /// P(X > x) = (minimum / x)^shape.
    Pareto {
        /// Tail index; above 1, or the mean is infinite.
        shape: f64,
        /// Smallest value.
        minimum: f64,
    },
    /// A Pareto distribution conditioned on a value below a maximum.
    BoundedPareto {
        /// Tail index of the distribution without the bound.
        shape: f64,
        /// Smallest value.
        minimum: f64,
        /// Largest value; above the smallest.
        maximum: f64,
    },
    /// P(X > x) = exp(-(x / scale)^shape).
    Weibull {
        /// Shape; below 1, the tail is heavier than exponential.
        shape: f64,
        /// Scale: the quantile of 1 - 1/e.
        scale: f64,
    },
    /// A distribution given by points of its distribution function.
    Empirical(Empirical),
}

impl Distribution {
    /// Creates a lognormal distribution with this mean; `sigma` is the standard deviation of the
    /// logarithm.
    pub fn lognormal(mean: f64, sigma: f64) -> Self {
        Distribution::Lognormal { log_mean: libm::log(mean) - sigma * sigma / 2.0, sigma }
    }

    /// Creates a Pareto distribution with this mean; `shape` must be above 1.
    pub fn pareto(shape: f64, mean: f64) -> Self {
        Distribution::Pareto { shape, minimum: mean * (shape - 1.0) / shape }
    }

    /// Creates a Weibull distribution with this mean.
    pub fn weibull(shape: f64, mean: f64) -> Self {
        Distribution::Weibull { shape, scale: mean / libm::tgamma(1.0 + 1.0 / shape) }
    }

    /// Draws a value.
    pub fn sample(&self, random: &mut impl Random) -> f64 {
        match self {
            Distribution::Fixed(value) => *value,
            Distribution::Uniform { from, to } => from + (to - from) * uniform(random),
            Distribution::Exponential { mean } => mean * exponential(random),
            Distribution::Lognormal { log_mean, sigma } => {
                libm::exp(log_mean + sigma * normal(random))
            }
            Distribution::BoundedLognormal { log_mean, sigma, minimum, maximum } => {
                let unbounded = Distribution::Lognormal { log_mean: *log_mean, sigma: *sigma };
                loop {
                    let value = unbounded.sample(random);
                    if (*minimum..=*maximum).contains(&value) {
                        return value;
                    }
                }
            }
            Distribution::Pareto { shape, minimum } => {
                // The logarithm of a Pareto variable over its minimum is exponential.
                minimum * libm::exp(exponential(random) / shape)
            }
            Distribution::BoundedPareto { shape, minimum, maximum } => {
                bounded_pareto(*shape, *minimum, *maximum, uniform(random))
            }
            Distribution::Weibull { shape, scale } => {
                scale * libm::pow(exponential(random), 1.0 / shape)
            }
            Distribution::Empirical(empirical) => empirical.quantile(uniform(random)),
        }
    }

    /// Draws the rest of the current span at a random instant, if spans drawn from this
    /// distribution follow one another without end (the equilibrium distribution of renewal theory,
    /// density P(X > x) / mean).
    ///
    /// The probability of the current span is proportional to its length; the rest is a uniform
    /// fraction of it.
    pub fn sample_residual(&self, random: &mut impl Random) -> f64 {
        let current = match self {
            // Memoryless: the rest has the same distribution as the whole.
            Distribution::Exponential { .. } => return self.sample(random),
            Distribution::Fixed(value) => *value,
            Distribution::Uniform { from, to } => rising(*from, *to, uniform(random)),
            Distribution::Lognormal { log_mean, sigma } => {
                let longer = log_mean + sigma * sigma;
                Distribution::Lognormal { log_mean: longer, sigma: *sigma }.sample(random)
            }
            Distribution::BoundedLognormal { log_mean, sigma, minimum, maximum } => {
                let (sigma, minimum, maximum) = (*sigma, *minimum, *maximum);
                let log_mean = log_mean + sigma * sigma;
                Distribution::BoundedLognormal { log_mean, sigma, minimum, maximum }.sample(random)
            }
            Distribution::Pareto { shape, minimum } => {
                Distribution::Pareto { shape: shape - 1.0, minimum: *minimum }.sample(random)
            }
            Distribution::BoundedPareto { shape, minimum, maximum } => {
                bounded_pareto(shape - 1.0, *minimum, *maximum, uniform(random))
            }
            Distribution::Weibull { shape, scale } => {
                // For the current span, (x / scale)^shape is a gamma variable of shape 1 + 1 /
                // shape.
                scale * libm::pow(gamma(1.0 + 1.0 / shape, random), 1.0 / shape)
            }
            Distribution::Empirical(empirical) => empirical.sample_by_size(random),
        };
        current * uniform(random)
    }

    /// Returns the mean, which is finite.
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Fixed(value) => *value,
            Distribution::Uniform { from, to } => f64::midpoint(*from, *to),
            Distribution::Exponential { mean } => *mean,
            Distribution::Lognormal { log_mean, sigma } => {
                libm::exp(log_mean + sigma * sigma / 2.0)
            }
            Distribution::BoundedLognormal { log_mean, sigma, minimum, maximum } => {
                let (low, high) = (libm::log(*minimum), libm::log(*maximum));
                let share = |mean: f64| normal_between((low - mean) / sigma, (high - mean) / sigma);
                // A lognormal distribution weighted by its values is lognormal with a higher mean.
                libm::exp(log_mean + sigma * sigma / 2.0) * share(log_mean + sigma * sigma)
                    / share(*log_mean)
            }
            Distribution::Pareto { shape, minimum } => minimum * shape / (shape - 1.0),
            Distribution::BoundedPareto { shape, minimum, maximum } => {
                let span = libm::log(maximum / minimum);
                // The ratio of the integrals for the tail index less 1 and for the tail index.
                minimum * drop_over(shape - 1.0, span) / drop_over(*shape, span)
            }
            Distribution::Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Distribution::Empirical(empirical) => empirical.mean(),
        }
    }

    /// Returns the mean of a draw divided by `step` and rounded up, at least 1: the mean number of
    /// packets of a flow with a payload of `step` per packet. Accurate to nine digits or more.
    pub fn mean_steps(&self, step: f64) -> f64 {
        steps::mean_steps(self, step)
    }

    /// Returns the greatest lower bound of the values.
    pub fn minimum(&self) -> f64 {
        match self {
            Distribution::Fixed(value) => *value,
            Distribution::Uniform { from, .. } => *from,
            Distribution::Exponential { .. }
            | Distribution::Lognormal { .. }
            | Distribution::Weibull { .. } => 0.0,
            Distribution::Pareto { minimum, .. }
            | Distribution::BoundedPareto { minimum, .. }
            | Distribution::BoundedLognormal { minimum, .. } => *minimum,
            Distribution::Empirical(empirical) => empirical.quantile(0.0),
        }
    }

    /// Returns the least upper bound of the values; infinite for an unbounded distribution.
    pub fn maximum(&self) -> f64 {
        match self {
            Distribution::Fixed(value) => *value,
            Distribution::Uniform { to, .. } => *to,
            Distribution::BoundedPareto { maximum, .. }
            | Distribution::BoundedLognormal { maximum, .. } => *maximum,
            Distribution::Empirical(empirical) => empirical.maximum(),
            Distribution::Exponential { .. }
            | Distribution::Lognormal { .. }
            | Distribution::Pareto { .. }
            | Distribution::Weibull { .. } => f64::INFINITY,
        }
    }
}

/// Returns the probability that a standard normal variable lies between two bounds.
fn normal_between(from: f64, to: f64) -> f64 {
    let above = |bound: f64| 0.5 * libm::erfc(bound * std::f64::consts::FRAC_1_SQRT_2);
    above(from) - above(to)
}

/// Returns the quantile of `probability` of a density that rises in proportion to x between two
/// bounds.
fn rising(from: f64, to: f64, probability: f64) -> f64 {
    libm::sqrt(from * from + probability * (to * to - from * from))
}

/// Returns the quantile of `probability`; the shape may be 0 or negative, as residuals require.
fn bounded_pareto(shape: f64, minimum: f64, maximum: f64, probability: f64) -> f64 {
    let span = libm::log(maximum / minimum);
    let power = if shape == 0.0 {
        span * probability
    } else {
        -libm::log1p(probability * libm::expm1(-shape * span)) / shape
    };
    // Rounding may exceed the bound.
    (minimum * libm::exp(power)).min(maximum)
}

/// Returns P(X > x) of a bounded Pareto distribution, for an x between its bounds.
fn bounded_exceedance(shape: f64, minimum: f64, maximum: f64, x: f64) -> f64 {
    let whole = drop_over(shape, libm::log(maximum / minimum));
    libm::pow(minimum / x, shape) * drop_over(shape, libm::log(maximum / x)) / whole
}

/// Returns the integral of exp(-rate * x) from 0 to `span`.
fn drop_over(rate: f64, span: f64) -> f64 {
    if rate == 0.0 { span } else { -libm::expm1(-rate * span) / rate }
}

/// A distribution of whole numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Count {
    /// Draws from a distribution, rounded to the nearest whole number.
    Rounded(Distribution),
    /// A geometric distribution: each number is less likely than the number before it, by a
    /// constant factor.
    Geometric {
        /// Smallest number.
        least: u64,
        /// Mean, at least the smallest number.
        mean: f64,
    },
}

impl Count {
    /// Draws a number.
    pub fn sample(&self, random: &mut impl Random) -> u64 {
        match self {
            Count::Rounded(distribution) => libm::round(distribution.sample(random)) as u64,
            Count::Geometric { least, mean } => {
                let more = mean - *least as f64;
                // The integer part of an exponential variable is geometric.
                let step = libm::log1p(1.0 / more);
                least + if more > 0.0 { libm::floor(exponential(random) / step) as u64 } else { 0 }
            }
        }
    }

    /// Returns the mean, without the effect of rounding.
    pub fn mean(&self) -> f64 {
        match self {
            Count::Rounded(distribution) => distribution.mean(),
            Count::Geometric { mean, .. } => *mean,
        }
    }
}

/// A point of a distribution function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CdfPoint {
    /// A value.
    pub value: f64,
    /// Probability of this value or a smaller one.
    pub probability: f64,
}

/// A distribution given by points of its distribution function, which is linear between them.
///
/// A first point with a probability above 0 is a value with that probability, as are two points
/// with the same value.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    points: Arc<[CdfPoint]>,
}

impl Empirical {
    /// Creates a distribution from points whose values and probabilities do not decrease; the last
    /// probability must be 1.
    ///
    /// # Panics
    /// If the points do not form a distribution function.
    pub fn new(points: Vec<CdfPoint>) -> Self {
        let rises = |pair: &[CdfPoint]| {
            pair[0].value <= pair[1].value && pair[0].probability <= pair[1].probability
        };
        assert!(points.windows(2).all(rises), "a distribution function must not decrease");
        assert!(points.first().is_some_and(|point| point.probability >= 0.0));
        assert!(points.last().is_some_and(|point| point.probability >= 1.0));
        Empirical { points: points.into() }
    }

    /// Creates a distribution of the given values, in ascending order, with probabilities in
    /// proportion to `weights`.
    pub fn mix(values: &[f64], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut points = Vec::with_capacity(2 * values.len());
        for (&value, weight) in values.iter().zip(weights) {
            points.push(CdfPoint { value, probability: sum / total });
            sum += weight;
            points.push(CdfPoint { value, probability: sum / total });
        }
        Empirical::new(points)
    }

    /// Returns the value that a draw does not exceed with `probability`, which must be below 1.
    fn quantile(&self, probability: f64) -> f64 {
        // The last point has probability 1.
        let above = self.points.partition_point(|point| point.probability <= probability);
        let right = self.points[above];
        match above.checked_sub(1).map(|before| self.points[before]) {
            None => right.value,
            Some(left) => {
                let part =
                    (probability - left.probability) / (right.probability - left.probability);
                left.value + (right.value - left.value) * part
            }
        }
    }

    /// Returns the pieces of the function as probability and bounds; the first piece may be a
    /// single value.
    fn pieces(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let first = self.points[0];
        let pieces = self
            .points
            .windows(2)
            .map(|pair| (pair[1].probability - pair[0].probability, pair[0].value, pair[1].value));
        std::iter::once((first.probability, first.value, first.value)).chain(pieces)
    }

    fn mean(&self) -> f64 {
        self.pieces().map(|(weight, from, to)| weight * f64::midpoint(from, to)).sum()
    }

    fn maximum(&self) -> f64 {
        let first = self.points.partition_point(|point| point.probability < 1.0);
        self.points[first].value
    }

    /// Draws a value with a probability in proportion to its size.
    fn sample_by_size(&self, random: &mut impl Random) -> f64 {
        let mut rest = self.mean() * uniform(random);
        let mut chosen = (0.0, 0.0);
        for (weight, from, to) in self.pieces().filter(|piece| piece.0 > 0.0) {
            chosen = (from, to);
            rest -= weight * f64::midpoint(from, to);
            if rest < 0.0 {
                break;
            }
        }
        rising(chosen.0, chosen.1, uniform(random))
    }
}
