//! A priority queue of flows by tag: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990).
//!
//! No tag is behind the virtual time, so flows need not be sorted completely. A flow is in the ring
//! of the highest bit in which its tag differs from the virtual time, and moves to the ring of a
//! lower bit, 64 times at most, as the virtual time approaches. When tags wrap around, that bit is
//! the highest one, and the order remains right.
//!
//! Flows with equal tags are in one ring and keep the order of their insertion.

use super::flows::{Flow, Flows};

/// Returns whether tag `one` is beyond tag `other`. Tags wrap around.
#[inline]
pub(super) fn is_beyond(one: u64, other: u64) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}

/// The backlogged flows, and other flows with a tag beyond the virtual time.
#[derive(Clone, Debug)]
pub(super) struct TagQueue {
    virtual_time: u64,
    /// Ring of the flows whose tag is the virtual time.
    due: u32,
    /// Rings of the other flows, by the highest bit in which their tag differs from the virtual
    /// time.
    later: [u32; 64],
    /// Set of the bits whose rings may contain flows.
    occupied: u64,
}

impl TagQueue {
    /// Creates an empty queue.
    pub(super) fn new(flows: &mut Flows) -> Self {
        let due = flows.begin_ring();
        let later = [(); 64].map(|()| flows.begin_ring());
        TagQueue { virtual_time: 0, due, later, occupied: 0 }
    }

    /// Returns the virtual time.
    #[inline]
    pub(super) fn virtual_time(&self) -> u64 {
        self.virtual_time
    }

    /// Inserts a flow whose tag is not behind the virtual time, after other flows with the same
    /// tag.
    #[inline]
    pub(super) fn insert(&mut self, flows: &mut Flows, slot: u32) {
        let ring = match (flows[slot].tag ^ self.virtual_time).checked_ilog2() {
            None => self.due,
            Some(bit) => {
                self.occupied |= 1 << bit;
                self.later[bit as usize]
            }
        };
        flows.link(slot, ring);
    }

    /// Returns the backlogged flow with the smallest tag, and advances the virtual time to that
    /// tag. Calls `forget` with each flow that the virtual time reaches and that is not backlogged.
    #[inline]
    pub(super) fn first(
        &mut self,
        flows: &mut Flows,
        mut forget: impl FnMut(&mut Flows, u32),
    ) -> Option<u32> {
        loop {
            if let Some(slot) = flows.first(self.due) {
                return Some(slot);
            }
            let ring = self.next_ring()?;
            self.approach(ring, flows, &mut forget);
        }
    }

    /// Advances the virtual time to the smallest tag of a backlogged flow in `ring`, if there is
    /// one; all rings before it are empty.
    fn approach(&mut self, ring: u32, flows: &mut Flows, mut forget: impl FnMut(&mut Flows, u32)) {
        // Whether a flow is backlogged is hard to predict: a number far beyond all tags avoids a
        // branch.
        let ahead = |flow: &Flow| {
            if flow.is_backlogged() { flow.tag.wrapping_sub(self.virtual_time) } else { u64::MAX }
        };
        let ahead = flows.iter(ring).map(ahead).min().filter(|&least| least < u64::MAX);
        self.virtual_time = self.virtual_time.wrapping_add(ahead.unwrap_or(0));
        flows.drain(ring, |flows, slot| {
            let flow = &flows[slot];
            // If no flow is backlogged, the virtual time will pass all of them.
            if flow.is_backlogged() || ahead.is_some() && is_beyond(flow.tag, self.virtual_time) {
                self.insert(flows, slot);
            } else {
                forget(flows, slot);
            }
        });
    }

    /// Advances the virtual time to the last tag, and removes all flows except the one in slot
    /// `kept`.
    pub(super) fn finish(
        &mut self,
        flows: &mut Flows,
        kept: u32,
        mut forget: impl FnMut(&mut Flows, u32),
    ) {
        let mut last = self.virtual_time;
        let mut next = Some(self.due);
        while let Some(ring) = next {
            flows.drain(ring, |flows, slot| {
                if is_beyond(flows[slot].tag, last) {
                    last = flows[slot].tag;
                }
                if slot != kept {
                    forget(flows, slot);
                }
            });
            next = self.next_ring();
        }
        self.virtual_time = last;
        flows[kept].tag = last;
        self.insert(flows, kept);
    }

    /// Returns the next occupied ring after the due one, and clears its bit in `occupied`.
    fn next_ring(&mut self) -> Option<u32> {
        let ring = *self.later.get(self.occupied.trailing_zeros() as usize)?;
        self.occupied &= self.occupied - 1;
        Some(ring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::buffer::Buffer;
    use crate::queue::script;
    use crate::random;
    use crate::units::Time;

    /// Compares with a plain list, in the order in which tags were set, that is searched for the
    /// smallest tag. Tags are often equal, and wrap around several times.
    #[test]
    fn first_finds_the_smallest_tag_and_forgets_the_flows_that_it_passes() {
        let mut random = random::stream(1, "tags");
        let (mut flows, mut buffer) = (Flows::default(), Buffer::default());
        let packet = script::packet(Time::ZERO, 0, 0, 100, Ecn::NotEct);
        let mut queue = TagQueue::new(&mut flows);
        // Slots and their tags, which do not wrap around here.
        let mut list: Vec<(u32, u128)> = Vec::new();
        let (mut now, mut ties, mut passed) = (0, 0, 0);
        for number in 0..20_000 {
            if list.len() < 30 {
                let slot = flows.insert(number, 1);
                flows[slot].tag = now as u64;
                buffer.push_back(&mut flows[slot].queue, packet);
                queue.insert(&mut flows, slot);
                list.push((slot, now));
            }
            let (any, _) = list[random::below(&mut random, list.len() as u64) as usize];
            if !flows[any].is_backlogged() {
                buffer.push_back(&mut flows[any].queue, packet);
            }
            let least =
                list.iter().filter(|(slot, _)| flows[*slot].is_backlogged()).map(|&(_, tag)| tag);
            let Some(least) = least.min() else { continue };
            let of_least =
                |&&(slot, tag): &&(u32, u128)| tag == least && flows[slot].is_backlogged();
            let expected = list.iter().find(of_least).expect("a flow has the smallest tag").0;
            ties += usize::from(list.iter().filter(of_least).count() > 1);
            let reached =
                list.extract_if(.., |(slot, tag)| *tag <= least && !flows[*slot].is_backlogged());
            let mut reached: Vec<u32> = reached.map(|(slot, _)| slot).collect();
            let mut forgotten = Vec::new();
            let forget = |flows: &mut Flows, slot| {
                forgotten.push(slot);
                flows.remove(slot);
            };
            assert_eq!(queue.first(&mut flows, forget), Some(expected));
            assert_eq!(queue.virtual_time(), least as u64);
            reached.sort_unstable();
            forgotten.sort_unstable();
            assert_eq!(forgotten, reached);
            passed += reached.len();
            now = least;
            flows.unlink(expected);
            if random::below(&mut random, 3) == 0 {
                buffer.pop_front(&mut flows[expected].queue);
            }
            let step = match random::below(&mut random, 3) {
                0 => 1 + random::below(&mut random, 1 << 58),
                _ => (1 + random::below(&mut random, 4)) << 56,
            };
            list.retain(|&(slot, _)| slot != expected);
            list.push((expected, now + u128::from(step)));
            flows[expected].tag = (now + u128::from(step)) as u64;
            queue.insert(&mut flows, expected);
        }
        assert!(now > 5 << 64 && ties > 500 && passed > 1_000, "{now}, {ties}, {passed}");
    }
}
