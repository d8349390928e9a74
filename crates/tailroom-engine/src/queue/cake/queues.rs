//! The queues of a tin, served by deficit round robin with priority for sparse flows (DRR++). A queue that is
//! found empty decays: it keeps its slot until COBALT has come to rest.

use super::cobalt::{Cobalt, Settings};
use super::isolation::Hosts;
use super::ways::{SLOTS, Slot, find};
use crate::queue::buffer::PacketList;
use crate::units::Time;

/// No queue, in place of an index.
const NONE: u16 = u16::MAX;

/// Which flows a queue counts among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Set {
    /// It is unused.
    #[default]
    None,
    /// It has sent less than a quantum since it became active.
    Sparse,
    /// It has sent a quantum and is empty: it counts as sparse, and has its turn among the bulk flows.
    SparseWaits,
    Bulk,
    /// It is empty.
    Decaying,
}

/// The queue of the flows with one hash: one cache line.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(super) struct FlowQueue {
    pub(super) list: PacketList,
    pub(super) cobalt: Cobalt,
    /// Bytes that it may still send in its turn.
    pub(super) deficit: i32,
    next: u16,
    previous: u16,
    hosts: [u16; 2],
    set: Set,
}

/// Queues in the order of their turns.
#[derive(Clone, Copy, Debug)]
struct Turns {
    first: u16,
    last: u16,
}

/// The lists of turns.
const SPARSE: usize = 0;
const BULK: usize = 1;
const DECAYING: usize = 2;

/// The queues of a tin.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    slots: Box<[FlowQueue]>,
    tags: Box<[u32]>,
    /// Of source and destination.
    hosts: [Hosts; 2],
    turns: [Turns; 3],
    sparse: u32,
    bulk: u32,
    /// Flows that found no queue of their own.
    pub(super) collisions: u64,
}

impl Queues {
    /// Empty queues; quanta are divided by the bulk flows of source and destination or not.
    pub(super) fn new(divides: [bool; 2]) -> Self {
        Queues {
            slots: vec![FlowQueue::default(); SLOTS].into(),
            tags: vec![0; SLOTS].into(),
            hosts: divides.map(Hosts::new),
            turns: [Turns { first: NONE, last: NONE }; 3],
            sparse: 0,
            bulk: 0,
            collisions: 0,
        }
    }

    /// Memory of the queues, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let hosts = self.hosts.iter().filter(|hosts| hosts.divides()).count();
        (SLOTS * (size_of::<FlowQueue>() + 4 + 6 * hosts)) as u64
    }

    /// The queue at an index.
    #[inline]
    pub(super) fn at(&mut self, index: usize) -> &mut FlowQueue {
        &mut self.slots[index]
    }

    /// Whether queues wait for a turn, some of which may be empty.
    #[inline]
    pub(super) fn are_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Number of bulk flows.
    #[inline]
    pub(super) fn bulk_flows(&self) -> u32 {
        self.bulk
    }

    /// The queues that have packets.
    pub(super) fn backlogged(&self) -> impl Iterator<Item = (usize, &FlowQueue)> + '_ {
        let turns = [self.turns[SPARSE].first, self.turns[BULK].first];
        let all = turns.into_iter().flat_map(move |first| {
            let existing = |index: u16| Some(index).filter(|&index| index != NONE);
            std::iter::successors(existing(first), move |&index| {
                existing(self.slots[usize::from(index)].next)
            })
        });
        let queues = all.map(|index| (usize::from(index), &self.slots[usize::from(index)]));
        queues.filter(|(_, queue)| !queue.list.is_empty())
    }

    /// The queue of a hash. `hosts` are the hashes of source and destination, where they are needed.
    #[inline]
    pub(super) fn assign(&mut self, hash: u32, hosts: impl FnOnce() -> [u32; 2]) -> usize {
        let direct = hash as usize % SLOTS;
        if self.tags[direct] == hash && self.slots[direct].set != Set::None {
            return direct;
        }
        self.search(hash, hosts)
    }

    #[inline(never)]
    fn search(&mut self, hash: u32, hosts: impl FnOnce() -> [u32; 2]) -> usize {
        let is_free = |way: usize| self.slots[way].set == Set::None;
        let found = find(hash, |way| self.tags[way] == hash, is_free);
        let (index, is_new) = match found {
            Slot::Own(index) => (index, is_free(index)),
            Slot::Free(index) | Slot::Shared(index) => (index, true),
        };
        self.collisions += u64::from(matches!(found, Slot::Shared(_)));
        self.tags[index] = hash;
        if is_new && self.hosts.iter().any(Hosts::divides) {
            let is_bulk = self.slots[index].set == Set::Bulk;
            if is_bulk {
                self.count_hosts(index, false);
            }
            for (side, hash) in hosts().into_iter().enumerate() {
                if self.hosts[side].divides() {
                    self.slots[index].hosts[side] = self.hosts[side].slot(hash);
                }
            }
            if is_bulk {
                self.count_hosts(index, true);
            }
        }
        index
    }

    fn count_hosts(&mut self, index: usize, becomes_bulk: bool) {
        for (side, hosts) in self.hosts.iter_mut().enumerate() {
            hosts.change(self.slots[index].hosts[side], becomes_bulk);
        }
    }

    fn becomes_bulk(&mut self, index: usize) {
        self.slots[index].set = Set::Bulk;
        (self.sparse, self.bulk) = (self.sparse - 1, self.bulk + 1);
        self.count_hosts(index, true);
    }

    /// What a quantum is divided by for the flow in a queue.
    #[inline]
    fn load(&self, index: usize) -> u16 {
        let slots = self.slots[index].hosts;
        let flows = self.hosts.iter().zip(slots).map(|(hosts, slot)| hosts.bulk_flows(slot));
        flows.fold(1, Ord::max)
    }

    /// The bytes of a turn: the fraction of a byte is made up for at random, with `dither` from 16 bits.
    #[inline]
    fn refill(&self, index: usize, quantum: u32, dither: u16) -> i32 {
        let share = 65_535 / u32::from(self.load(index));
        ((quantum * share + u32::from(dither)) >> 16).cast_signed()
    }

    /// A packet has joined the queue at an index.
    #[inline]
    pub(super) fn activate(&mut self, index: usize, quantum: u32, dither: impl FnOnce() -> u16) {
        match self.slots[index].set {
            Set::Sparse | Set::Bulk => {}
            Set::SparseWaits => self.becomes_bulk(index),
            set => {
                if set == Set::Decaying {
                    self.unlink(index, DECAYING);
                }
                self.append(index, SPARSE);
                self.sparse += 1;
                self.slots[index].set = Set::Sparse;
                self.slots[index].deficit = self.refill(index, quantum, dither());
            }
        }
    }

    /// The queue whose turn it is; with `decaying_first` one that decays, if there is any.
    #[inline]
    pub(super) fn first(&self, decaying_first: bool) -> Option<usize> {
        let order =
            if decaying_first { [DECAYING, SPARSE, BULK] } else { [SPARSE, BULK, DECAYING] };
        let mut firsts = order.into_iter().map(|turns| self.turns[turns].first);
        firsts.find(|&first| first != NONE).map(usize::from)
    }

    /// Ends the turn of a queue that has used up its deficit.
    #[inline]
    pub(super) fn end_turn(&mut self, index: usize, quantum: u32, dither: u16) {
        let from = self.turns_of(index);
        if self.slots[index].set == Set::Sparse {
            if self.slots[index].list.is_empty() {
                self.slots[index].set = Set::SparseWaits;
            } else {
                self.becomes_bulk(index);
            }
        }
        self.slots[index].deficit += self.refill(index, quantum, dither);
        self.unlink(index, from);
        self.append(index, BULK);
    }

    /// A queue was found empty in its turn.
    pub(super) fn leave(&mut self, index: usize, settings: &Settings, now: Time) {
        let queue = &mut self.slots[index];
        queue.cobalt.on_empty(settings, now);
        let is_at_rest = queue.cobalt.is_at_rest(now);
        let (from, before) = (self.turns_of(index), self.slots[index].set);
        match before {
            Set::Sparse | Set::SparseWaits => self.sparse -= 1,
            Set::Bulk => {
                self.bulk -= 1;
                self.count_hosts(index, false);
            }
            Set::Decaying | Set::None => {}
        }
        self.unlink(index, from);
        self.slots[index].set = if is_at_rest { Set::None } else { Set::Decaying };
        if !is_at_rest {
            self.append(index, DECAYING);
        }
    }

    /// The list in which a queue has its turn: a sparse one is among the bulk flows once it has waited there.
    fn turns_of(&self, index: usize) -> usize {
        match self.slots[index].set {
            Set::Decaying => DECAYING,
            Set::Sparse => SPARSE,
            _ => BULK,
        }
    }

    fn append(&mut self, index: usize, turns: usize) {
        let last = self.turns[turns].last;
        (self.slots[index].next, self.slots[index].previous) = (NONE, last);
        match last {
            NONE => self.turns[turns].first = index as u16,
            last => self.slots[usize::from(last)].next = index as u16,
        }
        self.turns[turns].last = index as u16;
    }

    fn unlink(&mut self, index: usize, turns: usize) {
        let (next, previous) = (self.slots[index].next, self.slots[index].previous);
        match previous {
            NONE => self.turns[turns].first = next,
            previous => self.slots[usize::from(previous)].next = next,
        }
        match next {
            NONE => self.turns[turns].last = previous,
            next => self.slots[usize::from(next)].previous = previous,
        }
    }

    /// The flows of a set that a queue may count among, for tests.
    #[cfg(test)]
    pub(super) fn counts(&self) -> [u32; 2] {
        [self.sparse, self.bulk]
    }
}
