//! Weighted histograms of non-negative integers in bounded memory.

/// A histogram whose bins are exact up to `2^(PRECISION + 1)`; above, there are `2^PRECISION` bins
/// per octave. The relative error of a percentile is less than `2^-PRECISION`.
#[derive(Clone, Debug, Default)]
pub struct Histogram<const PRECISION: u32> {
    weights: Vec<u64>,
}

impl<const PRECISION: u32> Histogram<PRECISION> {
    /// Returns the histogram with these weights, by bin.
    pub fn of_weights(weights: Vec<u64>) -> Self {
        Histogram { weights }
    }

    /// Adds `weight` at `value`.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        self.add_to_bin(Self::bin(value), weight);
    }

    /// Adds `weight` to a bin, which [`Histogram::bin`] returns for a value.
    #[inline]
    pub fn add_to_bin(&mut self, bin: usize, weight: u64) {
        match self.weights.get_mut(bin) {
            Some(slot) => *slot += weight,
            None => self.grow(bin, weight),
        }
    }

    #[cold]
    fn grow(&mut self, bin: usize, weight: u64) {
        self.weights.resize((bin + 1).next_power_of_two(), 0);
        self.weights[bin] = weight;
    }

    /// Subtracts `other`, all of whose weights must have been added to this histogram too.
    pub fn subtract(&mut self, other: &Self) {
        for (weight, part) in self.weights.iter_mut().zip(&other.weights) {
            *weight -= part;
        }
    }

    /// Returns the bin of `value`.
    #[inline]
    pub fn bin(value: u64) -> usize {
        // Queue lengths are nearly always in the exact part.
        if value < 2 << PRECISION {
            return value as usize;
        }
        let octave = value.ilog2() - PRECISION;
        ((u64::from(octave) << PRECISION) + (value >> octave)) as usize
    }

    /// Returns whether a bin contains a single value.
    #[inline]
    pub fn is_exact(bin: usize) -> bool {
        bin < 2 << PRECISION
    }

    /// Returns the sum of value times weight over the bins with a single value.
    pub fn exact_sum(&self) -> u128 {
        let exact = self.weights.iter().take(2 << PRECISION).zip(0_u128..);
        exact.map(|(&weight, value)| value * u128::from(weight)).sum()
    }

    /// Returns the lowest value of a bin and the number of its values.
    pub fn values(bin: usize) -> (u64, u64) {
        let octave = (bin >> PRECISION).saturating_sub(1) as u32;
        ((bin as u64 - (u64::from(octave) << PRECISION)) << octave, 1 << octave)
    }

    /// Returns the middle of a bin.
    fn value(bin: usize) -> f64 {
        let (low, values) = Self::values(bin);
        low as f64 + (values - 1) as f64 / 2.0
    }

    /// Sets all weights to zero.
    pub fn clear(&mut self) {
        self.weights.fill(0);
    }

    /// Returns the sum of all weights.
    pub fn total(&self) -> u128 {
        self.weights.iter().map(|&weight| u128::from(weight)).sum()
    }

    /// Returns values and their weights in ascending order of values; a wide bin has its middle as
    /// the value.
    pub fn entries(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let bins = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0);
        bins.map(|(bin, &weight)| (Self::value(bin), weight))
    }

    /// Returns the smallest value such that at least the fraction `quantile` of the weight is at or
    /// below it; `None` if the histogram is empty.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        let [value] = self.quantiles([quantile]);
        value
    }

    /// Returns several quantiles, in one pass over the bins; `quantiles` ascend.
    pub fn quantiles<const N: usize>(&self, quantiles: [f64; N]) -> [Option<f64>; N] {
        debug_assert!(quantiles.is_sorted(), "quantiles ascend");
        let total = self.total();
        if total == 0 {
            return [None; N];
        }
        // Most bins of a histogram of times are empty.
        let mut bins = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0);
        let (mut bin, mut sum) = (None, 0_u128);
        quantiles.map(|quantile| {
            let wanted = (quantile * total as f64).ceil().max(1.0);
            while (sum as f64) < wanted {
                let (next, &weight) = bins.next()?;
                sum += u128::from(weight);
                bin = Some(next);
            }
            bin.map(Self::value)
        })
    }

    /// Returns the largest value added, to the precision of its bin; `None` if the histogram is
    /// empty.
    pub fn max(&self) -> Option<f64> {
        self.weights.iter().rposition(|&weight| weight > 0).map(Self::value)
    }

    /// Returns the mean, to the precision of the bins; `None` if the histogram is empty.
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let sum: f64 = self.entries().map(|(value, weight)| value * weight as f64).sum();
        Some(sum / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_exact_and_large_values_within_the_precision() {
        for value in (0..5_000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX / 3]) {
            let mut histogram = Histogram::<9>::default();
            histogram.add(value, 3);
            let found = histogram.quantile(0.5).expect("one value");
            let tolerance = if value < 1_024 { 0.0 } else { value as f64 / 512.0 };
            assert!((found - value as f64).abs() <= tolerance, "{found}, expected {value}");
        }
    }

    #[test]
    fn quantiles_follow_the_weights() {
        let mut histogram = Histogram::<9>::default();
        histogram.add(1, 10);
        histogram.add(2, 80);
        histogram.add(3, 10);
        assert_eq!(histogram.quantile(0.05), Some(1.0));
        assert_eq!(histogram.quantile(0.1), Some(1.0));
        assert_eq!(histogram.quantile(0.11), Some(2.0));
        assert_eq!(histogram.quantile(0.95), Some(3.0));
        let ascending = [0.05, 0.1, 0.11, 0.9, 0.95, 1.0];
        let together = histogram.quantiles(ascending);
        assert_eq!(together, ascending.map(|quantile| histogram.quantile(quantile)));
        assert_eq!(together, [1.0, 1.0, 2.0, 2.0, 3.0, 3.0].map(Some));
        assert_eq!(Histogram::<9>::default().quantiles([0.5, 0.99]), [None, None]);
        assert_eq!((histogram.mean(), histogram.max()), (Some(2.0), Some(3.0)));
    }
}
