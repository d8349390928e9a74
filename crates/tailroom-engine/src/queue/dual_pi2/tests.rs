//! Scripted arrivals at `DualPI2`, with expected values computed by hand from RFC 9332.

use super::*;
use crate::queue::script;

fn params(json: &str) -> DualPi2Params {
    serde_json::from_str(json).expect("valid parameters")
}

/// A pair of queues at 8 Mbit/s, where a packet of 1,000 bytes takes 1 ms.
struct Pair {
    queue: DualPi2,
    buffer: Buffer,
    sequence: u64,
}

impl Pair {
    fn new(json: &str) -> Self {
        let queue = DualPi2::new(&params(json), &script::link(8_000_000));
        Pair { queue, buffer: Buffer::default(), sequence: 0 }
    }

    /// Creates a pair whose controller stays at the base probability `base`.
    fn held_at(base: f64) -> Self {
        let mut pair = Pair::new(r#"{"limit": "2000 packets"}"#);
        pair.queue.controller.base = base;
        pair.queue.controller.next_update = Time::NEVER;
        pair
    }

    fn arrive(&mut self, at: Time, bytes: u32, ecn: Ecn) {
        let packet = script::packet(at, 0, self.sequence, bytes, ecn);
        self.sequence += 1;
        self.queue.enqueue(packet, &mut self.buffer);
    }

    fn leave(&mut self, at: Time) -> Option<Transit> {
        script::sent(&mut self.queue, at, &mut self.buffer)
    }

    /// Returns the numbers of marks and drops among `count` packets that do not wait.
    fn marks_and_drops(&mut self, count: u32, ecn: Ecn) -> (u32, u32) {
        let (mut marks, mut drops) = (0, 0);
        for _ in 0..count {
            self.arrive(Time::ZERO, 1_000, ecn);
            match self.leave(Time::ZERO) {
                Some(packet) => marks += u32::from(packet.ecn() == Ecn::Ce),
                None => drops += 1,
            }
        }
        let dropped = script::dropped(&mut self.buffer);
        assert!(dropped.len() == drops as usize);
        assert!(dropped.iter().all(|drop| drop.2 == DropReason::Head));
        (marks, drops)
    }

    fn base(&self) -> f64 {
        self.queue.controller.base
    }
}

fn ms(milliseconds: u64) -> Time {
    Time::from_milliseconds(milliseconds)
}

fn us(microseconds: u64) -> Time {
    Time::from_picoseconds(1_000_000 * microseconds)
}

fn assert_near(found: f64, expected: f64, case: &str) {
    assert!((found - expected).abs() < 1e-12, "{case}: {found}, expected {expected}");
}

/// RFC 9332 appendix A.1: p' += alpha (curq - target) + beta (curq - prevq), computed by hand for a
/// packet that waits from 0 to 48 ms and then an empty buffer; alpha = 0.16, beta = 3.2, target 15
/// ms.
#[test]
fn the_base_probability_follows_the_delay() {
    let mut pair = Pair::new("{}");
    pair.arrive(ms(0), 1_000, Ecn::NotEct);
    for (at, expected) in [
        (15, 0.0),
        (16, 0.051_36), // 0.16 * 0.001 + 3.2 * 0.016
        (31, 0.051_36), // unchanged between the updates
        (32, 0.105_28), // + 0.16 * 0.017 + 3.2 * 0.016
        (48, 0.161_76), // + 0.16 * 0.033 + 3.2 * 0.016
    ] {
        pair.arrive(ms(at), 1_000, Ecn::NotEct);
        assert_near(pair.base(), expected, &format!("{at} ms"));
    }
    while pair.leave(ms(48)).is_some() {}
    for (at, expected) in [
        (64, 0.005_76), // - 0.16 * 0.015 - 3.2 * 0.048
        (80, 0.003_36), // - 0.16 * 0.015 from now on
        (96, 0.000_96),
        (112, 0.0), // never below zero
    ] {
        assert!(pair.leave(ms(at)).is_none());
        assert_near(pair.base(), expected, &format!("{at} ms"));
    }
    // The same after a long pause: the updates at 64, 80 and 96 ms are performed at once.
    let mut pair = Pair::new("{}");
    pair.arrive(ms(0), 1_000, Ecn::NotEct);
    for at in [16, 32, 48] {
        pair.queue.keep_up(ms(at), &pair.buffer);
    }
    while pair.leave(ms(48)).is_some() {}
    assert!(pair.leave(ms(111)).is_none());
    assert_near(pair.base(), 0.000_96, "after a pause");
    assert_eq!(pair.queue.controller.next_update, ms(112));
}

/// RFC 9332 appendix A.2: the greater of the two delays counts.
#[test]
fn the_queue_with_the_longer_delay_drives_the_controller() {
    for (first, second) in [(Ecn::NotEct, Ecn::Ect1), (Ecn::Ect1, Ecn::NotEct)] {
        let mut pair = Pair::new("{}");
        pair.arrive(ms(0), 1_000, first);
        pair.arrive(ms(10), 1_000, second);
        pair.queue.keep_up(ms(16), &pair.buffer);
        assert_near(pair.base(), 0.051_36, "16 ms, not 6 ms");
    }
}

/// A delay of 1 s from 0 on: 0.16 * 0.985 + 3.2 * 1 exceeds 1.
#[test]
fn the_base_probability_does_not_exceed_one() {
    let mut pair = Pair::new(r#"{"update_interval": "1 s"}"#);
    pair.arrive(ms(0), 1_000, Ecn::NotEct);
    pair.arrive(ms(1_000), 1_000, Ecn::NotEct);
    assert_near(pair.base(), 1.0, "1 s");
}

/// RFC 9332 sec. 2.1: L4S packets are marked with k p', k = 2, classic packets with p'^2. The
/// deterministic marks leave less than one packet of difference.
#[test]
fn the_classic_probability_is_the_square_of_the_base_probability() {
    for (base, l4s, classic) in
        [(0.0, 0, 0), (0.1, 2_000, 100), (0.2, 4_000, 400), (0.3, 6_000, 900), (0.45, 9_000, 2_025)]
    {
        let is_near = |found: u32, expected: u32| found.abs_diff(expected) <= 1;
        let case = format!("p' = {base}");
        let (marks, drops) = Pair::held_at(base).marks_and_drops(10_000, Ecn::Ect1);
        assert!(is_near(marks, l4s) && drops == 0, "{case}: {marks} of L4S marked");
        let (marks, drops) = Pair::held_at(base).marks_and_drops(10_000, Ecn::Ect0);
        assert!(is_near(marks, classic) && drops == 0, "{case}: {marks} of ECT(0) marked");
        let (marks, drops) = Pair::held_at(base).marks_and_drops(10_000, Ecn::NotEct);
        assert!(is_near(drops, classic) && marks == 0, "{case}: {drops} of Not-ECT dropped");
    }
}

/// RFC 9332 appendix A.2: from p' = 1 / k on (25 % of classic packets), packets of both queues are
/// dropped with p'^2, and the other L4S packets are marked.
#[test]
fn overload_drops_in_both_queues() {
    let near = Pair::held_at(0.499).marks_and_drops(1_000, Ecn::Ect1);
    assert!((997..=998).contains(&near.0) && near.1 == 0, "{near:?}");
    // 0.499^2 = 0.249.
    assert_eq!(Pair::held_at(0.499).marks_and_drops(1_000, Ecn::Ect0), (249, 0));
    for (base, dropped) in [(0.5, 250), (0.6, 360), (1.0, 1_000)] {
        for ecn in [Ecn::Ect0, Ecn::NotEct] {
            let (marks, drops) = Pair::held_at(base).marks_and_drops(1_000, ecn);
            assert!(drops.abs_diff(dropped) <= 1 && marks == 0, "{base}, {ecn:?}: {drops}");
        }
        let (marks, drops) = Pair::held_at(base).marks_and_drops(1_000, Ecn::Ect1);
        assert!(drops.abs_diff(dropped) <= 1 && marks == 1_000 - drops, "{base}: {drops}");
    }
}

/// Of three L4S packets that arrive together, the second has waited 999 us or 1 ms; the last one is
/// alone in its queue and is not marked however long it has waited.
#[test]
fn without_a_ramp_l4s_packets_are_marked_from_the_threshold_on() {
    for (waited, expected) in [(999, Ecn::Ect1), (1_000, Ecn::Ce)] {
        let mut pair = Pair::held_at(0.0);
        let step = params(r#"{"l4s_threshold": "1 ms", "ramp": "0 ms"}"#);
        let step = DualPi2::new(&step, &script::link(8_000_000));
        (pair.queue.threshold, pair.queue.ramp_s) = (step.threshold, step.ramp_s);
        for _ in 0..3 {
            pair.arrive(Time::ZERO, 1_000, Ecn::Ect1);
        }
        let found = [us(0), us(waited), us(5_000)].map(|at| pair.leave(at).map(Transit::ecn));
        assert_eq!(found, [Some(Ecn::Ect1), Some(expected), Some(Ecn::Ect1)], "{waited} us");
        assert_eq!(pair.buffer.take_marks(), u64::from(expected == Ecn::Ce));
    }
    // The threshold does not apply to classic packets.
    let mut pair = Pair::held_at(0.0);
    pair.arrive(Time::ZERO, 1_000, Ecn::Ect0);
    pair.arrive(Time::ZERO, 1_000, Ecn::Ect0);
    assert_eq!(pair.leave(us(10_000)).map(Transit::ecn), Some(Ecn::Ect0));
}

/// RFC 9332 appendix A.1, figures 2 and 5: 0 at 800 us, 1 at 1200 us, linear between; and at least
/// k p'.
#[test]
fn the_ramp_marks_in_proportion_to_the_delay() {
    for (waited, base, expected) in [
        (800, 0.0, 0),
        (900, 0.0, 250),
        (1_000, 0.0, 500),
        (1_000, 0.3, 600),
        (1_100, 0.3, 750),
        (1_200, 0.0, 1_000),
    ] {
        let mut pair = Pair::held_at(base);
        for _ in 0..1_001 {
            pair.arrive(Time::ZERO, 1_000, Ecn::Ect1);
        }
        let is_marked = |_| pair.leave(us(waited)).expect("a packet waits").ecn() == Ecn::Ce;
        let marks = (0..1_000).map(is_marked).filter(|&is_marked| is_marked).count();
        assert!(marks.abs_diff(expected) <= 1, "{waited} us, p' = {base}: {marks}");
    }
}

#[test]
fn the_codepoint_selects_the_queue_and_l4s_packets_go_first() {
    let mut pair = Pair::held_at(0.0);
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::NotEct] {
        pair.arrive(Time::ZERO, 1_000, ecn);
    }
    let order: Vec<u64> = std::iter::from_fn(|| pair.leave(Time::ZERO))
        .map(|packet| packet.packet(0).sequence)
        .collect();
    assert_eq!(order, [2, 3, 0, 1, 4]);
}

/// A sporadic L4S packet leaves next, however much classic traffic waits.
#[test]
fn an_l4s_packet_does_not_wait_behind_classic_packets() {
    let mut pair = Pair::held_at(0.0);
    (0..1_000).for_each(|_| pair.arrive(Time::ZERO, 1_000, Ecn::NotEct));
    for round in 0..90 {
        assert_eq!(pair.leave(ms(round)).map(Transit::ecn), Some(Ecn::NotEct));
        pair.arrive(ms(round), 1_000, Ecn::Ect1);
        assert_eq!(pair.leave(ms(round)).map(Transit::ecn), Some(Ecn::Ect1));
    }
    let gauges = pair.queue.gauges(ms(90));
    assert_eq!(gauges[4], ("l4s_delay_s", 0.0));
    // Packet n of those that arrived at 0 left at n ms: 0 to 89 ms.
    assert_near(gauges[3].1, 0.044_5, "mean classic delay");
}

/// RFC 9332 sec. 4.2.2: at a weight of 1/16, a classic packet at the head waits for 15 L4S packets,
/// both after a time without L4S traffic and later.
#[test]
fn a_classic_packet_waits_for_fifteen_l4s_packets() {
    let mut pair = Pair::held_at(0.0);
    pair.arrive(Time::ZERO, 1_000, Ecn::NotEct);
    assert_eq!(pair.leave(Time::ZERO).map(Transit::ecn), Some(Ecn::NotEct));
    (0..3).for_each(|_| pair.arrive(Time::ZERO, 1_000, Ecn::NotEct));
    (0..50).for_each(|_| pair.arrive(Time::ZERO, 1_000, Ecn::Ect1));
    let order: Vec<_> = std::iter::from_fn(|| pair.leave(Time::ZERO)).map(Transit::ecn).collect();
    let classic = |(_, ecn): &(usize, Ecn)| *ecn == Ecn::NotEct;
    let places: Vec<_> = order.into_iter().enumerate().filter(classic).map(|at| at.0).collect();
    assert_eq!(places, [15, 31, 47]);
}

/// Classic traffic gets 1/16 of the bytes while L4S traffic is always backlogged, whatever the
/// packet sizes.
#[test]
fn classic_traffic_has_its_share_when_l4s_overloads_the_link() {
    for (classic_bytes, l4s_bytes) in [(1_000, 1_000), (100, 1_000), (1_000, 100)] {
        let mut pair = Pair::held_at(0.0);
        let mut sent = [0, 0];
        for _ in 0..20_000 {
            while pair.queue.classic.list.packets() < 2 {
                pair.arrive(Time::ZERO, classic_bytes, Ecn::NotEct);
            }
            while pair.queue.l4s.list.packets() < 2 {
                pair.arrive(Time::ZERO, l4s_bytes, Ecn::Ect1);
            }
            let packet = pair.leave(Time::ZERO).expect("both queues have packets");
            sent[usize::from(packet.ecn() == Ecn::NotEct)] += packet.bytes();
        }
        let share = f64::from(sent[1]) / f64::from(sent[0] + sent[1]);
        // The tolerance exceeds one packet of the 2 MB or more that leave.
        assert!((share - 0.062_5).abs() < 0.001, "{classic_bytes}, {l4s_bytes}: {share}");
    }
}

#[test]
fn both_queues_share_the_limit() {
    let mut pair = Pair::new(r#"{"limit": "3 packets"}"#);
    for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct] {
        pair.arrive(Time::ZERO, 1_000, ecn);
    }
    let dropped = script::dropped(&mut pair.buffer);
    assert_eq!(dropped, [(0, 3, DropReason::Overflow), (0, 4, DropReason::Overflow)]);
}

/// RFC 9332 appendix A.1, figure 3: a packet of any size is dropped if the waiting bytes and an
/// MTU, here 1,000 bytes, exceed the limit.
#[test]
fn small_packets_need_room_for_the_largest_packet() {
    let mut pair = Pair::new(r#"{"limit": "2500 B"}"#);
    for bytes in [1_000, 500, 100, 100] {
        pair.arrive(Time::ZERO, bytes, Ecn::NotEct); // 0, 1,000, 1,500 and 1,600 bytes wait
    }
    assert_eq!(script::dropped(&mut pair.buffer), [(0, 3, DropReason::Overflow)]);
}

#[test]
fn the_defaults_are_those_of_the_rfc() {
    let written = serde_json::to_value(params("{}")).expect("the parameters serialize");
    let expected = serde_json::json!({
        "limit": "250 ms", "target": "15 ms", "update_interval": "16 ms",
        "alpha": 0.16, "beta": 3.2, "coupling": 2.0, "l4s_threshold": "800 us",
        "ramp": "400 us", "classic_share": 0.0625,
    });
    assert_eq!(written, expected);
}

/// A packet waits for 500,000 updates on a link that stands still. At once they lead where they lead one by one,
/// apart from rounding: the probability falls while the delay is below the target, and rises above it.
#[test]
fn updates_at_once_lead_where_single_ones_lead() {
    for (alpha, beta, target_s, base) in
        [(1e-9, 1e-9, 0.015, 0.5), (1e-7, 1e-9, 6_000.0, 0.9), (1e-10, 1e-5, 0.015, 0.0)]
    {
        let mut at_once = Controller::new(&params("{}"));
        (at_once.alpha, at_once.beta) = (alpha, beta);
        (at_once.target_s, at_once.base) = (target_s, base);
        let mut single = at_once.clone();
        for update in 1..=500_000 {
            single.catch_up(ms(16 * update), Some(ms(1)));
        }
        at_once.catch_up(ms(16 * 500_000), Some(ms(1)));
        let difference = (at_once.base - single.base).abs();
        assert!(difference <= 1e-6 * single.base.max(1e-3), "{alpha} {target_s}: {difference}");
        assert_eq!(at_once.next_update, single.next_update);
    }
}
