//! The disciplines that a scenario names and the caller supplies.

use serde::de::DeserializeOwned;

use super::super::LinkInfo;
use super::{CustomRule, CustomScheduler, DisciplineMaker};
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
    fn find(&self, name: &str, arguments: &Arguments) -> Result<DisciplineMaker, NotFound>;
}

/// Disciplines written in Rust, by name.
#[derive(Default)]
pub struct Disciplines {
    entries: Entries<DisciplineMaker>,
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
        self.insert(name.into(), start, DisciplineMaker::acting_on_departures);
    }

    /// Lets scenarios name a scheduler, as [`Disciplines::register`] does a rule.
    pub fn register_scheduler<P, S>(
        &mut self,
        name: impl Into<String>,
        start: fn(&P, &LinkInfo, Limit) -> S,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        S: CustomScheduler + Send + 'static,
    {
        self.entries.insert(name.into(), P::check_ranges, move |params: P| {
            DisciplineMaker::scheduler(move |link, limit| Box::new(start(&params, link, limit)))
        });
    }

    fn insert<P, R>(
        &mut self,
        name: String,
        start: fn(&P, &LinkInfo, Limit) -> R,
        finish: fn(DisciplineMaker) -> DisciplineMaker,
    ) where
        P: Ranges + DeserializeOwned + Send + Sync + 'static,
        R: CustomRule + Send + 'static,
    {
        self.entries.insert(name, P::check_ranges, move |params: P| {
            finish(DisciplineMaker::rule(move |link, limit| Box::new(start(&params, link, limit))))
        });
    }
}

impl FindDiscipline for Disciplines {
    fn find(&self, name: &str, arguments: &Arguments) -> Result<DisciplineMaker, NotFound> {
        self.entries.find(name, arguments)
    }
}
