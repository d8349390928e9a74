//! tailroom's packet-level simulator.
//!
//! A packet's journey, each station a module:
//!
//! ```text
//! source -> sender -> link (queue, serializer, loss) -> ... -> receiver -> ACK -> sender
//! ```
//!
//! [`source`] and the TCP [`sender`] decide what may leave, the sender asking its [`congestion`]
//! control how large the window is; [`link`]s are shared, each with a [`queue`] discipline that guards its buffer;
//! the [`receiver`] answers with ACKs. What is private to a flow is wired in [`flow`]; what happens in
//! which order is the business of [`schedule`] and [`simulation`]; what is measured, of [`probe`] and
//! [`results`]. A [`scenario`] resolves to the [`topology`] that a [`simulation::Simulation`] runs;
//! analytic models read its [`outline`].

#![forbid(unsafe_code)]

pub mod outline;
pub mod scenario;
pub mod topology;

pub mod schedule;
pub mod simulation;

pub mod congestion;
pub mod connection;
pub mod flow;
pub mod flow_admission;
pub mod link;
pub mod link_spec;
pub mod loss;
pub mod population;
pub mod private_delay;
pub mod private_path;
pub mod queue;
pub mod receiver;
pub mod sender;
pub mod serializer;
pub mod source;
pub mod tcp_spec;
pub mod unresponsive;
pub mod waiting_line;

pub mod distribution;
pub mod packet;
pub mod quantity;
pub mod random;
pub mod units;

pub mod error;
pub mod probe;
pub mod results;
