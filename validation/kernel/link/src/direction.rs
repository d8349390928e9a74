//! One direction between the hosts: a link of the engine with real packets in it, and propagation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailroom_engine::bottleneck::{Bottleneck, Fate, Outcome};
use tailroom_engine::packet::Ecn;
use tailroom_engine::units::Time;

use crate::ip;
use crate::plan::{Plan, Route};
use crate::statistics::{Loss, Statistics};

/// Bins of the series of departures.
pub const BIN: Time = Time::from_milliseconds(100);

/// A direction between the hosts.
#[derive(Debug)]
pub struct Direction {
    queue: Option<Queue>,
    /// By flow.
    routes: Vec<Route>,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    inserted: u64,
    statistics: Statistics,
}

/// A packet behind the link. The order is that of delivery.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    due: Time,
    /// Packets that are due at once are delivered in the order in which they departed.
    number: u64,
    packet: Vec<u8>,
}

/// The engine's link, with the packets that wait.
#[derive(Debug)]
struct Queue {
    link: Bottleneck<Vec<u8>>,
    /// Least time between the start of a transmission and the delivery: services need not be carried
    /// out at their time, only before anything that follows from them.
    least_delay: Time,
    buffer_packets: f64,
    waiting: usize,
}

impl Direction {
    /// The empty direction of a plan: 0 from host A to host B, 1 from B to A.
    /// At most `most_drops` drops are recorded one by one.
    pub fn new(plan: &Plan, direction: usize, most_drops: usize) -> Self {
        Direction {
            queue: (direction < plan.network.links.len()).then(|| Queue::new(plan, direction)),
            routes: plan.flows.iter().map(|flow| flow.routes[direction]).collect(),
            in_flight: BinaryHeap::new(),
            inserted: 0,
            statistics: Statistics::new(plan, BIN, most_drops),
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
        self.queue.as_ref().map(|queue| queue.link.link().capacity_bits(from, to))
    }

    /// A packet of a flow arrives at `now`. Times must not decrease.
    pub fn arrive(&mut self, now: Time, flow: u32, ecn: Ecn, bytes: &[u8]) {
        let route = self.routes[flow as usize];
        match &mut self.queue {
            Some(queue) if route.class.is_some() => {
                self.statistics.on_arrival(now, flow, ip::is_data(bytes));
                queue.link.arrive(now, flow, bytes.len() as u32, ecn, bytes.to_vec());
                queue.waiting += 1;
            }
            _ => {
                self.statistics.on_bypass(now, flow);
                self.fly(now.saturating_add(route.delay), bytes.to_vec());
            }
        }
        self.serve_until(now);
    }

    /// A packet that belongs to no flow: it is delivered at once.
    pub fn pass_foreign(&mut self, now: Time, bytes: &[u8]) {
        self.statistics.foreign_packets += 1;
        self.fly(now, bytes.to_vec());
    }

    /// Carries out what is due by `now`, and passes each delivered packet and its time to `deliver`.
    pub fn advance(&mut self, now: Time, mut deliver: impl FnMut(&[u8], Time)) {
        self.serve_until(now);
        while self.in_flight.peek().is_some_and(|Reverse(first)| first.due <= now) {
            if let Some(Reverse(first)) = self.in_flight.pop() {
                deliver(&first.packet, first.due);
            }
        }
    }

    /// When [`Direction::advance`] has to be called next; [`Time::NEVER`] if nothing is on the way.
    pub fn next_due(&self) -> Time {
        let flight = self.in_flight.peek().map_or(Time::NEVER, |Reverse(first)| first.due);
        let service = self
            .queue
            .as_ref()
            .map_or(Time::NEVER, |queue| queue.link.next_due().saturating_add(queue.least_delay));
        flight.min(service)
    }

    /// Records the length of the queue at `now`.
    pub fn sample(&mut self, now: Time) {
        self.serve_until(now);
        if let Some(queue) = &mut self.queue {
            self.statistics.sample_queue(queue.link.queue_packets(now));
        }
    }

    /// Number of packets that wait or propagate.
    pub fn packets_inside(&self) -> usize {
        self.in_flight.len() + self.queue.as_ref().map_or(0, |queue| queue.waiting)
    }

    /// Begins every transmission that is due by `now`.
    fn serve_until(&mut self, now: Time) {
        while let Some(outcome) = self.queue.as_mut().and_then(|queue| queue.poll(now)) {
            self.follow(outcome);
        }
    }

    /// The fate of a packet is known.
    fn follow(&mut self, outcome: Outcome<Vec<u8>>) {
        let Outcome { mut packet, flow, bytes, fate, .. } = outcome;
        let is_data = ip::is_data(&packet);
        match fate {
            Fate::Delivered { at, departure, waited, is_marked, .. } => {
                self.statistics.on_departure(departure, flow, bytes, waited);
                if is_marked {
                    self.statistics.on_mark(departure, flow);
                    ip::mark(&mut packet);
                }
                let delay = self.routes[flow as usize].delay;
                self.fly(at.saturating_add(delay), packet);
            }
            Fate::Lost { departure, waited, is_marked, .. } => {
                self.statistics.on_departure(departure, flow, bytes, waited);
                if is_marked {
                    self.statistics.on_mark(departure, flow);
                }
                self.statistics.on_lost(departure, flow, Loss::OnTheWire, is_data);
            }
            Fate::Dropped { at, .. } => {
                self.statistics.on_lost(at, flow, Loss::Dropped, is_data);
            }
            _ => {}
        }
    }

    fn fly(&mut self, due: Time, packet: Vec<u8>) {
        self.inserted += 1;
        self.in_flight.push(Reverse(InFlight { due, number: self.inserted, packet }));
    }
}

impl Queue {
    fn new(plan: &Plan, direction: usize) -> Self {
        let spec = &plan.network.links[direction];
        let info = plan.network.link_facts().swap_remove(direction);
        let limit = spec.limit(spec.queue.parameters().limit());
        Queue {
            link: Bottleneck::with_info(spec, &info).expect("the scenario has been checked"),
            least_delay: if spec.delay_changes.is_empty() { spec.delay } else { Time::ZERO },
            buffer_packets: limit.in_packets(info.packet_bytes),
            waiting: 0,
        }
    }

    fn poll(&mut self, now: Time) -> Option<Outcome<Vec<u8>>> {
        let outcome = self.link.poll(now)?;
        self.waiting -= 1;
        Some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use tailroom_engine::link::{Link, LinkOutcome};
    use tailroom_engine::packet::Packet;
    use tailroom_engine::packet::transit::Transit;
    use tailroom_engine::probe::window::Window;

    use super::*;
    use crate::plan::tests::{DROP_TAIL, NAMED, plan};

    const MOST_DROPS: usize = 100_000;

    /// Three flows without a reverse path: one without ECN, two with.
    const FLOWS: &str = "[flows.plain]\npath = [\"there\"]\ncongestion = \"cubic\"\nrtt = \"20 ms\"\n\
        [flows.marked]\ncount = 2\npath = [\"there\"]\ncongestion = \"cubic\"\nrtt = \"40 ms\"\n\
        ecn = \"classic\"\n";

    fn three_flows(queue: &str) -> Plan {
        plan(queue, &format!("{NAMED}{FLOWS}").replace("htcp", "reno")).expect("a plan")
    }

    /// A packet of a flow with this length and ECN field; its last bytes are a number of its own.
    fn packet(number: u32, flow: u32, bytes: usize, ecn: Ecn) -> Vec<u8> {
        let mut packet = vec![0x45, ecn as u8, 0, 0, 0, 0, 0, 0, 64, 6];
        packet.resize(bytes, 0);
        packet[22..24].copy_from_slice(&(10_000 + flow as u16).to_be_bytes());
        packet[bytes - 4..].copy_from_slice(&number.to_be_bytes());
        packet
    }

    fn number(packet: &[u8]) -> u32 {
        let last = packet.last_chunk().expect("four bytes");
        u32::from_be_bytes(*last)
    }

    /// Number, ECN field and delivery time of each packet.
    type Delivered = Vec<(u32, Ecn, Time)>;

    fn advance(direction: &mut Direction, now: Time, delivered: &mut Delivered) {
        direction.advance(now, |bytes, due| {
            let ecn = ip::parse(bytes).expect("a TCP packet").ecn;
            delivered.push((number(bytes), ecn, due));
        });
    }

    #[test]
    fn tail_drop_serves_in_order_at_the_rate_and_then_delays() {
        // 1250 bytes take 1 ms at 10 Mbit/s: 22 packets at once are one in transmission, 20 that
        // wait, and one that is dropped.
        let plan = three_flows(DROP_TAIL);
        let mut direction = Direction::new(&plan, 0, MOST_DROPS);
        let start = Time::from_milliseconds(100);
        for at in 0..22 {
            direction.arrive(start, 1, Ecn::NotEct, &packet(at, 1, 1_250, Ecn::NotEct));
        }
        direction.sample(start);
        assert_eq!(direction.next_due(), Time::from_milliseconds(106));
        let mut delivered = Vec::new();
        advance(&mut direction, Time::from_milliseconds(115), &mut delivered);
        direction.sample(Time::from_milliseconds(115));
        let expected = |at: u32| (at, Ecn::NotEct, Time::from_milliseconds(106 + u64::from(at)));
        assert_eq!(delivered, (0..10).map(expected).collect::<Vec<_>>());
        advance(&mut direction, Time::NEVER, &mut delivered);
        assert_eq!(delivered, (0..21).map(expected).collect::<Vec<_>>());
        assert_eq!((direction.packets_inside(), direction.buffer_packets()), (0, Some(20.0)));
        let report = direction.statistics().report();
        assert_eq!(report.queue_packets, [20, 5]);
        let counts = direction.statistics().whole(1);
        assert_eq!((counts.arrivals_packets, counts.departures_packets), (22, 21));
        assert_eq!((counts.drops_packets, counts.departures_bytes), (1, 21 * 1_250));
        assert_eq!((report.drop_flows, report.drop_times_s), (vec![1], vec![0.1]));
        // Departures from 101 ms on, in bins of 100 ms.
        assert_eq!(report.departures_bytes_per_bin[1], [0, 21 * 1_250]);
        assert_eq!(report.measured[1].arrivals_packets, 0, "measured from 2 s on");
    }

    #[test]
    fn a_direction_without_a_link_delays_each_flow_by_its_own_propagation() {
        let plan = three_flows(DROP_TAIL);
        let mut direction = Direction::new(&plan, 1, MOST_DROPS);
        for flow in [3, 0, 1, 2] {
            direction.arrive(Time::ZERO, flow, Ecn::NotEct, &packet(flow, flow, 60, Ecn::NotEct));
        }
        direction.pass_foreign(Time::ZERO, &packet(9, 9, 60, Ecn::NotEct));
        let mut delivered = Vec::new();
        advance(&mut direction, Time::NEVER, &mut delivered);
        let ms = Time::from_milliseconds;
        let at = |number, milliseconds| (number, Ecn::NotEct, ms(milliseconds));
        // In order of arrival where the delay is the same.
        assert_eq!(delivered, [at(9, 0), at(1, 15), at(0, 25), at(3, 35), at(2, 35)]);
        let statistics = direction.statistics();
        assert_eq!(statistics.foreign_packets, 1);
        let counts = crate::statistics::Counts { bypassing_packets: 1, ..Default::default() };
        assert!((0..4).all(|flow| statistics.whole(flow) == counts));
    }

    /// Arrivals of 20,000 packets of four flows in bursts, at 1.2 times the rate on average.
    fn arrivals() -> Vec<(Time, u32, Ecn, usize)> {
        let mut state = 12_345_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut now = 0;
        let ecn = [Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1];
        (0..20_000)
            .map(|_| {
                if draw(8) == 0 {
                    now += draw(6_600_000) * 1_000;
                }
                let flow = draw(4) as u32;
                let bytes = [60, 576, 1_250][draw(3) as usize];
                (Time::from_picoseconds(now), flow, ecn[flow as usize], bytes)
            })
            .collect()
    }

    /// What the engine's link alone makes of the arrivals: the packets that leave it, as they are
    /// delivered, and the number of drops.
    fn by_the_engine(plan: &Plan) -> (Delivered, usize) {
        let (spec, facts) = (&plan.network.links[0], plan.network.link_facts().swap_remove(0));
        let mut link = Link::new(spec, &facts, Window::default());
        let class = |event: Transit| plan.flows[event.flow() as usize].routes[0].class.unwrap_or(9);
        let (mut delivered, mut drops) = (Vec::new(), 0);
        let mut serve = |link: &mut Link, now: Time, delivered: &mut Delivered| {
            while link.next_service() <= now && link.next_service() != Time::NEVER {
                if let Some((event, LinkOutcome::Delivered(at))) = link.serve(class) {
                    delivered.push((event.slot(), event.ecn(), at));
                }
            }
            link.drain_dropped(now, |dropped| {
                drops += 1;
                class(dropped.packet)
            });
        };
        for (index, (now, flow, ecn, bytes)) in arrivals().into_iter().enumerate() {
            serve(&mut link, now, &mut delivered);
            let sequence = index as u64;
            let packet =
                Packet { sequence, bytes: bytes as u32, ecn, sent: now, ..Packet::default() };
            let mut event = Transit::arrival(now, flow, 0, &packet);
            let class = class(event);
            match link.arrive(&mut event, class) {
                LinkOutcome::Delivered(at) => delivered.push((index as u32, event.ecn(), at)),
                LinkOutcome::Dropped(_) | LinkOutcome::Lost | LinkOutcome::Held => {}
            }
        }
        serve(&mut link, Time::AFTER_ALL_RUNS, &mut delivered);
        (delivered, drops)
    }

    #[test]
    fn each_discipline_does_to_real_packets_what_it_does_in_the_simulator() {
        for queue in [
            "{ kind = \"drop_tail\", limit = \"30 kB\" }",
            "{ kind = \"red\", limit = \"100 packets\" }",
            "{ kind = \"drop_head\", limit = \"20 packets\" }",
            "{ kind = \"codel\", limit = \"200 packets\" }",
            "{ kind = \"pie\", limit = \"200 packets\" }",
            "{ kind = \"dual_pi2\", limit = \"200 packets\" }",
            "{ kind = \"fair\", limit = \"50 packets\" }",
            "{ kind = \"fq_codel\", limit = \"200 packets\" }",
            "{ kind = \"fq_pie\", limit = \"200 packets\" }",
        ] {
            let plan = three_flows(queue);
            let mut direction = Direction::new(&plan, 0, MOST_DROPS);
            let mut delivered = Vec::new();
            for (index, (now, flow, ecn, bytes)) in arrivals().into_iter().enumerate() {
                // The loop looks only now and then, and never before it has to.
                if direction.next_due() <= now || index % 7 == 0 {
                    advance(&mut direction, now, &mut delivered);
                }
                direction.arrive(now, flow, ecn, &packet(index as u32, flow, bytes, ecn));
            }
            advance(&mut direction, Time::AFTER_ALL_RUNS, &mut delivered);
            let (expected, dropped_later) = by_the_engine(&plan);
            assert!(delivered == expected, "{queue}");
            let counts: Vec<_> = (0..4).map(|flow| direction.statistics().whole(flow)).collect();
            let sum = |count: fn(&crate::statistics::Counts) -> u64| counts.iter().map(count).sum();
            let (drops, departures): (u64, u64) =
                (sum(|counts| counts.drops_packets), sum(|counts| counts.departures_packets));
            assert_eq!(drops + departures, 20_000, "{queue}");
            assert!(drops > 100 && drops >= dropped_later as u64, "{queue}");
            let marks: u64 = sum(|counts| counts.marks_packets);
            let is_ce = |(_, ecn, _): &&(u32, Ecn, Time)| *ecn == Ecn::Ce;
            assert_eq!(marks, expected.iter().filter(is_ce).count() as u64, "{queue}");
            assert_eq!(direction.packets_inside(), 0, "{queue}");
        }
    }
}
