//! An unresponsive flow: a flow without congestion control.

use super::{AnyPacketSource, Emission, PacketSource};
use crate::packet::Packet;
use crate::private_path::{NetworkSink, PrivatePath};
use crate::probe::flow::{Checkpoints, FlowProbe, FlowState};
use crate::probe::group::GroupProbe;
use crate::units::Time;

/// An unresponsive flow: a source, an access link, and a counter at the far end.
#[derive(Clone, Debug)]
pub struct Unresponsive {
    /// What it sends, and when.
    pub source: AnyPacketSource,
    /// From when on it sends nothing.
    pub stop: Time,
    /// Whether it has sent its last packet.
    pub has_stopped: bool,
    /// When the source is asked again that did not know its next packet; [`Time::NEVER`] if it did.
    pub asks_at: Time,
    /// Part of a packet that is header.
    pub header_bytes: u32,
    /// The ways between its ends.
    pub private_path: PrivatePath,
    /// Packets sent, in the sender's time.
    pub sent: FlowProbe,
    /// Packets received, in the receiver's time.
    pub received: FlowProbe,
    /// What has arrived.
    pub delivered: FlowState,
    /// The one-way delay of the packet that arrived last.
    pub last_delay: Option<Time>,
}

impl Unresponsive {
    /// Memory of the flow, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        size_of::<Unresponsive>() as u64 + self.sent.memory_bytes() + self.received.memory_bytes()
    }

    /// A flow of packets from `source` until `stop`, before its first packet.
    pub fn new(
        source: AnyPacketSource,
        stop: Time,
        header_bytes: u32,
        private_path: PrivatePath,
        checkpoints: Checkpoints,
    ) -> Self {
        Unresponsive {
            source,
            stop,
            has_stopped: false,
            asks_at: Time::NEVER,
            header_bytes,
            private_path,
            sent: FlowProbe::new(checkpoints),
            received: FlowProbe::new(checkpoints),
            delivered: FlowState::default(),
            last_delay: None,
        }
    }

    /// Emits the next packet, or finds out when to ask the source again; false when the source has stopped.
    pub fn emit(&mut self, sink: &mut impl NetworkSink) -> bool {
        let Emission { time, bytes } = self.source.next_emission();
        self.asks_at = Time::NEVER;
        if time >= self.stop {
            self.has_stopped = true;
            return false;
        }
        if self.sent.is_checkpoint_due(time) {
            self.sent.record_until(time, &FlowState::default());
        }
        if bytes == 0 {
            self.asks_at = time;
            return true;
        }
        let sequence = self.sent.on_sent(bytes, false);
        let packet = Packet { sequence, bytes, sent: time, ..Packet::default() };
        let left = self.private_path.leave_sender(time);
        sink.packet(self.private_path.enter(left, bytes), &packet);
        true
    }

    /// Emits the next packet that is due before the end of the run though it reaches no link by then; false if
    /// there is none.
    pub fn run_out(&mut self, sink: &mut impl NetworkSink) -> bool {
        !self.has_stopped && self.sent.is_open() && self.emit(sink)
    }

    /// A packet that left its sender at `sent` leaves the last shared link at `time`; its group's
    /// probe is told how long it took.
    pub fn deliver(&mut self, time: Time, sent: Time, bytes: u32, group: &mut GroupProbe) {
        let now = self.private_path.reach_receiver(time);
        if self.received.is_checkpoint_due(now) {
            self.received.record_until(now, &self.delivered);
        }
        let delay = now.since(sent);
        self.received.on_rtt(delay); // half a round trip: there is no way back
        let before = self.last_delay.replace(delay);
        if self.received.is_measuring() {
            group.on_arrival(delay, before);
        }
        self.delivered.delivered += 1;
        self.delivered.delivered_bytes += u64::from(bytes.saturating_sub(self.header_bytes));
    }

    /// Records the checkpoints up to the end of the run.
    pub fn record_until(&mut self, now: Time) {
        self.sent.record_until(now, &FlowState::default());
        self.received.record_until(now, &self.delivered);
    }
}
