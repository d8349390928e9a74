//! The queues whose turns come next, known some turns ahead of time: with many flows their state has
//! left the caches since their last turn, and the memory can be asked for it.
//!
//! The turns are followed through the links of the round, so that each queue is read only after it was
//! asked for. A queue that joins or leaves the round may make the turns differ from those expected,
//! which costs time but changes no result.

use std::ops::Range;

use super::buffer::{Buffer, PacketList};
use crate::prefetch::MANY_FLOWS;

/// Places for the expected turns.
const PLACES: usize = 16;
/// How many turns ahead a queue is asked for, and how many ahead its first packet. A turn takes some
/// 150 ns with many flows, about as long as an access to memory.
const QUEUE_AHEAD: usize = 12;
const PACKET_AHEAD: usize = 9;
/// How many turns ahead the simulation learns of the flow of that packet, and how many ahead it is
/// reminded.
const FLOW_AHEAD: [usize; 2] = [6, 3];
/// No queue, and no flow.
const NONE: u32 = u32::MAX;

/// The queues whose turns follow the present one.
#[derive(Debug)]
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
}

impl Buffer {
    /// Takes note that it is the turn of `queue`, where there are many flows. `list_and_next` returns
    /// the packets of a queue and the queue whose turn follows; `ask` asks the memory for a queue.
    #[inline]
    pub(super) fn pass_turn_to<'a>(
        &mut self,
        queue: u32,
        list_and_next: impl Fn(u32) -> Option<(&'a PacketList, u32)>,
        ask: impl Fn(u32),
    ) {
        if !self.turns_ahead.is_on || queue == self.turns_ahead.present {
            return;
        }
        self.turns_ahead.begin(queue);
        // Two turns at a time, after the turns have differed from those expected.
        for _ in 0..2 {
            let TurnsAhead { queues, known, .. } = &self.turns_ahead;
            if *known == QUEUE_AHEAD {
                break;
            }
            let last = if *known == 0 { queue } else { queues[self.turns_ahead.place(*known)] };
            let next = list_and_next(last).map_or(NONE, |(_, next)| next);
            ask(next);
            self.turns_ahead.known += 1;
            let place = self.turns_ahead.place(self.turns_ahead.known);
            self.turns_ahead.queues[place] = next;
        }
        let list_at =
            |place: usize| list_and_next(self.turns_ahead.queues[place]).map(|(list, _)| list);
        if let Some(list) = list_at(self.turns_ahead.place(PACKET_AHEAD)) {
            self.prefetch_front(list);
        }
        let place = self.turns_ahead.place(FLOW_AHEAD[0]);
        let first = list_at(place).and_then(|list| self.front(list));
        self.turns_ahead.flows[place] = first.map_or(NONE, |packet| packet.flow());
    }
}
