//! The Python binding of the engine: scenario text in, summary and tables out.
//!
//! Nothing is computed here. `scenario` is what Python holds; `run` drives the simulation in slices,
//! so that Python can interrupt it, and `steps` lets Python act between two steps; `columns` hands tables over as `NumPy` arrays, without copying
//! and only on demand; `files` reads the files that a scenario names; `own_code` finds
//! controls and disciplines written in Python; `control` calls controls with `events`, and
//! `control_output` is what rate-based controls return; `discipline` calls disciplines; `scripted_sender` is a sender without a network; `capture` converts a packet capture to a list of flows; `rules` has the rules of the
//! literature; `error` converts errors to Python exceptions.

mod capture;
mod code_finder;
mod columns;
mod control;
mod control_output;
mod discipline;
mod error;
mod events;
mod files;
mod own_code;
mod patience;
mod rules;
mod run;
mod scenario;
mod scheduler;
mod scripted_sender;
mod source;
mod steps;

use pyo3::prelude::*;

#[pymodule]
mod _engine {
    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;
    use tailroom_engine::quantity::read_base_units;
    use tailroom_engine::results::{self, Tables};
    use tailroom_engine::scenario;
    use tailroom_engine::spelling;

    #[pymodule_export]
    use super::capture::import_capture;
    #[pymodule_export]
    use super::columns::Columns;
    #[pymodule_export]
    use super::control_output::PyControlOutput;
    #[pymodule_export]
    use super::discipline::{PyLinkInfo, PyQueueList, PyQueuePacket, PyQueueState};
    use super::error::{self, ScenarioError};
    #[pymodule_export]
    use super::events::{
        PyAckEvent, PyBeginEvent, PyCongestionEvent, PyLostPacketEvent, PyRateSampleEvent,
        PyRestartEvent, PyRoundEvent,
    };
    #[pymodule_export]
    use super::rules::{
        bbr_in_flight_cap, bbr_loss_based_share, bbr_probing_fraction, bounds_harmonic_rtt_s,
        bounds_loss, cliff_edge_packets, cliff_edges, cliff_hosts, cliff_paced_fill,
        cliff_train_fill, cliff_utilization, dctcp_amplitude, dctcp_queue_mean, dctcp_utilization,
        decrease_minimum_utilization, device_equivalents, equivalents, estimate_buffer, f_quantile,
        need_load_below_one, need_permanent_flows, no_window_law, permanent_load, read_measurement,
        rule_assumptions, rule_prediction, rule_words, sawtooth_cycle, sawtooth_trough,
        shared_assumption, size_search_step, square_root_quantile, square_root_required,
        square_root_utilization, stability_fixed_point, stability_margin, stability_window,
        student_quantile, student_tail, tiny_kept, tiny_required,
    };
    #[pymodule_export]
    use super::scenario::PyScenario;
    #[pymodule_export]
    use super::scripted_sender::PyScriptedSender;
    #[pymodule_export]
    use super::source::{PyFlowRequest, PySourceInfo};
    #[pymodule_export]
    use super::steps::{PySeen, PySeenFlow, PySeenLink, PySteps};
    use tailroom_rules::rules::{dctcp_threshold, square_root_rule};

    /// Threshold of DCTCP in bandwidth-delay products (Alizadeh et al. 2010, Eq. 13).
    #[pymodule_export]
    const DCTCP_THRESHOLD_BDP: f64 = dctcp_threshold::THRESHOLD_BDP;
    /// Standard deviation of a sawtooth window over its mean.
    #[pymodule_export]
    const SQUARE_ROOT_SPREAD: f64 = square_root_rule::SPREAD;

    /// JSON Schema of the scenario file.
    #[pyfunction]
    fn schema() -> String {
        scenario::schema()
    }

    /// Version of the engine, and a hash of the sources that it was built from.
    #[pyfunction]
    fn build() -> &'static str {
        concat!(env!("CARGO_PKG_VERSION"), "+", env!("TAILROOM_BUILD"))
    }

    /// The profile of Cargo with which the engine was built: `release` with link-time optimisation.
    #[pyfunction]
    fn profile() -> &'static str {
        env!("TAILROOM_PROFILE")
    }

    /// Reads a quantity with its unit: returns a time in seconds, a rate in bit/s or a size in
    /// bytes. `kind` is the name of the quantity in the schema.
    #[pyfunction]
    fn quantity(kind: &str, text: &str) -> PyResult<f64> {
        let read = read_base_units(kind, text)
            .ok_or_else(|| PyValueError::new_err(format!("there is no kind of quantity {kind}")))?;
        let base_units = read.map_err(|bad| ScenarioError::new_err(bad.to_string()))?;
        let is_time = kind.ends_with("duration");
        // Times beyond 2.5 hours (2^53 ps) are rounded to a nanosecond.
        let value = base_units as f64;
        Ok(if is_time { value / 1e12 } else { value })
    }

    /// The names among `known` that a person who wrote `name` may have meant, the most likely first.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a vector")]
    fn meant(name: &str, known: Vec<String>) -> Vec<String> {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        spelling::meant(name, &known).into_iter().map(str::to_owned).collect()
    }

    /// A few of the names in `known`, those that resemble `name` most first, and the number of others.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a vector")]
    fn few(name: &str, known: Vec<String>) -> (Vec<String>, usize) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let (listed, others) = spelling::few(name, &known);
        (listed.into_iter().map(str::to_owned).collect(), others)
    }

    /// What to say about a word that means `name`; `None` if that needs no sentence.
    #[pyfunction]
    fn remark(word: &str, name: &str) -> Option<&'static str> {
        spelling::remark(word, name)
    }

    /// Every congestion control, queue discipline and source with its parameters, as JSON.
    #[pyfunction]
    fn components() -> String {
        scenario::components()
    }

    /// The tables of a result and their columns, as JSON.
    #[pyfunction]
    fn tables() -> PyResult<String> {
        serde_json::to_string(&Tables::declarations())
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// JSON Schema of the summary of a run.
    #[pyfunction]
    fn summary_schema() -> String {
        results::summary_schema()
    }

    #[pymodule_init]
    #[expect(clippy::unnecessary_wraps, reason = "the macro asks for a result")]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        error::keep_panics_off_the_terminal();
        Ok(())
    }
}
