//! TCP Westwood+ (Grieco and Mascolo 2004, "Performance evaluation and comparison of Westwood+, New
//! Reno, and Vegas TCP congestion control", CCR 34(2)): after a loss the window is what the flow
//! has been getting, times the RTT of an empty path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::parameters::{BadParameter, check};
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Parameters of TCP Westwood+; it grows as Reno does, and falls to the estimated bandwidth times
/// the smallest RTT, so that a loss without a queue costs little. Marks are answered as losses,
/// which the paper does not treat. Packets acknowledged by SACK count as delivered when the
/// cumulative ACK reaches them, and the new window is never above the old one. Linux filters twice,
/// each time with a memory of 7/8; here the filter is the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WestwoodParams {
    /// Weight of the past in the bandwidth estimate (alpha; paper: 0.9).
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub memory: f64,
    /// A bandwidth sample lasts a round trip, and at least this long (paper and Linux: 50 ms).
    pub min_sample: PositiveDuration,
}

impl Default for WestwoodParams {
    fn default() -> Self {
        WestwoodParams { memory: 0.9, min_sample: PositiveDuration::new(50_000_000_000) }
    }
}

impl ControlParameters for WestwoodParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let is_weight = (0.0..1.0).contains(&self.memory);
        check("memory", self.memory, is_weight, "at least 0 and less than 1")
    }
}

/// Reno's growth; falls to bandwidth times smallest RTT.
#[derive(Debug)]
pub struct Westwood {
    memory: f64,
    min_sample: Time,
    min_rtt: Time,
    /// Beginning of the sample in progress, and packets delivered until then.
    sample: Option<(Time, u64)>,
    /// Packets per second.
    bandwidth: Option<f64>,
}

const BETA: f64 = 0.5; // RFC 5681 sec. 3.1: before the first sample

impl Westwood {
    /// Starts the control.
    pub fn new(params: &WestwoodParams) -> Self {
        Westwood {
            memory: params.memory,
            min_sample: params.min_sample.time(),
            min_rtt: Time::NEVER,
            sample: None,
            bandwidth: None,
        }
    }

    fn end_sample(&mut self, packets: u64, span: Time) {
        let sample = packets as f64 / span.seconds();
        let bandwidth = self.bandwidth.unwrap_or(sample);
        self.bandwidth = Some(self.memory * bandwidth + (1.0 - self.memory) * sample);
    }
}

impl WindowLaw for Westwood {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        cwnd_packets + event.acked_packets as f64 / cwnd_packets // RFC 5681 sec. 3.1, Eq. 3
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let cwnd = event.cwnd_packets;
        match self.bandwidth {
            Some(bandwidth) if self.min_rtt < Time::NEVER => {
                (bandwidth * self.min_rtt.seconds()).min(cwnd)
            }
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

    /// Delivers packets at a rate from a time on, in milliseconds.
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

        /// ACKs of `per_ms` packets each millisecond.
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

        fn falls_to(&mut self, cwnd_packets: f64, kind: CongestionKind) -> f64 {
            let now = Time::from_milliseconds(self.now_ms);
            let event = CongestionEvent { now, kind, cwnd_packets, is_slow_start: false };
            self.control.on_congestion(&event)
        }
    }

    /// 2000 packets/s and 100 ms: 200 packets, whether the queue had held 300 more or none.
    #[test]
    fn the_window_falls_to_bandwidth_times_the_smallest_rtt() {
        let mut flow = Flow::new();
        flow.deliver(2, 1_000, 100);
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            assert!((flow.falls_to(500.0, kind) - 200.0).abs() < 1e-9);
            assert!((flow.falls_to(210.0, kind) - 200.0).abs() < 1e-9);
            assert!((flow.falls_to(150.0, kind) - 150.0).abs() < 1e-9, "never above the old one");
        }
    }

    /// A step from 1000 to 2000 packets/s: after n samples 2000 - 1000 * 0.9^n. RTT 20 ms: a sample
    /// each 50 ms, so at 500 ms n = 10 and 1651.3; RTT 250 ms: n = 2 and 1190. The windows are
    /// these times the RTT.
    #[test]
    fn the_filter_forgets_a_tenth_each_sample_and_a_sample_lasts_a_round_trip_or_50_ms() {
        for (rtt_ms, window) in [(20, 0.02 * 1_651.32), (250, 0.25 * 1_190.0)] {
            let mut flow = Flow::new();
            // The ACK at 1000 ms ends a sample, and tells of the last packet at the old rate.
            flow.deliver(1, 1_000, rtt_ms);
            flow.deliver(2, 501, rtt_ms);
            let fallen = flow.falls_to(1e6, CongestionKind::Loss);
            assert!((fallen - window).abs() < 0.01, "{rtt_ms} ms: {fallen}, not {window}");
        }
    }

    #[test]
    fn before_the_first_sample_it_is_reno() {
        let mut flow = Flow::new();
        assert_eq!(flow.falls_to(100.0, CongestionKind::Loss), 50.0);
        flow.deliver(10, 50, 20); // from 0 to 49 ms
        assert_eq!(flow.falls_to(100.0, CongestionKind::Loss), 50.0);
        flow.deliver(10, 1, 20);
        assert_eq!(flow.falls_to(1_000.0, CongestionKind::Loss), 200.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let with = |memory| WestwoodParams { memory, ..WestwoodParams::default() }.validate();
        assert!(with(0.0).is_ok() && with(0.99).is_ok());
        for memory in [-0.1, 1.0, f64::NAN] {
            assert!(with(memory).is_err_and(|bad| bad.key == "memory"));
        }
    }
}
