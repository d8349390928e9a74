//! What ends a run that code of the caller's has failed in.

use crate::units::Time;

/// Why a component of the caller's stopped the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomFault {
    /// When it failed.
    pub time: Time,
    /// What it did.
    pub problem: String,
}

/// The first fault of a component.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstFault(Option<Box<CustomFault>>);

impl FirstFault {
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn get(&self) -> Option<&CustomFault> {
        self.0.as_deref()
    }

    /// Keeps the failure that the component reports, if it reports one.
    #[inline]
    pub(crate) fn note(&mut self, time: Time, failure: Option<String>) {
        if let Some(problem) = failure {
            self.keep(time, problem);
        }
    }

    #[cold]
    pub(crate) fn keep(&mut self, time: Time, problem: String) {
        self.0.get_or_insert_with(|| Box::new(CustomFault { time, problem }));
    }
}
