//! The time of the link: the machine's clock without the time in which the machine stalled.

use serde::Serialize;
use tailroom_engine::probe::histogram::Histogram;
use tailroom_engine::units::Time;

const PICOSECONDS_PER_NANOSECOND: u64 = 1_000;

/// A clock that stops while the program is kept from running.
///
/// A virtual machine is now and then stopped for milliseconds. To deliver afterwards everything
/// that is overdue would make a burst that no real link makes, and that overflows a small buffer.
/// So an action that is late by more than a threshold is a stall, and the clock goes back by it.
#[derive(Debug)]
pub struct VirtualClock {
    origin_ns: u64,
    threshold: Time,
    stalled: Time,
    last: Time,
    report: Stalls,
    ends: Vec<StallEnd>,
}

/// The end of a stall.
#[derive(Clone, Copy, Debug)]
struct StallEnd {
    /// Time since the origin by the monotonic clock.
    real: Time,
    /// What this clock shows.
    shown: Time,
}

/// The stalls of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stalls {
    /// Number of stalls.
    pub count: u64,
    /// Sum of the stalls.
    pub total_s: f64,
    /// The longest stall.
    pub longest_s: f64,
}

impl VirtualClock {
    /// A clock that shows zero at `origin_ns` of the monotonic clock.
    pub fn new(origin_ns: u64, threshold: Time) -> Self {
        VirtualClock {
            origin_ns,
            threshold,
            stalled: Time::ZERO,
            last: Time::ZERO,
            report: Stalls::default(),
            ends: Vec::new(),
        }
    }

    /// The link's time when the monotonic clock shows `monotonic_ns` and the earliest action that
    /// has not been taken was due at `due`. It never runs backwards, and stays at zero before the
    /// origin.
    pub fn observe(&mut self, monotonic_ns: u64, due: Time) -> Time {
        let since_origin = monotonic_ns.saturating_sub(self.origin_ns);
        let real = Time::from_picoseconds(since_origin * PICOSECONDS_PER_NANOSECOND);
        let mut now = real.since(self.stalled);
        // What is overdue was due before the last look at the clock only if the work since then
        // took too long; the clock does not go back behind that look.
        let expected = due.max(self.last);
        let late = now.since(expected);
        if late > self.threshold {
            self.stalled += late;
            self.report.count += 1;
            self.report.total_s = self.stalled.seconds();
            self.report.longest_s = self.report.longest_s.max(late.seconds());
            now = expected;
            self.ends.push(StallEnd { real, shown: now });
        }
        self.last = now.max(self.last);
        self.last
    }

    /// How long after now, in nanoseconds, `due` comes.
    pub fn wait_ns(&self, monotonic_ns: u64, due: Time) -> u64 {
        let due_ns = due.saturating_add(self.stalled).picoseconds() / PICOSECONDS_PER_NANOSECOND;
        due_ns.saturating_add(self.origin_ns).saturating_sub(monotonic_ns)
    }

    /// What the clock showed, as is known later, when `real` had passed since the origin by the monotonic
    /// clock. It stands still in a stall.
    pub fn shown_at(&self, real: Time) -> Time {
        let next = self.ends.partition_point(|end| end.real <= real);
        let stalled = self.ends[..next].last().map_or(Time::ZERO, |end| end.real - end.shown);
        let most = self.ends.get(next).map_or(Time::NEVER, |end| end.shown);
        real.since(stalled).min(most)
    }

    /// The stalls so far.
    pub fn stalls(&self) -> Stalls {
        self.report
    }
}

/// How late packets were delivered.
#[derive(Debug, Default)]
pub struct Lateness {
    nanoseconds: Histogram<5>,
}

/// Quantiles of the lateness, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatenessReport {
    /// Median.
    pub p50_us: f64,
    /// 99 % of the packets were at most this late.
    pub p99_us: f64,
    /// 99.9 % of the packets were at most this late.
    pub p999_us: f64,
    /// The latest packet.
    pub max_us: f64,
}

impl Lateness {
    /// Counts a packet that was due at `due` and delivered at `now`.
    pub fn count(&mut self, now: Time, due: Time) {
        let late = now.since(due).picoseconds() / PICOSECONDS_PER_NANOSECOND;
        self.nanoseconds.add(late, 1);
    }

    /// The quantiles so far; zero if nothing was delivered.
    pub fn report(&self) -> LatenessReport {
        let quantile = |share| self.nanoseconds.quantile(share).unwrap_or(0.0) / 1e3;
        LatenessReport {
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: quantile(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn clock() -> VirtualClock {
        VirtualClock::new(1_000 * MS, Time::from_seconds(500e-6))
    }

    #[test]
    fn shows_the_time_since_the_origin() {
        let mut clock = clock();
        assert_eq!(clock.observe(900 * MS, Time::NEVER), Time::ZERO);
        assert_eq!(clock.observe(1_003 * MS, Time::NEVER), Time::from_milliseconds(3));
        assert_eq!(clock.wait_ns(1_003 * MS, Time::from_milliseconds(10)), 7 * MS);
        assert_eq!(
            clock.wait_ns(1_003 * MS, Time::NEVER),
            u64::MAX / 1_000 + 1_000 * MS - 1_003 * MS
        );
    }

    #[test]
    fn goes_back_to_what_was_due_after_a_stall() {
        let mut clock = clock();
        let due = Time::from_milliseconds(10);
        assert_eq!(clock.observe(1_010 * MS + 400_000, due), due + Time::from_seconds(400e-6));
        assert_eq!(clock.stalls().count, 0, "within the threshold");
        let due = Time::from_milliseconds(20);
        assert_eq!(clock.observe(1_027 * MS, due), due);
        assert_eq!(clock.observe(1_028 * MS, Time::NEVER), Time::from_milliseconds(21));
        let stalls = clock.stalls();
        assert_eq!((stalls.count, stalls.total_s, stalls.longest_s), (1, 7e-3, 7e-3));
        // Waiting counts from the clock that went back.
        assert_eq!(clock.wait_ns(1_028 * MS, Time::from_milliseconds(23)), 2 * MS);
        for (real, shown) in [(19, 19), (22, 20), (26, 20), (27, 20), (28, 21), (40, 33)] {
            let [real, shown] = [real, shown].map(Time::from_milliseconds);
            assert_eq!(clock.shown_at(real), shown, "{real:?}");
        }
    }

    #[test]
    fn never_runs_backwards() {
        let mut clock = clock();
        let shown = clock.observe(1_010 * MS, Time::NEVER);
        assert_eq!(clock.observe(1_018 * MS, Time::from_milliseconds(4)), shown);
        // The 4 ms before the last look are no stall.
        assert!((clock.stalls().total_s - 8e-3).abs() < 1e-12);
    }

    #[test]
    fn lateness_is_reported_in_microseconds() {
        let mut lateness = Lateness::default();
        for late_us in 1..=100 {
            let due = Time::from_milliseconds(5);
            lateness.count(due + Time::from_picoseconds(late_us * 1_000_000), due);
        }
        let report = lateness.report();
        assert!((report.p50_us - 50.0).abs() < 50.0 / 32.0);
        assert!((report.max_us - 100.0).abs() < 100.0 / 32.0);
    }
}
