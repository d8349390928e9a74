//! Runs one flow under random or periodic loss and measures its response function.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::Network;
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::units::Time;

use crate::support::{networks, scenario_run, transport};

pub(crate) const PACKET_BYTES: u64 = 1_000;
pub(crate) const RTT_S: f64 = 0.1;

/// A Reno transport that starts in congestion avoidance near the mean window of its sawtooth.
pub(crate) fn from_avoidance(window: u64) -> TcpSpec {
    with!(transport::reno(), TcpSpec { initial_ssthresh: Some(window as u32) })
}

/// One flow over a wire that loses packets, on a link so fast that no queue forms.
fn lossy(tcp: TcpSpec, loss: LossSpec, duration: f64, seed: u64) -> Network {
    let limit = Limit::Packets(1_000_000);
    let delay = Time::from_seconds(RTT_S / 2.0);
    let wire = with!(networks::link("wire", 1_000_000_000_000, delay, limit), LinkSpec { loss });
    with!(
        Network::new(
            Time::from_seconds(duration),
            vec![wire],
            vec![networks::bulk("flow", tcp)],
            networks::alike(1, Time::from_seconds(RTT_S))
        ),
        Network {
            measure_from: Time::from_seconds(duration / 10.0),
            seed,
            ties: Ties::ByChance,
            memory_limit_bytes: u64::MAX,
            series_interval: None
        }
    )
}

/// Packets per round trip of a flow, measured over about `wanted_losses` losses and at least five
/// sevenths of them.
pub(crate) fn packets_per_round_trip(
    tcp: &TcpSpec,
    loss: LossSpec,
    expected: f64,
    probability: f64,
    wanted_losses: u64,
) -> f64 {
    // The expected rate gives the duration; the first tenth lies before the measured window.
    let duration = wanted_losses as f64 / probability / (expected / RTT_S) / 0.9;
    let network = lossy(tcp.clone(), loss, duration, 7);
    let run = scenario_run::finish(&network);
    let losses = run.summary.links.0[0].1.random_losses_packets;
    assert!(losses * 7 >= wanted_losses * 5, "{losses} losses");
    let flow = &run.summary.flows[0];
    assert_eq!(flow.timeouts, 0, "a large window needs no timeout");
    flow.throughput_bps / 8.0 / PACKET_BYTES as f64 * RTT_S
}

/// Packets per round trip of a flow that loses each packet with this probability, measured over
/// about 20,000 losses. Flows with small windows may time out.
pub(crate) fn random_packets_per_round_trip(tcp: &TcpSpec, probability: f64, expected: f64) -> f64 {
    let duration = 20_000.0 / probability / (expected / RTT_S);
    let loss = LossSpec::Bernoulli { probability };
    let network = lossy(tcp.clone(), loss, duration, 7);
    let run = scenario_run::finish(&network);
    run.summary.flows[0].throughput_bps / 8.0 / PACKET_BYTES as f64 * RTT_S
}

#[track_caller]
pub(crate) fn assert_response(found: f64, expected: f64, tolerance: f64, case: &str) {
    let error = found / expected - 1.0;
    assert!(error.abs() < tolerance, "{case}: {found}, expected {expected}, error {error}");
}
