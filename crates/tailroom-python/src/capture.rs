//! Converts a packet capture to columns of its flows.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_capture::{Flow, Import, Report};

use crate::columns;
use crate::error::{self, Failure};

/// Records per slice, which take some hundredths of a second; Python may interrupt between two
/// slices.
const SLICE_RECORDS: usize = 100_000;

/// Reads a capture without holding the interpreter's lock.
#[pyfunction]
pub(crate) fn import_capture(
    py: Python<'_>,
    path: PathBuf,
    window_ns: u64,
) -> PyResult<Bound<'_, PyDict>> {
    let (flows, report) = py.detach(move || error::catch_panics(move || read(path, window_ns)))?;
    to_python(py, &flows, report)
}

fn read(path: PathBuf, window_ns: u64) -> Result<(Vec<Flow>, Report), Failure> {
    let file = File::open(path).map_err(unreadable)?;
    let mut import = Import::new(file, window_ns).map_err(|stop| match stop {
        tailroom_capture::file::Stop::Io(error) => unreadable(error),
        tailroom_capture::file::Stop::Broken(why) => Failure::Capture(why),
    })?;
    while import.read(SLICE_RECORDS).map_err(unreadable)? {
        Python::attach(|py| -> PyResult<()> { py.check_signals() })?;
    }
    Ok(import.finish())
}

/// The message of the operating system without its error number, and a remedy.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unreadable(error: io::Error) -> Failure {
    let text = error.to_string();
    let reason = text.split(" (os error").next().unwrap_or_default();
    Failure::Capture(format!("{reason}; give a file that can be read"))
}

fn to_python<'py>(py: Python<'py>, flows: &[Flow], report: Report) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("columns", columns::captured_flows(py, flows)?)?;
    let ends = flows.iter().map(|flow| format!("{} > {}", flow.opener, flow.acceptor));
    answer.set_item("flow", ends.collect::<Vec<_>>())?;
    let senders = flows.iter().map(|flow| flow.ends().0.address.to_canonical().to_string());
    let receivers = flows.iter().map(|flow| flow.ends().1.address.to_canonical().to_string());
    answer.set_item("sender", senders.collect::<Vec<_>>())?;
    answer.set_item("receiver", receivers.collect::<Vec<_>>())?;
    answer.set_item("packets", report.packets)?;
    answer.set_item("unseen_bytes", report.unseen_bytes)?;
    answer.set_item("skipped", report.reasons())?;
    answer.set_item("broken", report.broken)?;
    Ok(answer)
}
