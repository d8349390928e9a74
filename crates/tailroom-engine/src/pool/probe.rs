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
#[derive(Debug, Default)]
pub struct PoolProbe {
    over_time: Histogram<PRECISION>,
    /// The bin of what is occupied, and since when: few changes lead to another bin.
    bin: usize,
    since: Time,
    /// The time series.
    pub samples: Vec<PoolSample>,
}

impl PoolProbe {
    /// Records that so much is occupied from `now` on.
    #[inline]
    pub(super) fn on_change(&mut self, now: Time, occupied: u64) {
        let bin = Histogram::<PRECISION>::bin(occupied);
        if bin != self.bin {
            self.close(now);
            self.bin = bin;
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
