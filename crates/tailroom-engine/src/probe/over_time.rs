//! A count over time: its distribution and its integral.

use crate::probe::histogram::Histogram;
use crate::units::Time;

/// How long a count had which value.
#[derive(Clone, Debug, Default)]
pub struct OverTime<const PRECISION: u32> {
    histogram: Histogram<PRECISION>,
    /// The integral where the bins are wide; elsewhere they tell it exactly, at no cost a change.
    wide_integral: u128,
}

impl<const PRECISION: u32> OverTime<PRECISION> {
    /// The count was `value` for `span`; returns the bin of the value.
    #[inline]
    pub fn add(&mut self, value: u64, span: Time) -> usize {
        let span = span.picoseconds();
        let bin = Histogram::<PRECISION>::bin(value);
        self.histogram.add_to_bin(bin, span);
        if !Histogram::<PRECISION>::is_exact(bin) {
            self.wide_integral += u128::from(value) * u128::from(span);
        }
        bin
    }

    /// The values, weighted by picoseconds.
    pub fn histogram(&self) -> &Histogram<PRECISION> {
        &self.histogram
    }

    /// The integral of the count over time, in picoseconds; exact.
    pub fn integral(&self) -> u128 {
        self.histogram.exact_sum() + self.wide_integral
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.histogram.clear();
        self.wide_integral = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_exact_however_wide_the_bins() {
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
