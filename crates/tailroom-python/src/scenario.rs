//! A scenario that is read once, and then checked, written out and run with any seed.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tailroom_engine::network::Network;
use tailroom_engine::scenario::{self, FileLoader, NoFiles, Scenario};
use tailroom_engine::units::Time;
use tailroom_rules::reading::Bottlenecks;
use toml::{Table, Value};

use crate::code_finder::{Finders, PythonCode};
use crate::error::{self, Failure, RunError};
use crate::files::Directory;
use crate::patience::wait_for;
use crate::run::{self, Observer};
use crate::steps::{self, PySteps};

/// A scenario that has been read: every key is known, every value is in range, and the files that
/// it names are loaded.
#[pyclass(frozen, name = "Scenario", module = "tailroom._engine")]
pub(crate) struct PyScenario {
    scenario: Arc<Scenario>,
    /// Whether it takes a noticeable time to read or to write.
    is_long: bool,
    finders: Finders,
}

/// A scenario of more bytes is long: to read it takes some hundredths of a second.
const LONG_BYTES: usize = 100_000;

/// Memory of a sample of a link or a flow, and of the column that is made of it.
const SAMPLE_BYTES: u64 = 50;

#[pymethods]
impl PyScenario {
    /// Reads a scenario, and the files that it names.
    ///
    /// `overrides` are dotted keys and values. Below the keys of `bare`, numbers need no unit; the
    /// key "" stands for the whole scenario. `find_control`, `find_discipline` and `find_source` find
    /// what is written in Python. `files` are the paths that the scenario may name outside its
    /// directory, any if left out, and what to do about others.
    #[new]
    #[pyo3(signature = (
        text, directory, overrides, bare=Vec::new(), find_control=None, find_discipline=None,
        find_source=None, files=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is what the package knows of a scenario")]
    fn new(
        py: Python<'_>,
        text: String,
        directory: PathBuf,
        overrides: Vec<(String, String)>,
        bare: Vec<String>,
        find_control: Option<Py<PyAny>>,
        find_discipline: Option<Py<PyAny>>,
        find_source: Option<Py<PyAny>>,
        files: Option<(Vec<String>, String)>,
    ) -> PyResult<Self> {
        let mut files = Directory::new(directory, files);
        let set: usize = overrides.iter().map(|(key, value)| key.len() + value.len()).sum();
        let is_long = text.len() + set > LONG_BYTES;
        let read = wait_for(py, is_long, &mut files, move |files: &dyn FileLoader| {
            Ok(scenario::parse_from_program(&text, &overrides, &bare, None, files)?)
        });
        let read = read.map_err(|failure| files.interruption().map_or(failure, Failure::Python))?;
        let finders =
            Finders { control: find_control, discipline: find_discipline, source: find_source };
        Ok(PyScenario { scenario: Arc::new(read), is_long, finders })
    }

    /// Seed of the random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed()
    }

    /// Names of the groups under congestion control; the name of the only group.
    #[getter]
    fn groups(&self) -> Vec<&str> {
        self.scenario.controlled_groups()
    }

    /// Names of the controls, the queue disciplines and the sources that are not the engine's own, one
    /// per place that names one.
    #[getter]
    fn controls(&self) -> Vec<&str> {
        let mut names = self.scenario.custom_controls();
        names.extend(self.scenario.custom_disciplines());
        names.extend(self.scenario.custom_sources());
        names
    }

    /// Paths of the files that the scenario names, as it writes them.
    #[getter]
    fn files(&self) -> Vec<&str> {
        self.scenario.files()
    }

    /// Units of the numbers that were given without one, by dotted key.
    #[getter]
    fn bare_numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        self.scenario
            .bare_numbers()
            .iter()
            .try_for_each(|(key, unit)| units.set_item(key, unit))?;
        Ok(units)
    }

    /// What the text and the overrides give for a dotted key; `None` if nothing.
    fn written<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(value) = self.scenario.written(key) else { return Ok(None) };
        let read = format!("value = {value}").parse::<Table>();
        let mut table = read.map_err(|error| RunError::new_err(error.to_string()))?;
        table.remove("value").map(|value| to_python(py, value)).transpose()
    }

    /// Checks that the scenario can be run with a seed; with its own if left out.
    #[pyo3(signature = (seed=None))]
    fn check(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<()> {
        let code = self.code(py, None);
        py.detach(|| error::catch_panics(|| self.network(&code, seed).map(drop)))?;
        Ok(())
    }

    /// The scenario as TOML with every default filled in.
    #[pyo3(signature = (seed=None))]
    fn to_toml(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<String> {
        let scenario = self.seeded(seed)?;
        Ok(wait_for(py, self.is_long, &mut NoFiles, move |_| Ok(scenario.to_toml()))?)
    }

    /// The tables of the scenario with every default filled in.
    #[getter]
    fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // The text has the order of the keys that files and results have.
        let scenario = Arc::clone(&self.scenario);
        let read = wait_for(py, self.is_long, &mut NoFiles, move |_| {
            Ok(scenario.to_toml().parse::<Table>())
        });
        let table = read?.map_err(|error| RunError::new_err(error.to_string()))?;
        to_python(py, Value::Table(table))
    }

    /// The input of the analytic models, as JSON.
    #[pyo3(signature = (seed=None))]
    fn model_input(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<String> {
        let code = self.code(py, None);
        let input = py.detach(|| {
            error::catch_panics(|| {
                let network = self.network(&code, seed)?;
                // Cannot fail: numbers and strings are JSON.
                let links = Bottlenecks::of(&network);
                Ok(serde_json::to_string(&links).unwrap_or_default())
            })
        });
        Ok(input?)
    }

    /// What a run with a seed draws whatever its packets do, where the mean of such draws is known: by
    /// group, its deviation from that mean. Those that mostly explain more come first.
    fn variates(&self, py: Python<'_>, seed: u64) -> PyResult<Vec<(String, f64)>> {
        let code = self.code(py, None);
        let read = py.detach(|| {
            error::catch_panics(|| {
                let network = self.network(&code, Some(seed))?;
                Ok(self.scenario.variates(&network))
            })
        });
        Ok(read?.into_iter().map(|one| (one.group, one.deviation)).collect())
    }

    /// Runs the scenario from start to end without holding the interpreter's lock.
    ///
    /// `progress` is called with the completed fraction of the run and the simulated seconds, at
    /// most ten times per second; an exception in it ends the run. `find_control` finds the
    /// controls of this run. `samples` is the number of samples of the time series if the scenario
    /// asks for none. With `series`, the answer has all time series as JSON.
    #[pyo3(signature = (seed=None, progress=None, find_control=None, samples=None, series=false))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: Option<u64>,
        progress: Option<Py<PyAny>>,
        find_control: Option<Py<PyAny>>,
        samples: Option<u64>,
        series: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let code = self.code(py, find_control);
        let (results, series) = py.detach(|| {
            error::catch_panics(|| {
                let mut network = self.network(&code, seed)?;
                sample(&mut network, samples);
                let results = code.blame(run::simulate(&network, Observer::new(progress)))?;
                let series = series.then(|| run::all_series(&network, &results)).flatten();
                Ok((results, series))
            })
        })?;
        run::to_python(py, results, series)
    }

    /// Opens a run in steps of `every`, a time with its unit. Packets wait to be served at the links
    /// of `acts_on`, so that their rate can change.
    #[pyo3(signature = (every, acts_on, seed=None, find_control=None, samples=None))]
    fn steps(
        &self,
        py: Python<'_>,
        every: &str,
        acts_on: Vec<String>,
        seed: Option<u64>,
        find_control: Option<Py<PyAny>>,
        samples: Option<u64>,
    ) -> PyResult<PySteps> {
        let step_interval = Some(steps::read_interval(every)?);
        let code = self.code(py, find_control);
        Ok(py.detach(|| {
            error::catch_panics(|| {
                let mut network = self.network(&code, seed)?;
                sample(&mut network, samples);
                network.step_interval = step_interval;
                for name in acts_on {
                    let links = network.links.iter_mut();
                    links.for_each(|link| link.is_acted_on |= link.name == name);
                }
                PySteps::new(network, code)
            })
        })?)
    }
}

impl PyScenario {
    /// Finds the user's code; `find_control` replaces the finder of controls.
    fn code(&self, py: Python<'_>, find_control: Option<Py<PyAny>>) -> PythonCode {
        let copy = |finder: &Option<Py<PyAny>>| finder.as_ref().map(|find| find.clone_ref(py));
        let control = find_control.or_else(|| copy(&self.finders.control));
        let (discipline, source) = (copy(&self.finders.discipline), copy(&self.finders.source));
        PythonCode::new(Finders { control, discipline, source })
    }

    fn seeded(&self, seed: Option<u64>) -> Result<Arc<Scenario>, Failure> {
        let Some(seed) = seed else { return Ok(Arc::clone(&self.scenario)) };
        Ok(Arc::new(self.scenario.with_seed(seed)?))
    }

    /// The network of a scenario whose components are all the engine's own.
    pub(crate) fn resolved_network(&self) -> PyResult<Network> {
        Ok(self.scenario.resolve().map_err(Failure::Scenario)?)
    }

    fn network(&self, code: &PythonCode, seed: Option<u64>) -> Result<Network, Failure> {
        Ok(code.find_all(Arc::unwrap_or_clone(self.seeded(seed)?))?.resolve()?)
    }
}

/// Records the time series of a network that asks for none; with fewer samples where so many would
/// take more than a twentieth of its memory.
fn sample(network: &mut Network, samples: Option<u64>) {
    let Some(samples) = samples else { return };
    let rows = (network.links.len() + network.flows.len()) as u64;
    let most = network.memory_limit_bytes / (20 * SAMPLE_BYTES * rows.max(1));
    let every = network.duration.picoseconds() / samples.min(most).max(1);
    network.series_interval.get_or_insert(Time::from_picoseconds(every.max(1)));
}

fn to_python(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Table(table) => {
            let dict = PyDict::new(py);
            for (key, item) in table {
                dict.set_item(key, to_python(py, item)?)?;
            }
            Ok(dict.into_any())
        }
        Value::Array(items) => {
            let items: PyResult<Vec<_>> =
                items.into_iter().map(|item| to_python(py, item)).collect();
            Ok(PyList::new(py, items?)?.into_any())
        }
        Value::String(text) => text.into_bound_py_any(py),
        Value::Integer(number) => number.into_bound_py_any(py),
        Value::Float(number) => number.into_bound_py_any(py),
        Value::Boolean(flag) => flag.into_bound_py_any(py),
        Value::Datetime(date) => date.to_string().into_bound_py_any(py),
    }
}
