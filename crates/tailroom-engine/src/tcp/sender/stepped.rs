//! A sender whose control is set between the steps of a simulation.
//!
//! A flow runs ahead of the links, so that ACKs of the next step may be known before the caller
//! decides. The sender takes in no ACK that arrives after the end of the step: it keeps them until the
//! next step begins. The ACK of the last byte ends this: nothing is left to decide, and the run learns in
//! the same event as in a run without steps that the flow is complete.

use super::rate_based::RateBasedSender;
use super::step_end::StepEnd;
use super::{CongestionControl, PacketSink, Phase, Sender};
use crate::congestion::AnyRateBasedControl;
use crate::congestion::stepped::SteppedParams;
use crate::packet::{Ack, StoredAck};
use crate::units::Time;

impl Sender {
    /// Keeps an ACK that arrives at `now`, if that is in a later step. Returns whether it does. With the
    /// ACK of the last byte the step has no end any more: [`take_kept`](Self::take_kept) then gives all.
    #[inline]
    pub fn keeps(&mut self, now: Time, ack: Ack<'_>) -> bool {
        match &mut self.congestion_control {
            CongestionControl::RateBased(rate_based) if now >= rate_based.step_end.at => {
                let of_last_byte = ack.cumulative == self.send_queue.packets;
                let is_last = of_last_byte && self.objects.is_none();
                if is_last && self.una == ack.cumulative {
                    return false;
                }
                let StepEnd { at, later } = &mut rate_based.step_end;
                later.push_back((now, StoredAck::from(ack)));
                if is_last {
                    *at = Time::NEVER;
                }
                true
            }
            _ => false,
        }
    }

    /// Begins a step that ends at `end`, if the control is set between steps.
    pub fn begin_step(&mut self, end: Time) {
        if let Some(rate_based) = self.stepped() {
            rate_based.step_end.at = end;
        }
    }

    /// Takes the next ACK that belongs to the present step, with its time.
    pub fn take_kept(&mut self) -> Option<(Time, StoredAck)> {
        let CongestionControl::RateBased(rate_based) = &mut self.congestion_control else {
            return None;
        };
        let StepEnd { at, later } = &mut rate_based.step_end;
        if later.front()?.0 < *at { later.pop_front() } else { None }
    }

    /// What the control that is set between steps holds; `None` under another control.
    pub fn held(&self) -> Option<&SteppedParams> {
        match self.rate_based_sender()?.control() {
            AnyRateBasedControl::Stepped(control) => Some(control.params()),
            _ => None,
        }
    }

    fn stepped(&mut self) -> Option<&mut RateBasedSender> {
        let is_stepped = self.held().is_some();
        match &mut self.congestion_control {
            CongestionControl::RateBased(rate_based) if is_stepped => Some(rate_based),
            _ => None,
        }
    }

    /// Sets what the control holds from `now` on, and sends what it allows. Changes nothing once the ACK
    /// of the last byte is known, which may arrive after `now`.
    pub fn hold(&mut self, now: Time, params: SteppedParams, out: &mut impl PacketSink) {
        if self.is_complete() {
            return;
        }
        self.record_until(now);
        let Some(rate_based) = self.stepped() else { return };
        let before = rate_based.gap();
        let Some(output) = rate_based.hold(params) else { return };
        self.follow(now, output);
        let after = self.rate_based_sender().map_or(before, RateBasedSender::gap);
        self.pacer.change_gap(now, self.last_sent, before, after);
        if now >= self.send_queue.start && self.phase != Phase::Opening {
            self.release_at = Time::NEVER;
            self.send_allowed(now, out);
        }
    }
}
