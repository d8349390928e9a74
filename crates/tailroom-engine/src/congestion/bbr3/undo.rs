//! The undo of a spurious recovery (sec. "Updating the Model Upon Detecting a Spurious Loss
//! Recovery").

use super::{Model, Plateau, State, UndoEvent};
use crate::units::larger;

/// The state before a loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// `BBR.undo_state`: the state that the losses have ended.
    pub(super) state: Option<State>,
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
    /// The losses belong to a recovery whose beginning is saved.
    pub(super) is_saved: bool,
}

impl Model {
    /// `SaveStateUponLoss`, called by `NoteLoss`, `OnEnterFastRecovery` and `OnEnterRTO`. The
    /// sender shows the losses before the recovery, and each loss may change the model, so what
    /// counts is the state at the first call per recovery.
    pub(super) fn save_state_upon_loss(&mut self, cwnd: f64) {
        self.save_cwnd(cwnd);
        if self.undo.is_saved {
            return;
        }
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
            is_saved: true,
        };
    }

    /// `HandleSpuriousLossDetection`; returns the window.
    pub(super) fn handle_spurious_loss_detection(&mut self, event: &UndoEvent) -> f64 {
        self.cwnd = event.cwnd_packets;
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.full_bw = Plateau::default();
        let undo = std::mem::take(&mut self.undo);
        self.bw_shortterm = larger(self.bw_shortterm, undo.bw_shortterm);
        self.inflight_shortterm = larger(self.inflight_shortterm, undo.inflight_shortterm);
        self.inflight_longterm = larger(self.inflight_longterm, undo.inflight_longterm);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_probe_bw_refill(event.delivered);
            }
            _ => {}
        }
        self.cwnd
    }
}
