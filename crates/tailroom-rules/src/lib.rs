//! What the literature says about the buffer of a link, without a simulation.
//!
//! A [`Bottleneck`](bottleneck::Bottleneck) is one link of a scenario and the traffic that crosses
//! it. The [rules](RULES) predict from it, each with its assumptions, and [`other_tools`] writes its
//! buffer as settings of Linux, ns-3 and Mahimahi, [`devices`] as those of switches and routers.
//! [`size_search`] says which runs find the smallest sufficient buffer, and finds it in their results.
//! [`measurements`] reads what other tools measured, and finds the buffer that explains it.
//! [`scenario_text`] changes one key of a scenario's text. The Python package and the page call all
//! of this through their bindings.

pub mod assumptions;
pub mod bottleneck;
pub mod devices;
pub mod general_format;
pub mod measurements;
mod numerics;
pub mod other_tools;
pub mod port_setting;
pub mod reading;
pub mod rule;
pub mod rules;
pub mod sawtooth;
pub mod scenario_text;
pub mod size_search;
pub mod statistics;
pub mod traffic;
pub mod window_law;

pub use rules::RULES;
