//! Queueing delays of Classic and L4S packets at `DualPI2` with closed-loop traffic.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{FlowSpec, Network};
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::results::Results;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::units::Time;

use crate::support::{networks, scenario_run, transport};

/// Runs groups of ten Reno flows with these ECN modes over 50 Mbit/s and an RTT of 40 ms, and
/// measures 100 s after 20 s.
fn run(modes: &[EcnMode]) -> Results {
    let queue = serde_json::json!({ "kind": "dual_pi2" });
    let queue: QueueConfig = serde_json::from_value(queue).expect("every parameter has a default");
    let delay = Time::from_milliseconds(20);
    let limit = Limit::Packets(1); // replaced below, with the queue
    let link = networks::link("bottleneck", 50_000_000, delay, limit);
    let group = |(index, &ecn): (usize, &EcnMode)| {
        networks::bulk(&format!("group{index}"), with!(transport::reno(), TcpSpec { ecn }))
    };
    let flows = (0..modes.len()).flat_map(|group| {
        let flow = with!(networks::alike(1, Time::from_milliseconds(40))[0], FlowSpec { group });
        (0..10)
            .map(move |index| with!(flow, FlowSpec { start: Time::from_milliseconds(37 * index) }))
    });
    let network = with!(
        Network::new(
            Time::from_milliseconds(120_000),
            vec![with!(link, LinkSpec { queue })],
            modes.iter().enumerate().map(group).collect(),
            flows.collect()
        ),
        Network {
            measure_from: Time::from_milliseconds(20_000),
            seed: 1,
            ties: Ties::ByChance,
            memory_limit_bytes: u64::MAX,
            series_interval: None
        }
    );
    scenario_run::finish(&network)
}

fn gauge(results: &Results, name: &str) -> f64 {
    let gauges = &results.summary.links.0[0].1.discipline_state.0;
    gauges.iter().find(|gauge| gauge.0 == name).expect("the discipline has this gauge").1
}

/// By the integral term: while p' stays above 0, the mean delay over n updates differs from the
/// target by (change of p' - beta * change of the delay) / (alpha n), at most 1 / (0.16 * 6250) = 1
/// ms if p' goes from 0 to 1. The mean over packets and the mean over updates agree within some
/// percent.
#[test]
fn the_mean_classic_delay_is_the_target() {
    for mode in [EcnMode::Off, EcnMode::Classic] {
        let results = run(&[mode]);
        let delay = gauge(&results, "classic_delay_s");
        assert!((delay - 0.015).abs() < 0.0015, "{mode:?}: {delay} s");
        let link = &results.summary.links.0[0].1;
        assert!(link.utilization > 0.95, "{mode:?}: {}", link.utilization);
        // The buffer of 250 ms does not overflow, so marked flows lose nothing.
        let losses = link.loss_fraction.expect("packets arrived");
        assert_eq!(mode == EcnMode::Classic, losses == 0.0, "{mode:?}: {losses}");
    }
}

/// RFC 9332 sec. 1: alongside classic flows at their target, an L4S queue holds one or two packets.
#[test]
fn l4s_packets_wait_less_than_a_millisecond_next_to_classic_packets() {
    let results = run(&[EcnMode::Off, EcnMode::L4s]);
    let (classic, l4s) = (gauge(&results, "classic_delay_s"), gauge(&results, "l4s_delay_s"));
    assert!((classic - 0.015).abs() < 0.0015, "classic: {classic} s");
    assert!(l4s > 0.0 && l4s < 0.001, "L4S: {l4s} s");
    assert!(gauge(&results, "l4s_probability") > 2.0 * gauge(&results, "classic_probability"));
}
