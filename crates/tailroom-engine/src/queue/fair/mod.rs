//! Per-flow fair queueing over a shared buffer that drops from the longest queue.
//!
//! Each flow has its own queue, and a scheduler shares the link among the backlogged flows. A full
//! buffer drops from the longest queue; the arriving packet counts. Packets are never marked.
//!
//! A flow is *backlogged* while packets of it wait, and *active* while it is backlogged or its last
//! finish tag is beyond the virtual time (under deficit round robin: while it is backlogged). An
//! inactive flow takes four bytes. After an idle time of the link, no flow is active.
//!
//! The gauges, over the measured window:
//! - `active_flows`: number of active flows now; `_mean`, `_p99` and `_max` over time.
//! - `backlogged_flows_mean`: mean number of backlogged flows over time.
//! - `fair_rate_bps`: the rate that a flow of weight 1 would get if it were always backlogged
//!   (Kortebi, Oueslati, Roberts 2004 sec. III): max(S C, 8 V) / T, at most C, where S is the idle
//!   time in the window T, C the initial rate of the link, and V the advance of the virtual time in
//!   bytes at weight 1; under deficit round robin, V is the quantum of weight 1 times the number of
//!   rounds begun while packets waited.
//! - `priority_load` (same source): 8 P / (C T), where P is the number of bytes that arrived with
//!   priority; under the schedulers without priority, the bytes of packets whose flow was not
//!   active.

mod deficit_round_robin;
mod flows;
mod gauges;
mod longest;
mod params;
mod start_time;
mod tag_queue;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::buffer::{Buffer, DropReason, PacketHandle};
use super::{Gauge, LinkInfo, Retune, Scheduler};
use crate::packet::transit::Transit;
use crate::quantity::Size;
use crate::quantity::limit::Limit;
use crate::random::Random;
use crate::units::{Rate, Time};
use deficit_round_robin::DeficitRoundRobin;
use flows::Flows;
use gauges::Gauges;
pub use gauges::Measured;
pub use longest::Length;
use longest::Longest;
pub use params::{DropFrom, FairParams, FairScheduler};
use start_time::{BYTE, StartTime};

/// A fair queue.
#[derive(Clone, Debug)]
pub struct Fair {
    limit: Limit,
    drop_from: DropFrom,
    buckets: Option<Buckets>,
    /// The flows of each group whose weight is not 1, and their share (see `Flow`), in order of
    /// flow number. Empty with buckets, whose numbers are not flow numbers.
    shares: Vec<(Range<u32>, u64)>,
    /// The share of the other flows.
    other_share: u64,
    flows: Flows,
    order: Order,
    longest: Longest,
    /// The packet that arrived at the empty buffer, until it is known whether the link was idle.
    alone: Option<Alone>,
    gauges: Gauges,
}

/// A packet in an otherwise empty buffer.
#[derive(Clone, Copy, Debug)]
struct Alone {
    slot: u32,
    arrival: Time,
    has_priority: bool,
}

/// A hash from flow numbers to buckets.
#[derive(Clone, Copy, Debug)]
struct Buckets {
    count: u32,
    salt: u64,
}

impl Buckets {
    /// Returns the bucket of `flow`, mixed as in the finalizer of `SplitMix64` (Steele, Lea, Flood
    /// 2014).
    fn of(self, flow: u32) -> u32 {
        let mut hash = self.salt ^ u64::from(flow);
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        ((u128::from(hash) * u128::from(self.count)) >> 64) as u32
    }
}

/// The scheduler, which selects the flow to serve next.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one instance per link")]
enum Order {
    StartTime(StartTime),
    DeficitRoundRobin(DeficitRoundRobin),
}

impl Fair {
    /// Creates the discipline for `link`.
    pub fn new(params: &FairParams, link: &LinkInfo) -> Self {
        let quantum = params.quantum.map_or(u64::from(link.packet_bytes), Size::bytes);
        let per_weight = quantum as f64 / params.smallest_weight(link);
        let share = |weight: f64| match params.scheduler {
            FairScheduler::DeficitRoundRobin => libm::round(per_weight * weight) as u64,
            _ => libm::round(BYTE as f64 / weight) as u64,
        };
        let groups = link.groups.iter();
        let mut shares: Vec<_> = groups
            .map(|(name, members)| (members.clone(), share(params.weight(name))))
            .filter(|&(_, one)| one != share(1.0))
            .collect();
        shares.sort_by_key(|(members, _)| members.start);
        let mut flows = Flows::default();
        let order = match params.scheduler {
            FairScheduler::StartTime => Order::StartTime(StartTime::new(&mut flows, 0)),
            FairScheduler::PriorityFair => {
                Order::StartTime(StartTime::new(&mut flows, link.packet_bytes))
            }
            FairScheduler::DeficitRoundRobin => {
                Order::DeficitRoundRobin(DeficitRoundRobin::new(&mut flows, per_weight))
            }
        };
        let buckets = params.buckets.map(|count| Buckets { count, salt: link.random().next_u64() });
        Fair {
            limit: link.limit(params.limit),
            drop_from: params.drop_from,
            buckets,
            shares,
            other_share: share(1.0),
            flows,
            order,
            longest: Longest::new(params.longest),
            alone: None,
            gauges: Gauges::new(link.rate),
        }
    }

    /// Returns the number of the queue for packets of `flow`.
    #[inline]
    fn number_of(&self, flow: u32) -> u32 {
        self.buckets.map_or(flow, |buckets| buckets.of(flow))
    }

    /// Returns the slot of the queue for packets of `flow`, and whether the slot is new.
    #[inline]
    fn slot(&mut self, flow: u32) -> (u32, bool) {
        let number = self.number_of(flow);
        match self.flows.find(number) {
            Some(slot) => (slot, false),
            None => (self.begin(number), true),
        }
    }

    #[inline]
    fn begin(&mut self, number: u32) -> u32 {
        let share = if self.shares.is_empty() { self.other_share } else { self.share(number) };
        let slot = self.flows.insert(number, share);
        if let Order::StartTime(order) = &mut self.order {
            order.join(&mut self.flows, slot);
        }
        slot
    }

    fn share(&self, number: u32) -> u64 {
        let at = self.shares.partition_point(|(members, _)| members.end <= number);
        let group = self.shares.get(at).filter(|(members, _)| members.contains(&number));
        group.map_or(self.other_share, |&(_, share)| share)
    }

    /// Drops a packet from the longest queue at `now`; `arrived` is the slot of the packet that has
    /// just arrived.
    fn make_room(&mut self, now: Time, arrived: u32, buffer: &mut Buffer) -> Option<()> {
        let slot = self.longest.find(&self.flows, arrived)?;
        let flow = &mut self.flows[slot];
        let packet = match self.drop_from {
            DropFrom::Front => buffer.pop_front(&mut flow.queue),
            DropFrom::Tail => buffer.pop_back(&mut flow.queue),
        }?;
        buffer.drop(packet, DropReason::Overflow);
        // The packets with priority are at the front.
        flow.express = match self.drop_from {
            DropFrom::Front => flow.express.saturating_sub(1),
            DropFrom::Tail => flow.express.min(flow.queue.packets() as u32),
        };
        if flow.is_backlogged() {
            return Some(());
        }
        self.gauges.end_backlog(now);
        let is_known = match &mut self.order {
            Order::StartTime(order) => order.empty(&mut self.flows, slot),
            Order::DeficitRoundRobin(order) => order.leave(&mut self.flows, slot),
        };
        if !is_known {
            self.flows.remove(slot);
        }
        Some(())
    }

    /// What the queue has measured since its gauges were restarted.
    pub fn measured(&self, now: Time) -> Measured {
        let advance = match &self.order {
            Order::StartTime(order) => order.advance_bytes(),
            Order::DeficitRoundRobin(order) => order.advance_bytes(),
        };
        self.gauges.measured(now, advance, self.alone.is_some())
    }

    /// Decides whether the link was idle when the packet in `alone` arrived, which is known when
    /// that packet is served or the next one arrives.
    fn settle(&mut self, now: Time, buffer: &Buffer) {
        let Some(alone) = self.alone.take() else { return };
        if buffer.packets() != 1 || alone.arrival != now {
            return self.gauges.set_active(alone.arrival, self.flows.len() as u64);
        }
        self.gauges.end_idle(now);
        if let Order::StartTime(order) = &mut self.order {
            order.begin_busy_period(&mut self.flows, alone.slot, buffer, Flows::remove);
        }
        if !alone.has_priority {
            self.gauges.add_priority(self.flows[alone.slot].queue.bytes() as u32);
        }
    }

    #[inline]
    fn take(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        if buffer.packets() == 0 {
            return None;
        }
        let flows = &mut self.flows;
        let slot = match &mut self.order {
            Order::StartTime(order) => order.next(flows, buffer, Flows::remove)?,
            Order::DeficitRoundRobin(order) => order.next(flows, buffer),
        };
        let list_and_next = |slot| flows.get(slot).map(|flow| (&flow.queue, flow.next));
        buffer.pass_turn_to(slot, list_and_next, |slot| flows.prefetch(slot));
        let flow = &mut flows[slot];
        let packet = buffer.pop_front(&mut flow.queue)?;
        let bytes = buffer.packet(&packet).bytes();
        let is_still_backlogged = flow.is_backlogged();
        if !is_still_backlogged {
            self.gauges.end_backlog(now);
        }
        match &mut self.order {
            Order::StartTime(order) => order.on_service(flows, slot, bytes),
            Order::DeficitRoundRobin(_) if is_still_backlogged => {
                DeficitRoundRobin::on_service(flow, bytes);
            }
            Order::DeficitRoundRobin(order) => {
                order.leave(flows, slot);
                flows.remove(slot);
            }
        }
        Some(packet)
    }
}

impl Retune for Fair {
    type Params = FairParams;
    const FIXED: &'static [&'static str] =
        &["scheduler", "longest", "drop_from", "quantum", "buckets", "weights"];

    fn retune(&mut self, params: &FairParams, link: &LinkInfo) {
        self.limit = link.limit(params.limit);
    }
}

impl Scheduler for Fair {
    fn memory_bytes(&self) -> u64 {
        self.flows.memory_bytes()
    }

    #[expect(clippy::inline_always, reason = "one caller: the event stays in registers")]
    #[inline(always)]
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
        let was_empty = buffer.packets() == 0;
        if self.alone.is_some() {
            self.settle(Time::NEVER, buffer);
        }
        let (slot, is_new) = self.slot(packet.flow());
        let flow = &mut self.flows[slot];
        let starts = flow.queue.is_empty();
        let has_priority = match &mut self.order {
            Order::StartTime(order) => {
                order.admit(flow, slot, packet.time(), packet.bytes()).unwrap_or(is_new)
            }
            Order::DeficitRoundRobin(_) => is_new,
        };
        if has_priority {
            self.gauges.add_priority(packet.bytes());
        }
        buffer.push_back(&mut flow.queue, packet);
        if starts {
            self.gauges.begin_backlog(packet.time());
            if let Order::DeficitRoundRobin(order) = &mut self.order {
                order.join(&mut self.flows, slot);
            }
        }
        self.longest.grow(&self.flows, slot);
        while !self.limit.holds(buffer.packets(), buffer.bytes())
            && self.make_room(packet.time(), slot, buffer).is_some()
        {}
        if was_empty {
            self.alone = Some(Alone { slot, arrival: packet.time(), has_priority });
        } else {
            self.gauges.set_active(packet.time(), self.flows.len() as u64);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        if self.alone.is_some() {
            self.settle(now, buffer);
        }
        let packet = self.take(now, buffer)?;
        if buffer.packets() == 0 {
            self.gauges.on_empty(now, buffer.packet(&packet).bytes());
        }
        self.gauges.set_active(now, self.flows.len() as u64);
        Some(packet)
    }

    #[inline]
    fn prefetch_flow(&self, flow: u32) {
        if let Some(slot) = self.flows.find(self.number_of(flow)) {
            self.flows.prefetch(slot);
        }
    }

    fn gauges(&self, now: Time) -> Vec<Gauge> {
        self.gauges.report(now, self.measured(now), self.alone.is_some())
    }

    fn set_rate(&mut self, rate: Rate) {
        self.gauges.set_rate(rate);
    }

    fn restart_gauges(&mut self, now: Time) {
        self.gauges.restart(now);
        match &mut self.order {
            Order::StartTime(order) => order.restart_advance(),
            Order::DeficitRoundRobin(order) => order.restart_advance(),
        }
    }
}
