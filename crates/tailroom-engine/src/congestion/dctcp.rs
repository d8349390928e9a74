//! DCTCP (RFC 8257; Alizadeh et al. 2010, "Data center TCP"): the window shrinks in proportion to
//! the fraction of marked packets.

use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, Rounds, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of DCTCP; defaults as in RFC 8257. DCTCP needs `ecn = "accurate"` (or `"l4s"`) and a
/// queue that marks, such as `step_mark`. Losses and timeouts halve the window, as in Reno
/// (sec. 3.5). As for every control, the window does not grow on an ACK that reports a mark, and a
/// mark never reduces it below 2 packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DctcpParams {
    /// Weight of the latest window of data in the estimate of the fraction of marked packets (g;
    /// RFC 8257 sec. 4.2: 1/16).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub gain: f64,
    /// Initial estimate of the fraction of marked packets (RFC 8257 sec. 3.3: 1, so that the first
    /// mark of a short flow halves its window).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial_alpha: f64,
}

impl Default for DctcpParams {
    fn default() -> Self {
        DctcpParams { gain: 1.0 / 16.0, initial_alpha: 1.0 }
    }
}

impl ControlParameters for DctcpParams {
    fn needs_marks(&self) -> bool {
        true
    }
}

/// The state of DCTCP for one flow.
#[derive(Clone, Debug)]
pub struct Dctcp {
    gain: f64,
    /// The estimate of the fraction of marked packets, `DCTCP.Alpha`.
    alpha: f64,
    rounds: Rounds,
    /// Packets delivered by the beginning of the current window of data.
    delivered: u64,
    /// Marks reported by the beginning of the current window of data.
    marked: u64,
}

const BETA: f64 = 0.5; // RFC 8257 sec. 3.5: as RFC 5681

impl Dctcp {
    /// Creates the control in its initial state.
    pub fn new(params: &DctcpParams) -> Self {
        Dctcp {
            gain: params.gain,
            alpha: params.initial_alpha,
            rounds: Rounds::default(),
            delivered: 0,
            marked: 0,
        }
    }
}

impl WindowLaw for Dctcp {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        cwnd_packets + event.acked_packets as f64 / cwnd_packets // RFC 8257 sec. 3.4: as RFC 5681
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        match event.kind {
            CongestionKind::Mark => event.cwnd_packets * (1.0 - self.alpha / 2.0), // step 9
            CongestionKind::Loss | CongestionKind::Timeout => BETA * event.cwnd_packets,
        }
    }

    /// RFC 8257 sec. 3.5: DCTCP reacts to a loss as conventional TCP does, even after a reduction
    /// for marks.
    fn answers_loss_after_mark(&self) -> bool {
        true
    }

    fn sees_every_ack(&self) -> bool {
        true
    }

    /// The estimator of RFC 8257 sec. 3.3, steps 1 to 8.
    #[inline]
    fn on_every_ack(&mut self, event: &AckEvent) {
        if !self.rounds.is_over(event) {
            return;
        }
        let delivered = event.delivered_packets - self.delivered;
        let marked = event.marked_packets - self.marked;
        // During loss recovery the receiver reports marks of packets that the cumulative ACK does
        // not cover yet, so the quotient may exceed 1.
        let share = (marked as f64 / delivered.max(1) as f64).min(1.0);
        self.alpha += self.gain * (share - self.alpha);
        (self.delivered, self.marked) = (event.delivered_packets, event.marked_packets);
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the numbers compared are exact")]
mod tests {
    use super::*;
    use crate::units::Time;

    /// An ACK that reports these totals.
    fn ack(delivered_packets: u64, marked_packets: u64, next: u64) -> AckEvent {
        AckEvent {
            now: Time::ZERO,
            acked_packets: 1,
            rtt: None,
            srtt: Time::ZERO,
            min_rtt: Time::NEVER,
            delivered_packets,
            marked_packets,
            next,
            is_slow_start: false,
        }
    }

    fn after(control: &mut Dctcp, kind: CongestionKind) -> f64 {
        let cwnd_packets = 100.0;
        let event = CongestionEvent { now: Time::ZERO, kind, cwnd_packets, is_slow_start: false };
        control.on_congestion(&event)
    }

    /// RFC 8257 sec. 3.3, computed by hand with g = 1/16. The first ACK ends the empty first
    /// window: 15/16. Ten more packets are then in flight, so the second window ends when 12
    /// packets in total have been acknowledged, 11 packets later. 4 of the 11 are marked: 15/16 *
    /// 15/16 + 4/11/16.
    #[test]
    fn alpha_is_updated_once_per_window_of_data() {
        let mut control = Dctcp::new(&DctcpParams::default());
        control.on_every_ack(&ack(1, 0, 11));
        assert_eq!(control.alpha, 0.9375);
        for (delivered, marked) in (2..12).zip([1, 1, 2, 2, 3, 3, 4, 4, 4, 4]) {
            control.on_every_ack(&ack(delivered, marked, delivered + 10));
            assert_eq!(control.alpha, 0.9375, "{delivered}");
        }
        control.on_every_ack(&ack(12, 4, 22));
        let alpha = 0.878_906_25 + 0.022_727_27;
        assert!((control.alpha - alpha).abs() < 1e-8);
        // The next window lasts until 23 packets are acknowledged, and has no marks.
        control.on_every_ack(&ack(22, 4, 32));
        assert!((control.alpha - alpha).abs() < 1e-8);
        control.on_every_ack(&ack(23, 4, 33));
        assert!((control.alpha - alpha * 0.9375).abs() < 1e-8);
        // One ACK for eleven packets, all marked.
        control.on_every_ack(&ack(34, 15, 44));
        assert!((control.alpha - (alpha * 0.878_906_25 + 0.0625)).abs() < 1e-8);
    }

    /// RFC 8257 sec. 3.3 step 9 and sec. 3.5: with alpha = 0.3, a mark leaves 85 of 100 packets.
    #[test]
    fn a_mark_reduces_the_window_by_half_of_alpha_and_a_loss_halves_it() {
        let params = DctcpParams { initial_alpha: 0.3, ..DctcpParams::default() };
        let mut control = Dctcp::new(&params);
        assert!((after(&mut control, CongestionKind::Mark) - 85.0).abs() < 1e-9);
        assert_eq!(after(&mut control, CongestionKind::Loss), 50.0);
        assert_eq!(after(&mut control, CongestionKind::Timeout), 50.0);
        let mut fresh = Dctcp::new(&DctcpParams::default());
        assert_eq!(after(&mut fresh, CongestionKind::Mark), 50.0);
    }

    /// n windows without a mark reduce alpha from 1 to (15/16)^n; n windows in which all packets
    /// are marked raise it from 0 to 1 - (15/16)^n. For n = 44: 0.0584 and 0.9416.
    #[test]
    fn alpha_adapts_with_a_time_constant_of_sixteen_windows() {
        let mut quiet = Dctcp::new(&DctcpParams::default());
        let mut busy = Dctcp::new(&DctcpParams { initial_alpha: 0.0, ..DctcpParams::default() });
        for window in 1..=44 {
            quiet.on_every_ack(&ack(window, 0, window));
            busy.on_every_ack(&ack(window, window, window));
        }
        assert!((quiet.alpha - 0.058_4).abs() < 1e-4, "{}", quiet.alpha);
        assert!((busy.alpha - 0.941_6).abs() < 1e-4, "{}", busy.alpha);
    }

    #[test]
    fn the_fraction_of_marked_packets_is_at_most_one() {
        let mut control = Dctcp::new(&DctcpParams::default());
        control.on_every_ack(&ack(1, 40, 50));
        assert_eq!(control.alpha, 1.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let with = |gain, initial_alpha| DctcpParams { gain, initial_alpha }.check();
        assert!(with(1.0, 0.0).is_ok() && with(0.0625, 1.0).is_ok());
        for gain in [0.0, 1.1, f64::NAN] {
            assert!(with(gain, 1.0).is_err_and(|bad| bad.key == "gain"));
        }
        for alpha in [-0.1, 1.1, f64::NAN] {
            assert!(with(0.5, alpha).is_err_and(|bad| bad.key == "initial_alpha"));
        }
    }
}
