//! Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM
//! CCR 33(2), 2003): the time to recover from a loss does not depend on the window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::parameters::{BadParameter, check};

/// Parameters of Scalable TCP; defaults as Kelly 2003.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScalableParams {
    /// Increase a, in packets for each acknowledged packet (Kelly, and Linux today: 0.01). Linux 2.6
    /// and ns-3 use 0.02, because they count ACKs, and a delayed ACK stands for two packets.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub increase: f64,
    /// Decrease b: the share of the window that congestion takes away (Kelly: 0.125).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub decrease: f64,
    /// Up to this window the control is standard TCP, in packets (Kelly: 16; Linux and ns-3 have no
    /// such window, so no second source confirms it); only for `kelly`.
    #[schemars(range(min = 0.0))]
    pub legacy_window: f64,
    /// What happens to small windows.
    pub variant: Variant,
}

/// How small windows grow and shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Standard TCP up to `legacy_window`; a timeout halves every window.
    Kelly,
    /// As Linux and ns-3: the larger of the two increases, 1 / w and a, at every window; b at every
    /// window, after a timeout too.
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

impl ControlParameters for ScalableParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let is_increase = 0.0 < self.increase && self.increase <= 1.0;
        check("increase", self.increase, is_increase, "more than 0 and at most 1")?;
        let is_share = 0.0 < self.decrease && self.decrease < 1.0;
        check("decrease", self.decrease, is_share, "more than 0 and less than 1")?;
        let is_window = self.legacy_window >= 0.0 && self.legacy_window.is_finite();
        check("legacy_window", self.legacy_window, is_window, "a finite number, at least 0")
    }
}

/// A running Scalable TCP.
#[derive(Debug)]
pub struct Scalable {
    increase: f64,
    retention: f64,
    /// Up to here the window grows by 1 / w.
    reno_growth_to: f64,
    /// Up to here the window is halved.
    reno_decrease_to: f64,
    halves_at_timeout: bool,
}

const RENO_RETENTION: f64 = 0.5; // RFC 5681 sec. 3.1, Eq. 4

impl Scalable {
    /// Starts the control.
    pub fn new(params: &ScalableParams) -> Self {
        let (reno_growth_to, reno_decrease_to) = match params.variant {
            Variant::Kelly => (params.legacy_window, params.legacy_window),
            // 1 / w is the larger increase as long as w < 1 / a.
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
        let a_packet = if is_reno { 1.0 / cwnd_packets } else { self.increase };
        cwnd_packets + a_packet * event.acked_packets as f64
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
    fn grows_by_one_percent_of_the_window_in_a_round_trip() {
        for window in [17.0, 100.0, 10_000.0] {
            let found = grow_one_round_trip(&mut kelly(), window);
            assert!((found - 1.01 * window).abs() < 1e-9 * window, "{window}: {found}");
        }
    }

    /// Kelly 2003 sec. 3: about 70 round trips double any window, as 1.01^70 = 2.007.
    #[test]
    fn doubles_in_70_round_trips_whatever_the_window() {
        for first in [100.0, 5_000.0] {
            let mut control = kelly();
            let last = (0..70).fold(first, |window, _| {
                // Fractions of a packet are acknowledged one round trip later.
                let packets = libm::floor(window);
                let grown = grow_one_round_trip(&mut control, packets);
                grown + (window - packets) * 1.01
            });
            assert!((last / first - 2.007).abs() < 0.001, "{first}: {last}");
        }
    }

    #[test]
    fn loses_an_eighth() {
        for kind in [CongestionKind::Loss, CongestionKind::Mark] {
            assert!((after(&mut kelly(), kind, 800.0) - 700.0).abs() < 1e-9);
            assert!((after(&mut linux(), kind, 800.0) - 700.0).abs() < 1e-9);
        }
    }

    #[test]
    fn is_reno_up_to_the_legacy_window() {
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

    /// Linux: one packet for min(w, 50) acknowledged packets; b whatever the window.
    #[test]
    fn the_linux_variant_grows_at_least_like_reno() {
        for (window, each) in [(8.0, 8.0), (49.0, 49.0), (51.0, 50.0), (4_000.0, 50.0)] {
            let growth = linux().on_ack(window, &ack(1)) - window;
            assert!((growth - 1.0 / each).abs() < 1e-9, "{window}: {growth}");
        }
        assert!((after(&mut linux(), CongestionKind::Loss, 8.0) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn refuses_what_cannot_work() {
        let default = ScalableParams::default();
        assert!(default.validate().is_ok());
        for (increase, decrease, legacy_window) in
            [(0.0, 0.1, 16.0), (2.0, 0.1, 16.0), (0.1, 1.0, 16.0), (0.1, 0.1, f64::INFINITY)]
        {
            let params = ScalableParams { increase, decrease, legacy_window, ..default.clone() };
            assert!(params.validate().is_err(), "{params:?}");
        }
    }
}
