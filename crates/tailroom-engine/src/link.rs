//! A shared link: buffer, serialization, propagation, random loss.
//!
//! Serving first come, first served at a known rate, a link knows a packet's departure when the
//! packet arrives; no departure needs an event.

use crate::loss::LossProcess;
use crate::probe::link::LinkProbe;
use crate::queue::{EnqueueEvent, Queue, QueueDiscipline, Verdict};
use crate::serializer::Serializer;
use crate::topology::{DelayChange, LinkSpec};
use crate::units::Time;
use crate::waiting_line::{Waiting, WaitingLine};

/// What becomes of a packet that arrived at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the far end at this time.
    Delivered(Time),
    /// The queue discipline dropped it.
    Dropped,
    /// It was sent and lost on the wire.
    Lost,
}

/// A link with its queue.
#[derive(Debug)]
pub struct Link {
    serializer: Serializer,
    busy_until: Time,
    waiting: WaitingLine,
    in_transmission_bytes: u32,
    queue: Queue,
    delay: Time,
    delay_changes: Vec<DelayChange>,
    last_delivery: Time,
    loss: LossProcess,
    /// What is measured here.
    pub probe: LinkProbe,
}

impl Link {
    /// The link that `spec` describes, with random loss drawn from `seed`'s stream for it.
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        Link {
            serializer: Serializer::new(spec),
            busy_until: Time::ZERO,
            waiting: WaitingLine::default(),
            in_transmission_bytes: 0,
            queue: Queue::new(&spec.queue),
            delay: spec.delay,
            delay_changes: spec.delay_changes.clone(),
            last_delivery: Time::ZERO,
            loss: LossProcess::new(spec.loss, seed, &spec.name),
            probe: LinkProbe::new(spec.packet_log),
        }
    }

    /// Takes in a packet of `flow`; arrivals come in order of time.
    #[inline]
    pub fn arrive(&mut self, now: Time, flow: u32, bytes: u32) -> Fate {
        self.settle(now);
        let event = EnqueueEvent {
            now,
            bytes,
            is_link_idle: self.busy_until <= now,
            waiting_packets: self.waiting.len(),
            waiting_bytes: self.waiting.bytes(),
        };
        let serialization = self.serializer.nominal_time(bytes);
        self.probe.on_arrival(now, flow, serialization);
        if self.queue.on_enqueue(&event) == Verdict::Drop {
            self.probe.on_drop(now, flow);
            return Fate::Dropped;
        }
        let start = now.max(self.busy_until);
        self.busy_until = self.serializer.finish(start, bytes);
        self.probe.on_accept(flow, bytes, start.since(now), self.busy_until);
        if start > now {
            self.waiting.push(Waiting { start, bytes });
        } else {
            self.in_transmission_bytes = bytes;
        }
        if self.loss.loses_next() {
            self.probe.on_random_loss();
            return Fate::Lost;
        }
        Fate::Delivered(self.deliver(self.busy_until))
    }

    /// When a packet that departs at `departure` reaches the far end. Packets never overtake one
    /// another, so after a fall of the delay they wait for those before them.
    #[inline]
    fn deliver(&mut self, departure: Time) -> Time {
        if !self.delay_changes.is_empty() {
            let passed = self.delay_changes.partition_point(|change| change.at <= departure);
            let delay = passed.checked_sub(1).map_or(self.delay, |at| self.delay_changes[at].delay);
            self.last_delivery = self.last_delivery.max(departure.saturating_add(delay));
            return self.last_delivery;
        }
        departure.saturating_add(self.delay)
    }

    /// Lets every transmission that begins up to `now` begin: at equal times a departure frees its
    /// place before an arrival takes one.
    #[inline]
    fn settle(&mut self, now: Time) {
        while let Some(next) = self.waiting.pop_until(now) {
            self.in_transmission_bytes = next.bytes;
            self.probe.on_transmission(next.start);
        }
    }

    /// Packets and bytes taken in that have not left by `now`, the one in transmission included.
    fn backlog(&mut self, now: Time) -> (u64, u64) {
        self.settle(now);
        let in_transmission = self.busy_until > now;
        let packets = self.waiting.len() + u64::from(in_transmission);
        let bytes = self.waiting.bytes()
            + if in_transmission { u64::from(self.in_transmission_bytes) } else { 0 };
        (packets, bytes)
    }

    /// Starts the statistics afresh at `now`.
    pub fn begin_measuring(&mut self, now: Time) {
        let (packets, bytes) = self.backlog(now);
        self.probe.begin(now, packets, bytes);
    }

    /// Closes the statistics at `now`.
    pub fn end_measuring(&mut self, now: Time) {
        let (packets, bytes) = self.backlog(now);
        self.probe.end(now, packets, bytes);
    }

    /// Records a sample of the time series at `now`.
    pub fn sample(&mut self, now: Time) {
        let (_, bytes) = self.backlog(now);
        self.probe.sample(now, bytes);
    }

    /// Bits that the link could carry in `[from, to)`.
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        self.serializer.capacity_bits(from, to)
    }
}
