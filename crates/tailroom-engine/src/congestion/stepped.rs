//! A window and a pacing rate that are set from outside, between the steps of a simulation.

use super::ControlParameters;
use super::rate_based::{BeginEvent, ControlOutput, RateBasedControl, RateSampleEvent};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::BitRate;

/// Parameters of the stepped control: what holds until a program that steps the simulation sets
/// something else (`Simulation.act` in Python). Losses and marks change neither value; the sender
/// repairs losses as under any control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SteppedParams {
    /// The window, in packets. Default: `initial_window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 100_000_000.0))]
    pub window: Option<f64>,
    /// The rate at which packets leave, headers included. Default: that of the access link, or of the
    /// first shared link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_rate: Option<BitRate>,
}

impl ControlParameters for SteppedParams {}

/// The state of the stepped control for one flow.
#[derive(Clone, Debug)]
pub struct Stepped {
    params: SteppedParams,
    /// Size of a packet on the wire; 0 before the flow begins.
    packet_bytes: u32,
    output: ControlOutput,
}

impl Stepped {
    /// Creates the control.
    pub fn new(params: &SteppedParams) -> Self {
        let output = ControlOutput {
            cwnd_packets: 1.0,
            pacing_rate: 1.0,
            send_quantum: 1,
            is_app_limited: false,
        };
        Stepped { params: *params, packet_bytes: 0, output }
    }

    /// Holds these parameters from now on. Returns how to send, once the flow has begun.
    pub fn hold(&mut self, params: SteppedParams) -> Option<ControlOutput> {
        self.params = params;
        if self.packet_bytes == 0 {
            return None;
        }
        self.output.cwnd_packets = self.params.window.unwrap_or(self.output.cwnd_packets);
        self.output.pacing_rate = self.pacing_rate().unwrap_or(self.output.pacing_rate);
        Some(self.output)
    }

    /// The parameters that hold.
    pub fn params(&self) -> &SteppedParams {
        &self.params
    }

    fn pacing_rate(&self) -> Option<f64> {
        let bits = 8.0 * f64::from(self.packet_bytes);
        self.params.pacing_rate.map(|rate| rate.base_units() as f64 / bits)
    }
}

impl RateBasedControl for Stepped {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        self.packet_bytes = event.packet_bytes;
        self.output.cwnd_packets = self.params.window.unwrap_or(event.cwnd_packets);
        self.output.pacing_rate = self.pacing_rate().unwrap_or(event.line_rate);
        self.output
    }

    fn on_rate_sample(&mut self, _event: &RateSampleEvent) -> ControlOutput {
        self.output
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::script::begin_event;

    #[test]
    fn holds_what_was_set_also_before_the_flow_begins() {
        let rate = BitRate::new(12_000_000); // 1,000 packets of 1,500 bytes per second
        let set = |window| SteppedParams { window: Some(window), pacing_rate: Some(rate) };
        let mut control = Stepped::new(&SteppedParams::default());
        assert_eq!(control.hold(set(7.0)), None, "the flow has not begun");
        let event = BeginEvent { packet_bytes: 1_500, ..begin_event(1) };
        let sends = |output: ControlOutput| (output.cwnd_packets, output.pacing_rate);
        assert_eq!(sends(control.begin(&event)), (7.0, 1_000.0));
        assert_eq!(control.hold(set(3.0)).map(sends), Some((3.0, 1_000.0)));
    }

    #[test]
    fn begins_with_the_initial_window_at_the_rate_of_the_host() {
        let event = BeginEvent { cwnd_packets: 10.0, line_rate: 250.0, ..begin_event(1) };
        let output = Stepped::new(&SteppedParams::default()).begin(&event);
        assert_eq!((output.cwnd_packets, output.pacing_rate), (10.0, 250.0));
    }
}
