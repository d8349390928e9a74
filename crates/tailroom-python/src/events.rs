//! The events that congestion controls written in Python receive. An event converts a field when
//! the field is read; it never changes, so that a control may keep it.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use tailroom_engine::congestion::rate_based::{
    BeginEvent, LostPacketEvent, RateSampleEvent, Repair, RestartEvent,
};
use tailroom_engine::congestion::{AckEvent, CongestionEvent, CongestionKind};
use tailroom_engine::units::Time;

/// Defines the class of an event, with the type of the field and its value for each attribute.
macro_rules! event_class {
    ($(#[$doc:meta])* $class:ident = $name:literal, |$event:ident: $content:ty| {
        $($(#[$attribute_doc:meta])* $attribute:ident: $type:ty = $value:expr;)+
    }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "tailroom", name = $name)]
        pub(crate) struct $class($content);

        impl $class {
            #[inline]
            pub(crate) fn new(event: $content) -> Self {
                $class(event)
            }
        }

        #[pymethods]
        impl $class {
            $($(#[$attribute_doc])*
            #[getter]
            fn $attribute(&self) -> $type {
                let $event = &self.0;
                $value
            })+

            #[allow(clippy::float_cmp, reason = "equal values, not close ones")]
            fn __eq__(&self, other: &Self) -> bool {
                true $(&& self.$attribute() == other.$attribute())+
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let values = [$(
                    (stringify!($attribute), self.$attribute().into_bound_py_any(py)?),
                )+];
                $crate::events::shown_as_call($name, &values)
            }
        }
    };
}

pub(crate) use event_class;

/// An object as the call that would make it: `SeenLink(queue_packets=3, ...)`.
pub(crate) fn shown_as_call(class: &str, values: &[(&str, Bound<'_, PyAny>)]) -> PyResult<String> {
    let shown: PyResult<Vec<_>> =
        values.iter().map(|(name, value)| Ok(format!("{name}={}", value.repr()?))).collect();
    Ok(format!("{class}({})", shown?.join(", ")))
}

event_class! {
    /// An ACK of new data outside recovery.
    PyAckEvent = "AckEvent", |event: (AckEvent, f64)| {
        /// When the ACK reaches the sender, in seconds since the run began.
        now_s: f64 = event.0.now.seconds();
        /// Packets newly acknowledged, at least 1.
        acked_packets: u64 = event.0.acked_packets;
        /// The window before this ACK.
        cwnd_packets: f64 = event.1;
        /// RTT sample of this ACK; `None` if it gives none.
        rtt_s: Option<f64> = event.0.rtt.map(Time::seconds);
        /// Smoothed RTT; 0 before the first sample.
        srtt_s: f64 = event.0.srtt.seconds();
        /// Smallest RTT sample of the connection; infinite before the first.
        min_rtt_s: f64 = min_rtt_s(&event.0);
        /// Packets acknowledged in sequence since the connection began.
        delivered_packets: u64 = event.0.delivered_packets;
        /// Marks that the receiver has reported since the connection began; only with accurate
        /// feedback.
        marked_packets: u64 = event.0.marked_packets;
    }
}

event_class! {
    /// The end of a round trip: a packet that was sent after its beginning is acknowledged.
    PyRoundEvent = "RoundEvent", |event: AckEvent| {
        /// When the round trip ends, in seconds since the run began.
        now_s: f64 = event.now.seconds();
        /// RTT sample of the ACK that ends it; `None` if that gives none.
        rtt_s: Option<f64> = event.rtt.map(Time::seconds);
        /// Smoothed RTT; 0 before the first sample.
        srtt_s: f64 = event.srtt.seconds();
        /// Smallest RTT sample of the connection; infinite before the first.
        min_rtt_s: f64 = min_rtt_s(event);
        /// Packets acknowledged in sequence since the connection began.
        delivered_packets: u64 = event.delivered_packets;
        /// Marks that the receiver has reported since the connection began; only with accurate
        /// feedback.
        marked_packets: u64 = event.marked_packets;
        /// Whether the window is below ssthresh.
        is_slow_start: bool = event.is_slow_start;
    }
}

event_class! {
    /// Congestion, as the sender concludes it.
    PyCongestionEvent = "CongestionEvent", |event: CongestionEvent| {
        /// When the sender concludes it, in seconds since the run began.
        now_s: f64 = event.now.seconds();
        /// Cause of the congestion: `"loss"`, `"mark"` (ECN) or `"timeout"`.
        kind: &'static str = match event.kind {
            CongestionKind::Loss => "loss",
            CongestionKind::Mark => "mark",
            CongestionKind::Timeout => "timeout",
        };
        /// The window at that moment.
        cwnd_packets: f64 = event.cwnd_packets;
        /// Whether the window was below ssthresh.
        is_slow_start: bool = event.is_slow_start;
    }
}

event_class! {
    /// The beginning of a flow, before its first packet.
    PyBeginEvent = "BeginEvent", |event: BeginEvent| {
        /// When the flow may send its first packet, in seconds since the run began.
        now_s: f64 = event.now.seconds();
        /// Seed for random choices of the control; it follows from the scenario's seed and the flow's
        /// name.
        seed: u64 = event.seed;
        /// The initial window.
        cwnd_packets: f64 = event.cwnd_packets;
        /// The RTT of the handshake, in seconds; zero if there was none.
        srtt_s: f64 = event.srtt.seconds();
        /// Size of a packet on the wire.
        packet_bytes: u32 = event.packet_bytes;
        /// Rate at which the host sends, in packets/s: that of the access link, or of the first shared
        /// link if there is no access link.
        line_rate_pps: f64 = event.line_rate;
        /// Number of shared links on the path.
        hops: u32 = event.hops;
        /// Whether the receiver sends selective acknowledgements.
        has_sack: bool = event.has_sack;
    }
}

event_class! {
    /// Any ACK, with the delivery rate that it shows (draft-ietf-ccwg-bbr-06, section 4.1).
    PyRateSampleEvent = "RateSampleEvent", |event: RateSampleEvent| {
        /// When the ACK reaches the sender, in seconds since the run began.
        now_s: f64 = event.now.seconds();
        /// The window before this ACK.
        cwnd_packets: f64 = event.cwnd_packets;
        /// RTT of the packet sent last of those newly acknowledged; `None` if it was sent twice, or
        /// nothing is newly acknowledged.
        rtt_s: Option<f64> = event.rtt.map(Time::seconds);
        /// Smoothed RTT; 0 before the first sample.
        srtt_s: f64 = event.srtt.seconds();
        /// Rate at which the network delivered, in packets/s, from the transmission of the packet sent
        /// last of those newly acknowledged to this ACK; `None` if the interval is too short to be
        /// believed, or nothing is newly acknowledged.
        delivery_rate_pps: Option<f64> = event.rate.and_then(|sample| sample.delivery_rate);
        /// Packets acknowledged in that interval; `None` if nothing is newly acknowledged.
        sample_delivered_packets: Option<u64> = event.rate.map(|sample| sample.delivered);
        /// Packets declared lost in that interval; `None` if nothing is newly acknowledged.
        sample_lost_packets: Option<u64> = event.rate.map(|sample| sample.lost);
        /// Packets acknowledged since the connection began, as of the transmission of that packet;
        /// `None` if nothing is newly acknowledged.
        prior_delivered_packets: Option<u64> = event.rate.map(|sample| sample.prior_delivered);
        /// Packets in the network when that packet was sent, itself included; `None` if nothing is
        /// newly acknowledged.
        sent_in_flight_packets: Option<u64> = event.rate.map(|sample| sample.tx_in_flight);
        /// Whether that packet was sent while the application, or the control, held the flow back, so
        /// that the rate may be below what the path carries.
        is_app_limited: bool = event.rate.is_some_and(|sample| sample.is_app_limited);
        /// Packets in the network before this ACK.
        prior_in_flight_packets: u64 = event.prior_in_flight;
        /// Packets in the network after this ACK, without those newly declared lost.
        in_flight_packets: u64 = event.in_flight;
        /// Packets newly acknowledged, cumulatively or selectively.
        acked_packets: u64 = event.newly_delivered;
        /// Packets newly declared lost.
        lost_packets: u64 = event.newly_lost;
        /// Packets acknowledged since the connection began.
        delivered_packets: u64 = event.delivered;
        /// Marks that the receiver has reported since the connection began; 0 without accurate feedback.
        marked_packets: u64 = event.marked;
        /// Whether the window was full at any time in the last round trip.
        is_cwnd_limited: bool = event.is_cwnd_limited;
        /// What is being repaired: `"none"`, `"fast_recovery"` or `"timeout"`.
        repair: &'static str = match event.repair {
            Repair::None => "none",
            Repair::FastRecovery => "fast_recovery",
            Repair::Timeout => "timeout",
        };
    }
}

event_class! {
    /// A packet that is newly declared lost.
    PyLostPacketEvent = "LostPacketEvent", |event: LostPacketEvent| {
        /// When the sender concludes it, in seconds since the run began.
        now_s: f64 = event.now.seconds();
        /// The window at that moment.
        cwnd_packets: f64 = event.cwnd_packets;
        /// Position of the packet in the flow.
        sequence: u64 = event.sequence;
        /// Packets in the network when it was sent, itself included.
        sent_in_flight_packets: u64 = event.tx_in_flight;
        /// Packets lost since it was sent, itself included.
        lost_packets: u64 = event.lost;
        /// Whether it was sent while the application, or the control, held the flow back.
        is_app_limited: bool = event.is_app_limited;
        /// Packets acknowledged since the connection began.
        delivered_packets: u64 = event.delivered;
    }
}

event_class! {
    /// The first packet after a time with nothing to send.
    PyRestartEvent = "RestartEvent", |event: RestartEvent| {
        /// When the packet leaves, in seconds since the run began.
        now_s: f64 = event.now.seconds();
        /// The window at that moment.
        cwnd_packets: f64 = event.cwnd_packets;
    }
}

fn min_rtt_s(event: &AckEvent) -> f64 {
    // Before the first sample there is no smoothed RTT either.
    if event.srtt.picoseconds() == 0 { f64::INFINITY } else { event.min_rtt.seconds() }
}
