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
    delay_changes: Vec<DelayChange>,
    jitter: Option<Box<JitterProcess>>,
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
            jitter: spec
                .jitter
                .as_ref()
                .map(|jitter| Box::new(JitterProcess::new(jitter, seed, &spec.name))),
            last_delivery: Time::ZERO,
            loss: LossProcess::new(spec.loss, seed, &spec.name),
        }
    }

    /// What becomes of the packet whose last bit leaves at [`Transmitter::busy_until`]; `on_loss`
    /// is called if the wire loses it.
    #[inline]
    pub(super) fn propagate(&mut self, on_loss: impl FnOnce()) -> LinkOutcome {
        if self.loss.loses_next() {
            on_loss();
            return LinkOutcome::Lost;
        }
        LinkOutcome::Delivered(self.deliver(self.busy_until))
    }

    /// When a packet that departs at `departure` reaches the far end. Packets never overtake one
    /// another: after a fall of the delay, a packet arrives no earlier than those before it.
    #[inline]
    fn deliver(&mut self, departure: Time) -> Time {
        if self.delay_changes.is_empty() && self.jitter.is_none() {
            return departure.saturating_add(self.delay);
        }
        let passed = self.delay_changes.partition_point(|change| change.at <= departure);
        let delay = passed.checked_sub(1).map_or(self.delay, |at| self.delay_changes[at].delay);
        let jitter = self.jitter.as_mut().map_or(Time::ZERO, |jitter| jitter.delay_at(departure));
        let arrival = departure.saturating_add(delay).saturating_add(jitter);
        self.last_delivery = self.last_delivery.max(arrival);
        self.last_delivery
    }
}
