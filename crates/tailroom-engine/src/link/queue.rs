//! The packets that wait at a link: a FIFO behind an arrival rule, or the buffer of a scheduler.

use super::fifo::Fifo;
use crate::packet::transit::Transit;
use crate::queue::buffer::Buffer;
use crate::queue::{
    AnyArrivalRule, ArrivalRule, Gauge, LinkInfo, Queue, QueueConfig, Scheduler, SchedulerQueue,
};
use crate::units::Time;

/// The queue of a link, of one of two kinds.
#[derive(Debug)]
pub(super) enum LinkQueue {
    /// The rule decides when a packet arrives. Accepted packets leave in the order of arrival.
    Fifo {
        /// Accepts, marks or drops each arriving packet.
        rule: AnyArrivalRule,
        /// The accepted packets whose transmission has not begun.
        fifo: Fifo,
    },
    /// The scheduler chooses which packet leaves next, and may drop any packet at any time.
    Scheduled(ScheduledQueue<SchedulerQueue>),
}

impl LinkQueue {
    /// The empty queue of the discipline that `config` describes, at the link of `info`.
    pub(super) fn new(config: &QueueConfig, info: &LinkInfo) -> Self {
        match Queue::new(config, info) {
            Queue::Rule(rule) => LinkQueue::Fifo { rule, fifo: Fifo::default() },
            Queue::Scheduler(scheduler) => {
                LinkQueue::Scheduled(ScheduledQueue::new(scheduler, Buffer::new(&info.groups)))
            }
        }
    }

    /// Number of packets that wait.
    pub(super) fn packets(&self) -> u64 {
        match self {
            LinkQueue::Fifo { fifo, .. } => fifo.len(),
            LinkQueue::Scheduled(queue) => queue.packets(),
        }
    }

    /// Memory of the packets that wait, in bytes; see [`super::Link::memory_bytes_within`].
    pub(super) fn memory_bytes_within(&self, packets: u64) -> u64 {
        match self {
            LinkQueue::Fifo { fifo, .. } => fifo.memory_bytes_within(packets),
            LinkQueue::Scheduled(queue) => queue.memory_bytes(),
        }
    }

    /// What the discipline reports of itself at `now`.
    pub(super) fn gauges(&self, now: Time) -> Vec<Gauge> {
        match self {
            LinkQueue::Fifo { rule, .. } => rule.gauges(now),
            LinkQueue::Scheduled(queue) => queue.gauges(now),
        }
    }

    /// The packets that a scheduler holds. A FIFO holds none: the departure of each packet in it is
    /// known, and the packet is already an event at the far end.
    pub(super) fn held(&self) -> impl Iterator<Item = Transit> + '_ {
        let scheduled = match self {
            LinkQueue::Fifo { .. } => None,
            LinkQueue::Scheduled(queue) => Some(queue),
        };
        scheduled.into_iter().flat_map(|queue| queue.buffer.waiting())
    }
}

/// A scheduler, the packets that it holds, and the time of its next service.
#[derive(Debug)]
pub struct ScheduledQueue<S> {
    scheduler: Box<S>,
    pub(super) buffer: Buffer,
    next_service: Time,
}

impl<S: Scheduler> ScheduledQueue<S> {
    /// A scheduler with its buffer, which is empty.
    pub fn new(scheduler: Box<S>, buffer: Buffer) -> Self {
        ScheduledQueue { scheduler, buffer, next_service: Time::NEVER }
    }

    /// Number of packets that wait.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.buffer.packets()
    }

    /// Hands an arriving packet to the scheduler, which may drop this packet or others. The link
    /// has sent what it sends now at `free_at`.
    #[inline]
    pub fn enqueue(&mut self, packet: Transit, free_at: Time) {
        self.scheduler.enqueue(packet, &mut self.buffer);
        if self.buffer.packets() == 0 {
            self.next_service = Time::NEVER;
        } else if self.next_service == Time::NEVER {
            self.next_service = packet.time().max(free_at);
        }
    }

    /// Takes the packet whose transmission begins now, at [`ScheduledQueue::next_service`]. `None`
    /// if the scheduler has dropped all packets that waited.
    #[inline]
    pub fn dequeue(&mut self) -> Option<Transit> {
        let Some(next) = self.scheduler.dequeue(self.next_service, &mut self.buffer) else {
            debug_assert!(self.buffer.packets() == 0, "a scheduler must serve what waits");
            self.next_service = Time::NEVER;
            return None;
        };
        Some(self.buffer.take(next))
    }

    /// The transmission of the packet that was dequeued last ends at `free_at`.
    #[inline]
    pub fn set_next_service(&mut self, free_at: Time) {
        self.next_service = if self.buffer.packets() == 0 { Time::NEVER } else { free_at };
    }

    /// When the transmission of the next packet begins; [`Time::NEVER`] if none waits.
    #[inline]
    pub fn next_service(&self) -> Time {
        self.next_service
    }

    /// Prefetches what the arrival of a packet of `flow` will need.
    #[inline]
    pub fn prefetch_flow(&self, flow: u32) {
        self.scheduler.prefetch_flow(flow);
    }

    /// The flows of two packets that will probably be sent soon; see [`Buffer::coming_flows`].
    #[inline]
    pub fn coming_flows(&self) -> Option<[u32; 2]> {
        self.buffer.coming_flows()
    }

    /// Whether the scheduler has dropped packets that nobody has taken note of yet.
    #[inline]
    pub fn has_dropped(&self) -> bool {
        self.buffer.has_dropped()
    }

    /// Forgets which packets the scheduler has dropped.
    pub fn forget_dropped(&mut self) {
        self.buffer.drain_dropped();
    }

    /// What the scheduler reports of itself at `now`.
    pub fn gauges(&self, now: Time) -> Vec<Gauge> {
        self.scheduler.gauges(now)
    }

    /// Starts the means of [`ScheduledQueue::gauges`] afresh.
    pub fn restart_gauges(&mut self, now: Time) {
        self.scheduler.restart_gauges(now);
    }

    /// Memory of the packets that wait and of the flows that the scheduler knows, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.buffer.memory_bytes() + self.scheduler.memory_bytes()
    }
}
