//! The interface of rules: requirement, assumptions, prediction.

use serde::Serialize;

use crate::bottleneck::Bottleneck;
pub use crate::bottleneck::NotApplicable;

/// The utilization and the loss that a required buffer must achieve, each in (0, 1).
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    /// Smallest utilization of the link.
    pub utilization: f64,
    /// Largest share of packets that the buffer drops.
    pub loss_fraction: f64,
}

/// A condition under which a rule is derived, checked against a link.
#[derive(Debug, Serialize)]
pub struct Assumption {
    /// The condition, as a short sentence.
    pub statement: String,
    /// Whether the link meets it.
    pub holds: bool,
    /// The link's value if the assumption fails; else empty.
    pub found: String,
}

pub(crate) fn assume(
    statement: impl Into<String>,
    holds: bool,
    found: impl Into<String>,
) -> Assumption {
    let found = if holds { String::new() } else { found.into() };
    Assumption { statement: statement.into(), holds, found }
}

/// What a rule predicts; `None` for quantities that it does not predict.
#[derive(Debug, Default)]
pub struct Prediction {
    /// Share of the link's rate in use.
    pub utilization: Option<f64>,
    /// Packets dropped over packets that arrive.
    pub loss_fraction: Option<f64>,
    /// Mean number of waiting packets.
    pub queue_packets_mean: Option<f64>,
    /// Mean time in the queue before transmission.
    pub queue_delay_s_mean: Option<f64>,
    /// Smallest queue limit that meets the requirement, in waiting packets; may be infinite.
    pub required_packets: f64,
    /// What that limit is for, in a few words.
    pub required_for: String,
    /// Further numbers, by name; the last word of a name is the unit.
    pub details: Vec<(&'static str, f64)>,
}

/// A rule of the literature.
#[derive(Debug)]
pub struct Rule {
    /// Its name in Python, on the command line and in JSON.
    pub name: &'static str,
    /// A few words for a mark in a picture.
    pub short: &'static str,
    /// The method, in a few words.
    pub title: &'static str,
    /// Authors, year, and place in the publication.
    pub source: &'static str,
    /// Computes the prediction.
    pub predict: fn(&Bottleneck, Requirement) -> Result<Prediction, NotApplicable>,
    /// Checks the assumptions, for a link to which the rule applies.
    pub assumptions: fn(&Bottleneck) -> Result<Vec<Assumption>, NotApplicable>,
}
