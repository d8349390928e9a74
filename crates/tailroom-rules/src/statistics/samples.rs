//! What describes some samples: at least one, none of them NaN.

/// Their mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The smallest.
pub fn smallest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The middle one, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> f64 {
    percentile(values, 50.0)
}

/// The value below which `percent` of the samples are, on straight lines between neighbours
/// (definition 7 of Hyndman and Fan 1996).
pub fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let place = percent / 100.0 * last as f64;
    let below = (place.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (high - low) * (place - below as f64)
}

/// The samples in `count` parts whose sizes differ by one at most, the larger parts first.
pub fn parts(values: &[f64], count: usize) -> impl Iterator<Item = &[f64]> {
    let (size, longer) = (values.len() / count, values.len() % count);
    let start = move |part: usize| part * size + part.min(longer);
    (0..count).map(move |part| &values[start(part)..start(part + 1)])
}

#[cfg(test)]
mod tests {
    use super::{mean, median, parts, percentile};

    #[test]
    fn samples_have_the_statistics_that_their_definitions_give() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!((mean(&values), median(&values), median(&values[1..])), (2.5, 2.5, 2.0));
        // (n - 1) p = 2.7: seven tenths of the way from the third to the fourth.
        assert!((percentile(&values, 90.0) - 3.7).abs() < 1e-15);
        assert_eq!((percentile(&values, 0.0), percentile(&values, 100.0)), (1.0, 4.0));
    }

    #[test]
    fn parts_are_as_even_as_can_be() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let sizes: Vec<usize> = parts(&values, 4).map(<[f64]>::len).collect();
        assert_eq!(sizes, [2, 2, 1, 1]);
        assert_eq!(parts(&values, 4).flatten().copied().collect::<Vec<_>>(), values);
    }
}
