//! What a search is asked, and what it answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::statistics::intervals::Interval;
use crate::statistics::inverse_regression::{Crossing, FittedMean};

/// What runs of each limit have: per target, its metric in each run, by seed. No metric is negative.
pub type Runs = BTreeMap<u64, Vec<Vec<f64>>>;

/// A bound on a metric that the buffer must meet.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    /// The target in words, for refusals.
    pub text: String,
    /// Name of the metric, for refusals.
    pub metric: String,
    /// Whether the bound is the smallest allowed value; otherwise it is the largest.
    pub at_least: bool,
    /// The bound, in the unit of the metric.
    pub bound: f64,
    /// Largest possible value of the metric; `None` without one.
    pub highest: Option<f64>,
}

/// The smallest value of a limit, or of another number of a scenario, that meets every target.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    /// The targets, at least one.
    pub targets: Vec<Target>,
    /// Half-width of the answer's interval, relative to the answer.
    pub precision: f64,
    /// Smallest limit that may be tested, at least 1. Limits are in packets, or in steps of another
    /// number.
    pub smallest: u64,
    /// Largest limit that may be tested.
    pub largest: u64,
    /// Maximum number of runs of a buffer.
    pub max_seeds: usize,
    /// Whether the answer may be any number of steps; otherwise it has three digits.
    pub is_whole: bool,
    /// Limits with which the search begins, in ascending order.
    pub limits: Vec<u64>,
    /// Number of runs of limits that are known before the search begins.
    #[serde(default)]
    pub known: BTreeMap<u64, usize>,
    /// The runs that there are.
    pub runs: Runs,
    /// Control variates of the runs, by limit: per variate, its deviation from its known mean in each
    /// run, by seed. All limits have the same variates, chosen before the runs, at most two.
    #[serde(default)]
    pub variates: Runs,
}

/// What a search does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It searches the answer.
    Search,
    /// It repeats the answer.
    Confirm,
}

/// The next runs of a search, or its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// What the search does.
    pub stage: Stage,
    /// Number of runs that each of some limits must have before the next step; empty at the end.
    pub wanted: BTreeMap<u64, usize>,
    /// Estimate of the number of runs that will still be performed.
    pub runs_left: usize,
    /// Number of runs that the search has used, by limit.
    pub used: BTreeMap<u64, usize>,
    /// The smallest sufficient limit with its interval; `None` before the end, and after a refusal.
    pub interval: Option<Crossing>,
    /// The next limit above the interval that may be an answer.
    pub answer: Option<u64>,
    /// Per target, where its metric crosses the bound; `None` if the target does not decide on the
    /// answer. Empty without an interval.
    pub crossings: Vec<Option<Crossing>>,
    /// Per target, the fitted mean of its metric at the tested limits of the fit, from which the
    /// crossing follows: near it, the interval of a mean holds the bound exactly where the interval of
    /// the crossing holds the limit. Empty for a target without a crossing.
    pub fitted: Vec<BTreeMap<u64, FittedMean>>,
    /// Why the regression cannot answer.
    pub refused: Option<String>,
}

impl Target {
    /// The distance of a value from the bound; negative if the value misses the target.
    pub(super) fn margin(&self, value: f64) -> f64 {
        if self.at_least { value - self.bound } else { self.bound - value }
    }

    /// Whether the whole interval meets the bound, or misses it; `None` if only a part of it does.
    pub(super) fn outcome(&self, interval: &Interval) -> Option<bool> {
        let (worst, best) = if self.at_least {
            (interval.low, interval.high)
        } else {
            (interval.high, interval.low)
        };
        if self.margin(worst) >= 0.0 {
            return Some(true);
        }
        (self.margin(best) < 0.0).then_some(false)
    }

    /// A value on the scale of the fit. Of a share that shall be large, the fit is of what is missing
    /// to the highest: its logarithm is nearly straight over that of the limit.
    pub(super) fn on_scale(&self, value: f64) -> f64 {
        match self.highest {
            Some(highest) if self.at_least => highest - value,
            _ => value,
        }
    }

    /// Whether the scale of the fit has what meets the target at its lower end.
    pub(super) fn falls_on_scale(&self) -> bool {
        !self.at_least || self.highest.is_some()
    }

    /// A fitted mean in the unit of the metric.
    pub(super) fn off_scale(&self, fitted: FittedMean) -> FittedMean {
        let FittedMean { mean, low, high } = fitted;
        match self.highest {
            Some(highest) if self.at_least => {
                FittedMean { mean: highest - mean, low: highest - high, high: highest - low }
            }
            _ => fitted,
        }
    }
}
