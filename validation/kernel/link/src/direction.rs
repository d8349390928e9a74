//! One direction between the hosts: a link of the engine with real packets in it, and propagation.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tailroom_engine::link::{Link, LinkOutcome};
use tailroom_engine::network::Network;
use tailroom_engine::packet::in_network::Event;
use tailroom_engine::packet::{Ecn, Packet};
use tailroom_engine::units::Time;

use crate::ip;
use crate::packets::PacketStore;
use crate::plan::{Plan, Route};
use crate::statistics::{Fate, Statistics};

/// Bins of the series of departures.
pub const BIN: Time = Time::from_milliseconds(100);

/// A direction between the hosts.
#[derive(Debug)]
pub struct Direction {
    queue: Option<BottleneckQueue>,
    /// By flow.
    routes: Vec<Route>,
    packets: PacketStore,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    inserted: u64,
    statistics: Statistics,
}

/// A packet behind the link. The order is that of delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    due: Time,
    /// Packets that are due at once are delivered in the order in which they departed.
    number: u64,
    slot: u32,
}

/// The engine's link and its queue.
#[derive(Debug)]
struct BottleneckQueue {
    link: Link,
    /// Least time between the start of a transmission and the delivery: services need not be carried
    /// out at their time, only before anything that follows from them.
    least_delay: Time,
    /// Behind an admission rule: when the packets that wait begin transmission.
    starts: VecDeque<Time>,
    buffer_packets: f64,
}

impl Direction {
    /// The empty direction of a plan: 0 from host A to host B, 1 from B to A.
    pub fn new(plan: &Plan, direction: usize) -> Self {
        let network = &plan.network;
        let (from, to) = (network.measure_from, network.duration);
        Direction {
            queue: (direction < network.links.len())
                .then(|| BottleneckQueue::new(network, direction)),
            routes: plan.flows.iter().map(|flow| flow.routes[direction]).collect(),
            packets: PacketStore::default(),
            in_flight: BinaryHeap::new(),
            inserted: 0,
            statistics: Statistics::new(plan.flows.len(), from, to, BIN),
        }
    }

    /// The statistics so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Packets of the data packets' size that fit into the buffer; `None` without a link.
    pub fn buffer_packets(&self) -> Option<f64> {
        self.queue.as_ref().map(|queue| queue.buffer_packets)
    }

    /// Bits that the link could carry in the measured window; `None` without a link.
    pub fn capacity_bits(&self, plan: &Plan) -> Option<f64> {
        let (from, to) = (plan.network.measure_from, plan.network.duration);
        self.queue.as_ref().map(|queue| queue.link.capacity_bits(from, to))
    }

    /// A packet of a flow arrives at `now`. Times must not decrease.
    pub fn arrive(&mut self, now: Time, flow: u32, ecn: Ecn, bytes: &[u8]) {
        self.serve_until(now);
        self.statistics.on_arrival(now, flow);
        let slot = self.packets.insert(bytes);
        let route = self.routes[flow as usize];
        let (Some(class), Some(queue)) = (route.class, &mut self.queue) else {
            let size = bytes.len() as u32;
            self.statistics.on_departure(now, flow, size, Time::ZERO);
            self.fly(now.saturating_add(route.delay), slot);
            return;
        };
        let size = bytes.len() as u32;
        let sequence = u64::from(slot);
        let packet = Packet { sequence, bytes: size, sent: now, ecn, ..Packet::default() };
        let mut event = Event::arrival(now, flow, 0, &packet);
        match queue.link.arrive(&mut event, class) {
            LinkOutcome::Held => self.take_dropped(now),
            LinkOutcome::Dropped => self.lose(now, flow, slot, Fate::Dropped),
            outcome => {
                let waited = queue.link.last_wait();
                if waited > Time::ZERO {
                    queue.starts.push_back(now + waited);
                }
                self.depart(event, ecn, outcome);
            }
        }
    }

    /// A packet that belongs to no flow: it is delivered at once.
    pub fn pass_foreign(&mut self, now: Time, bytes: &[u8]) {
        self.statistics.foreign_packets += 1;
        let slot = self.packets.insert(bytes);
        self.fly(now, slot);
    }

    /// Carries out what is due by `now`, and passes each delivered packet and its time to `deliver`.
    pub fn advance(&mut self, now: Time, mut deliver: impl FnMut(&[u8], Time)) {
        self.serve_until(now);
        while let Some(Reverse(first)) = self.in_flight.peek().copied()
            && first.due <= now
        {
            self.in_flight.pop();
            deliver(self.packets.get_mut(first.slot), first.due);
            self.packets.remove(first.slot);
        }
    }

    /// When [`Direction::advance`] has to be called next; [`Time::NEVER`] if nothing is on the way.
    pub fn next_due(&self) -> Time {
        let flight = self.in_flight.peek().map_or(Time::NEVER, |Reverse(first)| first.due);
        let service = self.queue.as_ref().map_or(Time::NEVER, BottleneckQueue::service_due);
        flight.min(service)
    }

    /// Records the length of the queue at `now`.
    pub fn sample(&mut self, now: Time) {
        self.serve_until(now);
        if let Some(queue) = &mut self.queue {
            self.statistics.sample_queue(queue.packets(now));
        }
    }

    /// Number of packets that wait or propagate.
    pub fn packets_inside(&self) -> usize {
        self.packets.len()
    }

    /// Begins every transmission of a scheduler that is due by `now`.
    fn serve_until(&mut self, now: Time) {
        while let Some(queue) = &mut self.queue
            && queue.link.next_service() <= now
        {
            let start = queue.link.next_service();
            let routes = &self.routes;
            let class_of = |event: Event| routes[event.flow() as usize].class.unwrap_or(0);
            let served = queue.link.serve(class_of);
            self.take_dropped(start);
            if let Some((event, outcome)) = served {
                let original = ip::parse(self.packets.get_mut(event.slot()));
                let ecn = original.map_or(Ecn::NotEct, |header| header.ecn);
                self.depart(event, ecn, outcome);
            }
        }
    }

    /// The transmission of a packet has begun, and its departure is known.
    fn depart(&mut self, event: Event, original: Ecn, outcome: LinkOutcome) {
        let Some(queue) = &self.queue else { return };
        let (at, waited) = (queue.link.busy_until(), queue.link.last_wait());
        let (flow, slot) = (event.flow(), event.slot());
        self.statistics.on_departure(at, flow, event.bytes(), waited);
        if event.ecn() == Ecn::Ce && original != Ecn::Ce {
            self.statistics.on_mark(at, flow);
            ip::mark(self.packets.get_mut(slot));
        }
        match outcome {
            LinkOutcome::Delivered(due) => {
                let delay = self.routes[flow as usize].delay;
                self.fly(due.saturating_add(delay), slot);
            }
            _ => self.lose(at, flow, slot, Fate::Lost),
        }
    }

    fn fly(&mut self, due: Time, slot: u32) {
        self.inserted += 1;
        self.in_flight.push(Reverse(InFlight { due, number: self.inserted, slot }));
    }

    /// Takes note of the packets that a scheduler has dropped.
    fn take_dropped(&mut self, now: Time) {
        let Direction { queue: Some(queue), packets, statistics, routes, .. } = self else {
            return;
        };
        queue.link.drain_dropped(now, |dropped| {
            let (flow, slot) = (dropped.packet.flow(), dropped.packet.slot());
            packets.remove(slot);
            statistics.on_lost(now, flow, Fate::Dropped);
            routes[flow as usize].class.unwrap_or(0)
        });
    }

    fn lose(&mut self, at: Time, flow: u32, slot: u32, fate: Fate) {
        self.packets.remove(slot);
        self.statistics.on_lost(at, flow, fate);
    }
}

impl BottleneckQueue {
    fn new(network: &Network, index: usize) -> Self {
        let (spec, facts) = (&network.links[index], network.link_facts(index));
        let limit = spec.limit(spec.queue.parameters().limit());
        BottleneckQueue {
            link: Link::new(spec, &facts),
            least_delay: if spec.delay_changes.is_empty() { spec.delay } else { Time::ZERO },
            starts: VecDeque::new(),
            buffer_packets: limit.in_packets(facts.packet_bytes),
        }
    }

    fn service_due(&self) -> Time {
        self.link.next_service().saturating_add(self.least_delay)
    }

    fn packets(&mut self, now: Time) -> u64 {
        if let Some(queue) = self.link.scheduled() {
            return queue.packets();
        }
        while self.starts.front().is_some_and(|start| *start <= now) {
            self.starts.pop_front();
        }
        self.starts.len() as u64
    }
}
