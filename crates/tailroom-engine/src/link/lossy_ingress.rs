//! The far end of a link without pause frames, in a switch whose ingresses share memory.
//!
//! SAI and SONiC count a packet twice, at its ingress and at its egress. What waits of a lossy link takes
//! memory of the ingress pool, and so lowers the thresholds of the lossless links there; it has a
//! threshold of its own, above which packets are dropped (Choudhury and Hahne 1998).

use super::ingress_pool::{Free, IngressMember, Occupied};
use super::spec::LinkSpec;
use crate::units::float;

/// What arrived over the link and waits in the switch.
#[derive(Clone, Debug)]
pub(super) struct LossyIngress {
    member: IngressMember,
    waiting_bytes: u64,
    /// The most bytes that waited in the measured window.
    waiting_bytes_max: u64,
}

impl LossyIngress {
    /// The ingress of the link that `spec` describes, if it shares memory and sends no pause frames.
    pub(super) fn of(spec: &LinkSpec) -> Option<Box<Self>> {
        let member = spec.ingress.filter(|_| spec.pause.is_none())?;
        Some(Box::new(LossyIngress { member, waiting_bytes: 0, waiting_bytes_max: 0 }))
    }

    /// Whether a packet of this size finds room: less waits than the threshold, and the packet fits.
    pub(super) fn has_room(&self, bytes: u32, free: Free) -> bool {
        float(self.waiting_bytes) < self.member.alpha * float(free.shared)
            && u64::from(bytes) <= free.shared
    }

    /// A packet waits.
    pub(super) fn enter(&mut self, bytes: u32) {
        self.waiting_bytes += u64::from(bytes);
        self.waiting_bytes_max = self.waiting_bytes_max.max(self.waiting_bytes);
    }

    /// A packet no longer waits.
    pub(super) fn leave(&mut self, bytes: u32) {
        self.waiting_bytes -= u64::from(bytes);
    }

    pub(super) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// The most bytes that waited, from the measured window on if it has begun.
    pub(super) fn waiting_bytes_max(&self) -> u64 {
        self.waiting_bytes_max
    }

    /// All that waits is shared memory.
    pub(super) fn occupied(&self) -> Occupied {
        Occupied { shared: self.waiting_bytes, headroom: 0 }
    }

    /// Starts the statistics.
    pub(super) fn begin_measuring(&mut self) {
        self.waiting_bytes_max = self.waiting_bytes;
    }
}
