//! `DualPI2` under closed-loop traffic.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{FlowSpec, Network};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::results::Results;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::units::Time;

use crate::support::{networks, scenario_run, transport};

/// Groups of ten Reno flows with these ECN modes over 50 Mbit/s and 40 ms, for 100 s after 20 s.
fn run(modes: &[EcnMode]) -> Results {
    let queue = serde_json::json!({ "kind": "dual_pi2" });
    let queue: QueueConfig = serde_json::from_value(queue).expect("every parameter has a default");
    let delay = Time::from_milliseconds(20);
    let limit = Limit::Packets(1); // replaced with the queue
    let link = networks::link("bottleneck", 50_000_000, delay, limit);
    let group = |(index, &ecn): (usize, &EcnMode)| {
        networks::bulk(&format!("group{index}"), TcpSpec { ecn, ..transport::reno() })
    };
    let flows = (0..modes.len()).flat_map(|group| {
        let flow = FlowSpec { group, ..networks::alike(1, Time::from_milliseconds(40))[0] };
        (0..10).map(move |index| FlowSpec { start: Time::from_milliseconds(37 * index), ..flow })
    });
    let network = Network {
        duration: Time::from_milliseconds(120_000),
        measure_from: Time::from_milliseconds(20_000),
        seed: 1,
        memory_limit_bytes: u64::MAX,
        links: vec![LinkSpec { queue, ..link }],
        groups: modes.iter().enumerate().map(group).collect(),
        flows: flows.collect(),
        series_interval: None,
    };
    scenario_run::finish(&network)
}

fn gauge(results: &Results, name: &str) -> f64 {
    let gauges = &results.summary.links.0[0].1.discipline_state.0;
    gauges.iter().find(|gauge| gauge.0 == name).expect("a gauge").1
}

/// The integral term: while p' stays above 0, the mean delay over n updates differs from the target
/// by (change of p' - beta * change of the delay) / (alpha n), which is 1 / (0.16 * 6250) = 1 ms if
/// p' goes all the way from 0 to 1. Packets and updates see the delay alike to within some percent.
#[test]
fn the_classic_delay_is_held_at_the_target() {
    for mode in [EcnMode::Off, EcnMode::Classic] {
        let results = run(&[mode]);
        let delay = gauge(&results, "classic_delay_s");
        assert!((delay - 0.015).abs() < 0.0015, "{mode:?}: {delay} s");
        let link = &results.summary.links.0[0].1;
        assert!(link.utilization > 0.95, "{mode:?}: {}", link.utilization);
        // The buffer of 250 ms does not overflow.
        let losses = link.loss_fraction.expect("packets came");
        assert_eq!(mode == EcnMode::Classic, losses == 0.0, "{mode:?}: {losses}");
    }
}

/// RFC 9332 sec. 1: beside classic flows at their target an L4S queue holds a packet or two.
#[test]
fn l4s_packets_wait_less_than_a_millisecond_beside_classic_ones() {
    let results = run(&[EcnMode::Off, EcnMode::L4s]);
    let (classic, l4s) = (gauge(&results, "classic_delay_s"), gauge(&results, "l4s_delay_s"));
    assert!((classic - 0.015).abs() < 0.0015, "classic: {classic} s");
    assert!(l4s > 0.0 && l4s < 0.001, "L4S: {l4s} s");
    assert!(gauge(&results, "l4s_probability") > 2.0 * gauge(&results, "classic_probability"));
}
