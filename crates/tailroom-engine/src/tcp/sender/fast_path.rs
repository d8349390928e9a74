//! The fast path of a sender: every ACK acknowledges new data, and nothing is lost, marked or due.
//!
//! A host that finds losses by time records each packet, and one with segmentation offload waits until
//! a burst fits into the window: both ask the sender, which is away from the fast path's memory, once
//! an ACK.

use super::burst::{Deferral, SendBurst};
use super::rack::Rack;
use super::rtt::SmoothedRtt;
use super::{CongestionControl, Phase, Sender};
use crate::congestion::growth::GrowthCell;
use crate::congestion::{AckEvent, AnyWindowLaw, WindowLaw};
use crate::packet::{Ecn, Packet};
use crate::probe::flow::WindowArea;
use crate::units::{Time, float};

/// The part of a sender that changes on the fast path. Its methods do what [`Sender::on_ack`] does
/// where the conditions of [`Sender::fast_path`] hold.
#[derive(Clone, Debug)]
#[repr(C)] // in the order of use
pub(in crate::tcp) struct FastSender {
    /// The first timer: that of the probe of a sender that finds losses by time, otherwise the
    /// retransmission timer.
    deadline: Time,
    next: u64,
    /// An ACK from this time on finds a checkpoint passed, or the end of the application.
    pause: Time,
    cwnd: f64,
    growth: GrowthCell,
    rtt: SmoothedRtt,
    area: WindowArea,
    max_window: f64,
    /// Of the samples since the last checkpoint, or since the beginning of the fast path.
    rtt_sum: u64,
    last_sent: Time,
    /// Packets from this number on are sent on the general path: the last one may be short. Zero when
    /// the application has stopped.
    end: u64,
    /// Number of the samples in `rtt_sum`.
    rtt_count: u32,
    packet_bytes: u16,
    ecn: Ecn,
    /// Whether the sender records packets or sends bursts.
    has_host: bool,
}

/// An ACK of new data that reports nothing else.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct PlainAck {
    /// When it reaches the sender.
    pub(in crate::tcp) now: Time,
    /// All packets below are acknowledged.
    pub(in crate::tcp) cumulative: u64,
    /// Number of packets that it acknowledges newly.
    pub(in crate::tcp) acked: u64,
    /// When the packet was sent whose timestamp it echoes.
    pub(in crate::tcp) echo: Time,
}

impl Sender {
    /// The fast path, if the sender meets its conditions at `now`: packets are in flight and none is
    /// to be repaired, no mark is to be answered or reported (the receiver has counted
    /// `marked_packets`), and the window alone decides when more data leave, or all data are sent.
    pub(in crate::tcp) fn fast_path(&self, now: Time, marked_packets: u64) -> Option<FastSender> {
        let ecn = self.ecn.settled_codepoint(marked_packets)?;
        let packet_bytes = u16::try_from(self.send_queue.packet_bytes).ok()?;
        let is_predictable = self.may_be_predicted()
            && self.scoreboard.is_clear()
            && self.duplicates == 0
            && self.next > self.una
            && (self.is_window_limited && self.next < self.send_queue.packets || self.is_drained())
            && self.is_probe_set()
            && now < self.send_queue.stop
            && self.release_at == Time::NEVER
            && self.is_clocked_by_acks();
        is_predictable.then(|| FastSender {
            deadline: if self.rack.is_some() { self.rack_deadline } else { self.rto_deadline },
            next: self.next,
            pause: self.probe.next_checkpoint().min(self.send_queue.stop),
            cwnd: self.cwnd,
            growth: self.growth_of(self.cwnd, self.next),
            rtt: self.rtt.smoothed().clone(),
            area: self.probe.window_area,
            max_window: self.max_window,
            rtt_sum: 0,
            last_sent: self.last_sent,
            end: self.send_queue.packets - 1,
            rtt_count: 0,
            packet_bytes,
            ecn,
            has_host: self.has_host(),
        })
    }

    /// Whether the sender meets the two conditions of [`Sender::fast_path`] that fail most often.
    #[inline]
    pub(crate) fn may_be_predicted(&self) -> bool {
        self.phase == Phase::Open && !self.options.is_paced_by_control && !self.is_reducing()
    }

    /// Whether all data are sent and the window has room, so that nothing but the packets in flight
    /// remains. The window does not grow then.
    fn is_drained(&self) -> bool {
        self.next == self.send_queue.packets
            && !self.is_window_limited
            && !self.has_host()
            && !self.options.sees_every_ack
            && float(self.next - self.una + 1) <= self.cwnd
    }

    /// Whether the window alone decides when packets leave, by a law of the registry.
    fn is_clocked_by_acks(&self) -> bool {
        let has_window_law = match &self.congestion_control {
            CongestionControl::WindowLaw(law) => !matches!(law, AnyWindowLaw::Custom(_)),
            CongestionControl::RateBased(_) => false,
        };
        has_window_law && !self.pacer.is_on() && self.objects.is_none()
    }

    /// Whether the sender records packets or sends bursts.
    fn has_host(&self) -> bool {
        self.rack.is_some() || self.options.send_burst != SendBurst::SINGLE
    }

    /// Whether the timer of the probe is the first to expire, of a sender that finds losses by time.
    fn is_probe_set(&self) -> bool {
        let is_set = |rack: &Rack| !rack.is_probing() && self.rack_deadline <= self.rto_deadline;
        self.rack.as_ref().is_none_or(|rack| is_set(rack))
    }

    /// How a window of `cwnd` packets grows while the law need not be asked, and `next` is the next packet.
    #[inline]
    fn growth_of(&self, cwnd: f64, next: u64) -> GrowthCell {
        match &self.congestion_control {
            CongestionControl::WindowLaw(law)
                if cwnd >= self.ssthresh
                    && !self.options.sees_every_ack
                    && next < self.send_queue.packets =>
            {
                law.growth_cell()
            }
            _ => GrowthCell::EMPTY,
        }
    }

    /// Takes the state back, of a connection that has acknowledged all packets below `una`, and counts
    /// what has happened on the fast path.
    pub(in crate::tcp) fn leave_fast_path(&mut self, fast: &FastSender, una: u64) {
        let sent = fast.next - self.next;
        self.probe.counters.sent += sent;
        self.probe.counters.sent_bytes += sent * u64::from(fast.packet_bytes);
        self.probe.counters.rtt_sum += u128::from(fast.rtt_sum);
        self.probe.counters.rtt_count += u64::from(fast.rtt_count);
        self.probe.window_area = fast.area;
        self.last_sent = fast.last_sent;
        if self.rack.is_some() {
            self.rack_deadline = fast.deadline;
        } else {
            self.rto_deadline = fast.deadline;
        }
        self.show(fast, una);
    }

    /// Takes over what a window law may look at.
    fn show(&mut self, fast: &FastSender, una: u64) {
        if una > self.una {
            self.rtt.resume(fast.rtt.clone());
        }
        self.una = una;
        self.next = fast.next;
        self.cwnd = fast.cwnd;
        self.scoreboard.advance_clear(una);
    }
}

impl FastSender {
    /// The same state. The sender is asked at each ACK if `is_asked`, or if it records packets or sends bursts.
    pub(in crate::tcp) fn asking(mut self, is_asked: bool) -> Self {
        self.has_host |= is_asked;
        self
    }

    /// The ECN field of the packets.
    #[inline]
    pub(in crate::tcp) fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// Whether the sender is asked at each ACK, by [`FastSender::on_ack_of_host`].
    #[inline]
    pub(in crate::tcp) fn has_host(&self) -> bool {
        self.has_host
    }

    /// When the first timer expires.
    #[inline]
    pub(in crate::tcp) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether no timer is due before an ACK at `now` of the packets below `cumulative`, and packets
    /// stay in flight.
    #[inline]
    pub(in crate::tcp) fn awaits(&self, now: Time, cumulative: u64) -> bool {
        now <= self.deadline && cumulative < self.next
    }

    /// Takes in the ACK that [`FastSender::awaits`] has looked at.
    #[expect(
        clippy::inline_always,
        reason = "two callers, of which one handles nearly all packets"
    )]
    #[inline(always)]
    pub(in crate::tcp) fn on_ack<'a>(
        &mut self,
        ack: PlainAck,
        sender: impl FnOnce() -> &'a mut Sender,
    ) {
        if ack.now < self.pause {
            self.take_in(ack, sender);
        } else {
            self.take_in_after_pause(ack, sender());
        }
    }

    /// Records the state at the checkpoints up to now, and takes in the ACK.
    #[inline(never)]
    fn take_in_after_pause(&mut self, ack: PlainAck, sender: &mut Sender) {
        let PlainAck { now, cumulative, acked, .. } = ack;
        sender.leave_fast_path(self, cumulative - acked);
        (self.rtt_sum, self.rtt_count) = (0, 0); // they are in the sender's counters now
        sender.record_until(now);
        self.pause = sender.probe.next_checkpoint();
        let stop = sender.send_queue.stop;
        if now < stop {
            self.pause = self.pause.min(stop);
        } else if !self.is_drained() {
            self.end = 0; // the general path finds that there are no more data
        }
        self.take_in(ack, || sender);
    }

    #[expect(
        clippy::inline_always,
        reason = "two callers, of which one handles nearly all packets"
    )]
    #[inline(always)]
    fn take_in<'a>(&mut self, ack: PlainAck, sender: impl FnOnce() -> &'a mut Sender) {
        let sample = ack.now.since(ack.echo);
        self.rtt.on_sample(sample);
        self.count(sample);
        if self.growth.contains(self.cwnd) {
            self.area.on_window(ack.now, self.cwnd);
            self.cwnd = self.growth.grow(self.cwnd, ack.acked).min(self.max_window);
        } else if !self.is_drained() {
            self.area.on_window(ack.now, self.cwnd);
            self.ask(ack, sample, sender());
        }
        self.deadline = ack.now.saturating_add(self.rtt.rto());
    }

    /// Does what [`FastSender::on_ack`] does where the sender records packets or sends bursts, and sends
    /// what a burst allows to `send`. Returns whether the general path has to send, at the end of the
    /// data.
    #[inline]
    pub(in crate::tcp) fn on_ack_of_host(
        &mut self,
        ack: PlainAck,
        host: &mut Sender,
        mut send: impl FnMut(&Packet),
    ) -> bool {
        let PlainAck { now, cumulative, .. } = ack;
        host.advance_rack(now, cumulative);
        self.on_ack(ack, || &mut *host);
        let mut is_at_end = false;
        let in_flight = self.next - cumulative;
        let room = (self.cwnd as u64).saturating_sub(in_flight);
        let may_send = room >= 1
            && (host.is_burst_of(room, self.cwnd, &self.rtt)
                || !self.defers(now, cumulative, host));
        if may_send {
            is_at_end = self.next.saturating_add(room) > self.end;
            let packets = if is_at_end { 0 } else { room };
            for _ in 0..packets {
                let packet = self.packet(now);
                host.record_sent(now);
                send(&packet);
            }
        }
        if host.rack.is_some() {
            host.rto_deadline = self.deadline;
            let timeout = host.probe_timeout(self.rtt.srtt(), self.next - cumulative);
            self.deadline = self.deadline.min(now.saturating_add(timeout));
        }
        is_at_end
    }

    /// Whether the host waits for room for a larger burst.
    #[inline]
    fn defers(&self, now: Time, una: u64, host: &Sender) -> bool {
        let deferral = Deferral {
            next: self.next,
            window: self.cwnd - float(self.next - una),
            last_sent: self.last_sent,
            srtt: self.rtt.srtt(),
        };
        host.may_defer(now, deferral)
    }

    /// Counts an RTT sample, which is below 2^63 ps.
    #[inline]
    fn count(&mut self, sample: Time) {
        self.rtt_sum += sample.picoseconds();
        self.rtt_count += 1;
        if self.rtt_sum >= 1 << 63 || self.rtt_count == u32::MAX {
            self.pause = Time::ZERO; // the next ACK hands both over before one can overflow
        }
    }

    /// Lets the sender's law grow the window.
    #[inline(never)]
    fn ask(&mut self, ack: PlainAck, sample: Time, sender: &mut Sender) {
        let PlainAck { now, cumulative, acked, .. } = ack;
        if self.cwnd >= sender.ssthresh && !sender.options.sees_every_ack {
            let event = self.ack_event(ack, sample, sender);
            self.cwnd = sender.window_after(self.cwnd, &event).min(self.max_window);
            self.growth = sender.growth_of(self.cwnd, self.next);
            return;
        }
        let sent_before = sender.next;
        sender.show(self, cumulative);
        sender.show_to_control(now, acked, Some(sample));
        sender.watch_in_order(now, Some(sample));
        sender.grow_window(now, acked, Some(sample));
        self.cwnd = sender.cwnd;
        self.growth = sender.growth_of(self.cwnd, self.next);
        sender.next = sent_before; // packets sent since then are not counted yet
    }

    /// What a law sees of an ACK in congestion avoidance.
    #[inline]
    fn ack_event(&self, ack: PlainAck, sample: Time, sender: &Sender) -> AckEvent {
        AckEvent {
            now: ack.now,
            acked_packets: ack.acked,
            rtt: Some(sample),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            delivered_packets: ack.cumulative,
            marked_packets: sender.ecn.reported(),
            next: self.next,
            is_slow_start: false,
        }
    }

    /// Whether all data are sent, as [`Sender::fast_path`] has found.
    #[inline]
    pub(in crate::tcp) fn is_drained(&self) -> bool {
        self.end > 0 && self.next > self.end
    }

    /// Whether the window has room for one more packet, if those below `una` are acknowledged.
    #[inline]
    pub(in crate::tcp) fn has_room(&self, una: u64) -> bool {
        float(self.next - una + 1) <= self.cwnd
    }

    /// The packet that leaves at `now`; `None` if all data are sent, and at the end of the data, which
    /// the sender handles.
    #[inline]
    pub(in crate::tcp) fn send(&mut self, now: Time) -> Option<Packet> {
        if self.next >= self.end { None } else { Some(self.packet(now)) }
    }

    /// The next packet, which leaves at `now`.
    #[inline]
    fn packet(&mut self, now: Time) -> Packet {
        let sequence = self.next;
        self.next += 1;
        self.last_sent = now;
        let (bytes, ecn) = (u32::from(self.packet_bytes), self.ecn);
        Packet { sequence, bytes, sent: now, is_retransmission: false, ecn, is_cwr: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::flow::Checkpoints;
    use crate::tcp::TcpSpec;
    use crate::tcp::sender::SendQueue;
    use crate::units::Rate;

    /// A sender whose window is full of packets that were sent at time 0.
    fn sender() -> Sender {
        let send_queue = SendQueue {
            start: Time::ZERO,
            stop: Time::NEVER,
            packets: u64::MAX,
            packet_bytes: 1_500,
            last_packet_bytes: 1_500,
            header_bytes: 52,
            line_rate: Rate::from_bits_per_second(10_000_000_000),
            hops: 1,
        };
        let checkpoints = Checkpoints {
            measure_from: Time::ZERO,
            duration: Time::AFTER_ALL_RUNS,
            series_interval: Time::NEVER,
            step_interval: Time::NEVER,
            progress_interval: Time::AFTER_ALL_RUNS,
            reductions_kept: 0,
        };
        let spec: TcpSpec = toml::from_str("").expect("every key has a default");
        let mut sender = Sender::new(&spec, send_queue, 1, checkpoints);
        sender.record_until(Time::ZERO);
        sender.release_at = Time::NEVER;
        sender.send_more(Time::ZERO, &mut NoLink);
        sender
    }

    struct NoLink;

    impl crate::tcp::sender::PacketSink for NoLink {
        fn send(&mut self, _packet: Packet) {}
    }

    /// The sum is kept in 64 bits here, and in 128 bits in the sender.
    #[test]
    fn the_sum_of_rtt_samples_is_handed_over_before_it_overflows() {
        let mut sender = sender();
        let mut fast = sender.fast_path(Time::ZERO, 0).expect("the sender meets its conditions");
        let sample = Time::from_picoseconds((1 << 62) - 1);
        for cumulative in 1..=4 {
            let ack = PlainAck { now: sample, cumulative, acked: 1, echo: Time::ZERO };
            fast.on_ack(ack, || &mut sender);
        }
        sender.leave_fast_path(&fast, 4);
        let counters = sender.probe.counters;
        assert_eq!(counters.rtt_sum, 4 * u128::from(sample.picoseconds()));
        assert_eq!(counters.rtt_count, 4);
    }
}
