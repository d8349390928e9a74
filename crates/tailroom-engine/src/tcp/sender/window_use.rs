//! How much of its window an application uses: a window that it leaves empty says nothing about the
//! path (RFC 7661, RFC 9438 sec. 5.8).

use super::Sender;
use crate::units::{Time, float};

/// The window grows to at most this multiple of the packets that were in flight in a round trip (Linux
/// `tcp_is_cwnd_limited`).
const MOST_GROWTH: f64 = 2.0;

/// The use of the window by an application that may have no data to send.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowUse {
    /// Most packets in flight in this round trip or the last, and the packet that ends it.
    in_flight: u64,
    round_end: u64,
    /// Since when the application has left the window empty, and the most that it used meanwhile.
    empty_since: Time,
    used: u64,
}

impl WindowUse {
    /// Records the packets in flight after a transmission.
    fn on_flight(&mut self, una: u64, next: u64, in_flight: u64) {
        if una >= self.round_end {
            (self.in_flight, self.round_end) = (in_flight, next);
        }
        self.in_flight = self.in_flight.max(in_flight);
    }

    /// Whether a window may grow further.
    pub(super) fn allows(&self, cwnd_packets: f64) -> bool {
        cwnd_packets < MOST_GROWTH * float(self.in_flight)
    }
}

impl Sender {
    /// Whether the data at hand would fill the window, although pacing holds the next packet back.
    pub(super) fn has_data_for_window(&self, in_flight: u64) -> bool {
        let packets = self.send_queue.packets;
        packets == u64::MAX || float(in_flight + (packets - self.next)) >= self.cwnd
    }

    /// Records how much of the window the application uses. If `window_validation` is on, a window that
    /// has not been filled for a timeout moves half of the way to what was used (RFC 2861; Linux
    /// `tcp_cwnd_application_limited`).
    #[inline(never)]
    pub(super) fn note_window_use(&mut self, now: Time) {
        let in_flight = self.next - self.una - self.scoreboard.sacked();
        let Some(usage) = &mut self.window_use else { return };
        usage.on_flight(self.una, self.next, in_flight);
        if self.is_window_limited {
            (usage.empty_since, usage.used) = (now, 0);
            return;
        }
        usage.used = usage.used.max(in_flight);
        let is_due = now.since(usage.empty_since) >= self.rtt.rto();
        let Some(initial_window) = self.options.validated_window.filter(|_| is_due) else { return };
        let used = float(usage.used).max(initial_window);
        (usage.empty_since, usage.used) = (now, 0);
        if used < self.cwnd {
            self.probe.on_window(now, self.cwnd);
            self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
            self.cwnd = f64::midpoint(self.cwnd, used);
        }
    }
}
