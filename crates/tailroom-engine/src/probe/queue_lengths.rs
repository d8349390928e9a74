//! The lengths of a queue: for how long it had each, and how many arriving packets found it.

use super::histogram::Histogram;
use crate::units::Time;

/// The precision of the histograms.
const PRECISION: u32 = 10;

/// Picoseconds for which a queue had a length, and packets that found it: side by side, as an arrival
/// adds to both.
type Bin = [u64; 2];

/// The lengths of a queue.
#[derive(Clone, Debug, Default)]
pub struct QueueLengths {
    bins: Vec<Bin>,
    /// Integral over the wide bins; the histogram gives the integral over the exact bins.
    wide_integral: u128,
}

impl QueueLengths {
    /// Records that the queue had `length` for `span`, and that `arrivals` packets found it so.
    #[inline]
    pub fn add(&mut self, length: u64, span: Time, arrivals: u64) {
        let span = span.picoseconds();
        let bin = Histogram::<PRECISION>::bin(length);
        match self.bins.get_mut(bin) {
            Some([time, seen]) => {
                *time += span;
                *seen += arrivals;
            }
            None => self.grow(bin, [span, arrivals]),
        }
        if !Histogram::<PRECISION>::is_exact(bin) {
            self.wide_integral += u128::from(length) * u128::from(span);
        }
    }

    #[cold]
    fn grow(&mut self, bin: usize, weights: Bin) {
        self.bins.resize((bin + 1).next_power_of_two(), [0; 2]);
        self.bins[bin] = weights;
    }

    /// Discards everything.
    pub fn clear(&mut self) {
        self.bins.fill([0; 2]);
        self.wide_integral = 0;
    }

    /// Returns the histogram of the lengths, weighted by time in picoseconds.
    pub fn over_time(&self) -> Histogram<PRECISION> {
        self.histogram(|[time, _]| time)
    }

    /// Returns the histogram of the lengths that arriving packets found.
    pub fn seen(&self) -> Histogram<PRECISION> {
        self.histogram(|[_, arrivals]| arrivals)
    }

    /// Returns the exact integral of the length over time, in packets times picoseconds.
    pub fn integral(&self) -> u128 {
        self.over_time().exact_sum() + self.wide_integral
    }

    fn histogram(&self, weight: impl Fn(Bin) -> u64) -> Histogram<PRECISION> {
        Histogram::of_weights(self.bins.iter().map(|&bin| weight(bin)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_histograms_and_the_integral_are_those_of_lengths_added_one_by_one() {
        let mut lengths = QueueLengths::default();
        let (mut over_time, mut seen) = (Histogram::default(), Histogram::default());
        let mut integral = 0;
        for length in (0..3_000).chain([2_047, 2_048, 100_003, 1 << 40]) {
            let (span, arrivals) = (Time::from_picoseconds(length % 13 + 1), length % 2);
            lengths.add(length, span, arrivals);
            over_time.add(length, span.picoseconds());
            seen.add(length, arrivals);
            integral += u128::from(length) * u128::from(span.picoseconds());
        }
        assert_eq!(lengths.integral(), integral);
        let entries = |histogram: &Histogram<10>| histogram.entries().collect::<Vec<_>>();
        assert_eq!(entries(&lengths.over_time()), entries(&over_time));
        assert_eq!(entries(&lengths.seen()), entries(&seen));
        lengths.clear();
        assert_eq!((lengths.integral(), lengths.seen().total()), (0, 0));
    }
}
