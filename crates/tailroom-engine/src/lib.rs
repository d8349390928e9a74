//! A packet-level simulator of TCP flows over router buffers: how much buffer does a link need?
//!
//! A run is a function of a network and a seed. Here four CUBIC flows share a link of 20 Mbit/s whose
//! buffer has 50 packets:
//!
//! ```
//! use tailroom_engine::congestion::CongestionConfig;
//! use tailroom_engine::congestion::cubic::CubicParams;
//! use tailroom_engine::{LinkSpec, Network, QueueLimit, Rate, Simulation, TcpSpec, Time};
//!
//! let rate = Rate::from_bits_per_second(20_000_000);
//! let link = LinkSpec::drop_tail(rate, Time::from_milliseconds(10), QueueLimit::packets(50));
//! let cubic = TcpSpec::new(CongestionConfig::Cubic(CubicParams::default()));
//! let (duration, rtt) = (Time::from_milliseconds(10_000), Time::from_milliseconds(40));
//! let mut network = Network::dumbbell(duration, link, cubic, 4, rtt);
//! network.measure_from = Time::from_milliseconds(4_000);
//!
//! let summary = Simulation::new(&network)?.finish()?.summary;
//! let link = summary.links.get("link").expect("the network has this link");
//! assert!(link.utilization > 0.9);
//! assert!(link.queue_delay_s_p99.expect("packets were sent") <= 0.031); // 50 packets of 1,500 B
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Ways in
//!
//! * A program builds a [`Network`]; [`Network::validate`] says what is wrong with it.
//!   The example `dumbbell` sets more of its fields.
//! * `scenario` (with the feature of this name) reads a scenario from TOML, checks it, and resolves it to
//!   a network. The errors name line, key and remedy.
//! * [`Simulation`] runs a network, at once, in slices, or in [steps](simulation::stepping) between which the
//!   caller acts, and returns [`results::Results`].
//! * [`congestion::custom`] takes congestion controls from outside, and [`queue::custom`] queue
//!   disciplines.
//! * [`Bottleneck`] is a link for the packets of others: the tests of a QUIC or TCP stack get
//!   every queue discipline of this crate in a few lines. (An adapter to quinn is among the project's
//!   examples; one to neqo is not, as neqo's crates are not on crates.io.)
//!
//! # Crate features
//!
//! None is on by default; the crate then has seven dependencies.
//!
//! * **scenario**: the module `scenario`, the JSON Schema of its keys, and controls and disciplines of the
//!   caller that a scenario names. It implements serde's and schemars' traits for parameters.
//! * **results**: results that serialize, their time series as JSON, and the module `port_keys`.
//!
//! Only signatures behind a feature have types of other crates.
//!
//! # A packet's journey
//!
//! Each station is a module:
//!
//! ```text
//! traffic -> tcp::sender -> link (queue, serializer, loss) -> ... -> tcp::receiver -> ACK -> sender
//! ```
//!
//! A [`traffic`] source generates the data, and the sender of a [`tcp`] connection decides when
//! packets leave; its [`congestion`] control sets the window. Flows share a [`link`], whose
//! [`queue`] discipline decides which packets its buffer accepts. The receiver answers with ACKs.
//! The [`private_path`] of a flow is everything between two shared links. [`probe`] measures,
//! [`results`] summarizes the measurements.
//!
//! # Promises
//!
//! The same network and seed give the same bytes on every machine, with the same versions of the crates that
//! draw random numbers (commit your `Cargo.lock`): time, rates and sizes are integers, and nothing here reads a
//! clock, a file or the environment. A wrong network is an error, not a panic; what
//! panics says so under "Panics". Specifications, parameters and results may gain fields in any version, and
//! the enums of components kinds: they are `non_exhaustive`, with a constructor or `Default`; the parameters
//! of a source that has a specification of its own come from a scenario. The events and answers of
//! [`congestion`], the hosts and routes of [`fabric`], [`traffic::TraceFlow`] and [`distribution::CdfPoint`]
//! are open, so that only a new major version changes their fields. Modules that this documentation leaves out
//! are public for the tests and crates of this project alone, and may change in any version.
//!
//! Modules import one another in one direction, which `import_order.txt` states.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "scenario"),
    expect(dead_code, reason = "defaults, units and names that only texts need")
)]

// What `derive(Ranges)` writes names this crate, here as in other crates.
extern crate self as tailroom_engine;

/// Evaluates an expression with the content of the variant that an enum holds, whichever it is.
macro_rules! dispatch {
    ($self:ident, $($variant:ident)+, $content:ident => $value:expr) => {
        match $self {
            $(Self::$variant($content) => $value,)+
        }
    };
}

// Groups in the order in which they may import one another: see import_order.txt.
mod derives;
pub mod distribution;
pub mod framing;
#[cfg(feature = "scenario")]
mod kind_or_name;
pub mod parameters;
mod prefetch;
pub mod quantity;
#[doc(hidden)]
pub mod quoting;
pub mod random;
#[doc(hidden)]
pub mod serializer;
#[doc(hidden)]
pub mod spelling;
mod tournament;
pub mod units;
mod work;

pub mod congestion;
pub mod custom;
pub mod observe;
pub mod packet;
pub mod pool;
#[doc(hidden)]
pub mod probe;
pub mod queue;

pub mod fabric;
pub mod link;
#[doc(hidden)]
pub mod private_path;
pub mod tcp;
pub mod traffic;

pub mod bottleneck;
#[doc(hidden)]
pub mod dynamic_flows;
#[doc(hidden)]
pub mod flow;
pub mod network;
#[doc(hidden)]
pub mod switch;

pub mod results;
pub mod simulation;

#[cfg(feature = "results")]
pub mod port_keys;
#[cfg(feature = "scenario")]
pub mod scenario;

// What a first program names, and a test of a transport.
pub use bottleneck::{Bottleneck, Fate, Outcome};
pub use link::LinkSpec;
pub use network::Network;
pub use packet::Ecn;
pub use quantity::limit::QueueLimit;
pub use simulation::Simulation;
pub use tcp::TcpSpec;
pub use units::{Rate, Time};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
