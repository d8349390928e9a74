//! BIC (Xu, Harfoush, Rhee, "Binary increase congestion control for fast long-distance networks",
//! INFOCOM 2004) as in Linux: a search for the window at the last loss, similar to a binary
//! search.

use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of BIC. The law and the defaults are those of Linux. Where the paper has another
/// value, that value is given too; no second source confirms the one at `smooth_part`. Linux
/// counts whole packets; here windows and distances have fractions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BicParams {
    /// Largest window at which the control behaves as standard TCP, in packets (paper and Linux:
    /// 14).
    #[schemars(range(min = 0.0))]
    pub low_window: f64,
    /// Largest increment `S_max`, in packets per round trip (Linux: 16, which allows for delayed
    /// ACKs; the paper, and Linux up to 2.6.14: 32).
    #[schemars(range(min = 1.0))]
    pub max_increment: f64,
    /// Each round trip covers 1 / `search_divisor` of the distance to the window at the last loss
    /// (Linux: 4; paper: 2, a binary search).
    #[schemars(range(min = 2.0))]
    pub search_divisor: f64,
    /// Number of round trips in which the window grows by the last `search_divisor` packets below
    /// the window at the last loss, and by the first ones above it (Linux: 20, so 0.2 packets per
    /// round trip; the paper instead ends the search at a smallest increment of 0.01).
    #[schemars(range(min = 1.0))]
    pub smooth_part: f64,
    /// The fraction by which congestion reduces the window (Linux: 205 / 1024, about 0.2; paper:
    /// 0.125).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 0.5))]
    pub decrease: f64,
    /// After a loss below the window at the last loss, search for a window halfway between the
    /// windows before and after the reduction, so that the flow releases capacity to new flows
    /// (paper and Linux: on).
    pub fast_convergence: bool,
}

impl Default for BicParams {
    fn default() -> Self {
        BicParams {
            low_window: 14.0,
            max_increment: 16.0,
            search_divisor: 4.0,
            smooth_part: 20.0,
            decrease: 205.0 / 1024.0,
            fast_convergence: true,
        }
    }
}

impl ControlParameters for BicParams {}

/// The state of BIC for one flow.
#[derive(Clone, Debug)]
pub struct Bic {
    params: BicParams,
    /// Increment close to the goal, in packets per round trip.
    smooth_increment: f64,
    /// The window to search for: the window at the last loss, or lower after fast convergence.
    /// `None` before the first loss and after a timeout.
    goal: Option<f64>,
}

/// Smallest relative growth per round trip while there is no goal: in Linux, one packet needs at
/// most 20 ACKs.
const MIN_GROWTH: f64 = 0.05;
/// The window is close to the goal if the distance divided by `search_divisor` is below this
/// value. Linux requires a quotient of at most 1 in whole packets, which means below 2 here.
const CLOSE: f64 = 2.0;
const RENO_RETENTION: f64 = 0.5; // RFC 5681 sec. 3.1, Eq. 4

impl Bic {
    /// Creates the control in its initial state.
    pub fn new(params: &BicParams) -> Self {
        let smooth_increment = params.search_divisor / params.smooth_part;
        Bic { params: params.clone(), smooth_increment, goal: None }
    }

    /// The increment in packets per round trip.
    #[inline]
    fn increment(&self, window: f64) -> f64 {
        let params = &self.params;
        if window <= params.low_window {
            return 1.0;
        }
        let Some(goal) = self.goal else {
            return self.increment_above_goal(window).max(MIN_GROWTH * window);
        };
        if window >= goal {
            return self.increment_above_goal(window - goal);
        }
        let step = (goal - window) / params.search_divisor;
        if step < CLOSE { self.smooth_increment } else { step.min(params.max_increment) }
    }

    /// The increment at `distance` packets above the goal: slow at first, then exponential. Each
    /// round trip multiplies the distance by `d / (d - 1)`, where d is `search_divisor`.
    fn increment_above_goal(&self, distance: f64) -> f64 {
        let BicParams { search_divisor, max_increment, .. } = self.params;
        if distance < search_divisor {
            return self.smooth_increment;
        }
        (distance / (search_divisor - 1.0)).min(max_increment)
    }
}

impl WindowLaw for Bic {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // Linux: at most one packet per acknowledged packet.
        let per_packet = (self.increment(cwnd_packets) / cwnd_packets).min(1.0);
        cwnd_packets + per_packet * event.acked_packets as f64
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let params = &self.params;
        let window = event.cwnd_packets;
        let is_below_goal = self.goal.is_some_and(|goal| window < goal);
        self.goal = match event.kind {
            // Linux discards the goal, because the path may have changed by the time of a timeout.
            CongestionKind::Timeout => None,
            _ if is_below_goal && params.fast_convergence => {
                Some(window * (1.0 - params.decrease / 2.0))
            }
            _ => Some(window),
        };
        if window <= params.low_window {
            return RENO_RETENTION * window;
        }
        (1.0 - params.decrease) * window
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{ack, congestion, grow_one_round_trip};
    use super::*;

    /// A control whose last loss occurred at this window.
    fn after_loss_at(window: f64) -> Bic {
        let mut bic = Bic::new(&BicParams::default());
        bic.on_congestion(&congestion(CongestionKind::Loss, window));
        bic
    }

    /// The growth per acknowledged packet times the window, which is the increment per round trip.
    fn increment(control: &mut Bic, window: f64) -> f64 {
        (control.on_ack(window, &ack(1)) - window) * window
    }

    #[track_caller]
    fn assert_near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-6, "{actual}, expected {expected}");
    }

    /// Linux with the last loss at 1000: one packet per `cnt` ACKs, so w / cnt per round trip.
    #[test]
    fn approaches_the_window_at_the_last_loss() {
        let mut bic = after_loss_at(1_000.0);
        assert_near(increment(&mut bic, 800.0), 16.0); // 200 / 4 = 50, above 16
        assert_near(increment(&mut bic, 936.0), 16.0); // 64 / 4 = 16
        assert_near(increment(&mut bic, 960.0), 10.0); // 40 / 4
        assert_near(increment(&mut bic, 992.0), 2.0); // 8 / 4
        assert_near(increment(&mut bic, 993.0), 0.2); // 7 / 4 is 1 in whole packets: 4 / 20
        assert_near(increment(&mut bic, 999.5), 0.2);
    }

    #[test]
    fn probes_slowly_then_faster_above_the_window_at_the_last_loss() {
        let mut bic = after_loss_at(1_000.0);
        assert_near(increment(&mut bic, 1_000.0), 0.2);
        assert_near(increment(&mut bic, 1_003.9), 0.2);
        assert_near(increment(&mut bic, 1_006.0), 2.0); // 6 / 3
        assert_near(increment(&mut bic, 1_030.0), 10.0); // 30 / 3
        assert_near(increment(&mut bic, 1_048.0), 16.0); // 48 / 3
        assert_near(increment(&mut bic, 5_000.0), 16.0);
    }

    #[test]
    fn equals_reno_up_to_the_low_window() {
        let mut bic = after_loss_at(1_000.0);
        assert_near(increment(&mut bic, 1.0), 1.0);
        assert_near(increment(&mut bic, 14.0), 1.0);
        assert_near(increment(&mut bic, 15.0), 15.0); // at most one packet per acknowledged packet
        assert_near(bic.on_congestion(&congestion(CongestionKind::Loss, 14.0)), 7.0);
        // 15 * 819 / 1024
        let reduced = bic.on_congestion(&congestion(CongestionKind::Loss, 15.0));
        assert_near(reduced, 11.997_070_3);
    }

    /// Linux: before the first loss `cnt` is w / 16 but at most 20, which is 5 % per round trip.
    #[test]
    fn grows_by_at_least_five_percent_before_the_first_loss() {
        let mut bic = Bic::new(&BicParams::default());
        assert_near(increment(&mut bic, 30.0), 10.0); // 30 / 3
        assert_near(increment(&mut bic, 200.0), 16.0);
        assert_near(increment(&mut bic, 320.0), 16.0);
        assert_near(increment(&mut bic, 10_000.0), 500.0);
        let round_trip = grow_one_round_trip(&mut bic, 1_000.0);
        assert_near(round_trip, 1_050.0); // each of 1000 packets adds 1 / 20
        bic.on_congestion(&congestion(CongestionKind::Loss, 10_000.0));
        assert_near(increment(&mut bic, 100.0), 16.0);
        bic.on_congestion(&congestion(CongestionKind::Timeout, 10_000.0));
        assert_near(increment(&mut bic, 10_000.0), 500.0);
    }

    #[test]
    fn keeps_819_of_1024_packets_on_congestion() {
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            let mut bic = Bic::new(&BicParams::default());
            assert_near(bic.on_congestion(&congestion(kind, 1_024.0)), 819.0);
        }
    }

    /// Linux: a loss at 900, below the goal of 1000, sets the goal to 900 * (1024 + 819) / 2048 =
    /// 809.91.
    #[test]
    fn fast_convergence_lowers_the_goal() {
        let mut bic = after_loss_at(1_000.0);
        bic.on_congestion(&congestion(CongestionKind::Loss, 900.0));
        // (900 * 1843 / 2048 - 780) / 4
        assert_near(increment(&mut bic, 780.0), 7.478_027_3);
        // The window of a loss above the goal becomes the new goal unchanged.
        bic.on_congestion(&congestion(CongestionKind::Loss, 850.0));
        assert_near(increment(&mut bic, 820.0), 7.5);
        // So does the window of a loss at the goal.
        bic.on_congestion(&congestion(CongestionKind::Loss, 850.0));
        assert_near(increment(&mut bic, 820.0), 7.5);
    }

    #[test]
    fn without_fast_convergence_the_goal_is_the_window_at_the_last_loss() {
        let params = BicParams { fast_convergence: false, ..BicParams::default() };
        let mut bic = Bic::new(&params);
        for window in [1_000.0, 900.0] {
            bic.on_congestion(&congestion(CongestionKind::Loss, window));
        }
        assert_near(increment(&mut bic, 860.0), 10.0);
    }

    /// The paper: half of the distance per round trip, at most 32 packets.
    #[test]
    fn halves_the_distance_with_the_parameters_of_the_paper() {
        let params = BicParams { search_divisor: 2.0, max_increment: 32.0, ..BicParams::default() };
        let mut bic = Bic::new(&params);
        bic.on_congestion(&congestion(CongestionKind::Loss, 1_000.0));
        assert_near(increment(&mut bic, 900.0), 32.0);
        assert_near(increment(&mut bic, 960.0), 20.0);
        assert_near(increment(&mut bic, 1_010.0), 10.0); // the distance doubles, as in slow start
    }
}
