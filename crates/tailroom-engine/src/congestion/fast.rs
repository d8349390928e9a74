//! FAST (Jin, Wei and Low 2004): as Vegas, aims at a given number of queued packets, but in steps
//! in proportion to the distance from that number instead of one packet.

use super::{AckEvent, CongestionEvent, ControlParameters, Rounds, SteadyState, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::Duration;
use crate::units::Time;

/// Parameters of FAST; defaults as in ns-2.
///
/// A new window takes effect at once instead of growing over a round trip. Losses halve the
/// window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FastParams {
    /// Packets that each flow keeps queued (ns-2: 100).
    #[schemars(range(min = 1.0))]
    pub alpha: f64,
    /// Fraction of the distance to the target that one update covers (ns-2: 0.5).
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub gamma: f64,
    /// Mean queueing delay below which each ACK adds a packet, as in slow start (ns-2: 0.75 ms).
    pub mi_threshold: Duration,
}

impl Default for FastParams {
    fn default() -> Self {
        let mi_threshold = Duration::new(Time::from_seconds(0.75e-3).picoseconds());
        FastParams { alpha: 100.0, gamma: 0.5, mi_threshold }
    }
}

impl ControlParameters for FastParams {
    fn steady_state(&self) -> SteadyState {
        SteadyState::MaySettle
    }
}

/// The state of FAST for one flow.
#[derive(Clone, Debug)]
pub struct Fast {
    params: FastParams,
    threshold_s: f64,
    /// Smoothed RTT in seconds; zero before the first sample.
    mean_rtt_s: f64,
    rounds: Rounds,
    /// Whether a round trip has passed since the last update. Updates are made every other round
    /// trip, so that the RTT reflects the previous update.
    has_waited: bool,
    is_multiplicative: bool,
}

const MIN_WINDOW: f64 = 2.0; // ns-2 tcp-fast.cc
const MEAN_WINDOWS: f64 = 3.0; // Jin, Wei and Low 2004: the gain is min(3 / w, 1/4)
// Jin, Wei and Low 2004, and no second source; the 1/256 of ns-2 is too slow for a small window.
const MAX_GAIN: f64 = 0.25;
const CREDIT_LIMIT: u64 = 2; // RFC 3465 sec. 2.2

impl Fast {
    /// Creates the control in its initial state.
    pub fn new(params: &FastParams) -> Self {
        Fast {
            params: params.clone(),
            threshold_s: params.mi_threshold.time().seconds(),
            mean_rtt_s: 0.0,
            rounds: Rounds::default(),
            has_waited: false,
            is_multiplicative: true,
        }
    }

    fn sample(&mut self, window: f64, rtt: Time) {
        let rtt_s = rtt.seconds();
        if self.mean_rtt_s > 0.0 {
            let gain = (MEAN_WINDOWS / window).min(MAX_GAIN);
            self.mean_rtt_s += gain * (rtt_s - self.mean_rtt_s);
        } else {
            self.mean_rtt_s = rtt_s;
        }
    }

    /// Jin, Wei and Low 2004: w <- min(2 w, (1 - g) w + g (baseRTT / RTT w + alpha)).
    fn update(&self, window: f64, base_s: f64) -> f64 {
        let FastParams { alpha, gamma, .. } = self.params;
        let target = (1.0 - gamma) * window + gamma * (base_s / self.mean_rtt_s * window + alpha);
        target.min(2.0 * window).max(MIN_WINDOW)
    }
}

impl WindowLaw for Fast {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        if let Some(rtt) = event.rtt {
            self.sample(cwnd_packets, rtt);
        }
        if self.mean_rtt_s <= 0.0 {
            return cwnd_packets;
        }
        let is_over = self.rounds.is_over(event);
        let base_s = event.min_rtt.seconds();
        self.is_multiplicative = self.mean_rtt_s - base_s < self.threshold_s;
        if self.is_multiplicative {
            self.has_waited = false;
            return cwnd_packets + event.acked_packets.min(CREDIT_LIMIT) as f64;
        }
        if !is_over {
            return cwnd_packets;
        }
        self.has_waited = !self.has_waited;
        if self.has_waited { cwnd_packets } else { self.update(cwnd_packets, base_s) }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        self.has_waited = false;
        0.5 * event.cwnd_packets
    }

    // The same law applies below ssthresh; the control only reports when slow start ends.
    fn has_own_slow_start(&self) -> bool {
        true
    }

    fn ends_slow_start(&mut self) -> bool {
        !self.is_multiplicative
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionKind;
    use super::super::script::{Script, assert_close, ms};
    use super::*;

    /// The window after two round trips at `rtt`, with a smallest RTT of 100 ms and a mean RTT
    /// that is already `rtt`.
    fn updated(fast: &mut Fast, window: f64, rtt: Time) -> f64 {
        let mut script = Script::new();
        script.ack(fast, window, ms(100.0));
        fast.mean_rtt_s = rtt.seconds();
        fast.has_waited = false;
        assert_close(script.held_round(fast, window, rtt), window);
        script.held_round(fast, window, rtt)
    }

    fn control() -> Fast {
        Fast::new(&FastParams::default())
    }

    #[test]
    fn every_other_round_trip_the_window_covers_half_of_the_distance_to_its_target() {
        // 125 ms: 500 + (0.8 x 1000 + 100) / 2 = 950. 200 ms: 500 + (500 + 100) / 2 = 800.
        // 102 ms: 500 + (1000 / 1.02 + 100) / 2 = 1040.196.
        for (rtt_ms, window) in [(125.0, 950.0), (200.0, 800.0), (102.0, 1_040.196_078_431_372_5)] {
            assert_close(updated(&mut control(), 1000.0, ms(rtt_ms)), window);
        }
    }

    #[test]
    fn the_equilibrium_has_alpha_packets_in_the_queue() {
        // w (1 - base / RTT) = 100: at 125 ms the window is 500, at 200 ms it is 200.
        assert_close(updated(&mut control(), 500.0, ms(125.0)), 500.0);
        assert_close(updated(&mut control(), 200.0, ms(200.0)), 200.0);
    }

    #[test]
    fn one_update_at_most_doubles_the_window() {
        // 10 + (16 + 100) / 2 = 68 without the bound.
        assert_close(updated(&mut control(), 20.0, ms(125.0)), 40.0);
    }

    #[test]
    fn each_ack_adds_a_packet_while_there_is_no_queueing_delay() {
        for (rtt_ms, growth) in [(100.7, 1.0), (100.8, 0.0)] {
            let (mut fast, mut script) = (control(), Script::new());
            script.ack(&mut fast, 50.0, ms(100.0));
            fast.mean_rtt_s = rtt_ms / 1e3;
            assert_close(script.ack(&mut fast, 50.0, ms(rtt_ms)), 50.0 + growth);
            assert_eq!(fast.ends_slow_start(), growth == 0.0);
        }
    }

    #[test]
    fn the_weight_of_an_rtt_sample_is_three_over_the_window_and_at_most_a_quarter() {
        // A sample of 200 ms after one of 100 ms: gain 1/4 at a window of 4, 3/300 at a window
        // of 300.
        for (window, mean_ms) in [(4.0, 125.0), (300.0, 101.0)] {
            let (mut fast, mut script) = (control(), Script::new());
            script.ack(&mut fast, window, ms(100.0));
            script.ack(&mut fast, window, ms(200.0));
            assert_close(fast.mean_rtt_s * 1e3, mean_ms);
        }
    }

    #[test]
    fn congestion_halves_the_window() {
        for kind in [CongestionKind::Loss, CongestionKind::Mark, CongestionKind::Timeout] {
            assert_close(Script::new().congestion(&mut control(), 50.0, kind), 25.0);
        }
    }
}
