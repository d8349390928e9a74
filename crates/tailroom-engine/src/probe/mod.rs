//! Measurements. They never affect the simulation: a run with other probes sends the same packets.

pub mod coflows;
pub mod delays;
pub mod durations;
pub mod dynamic_flows;
pub mod flow;
pub mod group;
pub mod histogram;
pub mod index_of_dispersion;
pub mod over_time;
pub mod progress;
pub mod queue_lengths;
pub mod window;
