//! Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM
//! CCR 33(2), 2003): the time to recover from a loss is independent of the window.

use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of Scalable TCP; defaults as in Kelly 2003.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ScalableParams {
    /// Increase a, in packets per acknowledged packet (Kelly and current Linux: 0.01). Linux 2.6
    /// and ns-3 use 0.02, because they count ACKs, and a delayed ACK acknowledges two packets.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub increase: f64,
    /// Decrease b: the fraction by which congestion reduces the window (Kelly: 0.125).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub decrease: f64,
    /// Largest window at which the control behaves as standard TCP, in packets (Kelly: 16; no
    /// second source confirms it, since Linux and ns-3 have no such window). Applies to
    /// `variant = "kelly"` only.
    #[schemars(range(min = 0.0))]
    pub legacy_window: f64,
    /// How small windows grow and shrink.
    pub variant: Variant,
}

/// How small windows grow and shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// As standard TCP up to `legacy_window`; a timeout halves the window.
    Kelly,
    /// As in Linux and ns-3: the increase is the larger of 1 / w and a, and the decrease is b, at
    /// every window and after a timeout too.
    Linux,
}

impl Default for ScalableParams {
    fn default() -> Self {
        ScalableParams {
            increase: 0.01,
            decrease: 0.125,
            legacy_window: 16.0,
            variant: Variant::Kelly,
        }
    }
}

impl ControlParameters for ScalableParams {}

/// The state of Scalable TCP for one flow.
#[derive(Clone, Debug)]
pub struct Scalable {
    increase: f64,
    retention: f64,
    /// Largest window that grows by 1 / w per acknowledged packet.
    reno_growth_to: f64,
    /// Largest window that congestion halves.
    reno_decrease_to: f64,
    halves_at_timeout: bool,
}

const RENO_RETENTION: f64 = 0.5; // RFC 5681 sec. 3.1, Eq. 4

impl Scalable {
    /// Creates the control.
    pub fn new(params: &ScalableParams) -> Self {
        let (reno_growth_to, reno_decrease_to) = match params.variant {
            Variant::Kelly => (params.legacy_window, params.legacy_window),
            // 1 / w is the larger increase for w < 1 / a.
            Variant::Linux => (1.0 / params.increase, 0.0),
        };
        Scalable {
            increase: params.increase,
            retention: 1.0 - params.decrease,
            reno_growth_to,
            reno_decrease_to,
            halves_at_timeout: params.variant == Variant::Kelly,
        }
    }
}

impl WindowLaw for Scalable {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let is_reno = cwnd_packets <= self.reno_growth_to;
        let per_packet = if is_reno { 1.0 / cwnd_packets } else { self.increase };
        cwnd_packets + per_packet * event.acked_packets as f64
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let halves = event.cwnd_packets <= self.reno_decrease_to
            || self.halves_at_timeout && event.kind == CongestionKind::Timeout;
        let retention = if halves { RENO_RETENTION } else { self.retention };
        retention * event.cwnd_packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{ack, congestion, grow_one_round_trip};
    use super::*;

    fn kelly() -> Scalable {
        Scalable::new(&ScalableParams::default())
    }

    fn linux() -> Scalable {
        let variant = Variant::Linux;
        Scalable::new(&ScalableParams { increase: 0.02, variant, ..ScalableParams::default() })
    }

    fn after(control: &mut Scalable, kind: CongestionKind, window: f64) -> f64 {
        control.on_congestion(&congestion(kind, window))
    }

    #[test]
    fn grows_by_one_percent_per_round_trip() {
        for window in [17.0, 100.0, 10_000.0] {
            let after = grow_one_round_trip(&mut kelly(), window);
            assert!((after - 1.01 * window).abs() < 1e-9 * window, "{window}: {after}");
        }
    }

    /// Kelly 2003 sec. 3: any window doubles in about 70 round trips, since 1.01^70 = 2.007.
    #[test]
    fn any_window_doubles_in_70_round_trips() {
        for first in [100.0, 5_000.0] {
            let mut control = kelly();
            let last = (0..70).fold(first, |window, _| {
                // A fraction of a packet is acknowledged one round trip later.
                let packets = libm::floor(window);
                let grown = grow_one_round_trip(&mut control, packets);
                grown + (window - packets) * 1.01
            });
            assert!((last / first - 2.007).abs() < 0.001, "{first}: {last}");
        }
    }

    #[test]
    fn a_loss_or_mark_reduces_the_window_by_an_eighth() {
        for kind in [CongestionKind::Loss, CongestionKind::Mark] {
            assert!((after(&mut kelly(), kind, 800.0) - 700.0).abs() < 1e-9);
            assert!((after(&mut linux(), kind, 800.0) - 700.0).abs() < 1e-9);
        }
    }

    #[test]
    fn equals_reno_up_to_the_legacy_window() {
        let mut control = kelly();
        assert!((control.on_ack(16.0, &ack(1)) - 16.0625).abs() < 1e-12); // 1 / 16
        assert!((after(&mut control, CongestionKind::Loss, 16.0) - 8.0).abs() < 1e-12);
        assert!((control.on_ack(16.5, &ack(1)) - 16.51).abs() < 1e-12);
        // 16.5 * 7 / 8
        assert!((after(&mut control, CongestionKind::Loss, 16.5) - 14.4375).abs() < 1e-12);
    }

    #[test]
    fn a_timeout_halves_as_in_standard_tcp_but_not_in_linux() {
        assert!((after(&mut kelly(), CongestionKind::Timeout, 800.0) - 400.0).abs() < 1e-9);
        assert!((after(&mut linux(), CongestionKind::Timeout, 800.0) - 700.0).abs() < 1e-9);
    }

    /// Linux: one packet per min(w, 50) acknowledged packets; the decrease is b at every window.
    #[test]
    fn the_linux_variant_grows_at_least_like_reno() {
        for (window, each) in [(8.0, 8.0), (49.0, 49.0), (51.0, 50.0), (4_000.0, 50.0)] {
            let growth = linux().on_ack(window, &ack(1)) - window;
            assert!((growth - 1.0 / each).abs() < 1e-9, "{window}: {growth}");
        }
        assert!((after(&mut linux(), CongestionKind::Loss, 8.0) - 7.0).abs() < 1e-12);
    }
}
