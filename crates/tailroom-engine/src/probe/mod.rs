//! What is measured, never what happens: a run with other probes gives the same packets.

pub mod delays;
pub mod flow;
pub mod group;
pub mod histogram;
pub mod index_of_dispersion;
pub mod over_time;
pub mod population;
pub mod progress;
