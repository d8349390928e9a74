//! The events that congestion controls written in Python receive. An event converts a field when
//! the field is read; it never changes, so that a control may keep it.

use pyo3::prelude::*;
use tailroom_engine::congestion::rate_based::{
    BeginEvent, LostPacketEvent, RateSampleEvent, Repair, RestartEvent,
};
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

    /// Marks that the receiver has reported since the connection began; only with accurate
    /// feedback.
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

    /// Marks that the receiver has reported since the connection began; only with accurate
    /// feedback.
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
    // Before the first sample there is no smoothed RTT either.
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

    /// Cause of the congestion: `"loss"`, `"mark"` (ECN) or `"timeout"`.
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

/// The beginning of a flow, before its first packet.
#[pyclass(frozen, module = "tailroom", name = "BeginEvent")]
pub(crate) struct PyBeginEvent(BeginEvent);

impl PyBeginEvent {
    pub(crate) fn new(event: &BeginEvent) -> Self {
        PyBeginEvent(*event)
    }
}

#[pymethods]
impl PyBeginEvent {
    /// When the flow may send its first packet, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// Seed for random choices of the control; it follows from the scenario's seed and the flow's
    /// name.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The initial window.
    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.0.cwnd_packets
    }

    /// The RTT of the handshake, in seconds; zero if there was none.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.srtt.seconds()
    }

    /// Size of a packet on the wire.
    #[getter]
    fn packet_bytes(&self) -> u32 {
        self.0.packet_bytes
    }

    /// Whether the receiver sends selective acknowledgements.
    #[getter]
    fn has_sack(&self) -> bool {
        self.0.has_sack
    }
}

/// Any ACK, with the delivery rate that it shows (draft-ietf-ccwg-bbr-06, section 4.1).
#[pyclass(frozen, module = "tailroom", name = "RateSampleEvent")]
pub(crate) struct PyRateSampleEvent(RateSampleEvent);

impl PyRateSampleEvent {
    pub(crate) fn new(event: &RateSampleEvent) -> Self {
        PyRateSampleEvent(*event)
    }
}

#[pymethods]
impl PyRateSampleEvent {
    /// When the ACK reaches the sender, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// The window before this ACK.
    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.0.cwnd_packets
    }

    /// RTT of the packet sent last of those newly acknowledged; `None` if it was sent twice, or
    /// nothing is newly acknowledged.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Time::seconds)
    }

    /// Smoothed RTT; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.srtt.seconds()
    }

    /// Rate at which the network delivered, in packets/s, from the transmission of the packet sent
    /// last of those newly acknowledged to this ACK; `None` if the interval is too short to be
    /// believed, or nothing is newly acknowledged.
    #[getter]
    fn delivery_rate_pps(&self) -> Option<f64> {
        self.0.rate.and_then(|sample| sample.delivery_rate)
    }

    /// Packets acknowledged in that interval; `None` if nothing is newly acknowledged.
    #[getter]
    fn sample_delivered_packets(&self) -> Option<u64> {
        self.0.rate.map(|sample| sample.delivered)
    }

    /// Packets declared lost in that interval; `None` if nothing is newly acknowledged.
    #[getter]
    fn sample_lost_packets(&self) -> Option<u64> {
        self.0.rate.map(|sample| sample.lost)
    }

    /// Packets acknowledged since the connection began, as of the transmission of that packet;
    /// `None` if nothing is newly acknowledged.
    #[getter]
    fn prior_delivered_packets(&self) -> Option<u64> {
        self.0.rate.map(|sample| sample.prior_delivered)
    }

    /// Packets in the network when that packet was sent, itself included; `None` if nothing is
    /// newly acknowledged.
    #[getter]
    fn sent_in_flight_packets(&self) -> Option<u64> {
        self.0.rate.map(|sample| sample.tx_in_flight)
    }

    /// Whether that packet was sent while the application, or the control, held the flow back, so
    /// that the rate may be below what the path carries.
    #[getter]
    fn is_app_limited(&self) -> bool {
        self.0.rate.is_some_and(|sample| sample.is_app_limited)
    }

    /// Packets in the network before this ACK.
    #[getter]
    fn prior_in_flight_packets(&self) -> u64 {
        self.0.prior_in_flight
    }

    /// Packets in the network after this ACK, without those newly declared lost.
    #[getter]
    fn in_flight_packets(&self) -> u64 {
        self.0.in_flight
    }

    /// Packets newly acknowledged, cumulatively or selectively.
    #[getter]
    fn acked_packets(&self) -> u64 {
        self.0.newly_delivered
    }

    /// Packets newly declared lost.
    #[getter]
    fn lost_packets(&self) -> u64 {
        self.0.newly_lost
    }

    /// Packets acknowledged since the connection began.
    #[getter]
    fn delivered_packets(&self) -> u64 {
        self.0.delivered
    }

    /// Whether the window was full at any time in the last round trip.
    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.0.is_cwnd_limited
    }

    /// What is being repaired: `"none"`, `"fast_recovery"` or `"timeout"`.
    #[getter]
    fn repair(&self) -> &'static str {
        match self.0.repair {
            Repair::None => "none",
            Repair::FastRecovery => "fast_recovery",
            Repair::Timeout => "timeout",
        }
    }
}

/// A packet that is newly declared lost.
#[pyclass(frozen, module = "tailroom", name = "LostPacketEvent")]
pub(crate) struct PyLostPacketEvent(LostPacketEvent);

impl PyLostPacketEvent {
    pub(crate) fn new(event: &LostPacketEvent) -> Self {
        PyLostPacketEvent(*event)
    }
}

#[pymethods]
impl PyLostPacketEvent {
    /// When the sender concludes it, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// The window at that moment.
    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.0.cwnd_packets
    }

    /// Position of the packet in the flow.
    #[getter]
    fn sequence(&self) -> u64 {
        self.0.sequence
    }

    /// Packets in the network when it was sent, itself included.
    #[getter]
    fn sent_in_flight_packets(&self) -> u64 {
        self.0.tx_in_flight
    }

    /// Packets lost since it was sent, itself included.
    #[getter]
    fn lost_packets(&self) -> u64 {
        self.0.lost
    }

    /// Whether it was sent while the application, or the control, held the flow back.
    #[getter]
    fn is_app_limited(&self) -> bool {
        self.0.is_app_limited
    }

    /// Packets acknowledged since the connection began.
    #[getter]
    fn delivered_packets(&self) -> u64 {
        self.0.delivered
    }
}

/// The first packet after a time with nothing to send.
#[pyclass(frozen, module = "tailroom", name = "RestartEvent")]
pub(crate) struct PyRestartEvent(RestartEvent);

impl PyRestartEvent {
    pub(crate) fn new(event: &RestartEvent) -> Self {
        PyRestartEvent(*event)
    }
}

#[pymethods]
impl PyRestartEvent {
    /// When the packet leaves, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.seconds()
    }

    /// The window at that moment.
    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.0.cwnd_packets
    }
}
