//! RACK-TLP (RFC 8985): finds losses by the times at which packets were sent.
//!
//! A packet is lost if a packet that was sent later has arrived and a reordering window has passed
//! since. The rule holds for retransmissions too, so a lost retransmission is noticed after a round
//! trip. Where nothing arrives any more, a probe asks for an ACK (tail loss probe).
//!
//! Packets in flight have a record each. First transmissions leave in the order of their sequence
//! numbers; retransmissions are listed in the order in which they left. So both orders are known
//! without sorting. Each record is looked at once, when a packet arrives that left later; if it has not
//! arrived then, it is one of the `Suspects`, and detection looks at both ends of these.

use std::collections::VecDeque;

use super::flight::Flight;
use super::scoreboard::{DUPLICATE_THRESHOLD, Scoreboard};
use super::suspects::{Suspects, Transmission};
use crate::packet::Range;
use crate::units::Time;

/// Recoveries without a duplicate after which the reordering window is small again (sec. 6.2 step 4).
const RECOVERIES_WITHOUT_DUPLICATE: u32 = 16;
/// Differences of RTTs below it mean nothing: packets of one instant are recorded picoseconds apart.
/// Linux compares microseconds (`tcp_rack_advance`).
const CLOCK_UNIT: Time = Time::from_picoseconds(1_000_000);
/// Bits of a record that are not its time, which is below 2^62 ps.
const RETRANSMITTED: u64 = 1 << 63;
const DELIVERED: u64 = 1 << 62;

/// When a packet in flight was sent last, and whether it has been retransmitted or has arrived.
#[derive(Clone, Copy, Debug)]
struct Record(u64);

impl Record {
    fn new(sent: Time, is_retransmission: bool) -> Self {
        Record(sent.picoseconds() | if is_retransmission { RETRANSMITTED } else { 0 })
    }

    #[inline]
    fn sent(self) -> Time {
        Time::from_picoseconds(self.0 & !(RETRANSMITTED | DELIVERED))
    }

    fn is_retransmitted(self) -> bool {
        self.0 & RETRANSMITTED != 0
    }

    #[inline]
    fn is_delivered(self) -> bool {
        self.0 & DELIVERED != 0
    }
}

/// A tail loss probe that has not been acknowledged (RFC 8985 sec. 7).
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// The first packet that had not been sent after the probe (`TLP.end_seq`).
    end: u64,
    is_retransmission: bool,
}

/// What an ACK tells of a probe (RFC 8985 sec. 7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// Nothing yet, or there is no probe.
    Open,
    /// The probe was new data, or an unnecessary retransmission.
    NothingLost,
    /// The probe has repaired a loss, which has to be answered.
    Repaired,
}

/// What the reordering window depends on apart from the state of RACK.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Whether a recovery is in progress.
    pub is_recovering: bool,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Time,
}

/// The state of RACK-TLP of a sender.
#[derive(Clone, Debug)]
pub struct Rack {
    records: Flight<Record>,
    /// Packets that were sent once, that left before `newest` and are not marked lost.
    first: Suspects,
    /// All records below have been looked at for suspects.
    looked_at: u64,
    /// The lost edge then.
    edge: u64,
    /// Retransmissions that left before `newest`.
    again: Suspects,
    /// Later retransmissions, in the order in which they left. Some have arrived.
    retransmissions: VecDeque<Transmission>,
    /// When the last packet left. No two packets leave at the same time: where they would, they are
    /// put a picosecond apart, so that times alone tell which one left later (`RACK_sent_after`).
    last_sent: Time,
    /// When the packet left that left last of those delivered (`RACK.xmit_ts`).
    newest: Time,
    /// The RTT of the packet delivered last (`RACK.rtt`).
    rtt: Time,
    /// The smallest RTT: of packets that were sent once, of the handshake, and by the timestamps of ACKs that
    /// acknowledge none of these (`RACK.min_RTT`; Linux `tcp_min_rtt`, `tcp_ack_update_rtt`).
    min_rtt: Time,
    /// The RTT by the timestamp of this ACK while no packet that was sent once tells it; [`Time::NEVER`] if there
    /// is none.
    echo_rtt: Time,
    /// A retransmission from this time on has not been acknowledged: the ACK echoes an older
    /// timestamp.
    echo_end: Time,
    /// Whether a packet has been delivered since losses were last looked for.
    has_advanced: bool,
    /// One more than the highest packet delivered (`RACK.fack`).
    delivered_end: u64,
    is_reordering_seen: bool,
    /// The lowest packet that this ACK has delivered late; [`u64::MAX`] if there is none.
    late: u64,
    /// Whether a packet was overtaken by one that is `DUPLICATE_THRESHOLD` or more packets ahead
    /// (Linux `tp->reordering`).
    is_reordering_high: bool,
    /// Quarters of the smallest RTT in the reordering window (`RACK.reo_wnd_mult`).
    window_quarters: u32,
    /// Recoveries until the window is one quarter again (`RACK.reo_wnd_persist`).
    recoveries_left: u32,
    /// Until this packet is acknowledged, duplicates do not widen the window again
    /// (`RACK.dsack_round`).
    duplicate_round: Option<u64>,
    probe: Option<Probe>,
    timer_margin: Time,
    /// Number of records and suspects that were looked at.
    #[cfg(test)]
    looks: u64,
}

impl Rack {
    /// The state of a sender that has sent nothing, whose timers wait `timer_margin` longer than RFC
    /// 8985 says.
    pub fn new(timer_margin: Time) -> Self {
        Rack {
            records: Flight::default(),
            first: Suspects::default(),
            looked_at: 0,
            edge: 0,
            again: Suspects::default(),
            retransmissions: VecDeque::new(),
            last_sent: Time::ZERO,
            newest: Time::ZERO,
            rtt: Time::ZERO,
            min_rtt: Time::NEVER,
            echo_rtt: Time::NEVER,
            echo_end: Time::NEVER,
            has_advanced: false,
            delivered_end: 0,
            is_reordering_seen: false,
            late: u64::MAX,
            is_reordering_high: false,
            window_quarters: 1,
            recoveries_left: RECOVERIES_WITHOUT_DUPLICATE,
            duplicate_round: None,
            probe: None,
            timer_margin,
            #[cfg(test)]
            looks: 0,
        }
    }

    /// How much longer the timers wait than RFC 8985 says.
    #[inline]
    pub fn timer_margin(&self) -> Time {
        self.timer_margin
    }

    /// When the first packet in flight left last; `None` if no packet is in flight.
    pub fn first_sent(&self) -> Option<Time> {
        self.records.get(self.records.una()).map(Record::sent)
    }

    /// Memory of the records, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let retransmissions = self.retransmissions.capacity() * size_of::<Transmission>();
        let suspects = self.first.memory_bytes() + self.again.memory_bytes();
        self.records.memory_bytes() + retransmissions as u64 + suspects
    }

    /// Records that the next packet leaves at `now`.
    #[inline]
    pub fn on_new_sent(&mut self, now: Time) {
        let sent = self.departure(now);
        self.records.push(Record::new(sent, false));
    }

    /// When a packet counts as sent that leaves at `now`.
    #[inline]
    fn departure(&mut self, now: Time) -> Time {
        self.last_sent = now.max(self.last_sent + Time::from_picoseconds(1));
        self.last_sent
    }

    /// Records a packet that leaves at `now`. Packets below `lost_edge` are lost.
    pub fn on_sent(&mut self, now: Time, sequence: u64, is_retransmission: bool, lost_edge: u64) {
        let sent = self.departure(now);
        self.records.put(sequence, Record::new(sent, is_retransmission));
        if is_retransmission && sequence < lost_edge {
            self.retransmissions.push_back((sent, sequence));
        } else if is_retransmission {
            // A probe sends the highest packet again, which stays the last in the order of sequence
            // numbers.
            self.first.truncate(sequence);
            self.looked_at = self.looked_at.min(sequence);
        }
    }

    /// Takes in the packets below the new cumulative ACK, `una`.
    #[inline]
    pub fn on_acked(&mut self, now: Time, una: u64) {
        if self.delivered_end <= self.records.una()
            && let Some(last) = self.records.advance_unchanged(una)
        {
            self.deliver_in_order(now, una, last);
        } else {
            self.deliver_each(now, una);
        }
    }

    #[inline(never)]
    fn deliver_each(&mut self, now: Time, una: u64) {
        while self.records.una() < una {
            let sequence = self.records.una();
            if let Some(record) = self.records.pop()
                && !record.is_delivered()
            {
                self.deliver(now, sequence, record);
            }
        }
    }

    /// Does what [`Rack::deliver`] does with the packets below `una`, all of which were sent once and arrive
    /// in order: the last one left last.
    #[inline]
    fn deliver_in_order(&mut self, now: Time, una: u64, last: Record) {
        self.delivered_end = una;
        self.rtt = now.since(last.sent());
        self.min_rtt = self.min_rtt.min(self.rtt);
        self.echo_rtt = Time::NEVER;
        self.has_advanced = true;
        self.newest = self.newest.max(last.sent());
    }

    /// Takes in newly sacked packets. The timestamp of the ACK says nothing of them (RFC 7323
    /// sec. 4.3).
    pub fn on_sacked(&mut self, now: Time, packets: Range) {
        self.echo_end = Time::NEVER;
        for sequence in packets.start.max(self.records.una())..packets.end {
            let Some(record) = self.records.get_mut(sequence) else { return };
            if !record.is_delivered() {
                record.0 |= DELIVERED;
                let record = *record;
                self.deliver(now, sequence, record);
            }
        }
    }

    /// The last of these sacked packets that was sent once, and its RTT (Linux `tcp_sacktag_one`,
    /// `last_sackt`).
    pub fn rtt_of_sacked(&self, now: Time, packets: Range) -> Option<(u64, Time)> {
        let sent_once = |sequence: u64| {
            let record = self.records.get(sequence)?;
            (!record.is_retransmitted()).then(|| (sequence, now.since(record.sent())))
        };
        (packets.start..packets.end).rev().find_map(sent_once)
    }

    /// RFC 8985 sec. 6.2, steps 2 and 3.
    #[inline]
    fn deliver(&mut self, now: Time, sequence: u64, record: Record) {
        if sequence >= self.delivered_end {
            self.delivered_end = sequence + 1;
        } else if !record.is_retransmitted() {
            self.note_reordering(sequence);
        }
        let rtt = now.since(record.sent());
        if !record.is_retransmitted() {
            self.min_rtt = self.min_rtt.min(rtt);
            self.echo_rtt = Time::NEVER;
        } else if self.is_of_first(record, rtt) {
            return; // the first transmission has arrived, and the other one is on the way
        }
        self.rtt = rtt;
        self.has_advanced = true;
        self.newest = self.newest.max(record.sent());
    }

    /// Whether the timestamp or the RTT shows that an ACK acknowledges the first transmission of a
    /// packet that has been sent again.
    fn is_of_first(&self, record: Record, rtt: Time) -> bool {
        let is_too_short = rtt + CLOCK_UNIT < self.min_rtt && self.min_rtt != Time::NEVER;
        record.sent() >= self.echo_end || is_too_short
    }

    /// The handshake has measured an RTT. Without it, a flow whose first packets all met a queue would
    /// take the answers to its retransmissions, which meet none, for answers to the first transmissions.
    pub fn know_rtt(&mut self, rtt: Time) {
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// Takes in the timestamp that an ACK echoes: packets from `echo_end` on were sent after it. `rtt` is the
    /// time since then, if the ACK is cumulative.
    pub fn note_echo(&mut self, echo_end: Time, rtt: Option<Time>) {
        self.echo_end = echo_end;
        self.echo_rtt = rtt.unwrap_or(Time::NEVER);
    }

    /// All packets of an ACK are taken in.
    fn end_ack(&mut self) {
        self.min_rtt = self.min_rtt.min(self.echo_rtt);
        self.echo_rtt = Time::NEVER;
    }

    /// A packet was late: others have overtaken it.
    pub fn note_reordering(&mut self, sequence: u64) {
        self.is_reordering_seen = true;
        self.late = self.late.min(sequence);
    }

    /// How far packets were overtaken that an ACK has delivered, all of which are taken in (Linux
    /// `tcp_check_sack_reordering`).
    fn measure_reordering(&mut self) {
        let late = std::mem::replace(&mut self.late, u64::MAX);
        self.is_reordering_high |= self.delivered_end.saturating_sub(late) > DUPLICATE_THRESHOLD;
    }

    /// Whether packets are overtaken by so many that their order says little.
    pub fn is_reordering_high(&self) -> bool {
        self.is_reordering_high
    }

    /// The timer has expired although many packets had arrived: they were not late (Linux
    /// `tcp_enter_loss`).
    pub fn doubt_reordering(&mut self) {
        self.is_reordering_high = false;
    }

    /// Whether a packet in flight was sent again and has arrived.
    fn is_repaired(&self, sequence: u64) -> bool {
        let record = self.records.get(sequence);
        record.is_some_and(|record| record.is_retransmitted() && record.is_delivered())
    }

    /// Adapts the reordering window to a duplicate that the receiver has reported (sec. 6.2 step 4):
    /// not while no packets have changed their order, nor to that of a probe, which a timer has sent
    /// (Linux `tcp_dsack_seen`). A packet that was sent again behind a gap and came twice was overtaken
    /// (`tcp_sacktag_one`).
    pub fn note_duplicate(&mut self, duplicate: Option<u64>, una: u64, next: u64) {
        if let Some(duplicate) = duplicate
            && duplicate + 1 < self.delivered_end
            && self.is_repaired(duplicate)
        {
            self.note_reordering(duplicate);
        }
        if self.duplicate_round.is_some_and(|round| una >= round) {
            self.duplicate_round = None;
        }
        let probed = self.probe.filter(|probe| probe.is_retransmission).map(|probe| probe.end - 1);
        let is_telling = duplicate.is_some() && duplicate != probed && self.is_reordering_seen;
        if is_telling && self.duplicate_round.is_none() {
            self.duplicate_round = Some(next);
            self.window_quarters = self.window_quarters.saturating_add(1);
            self.recoveries_left = RECOVERIES_WITHOUT_DUPLICATE;
        }
    }

    /// Records the end of a recovery (sec. 6.2 step 4).
    pub fn on_recovered(&mut self) {
        self.recoveries_left = self.recoveries_left.saturating_sub(1);
        if self.recoveries_left == 0 {
            self.window_quarters = 1;
        }
    }

    /// `RACK_update_reo_wnd` (sec. 6.2 step 4).
    fn reordering_window(&self, path: Path, sacked: u64) -> Time {
        let is_proven = path.is_recovering || sacked >= DUPLICATE_THRESHOLD;
        if is_proven && !self.is_reordering_seen {
            return Time::ZERO;
        }
        if self.min_rtt == Time::NEVER {
            return Time::ZERO;
        }
        let quarter = self.min_rtt.picoseconds() / 4;
        let window = Time::from_picoseconds(quarter.saturating_mul(self.window_quarters.into()));
        if path.srtt == Time::ZERO { window } else { window.min(path.srtt) }
    }

    /// Does what [`detect`](Rack::detect) does after an ACK; `None` if it has delivered no packet.
    pub fn detect_after_ack(
        &mut self,
        now: Time,
        path: Path,
        board: &mut Scoreboard,
        on_lost_again: impl FnMut(u64),
    ) -> Option<Time> {
        self.measure_reordering();
        self.end_ack();
        let has_advanced = std::mem::take(&mut self.has_advanced);
        has_advanced.then(|| self.detect(now, path, board, on_lost_again))
    }

    /// `RACK_detect_loss` (sec. 6.2 step 5): marks the packets lost that were sent long enough before
    /// a packet that has arrived, and shows `on_lost_again` each of them that was a retransmission.
    /// Returns the time at which the reordering window of the others has passed; [`Time::NEVER`] if
    /// there are none.
    pub fn detect(
        &mut self,
        now: Time,
        path: Path,
        board: &mut Scoreboard,
        mut on_lost_again: impl FnMut(u64),
    ) -> Time {
        let patience = self.rtt.saturating_add(self.reordering_window(path, board.sacked()));
        let first_wait = self.lose_first_transmissions(now, patience, board);
        let again_wait = self.lose_retransmissions(now, patience, board, &mut on_lost_again);
        first_wait.max(again_wait).unwrap_or(Time::NEVER)
    }

    /// Marks the packets lost that were sent once and longer than `patience` ago. Returns when the last
    /// of the others that were sent before the newest one delivered will be lost.
    fn lose_first_transmissions(
        &mut self,
        now: Time,
        patience: Time,
        board: &mut Scoreboard,
    ) -> Option<Time> {
        self.find_suspects(board.lost_edge().max(self.records.una()));
        let Rack { first, records, edge, .. } = self;
        let is_settled = |sequence: u64| sequence < *edge || has_arrived(records, sequence);
        let mut lost = *edge;
        while let Some((sent, sequence)) = first.first(is_settled)
            && sent.saturating_add(patience) <= now
        {
            lost = sequence + 1;
            first.pop_first();
        }
        let newest = first.last(is_settled);
        board.raise_lost_edge(lost);
        self.edge = lost;
        newest.map(|(sent, _)| sent.saturating_add(patience))
    }

    /// Looks at the records from the lost edge on that left before the newest one delivered, unless they
    /// have been looked at since the edge was there.
    fn find_suspects(&mut self, edge: u64) {
        if edge < self.edge {
            // Packets that were marked lost are on the way.
            self.first.clear();
            self.looked_at = edge;
        }
        self.edge = edge;
        self.looked_at = self.looked_at.max(edge);
        while let Some(record) = self.records.get(self.looked_at)
            && record.sent() < self.newest
        {
            #[cfg(test)]
            (self.looks += 1);
            self.first.cap(record.sent());
            if !record.is_delivered() {
                self.first.push(record.sent(), self.looked_at);
            }
            self.looked_at += 1;
        }
    }

    /// Marks the retransmissions lost that left longer than `patience` ago, and shows each to
    /// `on_lost_again`. Returns when the last of the others that left before the newest packet delivered
    /// will be lost.
    fn lose_retransmissions(
        &mut self,
        now: Time,
        patience: Time,
        board: &mut Scoreboard,
        on_lost_again: &mut impl FnMut(u64),
    ) -> Option<Time> {
        while let Some(&(sent, sequence)) = self.retransmissions.front()
            && sent < self.newest
        {
            #[cfg(test)]
            (self.looks += 1);
            self.retransmissions.pop_front();
            self.again.push(sent, sequence);
        }
        let Rack { again, records, .. } = self;
        let has_arrived = |sequence| has_arrived(records, sequence);
        while let Some((sent, sequence)) = again.first(has_arrived)
            && sent.saturating_add(patience) <= now
        {
            again.pop_first();
            board.lose_again(sequence);
            on_lost_again(sequence);
        }
        let last = again.last(has_arrived);
        last.map(|(sent, _)| sent.saturating_add(patience))
    }

    /// After a timeout: marks the first packet in flight lost, and all that were sent longer ago than
    /// an RTT and the reordering window (sec. 6.3). Shows `on_lost_again` those that were
    /// retransmissions.
    pub fn lose_at_timeout(
        &mut self,
        now: Time,
        path: Path,
        board: &mut Scoreboard,
        mut on_lost_again: impl FnMut(u64),
    ) {
        self.probe = None;
        let patience = self.rtt.saturating_add(self.reordering_window(path, board.sacked()));
        let is_expired = |sent: Time| sent.saturating_add(patience) <= now;
        let una = self.records.una();
        if board.is_first_repaired() {
            self.again.remove(una);
            self.retransmissions.retain(|&(_, sequence)| sequence != una);
            board.lose_again(una);
            on_lost_again(una);
        }
        let Rack { again, retransmissions, records, .. } = self;
        let has_arrived = |sequence| has_arrived(records, sequence);
        while let Some((sent, sequence)) = again.first(has_arrived)
            && is_expired(sent)
        {
            again.pop_first();
            board.lose_again(sequence);
            on_lost_again(sequence);
        }
        while let Some(&(sent, sequence)) = retransmissions.front()
            && (has_arrived(sequence) || is_expired(sent))
        {
            retransmissions.pop_front();
            if !has_arrived(sequence) {
                board.lose_again(sequence);
                on_lost_again(sequence);
            }
        }
        let edge = board.lost_edge().max(una);
        let unexpired = self.records.records_from(edge);
        let expired = unexpired.take_while(|(_, record)| is_expired(record.sent())).count() as u64;
        board.raise_lost_edge((edge + expired).max(una + 1));
    }

    /// The receiver has dropped packets that it had reported.
    pub fn forget_arrivals(&mut self) {
        self.forget_retransmissions();
        self.first.clear();
        self.looked_at = self.records.una();
        self.probe = None;
        self.records.change_all(|record| record.0 &= !DELIVERED);
    }

    /// Packets that were marked lost are on the way.
    pub fn forget_retransmissions(&mut self) {
        self.again.clear();
        self.retransmissions.clear();
    }

    /// Looks for losses at the next ACK whatever it delivers, after a recovery has been undone.
    pub fn look_again(&mut self) {
        self.has_advanced = true;
    }

    // Tail loss probes, RFC 8985 sec. 7.

    /// Whether a probe has not been acknowledged yet.
    pub fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// Whether a probe has sent the last packet again, and has not been acknowledged.
    pub fn has_sent_again(&self) -> bool {
        self.probe.is_some_and(|probe| probe.is_retransmission)
    }

    /// Records a probe; `next` is the first packet that has not been sent after it.
    pub fn on_probe(&mut self, next: u64, is_retransmission: bool) {
        self.probe = Some(Probe { end: next, is_retransmission });
    }

    /// Forgets the probe: a recovery answers the losses.
    pub fn forget_probe(&mut self) {
        self.probe = None;
    }

    /// `TLP_process_ack` (sec. 7.4.2) for an ACK that has moved the cumulative ACK to `una` and may
    /// report the arrival of a `duplicate`.
    pub fn note_probe(&mut self, una: u64, duplicate: Option<u64>) -> ProbeOutcome {
        let Some(probe) = self.probe.filter(|probe| una >= probe.end) else {
            return ProbeOutcome::Open;
        };
        let outcome = if !probe.is_retransmission || duplicate == Some(probe.end - 1) {
            ProbeOutcome::NothingLost
        } else if una > probe.end {
            ProbeOutcome::Repaired
        } else {
            return ProbeOutcome::Open;
        };
        self.probe = None;
        outcome
    }
}

/// Whether a packet has arrived.
fn has_arrived(records: &Flight<Record>, sequence: u64) -> bool {
    records.get(sequence).is_none_or(Record::is_delivered)
}

#[cfg(test)]
mod tests;
