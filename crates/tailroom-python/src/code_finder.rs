//! How the user's controls, disciplines and sources are found.

use pyo3::prelude::*;
use tailroom_engine::congestion::custom::ControlMaker;
use tailroom_engine::custom::{Arguments, NotFound};
use tailroom_engine::queue::custom::DisciplineMaker;
use tailroom_engine::quoting::quoted;
use tailroom_engine::scenario::{FindCode, Scenario};
use tailroom_engine::traffic::custom::{FlowsMaker, PacketsMaker};

use crate::discipline::{OwnDiscipline, PythonRule};
use crate::error::{Failure, ScenarioError};
use crate::own_code::Raised;
use crate::scheduler::PythonScheduler;
use crate::{control, source};

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
        self.find(self.finders.discipline.as_ref(), name, arguments, discipline_maker)
    }

    fn packets(&self, name: &str, arguments: &Arguments) -> Result<PacketsMaker, NotFound> {
        self.find(self.finders.source.as_ref(), name, arguments, source::packets_maker)
    }

    fn flows(&self, name: &str, arguments: &Arguments) -> Result<FlowsMaker, NotFound> {
        self.find(self.finders.source.as_ref(), name, arguments, source::flows_maker)
    }
}

/// The maker of disciplines that calls `make`, the factory of a link's discipline, whose attributes say
/// whether it is a scheduler, or decides at departures too.
fn discipline_maker(py: Python<'_>, make: Py<PyAny>, raised: Raised) -> DisciplineMaker {
    let says =
        |name: &str| make.getattr(py, name).is_ok_and(|said| said.is_truthy(py).unwrap_or(false));
    let (is_scheduler, acts) = (says("is_scheduler"), says("acts_on_departures"));
    if is_scheduler {
        return DisciplineMaker::scheduler(move |link, limit| {
            Box::new(PythonScheduler(OwnDiscipline::new(&make, link, limit, raised.clone())))
        });
    }
    let maker = DisciplineMaker::rule(move |link, limit| {
        Box::new(PythonRule(OwnDiscipline::new(&make, link, limit, raised.clone())))
    });
    if acts { maker.acting_on_departures() } else { maker }
}
