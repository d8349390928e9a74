//! Custom controls: controls that the registry does not hold, because the caller brings them.
//!
//! A scenario names a custom control. The caller that resolves the scenario provides a
//! [`FindControl`], which turns the name and the parameters into a [`ControlMaker`], and the maker
//! makes a control for each flow. [`Controls`] finds controls written in Rust.

mod running;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::Table;

pub use self::running::{ControlFault, CustomRateBasedControl, CustomWindowLaw};
use super::rate_based::RateBasedControl;
use super::{
    AnyRateBasedControl, AnyWindowLaw, Congestion, ControlParameters, SteadyState, WindowLaw,
};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::{BadParameter, Range, check_length};

/// A control of your own: `congestion = "mymodule:MyControl"` is short for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomParams {
    /// Name of the control: for a control in Python its module and class, as in
    /// `"mymodule:MyControl"`, whose code the run executes; for a control in Rust its registered
    /// name.
    #[schemars(length(min = 1), example = "mymodule:MyControl")]
    pub control: String,
    /// Arguments from which the control of each flow is made: in Python the keyword arguments of
    /// the class.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub parameters: Table,
    #[serde(skip)]
    maker: Option<ControlMaker>,
}

impl CustomParams {
    /// The control of this name, still to be found.
    pub fn named(control: impl Into<String>) -> Self {
        CustomParams { control: control.into(), parameters: Table::new(), maker: None }
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
#[derive(Clone)]
pub struct ControlMaker {
    make: Arc<dyn Fn() -> CustomControl + Send + Sync>,
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
        ControlMaker { make: Arc::new(make), is_rate_based, needs_marks, steady_state }
    }
}

impl fmt::Debug for ControlMaker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ControlMaker")
    }
}

impl PartialEq for ControlMaker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

/// Why a scenario's custom control cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoControl {
    /// No control has that name; these are the known names.
    Unknown(Vec<String>),
    /// A parameter of the control is wrong.
    BadParameter(BadParameter),
    /// The name or the parameters are wrong in another way.
    Wrong {
        /// What is wrong.
        problem: String,
        /// What to do.
        remedy: String,
    },
}

/// Finds the controls that the registry does not hold.
pub trait FindControl {
    /// Returns the maker of the control `name` with these parameters.
    ///
    /// # Errors
    /// Why there is no such control.
    fn find(&self, name: &str, parameters: &Table) -> Result<ControlMaker, NoControl>;
}

/// Reads the parameters of one kind of control and returns its maker.
type Entry = Box<dyn Fn(&Table) -> Result<ControlMaker, NoControl>>;

/// Controls written in Rust, by name.
#[derive(Default)]
pub struct Controls {
    entries: BTreeMap<String, Entry>,
}

impl Controls {
    /// Lets scenarios name a window law; `start` makes the law of a flow from the parameters that
    /// the scenario gives.
    pub fn register<P, C>(&mut self, name: impl Into<String>, start: fn(&P) -> C)
    where
        P: ControlParameters + DeserializeOwned + Send + Sync + 'static,
        C: WindowLaw + Send + 'static,
    {
        self.insert(name.into(), move |params: P| {
            ControlMaker::window_law(move || Box::new(start(&params)))
        });
    }

    /// Lets scenarios name a rate-based control; `start` makes the control of a flow from the
    /// parameters that the scenario gives.
    pub fn register_rate_based<P, C>(&mut self, name: impl Into<String>, start: fn(&P) -> C)
    where
        P: ControlParameters + DeserializeOwned + Send + Sync + 'static,
        C: RateBasedControl + Send + 'static,
    {
        self.insert(name.into(), move |params: P| {
            ControlMaker::rate_based(move || Box::new(start(&params)))
        });
    }

    fn insert<P>(&mut self, name: String, make: impl Fn(P) -> ControlMaker + 'static)
    where
        P: ControlParameters + DeserializeOwned,
    {
        let entry = move |parameters: &Table| {
            let params = P::deserialize(parameters.clone()).map_err(|error| NoControl::Wrong {
                problem: error.message().replace('\n', " "),
                remedy: "correct the parameters".to_owned(),
            })?;
            params.check().map_err(NoControl::BadParameter)?;
            let (needs_marks, steady_state) = (params.needs_marks(), params.steady_state());
            Ok(ControlMaker { needs_marks, steady_state, ..make(params) })
        };
        self.entries.insert(name, Box::new(entry));
    }
}

impl FindControl for Controls {
    fn find(&self, name: &str, parameters: &Table) -> Result<ControlMaker, NoControl> {
        match self.entries.get(name) {
            Some(entry) => entry(parameters),
            None => Err(NoControl::Unknown(self.entries.keys().cloned().collect())),
        }
    }
}
