use super::*;
use crate::queue::script;

const MS: fn(u64) -> Time = Time::from_milliseconds;

fn settings() -> Settings {
    Settings::new(&PieParams::default(), &script::link(8_000_000))
}

/// The state of a congested queue whose burst allowance is used up.
fn state(probability: f64, delay_ms: u64, delay_before_ms: u64) -> PieState {
    PieState {
        probability,
        burst_allowance: Time::ZERO,
        delay: MS(delay_ms),
        delay_before: MS(delay_before_ms),
        ..PieState::new(&settings())
    }
}

/// Returns the probability after one update.
fn updated(probability: f64, delay_ms: u64, delay_before_ms: u64) -> f64 {
    let mut state = state(probability, delay_ms, delay_before_ms);
    state.advance(&settings(), MS(15));
    state.probability
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-14
}

#[test]
fn steps_are_smaller_at_lower_probabilities() {
    // 0.125 (35 ms - 15 ms) + 1.25 (35 ms - 25 ms) = 0.0025 + 0.0125 = 0.015, divided by the
    // divisor of the band; a bound belongs to the band above it.
    let steps = [
        ([0.0, 0.000_000_9], 0.000_007_324_218_75),  // / 2048
        ([0.000_001, 0.000_009], 0.000_029_296_875), // / 512
        ([0.000_01, 0.000_09], 0.000_117_187_5),     // / 128
        ([0.000_1, 0.000_9], 0.000_468_75),          // / 32
        ([0.001, 0.009], 0.001_875),                 // / 8
        ([0.01, 0.09], 0.007_5),                     // / 2
        ([0.1, 0.9], 0.015),
    ];
    for (band, step) in steps {
        assert!(band.iter().all(|from| is_near(updated(*from, 35, 25), from + step)), "{step}");
    }
}

#[test]
fn a_delay_below_the_target_lowers_the_probability() {
    // 0.125 (5 ms - 15 ms) + 1.25 (5 ms - 6 ms) = -0.00125 - 0.00125 = -0.0025
    assert!(is_near(updated(0.5, 5, 6), 0.497_5));
    assert!(is_near(updated(0.05, 5, 6), 0.048_75));
    assert!(is_near(updated(0.000_000_5, 5, 6), 0.0)); // 5e-7 - 0.0025 / 2048 is below zero
}

#[test]
fn caps_upward_steps_from_a_tenth_on() {
    // 0.125 (100 ms - 15 ms) + 1.25 (100 ms) = 0.010625 + 0.125 = 0.135625
    assert!(is_near(updated(0.1, 100, 0), 0.12));
    assert!(is_near(updated(0.09, 100, 0), 0.09 + 0.067_812_5));
    assert!(is_near(updated(0.99, 100, 0), 1.0));
    // 0.125 (0 - 15 ms) + 1.25 (0 - 100 ms) = -0.001875 - 0.125 = -0.126875, not capped
    assert!(is_near(updated(0.5, 0, 100), 0.373_125));
}

#[test]
fn decays_without_delay() {
    // (0.5 - 0.125 * 15 ms) * 0.98 = 0.498125 * 0.98
    assert!(is_near(updated(0.5, 0, 0), 0.488_162_5));
    // One of the delays is not zero: 0.125 (1 ms - 15 ms) + 1.25 * 1 ms = -0.0005
    assert!(is_near(updated(0.5, 1, 0), 0.499_5));
}

#[test]
fn late_updates_equal_punctual_updates() {
    for (probability, delay, before) in [(0.9, 0, 0), (0.0, 40, 0), (0.3, 10, 90)] {
        let mut late = state(probability, delay, before);
        late.burst_allowance = MS(150);
        let mut punctual = late;
        for update in 1..=300 {
            punctual.advance(&settings(), MS(15 * update));
        }
        late.advance(&settings(), MS(4_514));
        assert_eq!(late.probability.to_bits(), punctual.probability.to_bits());
        assert_eq!(late.next_update, MS(4_515));
        assert_eq!((late.delay_before, late.burst_allowance), (MS(delay), Time::ZERO));
    }
}

/// 500,000 updates at once lead where they lead one by one, apart from rounding: through every range of the
/// probability, upwards and downwards, and to its ends.
#[test]
fn updates_at_once_lead_where_single_ones_lead() {
    for (alpha, probability, delay) in
        [(1e-4, 0.0, 40), (1e-7, 0.0, 40), (1e-4, 0.5, 5), (1e-5, 1.0, 14), (1e-9, 0.05, 2_000)]
    {
        assert_at_once(alpha, probability, delay, 500_000);
    }
}

/// Without delay, the probability also decays: 2,000 updates lead from 1 to 1e-12 and below.
#[test]
fn updates_at_once_of_an_empty_queue_lead_where_single_ones_lead() {
    for (alpha, probability) in [(0.0, 1.0), (1e-12, 0.3), (1e-9, 1.0), (1e-5, 1.0), (0.125, 1.0)] {
        for updates in [600, 700, 1_000, 2_000] {
            assert_at_once(alpha, probability, 0, updates);
        }
    }
}

fn assert_at_once(alpha: f64, probability: f64, delay: u64, updates: u64) {
    let settings = Settings { alpha, ..settings() };
    let mut at_once = state(probability, delay, delay);
    let mut single = at_once;
    for update in 1..=updates {
        single.advance(&settings, MS(15 * update));
    }
    at_once.advance(&settings, MS(15 * updates));
    let difference = (at_once.probability - single.probability).abs();
    assert!(difference <= 1e-6 * single.probability.max(1e-3), "{alpha} {delay}: {difference}");
    assert_eq!(at_once.next_update, single.next_update);
}

#[test]
fn months_of_silence_take_few_steps() {
    for probability in [0.0, 1.0] {
        for delay in [0, 40] {
            let mut state = state(probability, delay, 0);
            let days = MS(17_280_000_000); // 200 days: 1,152,000,000 updates
            state.advance(&settings(), days);
            assert_eq!(state.next_update, days + MS(15));
            assert!(is_near(state.probability, if delay == 0 { 0.0 } else { 1.0 }));
        }
    }
}

#[test]
fn a_burst_passes_until_its_allowance_is_used_up() {
    let (settings, mut random) = (settings(), script::link(8_000_000).random());
    let mut state = PieState { burst_allowance: MS(150), ..state(1.0, 100, 100) };
    let mut verdict = |state: &mut PieState, picoseconds| {
        state.advance(&settings, Time::from_picoseconds(picoseconds));
        state.on_arrival(&settings, 50_000, Ecn::NotEct, &mut random)
    };
    // The allowance covers ten updates of 15 ms. Every later packet is dropped, as the probability
    // is one.
    assert_eq!(verdict(&mut state, 1), Verdict::Accept);
    assert_eq!(verdict(&mut state, 149_999_999_999), Verdict::Accept);
    assert_eq!(verdict(&mut state, 150_000_000_000), Verdict::Drop(DropReason::Early));
    // A calm queue regains the allowance; a nonzero probability or a delay of half the target
    // prevents this.
    let allowance = |probability, delay, before| {
        let mut state = self::state(probability, delay, before);
        let mut random = script::link(8_000_000).random();
        state.on_arrival(&settings, 0, Ecn::NotEct, &mut random);
        state.burst_allowance
    };
    assert_eq!(allowance(0.0, 7, 7), MS(150));
    assert_eq!(allowance(0.0, 8, 7), Time::ZERO);
    assert_eq!(allowance(0.0, 7, 8), Time::ZERO);
    assert_eq!(allowance(0.001, 7, 7), Time::ZERO);
}

/// RFC 8033 sec. 4.4: both delays must be "less than half" of the target of 15 ms.
#[test]
fn a_delay_of_exactly_half_the_target_does_not_renew_the_burst_allowance() {
    let (settings, half) = (settings(), Time::from_picoseconds(7_500_000_000));
    for (delay, delay_before) in [(half, MS(7)), (MS(7), half)] {
        let mut state = PieState { delay, delay_before, ..state(0.0, 0, 0) };
        let mut random = script::link(8_000_000).random();
        state.on_arrival(&settings, 0, Ecn::NotEct, &mut random);
        assert_eq!(state.burst_allowance, Time::ZERO, "{delay:?}, before {delay_before:?}");
    }
}

/// RFC 8033 sec. 5.4: a packet is accepted without a draw while the sum is less than 0.85. Here the
/// sum is 0.85, so 85 of 100 packets are dropped, with a standard deviation of 3.6.
#[test]
fn a_packet_with_which_the_sum_reaches_its_lower_bound_may_be_dropped() {
    let (settings, mut random) = (settings(), script::link(8_000_000).random());
    let is_dropped = |_: &u32| {
        let verdict = state(0.85, 100, 100).on_arrival(&settings, 50_000, Ecn::NotEct, &mut random);
        verdict == Verdict::Drop(DropReason::Early)
    };
    let dropped = (0..100).filter(is_dropped).count();
    assert!((70..100).contains(&dropped), "{dropped}");
}

/// Returns the verdict about a packet that is dropped unless an exception applies.
fn verdict(probability: f64, delay_before_ms: u64, backlog: u64, ecn: Ecn) -> Verdict {
    let mut state = state(probability, 100, delay_before_ms);
    state.sum = SUM_OF_CERTAIN_DROP;
    state.on_arrival(&settings(), backlog, ecn, &mut script::link(8_000_000).random())
}

#[test]
fn short_delays_and_backlogs_prevent_drops() {
    let early = Verdict::Drop(DropReason::Early);
    // Half of the target is 7.5 ms.
    assert_eq!(verdict(0.199, 7, 50_000, Ecn::NotEct), Verdict::Accept);
    assert_eq!(verdict(0.199, 8, 50_000, Ecn::NotEct), early);
    assert_eq!(verdict(0.2, 7, 50_000, Ecn::NotEct), early);
    // A backlog of two packets of 1,000 bytes is short.
    assert_eq!(verdict(0.9, 100, 2_000, Ecn::NotEct), Verdict::Accept);
    assert_eq!(verdict(0.9, 100, 2_001, Ecn::NotEct), early);
}

#[test]
fn marks_up_to_a_tenth_and_drops_above() {
    let early = Verdict::Drop(DropReason::Early);
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        assert_eq!(verdict(0.1, 100, 50_000, ecn), Verdict::Mark);
        assert_eq!(verdict(0.100_1, 100, 50_000, ecn), early);
    }
    assert_eq!(verdict(0.05, 100, 50_000, Ecn::NotEct), early);
}

/// Returns the numbers of packets from one drop to the next at a drop probability of 1/16.
fn gaps(derandomize: bool) -> Vec<u32> {
    let params = PieParams { derandomize, ..PieParams::default() };
    let link = script::link(8_000_000);
    let settings = Settings::new(&params, &link);
    let (mut state, mut random) = (state(1.0 / 16.0, 100, 100), link.random());
    let mut gap = || {
        let accepts = |_: &u32| {
            state.on_arrival(&settings, 50_000, Ecn::NotEct, &mut random) == Verdict::Accept
        };
        1 + (0..1_000).take_while(accepts).count() as u32
    };
    (0..10_000).map(|_| gap()).collect()
}

#[test]
fn drops_are_neither_too_close_nor_too_far_apart() {
    let mean = |gaps: &[u32]| f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    // 13 / 16 < 0.85 <= 14 / 16, and 136 / 16 = 8.5.
    let regular = gaps(true);
    assert_eq!(regular.iter().min(), Some(&14));
    assert!(regular.iter().all(|gap| *gap <= 136));
    // 13 + 16 (1 - (15 / 16)^123) = 28.99; standard deviation of the mean 15.5 / 100.
    assert!((mean(&regular) - 28.99).abs() < 0.7, "{}", mean(&regular));
    // Independent draws: geometric, mean 16, standard deviation of the mean 15.5 / 100.
    let random = gaps(false);
    assert_eq!(random.iter().min(), Some(&1));
    assert!((mean(&random) - 16.0).abs() < 0.7, "{}", mean(&random));
    // The packet with which the sum reaches 8.5 is dropped whatever the draw.
    let mut state = state(1e-3, 100, 100);
    state.sum = 8.499_5;
    let mut random = script::link(8_000_000).random();
    let verdict = state.on_arrival(&settings(), 50_000, Ecn::NotEct, &mut random);
    assert_eq!((verdict, state.sum), (Verdict::Drop(DropReason::Early), 0.0));
}

#[test]
fn the_delay_is_that_of_the_last_departure() {
    let params = PieParams { limit: QueueLimit::packets(3), ..PieParams::default() };
    let mut queue = Pie::new(&params, &script::link(8_000_000));
    let mut buffer = Buffer::default();
    for (sequence, millisecond) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
        let packet = script::packet(MS(millisecond), 0, sequence, 1_000, Ecn::NotEct);
        queue.aqm_state.sum = 0.5;
        queue.enqueue(packet, &mut buffer);
    }
    assert_eq!(script::dropped(&mut buffer), [(0, 3, DropReason::Overflow)]);
    assert!(is_near(queue.aqm_state.sum, 0.0));
    assert!(script::sent(&mut queue, MS(40), &mut buffer).is_some());
    assert_eq!(queue.aqm_state.delay, MS(40));
    // The update at 45 ms, if no other packet leaves before: (0.125 * 25 ms + 1.25 * 40 ms) / 2048.
    let (name, probability) = queue.gauges(MS(45))[0];
    assert_eq!(name, "drop_probability");
    assert!(is_near(probability, 0.053_125 / 2_048.0));
    assert!(script::sent(&mut queue, MS(41), &mut buffer).is_some());
    assert_eq!(queue.aqm_state.delay, MS(40));
    assert!(script::sent(&mut queue, MS(42), &mut buffer).is_some());
    assert_eq!(queue.aqm_state.delay, Time::ZERO); // no packet waits
    assert_eq!(queue.gauges(MS(45))[0], ("drop_probability", 0.0));
}

#[test]
fn an_arrival_sees_the_updates_due_before_it() {
    let mut queue = Pie::new(&PieParams::default(), &script::link(8_000_000));
    queue.aqm_state = PieState { burst_allowance: MS(15), ..state(1.0, 100, 100) };
    let mut buffer = Buffer::default();
    for (number, millisecond) in [0, 0, 0, 14, 15].into_iter().enumerate() {
        let packet = script::packet(MS(millisecond), 0, number as u64, 1_000, Ecn::NotEct);
        queue.enqueue(packet, &mut buffer);
    }
    assert_eq!(script::dropped(&mut buffer), [(0, 4, DropReason::Early)]);
    // At probability zero the sum is reset, so no packet is dropped.
    queue.aqm_state = PieState { sum: 9.0, ..state(0.0, 100, 100) };
    queue.enqueue(script::packet(MS(1), 0, 5, 1_000, Ecn::NotEct), &mut buffer);
    assert!(!buffer.has_dropped());
}
