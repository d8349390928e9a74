//! The changes of what a pool occupies, which a batch puts in order of time.
//!
//! Packets take memory in order of time, and each queue of a pool frees it in order of time. A batch
//! sorts the releases of all queues and merges them with what packets took.

use super::{Cells, PoolProbe};
use crate::units::Time;

/// Packets of a batch, so few that the first-level cache holds all that it needs.
const BATCH: usize = 256;
/// Changes that are so close to each other are sorted one by one.
const FEW: u32 = 16;

/// So many cells more, or fewer, are occupied from a time on.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    at: Time,
    cells: i64,
}

/// Changes that are not yet measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// By packets that arrived or were dropped, in order of time.
    by_arrivals: Vec<Change>,
    /// By packets that were sent, since the last batch.
    by_releases: Vec<Change>,
    /// The time of the last batch.
    since: Time,
    sorted: Vec<Change>,
    ends: Vec<u32>,
}

impl Changes {
    /// A packet takes memory; returns whether there are enough changes for a batch.
    #[inline]
    pub(super) fn take(&mut self, at: Time, cells: Cells) -> bool {
        self.by_arrivals.push(Change { at, cells: i64::from(cells) });
        self.by_arrivals.len() >= BATCH
    }

    /// A packet that waits is dropped.
    pub(super) fn drop(&mut self, at: Time, cells: Cells) {
        self.by_arrivals.push(Change { at, cells: -i64::from(cells) });
    }

    /// The memory of a packet that was sent is freed.
    #[inline]
    pub(super) fn free(&mut self, at: Time, cells: Cells) {
        self.by_releases.push(Change { at, cells: -i64::from(cells) });
    }

    /// Measures all changes, in order of time; none is later than `now`.
    pub(super) fn measure(&mut self, now: Time, probe: &mut PoolProbe) {
        self.sort_releases(now);
        let mut releases = &self.sorted[..];
        for arrival in &self.by_arrivals {
            while let [first, rest @ ..] = releases
                && first.at < arrival.at
            {
                probe.on_change(first.at, first.cells);
                releases = rest;
            }
            probe.on_change(arrival.at, arrival.cells);
        }
        for release in releases {
            probe.on_change(release.at, release.cells);
        }
        self.by_arrivals.clear();
        self.by_releases.clear();
        self.since = now;
    }

    /// Sorts the releases: by counting into equal spans of time, one for one or two releases, and the
    /// few of a span by insertion.
    fn sort_releases(&mut self, now: Time) {
        let Changes { by_releases, since, sorted, ends, .. } = self;
        let spans = 1_usize << by_releases.len().max(1).ilog2();
        let bits = u64::BITS - now.since(*since).picoseconds().leading_zeros();
        let shift = bits.saturating_sub(spans.ilog2());
        let span_of = |change: &Change| ((change.at - *since).picoseconds() >> shift) as usize;
        ends.clear();
        ends.resize(spans, 0);
        for change in &*by_releases {
            ends[span_of(change)] += 1;
        }
        let (mut sum, mut most) = (0, 0);
        for end in &mut *ends {
            let count = *end;
            *end = sum;
            sum += count;
            most = count.max(most);
        }
        sorted.resize(by_releases.len(), Change::default()); // what it holds already is overwritten
        for change in &*by_releases {
            let end = &mut ends[span_of(change)];
            sorted[*end as usize] = *change;
            *end += 1;
        }
        if most > FEW {
            sorted.sort_unstable_by_key(|change| change.at);
        } else {
            sort_by_insertion(sorted);
        }
    }

    /// Memory of the changes, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let lists = [&self.by_arrivals, &self.by_releases, &self.sorted];
        let changes: usize = lists.map(Vec::capacity).iter().sum();
        changes * size_of::<Change>() + self.ends.capacity() * size_of::<u32>()
    }
}

fn sort_by_insertion(changes: &mut [Change]) {
    for index in 1..changes.len() {
        let change = changes[index];
        if changes[index - 1].at <= change.at {
            continue;
        }
        let mut place = index;
        while place > 0 && changes[place - 1].at > change.at {
            changes[place] = changes[place - 1];
            place -= 1;
        }
        changes[place] = change;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::histogram::Histogram;
    use crate::random::{below, stream};

    /// Releases that are spread evenly, that gather at two times, and none at all.
    #[test]
    fn batches_measure_what_one_list_of_all_changes_shows() {
        let mut random = stream(1, "changes");
        let mut below = |limit: u64| below(&mut random, limit);
        let (mut changes, mut probe) = (Changes::default(), PoolProbe::default());
        let (mut all, mut held, mut from) = (vec![], vec![], 0);
        for batch in 0..600 {
            let to = from + 1 + below(5_000);
            for _ in 0..if batch % 5 == 0 { 0 } else { below(100).min(held.len() as u64) } {
                let times = if batch % 3 == 0 { 2 } else { 400 };
                let at = from + below(times) * (to - from) / times;
                let cells: Cells = held.pop().expect("it holds so many");
                changes.free(Time::from_picoseconds(at), cells);
                all.push((at, -i64::from(cells)));
            }
            let mut arrivals: Vec<u64> = (0..below(100)).map(|_| from + below(to - from)).collect();
            arrivals.sort_unstable();
            for at in arrivals {
                let cells = 1 + below(30) as Cells;
                changes.take(Time::from_picoseconds(at), cells);
                all.push((at, i64::from(cells)));
                held.push(cells);
            }
            changes.measure(Time::from_picoseconds(to), &mut probe);
            from = to;
        }
        all.sort_unstable();
        let mut expected = Histogram::<7>::default();
        let (mut since, mut occupied) = (0, 0_i64);
        for (at, cells) in all {
            expected.add(occupied.cast_unsigned(), at - since);
            (since, occupied) = (at, occupied + cells);
        }
        probe.close(Time::from_picoseconds(since));
        assert_eq!(probe.occupied(), occupied.cast_unsigned());
        let entries = |histogram: &Histogram<7>| histogram.entries().collect::<Vec<_>>();
        assert!(entries(&expected).len() > 300, "the memory fills");
        assert_eq!(entries(probe.over_time()), entries(&expected));
    }
}
