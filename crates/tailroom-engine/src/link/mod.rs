//! A shared link: policer, queue, shaper, serialization, random loss, propagation.
//!
//! A link is one of two things ([`queue`]). Behind an arrival rule it is a FIFO with a known rate:
//! it knows the departure of a packet when the packet arrives, so that no departure needs an event.
//! Where something may still act on the packets that wait, as a scheduler does, or lets them wait
//! while the line is idle, as a shaper does, the link is [served](LinkSpec::is_served): it names
//! the time of its [next service](Link::next_service), and the simulation calls [`Link::serve`] at
//! that time, before any arrival of the same instant. Behind an arrival rule both give the same
//! results.

#[doc(hidden)]
pub mod draws;
#[doc(hidden)]
pub mod fifo;
#[doc(hidden)]
pub mod ingress;
pub mod ingress_pool;
pub mod jitter;
pub mod line;
mod lossy_ingress;
mod measuring;
pub mod pause;
pub mod policer;
#[doc(hidden)]
pub mod probe;
#[doc(hidden)]
pub mod queue;
pub mod rate_variation;
pub mod reorder;
pub use crate::serializer::{self, RateChange};
#[doc(hidden)]
pub mod served;
pub mod shaper;
pub mod spec;
pub(crate) mod token_bucket;
mod transmitter;
pub mod wire_loss;

use crate::custom::CustomFault;
use crate::packet::Ecn;
use crate::packet::transit::Transit;
use crate::probe::window::Window;
use crate::queue::buffer::{DropReason, Dropped};
use crate::queue::{
    AnyArrivalRule, ArrivalRule, EnqueueEvent, Gauge, LinkInfo, QueueConfig, Verdict,
};
use crate::units::{Rate, Time};
use fifo::{Fifo, Waiting};
use ingress::Pause;
use lossy_ingress::LossyIngress;
use policer::Policer;
use probe::LinkProbe;
use queue::LinkQueue;
use served::ServedQueue;
pub use spec::LinkSpec;
use transmitter::Transmitter;
use wire_loss::LossSpec;

/// What becomes of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// The packet reaches the far end of the link at this time.
    Delivered(Time),
    /// The policer or the queue discipline dropped the packet, for this reason.
    Dropped(DropReason),
    /// The link sent the packet, and the wire lost it.
    Lost,
    /// The packet waits until it is served. The discipline may have dropped it or others: see
    /// [`Link::drain_dropped`].
    Held,
}

/// The class of a packet that the link begins to send and then stands still for good: it has no
/// delay.
const STUCK: u32 = u32::MAX;

/// A link with its queue.
#[derive(Clone, Debug)]
pub struct Link {
    policer: Option<Box<Policer>>,
    /// Whether the policer lets through less than the rest of the link could send.
    is_policed: bool,
    queue: LinkQueue,
    transmitter: Transmitter,
    pause: Option<Box<Pause>>,
    lossy_ingress: Option<Box<LossyIngress>>,
    /// When the link that shares its line and sends is done, if one does.
    line_free_at: Time,
    is_plain: bool,
    /// What is measured at the link.
    pub probe: LinkProbe,
}

impl Link {
    /// The link that `spec` describes, at time 0. `info` is what its discipline may know of it;
    /// `window` is when queueing delays end that are measured.
    pub fn new(spec: &LinkSpec, info: &LinkInfo, window: Window) -> Self {
        let queue = LinkQueue::new(spec, info);
        let probe = LinkProbe::new(info.groups.len(), spec, window);
        let is_steady = spec.rate_changes.is_empty()
            && !spec.varies_in_delay()
            && spec.loss == LossSpec::None
            && probe.observer.is_none();
        let takes_all = spec.admission.is_none() && spec.policer.is_none();
        Link {
            policer: spec.policer.as_ref().map(|policer| Box::new(Policer::new(policer))),
            is_policed: spec.policed_rate().is_some(),
            queue,
            transmitter: Transmitter::new(spec, info.packet_bytes, info.seed, window),
            pause: Pause::of(spec),
            lossy_ingress: LossyIngress::of(spec),
            line_free_at: Time::ZERO,
            // The loop over plain events does not ask for the faults of custom rules.
            is_plain: takes_all && spec.queue.custom().is_none() && (is_steady || spec.is_served()),
            probe,
        }
    }

    /// Enqueues, marks or drops a packet that arrives at `packet.time()`. Packets must arrive in
    /// order of time. `class` is the index of the packet's group among the groups that cross the
    /// link.
    #[inline]
    pub fn arrive(&mut self, packet: &mut Transit, class: u32) -> LinkOutcome {
        match self.police(packet) {
            Some(reason) => self.refuse(*packet, class, reason),
            None => self.offer(packet, class),
        }
    }

    /// Why the policer refuses an arriving packet, if it does.
    #[inline]
    pub fn police(&mut self, packet: &Transit) -> Option<DropReason> {
        let policer = self.policer.as_mut()?;
        let passes = policer.passes(packet.time(), packet.bytes());
        (!passes).then_some(DropReason::Policed)
    }

    /// As [`Link::arrive`], for a packet that the policer has let through.
    #[inline]
    pub fn offer(&mut self, packet: &mut Transit, class: u32) -> LinkOutcome {
        self.take::<false>(packet, class)
    }

    /// As [`Link::offer`], for a packet that has found memory in the pool of the link, which marks it or
    /// not. A packet that the discipline drops at arrival is not marked.
    pub fn offer_from_pool(
        &mut self,
        packet: &mut Transit,
        class: u32,
        is_marked: bool,
    ) -> LinkOutcome {
        if !is_marked || matches!(packet.ecn(), Ecn::NotEct | Ecn::Ce) {
            return self.offer(packet, class);
        }
        if self.served().is_some() {
            let [time, size, place] = packet.words();
            self.enqueue::<true>(time, size, place, class);
            return LinkOutcome::Held;
        }
        let outcome = self.offer(packet, class);
        if !matches!(outcome, LinkOutcome::Dropped(_)) && packet.ecn() != Ecn::Ce {
            packet.set_congestion_experienced();
            if self.probe.observer.is_some() {
                self.probe.observe_pass(packet.time(), *packet, 1);
            } else {
                self.probe.count_marks(1);
            }
        }
        outcome
    }

    /// Drops an arriving packet that the policer or the pool of the link refuses, before the discipline
    /// sees it.
    #[inline(never)]
    pub fn refuse(&mut self, packet: Transit, class: u32, reason: DropReason) -> LinkOutcome {
        self.advance(packet.time());
        let serialization = self.transmitter.serializer.packet_time(packet.time(), packet.bytes());
        self.probe.on_arrival(&packet, self.queue.packets(), serialization);
        self.probe.on_class_arrival(class);
        self.probe.on_drop(packet.time(), packet, class, reason);
        LinkOutcome::Dropped(reason)
    }

    /// Takes in a packet that will be served, and that its pool marks or not. Its event comes word by word, in registers: a copy
    /// as a whole would wait until the words, just written, are in memory.
    #[inline(never)]
    fn enqueue<const IS_MARKED: bool>(&mut self, time: u64, size: u64, place: u64, class: u32) {
        let packet = Transit::from_words([time, size, place]);
        let Link { queue: LinkQueue::Served(queue), transmitter, probe, .. } = self else {
            return;
        };
        let serialization = transmitter.serializer.packet_time(packet.time(), packet.bytes());
        probe.count_arrival(packet.time(), packet.flow(), queue.packets(), serialization);
        probe.on_class_arrival(class);
        queue.buffer.set_arriving_class(class);
        if probe.observer.is_some() {
            return enqueue_observed::<IS_MARKED>(queue, probe, packet);
        }
        queue.enqueue::<IS_MARKED>(packet);
    }

    /// Whether [`Link::pass`] may take packets: without admission control of flows and a policer,
    /// and either to be served, or at a constant rate and delay, without random loss and records of
    /// packets.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether transmissions begin before the end of all runs, as [`Link::pass`] requires.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.transmitter.busy_until < Time::AFTER_ALL_RUNS
    }

    /// As [`Link::arrive`], at a plain link that is open.
    #[expect(clippy::inline_always, reason = "one caller a packet: it stays in registers")]
    #[inline(always)]
    pub fn pass(&mut self, packet: &mut Transit, class: u32) -> LinkOutcome {
        self.take::<true>(packet, class)
    }

    /// Asks the discipline about an arriving packet, and computes the departure of a packet that an
    /// arrival rule accepts. A [plain](Link::is_plain) link skips what others may ask for.
    #[expect(
        clippy::inline_always,
        reason = "two callers, of which one handles nearly all packets"
    )]
    #[inline(always)]
    fn take<const IS_PLAIN: bool>(&mut self, packet: &mut Transit, class: u32) -> LinkOutcome {
        let Link { queue: LinkQueue::Fifo { rule, fifo }, transmitter, probe, .. } = self else {
            let [time, size, place] = packet.words();
            self.enqueue::<false>(time, size, place, class);
            return LinkOutcome::Held;
        };
        let (now, flow, bytes) = (packet.time(), packet.flow(), packet.bytes());
        advance(fifo, transmitter, probe, now);
        let serialization = if IS_PLAIN {
            transmitter.serializer.nominal_time(bytes)
        } else {
            transmitter.serializer.packet_time(now, bytes)
        };
        if IS_PLAIN {
            probe.count_arrival(now, flow, fifo.len(), serialization);
        } else {
            probe.on_arrival(packet, fifo.len(), serialization);
        }
        let free_at = transmitter.busy_until;
        let idle_since = (free_at <= now).then_some(free_at);
        let event = EnqueueEvent::of_packet(packet, idle_since, (fifo.len(), fifo.bytes()));
        let verdict = match rule {
            AnyArrivalRule::DropTail(rule) => rule.on_enqueue(&event),
            rule => ask(rule, event),
        };
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => {
                let marks = u64::from(packet.ecn() != Ecn::Ce);
                packet.set_congestion_experienced();
                if IS_PLAIN || probe.observer.is_none() {
                    probe.count_marks(marks);
                } else {
                    probe.observe_pass(now, *packet, marks);
                }
            }
            Verdict::Drop(reason) => {
                probe.on_class_arrival(class);
                probe.on_drop(now, *packet, class, reason);
                return LinkOutcome::Dropped(reason);
            }
        }
        let start = now.max(transmitter.busy_until);
        let departure = transmitter.send::<IS_PLAIN>(start, bytes);
        transmitter.last_wait = start.since(now);
        if IS_PLAIN {
            probe.count_accepted(bytes);
        } else {
            probe.on_accepted(flow, bytes, start, departure);
        }
        if class > 0 {
            probe.on_class_arrival(class);
        }
        let is_stuck = !IS_PLAIN && departure == Time::NEVER;
        if start > now {
            let class = if is_stuck { STUCK } else { class };
            fifo.push(Waiting { start, arrival: now, bytes, class });
        } else {
            transmitter.in_transmission_bytes = bytes;
            if !is_stuck {
                probe.count_wait(start, Time::ZERO, class);
            }
        }
        if IS_PLAIN {
            LinkOutcome::Delivered(departure + transmitter.delay)
        } else {
            propagate(transmitter, probe, start)
        }
    }

    /// When the last bit leaves of the packet that was served last, or whose departure was computed
    /// last; [`Time::NEVER`] if the link stands still for good.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.transmitter.busy_until
    }

    /// How long the packet of [`Link::busy_until`] waits before its transmission.
    pub fn last_wait(&self) -> Time {
        self.transmitter.last_wait
    }

    /// The packets that wait to be served; `None` if the link knows all departures.
    #[inline]
    pub fn served(&self) -> Option<&ServedQueue> {
        match &self.queue {
            LinkQueue::Fifo { .. } => None,
            LinkQueue::Served(queue) => Some(queue),
        }
    }

    /// Since when the link would send a packet that arrives at once, or from when on; `None` while packets
    /// wait, and if the link knows all departures.
    pub fn free_since(&self) -> Option<Time> {
        self.served().and_then(ServedQueue::free_since)
    }

    /// When the next packet is served, or a pause begins or ends; [`Time::NEVER`] if nothing is due, and
    /// if the link knows all departures.
    #[inline]
    pub fn next_service(&self) -> Time {
        let service = self.served().map_or(Time::NEVER, ServedQueue::next_service);
        service.min(self.next_signal())
    }

    /// Begins the transmission of the next packet, at [`Link::next_service`]. `None` if a pause begins
    /// or ends instead, if the discipline has dropped all packets that waited, and if the link knows
    /// all departures.
    pub fn serve(&mut self, class_of: impl Fn(Transit) -> u32) -> Option<(Transit, LinkOutcome)> {
        if self.has_pause() && self.next_signal() == self.next_service() {
            self.take_signal();
            return None;
        }
        let Link { queue, transmitter, probe, .. } = self;
        let LinkQueue::Served(queue) = queue else { return None };
        let now = queue.next_service();
        probe.account_queue(now, queue.packets());
        if transmitter.serializer.varies() {
            tell_rate(queue, transmitter, now);
        }
        let packet = queue.dequeue()?;
        transmitter.in_transmission_bytes = packet.bytes();
        let departure = transmitter.send::<false>(now, packet.bytes());
        let waited = now - packet.time();
        transmitter.last_wait = waited;
        if probe.observer.is_some() {
            // A discipline marks no packet in a service but the one that leaves.
            probe.observe_pass(now, packet.copied(), queue.buffer.take_marks());
        }
        probe.on_accepted(packet.flow(), packet.bytes(), now, departure);
        // A packet on a link that stands still for good has no delay.
        if departure < Time::NEVER {
            let class = if probe.tells_classes() { class_of(packet.copied()) } else { 0 };
            probe.count_wait(now, waited, class);
        }
        let (free_at, resumes_at) = transmitter.next_start();
        queue.set_next_start(free_at, resumes_at);
        Some((packet, propagate(transmitter, probe, now)))
    }

    /// When the link would send its next packet if no other link of its line did.
    pub(crate) fn next_packet(&self) -> Time {
        self.served().map_or(Time::NEVER, ServedQueue::next_service)
    }

    /// Another link of the line sends until `free_at`.
    pub fn wait_for_line(&mut self, free_at: Time) {
        self.line_free_at = free_at;
        if !self.is_stopped() {
            self.resume(Time::ZERO);
        }
    }

    /// Lets the next transmission begin at `now` or as soon as the line is free.
    fn resume(&mut self, now: Time) {
        let least = now.max(self.line_free_at);
        let (free_at, resumes_at) = self.transmitter.next_start();
        if let LinkQueue::Served(queue) = &mut self.queue {
            queue.set_next_start(free_at.max(least), resumes_at.max(least));
        }
    }

    /// Whether a packet waits that [`Link::push_out`] can drop.
    pub fn can_push_out(&self) -> bool {
        self.served().is_some_and(ServedQueue::can_push_out)
    }

    /// Drops at `now` the packet behind an arrival rule that arrived last, so that its memory is free for a
    /// packet of another link, or with [`DropReason::Head`] the one that would be sent next, because its
    /// queue is beyond the limit that its pool sets. Returns the size of the packet, in bytes.
    pub fn push_out(&mut self, now: Time, reason: DropReason) -> Option<u32> {
        let LinkQueue::Served(queue) = &mut self.queue else { return None };
        self.probe.account_queue(now, queue.packets());
        queue.push_out(reason)
    }

    /// A packet that was dropped from what waits to be served, since [`Link::drain_dropped`] was last
    /// called, by its place among them.
    pub fn dropped(&self, place: usize) -> Option<Dropped> {
        self.served()?.buffer.dropped(place)
    }

    /// Hands over the packets that were dropped from what waits to be served since the last call, at
    /// `now`. `take` returns the class of each packet.
    pub fn drain_dropped(&mut self, now: Time, mut take: impl FnMut(Dropped) -> u32) {
        let LinkQueue::Served(queue) = &mut self.queue else { return };
        for dropped in queue.buffer.drain_dropped() {
            let Dropped { packet, reason } = dropped;
            let class = take(dropped);
            self.probe.on_drop(now, packet, class, reason);
        }
    }

    /// The packets that wait to be served. A packet whose departure is known is already an event at
    /// the far end.
    pub fn held(&self) -> impl Iterator<Item = Transit> + '_ {
        self.queue.held()
    }

    /// Memory of the packets that wait, in bytes. A queue whose memory grows in large steps counts
    /// the memory that it needs after `packets` more packets.
    pub fn memory_bytes_within(&self, packets: u64) -> u64 {
        self.queue.memory_bytes_within(packets)
    }

    /// Packets that wait at `now`, without the packet in transmission.
    pub fn queue_packets(&mut self, now: Time) -> u64 {
        self.advance(now);
        self.queue.packets()
    }

    /// What the discipline reports of itself.
    pub fn gauges(&self, now: Time) -> Vec<Gauge> {
        self.queue.gauges(now)
    }

    /// Why a discipline of the caller's stopped the run, as far as it has shown by `now`.
    pub fn fault(&mut self, now: Time) -> Option<&CustomFault> {
        self.queue.fault(now)
    }

    /// The rate of transmissions that begin at `now`.
    pub fn rate(&self, now: Time) -> Rate {
        self.transmitter.serializer.rate_at(now)
    }

    /// The same, or when the link sends next.
    pub fn sending_rate(&self, time: Time) -> Rate {
        self.transmitter.serializer.sending_rate(time)
    }

    /// Whether the rate of the link may change from outside: its packets wait until they are served.
    pub fn can_change_rate(&self) -> bool {
        self.served().is_some()
    }

    /// Transmissions that begin from `now` on run at `rate`; the packet in transmission leaves as if
    /// nothing had changed.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        let (bytes, busy_until) = self.probe.transmissions(self.transmitter.busy_until);
        self.transmitter.serializer.change_rate(now, rate, bytes, busy_until);
    }

    /// The discipline follows other parameters of the same kind. Returns whether it can. A rule looks at what
    /// arrives, so that no departure moves that is known.
    pub fn retune(&mut self, config: &QueueConfig, info: &LinkInfo) -> bool {
        match &mut self.queue {
            LinkQueue::Fifo { rule, .. } => rule.retune(config, info),
            LinkQueue::Served(queue) => queue.retune(config, info),
        }
    }

    /// Begins every transmission that is due by `now`, where departures are known.
    #[inline(never)]
    fn advance(&mut self, now: Time) {
        let Link { queue, transmitter, probe, .. } = self;
        if let LinkQueue::Fifo { fifo, .. } = queue {
            advance(fifo, transmitter, probe, now);
        }
    }
}

/// What becomes of a packet whose transmission begins at `start` and ends when the transmitter is free.
/// What a link would only send after the run is not lost in it.
#[inline]
fn propagate(transmitter: &mut Transmitter, probe: &mut LinkProbe, start: Time) -> LinkOutcome {
    match transmitter.propagate() {
        LinkOutcome::Lost if start >= probe.window().to => LinkOutcome::Delivered(Time::NEVER),
        LinkOutcome::Lost => {
            probe.on_random_loss(start);
            LinkOutcome::Lost
        }
        outcome => outcome,
    }
}

/// Lets the discipline know the rate of the moment.
#[cold]
#[inline(never)]
fn tell_rate(queue: &mut ServedQueue, transmitter: &Transmitter, now: Time) {
    if let Some(rate) = transmitter.varying_rate(now) {
        queue.set_rate(rate);
    }
}

/// Takes in a packet that will be served, where packets are recorded one by one. A discipline marks no
/// waiting packet when another arrives, and the marks of earlier events have been counted.
#[cold]
fn enqueue_observed<const IS_MARKED: bool>(
    queue: &mut ServedQueue,
    probe: &mut LinkProbe,
    packet: Transit,
) {
    let (now, flow) = (packet.time(), packet.flow());
    if let Some(observer) = &mut probe.observer {
        observer.on_arrival(packet.copied(), queue.packets());
    }
    queue.enqueue::<IS_MARKED>(packet);
    probe.observe_marks(now, flow, queue.buffer.take_marks());
}

/// A call of its own: for tail drop, the event then need not lie in memory.
#[inline(never)]
fn ask(rule: &mut AnyArrivalRule, event: EnqueueEvent) -> Verdict {
    rule.on_enqueue(&event)
}

/// Begins every transmission of a FIFO that is due by `now`. At equal times a departure frees its
/// place before an arrival takes one.
#[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
#[inline(always)]
fn advance(fifo: &mut Fifo, transmitter: &mut Transmitter, probe: &mut LinkProbe, now: Time) {
    while let Some((next, waited)) = fifo.pop_due(now) {
        transmitter.in_transmission_bytes = next.bytes;
        probe.account_queue(next.start, waited);
        if next.class != STUCK {
            probe.count_wait(next.start, next.start.since(next.arrival), next.class);
        }
    }
}
