//! Standard TCP congestion avoidance (RFC 5681 sec. 3.1 and 3.2).

use super::growth::GrowthCell;
use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of Reno. For another increase or decrease use `aimd`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RenoParams {
    /// Alternative backoff with ECN (RFC 8511): a mark in congestion avoidance leaves 0.8 of the
    /// window, because a queue that marks is short; a loss, or a mark in slow start (RFC 8511
    /// sec. 4), still halves the window.
    pub abe: bool,
}

impl ControlParameters for RenoParams {}

/// The state of Reno for one flow.
#[derive(Clone, Debug)]
pub struct Reno {
    beta_ecn: f64,
}

const BETA: f64 = 0.5; // RFC 5681 sec. 3.1, Eq. 4
const BETA_ECN: f64 = 0.8; // RFC 8511 sec. 3.1

impl Reno {
    /// Creates the control.
    pub fn new(params: &RenoParams) -> Self {
        Reno { beta_ecn: if params.abe { BETA_ECN } else { BETA } }
    }
}

impl WindowLaw for Reno {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // RFC 5681 sec. 3.1, Eq. 3, counting acknowledged packets (RFC 3465) so that delayed ACKs
        // do not slow the growth.
        cwnd_packets + event.acked_packets as f64 / cwnd_packets
    }

    fn growth_cell(&self) -> GrowthCell {
        GrowthCell::everywhere(1.0)
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let is_mild = event.kind == CongestionKind::Mark && !event.is_slow_start;
        let beta = if is_mild { self.beta_ecn } else { BETA };
        beta * event.cwnd_packets
    }
}
