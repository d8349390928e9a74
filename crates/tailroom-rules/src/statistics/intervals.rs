//! Confidence intervals of means over independent runs.

use std::f64::consts::FRAC_PI_2;

use super::distributions::student_quantile;

/// A mean of values that are not negative, and its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Mean of the values, in their unit.
    pub mean: f64,
    /// Lower end, at least 0.
    pub low: f64,
    /// Upper end, at most the largest possible value.
    pub high: f64,
}

/// The mean of independent values, none of them negative, with its interval by Student's t
/// distribution; `None` without values. A single value has the interval of all possible means.
///
/// The half-width is t s / sqrt(n). The interval of a quantity with a largest possible value is the
/// symmetric one on the arcsine scale, on which the spread of a fraction hardly depends on its mean:
/// asin(sqrt(x)) of the mean plus and minus its half-width by the delta method (Bartlett, "The use of
/// transformations", Biometrics 3(1), 1947, table 1).
pub fn mean_interval(values: &[f64], confidence: f64, highest: Option<f64>) -> Option<Interval> {
    let first = *values.first()?;
    let count = values.len() as f64;
    // With differences from the first value, equal values have width 0 despite rounding.
    let shift = values.iter().map(|value| value - first).sum::<f64>() / count;
    let mean = first + shift;
    if values.len() == 1 {
        return Some(Interval { mean, low: 0.0, high: highest.unwrap_or(f64::INFINITY) });
    }
    let squares: f64 = values.iter().map(|value| (value - first - shift).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let half_width = student_quantile(count - 1.0, 0.5 + confidence / 2.0) * error;
    Some(match highest {
        Some(highest) if 0.0 < mean && mean < highest => {
            on_arcsine_scale(mean, half_width, highest)
        }
        _ => {
            let high = (mean + half_width).min(highest.unwrap_or(f64::INFINITY));
            Interval { mean, low: (mean - half_width).max(0.0), high }
        }
    })
}

fn on_arcsine_scale(mean: f64, half_width: f64, highest: f64) -> Interval {
    let angle = libm::asin((mean / highest).sqrt());
    // d asin(sqrt(x)) = dx / (2 sqrt(x (1 - x))).
    let around = half_width / highest / libm::sin(2.0 * angle);
    let at = |angle: f64| highest * libm::sin(angle).powi(2);
    // Rounding may put an end of a very narrow interval on the wrong side.
    Interval {
        mean,
        low: at((angle - around).max(0.0)).min(mean),
        high: at((angle + around).min(FRAC_PI_2)).max(mean),
    }
}

#[cfg(test)]
mod tests {
    use super::mean_interval;

    #[test]
    fn an_interval_is_students() {
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0], 0.95, None).expect("values");
        // The quantile of three degrees of freedom is 3.182446.
        let half_width = 3.182_446_305_284 * (5.0_f64 / 3.0 / 4.0).sqrt();
        assert!((interval.mean - 2.5).abs() < 1e-12);
        assert!((interval.low - (2.5 - half_width)).abs() < 1e-9);
        assert!((interval.high - (2.5 + half_width)).abs() < 1e-9);
    }

    #[test]
    fn an_interval_does_not_leave_the_range() {
        for values in [[0.97, 1.0, 0.999], [0.0, 0.03, 0.001]] {
            let interval = mean_interval(&values, 0.95, Some(1.0)).expect("values");
            assert!(0.0 <= interval.low && interval.low < interval.mean);
            assert!(interval.mean < interval.high && interval.high <= 1.0);
        }
        let few = mean_interval(&[0.1, 5.0], 0.95, None).expect("values");
        assert!(few.low.abs() < f64::EPSILON);
    }

    #[test]
    fn equal_values_have_no_width_and_a_single_value_any() {
        let equal = mean_interval(&[0.1, 0.1, 0.1], 0.95, Some(1.0)).expect("values");
        assert!((equal.high - equal.low).abs() < 1e-15);
        let single = mean_interval(&[7.0], 0.95, None).expect("a value");
        assert!(single.low.abs() < f64::EPSILON && single.high.is_infinite());
        assert!(mean_interval(&[], 0.95, None).is_none());
    }
}
