//! The sending side of a link: serialization, random loss on the wire, and propagation.

use super::LinkOutcome;
use super::jitter::JitterProcess;
use super::serializer::Serializer;
use super::spec::{DelayChange, LinkSpec};
use super::wire_loss::LossProcess;
use crate::units::Time;

/// What lies behind the queue of a link.
#[derive(Debug)]
pub(super) struct Transmitter {
    pub(super) serializer: Serializer,
    /// When the last bit leaves of the packet that was transmitted last.
    pub(super) busy_until: Time,
    /// How long that packet waited.
    pub(super) last_wait: Time,
    pub(super) in_transmission_bytes: u32,
    pub(super) delay: Time,
    varying_delay: Option<Box<VaryingDelay>>,
    loss: LossProcess,
}

/// The delay of a link with changes of delay or jitter.
#[derive(Debug)]
struct VaryingDelay {
    changes: Vec<DelayChange>,
    jitter: Option<JitterProcess>,
    last_delivery: Time,
}

impl Transmitter {
    /// The idle transmitter of the link that `spec` describes.
    pub(super) fn new(spec: &LinkSpec, seed: u64) -> Self {
        Transmitter {
            serializer: Serializer::new(spec.rate, &spec.rate_changes, spec.rate_period),
            busy_until: Time::ZERO,
            in_transmission_bytes: 0,
            last_wait: Time::ZERO,
            delay: spec.delay,
            varying_delay: VaryingDelay::of(spec, seed).map(Box::new),
            loss: LossProcess::new(spec.loss, seed, &spec.name),
        }
    }

    /// What becomes of the packet whose last bit leaves at [`Transmitter::busy_until`].
    #[inline]
    pub(super) fn propagate(&mut self) -> LinkOutcome {
        if self.loss.loses_next() {
            return LinkOutcome::Lost;
        }
        LinkOutcome::Delivered(self.deliver(self.busy_until))
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
    /// None if the link has neither changes of delay nor jitter.
    fn of(spec: &LinkSpec, seed: u64) -> Option<Self> {
        let jitter =
            spec.jitter.as_ref().map(|jitter| JitterProcess::new(jitter, seed, &spec.name));
        (jitter.is_some() || !spec.delay_changes.is_empty()).then(|| VaryingDelay {
            changes: spec.delay_changes.clone(),
            jitter,
            last_delivery: Time::ZERO,
        })
    }

    /// Packets never overtake one another: after a fall of the delay, a packet arrives no earlier
    /// than those before it. `first` is the delay before all changes.
    #[inline(never)]
    fn deliver(&mut self, departure: Time, first: Time) -> Time {
        let passed = self.changes.partition_point(|change| change.at <= departure);
        let delay = passed.checked_sub(1).map_or(first, |at| self.changes[at].delay);
        let jitter = self.jitter.as_mut().map_or(Time::ZERO, |jitter| jitter.delay_at(departure));
        let arrival = departure.saturating_add(delay).saturating_add(jitter);
        self.last_delivery = self.last_delivery.max(arrival);
        self.last_delivery
    }
}
