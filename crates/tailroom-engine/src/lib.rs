//! tailroom's packet-level simulator.
//!
//! A packet's journey, each station a module:
//!
//! ```text
//! traffic -> tcp::sender -> link (queue, serializer, loss) -> ... -> tcp::receiver -> ACK -> sender
//! ```
//!
//! [`traffic`] sources and the sender of a [`tcp`] connection decide what may leave, the sender
//! asking its [`congestion`] control how large the window is; a [`link`] is shared, and its
//! [`queue`] discipline guards its buffer; the receiver answers with ACKs. What lies between two
//! shared links is a [`private_path`]. A [`network`] is data: a [`scenario`] resolves to one, a
//! [`simulation::Simulation`] runs it, analytic models read its [`model_input`]. What is measured
//! is the business of [`probe`] and [`results`].
//!
//! Modules import one another in one direction, which `import_order.txt` states.

#![forbid(unsafe_code)]

// Groups in the order in which they may import one another: see import_order.txt.
pub mod distribution;
mod kind_or_name;
pub mod parameters;
pub mod quantity;
pub mod random;
pub mod units;

pub mod congestion;
pub mod packet;
pub mod probe;
pub mod queue;

pub mod link;
pub mod private_path;
pub mod tcp;
pub mod traffic;

pub mod dynamic_flows;
pub mod flow;
pub mod network;

pub mod results;
pub mod simulation;

pub mod model_input;
pub mod scenario;
