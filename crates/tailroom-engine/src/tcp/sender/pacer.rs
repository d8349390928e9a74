//! Pacing: packets spread over the round trip, one by one, in blocks, or at a rate that the control
//! sets.

use crate::units::Time;

/// Ratio of the pacing rate to the window per RTT in slow start, where the next round trip needs
/// twice the rate (Linux `tcp_pacing_ss_ratio`, 200 %).
const SLOW_START_GAIN: f64 = 2.0;
/// The same ratio above ssthresh, with room to probe (Linux `tcp_pacing_ca_ratio`, 120 %).
const AVOIDANCE_GAIN: f64 = 1.2;

/// Decides when the next packet may leave.
#[derive(Debug, Default)]
pub struct Pacer {
    is_on: bool,
    next: Time,
    /// Packets of the current block that have left.
    in_block: f64,
    block_start: Time,
    /// When the packets that have left are paid for at the rate that the control sets.
    paid_until: Time,
    /// Packets of the current quantum that have left.
    in_quantum: u64,
}

impl Pacer {
    /// A pacer, switched on or off.
    pub fn new(is_on: bool) -> Self {
        Pacer { is_on, ..Pacer::default() }
    }

    /// When the next packet may leave, if it has to wait beyond `now`.
    #[inline]
    pub fn wait(&self, now: Time) -> Option<Time> {
        (self.next > now).then_some(self.next)
    }

    /// When the next packet may leave; a past time if it may leave at once.
    #[inline]
    pub fn next_departure(&self) -> Time {
        self.next
    }

    /// Records a packet that leaves at `now`. Before the first RTT sample nothing is paced: the
    /// initial window is a burst.
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
        self.next = self.next.max(now).saturating_add(Time::from_picoseconds(gap as u64));
    }

    /// Records a packet of a block that leaves at `now`. A round trip has `blocks` blocks, and each
    /// begins RTT / `blocks` after the beginning of the previous one (Su et al. 2005, Fig. 1).
    #[cold]
    pub fn on_sent_in_block(&mut self, now: Time, cwnd_packets: f64, blocks: u32, srtt: Time) {
        // At most as many blocks as packets.
        let blocks = f64::from(blocks).min(cwnd_packets).max(1.0);
        if self.in_block == 0.0 {
            self.block_start = now;
        }
        self.in_block += 1.0;
        if self.in_block >= cwnd_packets / blocks {
            let part = srtt.picoseconds() as f64 / blocks;
            self.next = self.block_start.saturating_add(Time::from_picoseconds(part as u64));
            self.in_block = 0.0;
        }
    }

    /// Records a packet that leaves at `now` under a control that sets the rate: `gap` is the time
    /// per packet at that rate, and `quantum` packets leave together (draft-ietf-ccwg-bbr-06 sec.
    /// "Pacing Rate").
    pub fn on_sent_at_rate(&mut self, now: Time, gap: Time, quantum: u64) {
        if self.paid_until <= now {
            self.in_quantum = 0;
        }
        self.paid_until = self.paid_until.max(now).saturating_add(gap);
        self.in_quantum += 1;
        if self.in_quantum >= quantum {
            self.in_quantum = 0;
            self.next = self.paid_until;
        }
    }

    /// Begins a new block, because the window has been reduced.
    pub fn restart_block(&mut self) {
        self.in_block = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 packets in 4 blocks over 100 ms: five at once, the next five 25 ms after the first began.
    #[test]
    fn a_block_begins_its_part_of_the_round_trip_after_the_one_before() {
        let mut pacer = Pacer::new(false);
        let ms = Time::from_milliseconds;
        for sent_at in [ms(100), ms(125), ms(150)] {
            for packet in 0..5 {
                // A millisecond between two packets: sending a block takes time, its successor
                // waits less.
                let now = sent_at + ms(packet);
                assert_eq!(pacer.wait(now), None);
                pacer.on_sent_in_block(now, 20.0, 4, ms(100));
            }
            assert_eq!(pacer.wait(sent_at + ms(4)), Some(sent_at + ms(25)));
        }
    }

    /// At 1000 packets/s a quantum of three lasts 3 ms.
    #[test]
    fn a_quantum_leaves_together_and_the_next_when_it_is_paid_for() {
        let mut pacer = Pacer::default();
        let ms = Time::from_milliseconds;
        for start in [10, 13] {
            for _ in 0..3 {
                assert_eq!(pacer.wait(ms(start)), None);
                pacer.on_sent_at_rate(ms(start), ms(1), 3);
            }
            assert_eq!(pacer.wait(ms(start)), Some(ms(start + 3)));
        }
        // The window lets only two out at 20 ms: by 22 ms they are paid for, and a quantum begins.
        for (now, next) in [(20, None), (20, None), (22, None), (22, None), (22, Some(ms(25)))] {
            pacer.on_sent_at_rate(ms(now), ms(1), 3);
            assert_eq!(pacer.wait(ms(now)), next, "{now} ms");
        }
    }

    /// "A negative delay": a block that took longer than its part is followed at once.
    #[test]
    fn a_block_that_took_too_long_is_followed_at_once() {
        let mut pacer = Pacer::new(false);
        for now in [0, 60] {
            pacer.on_sent_in_block(
                Time::from_milliseconds(now),
                4.0,
                2,
                Time::from_milliseconds(100),
            );
        }
        assert_eq!(pacer.wait(Time::from_milliseconds(60)), None);
    }

    /// "If (k > cwnd) k = cwnd".
    #[test]
    fn there_are_no_more_blocks_than_packets() {
        let mut pacer = Pacer::new(false);
        pacer.on_sent_in_block(Time::ZERO, 2.0, 50, Time::from_milliseconds(100));
        assert_eq!(pacer.wait(Time::ZERO), Some(Time::from_milliseconds(50)));
    }
}
