//! The fast path of a sender: every ACK acknowledges new data, and nothing is lost, marked or due.

use super::rtt::RttEstimator;
use super::{CongestionControl, Phase, Sender};
use crate::congestion::growth::GrowthCell;
use crate::congestion::{AnyWindowLaw, WindowLaw};
use crate::packet::{Ecn, Packet};
use crate::probe::flow::WindowArea;
use crate::units::{Time, float};

/// The part of a sender that changes on the fast path. Its methods do what [`Sender::on_ack`] does
/// where the conditions of [`Sender::fast_path`] hold.
#[derive(Clone, Debug)]
#[repr(C)] // in the order of use
pub(in crate::tcp) struct FastSender {
    una: u64,
    next: u64,
    cwnd: f64,
    max_window: f64,
    rto_deadline: Time,
    /// The time at which the application stops to offer data.
    stop: Time,
    /// Before an ACK at or after this time is taken in, the flow records its state.
    checkpoint: Time,
    /// The number of the last packet, which may be short, and ends the fast path.
    last_packet: u64,
    packet_bytes: u32,
    ecn: Ecn,
    growth: GrowthCell,
    area: WindowArea,
    rtt_sum: u128,
    rtt_count: u64,
    last_sent: Time,
    rtt: RttEstimator,
}

impl Sender {
    /// The fast path, if the sender meets its conditions at `now`: packets are in flight and none is
    /// to be repaired, no mark is to be answered or reported (the receiver has counted
    /// `marked_packets`), and the window alone decides when more data leave, or all data are sent.
    pub(in crate::tcp) fn fast_path(&self, now: Time, marked_packets: u64) -> Option<FastSender> {
        let ecn = self.ecn.settled_codepoint(marked_packets)?;
        let stop = self.send_queue.stop.min(Time::AFTER_ALL_RUNS);
        let is_predictable = self.may_be_predicted()
            && self.scoreboard.is_clear()
            && self.duplicates == 0
            && self.next > self.una
            && (self.is_window_limited && self.next < self.send_queue.packets || self.is_drained())
            && now < stop
            && self.release_at == Time::NEVER
            && self.is_clocked_by_acks();
        is_predictable.then(|| FastSender {
            una: self.una,
            next: self.next,
            cwnd: self.cwnd,
            max_window: self.max_window,
            rto_deadline: self.rto_deadline,
            stop,
            checkpoint: self.probe.next_checkpoint(),
            last_packet: self.send_queue.packets - 1,
            packet_bytes: self.send_queue.packet_bytes,
            ecn,
            growth: self.growth(),
            area: self.probe.window_area,
            rtt_sum: 0,
            rtt_count: 0,
            last_sent: self.last_sent,
            rtt: self.rtt.clone(),
        })
    }

    /// Whether the sender meets the two conditions of [`Sender::fast_path`] that fail most often.
    #[inline]
    pub(crate) fn may_be_predicted(&self) -> bool {
        self.phase == Phase::Open && !self.options.is_paced_by_control
    }

    /// Whether all data are sent and the window has room, so that nothing but the packets in flight
    /// remains. The window does not grow then.
    fn is_drained(&self) -> bool {
        self.next == self.send_queue.packets
            && !self.is_window_limited
            && !self.options.sees_every_ack
            && float(self.next - self.una + 1) <= self.cwnd
    }

    /// Whether the window alone decides when packets leave, by a law of the registry.
    fn is_clocked_by_acks(&self) -> bool {
        let has_window_law = match &self.congestion_control {
            CongestionControl::WindowLaw(law) => !matches!(law, AnyWindowLaw::Custom(_)),
            CongestionControl::RateBased(_) => false,
        };
        has_window_law
            && self.options.send_burst <= 1
            && !self.pacer.is_on()
            && self.objects.is_none()
    }

    /// How the window grows while the law need not be asked.
    fn growth(&self) -> GrowthCell {
        match &self.congestion_control {
            CongestionControl::WindowLaw(law)
                if self.cwnd >= self.ssthresh
                    && !self.options.sees_every_ack
                    && self.next < self.send_queue.packets =>
            {
                law.growth_cell()
            }
            _ => GrowthCell::EMPTY,
        }
    }

    /// Takes the state back, and counts what has happened on the fast path.
    pub(in crate::tcp) fn leave_fast_path(&mut self, fast: &FastSender) {
        let sent = fast.next - self.next;
        self.probe.counters.sent += sent;
        self.probe.counters.sent_bytes += sent * u64::from(fast.packet_bytes);
        self.probe.counters.rtt_sum += fast.rtt_sum;
        self.probe.counters.rtt_count += fast.rtt_count;
        self.probe.window_area = fast.area;
        self.last_sent = fast.last_sent;
        self.show(fast);
        self.rto_deadline = fast.rto_deadline;
    }

    /// Takes over what a window law may look at.
    fn show(&mut self, fast: &FastSender) {
        self.una = fast.una;
        self.next = fast.next;
        self.cwnd = fast.cwnd;
        self.scoreboard.advance_clear(fast.una);
        self.rtt = fast.rtt.clone();
    }
}

impl FastSender {
    /// The ECN field of the packets.
    #[inline]
    pub(in crate::tcp) fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// When the retransmission timer expires.
    #[inline]
    pub(in crate::tcp) fn deadline(&self) -> Time {
        self.rto_deadline
    }

    /// Whether nothing is due before an ACK at `now` of the packets below `cumulative`, and packets
    /// stay in flight.
    #[inline]
    pub(in crate::tcp) fn awaits(&self, now: Time, cumulative: u64) -> bool {
        now <= self.rto_deadline && now < self.stop && cumulative < self.next
    }

    /// Takes in the ACK that [`FastSender::awaits`] has looked at. It echoes the time `echo`.
    #[expect(
        clippy::inline_always,
        reason = "two callers, of which one handles nearly all packets"
    )]
    #[inline(always)]
    pub(in crate::tcp) fn on_ack<'a>(
        &mut self,
        now: Time,
        cumulative: u64,
        echo: Time,
        sender: impl FnOnce() -> &'a mut Sender,
    ) {
        if now < self.checkpoint {
            self.take_in(now, cumulative, echo, sender);
        } else {
            self.record(now, cumulative, echo, sender());
        }
    }

    /// Records the state at the checkpoints up to `now`, and takes in the ACK.
    #[inline(never)]
    fn record(&mut self, now: Time, cumulative: u64, echo: Time, sender: &mut Sender) {
        sender.leave_fast_path(self);
        (self.rtt_sum, self.rtt_count) = (0, 0); // they are in the sender's counters now
        sender.record_until(now);
        self.checkpoint = sender.probe.next_checkpoint();
        self.take_in(now, cumulative, echo, || sender);
    }

    #[expect(
        clippy::inline_always,
        reason = "two callers, of which one handles nearly all packets"
    )]
    #[inline(always)]
    fn take_in<'a>(
        &mut self,
        now: Time,
        cumulative: u64,
        echo: Time,
        sender: impl FnOnce() -> &'a mut Sender,
    ) {
        let acked = cumulative - self.una;
        let sample = now.since(echo);
        self.rtt.on_sample(sample);
        self.rtt_sum += u128::from(sample.picoseconds());
        self.rtt_count += 1;
        self.una = cumulative;
        if self.growth.contains(self.cwnd) {
            self.area.on_window(now, self.cwnd);
            self.cwnd = self.growth.grow(self.cwnd, acked).min(self.max_window);
        } else if !self.is_drained() {
            self.area.on_window(now, self.cwnd);
            self.ask(now, acked, sample, sender());
        }
        self.rto_deadline = now.saturating_add(self.rtt.rto());
    }

    /// Lets the sender's law grow the window.
    #[inline(never)]
    fn ask(&mut self, now: Time, acked: u64, sample: Time, sender: &mut Sender) {
        let sent_before = std::mem::replace(&mut sender.next, self.next);
        sender.show(self);
        sender.show_to_control(now, acked, Some(sample));
        sender.grow_window(now, acked, Some(sample));
        self.cwnd = sender.cwnd;
        self.growth = sender.growth();
        sender.next = sent_before; // packets sent since then are not counted yet
    }

    /// Whether all data are sent, as [`Sender::fast_path`] has found.
    #[inline]
    pub(in crate::tcp) fn is_drained(&self) -> bool {
        self.next > self.last_packet
    }

    /// Whether the window has room for one more packet.
    #[inline]
    pub(in crate::tcp) fn has_room(&self) -> bool {
        float(self.next - self.una + 1) <= self.cwnd
    }

    /// The packet that leaves at `now`; `None` if all data are sent, and at the end of the data, which
    /// the sender handles.
    #[inline]
    pub(in crate::tcp) fn send(&mut self, now: Time) -> Option<Packet> {
        if self.next >= self.last_packet {
            return None;
        }
        let sequence = self.next;
        self.next += 1;
        self.last_sent = now;
        let Self { packet_bytes: bytes, ecn, .. } = *self;
        Some(Packet { sequence, bytes, sent: now, is_retransmission: false, ecn, is_cwr: false })
    }
}
