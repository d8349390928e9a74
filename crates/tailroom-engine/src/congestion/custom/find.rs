//! The controls that a scenario names and the caller supplies.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::super::rate_based::RateBasedControl;
use super::super::{ControlParameters, WindowLaw};
use super::{Arguments, ControlMaker};
use crate::parameters::BadParameter;

/// Why a component that a scenario names and the caller supplies cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotFound {
    /// Nothing has that name; these are the known names.
    Unknown(Vec<String>),
    /// A parameter is wrong.
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
    /// Returns the maker of the control `name` with these arguments.
    ///
    /// # Errors
    /// Why there is no such control.
    fn find(&self, name: &str, arguments: &Arguments) -> Result<ControlMaker, NotFound>;
}

/// Reads the parameters of one kind of control and returns its maker.
type Entry = Box<dyn Fn(&Arguments) -> Result<ControlMaker, NotFound>>;

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
        let entry = move |arguments: &Arguments| {
            let params: P = arguments.read().map_err(|problem| NotFound::Wrong {
                problem,
                remedy: "correct the parameters".to_owned(),
            })?;
            params.check().map_err(NotFound::BadParameter)?;
            let (needs_marks, steady_state) = (params.needs_marks(), params.steady_state());
            Ok(ControlMaker { needs_marks, steady_state, ..make(params) })
        };
        self.entries.insert(name, Box::new(entry));
    }
}

impl FindControl for Controls {
    fn find(&self, name: &str, arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        match self.entries.get(name) {
            Some(entry) => entry(arguments),
            None => Err(NotFound::Unknown(self.entries.keys().cloned().collect())),
        }
    }
}
