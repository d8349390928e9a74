//! The queues whose turns come next, known some turns ahead of time: with many flows their state has
//! left the caches since their last turn, and can be prefetched.
//!
//! The turns are followed through the links of the round, so that each queue is read only after it was
//! prefetched. A queue that joins or leaves the round may make the turns differ from those expected,
//! which costs time but changes no result.

use std::ops::Range;

use crate::prefetch::MANY_FLOWS;

/// Places for the expected turns.
const PLACES: usize = 16;
/// How many turns ahead a queue is prefetched, and how many ahead its first packet. A turn takes some
/// 150 ns with many flows, about as long as an access to memory.
const QUEUE_AHEAD: usize = 12;
const PACKET_AHEAD: usize = 9;
/// How many turns ahead the simulation learns of the flow of that packet, and how many ahead it is
/// reminded.
const FLOW_AHEAD: [usize; 2] = [6, 3];
/// No queue, and no flow.
const NONE: u32 = u32::MAX;

/// The queues whose turns follow the present one.
#[derive(Clone, Debug)]
pub(super) struct TurnsAhead {
    is_on: bool,
    present: u32,
    /// The expected turns, a ring that begins at `first`.
    queues: [u32; PLACES],
    /// The flows of the packets that begin these turns, as far as they have been read.
    flows: [u32; PLACES],
    first: usize,
    known: usize,
}

impl Default for TurnsAhead {
    fn default() -> Self {
        let (queues, flows) = ([NONE; PLACES], [NONE; PLACES]);
        TurnsAhead { is_on: false, present: NONE, queues, flows, first: 0, known: 0 }
    }
}

impl TurnsAhead {
    /// Follows the turns if the groups have so many flows that it is worth the time.
    pub(super) fn of_groups(groups: &[(String, Range<u32>)]) -> Self {
        let flows: usize = groups.iter().map(|(_, members)| members.len()).sum();
        TurnsAhead { is_on: flows >= MANY_FLOWS, ..TurnsAhead::default() }
    }

    /// Takes note that it is the turn of `queue`: those expected before it had nothing to send.
    #[inline]
    fn begin(&mut self, queue: u32) {
        self.present = queue;
        while self.known > 0 {
            let expected = self.queues[self.place(1)];
            self.first = self.place(2);
            self.known -= 1;
            if expected == queue {
                break;
            }
        }
    }

    /// The place of the turn that comes this many turns, at least one, after the present one.
    #[inline]
    fn place(&self, turns: usize) -> usize {
        (self.first + turns - 1) % PLACES
    }

    /// The flows of packets that probably begin a turn soon, the later one first; a number above those
    /// of all flows stands for one that is not known. `None` if no turns are followed.
    #[inline]
    pub(super) fn coming_flows(&self) -> Option<[u32; 2]> {
        (self.present != NONE).then(|| FLOW_AHEAD.map(|turns| self.flows[self.place(turns)]))
    }

    /// Takes note that it is the turn of `queue`. `next_of` names the queue whose turn follows that of
    /// another one, and `prefetch` prefetches a queue. Returns whether anything is new: whether turns
    /// are followed, and this one has just begun.
    #[inline]
    pub(super) fn pass_to(
        &mut self,
        queue: u32,
        next_of: impl Fn(u32) -> Option<u32>,
        prefetch: impl Fn(u32),
    ) -> bool {
        if !self.is_on || queue == self.present {
            return false;
        }
        self.begin(queue);
        // Two turns at a time, after the turns have differed from those expected.
        for _ in 0..2 {
            if self.known == QUEUE_AHEAD {
                break;
            }
            let last = if self.known == 0 { queue } else { self.queues[self.place(self.known)] };
            let next = next_of(last).unwrap_or(NONE);
            prefetch(next);
            self.known += 1;
            let place = self.place(self.known);
            self.queues[place] = next;
        }
        true
    }

    /// The queue whose first packet can be prefetched.
    #[inline]
    pub(super) fn packet_ahead(&self) -> u32 {
        self.queues[self.place(PACKET_AHEAD)]
    }

    /// The queue whose first packet was prefetched some turns ago, and the place of that packet's flow.
    #[inline]
    pub(super) fn flow_ahead(&mut self) -> (u32, &mut u32) {
        let place = self.place(FLOW_AHEAD[0]);
        (self.queues[place], &mut self.flows[place])
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Ecn;
    use crate::queue::buffer::{Buffer, PacketList};
    use crate::queue::script;
    use crate::units::Time;

    const NO_FLOW: u32 = u32::MAX;

    /// A round of queues with one packet each, of the flow with the number of the queue. In each turn
    /// the queues that `is_empty` says are passed over. Returns the flows foretold at each turn.
    fn foretold(turns: u32, flows: u32, is_empty: impl Fn(u32) -> bool) -> Vec<Option<[u32; 2]>> {
        let mut buffer = Buffer::new(&[("flows".into(), 0..flows)]);
        let mut lists = vec![PacketList::default(); flows as usize];
        for (flow, list) in (0..flows).zip(&mut lists) {
            buffer.push_back(list, script::packet(Time::ZERO, flow, 0, 1_000, Ecn::NotEct));
        }
        let list_and_next = |queue: u32| Some((lists.get(queue as usize)?, (queue + 1) % flows));
        (0..turns)
            .map(|turn| turn % flows)
            .filter(|&queue| !is_empty(queue))
            .map(|queue| {
                buffer.pass_turn_to(queue, list_and_next, |_| ());
                buffer.coming_flows()
            })
            .collect()
    }

    #[test]
    fn the_flows_of_the_sixth_and_the_third_next_turn_are_foretold() {
        // Turn n is followed by n + 2 known turns, so by six from turn 4 on; the sixth is the third
        // three turns later.
        let found = foretold(1_500, 1_000, |_| false);
        assert_eq!(found[3], Some([NO_FLOW, NO_FLOW]));
        for turn in 7..1_500 {
            let expected = [(turn + 6) % 1_000, (turn + 3) % 1_000];
            assert_eq!(found[turn as usize], Some(expected), "turn {turn}");
        }
    }

    #[test]
    fn queues_without_a_turn_are_passed_over() {
        let found = foretold(1_000, 1_000, |queue| queue.is_multiple_of(10));
        let turns: Vec<u32> = (0..1_000).filter(|queue| queue % 10 > 0).collect();
        for (turn, found) in turns.iter().zip(found).skip(20) {
            assert_eq!(found.map(|[sixth, _]| sixth), Some((turn + 6) % 1_000), "turn {turn}");
        }
    }

    #[test]
    fn the_turns_of_few_flows_are_not_followed() {
        assert!(foretold(200, 100, |_| false).iter().all(Option::is_none));
    }
}
