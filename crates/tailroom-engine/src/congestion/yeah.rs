//! YeAH (Baiocchi, Castellani and Vacirca 2007): while the queue is short the window grows as in
//! Scalable TCP (fast mode); while the queue is long it grows as in Reno, and the flow drains its
//! own packets from the queue (slow mode).

use super::round_rtt::{Round, RoundRtt, backlog};
use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of YeAH; defaults as in the authors' Linux module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct YeahParams {
    /// Number of the flow's own queued packets above which it drains the queue (Linux module: 80).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha: f64,
    /// Per round trip, the flow drains 1 / `gamma` of its queued packets (Linux module: 1).
    #[schemars(range(min = 1.0))]
    pub gamma: f64,
    /// Largest fraction of the window by which draining reduces it per round trip (Linux module:
    /// 0.5, as an epsilon of 1).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub max_drain: f64,
    /// Smallest fraction by which a loss reduces the window (Linux module: 0.125, as a delta of
    /// 3).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 0.5))]
    pub min_decrease: f64,
    /// A queueing delay above 1 / `phi` of the smallest RTT ends the fast mode (Linux module: 8).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub phi: f64,
    /// Number of consecutive round trips in the slow mode from which a loss halves the window,
    /// because other flows compete (Linux module: 16).
    #[schemars(range(min = 0))]
    pub rho: u32,
    /// Number of round trips in the fast mode since the last loss after which the flow assumes
    /// that no other flows compete (Linux module: 50).
    #[schemars(range(min = 0))]
    pub zeta: u32,
    /// Number of acknowledged packets per packet of growth in the fast mode; the window, if it is
    /// smaller (Linux module: 100).
    #[schemars(range(min = 1.0))]
    pub scalable_packets: f64,
}

impl Default for YeahParams {
    fn default() -> Self {
        YeahParams {
            alpha: 80.0,
            gamma: 1.0,
            max_drain: 0.5,
            min_decrease: 0.125,
            phi: 8.0,
            rho: 16,
            zeta: 50,
            scalable_packets: 100.0,
        }
    }
}

impl ControlParameters for YeahParams {}

/// The state of YeAH for one flow.
#[derive(Clone, Debug)]
pub struct Yeah {
    params: YeahParams,
    round: RoundRtt,
    queued: f64,
    /// Consecutive round trips in the slow mode; 0 in the fast mode.
    slow_rounds: u32,
    /// Round trips in the fast mode since the last loss; restarts after `zeta`.
    fast_rounds: u32,
    /// Estimated window of a competing Reno flow, which is the lower bound of draining.
    reno_window: f64,
}

const MIN_WINDOW: f64 = 2.0; // Linux tcp_yeah.c

impl Yeah {
    /// Creates the control in its initial state.
    pub fn new(params: &YeahParams) -> Self {
        Yeah {
            params: params.clone(),
            round: RoundRtt::new(),
            queued: 0.0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_window: MIN_WINDOW,
        }
    }

    /// Decides on the mode, once per round trip, and returns the window.
    fn decide(&mut self, window: f64, rtt_s: f64, base_s: f64, queued: f64) -> f64 {
        self.queued = queued;
        let is_long = queued > self.params.alpha;
        if !is_long && rtt_s - base_s <= base_s / self.params.phi {
            self.enter_fast_round();
            return window;
        }
        let mut window = window;
        if is_long && window > self.reno_window {
            let drained = (queued / self.params.gamma).min(self.params.max_drain * window);
            window = (window - drained).max(self.reno_window);
        }
        self.reno_window = if self.reno_window <= MIN_WINDOW {
            (0.5 * window).max(MIN_WINDOW)
        } else {
            self.reno_window + 1.0
        };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
        window
    }

    fn enter_fast_round(&mut self) {
        self.slow_rounds = 0;
        self.fast_rounds += 1;
        if self.fast_rounds > self.params.zeta {
            self.reno_window = MIN_WINDOW;
            self.fast_rounds = 0;
        }
    }
}

impl WindowLaw for Yeah {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let per_packet = if self.slow_rounds == 0 {
            cwnd_packets.min(self.params.scalable_packets)
        } else {
            cwnd_packets
        };
        let window = cwnd_packets + event.acked_packets as f64 / per_packet;
        let Round::Measured(rtt) = self.round.on_ack(event) else {
            return window;
        };
        let queued = backlog(window, rtt, event.min_rtt);
        self.decide(window, rtt.seconds(), event.min_rtt.seconds(), queued)
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let window = event.cwnd_packets;
        // Without competing flows, reduce the window by the queued packets; with them, as Reno
        // does.
        let has_competitors =
            self.slow_rounds >= self.params.rho || event.kind == CongestionKind::Timeout;
        let reduction = if has_competitors {
            0.5 * window
        } else {
            self.queued.min(0.5 * window).max(self.params.min_decrease * window)
        };
        self.fast_rounds = 0;
        self.reno_window = (0.5 * self.reno_window).max(MIN_WINDOW);
        self.round.forget();
        window - reduction
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, assert_close, ms};
    use super::*;

    /// A control whose smallest RTT is 100 ms.
    fn settled() -> (Yeah, Script) {
        let (mut yeah, mut script) = (Yeah::new(&YeahParams::default()), Script::new());
        script.ack(&mut yeah, 400.0, ms(100.0));
        (yeah, script)
    }

    /// The window after a round trip in which `queued` of the `window` packets were queued.
    fn round(yeah: &mut Yeah, script: &mut Script, window: f64, queued: f64) -> f64 {
        let rtt = ms(100.0 * window / (window - queued));
        script.held_round(yeah, window, rtt)
    }

    #[test]
    fn the_fast_mode_grows_as_scalable_tcp() {
        // One packet per min(w, 100) acknowledged.
        for (window, growth) in [(50.0, 0.02), (100.0, 0.01), (2000.0, 0.01)] {
            let (mut yeah, mut script) = settled();
            assert_close(script.ack(&mut yeah, window, ms(100.0)), window + growth);
        }
    }

    #[test]
    fn grows_as_reno_at_a_delay_above_an_eighth_of_the_smallest_rtt() {
        // At a window of 400, 44 queued packets mean an RTT of 112.36 ms and 45 mean 112.68 ms;
        // the threshold is 112.5 ms.
        for (queued, growth) in [(44.0, 0.01), (45.0, 1.0 / 400.0)] {
            let (mut yeah, mut script) = settled();
            round(&mut yeah, &mut script, 400.0, queued);
            let rtt = ms(100.0 * 400.0 / (400.0 - queued));
            assert_close(script.ack(&mut yeah, 400.0, rtt), 400.0 + growth);
        }
    }

    #[test]
    fn a_long_queue_is_drained() {
        // The last ACK adds 0.01 to the window of 2000, of which 100 packets are queued. The
        // backlog is 2000.01 (1 - 100 ms / RTT) = 100.0005.
        let (mut yeah, mut script) = settled();
        let after = round(&mut yeah, &mut script, 2000.0, 100.0);
        assert!((after - 1900.0095).abs() < 1e-6, "{after}");
        // At most half of the window is drained: 100 of the 150 queued packets (100.005 of
        // 200.01).
        let (mut yeah, mut script) = settled();
        let after = round(&mut yeah, &mut script, 200.0, 150.0);
        assert!((after - 100.005).abs() < 1e-6, "{after}");
    }

    #[test]
    fn draining_stops_at_the_estimated_window_of_reno() {
        let (mut yeah, mut script) = settled();
        yeah.reno_window = 1950.0;
        assert_close(round(&mut yeah, &mut script, 2000.0, 100.0), 1950.0);
        assert_close(yeah.reno_window, 1951.0);
    }

    #[test]
    fn a_loss_reduces_the_window_by_the_queue_between_an_eighth_and_a_half() {
        for (queued, target) in [(10.0, 350.0), (60.0, 340.0), (79.0, 321.0), (300.0, 200.0)] {
            let (mut yeah, script) = settled();
            yeah.queued = queued;
            assert_close(script.congestion(&mut yeah, 400.0, CongestionKind::Loss), target);
        }
    }

    #[test]
    fn a_loss_halves_the_window_after_sixteen_slow_round_trips() {
        for (rounds, target) in [(15, 340.0), (16, 200.0)] {
            let (mut yeah, mut script) = settled();
            for _ in 0..rounds {
                round(&mut yeah, &mut script, 400.0, 60.0);
            }
            let after = script.congestion(&mut yeah, 400.0, CongestionKind::Loss);
            assert!((after - target).abs() < 0.01, "{rounds} round trips: {after}");
        }
        let (mut yeah, script) = settled();
        assert_close(script.congestion(&mut yeah, 400.0, CongestionKind::Timeout), 200.0);
    }

    #[test]
    fn fifty_one_fast_round_trips_reset_the_estimated_window_of_reno() {
        let (mut yeah, mut script) = settled();
        round(&mut yeah, &mut script, 400.0, 60.0);
        // The first slow round trip sets it to half of the window.
        assert!((yeah.reno_window - 200.0).abs() < 0.01);
        for _ in 0..50 {
            round(&mut yeah, &mut script, 400.0, 10.0);
        }
        assert!(yeah.reno_window > 199.0);
        round(&mut yeah, &mut script, 400.0, 10.0);
        assert_close(yeah.reno_window, 2.0);
    }
}
