//! FHSTCP (Su, Pan, Lv, Ping 2005, "A fair bulk data transmission protocol in grid environments"):
//! HighSpeed TCP whose increase is proportional to the round trip time, so that flows with
//! different RTTs get the same rate, and whose window is sent in blocks spread over the round trip.
//!
//! This implementation corrects errors in the paper's Figure 1: a block has cwnd / k packets, and
//! each block begins RTT / k after the beginning of the previous block, or at once if sending the
//! previous block took longer. The RTT is the smoothed RTT.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::highspeed::{Highspeed, HighspeedParams};
use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::parameters::{BadParameter, check};
use crate::units::Time;

/// Parameters of FHSTCP; a(w) and b(w) are those of RFC 3649.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FhstcpParams {
    /// Fair factor over RTT, in 1/s: the increase a(w) is multiplied by c times RTT. The paper
    /// compares 5, 10 and 20 and recommends 10. Below an RTT of 1 / c a flow grows more slowly than
    /// standard TCP.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub c: f64,
    /// Send the window in int(c RTT) + 1 blocks spread over the round trip. Without it, packets
    /// leave as soon as the window allows.
    pub block_pacing: bool,
}

impl Default for FhstcpParams {
    fn default() -> Self {
        FhstcpParams { c: 10.0, block_pacing: true }
    }
}

impl ControlParameters for FhstcpParams {
    fn validate(&self) -> Result<(), BadParameter> {
        check("c", self.c, self.c > 0.0 && self.c.is_finite(), "a finite number above 0")
    }
}

/// A running FHSTCP.
#[derive(Debug)]
pub struct Fhstcp {
    highspeed: Highspeed,
    c: f64,
    block_pacing: bool,
}

impl Fhstcp {
    /// Starts the control.
    pub fn new(params: &FhstcpParams) -> Self {
        Fhstcp {
            highspeed: Highspeed::new(&HighspeedParams::default()),
            c: params.c,
            block_pacing: params.block_pacing,
        }
    }
}

impl WindowLaw for Fhstcp {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let fair_factor = self.c * event.srtt.seconds();
        let increment = fair_factor * self.highspeed.increase(cwnd_packets) / cwnd_packets;
        // "Avoid the increment larger than slow start."
        cwnd_packets + increment.min(1.0) * event.acked_packets as f64
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        self.highspeed.on_congestion(event)
    }

    fn blocks(&self, srtt: Time) -> Option<u32> {
        // The cast of a float saturates.
        self.block_pacing.then(|| ((self.c * srtt.seconds()) as u32).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::script;
    use super::*;

    fn ack(srtt_ms: u64) -> AckEvent {
        AckEvent { srtt: Time::from_milliseconds(srtt_ms), ..script::ack(1) }
    }

    /// RFC 3649's a(w) at 1058 packets by its formulas: p = exp(ln(1058/38) / ln(83000/38) *
    /// ln(1e-7/1e-3) + ln(1e-3)) = 1.8597e-5, b = 0.32695, a = 1058^2 p 2b / (2 - b) = 8.136.
    #[test]
    fn the_increase_is_that_of_highspeed_times_c_and_rtt() {
        let a = 8.136;
        for (c, srtt_ms, factor) in [(10.0, 100, 1.0), (10.0, 200, 2.0), (5.0, 80, 0.4)] {
            let mut control = Fhstcp::new(&FhstcpParams { c, ..FhstcpParams::default() });
            let growth = 1_058.0 * (control.on_ack(1_058.0, &ack(srtt_ms)) - 1_058.0);
            assert!((growth / (factor * a) - 1.0).abs() < 2e-3, "c {c}, {srtt_ms} ms: {growth}");
        }
    }

    /// At 2 s and c = 10 the factor is 20, so a window of 10 would grow by 2 per ACK.
    #[test]
    fn an_ack_adds_at_most_one_packet() {
        let mut control = Fhstcp::new(&FhstcpParams::default());
        assert!((control.on_ack(10.0, &ack(2_000)) - 11.0).abs() < 1e-12);
    }

    /// Fig. 1: k = (int) c RTT + 1.
    #[test]
    fn a_round_trip_has_c_rtt_blocks_and_one_more() {
        let control = Fhstcp::new(&FhstcpParams::default());
        for (srtt_ms, blocks) in [(0, 1), (80, 1), (99, 1), (140, 2), (200, 3), (1_050, 11)] {
            assert_eq!(control.blocks(Time::from_milliseconds(srtt_ms)), Some(blocks));
        }
        let unpaced = FhstcpParams { block_pacing: false, ..FhstcpParams::default() };
        assert_eq!(Fhstcp::new(&unpaced).blocks(Time::from_milliseconds(200)), None);
    }
}
