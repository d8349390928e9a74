//! Packet-pair flow control (Keshav 1991, "A control-theoretic approach to flow control", and 1995,
//! "Packet-pair flow control"), for links with fair queueing: the two packets of a pair leave such
//! a link one service time of the flow apart, so the spacing of their ACKs gives the flow's service
//! rate.
//!
//! The sending rate is `mu + (B - X) / R`: the service rate mu, corrected so that the queue X
//! reaches the set-point B within a round trip R. X is the number of packets in flight less the
//! packets that the path holds without a queue, `R mu`. The paper estimates mu with a fuzzy filter;
//! here the estimate is an exponential average.

use super::ControlParameters;
use super::rate_based::{BeginEvent, ControlOutput, RateBasedControl, RateSampleEvent};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::units::{Time, float};

/// Parameters of packet-pair flow control. It needs `queue = { kind = "fair" }` at the bottleneck,
/// an ACK per packet (no delayed ACKs), and `recovery = "sack"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PacketPairParams {
    /// Target number of the flow's packets in the queue at the bottleneck (4; Keshav leaves it to
    /// the network). Below 2 the flow's queue may be empty when a pair arrives, and the pair then
    /// overestimates the rate.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub setpoint: f64,
    /// Weight of a new pair in the average of the service rate (1/8).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub gain: f64,
}

impl Default for PacketPairParams {
    fn default() -> Self {
        PacketPairParams { setpoint: 4.0, gain: 0.125 }
    }
}

impl ControlParameters for PacketPairParams {
    fn needs_single_packets(&self) -> bool {
        true
    }
}

const PAIR: u64 = 2;
/// Ratio of the window to the packets that the path holds with the queue at its set-point. The
/// window limits the flow only if ACKs cease; otherwise the pacing rate does.
const WINDOW_GAIN: f64 = 2.0;

/// A running packet-pair control.
#[derive(Clone, Debug)]
pub struct PacketPair {
    params: PacketPairParams,
    /// Packets/s; `None` before the first measurement.
    service_rate: Option<f64>,
    has_pair: bool,
    min_rtt: Time,
    /// When the packet acknowledged last was sent, and when its ACK came.
    last: Option<(Time, Time)>,
    output: ControlOutput,
}

impl PacketPair {
    /// Starts the control.
    pub fn new(params: &PacketPairParams) -> Self {
        PacketPair {
            params: params.clone(),
            service_rate: None,
            has_pair: false,
            min_rtt: Time::NEVER,
            last: None,
            // One pair; the window allows no more before the pair is acknowledged.
            output: ControlOutput {
                cwnd_packets: PAIR as f64,
                pacing_rate: PAIR as f64 / 1e-3,
                send_quantum: PAIR,
                is_app_limited: false,
            },
        }
    }

    /// Measures the service rate from a pair: two packets sent together and acknowledged one after
    /// the other.
    fn measure(&mut self, event: &RateSampleEvent) {
        let Some(rtt) = event.rtt else {
            self.last = None;
            return;
        };
        self.min_rtt = self.min_rtt.min(rtt);
        let sent = event.now.since(rtt);
        let spacing = match self.last {
            Some((last_sent, last_acked)) if last_sent == sent && event.newly_delivered == 1 => {
                event.now.since(last_acked).seconds()
            }
            _ => 0.0,
        };
        self.last = Some((sent, event.now));
        if spacing > 0.0 {
            let measured = 1.0 / spacing;
            let before = self.service_rate.filter(|_| self.has_pair).unwrap_or(measured);
            self.service_rate = Some(before + self.params.gain * (measured - before));
            self.has_pair = true;
        } else if !self.has_pair {
            let rate = event.rate.and_then(|rate| rate.delivery_rate);
            self.service_rate = rate.or(self.service_rate);
        }
    }
}

impl RateBasedControl for PacketPair {
    fn begin(&mut self, _beginning: &BeginEvent) -> ControlOutput {
        self.output
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        self.measure(event);
        let Some(service_rate) = self.service_rate else { return self.output };
        let setpoint = self.params.setpoint;
        let rtt = self.min_rtt.seconds().max(1e-9); // a round trip takes time
        let path = rtt * service_rate;
        let queued = float(event.in_flight) - path;
        let rate = service_rate + (setpoint - queued) / rtt;
        // However long the queue is, one packet per RTT keeps the estimate up to date.
        self.output.pacing_rate = rate.max(1.0 / rtt);
        self.output.cwnd_packets = (WINDOW_GAIN * (path + setpoint)).max(PAIR as f64);
        self.output
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Path, assert_close, begin_event, ms};
    use super::*;

    /// ACKs of a pair sent at 0 come at 100 and 102 ms: 500 packets/s, so the path holds 50
    /// packets. With 30 in flight the queue is empty by 20: 500 + (4 + 20) / 0.1 packets/s.
    #[test]
    fn the_spacing_of_a_pair_is_the_service_time() {
        let mut control = PacketPair::new(&PacketPairParams::default());
        let first = control.begin(&begin_event(1));
        assert_close(first.cwnd_packets, 2.0);
        let mut event = Path::new(30).event;
        (event.now, event.rtt) = (ms(100.0), Some(ms(100.0)));
        control.on_rate_sample(&event);
        (event.now, event.rtt) = (ms(102.0), Some(ms(102.0)));
        let output = control.on_rate_sample(&event);
        assert_close(output.pacing_rate, 740.0);
        assert_close(output.cwnd_packets, 2.0 * (50.0 + 4.0));
        // The next ACK is of another pair, sent at 50 ms: its distance says nothing. 60 in flight
        // are 10 queued: 500 + (4 - 10) / 0.1.
        (event.now, event.rtt, event.in_flight) = (ms(152.5), Some(ms(102.5)), 60);
        assert_close(control.on_rate_sample(&event).pacing_rate, 440.0);
        // Its second comes 4 ms later: an eighth of the way from 500 to 250, 468.75. The path holds
        // 46.875, so 13.125 are queued.
        (event.now, event.rtt) = (ms(156.5), Some(ms(106.5)));
        assert_close(control.on_rate_sample(&event).pacing_rate, 468.75 - 91.25);
    }
}
