//! Per-flow fair queueing over a shared buffer with drop from the longest queue.
//!
//! Every flow has its own queue; a scheduler shares the link among those that wait; a full buffer
//! drops from the longest queue, the packet that arrives counted in. Nothing is marked.
//!
//! A flow is *backlogged* while packets of it wait, and *active* while it is backlogged or its last
//! finish tag lies beyond the virtual time (under deficit round robin: while it is backlogged).
//! Flows that are not active are not known, and cost four bytes each. When the link has been idle
//! no flow is active.
//!
//! What is measured, over the window since the warm-up:
//! - `active_flows`: how many are active now; `_mean`, `_p99`, `_max` over time.
//! - `backlogged_flows_mean`: how many wait, over time.
//! - `fair_rate_bps`, what a flow of weight 1 that always waits would get (Kortebi, Oueslati,
//!   Roberts 2004 sec. III): max(S C, 8 V) / T, with S the idle time of the window T, C the link's
//!   rate at the start, and V the advance of the virtual time in bytes at weight 1; under deficit
//!   round robin V is the quantum of weight 1 times the rounds begun while packets waited; never
//!   more than C.
//! - `priority_load` (same source): 8 P / (C T), with P the bytes that arrived with priority; under
//!   the schedulers without priority those of packets that found their flow not active.

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

use rand_core::Rng;

use super::buffer::{Buffer, DropReason, Unlisted};
use super::{Gauge, LinkInfo, Scheduler};
use crate::packet::in_network::Event;
use crate::quantity::Size;
use crate::quantity::limit::Limit;
use crate::units::Time;
use deficit_round_robin::DeficitRoundRobin;
use flows::Flows;
use gauges::Gauges;
pub use longest::Length;
use longest::Longest;
pub use params::{DropFrom, FairParams, FairScheduler};
use start_time::{BYTE, StartTime};

/// A fair queue.
#[derive(Debug)]
pub struct Fair {
    limit: Limit,
    drop_from: DropFrom,
    buckets: Option<Buckets>,
    /// Flows of each group of another weight than 1 and their share (see `Flow`), in order of the
    /// flows. None with buckets, whose numbers mean no flows.
    shares: Vec<(Range<u32>, u64)>,
    /// That of the other flows.
    other_share: u64,
    flows: Flows,
    order: Order,
    longest: Longest,
    /// The packet that came into the empty buffer, until it is clear whether the link was idle.
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

/// A hash of flows to buckets.
#[derive(Clone, Copy, Debug)]
struct Buckets {
    count: u32,
    salt: u64,
}

impl Buckets {
    /// Mixes as the finalizer of `SplitMix64` does (Steele, Lea, Flood 2014).
    fn of(self, flow: u32) -> u32 {
        let mut hash = self.salt ^ u64::from(flow);
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        ((u128::from(hash) * u128::from(self.count)) >> 64) as u32
    }
}

/// Whose packet leaves next.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one a link")]
enum Order {
    StartTime(StartTime),
    DeficitRoundRobin(DeficitRoundRobin),
}

impl Fair {
    /// Starts the discipline.
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

    /// The slot of the queue that packets of `flow` go to, and whether it is new.
    #[inline]
    fn slot(&mut self, flow: u32) -> (u32, bool) {
        let number = self.buckets.map_or(flow, |buckets| buckets.of(flow));
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

    /// Drops from the longest queue at `now`; `arrived` is the slot of the packet that has just come.
    fn make_room(&mut self, now: Time, arrived: u32, buffer: &mut Buffer) -> Option<()> {
        let slot = self.longest.find(&self.flows, arrived)?;
        let flow = &mut self.flows[slot];
        let packet = match self.drop_from {
            DropFrom::Front => buffer.pop_front(&mut flow.line),
            DropFrom::Tail => buffer.pop_back(&mut flow.line),
        }?;
        buffer.drop(packet, DropReason::Overflow);
        // The packets with priority are the first ones.
        flow.express = match self.drop_from {
            DropFrom::Front => flow.express.saturating_sub(1),
            DropFrom::Tail => flow.express.min(flow.line.packets() as u32),
        };
        if flow.waits() {
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

    /// Whether the link was idle until the only packet that waits came is known when it is served.
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
            self.gauges.add_priority(self.flows[alone.slot].line.bytes() as u32);
        }
    }

    #[inline]
    fn take(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted> {
        if buffer.packets() == 0 {
            return None;
        }
        let flows = &mut self.flows;
        let slot = match &mut self.order {
            Order::StartTime(order) => order.next(flows, buffer, Flows::remove)?,
            Order::DeficitRoundRobin(order) => order.next(flows, buffer),
        };
        let flow = &mut flows[slot];
        let packet = buffer.pop_front(&mut flow.line)?;
        let bytes = buffer.packet(&packet).bytes();
        let still_waits = flow.waits();
        if !still_waits {
            self.gauges.end_backlog(now);
        }
        match &mut self.order {
            Order::StartTime(order) => order.on_service(flows, slot, bytes),
            Order::DeficitRoundRobin(_) if still_waits => {
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

impl Scheduler for Fair {
    #[inline]
    fn enqueue(&mut self, packet: Event, buffer: &mut Buffer) {
        let was_empty = buffer.packets() == 0;
        if self.alone.is_some() {
            self.settle(Time::NEVER, buffer);
        }
        let (slot, is_new) = self.slot(packet.flow());
        let flow = &mut self.flows[slot];
        let starts = flow.line.is_empty();
        let has_priority = match &mut self.order {
            Order::StartTime(order) => order.admit(flow, slot, &packet).unwrap_or(is_new),
            Order::DeficitRoundRobin(_) => is_new,
        };
        if has_priority {
            self.gauges.add_priority(packet.bytes());
        }
        buffer.push_back(&mut flow.line, packet);
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
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted> {
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

    fn gauges(&self, now: Time) -> Vec<Gauge> {
        let advance = match &self.order {
            Order::StartTime(order) => order.advance_bytes(),
            Order::DeficitRoundRobin(order) => order.advance_bytes(),
        };
        self.gauges.report(now, advance, self.alone.is_some())
    }

    fn restart_gauges(&mut self, now: Time) {
        self.gauges.restart(now);
        match &mut self.order {
            Order::StartTime(order) => order.restart_advance(),
            Order::DeficitRoundRobin(order) => order.restart_advance(),
        }
    }
}
