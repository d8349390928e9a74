//! Start-time fair queueing (Goyal, Vin, Cheng 1996) and its variant with priority (Kortebi,
//! Oueslati, Roberts 2004), as a push-in-first-out queue of flows.
//!
//! A packet that finds others of its flow waiting starts where the one before it finishes, so that
//! of each flow only the start tag of its first packet is kept: service moves it on by the packet's
//! length over the weight. A drop moves nothing, so the packets behind the dropped one get the tags
//! that they would have if it had never come.

use super::flows::{Flow, Flows};
use super::heap::{Heap, Key};
use crate::queue::buffer::Buffer;
use crate::schedule::Event;

/// Virtual time that a byte takes at weight 1. Tags wrap around: those of one time span less than
/// 2^63, the largest packet (2^16 bytes) at the smallest weight (1e-3) being 2^58.
pub(super) const BYTE: u64 = 1 << 32;

/// Whether tag `one` lies beyond tag `other`.
#[inline]
fn is_beyond(one: u64, other: u64) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}

/// Packets of equal tag: who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Not waiting: to be forgotten when its turn comes.
    Idle,
    /// With priority.
    Express,
    /// The others.
    Normal,
}

/// Where the first packet of a flow stands: of those with equal tags the one that came first, and
/// of those that came together that of the lower flow, as the engine orders arrivals.
#[derive(Clone, Copy, Debug)]
struct Rank {
    tag: u64,
    /// Class in the upper two bits, then the time of arrival: 53 days, after which all are equal.
    class_and_arrival: u64,
    flow: u32,
    slot: u32,
}

impl Rank {
    const CLASS_SHIFT: u32 = 62;

    #[inline]
    fn new(tag: u64, class: Class, arrival: u64) -> Self {
        let arrival = arrival.min((1 << Self::CLASS_SHIFT) - 1);
        let class_and_arrival = (class as u64) << Self::CLASS_SHIFT | arrival;
        Rank { tag, class_and_arrival, flow: 0, slot: 0 }
    }

    #[inline]
    fn is_idle(self) -> bool {
        self.class_and_arrival >> Self::CLASS_SHIFT == Class::Idle as u64
    }

    #[inline]
    fn order(self) -> u128 {
        u128::from(self.tag) << 64 | u128::from(self.class_and_arrival)
    }
}

impl Key for Rank {
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        let ahead = self.order().wrapping_sub(other.order()).cast_signed();
        (ahead, self.flow) < (0, other.flow)
    }

    #[inline]
    fn slot(&self) -> u32 {
        self.slot
    }
}

/// The flows in the order of their start tags.
#[derive(Debug)]
pub(super) struct StartTime {
    /// Bytes that a flow sends with priority; none without it.
    credit: u32,
    heap: Heap<Rank>,
    /// Start tag of the packet in service.
    virtual_time: u64,
    /// How far the virtual time has gone since [`StartTime::restart_advance`].
    advance: u128,
}

impl StartTime {
    /// Flows go with priority until they have sent `credit` bytes.
    pub(super) fn new(credit: u32) -> Self {
        StartTime { credit, heap: Heap::default(), virtual_time: 0, advance: 0 }
    }

    /// Tag of a flow that becomes active.
    pub(super) fn virtual_time(&self) -> u64 {
        self.virtual_time
    }

    /// How far the virtual time has gone since the restart, in bytes at weight 1.
    pub(super) fn advance_bytes(&self) -> f64 {
        self.advance as f64 / BYTE as f64
    }

    /// Counts the advance afresh.
    pub(super) fn restart_advance(&mut self) {
        self.advance = 0;
    }

    #[inline]
    fn move_to(&mut self, virtual_time: u64) {
        self.advance += u128::from(virtual_time.wrapping_sub(self.virtual_time));
        self.virtual_time = virtual_time;
    }

    /// A packet of `flow` arrives: whether it goes with priority; `None` where there is none.
    #[inline]
    pub(super) fn admit(&self, flow: &mut Flow, bytes: u32) -> Option<bool> {
        if self.credit == 0 {
            return None;
        }
        let is_express = flow.credit < self.credit;
        if is_express {
            flow.express += 1;
            flow.credit += bytes;
        }
        Some(is_express)
    }

    /// The first packet of a flow is another one than before, or there is none any more. False if
    /// nothing need be known of the flow any longer.
    #[inline]
    pub(super) fn renew(&mut self, flows: &Flows, slot: u32, buffer: &Buffer) -> bool {
        let flow = &flows[slot];
        let rank = match buffer.front(&flow.line) {
            Some(first) => {
                let arrival = first.time().picoseconds();
                // With priority: at the virtual time, which stands still until it has left.
                let (tag, class) = match flow.express {
                    0 => (flow.tag, Class::Normal),
                    _ => (self.virtual_time, Class::Express),
                };
                Rank { flow: first.flow(), slot, ..Rank::new(tag, class, arrival) }
            }
            None if !is_beyond(flow.tag, self.virtual_time) => {
                self.heap.remove(slot);
                return false;
            }
            None => Rank { slot, ..Rank::new(flow.tag, Class::Idle, 0) },
        };
        self.heap.set(rank);
        true
    }

    /// Takes the next packet of the buffer, which holds one at least; returns its flow too. Tells
    /// `forget` of flows that the virtual time has reached.
    #[inline]
    pub(super) fn take(
        &mut self,
        flows: &mut Flows,
        buffer: &mut Buffer,
        mut forget: impl FnMut(&mut Flows, u32),
    ) -> Option<(Event, u32)> {
        if buffer.packets() == 0 {
            return None;
        }
        loop {
            let rank = self.heap.first()?;
            let slot = rank.slot;
            if rank.is_idle() {
                self.heap.remove(slot);
                forget(flows, slot);
                continue;
            }
            self.move_to(rank.tag);
            let flow = &mut flows[slot];
            let packet = buffer.pop_front(&mut flow.line)?;
            flow.tag = flow.tag.wrapping_add(u64::from(packet.bytes()) * flow.share);
            flow.express = flow.express.saturating_sub(1);
            self.renew(flows, slot, buffer);
            return Some((packet, slot));
        }
    }

    /// The link was idle until a packet of the flow in `slot` arrived: the virtual time is that of
    /// the last finish tag, and nobody is ahead of it.
    pub(super) fn begin_busy_period(
        &mut self,
        flows: &mut Flows,
        slot: u32,
        buffer: &Buffer,
        mut forget: impl FnMut(&mut Flows, u32),
    ) {
        let (mut last, mut bytes) = (self.virtual_time, 0);
        while let Some(Rank { slot: one, .. }) = self.heap.first() {
            self.heap.remove(one);
            if is_beyond(flows[one].tag, last) {
                last = flows[one].tag;
            }
            if one == slot {
                bytes = buffer.front(&flows[slot].line).map_or(0, |packet| packet.bytes());
            } else {
                forget(flows, one);
            }
        }
        self.move_to(last);
        let flow = &mut flows[slot];
        (flow.tag, flow.express, flow.credit) = (last, 0, 0);
        self.admit(flow, bytes);
        self.renew(flows, slot, buffer);
    }
}
