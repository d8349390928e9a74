//! Pacing: spreads packets over the round trip, or sends them at a rate set by the control.

use crate::units::Time;

/// Pacing rate up to half of ssthresh, relative to one window per RTT: the next round trip needs twice
/// the rate (Linux `tcp_pacing_ss_ratio`, 200 %).
const SLOW_START_GAIN: f64 = 2.0;
/// Relative pacing rate above, with a margin for growth (Linux `tcp_pacing_ca_ratio`,
/// 120 %).
const AVOIDANCE_GAIN: f64 = 1.2;

/// The rate of pacing, in windows per RTT.
#[inline]
pub(super) fn pacing_gain(cwnd_packets: f64, ssthresh_packets: f64) -> f64 {
    let is_slow_start = cwnd_packets < ssthresh_packets / 2.0;
    if is_slow_start { SLOW_START_GAIN } else { AVOIDANCE_GAIN }
}

/// Determines when the next packet may be sent.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    is_on: bool,
    next: Time,
    /// The time by which a flow at exactly the control's rate would have sent the packets sent so
    /// far.
    paid_until: Time,
    /// Packets of the current quantum that have been sent.
    in_quantum: u64,
    /// Packets of the current burst of a window law that have been sent, and what they cost.
    in_burst: u64,
    unpaid: Time,
}

impl Pacer {
    /// Creates a pacer. If `is_on` is false, [`on_sent`](Pacer::on_sent) never delays packets.
    pub fn new(is_on: bool) -> Self {
        Pacer { is_on, ..Pacer::default() }
    }

    /// Whether [`on_sent`](Pacer::on_sent) delays packets.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// The time at which the next packet may be sent, if it is after `now`.
    #[inline]
    pub fn wait(&self, now: Time) -> Option<Time> {
        (self.next > now).then_some(self.next)
    }

    /// The time at which the next packet may be sent; in the past if it may be sent at once.
    #[inline]
    pub fn next_departure(&self) -> Time {
        self.next
    }

    /// Records a packet sent at `now`. `burst` packets leave together; each is paid with `gap`.
    #[inline]
    pub fn on_sent(&mut self, now: Time, gap: Time, burst: u64) {
        self.unpaid = self.unpaid.saturating_add(gap);
        self.in_burst += 1;
        if self.in_burst >= burst {
            self.end_burst(now);
        }
    }

    /// Nothing more leaves at `now`: the next burst waits until this one is paid. A burst that left
    /// later than it might have is charged half at least (Linux `tcp_update_skb_after_send`), so that a
    /// window that opens late is caught up with.
    #[inline]
    pub fn end_burst(&mut self, now: Time) {
        if self.in_burst > 0 {
            let unpaid = self.unpaid.picoseconds();
            let late = now.since(self.next).picoseconds();
            let charged = Time::from_picoseconds(unpaid - late.min(unpaid / 2));
            self.next = self.next.max(now).saturating_add(charged);
            (self.in_burst, self.unpaid) = (0, Time::ZERO);
        }
    }

    /// The rate at which a host would pace the window, in packets/s, whether or not it does (Linux
    /// `tcp_update_pacing_rate`); infinite before the first RTT sample.
    pub fn host_rate(&self, cwnd_packets: f64, ssthresh_packets: f64, srtt: Time) -> f64 {
        pacing_gain(cwnd_packets, ssthresh_packets) * cwnd_packets / srtt.seconds()
    }

    /// Lets no packet leave before `next`.
    #[cold]
    pub fn hold_until(&mut self, next: Time) {
        self.next = next;
    }

    /// The rate changes at `now`, from a packet per `before` to one per `after`: what was sent ahead of
    /// the rate is paid at the new one, so that a rate which doubles halves what is left of the wait.
    /// After a rate without a bound (`before` is zero) that is the packet that left at `last_sent`.
    pub fn change_gap(&mut self, now: Time, last_sent: Time, before: Time, after: Time) {
        let is_next = self.next == self.paid_until;
        if before == Time::ZERO {
            self.paid_until = last_sent.saturating_add(after);
        } else {
            let ahead = u128::from(self.paid_until.since(now).picoseconds());
            let left = ahead * u128::from(after.picoseconds()) / u128::from(before.picoseconds());
            let left = Time::from_picoseconds(u64::try_from(left).unwrap_or(u64::MAX));
            self.paid_until = self.paid_until.min(now).saturating_add(left);
        }
        if is_next {
            self.next = self.paid_until;
        }
    }

    /// Records a packet sent at `now`. `gap` is the time per packet at the rate that the control
    /// sets; `quantum` packets are sent together (draft-ietf-ccwg-bbr-06 sec. "Pacing Rate").
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is left of a gap changes as the time per packet does, at any moment of it.
        #[test]
        fn a_rate_that_doubles_in_a_gap_halves_what_is_left_of_it(
            gap in 1_u64..1_000_000_000,
            part in 0.0..1.0,
            factor in 1_u64..100,
        ) {
            let at = Time::from_picoseconds;
            let (now, whole) = ((gap as f64 * part) as u64, 2 * factor * gap);
            for (after, left) in
                [(factor * gap, factor * gap - now / 2), (2 * whole, 2 * (whole - now))]
            {
                let mut pacer = Pacer::default();
                pacer.on_sent_at_rate(Time::ZERO, at(whole), 1);
                pacer.change_gap(at(now), Time::ZERO, at(whole), at(after));
                let next = pacer.wait(at(now)).expect("something is left").picoseconds();
                prop_assert!(next.abs_diff(now + left) <= 1, "{next} {now} {left}");
            }
        }
    }

    #[test]
    fn after_an_unlimited_rate_the_packet_that_left_last_is_paid() {
        let ms = Time::from_milliseconds;
        let mut pacer = Pacer::default();
        pacer.on_sent_at_rate(ms(10), Time::ZERO, 1);
        pacer.change_gap(ms(40), ms(10), Time::ZERO, ms(50));
        assert_eq!(pacer.wait(ms(40)), Some(ms(60)));
    }

    /// At 1000 packets/s a quantum of three lasts 3 ms.
    #[test]
    fn a_quantum_leaves_at_once_and_quanta_at_the_given_rate() {
        let mut pacer = Pacer::default();
        let ms = Time::from_milliseconds;
        for start in [10, 13] {
            for _ in 0..3 {
                assert_eq!(pacer.wait(ms(start)), None);
                pacer.on_sent_at_rate(ms(start), ms(1), 3);
            }
            assert_eq!(pacer.wait(ms(start)), Some(ms(start + 3)));
        }
        // The window allows only two packets at 20 ms. At the rate they last until 22 ms, when a
        // new quantum begins.
        for (now, next) in [(20, None), (20, None), (22, None), (22, None), (22, Some(ms(25)))] {
            pacer.on_sent_at_rate(ms(now), ms(1), 3);
            assert_eq!(pacer.wait(ms(now)), next, "{now} ms");
        }
    }
}
