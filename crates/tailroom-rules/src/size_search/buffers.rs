//! The buffers that a search has tested so far.

use std::collections::BTreeMap;

use super::question::{Question, Target};
use crate::statistics::intervals::mean_interval;
use crate::statistics::samples::mean;

/// Confidence of the verdict on a buffer in the scan, as a buffer is judged several times.
pub(super) const EARLY_CONFIDENCE: f64 = 0.995;

/// Tested buffers, of which a search has used some runs.
pub(super) struct Buffers<'a> {
    question: &'a Question,
    tested: BTreeMap<u64, Tested>,
}

/// The number of runs that are used, and per target whether it is clearly met, which is not revised.
struct Tested {
    runs: usize,
    verdicts: Vec<Option<bool>>,
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'a> {
    question: &'a Question,
    pub(super) limit: u64,
    pub(super) runs: usize,
}

impl<'a> Buffers<'a> {
    pub(super) fn new(question: &'a Question) -> Self {
        Buffers { question, tested: BTreeMap::new() }
    }

    pub(super) fn runs(&self, limit: u64) -> usize {
        self.tested.get(&limit).map_or(0, |tested| tested.runs)
    }

    pub(super) fn used(&self) -> BTreeMap<u64, usize> {
        self.tested.iter().map(|(&limit, tested)| (limit, tested.runs)).collect()
    }

    /// Whether a limit has been tested, and may get no more runs.
    pub(super) fn is_full(&self, limit: u64) -> bool {
        self.runs(limit) >= self.question.max_seeds
    }

    /// Uses runs of buffers until each has a number of them. If there are too few runs, it uses none
    /// and returns the number of each buffer that lacks some.
    pub(super) fn add(
        &mut self,
        totals: &BTreeMap<u64, usize>,
    ) -> Result<(), BTreeMap<u64, usize>> {
        let there = |limit: u64| self.question.runs.get(&limit).map_or(0, |values| values[0].len());
        let missing: BTreeMap<u64, usize> = totals
            .iter()
            .map(|(&limit, &runs)| (limit, runs.max(self.runs(limit))))
            .filter(|(limit, runs)| there(*limit) < *runs)
            .collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        for (&limit, &runs) in totals {
            self.use_runs(limit, runs);
        }
        Ok(())
    }

    fn use_runs(&mut self, limit: u64, runs: usize) {
        let targets = self.question.targets.len();
        let tested = self
            .tested
            .entry(limit)
            .or_insert_with(|| Tested { runs: 0, verdicts: vec![None; targets] });
        tested.runs = tested.runs.max(runs);
        let buffer = Buffer::new(self.question, limit, tested.runs);
        for (target, verdict) in tested.verdicts.iter_mut().enumerate() {
            *verdict = verdict.or_else(|| buffer.verdict(target, EARLY_CONFIDENCE));
        }
    }

    /// The buffers in ascending order of the limit.
    pub(super) fn sorted(&self) -> Vec<Buffer<'a>> {
        let tested = self.tested.iter();
        tested.map(|(&limit, one)| Buffer::new(self.question, limit, one.runs)).collect()
    }

    /// The clear verdicts on a target, in ascending order of the limit.
    pub(super) fn verdicts(&self, target: usize) -> Vec<bool> {
        self.tested.values().filter_map(|tested| tested.verdicts[target]).collect()
    }
}

impl<'a> Buffer<'a> {
    pub(super) fn new(question: &'a Question, limit: u64, runs: usize) -> Self {
        Buffer { question, limit, runs }
    }

    fn target(&self, target: usize) -> &'a Target {
        &self.question.targets[target]
    }

    /// The metric of a target in the runs that are used.
    pub(super) fn values(&self, target: usize) -> &'a [f64] {
        &self.question.runs[&self.limit][target][..self.runs]
    }

    /// Per control variate, its deviation in each of these runs.
    pub(super) fn variates(&self) -> Vec<Vec<f64>> {
        let all = self.question.variates.get(&self.limit).into_iter().flatten();
        all.map(|deviations| deviations[..self.runs].to_vec()).collect()
    }

    fn mean(&self, target: usize) -> f64 {
        mean(self.values(target))
    }

    /// Distance of the mean from the bound; negative if it misses.
    pub(super) fn margin(&self, target: usize) -> f64 {
        self.target(target).margin(self.mean(target))
    }

    /// The metric on the scale of the fit.
    pub(super) fn on_scale(&self, target: usize) -> Vec<f64> {
        let scale = self.target(target);
        self.values(target).iter().map(|&value| scale.on_scale(value)).collect()
    }

    /// The mean on the scale of the fit.
    pub(super) fn mean_on_scale(&self, target: usize) -> f64 {
        self.target(target).on_scale(self.mean(target))
    }

    /// Whether a target is met, with a confidence.
    pub(super) fn verdict(&self, target: usize, confidence: f64) -> Option<bool> {
        let asked = self.target(target);
        let interval = mean_interval(self.values(target), confidence, asked.highest)?;
        asked.outcome(&interval)
    }

    /// Whether all runs have the same value.
    pub(super) fn is_constant(&self, target: usize) -> bool {
        self.values(target).windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits())
    }
}
