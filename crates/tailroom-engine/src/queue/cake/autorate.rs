//! The rate of CAKE that follows what arrives (`autorate-ingress`).

use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// How often the rate changes at most.
const PERIOD: Time = Time::from_milliseconds(250);

/// The peak rate of what arrives: the mean of bursts, each up to a gap above the mean gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Autorate {
    last_arrival: Time,
    mean_gap: u64,
    burst_begin: Time,
    burst_bytes: u64,
    /// In bytes per second.
    mean_peak: u64,
    changed_at: Time,
}

/// A moving average in which a sample has the weight 2^-`shift`.
fn average(mean: u64, sample: u64, shift: u32) -> u64 {
    mean - (mean >> shift) + (sample >> shift)
}

impl Autorate {
    /// The mean starts at this rate.
    pub(super) fn new(rate: Option<Rate>) -> Self {
        let mean_peak = rate.map_or(0, |rate| rate.bits_per_second() / 8);
        Autorate { mean_peak, ..Autorate::default() }
    }

    /// Takes in a packet. Returns the rate of the shaper if it changes: 15/16 of the mean peak.
    pub(super) fn on_arrival(&mut self, now: Time, bytes: u32) -> Option<Rate> {
        let gap = now.since(self.last_arrival).picoseconds().min(PICOSECONDS_PER_SECOND);
        self.last_arrival = now;
        self.mean_gap = average(self.mean_gap, gap, if gap > self.mean_gap { 2 } else { 8 });
        self.burst_bytes += u64::from(bytes);
        if gap <= self.mean_gap {
            return None;
        }
        let span = now.since(self.burst_begin).picoseconds().max(1);
        let peak = u128::from(self.burst_bytes) * u128::from(PICOSECONDS_PER_SECOND);
        let peak = u64::try_from(peak / u128::from(span)).unwrap_or(u64::MAX / 16);
        let shift = if peak > self.mean_peak { 2 } else { 8 };
        self.mean_peak = average(self.mean_peak, peak, shift);
        (self.burst_bytes, self.burst_begin) = (0, now);
        if now <= self.changed_at + PERIOD {
            return None;
        }
        self.changed_at = now;
        Some(Rate::from_bits_per_second((self.mean_peak * 15 / 2).max(1)))
    }
}
