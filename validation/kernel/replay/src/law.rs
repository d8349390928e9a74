//! tailroom's control, fed with recorded callbacks.

use tailroom_engine::congestion::{
    AckEvent, AnyWindowLaw, Congestion, CongestionConfig, CongestionEvent, CongestionKind,
    WindowLaw,
};
use tailroom_engine::units::Time;

use crate::trace::Callback;

/// A window law and the last RTT sample.
#[derive(Debug)]
pub struct Law {
    control: AnyWindowLaw,
    rtt: Option<Time>,
    una_packets: u64,
}

impl Law {
    /// Starts the control.
    ///
    /// # Errors
    /// The control is a rate-based one.
    pub fn new(config: &CongestionConfig) -> Result<Self, String> {
        match Congestion::new(config) {
            Congestion::WindowLaw(control) => Ok(Law { control, rtt: None, una_packets: 0 }),
            Congestion::RateBased(_) => Err(format!("{} sets no window law", config.name())),
        }
    }

    /// Whether the law grows the window in slow start by itself.
    pub fn has_own_slow_start(&self) -> bool {
        self.control.has_own_slow_start()
    }

    /// Shows packets that were acknowledged, in recovery or not.
    pub fn note(&mut self, callback: &Callback) {
        self.rtt = callback.rtt;
        let is_new = callback.una_packets > self.una_packets;
        self.una_packets = callback.una_packets;
        if is_new && self.control.sees_every_ack() {
            self.control.on_every_ack(&event(callback, callback.acked, self.rtt, false));
        }
    }

    /// The window after `acked` packets.
    pub fn grow(&mut self, cwnd: f64, callback: &Callback, acked: u64, is_slow_start: bool) -> f64 {
        let rtt = callback.rtt.or(self.rtt.take());
        self.control.on_ack(cwnd, &event(callback, acked, rtt, is_slow_start))
    }

    /// Whether the law's own slow start is over.
    pub fn ends_slow_start(&mut self) -> bool {
        self.control.ends_slow_start()
    }

    /// What congestion leaves of the window.
    pub fn reduce(&mut self, cwnd: f64, callback: &Callback, is_slow_start: bool) -> f64 {
        let kind = if callback.is_timeout { CongestionKind::Timeout } else { CongestionKind::Loss };
        let now = callback.now;
        self.control.on_congestion(&CongestionEvent {
            now,
            kind,
            cwnd_packets: cwnd,
            is_slow_start,
        })
    }
}

fn event(
    callback: &Callback,
    acked_packets: u64,
    rtt: Option<Time>,
    is_slow_start: bool,
) -> AckEvent {
    AckEvent {
        now: callback.now,
        acked_packets,
        rtt,
        srtt: callback.srtt,
        min_rtt: callback.min_rtt,
        delivered_packets: callback.una_packets,
        marked_packets: 0,
        next: callback.next_packets,
        is_slow_start,
    }
}
