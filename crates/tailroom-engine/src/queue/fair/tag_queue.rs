//! The flows in the order of their tags: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990).
//!
//! No tag is behind the virtual time, so that a flow need not be sorted among all others: it lies
//! in the ring of the highest bit in which its tag differs from the virtual time, and moves to the
//! ring of a lower bit, 64 times at most, as the virtual time comes near. Where tags wrap around
//! the bit is the highest one, and the order stays right.
//!
//! Flows of equal tag lie in one ring, and keep the order in which they came there.

use super::flows::{Flow, Flows};

/// Whether tag `one` lies beyond tag `other`. Tags wrap around.
#[inline]
pub(super) fn is_beyond(one: u64, other: u64) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}

/// The flows that wait, and those that do not but have a tag beyond the virtual time.
#[derive(Debug)]
pub(super) struct TagQueue {
    virtual_time: u64,
    /// Those with the virtual time as their tag.
    due: u32,
    /// The others, by the highest bit in which their tag differs from the virtual time.
    later: [u32; 64],
    /// The bits whose rings may hold flows.
    occupied: u64,
}

impl TagQueue {
    /// None of `flows` is in it.
    pub(super) fn new(flows: &mut Flows) -> Self {
        let due = flows.begin_ring();
        let later = [(); 64].map(|()| flows.begin_ring());
        TagQueue { virtual_time: 0, due, later, occupied: 0 }
    }

    /// The tag that the queue has come to.
    #[inline]
    pub(super) fn virtual_time(&self) -> u64 {
        self.virtual_time
    }

    /// Takes in a flow whose tag is not behind the virtual time: behind others of equal tag.
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

    /// The flow with the smallest tag of those that wait, to which the virtual time moves. Tells
    /// `forget` of those that it reaches and that do not wait.
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

    /// Moves the virtual time to the first in `ring` that waits, if any; there is none before it.
    fn approach(&mut self, ring: u32, flows: &mut Flows, mut forget: impl FnMut(&mut Flows, u32)) {
        // Which of them wait nobody can predict: a number far beyond all tags takes no branch.
        let ahead = |flow: &Flow| {
            if flow.waits() { flow.tag.wrapping_sub(self.virtual_time) } else { u64::MAX }
        };
        let ahead = flows.iter(ring).map(ahead).min().filter(|&least| least < u64::MAX);
        self.virtual_time = self.virtual_time.wrapping_add(ahead.unwrap_or(0));
        flows.drain(ring, |flows, slot| {
            let flow = &flows[slot];
            // If none waits, the virtual time will pass all of them.
            if flow.waits() || ahead.is_some() && is_beyond(flow.tag, self.virtual_time) {
                self.insert(flows, slot);
            } else {
                forget(flows, slot);
            }
        });
    }

    /// Moves the virtual time to the last tag, and empties the queue but for the flow in `kept`.
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

    /// The ring that is next after the due one, no longer noted as occupied.
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

    /// Against a plain list, in the order in which tags were set, that is searched for the
    /// smallest. The tags are often equal, and wrap around several times.
    #[test]
    fn the_first_has_the_smallest_tag_and_those_passed_are_forgotten() {
        let mut random = random::stream(1, "tags");
        let (mut flows, mut buffer) = (Flows::default(), Buffer::default());
        let packet = script::packet(Time::ZERO, 0, 0, 100, Ecn::NotEct);
        let mut queue = TagQueue::new(&mut flows);
        // The slot and its tag, which does not wrap around here.
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
            if !flows[any].waits() {
                buffer.push_back(&mut flows[any].queue, packet);
            }
            let least = list.iter().filter(|(slot, _)| flows[*slot].waits()).map(|&(_, tag)| tag);
            let Some(least) = least.min() else { continue };
            let of_least = |&&(slot, tag): &&(u32, u128)| tag == least && flows[slot].waits();
            let expected = list.iter().find(of_least).expect("the least").0;
            ties += usize::from(list.iter().filter(of_least).count() > 1);
            let reached = list.extract_if(.., |(slot, tag)| *tag <= least && !flows[*slot].waits());
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
