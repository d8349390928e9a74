//! Custom controls: controls that the registry does not hold, because the caller brings them.
//!
//! A [`ControlMaker`] makes a control for each flow. A program that builds a network puts it into the
//! group's [`CustomParams`].
//!
//! ```
//! use tailroom_engine::congestion::custom::{ControlMaker, CustomParams};
//! use tailroom_engine::congestion::{AckEvent, CongestionConfig, CongestionEvent, WindowLaw};
//! use tailroom_engine::{LinkSpec, Network, QueueLimit, Rate, Simulation, TcpSpec, Time};
//!
//! /// The window grows by a packet a round trip, and a loss takes a quarter of it.
//! struct Gentle;
//!
//! impl WindowLaw for Gentle {
//!     fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
//!         cwnd_packets + event.acked_packets as f64 / cwnd_packets
//!     }
//!
//!     fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
//!         0.75 * event.cwnd_packets
//!     }
//! }
//!
//! let maker = ControlMaker::window_law(|| Box::new(Gentle));
//! let gentle = CongestionConfig::Custom(CustomParams::named("gentle").made_by(maker));
//! let rate = Rate::from_bits_per_second(20_000_000);
//! let link = LinkSpec::drop_tail(rate, Time::from_milliseconds(10), QueueLimit::packets(25));
//! let (duration, rtt) = (Time::from_milliseconds(20_000), Time::from_milliseconds(40));
//! let network = Network::dumbbell(duration, link, TcpSpec::new(gentle), 1, rtt);
//! let summary = Simulation::new(&network)?.finish()?.summary;
//! assert!(summary.links.get("link").expect("its name").utilization > 0.9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod running;

use std::sync::Arc;

pub use self::running::{CustomRateBasedControl, CustomWindowLaw};
use super::rate_based::RateBasedControl;
use super::{
    AnyRateBasedControl, AnyWindowLaw, Congestion, ControlParameters, SteadyState, WindowLaw,
};
#[cfg(feature = "scenario")]
use crate::custom::Arguments;
use crate::custom::Maker;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::{BadParameter, Range, check_length};

/// A control of your own: `congestion = "mymodule:MyControl"` is short for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CustomParams {
    /// Name of the control: for a control in Python its module and class, as in
    /// `"mymodule:MyControl"`, whose code the run executes; for a control in Rust its registered
    /// name.
    #[schemars(length(min = 1), example = "mymodule:MyControl")]
    pub control: String,
    /// Arguments from which the control of each flow is made: in Python the keyword arguments of
    /// the class.
    #[cfg(feature = "scenario")]
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub parameters: Arguments,
    #[serde(skip)]
    maker: Option<ControlMaker>,
}

impl CustomParams {
    /// The control of this name, still to be found.
    pub fn named(control: impl Into<String>) -> Self {
        CustomParams {
            control: control.into(),
            #[cfg(feature = "scenario")]
            parameters: Arguments::default(),
            maker: None,
        }
    }

    /// The same parameters with the maker of the control that they name.
    #[must_use]
    pub fn made_by(self, maker: ControlMaker) -> Self {
        CustomParams { maker: Some(maker), ..self }
    }

    /// Whether the control has been found.
    pub fn is_found(&self) -> bool {
        self.maker.is_some()
    }

    /// Whether the control is a rate-based one, as far as its maker tells before it makes one.
    pub fn is_rate_based(&self) -> bool {
        self.maker.as_ref().is_some_and(|maker| maker.is_rate_based)
    }

    /// Starts the control. The run of a control that has not been found stops at once.
    pub(super) fn start(&self) -> Congestion {
        let law = |law| Congestion::WindowLaw(AnyWindowLaw::Custom(law));
        match self.maker.as_ref().map(|maker| (maker.make)()) {
            Some(CustomControl::WindowLaw(made)) => law(CustomWindowLaw::new(made)),
            Some(CustomControl::RateBased(made)) => Congestion::RateBased(
                AnyRateBasedControl::Custom(CustomRateBasedControl::new(made)),
            ),
            None => law(CustomWindowLaw::missing(&self.control)),
        }
    }
}

impl Ranges for CustomParams {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        check_length("control", self.control.len(), &Range::ANY.at_least(1.0))
    }
}

impl ControlParameters for CustomParams {
    fn needs_marks(&self) -> bool {
        self.maker.as_ref().is_some_and(|maker| maker.needs_marks)
    }

    fn steady_state(&self) -> SteadyState {
        self.maker.as_ref().map_or(SteadyState::MaySettle, |maker| maker.steady_state)
    }
}

/// A window law that a simulation may take to another thread.
pub type BoxedWindowLaw = Box<dyn WindowLaw + Send>;

/// A rate-based control that a simulation may take to another thread.
pub type BoxedRateBasedControl = Box<dyn RateBasedControl + Send>;

/// A control of either kind that the registry does not hold.
pub enum CustomControl {
    /// A window law.
    WindowLaw(BoxedWindowLaw),
    /// A rate-based control.
    RateBased(BoxedRateBasedControl),
}

/// Makes the controls of a group, one per flow.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlMaker {
    make: Maker<dyn Fn() -> CustomControl + Send + Sync>,
    is_rate_based: bool,
    needs_marks: bool,
    steady_state: SteadyState,
}

impl ControlMaker {
    /// Makes the window laws that `make` returns. Their steady state is unknown: the window may
    /// settle.
    pub fn window_law(make: impl Fn() -> BoxedWindowLaw + Send + Sync + 'static) -> Self {
        ControlMaker::either(false, move || CustomControl::WindowLaw(make()))
    }

    /// Makes the rate-based controls that `make` returns.
    pub fn rate_based(make: impl Fn() -> BoxedRateBasedControl + Send + Sync + 'static) -> Self {
        ControlMaker::either(true, move || CustomControl::RateBased(make()))
    }

    /// Makes the controls that `make` returns, whose kind may show only when they are made.
    /// `is_rate_based` is the expected kind, which the estimate of memory is made with.
    pub fn either(
        is_rate_based: bool,
        make: impl Fn() -> CustomControl + Send + Sync + 'static,
    ) -> Self {
        let (needs_marks, steady_state) = (false, SteadyState::MaySettle);
        ControlMaker { make: Maker(Arc::new(make)), is_rate_based, needs_marks, steady_state }
    }

    /// The same maker of controls of which this is known.
    #[cfg(feature = "scenario")]
    pub(crate) fn known_to(self, needs_marks: bool, steady_state: SteadyState) -> Self {
        ControlMaker { needs_marks, steady_state, ..self }
    }
}
