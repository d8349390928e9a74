//! A window that never changes: for closed forms, and for flows that must not react.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AckEvent, CongestionEvent, ControlParameters, MAX_WINDOW_PACKETS, SteadyState, WindowLaw,
};
use crate::parameters::{BadParameter, check};

/// Parameters of the fixed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FixedWindowParams {
    /// The window, in packets (default 10, the initial window of RFC 6928). It holds from the first
    /// ACK on; give the flow an initial window of the same size to have it from the first packet.
    #[schemars(range(min = 1.0, max = 100_000_000.0))]
    pub window: f64,
}

impl Default for FixedWindowParams {
    fn default() -> Self {
        FixedWindowParams { window: 10.0 }
    }
}

impl ControlParameters for FixedWindowParams {
    fn is_loss_based(&self) -> bool {
        false
    }

    fn validate(&self) -> Result<(), BadParameter> {
        let is_window = (1.0..=MAX_WINDOW_PACKETS as f64).contains(&self.window);
        let allowed = format!("at least 1 packet and at most {MAX_WINDOW_PACKETS}");
        check("window", self.window, is_window, &allowed)
    }

    fn steady_state(&self) -> SteadyState {
        SteadyState::NoReductions
    }
}

/// Holds its window through losses and marks. After a timeout the sender sends the first packet
/// again alone, as always; the ACK of new data brings the window back.
#[derive(Debug)]
pub struct FixedWindow {
    window: f64,
}

impl FixedWindow {
    /// Starts the control.
    pub fn new(params: &FixedWindowParams) -> Self {
        FixedWindow { window: params.window }
    }
}

impl WindowLaw for FixedWindow {
    #[inline]
    fn on_ack(&mut self, _cwnd_packets: f64, _event: &AckEvent) -> f64 {
        self.window
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        // Congestion must not make a window grow that has not been set yet.
        self.window.min(event.cwnd_packets)
    }

    fn has_own_slow_start(&self) -> bool {
        true
    }

    fn ends_slow_start(&mut self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionKind;
    use super::super::script::{ack, congestion};
    use super::*;

    #[test]
    fn is_at_its_window_after_one_ack_whatever_it_was() {
        let mut control = FixedWindow::new(&FixedWindowParams { window: 64.0 });
        for window in [1.0, 63.0, 64.0, 1e6] {
            let after = control.on_ack(window, &ack(1));
            assert!((after - 64.0).abs() < 1e-12, "from {window} to {after}");
        }
        assert!(control.has_own_slow_start() && control.ends_slow_start());
    }

    #[test]
    fn keeps_its_window_through_congestion() {
        let mut control = FixedWindow::new(&FixedWindowParams { window: 64.0 });
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            assert!((control.on_congestion(&congestion(kind, 64.0)) - 64.0).abs() < 1e-12);
            assert!((control.on_congestion(&congestion(kind, 10.0)) - 10.0).abs() < 1e-12);
        }
    }

    #[test]
    fn refuses_a_window_below_one_packet() {
        for window in [0.5, 0.0, f64::NAN, f64::INFINITY] {
            assert!(FixedWindowParams { window }.validate().is_err(), "{window}");
        }
        assert!(FixedWindowParams { window: 1.0 }.validate().is_ok());
    }
}
