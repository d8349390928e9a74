//! Start-time fair queueing (Goyal, Vin, Cheng 1996) and its variant with priority (Kortebi,
//! Oueslati, Roberts 2004).
//!
//! A packet that finds others of its flow waiting starts where the one before it finishes, so that
//! of each flow only the start tag of its first packet is kept: service moves it on by the packet's
//! length over the weight. A drop moves nothing, so the packets behind the dropped one get the tags
//! that they would have if it had never come.

use std::collections::VecDeque;

use super::flows::{Flow, Flows};
use super::tag_queue::{TagQueue, is_beyond};
use crate::packet::in_network::Event;
use crate::queue::buffer::Buffer;
use crate::units::Time;

/// Virtual time that a byte takes at weight 1. Tags wrap around: those of one time span less than
/// 2^63, the largest packet (2^16 bytes) at the smallest weight (1e-3) being 2^58.
pub(super) const BYTE: u64 = 1 << 32;

/// The flows in the order of their start tags.
#[derive(Debug)]
pub(super) struct StartTime {
    /// Bytes that a flow sends with priority; none without it.
    credit: u32,
    /// The flow and the arrival of every packet with priority, of those dropped too: the packet at
    /// the front of the flow did not come then.
    express: VecDeque<(u32, Time)>,
    tags: TagQueue,
    /// How far the virtual time has gone since [`StartTime::restart_advance`].
    advance: u128,
}

impl StartTime {
    /// Flows go with priority until they have sent `credit` bytes.
    pub(super) fn new(flows: &mut Flows, credit: u32) -> Self {
        StartTime { credit, express: VecDeque::new(), tags: TagQueue::new(flows), advance: 0 }
    }

    /// How far the virtual time has gone since the restart, in bytes at weight 1.
    pub(super) fn advance_bytes(&self) -> f64 {
        self.advance as f64 / BYTE as f64
    }

    /// Counts the advance afresh.
    pub(super) fn restart_advance(&mut self) {
        self.advance = 0;
    }

    /// A flow becomes active.
    #[inline]
    pub(super) fn join(&mut self, flows: &mut Flows, slot: u32) {
        flows[slot].tag = self.tags.virtual_time();
        self.tags.insert(flows, slot);
    }

    /// A packet of the flow in `slot` arrives: whether it goes with priority; `None` where there is
    /// none.
    #[inline]
    pub(super) fn admit(&mut self, flow: &mut Flow, slot: u32, packet: &Event) -> Option<bool> {
        if self.credit == 0 {
            return None;
        }
        let is_express = flow.credit < self.credit;
        if is_express {
            flow.express += 1;
            flow.credit += packet.bytes();
            self.express.push_back((slot, packet.time()));
        }
        Some(is_express)
    }

    /// The last packet of a flow that waited has been dropped. False if nothing need be known of
    /// the flow any longer.
    pub(super) fn empty(&mut self, flows: &mut Flows, slot: u32) -> bool {
        let is_known = is_beyond(flows[slot].tag, self.tags.virtual_time());
        if !is_known {
            flows.unlink(slot);
        }
        is_known
    }

    /// The flow whose first packet is the next of the buffer, which holds one at least. Tells `forget`
    /// of flows that the virtual time has reached.
    #[inline]
    pub(super) fn next(
        &mut self,
        flows: &mut Flows,
        buffer: &Buffer,
        forget: impl FnMut(&mut Flows, u32),
    ) -> Option<u32> {
        if let Some(slot) = self.next_express(flows, buffer) {
            return Some(slot);
        }
        let before = self.tags.virtual_time();
        let slot = self.tags.first(flows, forget);
        self.advance += u128::from(self.tags.virtual_time().wrapping_sub(before));
        slot
    }

    /// The first packet of the flow in `slot` has left, which has so many bytes.
    #[inline]
    pub(super) fn on_service(&mut self, flows: &mut Flows, slot: u32, bytes: u32) {
        flows.unlink(slot);
        let flow = &mut flows[slot];
        flow.tag = flow.tag.wrapping_add(u64::from(bytes) * flow.share);
        flow.express = flow.express.saturating_sub(1);
        self.tags.insert(flows, slot);
    }

    /// The flow whose packet with priority came first.
    #[inline]
    fn next_express(&mut self, flows: &Flows, buffer: &Buffer) -> Option<u32> {
        while let Some((slot, arrival)) = self.express.pop_front() {
            let flow = &flows[slot];
            let front = buffer.front(&flow.queue).filter(|_| flow.express > 0);
            if front.is_some_and(|packet| packet.time() == arrival) {
                return Some(slot);
            }
        }
        None
    }

    /// The link was idle until a packet of the flow in `slot` arrived: the virtual time is that of
    /// the last finish tag, and nobody is ahead of it.
    pub(super) fn begin_busy_period(
        &mut self,
        flows: &mut Flows,
        slot: u32,
        buffer: &Buffer,
        forget: impl FnMut(&mut Flows, u32),
    ) {
        let before = self.tags.virtual_time();
        self.tags.finish(flows, slot, forget);
        self.advance += u128::from(self.tags.virtual_time().wrapping_sub(before));
        self.express.clear();
        let flow = &mut flows[slot];
        (flow.express, flow.credit) = (0, 0);
        if let Some(first) = buffer.front(&flow.queue) {
            self.admit(flow, slot, first);
        }
    }
}
