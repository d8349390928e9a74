//! The undo of a recovery that was not necessary: no packet was lost, and the network was late.
//!
//! A recovery is spurious if an ACK echoes a timestamp from before the first retransmission (Eifel
//! detection, RFC 3522), if the receiver reports each retransmission as a duplicate (RFC 3708), or
//! if after a timeout a packet arrives that was not sent again (F-RTO, RFC 5682 sec. 3). The window
//! then returns to what it was before, and packets that had been taken for lost are in the network.
//! Rules and their order are those of Linux (`tcp_fastretrans_alert`, `tcp_process_loss` in
//! `net/ipv4/tcp_input.c`), whose window returns at once; RFC 4015 lets it return by slow start.

use super::ack_news::AckNews;
use super::recovery::RepairRule;
use super::rtt::RttSamples;
use super::slow_start::SlowStart;
use super::{CongestionControl, Phase, Sender, TcpSpec};
use crate::congestion::WindowLaw;
use crate::congestion::rate_based::UndoEvent;
use crate::packet::Ack;
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Tick of timestamps where the scenario names none. Transmissions of one instant are recorded
/// picoseconds apart.
const FINE_TICK: Time = Time::from_picoseconds(1_000_000);

/// What a sender keeps to take a reduction back.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    /// Tick of the timestamps that the host sends; `None` if it sends none.
    tick: Option<Time>,
    has_frto: bool,
    /// While F-RTO is looking for original transmissions that arrive: those below this packet
    /// count.
    frto_below: Option<u64>,
    /// Retransmissions wait for the next ACK, which tells whether they are necessary.
    holds_back: bool,
    /// The last reduction; `None` if it was for a mark.
    episode: Option<Episode>,
}

/// A reduction of the window, and the recovery that it began.
#[derive(Clone, Debug)]
struct Episode {
    /// The first packet in flight at its beginning (Linux `undo_marker`).
    start: u64,
    /// What the sender returns to; `None` once a mark has shown congestion.
    before: Option<Before>,
    first_retransmission: Option<Time>,
    /// Retransmissions that the receiver has not reported as duplicates (Linux `undo_retrans`);
    /// `None` before the first retransmission.
    unreported: Option<u64>,
}

/// The sender before a reduction.
#[derive(Clone, Debug)]
struct Before {
    cwnd: f64,
    ssthresh: f64,
    /// The slow start, which a timeout replaces.
    slow_start: Option<SlowStart>,
}

/// What an ACK tells of a recovery.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
struct Evidence {
    phase: Phase,
    advances: bool,
    /// Everything that had been sent before the recovery is acknowledged.
    is_over: bool,
    /// The echoed timestamp is older than the first retransmission.
    is_delayed: bool,
    /// All retransmissions have arrived as duplicates.
    is_reported: bool,
    /// Packets that were not sent again have arrived; found by F-RTO only.
    has_original: bool,
    /// Packets sent after the timeout, or other packets behind a gap, have arrived.
    shows_gap: bool,
    /// New data have been sent since the timeout.
    has_sent_new: bool,
    has_retransmissions: bool,
}

/// How the sender answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The recovery goes on.
    Open,
    /// The recovery goes on, and only new data may leave until the next ACK.
    HoldBack,
    /// F-RTO sends new data to see whether old data arrive (RFC 5682 sec. 3.1, step 2b).
    TryNewData,
    /// F-RTO has seen that the loss was real (step 3a).
    EndFrto,
    /// The reduction is taken back. Packets marked lost are not lost, if it `unmarks` them.
    Undo { unmarks: bool },
}

impl Evidence {
    fn verdict(self, is_frto_on: bool) -> Verdict {
        match self.phase {
            Phase::Recovery => self.recovery_verdict(),
            // `tcp_try_undo_loss`
            Phase::Timeout if self.advances && (self.is_delayed || self.is_reported) => {
                Verdict::Undo { unmarks: true }
            }
            Phase::Timeout if is_frto_on => self.frto_verdict(),
            // `tcp_try_undo_dsack`, after the recovery
            Phase::Open if self.is_reported => Verdict::Undo { unmarks: false },
            Phase::Opening | Phase::Open | Phase::Timeout => Verdict::Open,
        }
    }

    /// Whether a packet was late that others have overtaken (Linux `tcp_try_undo_partial`).
    fn shows_reordering(self) -> bool {
        self.phase == Phase::Recovery && self.advances && self.is_delayed && !self.is_over
    }

    /// `tcp_try_undo_recovery`, `tcp_try_undo_partial` and `tcp_try_undo_dsack`
    fn recovery_verdict(self) -> Verdict {
        if self.shows_reordering() && self.has_retransmissions {
            Verdict::HoldBack
        } else if self.shows_reordering() {
            Verdict::Undo { unmarks: true }
        } else if self.is_reported || self.is_over && self.is_delayed {
            Verdict::Undo { unmarks: false }
        } else {
            Verdict::Open
        }
    }

    /// RFC 5682 sec. 3.1, with SACK.
    fn frto_verdict(self) -> Verdict {
        if self.has_original {
            Verdict::Undo { unmarks: true } // step 3b
        } else if self.has_sent_new {
            if self.shows_gap { Verdict::EndFrto } else { Verdict::Open }
        } else if self.advances && !self.is_over {
            Verdict::TryNewData
        } else {
            Verdict::Open
        }
    }
}

impl Undo {
    /// The state at the beginning of a connection; `None` if the host does not undo reductions.
    pub(super) fn new(spec: &TcpSpec) -> Option<Box<Self>> {
        let tick = spec.timestamp_tick.map_or(FINE_TICK, PositiveDuration::time);
        let has_timestamps = spec.rtt_samples == RttSamples::Timestamps;
        let undo = Undo {
            tick: has_timestamps.then_some(tick),
            has_frto: spec.frto && spec.recovery.has_sack(),
            frto_below: None,
            holds_back: false,
            episode: None,
        };
        spec.undo.then(|| Box::new(undo))
    }

    /// Packets that were sent from this time on have a later timestamp than `echo`.
    fn end_of_tick(&self, echo: Time) -> Time {
        match self.tick.map(Time::picoseconds) {
            None => Time::NEVER,
            Some(tick) => {
                Time::from_picoseconds((echo.picoseconds() / tick + 1).saturating_mul(tick))
            }
        }
    }

    /// Records a packet that is sent again.
    fn on_retransmission(&mut self, now: Time) {
        if let Some(episode) = &mut self.episode {
            episode.first_retransmission.get_or_insert(now);
            episode.unreported = Some(episode.unreported.unwrap_or(0) + 1);
        }
    }

    /// Whether retransmissions wait for the next ACK.
    pub(super) fn holds_back(&self) -> bool {
        self.holds_back
    }

    /// Begins F-RTO at a timeout, or ends it. The timer may expire again for the same packet, but
    /// packets that another recovery has sent again would not tell anything.
    fn on_timeout(&mut self, may_begin: bool, is_repeated: bool, below: u64) {
        let may_go_on = is_repeated && self.frto_below.is_some();
        self.frto_below =
            if self.has_frto && (may_begin || may_go_on) { Some(below) } else { None };
        self.holds_back = false;
    }

    /// Keeps the slow start that a timeout replaces.
    fn keep_slow_start(&mut self, slow_start: SlowStart) {
        if let Some(before) = self.episode.as_mut().and_then(|episode| episode.before.as_mut()) {
            before.slow_start.get_or_insert(slow_start);
        }
    }
}

impl Episode {
    /// Takes in the report of a packet that has arrived twice.
    fn on_duplicate(&mut self, duplicate: Option<u64>) {
        if let (Some(duplicate), Some(unreported)) = (duplicate, &mut self.unreported)
            && duplicate >= self.start
        {
            *unreported = unreported.saturating_sub(1);
        }
    }
}

impl Sender {
    /// Records the window before it is reduced for a loss or a timeout. If a mark has reduced it
    /// already (`is_marked`), the recovery may turn out to be spurious, but the window stays.
    pub(super) fn begin_undo(&mut self, is_marked: bool) {
        let Some(undo) = &mut self.undo else { return };
        let cwnd = match self.repair_rule {
            RepairRule::Prr(_) => self.ssthresh, // cwnd follows the pipe
            RepairRule::Pipe | RepairRule::CountedPipe(_) => self.cwnd,
        };
        let is_probing = self.rack.as_ref().is_some_and(|rack| rack.has_sent_again());
        let in_network = self.scoreboard.retransmitted() + u64::from(is_probing);
        // While retransmissions of an earlier recovery are in the network, the time of the first of
        // them counts. If it is not known, no timestamp tells anything.
        let follows = self.phase != Phase::Open || in_network > 0;
        let earlier = undo.episode.take().map(|episode| episode.first_retransmission);
        let first_retransmission = if follows { earlier.unwrap_or(Some(Time::ZERO)) } else { None };
        let before = Before { cwnd, ssthresh: self.ssthresh, slow_start: None };
        undo.episode = Some(Episode {
            start: self.una,
            before: (!is_marked).then_some(before),
            first_retransmission,
            unreported: (in_network > 0).then_some(in_network),
        });
        undo.holds_back = false;
    }

    /// The reduction that follows stands.
    pub(super) fn forget_undo(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.episode = None;
        }
    }

    /// Whether an ACK echoes the timestamp of a packet that left at `sent`, though others have left
    /// since (Linux `tcp_try_undo_spurious_syn`). Known to hosts that undo.
    pub(super) fn is_answer_to(&self, sent: Time, ack: Ack<'_>) -> bool {
        let undo = self.undo.as_ref().filter(|undo| undo.tick.is_some());
        undo.is_some_and(|undo| ack.echo < undo.end_of_tick(sent))
    }

    /// Records that a packet is sent again.
    pub(super) fn note_for_undo(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.on_retransmission(now);
        }
    }

    /// Begins a slow start after a timeout.
    pub(super) fn restart_slow_start(&mut self, now: Time) {
        let replaced = self.slow_start.replace_after_timeout(now, self.next);
        if let (Some(undo), Some(replaced)) = (&mut self.undo, replaced) {
            undo.keep_slow_start(replaced);
        }
    }

    /// Whether a probe has sent the last packet again.
    pub(super) fn has_probed_by_retransmission(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.has_sent_again())
    }

    /// Begins F-RTO at a timeout where it can tell something: not while packets of another recovery
    /// are in the network, nor if the sender `forgets_sack`. Packets that RACK does not miss yet,
    /// and the last one if a probe `has_probed` with it, may arrive although others are lost.
    pub(super) fn begin_frto(&mut self, has_probed: bool, forgets_sack: bool) {
        let is_repeated = self.is_timeout_repeated();
        let missed = if self.rack.is_some() { self.scoreboard.lost_edge() } else { self.next };
        let below = missed.min(self.next - u64::from(has_probed));
        let may_begin = self.phase == Phase::Open && !forgets_sack;
        if let Some(undo) = &mut self.undo {
            undo.on_timeout(may_begin, is_repeated && !forgets_sack, below);
        }
    }

    /// Tells RACK which timestamp an ACK echoes (RFC 8985 sec. 6.2, step 2).
    pub(super) fn note_echo(&mut self, now: Time, ack: Ack<'_>) {
        let is_cumulative = ack.cumulative > self.una;
        let rtt = if is_cumulative { self.timestamp_rtt(now, ack) } else { None };
        if let (Some(rack), Some(undo)) = (&mut self.rack, &self.undo) {
            rack.note_echo(undo.end_of_tick(ack.echo), rtt);
        }
    }

    /// Packets in flight whose first transmission F-RTO waits for.
    pub(super) fn awaited_originals(&self) -> u64 {
        if self.phase != Phase::Timeout {
            return 0;
        }
        let below = self.undo.as_ref().and_then(|undo| undo.frto_below);
        below.map_or(0, |below| self.scoreboard.not_sent_again(below))
    }

    /// Whether an ACK may tell that a recovery was spurious.
    #[inline]
    pub(super) fn may_be_undone(&self, ack: Ack<'_>) -> bool {
        (self.phase != Phase::Open || ack.duplicate.is_some()) && self.undo.is_some()
    }

    /// Takes the last reduction back if an ACK shows that it was spurious; otherwise decides
    /// whether retransmissions may follow. Called when the packets of the ACK are taken in.
    #[inline(never)]
    pub(super) fn judge(&mut self, now: Time, ack: Ack<'_>, news: AckNews) {
        let evidence = self.evidence(ack, news);
        let Some(undo) = &mut self.undo else { return };
        if self.phase != Phase::Timeout {
            undo.frto_below = None;
        }
        let Some(evidence) = evidence else {
            undo.holds_back = false;
            return;
        };
        let verdict = evidence.verdict(undo.frto_below.is_some());
        undo.holds_back = verdict == Verdict::HoldBack;
        if let Some(rack) = &mut self.rack
            && evidence.shows_reordering()
        {
            rack.note_reordering(self.una - news.acked);
        }
        match verdict {
            Verdict::Open | Verdict::HoldBack => {}
            Verdict::EndFrto => undo.frto_below = None,
            Verdict::TryNewData => self.try_new_data(now),
            Verdict::Undo { unmarks } => self.take_back(now, unmarks),
        }
    }

    /// Takes an ACK into the episode and sums up what is known; `None` without an episode.
    fn evidence(&mut self, ack: Ack<'_>, news: AckNews) -> Option<Evidence> {
        let has_original = self.awaited_originals() < news.awaited;
        let undo = self.undo.as_mut()?;
        let end_of_tick = undo.end_of_tick(ack.echo);
        let episode = undo.episode.as_mut()?;
        episode.on_duplicate(ack.duplicate);
        if news.is_marked {
            episode.before = None;
        }
        let has_timestamps = undo.tick.is_some();
        Some(Evidence {
            phase: self.phase,
            advances: news.acked > 0,
            is_over: self.una >= self.recovery_point,
            is_delayed: has_timestamps
                && episode.first_retransmission.is_none_or(|first| first >= end_of_tick),
            is_reported: episode.unreported == Some(0),
            has_original,
            shows_gap: news.acked == 0 || news.has_sacked,
            has_sent_new: self.next > self.recovery_point,
            has_retransmissions: self.scoreboard.retransmitted() > 0,
        })
    }

    /// RFC 5682 sec. 3.1, step 2b: if there are new data, they leave instead of retransmissions.
    fn try_new_data(&mut self, now: Time) {
        let has_new_data = self.has_new_data(now);
        if let Some(undo) = &mut self.undo {
            undo.holds_back = has_new_data;
            if !has_new_data {
                undo.frto_below = None;
            }
        }
    }

    /// Takes the last reduction back and ends the recovery (Linux `tcp_undo_cwnd_reduction`).
    fn take_back(&mut self, now: Time, unmarks: bool) {
        let Some(undo) = &mut self.undo else { return };
        undo.frto_below = None;
        let before = undo.episode.take().and_then(|episode| episode.before);
        self.probe.on_window(now, self.cwnd);
        self.probe.counters.undone += 1;
        if unmarks {
            self.take_for_delayed();
        }
        match before {
            Some(before) => self.restore(now, before),
            None if self.phase == Phase::Recovery && !self.is_rate_based() => {
                self.cwnd = self.ssthresh.min(self.max_window);
            }
            None => {}
        }
        if self.phase != Phase::Open {
            self.end_recovery();
        }
    }

    /// Packets that were marked lost are on the way.
    fn take_for_delayed(&mut self) {
        self.scoreboard.unmark_lost();
        if let Some(rack) = &mut self.rack {
            rack.forget_retransmissions();
        }
        if let CongestionControl::RateBased(rate_based) = &mut self.congestion_control {
            rate_based.unmark_lost();
        }
    }

    /// Returns to the window before the reduction, unless it has grown beyond since.
    fn restore(&mut self, now: Time, before: Before) {
        self.ecn.withdraw_reduction();
        match &mut self.congestion_control {
            CongestionControl::WindowLaw(law) => {
                law.on_undo();
                self.cwnd = self.cwnd.max(before.cwnd).min(self.max_window);
                self.ssthresh = self.ssthresh.max(before.ssthresh);
                if let Some(slow_start) = before.slow_start {
                    self.slow_start = slow_start;
                }
            }
            CongestionControl::RateBased(rate_based) => {
                let delivered = rate_based.delivered();
                let event = UndoEvent { now, cwnd_packets: self.cwnd, delivered };
                self.cwnd = rate_based.on_undo(&event).max(1.0).min(self.max_window);
            }
        }
    }

    fn end_recovery(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0;
        self.duplicates = 0;
        self.repair_rule = RepairRule::Pipe;
        // NewReno ignores the duplicate ACKs that unnecessary retransmissions cause.
        if self.is_sack {
            self.recovery_point = self.una;
        }
        if let Some(rack) = &mut self.rack {
            rack.look_again();
        }
    }
}
