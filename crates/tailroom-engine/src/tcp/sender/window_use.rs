//! How much of its window an application uses: a window that it leaves empty says nothing about the
//! path (RFC 7661, RFC 9438 sec. 5.8).

use super::{Phase, Sender};
use crate::units::{Time, float};

/// Below ssthresh the window grows while it is below this multiple of the packets that were in flight
/// in a round trip (Linux `tcp_is_cwnd_limited`; RFC 7661 sec. 4.2 calls such a window validated).
const MOST_GROWTH: f64 = 2.0;

/// The use of the window by an application that may have no data to send (Linux
/// `tcp_cwnd_validate`).
#[derive(Clone, Debug)]
pub(super) struct WindowUse {
    /// Whether the window has been full at any time in this round trip.
    was_full: bool,
    /// Most packets in flight in this round trip, if the window was never full.
    in_flight: u64,
    /// The packet whose ACK ends the round trip.
    round_end: u64,
    /// Since when the application has left the window empty and no ACK has come, and the most that it
    /// used meanwhile.
    empty_since: Time,
    used: u64,
}

impl WindowUse {
    /// The use of a window before the first packet of a flow that begins at `start`.
    pub(super) fn new(start: Time) -> Self {
        WindowUse { was_full: false, in_flight: 0, round_end: 0, empty_since: start, used: 0 }
    }

    /// Records what is in flight after a transmission.
    fn on_flight(&mut self, una: u64, next: u64, is_full: bool) {
        let in_flight = next - una;
        let is_more = !self.was_full && in_flight > self.in_flight;
        if una >= self.round_end || is_full || is_more {
            (self.was_full, self.in_flight, self.round_end) = (is_full, in_flight, next);
        }
    }

    /// Whether the window may grow: it was full in this round trip, or it is not yet twice what was in
    /// flight and below ssthresh.
    pub(super) fn allows(&self, cwnd_packets: f64, is_slow_start: bool) -> bool {
        self.was_full || is_slow_start && cwnd_packets < MOST_GROWTH * float(self.in_flight)
    }

    /// The window is in use, as far as is known at `now`.
    pub(super) fn begin_period(&mut self, now: Time) {
        (self.empty_since, self.used) = (now, 0);
    }
}

impl Sender {
    /// Whether the data at hand would fill the window, although something else holds the next packet
    /// back.
    pub(super) fn has_data_for_window(&self, in_flight: u64) -> bool {
        let packets = self.send_queue.packets;
        packets == u64::MAX || float(in_flight + (packets - self.next)) >= self.cwnd
    }

    /// Records how much of the window the application uses, after a packet has left or the window has
    /// kept one back. With `window_validation` and `slow_start_after_idle`, a window that has neither
    /// been filled nor acknowledged for a timeout moves half of the way to what was used (Linux
    /// `tcp_cwnd_application_limited`, after RFC 2861).
    #[inline(never)]
    pub(super) fn note_window_use(&mut self, now: Time) {
        let is_slow_start = self.cwnd < self.ssthresh;
        let Some(usage) = &mut self.window_use else { return };
        usage.on_flight(self.una, self.next, self.is_window_limited);
        if usage.allows(self.cwnd, is_slow_start) {
            usage.begin_period(now);
            return;
        }
        usage.used = usage.used.max(self.next - self.una);
        let is_due = now.since(usage.empty_since) >= self.rtt.rto();
        let restart_window = self.options.restart_window;
        let is_validated = self.options.validates_window && is_due;
        let Some(initial_window) = restart_window.filter(|_| is_validated) else { return };
        let used = float(usage.used).max(initial_window);
        usage.begin_period(now);
        if used < self.cwnd && self.phase == Phase::Open && !self.is_reducing() {
            self.probe.on_window(now, self.cwnd);
            self.remember_window();
            self.cwnd = f64::midpoint(self.cwnd, used);
        }
    }

    /// A window that shrinks although nothing was lost is soon reached again (RFC 2861 sec. 3, Linux
    /// `tcp_current_ssthresh`).
    fn remember_window(&mut self) {
        self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
    }

    /// A sender that has sent nothing for longer than the retransmission timeout has no ACK clock. It
    /// restarts from the restart window, min(IW, cwnd), at once (RFC 5681 sec. 4.1) or, with
    /// `window_validation`, by a halving for each timeout that has passed since the first one (RFC
    /// 2861 sec. 3.1; Linux `tcp_cwnd_restart`).
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        let Some(restart_window) = self.options.restart_window else { return };
        if !self.is_quiet() || idle <= rto || restart_window >= self.cwnd {
            return;
        }
        self.probe.on_window(now, self.cwnd);
        if !self.options.validates_window {
            self.cwnd = restart_window;
            return;
        }
        self.remember_window();
        let mut left = idle - rto;
        while left > Time::ZERO && self.cwnd > restart_window {
            self.cwnd = libm::floor(self.cwnd / 2.0);
            left = left.since(rto);
        }
        self.cwnd = self.cwnd.max(restart_window);
        if let Some(usage) = &mut self.window_use {
            usage.begin_period(now);
        }
    }
}
