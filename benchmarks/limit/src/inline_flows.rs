//! Flows whose private part is computed inline: receiver and sender of a flow are fed by a FIFO
//! path, so their reaction to a packet is known, in the flow's own future time, as soon as the
//! departure from the last shared queue is. Only arrivals at shared queues are events; a timer is
//! an event only while its flow has nothing in the network.

use crate::cpu_time::{Chunks, cpu_time};
use crate::event_queue::{Entry, EventQueue, WithPayload};
use crate::flow::{Dropped, Flow, RetransmissionTimer, ticks};
use crate::link::Link;
use crate::prefetch::prefetch;
use crate::report::Report;
use crate::scenario::Scenario;
use crate::window_law::WindowLaw;

/// What a run includes in addition to RTO and RTT estimates.
pub trait Variant {
    /// Behind two links a packet carries its number and time of sending.
    type Entry: Entry;
    const RED: bool = false;
    const CODEL: bool = false;
    /// Two links and one acknowledgement per packet; otherwise one link and delayed ACKs.
    const TWO_HOPS: bool = false;
}

pub struct DropTail;
impl Variant for DropTail {
    type Entry = u64;
}

pub struct Red;
impl Variant for Red {
    type Entry = u64;
    const RED: bool = true;
}

pub struct CoDel;
impl Variant for CoDel {
    type Entry = u64;
    const CODEL: bool = true;
}

pub struct TwoHops;
impl Variant for TwoHops {
    type Entry = WithPayload;
    const TWO_HOPS: bool = true;
}

// The kind of an event is above the flow's number.
const FLOW_BITS: u32 = 24;
const FLOW_MASK: u32 = (1 << FLOW_BITS) - 1;
const AT_FIRST: u32 = 0;
const AT_SECOND: u32 = 1 << FLOW_BITS;
const TIMEOUT: u32 = 2 << FLOW_BITS;
const DELAYED_ACK: u32 = 3 << FLOW_BITS;
const START: u32 = 4 << FLOW_BITS;

const BETWEEN_LINKS_PS: u64 = 5_000_000_000; // 5 ms
const DELAYED_ACK_PS: u64 = 40_000_000_000; // 40 ms
/// How many events ahead the flow's state is fetched, and how many packets in a ring.
const EVENTS_AHEAD: usize = 12;
const PACKETS_AHEAD: usize = 8;

/// The second cache line of a flow: timer and receiver.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Ends {
    timer: RetransmissionTimer,
    ack_deadline_ps: u64,
    next_expected: u32,
    /// The packet whose acknowledgement the receiver holds back.
    held: u32,
    holds_ack: bool,
}

struct Simulation<V: Variant> {
    events: EventQueue<V::Entry>,
    flows: Vec<Flow>,
    ends: Vec<Ends>,
    dropped: Vec<Dropped>,
    law: WindowLaw,
    first: Link,
    second: Link,
    event_count: u64,
    acked: u64,
    timeouts: u64,
    late_acks: u64,
}

pub fn run<V: Variant>(scenario: &Scenario) -> Report {
    let before = cpu_time();
    let mut simulation = Simulation::<V>::new(scenario);
    let chunks = simulation.run_until(scenario.end_ps());
    Report {
        chunks,
        cpu_ns: (cpu_time() - before).as_nanos() as f64,
        departures: [simulation.first.departures, simulation.second.departures],
        drops: simulation.first.drops + simulation.second.drops,
        acked: simulation.acked,
        timeouts: simulation.timeouts,
        late_acks: simulation.late_acks,
        events: simulation.event_count,
        in_flight: simulation.flows.iter().map(|flow| u64::from(flow.live)).sum(),
        hash: Report::hash(&simulation.flows),
    }
}

impl<V: Variant> Simulation<V> {
    fn new(scenario: &Scenario) -> Self {
        let law = WindowLaw::new();
        let (mut flows, starts) = scenario.draw_flows(&law);
        if V::TWO_HOPS {
            flows.iter_mut().for_each(|flow| flow.rtt_ps -= BETWEEN_LINKS_PS);
        }
        let first = Link::new(scenario.rate_bps, scenario.packet_bytes, scenario.buffer_packets);
        let second_limit = if V::TWO_HOPS { scenario.buffer_packets } else { 2 };
        let second = Link::new(scenario.rate_bps * 1.25, scenario.packet_bytes, second_limit);
        let longest_rtt_ps = (scenario.rtt_s * 1.2 * 1e12) as u64;
        let horizon_ps = longest_rtt_ps + first.limit_ps + second.limit_ps + 2_000_000_000;
        let mut events = EventQueue::new(scenario.bucket_shift, horizon_ps);
        for (flow, &start_ps) in starts.iter().enumerate() {
            events.push(start_ps, flow as u32 | START, 0);
        }
        let ends = Ends {
            timer: RetransmissionTimer::new(),
            ack_deadline_ps: 0,
            next_expected: 0,
            held: 0,
            holds_ack: false,
        };
        Self {
            events,
            ends: vec![ends; flows.len()],
            dropped: vec![Dropped::new(); flows.len()],
            flows,
            law,
            first,
            second,
            event_count: 0,
            acked: 0,
            timeouts: 0,
            late_acks: 0,
        }
    }

    fn run_until(&mut self, end_ps: u64) -> Chunks {
        let mut chunks = Chunks::default();
        loop {
            if V::CODEL && self.first.next_departure_ps <= self.events.next_time() {
                if self.first.next_departure_ps > end_ps {
                    return chunks;
                }
                self.depart();
                continue;
            }
            let (now_ps, id, payload) = self.events.pop();
            if now_ps > end_ps {
                return chunks;
            }
            self.event_count += 1;
            if Chunks::end_at(self.event_count) {
                chunks.record(
                    self.first.departures + self.second.departures,
                    self.first.drops + self.second.drops,
                );
            }
            if !V::CODEL {
                self.prefetch((self.events.ahead(EVENTS_AHEAD) & FLOW_MASK) as usize);
            }
            let flow = id & FLOW_MASK;
            match id & !FLOW_MASK {
                AT_FIRST => self.arrive_at_first(now_ps, flow, payload),
                AT_SECOND if V::TWO_HOPS => self.arrive_at_second(now_ps, flow, payload),
                kind => self.wake(now_ps, kind, flow),
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, flow: usize) {
        prefetch(&self.flows, flow);
        prefetch(&self.ends, flow);
    }

    #[inline(always)]
    fn flow(&mut self, flow: u32) -> &mut Flow {
        // SAFETY: events and packets carry numbers of flows that exist.
        unsafe { self.flows.get_unchecked_mut(flow as usize) }
    }

    #[inline(always)]
    fn ends(&mut self, flow: u32) -> &mut Ends {
        // SAFETY: as in `flow`; there are as many ends.
        unsafe { self.ends.get_unchecked_mut(flow as usize) }
    }

    #[inline(always)]
    fn arrive_at_first(&mut self, now_ps: u64, flow: u32, payload: u64) {
        if V::CODEL {
            if !self.first.enqueue(now_ps, flow) {
                self.drop_packet(now_ps, flow);
            }
            return;
        }
        match self.first.pass(now_ps, V::RED) {
            None => self.drop_packet(now_ps, flow),
            Some(departure_ps) if V::TWO_HOPS => {
                self.events.push(departure_ps + BETWEEN_LINKS_PS, flow | AT_SECOND, payload);
            }
            Some(departure_ps) => self.deliver(departure_ps, flow, payload, now_ps),
        }
    }

    #[inline(always)]
    fn arrive_at_second(&mut self, now_ps: u64, flow: u32, payload: u64) {
        match self.second.pass(now_ps, V::RED) {
            None => self.drop_packet(now_ps, flow),
            Some(departure_ps) => self.deliver(departure_ps, flow, payload, now_ps),
        }
    }

    /// Sends the packet in service (`CoDel`).
    #[inline(always)]
    fn depart(&mut self) {
        let now_ps = self.first.next_departure_ps;
        let mut dropped = [0; 4];
        let (packet, drops) = self.first.depart(&mut dropped);
        self.prefetch(self.first.flow_ahead(PACKETS_AHEAD));
        self.deliver(now_ps, packet.flow, packet.payload, packet.enqueued_at_ps);
        for &flow in &dropped[..drops] {
            self.drop_packet(now_ps, flow);
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_packet(&mut self, now_ps: u64, flow: u32) {
        let sender = &mut self.flows[flow as usize];
        if !V::TWO_HOPS {
            let number = sender.acked;
            sender.acked += 1;
            sender.record_drop(&mut self.dropped[flow as usize], number);
        }
        sender.live -= 1;
        self.check_silence(now_ps, flow);
    }

    /// Takes a packet that left the last link to the receiver, and its ACK to the sender.
    #[inline(always)]
    fn deliver(&mut self, departure_ps: u64, flow: u32, payload: u64, enqueued_at_ps: u64) {
        let sender = self.flow(flow);
        sender.live -= 1;
        let ack_ps = departure_ps + sender.rtt_ps;
        if V::TWO_HOPS {
            let rtt = ticks(ack_ps).wrapping_sub(payload as u32);
            self.acknowledge(ack_ps, flow, (payload >> 32) as u32, rtt);
            self.send(ack_ps, flow);
        } else {
            // Packets of a flow arrive in order, so that no packet needs to carry its number.
            let number = sender.acked;
            sender.acked = number + 1;
            let rtt = ticks(departure_ps - enqueued_at_ps + sender.rtt_ps);
            self.receive(ack_ps, flow, number, rtt);
        }
        self.check_silence(ack_ps, flow);
    }

    /// Acknowledges every second packet, or one alone after 40 ms. Times are those at which the
    /// acknowledgement reaches the sender.
    #[inline(always)]
    fn receive(&mut self, ack_ps: u64, flow: u32, number: u32, rtt: u32) {
        let ends = self.ends(flow);
        let in_order = ends.next_expected == number;
        ends.next_expected = number + 1;
        if ends.holds_ack {
            ends.holds_ack = false;
            let (held, deadline_ps) = (ends.held, ends.ack_deadline_ps);
            if deadline_ps < ack_ps {
                self.late_acks += 1;
                self.acknowledge(deadline_ps, flow, number.wrapping_sub(1), rtt);
                self.send(deadline_ps, flow);
                let ends = &mut self.ends[flow as usize];
                ends.holds_ack = true;
                ends.ack_deadline_ps = ack_ps + DELAYED_ACK_PS;
                return;
            }
            self.acknowledge(ack_ps, flow, held, rtt);
            self.acknowledge(ack_ps, flow, number, rtt);
            self.send(ack_ps, flow);
        } else if in_order {
            ends.holds_ack = true;
            ends.held = number;
            ends.ack_deadline_ps = ack_ps + DELAYED_ACK_PS;
        } else {
            self.acknowledge(ack_ps, flow, number, rtt);
            self.send(ack_ps, flow);
        }
    }

    /// The sender takes the acknowledgement of one packet.
    #[inline(always)]
    fn acknowledge(&mut self, now_ps: u64, flow: u32, number: u32, rtt: u32) {
        self.acked += 1;
        let sender = self.flow(flow);
        if number < sender.timeout_mark {
            return;
        }
        if V::TWO_HOPS {
            if number != sender.acked {
                let sender = &mut self.flows[flow as usize];
                sender.record_gap(&mut self.dropped[flow as usize], number);
            }
            self.flow(flow).acked = number + 1;
        }
        let deadline_ps = self.ends(flow).timer.deadline_ps;
        if now_ps > deadline_ps {
            self.time_out(deadline_ps, flow);
            if number < self.flows[flow as usize].timeout_mark {
                return;
            }
        }
        // SAFETY: as in `flow`.
        let sender = unsafe { self.flows.get_unchecked_mut(flow as usize) };
        sender.in_flight -= 1;
        if sender.shows_loss(number) {
            sender.detect_losses(&mut self.dropped[flow as usize], number, &self.law);
        }
        if sender.may_grow(number) {
            sender.grow(&self.law);
        }
        self.ends(flow).timer.sample(now_ps, rtt);
    }

    /// Sends what the window allows.
    #[inline(always)]
    fn send(&mut self, now_ps: u64, flow: u32) {
        // Every fourth flow enters at the second link.
        let place = if V::TWO_HOPS && flow & 3 == 3 { AT_SECOND } else { AT_FIRST };
        // SAFETY: as in `flow`.
        let sender = unsafe { self.flows.get_unchecked_mut(flow as usize) };
        for _ in 0..sender.cwnd.saturating_sub(sender.in_flight) {
            sender.live += 1;
            self.events.push(now_ps, flow | place, sender.transmit(now_ps));
        }
    }

    /// Sets a timer if the flow has nothing in the network, as no acknowledgement will come.
    #[inline(always)]
    fn check_silence(&mut self, now_ps: u64, flow: u32) {
        if self.flow(flow).live == 0 {
            self.set_timer(now_ps, flow);
        }
    }

    #[cold]
    #[inline(never)]
    fn set_timer(&mut self, now_ps: u64, flow: u32) {
        let ends = &self.ends[flow as usize];
        if ends.holds_ack {
            self.events.push(ends.ack_deadline_ps.max(now_ps), flow | DELAYED_ACK, 0);
        } else {
            self.events.push(ends.timer.deadline_ps.max(now_ps), flow | TIMEOUT, 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&mut self, now_ps: u64, kind: u32, flow: u32) {
        let ends = &mut self.ends[flow as usize];
        match kind {
            START => {
                ends.timer.start(now_ps);
                self.send(now_ps, flow);
            }
            DELAYED_ACK => {
                if ends.holds_ack {
                    ends.holds_ack = false;
                    let (held, srtt) = (ends.held, ends.timer.srtt);
                    self.late_acks += 1;
                    self.acknowledge(now_ps, flow, held, srtt);
                    self.send(now_ps, flow);
                }
                self.check_silence(now_ps, flow);
            }
            _ => {
                if self.flows[flow as usize].live == 0 {
                    self.time_out(now_ps, flow);
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn time_out(&mut self, now_ps: u64, flow: u32) {
        self.timeouts += 1;
        let sender = &mut self.flows[flow as usize];
        let acked = sender.acked;
        sender.time_out(&mut self.dropped[flow as usize], &self.law);
        if !V::TWO_HOPS {
            sender.acked = acked; // counts arrivals, and those go on
        }
        self.ends[flow as usize].timer.back_off(now_ps);
        self.send(now_ps, flow);
    }
}
