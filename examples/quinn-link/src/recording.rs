//! quinn's CUBIC with the window that a vector's script asks for, and what it does on record.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig};

/// What a control has done.
#[derive(Debug, Default)]
pub struct Record {
    /// Window and slow start threshold in packets, none before the first reduction, at each change.
    pub windows: Vec<(Instant, f64, Option<f64>)>,
    /// When the threshold was set.
    pub reductions: Vec<Instant>,
}

/// Builds CUBIC for each end of a connection, and keeps their records, the client's first.
#[derive(Debug)]
pub struct Recording {
    initial_packets: u64,
    records: Mutex<Vec<Arc<Mutex<Record>>>>,
}

impl Recording {
    /// CUBIC that begins with this window.
    pub fn new(initial_packets: u64) -> Self {
        Recording { initial_packets, records: Mutex::default() }
    }

    /// The record of the client's control, of which nothing is left here.
    ///
    /// # Panics
    /// No connection has begun.
    pub fn of_client(&self) -> Record {
        let records = self.records.lock().expect("no holder panics");
        std::mem::take(&mut *records[0].lock().expect("no holder panics"))
    }
}

impl ControllerFactory for Recording {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mut config = CubicConfig::default();
        config.initial_window(self.initial_packets * u64::from(current_mtu));
        let record = Arc::<Mutex<Record>>::default();
        self.records.lock().expect("no holder panics").push(Arc::clone(&record));
        let cubic = Arc::new(config).build(now, current_mtu);
        Box::new(Recorded { cubic, packet_bytes: f64::from(current_mtu), record })
    }
}

/// CUBIC of an end.
struct Recorded {
    cubic: Box<dyn Controller>,
    packet_bytes: f64,
    record: Arc<Mutex<Record>>,
}

impl Recorded {
    /// The threshold in packets, once it is set.
    fn ssthresh(&self) -> Option<f64> {
        let bytes = self.cubic.metrics().ssthresh.filter(|bytes| *bytes < u64::MAX)?;
        Some(bytes as f64 / self.packet_bytes)
    }

    fn note(&mut self, now: Instant) {
        let (window, ssthresh) = (self.cubic.window() as f64 / self.packet_bytes, self.ssthresh());
        let mut record = self.record.lock().expect("no holder panics");
        let is_known =
            record.windows.last().is_some_and(|last| (last.1, last.2) == (window, ssthresh));
        if !is_known {
            record.windows.push((now, window, ssthresh));
        }
    }
}

impl Controller for Recorded {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.cubic.on_sent(now, bytes, last_packet_number);
        self.note(now);
    }

    /// The scripts begin in congestion avoidance, and quinn cannot: until the first loss, which comes
    /// within a round trip, ACKs are said to be those of a sender without data, at which quinn's window
    /// rests. The RFC's grows by less than a packet meanwhile.
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let rests = app_limited || self.ssthresh().is_none();
        self.cubic.on_ack(now, sent, bytes, rests, rtt);
        self.note(now);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.cubic.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        self.note(now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let before = self.ssthresh();
        self.cubic.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        if self.ssthresh() != before {
            self.record.lock().expect("no holder panics").reductions.push(now);
        }
        self.note(now);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.cubic.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.cubic.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.cubic.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Recorded {
            cubic: self.cubic.clone_box(),
            packet_bytes: self.packet_bytes,
            record: Arc::clone(&self.record),
        })
    }

    fn initial_window(&self) -> u64 {
        self.cubic.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
