//! What a sender does when packets are missing: `NewReno` (RFC 6582), SACK (RFC 6675), timeout (RFC
//! 6298); or marked (RFC 3168).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counted_pipe::CountedPipe;
use super::prr::{Prr, PrrEvent};
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::{PacketSink, Phase, Sender};
use crate::congestion::{CongestionControl, CongestionKind};
use crate::packet::Ack;
use crate::units::Time;

/// What an ACK brought.
#[derive(Clone, Copy, Debug)]
struct News {
    /// Advance of the cumulative ACK.
    acked: u64,
    /// Packets newly known to have arrived.
    delivered: u64,
    rtt: Option<Time>,
    /// Whether more packets are taken for lost than before.
    is_more_lost: bool,
    /// Whether it echoes a mark.
    is_marked: bool,
}

/// How a fast recovery decides how much it sends.
#[derive(Clone, Copy, Debug)]
pub(super) enum RepairRule {
    /// Up to the window, with the pipe of RFC 6675.
    Pipe,
    /// Up to the window, with the pipe of ns-2.
    CountedPipe(CountedPipe),
    /// Proportional rate reduction (RFC 9937).
    Prr(Prr),
}

impl RepairRule {
    /// A packet was sent.
    fn on_sent(&mut self) {
        match self {
            RepairRule::Pipe => {}
            RepairRule::CountedPipe(pipe) => pipe.on_sent(),
            RepairRule::Prr(prr) => prr.on_sent(),
        }
    }
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RecoveryFile")]
pub enum Recovery {
    /// Selective ACKs (RFC 6675).
    #[default]
    Sack,
    /// Cumulative ACKs only (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
}

impl Sender {
    /// An ACK outside the plain case: a duplicate, one with SACK blocks, or one during a repair.
    #[inline(never)]
    pub(super) fn on_unusual_ack(
        &mut self,
        now: Time,
        ack: Ack<'_>,
        rtt: Option<Time>,
        out: &mut impl PacketSink,
    ) {
        if ack.cumulative < self.una {
            return; // overtaken by a later ACK
        }
        let acked = ack.cumulative - self.una;
        let lost_edge = self.scoreboard.lost_edge();
        let mut delivered = 0;
        if acked > 0 {
            delivered += self.scoreboard.advance(ack.cumulative);
            self.una = ack.cumulative;
            self.duplicates = 0;
        }
        if self.is_sack {
            delivered += self.scoreboard.add(ack.blocks, self.next, |_| {});
        }
        let is_more_lost = self.scoreboard.lost_edge() > lost_edge;
        let is_marked = self.ecn.note(ack);
        if acked > 0 {
            self.show_to_control(now, acked, rtt);
        }
        let news = News { acked, delivered, rtt, is_more_lost, is_marked };
        if is_marked {
            self.react_to_mark(now);
        }
        if self.is_sack {
            self.react_with_sack(now, news, out);
        } else {
            self.react_without_sack(now, news, out);
        }
    }

    // RFC 3168: ECN.

    /// RFC 3168 sec. 6.1.2: a mark reduces the window as a loss does, at most once for a window of
    /// data, whether losses or marks came first. It lowers no window below two packets (RFC 8511
    /// sec. 3), so that the timer need not take the place of a window of one.
    pub(super) fn react_to_mark(&mut self, now: Time) {
        let Some(last_acked) = self.una.checked_sub(1) else { return };
        let is_new = last_acked >= self.recovery_point && !self.ecn.has_reduced_since(last_acked);
        if self.phase == Phase::Open && is_new && !self.congestion.has_answered_marks(now) {
            self.reduce(now, CongestionKind::Mark);
            self.cwnd = self.cwnd.min(self.ssthresh);
            self.ecn.on_marked_reduction(self.next);
        }
    }

    /// Lost packets reduce the window, unless a mark in the same window of data has done so and the
    /// control takes a mark for as much as a loss.
    fn reduce_for_loss(&mut self, now: Time) {
        if self.options.answers_loss_after_mark || !self.ecn.has_reduced_since(self.una) {
            self.reduce(now, CongestionKind::Loss);
        }
    }

    // RFC 6675: SACK.

    fn react_with_sack(&mut self, now: Time, news: News, out: &mut impl PacketSink) {
        if self.phase != Phase::Open && self.una >= self.recovery_point {
            self.leave_repair(now);
        } else if news.acked > 0 && self.phase != Phase::Recovery {
            self.grow_after(now, news);
        }
        // Restarted before a new repair begins, so that entering one does not extend the timer twice.
        if news.acked > 0 {
            self.restart_timer(now);
        }
        let is_lost = self.scoreboard.is_first_lost();
        match self.phase {
            Phase::Open if is_lost => self.enter_recovery(now, news, out),
            Phase::Open => self.send_new(now, out),
            Phase::Recovery => self.continue_recovery(now, news, out),
            Phase::Timeout => self.send_in_recovery(now, out),
        }
    }

    /// RFC 6675 sec. 5, step 4: reduce, retransmit the first lost packet whatever the pipe says, then
    /// fill the pipe up to the new window.
    fn enter_recovery(&mut self, now: Time, news: News, out: &mut impl PacketSink) {
        let in_flight = self.next - self.una;
        self.reduce_for_loss(now);
        self.begin_recovery();
        self.cwnd = self.ssthresh;
        if self.options.uses_prr {
            // RFC 9937 sec. 5, RecoverFS: in flight and not sacked, as of just before this ACK.
            let recover_flight = in_flight - self.scoreboard.sacked() + news.delivered;
            self.repair_rule = RepairRule::Prr(Prr::new(recover_flight));
            self.continue_recovery(now, news, out);
            return;
        }
        if self.scoreboard.next_lost() == Some(self.una) {
            self.retransmit(now, self.una, out);
        }
        if self.options.counts_lost_in_pipe {
            // Set behind the retransmission, which this pipe leaves out.
            self.repair_rule = RepairRule::CountedPipe(CountedPipe::new(in_flight));
        }
        self.send_in_recovery(now, out);
    }

    pub(super) fn begin_recovery(&mut self) {
        self.phase = Phase::Recovery;
        self.recovery_point = self.next;
        // RFC 6675 sec. 5, step 4.3: no rescue before more than this retransmission is acknowledged.
        self.is_rescue_spent = false;
        self.rescue_from = self.una + 2;
    }

    fn continue_recovery(&mut self, now: Time, news: News, out: &mut impl PacketSink) {
        if let RepairRule::CountedPipe(pipe) = &mut self.repair_rule {
            pipe.on_ack(news.acked > 0);
        }
        if let RepairRule::Prr(mut prr) = self.repair_rule {
            let pipe = self.scoreboard.pipe(self.next);
            let event = PrrEvent {
                delivered: news.delivered,
                pipe,
                ssthresh: self.ssthresh,
                is_safe: news.acked > 0 && !news.is_more_lost,
            };
            let allowance = prr.allowance(&event);
            self.repair_rule = RepairRule::Prr(prr);
            self.probe.on_window(now, self.cwnd);
            self.cwnd = (pipe + allowance).max(1) as f64;
        }
        self.send_in_recovery(now, out);
    }

    /// Sends while the window exceeds the pipe: what `NextSeg` names (RFC 6675 sec. 4).
    pub(super) fn send_in_recovery(&mut self, now: Time, out: &mut impl PacketSink) {
        loop {
            if self.repair_window() <= self.pipe() {
                self.is_window_limited = true;
                return;
            }
            if !self.may_leave(now) {
                return;
            }
            if !self.send_next_segment(now, out) {
                self.is_window_limited = false;
                return;
            }
        }
    }

    /// The window during a repair, `NewReno`'s inflation included.
    fn repair_window(&self) -> i64 {
        (self.cwnd as i64 + self.inflation).max(1)
    }

    /// Packets that a repair takes to be in the network.
    fn pipe(&self) -> i64 {
        match self.repair_rule {
            RepairRule::CountedPipe(pipe) => pipe.packets(),
            RepairRule::Pipe | RepairRule::Prr(_) => self.scoreboard.pipe(self.next).cast_signed(),
        }
    }

    /// RFC 6675 `NextSeg`; false when there is nothing to send.
    fn send_next_segment(&mut self, now: Time, out: &mut impl PacketSink) -> bool {
        // Rule 1: the first lost packet that has not been retransmitted.
        if let Some(lost) = self.scoreboard.next_lost() {
            self.retransmit(now, lost, out);
            return true;
        }
        // Rule 2: new data.
        if self.has_new_data(now) {
            let packet = self.next;
            self.next += 1;
            self.repair_rule.on_sent();
            self.transmit(now, packet, false, out);
            return true;
        }
        if !self.is_sack || self.phase == Phase::Timeout {
            return false;
        }
        // Rule 3: a hole that is not lost yet.
        if let Some(hole) = self.scoreboard.next_unsacked() {
            self.retransmit(now, hole, out);
            return true;
        }
        // Rule 4: one rescue retransmission an episode; it leaves HighRxt alone.
        let last = self.scoreboard.last_unsacked(self.next);
        match last {
            Some(last) if !self.is_rescue_spent && self.una >= self.rescue_from => {
                self.is_rescue_spent = true;
                self.repair_rule.on_sent();
                self.transmit(now, last, true, out);
                false // it is not in the pipe either, so ask no further
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn retransmit(&mut self, now: Time, sequence: u64, out: &mut impl PacketSink) {
        // The timer guards the first packet in flight, which has just been sent again: without a new
        // start it would expire a round trip after the last ACK, while this one is on its way. Only
        // for the first: a timer that every retransmission pushes back never notices a lost one.
        let restarts = self.options.restart_at_retransmission && self.is_sack;
        if restarts && self.phase == Phase::Recovery && sequence == self.una {
            self.rto_deadline = now.saturating_add(self.rtt.rto());
        }
        self.scoreboard.on_retransmission(sequence);
        self.repair_rule.on_sent();
        self.transmit(now, sequence, true, out);
    }

    /// Everything up to the recovery point has arrived.
    fn leave_repair(&mut self, now: Time) {
        self.probe.on_window(now, self.cwnd);
        if self.phase == Phase::Recovery {
            self.cwnd = self.ssthresh.min(self.max_window); // RFC 6582 sec. 3.2 step 3, option 2; RFC 9937
        }
        self.phase = Phase::Open;
        self.inflation = 0;
        self.repair_rule = RepairRule::Pipe;
    }

    /// Growth on a cumulative ACK outside fast recovery. After a timeout an ACK that jumps over packets that
    /// had arrived earlier is worth one packet (RFC 3465 sec. 2.3).
    /// One that echoes a mark lets nothing grow (RFC 3168 sec. 6.1.2), except after a timeout: the
    /// retransmissions carry no CWR to end the echo, and there is less to grow than to repair.
    fn grow_after(&mut self, now: Time, news: News) {
        if news.is_marked && self.phase == Phase::Open {
            return;
        }
        let acked = if self.phase == Phase::Timeout { 1 } else { news.acked };
        self.grow(now, acked, news.rtt);
    }

    // RFC 6582: NewReno.

    fn react_without_sack(&mut self, now: Time, news: News, out: &mut impl PacketSink) {
        let is_over = self.phase != Phase::Open && self.una >= self.recovery_point;
        match self.phase {
            _ if news.acked > 0 && is_over => {
                self.leave_repair(now);
                self.restart_timer(now);
                self.send_new(now, out);
            }
            Phase::Recovery if news.acked > 0 => self.on_partial_ack(now, news, out),
            _ if news.acked > 0 => {
                self.grow_after(now, news);
                self.restart_timer(now);
                self.send_allowed(now, out);
            }
            _ if self.next > self.una => self.on_duplicate_ack(now, out),
            _ => {}
        }
    }

    fn on_duplicate_ack(&mut self, now: Time, out: &mut impl PacketSink) {
        self.duplicates += 1;
        match self.phase {
            Phase::Recovery => {
                self.inflation += 1; // RFC 5681 sec. 3.2 step 4 (RFC 6582 sec. 3.2 step 3)
                self.send_in_recovery(now, out);
            }
            // RFC 6582 sec. 3.2 step 2: only beyond the last repair, or these may be echoes of it.
            Phase::Open
                if self.duplicates == DUPLICATE_THRESHOLD && self.is_beyond_last_repair() =>
            {
                self.enter_newreno_recovery(now, out);
            }
            Phase::Open => self.send_new(now, out),
            Phase::Timeout => {}
        }
    }

    pub(super) fn is_beyond_last_repair(&self) -> bool {
        self.recovery_point == 0 || self.una > self.recovery_point
    }

    fn enter_newreno_recovery(&mut self, now: Time, out: &mut impl PacketSink) {
        self.reduce_for_loss(now);
        self.phase = Phase::Recovery;
        self.recovery_point = self.next;
        self.cwnd = self.ssthresh;
        self.inflation = DUPLICATE_THRESHOLD.cast_signed();
        self.is_first_partial = true;
        self.scoreboard.lose_first();
        self.retransmit(now, self.una, out);
        self.rto_deadline = now.saturating_add(self.rtt.rto());
        self.send_in_recovery(now, out);
    }

    /// RFC 6582 sec. 3.2 step 3: the next hole starts right behind a partial ACK.
    fn on_partial_ack(&mut self, now: Time, news: News, out: &mut impl PacketSink) {
        self.inflation -= news.acked.cast_signed() - 1;
        self.scoreboard.lose_first();
        self.retransmit(now, self.una, out);
        // The "impatient" variant: only the first partial ACK restarts the timer.
        if self.is_first_partial {
            self.is_first_partial = false;
            self.restart_timer(now);
        }
        self.send_in_recovery(now, out);
    }

    // RFC 6298: the retransmission timeout.

    pub(super) fn on_timeout(&mut self, now: Time, out: &mut impl PacketSink) {
        self.note_app_limit(now);
        self.show_timeout(now);
        self.reduce(now, CongestionKind::Timeout);
        self.rtt.back_off();
        self.slow_start.on_timeout();
        self.phase = Phase::Timeout;
        self.recovery_point = self.next;
        self.cwnd = 1.0; // RFC 5681 sec. 3.1, the loss window
        self.inflation = 0;
        self.duplicates = 0;
        self.repair_rule = RepairRule::Pipe;
        self.scoreboard.lose_everything(self.next, self.options.forget_sack_at_timeout);
        self.rto_deadline = now.saturating_add(self.rtt.rto());
        self.send_in_recovery(now, out);
    }
}
