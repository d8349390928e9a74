//! The response functions of congestion controls: the mean window that a flow reaches when one
//! packet in 1 / p is lost.

mod lossy;
mod networks;
mod transport;

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::aimd::AimdParams;
use tailroom_engine::congestion::fixed_window::FixedWindowParams;
use tailroom_engine::congestion::scalable::{ScalableParams, Variant};
use tailroom_engine::topology::{LossSpec, TcpSpec};

use lossy::{assert_response, from_avoidance, packets_per_round_trip};

/// One loss each so many packets must give this mean window.
fn assert_under_periodic_loss(
    congestion: CongestionConfig,
    every: u64,
    expected: f64,
    tolerance: f64,
) {
    let case = format!("{congestion:?}, one loss in {every}");
    let tcp = TcpSpec { congestion, ..from_avoidance(expected as u64) };
    let loss = LossSpec::Periodic { every };
    let found = packets_per_round_trip(&tcp, loss, expected, 1.0 / every as f64, 150);
    assert_response(found, expected, tolerance, &case);
}

/// From (1 - b) W to W in b W / a round trips, N = (1 - (1 - b)^2) W^2 / (2 a) packets: with
/// N = 1 / p the mean window (1 - b / 2) W is sqrt(a (2 - b) / (2 b p)).
///
/// The formula has no recovery. That is a round trip of (1 - b) W packets without growth, which
/// lowers the mean window by the share a / (b (2 - b) W): 1.5 % at most here. And only whole packets
/// are sent, half a packet less than the window in the mean: 1.3 % of the smallest window here.
#[test]
fn aimd_under_periodic_loss_follows_its_square_root() {
    let every = 10_000;
    for (increase, decrease) in [(1.0, 0.5), (0.5, 0.25), (1.0, 0.125), (3.0, 0.5), (0.2, 0.8)] {
        let ratio: f64 = increase * (2.0 - decrease) / (2.0 * decrease);
        let expected = (ratio * every as f64).sqrt();
        let congestion = CongestionConfig::Aimd(AimdParams { increase, decrease });
        assert_under_periodic_loss(congestion, every, expected, 0.03);
    }
}

/// From (1 - b) W to W by a w in a round trip takes n = ln(1 / (1 - b)) / a round trips and
/// b W / a packets. With 1 / p packets in a cycle and a round trip of recovery without growth, the
/// mean window is 1 / ((n + 1) p): for large n Kelly's inverse law, a / (ln(1 / (1 - b)) p).
///
/// An ACK answers a packet that was sent a round trip earlier, when the window was smaller by a, so
/// that n is larger by the factor 1 + a: 1 % for a = 0.01, 2 % for 0.02. As much again for whole
/// packets and the three duplicate ACKs that the sender waits for.
#[test]
fn scalable_under_periodic_loss_follows_its_inverse_law() {
    let law = |increase: f64, decrease: f64| -(1.0 - decrease).ln() / increase + 1.0;
    let default = ScalableParams::default();
    // Kelly: 13.35 round trips whatever the window.
    let kelly = law(default.increase, default.decrease);
    assert!((kelly - 14.353).abs() < 1e-3, "{kelly}");
    for every in [5_000, 20_000] {
        let congestion = CongestionConfig::Scalable(default.clone());
        assert_under_periodic_loss(congestion, every, every as f64 / kelly, 0.02);
    }
    let slow = ScalableParams { increase: 0.005, decrease: 0.25, ..default.clone() };
    let expected = 20_000.0 / law(0.005, 0.25);
    assert_under_periodic_loss(CongestionConfig::Scalable(slow), 20_000, expected, 0.02);
    let linux = ScalableParams { increase: 0.02, variant: Variant::Linux, ..default };
    let expected = 20_000.0 / law(0.02, 0.125);
    assert_under_periodic_loss(CongestionConfig::Scalable(linux), 20_000, expected, 0.04);
}

/// Losses leave it as it is: W packets a round trip, of which one in 500 is a retransmission. Where
/// a window halved or had to grow back, the mean would be lower by far more than 0.5 %.
#[test]
fn a_fixed_window_stays_whatever_is_lost() {
    for window in [20.0, 300.0] {
        let congestion = CongestionConfig::FixedWindow(FixedWindowParams { window });
        assert_under_periodic_loss(congestion, 500, window * (1.0 - 1.0 / 500.0), 0.005);
    }
}
