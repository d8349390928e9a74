//! Convergence: the time from which flows share the link fairly.

/// Returns Jain's fairness index of non-negative shares, `(sum x)^2 / (n sum x^2)`; `None` if all
/// shares are 0.
pub fn jain_index(shares: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let sum: f64 = shares.clone().sum();
    let squares: f64 = shares.clone().map(|share| share * share).sum();
    // Rounding may give slightly more than 1 for equal shares.
    (squares > 0.0).then(|| (sum * sum / (shares.count() as f64 * squares)).min(1.0))
}

/// Returns the index of the first interval, not before `from`, that ends a window of `window`
/// intervals in which the deliveries of all flows reach a Jain index of `threshold`.
///
/// `progress[flow][k]` is the number of packets that `flow` had delivered by the end of interval
/// `k`.
pub fn first_fair_interval(
    progress: &[&[u64]],
    from: usize,
    window: usize,
    threshold: f64,
) -> Option<usize> {
    let intervals = progress.iter().map(|flow| flow.len()).min()?;
    (from + window..intervals).find(|&end| {
        let delivered = progress.iter().map(|flow| (flow[end] - flow[end - window]) as f64);
        jain_index(delivered).is_some_and(|index| index >= threshold)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_index_is_one_for_equal_shares_and_one_over_n_for_a_single_flow() {
        let equal = [1.0, 1.0, 1.0, 1.0];
        let one = [1.0, 0.0, 0.0, 0.0];
        assert_eq!(jain_index(equal.iter().copied()), Some(1.0));
        assert_eq!(jain_index(one.iter().copied()), Some(0.25));
        assert_eq!(jain_index([0.0].iter().copied()), None);
    }

    #[test]
    fn finds_the_first_fair_window() {
        let fast: Vec<u64> = vec![10, 20, 30, 35, 40, 45];
        let slow: Vec<u64> = vec![0, 0, 0, 5, 10, 15];
        // Windows of 2 intervals: the first fair one covers intervals 3 and 4.
        assert_eq!(first_fair_interval(&[&fast, &slow], 0, 2, 0.95), Some(4));
        assert_eq!(first_fair_interval(&[&fast, &slow], 5, 2, 0.95), None);
    }
}
