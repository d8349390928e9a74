//! A heap whose entries can be found again: of the flows by start tag, and by length.

/// A key that puts entries in order. Not `Ord`: tags wrap around, so their order is one only among
/// those that live at the same time.
pub(super) trait Key: Copy {
    /// Whether this one comes before `other`.
    fn is_before(&self, other: &Self) -> bool;

    /// Whose it is.
    fn slot(&self) -> u32;
}

/// Where a slot is not in the heap.
const NOWHERE: u32 = u32::MAX;

/// Children of a place: four share two cache lines, and halve the levels of a binary heap.
const CHILDREN: usize = 4;

/// Slots, each with its key, the first in order on top.
#[derive(Debug)]
pub(super) struct Heap<K> {
    entries: Vec<K>,
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
    pub(super) fn first(&self) -> Option<K> {
        self.entries.first().copied()
    }

    /// Gives the key's slot this key; it need not be there before.
    #[inline]
    pub(super) fn set(&mut self, key: K) {
        match self.positions.get(key.slot() as usize) {
            None | Some(&NOWHERE) => self.insert(key),
            Some(&position) => self.place(position as usize, key),
        }
    }

    fn insert(&mut self, key: K) {
        let slot = key.slot() as usize;
        if slot >= self.positions.len() {
            self.positions.resize(slot + 1, NOWHERE);
        }
        self.entries.push(key);
        self.raise(self.entries.len() - 1, key);
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

    /// Puts `key` into the free place `at`, or where the order asks for it.
    #[inline]
    fn place(&mut self, at: usize, key: K) {
        if at > 0 && key.is_before(&self.entries[(at - 1) / CHILDREN]) {
            return self.raise(at, key);
        }
        self.lower(at, key);
    }

    /// Moves what stands above a free place down to it until `key` may stand in the place.
    #[inline]
    fn raise(&mut self, mut at: usize, key: K) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !key.is_before(&self.entries[parent]) {
                break;
            }
            self.put(at, self.entries[parent]);
            at = parent;
        }
        self.put(at, key);
    }

    /// Moves what stands below a free place up to it, down to the leaves, and `key` up from there:
    /// a flow that was served goes behind most others (Floyd's variant of the sift).
    #[inline]
    fn lower(&mut self, mut at: usize, key: K) {
        let top = at;
        let entries = &mut self.entries[..];
        while let Some(child) = first_child(entries, at) {
            entries[at] = entries[child];
            self.positions[entries[at].slot() as usize] = at as u32;
            at = child;
        }
        while at > top {
            let parent = (at - 1) / CHILDREN;
            if !key.is_before(&entries[parent]) {
                break;
            }
            entries[at] = entries[parent];
            self.positions[entries[at].slot() as usize] = at as u32;
            at = parent;
        }
        self.put(at, key);
    }

    #[inline]
    fn put(&mut self, at: usize, key: K) {
        self.entries[at] = key;
        self.positions[key.slot() as usize] = at as u32;
    }
}

/// The child of `at` that comes first in order.
#[inline]
fn first_child<K: Key>(entries: &[K], at: usize) -> Option<usize> {
    let first = CHILDREN * at + 1;
    let children = entries.get(first..entries.len().min(first + CHILDREN))?;
    // Which comes first cannot be predicted, so no branches where all four are there.
    if let [one, two, three, four] = children {
        let left = usize::from(two.is_before(one));
        let right = 2 + usize::from(four.is_before(three));
        let is_right = usize::from(children[right].is_before(&children[left]));
        return Some(first + left + (right - left) * is_right);
    }
    let mut best = 0;
    for at in 1..children.len() {
        if children[at].is_before(&children[best]) {
            best = at;
        }
    }
    (!children.is_empty()).then_some(first + best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    impl Key for u64 {
        fn is_before(&self, other: &Self) -> bool {
            self < other
        }

        fn slot(&self) -> u32 {
            (self % 40) as u32
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
                heap.set(key);
                list[slot as usize] = Some(key);
            }
            let least = list.iter().flatten().min().copied();
            assert_eq!(heap.first(), least);
            assert_eq!(heap.entries.len(), list.iter().flatten().count());
        }
    }
}
