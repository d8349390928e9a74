//! What a warning says.

use super::Named;
use crate::derives::{JsonSchema, Serialize};

/// What a reader of results should know before trusting them. Runs with other seeds have the same
/// warning if kind and place are the same.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RunWarning")]
#[non_exhaustive]
pub struct Warning {
    /// What it is about, as in `few_reductions`.
    #[schemars(with = "String")]
    pub kind: WarningKind,
    /// The keys of the scenario that it concerns, as in `flows.web`, separated by commas; empty if it
    /// concerns the whole run.
    pub place: String,
    /// Its measurements, by name. The last word of a name is its unit.
    pub values: Named<f64>,
    /// The warning in words, with the place and a remedy.
    pub text: String,
}

/// The kinds of [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// Too few window reductions for a steady state.
    FewReductions,
    /// A measured window that is too short for a control.
    ShortWindow,
    /// Reductions that were not kept.
    ForgottenReductions,
    /// Flows that may be phase-locked with a queue.
    PhaseEffects,
    /// Flows whose packets arrive in one instant.
    SimultaneousStarts,
    /// Equal periodic flows of which the same ones lose packets.
    EqualPeriods,
    /// Two-way traffic without a place of its propagation delay.
    OpenSenderSide,
    /// Bursts that keep a delay above the target of a discipline.
    BurstsAboveTarget,
    /// A load that no buffer can carry.
    Overload,
    /// Timeouts that decide the results.
    Timeouts,
    /// Packets that were sent again though they had arrived.
    SentAgainInVain,
    /// Too many flows or coflows that have not completed for a 99th percentile of completion times.
    Unfinished,
    /// Paused links that wait for one another.
    PauseDeadlock,
    /// Headroom that is less than what arrives until a sender has stopped.
    ShortHeadroom,
    /// A queue that is full before the links that lead to it have stopped.
    ShortLimit,
    /// A pool that is full before the links that lead to its queues have stopped.
    ShortPool,
    /// Headroom that is part of a smaller pool.
    HeadroomAbovePool,
    /// An `xon_offset` that changes nothing.
    UnusedXonOffset,
    /// Packets that were dropped in spite of pause frames.
    LosslessDrops,
}

impl Warning {
    pub(super) fn new(
        kind: WarningKind,
        place: impl Into<String>,
        values: &[(&str, f64)],
        text: String,
    ) -> Self {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value));
        Warning { kind, place: place.into(), values: Named(values.collect()), text }
    }
}

/// Largest number of places that a warning names.
const NAMED: usize = 10;

/// The places of a warning; the first few of many.
pub(super) fn list(places: &[String]) -> String {
    match places.len().checked_sub(NAMED) {
        None | Some(0) => places.join(", "),
        Some(others) => format!("{} and {others} more", places[..NAMED].join(", ")),
    }
}
