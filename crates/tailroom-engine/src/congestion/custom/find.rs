//! The controls that a scenario names and the caller supplies.

use serde::de::DeserializeOwned;

use super::super::rate_based::RateBasedControl;
use super::super::{ControlParameters, WindowLaw};
use super::entries::{Entries, NotFound};
use super::{Arguments, ControlMaker};

/// Finds the controls that the registry does not hold.
pub trait FindControl {
    /// Returns the maker of the control `name` with these arguments.
    ///
    /// # Errors
    /// Why there is no such control.
    fn find(&self, name: &str, arguments: &Arguments) -> Result<ControlMaker, NotFound>;
}

/// Controls written in Rust, by name.
#[derive(Default)]
pub struct Controls {
    entries: Entries<ControlMaker>,
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
        P: ControlParameters + DeserializeOwned + 'static,
    {
        self.entries.insert(name, P::check, move |params: P| {
            let (needs_marks, steady_state) = (params.needs_marks(), params.steady_state());
            ControlMaker { needs_marks, steady_state, ..make(params) }
        });
    }
}

impl FindControl for Controls {
    fn find(&self, name: &str, arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        self.entries.find(name, arguments)
    }
}
