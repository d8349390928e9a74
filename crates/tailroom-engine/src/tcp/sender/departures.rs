//! What a sender hands to the network: whether a packet may leave now, which one, and when the next may.

use super::blocks::{BlockState, HeldPacket};
use super::burst::SendBurst;
use super::{CongestionControl, PacketSink, Phase, Sender};
use crate::congestion::WindowLaw;
use crate::packet::Packet;
use crate::units::{Time, float};

/// Packets that a sender hands over at most before it asks to be called again, at the same time. A window
/// may hold a hundred times as many: seconds in which nobody could interrupt the run or see that memory
/// is used up. (If the window jumps by so much, an ACK that follows closely makes it send all at once.)
const MOST_AT_ONCE: u64 = 1 << 20;

impl Sender {
    /// Sends the packets that the phase allows.
    pub(super) fn send_allowed(&mut self, now: Time, out: &mut impl PacketSink) {
        match self.phase {
            Phase::Opening => self.open(now, out),
            Phase::Open => self.send_new(now, out),
            Phase::Recovery | Phase::Timeout => self.send_in_recovery(now, out),
        }
    }

    /// Sends what the window allows at `now`, outside recovery.
    pub fn send_more(&mut self, now: Time, out: &mut impl PacketSink) {
        self.send_new(now, out);
    }

    /// Sends new data while the window has room, outside recovery.
    #[inline]
    pub(super) fn send_new(&mut self, now: Time, out: &mut impl PacketSink) {
        let before = self.next;
        self.fill_window(now, out);
        self.end_sending(now, before);
    }

    /// Nothing more may leave at `now`; `before` was the next packet before.
    #[inline]
    pub(super) fn end_sending(&mut self, now: Time, before: u64) {
        self.pacer.end_burst(now);
        if self.window_use.is_some() {
            let is_held_back = self.is_window_limited && self.next < self.send_queue.packets;
            if self.next > before || is_held_back {
                self.note_window_use(now);
            }
        }
    }

    #[inline]
    fn fill_window(&mut self, now: Time, out: &mut impl PacketSink) {
        let mut in_flight = self.next - self.una - self.scoreboard.sacked();
        // One comparison of floats per packet; converting the window to an integer costs more.
        let allowed = self.cwnd + self.limited_transmit() as f64;
        let window = allowed.min(float(in_flight + MOST_AT_ONCE));
        let fits = |in_flight: u64| float(in_flight + 1) <= window;
        self.is_window_limited = true;
        if self.options.send_burst != SendBurst::SINGLE
            && fits(in_flight)
            && !self.is_burst((window as u64).saturating_sub(in_flight), in_flight)
        {
            let has_data = self.has_new_data(now);
            if !has_data || self.may_defer(now, self.deferral(in_flight)) {
                self.is_window_limited = has_data && self.has_data_for_window(in_flight);
                return;
            }
        }
        while fits(in_flight) {
            if !self.has_new_data(now) {
                self.is_window_limited = false;
                return;
            }
            if !self.may_leave(now) {
                self.is_window_limited =
                    self.window_use.is_none() && self.has_data_for_window(in_flight);
                return;
            }
            let packet = self.next;
            self.next += 1;
            in_flight += 1;
            self.repair_rule.on_sent();
            self.transmit(now, packet, false, out);
        }
        if window < allowed {
            self.release_at = now; // for the rest
        }
    }

    /// Bytes of data in a packet.
    pub(super) fn payload_bytes(&self) -> u32 {
        self.send_queue.packet_bytes - self.send_queue.header_bytes
    }

    /// RFC 3042: each of the first two duplicate ACKs allows one new packet. With SACK they already
    /// reduce the number of packets in flight.
    #[inline]
    pub(super) fn limited_transmit(&self) -> u64 {
        if self.is_sack { 0 } else { self.duplicates.min(2) }
    }

    #[inline]
    pub(super) fn has_new_data(&mut self, now: Time) -> bool {
        (self.next < self.send_queue.packets || self.take_objects(now))
            && now < self.send_queue.stop
    }

    /// Takes the objects that have arrived by `now`; if there are none, sleeps until the next one.
    #[inline(never)]
    fn take_objects(&mut self, now: Time) -> bool {
        let Some(objects) = &mut self.objects else { return false };
        let packets = objects.take(now);
        self.send_queue.packets += packets;
        if packets == 0 {
            self.release_at = self.release_at.min(objects.next_arrival());
        }
        packets > 0
    }

    /// Whether pacing allows a packet to leave now; if not, sets the time of the release.
    #[inline]
    pub(super) fn may_leave(&mut self, now: Time) -> bool {
        if let Some(release) = self.pacer.wait(now) {
            self.release_at = release.min(self.next_rate_change().max(now));
            return false;
        }
        true
    }

    /// Paces a packet in blocks or at the control's rate; returns whether the packet is held.
    #[inline]
    fn note_paced(&mut self, now: Time, sequence: u64, is_retransmission: bool) -> bool {
        let CongestionControl::WindowLaw(law) = &self.congestion_control else {
            self.note_departure(now, sequence, is_retransmission);
            return false;
        };
        let srtt = self.rtt.srtt();
        let (Some(pacer), Some(blocks)) = (&mut self.blocks, law.blocks(srtt)) else {
            return false;
        };
        let (cwnd_packets, is_slow_start) = (self.cwnd, self.cwnd < self.ssthresh);
        let state = BlockState { cwnd_packets, is_slow_start, blocks, srtt };
        let departs = pacer.on_sent(now, state);
        self.pacer.hold_until(pacer.next_departure());
        let is_held = departs > now;
        if is_held {
            pacer.hold(HeldPacket { departs, sequence, is_retransmission });
            self.release_at = self.release_at.min(departs);
        }
        is_held
    }

    /// Lets the held packets leave that are due at `now`. A packet that has been acknowledged, since
    /// it was retransmitted while it was held, does not leave.
    #[cold]
    pub(super) fn release_held(&mut self, now: Time, out: &mut impl PacketSink) {
        while let Some(held) = self.blocks.as_mut().and_then(|blocks| blocks.release(now)) {
            if held.sequence >= self.una {
                self.last_sent = now;
                self.emit(now, held.sequence, held.is_retransmission, out);
            }
        }
        let next = self.blocks.as_ref().map_or(Time::NEVER, |blocks| blocks.next_held());
        self.release_at = self.release_at.min(next);
    }

    #[inline(never)]
    pub(super) fn transmit(
        &mut self,
        now: Time,
        sequence: u64,
        is_retransmission: bool,
        out: &mut impl PacketSink,
    ) {
        self.last_sent = now;
        if self.options.is_paced_by_control {
            if self.note_paced(now, sequence, is_retransmission) {
                self.note_transmission(now, sequence, is_retransmission);
                return;
            }
        } else {
            self.pace(now, is_retransmission);
        }
        self.emit(now, sequence, is_retransmission, out);
        self.note_transmission(now, sequence, is_retransmission);
    }

    /// Hands a packet to the network.
    #[inline]
    pub(super) fn emit(
        &mut self,
        now: Time,
        sequence: u64,
        is_retransmission: bool,
        out: &mut impl PacketSink,
    ) {
        let is_last = sequence + 1 == self.send_queue.packets;
        let bytes =
            if is_last { self.send_queue.last_packet_bytes } else { self.send_queue.packet_bytes };
        self.probe.on_sent(bytes, is_retransmission);
        if self.rto_deadline == Time::NEVER {
            self.rto_deadline = now.saturating_add(self.rtt.rto()); // RFC 6298 sec. 5.1
        }
        let (ecn, is_cwr) = self.ecn.on_sent(is_retransmission);
        out.send(Packet { sequence, bytes, sent: now, is_retransmission, ecn, is_cwr });
    }
}
