//! How long things take, of which some have not ended when the run does.

use super::histogram::Histogram;

/// Durations of what has ended, and the ages of what has not: both count, as an age is the least that a
/// duration can be.
///
/// A statistic of these numbers is a lower bound of the statistic that the same things have when all of
/// them have ended: each number can only grow, and neither a mean nor a percentile falls when a number
/// grows. What it can reach at most follows from letting every age grow without end. Of n things of which
/// k have not ended, the percentile of rank m (the least m that is at least the quantile times n) is then
/// that of rank m among the n - k that have ended, or infinite if m is above n - k: if more than 1 minus
/// the quantile have not ended. Hence
///
/// * a percentile is exact if this does not change it: if m things have ended that took no longer.
///   Otherwise it is only a lower bound;
/// * a mean is only a lower bound if anything has not ended.
///
/// Adding something that has not ended adds to n and not to what has ended: what a percentile can reach
/// never falls, and an exact percentile is never less than before. To within the precision of the
/// histograms.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    /// Number of durations.
    pub ended: u64,
    /// Number of ages.
    pub unfinished: u64,
    /// An integer, so that the mean does not depend on the order in which things end.
    sum: u128,
    of_ended: Histogram<9>,
    /// Filled when the run ends.
    ages: Histogram<9>,
}

/// A percentile of durations of which some may not be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The percentile if everything had ended with the run.
    pub value: f64,
    /// What it can reach when everything ends; `None` if there is no bound.
    pub at_most: Option<f64>,
}

impl Percentile {
    /// Whether the percentile may be larger when everything has ended.
    pub fn is_lower_bound(&self) -> bool {
        self.at_most.is_none_or(|at_most| at_most > self.value)
    }

    /// The percentile in another unit.
    #[must_use]
    pub fn map(self, convert: impl Fn(f64) -> f64) -> Self {
        Percentile { value: convert(self.value), at_most: self.at_most.map(convert) }
    }
}

impl Durations {
    /// Adds a duration, or the age of something that has not ended, which counts `exact` in the mean.
    pub fn add(&mut self, value: u64, exact: u128, has_ended: bool) {
        let (count, histogram) = if has_ended {
            (&mut self.ended, &mut self.of_ended)
        } else {
            (&mut self.unfinished, &mut self.ages)
        };
        *count += 1;
        histogram.add(value, 1);
        self.sum += exact;
    }

    /// Number of durations and ages.
    pub fn count(&self) -> u64 {
        self.ended + self.unfinished
    }

    /// Returns `unit` times the mean of durations and ages, of what counts in it; `None` if there are
    /// none.
    pub fn mean(&self, unit: f64) -> Option<f64> {
        (self.count() > 0).then(|| unit * self.sum as f64 / self.count() as f64)
    }

    /// Returns several percentiles; `quantiles` ascend.
    pub fn percentiles<const N: usize>(&self, quantiles: [f64; N]) -> [Option<Percentile>; N] {
        if self.unfinished == 0 {
            let exact = |value| Percentile { value, at_most: Some(value) };
            return self.of_ended.quantiles(quantiles).map(|value| value.map(exact));
        }
        let mut all = self.of_ended.clone();
        all.add_all(&self.ages);
        let most = self.of_ended.quantiles_of(all.total(), quantiles);
        let mut most = most.into_iter();
        all.quantiles(quantiles).map(|value| {
            let at_most = most.next().flatten();
            value.map(|value| Percentile { value, at_most })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUANTILES: [f64; 4] = [0.25, 0.5, 0.9, 0.99];

    fn durations(ended: &[u64], ages: &[u64]) -> Durations {
        let mut durations = Durations::default();
        for &value in ended {
            durations.add(value, value.into(), true);
        }
        for &value in ages {
            durations.add(value, value.into(), false);
        }
        durations
    }

    fn only(durations: &Durations, quantile: f64) -> (f64, Option<f64>, bool) {
        let [found] = durations.percentiles([quantile]);
        let found = found.expect("something was added");
        (found.value, found.at_most, found.is_lower_bound())
    }

    /// Nine that took 1 to 9, and one that has not ended after 4: in order 1 2 3 4 4 5 6 7 8 9, and
    /// 1 2 3 4 5 6 7 8 9 and infinity when it takes long.
    #[test]
    fn a_percentile_is_exact_up_to_where_an_unfinished_one_may_lie() {
        let durations = durations(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[4]);
        assert_eq!(only(&durations, 0.4), (4.0, Some(4.0), false));
        assert_eq!(only(&durations, 0.5), (4.0, Some(5.0), true));
        assert_eq!(only(&durations, 0.9), (8.0, Some(9.0), true));
        assert_eq!(only(&durations, 0.99), (9.0, None, true));
        assert_eq!(durations.mean(1.0), Some(4.9));
    }

    #[test]
    fn without_an_end_the_ages_are_all_that_is_known_and_without_a_start_nothing_is() {
        assert_eq!(only(&durations(&[], &[7, 5]), 0.99), (7.0, None, true));
        assert_eq!(only(&durations(&[7, 5], &[]), 0.99), (7.0, Some(7.0), false));
        assert_eq!(durations(&[], &[]).percentiles([0.5]), [None]);
        assert_eq!(durations(&[], &[]).mean(1.0), None);
    }

    proptest! {
        /// Whatever the unfinished ones take in the end, the percentiles are between the two bounds.
        #[test]
        fn the_percentiles_of_what_has_ended_later_are_within_the_bounds(
            ended in prop::collection::vec(0_u64..1_000, 0..40),
            later in prop::collection::vec((0_u64..500, 0_u64..500), 1..10),
        ) {
            let ages: Vec<u64> = later.iter().map(|&(age, _)| age).collect();
            let all: Vec<u64> =
                ended.iter().copied().chain(later.iter().map(|&(age, more)| age + more)).collect();
            let (before, after) = (durations(&ended, &ages), durations(&all, &[]));
            for quantile in QUANTILES {
                let (value, at_most, is_lower_bound) = only(&before, quantile);
                let (end, ..) = only(&after, quantile);
                prop_assert!(value <= end && at_most.is_none_or(|most| end <= most));
                prop_assert!(is_lower_bound || value.to_bits() == end.to_bits());
            }
            prop_assert!(before.mean(1.0) <= after.mean(1.0));
        }

        /// With one more that has not ended, a percentile is as large as before, or only a lower bound; and
        /// what it can reach is not less. One that is as old as the percentile never lowers it.
        #[test]
        fn adding_an_unfinished_one_never_improves_a_percentile(
            ended in prop::collection::vec(0_u64..1_000, 1..120),
            ages in prop::collection::vec(0_u64..1_000, 0..10),
            age in 0_u64..1_000,
        ) {
            let with: Vec<u64> = ages.iter().copied().chain([age]).collect();
            let (before, after) = (durations(&ended, &ages), durations(&ended, &with));
            for quantile in QUANTILES {
                let (was, could_be, _) = only(&before, quantile);
                let (is, can_be, is_lower_bound) = only(&after, quantile);
                prop_assert!(is >= was || (is_lower_bound && (age as f64) < was));
                prop_assert!(can_be.is_none_or(|most| could_be.is_some_and(|before| before <= most)));
            }
        }
    }
}
