//! How long something takes, packet by packet: the exact mean, and percentiles in bounded memory.

use super::histogram::Histogram;
use crate::units::Time;

/// Delays of packets. The mean is exact. A percentile is the middle of a bin of the histogram, whose
/// bins are exact below 1,024 ps and less than 1/512 of their value wide beyond: it is off by less than
/// 0.1 % of its value.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    sum: u128,
    /// In picoseconds.
    histogram: Histogram<9>,
}

impl Delays {
    /// A packet takes this long.
    #[inline]
    pub fn add(&mut self, delay: Time) {
        let delay = delay.picoseconds();
        self.histogram.add(delay, 1);
        self.sum += u128::from(delay);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.sum = 0;
        self.histogram.clear();
    }

    /// Takes away those of packets that have all been added here too.
    pub fn subtract(&mut self, other: &Self) {
        self.sum -= other.sum;
        self.histogram.subtract(&other.histogram);
    }

    /// In seconds; `None` when no packet passed.
    pub fn mean_s(&self) -> Option<f64> {
        let packets = self.histogram.total();
        (packets > 0).then(|| 1e-12 * self.sum as f64 / packets as f64)
    }

    /// In seconds; `None` when no packet passed.
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        self.histogram.quantile(quantile).map(|picoseconds| 1e-12 * picoseconds)
    }
}
