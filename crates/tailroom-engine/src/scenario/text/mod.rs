//! The text of a scenario: TOML with line numbers, checked against the schema; where each problem
//! is.

pub(in crate::scenario) mod check;
pub(in crate::scenario) mod document;
pub(in crate::scenario) mod error;
