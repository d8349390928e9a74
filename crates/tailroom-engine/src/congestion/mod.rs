//! How large the window is: congestion controls, one file each, and their registry.
//!
//! Adding one takes a file with `struct X` (state), `struct XParams` (parameters, whose doc comments,
//! defaults and ranges become the schema and `tailroom list`), `impl CongestionControl for X`, and
//! one line in the registry below. Loss recovery, RTO, pacing and slow start are not here: they exist once, in
//! [`crate::sender`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Time;

/// What a control learns from an ACK of new data outside slow start and recovery.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When the ACK reaches the sender.
    pub now: Time,
    /// Packets newly acknowledged, at least 1.
    pub acked_packets: u64,
    /// Smoothed RTT; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
}

/// Why the window must shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionKind {
    /// Lost packets, found without a timeout; at most once per recovery episode.
    Loss,
    /// A retransmission timeout.
    Timeout,
    /// ECN marks; at most once per round trip.
    Mark,
}

/// What a control learns when the sender concludes that there is congestion.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When the sender concludes it.
    pub now: Time,
    /// What it concludes it from.
    pub kind: CongestionKind,
    /// The window at that moment, in packets.
    pub cwnd_packets: f64,
    /// Whether the window was below ssthresh.
    pub is_slow_start: bool,
}

/// The law of a window above ssthresh. The sender owns the window itself, slow start, recovery and
/// the bounds (at least 1 packet, at most `max_window`).
pub trait CongestionControl {
    /// The window after an ACK in congestion avoidance, in packets, given the window before it.
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64;

    /// The window to fall to, in packets: the new ssthresh. The sender bounds it below by 2.
    fn on_congestion(&mut self, event: &CongestionEvent) -> f64;
}

/// Parameters of a control, as a scenario gives them.
pub trait Parameters {
    /// Says what is wrong with parameters that contradict one another or lie out of range.
    ///
    /// # Errors
    /// A sentence that names the parameter and its range.
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Expands to the modules, the configuration enum (`kind = "..."` in a scenario) and the state enum
/// that dispatches on the packet path without a virtual call.
macro_rules! registry {
    ($($(#[$doc:meta])* $module:ident :: $control:ident ( $params:ident ) = $name:literal),+ $(,)?) => {
        $(pub mod $module;)+

        /// A congestion control and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", deny_unknown_fields)]
        pub enum CongestionConfig {
            $($(#[$doc])* #[serde(rename = $name)] $control($module::$params),)+
        }

        /// A running congestion control.
        #[derive(Debug)]
        pub enum Congestion {
            $($(#[$doc])* $control($module::$control),)+
        }

        impl Congestion {
            /// Starts the control that `config` describes.
            pub fn new(config: &CongestionConfig) -> Self {
                match config {
                    $(CongestionConfig::$control(params) => {
                        Congestion::$control($module::$control::new(params))
                    })+
                }
            }
        }

        impl CongestionControl for Congestion {
            #[inline]
            fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
                match self {
                    $(Congestion::$control(control) => control.on_ack(cwnd_packets, event),)+
                }
            }

            fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
                match self {
                    $(Congestion::$control(control) => control.on_congestion(event),)+
                }
            }
        }

        impl CongestionConfig {
            /// See [`Parameters::validate`].
            ///
            /// # Errors
            /// A sentence that names the parameter and its range.
            pub fn validate(&self) -> Result<(), String> {
                match self {
                    $(CongestionConfig::$control(params) => params.validate(),)+
                }
            }

            /// The name that a scenario and the results use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(CongestionConfig::$control(_) => $name,)+
                }
            }
        }
    };
}

registry! {
    /// Standard TCP: one packet a round trip, half the window (RFC 5681).
    reno::Reno(RenoParams) = "reno",
    /// HighSpeed TCP (RFC 3649).
    highspeed::Highspeed(HighspeedParams) = "highspeed",
}
