//! Statistics of completion times.

use crate::derives::{JsonSchema, Serialize};
use crate::probe::durations::{Durations, Percentile};

/// Times from the beginning to the completion of flows or coflows. Those that did not complete before the
/// end of the run count with their age: the end of the run minus their beginning. A mean or percentile
/// that may be larger when they complete is a lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "one for each statistic of the JSON")]
pub struct CompletionTimes {
    /// Mean time from the beginning until the last byte is acknowledged. A flow begins when it arrives:
    /// its handshake is part of the time, if the group's `handshake` is true.
    pub completion_time_s_mean: Option<f64>,
    /// Median of the completion time.
    pub completion_time_s_p50: Option<f64>,
    /// 90th percentile of the completion time.
    pub completion_time_s_p90: Option<f64>,
    /// 95th percentile of the completion time.
    pub completion_time_s_p95: Option<f64>,
    /// 99th percentile of the completion time.
    pub completion_time_s_p99: Option<f64>,
    /// 99.9th percentile of the completion time.
    pub completion_time_s_p999: Option<f64>,
    /// Whether the mean is only a lower bound: whether any did not complete.
    pub completion_time_s_mean_is_lower_bound: bool,
    /// Whether the median is only a lower bound.
    pub completion_time_s_p50_is_lower_bound: bool,
    /// Whether the 90th percentile is only a lower bound.
    pub completion_time_s_p90_is_lower_bound: bool,
    /// Whether the 95th percentile is only a lower bound.
    pub completion_time_s_p95_is_lower_bound: bool,
    /// Whether the 99th percentile is only a lower bound.
    pub completion_time_s_p99_is_lower_bound: bool,
    /// Whether the 99.9th percentile is only a lower bound.
    pub completion_time_s_p999_is_lower_bound: bool,
    /// What the median is at most when all complete; null if more than half did not complete.
    pub completion_time_s_p50_at_most: Option<f64>,
    /// What the 90th percentile is at most; null if more than 10 % did not complete.
    pub completion_time_s_p90_at_most: Option<f64>,
    /// What the 95th percentile is at most; null if more than 5 % did not complete.
    pub completion_time_s_p95_at_most: Option<f64>,
    /// What the 99th percentile is at most; null if more than 1 % did not complete.
    pub completion_time_s_p99_at_most: Option<f64>,
    /// What the 99.9th percentile is at most; null if more than 0.1 % did not complete.
    pub completion_time_s_p999_at_most: Option<f64>,
}

impl CompletionTimes {
    /// Statistics of times in picoseconds.
    pub(super) fn of(picoseconds: &Durations) -> Self {
        let found = picoseconds.percentiles([0.5, 0.9, 0.95, 0.99, 0.999]);
        let seconds =
            found.map(|found| found.map(|one| one.map(|picoseconds| picoseconds * 1e-12)));
        let [p50, p90, p95, p99, p999] = seconds;
        CompletionTimes {
            completion_time_s_mean: picoseconds.mean(1e-12),
            completion_time_s_p50: value(p50),
            completion_time_s_p90: value(p90),
            completion_time_s_p95: value(p95),
            completion_time_s_p99: value(p99),
            completion_time_s_p999: value(p999),
            completion_time_s_mean_is_lower_bound: picoseconds.unfinished > 0,
            completion_time_s_p50_is_lower_bound: is_lower_bound(p50),
            completion_time_s_p90_is_lower_bound: is_lower_bound(p90),
            completion_time_s_p95_is_lower_bound: is_lower_bound(p95),
            completion_time_s_p99_is_lower_bound: is_lower_bound(p99),
            completion_time_s_p999_is_lower_bound: is_lower_bound(p999),
            completion_time_s_p50_at_most: at_most(p50),
            completion_time_s_p90_at_most: at_most(p90),
            completion_time_s_p95_at_most: at_most(p95),
            completion_time_s_p99_at_most: at_most(p99),
            completion_time_s_p999_at_most: at_most(p999),
        }
    }
}

/// The percentile.
pub(super) fn value(percentile: Option<Percentile>) -> Option<f64> {
    percentile.map(|one| one.value)
}

/// Whether it is only a lower bound.
pub(super) fn is_lower_bound(percentile: Option<Percentile>) -> bool {
    percentile.is_some_and(|one| one.is_lower_bound())
}

/// What it can reach.
pub(super) fn at_most(percentile: Option<Percentile>) -> Option<f64> {
    percentile.and_then(|one| one.at_most)
}
