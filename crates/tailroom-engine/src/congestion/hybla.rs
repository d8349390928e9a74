//! TCP Hybla (Caini and Firrincieli 2004, "TCP Hybla: a TCP enhancement for heterogeneous
//! networks"): whatever its RTT, a flow sends as fast as a Reno flow with a short reference RTT.

use libm::exp2;

use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Parameters of TCP Hybla; default as in Linux. Hybla has its own slow start, 2^rho - 1 packets
/// per ACK, which replaces the group's `slow_start`; rho = RTT / `reference_rtt`, at least 1. The
/// RTT is the smallest RTT of the connection, as in Linux, so that queueing does not make a flow
/// more aggressive. Two simplifications: the initial window and the initial ssthresh are not
/// multiplied by rho, unlike in the paper; and in slow start the growth per acknowledged packet is
/// at most 2^16 packets (as in Linux). Because the window grows so fast, set `initial_ssthresh`,
/// use SACK and preferably `pacing`, as the paper advises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HyblaParams {
    /// RTT of the Reno flow whose rate Hybla imitates (RTT0; Linux: 25 ms; ns-3: 50 ms).
    pub reference_rtt: PositiveDuration,
}

impl Default for HyblaParams {
    fn default() -> Self {
        HyblaParams { reference_rtt: PositiveDuration::new(25_000_000_000) }
    }
}

impl ControlParameters for HyblaParams {}

/// The state of Hybla for one flow.
#[derive(Clone, Debug)]
pub struct Hybla {
    reference_rtt: Time,
    /// The RTT for which the two steps were computed.
    rtt: Time,
    /// 2^rho - 1, in packets per acknowledged packet.
    slow_start_step: f64,
    /// rho^2, in packets per round trip.
    avoidance_step: f64,
}

const BETA: f64 = 0.5; // RFC 5681 sec. 3.1; the paper does not change it
const MAX_EXPONENT: f64 = 16.0; // Linux
/// As in every slow start, an ACK that covers a repaired hole is not credited in full (RFC 3465
/// sec. 2.2).
const CREDIT_LIMIT: u64 = 2;

impl Hybla {
    /// Creates the control in its initial state.
    pub fn new(params: &HyblaParams) -> Self {
        Hybla {
            reference_rtt: params.reference_rtt.time(),
            rtt: Time::NEVER,
            slow_start_step: 1.0,
            avoidance_step: 1.0,
        }
    }

    /// Computes the steps for a new smallest RTT. Cold: the smallest RTT changes a few times at
    /// the start of a flow and then stays constant.
    #[cold]
    fn update_steps(&mut self, min_rtt: Time) {
        self.rtt = min_rtt;
        let reference = self.reference_rtt.picoseconds() as f64;
        let rho = (min_rtt.picoseconds() as f64 / reference).max(1.0);
        self.slow_start_step = exp2(rho.min(MAX_EXPONENT)) - 1.0;
        self.avoidance_step = rho * rho;
    }
}

impl WindowLaw for Hybla {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        if event.min_rtt != self.rtt {
            self.update_steps(event.min_rtt);
        }
        if event.is_slow_start {
            return cwnd_packets
                + self.slow_start_step * event.acked_packets.min(CREDIT_LIMIT) as f64;
        }
        cwnd_packets + self.avoidance_step * event.acked_packets as f64 / cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        BETA * event.cwnd_packets
    }

    fn has_own_slow_start(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the numbers compared are exact")]
mod tests {
    use super::*;
    use crate::congestion::CongestionKind;

    fn ack(rtt_ms: u64, is_slow_start: bool) -> AckEvent {
        let rtt = Time::from_milliseconds(rtt_ms);
        AckEvent {
            now: Time::ZERO,
            acked_packets: 1,
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt: rtt,
            delivered_packets: 1,
            marked_packets: 0,
            next: 10,
            is_slow_start,
        }
    }

    /// The window after each of `rounds` round trips, with one ACK per packet.
    fn rounds(rtt_ms: u64, from: f64, is_slow_start: bool, rounds: usize) -> Vec<f64> {
        let mut control = Hybla::new(&HyblaParams::default());
        let mut cwnd = from;
        let round = |_| {
            for _ in 0..cwnd as u64 {
                cwnd = control.on_ack(cwnd, &ack(rtt_ms, is_slow_start));
            }
            cwnd
        };
        (0..rounds).map(round).collect()
    }

    /// The paper's W(t) = rho 2^(rho t / RTT): the window starts at rho and grows by a factor of
    /// 2^rho per round trip. At 50 ms rho is 2: windows of 2, 8, 32, 128. At 75 ms rho is 3: 3,
    /// 24, 192. At 10 ms rho is 1, as for Reno: 1, 2, 4, 8.
    #[test]
    fn slow_start_doubles_in_each_reference_round_trip() {
        assert_eq!(rounds(50, 2.0, true, 3), [8.0, 32.0, 128.0]);
        assert_eq!(rounds(75, 3.0, true, 2), [24.0, 192.0]);
        assert_eq!(rounds(10, 1.0, true, 3), [2.0, 4.0, 8.0]);
    }

    /// The paper's W(t) = rho (rho t / RTT + gamma): the window grows by rho^2 packets per round
    /// trip, so the rate grows by rho^2 / RTT / RTT = 1 / RTT0^2 whatever the RTT. The growth in
    /// ten round trips from 1000 packets is 10 at 25 ms (rho 1) and below, 160 at 100 ms, 1440 at
    /// 300 ms.
    #[test]
    fn the_rate_grows_independently_of_the_round_trip() {
        for (rtt_ms, growth) in [(5, 10.0), (25, 10.0), (100, 160.0), (300, 1_440.0)] {
            let cwnd = rounds(rtt_ms, 1_000.0, false, 10)[9];
            // A round trip has as many ACKs as the window had packets at its beginning.
            let ratio = (cwnd - 1_000.0) / growth;
            assert!((0.92..=1.0).contains(&ratio), "{rtt_ms} ms: {cwnd}");
        }
        // One ACK: 12^2 / 1000.
        let mut control = Hybla::new(&HyblaParams::default());
        assert!((control.on_ack(1_000.0, &ack(300, false)) - 1_000.144).abs() < 1e-9);
    }

    /// Without the bound, 2^(600 / 25) would be 16 million packets.
    #[test]
    fn with_a_very_long_rtt_one_ack_adds_at_most_65535_packets() {
        let mut control = Hybla::new(&HyblaParams::default());
        assert_eq!(control.on_ack(10.0, &ack(600, true)), 65_545.0);
    }

    #[test]
    fn a_smaller_rtt_reduces_the_growth_and_congestion_halves_the_window() {
        let mut control = Hybla::new(&HyblaParams::default());
        assert!((control.on_ack(100.0, &ack(100, false)) - 100.16).abs() < 1e-9);
        assert!((control.on_ack(100.0, &ack(50, false)) - 100.04).abs() < 1e-9);
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            let event =
                CongestionEvent { now: Time::ZERO, kind, cwnd_packets: 80.0, is_slow_start: false };
            assert_eq!(control.on_congestion(&event), 40.0);
        }
    }

    #[test]
    fn grows_as_reno_before_the_first_rtt_sample() {
        let mut control = Hybla::new(&HyblaParams::default());
        let event = AckEvent { rtt: None, min_rtt: Time::NEVER, ..ack(100, true) };
        assert_eq!(control.on_ack(10.0, &event), 11.0);
        let event = AckEvent { is_slow_start: false, ..event };
        assert_eq!(control.on_ack(10.0, &event), 10.1);
    }
}
