//! Weighted histograms of non-negative integers in bounded memory.

/// A histogram whose bins are exact up to `2^(PRECISION + 1)`; above, there are `2^PRECISION` bins
/// per octave. The relative error of a percentile is less than `2^-PRECISION`.
#[derive(Clone, Debug, Default)]
pub struct Histogram<const PRECISION: u32> {
    /// The weight of bin 0, unless `weights` begin there: a delay is often 0, and the others are many
    /// octaves above.
    zero: u64,
    /// The first bin of `weights`.
    first: usize,
    /// By bin, over the octaves that have been needed.
    weights: Vec<u64>,
}

impl<const PRECISION: u32> Histogram<PRECISION> {
    /// Returns the histogram with these weights, by bin.
    pub fn of_weights(weights: Vec<u64>) -> Self {
        Histogram { zero: 0, first: 0, weights }
    }

    /// Adds `weight` at `value`.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        self.add_to_bin(Self::bin(value), weight);
    }

    /// Adds `weight` to a bin, which [`Histogram::bin`] returns for a value.
    #[inline]
    pub fn add_to_bin(&mut self, bin: usize, weight: u64) {
        match self.weights.get_mut(bin.wrapping_sub(self.first)) {
            Some(slot) => *slot += weight,
            None if bin == 0 => self.zero += weight,
            None => self.grow(bin, weight),
        }
    }

    /// Extends `weights` to a bin, and beyond it at most to the ends of its octave.
    #[cold]
    fn grow(&mut self, bin: usize, weight: u64) {
        let octave = 1 << PRECISION;
        let begin = bin / octave * octave;
        if self.weights.is_empty() {
            self.first = begin;
        } else if begin < self.first {
            self.weights.splice(0..0, std::iter::repeat_n(0, self.first - begin));
            self.first = begin;
        }
        let needed = bin + 1 - self.first;
        if needed > self.weights.len() {
            let bins = needed.next_power_of_two().min(needed.next_multiple_of(octave));
            self.weights.reserve_exact(bins - self.weights.len());
            self.weights.resize(bins, 0);
        }
        if self.first == 0 {
            self.weights[0] += std::mem::take(&mut self.zero);
        }
        self.weights[bin - self.first] = weight;
    }

    /// Returns the bins that have a weight, and their weights, in ascending order.
    fn bins(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let weights = self.weights.iter().enumerate();
        let bins = weights.map(|(place, &weight)| (self.first + place, weight));
        std::iter::once((0, self.zero)).chain(bins).filter(|&(_, weight)| weight > 0)
    }

    /// Adds the weights of `other`.
    pub fn add_all(&mut self, other: &Self) {
        other.bins().for_each(|(bin, weight)| self.add_to_bin(bin, weight));
    }

    /// Subtracts `other`, all of whose weights must have been added to this histogram too.
    pub fn subtract(&mut self, other: &Self) {
        for (bin, part) in other.bins() {
            match self.weights.get_mut(bin.wrapping_sub(self.first)) {
                Some(weight) => *weight -= part,
                None => self.zero -= part,
            }
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
        let exact = self.bins().take_while(|&(bin, _)| Self::is_exact(bin));
        exact.map(|(value, weight)| value as u128 * u128::from(weight)).sum()
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
        self.zero = 0;
        self.weights.fill(0);
    }

    /// Returns the sum of all weights.
    pub fn total(&self) -> u128 {
        self.bins().map(|(_, weight)| u128::from(weight)).sum()
    }

    /// Returns values and their weights in ascending order of values; a wide bin has its middle as
    /// the value.
    pub fn entries(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.bins().map(|(bin, weight)| (Self::value(bin), weight))
    }

    /// Returns the smallest value such that at least the fraction `quantile` of the weight is at or
    /// below it; `None` if the histogram is empty.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        let [value] = self.quantiles([quantile]);
        value
    }

    /// Returns several quantiles, in one pass over the bins; `quantiles` ascend.
    pub fn quantiles<const N: usize>(&self, quantiles: [f64; N]) -> [Option<f64>; N] {
        self.quantiles_of(self.total(), quantiles)
    }

    /// Returns the quantiles of `total`, at least the weight of this histogram, whose other part lies
    /// above every value; `None` for those that lie in that part. `quantiles` ascend.
    pub fn quantiles_of<const N: usize>(
        &self,
        total: u128,
        quantiles: [f64; N],
    ) -> [Option<f64>; N] {
        debug_assert!(quantiles.is_sorted(), "quantiles ascend");
        if total == 0 {
            return [None; N];
        }
        let mut bins = self.bins();
        let (mut bin, mut sum) = (None, 0_u128);
        quantiles.map(|quantile| {
            let wanted = (quantile * total as f64).ceil().max(1.0);
            while (sum as f64) < wanted {
                let (next, weight) = bins.next()?;
                sum += u128::from(weight);
                bin = Some(next);
            }
            bin.map(Self::value)
        })
    }

    /// Returns the largest value added, to the precision of its bin; `None` if the histogram is
    /// empty.
    pub fn max(&self) -> Option<f64> {
        let last = self.weights.iter().rposition(|&weight| weight > 0);
        let last = last.map(|place| self.first + place);
        last.or((self.zero > 0).then_some(0)).map(Self::value)
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
    fn the_order_in_which_values_come_does_not_matter_and_only_their_octaves_take_memory() {
        let values: Vec<u64> =
            (0..300).map(|n| [0, 3, 700, 5_000, n << 12, n << 27][n as usize % 6]).collect();
        let entries = |histogram: &Histogram<9>| histogram.entries().collect::<Vec<_>>();
        let mut ascending = values.clone();
        ascending.sort_unstable();
        let mut expected = std::collections::BTreeMap::new();
        for &value in &values {
            *expected.entry(Histogram::<9>::bin(value)).or_insert(0) += value + 1;
        }
        let expected: Vec<(f64, u64)> = expected
            .into_iter()
            .map(|(bin, weight)| (Histogram::<9>::value(bin), weight))
            .collect();
        let descending = ascending.iter().rev().copied().collect();
        for order in [values, ascending, descending] {
            let mut histogram = Histogram::default();
            let mut last = Histogram::default();
            for (place, &value) in order.iter().enumerate() {
                histogram.add(value, value + 1);
                if place >= 150 {
                    last.add(value, value + 1);
                }
            }
            assert_eq!(entries(&histogram), expected);
            assert_eq!(histogram.max(), expected.last().map(|entry| entry.0));
            let mut first = histogram.clone();
            first.subtract(&last);
            for &value in &order[150..] {
                first.add(value, value + 1);
            }
            assert_eq!(entries(&first), expected);
        }
        let mut delays = Histogram::<9>::default();
        for value in [0, 120_000_000, 0, 240_000_000] {
            delays.add(value, 1);
        }
        assert_eq!((delays.zero, delays.weights.len()), (2, 2 * 512));
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
