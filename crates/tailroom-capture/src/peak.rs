//! The largest number of bytes within a sliding window, in constant memory.

/// Number of steps per window; the window slides by one step.
const STEPS: usize = 10;

/// Bytes of the last window, step by step, and the largest sum so far.
///
/// A sum covers `STEPS` whole steps, counted from the first byte. The window with the most bytes
/// covers parts of at most one more step, so the peak misses at most the smaller of its two outer
/// parts.
#[derive(Debug)]
pub struct PeakRate {
    start_ns: i64,
    /// The step of the latest byte.
    step: u64,
    bytes: [u64; STEPS],
    peak: u64,
}

impl PeakRate {
    /// No bytes yet; steps are counted from `start_ns`.
    pub fn starting_at(start_ns: i64) -> Self {
        PeakRate { start_ns, step: 0, bytes: [0; STEPS], peak: 0 }
    }

    /// Adds bytes at a time; times that run backwards count as the latest step.
    pub fn add(&mut self, time_ns: i64, bytes: u64, window_ns: u64) {
        let since = time_ns.saturating_sub(self.start_ns).max(0) as u64;
        // As since * STEPS / window, so that steps need not be a whole number of nanoseconds.
        let step = (u128::from(since) * STEPS as u128 / u128::from(window_ns)) as u64;
        if step > self.step {
            for passed in 1..=(step - self.step).min(STEPS as u64) {
                self.bytes[((self.step + passed) % STEPS as u64) as usize] = 0;
            }
            self.step = step;
        }
        self.bytes[(self.step % STEPS as u64) as usize] += bytes;
        self.peak = self.peak.max(self.bytes.iter().sum());
    }

    /// The peak in bit/s.
    pub fn bits_per_second(&self, window_ns: u64) -> u64 {
        let bits = u128::from(self.peak) * 8 * 1_000_000_000;
        u64::try_from(bits / u128::from(window_ns)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = 1000;

    fn peak(arrivals: &[(i64, u64)]) -> u64 {
        let mut rate = PeakRate::starting_at(arrivals[0].0);
        for &(time, bytes) in arrivals {
            rate.add(time, bytes, WINDOW);
        }
        rate.peak
    }

    #[test]
    fn bytes_within_a_window_add_up_and_older_ones_leave() {
        assert_eq!(peak(&[(50, 1), (1049, 2)]), 3, "999 apart");
        assert_eq!(peak(&[(50, 1), (1050, 2)]), 2, "a window apart");
        assert_eq!(peak(&[(0, 5), (5_000, 1), (5_900, 1), (1_000_000, 4)]), 5);
    }

    #[test]
    fn a_burst_later_in_the_stream_is_found_wherever_it_lies() {
        // Three within 400, beginning in the middle of a step.
        assert_eq!(peak(&[(0, 1), (7_350, 2), (7_500, 2), (7_750, 2)]), 6);
    }

    #[test]
    fn times_that_run_backwards_count_as_the_latest() {
        assert_eq!(peak(&[(0, 1), (2_000, 1), (500, 1)]), 2);
    }

    #[test]
    fn the_rate_is_bits_over_the_window() {
        let mut rate = PeakRate::starting_at(0);
        rate.add(0, 1250, 100_000_000);
        assert_eq!(rate.bits_per_second(100_000_000), 100_000, "10,000 bits in 0.1 s");
    }
}
