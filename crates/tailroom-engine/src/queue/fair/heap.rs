//! A binary heap whose entries can be found again: of the flows by start tag, and by length.

/// A key that puts entries in order. Not `Ord`: tags wrap around, so their order is one only among
/// those that live at the same time.
pub(super) trait Key: Copy {
    /// Whether this one comes before `other`.
    fn is_before(&self, other: &Self) -> bool;
}

/// Where a slot is not in the heap.
const NOWHERE: u32 = u32::MAX;

/// Slots, each with its key, the first in order on top.
#[derive(Debug)]
pub(super) struct Heap<K> {
    entries: Vec<(K, u32)>,
    /// For each slot where it stands in `entries`.
    positions: Vec<u32>,
}

impl<K> Default for Heap<K> {
    fn default() -> Self {
        Heap { entries: Vec::new(), positions: Vec::new() }
    }
}

impl<K: Key> Heap<K> {
    /// The first in order.
    #[inline]
    pub(super) fn first(&self) -> Option<(K, u32)> {
        self.entries.first().copied()
    }

    /// The key of `slot`, if it is there.
    #[inline]
    pub(super) fn key(&self, slot: u32) -> Option<K> {
        match self.positions.get(slot as usize) {
            None | Some(&NOWHERE) => None,
            Some(&position) => Some(self.entries[position as usize].0),
        }
    }

    /// Gives `slot` this key; it need not be there before.
    #[inline]
    pub(super) fn set(&mut self, slot: u32, key: K) {
        match self.positions.get(slot as usize) {
            None | Some(&NOWHERE) => self.insert(slot, key),
            Some(&position) => self.place(position as usize, (key, slot)),
        }
    }

    fn insert(&mut self, slot: u32, key: K) {
        if slot as usize >= self.positions.len() {
            self.positions.resize(slot as usize + 1, NOWHERE);
        }
        self.entries.push((key, slot));
        self.place(self.entries.len() - 1, (key, slot));
    }

    /// Takes `slot` out, if it is there.
    pub(super) fn remove(&mut self, slot: u32) {
        let Some(&position) = self.positions.get(slot as usize) else { return };
        if position == NOWHERE {
            return;
        }
        self.positions[slot as usize] = NOWHERE;
        let Some(last) = self.entries.pop() else { return };
        if (position as usize) < self.entries.len() {
            self.place(position as usize, last);
        }
    }

    /// Puts `entry` into the free place `at`, or where the order asks for it.
    #[inline]
    fn place(&mut self, at: usize, entry: (K, u32)) {
        let risen = self.rise(at, &entry.0);
        let settled = if risen == at { self.sink(at, &entry.0) } else { risen };
        self.put(settled, entry);
    }

    /// Moves what stands above a free place down to it until `key` may stand in the place.
    #[inline]
    fn rise(&mut self, mut at: usize, key: &K) -> usize {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !key.is_before(&self.entries[parent].0) {
                break;
            }
            self.put(at, self.entries[parent]);
            at = parent;
        }
        at
    }

    /// Moves what stands below a free place up to it until `key` may stand in the place.
    #[inline]
    fn sink(&mut self, mut at: usize, key: &K) -> usize {
        loop {
            let mut child = 2 * at + 1;
            if child >= self.entries.len() {
                return at;
            }
            let sibling = child + 1;
            if sibling < self.entries.len()
                && self.entries[sibling].0.is_before(&self.entries[child].0)
            {
                child = sibling;
            }
            if !self.entries[child].0.is_before(key) {
                return at;
            }
            self.put(at, self.entries[child]);
            at = child;
        }
    }

    #[inline]
    fn put(&mut self, at: usize, entry: (K, u32)) {
        self.entries[at] = entry;
        self.positions[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    impl Key for u64 {
        fn is_before(&self, other: &Self) -> bool {
            self < other
        }
    }

    /// Against a plain list that is searched for its smallest key.
    #[test]
    fn the_first_is_the_smallest_whatever_is_set_and_removed() {
        let mut random = random::stream(1, "heap");
        let (mut heap, mut list) = (Heap::<u64>::default(), [None; 40]);
        for _ in 0..20_000 {
            let slot = random::below(&mut random, 40) as u32;
            // Distinct keys: the draw, and the slot below it.
            let key = random::below(&mut random, 1_000) * 40 + u64::from(slot);
            if random::below(&mut random, 3) == 0 {
                heap.remove(slot);
                list[slot as usize] = None;
            } else {
                heap.set(slot, key);
                list[slot as usize] = Some(key);
            }
            let least = list.iter().flatten().min().map(|&key| (key, (key % 40) as u32));
            assert_eq!(heap.first(), least);
            assert_eq!(heap.key(slot), list[slot as usize]);
            assert_eq!(heap.entries.len(), list.iter().flatten().count());
        }
    }
}
