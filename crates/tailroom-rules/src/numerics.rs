//! The smallest limit that meets a target, and quantiles of the normal distribution.

/// The smallest limit of a scenario, in packets.
pub(crate) const LEAST_LIMIT: f64 = 1.0;

/// In packets; beyond any buffer.
const LARGEST_LIMIT: f64 = 1e9;

/// The smallest whole limit, in waiting packets and at least 1, at which `meets` is true; infinite
/// if there is none. `meets` must be monotone: once true, it stays true for larger limits.
pub(crate) fn smallest_limit(mut meets: impl FnMut(f64) -> bool) -> f64 {
    let mut high = LEAST_LIMIT;
    while !meets(high) {
        if high >= LARGEST_LIMIT {
            return f64::INFINITY;
        }
        high = (4.0 * high).min(LARGEST_LIMIT);
    }
    let mut low = if high <= LEAST_LIMIT { 0.0 } else { high / 4.0 };
    while high - low > 1.0 {
        let middle = f64::midpoint(low, high).floor();
        if meets(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Where a falling function crosses zero between `low` and `high`, to the last digit.
pub(crate) fn root_of_falling(function: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let (mut low, mut high) = (low, high);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if function(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// How many standard deviations a normal variable exceeds its mean with this probability, in
/// (0, 1/2].
pub(crate) fn normal_deviations(probability: f64) -> f64 {
    // The double underflows beyond 38 deviations.
    root_of_falling(|z| 0.5 * libm::erfc(z / 2.0_f64.sqrt()) - probability, 0.0, 39.0)
}

#[cfg(test)]
mod tests {
    use super::{normal_deviations, smallest_limit};

    /// Tables of the normal distribution.
    #[test]
    fn deviations_are_those_of_the_tables() {
        for (probability, expected) in [(0.5, 0.0), (0.025, 1.959_964), (0.000_5, 3.290_527)] {
            assert!((normal_deviations(probability) - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn the_smallest_limit_is_whole_and_at_least_one() {
        for least in [0.2, 1.0, 1.5, 4.0, 999.0, 1e6 + 0.5] {
            assert!(
                (smallest_limit(|limit| limit >= least) - f64::max(least, 1.0).ceil()).abs() < 0.1
            );
        }
        assert!(smallest_limit(|_| false).is_infinite());
    }
}
