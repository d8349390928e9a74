//! Packet captures as lists of TCP flows.
//!
//! A capture's journey, each station a module:
//!
//! ```text
//! bytes -> records (file) -> segment -> connection -> flows
//! ```
//!
//! [`file`] takes pcap and pcapng apart (crate `pcap-parser`), [`segment`] finds the TCP header of
//! a packet (crate `etherparse`), [`connection`] follows both directions of a connection by their
//! sequence numbers ([`coverage`]) and measures their peak rate ([`peak`]). An [`Import`] reads a
//! capture in slices and ends as a list of [`Flow`]s and a [`Report`] of what was left out.

#![forbid(unsafe_code)]

pub mod connection;
pub mod coverage;
pub mod file;
pub mod import;
pub mod peak;
pub mod report;
pub mod segment;

pub use import::{Flow, Import};
pub use report::{Report, Skip};
