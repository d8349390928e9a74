//! Every way to fail, as a Python exception with one sentence that says what to do.

use std::cell::RefCell;
use std::panic;
use std::panic::AssertUnwindSafe;

use pyo3::exceptions::PyException;
use pyo3::import_exception;
use pyo3::prelude::*;

// Defined in Python, so that every error of the package has one base class.
import_exception!(tailroom.errors, ScenarioError);
import_exception!(tailroom.errors, RunError);
import_exception!(tailroom.errors, ControlError);
import_exception!(tailroom.errors, CaptureError);

/// What can end a call into the engine.
pub(crate) enum Failure {
    Scenario(tailroom_engine::scenario::ScenarioError),
    Run(tailroom_engine::simulation::error::RunError),
    Capture(String),
    /// Ctrl-C, or an exception in the caller's progress function.
    Python(PyErr),
    /// An exception in a congestion control, and where it came in the run.
    Control(String, PyErr),
    Panic(String),
}

impl From<tailroom_engine::scenario::ScenarioError> for Failure {
    fn from(error: tailroom_engine::scenario::ScenarioError) -> Self {
        Failure::Scenario(error)
    }
}

impl From<tailroom_engine::simulation::error::RunError> for Failure {
    fn from(error: tailroom_engine::simulation::error::RunError) -> Self {
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
            // The control's author is at fault, not the run.
            Failure::Run(error @ tailroom_engine::simulation::error::RunError::Control { .. }) => {
                ScenarioError::new_err(error.to_string())
            }
            Failure::Run(error) => RunError::new_err(error.to_string()),
            Failure::Control(place, cause) => control_error(place, cause),
            Failure::Capture(why) => CaptureError::new_err(why),
            Failure::Python(error) => error,
            Failure::Panic(what) => RunError::new_err(format!(
                "the engine stopped at {what}; this is a bug in tailroom: \
                 please report it together with the scenario"
            )),
        }
    }
}

/// Ctrl-C and a wish to exit are no failures, wherever they come.
fn control_error(place: String, cause: PyErr) -> PyErr {
    Python::attach(|py| {
        if !cause.is_instance_of::<PyException>(py) {
            return cause;
        }
        let control_error = ControlError::new_err(place);
        control_error.set_cause(py, Some(cause));
        control_error
    })
}

thread_local! {
    /// Where and why the last panic of this thread happened.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics reach the user through [`catch_panics`]; the default hook would print a traceback too.
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
/// Nothing that `call` has touched is used after a panic, so unwind safety does not matter.
pub(crate) fn catch_panics<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    panic::catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Err(Failure::Panic(LAST_PANIC.take().unwrap_or_else(|| "an unknown place".to_owned())))
    })
}
