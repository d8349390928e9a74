//! The mean number of steps of one size that a draw requires: the expectation of ceil(X / step).
//!
//! It is the sum of P(X > k step) over k = 0, 1, ...: in closed form if the distribution is uniform
//! between points, or exponential; otherwise term by term where most of the distribution lies, and
//! beyond by the Euler-Maclaurin formula, whose integral is the mean excess E[max(X - x, 0)].

use super::{Distribution, bounded_exceedance, drop_over, normal_between};

/// Number of terms that are summed individually. Beyond them, P(X > x) changes so little from step
/// to step that the remainder of the Euler-Maclaurin formula, step^3 / 720 times the third
/// derivative, is below 1e-12.
const TERMS: u64 = 4_096;
/// Probability that is neglected.
const NEGLIGIBLE: f64 = 1e-18;

pub(super) fn mean_steps(distribution: &Distribution, step: f64) -> f64 {
    match distribution {
        Distribution::Fixed(value) => steps_between(*value, *value, step),
        Distribution::Uniform { from, to } => steps_between(*from, *to, step),
        Distribution::Empirical(empirical) => {
            let pieces = empirical.pieces().filter(|(weight, ..)| *weight > 0.0);
            pieces.map(|(weight, from, to)| weight * steps_between(from, to, step)).sum()
        }
        // A geometric series.
        Distribution::Exponential { mean } => -1.0 / libm::expm1(-step / mean),
        Distribution::Lognormal { .. }
        | Distribution::BoundedLognormal { .. }
        | Distribution::Pareto { .. }
        | Distribution::BoundedPareto { .. }
        | Distribution::Weibull { .. } => sum(distribution, step),
    }
}

/// Returns the mean of a value that is uniform between two bounds, divided by `step` and rounded
/// up, at least 1.
fn steps_between(from: f64, to: f64, step: f64) -> f64 {
    if to <= from {
        return libm::ceil(from / step).max(1.0);
    }
    // The integral from 0 of the increase by rounding up, in steps.
    let added = |to: f64| {
        let whole = libm::floor(to / step);
        let part = to / step - whole;
        step * (whole / 2.0 + part * (1.0 - part / 2.0))
    };
    f64::midpoint(from, to) / step + (added(to) - added(from)) / (to - from)
}

fn sum(distribution: &Distribution, step: f64) -> f64 {
    let exceeds = |k: f64| exceedance(distribution, k * step);
    // All terms before this one are 1.
    let first = libm::floor(least(distribution) / step);
    let mut steps = first;
    let mut k = first;
    for _ in 0..TERMS {
        let term = exceeds(k);
        if term < NEGLIGIBLE {
            return steps.max(1.0);
        }
        steps += term;
        k += 1.0;
    }
    steps + rest(distribution, step, k)
}

/// Returns the sum of all terms from term `from` on.
fn rest(distribution: &Distribution, step: f64, from: f64) -> f64 {
    let term = |k: f64| exceedance(distribution, k * step);
    let excess = |k: f64| mean_excess(distribution, k * step) / step;
    // The derivative times the step.
    let slope = |k: f64| (term(k + 1.0) - term(k - 1.0)) / 2.0;
    let begin = excess(from) + term(from) / 2.0 - slope(from) / 12.0;
    let maximum = distribution.maximum();
    if maximum.is_infinite() {
        return begin;
    }
    // The last term but one, so that the difference stays below the maximum.
    let last = libm::floor(maximum / step) - 1.0;
    if last <= from {
        return term(from) + term(from + 1.0);
    }
    let end = term(last) / 2.0 + slope(last) / 12.0 - excess(last);
    begin + end + term(last + 1.0)
}

/// Returns a value that practically every draw exceeds.
fn least(distribution: &Distribution) -> f64 {
    match distribution {
        Distribution::Lognormal { log_mean, sigma } => libm::exp(log_mean - 9.0 * sigma),
        Distribution::Weibull { shape, scale } => scale * libm::pow(NEGLIGIBLE, 1.0 / shape),
        _ => distribution.minimum(),
    }
}

/// Returns P(X > x) of a distribution that is neither uniform between points nor exponential.
fn exceedance(distribution: &Distribution, x: f64) -> f64 {
    if x < distribution.minimum() || x <= 0.0 {
        return 1.0;
    }
    if x >= distribution.maximum() {
        return 0.0;
    }
    match distribution {
        Distribution::Lognormal { log_mean, sigma } => {
            normal_between((libm::log(x) - log_mean) / sigma, f64::INFINITY)
        }
        Distribution::BoundedLognormal { log_mean, sigma, minimum, maximum } => {
            let at = |value: f64| (libm::log(value) - log_mean) / sigma;
            normal_between(at(x), at(*maximum)) / normal_between(at(*minimum), at(*maximum))
        }
        Distribution::Pareto { shape, minimum } => libm::pow(minimum / x, *shape),
        Distribution::BoundedPareto { shape, minimum, maximum } => {
            bounded_exceedance(*shape, *minimum, *maximum, x)
        }
        Distribution::Weibull { shape, scale } => libm::exp(-libm::pow(x / scale, *shape)),
        _ => f64::NAN,
    }
}

/// Returns E[max(X - x, 0)] for an x not below the minimum.
fn mean_excess(distribution: &Distribution, x: f64) -> f64 {
    let beyond = exceedance(distribution, x);
    match distribution {
        Distribution::Lognormal { log_mean, sigma } => {
            // A lognormal distribution weighted by its values is lognormal with a higher mean.
            let weighted =
                Distribution::Lognormal { log_mean: log_mean + sigma * sigma, sigma: *sigma };
            distribution.mean() * exceedance(&weighted, x) - x * beyond
        }
        Distribution::BoundedLognormal { log_mean, sigma, minimum, maximum } => {
            let weighted = Distribution::BoundedLognormal {
                log_mean: log_mean + sigma * sigma,
                sigma: *sigma,
                minimum: *minimum,
                maximum: *maximum,
            };
            distribution.mean() * exceedance(&weighted, x) - x * beyond
        }
        Distribution::Pareto { shape, .. } => x * beyond / (shape - 1.0),
        Distribution::BoundedPareto { shape, maximum, .. } if x < *maximum => {
            // The part above x is a bounded Pareto distribution too.
            let span = libm::log(maximum / x);
            let mean = x * drop_over(shape - 1.0, span) / drop_over(*shape, span);
            (mean - x) * beyond
        }
        Distribution::BoundedPareto { .. } => 0.0,
        _ => integral_beyond(distribution, x),
    }
}

/// Nodes and weights of Gauss-Legendre quadrature with eight points, for half of [-1, 1].
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_47),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Returns the integral of P(X > t) from x on, in pieces whose length is 1/32 of their lower bound.
fn integral_beyond(distribution: &Distribution, x: f64) -> f64 {
    let (mut from, mut integral) = (x, 0.0);
    while exceedance(distribution, from) * from > NEGLIGIBLE * (x + integral) {
        let half = from / 64.0;
        let at = |node: f64| exceedance(distribution, from + half * (1.0 + node));
        let piece = GAUSS.iter().map(|(node, weight)| weight * (at(*node) + at(-node)));
        integral += half * piece.sum::<f64>();
        from += 2.0 * half;
    }
    integral
}

#[cfg(test)]
mod tests {
    use super::super::{CdfPoint, Empirical};
    use super::*;

    #[track_caller]
    fn assert_steps(distribution: &Distribution, step: f64, expected: f64) {
        let found = distribution.mean_steps(step);
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{found}, expected {expected}: {distribution:?}"
        );
    }

    /// P(X > k step) = (minimum / step)^shape / k^shape, whose sum is Riemann's zeta function:
    /// zeta(2) = pi^2 / 6, zeta(3/2) = 2.612375348685488, zeta(1.05) = 20.580844302036995.
    #[test]
    fn the_mean_steps_of_a_pareto_distribution_are_a_zeta_function() {
        for (shape, zeta) in [
            (2.0, std::f64::consts::PI * std::f64::consts::PI / 6.0),
            (1.5, 2.612_375_348_685_488),
            (1.05, 20.580_844_302_036_995),
        ] {
            let distribution = Distribution::Pareto { shape, minimum: 500.0 };
            let expected = 1.0 + libm::pow(500.0 / 1_460.0, shape) * zeta;
            assert_steps(&distribution, 1_460.0, expected);
        }
    }

    /// A geometric series; a Weibull distribution of shape 1 sums it term by term.
    #[test]
    fn the_mean_steps_of_an_exponential_distribution_are_a_geometric_series() {
        for mean in [20.0, 1_460.0, 1e6, 1e9] {
            let expected = 1.0 / (1.0 - libm::exp(-1_460.0 / mean));
            assert_steps(&Distribution::Exponential { mean }, 1_460.0, expected);
            assert_steps(&Distribution::weibull(1.0, mean), 1_460.0, expected);
        }
    }

    /// Compares with the sum of all terms.
    #[test]
    fn the_mean_steps_are_the_sum_of_the_probabilities_to_exceed_each_step() {
        let bounded_lognormal = Distribution::BoundedLognormal {
            log_mean: 9.0,
            sigma: 2.0,
            minimum: 100.0,
            maximum: 3e7,
        };
        let bounded_pareto =
            |minimum, maximum| Distribution::BoundedPareto { shape: 1.1, minimum, maximum };
        for distribution in [
            Distribution::lognormal(1e5, 1.5),
            Distribution::lognormal(1e7, 0.001),
            bounded_lognormal,
            bounded_pareto(1e3, 3e7),
            bounded_pareto(1e7, 1.3e7 + 7.0),
            Distribution::weibull(0.4, 1e5),
            Distribution::weibull(50.0, 1e7),
        ] {
            let terms = (0..2_000_000).map(|k| exceedance(&distribution, 1_460.0 * f64::from(k)));
            assert_steps(&distribution, 1_460.0, terms.sum());
        }
    }

    /// The value 1 has probability 1/2; values uniform from 1000 to 3000 have the other half. Of
    /// these 2000, 460 take 1 step, 1460 take 2 steps and 80 take 3.
    #[test]
    fn the_mean_steps_between_points_are_exact() {
        let point = |value, probability| CdfPoint { value, probability };
        let points = vec![point(1.0, 0.5), point(1_000.0, 0.5), point(3_000.0, 1.0)];
        let expected = 0.5 + 0.5 * (460.0 + 2.0 * 1_460.0 + 3.0 * 80.0) / 2_000.0;
        assert_steps(&Distribution::Empirical(Empirical::new(points)), 1_460.0, expected);
        let uniform = Distribution::Uniform { from: 1_000.0, to: 3_000.0 };
        assert_steps(&uniform, 1_460.0, 2.0 * expected - 1.0);
        assert_steps(&Distribution::Fixed(1_460.0), 1_460.0, 1.0);
        assert_steps(&Distribution::Fixed(1_461.0), 1_460.0, 2.0);
        assert_steps(&Distribution::Fixed(1.0), 1_460.0, 1.0);
    }
}
