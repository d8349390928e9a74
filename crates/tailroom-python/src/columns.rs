//! Series as columns that become `NumPy` arrays when Python asks for them; each array takes over
//! the memory of its `Vec`.
//!
//! The first array loads `NumPy`, which takes longer than a short run does, so a run whose series
//! nobody reads makes none.

use std::sync::{Mutex, PoisonError};

use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_capture::Flow;
use tailroom_engine::results::{
    ArrivalDispersion, ArrivalLog, FlowCounts, FlowLog, FlowSeries, LinkSeries, PacketLog,
};

/// Columns of equal length that are still the engine's.
#[pyclass(frozen, module = "tailroom._engine")]
pub(crate) struct Columns(Mutex<Option<Named>>);

#[pymethods]
impl Columns {
    /// Hands the columns over as `NumPy` arrays by name, without copying; once.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let columns = taken.ok_or_else(|| PyRuntimeError::new_err("handed over already"))?;
        columns.into_arrays(py)
    }
}

/// Columns under construction.
#[derive(Default)]
struct Named(Vec<(String, Box<dyn Column>)>);

impl Named {
    fn with<T: Element + Send + 'static>(mut self, name: &str, values: Vec<T>) -> Self {
        self.0.push((name.to_owned(), Box::new(values)));
        self
    }

    fn into_arrays(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let arrays = PyDict::new(py);
        for (name, column) in self.0 {
            column.set_item(&arrays, &name)?;
        }
        Ok(arrays)
    }
}

impl From<Named> for Columns {
    fn from(columns: Named) -> Self {
        Columns(Mutex::new(Some(columns)))
    }
}

/// A `Vec` of any type that `NumPy` has.
trait Column: Send {
    /// Makes it an array of this name.
    fn set_item(self: Box<Self>, arrays: &Bound<'_, PyDict>, name: &str) -> PyResult<()>;
}

impl<T: Element + Send + 'static> Column for Vec<T> {
    fn set_item(self: Box<Self>, arrays: &Bound<'_, PyDict>, name: &str) -> PyResult<()> {
        arrays.set_item(name, self.into_pyarray(arrays.py()))
    }
}

/// One row per sample and link, in that order.
pub(crate) fn link_series(series: LinkSeries) -> Columns {
    let mut columns = Named::default()
        .with("time_s", series.time_s)
        .with("link", series.link)
        .with("queue_packets", series.queue_packets)
        .with("utilization", series.utilization)
        .with("drops_packets", series.drops_packets)
        .with("marks_packets", series.marks_packets);
    for (name, values) in series.discipline_state {
        columns = columns.with(name, values);
    }
    columns.into()
}

/// One row per sample and flow, in that order.
pub(crate) fn flow_series(series: FlowSeries) -> Columns {
    Named::default()
        .with("time_s", series.time_s)
        .with("flow", series.flow)
        .with("cwnd_packets", series.cwnd_packets)
        .with("ssthresh_packets", series.ssthresh_packets)
        .with("srtt_s", series.srtt_s)
        .with("goodput_bps", series.goodput_bps)
        .into()
}

/// One row per packet event, in the order of time.
pub(crate) fn packet_log(log: PacketLog) -> Columns {
    Named::default()
        .with("time_s", log.time_s)
        .with("link", log.link)
        .with("flow", log.flow)
        .with("event", log.event)
        .into()
}

/// One row per arrival, link by link in the order of time.
pub(crate) fn arrival_log(log: ArrivalLog) -> Columns {
    Named::default()
        .with("time_s", log.time_s)
        .with("link", log.link)
        .with("flow", log.flow)
        .with("bytes", log.bytes)
        .with("queue_packets", log.queue_packets)
        .with("fate", log.fate)
        .into()
}

/// One row per link and number of flows that occurred.
pub(crate) fn flow_counts(counts: FlowCounts) -> Columns {
    Named::default()
        .with("link", counts.link)
        .with("flows", counts.flows)
        .with("in_progress_fraction", counts.in_progress_fraction)
        .with("bottlenecked_fraction", counts.bottlenecked_fraction)
        .into()
}

/// One row per flow that has come and gone, by group and start.
pub(crate) fn flow_log(log: FlowLog) -> Columns {
    Named::default()
        .with("group", log.group)
        .with("start_s", log.start_s)
        .with("bytes", log.bytes)
        .with("completion_time_s", log.completion_time_s)
        .with("slowdown", log.slowdown)
        .into()
}

/// One row per link and time scale.
pub(crate) fn arrival_dispersion(dispersion: ArrivalDispersion) -> Columns {
    Named::default()
        .with("link", dispersion.link)
        .with("scale_s", dispersion.scale_s)
        .with("intervals", dispersion.intervals)
        .with("mean_packets", dispersion.mean_packets)
        .with("index", dispersion.index)
        .into()
}

/// One row per flow of a capture; what a flow does not show is no number.
pub(crate) fn captured_flows<'py>(py: Python<'py>, flows: &[Flow]) -> PyResult<Bound<'py, PyDict>> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let rtt_s = |flow: &Flow| flow.rtt_ns.map_or(f64::NAN, |ns| seconds(ns.cast_unsigned()));
    let rate_bps = |flow: &Flow| flow.rate_bps.map_or(f64::NAN, |rate| rate as f64);
    let columns = Named::default()
        .with("start_s", flows.iter().map(|flow| seconds(flow.start_ns)).collect())
        .with("bytes", flows.iter().map(|flow| flow.bytes).collect())
        .with("rate_bps", flows.iter().map(rate_bps).collect())
        .with("rtt_s", flows.iter().map(rtt_s).collect())
        .with("forward", flows.iter().map(|flow| flow.forward).collect());
    columns.into_arrays(py)
}
