//! Vegas (Brakmo and Peterson 1995): estimates the number of queued packets from the delay, and
//! adapts the window until a few packets are queued.

use super::round_rtt::{Round, RoundRtt, backlog};
use super::{AckEvent, CongestionEvent, ControlParameters, SteadyState, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::{BadParameter, check};

/// Parameters of Vegas; defaults as in Linux and ns-2.
///
/// The RTT without queueing delay is taken to be the smallest RTT of the connection. Losses halve
/// the window. The fine-grained timeouts of the paper are not implemented, because all controls
/// share the loss recovery of the sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct VegasParams {
    /// Number of queued packets below which the window grows by one packet per round trip (Linux:
    /// 2).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha: f64,
    /// Number of queued packets above which the window shrinks by one packet per round trip
    /// (Linux: 4); at least `alpha`.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub beta: f64,
    /// Number of queued packets above which slow start ends (Linux: 1).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gamma: f64,
}

impl Default for VegasParams {
    fn default() -> Self {
        VegasParams { alpha: 2.0, beta: 4.0, gamma: 1.0 }
    }
}

impl ControlParameters for VegasParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let allowed = format!("at most beta, {}", self.beta);
        check("alpha", self.alpha, self.alpha <= self.beta, &allowed)
    }

    fn steady_state(&self) -> SteadyState {
        SteadyState::MaySettle
    }
}

/// The state of Vegas for one flow.
#[derive(Clone, Debug)]
pub struct Vegas {
    params: VegasParams,
    round: RoundRtt,
    /// Whether the window grows in this round trip of slow start. In every other round trip the
    /// window is constant, so that the expected and the actual rate belong to the same window.
    is_growing: bool,
    slow_start_is_over: bool,
}

const MIN_WINDOW: f64 = 2.0; // Linux tcp_vegas.c
const CREDIT_LIMIT: u64 = 2; // RFC 3465 sec. 2.2

impl Vegas {
    /// Creates the control in its initial state.
    pub fn new(params: &VegasParams) -> Self {
        Vegas {
            params: params.clone(),
            round: RoundRtt::new(),
            is_growing: false,
            slow_start_is_over: false,
        }
    }

    /// Brakmo and Peterson 1995, sec. 3.3: the window doubles every other round trip.
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

    /// Brakmo and Peterson 1995, sec. 3.2: one decision per round trip.
    fn avoid_congestion(&self, window: f64, event: &AckEvent, round: Round) -> f64 {
        match round {
            Round::Running => window,
            // A window of one or two packets cannot give more samples; grow as Reno does.
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

    /// A control in congestion avoidance whose smallest RTT is 100 ms.
    fn settled() -> (Vegas, Script) {
        let (mut vegas, mut script) = (Vegas::new(&VegasParams::default()), Script::new());
        script.round(&mut vegas, 50.0, ms(100.0));
        (vegas, script)
    }

    /// With q of 50 packets queued, RTT = 100 ms x 50 / (50 - q).
    fn rtt_with_queue(queued: f64) -> crate::units::Time {
        ms(100.0 * 50.0 / (50.0 - queued))
    }

    #[test]
    fn the_window_changes_by_one_packet_per_round_trip_outside_alpha_to_beta() {
        for (queued, change) in
            [(0.0, 1.0), (1.9, 1.0), (2.1, 0.0), (3.9, 0.0), (4.1, -1.0), (30.0, -1.0)]
        {
            let (mut vegas, mut script) = settled();
            assert_close(script.round(&mut vegas, 50.0, rtt_with_queue(queued)), 50.0 + change);
        }
    }

    #[test]
    fn the_backlog_follows_from_the_smallest_rtt_of_the_round_trip() {
        let (mut vegas, mut script) = settled();
        for _ in 0..40 {
            // A burst or a delayed ACK causes an RTT of 300 ms, which would mean 33 queued
            // packets.
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
        // The round trip ends with one sample: + 1/2, whatever the RTT.
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
        // The factor is not exactly two, because the ACK that ends a round trip belongs to the
        // next one.
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
            assert_close(window, 41.0); // one ACK for each of the 21 packets in flight
            // 41 x 2 / 102 = 0.80 and 41 x 3 / 103 = 1.19 packets queued.
            script.round(&mut vegas, window, ms(rtt_ms));
            assert_eq!(vegas.ends_slow_start(), is_over, "{rtt_ms} ms");
        }
    }

    #[test]
    fn congestion_halves_the_window_and_it_is_at_least_two_packets() {
        let (mut vegas, mut script) = settled();
        for kind in [CongestionKind::Loss, CongestionKind::Mark, CongestionKind::Timeout] {
            assert_close(script.congestion(&mut vegas, 50.0, kind), 25.0);
        }
        vegas.params = VegasParams { alpha: 0.1, beta: 0.1, gamma: 1.0 };
        let mut window = 5.0;
        for _ in 0..10 {
            window = script.round(&mut vegas, window, ms(900.0));
        }
        // 2.5 after a round trip with two samples.
        assert!((2.0..=2.5).contains(&window), "{window}");
    }
}
