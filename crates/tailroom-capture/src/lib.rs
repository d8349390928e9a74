//! Packet captures as lists of TCP flows.
//!
//! The modules that a capture passes:
//!
//! ```text
//! bytes -> records (file) -> segment -> connection -> flows
//! ```
//!
//! [`mod@file`] reads pcap and pcapng (crate `pcap-parser`), [`segment`] finds the TCP header of
//! a packet (crate `etherparse`), [`connection`] follows both directions of a connection by their
//! sequence numbers ([`coverage`]) and measures their peak rate ([`peak`]). An [`Import`] reads a
//! capture in slices and returns a list of [`Flow`]s and a [`Report`] of the packets that were left
//! out.

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
