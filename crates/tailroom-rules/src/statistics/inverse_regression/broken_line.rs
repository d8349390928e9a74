//! A kink at the crossing, which a parabola hides.
//!
//! If the slope changes where the mean crosses its bound, the parabola runs below or above the crossing,
//! with an interval that is too narrow. The alternative is a broken line with free slopes on both
//! sides: a setting is in the interval if the line that breaks there does not differ from the
//! bound there (a test inverted to an interval, as Fieller's). Few runs cannot tell a kink from a bend:
//! where the slopes seem to change, both fits count.

use super::{
    FittedMean, Matrix, Region, Setting, Value, Vector, count, covariance, estimated, level,
    overall_mean, region_of, residuals, solved, values_of,
};
use crate::statistics::distributions::student_quantile;

/// Number of steps in which the range of the settings is searched for the break.
const STEPS: u32 = 100;
/// Change of the slope to a smaller one, in standard errors, from which a kink is likely. The
/// parabola's crossing is then too low, and a buffer too small. On made-up curves whose slope changes by
/// a factor of 6, 4.3 % of the answers are too small with 1.0, and 2.8 % with 0.7, for which straight
/// curves take an eighth more runs than without the test.
const LEAST_FALL: f64 = 0.7;
/// The same to a larger slope, where the crossing is too high, which costs less.
const LEAST_RISE: f64 = 1.5;

/// Whether the slope of the logarithm of the mean seems to change at a setting.
pub fn is_likely(settings: &[Setting<'_>], at: f64) -> bool {
    change_of_slope(settings, at).is_some_and(|change| !(-LEAST_FALL..LEAST_RISE).contains(&change))
}

/// The slope above a setting less that below it, in standard errors; `None` without values on both
/// sides.
fn change_of_slope(settings: &[Setting<'_>], at: f64) -> Option<f64> {
    let line = BrokenLine::fit(settings, libm::log(at), start(settings))?;
    let [_, below, above, ..] = line.coefficients;
    let variance = line.covariance[1][1] + line.covariance[2][2] - 2.0 * line.covariance[1][2];
    Some((above - below) / variance.sqrt())
}

/// Where the mean crosses a bound between two settings if its slope changes there, with a confidence
/// in (0, 1); `None` if the heights of the broken lines do not cross it once.
pub fn region(
    settings: &[Setting<'_>],
    bound: f64,
    low: f64,
    high: f64,
    confidence: f64,
) -> Option<Region> {
    let quantile = quantile(settings, confidence)?;
    let scan = |low: f64, high: f64| -> Option<Region> {
        let (from, span) = (libm::log(low), libm::log(high) - libm::log(low));
        let (mut places, mut heights, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        let mut start = start(settings);
        for step in 1..STEPS {
            let place = from + span * f64::from(step) / f64::from(STEPS);
            let Some(line) = BrokenLine::fit(settings, place, start) else { continue };
            start = line.coefficients;
            places.push(place);
            heights.push(line.coefficients[0] - libm::log(bound));
            errors.push(quantile * line.covariance[0][0].sqrt());
        }
        region_of(&places, &heights, &errors)
    };
    let region = Region { below: None, above: None, ..scan(low, high)? };
    // A narrow interval is found in small steps.
    let step = libm::pow(high / low, 1.0 / f64::from(STEPS));
    let finer = region
        .low
        .zip(region.high)
        .and_then(|(first, last)| scan((first / step).max(low), (last * step).min(high)));
    Some(finer.filter(|one| one.low.is_some() && one.high.is_some()).unwrap_or(region))
}

/// The mean at a setting by the line that breaks there, with an end for each of two confidences, as
/// [`Fit::mean_at`](super::Fit::mean_at) has them; `None` without values on both sides.
pub fn mean_at(
    settings: &[Setting<'_>],
    setting: f64,
    for_low: f64,
    for_high: f64,
) -> Option<FittedMean> {
    let line = BrokenLine::fit(settings, libm::log(setting), start(settings))?;
    let error = line.covariance[0][0].sqrt();
    let (low, high) = (quantile(settings, for_low)?, quantile(settings, for_high)?);
    Some(FittedMean::of_logarithm(line.coefficients[0], error, low, high))
}

/// Student's quantile of a confidence; `None` with too few values for a line.
fn quantile(settings: &[Setting<'_>], confidence: f64) -> Option<f64> {
    Some(student_quantile(freedom(settings)?, 0.5 + confidence / 2.0))
}

/// Degrees of freedom of a line; `None` with too few values.
fn freedom(settings: &[Setting<'_>]) -> Option<f64> {
    Some(count(settings).checked_sub(estimated(settings))? as f64)
}

/// Its height at the break, and the slopes below and above.
struct BrokenLine {
    coefficients: Vector,
    covariance: Matrix,
}

impl BrokenLine {
    /// A line that breaks at the logarithm of a setting, fitted from a first guess.
    fn fit(settings: &[Setting<'_>], place: f64, start: Vector) -> Option<Self> {
        let values: Vec<Value> = values_of(settings, |at| {
            let x = at - place;
            [1.0, x.min(0.0), x.max(0.0)]
        });
        let coefficients = solved(&values, start, 0.0)?;
        let residuals = residuals(&values, &coefficients);
        let covariance = covariance(&values, &residuals, 0.0, freedom(settings)?)?;
        Some(BrokenLine { coefficients, covariance })
    }
}

/// A level line at the mean of all values.
fn start(settings: &[Setting<'_>]) -> Vector {
    level(overall_mean(settings))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{BOUND, ROOT, Uniform, settings, values};
    use super::{Region, change_of_slope, is_likely, region};

    fn kinked(at: f64, below: f64, above: f64) -> f64 {
        let x = (at / ROOT).ln();
        BOUND * (if x < 0.0 { below * x } else { above * x }).exp()
    }

    fn found(values: &[Vec<f64>]) -> Option<Region> {
        region(&settings(values), BOUND, 190.0, 400.0, 0.95)
    }

    #[test]
    fn a_broken_line_without_much_noise_is_found() {
        let mut sign = 1.0;
        let values = values(|at| {
            sign = -sign;
            kinked(at, -0.5, -3.0) * (1.0 + 5e-3 * sign)
        });
        let region = found(&values).expect("a region");
        assert!((region.estimate / ROOT - 1.0).abs() < 1e-3, "{region:?}");
        let (low, high) = (region.low.expect("an end"), region.high.expect("an end"));
        assert!(low < ROOT && ROOT < high && high / low < 1.03, "{region:?}");
        assert!(is_likely(&settings(&values), ROOT));
    }

    /// In 95 of 100 samples but for three standard errors of 400 samples, as the parabola's interval of
    /// a parabola. The slope falls, rises, or stays the same.
    #[test]
    fn the_interval_holds_the_kink_as_often_as_it_says() {
        for (below, above) in [(-0.5, -3.0), (-3.0, -0.5), (-1.5, -1.5)] {
            let mut random = Uniform(6);
            let samples =
                (0..400).map(|_| values(|at| kinked(at, below, above) * random.gamma(25)));
            let held = samples.filter_map(|one| found(&one)).map(|one| {
                one.low.is_none_or(|low| low <= ROOT) && one.high.is_none_or(|high| ROOT <= high)
            });
            let held: Vec<bool> = held.collect();
            assert!(held.len() > 380, "{}", held.len());
            let share = held.iter().filter(|&&one| one).count() as f64 / held.len() as f64;
            assert!((0.917..=0.985).contains(&share), "{below} {above}: {share}");
        }
    }

    /// The change of a slope that stays the same is about normal: 5 % of 400 samples are beyond 1.96
    /// standard errors, but for three standard errors; Student's t with 37 degrees of freedom has 5.7 %
    /// there.
    #[test]
    fn a_straight_line_seldom_seems_to_have_a_kink() {
        let mut random = Uniform(7);
        let samples = (0..400).map(|_| values(|at| kinked(at, -1.5, -1.5) * random.gamma(25)));
        let beyond = samples
            .filter(|one| {
                change_of_slope(&settings(one), ROOT).is_none_or(|change| change.abs() > 1.96)
            })
            .count();
        assert!((7..=37).contains(&beyond), "{beyond}");
    }
}
