//! Spreading packets over the round trip: each by itself, or in blocks.

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
    /// Packets of the present block that have left.
    in_block: f64,
    block_start: Time,
}

impl Pacer {
    /// A pacer, switched on or off.
    pub fn new(is_on: bool) -> Self {
        Pacer { is_on, ..Pacer::default() }
    }

    /// When the next packet may leave, if that is after `now`.
    #[inline]
    pub fn wait(&self, now: Time) -> Option<Time> {
        (self.next > now).then_some(self.next)
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

    /// A packet leaves at `now` as one of a block: `blocks` of them fill a round trip, and the next
    /// begins a part of the round trip after this one began (Su et al. 2005, Fig. 1).
    #[cold]
    pub fn on_sent_in_block(&mut self, now: Time, cwnd_packets: f64, blocks: u32, srtt: Time) {
        // No more blocks than packets.
        let blocks = f64::from(blocks).min(cwnd_packets).max(1.0);
        if self.in_block == 0.0 {
            self.block_start = now;
        }
        self.in_block += 1.0;
        if self.in_block >= cwnd_packets / blocks {
            let part = srtt.picoseconds() as f64 / blocks;
            self.next = self.block_start + Time::from_picoseconds(part as u64);
            self.in_block = 0.0;
        }
    }

    /// The window has been reduced: a new block begins.
    pub fn restart_block(&mut self) {
        self.in_block = 0.0;
    }
}
