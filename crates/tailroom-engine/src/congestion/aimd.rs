//! Additive increase, multiplicative decrease (Chiu, Jain 1989) with a free increase and decrease.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::parameters::{BadParameter, check};

/// Parameters of AIMD; the defaults make it standard TCP (RFC 5681).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AimdParams {
    /// Increase a, in packets a round trip (RFC 5681: 1). The window never grows faster than in slow
    /// start, by one packet for each acknowledged packet.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub increase: f64,
    /// Decrease b: the share of the window that congestion takes away (RFC 5681: 0.5).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub decrease: f64,
}

impl Default for AimdParams {
    fn default() -> Self {
        AimdParams { increase: 1.0, decrease: 0.5 }
    }
}

impl ControlParameters for AimdParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let (increase, decrease) = (self.increase, self.decrease);
        let is_positive = increase > 0.0 && increase.is_finite();
        check("increase", increase, is_positive, "a finite number above 0")?;
        check("decrease", decrease, 0.0 < decrease && decrease < 1.0, "more than 0 and less than 1")
    }
}

/// Grows by a packets a round trip and loses the share b on congestion.
#[derive(Debug)]
pub struct Aimd {
    increase: f64,
    retention: f64,
}

impl Aimd {
    /// Starts the control.
    pub fn new(params: &AimdParams) -> Self {
        Aimd { increase: params.increase, retention: 1.0 - params.decrease }
    }
}

impl WindowLaw for Aimd {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // A large increase on a small window would send bursts that slow start does not.
        let a_packet = (self.increase / cwnd_packets).min(1.0);
        cwnd_packets + a_packet * event.acked_packets as f64
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

    /// Each of w packets adds a / w, and a little less as the window grows: after a round trip the
    /// window is between w + a - a^2 / w and w + a.
    #[test]
    fn grows_by_its_increase_in_a_round_trip() {
        for (increase, window) in [(1.0, 100.0), (0.25, 40.0), (8.0, 1_000.0)] {
            let growth = grow_one_round_trip(&mut aimd(increase, 0.5), window) - window;
            let least = increase - increase * increase / window;
            assert!(least <= growth && growth <= increase, "{increase}, {window}: {growth}");
        }
    }

    #[test]
    fn keeps_all_but_its_decrease() {
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            assert!((aimd(1.0, 0.125).on_congestion(&congestion(kind, 80.0)) - 70.0).abs() < 1e-9);
        }
    }

    #[test]
    fn is_reno_by_default() {
        let mut aimd = Aimd::new(&AimdParams::default());
        let mut reno = reno::Reno::new(&reno::RenoParams::default());
        for window in [1.0, 2.0, 17.5, 1e6] {
            for packets in [1, 2, 7] {
                let event = ack(packets);
                let (found, expected) = (aimd.on_ack(window, &event), reno.on_ack(window, &event));
                assert!((found - expected).abs() < 1e-9, "{window}, {packets}");
            }
            let loss = congestion(CongestionKind::Loss, window);
            assert!((aimd.on_congestion(&loss) - reno.on_congestion(&loss)).abs() < 1e-9);
        }
    }

    #[test]
    fn never_grows_faster_than_slow_start() {
        assert!((aimd(50.0, 0.5).on_ack(10.0, &ack(3)) - 13.0).abs() < 1e-9);
    }

    #[test]
    fn refuses_what_cannot_work() {
        for (increase, decrease) in [(0.0, 0.5), (f64::NAN, 0.5), (1.0, 0.0), (1.0, 1.0)] {
            assert!(AimdParams { increase, decrease }.validate().is_err());
        }
        assert!(AimdParams::default().validate().is_ok());
    }
}
