//! Exact serialization times: the remainder of a picosecond is carried from packet to packet, so
//! that a million packets take exactly the time of their bits.

use std::num::NonZeroU32;

use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// A change of rate: from `at` on, the link sends at `rate`; at 0 bit/s it sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateChange {
    /// Time of the change, since the start of the run or of the period.
    pub at: Time,
    /// The new rate; zero is allowed here.
    pub rate: Rate,
}

impl RateChange {
    /// The change to `rate` at `at`.
    pub fn new(at: Time, rate: Rate) -> Self {
        RateChange { at, rate }
    }
}

/// Turns packet sizes into times at a rate that may change by schedule.
#[derive(Clone, Debug)]
pub struct Serializer {
    fixed: FixedRate,
    schedule: Option<Box<RateSchedule>>,
}

/// Turns packet sizes into times at a rate that never changes.
#[derive(Clone, Copy, Debug)]
pub struct FixedRate {
    rate: u64,
    /// The size of the last packet, never zero, so that an `Option` of the whole takes no more memory.
    last_bytes: NonZeroU32,
    whole: u64,
    remainder: u64,
    carry: u64,
}

/// Rates over time; before the first change the initial rate applies. A schedule may have millions of changes
/// and repeat for months: no question about it takes more than a search.
#[derive(Clone, Debug, Default)]
struct RateSchedule {
    initial: u64,
    changes: Vec<RateChange>,
    /// What can be carried from the first change until each, in bit * ps / s.
    carried: Vec<u128>,
    period: Option<Time>,
    /// What can be carried in the first period, and in each that follows, in bit * ps / s.
    first_period: u128,
    later_period: u128,
    /// Capacity up to `accounted_until` in which the link had nothing to send, in bit * ps / s.
    idle: u128,
    accounted_until: Time,
}

impl Serializer {
    /// The serializer of a shared link: it runs at `rate` until the first of `changes`, which
    /// repeat with `period`.
    pub fn new(rate: Rate, changes: &[RateChange], period: Option<Time>) -> Self {
        let schedule = (!changes.is_empty()).then(|| {
            let mut schedule =
                RateSchedule { initial: rate.bits_per_second(), ..RateSchedule::default() };
            for &change in changes {
                schedule.push(change);
            }
            schedule.repeat(period);
            Box::new(schedule)
        });
        Serializer { schedule, ..Serializer::constant(rate) }
    }

    /// A serializer whose rate never changes.
    pub fn constant(rate: Rate) -> Self {
        Serializer { fixed: FixedRate::new(rate), schedule: None }
    }

    /// Transmissions that begin from `at` on, no earlier than `busy_until`, run at `rate`. `bytes` are all
    /// whose transmission ends at `busy_until` or before.
    pub fn change_rate(&mut self, at: Time, rate: Rate, bytes: u64, busy_until: Time) {
        let at = at.max(busy_until);
        let fixed = &self.fixed;
        let schedule = self.schedule.get_or_insert_with(|| {
            Box::new(RateSchedule {
                initial: fixed.rate,
                idle: fixed.idle_capacity(bytes, busy_until, at),
                accounted_until: at,
                ..RateSchedule::default()
            })
        });
        let kept = schedule.changes.partition_point(|change| change.at < at);
        schedule.changes.truncate(kept);
        schedule.carried.truncate(kept);
        schedule.push(RateChange { at, rate });
    }

    /// The rate from `time` on.
    pub fn rate_at(&self, time: Time) -> Rate {
        let bits =
            self.schedule.as_ref().map_or(self.fixed.rate, |schedule| schedule.rate_at(time).0);
        Rate::from_bits_per_second(bits)
    }

    /// The rate at `time`, or when the link sends next; the first one if it does not.
    pub fn sending_rate(&self, time: Time) -> Rate {
        let sends_from = self.sends_from(time);
        self.rate_at(if sends_from == Time::NEVER { Time::ZERO } else { sends_from })
    }

    /// When the rate changes after `time`, or a period ends; [`Time::NEVER`] if it stays.
    pub fn next_change(&self, time: Time) -> Time {
        let schedule = self.schedule.as_ref();
        schedule.map_or(Time::NEVER, |schedule| time.saturating_add(schedule.rate_at(time).1))
    }

    /// When the transmission of `bytes` that begins at `start` ends; [`Time::NEVER`] if the
    /// schedule leaves the link standing still for good, or if it begins after all runs.
    #[inline]
    pub fn finish(&mut self, start: Time, bytes: u32) -> Time {
        if start >= Time::AFTER_ALL_RUNS {
            return Time::NEVER;
        }
        if let Some(schedule) = &mut self.schedule {
            return schedule.send(start, bytes);
        }
        self.fixed.finish(start, bytes)
    }

    /// As [`Serializer::finish`], before [`Time::AFTER_ALL_RUNS`] and at a rate that never changes, for
    /// a packet of the size that [`Serializer::nominal_time`] was last asked for.
    #[inline]
    pub fn finish_same(&mut self, start: Time) -> Time {
        debug_assert!(self.schedule.is_none(), "the rate is constant");
        self.fixed.finish_same(start)
    }

    /// Transmission time of `bytes` at the rate of a link whose rate never changes, rounded down.
    #[inline]
    pub fn nominal_time(&mut self, bytes: u32) -> Time {
        debug_assert!(self.schedule.is_none(), "the rate is constant");
        self.fixed.nominal_time(bytes)
    }

    /// Transmission time of `bytes` at the rate of `now`, rounded down; [`Time::NEVER`] at 0 bit/s.
    #[inline]
    pub fn packet_time(&mut self, now: Time, bytes: u32) -> Time {
        match &self.schedule {
            None => self.fixed.nominal_time(bytes),
            Some(schedule) => schedule.packet_time(now, bytes),
        }
    }

    /// Whether the rate changes, or has been changed.
    #[inline]
    pub fn varies(&self) -> bool {
        self.schedule.is_some()
    }

    /// From when on the link sends that stands still at `time`, or `time`; [`Time::NEVER`] if it does not.
    pub fn sends_from(&self, time: Time) -> Time {
        self.schedule.as_ref().map_or(time, |schedule| schedule.sends_from(time))
    }

    /// When the last of `bits` leaves that are sent from `start` on; [`Time::NEVER`] if it does not, and if the
    /// rate never changes.
    pub(crate) fn end_of(&self, start: Time, bits: u128) -> Time {
        self.schedule.as_ref().map_or(Time::NEVER, |schedule| schedule.end_of(start, bits))
    }

    /// Bits that can be carried in `[from, to)`.
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        match &self.schedule {
            None => self.fixed.capacity_bits(from, to),
            Some(schedule) => schedule.capacity(from, to) as f64 / PICOSECONDS_PER_SECOND as f64,
        }
    }

    /// The mean rate in `[from, to)`, in bit/s: exactly the rate where that stays.
    pub fn mean_rate(&self, from: Time, to: Time) -> f64 {
        let (capacity, span) = (self.capacity(from, to), to.since(from).picoseconds());
        let whole = (capacity / u128::from(span)) as f64;
        whole + (capacity % u128::from(span)) as f64 / span as f64
    }

    /// The exact capacity of `[from, to)`, in bit * ps / s.
    pub fn capacity(&self, from: Time, to: Time) -> u128 {
        match &self.schedule {
            None => self.fixed.capacity(from, to),
            Some(schedule) => schedule.capacity(from, to),
        }
    }

    /// What could have been carried in `[0, now)` while there was nothing to send, in bit * ps / s.
    /// `bytes` are all whose transmission ends at `busy_until` or before. With a schedule, each
    /// transmission ends at a whole picosecond and uses what the link can carry until then.
    pub fn idle_capacity(&mut self, bytes: u64, busy_until: Time, now: Time) -> u128 {
        match &mut self.schedule {
            None => self.fixed.idle_capacity(bytes, busy_until, now),
            Some(schedule) => schedule.idle_until(now),
        }
    }
}

/// The size of the last packet before the first: larger than any.
const NO_PACKET: NonZeroU32 = NonZeroU32::MAX;

impl FixedRate {
    /// The serializer of a link that is idle.
    pub fn new(rate: Rate) -> Self {
        let rate = rate.bits_per_second();
        FixedRate { rate, last_bytes: NO_PACKET, whole: 0, remainder: 0, carry: 0 }
    }

    /// When the transmission of `bytes` that begins at `start`, before [`Time::AFTER_ALL_RUNS`],
    /// ends.
    #[inline]
    pub fn finish(&mut self, start: Time, bytes: u32) -> Time {
        self.prepare(bytes);
        self.finish_same(start)
    }

    /// The same for a packet of the size that the last call has named.
    #[inline]
    pub fn finish_same(&mut self, start: Time) -> Time {
        let carry = self.carry + self.remainder;
        let is_over = carry >= self.rate;
        self.carry = if is_over { carry - self.rate } else { carry };
        // Below 2^62 + 2^59: 65,535 bytes last at most six days, at 1 bit/s.
        Time::from_picoseconds(start.picoseconds() + self.whole + u64::from(is_over))
    }

    /// Transmission time of `bytes`, rounded down.
    #[inline]
    pub fn nominal_time(&mut self, bytes: u32) -> Time {
        self.prepare(bytes);
        Time::from_picoseconds(self.whole)
    }

    /// Bits that can be carried in `[from, to)`.
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        self.rate as f64 * to.since(from).seconds()
    }

    /// The exact capacity of `[from, to)`, in bit * ps / s.
    pub fn capacity(&self, from: Time, to: Time) -> u128 {
        u128::from(self.rate) * u128::from(to.since(from).picoseconds())
    }

    /// What could have been carried in `[0, now)` while there was nothing to send, in bit * ps / s.
    /// `bytes` are all whose transmission ends at `busy_until` or before.
    ///
    /// Exact without a count per packet: each transmission takes the time of its bits, except for
    /// the fraction that is carried.
    pub fn idle_capacity(&self, bytes: u64, busy_until: Time, now: Time) -> u128 {
        let work = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
        let later = u128::from(self.carry) + self.capacity(now, busy_until);
        self.capacity(Time::ZERO, now).saturating_sub(work.saturating_sub(later))
    }

    /// Lets the next transmission begin without the fraction that the last one has left, in
    /// bit * ps / s, which it returns.
    pub fn forget_carry(&mut self) -> u64 {
        std::mem::take(&mut self.carry)
    }

    /// Caches the quotient, so that a run of packets of one size needs one division.
    #[inline]
    fn prepare(&mut self, bytes: u32) {
        if bytes != self.last_bytes.get() {
            self.divide(bytes);
        }
    }

    #[cold]
    fn divide(&mut self, bytes: u32) {
        let work = u64::from(bytes) * 8 * PICOSECONDS_PER_SECOND; // below 2^63 for 65,535 bytes
        self.whole = work / self.rate;
        self.remainder = work % self.rate;
        self.last_bytes = NonZeroU32::new(bytes).unwrap_or(NO_PACKET);
    }
}

/// What a rate carries in a span, in bit * ps / s.
fn carries(rate: u64, span: Time) -> u128 {
    u128::from(rate) * u128::from(span.picoseconds())
}

/// The first whole picosecond, since `from`, at which `rate` has carried `capacity` bit * ps / s.
fn reaches(from: Time, capacity: u128, rate: u64) -> Time {
    let span = capacity.checked_div(u128::from(rate)).map(|whole| {
        let is_more = whole * u128::from(rate) < capacity;
        u64::try_from(whole + u128::from(is_more)).unwrap_or(u64::MAX)
    });
    span.map_or(Time::NEVER, |span| from.saturating_add(Time::from_picoseconds(span)))
}

impl RateSchedule {
    /// Adds a change behind all others.
    fn push(&mut self, change: RateChange) {
        let carried = self.changes.last().zip(self.carried.last()).map(|(last, carried)| {
            carried + carries(last.rate.bits_per_second(), change.at.since(last.at))
        });
        self.changes.push(change);
        self.carried.push(carried.unwrap_or(0));
    }

    /// All changes are known, and repeat with `period`.
    fn repeat(&mut self, period: Option<Time>) {
        let Some(length) = period else { return };
        self.period = period;
        self.first_period = self.carried_within(self.initial, length);
        self.later_period = self.carried_within(self.last_rate(), length);
    }

    /// The rate behind the last change, which applies until the first change of the next period.
    fn last_rate(&self) -> u64 {
        self.changes.last().map_or(self.initial, |change| change.rate.bits_per_second())
    }

    /// The number of periods that have passed at `time`, and the time since then.
    fn in_period(&self, time: Time) -> (u64, Time) {
        self.period.map_or((0, time), |period| {
            let (time, period) = (time.picoseconds(), period.picoseconds());
            (time / period, Time::from_picoseconds(time % period))
        })
    }

    /// The rate before the first change of a period.
    fn lead(&self, periods: u64) -> u64 {
        if periods > 0 { self.last_rate() } else { self.initial }
    }

    /// The rate at `time` and how long it holds.
    fn rate_at(&self, time: Time) -> (u64, Time) {
        let (periods, within) = self.in_period(time);
        let passed = self.changes.partition_point(|change| change.at <= within);
        let rate = match passed.checked_sub(1) {
            Some(last) => self.changes[last].rate.bits_per_second(),
            None => self.lead(periods),
        };
        let next = self.changes.get(passed).map(|change| change.at).or(self.period);
        (rate, next.map_or(Time::NEVER, |next| next.since(within)))
    }

    /// What can be carried in the first `span` of a period that begins at the rate `lead`, in bit * ps / s.
    fn carried_within(&self, lead: u64, span: Time) -> u128 {
        let passed = self.changes.partition_point(|change| change.at <= span);
        let Some(last) = passed.checked_sub(1) else { return carries(lead, span) };
        let since = span.since(self.changes[last].at);
        carries(lead, self.changes[0].at)
            + self.carried[last]
            + carries(self.changes[last].rate.bits_per_second(), since)
    }

    /// The same from the start of the run until `time`.
    fn carried_until(&self, time: Time) -> u128 {
        let (periods, within) = self.in_period(time);
        let whole = match periods {
            0 => 0,
            _ => self.first_period + u128::from(periods - 1) * self.later_period,
        };
        whole + self.carried_within(self.lead(periods), within)
    }

    /// When more than nothing, `capacity` bit * ps / s, has been carried since the start of a period that begins
    /// at the rate `lead`; [`Time::NEVER`] if never.
    fn reached_within(&self, lead: u64, capacity: u128) -> Time {
        let first = self.changes.first().map_or(Time::NEVER, |change| change.at);
        let before = carries(lead, first);
        if capacity <= before {
            return reaches(Time::ZERO, capacity, lead);
        }
        // Nothing is carried from the first change until itself, so that it is among those that are passed.
        let rest = capacity - before;
        let last = self.carried.partition_point(|&carried| carried < rest) - 1;
        let change = self.changes[last];
        reaches(change.at, rest - self.carried[last], change.rate.bits_per_second())
    }

    /// When `capacity` bit * ps / s, more than 0, has been carried since the start of the run.
    fn reached(&self, capacity: u128) -> Time {
        let Some(period) = self.period.filter(|_| capacity > self.first_period) else {
            return self.reached_within(self.initial, capacity);
        };
        let rest = capacity - self.first_period;
        let Some(whole) = (rest - 1).checked_div(self.later_period) else { return Time::NEVER };
        let periods = u64::try_from(whole + 1).unwrap_or(u64::MAX);
        let begin = Time::from_picoseconds(period.picoseconds().saturating_mul(periods));
        let within = self.reached_within(self.last_rate(), rest - whole * self.later_period);
        begin.saturating_add(within)
    }

    #[cold]
    #[inline(never)]
    fn packet_time(&self, now: Time, bytes: u32) -> Time {
        let (rate, _) = self.rate_at(now);
        let work = u64::from(bytes) * 8 * PICOSECONDS_PER_SECOND;
        work.checked_div(rate).map_or(Time::NEVER, Time::from_picoseconds)
    }

    fn sends_from(&self, time: Time) -> Time {
        if self.rate_at(time).0 > 0 {
            return time;
        }
        // Any rate carries the smallest part of a bit in the first picosecond.
        let first = self.reached(self.carried_until(time) + 1);
        if first == Time::NEVER { first } else { first.since(Time::from_picoseconds(1)) }
    }

    /// Bits, times 10^12, that can be carried in `[from, to)`.
    fn capacity(&self, from: Time, to: Time) -> u128 {
        let (rate, holds) = self.rate_at(from);
        if to.since(from) <= holds {
            return carries(rate, to.since(from));
        }
        self.carried_until(to) - self.carried_until(from)
    }

    /// What the link could have carried up to `now` while it had nothing to send.
    fn idle_until(&mut self, now: Time) -> u128 {
        if now > self.accounted_until {
            self.idle += self.capacity(self.accounted_until, now);
            self.accounted_until = now;
        }
        self.idle
    }

    /// A transmission begins at `start`, at the end of the one before or later.
    fn send(&mut self, start: Time, bytes: u32) -> Time {
        self.idle_until(start);
        let finish = self.finish(start, bytes);
        self.accounted_until = self.accounted_until.max(finish);
        finish
    }

    fn finish(&self, start: Time, bytes: u32) -> Time {
        self.end_of(start, u128::from(bytes) * 8)
    }

    fn end_of(&self, start: Time, bits: u128) -> Time {
        let work = bits.saturating_mul(u128::from(PICOSECONDS_PER_SECOND));
        let (rate, holds) = self.rate_at(start);
        if work <= carries(rate, holds) {
            return reaches(start, work, rate);
        }
        self.reached(self.carried_until(start).saturating_add(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: Rate = Rate::from_bits_per_second(1_000_000_000);

    fn schedule(rate: Rate, changes: &[RateChange], period: Option<Time>) -> RateSchedule {
        *Serializer::new(rate, changes, period).schedule.expect("the rate changes")
    }

    /// What a schedule carries in `[from, to)`, from change to change.
    fn walk(schedule: &RateSchedule, from: Time, to: Time) -> u128 {
        let (mut time, mut sum) = (from, 0);
        while time < to {
            let (rate, span) = schedule.rate_at(time);
            let span = span.min(to.since(time));
            sum += carries(rate, span);
            time += span;
        }
        sum
    }

    #[test]
    fn three_packets_at_a_third_of_a_picosecond_take_whole_time() {
        // 3 bit/s: a byte lasts 2.666... s, three bytes exactly 8 s.
        let mut serializer = Serializer::constant(Rate::from_bits_per_second(3));
        let mut time = Time::ZERO;
        for _ in 0..3 {
            time = serializer.finish(time, 1);
        }
        assert_eq!(time, Time::from_milliseconds(8_000));
    }

    #[test]
    fn a_change_of_rate_in_mid_packet_is_exact() {
        let changes = [
            RateChange::new(Time::from_picoseconds(4_000_000), Rate::from_bits_per_second(0)),
            RateChange::new(Time::from_milliseconds(1), Rate::from_bits_per_second(500_000_000)),
        ];
        let schedule = schedule(GIGABIT, &changes, None);
        // 1000 B: half in 4 us at 1 Gbit/s, none until 1 ms, the other half in 8 us.
        assert_eq!(schedule.finish(Time::ZERO, 1_000), Time::from_picoseconds(1_008_000_000));
    }

    #[test]
    fn a_repeating_schedule_carries_its_capacity_each_period() {
        let rate = Rate::from_bits_per_second(8_000);
        let changes = [
            RateChange::new(Time::from_milliseconds(500), Rate::from_bits_per_second(0)),
            RateChange::new(Time::from_milliseconds(750), rate),
        ];
        let schedule = schedule(rate, &changes, Some(Time::from_milliseconds(1_000)));
        // 750 bytes a period: 1500 bytes take exactly two.
        assert_eq!(schedule.finish(Time::ZERO, 1_500), Time::from_milliseconds(2_000));
    }

    /// The link carries a bit in the first microsecond of each millisecond. A packet may begin half-way through
    /// that microsecond, or behind it.
    #[test]
    fn a_packet_may_take_as_many_periods_as_it_has_bits() {
        let megabit = Rate::from_bits_per_second(1_000_000);
        let nothing = Rate::from_bits_per_second(0);
        let us = |time: u64| Time::from_picoseconds(time * 1_000_000);
        let changes = [(0, megabit), (1, nothing)].map(|(at, rate)| RateChange::new(us(at), rate));
        let repeated = schedule(megabit, &changes, Some(us(1_000)));
        let half = Time::from_picoseconds(5_000_500_000);
        for bytes in [1, 2, 1_000, 65_535_u32] {
            let bits = u64::from(bytes) * 8;
            let expected = half + us(1_000 * bits);
            assert_eq!(repeated.finish(half, bytes), expected, "{bytes} B");
            let whole = us(5_000 + 1_000 * (bits - 1) + 1);
            assert_eq!(repeated.finish(us(5_000), bytes), whole, "{bytes} B");
            assert_eq!(repeated.finish(us(1), bytes), us(1_000 * bits + 1), "{bytes} B");
        }
        // At a millionth of a bit in a period the packet ends after all runs.
        let bit = Rate::from_bits_per_second(1);
        let changes = [RateChange::new(us(0), bit), RateChange::new(us(1), nothing)];
        let end = schedule(bit, &changes, Some(us(1_000))).finish(us(0), 1_500);
        assert!(end >= Time::AFTER_ALL_RUNS);
    }

    #[test]
    fn whole_periods_have_the_capacity_of_their_changes() {
        let changes = [(300, 5_000), (700, 0), (900, 9_000)].map(|(at, rate)| RateChange {
            at: Time::from_milliseconds(at),
            rate: Rate::from_bits_per_second(rate),
        });
        let period = Time::from_milliseconds(1_000);
        let schedule = schedule(Rate::from_bits_per_second(8_000), &changes, Some(period));
        for from in (0..3_500).step_by(130) {
            for length in (0..9_000).step_by(370) {
                let from = Time::from_milliseconds(from);
                let to = from + Time::from_milliseconds(length);
                assert_eq!(
                    schedule.capacity(from, to),
                    walk(&schedule, from, to),
                    "{from:?}, {to:?}"
                );
            }
        }
        // 300 ms at 9 kbit/s, the last rate, then 400 ms at 5 kbit/s and 100 ms at 9 kbit/s: 5,600 bits; in
        // the first period 300 ms at 8 kbit/s.
        let months = Time::from_milliseconds(1_000_000_000);
        let bits = schedule.capacity(Time::ZERO, months) / u128::from(PICOSECONDS_PER_SECOND);
        assert_eq!(bits, 5_300 + 999_999 * 5_600);
    }
    /// Of random schedules, with and without a period: the end of a transmission is the first picosecond at which
    /// the link has carried it, and a link that stands still sends from the next rate above zero on.
    #[test]
    fn a_search_finds_what_a_walk_finds() {
        let mut seed = 1_u64;
        let mut draw = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..2_000 {
            let mut at = draw(3);
            let changes: Vec<RateChange> = (0..=draw(5))
                .map(|_| {
                    let rate =
                        Rate::from_bits_per_second([0, 0, 1, 7, 1_000_003][draw(5) as usize]);
                    let change = RateChange::new(Time::from_picoseconds(at), rate);
                    at += 1 + draw(1 << 40);
                    change
                })
                .collect();
            let period = (draw(2) == 0).then(|| Time::from_picoseconds(at + (1 << 38)));
            let rate = Rate::from_bits_per_second(1 + draw(2_000_000));
            let schedule = schedule(rate, &changes, period);
            let from = Time::from_picoseconds(draw(4 * at));
            let (bits, to) =
                (u128::from(1 + draw(12_000)), from + Time::from_picoseconds(draw(3 * at)));
            assert_eq!(schedule.capacity(from, to), walk(&schedule, from, to), "{schedule:?}");
            let sends = schedule.sends_from(from);
            let ends = schedule.end_of(from, bits);
            let work = bits * u128::from(PICOSECONDS_PER_SECOND);
            let days = from + Time::from_milliseconds(1_000_000_000);
            let carried = schedule.capacity(from, days);
            assert_eq!(sends == Time::NEVER, carried == 0, "{schedule:?}");
            assert_eq!(ends <= days, carried >= work, "{schedule:?}");
            if ends < Time::from_milliseconds(100_000) {
                let one = Time::from_picoseconds(1);
                assert_eq!(walk(&schedule, from, sends), 0, "{schedule:?}");
                assert!(schedule.rate_at(sends).0 > 0, "{schedule:?}");
                assert!(walk(&schedule, from, ends) >= work, "{schedule:?}");
                assert!(walk(&schedule, from, ends.since(one)) < work, "{schedule:?}");
            }
        }
    }
}
