//! Inverse regression: at which setting the mean of a noisy quantity crosses a bound.
//!
//! The logarithm of the mean is a parabola over the logarithm of the setting, fitted by
//! quasi-likelihood with a constant coefficient of variation (`McCullagh` and Nelder, "Generalized
//! Linear Models", 2nd ed., ch. 9), which fits the mean of the values, not of their logarithms, and
//! admits zeros. The crossing has Fieller's interval: all settings at which the confidence interval
//! of the fitted mean contains the bound (Fieller, "Some problems in interval estimation", J. Royal
//! Stat. Soc. B 16(2), 1954). A straight line would need fewer runs, but means bend, and a test for the
//! bend that chooses between the two costs more coverage than the bend. The bend is therefore a random
//! coefficient whose standard deviation is known before the runs (ridge regression: Robinson, "That BLUP
//! is a good thing", Statistical Science 6(1), 1991): near the crossing the fit is almost a line, over
//! a wide range the values decide, and the interval includes what remains unknown of the bend.
//!
//! What of a run is known before it begins, and has a mean that is known, is a control variate (Lavenberg
//! and Welch, "A perspective on the use of control variables to increase the efficiency of Monte Carlo
//! simulations", Management Science 27(3), 1981): the residuals are regressed on its deviation from that
//! mean, which is 0 on average at every setting and so leaves the fitted mean as it is.

pub mod broken_line;

use std::array::from_fn;

use serde::Serialize;

use super::distributions::{f_quantile, student_quantile};

/// Number of steps in which the range of the settings is searched for the crossing.
const STEPS: u32 = 400;
/// Maximum number of rounds of reweighting; a fit that needs more has no solution.
const ROUNDS: u32 = 40;
/// Change of the coefficients at which a fit has converged.
const CONVERGED: f64 = 1e-9;
/// Height, slope and bend of the parabola; whether it fits only more settings can tell.
const COEFFICIENTS: usize = 3;
/// Control variates of a fit at most: each costs a degree of freedom.
pub const VARIATES: usize = 2;
/// What a fit estimates: the coefficients of the curve, and one of each variate.
const TERMS: usize = COEFFICIENTS + VARIATES;
/// Largest change of a coefficient in a round, so that a bad start does not overflow.
const LARGEST_STEP: f64 = 2.0;
/// Standard deviation of the bend before the runs: with ten CUBIC flows at 1 Gbit/s, what is missing to
/// a full link bends by -1.7.
const BEND: f64 = 1.5;
/// Confidence with which the means at the settings depart from a fit that is refused.
const MISFIT_CONFIDENCE: f64 = 0.99;

type Vector = [f64; TERMS];
type Matrix = [Vector; TERMS];

/// The setting at which the mean crosses the bound, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Crossing {
    /// Setting at which the fitted mean equals the bound.
    pub estimate: f64,
    /// Smallest setting in the interval.
    pub low: f64,
    /// Largest setting in the interval.
    pub high: f64,
}

impl Crossing {
    /// Half of the width of the interval on the logarithmic scale: about a relative error.
    pub fn half_width(&self) -> f64 {
        libm::log(self.high / self.low) / 2.0
    }
}

/// The settings at which the confidence interval of the fitted mean contains the bound: those around
/// the fitted crossing, and whether there are others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// Setting at which the fitted mean equals the bound.
    pub estimate: f64,
    /// Smallest setting around the estimate; `None` if the range of the settings ends before.
    pub low: Option<f64>,
    /// Largest setting around the estimate; `None` if the range of the settings ends before.
    pub high: Option<f64>,
    /// Largest setting of those that are apart from the estimate and below it.
    pub below: Option<f64>,
    /// Smallest setting of those that are apart from the estimate and above it.
    pub above: Option<f64>,
}

impl Region {
    /// The settings in this region or another one, with the other's estimate.
    #[must_use]
    pub fn joined(&self, other: &Region) -> Region {
        let pair = |one: Option<f64>, another: Option<f64>| one.zip(another);
        Region {
            estimate: other.estimate,
            low: pair(self.low, other.low).map(|(one, another)| one.min(another)),
            high: pair(self.high, other.high).map(|(one, another)| one.max(another)),
            ..*self
        }
    }
}

/// A fitted mean with an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FittedMean {
    /// The fitted mean.
    pub mean: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

impl FittedMean {
    /// The mean with the logarithm of its height, its standard error, and the quantile of each end.
    fn of_logarithm(height: f64, error: f64, for_low: f64, for_high: f64) -> Self {
        FittedMean {
            mean: libm::exp(height),
            low: libm::exp(height - for_low * error),
            high: libm::exp(height + for_high * error),
        }
    }

    /// The interval that holds this one and another, with the other's mean; see [`Region::joined`].
    #[must_use]
    pub fn joined(&self, other: &FittedMean) -> FittedMean {
        FittedMean {
            mean: other.mean,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// The values at one setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The setting, above 0.
    pub at: f64,
    /// The values.
    pub values: &'a [f64],
    /// Per control variate, of which all settings have the same, at most [`VARIATES`]: its deviation
    /// from its mean in each value.
    pub variates: &'a [Vec<f64>],
}

impl Setting<'_> {
    /// The deviations that belong to a value; 0 where there is no variate.
    fn deviations(&self, value: usize) -> [f64; VARIATES] {
        from_fn(|at| self.variates.get(at).map_or(0.0, |all| all[value]))
    }
}

/// The fitted logarithm of the mean over the logarithm of the setting.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Logarithm of the setting at which the parabola has its height and slope.
    centre: f64,
    coefficients: Vector,
    covariance: Matrix,
    degrees_of_freedom: f64,
}

/// A value: the powers 0, 1, 2 of its place from the centre, or what another fit has for them, then the
/// deviations of its variates; and the number of its setting.
struct Value {
    terms: Vector,
    setting: usize,
    measured: f64,
}

/// Fits the mean of a quantity over distinct settings, each with at least one value.
///
/// `None` if there are fewer than four settings or too few values, if the values do not scatter, or if
/// the means depart from such a parabola.
pub fn fit_mean(settings: &[Setting<'_>]) -> Option<Fit> {
    let (count, estimated) = (count(settings), estimated(settings));
    let mean = overall_mean(settings);
    if settings.len() <= COEFFICIENTS || count < settings.len() + estimated || mean <= 0.0 {
        return None;
    }
    let logs: f64 = settings.iter().map(|one| libm::log(one.at) * one.values.len() as f64).sum();
    let centre = logs / count as f64;
    let values = values_of(settings, |at| powers(at - centre));
    let degrees_of_freedom = (count - estimated) as f64;
    let start = level(mean);
    let free = solved(&values, start, 0.0)?;
    let penalty = variance(&residuals(&values, &free), degrees_of_freedom) / (BEND * BEND);
    let coefficients = solved(&values, free, penalty)?;
    let residuals = residuals(&values, &coefficients);
    if departs(settings, &values, &residuals, penalty * coefficients[2].powi(2)) {
        return None;
    }
    let covariance = covariance(&values, &residuals, penalty, degrees_of_freedom)?;
    let fit = Fit { centre, coefficients, covariance, degrees_of_freedom };
    (trace(&covariance) > 0.0).then_some(fit)
}

impl Fit {
    /// Where the mean crosses a bound between two settings, with a confidence in (0, 1); `None` if
    /// the fitted mean does not cross it once.
    pub fn region(&self, bound: f64, low: f64, high: f64, confidence: f64) -> Option<Region> {
        let (start, span) = (libm::log(low), libm::log(high) - libm::log(low));
        let places: Vec<f64> =
            (0..=STEPS).map(|step| start + span * f64::from(step) / f64::from(STEPS)).collect();
        let quantile = student_quantile(self.degrees_of_freedom, 0.5 + confidence / 2.0);
        let (heights, errors): (Vec<f64>, Vec<f64>) = places
            .iter()
            .map(|&place| {
                let (height, error) = self.height(place);
                (height - libm::log(bound), quantile * error)
            })
            .unzip();
        region_of(&places, &heights, &errors)
    }

    /// The fitted mean at a setting. Each end of its interval has a confidence of its own, that of a
    /// two-sided interval with such ends, in (0, 1).
    pub fn mean_at(&self, setting: f64, for_low: f64, for_high: f64) -> FittedMean {
        let (height, error) = self.height(libm::log(setting));
        let quantile =
            |confidence: f64| student_quantile(self.degrees_of_freedom, 0.5 + confidence / 2.0);
        FittedMean::of_logarithm(height, error, quantile(for_low), quantile(for_high))
    }

    /// The fitted logarithm of the mean with its standard error, at the logarithm of a setting.
    fn height(&self, place: f64) -> (f64, f64) {
        let terms = with_variates(powers(place - self.centre), [0.0; VARIATES]);
        let error = dot(&terms, &times(&self.covariance, &terms)).sqrt();
        (dot(&terms, &self.coefficients), error)
    }
}

/// The region of a curve by its heights above the bound and their errors, at the logarithms of settings.
fn region_of(places: &[f64], heights: &[f64], errors: &[f64]) -> Option<Region> {
    let estimate = only_root(places, heights)?;
    let mut ends: Vec<f64> = [-1.0, 1.0]
        .iter()
        .flat_map(|side| {
            let edge = heights.iter().zip(errors).map(|(height, error)| height + side * error);
            roots(places, &edge.collect::<Vec<f64>>())
        })
        .collect();
    ends.sort_by(f64::total_cmp);
    let below = ends.iter().rposition(|&end| end < estimate);
    let above = ends.iter().position(|&end| end >= estimate);
    let end = |at: Option<usize>| at.and_then(|at| ends.get(at)).copied().map(libm::exp);
    Some(Region {
        estimate: libm::exp(estimate),
        low: end(below),
        high: end(above),
        below: end(below.and_then(|at| at.checked_sub(1))),
        above: end(above.map(|at| at + 1)),
    })
}

/// Number of values.
fn count(settings: &[Setting<'_>]) -> usize {
    settings.iter().map(|one| one.values.len()).sum()
}

/// Number of coefficients that the values decide.
fn estimated(settings: &[Setting<'_>]) -> usize {
    COEFFICIENTS + settings.first().map_or(0, |one| one.variates.len().min(VARIATES))
}

fn overall_mean(settings: &[Setting<'_>]) -> f64 {
    settings.iter().flat_map(|one| one.values).sum::<f64>() / count(settings) as f64
}

/// The values with what a fit multiplies by its coefficients, by the logarithm of the setting.
fn values_of(settings: &[Setting<'_>], curve: impl Fn(f64) -> [f64; COEFFICIENTS]) -> Vec<Value> {
    let numbered = settings.iter().enumerate();
    numbered
        .flat_map(|(setting, one)| {
            let curve = curve(libm::log(one.at));
            one.values.iter().enumerate().map(move |(value, &measured)| {
                let terms = with_variates(curve, one.deviations(value));
                Value { terms, setting, measured }
            })
        })
        .collect()
}

fn powers(x: f64) -> [f64; COEFFICIENTS] {
    [1.0, x, x * x]
}

fn with_variates([one, two, three]: [f64; COEFFICIENTS], [a, b]: [f64; VARIATES]) -> Vector {
    [one, two, three, a, b]
}

/// The coefficients of a level curve.
fn level(mean: f64) -> Vector {
    with_variates([libm::log(mean), 0.0, 0.0], [0.0; VARIATES])
}

/// The coefficients at which the relative residuals are orthogonal to the terms, but for the penalty
/// on the bend.
fn solved(values: &[Value], start: Vector, penalty: f64) -> Option<Vector> {
    let inverse = inverse(&information(values, penalty))?;
    let mut coefficients = start;
    for _ in 0..ROUNDS {
        let residuals = residuals(values, &coefficients);
        let mut score: Vector = from_fn(|at| {
            values.iter().zip(&residuals).map(|(one, residual)| one.terms[at] * residual).sum()
        });
        score[2] -= penalty * coefficients[2];
        let step = times(&inverse, &score);
        for (coefficient, change) in coefficients.iter_mut().zip(step) {
            *coefficient += change.clamp(-LARGEST_STEP, LARGEST_STEP);
        }
        if step.iter().all(|change| change.abs() < CONVERGED) {
            return Some(coefficients);
        }
    }
    None
}

/// What the values and the penalty on the bend say about the coefficients, in units of the variance. The
/// coefficient of a variate that never deviates is left at 0.
fn information(values: &[Value], penalty: f64) -> Matrix {
    let mut sum = products(values.iter().map(|one| (one.terms, 1.0)));
    sum[2][2] += penalty;
    for (at, row) in sum.iter_mut().enumerate().skip(COEFFICIENTS) {
        if row[at] == 0.0 {
            row[at] = 1.0;
        }
    }
    sum
}

fn variance(residuals: &[f64], freedom: f64) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum::<f64>() / freedom
}

/// The differences from the fitted means, relative to these, less what the variates explain of them.
fn residuals(values: &[Value], coefficients: &Vector) -> Vec<f64> {
    let relative = |one: &Value| {
        let mut curve = one.terms;
        curve[COEFFICIENTS..].fill(0.0);
        let height = dot(&curve, coefficients).clamp(-700.0, 700.0);
        let explained: f64 = (COEFFICIENTS..TERMS).map(|at| one.terms[at] * coefficients[at]).sum();
        one.measured / libm::exp(height) - 1.0 - explained
    };
    values.iter().map(relative).collect()
}

/// Whether the means at the settings depart from the fit, or the bend from its prior, by more than
/// chance (F test).
fn departs(settings: &[Setting<'_>], values: &[Value], residuals: &[f64], bent: f64) -> bool {
    let mut sums = vec![(0.0, 0.0); settings.len()];
    for (one, residual) in values.iter().zip(residuals) {
        let (count, sum) = &mut sums[one.setting];
        *count += 1.0;
        *sum += residual;
    }
    let over = (settings.len() + 1 - COEFFICIENTS) as f64;
    let within = (values.len() + COEFFICIENTS - settings.len() - estimated(settings)) as f64;
    let lacking: f64 = sums.iter().map(|(count, sum)| sum * sum / count).sum();
    let pure: f64 = values
        .iter()
        .zip(residuals)
        .map(|(one, residual)| (residual - sums[one.setting].1 / sums[one.setting].0).powi(2))
        .sum();
    (lacking + bent) / over > pure / within * f_quantile(over, within, MISFIT_CONFIDENCE)
}

/// The covariance of the coefficients: the larger of two estimates, as the spread may differ between
/// settings (HC3: `MacKinnon` and White 1985).
fn covariance(values: &[Value], residuals: &[f64], penalty: f64, freedom: f64) -> Option<Matrix> {
    let inverse = inverse(&information(values, penalty))?;
    let variance = variance(residuals, freedom);
    let constant: Matrix = inverse.map(|row| row.map(|entry| entry * variance));
    let mut middle = products(values.iter().zip(residuals).map(|(one, residual)| {
        let leverage = dot(&one.terms, &times(&inverse, &one.terms));
        (one.terms, (residual / (1.0 - leverage).max(1e-3)).powi(2))
    }));
    middle[2][2] += penalty * variance;
    let varying: Matrix = inverse.map(|row| times(&inverse, &times(&middle, &row)));
    Some(if trace(&varying) > trace(&constant) { varying } else { constant })
}

/// Where a function changes its sign, if it does so once.
fn only_root(places: &[f64], heights: &[f64]) -> Option<f64> {
    if let [root] = roots(places, heights)[..] { Some(root) } else { None }
}

/// Where a function changes its sign; linear between places.
fn roots(places: &[f64], heights: &[f64]) -> Vec<f64> {
    (1..places.len())
        .filter(|&at| (heights[at] > 0.0) != (heights[at - 1] > 0.0))
        .map(|at| {
            let part = heights[at - 1] / (heights[at - 1] - heights[at]);
            places[at - 1] + part * (places[at] - places[at - 1])
        })
        .collect()
}

fn dot(one: &Vector, other: &Vector) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn times(matrix: &Matrix, vector: &Vector) -> Vector {
    matrix.map(|row| dot(&row, vector))
}

/// The sum of the variances of the curve's coefficients.
fn trace(matrix: &Matrix) -> f64 {
    (0..COEFFICIENTS).map(|at| matrix[at][at]).sum()
}

/// The sum of weighted products of vectors with themselves.
fn products(vectors: impl Iterator<Item = (Vector, f64)>) -> Matrix {
    let mut sum = Matrix::default();
    for (vector, weight) in vectors {
        for (row, one) in sum.iter_mut().zip(vector) {
            for (entry, other) in row.iter_mut().zip(vector) {
                *entry += weight * one * other;
            }
        }
    }
    sum
}

/// The inverse of a positive definite matrix, by elimination; `None` of a singular one.
fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let mut left = *matrix;
    let mut right: Matrix = from_fn(|row| from_fn(|column| f64::from(u8::from(row == column))));
    for pivot in 0..TERMS {
        let by = left[pivot][pivot];
        if by.is_nan() || by <= 0.0 {
            return None;
        }
        left[pivot] = left[pivot].map(|entry| entry / by);
        right[pivot] = right[pivot].map(|entry| entry / by);
        for row in (0..COEFFICIENTS).filter(|&row| row != pivot) {
            let factor = left[row][pivot];
            left[row] = from_fn(|at| left[row][at] - factor * left[pivot][at]);
            right[row] = from_fn(|at| right[row][at] - factor * right[pivot][at]);
        }
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::{BEND, Crossing, Fit, Region, Setting, fit_mean};

    pub(super) const ROOT: f64 = 276.0;
    pub(super) const BOUND: f64 = 0.02;
    pub(super) const PLACES: [f64; 5] = [190.0, 230.0, 276.0, 330.0, 400.0];
    const RUNS: usize = 8;

    /// `SplitMix64` (Steele, Lea, Flood 2014), as uniform numbers in (0, 1).
    pub(super) struct Uniform(pub(super) u64);

    impl Uniform {
        fn draw(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        }

        /// Mean 1, and a standard deviation of 1 / sqrt(shape): the sum of exponential numbers.
        pub(super) fn gamma(&mut self, shape: u32) -> f64 {
            let sum: f64 = (0..shape).map(|_| -self.draw().ln()).sum();
            sum / f64::from(shape)
        }
    }

    fn mean(setting: f64, bend: f64) -> f64 {
        let x = (setting / ROOT).ln();
        BOUND * (-1.5 * x + bend * x * x).exp()
    }

    pub(super) fn values(of: impl FnMut(f64) -> f64) -> Vec<Vec<f64>> {
        let mut of = of;
        PLACES.iter().map(|&at| (0..RUNS).map(|_| of(at)).collect()).collect()
    }

    pub(super) fn settings(values: &[Vec<f64>]) -> Vec<Setting<'_>> {
        let pairs = PLACES.iter().zip(values);
        pairs.map(|(&at, values)| Setting { at, values, variates: &[] }).collect()
    }

    fn fitted(values: &[Vec<f64>]) -> Option<Fit> {
        fit_mean(&settings(values))
    }

    fn crossing(values: &[Vec<f64>]) -> Option<Crossing> {
        let region = fitted(values)?.region(BOUND, 190.0, 400.0, 0.95)?;
        let is_single = region.below.is_none() && region.above.is_none();
        let Region { estimate, low, high, .. } = region;
        is_single.then_some(Crossing { estimate, low: low?, high: high? })
    }

    #[test]
    fn a_parabola_without_much_noise_is_found() {
        let mut sign = 1.0;
        let found = crossing(&values(|at| {
            sign = -sign;
            mean(at, -0.8) * (1.0 + 1e-6 * sign)
        }))
        .expect("a crossing");
        assert!((found.estimate / ROOT - 1.0).abs() < 1e-5);
        assert!(found.low < ROOT * (1.0 + 1e-5) && found.high > ROOT * (1.0 - 1e-5));
        assert!(found.half_width() < 1e-5);
    }

    /// In 95 of 100 samples but for three standard errors of 400 samples; an interval that always
    /// holds the root would be too wide.
    #[test]
    fn the_interval_holds_the_root_as_often_as_it_says() {
        for bend in [-0.8, 0.0, 0.8] {
            let mut random = Uniform(1);
            let samples = (0..400).map(|_| values(|at| mean(at, bend) * random.gamma(25)));
            let found: Vec<Crossing> = samples.filter_map(|one| crossing(&one)).collect();
            assert!(found.len() > 380, "{}", found.len());
            let held = found.iter().filter(|one| one.low <= ROOT && ROOT <= one.high).count();
            let share = held as f64 / found.len() as f64;
            assert!((0.917..=0.985).contains(&share), "bend {bend}: {share}");
        }
    }

    /// Four fifths of the variance come from two variates, so that the interval is sqrt(1 / 5) = 0.45 as
    /// wide with them, and holds the root as often.
    #[test]
    fn variates_narrow_the_interval_which_holds_the_root_as_often_as_it_says() {
        let mut random = Uniform(8);
        let (mut held, mut count, mut widths) = (0_u32, 0_u32, [0.0; 2]);
        for _ in 0..400 {
            let mut drawn = Vec::new();
            let values = values(|at| {
                let pair = [random.draw() - 0.5, random.gamma(12) - 1.0];
                drawn.push(pair);
                let known = (0.8 / 25.0 * 6.0_f64).sqrt() * (pair[0] + pair[1]);
                mean(at, 0.3) * (random.gamma(125) + known)
            });
            let variates: Vec<Vec<Vec<f64>>> = drawn
                .chunks(RUNS)
                .map(|runs| (0..2).map(|at| runs.iter().map(|pair| pair[at]).collect()).collect())
                .collect();
            let with = settings(&values);
            let with: Vec<Setting<'_>> = with
                .iter()
                .zip(&variates)
                .map(|(one, variates)| Setting { variates, ..*one })
                .collect();
            let region = fit_mean(&with).and_then(|fit| fit.region(BOUND, 190.0, 400.0, 0.95));
            let ends = region.and_then(|region| region.low.zip(region.high));
            let (Some((low, high)), Some(without)) = (ends, crossing(&values)) else { continue };
            count += 1;
            held += u32::from((low..=high).contains(&ROOT));
            widths[0] += (high / low).ln() / 2.0;
            widths[1] += without.half_width();
        }
        assert!(count > 360, "{count}");
        let (share, narrower) = (f64::from(held) / f64::from(count), widths[0] / widths[1]);
        assert!((0.917..=0.985).contains(&share), "{share}");
        assert!((0.38..0.55).contains(&narrower), "{narrower}");
    }

    /// The definition of the fit: the sum of relative residuals over a power is zero, and over the square
    /// that which a normal prior of the bend asks for.
    #[test]
    fn the_relative_residuals_are_orthogonal_to_the_powers() {
        let mut random = Uniform(2);
        let values = values(|at| mean(at, 0.3) * random.gamma(25));
        let fit = fitted(&values).expect("a fit");
        let [height, slope, bend, ..] = fit.coefficients;
        let mut sums = [0.0; 3];
        for (at, values) in PLACES.iter().zip(&values) {
            let x = at.ln() - fit.centre;
            let mean = (height + slope * x + bend * x * x).exp();
            let residual: f64 = values.iter().map(|value| value / mean - 1.0).sum();
            for (sum, power) in sums.iter_mut().zip([1.0, x, x * x]) {
                *sum += residual * power;
            }
        }
        assert!(sums[..2].iter().all(|sum| sum.abs() < 1e-7), "{sums:?}");
        // The values scatter by a fifth. Three standard errors of a variance by 40 values are 0.74 of it.
        let variance = sums[2] / bend * BEND * BEND;
        assert!((0.0104..0.0696).contains(&variance), "{variance}");
    }

    /// A tenth of the runs loses nothing; the mean of all is on the line.
    #[test]
    fn zeros_are_values_like_others() {
        let (mut random, mut run) = (Uniform(3), 0);
        let found = crossing(&values(|at| {
            run += 1;
            if run % 10 == 5 { 0.0 } else { mean(at, 0.0) * random.gamma(400) / 0.9 }
        }))
        .expect("a crossing");
        assert!(found.low < ROOT && ROOT < found.high);
    }

    #[test]
    fn a_step_is_no_parabola() {
        let mut random = Uniform(4);
        let step = |at: f64| if at < ROOT { 0.05 } else { 0.01 };
        assert!(fitted(&values(|at| step(at) * random.gamma(100))).is_none());
    }

    #[test]
    fn what_cannot_be_fitted() {
        let same = |count: usize, value: f64| vec![value; count];
        let scattered = [0.04, 0.041, 0.03, 0.031];
        let few = vec![scattered.to_vec(); 3];
        assert!(fit_mean(&settings(&few)).is_none(), "three settings");
        let single = vec![same(1, 0.04); PLACES.len()];
        assert!(fit_mean(&settings(&single)).is_none(), "no repetition");
        assert!(fitted(&vec![same(RUNS, 0.0); PLACES.len()]).is_none(), "no mean");
        assert!(fitted(&vec![same(RUNS, BOUND); PLACES.len()]).is_none(), "no scatter");
    }

    #[test]
    fn the_region_of_a_crossing_near_the_end_of_the_range_is_open() {
        let mut random = Uniform(5);
        let fit = fitted(&values(|at| mean(at, 0.0) * random.gamma(25))).expect("a fit");
        let near_end = fit.region(mean(398.0, 0.0), 190.0, 400.0, 0.95);
        assert!(near_end.is_none_or(|region| region.high.is_none()), "{near_end:?}");
        assert_eq!(fit.region(mean(150.0, 0.0), 190.0, 400.0, 0.95), None);
    }

    /// A curve that bends back to its bound at the smallest setting.
    #[test]
    fn what_is_apart_from_the_crossing_is_named() {
        let (top, height) = (230.0_f64.ln(), 1.1 * BOUND);
        let bent = |at: f64| height * (-2.0 * (at.ln() - top).powi(2)).exp();
        let mut sign = 1.0;
        let values = values(|at| {
            sign = -sign;
            bent(at) * (1.0 + 0.1 * sign)
        });
        let fit = fitted(&values).expect("a fit");
        let region = fit.region(BOUND, 190.0, 400.0, 0.95).expect("one crossing");
        let (below, low) = (region.below.expect("apart"), region.low.expect("an end"));
        assert!(190.0 < below && below < low && low < region.estimate, "{region:?}");
        assert_eq!(region.above, None);
    }
}
