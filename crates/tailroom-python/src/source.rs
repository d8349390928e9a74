//! Sources written in Python: objects of the user that say when packets leave or flows begin.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use tailroom_engine::random::{Stream, uniform};
use tailroom_engine::traffic::context::{Group, StartingFlow};
use tailroom_engine::traffic::custom::{CustomFlows, CustomPackets, FlowsMaker, PacketsMaker};
use tailroom_engine::traffic::{Emission, TraceFlow};
use tailroom_engine::units::{Rate, Time};

use crate::own_code::{Failures, Raised, method, shown};

/// The longest time that a source gives, in seconds.
const LONGEST_S: f64 = 1e7;

/// The maker of packet sources that calls `make`, the factory of a flow's source.
pub(crate) fn packets_maker(_py: Python<'_>, make: Py<PyAny>, raised: Raised) -> PacketsMaker {
    PacketsMaker::new(move |flow: &StartingFlow<'_>| {
        let info = PySourceInfo::new(flow.name, flow.packet_bytes, flow.stream("own source"));
        Box::new(PythonSource::new(&make, "next_packet", info, flow.start, raised.clone()))
    })
}

/// The maker of flow sources that calls `make`, the factory of a group's source.
pub(crate) fn flows_maker(_py: Python<'_>, make: Py<PyAny>, raised: Raised) -> FlowsMaker {
    FlowsMaker::new(move |group: &Group<'_>, start: Time| {
        let info = PySourceInfo::new(group.name, group.packet_bytes, group.stream("own source"));
        Box::new(PythonSource::new(&make, "next_flow", info, start, raised.clone()))
    })
}

/// The flow of a source of packets, or the group of a source of flows.
#[pyclass(frozen, module = "tailroom", name = "SourceInfo")]
pub(crate) struct PySourceInfo {
    name: String,
    packet_bytes: u32,
    random: Mutex<Stream>,
}

impl PySourceInfo {
    fn new(name: &str, packet_bytes: u32, random: Stream) -> Self {
        PySourceInfo { name: name.to_owned(), packet_bytes, random: Mutex::new(random) }
    }
}

#[pymethods]
impl PySourceInfo {
    /// Name of the flow or of the group.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Size of the largest packet, in bytes.
    #[getter]
    fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }

    /// Draws a number from [0, 1), from a random stream that follows from the scenario's seed and the
    /// name.
    fn random(&self) -> f64 {
        uniform(&mut *self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A flow that a source begins.
#[pyclass(frozen, module = "tailroom", name = "FlowRequest")]
#[derive(Clone, Copy)]
pub(crate) struct PyFlowRequest {
    /// Seconds after the group's start.
    #[pyo3(get)]
    start_s: f64,
    /// Payload in bytes.
    #[pyo3(get)]
    bytes: u64,
    /// Two-way propagation delay in seconds; `None`: that of the group.
    #[pyo3(get)]
    rtt_s: Option<f64>,
    /// Rate of its access link in bit/s; `None`: that of the group.
    #[pyo3(get)]
    access_rate_bps: Option<u64>,
}

#[pymethods]
impl PyFlowRequest {
    /// Raises `ValueError` for a value that is out of range.
    #[new]
    #[pyo3(signature = (start_s, bytes, rtt_s=None, access_rate_bps=None))]
    fn new(
        start_s: &Bound<'_, PyAny>,
        bytes: &Bound<'_, PyAny>,
        rtt_s: Option<Bound<'_, PyAny>>,
        access_rate_bps: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let bytes = whole_number("bytes", bytes)?;
        let (start_s, rtt_s) = (seconds(start_s)?, rtt_s.map(|rtt| seconds(&rtt)).transpose()?);
        let rate = access_rate_bps.map(|rate| whole_number("access_rate_bps", &rate));
        let access_rate_bps = rate.transpose()?;
        let is_time = |value: f64| (0.0..=LONGEST_S).contains(&value);
        let wrong = if !is_time(start_s) {
            Some(format!("start_s is {start_s}; give a number from 0 to {LONGEST_S}"))
        } else if !rtt_s.is_none_or(is_time) {
            Some(format!("rtt_s is out of range; give a number from 0 to {LONGEST_S}"))
        } else {
            None
        };
        match wrong {
            Some(problem) => Err(PyValueError::new_err(problem)),
            None => Ok(PyFlowRequest { start_s, bytes, rtt_s, access_rate_bps }),
        }
    }

    fn __repr__(&self) -> String {
        format!("FlowRequest(start_s={}, bytes={})", self.start_s, self.bytes)
    }
}

/// A number of seconds; a whole number of more digits than it can have is infinite.
fn seconds(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match value.extract::<f64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(f64::INFINITY),
        read => read,
    }
}

/// A whole number of at least 1.
fn whole_number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let out_of_range =
        || PyValueError::new_err(format!("{name} is out of range; give 1 to 2^64 - 1"));
    match value.extract::<u64>() {
        Ok(0) => Err(out_of_range()),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Err(out_of_range()),
        number => number,
    }
}

/// A source of the user's.
struct PythonSource {
    /// `None` if the factory failed.
    next: Option<Py<PyAny>>,
    on_completion: Option<Py<PyAny>>,
    /// From which the object counts its times.
    start: Time,
    failures: Failures,
}

impl PythonSource {
    fn new(make: &Py<PyAny>, next: &str, info: PySourceInfo, start: Time, raised: Raised) -> Self {
        let failures = Failures::new(raised);
        let mut source = PythonSource { next: None, on_completion: None, start, failures };
        Python::attach(|py| {
            if let Err(error) = source.begin(py, make, next, info) {
                source.failures.fail(py, "making the source", error);
            }
        });
        source
    }

    /// Makes the object, and tells it the flow or the group.
    fn begin(
        &mut self,
        py: Python<'_>,
        make: &Py<PyAny>,
        next: &str,
        info: PySourceInfo,
    ) -> PyResult<()> {
        let object = make.call1(py, (next,))?;
        let object = object.bind(py);
        if let Some(begin) = method(py, object, "begin")? {
            begin.call1(py, (info,))?;
        }
        self.on_completion = method(py, object, "on_completion")?;
        self.next = method(py, object, next)?;
        Ok(())
    }

    /// What the method `name` returns, as `read` reads it; `None` if it fails or returns `None`.
    fn ask<T>(
        &self,
        name: &str,
        form: &str,
        read: impl FnOnce(&Bound<'_, PyAny>) -> Option<T>,
    ) -> Option<T> {
        let next = self.next.as_ref().filter(|_| self.failures.is_empty())?;
        Python::attach(|py| match next.bind(py).call0() {
            Ok(answer) if answer.is_none() => None,
            Ok(answer) => {
                let read = read(&answer);
                if read.is_none() {
                    let shown = shown(&answer);
                    self.failures.refuse(format!("{name} returned {shown}; it returns {form}"));
                }
                read
            }
            Err(error) => {
                self.failures.fail(py, name, error);
                None
            }
        })
    }
}

/// What `next_packet` returns.
const PACKET: &str =
    "a pair of the time in seconds after the flow's start, from 0, and the size in bytes, or None";
/// What `next_flow` returns.
const FLOW: &str = "a tailroom.FlowRequest, or None";

fn packet(answer: &Bound<'_, PyAny>) -> Option<(f64, u32)> {
    let (time_s, bytes): (Bound<'_, PyAny>, Bound<'_, PyAny>) = answer.extract().ok()?;
    if time_s.is_instance_of::<PyBool>() || bytes.is_instance_of::<PyBool>() {
        return None;
    }
    let (time_s, bytes) = (time_s.extract().ok()?, bytes.extract().ok()?);
    (0.0..=LONGEST_S).contains(&time_s).then_some((time_s, bytes))
}

impl CustomPackets for PythonSource {
    fn next_packet(&mut self) -> Option<Emission> {
        let (time_s, bytes) = self.ask("next_packet", PACKET, packet)?;
        Some(Emission { time: self.start.saturating_add(Time::from_seconds(time_s)), bytes })
    }

    fn failure(&mut self) -> Option<String> {
        self.failures.first()
    }
}

impl CustomFlows for PythonSource {
    fn next_flow(&mut self) -> Option<TraceFlow> {
        let read = |answer: &Bound<'_, PyAny>| {
            answer.cast::<PyFlowRequest>().ok().map(|request| *request.get())
        };
        let flow = self.ask("next_flow", FLOW, read)?;
        Some(TraceFlow {
            start: self.start.saturating_add(Time::from_seconds(flow.start_s)),
            bytes: flow.bytes,
            rate: flow.access_rate_bps.map(Rate::from_bits_per_second),
            rtt: flow.rtt_s.map(Time::from_seconds),
        })
    }

    fn on_completion(&mut self, number: u32, at: Time) {
        let Some(method) = self.on_completion.as_ref().filter(|_| self.failures.is_empty()) else {
            return;
        };
        Python::attach(|py| {
            let after_s = at.since(self.start).seconds();
            if let Err(error) = method.call1(py, (number, after_s)) {
                self.failures.fail(py, "on_completion", error);
            }
        });
    }

    fn failure(&mut self) -> Option<String> {
        self.failures.first()
    }
}
