//! The packets that wait at a link: a FIFO whose departures are known, or a buffer that is served.

use super::LinkSpec;
use super::fifo::Fifo;
use super::served::ServedQueue;
use crate::custom::CustomFault;
use crate::packet::transit::Transit;
use crate::queue::buffer::Buffer;
use crate::queue::{AnyArrivalRule, ArrivalRule, Gauge, LinkInfo, Queue};
use crate::units::Time;

/// The queue of a link, of one of two kinds.
#[derive(Clone, Debug)]
pub(super) enum LinkQueue {
    /// The rule decides when a packet arrives, and the departure is known then: nothing may change
    /// the future of the packets that wait.
    Fifo {
        /// Accepts, marks or drops each arriving packet.
        rule: AnyArrivalRule,
        /// The accepted packets whose transmission has not begun.
        fifo: Fifo,
    },
    /// Packets wait until the link serves them.
    Served(ServedQueue),
}

impl LinkQueue {
    /// The empty queue of the link that `spec` describes. `info` is what its discipline may know.
    pub(super) fn new(spec: &LinkSpec, info: &LinkInfo) -> Self {
        let buffer = || Buffer::new(&info.groups);
        match Queue::new(&spec.queue, info) {
            Queue::Rule(rule) if spec.is_served() => {
                LinkQueue::Served(ServedQueue::of_rule(rule, buffer()))
            }
            Queue::Rule(rule) => LinkQueue::Fifo { rule, fifo: Fifo::default() },
            Queue::Scheduler(scheduler) => {
                LinkQueue::Served(ServedQueue::of_scheduler(scheduler, buffer()))
            }
        }
    }

    /// Number of packets that wait.
    pub(super) fn packets(&self) -> u64 {
        match self {
            LinkQueue::Fifo { fifo, .. } => fifo.len(),
            LinkQueue::Served(queue) => queue.packets(),
        }
    }

    /// Memory of the packets that wait, in bytes; see [`super::Link::memory_bytes_within`].
    pub(super) fn memory_bytes_within(&self, packets: u64) -> u64 {
        match self {
            LinkQueue::Fifo { fifo, .. } => fifo.memory_bytes_within(packets),
            LinkQueue::Served(queue) => queue.memory_bytes(),
        }
    }

    /// What the discipline reports of itself at `now`.
    pub(super) fn gauges(&self, now: Time) -> Vec<Gauge> {
        match self {
            LinkQueue::Fifo { rule, .. } => rule.gauges(now),
            LinkQueue::Served(queue) => queue.gauges(now),
        }
    }

    /// Why a discipline of the caller's stopped the run, as far as it has shown by `now`.
    pub(super) fn fault(&mut self, now: Time) -> Option<&CustomFault> {
        match self {
            LinkQueue::Fifo { rule, .. } => rule.fault(now),
            LinkQueue::Served(queue) => queue.fault(now),
        }
    }

    /// The packets that wait to be served. A FIFO holds none: the departure of each packet in it is
    /// known, and the packet is already an event at the far end.
    pub(super) fn held(&self) -> impl Iterator<Item = Transit> + '_ {
        let served = match self {
            LinkQueue::Fifo { .. } => None,
            LinkQueue::Served(queue) => Some(queue),
        };
        served.into_iter().flat_map(|queue| queue.buffer.waiting())
    }
}
