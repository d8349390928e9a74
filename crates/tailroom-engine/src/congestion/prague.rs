//! Prague (draft-briscoe-iccrg-prague-congestion-control-04, July 2024): DCTCP adapted to the
//! Internet, the scalable control of the L4S architecture (RFC 9330, RFC 9331).

use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Parameters of Prague; defaults as in draft-briscoe-iccrg-prague-congestion-control-04. Prague
/// needs `ecn = "l4s"` (in private networks `"accurate"`, which sends ECT(0)). The draft requires
/// paced packets: set `pacing = true` as well. Without pacing, bursts are marked: over a `dual_pi2`
/// queue at 100 Mbit/s, with an RTT of 100 ms, two flows use 97.1 % of the link instead of 99.7 %.
/// Not implemented: the detection of a queue that marks as RFC 3168 specifies (at such a queue
/// Prague takes more than its share), packets smaller than the largest, rates below two packets per
/// round trip, loss detection by time, and the draft's variants and future work. The window does
/// not grow on an ACK that reports a mark; in the draft only the marked packets of a delayed ACK do
/// not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PragueParams {
    /// Weight of the newest period in the estimate of the marked share (g; draft sec. 2.3.2: 1/16).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub gain: f64,
    /// Initial estimate, kept until the first mark (draft: 1, so that the first mark halves the
    /// window, because slow start exceeds by far what the path holds).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial_alpha: f64,
    /// Smallest virtual round trip time: a flow with a shorter round trip time takes the share of a
    /// flow with this one (draft sec. 2.4.4: 25 ms). With a small value, such as "1 us", the rate
    /// depends on the round trip time as that of DCTCP does.
    pub min_virtual_rtt: PositiveDuration,
    /// Number of round trips after which the virtual round trip time replaces the actual one, so
    /// that short flows start fast (draft sec. 2.4.4: 500; the authors' Linux since 2024: 4).
    pub transition_rounds: u64,
}

impl Default for PragueParams {
    fn default() -> Self {
        PragueParams {
            gain: 1.0 / 16.0,
            initial_alpha: 1.0,
            min_virtual_rtt: PositiveDuration::new(25_000_000_000),
            transition_rounds: 500,
        }
    }
}

impl ControlParameters for PragueParams {
    fn needs_marks(&self) -> bool {
        true
    }
}

/// Grows on packets without a mark, and shrinks by half the share of marked packets.
#[derive(Clone, Debug)]
pub struct Prague {
    /// Growth in a round trip without marks, in packets (`ai_per_rtt`, 1 / M^2).
    increase: f64,
    gain: f64,
    /// The estimate of the marked share.
    alpha: f64,
    has_marks: bool,
    min_virtual_rtt: Time,
    /// Round trips before the virtual round trip time is used.
    rounds_to_transition: u64,
    /// The round trip time in use, actual or virtual.
    round_trip: Time,
    /// The period of the estimate ends when this packet is acknowledged and `end_time` is reached.
    end: u64,
    end_time: Time,
    /// Delivered packets and marks at the beginning of the period.
    delivered: u64,
    marked: u64,
    /// Further marks reduce nothing until this time; `kept` is the share of the window that the
    /// last reduction left.
    reduced_until: Time,
    kept: f64,
}

const BETA: f64 = 0.5; // draft sec. 2.4.1: Reno-friendly on a loss

impl Prague {
    /// Starts the control.
    pub fn new(params: &PragueParams) -> Self {
        Prague {
            increase: 1.0,
            gain: params.gain,
            alpha: params.initial_alpha,
            has_marks: false,
            min_virtual_rtt: params.min_virtual_rtt.time(),
            rounds_to_transition: params.transition_rounds,
            round_trip: Time::ZERO,
            end: 0,
            end_time: Time::ZERO,
            delivered: 0,
            marked: 0,
            reduced_until: Time::ZERO,
            kept: 1.0,
        }
    }

    /// Updates the estimate of the marked share at the end of a period.
    fn update_alpha(&mut self, event: &AckEvent) {
        let delivered = event.delivered_packets - self.delivered;
        let marked = event.marked_packets - self.marked;
        // During recovery marks are reported before the cumulative ACK covers their packets.
        let share = (marked as f64 / delivered.max(1) as f64).min(1.0);
        self.alpha += self.gain * (share - self.alpha);
    }

    /// Updates the round trip time in use and the increase, which is one packet of the virtual
    /// window per virtual round trip. The actual window is M times smaller, and so is its increase;
    /// and a virtual round trip lasts M actual ones.
    fn update_round_trip(&mut self, srtt: Time) {
        self.rounds_to_transition = self.rounds_to_transition.saturating_sub(1);
        self.round_trip = srtt;
        self.increase = 1.0;
        if self.rounds_to_transition == 0 && srtt > Time::ZERO && srtt < self.min_virtual_rtt {
            self.round_trip = self.min_virtual_rtt;
            let shorter = srtt.seconds() / self.min_virtual_rtt.seconds();
            self.increase = shorter * shorter;
        }
    }
}

impl WindowLaw for Prague {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        cwnd_packets + self.increase * event.acked_packets as f64 / cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        match event.kind {
            CongestionKind::Mark => {
                self.kept = 1.0 - self.alpha / 2.0;
                self.reduced_until = event.now + self.round_trip;
                self.kept * event.cwnd_packets
            }
            // Draft sec. 2.4.1: the marks and the loss of the same round trip together halve the
            // window.
            CongestionKind::Loss if self.is_in_cwr(event.now) => {
                BETA / std::mem::replace(&mut self.kept, BETA) * event.cwnd_packets
            }
            CongestionKind::Loss | CongestionKind::Timeout => BETA * event.cwnd_packets,
        }
    }

    fn is_in_cwr(&self, now: Time) -> bool {
        now < self.reduced_until
    }

    fn answers_loss_after_mark(&self) -> bool {
        true
    }

    fn sees_every_ack(&self) -> bool {
        true
    }

    /// Updates the estimate and the round trip time once per round trip, virtual or actual.
    #[inline]
    fn on_every_ack(&mut self, event: &AckEvent) {
        let had_marks = std::mem::replace(&mut self.has_marks, event.marked_packets > 0);
        if event.delivered_packets <= self.end || event.now < self.end_time {
            return;
        }
        // Before the first mark there is nothing to estimate.
        if had_marks {
            self.update_alpha(event);
        }
        self.update_round_trip(event.srtt);
        self.end = event.next;
        self.end_time = if self.increase < 1.0 { event.now + self.round_trip } else { Time::ZERO };
        (self.delivered, self.marked) = (event.delivered_packets, event.marked_packets);
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, assert_close, ms};
    use super::*;

    /// Past the transition, so that the virtual round trip time counts from the first one on.
    fn old_flow() -> Prague {
        Prague::new(&PragueParams { transition_rounds: 0, ..PragueParams::default() })
    }

    /// Shows `control` `count` ACKs of one packet at this window; the first `marks` report a mark.
    fn shown_acks(
        script: &mut Script,
        control: &mut Prague,
        window: f64,
        rtt: Time,
        count: u64,
        marks: u64,
    ) {
        for packet in 0..count {
            script.event.marked_packets += u64::from(packet < marks);
            script.ack(control, window, rtt);
            let event = script.event;
            control.on_every_ack(&event);
        }
    }

    /// Draft sec. 2.3.2 with g = 1/16, by hand. 10 packets are in flight at each ACK, so after the
    /// first ACK every eleventh ends a round trip: those of packets 1, 12, 23, 34 and so on. Alpha
    /// is 1 until the first mark. Packets 24 to 34 have 4 marks, so that 1 + (4/11 - 1)/16 =
    /// 169/176 is left; 44 round trips without marks leave (15/16)^44 = 0.058443 of that.
    #[test]
    fn alpha_waits_for_the_first_mark_and_is_estimated_once_a_round_trip() {
        let (mut script, mut control) = (Script::new(), old_flow());
        let mut pass = |count: u64, marks: u64| {
            shown_acks(&mut script, &mut control, 10.0, ms(50.0), count, marks);
            control.alpha
        };
        assert_close(pass(23, 0), 1.0);
        assert_close(pass(10, 4), 1.0);
        assert_close(pass(1, 0), 169.0 / 176.0);
        assert_close(pass(11, 0), 169.0 / 176.0 * 0.9375);
        let forgotten = pass(43 * 11, 0) / (169.0 / 176.0);
        assert!((forgotten - 0.058_443).abs() < 1e-6, "{forgotten}");
    }

    /// Draft sec. 2.4.4: RTT 5 ms makes M = 5, and an ACK adds (1 / 25) / cwnd; from 25 ms on and
    /// before the transition 1 / cwnd.
    #[test]
    fn an_ack_adds_by_the_square_of_the_ratio_to_the_virtual_round_trip() {
        for (transition_rounds, rtt, per_round_trip) in [
            (0, 5.0, 1.0 / 25.0),
            (0, 12.5, 1.0 / 4.0),
            (0, 25.0, 1.0),
            (0, 80.0, 1.0),
            (1000, 5.0, 1.0),
        ] {
            let params = PragueParams { transition_rounds, ..PragueParams::default() };
            let (mut script, mut control) = (Script::new(), Prague::new(&params));
            shown_acks(&mut script, &mut control, 20.0, ms(rtt), 60, 0);
            let after = script.ack(&mut control, 20.0, ms(rtt));
            assert_close(after, 20.0 + per_round_trip / 20.0);
        }
    }

    /// Draft sec. 2.4.4: a flow becomes less dependent on its RTT after 500 round trips. The first
    /// ACK ends one, and then every eleventh: 499 are over after 498 * 11 + 1 ACKs.
    #[test]
    fn a_flow_is_old_after_five_hundred_round_trips() {
        let (mut script, mut control) = (Script::new(), Prague::new(&PragueParams::default()));
        for (acks, increase) in [(498 * 11 + 1, 1.0), (10, 1.0), (1, 0.04)] {
            shown_acks(&mut script, &mut control, 10.0, ms(5.0), acks, 0);
            assert_close(control.increase, increase);
        }
    }

    /// Draft sec. 2.4.2 and 2.4.4: (1 - alpha / 2) of the window, and then no further answer for a
    /// virtual round trip of 25 ms; of the actual one where that is longer.
    #[test]
    fn marks_are_answered_once_a_virtual_round_trip() {
        for (rtt, deaf) in [(5.0, 25.0), (100.0, 100.0)] {
            let (mut script, mut control) = (Script::new(), old_flow());
            shown_acks(&mut script, &mut control, 20.0, ms(rtt), 40, 0);
            control.alpha = 0.3;
            assert_close(script.congestion(&mut control, 100.0, CongestionKind::Mark), 85.0);
            let then = script.event.now;
            assert!(control.is_in_cwr(then + ms(deaf - 0.001)));
            assert!(!control.is_in_cwr(then + ms(deaf + 0.001)));
        }
    }

    /// Draft sec. 2.4.4: the estimate too is updated once in a virtual round trip: with an RTT of
    /// 5 ms and 20 packets, an ACK comes each 0.25 ms, and 100 of them make 25 ms.
    #[test]
    fn the_estimate_keeps_to_the_virtual_round_trip() {
        let (mut script, mut control) = (Script::new(), old_flow());
        // Packet 1 ends a period that is empty.
        shown_acks(&mut script, &mut control, 20.0, ms(5.0), 1, 1);
        for _ in 0..50 {
            let alpha = control.alpha;
            shown_acks(&mut script, &mut control, 20.0, ms(5.0), 99, 0);
            assert_close(control.alpha, alpha);
            shown_acks(&mut script, &mut control, 20.0, ms(5.0), 1, 0);
            assert_close(control.alpha, 0.9375 * alpha);
        }
    }

    /// Draft sec. 2.4.1: half, of which the marks of the same round trip may have taken a part:
    /// 0.85 of 100 packets are left, and the loss leaves 50 of these 100. A second one halves.
    #[test]
    fn a_loss_and_the_marks_before_it_halve_the_window_together() {
        let (mut script, mut control) = (Script::new(), old_flow());
        shown_acks(&mut script, &mut control, 20.0, ms(5.0), 40, 0);
        assert_close(script.congestion(&mut control, 100.0, CongestionKind::Loss), 50.0);
        control.alpha = 0.3;
        let kept = script.congestion(&mut control, 100.0, CongestionKind::Mark);
        assert_close(script.congestion(&mut control, kept, CongestionKind::Loss), 50.0);
        assert_close(script.congestion(&mut control, 50.0, CongestionKind::Timeout), 25.0);
        script.event.now += ms(26.0);
        assert_close(script.congestion(&mut control, 80.0, CongestionKind::Loss), 40.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let with = |gain, initial_alpha| {
            PragueParams { gain, initial_alpha, ..PragueParams::default() }.check()
        };
        assert!(with(1.0, 0.0).is_ok() && with(0.0625, 1.0).is_ok());
        for gain in [0.0, 1.1, f64::NAN] {
            assert!(with(gain, 1.0).is_err_and(|bad| bad.key == "gain"));
        }
        for alpha in [-0.1, 1.1, f64::NAN] {
            assert!(with(0.5, alpha).is_err_and(|bad| bad.key == "initial_alpha"));
        }
    }
}
