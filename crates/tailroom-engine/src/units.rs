//! Integer time, rates and sizes, the units of the whole engine.
//!
//! Time is counted in picoseconds since the start of the run, so that the transmission of a 40-byte
//! packet at 400 Gbit/s still takes 800 units; a `u64` represents 213 days.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Picoseconds in one second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

/// Converts a count below 2^63 to a float. The conversion of a signed integer is one instruction instead
/// of six.
#[inline]
pub fn float(count: u64) -> f64 {
    debug_assert!(count <= i64::MAX.cast_unsigned(), "a count without end is no number");
    count.cast_signed() as f64
}

/// The larger of two numbers, neither of which is NaN: one instruction, where [`f64::max`] takes seven.
#[inline]
pub fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

/// The smaller of two numbers, neither of which is NaN: one instruction, where [`f64::min`] takes
/// seven.
#[inline]
pub fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

/// An instant or a span of simulated time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the run, or an empty span.
    pub const ZERO: Time = Time(0);
    /// Later than any instant of a run: the deadline of a timer that is off.
    pub const NEVER: Time = Time(u64::MAX);
    /// 53 days, later than the end of any run: an event due from this time on does not happen. A
    /// span that a scenario may contain (30 days at most) can be added to any earlier time without
    /// an overflow.
    pub const AFTER_ALL_RUNS: Time = Time(1 << 62);

    /// Creates a time from whole picoseconds.
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        Time(picoseconds)
    }

    /// Creates a time from whole milliseconds.
    pub const fn from_milliseconds(milliseconds: u64) -> Self {
        Time(milliseconds * (PICOSECONDS_PER_SECOND / 1_000))
    }

    /// Creates a time from seconds, rounded to the nearest picosecond; negative values and NaN
    /// become zero.
    pub fn from_seconds(seconds: f64) -> Self {
        Time(libm::round(seconds * PICOSECONDS_PER_SECOND as f64) as u64)
    }

    /// Returns the time in whole picoseconds.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// Returns the time in seconds, for results; the engine itself computes in picoseconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }

    /// Returns the span since `earlier`, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// Adds `span`; the sum is at most [`Time::NEVER`].
    #[must_use]
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, span: Time) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, span: Time) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, span: Time) -> Time {
        Time(self.0 - span.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} s", self.seconds())
    }
}

/// A rate in bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// The highest rate: the serializer adds two remainders below the rate in 64 bits.
    pub const FASTEST: Rate = Rate(1_000_000_000_000_000_000);

    /// Creates a rate from whole bits per second.
    pub const fn from_bits_per_second(bits_per_second: u64) -> Self {
        Rate(bits_per_second)
    }

    /// Returns the rate in whole bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Returns the whole bytes that this rate transmits in `span`, rounded down.
    pub fn bytes_in(self, span: Time) -> u64 {
        let bits = u128::from(self.0) * u128::from(span.picoseconds())
            / u128::from(PICOSECONDS_PER_SECOND);
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bit/s", self.0)
    }
}
