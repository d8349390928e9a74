//! Student's t and F distributions.
//!
//! The distribution functions follow from the regularized incomplete beta function, whose continued
//! fraction is evaluated by the modified Lentz algorithm (Press et al., "Numerical Recipes", 3rd
//! ed., sec. 5.2 and 6.4). Relative errors are below 1e-10.

use crate::numerics::root_of_falling;

/// Stands for a denominator of 0.
const TINY: f64 = 1e-300;
/// Relative change at which a fraction has converged.
const CONVERGED: f64 = 4e-16;

/// The value below which Student's t lies with a probability in [0.5, 1); degrees of freedom above
/// 0.
pub fn student_quantile(degrees_of_freedom: f64, probability: f64) -> f64 {
    let tail = 1.0 - probability;
    quantile(|t| student_tail(degrees_of_freedom, t) - tail)
}

/// The probability that Student's t is above t, t >= 0.
pub fn student_tail(degrees_of_freedom: f64, t: f64) -> f64 {
    let part = degrees_of_freedom / (degrees_of_freedom + t * t);
    0.5 * beta(part, degrees_of_freedom / 2.0, 0.5)
}

/// The value below which F, a ratio of two variances, lies with a probability in (0, 1); numerator
/// and denominator are degrees of freedom.
pub fn f_quantile(numerator: f64, denominator: f64, probability: f64) -> f64 {
    quantile(|ratio| {
        let part = denominator / (denominator + numerator * ratio);
        beta(part, denominator / 2.0, numerator / 2.0) - (1.0 - probability)
    })
}

/// Where a function that falls from 0 on becomes negative.
fn quantile(excess: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while high < f64::INFINITY && excess(high) > 0.0 {
        (low, high) = (high, 2.0 * high);
    }
    root_of_falling(excess, low, high)
}

/// The regularized incomplete beta function `I_x(a, b)`, x in [0, 1].
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let gammas = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let front = libm::exp(gammas + a * libm::log(x) + b * libm::log1p(-x));
    front / a * beta_fraction(x, a, b)
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let (mut value, mut above, mut below) = (TINY, TINY, 0.0);
    // Whether the fraction changes; not of a NaN.
    let mut changes_by = |numerator: f64| {
        below = 1.0 / not_zero(1.0 + numerator * below);
        above = not_zero(1.0 + numerator / above);
        value *= above * below;
        (above * below - 1.0).abs() >= CONVERGED
    };
    changes_by(1.0);
    let mut m = 0.0;
    loop {
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let goes_on = changes_by(odd);
        m += 1.0;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        if !(goes_on && changes_by(even)) {
            return value;
        }
    }
}

fn not_zero(value: f64) -> f64 {
    if value == 0.0 { TINY } else { value }
}

#[cfg(test)]
mod tests {
    use super::{f_quantile, student_quantile, student_tail};

    /// Tables of Student's distribution.
    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (degrees, probability, expected) in
            [(1.0, 0.975, 12.706_205), (5.0, 0.995, 4.032_143), (30.0, 0.95, 1.697_261)]
        {
            let found = student_quantile(degrees, probability);
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
            assert!((student_tail(degrees, found) - (1.0 - probability)).abs() < 1e-12);
        }
    }

    /// A table of the F distribution, to its three digits.
    #[test]
    fn quantiles_of_f_are_those_of_the_tables() {
        for (numerator, denominator, expected) in
            [(1.0, 10.0, 10.04), (3.0, 20.0, 4.94), (10.0, 5.0, 10.05)]
        {
            let found = f_quantile(numerator, denominator, 0.99);
            assert!((found - expected).abs() < 0.006, "{found} is not {expected}");
        }
    }
}
