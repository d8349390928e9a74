//! The distribution and the integral of a count over time.

use crate::probe::histogram::Histogram;
use crate::units::Time;

/// The time for which a count had each value.
#[derive(Clone, Debug, Default)]
pub struct OverTime<const PRECISION: u32> {
    histogram: Histogram<PRECISION>,
    /// Integral over the wide bins; the histogram gives the integral over the exact bins.
    wide_integral: u128,
}

impl<const PRECISION: u32> OverTime<PRECISION> {
    /// Records that the count was `value` for `span`.
    #[inline]
    pub fn add(&mut self, value: u64, span: Time) {
        let span = span.picoseconds();
        let bin = Histogram::<PRECISION>::bin(value);
        self.histogram.add_to_bin(bin, span);
        if !Histogram::<PRECISION>::is_exact(bin) {
            self.wide_integral += u128::from(value) * u128::from(span);
        }
    }

    /// Returns the histogram of the values, weighted by time in picoseconds.
    pub fn histogram(&self) -> &Histogram<PRECISION> {
        &self.histogram
    }

    /// Returns the exact integral of the count over time, in picoseconds.
    pub fn integral(&self) -> u128 {
        self.histogram.exact_sum() + self.wide_integral
    }

    /// Discards all values.
    pub fn clear(&mut self) {
        self.histogram.clear();
        self.wide_integral = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_exact_for_bins_of_any_width() {
        let mut counts = OverTime::<4>::default();
        let mut expected = 0;
        for value in (0..200).chain([1_000_003, u64::MAX / 7]) {
            let span = Time::from_picoseconds(value % 13 + 1);
            counts.add(value, span);
            expected += u128::from(value) * u128::from(span.picoseconds());
        }
        assert_eq!(counts.integral(), expected);
        counts.clear();
        assert_eq!((counts.integral(), counts.histogram().total()), (0, 0));
    }
}
