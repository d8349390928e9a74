//! Series as dictionaries of `NumPy` arrays; each array takes over the memory of its `Vec`.

use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_capture::Flow;
use tailroom_engine::results::{
    ArrivalDispersion, ArrivalLog, FlowCounts, FlowLog, FlowSeries, LinkSeries, PacketLog,
};

/// A table under construction.
struct Columns<'py>(Bound<'py, PyDict>);

impl<'py> Columns<'py> {
    fn new(py: Python<'py>) -> Self {
        Columns(PyDict::new(py))
    }

    fn with<T: Element>(self, name: &str, values: Vec<T>) -> PyResult<Self> {
        self.0.set_item(name, values.into_pyarray(self.0.py()))?;
        Ok(self)
    }
}

/// One row per sample and link, in that order.
pub(crate) fn link_series(py: Python<'_>, series: LinkSeries) -> PyResult<Bound<'_, PyDict>> {
    let mut columns = Columns::new(py)
        .with("time_s", series.time_s)?
        .with("link", series.link)?
        .with("queue_packets", series.queue_packets)?
        .with("utilization", series.utilization)?
        .with("drops_packets", series.drops_packets)?
        .with("marks_packets", series.marks_packets)?;
    for (name, values) in series.discipline_state {
        columns = columns.with(name, values)?;
    }
    Ok(columns.0)
}

/// One row per sample and flow, in that order.
pub(crate) fn flow_series(py: Python<'_>, series: FlowSeries) -> PyResult<Bound<'_, PyDict>> {
    let columns = Columns::new(py)
        .with("time_s", series.time_s)?
        .with("flow", series.flow)?
        .with("cwnd_packets", series.cwnd_packets)?
        .with("ssthresh_packets", series.ssthresh_packets)?
        .with("srtt_s", series.srtt_s)?
        .with("goodput_bps", series.goodput_bps)?;
    Ok(columns.0)
}

/// One row per packet event, in the order of time.
pub(crate) fn packet_log(py: Python<'_>, log: PacketLog) -> PyResult<Bound<'_, PyDict>> {
    let columns = Columns::new(py)
        .with("time_s", log.time_s)?
        .with("link", log.link)?
        .with("flow", log.flow)?
        .with("event", log.event)?;
    Ok(columns.0)
}

/// One row per arrival, link by link in the order of time.
pub(crate) fn arrival_log(py: Python<'_>, log: ArrivalLog) -> PyResult<Bound<'_, PyDict>> {
    let columns = Columns::new(py)
        .with("time_s", log.time_s)?
        .with("link", log.link)?
        .with("flow", log.flow)?
        .with("bytes", log.bytes)?
        .with("queue_packets", log.queue_packets)?
        .with("fate", log.fate)?;
    Ok(columns.0)
}

/// One row per link and number of flows that occurred.
pub(crate) fn flow_counts(py: Python<'_>, counts: FlowCounts) -> PyResult<Bound<'_, PyDict>> {
    let columns = Columns::new(py)
        .with("link", counts.link)?
        .with("flows", counts.flows)?
        .with("in_progress_fraction", counts.in_progress_fraction)?
        .with("bottlenecked_fraction", counts.bottlenecked_fraction)?;
    Ok(columns.0)
}

/// One row per flow that has come and gone, by group and start.
pub(crate) fn flow_log(py: Python<'_>, log: FlowLog) -> PyResult<Bound<'_, PyDict>> {
    let columns = Columns::new(py)
        .with("group", log.group)?
        .with("start_s", log.start_s)?
        .with("bytes", log.bytes)?
        .with("completion_time_s", log.completion_time_s)?
        .with("slowdown", log.slowdown)?;
    Ok(columns.0)
}

/// One row per link and time scale.
pub(crate) fn arrival_dispersion(
    py: Python<'_>,
    dispersion: ArrivalDispersion,
) -> PyResult<Bound<'_, PyDict>> {
    let columns = Columns::new(py)
        .with("link", dispersion.link)?
        .with("scale_s", dispersion.scale_s)?
        .with("intervals", dispersion.intervals)?
        .with("mean_packets", dispersion.mean_packets)?
        .with("index", dispersion.index)?;
    Ok(columns.0)
}

/// One row per flow of a capture; what a flow does not show is no number.
pub(crate) fn captured_flows<'py>(py: Python<'py>, flows: &[Flow]) -> PyResult<Bound<'py, PyDict>> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let rtt_s = |flow: &Flow| flow.rtt_ns.map_or(f64::NAN, |ns| seconds(ns.cast_unsigned()));
    let rate_bps = |flow: &Flow| flow.rate_bps.map_or(f64::NAN, |rate| rate as f64);
    let columns = Columns::new(py)
        .with("start_s", flows.iter().map(|flow| seconds(flow.start_ns)).collect())?
        .with("bytes", flows.iter().map(|flow| flow.bytes).collect())?
        .with("rate_bps", flows.iter().map(rate_bps).collect())?
        .with("rtt_s", flows.iter().map(rtt_s).collect())?
        .with("forward", flows.iter().map(|flow| flow.forward).collect())?;
    Ok(columns.0)
}
