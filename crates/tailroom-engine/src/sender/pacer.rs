//! Spreading packets over the round trip.

use crate::units::Time;

/// Pacing rate over window per RTT in slow start, where the next round needs twice the rate
/// (Linux `tcp_pacing_ss_ratio`, 200 %).
const SLOW_START_GAIN: f64 = 2.0;
/// The same above ssthresh, with room to probe (Linux `tcp_pacing_ca_ratio`, 120 %).
const AVOIDANCE_GAIN: f64 = 1.2;

/// Decides when the next packet may leave.
#[derive(Debug, Default)]
pub struct Pacer {
    is_on: bool,
    next: Time,
}

impl Pacer {
    /// A pacer, switched on or off.
    pub fn new(is_on: bool) -> Self {
        Pacer { is_on, next: Time::ZERO }
    }

    /// When the next packet may leave, if that is after `now`.
    #[inline]
    pub fn wait(&self, now: Time) -> Option<Time> {
        (self.is_on && self.next > now).then_some(self.next)
    }

    /// A packet leaves at `now`. Before the first RTT sample nothing is paced: the initial window is
    /// a burst.
    #[inline]
    pub fn on_sent(&mut self, now: Time, cwnd_packets: f64, is_slow_start: bool, srtt: Time) {
        if self.is_on {
            let gain = if is_slow_start { SLOW_START_GAIN } else { AVOIDANCE_GAIN };
            self.postpone(now, gain * cwnd_packets, srtt);
        }
    }

    #[cold]
    fn postpone(&mut self, now: Time, packets_per_rtt: f64, srtt: Time) {
        let gap = srtt.picoseconds() as f64 / packets_per_rtt;
        self.next = self.next.max(now) + Time::from_picoseconds(gap as u64);
    }
}
