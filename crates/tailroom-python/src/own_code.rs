//! What the user's controls, disciplines and sources have in common: how they are found, and what happens to
//! an exception in them. It is kept in [`Raised`] while the engine ends the run.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tailroom_engine::congestion::custom::ControlMaker;
use tailroom_engine::custom::{Arguments, NotFound};
use tailroom_engine::queue::custom::DisciplineMaker;
use tailroom_engine::quoting::quoted;
use tailroom_engine::scenario::{FindCode, Scenario};
use tailroom_engine::traffic::custom::{FlowsMaker, PacketsMaker};

use crate::error::{Failure, ScenarioError};
use crate::{control, discipline, source};

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

/// Functions of the Python package that take a name and parameters (TOML) and return a factory, or
/// `None` if the name does not belong to a Python object.
#[derive(Default)]
pub(crate) struct Finders {
    /// Finds the factory of a flow's control.
    pub(crate) control: Option<Py<PyAny>>,
    /// Finds the factory of a link's discipline.
    pub(crate) discipline: Option<Py<PyAny>>,
    /// Finds the factory of a source.
    pub(crate) source: Option<Py<PyAny>>,
}

/// Finds controls, disciplines and sources that are written in Python.
pub(crate) struct PythonCode {
    finders: Finders,
    raised: Raised,
}

impl PythonCode {
    pub(crate) fn new(finders: Finders) -> Self {
        PythonCode { finders, raised: Raised::default() }
    }

    /// Finds every control, discipline and source of the scenario that the engine does not have.
    pub(crate) fn find_all(&self, scenario: Scenario) -> Result<Scenario, Failure> {
        scenario.with_code(self).map_err(|error| match self.raised.take() {
            Some(raised) => Failure::Python(raised),
            None => error.into(),
        })
    }

    /// Replaces the error of a run by the exception of the code that caused it.
    pub(crate) fn blame<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        result.map_err(|failure| match (failure, self.raised.take()) {
            (Failure::Run(error), Some(cause)) => Failure::OwnCode(error.to_string(), cause),
            (failure, _) => failure,
        })
    }

    fn find<T>(
        &self,
        finder: Option<&Py<PyAny>>,
        name: &str,
        arguments: &Arguments,
        maker: fn(Python<'_>, Py<PyAny>, Raised) -> T,
    ) -> Result<T, NotFound> {
        let Some(find) = finder else { return Err(NotFound::Unknown(Vec::new())) };
        Python::attach(|py| {
            let make = find
                .call1(py, (name, arguments.to_string()))
                .map_err(|error| self.refusal(py, name, error))?;
            if make.is_none(py) {
                return Err(NotFound::Unknown(Vec::new()));
            }
            Ok(maker(py, make, self.raised.clone()))
        })
    }

    /// The package reports faults as `ScenarioError(problem, remedy)`; other exceptions are kept.
    fn refusal(&self, py: Python<'_>, name: &str, error: PyErr) -> NotFound {
        let arguments = || error.value(py).getattr("args")?.extract::<(String, String)>();
        if error.is_instance_of::<ScenarioError>(py)
            && let Ok((problem, remedy)) = arguments()
        {
            return NotFound::Wrong { problem, remedy };
        }
        let problem = format!("\"{}\" cannot be used: {error}", quoted(name));
        self.raised.keep(error);
        NotFound::Wrong { problem, remedy: "correct it".to_owned() }
    }
}

impl FindCode for PythonCode {
    fn control(&self, name: &str, arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        self.find(self.finders.control.as_ref(), name, arguments, control::maker)
    }

    fn discipline(&self, name: &str, arguments: &Arguments) -> Result<DisciplineMaker, NotFound> {
        self.find(self.finders.discipline.as_ref(), name, arguments, discipline::maker)
    }

    fn packets(&self, name: &str, arguments: &Arguments) -> Result<PacketsMaker, NotFound> {
        self.find(self.finders.source.as_ref(), name, arguments, source::packets_maker)
    }

    fn flows(&self, name: &str, arguments: &Arguments) -> Result<FlowsMaker, NotFound> {
        self.find(self.finders.source.as_ref(), name, arguments, source::flows_maker)
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
