//! Vegas (Brakmo and Peterson 1995): delay tells how many packets are queued, and the window moves
//! until there are a few.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::round_rtt::{Round, RoundRtt, backlog};
use super::{AckEvent, CongestionEvent, ControlParameters, SteadyState, WindowLaw};
use crate::parameters::{BadParameter, check};

/// Parameters of Vegas; defaults as Linux and ns-2.
///
/// The control takes the smallest RTT of the connection for the RTT without queues. Losses halve the
/// window; the finer timeouts of the paper are left out, since recovery is the sender's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VegasParams {
    /// With fewer packets queued the window grows by one packet a round trip (2).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha: f64,
    /// With more packets queued the window shrinks by one packet a round trip (4); not below `alpha`.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub beta: f64,
    /// With more packets queued slow start ends (1).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gamma: f64,
}

impl Default for VegasParams {
    fn default() -> Self {
        VegasParams { alpha: 2.0, beta: 4.0, gamma: 1.0 }
    }
}

impl ControlParameters for VegasParams {
    fn is_loss_based(&self) -> bool {
        false
    }

    fn validate(&self) -> Result<(), BadParameter> {
        let is_finite = self.beta > 0.0 && self.beta.is_finite();
        check("beta", self.beta, is_finite, "a finite number above 0")?;
        let is_below = 0.0 < self.alpha && self.alpha <= self.beta;
        let allowed = format!("more than 0 and at most beta, {}", self.beta);
        check("alpha", self.alpha, is_below, &allowed)?;
        let is_finite = self.gamma > 0.0 && self.gamma.is_finite();
        check("gamma", self.gamma, is_finite, "a finite number above 0")
    }

    fn steady_state(&self) -> SteadyState {
        SteadyState::MaySettle
    }
}

/// A running Vegas.
#[derive(Debug)]
pub struct Vegas {
    params: VegasParams,
    round: RoundRtt,
    /// Whether slow start grows in this round trip; in every other one it holds the window, so that
    /// the rates of one window are compared.
    is_growing: bool,
    slow_start_is_over: bool,
}

const MIN_WINDOW: f64 = 2.0; // Linux tcp_vegas.c
const CREDIT_LIMIT: u64 = 2; // RFC 3465 sec. 2.2

impl Vegas {
    /// Starts the control.
    pub fn new(params: &VegasParams) -> Self {
        Vegas {
            params: params.clone(),
            round: RoundRtt::new(),
            is_growing: false,
            slow_start_is_over: false,
        }
    }

    /// Brakmo and Peterson 1995, sec. 3.3: exponential growth only every other round trip.
    fn slow_start(&mut self, window: f64, event: &AckEvent, round: Round) -> f64 {
        self.slow_start_is_over = match round {
            Round::Measured(rtt) if !self.is_growing => {
                backlog(window, rtt, event.min_rtt) > self.params.gamma
            }
            _ => false,
        };
        if self.slow_start_is_over {
            return window;
        }
        if round != Round::Running {
            self.is_growing = !self.is_growing;
        }
        let credit = event.acked_packets.min(CREDIT_LIMIT) as f64;
        if self.is_growing { window + credit } else { window }
    }

    /// Brakmo and Peterson 1995, sec. 3.2.
    fn avoid_congestion(&self, window: f64, event: &AckEvent, round: Round) -> f64 {
        match round {
            Round::Running => window,
            // A window of one or two packets gives no better sample; grow as Reno does.
            Round::Unmeasured => window + event.acked_packets as f64 / window,
            Round::Measured(rtt) => {
                let queued = backlog(window, rtt, event.min_rtt);
                if queued < self.params.alpha {
                    window + 1.0
                } else if queued > self.params.beta {
                    (window - 1.0).max(MIN_WINDOW)
                } else {
                    window
                }
            }
        }
    }
}

impl WindowLaw for Vegas {
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let round = self.round.on_ack(event);
        if event.is_slow_start {
            self.slow_start(cwnd_packets, event, round)
        } else {
            self.avoid_congestion(cwnd_packets, event, round)
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        self.round.forget();
        self.is_growing = false;
        0.5 * event.cwnd_packets
    }

    fn has_own_slow_start(&self) -> bool {
        true
    }

    fn ends_slow_start(&mut self) -> bool {
        self.slow_start_is_over
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionKind;
    use super::super::script::{Script, assert_close, ms};
    use super::*;

    /// A control in congestion avoidance that has seen the RTT without queues, 100 ms.
    fn settled() -> (Vegas, Script) {
        let (mut vegas, mut script) = (Vegas::new(&VegasParams::default()), Script::new());
        script.round(&mut vegas, 50.0, ms(100.0));
        (vegas, script)
    }

    /// A window of 50 and a queue of q packets: RTT = 100 ms x 50 / (50 - q).
    fn rtt_with_queue(queued: f64) -> crate::units::Time {
        ms(100.0 * 50.0 / (50.0 - queued))
    }

    #[test]
    fn the_window_moves_by_one_packet_a_round_trip_outside_alpha_to_beta() {
        for (queued, change) in
            [(0.0, 1.0), (1.9, 1.0), (2.1, 0.0), (3.9, 0.0), (4.1, -1.0), (30.0, -1.0)]
        {
            let (mut vegas, mut script) = settled();
            assert_close(script.round(&mut vegas, 50.0, rtt_with_queue(queued)), 50.0 + change);
        }
    }

    #[test]
    fn the_smallest_rtt_of_the_round_trip_counts() {
        let (mut vegas, mut script) = settled();
        for _ in 0..40 {
            // 300 ms by a burst or a delayed ACK: 33 packets queued, if it counted.
            assert_close(script.ack(&mut vegas, 50.0, ms(300.0)), 50.0);
        }
        assert_close(script.round(&mut vegas, 50.0, rtt_with_queue(1.0)), 51.0);
    }

    #[test]
    fn a_round_trip_with_two_samples_grows_as_reno_does() {
        let (mut vegas, mut script) = (Vegas::new(&VegasParams::default()), Script::new());
        script.ack(&mut vegas, 2.0, ms(100.0));
        assert_close(script.ack(&mut vegas, 2.0, ms(100.0)), 2.0);
        script.event.rtt = None;
        script.event.delivered_packets += 10;
        // Over with one sample: + 1/2, though the RTT says that many are queued.
        assert_close(vegas.on_ack(2.0, &script.event), 2.5);
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip() {
        let (mut vegas, mut script) = (Vegas::new(&VegasParams::default()), Script::new());
        script.event.is_slow_start = true;
        let mut window = script.round(&mut vegas, 8.0, ms(100.0));
        let mut ends = Vec::new();
        for _ in 0..5 {
            window = script.round(&mut vegas, window, ms(100.0));
            ends.push(window);
            assert!(!vegas.ends_slow_start());
        }
        // The ACK that ends a round trip already belongs to the next, hence not exactly two.
        let doubled = [ends[0] / 8.0, ends[2] / ends[0], ends[4] / ends[2]];
        assert!(doubled.iter().all(|ratio| (1.9..=2.2).contains(ratio)), "{ends:?}");
        assert!(ends[1] - ends[0] <= 1.0 && ends[3] - ends[2] <= 1.0, "{ends:?}");
    }

    #[test]
    fn slow_start_ends_with_more_than_gamma_packets_queued() {
        for (rtt_ms, is_over) in [(102.0, false), (103.0, true)] {
            let (mut vegas, mut script) = (Vegas::new(&VegasParams::default()), Script::new());
            script.event.is_slow_start = true;
            let mut window = script.round(&mut vegas, 20.0, ms(100.0));
            window = script.round(&mut vegas, window, ms(100.0));
            assert_close(window, 41.0); // 21 in flight at the first ACK, one ACK each
            // 41 x 2 / 102 = 0.80 and 41 x 3 / 103 = 1.19 packets queued.
            script.round(&mut vegas, window, ms(rtt_ms));
            assert_eq!(vegas.ends_slow_start(), is_over, "{rtt_ms} ms");
        }
    }

    #[test]
    fn congestion_halves_the_window_and_two_packets_are_the_least() {
        let (mut vegas, mut script) = settled();
        for kind in [CongestionKind::Loss, CongestionKind::Mark, CongestionKind::Timeout] {
            assert_close(script.congestion(&mut vegas, 50.0, kind), 25.0);
        }
        vegas.params = VegasParams { alpha: 0.1, beta: 0.1, gamma: 1.0 };
        let mut window = 5.0;
        for _ in 0..10 {
            window = script.round(&mut vegas, window, ms(900.0));
        }
        assert!((2.0..=2.5).contains(&window), "{window}"); // 2.5: after a round of two samples
    }

    #[test]
    fn contradictory_parameters_are_refused() {
        assert!(VegasParams { alpha: 5.0, ..VegasParams::default() }.validate().is_err());
        assert!(VegasParams { gamma: 0.0, ..VegasParams::default() }.validate().is_err());
        assert!(VegasParams { beta: f64::NAN, ..VegasParams::default() }.validate().is_err());
        assert!(VegasParams::default().validate().is_ok());
    }
}
