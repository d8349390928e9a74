//! A link of 8 Gbit/s, so that a byte takes a nanosecond, in front of a fair queue.

mod measures;
mod order;
mod reference;
mod victims;

use super::{DropFrom, Fair, FairParams, FairScheduler, Length};
use crate::packet::Ecn;
use crate::quantity::limit::QueueLimit;
use crate::queue::buffer::Buffer;
use crate::queue::{LinkInfo, Scheduler, script};
use crate::random;
use crate::units::Time;

/// A packet of `flow` that arrives at this nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrival {
    at: u64,
    flow: u32,
    bytes: u32,
}

/// A packet whose transmission begins; `number` counts the arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    at: u64,
    flow: u32,
    number: usize,
    bytes: u32,
}

const SCHEDULERS: [FairScheduler; 3] =
    [FairScheduler::StartTime, FairScheduler::DeficitRoundRobin, FairScheduler::PriorityFair];

fn params(scheduler: FairScheduler, limit: u64) -> FairParams {
    FairParams {
        limit: QueueLimit::packets(limit),
        scheduler,
        longest: Length::Bytes,
        drop_from: DropFrom::Front,
        quantum: None,
        buckets: None,
        weights: std::collections::BTreeMap::new(),
    }
}

/// Largest packet 1,000 bytes; groups of one flow each, `group0` to `group9`.
fn link() -> LinkInfo {
    let groups = (0..10).map(|flow| (format!("group{flow}"), flow..flow + 1)).collect();
    LinkInfo { groups, ..script::link(8_000_000_000) }
}

fn nanoseconds(at: u64) -> Time {
    Time::from_picoseconds(at * 1_000)
}

/// The link, as the engine drives it: at equal times a service comes before an arrival, and a
/// packet that finds the link idle is served at once.
struct Bench {
    queue: Fair,
    buffer: Buffer,
    free_at: u64,
    arrived: usize,
    sent: Vec<Sent>,
    dropped: Vec<(u32, usize)>,
}

impl Bench {
    fn new(params: &FairParams) -> Self {
        Bench {
            queue: Fair::new(params, &link()),
            buffer: Buffer::default(),
            free_at: 0,
            arrived: 0,
            sent: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn serve_until(&mut self, now: u64) {
        while self.free_at <= now && self.buffer.packets() > 0 {
            self.serve(self.free_at);
        }
    }

    fn serve(&mut self, at: u64) {
        let packet =
            script::sent(&mut self.queue, nanoseconds(at), &mut self.buffer).expect("one waits");
        let bytes = packet.bytes();
        let number = packet.packet(self.arrived as u64).sequence as usize;
        self.sent.push(Sent { at, flow: packet.flow(), number, bytes });
        self.free_at = at + u64::from(bytes);
    }

    fn arrive(&mut self, Arrival { at, flow, bytes }: Arrival) {
        self.serve_until(at);
        let was_empty = self.buffer.packets() == 0;
        let number = self.arrived as u64;
        let packet = script::packet(nanoseconds(at), flow, number, bytes, Ecn::Ect0);
        self.arrived += 1;
        self.queue.enqueue(packet, &mut self.buffer);
        assert_eq!(self.buffer.take_marks(), 0);
        for (flow, number, _) in script::dropped(&mut self.buffer) {
            self.dropped.push((flow, number as usize));
        }
        if was_empty && self.buffer.packets() > 0 {
            self.free_at = self.free_at.max(at);
            self.serve_until(at);
        }
    }

    /// Everything that has arrived leaves.
    fn drain(&mut self) {
        self.serve_until(u64::MAX);
    }

    fn gauge(&self, name: &str, at: u64) -> f64 {
        let gauges = self.queue.gauges(nanoseconds(at));
        gauges.iter().find(|(gauge, _)| *gauge == name).expect("a gauge").1
    }
}

fn run(params: &FairParams, arrivals: &[Arrival]) -> Bench {
    let mut bench = Bench::new(params);
    for &arrival in arrivals {
        bench.arrive(arrival);
    }
    bench.drain();
    bench
}

/// Packets of 40 to 1,000 bytes of `flows` flows, of which a few send most, at `load` of the link;
/// no two at one time.
fn traffic(seed: u64, count: usize, flows: u64, load: f64) -> Vec<Arrival> {
    let mut random = random::stream(seed, "traffic");
    let mut at = 0;
    let gap = (2.0 * 520.0 / load) as u64;
    (0..count)
        .map(|_| {
            at += 1 + random::below(&mut random, gap);
            let bound = 1 + random::below(&mut random, flows);
            let flow = random::below(&mut random, bound) as u32;
            // Many of equal size, so that tags tie.
            let bytes = match random::below(&mut random, 3) {
                0 => 1_000,
                1 => 40,
                _ => 40 + random::below(&mut random, 961) as u32,
            };
            Arrival { at, flow, bytes }
        })
        .collect()
}
