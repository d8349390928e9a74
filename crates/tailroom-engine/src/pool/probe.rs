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
    /// The bin of what is occupied, and since when.
    bin: usize,
    since: Time,
    /// A bin has two to this power values, in an octave of bins, and what is occupied is in this one of
    /// them.
    width: u32,
    place: u64,
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
        let place = self.occupied >> self.width;
        if place == self.place {
            return;
        }
        self.close(now);
        // All bins of an octave are as wide, and most changes stay in it.
        if place >> PRECISION == 1 || self.width == 0 && place >> PRECISION == 0 {
            self.bin = (self.bin as u64 + place - self.place) as usize;
            self.place = place;
        } else {
            self.enter_octave();
        }
    }

    #[inline(never)]
    fn enter_octave(&mut self) {
        self.bin = Histogram::<PRECISION>::bin(self.occupied);
        self.width = Histogram::<PRECISION>::values(self.bin).1.ilog2();
        self.place = self.occupied >> self.width;
    }

    /// Adds the time until `now` to the present bin.
    #[inline]
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
