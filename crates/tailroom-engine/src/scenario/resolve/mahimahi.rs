//! Reads packet-delivery traces in Mahimahi's format as a schedule of rates.
//!
//! Such a file has one timestamp in milliseconds per line, in order. Each is an opportunity to
//! deliver 1500 bytes, and the file repeats after the last one. Mahimahi wastes an opportunity that
//! finds no packet; here the opportunities of a millisecond become the rate of that millisecond, as
//! in a fluid model.

use crate::link::serializer::RateChange;
use crate::units::{Rate, Time};

/// A trace in the form that a link needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scenario) struct Trace {
    /// Changes of the rate, the first at time 0.
    pub(in crate::scenario) changes: Vec<RateChange>,
    pub(in crate::scenario) period: Time,
    pub(in crate::scenario) mean_rate: Rate,
}

/// Rate of one opportunity per millisecond, in bit/s: 1500 bytes in 1 ms.
const OPPORTUNITY_BITS_PER_SECOND: u64 = 1500 * 8 * 1000;
const MAX_BYTES: usize = 64 << 20;
const MAX_MILLISECONDS: u64 = 2 * 3_600_000;

impl Trace {
    /// Reads a trace file.
    ///
    /// An opportunity at t ms belongs to the millisecond that ends at t. An opportunity at 0
    /// coincides with the end of the previous repetition and belongs to the last millisecond.
    ///
    /// # Errors
    /// A message with the problem, and with the line if the problem has one.
    pub(in crate::scenario) fn read(text: &str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("has {} bytes, more than {MAX_BYTES}", text.len()));
        }
        let timestamps = timestamps(text)?;
        let last = timestamps.last().copied().ok_or("holds no timestamp")?;
        if last == 0 {
            return Err("holds no timestamp above 0 ms".into());
        }
        let mut opportunities = vec![0_u64; last as usize];
        for timestamp in &timestamps {
            opportunities[(timestamp.checked_sub(1).unwrap_or(last - 1)) as usize] += 1;
        }
        let mut changes: Vec<RateChange> = Vec::new();
        for (millisecond, count) in opportunities.into_iter().enumerate() {
            let rate = Rate::from_bits_per_second(count * OPPORTUNITY_BITS_PER_SECOND);
            if changes.last().is_none_or(|before| before.rate != rate) {
                changes.push(RateChange { at: Time::from_milliseconds(millisecond as u64), rate });
            }
        }
        let mean = timestamps.len() as u64 * OPPORTUNITY_BITS_PER_SECOND / last;
        Ok(Trace {
            changes,
            period: Time::from_milliseconds(last),
            mean_rate: Rate::from_bits_per_second(mean),
        })
    }
}

fn timestamps(text: &str) -> Result<Vec<u64>, String> {
    let mut timestamps = Vec::new();
    let mut before = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let timestamp: u64 = line
            .parse()
            .map_err(|_| format!("line {number} is not a whole number of milliseconds"))?;
        if timestamp < before {
            return Err(format!(
                "line {number} goes back in time, from {before} to {timestamp} ms"
            ));
        }
        if timestamp > MAX_MILLISECONDS {
            return Err(format!("line {number} is beyond {MAX_MILLISECONDS} ms (2 hours)"));
        }
        before = timestamp;
        timestamps.push(timestamp);
    }
    Ok(timestamps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(text: &str) -> Vec<(u64, u64)> {
        let trace = Trace::read(text).unwrap();
        let pairs = trace.changes.iter().map(|change| {
            (change.at.picoseconds() / 1_000_000_000, change.rate.bits_per_second() / 1_000_000)
        });
        pairs.collect()
    }

    #[test]
    fn spreads_each_opportunity_over_its_millisecond() {
        // Two in the first millisecond, none in the second, one in the third.
        let text = "1\n1\n3\n";
        assert_eq!(rates(text), [(0, 24), (1, 0), (2, 12)]);
        let trace = Trace::read(text).unwrap();
        assert_eq!(trace.period, Time::from_milliseconds(3));
        assert_eq!(trace.mean_rate, Rate::from_bits_per_second(12_000_000)); // 4500 B in 3 ms
    }

    #[test]
    fn joins_milliseconds_of_equal_rate_and_wraps_time_zero() {
        assert_eq!(rates("1\n2\n3\n4\n"), [(0, 12)]);
        assert_eq!(rates("0\n1\n2\n"), [(0, 12), (1, 24)]);
    }

    #[test]
    fn refuses_what_is_no_trace() {
        let problem = |text: &str| Trace::read(text).unwrap_err();
        assert_eq!(problem("\n\n"), "holds no timestamp");
        assert_eq!(problem("0\n0\n"), "holds no timestamp above 0 ms");
        assert_eq!(problem("1\nx\n"), "line 2 is not a whole number of milliseconds");
        assert_eq!(problem("1\n2.5\n"), "line 2 is not a whole number of milliseconds");
        assert_eq!(problem("5\n\n4\n"), "line 3 goes back in time, from 5 to 4 ms");
        assert!(problem("999999999999\n").starts_with("line 1 is beyond"));
    }
}
