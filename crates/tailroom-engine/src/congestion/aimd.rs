//! Additive increase, multiplicative decrease (Chiu and Jain 1989), both configurable.

use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of AIMD; the defaults are those of standard TCP (RFC 5681).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AimdParams {
    /// Increase a, in packets per round trip (RFC 5681: 1). The growth is at most one packet per
    /// acknowledged packet, as in slow start.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub increase: f64,
    /// Decrease b: the fraction by which congestion reduces the window (RFC 5681: 0.5).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub decrease: f64,
}

impl Default for AimdParams {
    fn default() -> Self {
        AimdParams { increase: 1.0, decrease: 0.5 }
    }
}

impl ControlParameters for AimdParams {}

/// The state of AIMD for one flow: the growth per round trip, and the fraction of the window that
/// remains after congestion.
#[derive(Clone, Debug)]
pub struct Aimd {
    increase: f64,
    retention: f64,
}

impl Aimd {
    /// Creates the control in its initial state.
    pub fn new(params: &AimdParams) -> Self {
        Aimd { increase: params.increase, retention: 1.0 - params.decrease }
    }
}

impl WindowLaw for Aimd {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // Without this bound, a large increase would make a small window grow faster than slow
        // start.
        let per_packet = (self.increase / cwnd_packets).min(1.0);
        cwnd_packets + per_packet * event.acked_packets as f64
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        self.retention * event.cwnd_packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{ack, congestion, grow_one_round_trip};
    use super::super::{CongestionKind, reno};
    use super::*;

    fn aimd(increase: f64, decrease: f64) -> Aimd {
        Aimd::new(&AimdParams { increase, decrease })
    }

    /// Each of w ACKs adds a / w, and slightly less as the window grows, so one round trip adds
    /// between a - a^2 / w and a.
    #[test]
    fn grows_by_the_increase_per_round_trip() {
        for (increase, window) in [(1.0, 100.0), (0.25, 40.0), (8.0, 1_000.0)] {
            let growth = grow_one_round_trip(&mut aimd(increase, 0.5), window) - window;
            let least = increase - increase * increase / window;
            assert!(least <= growth && growth <= increase, "{increase}, {window}: {growth}");
        }
    }

    #[test]
    fn shrinks_by_the_decrease_on_congestion() {
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            assert!((aimd(1.0, 0.125).on_congestion(&congestion(kind, 80.0)) - 70.0).abs() < 1e-9);
        }
    }

    #[test]
    fn equals_reno_by_default() {
        let mut aimd = Aimd::new(&AimdParams::default());
        let mut reno = reno::Reno::new(&reno::RenoParams::default());
        for window in [1.0, 2.0, 17.5, 1e6] {
            for packets in [1, 2, 7] {
                let event = ack(packets);
                let (actual, expected) = (aimd.on_ack(window, &event), reno.on_ack(window, &event));
                assert!((actual - expected).abs() < 1e-9, "{window}, {packets}");
            }
            let loss = congestion(CongestionKind::Loss, window);
            assert!((aimd.on_congestion(&loss) - reno.on_congestion(&loss)).abs() < 1e-9);
        }
    }

    #[test]
    fn never_grows_faster_than_slow_start() {
        assert!((aimd(50.0, 0.5).on_ack(10.0, &ack(3)) - 13.0).abs() < 1e-9);
    }
}
