//! The sending side of a link: serialization, random loss on the wire, and propagation.

use super::LinkOutcome;
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
    delay_changes: Vec<DelayChange>,
    last_delivery: Time,
    loss: LossProcess,
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
            delay_changes: spec.delay_changes.clone(),
            last_delivery: Time::ZERO,
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

    /// When a packet that departs at `departure` reaches the far end. Packets never overtake one
    /// another: after a fall of the delay, a packet arrives no earlier than those before it.
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
}
