//! What is measured, never what happens: a run with other probes gives the same packets.

pub mod delays;
pub mod dispersion;
pub mod dynamic_flows;
pub mod flow;
pub mod group;
pub mod histogram;
pub mod over_time;
pub mod progress;
