//! What a congestion control written in Python is told. An event converts a field when it is asked
//! for, and never changes: a control may keep it.

use pyo3::prelude::*;
use tailroom_engine::congestion::{AckEvent, CongestionEvent, CongestionKind};
use tailroom_engine::units::Time;

/// An ACK of new data outside recovery.
#[pyclass(frozen, module = "tailroom", name = "AckEvent")]
pub(crate) struct PyAckEvent {
    event: AckEvent,
    cwnd_packets: f64,
}

impl PyAckEvent {
    #[inline]
    pub(crate) fn new(event: &AckEvent, cwnd_packets: f64) -> Self {
        PyAckEvent { event: *event, cwnd_packets }
    }
}

#[pymethods]
impl PyAckEvent {
    /// When the ACK reaches the sender, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.event.now.seconds()
    }

    /// Packets newly acknowledged, at least 1.
    #[getter]
    fn acked_packets(&self) -> u64 {
        self.event.acked_packets
    }

    /// The window before this ACK.
    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.cwnd_packets
    }

    /// RTT sample of this ACK; `None` if it gives none.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.event.rtt.map(Time::seconds)
    }

    /// Smoothed RTT; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.event.srtt.seconds()
    }

    /// Smallest RTT sample of the connection; infinite before the first.
    #[getter]
    fn min_rtt_s(&self) -> f64 {
        min_rtt_s(&self.event)
    }

    /// Packets acknowledged in sequence since the connection began.
    #[getter]
    fn delivered_packets(&self) -> u64 {
        self.event.delivered_packets
    }

    /// Marks that the receiver has reported since the connection began; only with accurate feedback.
    #[getter]
    fn marked_packets(&self) -> u64 {
        self.event.marked_packets
    }
}

/// The end of a round trip: a packet that was sent after its beginning is acknowledged.
#[pyclass(frozen, module = "tailroom", name = "RoundEvent")]
pub(crate) struct PyRoundEvent(AckEvent);

impl PyRoundEvent {
    pub(crate) fn new(event: &AckEvent) -> Self {
        PyRoundEvent(*event)
    }
}

#[pymethods]
impl PyRoundEvent {
    /// When the round trip ends, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// RTT sample of the ACK that ends it; `None` if that gives none.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Time::seconds)
    }

    /// Smoothed RTT; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.srtt.seconds()
    }

    /// Smallest RTT sample of the connection; infinite before the first.
    #[getter]
    fn min_rtt_s(&self) -> f64 {
        min_rtt_s(&self.0)
    }

    /// Packets acknowledged in sequence since the connection began.
    #[getter]
    fn delivered_packets(&self) -> u64 {
        self.0.delivered_packets
    }

    /// Marks that the receiver has reported since the connection began; only with accurate feedback.
    #[getter]
    fn marked_packets(&self) -> u64 {
        self.0.marked_packets
    }

    /// Whether the window is below ssthresh.
    #[getter]
    fn is_slow_start(&self) -> bool {
        self.0.is_slow_start
    }
}

fn min_rtt_s(event: &AckEvent) -> f64 {
    // Before the first sample there is no smoothed one either.
    if event.srtt.picoseconds() == 0 { f64::INFINITY } else { event.min_rtt.seconds() }
}

/// Congestion, as the sender concludes it.
#[pyclass(frozen, module = "tailroom", name = "CongestionEvent")]
pub(crate) struct PyCongestionEvent(CongestionEvent);

impl PyCongestionEvent {
    pub(crate) fn new(event: &CongestionEvent) -> Self {
        PyCongestionEvent(*event)
    }
}

#[pymethods]
impl PyCongestionEvent {
    /// When the sender concludes it, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// What from: `"loss"`, `"mark"` (ECN) or `"timeout"`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind {
            CongestionKind::Loss => "loss",
            CongestionKind::Mark => "mark",
            CongestionKind::Timeout => "timeout",
        }
    }

    /// The window at that moment.
    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.0.cwnd_packets
    }

    /// Whether the window was below ssthresh.
    #[getter]
    fn is_slow_start(&self) -> bool {
        self.0.is_slow_start
    }
}
