//! The sender's part of RACK-TLP (RFC 8985): what it tells [`Rack`] and the scoreboard, and what it
//! sends when the reordering window has passed or a probe is due.

use super::rack::{Path, ProbeOutcome};
use super::recovery::RepairRule;
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::{CongestionControl, PacketSink, Phase, Sender};
use crate::congestion::CongestionKind;
use crate::packet::Ack;
use crate::units::Time;

impl Sender {
    /// Records that a packet leaves.
    #[inline]
    pub(super) fn note_transmission(&mut self, now: Time, sequence: u64, is_retransmission: bool) {
        if let Some(rack) = &mut self.rack {
            rack.on_sent(now, sequence, is_retransmission, self.scoreboard.lost_edge());
            if !is_retransmission {
                self.schedule_probe(now);
            }
        }
    }

    /// Records that all packets below `una` have arrived.
    #[inline]
    pub(super) fn advance_rack(&mut self, now: Time, una: u64) {
        if let Some(rack) = &mut self.rack {
            rack.on_acked(now, una);
        }
    }

    /// Records that the next packet leaves, apart from the timer of the probe.
    #[inline]
    pub(super) fn record_sent(&mut self, now: Time) {
        if let Some(rack) = &mut self.rack {
            rack.on_new_sent(now);
        }
    }

    fn path(&self) -> Path {
        Path { is_recovering: self.phase != Phase::Open, srtt: self.rtt.srtt() }
    }

    /// Adds the SACK blocks of an ACK; returns the number of newly sacked packets, and the RTT of the
    /// last of them that was sent once.
    pub(super) fn add_blocks(&mut self, now: Time, ack: Ack<'_>) -> (u64, Option<Time>) {
        let Sender { scoreboard, rack, next, congestion_control, .. } = self;
        let mut last = None;
        let sacked = scoreboard.add(ack.blocks, *next, |packets| {
            if let Some(rack) = rack {
                rack.on_sacked(now, packets);
                last = last.max(rack.rtt_of_sacked(now, packets));
            }
            if let CongestionControl::RateBased(rate_based) = congestion_control {
                rate_based.on_sacked(now, packets);
            }
        });
        (sacked, last.map(|(_, rtt)| rtt))
    }

    /// Whether an ACK may tell something of a probe or of an unnecessary retransmission.
    #[inline]
    pub(super) fn is_probe_news(&self, ack: Ack<'_>) -> bool {
        let is_probing = self.rack.as_ref().is_some_and(|rack| rack.is_probing());
        is_probing || ack.duplicate.is_some()
    }

    /// Looks for losses after the packets of an ACK are taken in, and shows lost retransmissions to a
    /// rate-based control. Returns the number of these.
    pub(super) fn detect_losses(&mut self, now: Time, ack: Ack<'_>) -> u64 {
        let path = self.path();
        let Sender { rack, scoreboard, congestion_control, cwnd, una, next, .. } = self;
        let Some(rack) = rack else { return 0 };
        rack.note_duplicate(ack.duplicate, *una, *next);
        let mut lost_again = 0;
        let wait = rack.detect_after_ack(now, path, scoreboard, |sequence| {
            lost_again += 1;
            congestion_control.show_lost(now, sequence, *cwnd);
        });
        if let Some(expiry) = wait {
            self.rack_deadline = self.reordering_deadline(expiry);
        }
        self.answer_probe(now, ack);
        lost_again
    }

    /// RFC 8985 sec. 7.4.2: a loss that the probe has repaired reduces the window like any other.
    fn answer_probe(&mut self, now: Time, ack: Ack<'_>) {
        let Some(rack) = &mut self.rack else { return };
        let outcome = rack.note_probe(self.una, ack.duplicate);
        if outcome == ProbeOutcome::Repaired && self.phase == Phase::Open {
            self.reduce(now, CongestionKind::Loss);
            self.forget_undo();
            if !self.is_rate_based() {
                (self.cwnd, self.repair_rule) = (self.ssthresh, RepairRule::Pipe);
            }
        }
    }

    /// Marks packets lost after a timeout (RFC 8985 sec. 6.3); the rest is in the network. Returns
    /// whether that is done: not without RACK, nor if the receiver has dropped what it had reported
    /// (RFC 2018 sec. 8).
    pub(super) fn lose_at_timeout(&mut self, now: Time) -> bool {
        let path = self.path();
        let is_disorder = self.phase == Phase::Open && !self.ecn.has_reduced_since(self.una);
        let Sender { rack, scoreboard, congestion_control, cwnd, una, .. } = self;
        let Some(rack) = rack else { return false };
        if scoreboard.is_sacked(*una) {
            rack.forget_arrivals();
            return false;
        }
        if is_disorder && scoreboard.sacked() >= DUPLICATE_THRESHOLD {
            rack.doubt_reordering();
        }
        rack.lose_at_timeout(now, path, scoreboard, |sequence| {
            congestion_control.show_lost(now, sequence, *cwnd);
        });
        self.show_losses(now);
        true
    }

    /// Fires the timer of the reordering window or that of the probe.
    #[inline(never)]
    pub(super) fn on_rack_deadline(&mut self, now: Time, out: &mut impl PacketSink) {
        self.rack_deadline = Time::NEVER;
        if self.phase == Phase::Open && self.scoreboard.is_clear() {
            self.send_probe(now, out);
        } else {
            self.on_reordering_deadline(now, out);
        }
    }

    /// When the timer of a reordering window that has passed at `expiry` fires: before that of the
    /// timeout.
    #[inline]
    fn reordering_deadline(&self, expiry: Time) -> Time {
        expiry.saturating_add(self.rack_timer_margin()).min(self.rto_deadline).max(expiry)
    }

    #[inline]
    fn rack_timer_margin(&self) -> Time {
        self.rack.as_ref().map_or(Time::ZERO, |rack| rack.timer_margin())
    }

    /// The packets that have not arrived within the reordering window are lost.
    fn on_reordering_deadline(&mut self, now: Time, out: &mut impl PacketSink) {
        let path = self.path();
        let transit = self.scoreboard.pipe(self.next);
        let Sender { rack, scoreboard, congestion_control, cwnd, .. } = self;
        let Some(rack) = rack else { return };
        let wait = rack.detect(now, path, scoreboard, |sequence| {
            congestion_control.show_lost(now, sequence, *cwnd);
        });
        self.rack_deadline = self.reordering_deadline(wait);
        if self.scoreboard.pipe(self.next) < transit {
            self.repair(now, out);
        }
    }

    /// Repairs losses that no ACK has shown.
    fn repair(&mut self, now: Time, out: &mut impl PacketSink) {
        if self.is_rate_based() {
            self.show_losses(now);
            self.change_phase(now, self.phase == Phase::Timeout);
            self.send_allowed(now, out);
        } else if self.phase == Phase::Recovery {
            self.send_in_recovery(now, out);
        } else {
            self.enter_recovery_at_deadline(now, out);
        }
    }

    // Tail loss probes, RFC 8985 sec. 7.

    /// Sets the time of the probe (sec. 7.2), if no loss is being found or repaired.
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Time) {
        let Some(rack) = &self.rack else { return };
        if self.phase == Phase::Open && self.scoreboard.is_clear() && !rack.is_probing() {
            let timeout = self.probe_timeout(self.rtt.srtt(), self.next - self.una);
            self.rack_deadline = now.saturating_add(timeout).min(self.rto_deadline);
        }
    }

    /// `TLP_calc_PTO` (sec. 7.2) with so many packets in flight. The receiver may delay the ACK of a single packet: by as much as
    /// `min_rto`, says Linux; that of several by `rack_timer_margin` (`tcp_schedule_loss_probe`).
    #[inline]
    pub(super) fn probe_timeout(&self, srtt: Time, in_flight: u64) -> Time {
        if srtt == Time::ZERO {
            return self.rtt.initial_rto();
        }
        let margin = if in_flight == 1 { self.rtt.min_rto() } else { self.rack_timer_margin() };
        srtt.saturating_add(srtt).saturating_add(margin)
    }

    /// `TLP_send_probe` (sec. 7.3): sends new data, or the last packet again, whatever the window.
    fn send_probe(&mut self, now: Time, out: &mut impl PacketSink) {
        let is_retransmission = !self.has_new_data(now);
        let sequence = if is_retransmission { self.next - 1 } else { self.next };
        self.next = self.next.max(sequence + 1);
        if let Some(rack) = &mut self.rack {
            rack.on_probe(self.next, is_retransmission);
        }
        self.probe.counters.loss_probes += 1;
        self.rto_deadline = now.saturating_add(self.rtt.rto());
        self.transmit(now, sequence, is_retransmission, out);
    }
}
