//! The window of a sender: how ACKs let it grow, and how congestion reduces it.

use super::slow_start::SlowStartEvent;
use super::{CongestionControl, Phase, Sender};
use crate::congestion::{AckEvent, CongestionEvent, CongestionKind, WindowLaw};
use crate::units::{Time, float};

/// Smallest ssthresh, in packets (RFC 5681 sec. 3.1).
const MIN_SSTHRESH: f64 = 2.0;
/// Packets that one ACK counts for at most in slow start without selective ACKs (RFC 3465 sec. 2.3, L =
/// 2): a delayed ACK counts in full, an ACK that covers a repaired hole does not, since the packets
/// behind the hole have arrived long before. With selective ACKs the sender knows what has just arrived
/// (Linux `tcp_slow_start`), and a Linux host without them counts duplicate ACKs.
const CREDIT_LIMIT: u64 = 2;

impl Sender {
    /// Grows the window after `acked` newly acknowledged packets. A window that did not limit the
    /// flow says nothing about the path and does not grow (RFC 7661 sec. 4.2: it is not validated).
    #[inline]
    pub(super) fn grow(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        if self.may_grow(now) {
            self.probe.on_window(now, self.cwnd);
            self.grow_window(now, acked, rtt);
        }
    }

    /// Whether the window was in use. One that an application fills or not is judged by the round trip:
    /// the packets in flight are fewest at the ACK.
    #[inline]
    fn may_grow(&mut self, now: Time) -> bool {
        let Some(usage) = &mut self.window_use else { return self.is_window_limited };
        let allows = usage.allows(self.cwnd, self.cwnd < self.ssthresh);
        usage.begin_period(now); // Linux `tcp_cong_avoid`
        allows
    }

    /// The new window after `acked` newly acknowledged packets.
    #[inline]
    pub(super) fn grow_window(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        if self.cwnd < self.ssthresh {
            self.grow_in_slow_start(now, acked, rtt);
        } else {
            let event = self.ack_event(now, acked, rtt);
            self.cwnd = self.window_after(self.cwnd, &event);
        }
        self.cwnd = self.cwnd.min(self.max_window);
    }

    /// What the law makes of a window of `cwnd` packets, at or above ssthresh.
    #[inline]
    pub(super) fn window_after(&mut self, cwnd: f64, event: &AckEvent) -> f64 {
        let CongestionControl::WindowLaw(law) = &mut self.congestion_control else { return cwnd };
        let window = law.on_ack(cwnd, event);
        // A law that shrinks the window after an ACK does not begin a slow start by that.
        if window < self.ssthresh {
            self.ssthresh = window.max(MIN_SSTHRESH);
        }
        window
    }

    #[inline]
    fn ack_event(&self, now: Time, acked: u64, rtt: Option<Time>) -> AckEvent {
        AckEvent {
            now,
            acked_packets: acked,
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            delivered_packets: self.una,
            marked_packets: self.ecn.reported(),
            next: self.next,
            is_slow_start: self.cwnd < self.ssthresh,
        }
    }

    /// Shows an ACK of new data to a window law that sees every ACK.
    #[inline]
    pub(super) fn show_to_control(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        if self.options.sees_every_ack {
            self.call_on_every_ack(now, acked, rtt);
        }
    }

    #[inline(never)]
    fn call_on_every_ack(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        let event = self.ack_event(now, acked, rtt);
        if let CongestionControl::WindowLaw(law) = &mut self.congestion_control {
            law.on_every_ack(&event);
        }
    }

    /// Grows the window by the slow start that the scenario names, or by the law's own.
    #[inline(never)]
    fn grow_in_slow_start(&mut self, now: Time, acked: u64, rtt: Option<Time>) {
        let event = self.ack_event(now, acked, rtt);
        let is_over = if let CongestionControl::WindowLaw(law) = &mut self.congestion_control
            && self.options.has_own_slow_start
        {
            let cwnd = law.on_ack(self.cwnd, &event);
            self.cwnd = cwnd.min(self.ssthresh); // no step exceeds ssthresh
            law.ends_slow_start()
        } else {
            let knows_arrivals = self.is_sack || self.options.counts_duplicates;
            let credit = if knows_arrivals { acked } else { acked.min(CREDIT_LIMIT) };
            let event =
                SlowStartEvent { acked_packets: credit, rtt, una: self.una, next: self.next };
            let (growth, is_over) = self.slow_start.on_ack(self.cwnd, &event);
            self.cwnd += growth;
            is_over
        };
        if is_over {
            self.ssthresh = self.cwnd.max(MIN_SSTHRESH);
        }
    }

    /// Tells the congestion control of congestion; a window law answers with ssthresh.
    pub(super) fn reduce(&mut self, now: Time, kind: CongestionKind) {
        self.probe.on_window(now, self.cwnd);
        self.probe.on_reduction(now, kind == CongestionKind::Timeout);
        // RFC 5681 sec. 3.1: ssthresh stays when the timer expires again for the same packet; with RACK
        // also when it expires in a recovery or after a mark, which have reduced it (Linux
        // `tcp_enter_loss`).
        let is_reduced = self.phase == Phase::Recovery || self.ecn.has_reduced_since(self.una);
        let is_repeated = kind == CongestionKind::Timeout
            && (self.is_timeout_repeated() || self.rack.is_some() && is_reduced);
        if kind == CongestionKind::Mark {
            self.forget_undo();
        } else if !is_repeated {
            self.begin_undo(false);
        }
        if !is_repeated {
            let is_slow_start = self.cwnd < self.ssthresh;
            let cwnd_packets = self.congested_window();
            let event = CongestionEvent { now, kind, cwnd_packets, is_slow_start };
            match &mut self.congestion_control {
                CongestionControl::WindowLaw(law) => {
                    self.ssthresh = law.on_congestion(&event).max(MIN_SSTHRESH);
                }
                CongestionControl::RateBased(rate_based) => rate_based.on_congestion(&event),
            }
        }
        self.ecn.on_reduction();
        if let Some(blocks) = &mut self.blocks {
            blocks.restart(now);
        }
    }

    /// The window that was in use at the congestion, from which ssthresh is computed.
    ///
    /// RFC 5681 Eq. 4 takes the flight size. Linux and ns-2 take cwnd, which equals the flight size
    /// while the window limits the sender. The sender here takes cwnd too, and cwnd does not grow
    /// otherwise, as RFC 9438 sec. 4.6 requires. There are two exceptions:
    /// * after an application has paused, the flight size counts, unless `window_validation` lets cwnd
    ///   follow the use of it as in Linux, or losses are found as in Linux (by RACK), which takes
    ///   cwnd whether or not its sysctl lets an idle time shrink it;
    /// * during proportional rate reduction cwnd follows the pipe: ssthresh, its target, counts.
    fn congested_window(&self) -> f64 {
        let window = if self.has_prr() { self.ssthresh } else { self.cwnd };
        let is_limited_by_application = self.objects.is_some() && !self.is_window_limited;
        let is_linux = self.options.validates_window || self.rack.is_some();
        if is_limited_by_application && !is_linux {
            window.min(float(self.next - self.una))
        } else {
            window
        }
    }
}
