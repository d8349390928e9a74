//! The fit near a crossing, and what follows from it.

use std::collections::BTreeMap;

use super::buffers::{Buffer, EARLY_CONFIDENCE};
use super::search::Search;
use crate::statistics::inverse_regression::{
    Crossing, Fit, FittedMean, Region, Setting, broken_line, fit_mean,
};

/// Confidence of the interval whose upper end is that of the crossing's. Runs are added until the
/// interval is narrow, which selects fits with a small scatter: over repeated searches, at most 1.5 %
/// of the answers are too small.
const HIGH_CONFIDENCE: f64 = 0.985;
/// Confidence of the interval whose lower end is that of the crossing's: over repeated searches, at
/// least 95 % of the intervals hold the truth. A buffer that is larger than need be costs less than a
/// buffer that is too small.
const LOW_CONFIDENCE: f64 = 0.95;
/// Buffers within this factor of the crossing enter the fit.
pub(super) const WINDOW: f64 = 1.6;
/// Buffers whose mean is within this factor of the bound enter the fit.
const SPAN: f64 = 4.0;
/// A tested buffer stands for the crossing if it is within this factor of it.
pub(super) const SAME: f64 = 1.05;

/// Why a fit gives no crossing.
#[derive(Clone, Copy)]
pub(super) enum Doubt {
    /// The means do not lie on a curve of its form, or there are too few.
    Misfit,
    /// Its interval is open, or not one interval.
    Open,
}

/// A crossing by the runs so far.
pub(super) struct Fitted {
    pub(super) crossing: Crossing,
    /// Whether the interval allows for a kink.
    pub(super) is_kinked: bool,
    fit: Fit,
    /// The values of the fit with the deviations of their variates, by limit.
    values: BTreeMap<u64, Evidence>,
}

/// The values at a limit, and per variate its deviation in each.
type Evidence = (Vec<f64>, Vec<Vec<f64>>);

impl Fitted {
    /// The fitted mean at a limit, with a confidence for each end of its interval; `None` outside the
    /// limits of the fit.
    fn mean_at(&self, limit: u64, for_low: f64, for_high: f64) -> Option<FittedMean> {
        let (first, last) = (*self.values.keys().next()?, *self.values.keys().next_back()?);
        let at = limit as f64;
        let smooth = self.fit.mean_at(at, for_low, for_high);
        let broken = self
            .is_kinked
            .then(|| broken_line::mean_at(&settings(&self.values), at, for_low, for_high))
            .flatten();
        let mean = broken.map_or(smooth, |broken| smooth.joined(&broken));
        (first..=last).contains(&limit).then_some(mean)
    }
}

fn settings(values: &BTreeMap<u64, Evidence>) -> Vec<Setting<'_>> {
    let all = values.iter();
    all.map(|(&limit, (values, variates))| Setting { at: limit as f64, values, variates }).collect()
}

impl<'a> Search<'a> {
    /// The buffers near a crossing.
    pub(super) fn near(&self, target: usize, place: f64) -> Vec<Buffer<'a>> {
        let bound = self.bound(target);
        let mut buffers = self.buffers.sorted();
        buffers.retain(|one| {
            let (limit, mean) = (one.limit as f64, one.mean_on_scale(target));
            (place / WINDOW..=place * WINDOW).contains(&limit)
                && (bound / SPAN..=SPAN * bound).contains(&mean)
        });
        buffers
    }

    /// The crossing by the runs of some buffers.
    pub(super) fn crossing(&self, target: usize, buffers: &[Buffer<'_>]) -> Result<Fitted, Doubt> {
        let (Some(first), Some(last)) = (buffers.first(), buffers.last()) else {
            return Err(Doubt::Open);
        };
        if first.margin(target) >= last.margin(target) {
            return Err(Doubt::Misfit);
        }
        let values: BTreeMap<u64, Evidence> =
            buffers.iter().map(|one| (one.limit, (one.on_scale(target), one.variates()))).collect();
        let settings = settings(&values);
        let (low, high) = (first.limit as f64, last.limit as f64);
        let fit = fit_mean(&settings).ok_or(Doubt::Misfit)?;
        let bound = self.bound(target);
        let mut is_kinked = false;
        let mut region = |confidence| {
            let smooth = fit.region(bound, low, high, confidence)?;
            is_kinked = broken_line::is_likely(&settings, smooth.estimate);
            if !is_kinked {
                return Some(smooth);
            }
            Some(smooth.joined(&broken_line::region(&settings, bound, low, high, confidence)?))
        };
        let (for_low, for_high) = (region(LOW_CONFIDENCE), region(HIGH_CONFIDENCE));
        let crossing = for_low
            .zip(for_high)
            .map(|(lower, upper)| Region { low: lower.low, below: lower.below, ..upper })
            .and_then(|region| self.enclosed(target, &region))
            .ok_or(Doubt::Open)?;
        Ok(Fitted { crossing, is_kinked, fit, values })
    }

    /// The interval around the crossing. A parabola bends up or down at the ends of its range, where
    /// it is least certain: an interval that is open there ends at the next buffer with a clear
    /// verdict of its own, and what is apart from the crossing is not part of it if such a buffer
    /// contradicts it.
    fn enclosed(&self, target: usize, region: &Region) -> Option<Crossing> {
        let &Region { estimate, low, high, below, above } = region;
        let missed = self.clear(target, false).filter(|limit| *limit < estimate).last();
        let met = self.clear(target, true).find(|limit| *limit > estimate);
        let is_refuted_below = below.is_none_or(|end| missed.is_some_and(|at| at * SAME >= end));
        let is_refuted_above = above.is_none_or(|end| met.is_some_and(|at| at <= end * SAME));
        if !is_refuted_below || !is_refuted_above {
            return None;
        }
        Some(Crossing { estimate, low: low.or(missed)?, high: high.or(met)? })
    }

    /// The limits that clearly meet a target, or clearly miss it, in ascending order.
    pub(super) fn clear(&self, target: usize, is_met: bool) -> impl Iterator<Item = f64> {
        let buffers = self.buffers.sorted().into_iter();
        buffers
            .filter(move |one| one.verdict(target, EARLY_CONFIDENCE) == Some(is_met))
            .map(|one| one.limit as f64)
    }

    /// The fitted means at the tested limits of a fit. The end that meets the target has the
    /// confidence of the crossing's upper end, the other that of its lower end.
    pub(super) fn means(&self, target: usize, fit: Option<&Fitted>) -> BTreeMap<u64, FittedMean> {
        let asked = &self.question.targets[target];
        let Some(fit) = fit else { return BTreeMap::new() };
        let (for_low, for_high) = if asked.falls_on_scale() {
            (LOW_CONFIDENCE, HIGH_CONFIDENCE)
        } else {
            (HIGH_CONFIDENCE, LOW_CONFIDENCE)
        };
        let tested = self.buffers.sorted().into_iter().map(|one| one.limit);
        tested
            .filter_map(|limit| {
                let mean = fit.mean_at(limit, for_low, for_high)?;
                Some((limit, asked.off_scale(mean)))
            })
            .collect()
    }
}
