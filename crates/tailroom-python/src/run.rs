//! One run, in slices of simulated time: Python may interrupt the run between two slices.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_engine::network::Network;
use tailroom_engine::results::{Results, series_json};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

use crate::columns::Columns;
use crate::control::PythonControls;
use crate::error::{self, Failure};
use crate::files::{self, Directory};

/// A run pauses after this many events, which take some milliseconds, to check for signals.
const EVENTS_PER_LOOK: u64 = 1 << 16;
/// Time between two looks at signals, for which a run waits for the interpreter's lock.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);
/// Time between two calls of `progress`.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// Wall-clock time before the first progress of a watched run; a shorter run reports its result only.
const FIRST_PICTURE: Duration = Duration::from_millis(75);

/// Runs a scenario from start to end without holding the interpreter's lock.
///
/// `progress` is called with the completed fraction of the run and the simulated seconds, at most
/// ten times per second; an exception in it ends the run. `watch` is called in the same way with the
/// time series so far as JSON; the answer then has all of them as `series`. `find_control` finds
/// congestion controls written in Python. `files` are the paths that the scenario may name.
#[pyfunction]
#[pyo3(signature = (
    text, base_directory, overrides, seed=None, progress=None, find_control=None, watch=None, files=None
))]
#[expect(clippy::too_many_arguments, reason = "each is one option of a run")]
pub(crate) fn run<'py>(
    py: Python<'py>,
    text: &str,
    base_directory: PathBuf,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    progress: Option<Py<PyAny>>,
    find_control: Option<Py<PyAny>>,
    watch: Option<Py<PyAny>>,
    files: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyDict>> {
    let files = Directory::new(base_directory, files);
    let is_watched = watch.is_some();
    let (resolved, results, series) = py.detach(move || {
        error::catch_panics(move || {
            let controls = PythonControls::new(find_control);
            let scenario = files::parse(text, &overrides, seed, &files)?;
            let scenario = controls.find_all(scenario)?;
            let network = scenario.resolve()?;
            let simulation = Simulation::new(&network);
            let observer = Observer::new(progress, watch);
            let results = controls.blame(simulate(simulation, network.duration, observer))?;
            let series = is_watched.then(|| all_series(&network, &results)).flatten();
            Ok((scenario.to_toml(), results, series))
        })
    })?;
    to_python(py, &resolved, results, series)
}

fn all_series(network: &Network, results: &Results) -> Option<String> {
    let (links, flows) = (&results.tables.link_series, &results.tables.flow_series);
    Some(series_json(network, links.clone()?, flows.clone()?).to_string())
}

fn simulate(
    mut simulation: Simulation,
    duration: Time,
    mut observer: Observer,
) -> Result<Results, Failure> {
    while !simulation.run_some(duration, EVENTS_PER_LOOK)? {
        observer.observe(&simulation, duration)?;
    }
    Ok(simulation.finish()?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time paces the looks at signals and does not reach the simulation"
)]
fn wall_clock() -> Instant {
    Instant::now()
}

/// Reports the progress of a run to its caller.
struct Observer {
    progress: Option<Py<PyAny>>,
    watch: Option<Py<PyAny>>,
    next_call: Instant,
    next_look: Instant,
}

impl Observer {
    fn new(progress: Option<Py<PyAny>>, watch: Option<Py<PyAny>>) -> Self {
        let first = if watch.is_some() { FIRST_PICTURE } else { PROGRESS_INTERVAL };
        let now = wall_clock();
        Observer { progress, watch, next_call: now + first, next_look: now }
    }

    /// Lets Python handle signals, and reports the progress to the caller.
    fn observe(&mut self, simulation: &Simulation, duration: Time) -> PyResult<()> {
        let clock = wall_clock();
        if clock < self.next_look {
            return Ok(());
        }
        self.next_look = clock + SIGNAL_INTERVAL;
        let is_due = clock >= self.next_call;
        // Without the interpreter's lock, as it takes a while for thousands of flows.
        let watched = self.watch.as_ref().filter(|_| is_due);
        let watched = watched.map(|watch| (watch, simulation.series_so_far()));
        Python::attach(|py| {
            py.check_signals()?;
            if !is_due {
                return Ok(());
            }
            self.next_call = wall_clock() + PROGRESS_INTERVAL;
            if let Some(progress) = &self.progress {
                let now = simulation.now();
                let fraction = now.picoseconds() as f64 / duration.picoseconds() as f64;
                progress.call1(py, (fraction, now.seconds()))?;
            }
            if let Some((watch, series)) = watched {
                watch.call1(py, (series.map(|series| series.to_string()),))?;
            }
            Ok(())
        })
    }
}

fn to_python<'py>(
    py: Python<'py>,
    resolved: &str,
    results: Results,
    series: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let summary = serde_json::to_string(&results.summary)
        .map_err(|error| error::RunError::new_err(error.to_string()))?;
    let tables = PyDict::new(py);
    for (name, columns) in results.tables.into_columns() {
        tables.set_item(name, columns.map(Columns::from))?;
    }
    let answer = PyDict::new(py);
    answer.set_item("summary", summary)?;
    answer.set_item("scenario", resolved)?;
    answer.set_item("series", series)?;
    answer.set_item("tables", tables)?;
    Ok(answer)
}
