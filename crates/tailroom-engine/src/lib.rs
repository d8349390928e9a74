//! tailroom's packet-level simulator.

pub mod congestion;
pub mod topology;
pub mod units;
