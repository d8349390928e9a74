//! Tables as columns that become `NumPy` arrays when Python asks for them; each array takes over
//! the memory of its `Vec`.
//!
//! The first array loads `NumPy`, which takes longer than a short run, so a run whose tables nobody
//! reads makes no array.

use std::sync::{Mutex, PoisonError};

use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_capture::Flow;
use tailroom_engine::results::tables::{Column, Values};

/// Columns of equal length that the engine still owns.
#[pyclass(frozen, module = "tailroom._engine")]
pub(crate) struct Columns(Mutex<Option<Vec<Column>>>);

#[pymethods]
impl Columns {
    /// Hands the columns over as `NumPy` arrays by name, without copying; once.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let columns = taken.ok_or_else(|| PyRuntimeError::new_err("handed over already"))?;
        let arrays = PyDict::new(py);
        for Column { name, values, .. } in columns {
            match values {
                Values::U8(values) => set_array(&arrays, name, values)?,
                Values::U32(values) => set_array(&arrays, name, values)?,
                Values::U64(values) => set_array(&arrays, name, values)?,
                Values::F64(values) => set_array(&arrays, name, values)?,
            }
        }
        Ok(arrays)
    }
}

impl From<Vec<Column>> for Columns {
    fn from(columns: Vec<Column>) -> Self {
        Columns(Mutex::new(Some(columns)))
    }
}

fn set_array<T: Element>(arrays: &Bound<'_, PyDict>, name: &str, values: Vec<T>) -> PyResult<()> {
    arrays.set_item(name, values.into_pyarray(arrays.py()))
}

/// One row per flow of a capture; NaN for a value that the capture does not show.
pub(crate) fn captured_flows<'py>(py: Python<'py>, flows: &[Flow]) -> PyResult<Bound<'py, PyDict>> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let rtt_s = |flow: &Flow| flow.rtt_ns.map_or(f64::NAN, |ns| seconds(ns.cast_unsigned()));
    let rate_bps = |flow: &Flow| flow.rate_bps.map_or(f64::NAN, |rate| rate as f64);
    let arrays = PyDict::new(py);
    set_array(&arrays, "start_s", flows.iter().map(|flow| seconds(flow.start_ns)).collect())?;
    set_array(&arrays, "bytes", flows.iter().map(|flow| flow.bytes).collect())?;
    set_array(&arrays, "rate_bps", flows.iter().map(rate_bps).collect())?;
    set_array(&arrays, "rtt_s", flows.iter().map(rtt_s).collect())?;
    set_array(&arrays, "forward", flows.iter().map(|flow| flow.forward).collect())?;
    Ok(arrays)
}
