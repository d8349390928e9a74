//! The sending side of a link: shaping, serialization, random loss on the wire, and propagation.

use super::LinkOutcome;
use super::jitter::JitterProcess;
use super::reorder::ReorderProcess;
use super::serializer::Serializer;
use super::shaper::Shaper;
use super::spec::{DelayChange, LinkSpec};
use super::wire_loss::LossProcess;
use crate::probe::window::Window;
use crate::units::{Rate, Time};

/// What lies behind the queue of a link.
#[derive(Clone, Debug)]
pub(super) struct Transmitter {
    pub(super) serializer: Serializer,
    /// When the last bit leaves of the packet that was transmitted last.
    pub(super) busy_until: Time,
    /// How long that packet waited.
    pub(super) last_wait: Time,
    pub(super) in_transmission_bytes: u32,
    pub(super) delay: Time,
    /// Only where packets are [served](LinkSpec::is_served).
    shaper: Option<Box<Shaper>>,
    varying_delay: Option<Box<VaryingDelay>>,
    loss: LossProcess,
}

/// The delay of a link with changes of delay, jitter, or packets that it holds back.
#[derive(Clone, Debug)]
struct VaryingDelay {
    changes: Vec<DelayChange>,
    jitter: Option<JitterProcess>,
    reorder: Option<ReorderProcess>,
    last_delivery: Time,
}

impl Transmitter {
    /// The idle transmitter of the link that `spec` describes, for packets of at most `largest`
    /// bytes. Packets that it holds back are counted if they leave in `window`.
    pub(super) fn new(spec: &LinkSpec, largest: u32, seed: u64, window: Window) -> Self {
        Transmitter {
            serializer: spec.serializer(),
            busy_until: Time::ZERO,
            in_transmission_bytes: 0,
            last_wait: Time::ZERO,
            delay: spec.delay,
            shaper: spec.shaper.map(|shaper| Box::new(Shaper::new(shaper, largest))),
            varying_delay: VaryingDelay::of(spec, seed, window).map(Box::new),
            loss: LossProcess::new(spec.loss, seed, &spec.name),
        }
    }

    /// Sends a packet from `start` on; returns when its last bit leaves. The serializer of a
    /// [plain](super::Link::is_plain) link knows its size.
    #[expect(clippy::inline_always, reason = "two callers a packet: it stays in registers")]
    #[inline(always)]
    pub(super) fn send<const IS_PLAIN: bool>(&mut self, start: Time, bytes: u32) -> Time {
        let departure = if IS_PLAIN {
            self.serializer.finish_same(start)
        } else {
            self.serializer.finish(start, bytes)
        };
        self.busy_until = departure;
        if !IS_PLAIN && let Some(shaper) = &mut self.shaper {
            shaper.on_sent(start, bytes, departure);
        }
        departure
    }

    /// From when on a packet that is ready would not wait, and when the transmission begins of one
    /// that is ready earlier.
    #[inline]
    pub(super) fn next_start(&self) -> (Time, Time) {
        match &self.shaper {
            None => (self.busy_until, self.busy_until),
            Some(shaper) => shaper.next_start(self.busy_until),
        }
    }

    /// The rate of a packet sent at `now`, if that changes and no shaper is slower.
    #[inline]
    pub(super) fn varying_rate(&self, now: Time) -> Option<Rate> {
        let varies = self.serializer.varies() && self.shaper.is_none();
        varies.then(|| self.serializer.rate_at(now))
    }

    /// Bits that can be carried in `[from, to)`: see [`super::Link::capacity_bits`].
    pub(super) fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        match &self.shaper {
            None => self.serializer.capacity_bits(from, to),
            Some(shaper) => shaper.capacity_bits(from, to),
        }
    }

    /// The mean rate in `[from, to)`, in bit/s.
    pub(super) fn mean_rate(&self, from: Time, to: Time) -> f64 {
        match &self.shaper {
            None => self.serializer.mean_rate(from, to),
            Some(shaper) => shaper.capacity_bits(from, to) / to.since(from).seconds(),
        }
    }

    /// The capacity of `[from, to)`, in bit * ps / s: the tokens that arrive in it, if there is a
    /// shaper, which is the slower of the two.
    pub(super) fn capacity(&self, from: Time, to: Time) -> u128 {
        match &self.shaper {
            None => self.serializer.capacity(from, to),
            Some(shaper) => shaper.capacity(from, to),
        }
    }

    /// The capacity of `[0, now)` that is lost for good: what the line could have carried while
    /// there was nothing to send, or the tokens that found the bucket full. `bytes` are all whose
    /// transmission ends at `busy_until` or before.
    pub(super) fn idle_capacity(&mut self, bytes: u64, busy_until: Time, now: Time) -> u128 {
        match &self.shaper {
            None => self.serializer.idle_capacity(bytes, busy_until, now),
            Some(shaper) => shaper.unused(now),
        }
    }

    /// See [`super::Link::reordered_packets`].
    pub(super) fn reordered_packets(&self) -> Option<u64> {
        let varying = self.varying_delay.as_ref()?;
        varying.reorder.as_ref().map(ReorderProcess::overtaken)
    }

    /// What becomes of the packet whose last bit leaves at [`Transmitter::busy_until`].
    #[inline]
    pub(super) fn propagate(&mut self) -> LinkOutcome {
        if self.loss.loses_next() {
            return LinkOutcome::Lost;
        }
        LinkOutcome::Delivered(self.deliver(self.busy_until))
    }

    /// The propagation delay of what leaves at `time`, without jitter.
    pub(super) fn delay_at(&self, time: Time) -> Time {
        self.varying_delay.as_ref().map_or(self.delay, |varying| varying.delay_at(time, self.delay))
    }

    /// When a packet that departs at `departure` reaches the far end.
    #[inline]
    fn deliver(&mut self, departure: Time) -> Time {
        match &mut self.varying_delay {
            None => departure.saturating_add(self.delay),
            Some(varying) => varying.deliver(departure, self.delay),
        }
    }
}

impl VaryingDelay {
    /// None if each packet has the same delay.
    fn of(spec: &LinkSpec, seed: u64, window: Window) -> Option<Self> {
        let LinkSpec { name, jitter, reorder, delay_changes, .. } = spec;
        let jitter = jitter.as_ref().map(|jitter| JitterProcess::new(jitter, seed, name));
        let reorder = reorder.map(|reorder| ReorderProcess::new(reorder, seed, name, window));
        let changes = delay_changes.clone();
        let last_delivery = Time::ZERO;
        spec.varies_in_delay().then_some(VaryingDelay { changes, jitter, reorder, last_delivery })
    }

    /// The delay at `time`; `first` is the delay before all changes.
    fn delay_at(&self, time: Time, first: Time) -> Time {
        let passed = self.changes.partition_point(|change| change.at <= time);
        passed.checked_sub(1).map_or(first, |at| self.changes[at].delay)
    }

    /// Packets overtake none but those that the link holds back: after a fall of the delay, a packet
    /// arrives no earlier than those before it. `first` is the delay before all changes.
    #[inline(never)]
    fn deliver(&mut self, departure: Time, first: Time) -> Time {
        if departure >= Time::AFTER_ALL_RUNS {
            return departure; // without the draws of jitter until then, which would take minutes
        }
        let delay = self.delay_at(departure, first);
        let jitter = self.jitter.as_mut().map_or(Time::ZERO, |jitter| jitter.delay_at(departure));
        let arrival = departure.saturating_add(delay).saturating_add(jitter);
        self.last_delivery = self.last_delivery.max(arrival);
        match &mut self.reorder {
            None => self.last_delivery,
            Some(reorder) => reorder.arrival(departure, self.last_delivery),
        }
    }
}
