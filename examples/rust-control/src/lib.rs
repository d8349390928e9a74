//! A congestion control of your own, outside tailroom's crates: additive increase until the
//! queueing delay reaches a bound, additive decrease above it.
//!
//! This file shows the parameters that a scenario sets, the window law, and its registration.
//! `src/main.rs` runs a scenario with the control; `tests/delay_bound.rs` checks what it does.

use serde::Deserialize;
use tailroom_engine::congestion::{
    AckEvent, CongestionEvent, ControlParameters, SteadyState, WindowLaw,
};
use tailroom_engine::parameters::Ranges;
use tailroom_engine::scenario::OwnCode;
use tailroom_engine::units::Time;

/// What a scenario may set: `parameters = { increase = 1.0, bound_ms = 10.0 }`.
#[derive(Clone, Debug, Deserialize, Ranges)]
#[serde(default, deny_unknown_fields)]
pub struct DelayBoundParams {
    /// Packets by which the window grows or shrinks in a round trip.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub increase: f64,
    /// Queueing delay that the control holds, in milliseconds.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub bound_ms: f64,
}

impl Default for DelayBoundParams {
    fn default() -> Self {
        DelayBoundParams { increase: 1.0, bound_ms: 10.0 }
    }
}

impl ControlParameters for DelayBoundParams {
    // A bound below what the buffer holds is kept without a loss.
    fn steady_state(&self) -> SteadyState {
        SteadyState::MaySettle
    }
}

/// The state of one flow.
#[derive(Debug)]
pub struct DelayBound {
    increase: f64,
    bound: Time,
}

impl DelayBound {
    /// Starts the control of a flow.
    pub fn new(params: &DelayBoundParams) -> Self {
        DelayBound { increase: params.increase, bound: Time::from_seconds(params.bound_ms / 1e3) }
    }
}

impl WindowLaw for DelayBound {
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // A window's worth of ACKs comes in a round trip, so each brings its share of the step.
        let step = self.increase * event.acked_packets as f64 / cwnd_packets;
        match event.rtt {
            Some(rtt) if rtt.since(event.min_rtt) > self.bound => cwnd_packets - step,
            _ => cwnd_packets + step,
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        event.cwnd_packets / 2.0
    }
}

/// What scenarios may name in addition to the engine's own controls.
pub fn controls() -> OwnCode {
    let mut controls = OwnCode::default();
    controls.add_window_law("delay_bound", DelayBound::new);
    controls
}
