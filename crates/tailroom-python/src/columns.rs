//! Series as dictionaries of `NumPy` arrays; each array takes over the memory of its `Vec`.

use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_capture::Flow;
use tailroom_engine::results::{FlowSeries, LinkSeries, PacketLog};

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
