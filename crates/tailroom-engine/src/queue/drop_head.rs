//! Drop from front: a full buffer drops the packet that has waited longest to make room, so that
//! its sender learns of the congestion one queueing delay earlier (Lakshman, Neidhardt, Ott 1996,
//! "The drop from front strategy in TCP and in TCP over ATM").

use super::buffer::{Buffer, DropReason, PacketHandle, PacketList};
use super::{LinkInfo, Parameters, Retune, Scheduler};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::transit::Transit;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::units::Time;

/// Parameters of a head-drop buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DropHeadParams {
    /// Buffer size, excluding the packet in transmission.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
}

impl DropHeadParams {
    /// A buffer of this size.
    pub fn new(limit: QueueLimit) -> Self {
        DropHeadParams { limit }
    }
}

impl Parameters for DropHeadParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }
}

/// A head-drop buffer.
#[derive(Clone, Debug)]
pub struct DropHead {
    limit: Limit,
    queue: PacketList,
}

impl DropHead {
    /// Creates the discipline for `link`.
    pub fn new(params: &DropHeadParams, link: &LinkInfo) -> Self {
        DropHead { limit: link.limit(params.limit), queue: PacketList::default() }
    }
}

impl Retune for DropHead {
    type Params = DropHeadParams;

    fn retune(&mut self, params: &DropHeadParams, link: &LinkInfo) {
        self.limit = link.limit(params.limit);
    }
}

impl Scheduler for DropHead {
    #[inline]
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
        buffer.push_back(&mut self.queue, packet);
        while !self.limit.holds(buffer.packets(), buffer.bytes())
            && let Some(first) = buffer.pop_front(&mut self.queue)
        {
            buffer.drop(first, DropReason::Overflow);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        buffer.pop_front(&mut self.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::script;

    #[test]
    fn a_full_buffer_drops_the_oldest_packet() {
        let params = DropHeadParams { limit: QueueLimit::packets(3) };
        let mut queue = DropHead::new(&params, &script::link(1_000_000));
        let mut buffer = Buffer::default();
        for sequence in 0..5 {
            let packet = script::packet(Time::ZERO, 0, sequence, 1_000, Ecn::NotEct);
            queue.enqueue(packet, &mut buffer);
        }
        let dropped = script::dropped(&mut buffer);
        assert_eq!(dropped, [(0, 0, DropReason::Overflow), (0, 1, DropReason::Overflow)]);
        let next = script::sent(&mut queue, Time::ZERO, &mut buffer).expect("three packets wait");
        assert_eq!(next.packet(0).sequence, 2);
    }
}
