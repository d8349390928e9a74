//! The TCP receiver: reassembly, delayed ACKs, SACK blocks and the echo of ECN marks.
//!
//! Sans I/O, like the sender: the caller passes packets and expired deadlines in, and the receiver
//! returns ACKs.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::{Ack, Ecn, MAX_SACK_BLOCKS, Packet, Range, SACK_BLOCKS_WITH_TIMESTAMPS};
use crate::quantity::PositiveDuration;
use crate::tcp::ranges::RangeList;
use crate::tcp::sack_compression::Compression;
use crate::units::Time;

/// Delayed acknowledgements: on, off, or with given limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(untagged, deny_unknown_fields)]
#[schemars(rename = "DelayedAckConfig")]
pub enum DelayedAck {
    /// `true`: at most 2 packets and 40 ms. `false`: one ACK per packet.
    Switch(bool),
    /// With given limits.
    Set {
        /// Largest number of in-order packets per ACK (default 2, RFC 5681 sec. 4.2).
        #[serde(default = "two")]
        #[schemars(range(min = 1, max = 65_536))]
        packets: u32,
        /// Largest time from the first unacknowledged packet to the ACK (default 40 ms, Linux).
        #[serde(default = "linux_delayed_ack")]
        timeout: PositiveDuration,
    },
}

impl Default for DelayedAck {
    fn default() -> Self {
        DelayedAck::OFF
    }
}

impl DelayedAck {
    /// One ACK per packet.
    pub const OFF: DelayedAck = DelayedAck::Switch(false);

    /// The largest number of packets per ACK and the largest delay of an ACK; `None` for one ACK
    /// per packet.
    pub fn rule(self) -> Option<(u32, Time)> {
        match self {
            DelayedAck::Switch(false) => None,
            DelayedAck::Switch(true) => Some((two(), linux_delayed_ack().time())),
            DelayedAck::Set { packets, timeout } => Some((packets, timeout.time())),
        }
    }
}

fn two() -> u32 {
    2
}

fn linux_delayed_ack() -> PositiveDuration {
    PositiveDuration::from_milliseconds(40)
}

/// The reception of packets in order: the part of a receiver that a connection without losses and
/// marks needs.
#[derive(Clone, Debug)]
pub struct InOrder {
    next: u64,
    ack_deadline: Time,
    echo: Time,
    /// Longest delay of an ACK.
    timeout: Time,
    /// Packets per ACK; 1 if none is delayed.
    packets_per_ack: u32,
    unacknowledged: u16,
    echoes_retransmission: bool,
    /// Whether packets carry timestamps.
    has_timestamps: bool,
    /// After so many milliseconds without a packet in order, ACKs are not delayed for a while; 0 for no such
    /// rule. Milliseconds, which Linux counts too, keep both fields in a word: a flow has five cache lines.
    gap_ms: u16,
    /// When the last packet arrived in order, for this rule.
    last_ms: u32,
}

impl InOrder {
    /// The time at which the delayed ACK is due; [`Time::NEVER`] if no ACK is delayed.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.ack_deadline
    }

    /// The next expected sequence number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether a delayed ACK would echo the timestamp of a retransmission.
    pub fn owes_retransmission_echo(&self) -> bool {
        self.unacknowledged > 0 && self.echoes_retransmission
    }

    /// Whether ACKs are not delayed after a gap.
    #[inline]
    pub fn minds_gaps(&self) -> bool {
        self.gap_ms > 0
    }

    /// Whether a packet that arrives at `now` comes after a gap.
    #[inline]
    pub fn is_after_gap(&self, now: Time) -> bool {
        self.gap_ms > 0 && milliseconds(now).wrapping_sub(self.last_ms) > u32::from(self.gap_ms)
    }

    /// A packet in order arrives at `now`.
    #[inline]
    pub fn note_arrival(&mut self, now: Time) {
        self.last_ms = milliseconds(now);
    }

    /// All packets below this number have been acknowledged.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.next - u64::from(self.unacknowledged)
    }

    /// Takes in the next packet, which was sent at `sent`; returns whether it is acknowledged at
    /// once, as it must be if `is_urgent`.
    #[expect(clippy::inline_always, reason = "two callers a packet")]
    #[inline(always)]
    pub fn on_next(
        &mut self,
        now: Time,
        sent: Time,
        is_retransmission: bool,
        is_urgent: bool,
    ) -> bool {
        self.next += 1;
        self.note_echo(sent, is_retransmission);
        let covered = u32::from(self.unacknowledged) + 1;
        if covered >= self.packets_per_ack || is_urgent {
            return true;
        }
        if covered == 1 {
            self.ack_deadline = now.saturating_add(self.timeout);
        }
        self.unacknowledged = covered as u16; // an ACK covers at most 65,536 packets
        false
    }

    /// RFC 7323 sec. 4.3: a delayed ACK echoes the timestamp of the first packet that it covers,
    /// so that the RTT sample includes the delay, and none echoes an older timestamp than before.
    #[inline]
    fn note_echo(&mut self, sent: Time, is_retransmission: bool) {
        if self.unacknowledged == 0 && !self.is_older(sent) {
            self.echo = sent;
            self.echoes_retransmission = is_retransmission;
        }
    }

    /// Whether packets carry timestamps, and that of a packet sent at `sent` is older than the one that
    /// ACKs echo (TS.Recent of RFC 7323).
    #[inline]
    pub fn is_older(&self, sent: Time) -> bool {
        sent < self.echo && self.has_timestamps
    }

    /// Sends an ACK, and returns the timestamp that it echoes.
    #[inline]
    pub fn acknowledge(&mut self) -> Time {
        self.unacknowledged = 0;
        self.ack_deadline = Time::NEVER;
        self.echo
    }
}

/// Whole milliseconds; the low bits of them are enough for their increase.
#[inline]
fn milliseconds(time: Time) -> u32 {
    (time.picoseconds() / 1_000_000_000) as u32
}

/// ACKs that a host which has quick ACKs does not delay from the first mark on that it echoes (Linux
/// `__tcp_ecn_check_ce`).
const QUICK_ACKS_AFTER_MARK: u32 = 2;

/// What a receiver does in addition to delayed ACKs and the echo of marks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Habits {
    /// Size of the packet that opens the connection; 0 if none does.
    pub opening_bytes: u32,
    /// Number of ACKs at the beginning that are not delayed.
    pub quick_acks: u32,
    /// As many are not delayed after a longer time without a packet, if there is such a rule.
    pub gap: Option<Time>,
    /// The RTT without queues if ACKs of packets behind a gap are compressed.
    pub compressed_rtt: Option<Time>,
    /// Whether ACKs report packets that arrive twice.
    pub reports_duplicates: bool,
    /// Whether packets carry timestamps (RFC 7323). Otherwise an ACK names the packet that it answers.
    pub has_timestamps: bool,
    /// Tick of the timestamps if packets are discarded that are late by more than one (RFC 7323 sec.
    /// 5).
    pub timestamp_tick: Option<Time>,
}

/// A TCP receiver; sequence numbers count packets.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of the received packets")]
pub struct Receiver {
    in_order: InOrder,
    /// RFC 3168 sec. 6.1.3: set by a mark, cleared when the sender reports a window reduction.
    ece: bool,
    /// Whether a marked packet has arrived since the last ACK.
    covers_mark: bool,
    /// Whether the previous packet was marked (accurate feedback), or the receiver still echoes a
    /// mark.
    is_echoing: bool,
    has_accurate_feedback: bool,
    acks_at_once: bool,
    /// Received ranges above `next`.
    ranges: RangeList,
    /// The most recently reported ranges, the latest first (RFC 2018 sec. 4); four, as in Linux
    /// (`tcp_sack_new_ofo_skb`), also where an ACK has room for three.
    recent: [Range; MAX_SACK_BLOCKS],
    recent_count: usize,
    /// Number of the first packet behind the data for which the application waits; [`u64::MAX`] if these have no
    /// end. The packet before it is acknowledged at once.
    end: u64,
    /// Size of the packet that opens the connection; 0 if none does. It carries no data, so no other
    /// packet is as small.
    opening_bytes: u32,
    /// Number of these packets, without duplicates.
    openings: u64,
    /// ACKs that are not delayed: at the beginning, and after a packet that had arrived before.
    quick_acks: u32,
    quick_acks_left: u32,
    compression: Option<Compression>,
    reports_duplicates: bool,
    /// A packet that has arrived twice, which the next ACK reports.
    duplicate: Option<u64>,
    duplicates: u64,
    /// All packets below are acknowledged (Last.ACK.sent of RFC 7323).
    last_ack: u64,
    timestamp_tick: Option<Time>,
    discarded: u64,
    /// Placed away from `echo`: if the two were adjacent, an ACK would copy both with one wide
    /// load, which would stall on the preceding store to `echo`.
    marked_packets: u64,
}

impl Receiver {
    /// Creates a receiver that expects packet 0 of `packets` ([`u64::MAX`] if unbounded). The last
    /// packet, which carries the FIN, is acknowledged at once, and with accurate feedback so is a
    /// packet whose marking differs from the packet before.
    pub fn new(delayed: DelayedAck, has_accurate_feedback: bool, packets: u64) -> Self {
        let (packets_per_ack, timeout) = delayed.rule().unwrap_or((1, Time::ZERO));
        Receiver {
            in_order: InOrder {
                next: 0,
                ack_deadline: Time::NEVER,
                echo: Time::ZERO,
                timeout,
                packets_per_ack,
                unacknowledged: 0,
                echoes_retransmission: false,
                has_timestamps: false,
                gap_ms: 0,
                last_ms: 0,
            },
            ece: false,
            covers_mark: false,
            marked_packets: 0,
            is_echoing: false,
            has_accurate_feedback,
            acks_at_once: false,
            ranges: RangeList::default(),
            recent: [Range::default(); MAX_SACK_BLOCKS],
            recent_count: 0,
            end: packets,
            opening_bytes: 0,
            openings: 0,
            quick_acks: 0,
            quick_acks_left: 0,
            compression: None,
            reports_duplicates: false,
            duplicate: None,
            duplicates: 0,
            last_ack: 0,
            timestamp_tick: None,
            discarded: 0,
        }
    }

    /// The same receiver with the habits of a host.
    #[must_use]
    pub fn with_habits(self, habits: Habits) -> Self {
        Receiver {
            opening_bytes: habits.opening_bytes,
            quick_acks: habits.quick_acks,
            quick_acks_left: habits.quick_acks,
            compression: habits.compressed_rtt.map(Compression::new),
            reports_duplicates: habits.reports_duplicates,
            timestamp_tick: habits.timestamp_tick,
            in_order: InOrder {
                has_timestamps: habits.has_timestamps,
                gap_ms: habits
                    .gap
                    .map_or(0, |gap| milliseconds(gap).clamp(1, u16::MAX.into()) as u16),
                ..self.in_order
            },
            ..self
        }
    }

    /// Memory of the received ranges, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.ranges.memory_bytes()
    }

    /// The time at which the delayed ACK is due; [`Time::NEVER`] if no ACK is delayed.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.in_order.ack_deadline
    }

    /// The next expected sequence number, which is the number of packets received in order.
    #[inline]
    pub fn next(&self) -> u64 {
        self.in_order.next
    }

    /// The packet before number `end` is the last of an object. It is acknowledged at once, since the application
    /// then has read all (Linux `tcp_cleanup_rbuf`, a segment with PSH).
    #[inline]
    pub fn expect_end(&mut self, end: u64) {
        self.end = end;
    }

    /// The reception in order, if the next packet, unmarked, changes nothing else: no packet is
    /// missing, and no mark is to be echoed.
    pub fn complete_reception(&self) -> Option<&InOrder> {
        let is_complete =
            self.ranges.is_empty() && self.recent_count == 0 && self.quick_acks_left == 0;
        let has_mark = self.ece || self.covers_mark || self.is_echoing || self.acks_at_once;
        // Karn's rule may not want the echo that a delayed ACK holds.
        let changes_nothing_else =
            is_complete && !has_mark && !self.in_order.owes_retransmission_echo();
        changes_nothing_else.then_some(&self.in_order)
    }

    /// Takes the reception in order back, after more packets in order.
    pub fn resume(&mut self, in_order: InOrder) {
        self.last_ack = in_order.acknowledged();
        self.in_order = in_order;
    }

    /// Number of marked packets that the receiver has reported.
    pub fn marked_packets(&self) -> u64 {
        self.marked_packets
    }

    /// Number of packets that arrived, with duplicates and those that were discarded.
    pub fn arrived(&self) -> u64 {
        let above_gap: u64 = self.ranges.iter().map(|range| range.len()).sum();
        self.openings + self.next() + above_gap + self.duplicates + self.discarded
    }

    /// Number of packets that arrived although they had arrived before.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Number of packets that arrived and were discarded because of an old timestamp.
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Handles a data packet and returns the ACK to send at once, if any.
    #[inline]
    pub fn on_packet(&mut self, now: Time, packet: Packet) -> Option<Ack<'_>> {
        if packet.bytes == self.opening_bytes {
            return Some(self.answer_opening(&packet));
        }
        if self.in_order.is_older(packet.sent) && self.is_too_late(packet.sent) {
            return Some(self.discard(packet.sequence));
        }
        if packet.ecn == Ecn::Ce || self.is_echoing {
            self.note_marks(packet.sequence, packet.ecn == Ecn::Ce, packet.is_cwr);
        }
        if packet.sequence == self.in_order.next && self.ranges.is_empty() {
            let Packet { sent, is_retransmission, .. } = packet;
            self.note_gap(now);
            let is_urgent =
                self.acks_at_once || self.quick_acks_left > 0 || packet.sequence + 1 == self.end;
            let is_acked = self.in_order.on_next(now, sent, is_retransmission, is_urgent);
            return is_acked.then(|| self.acknowledge());
        }
        let next = self.in_order.next;
        if packet.sequence == next {
            self.note_gap(now);
        }
        self.on_gap(packet.sequence);
        if self.is_for_echo(packet.sequence) {
            self.in_order.note_echo(packet.sent, packet.is_retransmission);
        }
        if self.is_held(now, next) { None } else { Some(self.acknowledge()) }
    }

    /// A packet in order arrives. After a long time the sender may have restarted with a small window, which
    /// ACKs that are not delayed let grow sooner (Linux `tcp_event_data_recv`).
    #[inline]
    fn note_gap(&mut self, now: Time) {
        if self.in_order.is_after_gap(now) {
            self.quick_acks_left = self.quick_acks_left.max(self.quick_acks);
        }
        self.in_order.note_arrival(now);
    }

    /// Whether the timestamp of a packet that comes while there is a gap, or before the next one expected,
    /// may be echoed: that of the first packet that has not been acknowledged, or of the one before
    /// (RFC 7323 sec. 4.3; Linux `tcp_sequence`, `tcp_replace_ts_recent`).
    fn is_for_echo(&self, sequence: u64) -> bool {
        let is_at_edge = sequence <= self.last_ack && sequence + 1 >= self.last_ack;
        is_at_edge || !self.in_order.has_timestamps
    }

    /// RFC 7323 sec. 5 (protection against wrapped sequence numbers): whether the timestamp of a packet is
    /// older than the one that ACKs echo by more than a tick (Linux `TCP_PAWS_WINDOW`).
    #[cold]
    fn is_too_late(&self, sent: Time) -> bool {
        let ticks = |time: Time, tick: Time| time.picoseconds() / tick.picoseconds();
        let is_late = |tick| ticks(sent, tick) + 1 < ticks(self.in_order.echo, tick);
        self.timestamp_tick.is_some_and(is_late)
    }

    /// Discards a packet, and acknowledges what has arrived (Linux `tcp_validate_incoming`).
    #[cold]
    fn discard(&mut self, sequence: u64) -> Ack<'_> {
        self.discarded += 1;
        if sequence < self.in_order.next {
            self.report_duplicate(sequence);
        }
        self.acknowledge()
    }

    /// Answers the packet that opens the connection.
    #[cold]
    fn answer_opening(&mut self, packet: &Packet) -> Ack<'_> {
        if self.openings == 0 {
            self.openings = 1;
        } else {
            self.duplicates += 1;
        }
        Ack {
            cumulative: self.in_order.next,
            echo: packet.sent,
            echoes_retransmission: packet.is_retransmission,
            ece: false,
            marked_packets: self.marked_packets,
            duplicate: None,
            blocks: &[],
        }
    }

    /// Whether the ACK of a packet waits that has left a gap at or behind `next`.
    #[inline]
    fn is_held(&mut self, now: Time, next: u64) -> bool {
        self.compression.is_some() && self.compresses(now, next)
    }

    #[inline(never)]
    fn compresses(&mut self, now: Time, next: u64) -> bool {
        let is_urgent = self.acks_at_once || self.quick_acks_left > 0 || self.duplicate.is_some();
        let Some(compression) = &mut self.compression else { return false };
        // A gap that is filled by more than one packet, or wholly, is acknowledged at once.
        let is_filled = self.ranges.is_empty() || self.in_order.next > next + 1;
        if is_urgent || is_filled || !compression.holds(self.in_order.next) {
            return false;
        }
        if self.in_order.ack_deadline == Time::NEVER {
            self.in_order.ack_deadline = now.saturating_add(compression.delay());
        }
        true
    }

    /// Updates the echo of marks (RFC 3168 sec. 6.1.3). With accurate feedback, requests an
    /// immediate ACK when marks begin and at every second mark (RFC 9768 sec. 3.2.2.5.1), and when
    /// marks end (RFC 8257 sec. 3.2).
    ///
    /// The arguments are the fields of the packet instead of a reference to it, since a reference
    /// would force every packet from registers into memory.
    #[inline(never)]
    fn note_marks(&mut self, sequence: u64, is_marked: bool, is_cwr: bool) {
        // RFC 3168 sec. 6.1.5: ignore the ECN field of a packet outside the window.
        if sequence < self.in_order.next {
            return;
        }
        if self.has_accurate_feedback {
            // Each change is acknowledged at once, so the packets that a delayed ACK covers are
            // all marked or all unmarked.
            let is_second_mark = is_marked && self.in_order.unacknowledged > 0;
            self.acks_at_once = is_marked != self.is_echoing || is_second_mark;
            self.marked_packets += u64::from(is_marked);
            self.is_echoing = is_marked;
        } else {
            let is_known = self.ece && !is_cwr;
            if is_marked && !is_known && self.quick_acks > 0 {
                self.quick_acks_left = self.quick_acks_left.max(QUICK_ACKS_AFTER_MARK);
            }
            self.ece = is_marked || is_known;
            self.covers_mark |= is_marked;
            self.is_echoing = self.ece;
        }
    }

    /// Returns the delayed ACK that is due.
    pub fn on_deadline(&mut self) -> Ack<'_> {
        self.acknowledge()
    }

    #[inline]
    fn acknowledge(&mut self) -> Ack<'_> {
        let echo = self.in_order.acknowledge();
        self.acks_at_once = false;
        self.last_ack = self.in_order.next;
        self.quick_acks_left = self.quick_acks_left.saturating_sub(1);
        if let Some(compression) = &mut self.compression {
            compression.on_ack();
        }
        let covers_mark = std::mem::take(&mut self.covers_mark);
        let duplicate = self.duplicate.take();
        let room = if self.in_order.has_timestamps {
            SACK_BLOCKS_WITH_TIMESTAMPS
        } else {
            MAX_SACK_BLOCKS
        };
        let most = room - usize::from(duplicate.is_some()); // which is a block (RFC 2883 sec. 4)
        Ack {
            cumulative: self.in_order.next,
            echo,
            echoes_retransmission: self.in_order.echoes_retransmission,
            ece: self.ece || covers_mark,
            marked_packets: self.marked_packets,
            duplicate,
            blocks: &self.recent[..self.recent_count.min(most)],
        }
    }

    /// Handles a packet that arrives while there is a gap, or that creates or fills a gap. Such
    /// packets are acknowledged at once (RFC 5681 sec. 4.2).
    #[inline(never)]
    fn on_gap(&mut self, sequence: u64) {
        if sequence < self.in_order.next {
            self.note_duplicate(sequence);
            return;
        }
        if sequence == self.in_order.next {
            self.in_order.next += 1;
            if let Some(&mut first) = self.ranges.first_mut()
                && first.start == self.in_order.next
            {
                self.in_order.next = first.end;
                self.ranges.remove_first();
                self.forget_recent(Range { start: 0, end: self.in_order.next });
            }
        } else {
            let block = self.insert(sequence);
            // Fast path: the packet extends only the range that was reported last.
            let lengthens_latest = self.recent_count > 0 && self.recent[0].end == sequence;
            if lengthens_latest && block.end == sequence + 1 {
                self.recent[0] = block;
            } else {
                self.report(block);
            }
        }
    }

    /// Adds `sequence` to the ranges and returns the range that contains it.
    #[inline]
    fn insert(&mut self, sequence: u64) -> Range {
        let packet = Range { start: sequence, end: sequence + 1 };
        match self.ranges.last_mut() {
            Some(last) if last.end == sequence => {
                last.end += 1;
                *last
            }
            Some(last) if last.end > sequence => self.insert_among(packet),
            Some(_) | None => {
                self.ranges.push(packet);
                packet
            }
        }
    }

    /// Adds a packet below the end of the last range, and joins the ranges that it touches.
    fn insert_among(&mut self, packet: Range) -> Range {
        let from = self.ranges.count_before(packet.start);
        let (mut joined, mut to) = (packet, from);
        while let Some(&range) = self.ranges.get(to)
            && range.start <= packet.end
        {
            joined.start = joined.start.min(range.start);
            joined.end = joined.end.max(range.end);
            to += 1;
        }
        if from == to {
            self.ranges.insert(from, packet);
        } else if self.ranges.get(from) == Some(&joined) {
            self.note_duplicate(packet.start);
        } else {
            self.ranges.replace(from, to, joined);
        }
        joined
    }

    /// A packet has arrived that had arrived before.
    #[cold]
    fn note_duplicate(&mut self, sequence: u64) {
        self.duplicates += 1;
        self.report_duplicate(sequence);
    }

    /// Reports an old packet in the next ACK. Linux acknowledges the next packets at once too
    /// (`tcp_send_dupack`).
    fn report_duplicate(&mut self, sequence: u64) {
        if self.reports_duplicates {
            self.duplicate = Some(sequence);
        }
        self.quick_acks_left = self.quick_acks;
    }

    /// Puts `block` first in the recent ranges and removes the ranges that it contains.
    fn report(&mut self, block: Range) {
        if let Some(compression) = &mut self.compression {
            compression.on_range();
        }
        self.forget_recent(block);
        self.recent.rotate_right(1);
        self.recent[0] = block;
        self.recent_count = (self.recent_count + 1).min(MAX_SACK_BLOCKS);
    }

    /// Removes the recent ranges that lie inside `covered`.
    fn forget_recent(&mut self, covered: Range) {
        let mut kept = 0;
        for index in 0..self.recent_count {
            let range = self.recent[index];
            if !(covered.start <= range.start && range.end <= covered.end) {
                self.recent[kept] = range;
                kept += 1;
            }
        }
        self.recent_count = kept;
    }
}

#[cfg(test)]
mod tests;
