//! The measurements of a pool: the memory that is occupied, over time.

use crate::probe::over_time::OverTime;
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
    over_time: OverTime<PRECISION>,
    max: u64,
    changed_at: Time,
    /// The time series.
    pub samples: Vec<PoolSample>,
}

impl PoolProbe {
    /// Records that so much was occupied until `now`. What lasts no time does not count.
    #[inline]
    pub(super) fn account(&mut self, now: Time, occupied: u64) {
        let span = now.since(self.changed_at);
        if span > Time::ZERO {
            self.changed_at = now;
            self.over_time.add(occupied, span);
            self.max = self.max.max(occupied);
        }
    }

    /// Starts the statistics at `now`; the series goes on.
    pub(super) fn begin(&mut self, now: Time) {
        self.over_time.clear();
        (self.max, self.changed_at) = (0, now);
    }

    /// Occupied cells over time.
    pub fn over_time(&self) -> &OverTime<PRECISION> {
        &self.over_time
    }

    /// The most cells that were occupied for some time.
    pub fn max(&self) -> u64 {
        self.max
    }
}
