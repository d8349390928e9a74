//! Means over runs: their confidence intervals, and where they cross a bound.

pub mod distributions;
pub mod intervals;
pub mod inverse_regression;
pub mod samples;
