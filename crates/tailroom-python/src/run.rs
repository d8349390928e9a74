//! One run, driven in slices of simulated time: between two of them Python may interrupt it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_engine::results::Results;
use tailroom_engine::scenario;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

use crate::columns;
use crate::control::PythonControls;
use crate::error::{self, Failure};
use crate::files::Directory;

/// A slice never covers more than this part of the run.
const FEWEST_SLICES: u64 = 200;
/// The first slice is this part of the run; slices then double while they are short.
const FIRST_SLICE: u64 = 1 << 20;
/// A slice that took longer is followed by one of half its length: Ctrl-C must act at once.
const LONG_SLICE: Duration = Duration::from_millis(100);
/// A slice that took less is followed by one of twice its length.
const SHORT_SLICE: Duration = Duration::from_millis(20);
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a scenario from start to end, without holding the interpreter's lock.
///
/// `progress` is called with the fraction done and the simulated seconds, at most ten times a
/// second; an exception in it ends the run. `find_control` finds congestion controls written in
/// Python.
#[pyfunction]
#[pyo3(signature = (
    text, base_directory, overrides, seed=None, progress=None, find_control=None
))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    text: &str,
    base_directory: PathBuf,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    progress: Option<Py<PyAny>>,
    find_control: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let files = Directory::new(base_directory);
    let (resolved, results) = py.detach(move || {
        error::catch_panics(move || {
            let controls = PythonControls::new(find_control);
            let scenario = scenario::parse(text, &overrides, seed, &files)?;
            let scenario = controls.find_all(scenario)?;
            let network = scenario.resolve()?;
            let simulation = Simulation::new(&network);
            let results = simulate(simulation, network.duration, Observer::new(progress));
            Ok((scenario.to_toml(), controls.blame(results)?))
        })
    })?;
    to_python(py, &resolved, results)
}

fn simulate(
    mut simulation: Simulation,
    duration: Time,
    mut observer: Observer,
) -> Result<Results, Failure> {
    let longest = (duration.picoseconds() / FEWEST_SLICES).max(1);
    let mut slice = (duration.picoseconds() / FIRST_SLICE).max(1);
    let mut now = Time::ZERO;
    while now < duration {
        let started = wall_clock();
        now = duration.min(now.saturating_add(Time::from_picoseconds(slice)));
        simulation.run_until(now)?;
        let took = started.elapsed();
        if took > LONG_SLICE {
            slice = (slice / 2).max(1);
        } else if took < SHORT_SLICE {
            slice = (slice * 2).min(longest);
        }
        observer.observe(now, duration)?;
    }
    Ok(simulation.finish()?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "it paces the slices and never enters the simulation"
)]
fn wall_clock() -> Instant {
    Instant::now()
}

/// The caller's view of a run under way.
struct Observer {
    progress: Option<Py<PyAny>>,
    last_call: Instant,
}

impl Observer {
    fn new(progress: Option<Py<PyAny>>) -> Self {
        Observer { progress, last_call: wall_clock() }
    }

    /// Lets Python act on signals, and tells the caller how far the run is.
    fn observe(&mut self, now: Time, duration: Time) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(progress) = &self.progress else { return Ok(()) };
            if self.last_call.elapsed() < PROGRESS_INTERVAL {
                return Ok(());
            }
            self.last_call = wall_clock();
            let fraction = now.picoseconds() as f64 / duration.picoseconds() as f64;
            progress.call1(py, (fraction, now.seconds()))?;
            Ok(())
        })
    }
}

fn to_python<'py>(
    py: Python<'py>,
    resolved: &str,
    results: Results,
) -> PyResult<Bound<'py, PyDict>> {
    let summary = serde_json::to_string(&results.summary)
        .map_err(|error| error::RunError::new_err(error.to_string()))?;
    let link_series = results.link_series.map(columns::link_series);
    let flow_series = results.flow_series.map(columns::flow_series);
    let packet_log =
        (!results.packet_log.time_s.is_empty()).then(|| columns::packet_log(results.packet_log));
    let arrival_log =
        (!results.arrival_log.time_s.is_empty()).then(|| columns::arrival_log(results.arrival_log));
    let flow_log =
        (!results.flow_log.start_s.is_empty()).then(|| columns::flow_log(results.flow_log));
    let dispersion = (!results.arrival_dispersion.link.is_empty())
        .then(|| columns::arrival_dispersion(results.arrival_dispersion));
    let answer = PyDict::new(py);
    answer.set_item("summary", summary)?;
    answer.set_item("scenario", resolved)?;
    answer.set_item("link_series", link_series)?;
    answer.set_item("flow_series", flow_series)?;
    answer.set_item("packet_log", packet_log)?;
    answer.set_item("arrival_log", arrival_log)?;
    answer.set_item("flow_counts", columns::flow_counts(results.flow_counts))?;
    answer.set_item("flow_log", flow_log)?;
    answer.set_item("arrival_dispersion", dispersion)?;
    Ok(answer)
}
