//! The burstiness of arrivals at each time scale: the index of dispersion for counts, IDC(t) = Var
//! N(t) / E N(t), where N(t) is the number of packets that arrive in an interval of length t. It is
//! 1 for a Poisson process at every t, below 1 for smoother arrivals, and n at every t for Poisson
//! batches of n packets.
//!
//! The scales are octaves of a base scale. Two adjacent intervals of one scale form one interval of
//! the next, so the counts are exact at each scale, memory is a few words per scale, and a packet
//! costs one comparison.

use crate::units::Time;

/// Below this number of intervals, the relative standard deviation of the index exceeds one half
/// (that of the variance of n independent normal samples is sqrt(2 / (n - 1))).
const FEWEST_INTERVALS: u64 = 10;

/// Counts of packets in adjacent intervals of one length.
#[derive(Clone, Copy, Debug, Default)]
struct Scale {
    /// Count of an interval whose neighbour has not ended.
    first_half: Option<u64>,
    intervals: u64,
    sum: u64,
    squares: u128,
}

/// The index of dispersion at one scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexAtScale {
    /// Length of the intervals.
    pub scale: Time,
    /// Number of intervals.
    pub intervals: u64,
    /// Mean number of packets per interval.
    pub mean_packets: f64,
    /// Index of dispersion: variance divided by mean.
    pub index: f64,
}

/// The index of dispersion of the arrivals at one link, by time scale.
#[derive(Clone, Debug)]
pub struct IndexOfDispersion {
    base: Time,
    /// End of the current base interval.
    end: Time,
    packets: u64,
    scales: Vec<Scale>,
}

impl IndexOfDispersion {
    /// Counts arrivals from time 0 on, in intervals of `base` and its octaves.
    pub fn new(base: Time) -> Self {
        IndexOfDispersion { base, end: base, packets: 0, scales: Vec::new() }
    }

    /// Discards all counts and starts the first interval at `now`.
    pub fn restart(&mut self, now: Time) {
        *self = IndexOfDispersion {
            end: now.saturating_add(self.base),
            ..IndexOfDispersion::new(self.base)
        };
    }

    /// Records the arrival of a packet; arrivals must be recorded in order of time.
    #[inline]
    pub fn on_arrival(&mut self, now: Time) {
        if now >= self.end {
            self.pass(now);
        }
        self.packets += 1;
    }

    /// Completes the intervals that end by `now`.
    pub fn pass(&mut self, now: Time) {
        if now < self.end {
            return;
        }
        let empty = now.since(self.end).picoseconds() / self.base.picoseconds();
        let span = (empty + 1).saturating_mul(self.base.picoseconds());
        self.end = self.end.saturating_add(Time::from_picoseconds(span));
        let packets = std::mem::take(&mut self.packets);
        self.close(packets, empty);
    }

    /// Adds a base interval with `packets` packets, followed by `empty` empty intervals.
    fn close(&mut self, mut packets: u64, mut empty: u64) {
        for at in 0.. {
            if at == self.scales.len() {
                self.scales.push(Scale::default());
            }
            let scale = &mut self.scales[at];
            scale.intervals += 1 + empty;
            scale.sum += packets;
            scale.squares += u128::from(packets).pow(2);
            match scale.first_half.take() {
                Some(first) => packets += first,
                None if empty == 0 => {
                    scale.first_half = Some(packets);
                    return;
                }
                None => empty -= 1,
            }
            scale.first_half = (empty % 2 == 1).then_some(0);
            empty /= 2;
        }
    }

    /// Returns the index at each scale with enough intervals, the shortest scale first; nothing if
    /// no packet arrived.
    pub fn by_scale(&self) -> impl Iterator<Item = IndexAtScale> + '_ {
        let full = |scale: &&Scale| scale.intervals >= FEWEST_INTERVALS && scale.sum > 0;
        self.scales.iter().take_while(full).enumerate().map(|(octave, scale)| {
            // Exact: even 10^18 intervals and 10^10 packets stay within 128 bits. n sum(x^2) - (sum
            // x)^2 is the variance times n (n - 1).
            let (count, sum) = (u128::from(scale.intervals), u128::from(scale.sum));
            let scaled_variance = count * scale.squares - sum * sum;
            IndexAtScale {
                scale: Time::from_picoseconds(self.base.picoseconds() << octave),
                intervals: scale.intervals,
                mean_packets: sum as f64 / count as f64,
                index: scaled_variance as f64 / ((count - 1) * sum) as f64,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes intervals, mean and index of a scale from a list of all arrivals.
    fn plain(arrivals: &[u64], base: u64, end: u64, octave: u32) -> (u64, f64, f64) {
        let length = base << octave;
        let intervals = (end / base) >> octave;
        let count = |at: u64| {
            let inside = arrivals.iter().filter(|&&time| time / length == at);
            inside.count() as f64
        };
        let counts: Vec<f64> = (0..intervals).map(count).collect();
        let mean = counts.iter().sum::<f64>() / intervals as f64;
        let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
        (intervals, mean, squares / (intervals - 1) as f64 / mean)
    }

    #[test]
    fn aggregated_counts_equal_separate_counts_at_each_scale() {
        // Gaps of 0 to 60 base intervals, which cover every way to pass empty intervals.
        let mut random = 1_u64;
        let mut now = 0;
        let arrivals: Vec<u64> = (0..2_000)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                now += (random >> 40) % 600 * ((random >> 36) & 1);
                now
            })
            .collect();
        let (base, end) = (10, now + 777);
        let mut index_of_dispersion = IndexOfDispersion::new(Time::from_picoseconds(base));
        for &at in &arrivals {
            index_of_dispersion.on_arrival(Time::from_picoseconds(at));
        }
        index_of_dispersion.pass(Time::from_picoseconds(end));
        let found: Vec<IndexAtScale> = index_of_dispersion.by_scale().collect();
        assert!(found.len() > 8, "{} scales", found.len());
        for (octave, found) in (0..).zip(found) {
            let (intervals, mean, index) = plain(&arrivals, base, end, octave);
            assert_eq!(found.scale.picoseconds(), base << octave);
            assert_eq!(found.intervals, intervals, "octave {octave}");
            assert!((found.mean_packets / mean - 1.0).abs() < 1e-12, "octave {octave}");
            assert!((found.index / index - 1.0).abs() < 1e-9, "octave {octave}");
        }
    }

    #[test]
    fn an_arrival_at_the_end_of_an_interval_belongs_to_the_next() {
        let mut index_of_dispersion = IndexOfDispersion::new(Time::from_picoseconds(10));
        index_of_dispersion.restart(Time::from_picoseconds(5));
        // 16 intervals from 5 on: one packet in each but the last, each at the first instant.
        (0..15).for_each(|at| index_of_dispersion.on_arrival(Time::from_picoseconds(5 + 10 * at)));
        index_of_dispersion.pass(Time::from_picoseconds(165));
        let found = index_of_dispersion.by_scale().next().expect("16 intervals");
        // Mean 15/16, squares 15: variance (15 - 16 (15/16)^2) / 15 = 1/16; over the mean: 1/15.
        assert_eq!((found.intervals, found.mean_packets), (16, 0.9375));
        assert!((found.index - 1.0 / 15.0).abs() < 1e-15, "{}", found.index);
    }

    #[test]
    fn a_long_silence_takes_few_steps() {
        let mut index_of_dispersion = IndexOfDispersion::new(Time::from_picoseconds(1));
        index_of_dispersion.on_arrival(Time::ZERO);
        index_of_dispersion.pass(Time::from_picoseconds(1 << 60));
        let found: Vec<IndexAtScale> = index_of_dispersion.by_scale().collect();
        assert_eq!(found[0].intervals, 1 << 60);
        // One packet in one of many intervals: the variance and the mean of a Bernoulli count with
        // a small mean are equal.
        assert!(found.iter().all(|scale| (scale.index - 1.0).abs() < 1e-12));
    }
}
