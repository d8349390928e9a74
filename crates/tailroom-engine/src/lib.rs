//! tailroom's packet-level simulator.
//!
//! A packet's journey, each station a module:
//!
//! ```text
//! traffic -> tcp::sender -> link (queue, serializer, loss) -> ... -> tcp::receiver -> ACK -> sender
//! ```
//!
//! A [`traffic`] source generates the data, and the sender of a [`tcp`] connection decides when
//! packets leave; its [`congestion`] control sets the window. Flows share a [`link`], whose
//! [`queue`] discipline decides which packets its buffer accepts. The receiver answers with ACKs.
//! The [`private_path`] of a flow is everything between two shared links. A [`network`] is data: a
//! [`scenario`] resolves to a network, a [`simulation::Simulation`] runs it, and the analytic
//! models read its [`model_input`]. [`probe`] measures, and [`results`] summarizes the
//! measurements.
//!
//! Modules import one another in one direction, which `import_order.txt` states.

#![deny(unsafe_code)]

/// Evaluates an expression with the content of the variant that an enum holds, whichever it is.
macro_rules! dispatch {
    ($self:ident, $($variant:ident)+, $content:ident => $value:expr) => {
        match $self {
            $(Self::$variant($content) => $value,)+
        }
    };
}

// Groups in the order in which they may import one another: see import_order.txt.
pub mod distribution;
mod kind_or_name;
pub mod parameters;
mod prefetch;
pub mod quantity;
pub mod random;
mod tournament;
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
