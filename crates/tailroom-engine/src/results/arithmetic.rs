//! Fractions and sums of what may be nothing.

/// `part` divided by `whole`; `None` if the whole is nothing.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The mean of the values; `None` if there are none.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    ratio(sum, count)
}

/// The sum; 0, and not the -0 of [`Iterator::sum`], if there are none.
pub(super) fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}
