//! A constant window, for comparison with closed forms and for flows that must not react to
//! congestion.

use super::{AckEvent, CongestionEvent, ControlParameters, SteadyState, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Parameters of the fixed window. The window holds through losses and marks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FixedWindowParams {
    /// The window, in packets (default: 10, the initial window of RFC 6928). It applies from the
    /// first ACK on; to apply it from the first packet on, set `initial_window` to the same value.
    #[schemars(range(min = 1.0, max = 100_000_000.0))]
    pub window: f64,
}

impl Default for FixedWindowParams {
    fn default() -> Self {
        FixedWindowParams { window: 10.0 }
    }
}

impl ControlParameters for FixedWindowParams {
    fn steady_state(&self) -> SteadyState {
        SteadyState::NoReductions
    }
}

/// The state of a fixed window for one flow. After a timeout the sender first retransmits one
/// packet, as with every control; the next ACK of new data restores the window.
#[derive(Clone, Debug)]
pub struct FixedWindow {
    window: f64,
}

impl FixedWindow {
    /// Creates the control.
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
        // Before the first ACK the initial window applies, and congestion must not enlarge it.
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
    fn one_ack_sets_the_window_whatever_it_was() {
        let mut control = FixedWindow::new(&FixedWindowParams { window: 64.0 });
        for window in [1.0, 63.0, 64.0, 1e6] {
            let after = control.on_ack(window, &ack(1));
            assert!((after - 64.0).abs() < 1e-12, "from {window} to {after}");
        }
        assert!(control.has_own_slow_start() && control.ends_slow_start());
    }

    #[test]
    fn congestion_does_not_change_the_window() {
        let mut control = FixedWindow::new(&FixedWindowParams { window: 64.0 });
        for kind in [CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark] {
            assert!((control.on_congestion(&congestion(kind, 64.0)) - 64.0).abs() < 1e-12);
            assert!((control.on_congestion(&congestion(kind, 10.0)) - 10.0).abs() < 1e-12);
        }
    }
}
