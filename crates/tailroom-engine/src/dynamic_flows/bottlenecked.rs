//! The bottlenecked flows of a link: over time, the number of flows in progress, and of those that
//! the link holds back.
//!
//! A flow is *in progress* from its arrival until its last byte is acknowledged. It is
//! *bottlenecked* while its peak rate, the rate of its own access link, exceeds the rate that the
//! link could give it, the larger of two rates:
//! - the max-min fair rate f: the unresponsive flows, and every flow in progress at the smaller of
//!   its peak rate and f, fill what the link can carry, where its rate varies in the current
//!   [`INTERVAL`];
//! - the spare rate of the link in the current [`INTERVAL`]. (Flows in slow start do not yet take
//!   their fair rate, so that more flows may be in progress than their peak rates allow.)
//!
//! A flow without a peak rate is always bottlenecked. Whether a flow is bottlenecked is a property
//! of the traffic. The buffer and the scheduler decide how close the flow gets to its fair rate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::probe::histogram::Histogram;
use crate::units::{Rate, Time};

/// Interval over which the spare rate of a link is measured.
pub const INTERVAL: Time = Time::from_milliseconds(100);

/// Peak rates within a sixteenth of an octave (4.4 %) count as equal.
const CLASSES_AN_OCTAVE: u32 = 16;
/// The class of flows without a peak rate.
const UNLIMITED: u32 = u32::MAX;

/// The flows in progress at one link, by peak rate.
#[derive(Clone, Debug)]
pub struct BottleneckedFlows {
    /// Rate that unresponsive flows leave of the link, in bit/s.
    capacity: f64,
    /// By class, the slowest first: the number of flows and the sum of their peak rates.
    classes: BTreeMap<u32, (u64, f64)>,
    in_progress: u64,
    bottlenecked: u64,
    /// Future departures, and future arrivals of permanent flows.
    pending: BinaryHeap<Reverse<Change>>,
    counted: Time,
    /// Flows in progress, weighted by time in picoseconds.
    pub in_progress_over_time: Histogram<9>,
    /// Bottlenecked flows, weighted by time in picoseconds.
    pub bottlenecked_over_time: Histogram<9>,
}

/// A flow begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    time: Time,
    is_end: bool,
    peak_rate: Option<Rate>,
}

/// The class of a peak rate.
fn class(peak_rate: Option<Rate>) -> u32 {
    let Some(rate) = peak_rate else { return UNLIMITED };
    let bits = rate.bits_per_second().max(1);
    // Four bits behind the leading one: linear within an octave, as a histogram's bins are.
    let octave = bits.ilog2();
    let within = (bits << (63 - octave)) >> 59 & u64::from(CLASSES_AN_OCTAVE - 1);
    octave * CLASSES_AN_OCTAVE + within as u32
}

impl BottleneckedFlows {
    /// A link on which unresponsive flows leave `capacity` bit/s.
    pub fn new(capacity: f64) -> Self {
        BottleneckedFlows {
            capacity,
            classes: BTreeMap::new(),
            in_progress: 0,
            bottlenecked: 0,
            pending: BinaryHeap::new(),
            counted: Time::ZERO,
            in_progress_over_time: Histogram::default(),
            bottlenecked_over_time: Histogram::default(),
        }
    }

    /// From the last call of `pass` on, unresponsive flows leave `capacity` bit/s of the link.
    pub fn set_capacity(&mut self, capacity: f64) {
        self.capacity = capacity;
    }

    /// Memory of the changes to come, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.pending.len() * size_of::<Change>()) as u64
    }

    /// A flow is in progress from `time` on, which must not lie before the last call of `pass`.
    pub fn begin(&mut self, time: Time, peak_rate: Option<Rate>) {
        self.pending.push(Reverse(Change { time, is_end: false, peak_rate }));
    }

    /// A flow ends at `time`, which must not lie before the last call of `pass`.
    pub fn end(&mut self, time: Time, peak_rate: Option<Rate>) {
        self.pending.push(Reverse(Change { time, is_end: true, peak_rate }));
    }

    /// The flows in progress when they were last counted.
    pub fn in_progress(&self) -> u64 {
        self.in_progress
    }

    /// When the next flow begins or ends, as far as that is known; [`Time::NEVER`] otherwise.
    pub fn next_change(&self) -> Time {
        self.pending.peek().map_or(Time::NEVER, |next| next.0.time)
    }

    /// Counts up to `now`; the link had `spare` bit/s left since the last call.
    pub fn pass(&mut self, now: Time, spare: f64) {
        self.bottlenecked = self.count_bottlenecked(spare);
        while let Some(&Reverse(change)) = self.pending.peek().filter(|next| next.0.time <= now) {
            self.pending.pop();
            self.count(change.time);
            self.apply(change);
            self.bottlenecked = self.count_bottlenecked(spare);
        }
        self.count(now);
    }

    /// Restarts the statistics.
    pub fn restart(&mut self) {
        self.in_progress_over_time.clear();
        self.bottlenecked_over_time.clear();
    }

    fn count(&mut self, now: Time) {
        let span = now.since(self.counted).picoseconds();
        self.counted = self.counted.max(now);
        self.in_progress_over_time.add(self.in_progress, span);
        self.bottlenecked_over_time.add(self.bottlenecked, span);
    }

    fn apply(&mut self, change: Change) {
        // Whole numbers below 2^53, so that sums are exact.
        let peak = change.peak_rate.map_or(0.0, |rate| rate.bits_per_second() as f64);
        let class = class(change.peak_rate);
        let entry = self.classes.entry(class).or_default();
        if change.is_end {
            self.in_progress -= 1;
            entry.0 -= 1;
            entry.1 -= peak;
            if entry.0 == 0 {
                self.classes.remove(&class);
            }
        } else {
            self.in_progress += 1;
            entry.0 += 1;
            entry.1 += peak;
        }
    }

    /// Fills the link from the slowest flows up. Flows that get their peak rate are not
    /// bottlenecked.
    fn count_bottlenecked(&self, spare: f64) -> u64 {
        let (mut left, mut flows) = (self.capacity, self.in_progress);
        for (&class, &(count, peaks)) in &self.classes {
            let rate = (left / flows as f64).max(spare);
            if class == UNLIMITED || peaks / count as f64 > rate {
                return flows;
            }
            left -= peaks;
            flows -= count;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    fn megabits(rate: u64) -> Rate {
        Rate::from_bits_per_second(rate * 1_000_000)
    }

    /// Bottlenecked flows among those with these peak rates, at a link of 10 Mbit/s.
    fn bottlenecked(peaks: &[Option<u64>]) -> u64 {
        let mut sharing = BottleneckedFlows::new(10e6);
        for peak in peaks {
            sharing.begin(Time::ZERO, peak.map(megabits));
        }
        sharing.pass(Time::ZERO, 0.0);
        sharing.bottlenecked
    }

    #[test]
    fn a_flow_is_bottlenecked_when_its_peak_rate_exceeds_the_max_min_fair_rate() {
        assert_eq!(bottlenecked(&[]), 0);
        assert_eq!(bottlenecked(&[None]), 1);
        assert_eq!(bottlenecked(&[Some(10)]), 0);
        assert_eq!(bottlenecked(&[Some(11)]), 1);
        // Ten flows of 1 Mbit/s fit; eleven get 0.91 each.
        assert_eq!(bottlenecked(&[Some(1); 10]), 0);
        assert_eq!(bottlenecked(&[Some(1); 11]), 11);
        // 1 + 2 leave 7 for the two others: 3.5 each, so 3 would not be bottlenecked, 4 are.
        assert_eq!(bottlenecked(&[Some(4), Some(1), None, Some(2)]), 2);
        assert_eq!(bottlenecked(&[Some(3), Some(1), None, Some(2)]), 1);
        // A link that unresponsive traffic fills bottlenecks every flow.
        let mut full = BottleneckedFlows::new(-1e6);
        full.begin(Time::ZERO, Some(megabits(1)));
        full.pass(Time::ZERO, 0.0);
        assert_eq!(full.bottlenecked, 1);
        // Flows that do not yet take what they could leave the others room.
        full.pass(MS(1), 1.1e6);
        assert_eq!(full.bottlenecked, 0);
    }

    #[test]
    fn the_numbers_are_weighted_by_time() {
        let mut sharing = BottleneckedFlows::new(10e6);
        sharing.begin(MS(10), Some(megabits(8)));
        sharing.end(MS(40), Some(megabits(8)));
        sharing.begin(MS(20), Some(megabits(8)));
        sharing.end(MS(30), Some(megabits(8)));
        sharing.pass(MS(5), 0.0);
        sharing.restart();
        sharing.pass(MS(50), 0.0);
        // One alone is not held back; two get 5 Mbit/s each, from 20 to 30 ms.
        let shares = |histogram: &Histogram<9>| {
            let total = histogram.total() as f64;
            histogram.entries().map(|(value, weight)| (value, weight as f64 / total)).collect()
        };
        let in_progress: Vec<(f64, f64)> = shares(&sharing.in_progress_over_time);
        assert_eq!(in_progress, [(0.0, 15.0 / 45.0), (1.0, 20.0 / 45.0), (2.0, 10.0 / 45.0)]);
        let bottlenecked: Vec<(f64, f64)> = shares(&sharing.bottlenecked_over_time);
        assert_eq!(bottlenecked, [(0.0, 35.0 / 45.0), (2.0, 10.0 / 45.0)]);
    }

    #[test]
    fn peak_rates_of_one_class_differ_by_a_sixteenth() {
        for bits in [1, 2, 3, 1_000, 65_535, 1_000_000, 123_456_789, 1 << 50] {
            let rate = |bits| Some(Rate::from_bits_per_second(bits));
            assert!(class(rate(bits)) <= class(rate(bits + bits / 32)));
            assert!(class(rate(bits)) < class(rate(bits + bits / 8 + 1)));
            assert!(class(rate(bits)) < UNLIMITED);
        }
    }
}
