//! A link under tailroom's queue disciplines, between two hosts that are the Linux kernel's.
//!
//! A host is a network namespace with one TUN device. What the kernel of one host sends comes out of
//! its TUN device, passes the link, and is written into the TUN device of the other host:
//!
//! ```text
//! traffic -> kernel's TCP of host A -> TUN -> direction (engine's Link, delay) -> TUN -> host B
//! ```
//!
//! A [`plan`] says what a scenario of tailroom means here: the same file runs in the simulator. A
//! [`direction`] holds the packets that wait and that propagate, in the time of a [`clock`] that
//! stops while the machine stalls. The [`emulator`] moves packets and notes the
//! [`conversations`] of requests and [`writes`], [`traffic`] opens and closes each [`connection`] and reads the kernel's
//! [`counters`], and [`recording`] is the result, by [`settings`]; on demand, a [`packet_log`] lists the packets of
//! host A. Everything unsafe is in [`system`].

#![cfg(target_os = "linux")]
#![expect(clippy::missing_errors_doc, reason = "they are those of the system's calls")]

pub mod clock;
pub mod command;
pub mod connection;
pub mod conversations;
pub mod counters;
pub mod direction;
pub mod emulator;
pub mod hosts;
pub mod ip;
pub mod packet_log;
pub mod plan;
pub mod recording;
pub mod requests;
pub mod settings;
pub mod statistics;
pub mod system;
pub mod tcp_info;
pub mod traffic;
pub mod writes;
