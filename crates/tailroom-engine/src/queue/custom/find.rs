//! The disciplines that a scenario names and the caller supplies.

use serde::de::DeserializeOwned;

use super::super::LinkInfo;
use super::{CustomRule, RuleMaker};
use crate::congestion::custom::entries::Entries;
use crate::congestion::custom::{Arguments, NotFound};
use crate::parameters::Ranges;
use crate::quantity::limit::Limit;

/// Finds the disciplines that the registry does not hold.
pub trait FindDiscipline {
    /// Returns the maker of the discipline `name` with these arguments.
    ///
    /// # Errors
    /// Why there is no such discipline.
    fn find(&self, name: &str, arguments: &Arguments) -> Result<RuleMaker, NotFound>;
}

/// Disciplines written in Rust, by name.
#[derive(Default)]
pub struct Disciplines {
    entries: Entries<RuleMaker>,
}

impl Disciplines {
    /// Lets scenarios name a rule that decides at arrival; `start` makes the rule of a link and the
    /// size of its buffer from the parameters that the scenario gives.
    pub fn register<P, R>(&mut self, name: impl Into<String>, start: fn(&P, &LinkInfo, Limit) -> R)
    where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        R: CustomRule + Send + 'static,
    {
        self.insert(name.into(), start, |maker| maker);
    }

    /// As [`Disciplines::register`], for a rule that also decides about packets that leave.
    pub fn register_acting_on_departures<P, R>(
        &mut self,
        name: impl Into<String>,
        start: fn(&P, &LinkInfo, Limit) -> R,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        R: CustomRule + Send + 'static,
    {
        self.insert(name.into(), start, RuleMaker::acting_on_departures);
    }

    fn insert<P, R>(
        &mut self,
        name: String,
        start: fn(&P, &LinkInfo, Limit) -> R,
        finish: fn(RuleMaker) -> RuleMaker,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        R: CustomRule + Send + 'static,
    {
        self.entries.insert(name, P::check_ranges, move |params: P| {
            finish(RuleMaker::new(move |link, limit| Box::new(start(&params, link, limit))))
        });
    }
}

impl FindDiscipline for Disciplines {
    fn find(&self, name: &str, arguments: &Arguments) -> Result<RuleMaker, NotFound> {
        self.entries.find(name, arguments)
    }
}
