//! DropTail: a packet that does not fit is dropped. The limit counts what waits, not what is being
//! sent, as Linux's pfifo and bfifo do; ns-2's DropTail limit B is our B - 1 packets.

use super::{EnqueueEvent, QueueDiscipline, Verdict};
use crate::topology::Limit;

/// A tail-drop buffer.
#[derive(Debug)]
pub struct DropTail {
    limit: Limit,
}

impl DropTail {
    /// A buffer with this limit.
    pub fn new(limit: Limit) -> Self {
        DropTail { limit }
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        let fits = match self.limit {
            Limit::Packets(limit) => event.waiting_packets < limit,
            Limit::Bytes(limit) => event.waiting_bytes + u64::from(event.bytes) <= limit,
        };
        // A packet that finds the link idle never waits, so no limit applies to it.
        if fits || event.is_link_idle { Verdict::Accept } else { Verdict::Drop }
    }
}
