//! A record of each packet in flight, by its number.

/// The records of the packets from `una` to `end`. The place of a record in the ring follows from the number
/// of its packet, so that ACKs move none.
#[derive(Clone, Debug)]
pub(super) struct Flight<R> {
    /// A power of two of places, or none.
    places: Vec<R>,
    una: u64,
    end: u64,
    /// The records from this packet on have not been changed since the packet was sent.
    changed_until: u64,
}

impl<R> Default for Flight<R> {
    fn default() -> Self {
        Flight { places: Vec::new(), una: 0, end: 0, changed_until: 0 }
    }
}

impl<R: Copy> Flight<R> {
    /// The first packet in flight.
    #[inline]
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// The first packet that has not been sent.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<R>()) as u64
    }

    #[inline]
    fn place(&self, sequence: u64) -> usize {
        sequence as usize & self.places.len().wrapping_sub(1)
    }

    /// The record of a packet; `None` if it is not in flight.
    #[inline]
    pub(super) fn get(&self, sequence: u64) -> Option<R> {
        let is_in_flight = (self.una..self.end).contains(&sequence);
        if is_in_flight { Some(self.places[self.place(sequence)]) } else { None }
    }

    /// The record of a packet, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, sequence: u64) -> Option<&mut R> {
        if !(self.una..self.end).contains(&sequence) {
            return None;
        }
        self.changed_until = self.changed_until.max(sequence + 1);
        let place = self.place(sequence);
        Some(&mut self.places[place])
    }

    /// Records that a packet leaves, the next one or one in flight. Returns the record that it had.
    #[inline]
    pub(super) fn put(&mut self, sequence: u64, record: R) -> Option<R> {
        if sequence < self.end {
            let before = self.get_mut(sequence);
            return before.map(|before| std::mem::replace(before, record));
        }
        debug_assert_eq!(sequence, self.end, "packets leave in order");
        self.push(record);
        None
    }

    /// Records that the next packet leaves.
    #[inline]
    pub(super) fn push(&mut self, record: R) {
        if (self.end - self.una) as usize == self.places.len() {
            self.grow(record);
        }
        let place = self.place(self.end);
        self.places[place] = record;
        self.end += 1;
    }

    /// Doubles the number of places; new ones hold `filler`.
    #[cold]
    fn grow(&mut self, filler: R) {
        let before = self.places.len();
        self.places.resize((2 * before).max(4), filler);
        for sequence in self.una..self.end {
            let (from, to) = (sequence as usize & (before - 1), self.place(sequence));
            self.places[to] = self.places[from];
        }
    }

    /// The packets below `una` have arrived. Returns the record of the last one of them, if no record
    /// of them was changed since it was sent, and otherwise changes nothing.
    #[inline]
    pub(super) fn advance_unchanged(&mut self, una: u64) -> Option<R> {
        let is_unchanged = self.changed_until <= self.una && una > self.una;
        let last = if is_unchanged { self.get(una - 1) } else { None };
        if last.is_some() {
            self.una = una;
        }
        last
    }

    /// Takes away the record of the first packet in flight; `None` if none is, which counts as sent then.
    pub(super) fn pop(&mut self) -> Option<R> {
        let record = self.get(self.una);
        self.una += 1;
        self.end = self.end.max(self.una);
        record
    }

    /// The records of the packets from `from` on, with their numbers.
    pub(super) fn records_from(&self, from: u64) -> impl Iterator<Item = (u64, R)> {
        (from.max(self.una)..self.end).map(|sequence| (sequence, self.places[self.place(sequence)]))
    }

    /// Changes all records.
    pub(super) fn change_all(&mut self, change: impl Fn(&mut R)) {
        self.changed_until = self.end;
        self.places.iter_mut().for_each(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{SmallStream, below};
    use std::collections::VecDeque;

    /// On random steps, the same as a list from which records are taken at the front.
    #[test]
    fn a_ring_holds_what_a_list_holds() {
        for seed in 0..200 {
            let mut draws = SmallStream::seeded(seed);
            let (mut flight, mut list, mut una) = (Flight::default(), VecDeque::new(), 0);
            for step in 0..300 {
                let index = below(&mut draws, 12);
                match below(&mut draws, 5) {
                    0 | 1 => (0..index).for_each(|packet| {
                        flight.push(1_000 * step + packet);
                        list.push_back((1_000 * step + packet, false));
                    }),
                    2 => assert_eq!(flight.pop(), list.pop_front().map(|(record, _)| record)),
                    3 => {
                        let to = una + index;
                        let mut first = list.iter().take(index as usize);
                        let is_unchanged = first.all(|(_, is_changed)| !is_changed);
                        let end = index.checked_sub(1).and_then(|place| list.get(place as usize));
                        let expected = end.map(|(record, _)| *record);
                        let advanced = flight.advance_unchanged(to);
                        if advanced.is_some() {
                            assert!(is_unchanged && list.len() >= index as usize, "seed {seed}");
                            assert_eq!(advanced, expected, "seed {seed}");
                            list.drain(..index as usize);
                        } else {
                            let may_be_refused = index == 0
                                || index as usize > list.len()
                                || list.iter().any(|(_, is_changed)| *is_changed)
                                || flight.changed_until > una;
                            assert!(may_be_refused, "seed {seed}");
                        }
                    }
                    _ => {
                        let before = list.get_mut(index as usize);
                        let record = flight.get_mut(una + index);
                        assert_eq!(record.is_some(), before.is_some(), "seed {seed}");
                        if let (Some(record), Some(before)) = (record, before) {
                            (*record, *before) = (step, (step, true));
                        }
                    }
                }
                una = flight.una();
                let held = flight.records_from(0).map(|(_, record)| record);
                assert!(held.eq(list.iter().map(|(record, _)| *record)), "seed {seed}");
                assert_eq!(flight.end() - una, list.len() as u64, "seed {seed}");
            }
        }
    }
}
