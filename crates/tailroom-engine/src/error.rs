//! What can go wrong in a run.

/// A run that cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Packets (or time) appeared or vanished: a bug of the engine, never of the scenario.
    #[error(
        "the account of {place} does not balance: {found} found where {expected} are expected; \
         this is a bug in tailroom, please report it with the scenario and the seed"
    )]
    Conservation {
        /// Whose account.
        place: String,
        /// What the account should show.
        expected: u64,
        /// What it shows.
        found: u64,
    },
}
