//! Start-time fair queueing (Goyal, Vin, Cheng 1996) and its variant with priority (Kortebi,
//! Oueslati, Roberts 2004).
//!
//! A packet that finds other packets of its flow waiting starts where the packet before it
//! finishes, so only the start tag of the first packet per flow is stored: service advances it by
//! the packet's length divided by the weight. A drop changes no tag, so the packets behind the
//! dropped one get the tags that they would have without it.

use std::collections::VecDeque;

use super::flows::{Flow, Flows};
use super::tag_queue::{TagQueue, is_beyond};
use crate::queue::buffer::Buffer;
use crate::units::Time;

/// Virtual time per byte at weight 1. Tags wrap around: at any time they span less than 2^63, since
/// the largest packet (2^16 bytes) at the smallest weight (1e-3) takes 2^58.
pub(super) const BYTE: u64 = 1 << 32;

/// The flows in the order of their start tags.
#[derive(Clone, Debug)]
pub(super) struct StartTime {
    /// Bytes that a flow sends with priority; 0 without priority.
    credit: u32,
    /// Flow and arrival time of every packet with priority. Dropped packets remain: their arrival
    /// time is not that of the packet at the front of the flow.
    express: VecDeque<(u32, Time)>,
    tags: TagQueue,
    /// Advance of the virtual time since [`StartTime::restart_advance`].
    advance: u128,
}

impl StartTime {
    /// Creates a scheduler under which flows have priority until they have sent `credit` bytes.
    pub(super) fn new(flows: &mut Flows, credit: u32) -> Self {
        StartTime { credit, express: VecDeque::new(), tags: TagQueue::new(flows), advance: 0 }
    }

    /// Returns the advance of the virtual time since the restart, in bytes at weight 1.
    pub(super) fn advance_bytes(&self) -> f64 {
        self.advance as f64 / BYTE as f64
    }

    /// Restarts the count of the advance.
    pub(super) fn restart_advance(&mut self) {
        self.advance = 0;
    }

    /// Adds a flow that becomes active.
    #[inline]
    pub(super) fn join(&mut self, flows: &mut Flows, slot: u32) {
        flows[slot].tag = self.tags.virtual_time();
        self.tags.insert(flows, slot);
    }

    /// Returns whether an arriving packet of the flow in `slot` has priority; `None` under a
    /// scheduler without priority.
    #[inline]
    pub(super) fn admit(
        &mut self,
        flow: &mut Flow,
        slot: u32,
        arrival: Time,
        bytes: u32,
    ) -> Option<bool> {
        if self.credit == 0 {
            return None;
        }
        let is_express = flow.credit < self.credit;
        if is_express {
            flow.express += 1;
            flow.credit += bytes;
            self.express.push_back((slot, arrival));
        }
        Some(is_express)
    }

    /// Records that the last waiting packet of a flow was dropped. Returns whether the flow is
    /// still active; if not, it can be forgotten.
    pub(super) fn empty(&mut self, flows: &mut Flows, slot: u32) -> bool {
        let is_known = is_beyond(flows[slot].tag, self.tags.virtual_time());
        if !is_known {
            flows.unlink(slot);
        }
        is_known
    }

    /// Returns the flow whose first packet leaves next; the buffer must not be empty. Calls
    /// `forget` with the flows that the virtual time has reached.
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

    /// Records that the first packet of the flow in `slot`, of `bytes` bytes, has left.
    #[inline]
    pub(super) fn on_service(&mut self, flows: &mut Flows, slot: u32, bytes: u32) {
        flows.unlink(slot);
        let flow = &mut flows[slot];
        flow.tag = flow.tag.wrapping_add(u64::from(bytes) * flow.share);
        flow.express = flow.express.saturating_sub(1);
        self.tags.insert(flows, slot);
    }

    /// Returns the flow whose packet with priority arrived first.
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

    /// Begins a busy period with a packet of the flow in `slot`, after the link was idle: the
    /// virtual time becomes the last finish tag, and no flow is ahead of it.
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
            self.admit(flow, slot, first.time(), first.bytes());
        }
    }
}
