//! Response functions of congestion controls: the mean window at a given loss fraction, against
//! closed forms and brute force.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::aimd::AimdParams;
use tailroom_engine::congestion::compound::CompoundParams;
use tailroom_engine::congestion::cubic::CubicParams;
use tailroom_engine::congestion::fixed_window::FixedWindowParams;
use tailroom_engine::congestion::highspeed::HighspeedParams;
use tailroom_engine::congestion::htcp::HtcpParams;
use tailroom_engine::congestion::hybla::HyblaParams;
use tailroom_engine::congestion::illinois::IllinoisParams;
use tailroom_engine::congestion::scalable::{ScalableParams, Variant};
use tailroom_engine::congestion::yeah::YeahParams;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::tcp::TcpSpec;

use crate::support::lossy::{
    RTT_S, assert_response, from_avoidance, packets_per_round_trip, random_packets_per_round_trip,
};

/// Checks the mean window of a control that loses one packet in `every`.
fn assert_under_periodic_loss(
    congestion: CongestionConfig,
    every: u64,
    expected: f64,
    tolerance: f64,
) {
    let case = format!("{congestion:?}, one loss in {every}");
    let tcp = with!(from_avoidance(expected as u64), TcpSpec { congestion });
    let loss = LossSpec::Periodic { every };
    let found = packets_per_round_trip(&tcp, loss, expected, 1.0 / every as f64, 150);
    assert_response(found, expected, tolerance, &case);
}

/// Number of losses per run. Their random number has a relative standard deviation of 4 % (1 /
/// sqrt(700)); a window proportional to its square root has half of that.
const LOSSES: u64 = 700;

/// Mean window under independent losses: 1.31 / sqrt(p) (Mathis et al. 1997 without delayed ACKs;
/// the constant is of Ott et al. 1996).
#[test]
fn reno_under_random_loss_follows_the_inverse_square_root() {
    for probability in [1e-4, 3e-5] {
        let expected = 1.31 / f64::sqrt(probability);
        let tcp = from_avoidance(expected as u64);
        let loss = LossSpec::Bernoulli { probability };
        let found = packets_per_round_trip(&tcp, loss, expected, probability, LOSSES);
        assert_response(found, expected, 0.04, &format!("p = {probability}"));
    }
}

/// One loss per 1 / p packets makes a regular sawtooth with a mean window of sqrt(3 / (2 p)).
#[test]
fn reno_under_periodic_loss_follows_the_inverse_square_root() {
    for every in [10_000_u64, 30_000] {
        let probability = 1.0 / every as f64;
        let expected = (1.5 / probability).sqrt();
        let tcp = from_avoidance(expected as u64);
        let loss = LossSpec::Periodic { every };
        let found = packets_per_round_trip(&tcp, loss, expected, probability, LOSSES);
        assert_response(found, expected, 0.03, &format!("p = {probability}"));
    }
}

/// RFC 3649 sec. 5: 0.12 / p^0.835.
fn assert_highspeed_response(probability: f64) {
    let expected = 0.12 / probability.powf(0.835);
    let congestion = CongestionConfig::Highspeed(HighspeedParams::default());
    let tcp = with!(from_avoidance(expected as u64), TcpSpec { congestion });
    let loss = LossSpec::Bernoulli { probability };
    let found = packets_per_round_trip(&tcp, loss, expected, probability, LOSSES);
    assert_response(found, expected, 0.1, &format!("p = {probability}"));
}

#[test]
fn highspeed_under_random_loss_follows_its_response_function_at_1e_4() {
    assert_highspeed_response(1e-4);
}

#[test]
fn highspeed_under_random_loss_follows_its_response_function_at_1e_5() {
    assert_highspeed_response(1e-5);
}

/// The window grows from (1 - b) W to W in b W / a round trips, in which N = (1 - (1 - b)^2) W^2 /
/// (2 a) packets are sent. With N = 1 / p, the mean window (1 - b / 2) W is sqrt(a (2 - b) / (2 b
/// p)).
///
/// The formula neglects recovery, a round trip of (1 - b) W packets without growth, which lowers
/// the mean window by the fraction a / (b (2 - b) W): at most 1.5 % here. The sender sends whole
/// packets only, on average half a packet less than the window: 1.3 % of the smallest window.
#[test]
fn aimd_under_periodic_loss_follows_the_inverse_square_root() {
    let every = 10_000;
    for (increase, decrease) in [(1.0, 0.5), (0.5, 0.25), (1.0, 0.125), (3.0, 0.5), (0.2, 0.8)] {
        let ratio: f64 = increase * (2.0 - decrease) / (2.0 * decrease);
        let expected = (ratio * every as f64).sqrt();
        let congestion =
            CongestionConfig::Aimd(with!(AimdParams::default(), AimdParams { increase, decrease }));
        assert_under_periodic_loss(congestion, every, expected, 0.03);
    }
}

/// The window w grows by a w per round trip, so it grows from (1 - b) W to W in n = ln(1 / (1 - b))
/// / a round trips, in which b W / a packets are sent. With 1 / p packets per cycle and a round
/// trip of recovery without growth, the mean window is 1 / ((n + 1) p). For large n this is Kelly's
/// inverse law, a / (ln(1 / (1 - b)) p).
///
/// An ACK answers a packet that was sent a round trip earlier, when the window was smaller by the
/// factor 1 + a; n is larger by the same factor: 1 % for a = 0.01, 2 % for 0.02. Whole packets and
/// the three duplicate ACKs before a repair have an effect of the same size.
#[test]
fn scalable_under_periodic_loss_follows_its_inverse_law() {
    let law = |increase: f64, decrease: f64| -(1.0 - decrease).ln() / increase + 1.0;
    let default = ScalableParams::default();
    // Kelly: recovery takes 13.35 round trips for every window.
    let kelly = law(default.increase, default.decrease);
    assert!((kelly - 14.353).abs() < 1e-3, "{kelly}");
    for every in [5_000, 20_000] {
        let congestion = CongestionConfig::Scalable(default.clone());
        assert_under_periodic_loss(congestion, every, every as f64 / kelly, 0.02);
    }
    let slow = with!(default.clone(), ScalableParams { increase: 0.005, decrease: 0.25 });
    let expected = 20_000.0 / law(0.005, 0.25);
    assert_under_periodic_loss(CongestionConfig::Scalable(slow), 20_000, expected, 0.02);
    let linux = with!(default, ScalableParams { increase: 0.02, variant: Variant::Linux });
    let expected = 20_000.0 / law(0.02, 0.125);
    assert_under_periodic_loss(CongestionConfig::Scalable(linux), 20_000, expected, 0.04);
}

/// The mean window of a control that falls from W to (1 - b) W at each loss, repairs the loss in a
/// round trip without growth, and then grows back. It follows from the number of packets and of
/// round trips that growth from one window to another takes, and from the number of packets between
/// two losses.
fn mean_window(
    decrease: f64,
    every: u64,
    packets: impl Fn(f64, f64) -> f64,
    round_trips: impl Fn(f64, f64) -> f64,
) -> f64 {
    let (mut low, mut high) = (2.0, 1e9);
    for _ in 0..200 {
        let peak = f64::midpoint(low, high);
        let trough = (1.0 - decrease) * peak;
        if trough + packets(trough, peak) < every as f64 { low = peak } else { high = peak }
    }
    every as f64 / (1.0 + round_trips((1.0 - decrease) * low, low))
}

/// Mean window of a control that grows by a packets per round trip. An ACK answers a packet of the
/// previous round trip, when the window was smaller by a: a window of w packets receives w - a ACKs
/// and grows by a (w - a) / w.
fn linear_mean_window(increase: f64, decrease: f64, every: u64) -> f64 {
    let ratio = |from: f64, to: f64| increase * ((to - increase) / (from - increase)).ln();
    let round_trips = |from: f64, to: f64| (to - from + ratio(from, to)) / increase;
    let packets = |from: f64, to: f64| {
        (to * to - from * from) / (2.0 * increase) + increase * round_trips(from, to)
    };
    mean_window(decrease, every, packets, round_trips)
}

/// Caini and Firrincieli 2004: at any RTT, the rate is that of a Reno flow with an RTT of 25 ms. At
/// 100 ms that takes 4 times the window of Reno: the square root of an increase of 16 packets.
///
/// The formula neglects the three duplicate ACKs before a repair and fractions of a packet, about 3
/// / 667, which a window of whole packets cannot send.
#[test]
fn hybla_under_periodic_loss_has_the_rate_of_reno_at_its_reference_rtt() {
    for every in [20_000, 40_000] {
        let expected = linear_mean_window(16.0, 0.5, every);
        let short_reno = 4.0 * (1.5 * every as f64).sqrt();
        assert!((expected / short_reno - 1.0).abs() < 0.05, "{expected}");
        let congestion = CongestionConfig::Hybla(HyblaParams::default());
        assert_under_periodic_loss(congestion, every, expected, 0.005);
    }
}

/// Liu, Basar and Srikant 2006: without queueing delay alpha is 10 and beta 1/8, so the mean window
/// is sqrt(10 (2 - 1/8) / (2 p / 8)) = sqrt(75 / p), less the cost of recovery.
#[test]
fn illinois_without_queueing_delay_is_aimd_with_the_largest_alpha_and_smallest_beta() {
    for every in [10_000, 40_000] {
        let expected = linear_mean_window(10.0, 0.125, every);
        assert!((expected / (75.0 * every as f64).sqrt() - 1.0).abs() < 0.06, "{expected}");
        let congestion = CongestionConfig::Illinois(IllinoisParams::default());
        assert_under_periodic_loss(congestion, every, expected, 0.005);
    }
}

/// The mean number of round trips between two losses of a control that halves its window, repairs
/// the loss in one round trip, and then grows by `step` at the end of each round trip.
fn round_trips_by_steps(every: u64, step: impl Fn(f64) -> f64) -> f64 {
    let (cycles, mut peak, mut round_trips) = (1_000, 100.0, 0.0);
    for _ in 0..cycles {
        let mut window = 0.5 * peak;
        let mut left = every as f64 - window;
        round_trips += 1.0;
        while left > window {
            left -= window;
            round_trips += 1.0;
            window += step(window);
        }
        round_trips += left / window;
        peak = window;
    }
    round_trips / f64::from(cycles)
}

/// Tan et al. 2006: W grows by alpha W^k per round trip. Growth from half a window takes
/// (1 - 2^(k - 1)) W^(1 - k) / (alpha (1 - k)) round trips, in which the flow sends
/// (1 - 2^(k - 2)) W^(2 - k) / (alpha (2 - k)) packets. The law assumes small steps; the brute
/// force here uses the actual steps, 3 % of the window each, after a round trip of recovery. The
/// position of a loss within its round trip is unknown, which moves the steps and the mean by less
/// than 1 %.
#[test]
fn compound_without_queueing_delay_follows_its_response_function() {
    let (alpha, k) = (0.125, 0.75);
    for every in [5_000, 40_000] {
        let expected = every as f64 / round_trips_by_steps(every, |w| alpha * f64::powf(w, k));
        let small_steps = (every as f64 * alpha * (2.0 - k) / (1.0 - f64::powf(2.0, k - 2.0)))
            .powf(1.0 / (2.0 - k));
        let law = every as f64 * alpha * (1.0 - k)
            / ((1.0 - f64::powf(2.0, k - 1.0)) * f64::powf(small_steps, 1.0 - k));
        assert!((expected / law - 1.0).abs() < 0.15, "{expected}, by the law {law}");
        let congestion = CongestionConfig::Compound(CompoundParams::default());
        assert_under_periodic_loss(congestion, every, expected, 0.01);
    }
}

/// Baiocchi et al. 2007: without a queue YeAH is Scalable TCP with an increase of 1/100 and a
/// decrease of 1/8.
#[test]
fn yeah_without_queueing_delay_is_scalable_tcp() {
    let round_trips = -(1.0_f64 - 0.125).ln() / 0.01 + 1.0;
    for every in [5_000, 20_000] {
        let congestion = CongestionConfig::Yeah(YeahParams::default());
        assert_under_periodic_loss(congestion, every, every as f64 / round_trips, 0.02);
    }
}

/// RFC 9438 sec. 5, Eq. 5: W = (C (3 + beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4), for
/// windows above the Reno-friendly region.
///
/// The formula holds for a flow whose losses occur exactly at `W_max`. The curve is flat there, so
/// a flow that starts elsewhere approaches that point by less than a packet per loss. The test
/// therefore limits the first stage, which has no maximum yet, to the maximum of the formula. Fast
/// convergence is off, because it would take a peak that is lower by a fraction of a packet for a
/// new flow.
///
/// The mean is (1 - (1 - beta) / 4) `W_max`. One of the K / RTT >= 64 round trips after a loss has
/// no growth, and its window is a quarter below the mean: 0.4 % less.
#[test]
fn cubic_under_periodic_loss_follows_the_three_quarters_power_of_its_rfc() {
    let (c, beta) = (0.4, 0.7);
    for every in [20_000, 60_000] {
        let factor = f64::powf(c * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25);
        let expected = factor * f64::powf(RTT_S * every as f64, 0.75);
        let largest = expected / (1.0 - (1.0 - beta) / 4.0);
        let params = with!(CubicParams::default(), CubicParams { fast_convergence: false });
        let tcp = with!(
            from_avoidance(expected as u64),
            TcpSpec {
                congestion: CongestionConfig::Cubic(params),
                max_window: Some(largest.ceil() as u64)
            }
        );
        let loss = LossSpec::Periodic { every };
        let found = packets_per_round_trip(&tcp, loss, expected, 1.0 / every as f64, 150);
        assert_response(found, expected, 0.01, &format!("CUBIC, one loss in {every}"));
    }
}

/// The next number of a fixed sequence (the linear congruential generator of Knuth), uniform in [0,
/// 1).
fn next_uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Packets per round trip of the law of CUBIC in whole round trips, by brute force. Each packet is
/// lost with `probability`, and a round trip of recovery follows. If `returns`, `alpha_cubic` is 1
/// from the window before the loss on.
fn cubic_by_brute_force(probability: f64, returns: bool) -> f64 {
    let (c, beta) = (0.4, 0.7);
    let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
    let (mut window, mut saturation, mut prior) = (12.0_f64, 12.0_f64, 12.0_f64);
    let (mut estimate, mut elapsed, mut state) = (window, 0.0_f64, 1_u64);
    let (mut sent, mut round_trips) = (0.0, 0.0);
    while round_trips < 200_000.0 {
        let flight = window as u32;
        sent += f64::from(flight);
        round_trips += 1.0;
        if (0..flight).filter(|_| next_uniform(&mut state) < probability).count() > 0 {
            saturation = if window < saturation { window * (1.0 + beta) / 2.0 } else { window };
            prior = window;
            window = (beta * window).max(2.0);
            sent += window.floor();
            round_trips += 1.0;
            (estimate, elapsed) = (window, 0.0);
            saturation = saturation.max(window);
            continue;
        }
        let to_plateau = ((saturation - beta * prior).max(0.0) / c).cbrt();
        for _ in 0..flight {
            elapsed += RTT_S / f64::from(flight);
            estimate += if returns && estimate >= prior { 1.0 } else { alpha } / window;
            let cubic = |seconds: f64| c * (seconds - to_plateau).powi(3) + saturation;
            window = if cubic(elapsed) < estimate {
                window.max(estimate)
            } else {
                window + (cubic(elapsed + RTT_S).clamp(window, 1.5 * window) - window) / window
            };
        }
    }
    sent / round_trips
}

/// RFC 9438 sec. 4.3: once `W_est` has reached `cwnd_prior` again, `alpha_cubic` SHOULD be 1. Linux
/// keeps 3 (1 - beta) / (1 + beta) (`tcp_cubic.c`, `beta_scale`), with which the window is a ninth
/// smaller at a loss fraction of 1 %. The engine follows the RFC. The engine detects and repairs
/// losses packet by packet, the brute force in whole round trips, and windows of 12 packets are
/// sent in whole packets: hence 4 %.
#[test]
fn cubic_under_heavy_random_loss_returns_to_the_increase_of_reno() {
    let probability = 0.01;
    let (rfc, linux) =
        (cubic_by_brute_force(probability, true), cubic_by_brute_force(probability, false));
    assert!((1.09..1.14).contains(&(rfc / linux)), "{rfc} and {linux}");
    let congestion = CongestionConfig::Cubic(CubicParams::default());
    let tcp = with!(from_avoidance(rfc as u64), TcpSpec { congestion });
    let found = random_packets_per_round_trip(&tcp, probability, rfc);
    assert_response(found, rfc, 0.04, "CUBIC, one packet in 100 lost at random");
}

/// Leith and Shorten 2004: D seconds after a loss the window grows by f = 1 + 10 u + u^2 / 4
/// packets per round trip of R = 0.1 s, with u = D - 1, and by 1 packet if D < 1. With a backoff of
/// 1/2, the window must grow by W0, the window left after the loss: W0 = (T - R + 5 u^2 + u^3 / 12)
/// / R if the next loss occurs T seconds after the previous loss and the first R seconds pass in
/// recovery. Until then (W0 T + ((T - R)^2 / 2 + 5 u^3 / 3 + u^4 / 48) / R) / R packets have been
/// sent.
///
/// ACKs answer packets of the previous round trip, so the growth is slower by f / W, at most 3 %
/// here. Since 1 / p is about proportional to T^4, the mean window is smaller by a quarter of that.
/// The measured window contains 150 losses, up to a fraction of a cycle.
#[test]
fn htcp_under_periodic_loss_follows_the_integral_of_its_growth() {
    for every in [10_000_u64, 40_000] {
        let (mut low, mut high) = (1.0, 100.0);
        for _ in 0..100 {
            let since = f64::midpoint(low, high);
            let (growing, late) = (since - RTT_S, since - 1.0);
            let trough = (growing + 5.0 * late.powi(2) + late.powi(3) / 12.0) / RTT_S;
            let grown = growing.powi(2) / 2.0 + 5.0 * late.powi(3) / 3.0 + late.powi(4) / 48.0;
            let packets = (trough * since + grown / RTT_S) / RTT_S;
            if packets < every as f64 { low = since } else { high = since }
        }
        let expected = every as f64 * RTT_S / low;
        let params = with!(HtcpParams::default(), HtcpParams { adaptive_backoff: false });
        assert_under_periodic_loss(CongestionConfig::Htcp(params), every, expected, 0.01);
    }
}

/// Losses leave the window unchanged: W packets are sent per round trip, one in 500 of them a
/// retransmission. If the window were halved or had to grow back, the mean would be lower by far
/// more than 0.5 %.
#[test]
fn a_fixed_window_does_not_answer_losses() {
    for window in [20.0, 300.0] {
        let congestion = CongestionConfig::FixedWindow(with!(
            FixedWindowParams::default(),
            FixedWindowParams { window }
        ));
        assert_under_periodic_loss(congestion, 500, window * (1.0 - 1.0 / 500.0), 0.005);
    }
}
