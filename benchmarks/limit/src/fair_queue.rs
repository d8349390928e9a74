//! Fair queueing: one queue per flow, served in turn. Acknowledgements are events; packets carry
//! their number and time of sending.

use crate::cpu_time::{Chunks, cpu_time};
use crate::event_queue::{EventQueue, NEVER, WithPayload};
use crate::flow::{Dropped, Flow, NONE, RetransmissionTimer, ticks};
use crate::link::{Link, Turns};
use crate::prefetch::prefetch;
use crate::report::Report;
use crate::scenario::Scenario;
use crate::window_law::WindowLaw;

// The kind of an event is above the flow's number.
const FLOW_BITS: u32 = 24;
const FLOW_MASK: u32 = (1 << FLOW_BITS) - 1;
const ACK: u32 = 0;
const TIMER: u32 = 1 << FLOW_BITS;

/// How many events ahead the flow's state is fetched.
const EVENTS_AHEAD: usize = 12;

/// The second cache line of a flow: timer, and its queue as a list of places in the link's buffer.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Queued {
    timer: RetransmissionTimer,
    head: u32,
    tail: u32,
    /// The flow whose turn comes after this one's.
    next_flow: u32,
}

struct Simulation {
    events: EventQueue<WithPayload>,
    flows: Vec<Flow>,
    queues: Vec<Queued>,
    dropped: Vec<Dropped>,
    law: WindowLaw,
    link: Link,
    turns: Turns,
    event_count: u64,
    acked: u64,
    timeouts: u64,
}

pub fn run(scenario: &Scenario) -> Report {
    let before = cpu_time();
    let mut simulation = Simulation::new(scenario);
    let chunks = simulation.run_until(scenario.end_ps());
    let in_flight = |flow: &Flow| u64::from(flow.in_flight - flow.undetected);
    Report {
        chunks,
        cpu_ns: (cpu_time() - before).as_nanos() as f64,
        departures: [simulation.link.departures, 0],
        drops: simulation.link.drops,
        acked: simulation.acked,
        timeouts: simulation.timeouts,
        late_acks: 0,
        events: simulation.event_count,
        in_flight: simulation.flows.iter().map(in_flight).sum(),
        hash: Report::hash(&simulation.flows),
    }
}

impl Simulation {
    fn new(scenario: &Scenario) -> Self {
        let law = WindowLaw::new();
        let (flows, starts) = scenario.draw_flows(&law);
        let link = Link::new(scenario.rate_bps, scenario.packet_bytes, scenario.buffer_packets);
        let longest_rtt_ps = (scenario.rtt_s * 1.2 * 1e12) as u64;
        let horizon_ps = longest_rtt_ps + link.limit_ps + 2_000_000_000;
        let mut events = EventQueue::new(scenario.bucket_shift, horizon_ps);
        for (flow, &start_ps) in starts.iter().enumerate() {
            events.push(start_ps, flow as u32 | TIMER, 0);
        }
        let queue =
            Queued { timer: RetransmissionTimer::new(), head: NONE, tail: NONE, next_flow: NONE };
        Self {
            events,
            queues: vec![queue; flows.len()],
            dropped: vec![Dropped::new(); flows.len()],
            flows,
            law,
            link,
            turns: Turns::new(),
            event_count: 0,
            acked: 0,
            timeouts: 0,
        }
    }

    fn run_until(&mut self, end_ps: u64) -> Chunks {
        let mut chunks = Chunks::default();
        loop {
            if self.link.next_departure_ps <= self.events.next_time() {
                if self.link.next_departure_ps > end_ps {
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
                chunks.record(self.link.departures, self.link.drops);
            }
            let ahead = (self.events.ahead(EVENTS_AHEAD) & FLOW_MASK) as usize;
            prefetch(&self.flows, ahead);
            prefetch(&self.queues, ahead);
            let flow = id & FLOW_MASK;
            if id & !FLOW_MASK == ACK {
                self.acknowledge(now_ps, flow, payload);
                self.send(now_ps, flow);
            } else if self.flows[flow as usize].next == 0 {
                self.start(now_ps, flow);
            } else {
                self.expire(now_ps, flow);
            }
        }
    }

    /// Puts a packet at the end of its flow's queue; a full buffer drops it.
    #[inline(always)]
    fn enqueue(&mut self, now_ps: u64, flow: u32, payload: u64) {
        if self.turns.queued as u64 >= self.link.limit_packets {
            self.link.drops += 1;
            return;
        }
        let index = self.turns.free;
        let place = &mut self.link.buffer[index as usize];
        self.turns.free = place.next;
        place.flow = flow;
        place.payload = payload;
        place.enqueued_at_ps = now_ps;
        place.next = NONE;
        self.turns.queued += 1;
        let queue = &mut self.queues[flow as usize];
        if queue.head == NONE {
            queue.head = index;
            queue.tail = index;
            self.append_turn(flow);
            if self.link.next_departure_ps == NEVER {
                self.link.next_departure_ps = now_ps + self.link.packet_ps;
            }
        } else {
            let tail = queue.tail;
            queue.tail = index;
            self.link.buffer[tail as usize].next = index;
        }
    }

    /// The flow's turn comes after those of all others that have packets.
    #[inline(always)]
    fn append_turn(&mut self, flow: u32) {
        self.queues[flow as usize].next_flow = NONE;
        if self.turns.last == NONE {
            self.turns.first = flow;
        } else {
            self.queues[self.turns.last as usize].next_flow = flow;
        }
        self.turns.last = flow;
    }

    /// Sends the first packet of the flow whose turn it is.
    #[inline(always)]
    fn depart(&mut self) {
        let now_ps = self.link.next_departure_ps;
        self.link.departures += 1;
        let flow = self.turns.first;
        let queue = &mut self.queues[flow as usize];
        let index = queue.head;
        let packet = self.link.buffer[index as usize];
        queue.head = packet.next;
        self.turns.first = queue.next_flow;
        self.link.buffer[index as usize].next = self.turns.free;
        self.turns.free = index;
        self.turns.queued -= 1;
        if self.turns.first == NONE {
            self.turns.last = NONE;
        }
        if packet.next != NONE {
            self.append_turn(flow);
        }
        self.link.next_departure_ps =
            if self.turns.queued == 0 { NEVER } else { now_ps + self.link.packet_ps };
        if self.turns.first != NONE {
            prefetch(&self.queues, self.turns.first as usize);
        }
        // SAFETY: packets carry numbers of flows that exist.
        let rtt_ps = unsafe { self.flows.get_unchecked(flow as usize) }.rtt_ps;
        self.events.push(now_ps + rtt_ps, flow | ACK, packet.payload);
    }

    /// The sender takes the acknowledgement of one packet.
    #[inline(always)]
    fn acknowledge(&mut self, now_ps: u64, flow: u32, payload: u64) {
        self.acked += 1;
        let index = flow as usize;
        // SAFETY: events carry numbers of flows that exist.
        let sender = unsafe { self.flows.get_unchecked_mut(index) };
        let number = (payload >> 32) as u32;
        if number < sender.timeout_mark {
            return;
        }
        if number != sender.acked {
            sender.record_gap(&mut self.dropped[index], number);
        }
        sender.in_flight -= 1;
        sender.acked = number + 1;
        if sender.shows_loss(number) {
            sender.detect_losses(&mut self.dropped[index], number, &self.law);
        }
        if sender.may_grow(number) {
            sender.grow(&self.law);
        }
        // SAFETY: there are as many queues as flows.
        let queue = unsafe { self.queues.get_unchecked_mut(index) };
        queue.timer.sample(now_ps, ticks(now_ps).wrapping_sub(payload as u32));
    }

    /// Sends what the window allows.
    #[inline(always)]
    fn send(&mut self, now_ps: u64, flow: u32) {
        let sender = &self.flows[flow as usize];
        for _ in 0..sender.cwnd.saturating_sub(sender.in_flight) {
            let payload = self.flows[flow as usize].transmit(now_ps);
            self.enqueue(now_ps, flow, payload);
        }
    }

    fn start(&mut self, now_ps: u64, flow: u32) {
        let timer = &mut self.queues[flow as usize].timer;
        timer.start(now_ps);
        self.events.push(timer.deadline_ps, flow | TIMER, 0);
        self.send(now_ps, flow);
    }

    /// The flow's timer event: one per flow, which moves on if the deadline has moved.
    #[inline(never)]
    fn expire(&mut self, now_ps: u64, flow: u32) {
        let timer = &mut self.queues[flow as usize].timer;
        if timer.deadline_ps > now_ps {
            self.events.push(timer.deadline_ps, flow | TIMER, 0);
            return;
        }
        self.timeouts += 1;
        timer.back_off(now_ps);
        self.events.push(timer.deadline_ps, flow | TIMER, 0);
        let sender = &mut self.flows[flow as usize];
        sender.time_out(&mut self.dropped[flow as usize], &self.law);
        self.send(now_ps, flow);
    }
}
