//! One run, in slices of simulated time: Python may interrupt the run between two slices.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_engine::network::Network;
use tailroom_engine::results::{Results, TimeSeries, series_json};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::units::Time;

use crate::columns::Columns;
use crate::error::{self, Failure};

/// A run pauses after this many events to check for signals, before it is known how long they take.
pub(crate) const FIRST_EVENTS: u64 = 1 << 10;
/// Most events between two such pauses; usual ones take some milliseconds.
const MOST_EVENTS: u64 = 1 << 16;
/// Time between two pauses: an event may take 2^16 steps, and as many of them an hour.
const PAUSE_INTERVAL: Duration = Duration::from_millis(5);
/// Time between two looks at signals, for which a run waits for the interpreter's lock.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);
/// Time between two calls of `progress`.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Every time series of a run as JSON; `None` without series.
pub(crate) fn all_series(network: &Network, results: &Results) -> Option<String> {
    Some(series_json(network, TimeSeries::of(&results.tables)?).to_string())
}

/// Simulates a network until its end.
pub(crate) fn simulate(network: &Network, observer: Observer) -> Result<Results, Failure> {
    finish(Simulation::new(network).map_err(RunError::from)?, network, observer)
}

/// Runs a simulation of a network to its end.
pub(crate) fn finish(
    mut simulation: Simulation,
    network: &Network,
    mut observer: Observer,
) -> Result<Results, Failure> {
    while !simulation.run_some(network.duration, observer.events)? {
        observer.observe(&simulation, network.duration)?;
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
pub(crate) struct Observer {
    progress: Option<Py<PyAny>>,
    /// Events until the next look.
    pub(crate) events: u64,
    last: Instant,
    next_call: Instant,
    next_look: Instant,
}

impl Observer {
    /// `progress` is called with the completed fraction and the simulated seconds.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        let now = wall_clock();
        Observer {
            progress,
            events: FIRST_EVENTS,
            last: now,
            next_call: now + PROGRESS_INTERVAL,
            next_look: now,
        }
    }

    /// Lets Python handle signals, and reports the progress to the caller.
    pub(crate) fn observe(&mut self, simulation: &Simulation, duration: Time) -> PyResult<()> {
        let clock = wall_clock();
        self.pace(clock - self.last);
        self.last = clock;
        if clock < self.next_look {
            return Ok(());
        }
        self.next_look = clock + SIGNAL_INTERVAL;
        Python::attach(|py| {
            py.check_signals()?;
            if clock < self.next_call {
                return Ok(());
            }
            self.next_call = wall_clock() + PROGRESS_INTERVAL;
            if let Some(progress) = &self.progress {
                let now = simulation.now();
                let fraction = now.picoseconds() as f64 / duration.picoseconds() as f64;
                progress.call1(py, (fraction, now.seconds()))?;
            }
            Ok(())
        })
    }
}

impl Observer {
    /// Chooses the number of events after which a run pauses by the time that the last ones took.
    fn pace(&mut self, took: Duration) {
        let share = PAUSE_INTERVAL.as_secs_f64() / took.as_secs_f64().max(1e-9);
        self.events = ((self.events as f64 * share.min(2.0)) as u64).clamp(1, MOST_EVENTS);
    }
}

/// The summary, the tables, and the series as text.
pub(crate) fn to_python(
    py: Python<'_>,
    results: Results,
    series: Option<String>,
) -> PyResult<Bound<'_, PyDict>> {
    let summary = serde_json::to_string(&results.summary)
        .map_err(|error| error::RunError::new_err(error.to_string()))?;
    let tables = PyDict::new(py);
    for (name, columns) in results.tables.into_columns() {
        tables.set_item(name, columns.map(Columns::from))?;
    }
    let answer = PyDict::new(py);
    answer.set_item("summary", summary)?;
    answer.set_item("series", series)?;
    answer.set_item("tables", tables)?;
    Ok(answer)
}
