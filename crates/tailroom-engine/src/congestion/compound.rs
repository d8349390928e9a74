//! Compound TCP (Tan, Song, Zhang and Sridharan 2006): the window is the sum of Reno's window and
//! a delay-based window, which grows fast while the queue is short and shrinks when it is long.

use super::round_rtt::{Round, RoundRtt, backlog};
use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of Compound TCP; defaults as in the paper.
///
/// `gamma` is constant: its automatic tuning, which later drafts added, is not implemented. The
/// RTT of a round trip is its smallest sample, as in Vegas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompoundParams {
    /// Factor of the increase per round trip, `alpha * window^k` packets (paper: 0.125).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub alpha: f64,
    /// Fraction by which a loss reduces the window (paper: 0.5).
    #[schemars(range(max = 0.5), extend("exclusiveMinimum" = 0.0))]
    pub beta: f64,
    /// Exponent of the increase per round trip, `alpha * window^k` packets (paper: 0.75).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub k: f64,
    /// Number of the flow's packets in the queue from which the delay-based window shrinks (paper:
    /// 30).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gamma: f64,
    /// Packets by which the delay-based window shrinks per queued packet (Linux port: 1).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub zeta: f64,
}

impl Default for CompoundParams {
    fn default() -> Self {
        CompoundParams { alpha: 0.125, beta: 0.5, k: 0.75, gamma: 30.0, zeta: 1.0 }
    }
}

impl ControlParameters for CompoundParams {}

/// The state of Compound TCP for one flow.
#[derive(Clone, Debug)]
pub struct Compound {
    params: CompoundParams,
    round: RoundRtt,
    /// The delay-based part of the window, in packets.
    delay_window: f64,
}

impl Compound {
    /// Creates the control in its initial state.
    pub fn new(params: &CompoundParams) -> Self {
        Compound { params: params.clone(), round: RoundRtt::new(), delay_window: 0.0 }
    }

    /// The delay-based window after a round trip with `queued` packets in the queue.
    fn next_delay_window(&self, window: f64, queued: f64) -> f64 {
        let CompoundParams { alpha, k, gamma, zeta, .. } = self.params;
        if queued < gamma {
            // Reno's window already contributes one packet to the increase.
            self.delay_window + (alpha * libm::pow(window, k) - 1.0).max(0.0)
        } else {
            (self.delay_window - zeta * queued).max(0.0)
        }
    }
}

impl WindowLaw for Compound {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let window = cwnd_packets + event.acked_packets as f64 / cwnd_packets;
        let Round::Measured(rtt) = self.round.on_ack(event) else {
            return window;
        };
        // The sender may have bounded the window since the last ACK.
        self.delay_window = self.delay_window.min(window - 1.0);
        let reno_window = window - self.delay_window;
        let queued = backlog(window, rtt, event.min_rtt);
        self.delay_window = self.next_delay_window(window, queued);
        reno_window + self.delay_window
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        self.round.forget();
        let window = event.cwnd_packets;
        if event.kind == CongestionKind::Timeout {
            self.delay_window = 0.0;
            return 0.5 * window;
        }
        let reno_window = 0.5 * (window - self.delay_window.min(window - 1.0));
        let target = ((1.0 - self.params.beta) * window).max(reno_window);
        self.delay_window = target - reno_window;
        target
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, assert_close, ms};
    use super::*;

    /// A control whose smallest RTT is 100 ms.
    fn settled() -> (Compound, Script) {
        let mut compound = Compound::new(&CompoundParams::default());
        let mut script = Script::new();
        script.ack(&mut compound, 100.0, ms(100.0));
        (compound, script)
    }

    #[test]
    fn a_round_trip_without_queue_adds_an_eighth_of_the_window_to_the_power_of_three_quarters() {
        // 10^0.75 / 8 < 1: no growth. 256^0.75 = 64: 8 - 1. 10000^0.75 = 1000: 125 - 1. The last
        // ACK also adds Reno's 1 / w.
        let root = |window: f64| 0.125 * libm::pow(window + 1.0 / window, 0.75) - 1.0;
        for (window, growth) in [(10.0_f64, 0.0), (256.0, 7.0), (10_000.0, 124.0)] {
            let (mut compound, mut script) = settled();
            let after = script.held_round(&mut compound, window, ms(100.0));
            assert!((after - window - growth).abs() < 0.11, "from {window} to {after}");
            assert!((compound.delay_window - root(window).max(0.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn grows_as_reno_within_a_round_trip() {
        let (mut compound, mut script) = settled();
        assert_close(script.ack(&mut compound, 100.0, ms(100.0)), 100.01);
    }

    #[test]
    fn the_delay_window_shrinks_from_thirty_queued_packets_on() {
        // With q of 300 packets queued, RTT = 100 ms x 300 / (300 - q).
        for (queued, grows) in [(29.0, true), (31.0, false)] {
            let (mut compound, mut script) = settled();
            compound.delay_window = 100.0;
            script.held_round(&mut compound, 300.0, ms(100.0 * 300.0 / (300.0 - queued)));
            let change = compound.delay_window - 100.0;
            // Growth: 300^0.75 / 8 - 1 = 8.01. Reduction: `zeta` times the queued packets.
            let expected = if grows { 8.01 } else { -31.0 };
            assert!((change - expected).abs() < 0.01, "{change} with {queued} packets queued");
        }
    }

    #[test]
    fn the_delay_window_never_falls_below_zero() {
        let (mut compound, mut script) = settled();
        compound.delay_window = 40.0;
        // 150 of 300 packets are queued: the reduction removes the whole delay window of 40
        // packets, and Reno's 260 remain.
        let after = script.held_round(&mut compound, 300.0, ms(200.0));
        assert!((after - 260.0).abs() < 0.01, "{after}");
        assert_close(compound.delay_window, 0.0);
    }

    #[test]
    fn a_loss_halves_the_whole_window() {
        let (mut compound, script) = settled();
        compound.delay_window = 60.0;
        // Before: 40 packets of Reno and 60. After: 20 packets of Reno and 100 / 2 - 20 = 30.
        assert_close(script.congestion(&mut compound, 100.0, CongestionKind::Loss), 50.0);
        assert_close(compound.delay_window, 30.0);
        assert_close(script.congestion(&mut compound, 50.0, CongestionKind::Timeout), 25.0);
        assert_close(compound.delay_window, 0.0);
    }

    #[test]
    fn with_a_smaller_beta_the_delay_window_fills_the_difference_to_reno() {
        let params = CompoundParams { beta: 0.125, ..CompoundParams::default() };
        let mut compound = Compound::new(&params);
        let target = Script::new().congestion(&mut compound, 80.0, CongestionKind::Loss);
        assert_close(target, 70.0); // 40 packets of Reno and 30
        assert_close(compound.delay_window, 30.0);
    }
}
