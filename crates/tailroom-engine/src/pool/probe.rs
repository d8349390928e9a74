//! The measurements of a pool: the memory that is occupied, over time.

use crate::probe::histogram::Histogram;
use crate::units::Time;

/// The distribution of the memory is exact to 0.8 %.
const PRECISION: u32 = 7;

/// A sample of the time series of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolSample {
    /// Time.
    pub time: Time,
    /// Cells that each of its queues occupies at that instant.
    pub occupied: Vec<u64>,
}

/// The measurements of a pool, in cells.
#[derive(Clone, Debug, Default)]
pub struct PoolProbe {
    over_time: Histogram<PRECISION>,
    occupied: u64,
    /// The bin of what is occupied, its lowest value and the number of its values, and since when:
    /// few changes lead to another bin.
    bin: usize,
    low: u64,
    values: u64,
    since: Time,
    /// The time series.
    pub samples: Vec<PoolSample>,
}

impl PoolProbe {
    /// Cells that are occupied since the last change.
    pub(super) fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Records that so many cells more are occupied from `now` on.
    #[inline]
    pub(super) fn on_change(&mut self, now: Time, cells: i64) {
        self.occupied = self.occupied.wrapping_add_signed(cells);
        if self.occupied.wrapping_sub(self.low) >= self.values {
            self.close(now);
            self.bin = Histogram::<PRECISION>::bin(self.occupied);
            (self.low, self.values) = Histogram::<PRECISION>::values(self.bin);
        }
    }

    /// Adds the time until `now` to the present bin.
    #[inline(never)]
    pub(super) fn close(&mut self, now: Time) {
        self.over_time.add_to_bin(self.bin, now.since(self.since).picoseconds());
        self.since = now;
    }

    /// Starts the statistics at `now`; the series goes on.
    pub(super) fn begin(&mut self, now: Time) {
        self.over_time.clear();
        self.since = now;
    }

    /// Occupied cells, weighted by time in picoseconds.
    pub fn over_time(&self) -> &Histogram<PRECISION> {
        &self.over_time
    }
}
