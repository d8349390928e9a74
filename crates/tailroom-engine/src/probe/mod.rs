//! What is measured, never what happens: a run with other probes gives the same packets.

pub mod arrivals;
pub mod delays;
pub mod dispersion;
pub mod flow;
pub mod group;
pub mod histogram;
pub mod link;
pub mod over_time;
pub mod population;
pub mod progress;
pub mod sharing;
