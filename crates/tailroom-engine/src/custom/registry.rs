//! Components written in Rust that a scenario names.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::Arguments;
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

/// Reads the parameters of one component and returns its maker.
type Entry<M> = Box<dyn Fn(&Arguments) -> Result<M, NotFound>>;

/// The makers `M` of components, by name.
pub(crate) struct Entries<M>(BTreeMap<String, Entry<M>>);

impl<M> Default for Entries<M> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<M> Entries<M> {
    /// Adds a component, whose parameters are read from the scenario's arguments and checked.
    pub(crate) fn insert<P: DeserializeOwned + 'static>(
        &mut self,
        name: String,
        check: fn(&P) -> Result<(), BadParameter>,
        make: impl Fn(P) -> M + 'static,
    ) {
        let entry = move |arguments: &Arguments| {
            let params: P = arguments.read().map_err(|problem| NotFound::Wrong {
                problem,
                remedy: "correct the parameters".to_owned(),
            })?;
            check(&params).map_err(NotFound::BadParameter)?;
            Ok(make(params))
        };
        self.0.insert(name, Box::new(entry));
    }

    /// The maker of the component `name` with these arguments.
    pub(crate) fn find(&self, name: &str, arguments: &Arguments) -> Result<M, NotFound> {
        match self.0.get(name) {
            Some(entry) => entry(arguments),
            None => Err(NotFound::Unknown(self.0.keys().cloned().collect())),
        }
    }
}
