//! Draws from each distribution against its closed forms: the distribution function by the
//! Kolmogorov-Smirnov test, and the mean by its standard error.

use tailroom_engine::distribution::{CdfPoint, Distribution, Empirical};
use tailroom_engine::random::stream;

/// Number of draws per test.
const DRAWS: usize = 100_000;

/// Critical value of sqrt(n) D at a significance of 0.1 %: K(1.9495) = 0.999 for the Kolmogorov
/// distribution K. For a distribution function with steps the test is stricter.
const CRITICAL: f64 = 1.9495;

/// A distribution with its closed forms.
struct Case {
    name: &'static str,
    distribution: Distribution,
    /// The distribution function.
    cdf: fn(f64) -> f64,
    mean: f64,
    standard_deviation: f64,
    support: (f64, f64),
}

fn normal_cdf(x: f64) -> f64 {
    libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

/// Steps and straight lines: 10 with probability 0.2, a line to 30 at 0.6, no probability up to 50,
/// a line to 60 at 0.9, and 60 with the remaining 0.1.
fn stairs() -> Distribution {
    let points = [(10.0, 0.2), (30.0, 0.6), (50.0, 0.6), (60.0, 0.9), (60.0, 1.0)];
    let point = |&(value, probability): &(f64, f64)| CdfPoint { value, probability };
    Distribution::Empirical(Empirical::new(points.iter().map(point).collect()))
}

fn stairs_cdf(x: f64) -> f64 {
    match x {
        x if x < 10.0 => 0.0,
        x if x < 30.0 => 0.2 + (x - 10.0) * 0.02,
        x if x < 50.0 => 0.6,
        x if x < 60.0 => 0.6 + (x - 50.0) * 0.03,
        _ => 1.0,
    }
}

/// The simple IMIX: 7, 4 and 1 packets of 40, 576 and 1500 bytes.
fn imix() -> Distribution {
    Distribution::Empirical(Empirical::mix(&[40.0, 576.0, 1500.0], &[7.0, 4.0, 1.0]))
}

fn imix_cdf(x: f64) -> f64 {
    match x {
        x if x < 40.0 => 0.0,
        x if x < 576.0 => 7.0 / 12.0,
        x if x < 1500.0 => 11.0 / 12.0,
        _ => 1.0,
    }
}

fn light_tails() -> Vec<Case> {
    vec![
        Case {
            name: "uniform",
            distribution: Distribution::Uniform { from: 2.0, to: 5.0 },
            cdf: |x| ((x - 2.0) / 3.0).clamp(0.0, 1.0),
            mean: 3.5,
            standard_deviation: (9.0_f64 / 12.0).sqrt(),
            support: (2.0, 5.0),
        },
        Case {
            name: "exponential",
            distribution: Distribution::Exponential { mean: 4.0 },
            cdf: |x| 1.0 - (-x / 4.0).exp(),
            mean: 4.0,
            standard_deviation: 4.0,
            support: (0.0, f64::INFINITY),
        },
        Case {
            // 10 * 0.2 + 20 * 0.4 + 55 * 0.3 + 60 * 0.1 = 32.5. A line from a to b has the second
            // moment (a^2 + ab + b^2) / 3: 100 * 0.2 + 1300 / 3 * 0.4 + 9100 / 3 * 0.3 + 3600 * 0.1
            // = 1463.33; minus 32.5^2 = 407.0833.
            name: "empirical",
            distribution: stairs(),
            cdf: stairs_cdf,
            mean: 32.5,
            standard_deviation: 407.083_333_f64.sqrt(),
            support: (10.0, 60.0),
        },
        Case {
            // (7 * 40 + 4 * 576 + 1500) / 12 = 340.333, the published mean of this mix;
            // (7 * 1600 + 4 * 331,776 + 2,250,000) / 12 = 299,025.33; minus the square: 183,198.6.
            name: "mix",
            distribution: imix(),
            cdf: imix_cdf,
            mean: 4084.0 / 12.0,
            standard_deviation: 183_198.556_f64.sqrt(),
            support: (40.0, 1500.0),
        },
    ]
}

fn heavy_tails() -> Vec<Case> {
    vec![
        Case {
            // sigma = 1: the variance is mean^2 (e - 1).
            name: "lognormal",
            distribution: Distribution::lognormal(3.0, 1.0),
            cdf: |x| normal_cdf(x.ln() - (3.0_f64.ln() - 0.5)),
            mean: 3.0,
            standard_deviation: 3.0 * (std::f64::consts::E - 1.0).sqrt(),
            support: (0.0, f64::INFINITY),
        },
        Case {
            // Shape 3 and mean 6: the minimum is 4, the variance 4^2 * 3 / (2^2 * 1) = 12.
            name: "pareto",
            distribution: Distribution::pareto(3.0, 6.0),
            cdf: |x| if x < 4.0 { 0.0 } else { 1.0 - (4.0 / x).powi(3) },
            mean: 6.0,
            standard_deviation: 12.0_f64.sqrt(),
            support: (4.0, f64::INFINITY),
        },
        Case {
            // Shape 1 from 1 to 100: the density is (100 / 99) / x^2, the mean 100 / 99 * ln 100 =
            // 4.651687, the second moment 100 / 99 * 99 = 100.
            name: "bounded pareto of shape 1",
            distribution: Distribution::BoundedPareto { shape: 1.0, minimum: 1.0, maximum: 100.0 },
            cdf: |x| ((1.0 - 1.0 / x) * 100.0 / 99.0).clamp(0.0, 1.0),
            mean: 4.651_687_06,
            standard_deviation: (100.0_f64 - 4.651_687_06_f64.powi(2)).sqrt(),
            support: (1.0, 100.0),
        },
        Case {
            // Shape 2 from 1 to 10: the density is (200 / 99) / x^3, the mean 200 / 99 * 0.9 =
            // 1.818182, the second moment 200 / 99 * ln 10 = 4.651687.
            name: "bounded pareto of shape 2",
            distribution: Distribution::BoundedPareto { shape: 2.0, minimum: 1.0, maximum: 10.0 },
            cdf: |x| ((1.0 - 1.0 / (x * x)) * 100.0 / 99.0).clamp(0.0, 1.0),
            mean: 180.0 / 99.0,
            standard_deviation: (4.651_687_06_f64 - (180.0_f64 / 99.0).powi(2)).sqrt(),
            support: (1.0, 10.0),
        },
        Case {
            // Shape 1/2: the mean is 2! times the scale, the second moment 4! times its square, so
            // mean 2 has scale 1 and variance 24 - 4.
            name: "weibull",
            distribution: Distribution::weibull(0.5, 2.0),
            cdf: |x| 1.0 - (-x.sqrt()).exp(),
            mean: 2.0,
            standard_deviation: 20.0_f64.sqrt(),
            support: (0.0, f64::INFINITY),
        },
    ]
}

fn cases() -> Vec<Case> {
    light_tails().into_iter().chain(heavy_tails()).collect()
}

fn sorted(draw: impl FnMut() -> f64) -> Vec<f64> {
    let mut draws: Vec<f64> = std::iter::repeat_with(draw).take(DRAWS).collect();
    draws.sort_unstable_by(f64::total_cmp);
    draws
}

/// sqrt(n) times the largest distance between the empirical distribution function of the draws and
/// `cdf`, on both sides of every step.
fn kolmogorov(draws: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let count = draws.len() as f64;
    let distances = draws.chunk_by(|one, other| one >= other).map({
        let mut below = 0;
        move |equal| {
            let before = below as f64 / count;
            below += equal.len();
            let (x, after) = (equal[0], below as f64 / count);
            let just_below = x - x.abs() * 1e-12;
            (before - cdf(just_below)).abs().max((after - cdf(x)).abs())
        }
    });
    distances.fold(0.0, f64::max) * count.sqrt()
}

#[test]
fn draws_follow_the_distribution_function() {
    for case in cases() {
        let mut random = stream(1, case.name);
        let draws = sorted(|| case.distribution.sample(&mut random));
        let distance = kolmogorov(&draws, case.cdf);
        assert!(distance < CRITICAL, "{}: sqrt(n) D is {distance}", case.name);
        let (low, high) = case.support;
        assert!(draws[0] >= low && draws[DRAWS - 1] <= high, "{}", case.name);
    }
}

#[test]
fn means_of_distributions_and_draws_equal_the_closed_form() {
    for case in cases() {
        let (name, mean) = (case.name, case.mean);
        assert!((case.distribution.mean() / mean - 1.0).abs() < 1e-8, "{name}");
        let mut random = stream(2, name);
        let draws = sorted(|| case.distribution.sample(&mut random));
        let average = draws.iter().sum::<f64>() / DRAWS as f64;
        let standard_error = case.standard_deviation / (DRAWS as f64).sqrt();
        // 3.29 standard errors correspond to a significance of 0.1 %.
        assert!((average - mean).abs() < 3.29 * standard_error, "{name}: {average}, not {mean}");
    }
}

#[test]
fn bounds_are_the_ends_of_the_support() {
    for case in cases() {
        let bounds = (case.distribution.minimum(), case.distribution.maximum());
        // The minimum of a Pareto distribution follows from its mean: 6 * 2 / 3.
        assert_eq!(bounds, case.support, "{}", case.name);
    }
    let fixed = Distribution::Fixed(7.0);
    let mut random = stream(1, "fixed");
    let values = [fixed.sample(&mut random), fixed.mean(), fixed.minimum(), fixed.maximum()];
    assert_eq!(values.map(f64::to_bits), [7.0_f64.to_bits(); 4]);
}

/// The remainder of a period at a random instant has the density P(X > x) / mean.
#[test]
fn residual_times_follow_the_equilibrium_distribution() {
    for case in cases() {
        let mut random = stream(3, case.name);
        let draws = sorted(|| case.distribution.sample_residual(&mut random));
        // The integral of that density by the trapezoidal rule, in steps no wider than the gaps
        // between draws.
        let (mut integral, mut last) = (0.0, 0.0);
        let mut largest: f64 = 0.0;
        for (index, &draw) in draws.iter().enumerate() {
            let steps = 20;
            let width = (draw - last) / f64::from(steps);
            let left = |step: f64| 1.0 - (case.cdf)(last + step * width);
            integral += (0..steps)
                .map(|step| width * f64::midpoint(left(f64::from(step)), left(f64::from(step + 1))))
                .sum::<f64>();
            last = draw;
            let expected = integral / case.mean;
            let (before, after) = (index as f64 / DRAWS as f64, (index + 1) as f64 / DRAWS as f64);
            largest = largest.max((before - expected).abs()).max((after - expected).abs());
        }
        let distance = largest * (DRAWS as f64).sqrt();
        assert!(distance < CRITICAL, "{}: sqrt(n) D is {distance}", case.name);
    }
}

/// These values come from arithmetic and `libm` alone, so they are the same on every machine.
#[test]
fn draws_are_the_same_on_every_machine_and_in_every_version() {
    let drawn: Vec<f64> = cases()
        .iter()
        .map(|case| {
            let mut random = stream(4, "same everywhere");
            case.distribution.sample(&mut random)
        })
        .collect();
    assert_eq!(
        drawn,
        [
            2.853_052_373_412_575,
            1.857_461_734_507_516,
            14.217_539_556_876_252,
            40.0,
            0.946_650_372_588_133_8,
            4.669_644_006_929_027,
            1.391_802_556_454_800_9,
            1.179_746_818_794_100_7,
            0.215_635_255_947_479_34,
        ]
    );
}
