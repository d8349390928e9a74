//! TCP Westwood+ (Grieco and Mascolo 2004, "Performance evaluation and comparison of Westwood+,
//! New Reno, and Vegas TCP congestion control", CCR 34(2)): after a loss the window is the
//! measured delivery rate of the flow times the smallest RTT.

use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Parameters of TCP Westwood+. The window grows as in Reno; on congestion it falls to the
/// estimated delivery rate times the smallest RTT, so that a loss without a queue reduces it only
/// a little. A mark reduces the window as a loss does; the paper does not discuss marks. Packets
/// acknowledged by SACK count as delivered when the cumulative ACK covers them, and the reduced
/// window never exceeds the old one. The filter is that of the paper; Linux filters twice, each
/// time with a memory of 7/8.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WestwoodParams {
    /// Weight of the previous estimate when a sample of the delivery rate is added (alpha; paper:
    /// 0.9).
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub memory: f64,
    /// Smallest duration of a sample of the delivery rate; a sample lasts one round trip if that
    /// is longer (paper and Linux: 50 ms).
    pub min_sample: PositiveDuration,
}

impl Default for WestwoodParams {
    fn default() -> Self {
        WestwoodParams { memory: 0.9, min_sample: PositiveDuration::new(50_000_000_000) }
    }
}

impl ControlParameters for WestwoodParams {}

/// The state of Westwood+ for one flow.
#[derive(Clone, Debug)]
pub struct Westwood {
    memory: f64,
    min_sample: Time,
    min_rtt: Time,
    /// Start time of the current sample, and the packets delivered by then.
    sample: Option<(Time, u64)>,
    /// Estimated delivery rate, in packets/s; `None` before the first sample.
    delivery_rate: Option<f64>,
}

const BETA: f64 = 0.5; // RFC 5681 sec. 3.1; used before the first sample

impl Westwood {
    /// Creates the control in its initial state.
    pub fn new(params: &WestwoodParams) -> Self {
        Westwood {
            memory: params.memory,
            min_sample: params.min_sample.time(),
            min_rtt: Time::NEVER,
            sample: None,
            delivery_rate: None,
        }
    }

    fn end_sample(&mut self, packets: u64, span: Time) {
        let sample = packets as f64 / span.seconds();
        let previous = self.delivery_rate.unwrap_or(sample);
        self.delivery_rate = Some(self.memory * previous + (1.0 - self.memory) * sample);
    }
}

impl WindowLaw for Westwood {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        cwnd_packets + event.acked_packets as f64 / cwnd_packets // RFC 5681 sec. 3.1, Eq. 3
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let cwnd = event.cwnd_packets;
        match self.delivery_rate {
            Some(rate) if self.min_rtt < Time::NEVER => (rate * self.min_rtt.seconds()).min(cwnd),
            _ => BETA * cwnd,
        }
    }

    fn sees_every_ack(&self) -> bool {
        true
    }

    #[inline]
    fn on_every_ack(&mut self, event: &AckEvent) {
        self.min_rtt = event.min_rtt;
        let Some((begin, delivered)) = self.sample else {
            self.sample = Some((event.now, event.delivered_packets));
            return;
        };
        let span = event.now.since(begin);
        if span >= self.min_sample.max(event.srtt) {
            self.end_sample(event.delivered_packets - delivered, span);
            self.sample = Some((event.now, event.delivered_packets));
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the numbers compared are exact")]
mod tests {
    use super::*;
    use crate::congestion::CongestionKind;

    /// A flow whose packets are delivered at rates that the test sets.
    struct Flow {
        control: Westwood,
        now_ms: u64,
        delivered: u64,
    }

    impl Flow {
        fn new() -> Self {
            let control = Westwood::new(&WestwoodParams::default());
            Flow { control, now_ms: 0, delivered: 0 }
        }

        /// Delivers `per_ms` packets per millisecond for `for_ms` milliseconds, with one ACK per
        /// millisecond.
        fn deliver(&mut self, per_ms: u64, for_ms: u64, min_rtt_ms: u64) {
            for _ in 0..for_ms {
                let rtt = Time::from_milliseconds(min_rtt_ms);
                self.control.on_every_ack(&AckEvent {
                    now: Time::from_milliseconds(self.now_ms),
                    acked_packets: per_ms,
                    rtt: Some(rtt),
                    srtt: rtt,
                    min_rtt: rtt,
                    delivered_packets: self.delivered,
                    marked_packets: 0,
                    next: 0,
                    is_slow_start: false,
                });
                self.now_ms += 1;
                self.delivered += per_ms;
            }
        }

        fn reduced(&mut self, cwnd_packets: f64, kind: CongestionKind) -> f64 {
            let now = Time::from_milliseconds(self.now_ms);
            let event = CongestionEvent { now, kind, cwnd_packets, is_slow_start: false };
            self.control.on_congestion(&event)
        }
    }

    /// 2000 packets/s and 100 ms: 200 packets, whether 300 more packets or none were queued.
    #[test]
    fn congestion_reduces_the_window_to_the_delivery_rate_times_the_smallest_rtt() {
        let mut flow = Flow::new();
        flow.deliver(2, 1_000, 100);
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            assert!((flow.reduced(500.0, kind) - 200.0).abs() < 1e-9);
            assert!((flow.reduced(210.0, kind) - 200.0).abs() < 1e-9);
            assert!(
                (flow.reduced(150.0, kind) - 150.0).abs() < 1e-9,
                "the old window is the upper bound"
            );
        }
    }

    /// A step from 1000 to 2000 packets/s: after n samples 2000 - 1000 * 0.9^n. At an RTT of 20 ms
    /// there is a sample every 50 ms, so at 500 ms n = 10 and the rate is 1651.3; at 250 ms n = 2
    /// and the rate is 1190. The windows are these rates times the RTT.
    #[test]
    fn each_sample_has_a_weight_of_a_tenth_and_lasts_a_round_trip_or_50_ms() {
        for (rtt_ms, window) in [(20, 0.02 * 1_651.32), (250, 0.25 * 1_190.0)] {
            let mut flow = Flow::new();
            // The ACK at 1000 ms ends a sample and reports the last packet at the old rate.
            flow.deliver(1, 1_000, rtt_ms);
            flow.deliver(2, 501, rtt_ms);
            let reduced = flow.reduced(1e6, CongestionKind::Loss);
            assert!((reduced - window).abs() < 0.01, "{rtt_ms} ms: {reduced}, expected {window}");
        }
    }

    #[test]
    fn congestion_halves_the_window_before_the_first_sample() {
        let mut flow = Flow::new();
        assert_eq!(flow.reduced(100.0, CongestionKind::Loss), 50.0);
        flow.deliver(10, 50, 20); // from 0 to 49 ms
        assert_eq!(flow.reduced(100.0, CongestionKind::Loss), 50.0);
        flow.deliver(10, 1, 20);
        assert_eq!(flow.reduced(1_000.0, CongestionKind::Loss), 200.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let with = |memory| WestwoodParams { memory, ..WestwoodParams::default() }.check();
        assert!(with(0.0).is_ok() && with(0.99).is_ok());
        for memory in [-0.1, 1.0, f64::NAN] {
            assert!(with(memory).is_err_and(|bad| bad.key == "memory"));
        }
    }
}
