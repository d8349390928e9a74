//! Random drop: a full buffer drops one of its packets, including the arriving one, each with equal
//! probability, so that a flow's share of the drops is its share of the queue (Mankin 1990, "Random
//! drop congestion control"; Hashem 1989).

use super::buffer::{Buffer, DropReason, PacketHandle, PacketList};
use super::{LinkInfo, Parameters, Retune, Scheduler};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::transit::Transit;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::random::{Stream, below};
use crate::units::Time;

/// Parameters of a random-drop buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RandomDropParams {
    /// Buffer size, excluding the packet in transmission.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
}

impl RandomDropParams {
    /// A buffer of this size.
    pub fn new(limit: QueueLimit) -> Self {
        RandomDropParams { limit }
    }
}

impl Parameters for RandomDropParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }
}

/// A random-drop buffer.
#[derive(Clone, Debug)]
pub struct RandomDrop {
    limit: Limit,
    queue: PacketList,
    random: Stream,
}

impl RandomDrop {
    /// Creates the discipline for `link`.
    pub fn new(params: &RandomDropParams, link: &LinkInfo) -> Self {
        let limit = link.limit(params.limit);
        RandomDrop { limit, queue: PacketList::default(), random: link.random() }
    }
}

impl Retune for RandomDrop {
    type Params = RandomDropParams;

    fn retune(&mut self, params: &RandomDropParams, link: &LinkInfo) {
        self.limit = link.limit(params.limit);
    }
}

impl Scheduler for RandomDrop {
    #[inline]
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
        buffer.push_back(&mut self.queue, packet);
        while !self.limit.holds(buffer.packets(), buffer.bytes())
            && let Some(any) =
                buffer.take_any(&mut self.queue, |bound| below(&mut self.random, bound))
        {
            buffer.drop(any, DropReason::Overflow);
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
    fn the_drops_of_a_flow_are_proportional_to_its_share_of_the_queue() {
        let params = RandomDropParams { limit: QueueLimit::packets(9) };
        let mut drops = [0, 0];
        let mut queue = RandomDrop::new(&params, &script::link(1_000_000));
        let mut buffer = Buffer::default();
        for round in 0..20_000 {
            for sequence in 0..10 {
                let flow = u32::from(sequence % 5 == 0);
                let packet = script::packet(Time::ZERO, flow, sequence, 1_000, Ecn::NotEct);
                queue.enqueue(packet, &mut buffer);
            }
            let dropped = script::dropped(&mut buffer);
            assert_eq!(dropped.len(), 1, "round {round}");
            drops[dropped[0].0 as usize] += 1;
            while script::sent(&mut queue, Time::ZERO, &mut buffer).is_some() {}
        }
        // Binomial: mean 4,000, standard deviation 57.
        assert!((3_700..4_300).contains(&drops[1]), "{drops:?}");
    }
}
