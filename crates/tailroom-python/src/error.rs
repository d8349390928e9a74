//! Converts errors to Python exceptions whose message names the remedy.

use std::cell::RefCell;
use std::panic;
use std::panic::AssertUnwindSafe;

use pyo3::exceptions::{PyAttributeError, PyKeyboardInterrupt};
use pyo3::import_exception;
use pyo3::prelude::*;
use tailroom_engine::simulation::error::RunError as RunFailure;
use tailroom_engine::spelling;

// Defined in Python, so that every error of the package has one base class.
import_exception!(tailroom.errors, ArgumentError);
import_exception!(tailroom.errors, ScenarioError);
import_exception!(tailroom.errors, RunError);
import_exception!(tailroom.errors, ControlError);
import_exception!(tailroom.errors, CaptureError);

/// The reasons for which a call into the engine fails.
pub(crate) enum Failure {
    Scenario(tailroom_engine::scenario::ScenarioError),
    Run(RunFailure),
    Capture(String),
    /// Ctrl-C, or an exception in the caller's progress function.
    Python(PyErr),
    /// An exception in code of the user's, and its place in the run.
    OwnCode(String, PyErr),
    Panic(String),
}

impl From<tailroom_engine::scenario::ScenarioError> for Failure {
    fn from(error: tailroom_engine::scenario::ScenarioError) -> Self {
        Failure::Scenario(error)
    }
}

impl From<RunFailure> for Failure {
    fn from(error: RunFailure) -> Self {
        Failure::Run(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scenario(error) => ScenarioError::new_err(error.to_string()),
            // The fault is in the user's code, neither in the engine nor in the scenario.
            Failure::Run(
                error @ (RunFailure::Control { .. }
                | RunFailure::Discipline { .. }
                | RunFailure::Source { .. }),
            ) => ControlError::new_err(error.to_string()),
            Failure::Run(error) => RunError::new_err(error.to_string()),
            Failure::OwnCode(place, cause) => control_error(&place, cause),
            Failure::Capture(why) => CaptureError::new_err(why),
            Failure::Python(error) => error,
            Failure::Panic(what) => RunError::new_err(format!(
                "the engine stopped at {what}; this is a bug in tailroom: \
                 please report it together with the scenario"
            )),
        }
    }
}

/// The error of code of the user's that raised an exception. Ctrl-C is passed on unchanged; `SystemExit` is
/// not, since the user's code must not end the program as if the run had succeeded.
fn control_error(place: &str, cause: PyErr) -> PyErr {
    Python::attach(|py| {
        if cause.is_instance_of::<PyKeyboardInterrupt>(py) {
            return cause;
        }
        let hint = missing_attribute(py, &cause).unwrap_or_default();
        let control_error = ControlError::new_err(format!("{place}{hint}"));
        control_error.set_cause(py, Some(cause));
        control_error
    })
}

/// The end of a message about an attribute that an event or state of this package does not have: the
/// attributes that it has.
fn missing_attribute(py: Python<'_>, cause: &PyErr) -> Option<String> {
    if !cause.is_instance_of::<PyAttributeError>(py) {
        return None;
    }
    let error = cause.value(py);
    let object = error.getattr("obj").ok()?;
    let name: String = error.getattr("name").ok()?.extract().ok()?;
    let class = object.get_type();
    if class.module().ok()? != "tailroom" {
        return None;
    }
    let known: Vec<String> = object.dir().ok()?.extract().ok()?;
    let known: Vec<&str> =
        known.iter().map(String::as_str).filter(|one| !one.starts_with('_')).collect();
    let class = class.name().ok()?;
    Some(match spelling::meant(&name, &known).first() {
        Some(meant) => format!("; did you mean `{meant}` of {class}?"),
        None => format!("; {class} has {}", known.join(", ")),
    })
}

thread_local! {
    /// Place and message of the last panic of this thread.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Replaces the panic hook: panics reach the user through [`catch_panics`], and the default hook
/// would print a traceback as well.
pub(crate) fn keep_panics_off_the_terminal() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let payload = panic.payload();
        let reason = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        LAST_PANIC.set(Some(format!("{place} ({reason})")));
    }));
}

/// Runs `call`; a panic inside becomes [`Failure::Panic`].
///
/// No value that `call` has access to is used after a panic, so unwind safety does not matter.
pub(crate) fn catch_panics<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    panic::catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Err(Failure::Panic(LAST_PANIC.take().unwrap_or_else(|| "an unknown place".to_owned())))
    })
}
