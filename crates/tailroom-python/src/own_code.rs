//! What the user's controls, disciplines and sources have in common: what happens to an exception in them. It is
//! kept in [`Raised`] while the engine ends the run.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::ScenarioError;

/// The exception in the user's code that ended a run.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn keep(&self, error: PyErr) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The first failure of an object of the user's. A call that fails keeps it here, and the engine asks for
/// it afterwards.
pub(crate) struct Failures {
    raised: Raised,
    first: RefCell<Option<String>>,
}

impl Failures {
    pub(crate) fn new(raised: Raised) -> Self {
        Failures { raised, first: RefCell::new(None) }
    }

    /// Keeps what is wrong with an answer.
    #[cold]
    pub(crate) fn refuse(&self, problem: String) {
        self.first.borrow_mut().get_or_insert(problem);
    }

    /// Keeps an exception; a `ScenarioError` is the package's own, and says what is wrong.
    #[cold]
    pub(crate) fn fail(&self, py: Python<'_>, what: &str, error: PyErr) {
        if error.is_instance_of::<ScenarioError>(py) {
            return self.refuse(error.value(py).to_string());
        }
        self.refuse(raised_by(py, what, &error));
        self.raised.keep(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.borrow().is_none()
    }

    pub(crate) fn first(&mut self) -> Option<String> {
        self.first.get_mut().clone()
    }
}

/// The bound method of an object; `None` if the object does not have it.
pub(crate) fn method(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Option<Py<PyAny>>> {
    match object.getattr(name) {
        Ok(method) => Ok(Some(method.unbind())),
        Err(error) if error.is_instance_of::<PyAttributeError>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Says that a method raised an exception.
pub(crate) fn raised_by(py: Python<'_>, what: &str, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| String::new(), |kind| kind.to_string());
    format!("{what} raised {kind}: {}", error.value(py))
}

/// The `repr` of a value, and its type.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return "None".to_owned();
    }
    let text = value.repr().unwrap_or_else(|_| PyString::new(value.py(), "a value"));
    match value.get_type().name() {
        Ok(kind) => format!("{text} ({kind})"),
        Err(_) => text.to_string(),
    }
}
