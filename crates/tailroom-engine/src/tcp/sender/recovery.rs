//! The sender's response to losses, by `NewReno` (RFC 6582), SACK (RFC 6675) and the
//! retransmission timeout (RFC 6298), and to ECN marks (RFC 3168).

use super::ack_news::AckNews;
use super::counted_pipe::CountedPipe;
use super::prr::{Prr, PrrEvent};
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::{CongestionControl, PacketSink, Phase, Sender};
use crate::congestion::{CongestionKind, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::Ack;
use crate::units::{Time, float};

/// The information that an ACK carries.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
struct AckSummary {
    /// Advance of the cumulative ACK, in packets.
    acked: u64,
    /// Packets newly acknowledged, cumulatively or selectively.
    delivered: u64,
    rtt: Option<Time>,
    /// Whether the ACK led to more packets being marked lost.
    is_more_lost: bool,
    /// Whether the ACK showed that a retransmission was lost.
    is_lost_again: bool,
    /// Whether the ACK echoes an ECN mark.
    is_marked: bool,
    /// Whether a later ACK has come before.
    is_overtaken: bool,
}

/// How the sender determines the number of packets to send during fast recovery.
#[derive(Clone, Copy, Debug)]
pub(super) enum RepairRule {
    /// Up to the window, with the pipe of RFC 6675 as the packets in the network.
    Pipe,
    /// Up to the window, with the pipe of ns-2 as the packets in the network.
    CountedPipe(CountedPipe),
    /// Proportional rate reduction (RFC 9937).
    Prr(Prr),
}

impl RepairRule {
    /// Counts a packet that is sent.
    pub(super) fn on_sent(&mut self) {
        match self {
            RepairRule::Pipe => {}
            RepairRule::CountedPipe(pipe) => pipe.on_sent(),
            RepairRule::Prr(prr) => prr.on_sent(),
        }
    }
}

/// How losses are detected and repaired.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RecoveryConfig")]
#[non_exhaustive]
pub enum Recovery {
    /// Selective ACKs (RFC 6675): a packet is lost when three packets sent after it have arrived. A
    /// lost retransmission waits for the timeout.
    #[default]
    Sack,
    /// Selective ACKs and the times of transmissions (RACK-TLP, RFC 8985), as in Linux: a packet or
    /// a retransmission is lost when a packet sent after it has arrived, and where no ACK arrives, a
    /// probe asks for one.
    Rack,
    /// Cumulative ACKs only (RFC 6582). With `send_burst = "auto"` a duplicate ACK stands for a packet that
    /// has arrived behind a gap, as in Linux (`tcp_add_reno_sack`): when the gap is filled, the window
    /// grows by the others only.
    #[serde(rename = "newreno")]
    NewReno,
}

impl Recovery {
    /// Whether ACKs report the packets that have arrived beyond a gap.
    pub fn has_sack(self) -> bool {
        self != Recovery::NewReno
    }
}

impl Sender {
    /// Handles every ACK that the fast path does not: a duplicate ACK, an ACK with SACK blocks or
    /// a mark, and any ACK during loss recovery.
    #[inline(never)]
    pub(super) fn on_ack_slow_path(
        &mut self,
        now: Time,
        ack: Ack<'_>,
        rtt: Option<Time>,
        out: &mut impl PacketSink,
    ) {
        // A later ACK has arrived before. Its SACK blocks may still tell something (Linux `tcp_ack`).
        let is_overtaken = ack.cumulative < self.una;
        if is_overtaken && (ack.blocks.is_empty() || !self.is_sack) {
            return;
        }
        let acked = ack.cumulative.saturating_sub(self.una);
        let ever_lost = self.scoreboard.ever_lost();
        self.note_echo(now, ack);
        let awaited = self.awaited_originals();
        let mut delivered = 0;
        if acked > 0 {
            self.advance_rack(now, ack.cumulative);
            delivered += self.scoreboard.advance(ack.cumulative);
            if self.options.counts_duplicates {
                delivered = delivered.saturating_sub(self.counted_duplicates()).max(1);
            }
            self.una = ack.cumulative;
            self.duplicates = 0;
        }
        // A sender that counts duplicates has nothing to note of the packets.
        let is_timed = self.rack.is_some();
        let (sacked, rtt_of_sacked) = if is_timed {
            self.add_blocks(now, ack)
        } else if self.is_sack {
            (self.scoreboard.add(ack.blocks, self.next, |_| {}), None)
        } else {
            (0, None)
        };
        delivered += sacked;
        if !is_overtaken {
            self.watch_slow_start(now, rtt_of_sacked.or(rtt));
        }
        let is_marked = !is_overtaken && self.ecn.note(ack);
        if self.may_be_undone(ack) {
            self.judge(now, ack, AckNews { acked, has_sacked: sacked > 0, is_marked, awaited });
        }
        let is_lost_again = is_timed && self.detect_losses(now, ack) > 0;
        let is_more_lost = self.scoreboard.ever_lost() > ever_lost;
        if acked > 0 {
            self.show_to_control(now, acked, rtt);
        }
        let summary = AckSummary {
            acked,
            delivered,
            rtt,
            is_more_lost,
            is_lost_again,
            is_marked,
            is_overtaken,
        };
        self.end_reduction(now);
        if is_marked {
            self.react_to_mark(now);
        }
        if self.is_sack {
            self.react_with_sack(now, summary, out);
        } else {
            self.react_without_sack(now, summary, out);
        }
    }

    // RFC 3168: ECN.

    /// RFC 3168 sec. 6.1.2: a mark reduces the window as a loss does, but losses and marks
    /// together reduce it at most once per window of data. A mark never reduces the window below
    /// two packets (RFC 8511 sec. 3), so the sender need not fall back on its timer at a window of
    /// one packet.
    pub(super) fn react_to_mark(&mut self, now: Time) {
        let Some(last_acked) = self.una.checked_sub(1) else { return };
        let is_new = last_acked >= self.recovery_point && !self.ecn.has_reduced_since(last_acked);
        if self.phase == Phase::Open && is_new && !self.is_answered(now) {
            let cwnd = self.cwnd;
            self.reduce(now, CongestionKind::Mark);
            self.ecn.on_marked_reduction(self.next);
            if self.options.uses_prr && !self.is_answered(now) {
                self.repair_rule = RepairRule::Prr(Prr::new(cwnd as u64));
            } else {
                self.cwnd = self.cwnd.min(self.ssthresh);
            }
        }
    }

    /// Whether the law answers marks in its own time.
    fn is_answered(&self, now: Time) -> bool {
        matches!(&self.congestion_control, CongestionControl::WindowLaw(law) if law.is_in_cwr(now))
    }

    /// Whether proportional rate reduction decides what is sent, in a recovery or after a mark.
    pub(super) fn has_prr(&self) -> bool {
        matches!(self.repair_rule, RepairRule::Prr(_))
    }

    /// Whether the window is being reduced after a mark (Linux `TCP_CA_CWR`).
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        self.phase == Phase::Open && self.has_prr()
    }

    /// Ends the reduction after a mark once a packet is acknowledged that was sent after it.
    fn end_reduction(&mut self, now: Time) {
        let is_over = |packet| !self.ecn.has_reduced_since(packet);
        if self.is_reducing() && self.una.checked_sub(1).is_some_and(is_over) {
            self.probe.on_window(now, self.cwnd);
            self.cwnd = self.ssthresh.min(self.max_window);
            self.repair_rule = RepairRule::Pipe;
        }
    }

    /// Reduces the window for lost packets, unless a mark in the same window of data has reduced
    /// it and the control does not require a separate reduction for losses.
    fn reduce_for_loss(&mut self, now: Time) {
        if self.options.answers_loss_after_mark || !self.ecn.has_reduced_since(self.una) {
            self.reduce(now, CongestionKind::Loss);
        } else {
            self.begin_undo(true);
        }
    }

    // RFC 6675: SACK.

    fn react_with_sack(&mut self, now: Time, summary: AckSummary, out: &mut impl PacketSink) {
        let phase = self.phase;
        if phase != Phase::Open && self.una >= self.recovery_point {
            self.leave_repair(now);
        }
        let is_lost = self.must_repair();
        let begins_recovery = match self.phase {
            Phase::Open => is_lost,
            // As in Linux (`tcp_fastretrans_alert`): the timeout has not repaired everything.
            Phase::Timeout => summary.is_lost_again,
            Phase::Recovery | Phase::Opening => false,
        };
        if self.raises_window(phase, summary, begins_recovery) {
            self.grow_after(now, phase, summary);
        }
        // Restart the timer before a new recovery begins, so that entering it does not extend the
        // timer twice.
        if summary.acked > 0 {
            self.restart_timer(now);
        }
        match self.phase {
            _ if begins_recovery => self.enter_recovery(now, summary, out),
            Phase::Open => {
                self.continue_reduction(now, summary);
                self.send_new(now, out);
            }
            Phase::Recovery => self.continue_recovery(now, summary, out),
            Phase::Timeout => self.send_in_recovery(now, out),
            Phase::Opening => {}
        }
    }

    /// Whether an ACK that has come in this `phase` lets the window grow: one that advances, outside a fast
    /// recovery or a reduction after a mark. Under a sender that finds losses by time, an ACK that ends a
    /// recovery does, one that begins a recovery does not, and where packets overtake many others, any
    /// arrival does (Linux `tcp_cong_control`, `tcp_may_raise_cwnd`).
    fn raises_window(&self, phase: Phase, summary: AckSummary, begins_recovery: bool) -> bool {
        let Some(rack) = &self.rack else {
            return summary.acked > 0 && phase != Phase::Recovery && !self.has_prr();
        };
        let has_arrivals = summary.delivered > 0 && !summary.is_overtaken;
        let is_progress = summary.acked > 0 || has_arrivals && rack.is_reordering_high();
        is_progress && !begins_recovery && self.phase != Phase::Recovery && !self.has_prr()
    }

    /// Whether there are losses that a recovery has to repair. With RACK also those whose
    /// retransmission is in the network when a recovery ends: another one begins, as in Linux
    /// (`tcp_time_to_recover`).
    pub(super) fn must_repair(&self) -> bool {
        if self.rack.is_some() {
            self.scoreboard.has_lost()
        } else {
            self.scoreboard.is_first_lost()
        }
    }

    /// RFC 6675 sec. 5, step 4: reduce the window, retransmit the first lost packet whatever the
    /// pipe, then fill the pipe up to the new window.
    fn enter_recovery(&mut self, now: Time, summary: AckSummary, out: &mut impl PacketSink) {
        let in_flight = self.next - self.una;
        let follows_mark = self.is_reducing(); // Linux `tcp_enter_recovery`: the same reduction
        self.reduce_for_loss(now);
        self.begin_recovery();
        self.cwnd = self.ssthresh;
        if self.options.uses_prr {
            // RFC 9937 sec. 5, RecoverFS: packets in flight and not sacked, just before this ACK.
            let recover_flight = in_flight - self.scoreboard.sacked() + summary.delivered;
            if !follows_mark {
                self.repair_rule = RepairRule::Prr(Prr::new(recover_flight));
            }
            let delivered = summary.delivered.max(1); // for the fast retransmit
            self.continue_recovery(now, AckSummary { delivered, ..summary }, out);
            return;
        }
        if self.scoreboard.next_lost() == Some(self.una) {
            self.retransmit(now, self.una, out);
        }
        if self.options.counts_lost_in_pipe {
            // Set after the retransmission, which this pipe does not count.
            self.repair_rule = RepairRule::CountedPipe(CountedPipe::new(in_flight));
        }
        self.send_in_recovery(now, out);
    }

    pub(super) fn begin_recovery(&mut self) {
        self.phase = Phase::Recovery;
        self.recovery_point = self.next;
        // RFC 6675 sec. 5, step 4.3: no rescue retransmission until data beyond this
        // retransmission are acknowledged.
        self.is_rescue_spent = false;
        self.rescue_from = self.una + 2;
        if let Some(rack) = &mut self.rack {
            rack.forget_probe();
        }
    }

    /// Enters recovery without an ACK: one packet may leave at once (Linux `tcp_rack_reo_timeout`).
    pub(super) fn enter_recovery_at_deadline(&mut self, now: Time, out: &mut impl PacketSink) {
        let summary = AckSummary {
            acked: 0,
            delivered: 1,
            rtt: None,
            is_more_lost: true,
            is_lost_again: false,
            is_marked: false,
            is_overtaken: false,
        };
        self.enter_recovery(now, summary, out);
    }

    fn continue_recovery(&mut self, now: Time, summary: AckSummary, out: &mut impl PacketSink) {
        if let RepairRule::CountedPipe(pipe) = &mut self.repair_rule {
            pipe.on_ack(summary.acked > 0);
        }
        self.continue_reduction(now, summary);
        self.send_in_recovery(now, out);
    }

    /// Sets the window by proportional rate reduction, if it decides what is sent. An ACK that reports
    /// nothing new changes nothing (RFC 9937 sec. 5).
    fn continue_reduction(&mut self, now: Time, summary: AckSummary) {
        if let RepairRule::Prr(mut prr) = self.repair_rule
            && summary.delivered > 0
        {
            let pipe = self.scoreboard.pipe(self.next);
            let event = PrrEvent {
                delivered: summary.delivered,
                pipe,
                ssthresh: self.ssthresh,
                is_safe: summary.acked > 0 && !summary.is_more_lost,
            };
            let allowance = prr.allowance(&event);
            self.repair_rule = RepairRule::Prr(prr);
            self.probe.on_window(now, self.cwnd);
            self.cwnd = (pipe + allowance).max(1) as f64;
        }
    }

    /// Sends the packets that `NextSeg` selects (RFC 6675 sec. 4) while the window exceeds the
    /// pipe.
    pub(super) fn send_in_recovery(&mut self, now: Time, out: &mut impl PacketSink) {
        let before = self.next;
        self.fill_repair_window(now, out);
        self.end_sending(now, before);
    }

    fn fill_repair_window(&mut self, now: Time, out: &mut impl PacketSink) {
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

    /// The window during loss recovery, including the inflation of `NewReno`.
    fn repair_window(&self) -> i64 {
        (self.cwnd as i64 + self.inflation).max(1)
    }

    /// Estimated packets in the network during loss recovery, by the current rule.
    fn pipe(&self) -> i64 {
        match self.repair_rule {
            RepairRule::CountedPipe(pipe) => pipe.packets(),
            RepairRule::Pipe | RepairRule::Prr(_) => self.scoreboard.pipe(self.next).cast_signed(),
        }
    }

    /// Sends the packet that `NextSeg` (RFC 6675 sec. 4) selects. Returns false if there is
    /// nothing more to send.
    fn send_next_segment(&mut self, now: Time, out: &mut impl PacketSink) -> bool {
        let holds_back = self.undo.as_ref().is_some_and(|undo| undo.holds_back());
        // Rule 1: the first lost packet that has not been retransmitted.
        if let Some(lost) = self.scoreboard.next_lost()
            && !holds_back
        {
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
        // The other rules are for losses that three duplicates do not show; RACK finds them by time.
        if !self.is_sack || self.phase == Phase::Timeout || self.rack.is_some() || holds_back {
            return false;
        }
        // Rule 3: an unsacked packet that is not marked lost yet.
        if let Some(hole) = self.scoreboard.next_unsacked() {
            self.retransmit(now, hole, out);
            return true;
        }
        // Rule 4: one rescue retransmission per recovery episode, which does not change HighRxt.
        let last = self.scoreboard.last_unsacked(self.next);
        match last {
            Some(last) if !self.is_rescue_spent && self.una >= self.rescue_from => {
                self.is_rescue_spent = true;
                self.note_for_undo(now);
                self.repair_rule.on_sent();
                self.transmit(now, last, true, out);
                false // the pipe does not count it, so no further packet may follow
            }
            _ => false,
        }
    }

    #[inline(never)]
    pub(super) fn retransmit(&mut self, now: Time, sequence: u64, out: &mut impl PacketSink) {
        // The timer covers the first packet in flight. Restart it when that packet is
        // retransmitted: otherwise it would expire while the retransmission is still in the
        // network. Do not restart it for other packets: the loss of the first retransmission would
        // never be detected if every later one extended the timer.
        let restarts = self.options.restart_at_retransmission && self.is_sack;
        if restarts && self.phase == Phase::Recovery && sequence == self.una {
            self.rto_deadline = now.saturating_add(self.rtt.rto());
        }
        self.scoreboard.on_retransmission(sequence);
        self.note_for_undo(now);
        self.repair_rule.on_sent();
        self.transmit(now, sequence, true, out);
    }

    /// Ends loss recovery: all packets up to the recovery point have been acknowledged.
    fn leave_repair(&mut self, now: Time) {
        self.probe.on_window(now, self.cwnd);
        if self.phase == Phase::Recovery {
            // RFC 6582 sec. 3.2 step 3, option 2; RFC 9937
            self.cwnd = self.ssthresh.min(self.max_window);
        }
        self.phase = Phase::Open;
        self.inflation = 0;
        self.repair_rule = RepairRule::Pipe;
        if let Some(rack) = &mut self.rack {
            rack.on_recovered();
        }
    }

    /// Grows the window on an ACK that has come in this `phase`, by what it newly reports. After a timeout,
    /// a sender without knowledge of what has arrived counts an ACK as one packet, because it may cover
    /// packets that arrived earlier (RFC 3465 sec. 2.3). An ACK that echoes a mark does not grow the window (RFC 3168 sec. 6.1.2), except after a
    /// timeout: retransmissions carry no CWR, so the echo would continue and prevent the window
    /// from growing during the whole recovery.
    fn grow_after(&mut self, now: Time, phase: Phase, summary: AckSummary) {
        let acked = match phase {
            Phase::Timeout if !self.options.keeps_arrivals => 1,
            _ if summary.is_marked && phase == Phase::Open => return,
            _ => summary.delivered,
        };
        self.grow(now, acked, summary.rtt);
    }

    // RFC 6582: NewReno.

    fn react_without_sack(&mut self, now: Time, summary: AckSummary, out: &mut impl PacketSink) {
        let is_over = self.phase != Phase::Open && self.una >= self.recovery_point;
        match self.phase {
            phase if summary.acked > 0 && is_over => {
                self.leave_repair(now);
                if phase == Phase::Timeout {
                    self.grow_after(now, phase, summary);
                }
                self.restart_timer(now);
                self.send_new(now, out);
            }
            Phase::Recovery if summary.acked > 0 => self.on_partial_ack(now, summary, out),
            phase if summary.acked > 0 => {
                self.grow_after(now, phase, summary);
                self.restart_timer(now);
                self.send_allowed(now, out);
            }
            _ if self.next > self.una => self.on_duplicate_ack(now, out),
            _ => {}
        }
    }

    /// Duplicate ACKs that stand for packets behind the gap (Linux `tcp_add_reno_sack`, `tcp_process_loss`).
    fn counted_duplicates(&self) -> u64 {
        let is_behind_repair = self.phase == Phase::Timeout && self.next == self.recovery_point;
        if is_behind_repair { 0 } else { self.duplicates }
    }

    fn on_duplicate_ack(&mut self, now: Time, out: &mut impl PacketSink) {
        self.duplicates += 1;
        match self.phase {
            Phase::Recovery => {
                self.inflation += 1; // RFC 5681 sec. 3.2 step 4 (RFC 6582 sec. 3.2 step 3)
                self.send_in_recovery(now, out);
            }
            // RFC 6582 sec. 3.2 step 2: only beyond the last recovery point, because
            // retransmissions of the last recovery may cause duplicate ACKs.
            Phase::Open
                if self.duplicates == DUPLICATE_THRESHOLD && self.is_beyond_last_repair() =>
            {
                self.enter_newreno_recovery(now, out);
            }
            Phase::Open => self.send_new(now, out),
            Phase::Timeout | Phase::Opening => {}
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

    /// RFC 6582 sec. 3.2 step 3: the first packet after a partial ACK is lost too.
    fn on_partial_ack(&mut self, now: Time, summary: AckSummary, out: &mut impl PacketSink) {
        self.inflation -= summary.acked.cast_signed() - 1;
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

    /// Whether the timer has expired before for the first packet in flight, which may have been sent again
    /// since (Linux `icsk_retransmits`).
    pub(super) fn is_timeout_repeated(&self) -> bool {
        self.phase != Phase::Open && self.una == self.timed_out
    }

    pub(super) fn on_timeout(&mut self, now: Time, out: &mut impl PacketSink) {
        if self.phase == Phase::Opening {
            self.open_again(now, out);
            return;
        }
        self.note_app_limit(now);
        self.rack_deadline = Time::NEVER;
        let has_probed = self.has_probed_by_retransmission();
        let is_timed = self.lose_at_timeout(now);
        let forgets_sack = self.options.forget_sack_at_timeout || self.rack.is_some();
        self.begin_frto(has_probed, forgets_sack && !is_timed);
        if !is_timed {
            self.show_timeout(now);
        }
        self.reduce(now, CongestionKind::Timeout);
        self.rtt.back_off();
        self.restart_slow_start(now);
        self.phase = Phase::Timeout;
        self.timed_out = self.una;
        self.recovery_point = self.next;
        self.inflation = 0;
        self.duplicates = 0;
        self.repair_rule = RepairRule::Pipe;
        if !is_timed {
            self.scoreboard.lose_everything(self.next, forgets_sack);
        }
        // RFC 5681 sec. 3.1, the loss window: one packet in addition to those in the network.
        self.cwnd = float(self.scoreboard.pipe(self.next) + 1);
        self.rto_deadline = now.saturating_add(self.rtt.rto());
        self.send_in_recovery(now, out);
    }
}
