//! Per-packet delays: the exact mean, and percentiles in bounded memory.

use super::histogram::Histogram;
use crate::units::Time;

/// The delays of packets. The mean is exact. A percentile is the middle of a histogram bin; bins
/// are exact below 1,024 ps and narrower than 1/512 of their value above, so its error is less than
/// 0.1 % of its value.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    sum: u128,
    /// Delays in picoseconds.
    histogram: Histogram<9>,
}

impl Delays {
    /// Records the delay of a packet.
    #[inline]
    pub fn add(&mut self, delay: Time) {
        let delay = delay.picoseconds();
        self.histogram.add(delay, 1);
        self.sum += u128::from(delay);
    }

    /// Discards all delays.
    pub fn clear(&mut self) {
        self.sum = 0;
        self.histogram.clear();
    }

    /// Subtracts the delays in `other`, all of which must have been added to this one too.
    pub fn subtract(&mut self, other: &Self) {
        self.sum -= other.sum;
        self.histogram.subtract(&other.histogram);
    }

    /// Returns the sum of the delays, in picoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the mean delay in seconds; `None` without packets.
    pub fn mean_s(&self) -> Option<f64> {
        let packets = self.histogram.total();
        (packets > 0).then(|| 1e-12 * self.sum as f64 / packets as f64)
    }

    /// Returns a quantile of the delays in seconds; `None` without packets.
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        self.histogram.quantile(quantile).map(|picoseconds| 1e-12 * picoseconds)
    }

    /// Returns several quantiles of the delays in seconds; `None` without packets.
    pub fn quantiles_s<const N: usize>(&self, quantiles: [f64; N]) -> [Option<f64>; N] {
        let values = self.histogram.quantiles(quantiles);
        values.map(|value| value.map(|picoseconds| 1e-12 * picoseconds))
    }

    /// Returns the largest delay in seconds, to the precision of its bin; `None` without packets.
    pub fn max_s(&self) -> Option<f64> {
        self.histogram.max().map(|picoseconds| 1e-12 * picoseconds)
    }
}
