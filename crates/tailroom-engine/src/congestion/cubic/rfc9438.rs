//! CUBIC as RFC 9438 describes it, with a window of fractions of a packet.

use libm::cbrt;

use super::CubicParams;
use crate::congestion::{AckEvent, CongestionEvent, CongestionKind, WindowLaw};
use crate::units::Time;

const MAX_GROWTH: f64 = 1.5; // RFC 9438 sec. 4.2: per round trip, slower than slow start

/// The state of CUBIC for one flow.
#[derive(Clone, Debug)]
pub struct Rfc9438 {
    c: f64,
    beta: f64,
    beta_ecn: f64,
    has_fast_convergence: bool,
    /// `alpha_cubic`: the increase that gives AIMD with `beta` the mean window of Reno.
    friendly_increase: f64,
    /// `W_max`; `None` before the first congestion and after a timeout.
    saturation: Option<f64>,
    /// `cwnd_prior`: the window before the last reduction.
    prior: f64,
    /// The current stage of congestion avoidance; `None` until its first ACK.
    epoch: Option<Epoch>,
    /// The state before the last congestion.
    before: Option<Box<Before>>,
}

/// What an undo restores (RFC 9438 sec. 4.9).
#[derive(Clone, Debug)]
struct Before {
    saturation: Option<f64>,
    prior: f64,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Debug)]
struct Epoch {
    last_ack: Time,
    /// Time since the start of the stage, without idle periods: `t`.
    elapsed: Time,
    /// `K`, in seconds.
    to_plateau: f64,
    /// Height of the plateau, in packets.
    plateau: f64,
    /// `W_est`: the window of Reno.
    friendly: f64,
}

impl Rfc9438 {
    /// Creates the control in its initial state.
    pub fn new(params: &CubicParams) -> Self {
        let beta = params.beta;
        Rfc9438 {
            c: params.c,
            beta,
            beta_ecn: params.beta_ecn(),
            has_fast_convergence: params.fast_convergence,
            friendly_increase: 3.0 * (1.0 - beta) / (1.0 + beta), // RFC 9438 sec. 4.3
            saturation: None,
            prior: 0.0,
            epoch: None,
            before: None,
        }
    }

    /// Starts a stage of congestion avoidance (RFC 9438 sec. 4.2, 4.8 and 4.10). This is the only
    /// place that computes a cube root.
    fn begin_epoch(&self, cwnd_packets: f64, now: Time) -> Epoch {
        // Without a last maximum the curve begins on its plateau.
        let plateau = self.saturation.map_or(cwnd_packets, |most| most.max(cwnd_packets));
        Epoch {
            last_ack: now,
            elapsed: Time::ZERO,
            to_plateau: cbrt((plateau - cwnd_packets) / self.c),
            plateau,
            friendly: cwnd_packets,
        }
    }
}

impl Epoch {
    /// `W_cubic` in packets, `seconds` after the start of the stage.
    #[inline]
    fn cubic(&self, c: f64, seconds: f64) -> f64 {
        let from_plateau = seconds - self.to_plateau;
        c * from_plateau * from_plateau * from_plateau + self.plateau
    }
}

impl WindowLaw for Rfc9438 {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        if self.epoch.is_none() {
            self.epoch = Some(self.begin_epoch(cwnd_packets, event.now));
        }
        let Some(epoch) = &mut self.epoch else { return cwnd_packets };
        // While the window limits the flow, an ACK arrives at least once per round trip. Longer
        // gaps mean that the application had no data, and do not count (RFC 9438 sec. 5.8).
        let round_trip = event.srtt.max(event.rtt.unwrap_or(Time::ZERO));
        epoch.elapsed =
            epoch.elapsed.saturating_add(event.now.since(epoch.last_ack).min(round_trip));
        epoch.last_ack = event.now;

        let acked = event.acked_packets as f64;
        let increase = if epoch.friendly < self.prior { self.friendly_increase } else { 1.0 };
        epoch.friendly += increase * acked / cwnd_packets;

        let seconds = epoch.elapsed.seconds();
        if epoch.cubic(self.c, seconds) < epoch.friendly {
            epoch.friendly.max(cwnd_packets)
        } else {
            let target = epoch
                .cubic(self.c, seconds + event.srtt.seconds())
                .clamp(cwnd_packets, MAX_GROWTH * cwnd_packets);
            // An ACK of many packets must not raise the window above the target.
            cwnd_packets + (target - cwnd_packets) * (acked / cwnd_packets).min(1.0)
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let cwnd = event.cwnd_packets;
        let beta = if event.kind == CongestionKind::Mark { self.beta_ecn } else { self.beta };
        let (saturation, prior, epoch) = (self.saturation, self.prior, self.epoch.take());
        self.before = Some(Box::new(Before { saturation, prior, epoch }));
        self.saturation = match self.saturation {
            // RFC 9438 sec. 4.8: the stage after a timeout begins on its plateau.
            _ if event.kind == CongestionKind::Timeout => None,
            // Use the factor of this reduction, so that a milder factor too leaves the plateau
            // above the new window.
            Some(last) if self.has_fast_convergence && cwnd < last => {
                Some(cwnd * (1.0 + beta) / 2.0)
            }
            _ => Some(cwnd),
        };
        self.prior = cwnd;
        beta * cwnd
    }

    fn on_undo(&mut self) {
        if let Some(before) = self.before.take() {
            (self.saturation, self.prior) = (before.saturation, before.prior);
            self.epoch = before.epoch;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control that receives one ACK per packet, equally spaced over the round trip.
    struct Path {
        control: Rfc9438,
        cwnd: f64,
        now: f64,
        rtt: f64,
    }

    impl Path {
        fn new(params: &CubicParams, cwnd: f64, rtt: f64) -> Self {
            Path { control: Rfc9438::new(params), cwnd, now: 100.0, rtt }
        }

        fn ack_of(&mut self, acked_packets: u64) {
            let srtt = Time::from_seconds(self.rtt);
            let event = AckEvent {
                now: Time::from_seconds(self.now),
                acked_packets,
                rtt: Some(srtt),
                srtt,
                min_rtt: srtt,
                delivered_packets: 0,
                marked_packets: 0,
                next: 0,
                is_slow_start: false,
            };
            self.cwnd = self.control.on_ack(self.cwnd, &event);
        }

        fn ack(&mut self) {
            self.now += self.rtt / self.cwnd;
            self.ack_of(1);
        }

        /// Delivers ACKs for the next `seconds`.
        fn pass(&mut self, seconds: f64) {
            let end = self.now + seconds;
            while self.now < end {
                self.ack();
            }
        }

        fn congest(&mut self, kind: CongestionKind) -> f64 {
            let event = CongestionEvent {
                now: Time::from_seconds(self.now),
                kind,
                cwnd_packets: self.cwnd,
                is_slow_start: false,
            };
            self.cwnd = self.control.on_congestion(&event);
            self.cwnd
        }

        fn lose(&mut self) -> f64 {
            self.congest(CongestionKind::Loss)
        }

        fn assert_near(&self, expected: f64, tolerance: f64) {
            let error = (self.cwnd - expected).abs();
            assert!(error < tolerance, "{}, expected {expected}, at {} s", self.cwnd, self.now);
        }
    }

    /// RFC 9438 eq. 1 and 2, from 1000 packets: K = cbrt((1000 - 700) / 0.4) = 9.0856 s. The window
    /// is 0.4 (t - 9.0856)^3 + 1000: at 2 s 1000 - 0.4 * 355.7 = 857.7, at 5 s 1000 - 0.4 * 68.2 =
    /// 972.7, at 12 s 1000 + 0.4 * 24.76 = 1009.9, at 18.1712 s 1000 + 300 = 1300.
    #[test]
    fn the_window_follows_the_cubic_in_its_concave_and_convex_regions() {
        for rtt in [0.05, 0.1, 0.2] {
            let mut path = Path::new(&CubicParams::default(), 1_000.0, rtt);
            assert!((path.lose() - 700.0).abs() < 1e-9);
            let mut last = 0.0;
            for (at, window) in
                [(2.0, 857.7), (5.0, 972.7), (9.0856, 1_000.0), (12.0, 1_009.9), (18.1712, 1_300.0)]
            {
                path.pass(at - last);
                last = at;
                // The target is one round trip ahead and the window is one round trip behind the
                // target. The remaining error is half of R^2 W'', at most 0.04 * 1.2 * 9.1 = 0.44
                // packets.
                path.assert_near(window, 0.6);
            }
        }
    }

    /// One ACK computed by hand: 700 packets, just after the reduction, RTT 1 s. `W_cubic`(1) =
    /// 1000 - 0.4 * 8.0856^3 = 1000 - 0.4 * 528.61 = 788.56, and the first ACK adds 88.56 / 700 =
    /// 0.12651.
    #[test]
    fn an_ack_adds_its_share_of_the_distance_to_the_target() {
        let mut path = Path::new(&CubicParams::default(), 1_000.0, 1.0);
        // Switch the Reno-friendly region off: its window is slightly above the cubic at first.
        path.control.friendly_increase = 0.0;
        path.lose();
        path.ack_of(1);
        path.assert_near(700.126_51, 1e-4);
        let mut delayed = Path::new(&CubicParams::default(), 1_000.0, 1.0);
        delayed.control.friendly_increase = 0.0;
        delayed.lose();
        delayed.ack_of(2);
        delayed.assert_near(700.253_02, 2e-4);
        delayed.ack_of(10_000); // never beyond the target
        delayed.assert_near(788.56, 0.01);
    }

    /// RFC 9438 sec. 4.2: the target is at most 1.5 cwnd. With C = 1e6 the cubic is far above it.
    #[test]
    fn the_target_is_at_most_one_and_a_half_windows() {
        let params = CubicParams { c: 1e6, ..CubicParams::default() };
        let mut path = Path::new(&params, 100.0, 1.0);
        path.ack_of(1);
        path.now += 1.0;
        path.ack_of(1);
        let before = path.cwnd;
        path.now += 1.0;
        path.ack_of(1);
        path.assert_near(before + 0.5, 1e-9);
    }

    /// RFC 9438 sec. 4.3: `alpha_cubic` = 3 * 0.3 / 1.7 = 0.52941 packets per round trip until the
    /// window has recovered, then 1. With an RTT of 10 ms and 20 packets the cubic would need K =
    /// cbrt(6 / 0.4) = 2.466 s to recover, Reno (20 - 14) / 0.529 = 11.3 round trips.
    #[test]
    fn a_small_window_grows_at_half_the_rate_of_reno_until_it_has_recovered() {
        let mut path = Path::new(&CubicParams::default(), 20.0, 0.01);
        path.lose();
        path.pass(0.1); // ten round trips
        path.assert_near(14.0 + 10.0 * 0.529_41, 0.05);
        path.pass(0.0133); // 1.33 more round trips: 20 packets
        path.assert_near(20.0, 0.1);
        path.pass(0.1);
        path.assert_near(30.0, 0.1);
    }

    /// The mean window over round trips, and the last peak, of a flow that loses one packet in 1/p
    /// and whose first peak is `peak`.
    fn deterministic_loss(c: f64, peak: f64, rtt: f64, loss_fraction: f64) -> (f64, f64) {
        let params = CubicParams { c, fast_convergence: false, ..CubicParams::default() };
        let mut path = Path::new(&params, peak, rtt);
        let packets = libm::round(1.0 / loss_fraction) as u64;
        let (mut acked, begin) = (0, path.now);
        for _ in 0..10 {
            path.lose();
            for _ in 0..packets {
                path.ack();
            }
            acked += packets;
        }
        (acked as f64 * rtt / (path.now - begin), path.cwnd)
    }

    /// RFC 9438 tables 1 and 2, for the rows in the cubic region. The RFC's model assumes that
    /// each loss occurs on the plateau, where the mean is 3.7 / 4 of the peak. This is a fixed
    /// point, but a flow approaches it only slowly (the slope of the plateau is 0), so the flow
    /// starts there.
    #[test]
    fn the_mean_window_in_the_cubic_region_matches_the_published_tables() {
        for (c, rtt, loss_fraction, published) in [
            (0.4, 0.1, 1e-4, 187.0),
            (0.4, 0.1, 1e-5, 1_054.0),
            (0.04, 0.1, 1e-5, 593.0),
            (4.0, 0.1, 1e-5, 1_874.0),
            (4.0, 0.01, 1e-6, 1_874.0),
        ] {
            let peak = published * 4.0 / 3.7;
            let (mean, last) = deterministic_loss(c, peak, rtt, loss_fraction);
            for (value, expected) in [(mean, published), (last, peak)] {
                let error = value / expected - 1.0;
                assert!(
                    error.abs() < 0.005,
                    "C {c}, {rtt} s, p {loss_fraction}: {value}, expected {expected}"
                );
            }
        }
    }

    /// RFC 9438 sec. 4.3: `AVG_AIMD`(0.529, 0.7) = sqrt(0.529 * 1.7 / (0.6 p)) = sqrt(1.5 / p), as
    /// for Reno: 122.5, 387.3 and 38.7 packets (120, 379 and 38 in the tables, which use 1.2
    /// instead of 1.22).
    #[test]
    fn the_mean_window_in_the_friendly_region_matches_reno() {
        for (rtt, loss_fraction, expected) in
            [(0.01, 1e-4, 122.47), (0.01, 1e-5, 387.3), (0.01, 1e-3, 38.73)]
        {
            let (mean, _) = deterministic_loss(0.4, 1.3 * expected, rtt, loss_fraction);
            let error = mean / expected - 1.0;
            assert!(error.abs() < 0.04, "{rtt} s, p {loss_fraction}: {mean}, expected {expected}");
        }
    }

    /// RFC 9438 sec. 4.7: after congestion below the last maximum, `W_max` = cwnd (1 + 0.7) / 2.
    #[test]
    fn fast_convergence_lowers_the_plateau() {
        for (fast_convergence, plateau) in [(true, 0.85 * 800.0), (false, 800.0)] {
            let params = CubicParams { fast_convergence, ..CubicParams::default() };
            let mut path = Path::new(&params, 1_000.0, 0.1);
            path.lose();
            assert_eq!(path.control.saturation, Some(1_000.0));
            path.cwnd = 800.0;
            assert!((path.lose() - 560.0).abs() < 1e-9);
            assert_eq!(path.control.saturation, Some(plateau));
            // Above the plateau, and then at the plateau: no fast convergence.
            for _ in 0..2 {
                path.cwnd = 900.0;
                path.lose();
                assert_eq!(path.control.saturation, Some(900.0));
            }
        }
    }

    /// RFC 9438 sec. 4.8 and 4.10: K = 0 and `W_max` = cwnd. After 5 s the cubic has added 0.4 *
    /// 125 = 50 packets; with the old `W_max` the window would be 1000 - 0.4 (K - 5)^3.
    #[test]
    fn the_curve_starts_on_its_plateau_after_a_timeout_or_a_slow_start_without_loss() {
        let mut fresh = Path::new(&CubicParams::default(), 700.0, 0.1);
        fresh.pass(5.0);
        // Reno, with one packet per 0.1 s, is at 750 packets too.
        fresh.assert_near(750.0, 1.5);
        fresh.pass(5.0);
        fresh.assert_near(1_100.0, 1.5);
        let mut path = Path::new(&CubicParams::default(), 1_000.0, 0.1);
        path.lose();
        path.cwnd = 1_000.0;
        assert!((path.congest(CongestionKind::Timeout) - 700.0).abs() < 1e-9);
        path.pass(10.0);
        path.assert_near(1_100.0, 1.5);
    }

    /// RFC 9438 sec. 5.8: a minute without data advances the curve by one round trip only.
    #[test]
    fn idle_time_does_not_advance_the_curve() {
        let mut steady = Path::new(&CubicParams::default(), 1_000.0, 0.1);
        steady.lose();
        steady.pass(4.0);
        let mut pausing = Path::new(&CubicParams::default(), 1_000.0, 0.1);
        pausing.lose();
        pausing.pass(2.0);
        pausing.now += 60.0;
        pausing.pass(2.0);
        // One round trip at the slope of the curve at 4 s: 0.1 * 1.2 * 5.09^2 = 3.1 packets.
        pausing.assert_near(steady.cwnd + 3.0, 0.5);
    }

    #[test]
    fn a_mark_reduces_the_window_as_a_loss_does_unless_abe_is_set() {
        for (abe, on_mark) in [(false, 70.0), (true, 85.0)] {
            let params = CubicParams { abe, ..CubicParams::default() };
            let mut path = Path::new(&params, 100.0, 0.1);
            assert!((path.congest(CongestionKind::Mark) - on_mark).abs() < 1e-9);
            path.cwnd = 100.0;
            assert!((path.lose() - 70.0).abs() < 1e-9);
        }
    }

    /// RFC 9438 sec. 4.9: after the undo the window grows as if nothing had happened, on the curve
    /// of the first loss.
    #[test]
    fn an_undo_returns_to_the_curve_before_the_congestion() {
        for kind in [CongestionKind::Loss, CongestionKind::Timeout] {
            let mut undisturbed = Path::new(&CubicParams::default(), 1_000.0, 0.1);
            let mut disturbed = Path::new(&CubicParams::default(), 1_000.0, 0.1);
            for path in [&mut undisturbed, &mut disturbed] {
                path.lose();
                path.pass(3.0);
            }
            let window = disturbed.cwnd;
            disturbed.congest(kind);
            disturbed.control.on_undo();
            disturbed.cwnd = window;
            for path in [&mut undisturbed, &mut disturbed] {
                path.pass(9.0);
            }
            disturbed.assert_near(undisturbed.cwnd, 1e-9);
        }
    }
}
