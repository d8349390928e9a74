//! The output of rate-based controls written in Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailroom_engine::congestion::rate_based::ControlOutput;

/// How a flow sends from now on: what a rate-based control returns.
#[pyclass(frozen, module = "tailroom", name = "ControlOutput")]
pub(crate) struct PyControlOutput(ControlOutput);

impl PyControlOutput {
    pub(crate) fn output(&self) -> ControlOutput {
        self.0
    }
}

#[pymethods]
impl PyControlOutput {
    /// Raises `ValueError` for a window, a rate or a number of packets that is out of range.
    #[new]
    #[pyo3(signature = (cwnd_packets, pacing_rate_pps, send_quantum_packets=1, is_app_limited=false))]
    fn new(
        cwnd_packets: f64,
        pacing_rate_pps: f64,
        send_quantum_packets: u64,
        is_app_limited: bool,
    ) -> PyResult<Self> {
        let wrong = if !(cwnd_packets.is_finite() && cwnd_packets >= 0.0) {
            Some(format!("cwnd_packets is {cwnd_packets}; give a finite number, at least 0"))
        } else if !(pacing_rate_pps.is_finite() && pacing_rate_pps > 0.0) {
            Some(format!("pacing_rate_pps is {pacing_rate_pps}; give a finite number above 0"))
        } else if send_quantum_packets == 0 {
            Some("send_quantum_packets is 0; give at least 1".to_owned())
        } else {
            None
        };
        match wrong {
            Some(problem) => Err(PyValueError::new_err(problem)),
            None => Ok(PyControlOutput(ControlOutput {
                cwnd_packets,
                pacing_rate: pacing_rate_pps,
                send_quantum: send_quantum_packets,
                is_app_limited,
            })),
        }
    }

    /// The window, in packets.
    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.0.cwnd_packets
    }

    /// Rate at which packets leave, in packets/s.
    #[getter]
    fn pacing_rate_pps(&self) -> f64 {
        self.0.pacing_rate
    }

    /// Number of packets that leave together.
    #[getter]
    fn send_quantum_packets(&self) -> u64 {
        self.0.send_quantum
    }

    /// Whether the control holds the flow back, so that rates measured with what is in flight now
    /// say nothing about the path.
    #[getter]
    fn is_app_limited(&self) -> bool {
        self.0.is_app_limited
    }

    fn __repr__(&self) -> String {
        let ControlOutput { cwnd_packets, pacing_rate, .. } = self.0;
        format!("ControlOutput(cwnd_packets={cwnd_packets}, pacing_rate_pps={pacing_rate})")
    }
}
