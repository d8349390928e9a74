//! A control that writes down what the sender tells it, and answers with the kernel's window.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tailroom_engine::congestion::custom::ControlMaker;
use tailroom_engine::congestion::rate_based::{
    BeginEvent, ControlOutput, RateBasedControl, RateSampleEvent,
};
use tailroom_engine::congestion::{AckEvent, CongestionEvent, CongestionKind, WindowLaw};

/// Packets that leave together at least under BBR at more than 1.2 Mbit/s (Linux
/// `bbr_min_tso_segs`).
const LEAST_QUANTUM: u64 = 2;
const LOW_RATE: f64 = 100.0; // 1.2 Mbit/s in packets of 1,500 bytes
/// A quantum lasts this part of a second (Linux `sk_pacing_shift`).
const QUANTA_PER_SECOND: f64 = 1024.0;

/// A call of the sender.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// An ACK of new data, to a window law.
    Ack(AckEvent),
    /// An ACK, to a rate-based control.
    Rate(RateSampleEvent),
    /// Congestion.
    Congestion(CongestionKind),
}

/// What the control answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script {
    /// The window, in packets.
    pub window: f64,
    /// ssthresh after congestion, in packets.
    pub ssthresh: f64,
    /// The pacing rate, in packets/s.
    pub pacing_rate: f64,
}

#[derive(Debug, Default)]
struct State {
    script: Script,
    calls: Vec<Call>,
}

/// The control, which the sender holds, and the replay looks into.
#[derive(Clone, Debug, Default)]
pub struct Recorded(Arc<Mutex<State>>);

impl Recorded {
    /// What makes the control for the sender.
    pub fn maker(&self, is_rate_based: bool) -> ControlMaker {
        let control = self.clone();
        if is_rate_based {
            ControlMaker::rate_based(move || Box::new(control.clone()))
        } else {
            ControlMaker::window_law(move || Box::new(control.clone()))
        }
    }

    /// Sets the answers from now on.
    pub fn answer(&self, script: Script) {
        self.state().script = script;
    }

    /// The calls since this was asked last.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.state().calls)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, call: Call) -> Script {
        let mut state = self.state();
        state.calls.push(call);
        state.script
    }
}

impl WindowLaw for Recorded {
    fn on_ack(&mut self, _cwnd_packets: f64, _event: &AckEvent) -> f64 {
        self.state().script.window
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        self.note(Call::Congestion(event.kind)).ssthresh
    }

    fn has_own_slow_start(&self) -> bool {
        true
    }

    fn sees_every_ack(&self) -> bool {
        true
    }

    fn on_every_ack(&mut self, event: &AckEvent) {
        self.note(Call::Ack(*event));
    }
}

impl RateBasedControl for Recorded {
    fn begin(&mut self, _event: &BeginEvent) -> ControlOutput {
        output(self.state().script)
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        output(self.note(Call::Rate(*event)))
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.note(Call::Congestion(event.kind));
    }
}

fn output(script: Script) -> ControlOutput {
    let least = if script.pacing_rate < LOW_RATE { 1 } else { LEAST_QUANTUM };
    let quantum = (script.pacing_rate / QUANTA_PER_SECOND) as u64;
    ControlOutput {
        cwnd_packets: script.window,
        pacing_rate: script.pacing_rate,
        send_quantum: quantum.max(least),
        is_app_limited: false,
    }
}
