//! Utilization of a link that one flow fills alone, against the fluid model of its sawtooth.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::highspeed::HighspeedParams;
use tailroom_engine::network::{FlowSpec, Network};
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::units::Time;

use crate::support::lossy::{PACKET_BYTES, RTT_S, from_avoidance};
use crate::support::networks;
use crate::support::poisson::{run, seconds};

/// One flow over a link with this bandwidth-delay product and buffer in packets, measured for
/// `span` seconds after `warm_up` seconds.
fn alone(tcp: TcpSpec, bdp: u64, buffer: u64, warm_up: f64, span: f64) -> Network {
    let rate_bps = (bdp * PACKET_BYTES * 8) as f64 / RTT_S;
    let limit = Limit::Packets(buffer);
    with!(
        Network::new(
            seconds(warm_up + span),
            vec![networks::link("bottleneck", rate_bps as u64, seconds(RTT_S / 2.0), limit)],
            vec![networks::bulk("flow", tcp)],
            vec![with!(
                FlowSpec::new(0, seconds(RTT_S)),
                FlowSpec { start: Time::ZERO, access_rate: None }
            )]
        ),
        Network {
            measure_from: seconds(warm_up),
            seed: 1,
            ties: Ties::ByChance,
            memory_limit_bytes: u64::MAX,
            series_interval: None
        }
    )
}

/// Mean utilization of one sawtooth of the window W, from beta (1 + b) to 1 + b BDP, with the rate
/// min(W / RTT, C) and RTT = max(T, W / C):
/// (1 - beta^2) (1 + b)^2 / 2 over 1 - beta (1 + b) + ((1 + b)^2 - 1) / 2.
fn sawtooth_utilization(beta: f64, buffer: f64) -> f64 {
    let top = 1.0 + buffer;
    if beta * top >= 1.0 {
        return 1.0;
    }
    (1.0 - beta * beta) * top * top / 2.0 / (1.0 - beta * top + (top * top - 1.0) / 2.0)
}

#[test]
fn one_reno_flow_uses_the_link_as_its_sawtooth_predicts() {
    let bdp = 400;
    for (share, published) in
        [(0.0, 0.75), (0.05, 0.7856), (0.1, 0.8176), (0.2, 0.871), (0.5, 0.9643), (1.0, 1.0)]
    {
        let expected = sawtooth_utilization(0.5, share);
        assert!((expected - published).abs() < 1e-3, "{share}: {expected}");
        let buffer = ((share * bdp as f64) as u64).max(1);
        // A cycle takes about (1 + share) * bdp / 2 round trips: 20 to 60 s.
        let network = alone(from_avoidance(bdp / 2), bdp, buffer, 100.0, 1_000.0);
        let summary = run(&network);
        let (link, flow) = (&summary.links.0[0].1, &summary.flows[0]);
        assert_eq!(flow.timeouts, 0, "{share} BDP");
        assert!(flow.congestion_events >= 10, "{share} BDP: {}", flow.congestion_events);
        let found = link.utilization;
        assert!((found - expected).abs() < 0.01, "{share} BDP: {found}, expected {expected}");
    }
}

/// Utilization of one `HighSpeed` flow by the midpoint rule: dw/dt = a(w) / RTT(w) from (1 - b(w))
/// w to w = BDP + buffer.
fn highspeed_utilization(bdp: f64, buffer: f64) -> f64 {
    let params = HighspeedParams::default();
    let top = bdp + buffer;
    let bottom = (1.0 - params.decrease(top)) * top;
    let steps = 20_000;
    let (mut time, mut sent) = (0.0, 0.0);
    for step in 0..steps {
        let width = (top - bottom) / f64::from(steps);
        let window = bottom + (f64::from(step) + 0.5) * width;
        let rtt = (window / bdp).max(1.0); // in units of the RTT without a queue
        let span = width * rtt / params.increase(window);
        time += span;
        sent += span * window / rtt;
    }
    sent / time / bdp
}

fn highspeed(window: u64) -> TcpSpec {
    with!(
        from_avoidance(window),
        TcpSpec { congestion: CongestionConfig::Highspeed(HighspeedParams::default()) }
    )
}

#[test]
fn one_highspeed_flow_uses_the_link_as_its_window_law_predicts() {
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

/// A buffer below about a(w) packets keeps the flow from following its law: the growth of a round
/// trip arrives as one burst on top of a full window and overflows the buffer long before the path
/// is full.
#[test]
fn one_highspeed_flow_loses_utilization_if_the_buffer_is_smaller_than_its_growth_per_rtt() {
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
