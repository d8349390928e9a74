//! Standard TCP congestion avoidance (RFC 5681 sec. 3.1 and 3.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckEvent, CongestionControl, CongestionEvent, Parameters};

/// Reno has no parameters; `aimd` is the form with free ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenoParams {}

impl Parameters for RenoParams {}

/// Grows by one packet a round trip and halves on congestion.
#[derive(Debug)]
pub struct Reno;

impl Reno {
    /// Starts the control.
    pub fn new(_params: &RenoParams) -> Self {
        Reno
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // RFC 5681 sec. 3.1, Eq. 3, counting acknowledged packets (RFC 3465) so that delayed ACKs
        // do not slow the growth.
        cwnd_packets + event.acked_packets as f64 / cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        event.cwnd_packets / 2.0 // RFC 5681 sec. 3.1, Eq. 4
    }
}
