//! Whole simulations against formulas: queues with Poisson arrivals, the sawtooth of one flow, and
//! the response functions of the congestion controls.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::highspeed::HighspeedParams;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::{FlowSpec, Network};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::traffic::poisson::PacketSizes;
use tailroom_engine::units::Time;

use crate::support::lossy::{
    PACKET_BYTES, RTT_S, assert_response, from_avoidance, packets_per_round_trip,
};
use crate::support::networks;
use crate::support::poisson::{estimate, poisson, replicate, run, seconds};

fn tail_drop(packets: u64) -> QueueConfig {
    networks::drop_tail(Limit::Packets(packets))
}

/// Pollaczek and Khinchine: rho^2 / (2 (1 - rho)) packets wait in M/D/1.
#[test]
fn m_d_1_has_the_mean_queue_of_pollaczek_and_khinchine() {
    for load in [0.5, 0.8] {
        let runs = replicate(|seed| poisson(load, PacketSizes::Fixed, tail_drop(1_000_000), seed));
        let queue = estimate(&runs, |link| link.queue_packets_mean);
        queue.assert_is(load * load / (2.0 * (1.0 - load)), 0.03, "mean queue");
        // Little: mean wait = mean queue / arrival rate.
        let delay = estimate(&runs, |link| link.queue_delay_s_mean.expect("packets passed"));
        delay.assert_is(1e-3 * load / (2.0 * (1.0 - load)), 0.03, "mean wait");
        // Poisson arrivals see time averages.
        let seen = estimate(&runs, |link| link.queue_seen_packets_mean.expect("packets came"));
        seen.assert_is(load * load / (2.0 * (1.0 - load)), 0.03, "mean queue seen");
    }
}

/// M/M/1/K: loss (1 - rho) rho^K / (1 - rho^(K+1)) and the mean number that waits. K counts the
/// packet in service, the limit does not: it is K - 1.
#[test]
fn m_m_1_k_loses_and_queues_as_the_formulas_say() {
    for (load, places) in [(0.8, 5_u64), (0.95, 20), (1.2, 10)] {
        let rho = load * 1.0001; // sizes are rounded up by half a byte in 5,000
        let runs =
            replicate(|seed| poisson(load, PacketSizes::Exponential, tail_drop(places - 1), seed));
        let shares: Vec<f64> = (0..=places as i32).map(|n| f64::powi(rho, n)).collect();
        let sum: f64 = shares.iter().sum();
        let blocked = shares[places as usize] / sum;
        let waiting: f64 =
            shares.iter().enumerate().skip(1).map(|(n, share)| (n - 1) as f64 * share / sum).sum();
        let case = format!("at load {load}, K = {places}");
        let loss = estimate(&runs, |link| link.loss_fraction.expect("packets came"));
        loss.assert_is(blocked, 0.04, &format!("loss {case}"));
        let queue = estimate(&runs, |link| link.queue_packets_mean);
        queue.assert_is(waiting, 0.03, &format!("queue {case}"));
        let utilization = estimate(&runs, |link| link.utilization);
        utilization.assert_is(rho * (1.0 - blocked), 0.01, &format!("utilization {case}"));
    }
}

/// One flow over an otherwise empty link with this bandwidth-delay product and buffer in packets,
/// measured over `span` after `warm_up`.
fn alone(tcp: TcpSpec, bdp: u64, buffer: u64, warm_up: f64, span: f64) -> Network {
    let rate_bps = (bdp * PACKET_BYTES * 8) as f64 / RTT_S;
    let limit = Limit::Packets(buffer);
    Network {
        duration: seconds(warm_up + span),
        measure_from: seconds(warm_up),
        seed: 1,
        memory_limit_bytes: u64::MAX,
        links: vec![networks::link("bottleneck", rate_bps as u64, seconds(RTT_S / 2.0), limit)],
        groups: vec![networks::bulk("flow", tcp)],
        flows: vec![FlowSpec {
            group: 0,
            rtt: seconds(RTT_S),
            start: Time::ZERO,
            access_rate: None,
        }],
        series_interval: None,
    }
}

/// Mean utilization of one sawtooth (rate min(W / RTT, C), RTT = max(T, W / C), W from beta (1 + b)
/// to 1 + b BDP): (1 - beta^2)(1 + b)^2 / 2 over 1 - beta (1 + b) + ((1 + b)^2 - 1) / 2.
fn sawtooth_utilization(beta: f64, buffer: f64) -> f64 {
    let top = 1.0 + buffer;
    if beta * top >= 1.0 {
        return 1.0;
    }
    (1.0 - beta * beta) * top * top / 2.0 / (1.0 - beta * top + (top * top - 1.0) / 2.0)
}

#[test]
fn a_reno_flow_alone_follows_the_sawtooth() {
    let bdp = 400;
    for (share, published) in
        [(0.0, 0.75), (0.05, 0.7856), (0.1, 0.8176), (0.2, 0.871), (0.5, 0.9643), (1.0, 1.0)]
    {
        let expected = sawtooth_utilization(0.5, share);
        assert!((expected - published).abs() < 1e-3, "{share}: {expected}");
        let buffer = ((share * bdp as f64) as u64).max(1);
        // A cycle takes about (1 + share) * bdp / 2 round trips, here 20 to 60 s.
        let network = alone(from_avoidance(bdp / 2), bdp, buffer, 100.0, 1_000.0);
        let summary = run(&network);
        let (link, flow) = (&summary.links.0[0].1, &summary.flows[0]);
        assert_eq!(flow.timeouts, 0, "{share} BDP");
        assert!(flow.congestion_events >= 10, "{share} BDP: {}", flow.congestion_events);
        let found = link.utilization;
        assert!((found - expected).abs() < 0.01, "{share} BDP: {found}, expected {expected}");
    }
}

/// Utilization of one `HighSpeed` flow: dw/dt = a(w) / RTT(w) from (1 - b(w)) w up to w = BDP +
/// buffer, by the midpoint rule.
fn highspeed_utilization(bdp: f64, buffer: f64) -> f64 {
    let params = HighspeedParams::default();
    let top = bdp + buffer;
    let bottom = (1.0 - params.decrease(top)) * top;
    let steps = 20_000;
    let (mut time, mut sent) = (0.0, 0.0);
    for step in 0..steps {
        let width = (top - bottom) / f64::from(steps);
        let window = bottom + (f64::from(step) + 0.5) * width;
        let rtt = (window / bdp).max(1.0); // in units of the empty round trip
        let span = width * rtt / params.increase(window);
        time += span;
        sent += span * window / rtt;
    }
    sent / time / bdp
}

fn highspeed(window: u64) -> TcpSpec {
    TcpSpec {
        congestion: CongestionConfig::Highspeed(HighspeedParams::default()),
        ..from_avoidance(window)
    }
}

#[test]
fn a_highspeed_flow_alone_follows_its_own_law() {
    for bdp in [1_250, 2_500] {
        for share in [0.05, 0.1, 0.2, 0.5] {
            let expected = highspeed_utilization(bdp as f64, share * bdp as f64);
            let buffer = (share * bdp as f64) as u64;
            let summary = run(&alone(highspeed(bdp / 2), bdp, buffer, 50.0, 250.0));
            let (link, flow) = (&summary.links.0[0].1, &summary.flows[0]);
            assert!(flow.congestion_events >= 10, "{bdp}, {share}: {}", flow.congestion_events);
            let found = link.utilization;
            let case = format!("{bdp} packets, {share} BDP: {found}, expected {expected}");
            assert!((found - expected).abs() < 0.01, "{case}");
        }
    }
}

/// Below about a(w) packets of buffer the flow cannot reach its law: the growth of a round trip
/// comes as one burst on top of a full window, so it overflows long before the pipe is full.
#[test]
fn a_highspeed_flow_collapses_when_the_buffer_is_smaller_than_its_growth() {
    let bdp = 2_500;
    let growth = HighspeedParams::default().increase(bdp as f64);
    let utilization = |buffer| {
        let summary = run(&alone(highspeed(bdp / 2), bdp, buffer, 50.0, 250.0));
        summary.links.0[0].1.utilization
    };
    let (tiny, enough) = (utilization(2), utilization((5.0 * growth) as u64));
    let fluid = highspeed_utilization(bdp as f64, 2.0);
    assert!(tiny < fluid - 0.1, "{tiny} with 2 packets, the fluid law says {fluid}");
    assert!(enough > tiny + 0.1, "{enough} with 5 a(w) packets, {tiny} with 2");
}

/// Their number is random within 4 % (one standard deviation, 1 / sqrt(700)), and a window that goes
/// with its square root within half of that.
const LOSSES: u64 = 700;

/// Mean window under independent losses (Mathis et al. 1997 without delayed ACKs; the constant by
/// Ott et al. 1996): 1.31 / sqrt(p).
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

/// One loss each 1 / p packets makes a perfect sawtooth: sqrt(3 / (2 p)).
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
    let tcp = highspeed(expected as u64);
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
