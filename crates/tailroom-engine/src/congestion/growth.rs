//! The growth of windows that add a(w) packets per round trip.

use crate::units::float;

/// A range of windows, `from <= w < to` in packets, in which every acknowledged packet adds a(w) / w
/// with a linear a(w).
#[derive(Clone, Copy, Debug)]
pub struct GrowthCell {
    /// The smallest window.
    pub from: f64,
    /// The end of the range.
    pub to: f64,
    /// a(w) at `from`.
    pub increase: f64,
    /// The slope of a(w).
    pub slope: f64,
}

impl GrowthCell {
    /// A range without a window.
    pub const EMPTY: GrowthCell =
        GrowthCell { from: f64::INFINITY, to: f64::INFINITY, increase: 0.0, slope: 0.0 };

    /// All windows, with a constant increase.
    pub fn everywhere(increase: f64) -> Self {
        GrowthCell { from: 0.0, to: f64::INFINITY, increase, slope: 0.0 }
    }

    /// Whether the window is in the range.
    #[inline]
    pub fn contains(&self, window: f64) -> bool {
        self.from <= window && window < self.to
    }

    /// The window after `acked` packets have been acknowledged, from a window in the range.
    #[inline]
    pub fn grow(&self, window: f64, acked: u64) -> f64 {
        window + self.increase_at(window) * float(acked) / window
    }

    /// a(w) at a window in the range.
    #[inline]
    pub fn increase_at(&self, window: f64) -> f64 {
        self.increase + self.slope * (window - self.from)
    }
}
