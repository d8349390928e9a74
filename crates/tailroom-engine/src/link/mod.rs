//! A shared link: buffer, serialization, propagation, random loss.
//!
//! Behind an admission rule the link serves first come, first served at a known rate, so it knows a
//! packet's departure when the packet arrives; no departure needs an event. Behind a scheduler it
//! names the time of its [next service](Link::next_service), and whoever drives it calls
//! [`Link::serve`] then, before any arrival of that instant.

pub mod arrivals;
pub mod fifo;
pub mod probe;
pub mod serializer;
pub mod spec;
pub mod wire_loss;

use crate::packet::Ecn;
use crate::packet::in_network::Event;
use crate::queue::buffer::{Buffer, Dropped};
use crate::queue::{Admission, EnqueueEvent, Gauge, LinkInfo, Queue, Scheduler, Verdict};
use crate::units::Time;
use fifo::{Waiting, WaitingLine};
use probe::LinkProbe;
use serializer::Serializer;
use spec::DelayChange;
pub use spec::LinkSpec;
use wire_loss::LossProcess;

/// What becomes of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the far end at this time.
    Delivered(Time),
    /// The queue discipline dropped it.
    Dropped,
    /// It was sent and lost on the wire.
    Lost,
    /// A scheduler has it, or has dropped it or others: see [`Link::drain_dropped`].
    Held,
}

/// A link with its queue.
#[derive(Debug)]
pub struct Link {
    queue: Queue,
    /// What waits behind an admission rule.
    waiting: WaitingLine,
    /// What waits behind a scheduler.
    buffer: Buffer,
    next_service: Time,
    serializer: Serializer,
    busy_until: Time,
    in_transmission_bytes: u32,
    last_wait: Time,
    delay: Time,
    delay_changes: Vec<DelayChange>,
    last_delivery: Time,
    loss: LossProcess,
    /// What is measured here.
    pub probe: LinkProbe,
}

impl Link {
    /// A link, with what its discipline may know of it.
    pub fn new(spec: &LinkSpec, info: &LinkInfo) -> Self {
        Link {
            queue: Queue::new(&spec.queue, info),
            waiting: WaitingLine::default(),
            buffer: Buffer::default(),
            next_service: Time::NEVER,
            serializer: Serializer::new(spec.rate, &spec.rate_changes, spec.rate_period),
            busy_until: Time::ZERO,
            in_transmission_bytes: 0,
            last_wait: Time::ZERO,
            delay: spec.delay,
            delay_changes: spec.delay_changes.clone(),
            last_delivery: Time::ZERO,
            loss: LossProcess::new(spec.loss, info.seed, &spec.name),
            probe: LinkProbe::new(info.groups.len(), spec),
        }
    }

    /// Takes in a packet at `packet.time()`, or marks or drops it; arrivals come in order of time. Its
    /// class is the place of its group among those that cross the link.
    #[inline]
    pub fn arrive(&mut self, packet: &mut Event, class: u32) -> Fate {
        match &self.queue {
            Queue::Admission(_) => self.admit(packet, class),
            Queue::Scheduler(_) => self.hold(packet, class),
        }
    }

    /// Asks the admission rule, if there is one, about a packet.
    #[inline]
    fn admit(&mut self, packet: &mut Event, class: u32) -> Fate {
        let (now, flow, bytes) = (packet.time(), packet.flow(), packet.bytes());
        self.settle(now);
        let Queue::Admission(rule) = &mut self.queue else { return Fate::Held };
        let event = EnqueueEvent {
            now,
            bytes,
            ecn: packet.ecn(),
            free_at: self.busy_until,
            waiting_packets: self.waiting.len(),
            waiting_bytes: self.waiting.bytes(),
        };
        let serialization = self.serializer.nominal_time(bytes);
        self.probe.on_arrival(packet, self.waiting.len(), serialization);
        match rule.on_enqueue(&event) {
            Verdict::Accept => {}
            Verdict::Mark => {
                self.probe.count_marks(u64::from(packet.ecn() != Ecn::Ce));
                packet.set_congestion_experienced();
                self.probe.on_pass(*packet);
            }
            Verdict::Drop(reason) => {
                self.probe.on_class_arrival(class);
                self.probe.on_drop(now, *packet, class, reason);
                return Fate::Dropped;
            }
        }
        let start = now.max(self.busy_until);
        self.busy_until = self.serializer.finish(start, bytes);
        let waited = start.since(now);
        self.last_wait = waited;
        self.probe.on_service(flow, bytes, start, waited, self.busy_until);
        if class > 0 {
            self.probe.on_class_arrival(class);
            self.probe.on_class_service(class, waited, self.busy_until);
        }
        if start > now {
            self.waiting.push(Waiting { start, bytes });
        } else {
            self.in_transmission_bytes = bytes;
        }
        self.depart()
    }

    /// Hands a packet to the scheduler, if there is one.
    #[inline(never)]
    pub(crate) fn hold(&mut self, packet: &Event, class: u32) -> Fate {
        let Queue::Scheduler(scheduler) = &mut self.queue else { return Fate::Held };
        let now = packet.time();
        let serialization = self.serializer.nominal_time(packet.bytes());
        self.probe.on_arrival(packet, self.buffer.packets(), serialization);
        self.probe.on_class_arrival(class);
        scheduler.enqueue(*packet, &mut self.buffer);
        if self.buffer.packets() == 0 {
            self.next_service = Time::NEVER;
        } else if self.next_service == Time::NEVER {
            self.next_service = now.max(self.busy_until);
        }
        Fate::Held
    }

    /// When the transmission that was taken in last ends; [`Time::NEVER`] if the link stands still for
    /// good.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// How long the packet waits before its transmission that was taken in last, or by a scheduler sent
    /// last.
    pub fn last_wait(&self) -> Time {
        self.last_wait
    }

    /// Whether a scheduler holds the packets.
    #[inline]
    pub fn is_scheduled(&self) -> bool {
        matches!(self.queue, Queue::Scheduler(_))
    }

    /// When a scheduler's next packet begins transmission; [`Time::NEVER`] if none waits.
    #[inline]
    pub fn next_service(&self) -> Time {
        self.next_service
    }

    /// Lets a scheduler's next packet begin transmission, at [`Link::next_service`]; `None` when the
    /// scheduler has dropped all that waited.
    pub fn serve(&mut self, class_of: impl Fn(Event) -> u32) -> Option<(Event, Fate)> {
        let Queue::Scheduler(scheduler) = &mut self.queue else { return None };
        let now = self.next_service;
        self.probe.account_queue(now, self.buffer.packets());
        let Some(next) = scheduler.dequeue(now, &mut self.buffer) else {
            debug_assert!(self.buffer.packets() == 0, "a scheduler must serve what waits");
            self.next_service = Time::NEVER;
            return None;
        };
        let packet = self.buffer.take(next);
        self.in_transmission_bytes = packet.bytes();
        self.busy_until = self.serializer.finish(now, packet.bytes());
        let waited = now - packet.time();
        self.last_wait = waited;
        self.probe.on_service(packet.flow(), packet.bytes(), now, waited, self.busy_until);
        if self.probe.tells_classes() {
            self.probe.on_class_service(class_of(packet), waited, self.busy_until);
        }
        self.probe.on_pass(packet);
        self.next_service = if self.buffer.packets() == 0 { Time::NEVER } else { self.busy_until };
        Some((packet, self.depart()))
    }

    /// Hands over the packets that a scheduler has dropped at `now`, since the last call, and learns the
    /// class of each.
    pub fn drain_dropped(&mut self, now: Time, mut take: impl FnMut(Dropped) -> u32) {
        for dropped in self.buffer.drain_dropped() {
            let Dropped { packet, reason } = dropped;
            let class = take(dropped);
            self.probe.on_drop(now, packet, class, reason);
        }
    }

    /// Whether a scheduler has dropped packets since [`Link::drain_dropped`].
    #[inline]
    pub fn has_dropped(&self) -> bool {
        self.buffer.has_dropped()
    }

    /// The packets that a scheduler holds. Behind an admission rule none is held: the packets that wait
    /// are already on their way to the far end.
    pub fn held(&self) -> impl Iterator<Item = Event> + '_ {
        self.buffer.waiting()
    }

    /// Memory of the packets that wait, in bytes. Queues that grow in large steps count with what they
    /// take after `packets` more packets.
    pub fn memory_bytes_within(&self, packets: u64) -> u64 {
        self.buffer.memory_bytes() + self.waiting.memory_bytes_within(packets)
    }

    /// What the discipline reports of itself.
    pub fn gauges(&self, now: Time) -> Vec<Gauge> {
        match &self.queue {
            Queue::Admission(rule) => rule.gauges(now),
            Queue::Scheduler(scheduler) => scheduler.gauges(now),
        }
    }

    /// What becomes of the packet whose last bit leaves when the link is free again.
    #[inline]
    fn depart(&mut self) -> Fate {
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

    /// Packets and bytes taken in that have not left by `now`, the one in transmission included; of
    /// a scheduler's, those whose transmission has begun.
    fn backlog(&mut self, now: Time) -> (u64, u64) {
        self.settle(now);
        let (mut packets, mut bytes) = (self.waiting.len(), self.waiting.bytes());
        if self.busy_until > now {
            packets += 1;
            bytes += u64::from(self.in_transmission_bytes);
        }
        (packets, bytes)
    }

    /// Bytes of the packets whose last bit has left by `now`, since the start of the run.
    pub fn departed_bytes(&mut self, now: Time) -> u64 {
        let (_, backlog_bytes) = self.backlog(now);
        self.probe.accepted_bytes() - backlog_bytes
    }

    /// What the link has left unused since the start of the run, in bit * ps / s. It sends all it can
    /// while it has something to send, so that the rest of its capacity is what it has sent, a packet in
    /// transmission counted by the bits that have left.
    fn idle_capacity(&mut self, now: Time) -> u128 {
        let (bytes, busy_until) = self.probe.transmissions(self.busy_until);
        self.serializer.idle_capacity(bytes, busy_until, now)
    }

    /// Starts the statistics afresh at `now`.
    pub fn begin_measuring(&mut self, now: Time) {
        let (packets, bytes) = self.backlog(now);
        let idle = self.idle_capacity(now);
        self.count_marks();
        self.probe.begin(now, packets, bytes, idle);
        self.restart_gauges(now);
    }

    /// Starts the means of [`Link::gauges`] afresh.
    pub fn restart_gauges(&mut self, now: Time) {
        if let Queue::Scheduler(scheduler) = &mut self.queue {
            scheduler.restart_gauges(now);
        }
    }

    /// Closes the statistics at `now`.
    pub fn end_measuring(&mut self, now: Time) {
        let (packets, bytes) = self.backlog(now);
        let idle = self.idle_capacity(now);
        self.count_marks();
        self.probe.end(now, self.queue_packets(), packets, bytes, idle);
        self.buffer.waiting().for_each(|packet| self.probe.on_pass(packet));
    }

    /// Records a sample of the time series at `now`.
    pub fn sample(&mut self, now: Time) {
        self.settle(now);
        let idle = self.idle_capacity(now);
        self.count_marks();
        let gauges = self.gauges(now);
        self.probe.sample(now, self.queue_packets(), idle, gauges);
    }

    /// Packets that wait.
    fn queue_packets(&self) -> u64 {
        self.waiting.len() + self.buffer.packets()
    }

    /// Counts what a scheduler has marked since the last call.
    fn count_marks(&mut self) {
        self.probe.count_marks(self.buffer.take_marks());
    }

    /// Bits that the link could carry in `[from, to)`.
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        self.serializer.capacity_bits(from, to)
    }

    /// The share of its capacity in `[from, to)` that a link uses, given the unused capacity `idle` in
    /// bit * ps / s; 0 where it can carry nothing.
    pub fn used_fraction(&self, from: Time, to: Time, idle: u128) -> f64 {
        let capacity = self.serializer.capacity(from, to);
        if capacity == 0 { 0.0 } else { (capacity - idle) as f64 / capacity as f64 }
    }

    /// Lets every transmission that begins up to `now` begin, behind an admission rule: at equal times
    /// a departure frees its place before an arrival takes one.
    #[inline]
    fn settle(&mut self, now: Time) {
        while let Some(next) = self.waiting.pop_until(now) {
            self.in_transmission_bytes = next.bytes;
            self.probe.account_queue(next.start, self.waiting.len() + 1);
        }
    }
}
