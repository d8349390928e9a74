//! COBALT against the times that its rules give by hand, and against a second reading of them.

use super::MS;
use crate::queue::cake::cobalt::{BLUE_ONE, Cobalt, Settings};
use crate::random::{Random, stream};
use crate::units::Time;

fn settings() -> Settings {
    Settings::new(MS(100), None, 1_500)
}

/// A packet that cannot be marked and has waited for so many milliseconds; returns whether it is dropped.
fn asks(cobalt: &mut Cobalt, now: Time, waited_ms: u64) -> bool {
    cobalt.on_dequeue(&settings(), now, MS(waited_ms), 0, false, || unreachable!()).drops
}

/// When packets are dropped of those that leave each millisecond, from `from` on, after a wait of 50 ms.
fn drops(cobalt: &mut Cobalt, from: u64) -> Vec<u64> {
    let times = from..from + 250;
    times.filter(|&now| asks(cobalt, MS(now), 50)).map(|now| now - from).collect()
}

/// interval / sqrt(n) after drop n: 100, 170.7, 228.4, 278.4, 323.1 ms (each at the next millisecond).
/// A fresh queue stores no root yet, so that it does not wait for the first interval.
#[test]
fn drops_follow_the_square_root_from_the_first_interval_on() {
    let mut cobalt = Cobalt::default();
    assert!(!asks(&mut cobalt, MS(999), 1));
    assert_eq!(drops(&mut cobalt, 1_000), [1, 71, 129, 179, 224]);
    // In time again: the count falls step by step to zero.
    (2_000..5_000).for_each(|now| assert!(!asks(&mut cobalt, MS(now), 1)));
    let times: Vec<u64> =
        (5_000..5_350).filter(|&now| asks(&mut cobalt, MS(now), 50)).map(|t| t - 5_000).collect();
    assert_eq!(times, [100, 171, 229, 279, 324]);
}

/// Ten overflow drops, each more than a target after the other, make 10/256; 160 visits to the empty queue
/// take 1/4096 each.
#[test]
fn blue_rises_at_overflow_and_falls_when_the_queue_is_empty() {
    let (mut cobalt, settings) = (Cobalt::default(), settings());
    let mut now = MS(10);
    for _ in 0..10 {
        cobalt.on_overflow(&settings, now);
        cobalt.on_overflow(&settings, now); // within a target: nothing more
        now += MS(6);
    }
    assert_eq!(u32::from(cobalt.probability()) * 256, 10 * u32::from(BLUE_ONE));
    for visits in 1..=160 {
        cobalt.on_empty(&settings, now);
        assert_eq!(cobalt.probability(), 160 - visits);
        now += MS(6);
    }
    assert!(cobalt.is_at_rest(now + MS(1_000)));
}

/// BLUE drops with its probability, whatever the wait, and packets that could be marked, too.
#[test]
fn blue_drops_at_random_and_marks_nothing() {
    let (mut cobalt, settings) = (Cobalt::default(), settings());
    for burst in 1..=64 {
        cobalt.on_overflow(&settings, MS(10 * burst));
    }
    let mut random = stream(1, "blue");
    let mut dropped = 0;
    for number in 0..40_000 {
        let draw = || (random.next_u64() % u64::from(BLUE_ONE)) as u16;
        let now = MS(100_000 + number);
        let signal = cobalt.on_dequeue(&settings, now, Time::ZERO, 0, true, draw);
        assert!(!signal.is_due, "nothing has waited");
        dropped += u32::from(signal.drops);
    }
    // 64/256 of 40,000, with a standard deviation of 87.
    assert!((9_700..10_300).contains(&dropped), "{dropped}");
}

/// With `ingress`, two packets of each bulk flow may wait.
#[test]
fn bulk_flows_behind_the_bottleneck_are_allowed_more_delay() {
    let rate = Some(crate::units::Rate::from_bits_per_second(12_000_000)); // a packet takes 1 ms
    let settings = Settings::new(MS(100), rate, 1_500);
    let first = |bulk_flows, waited: u64| {
        let mut cobalt = Cobalt::default();
        let mut ask = |now| {
            let waited = MS(waited) + Time::from_picoseconds(1);
            cobalt.on_dequeue(&settings, MS(now), waited, bulk_flows, false, || 0).drops
        };
        (0..10).find(|&now| ask(now))
    };
    assert_eq!((first(0, 4), first(0, 5)), (None, Some(1)), "the target is 5 ms");
    assert_eq!((first(10, 19), first(10, 20)), (None, Some(1)), "20 packets");
}
