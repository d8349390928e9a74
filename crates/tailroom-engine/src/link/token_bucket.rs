//! A token bucket that needs no refills: in place of its level it knows when it will be full.
//!
//! This is the virtual scheduling form of the generic cell rate algorithm (ITU-T I.371 annex A): a
//! packet moves the time at which the bucket is full by the time in which the rate makes its
//! tokens. The arithmetic is that of a serializer, in whole picoseconds with a carried remainder,
//! so that the tokens of a million packets take exactly the time of their bits.

use super::serializer::FixedRate;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Time in which `rate` makes the tokens of `bytes`, rounded down; at most [`Time::NEVER`].
pub(crate) fn fill_time(rate: Rate, bytes: u64) -> Time {
    let work = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
    let time = work / u128::from(rate.bits_per_second().max(1));
    Time::from_picoseconds(u64::try_from(time).unwrap_or(u64::MAX))
}

/// A bucket that is full at time 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenBucket {
    clock: FixedRate,
    /// How long it takes to fill the empty bucket.
    fill_time: Time,
    full_at: Time,
    /// Fractions that a full bucket did not owe, in bit * ps / s.
    forgotten: u64,
}

impl TokenBucket {
    /// The full bucket of `burst_bytes`, filled at `rate`.
    pub(super) fn new(rate: Rate, burst_bytes: u64) -> Self {
        TokenBucket {
            clock: FixedRate::new(rate),
            fill_time: fill_time(rate, burst_bytes),
            full_at: Time::ZERO,
            forgotten: 0,
        }
    }

    /// How long before it is full the bucket holds the tokens of `bytes`; `None` if it never does.
    pub(super) fn lead(&mut self, bytes: u32) -> Option<Time> {
        let needed = self.clock.nominal_time(bytes);
        (needed <= self.fill_time).then(|| self.fill_time - needed)
    }

    /// When the bucket is full, if nobody takes tokens.
    #[inline]
    pub(super) fn full_at(&self) -> Time {
        self.full_at
    }

    /// Takes the tokens of `bytes` at `now`, before [`Time::AFTER_ALL_RUNS`], whether or not the
    /// bucket holds them.
    pub(super) fn take(&mut self, now: Time, bytes: u32) {
        self.full_at = self.clock.finish(self.full_at.max(now), bytes);
    }

    /// Takes the tokens of `bytes` at `now` if the bucket holds them, to the picosecond.
    pub(super) fn take_if_held(&mut self, now: Time, bytes: u32) -> bool {
        if self.full_at <= now {
            // A bucket that is full owes no fraction of a picosecond.
            self.forgotten += self.clock.forget_carry();
        }
        let is_held = self.lead(bytes).is_some_and(|lead| self.full_at.since(lead) <= now);
        if is_held {
            self.take(now, bytes);
        }
        is_held
    }

    /// The tokens that found the bucket full in `[0, now)`, in bit * ps / s, if those of `bytes`
    /// have been taken in total.
    pub(super) fn overflow(&self, bytes: u64, now: Time) -> u128 {
        self.clock.idle_capacity(bytes, self.full_at, now) + u128::from(self.forgotten)
    }

    /// The tokens that arrive in `[from, to)`, in bit * ps / s.
    pub(super) fn arriving(&self, from: Time, to: Time) -> u128 {
        self.clock.capacity(from, to)
    }

    /// The same in bits.
    pub(super) fn arriving_bits(&self, from: Time, to: Time) -> f64 {
        self.clock.capacity_bits(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    /// 12 Mbit/s: a packet of 1500 B per millisecond.
    fn bucket(burst_bytes: u64) -> TokenBucket {
        TokenBucket::new(Rate::from_bits_per_second(12_000_000), burst_bytes)
    }

    #[test]
    fn a_full_bucket_holds_its_burst_and_then_the_rate() {
        let mut bucket = bucket(4_500);
        let conforming = |bucket: &mut TokenBucket, now| {
            (0..10).filter(|_| bucket.take_if_held(now, 1_500)).count()
        };
        assert_eq!(conforming(&mut bucket, MS(5)), 3);
        assert_eq!(conforming(&mut bucket, MS(6)), 1);
        assert_eq!(conforming(&mut bucket, MS(8)), 2);
        let almost = Time::from_picoseconds(MS(9).picoseconds() - 1);
        assert_eq!(conforming(&mut bucket, almost), 0);
        assert_eq!(conforming(&mut bucket, MS(9)), 1);
        assert_eq!(conforming(&mut bucket, MS(900)), 3);
        assert!(!bucket.take_if_held(MS(2_000), 4_501), "more than the burst");
    }

    /// At 7 bit/s nothing takes whole picoseconds; the burst is ten packets each time.
    #[test]
    fn a_burst_from_a_full_bucket_is_exact_however_the_times_are_rounded() {
        let mut bucket = TokenBucket::new(Rate::from_bits_per_second(7), 30);
        for second in 1..50 {
            let now = MS(100_000 * second);
            let conforming = (0..20).filter(|_| bucket.take_if_held(now, 3)).count();
            assert_eq!(conforming, 10, "second {second}");
        }
    }

    #[test]
    fn tokens_overflow_once_the_bucket_is_full() {
        let mut bucket = bucket(3_000);
        bucket.take(MS(10), 3_000);
        let millisecond = 12_000_000 * u128::from(MS(1).picoseconds());
        assert_eq!(bucket.overflow(3_000, MS(10)), 10 * millisecond);
        assert_eq!(bucket.overflow(3_000, MS(12)), 10 * millisecond);
        assert_eq!(bucket.overflow(3_000, MS(15)), 13 * millisecond);
        assert_eq!(bucket.arriving(MS(10), MS(15)), 5 * millisecond);
    }
}
