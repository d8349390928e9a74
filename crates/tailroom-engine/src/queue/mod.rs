//! The buffer under study: what may enter, what is dropped or marked.
//!
//! A discipline decides; the link counts, times and transmits. Adding one takes a file here, a variant of
//! [`crate::topology::QueueSpec`] and a line in [`Queue`].

pub mod drop_tail;

use crate::topology::QueueSpec;
use crate::units::Time;
use drop_tail::DropTail;

/// A packet at the entrance of a buffer, and what stands in it.
#[derive(Clone, Copy, Debug)]
pub struct EnqueueEvent {
    /// When it arrives.
    pub now: Time,
    /// Its size on the wire.
    pub bytes: u32,
    /// Whether the link is idle, so that the packet need not wait.
    pub is_link_idle: bool,
    /// Packets that wait, the one in transmission not counted.
    pub waiting_packets: u64,
    /// Bytes that wait, the packet in transmission not counted.
    pub waiting_bytes: u64,
}

/// What a discipline decides about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It enters.
    Accept,
    /// It is dropped.
    Drop,
}

/// The rule of a buffer.
pub trait QueueDiscipline {
    /// Decides about an arriving packet.
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict;
}

/// A running discipline; an enum, so that the packet path has no virtual call.
#[derive(Debug)]
pub enum Queue {
    /// Refuses what does not fit.
    DropTail(DropTail),
}

impl Queue {
    /// Starts the discipline that `spec` describes.
    pub fn new(spec: &QueueSpec) -> Self {
        match *spec {
            QueueSpec::DropTail { limit } => Queue::DropTail(DropTail::new(limit)),
        }
    }
}

impl QueueDiscipline for Queue {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        match self {
            Queue::DropTail(queue) => queue.on_enqueue(event),
        }
    }
}
