//! HyStart as in CUBIC of Linux (`hystart_update` in `net/ipv4/tcp_cubic.c`, as of commit
//! 25c1a9ca53db of 2025; Ha and Rhee 2011, "Taming the elephants"): slow start ends at once when
//! the ACKs of a round trip come in one train that lasts half of the smallest RTT, or when the
//! first RTTs of a round trip exceed the smallest one by an eighth.

use super::Sender;
use crate::units::{Time, float};

// Parameters and constants of net/ipv4/tcp_cubic.c.
const LOW_WINDOW: f64 = 16.0; // hystart_low_window
const MOST_APART: Time = Time::from_milliseconds(2); // hystart_ack_delta_us
const MIN_SAMPLES: u32 = 8; // HYSTART_MIN_SAMPLES
const MIN_INCREASE: Time = Time::from_milliseconds(4); // HYSTART_DELAY_MIN
const MAX_INCREASE: Time = Time::from_milliseconds(16); // HYSTART_DELAY_MAX
const RTT_DIVISOR: u64 = 8; // delay_min >> 3

/// Bytes that may wait for one another in the hosts, four of the largest aggregates of segments
/// (`hystart_ack_delay`; `sk_gso_max_size` of 64 KB).
const AGGREGATED_BYTES: f64 = 4.0 * 65_536.0;
const MOST_AGGREGATED: Time = Time::from_milliseconds(1); // `hystart_ack_delay`

/// What HyStart sees of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct HystartEvent {
    /// When the ACK arrives.
    pub now: Time,
    /// The RTT sample of this ACK.
    pub rtt: Time,
    /// The cumulative ACK.
    pub una: u64,
    /// The next new sequence number.
    pub next: u64,
    /// The window in packets.
    pub cwnd_packets: f64,
    /// The rate at which the host would pace the window, in bytes/s.
    pub pacing_rate: f64,
}

/// State of HyStart for one flow.
#[derive(Clone, Debug)]
pub struct Hystart {
    is_paced: bool,
    is_found: bool,
    /// Smallest RTT, as of the ACKs that HyStart has seen.
    min_rtt: Time,
    // Of the round trip.
    round_end: u64,
    round_start: Time,
    last_ack: Time,
    round_min: Time,
    samples: u32,
}

impl Hystart {
    /// The state of a flow that has sent the packets below `next` by `now`.
    pub fn new(is_paced: bool, now: Time, next: u64) -> Self {
        Hystart {
            is_paced,
            is_found: false,
            min_rtt: Time::NEVER,
            round_end: next,
            round_start: now,
            last_ack: now,
            round_min: Time::NEVER,
            samples: 0,
        }
    }

    /// Begins again, after a timeout (`cubictcp_state`).
    pub fn restart(&mut self, now: Time, next: u64) {
        *self = Hystart::new(self.is_paced, now, next);
    }

    /// Takes in an ACK. Returns whether slow start ends before this ACK lets the window grow.
    pub fn on_ack(&mut self, event: &HystartEvent) -> bool {
        self.min_rtt = self.min_rtt.min(event.rtt);
        if self.is_found {
            return false;
        }
        if event.una > self.round_end {
            (self.round_start, self.last_ack) = (event.now, event.now);
            (self.round_end, self.round_min, self.samples) = (event.next, Time::NEVER, 0);
        }
        if event.cwnd_packets < LOW_WINDOW {
            return false;
        }
        let is_long_train = self.is_long_train(event);
        self.is_found = self.is_delayed(event.rtt) || is_long_train;
        self.is_found
    }

    /// `HYSTART_ACK_TRAIN`
    fn is_long_train(&mut self, event: &HystartEvent) -> bool {
        if event.now.since(self.last_ack) > MOST_APART {
            return false; // and no later ACK of this round trip belongs to the train
        }
        self.last_ack = event.now;
        let aggregated = Time::from_seconds(AGGREGATED_BYTES / event.pacing_rate);
        let longest = (self.min_rtt + aggregated.min(MOST_AGGREGATED)).picoseconds();
        // Pacing spreads a window over half a round trip.
        let longest = if self.is_paced { longest } else { longest / 2 };
        event.now.since(self.round_start).picoseconds() > longest
    }

    /// `HYSTART_DELAY`
    fn is_delayed(&mut self, rtt: Time) -> bool {
        self.round_min = self.round_min.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let eighth = Time::from_picoseconds(self.min_rtt.picoseconds() / RTT_DIVISOR);
        self.round_min > self.min_rtt + eighth.max(MIN_INCREASE).min(MAX_INCREASE)
    }
}

impl Sender {
    /// Shows HyStart an ACK of packets in order, outside a recovery, whether or not the window may grow.
    /// After the last data it sees none: the window has no use any more.
    #[inline]
    pub(super) fn watch_in_order(&mut self, now: Time, rtt: Option<Time>) {
        if self.next < self.send_queue.packets || self.objects.is_some() {
            self.watch_slow_start(now, rtt);
        }
    }

    /// Shows HyStart an ACK that tells an RTT while the window is below ssthresh: also one that only
    /// sacks, and in a recovery, whose target is then the window of that time (Linux
    /// `tcp_clean_rtx_queue`, `cubictcp_acked`).
    #[inline]
    pub(super) fn watch_slow_start(&mut self, now: Time, rtt: Option<Time>) {
        if self.cwnd < self.ssthresh
            && self.slow_start.hystart().is_some()
            && let Some(rtt) = rtt
        {
            self.ask_hystart(now, rtt);
        }
    }

    #[inline(never)]
    fn ask_hystart(&mut self, now: Time, rtt: Time) {
        let packet_rate = self.pacer.host_rate(self.cwnd, self.ssthresh, self.rtt.srtt());
        let event = HystartEvent {
            now,
            rtt,
            una: self.una,
            next: self.next,
            cwnd_packets: self.cwnd,
            pacing_rate: packet_rate * float(u64::from(self.payload_bytes())),
        };
        if self.slow_start.hystart_mut().is_some_and(|hystart| hystart.on_ack(&event)) {
            self.ssthresh = self.cwnd;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(microseconds: u64) -> Time {
        Time::from_picoseconds(microseconds * 1_000_000)
    }

    /// A flow with an RTT of 100 ms and a window of 40 packets; the pacing rate is that of 4 Mbit/s,
    /// so that aggregates count for their most of 1 ms.
    struct Flow {
        hystart: Hystart,
        event: HystartEvent,
    }

    impl Flow {
        fn new(is_paced: bool) -> Self {
            let ms = Time::from_milliseconds;
            let event = HystartEvent {
                now: ms(100),
                rtt: ms(100),
                una: 1,
                next: 1_000,
                cwnd_packets: 40.0,
                pacing_rate: 5e5,
            };
            let mut flow = Flow { hystart: Hystart::new(is_paced, Time::ZERO, 0), event };
            assert!(!flow.hystart.on_ack(&flow.event));
            flow
        }

        /// An ACK of one packet after `after`, with this RTT.
        fn ack(&mut self, after: Time, rtt: Time) -> bool {
            self.event.now += after;
            (self.event.una, self.event.rtt) = (self.event.una + 1, rtt);
            self.hystart.on_ack(&self.event)
        }

        /// Begins a round trip with an ACK with this RTT.
        fn begin_round(&mut self, rtt: Time) -> bool {
            (self.event.una, self.event.next) = (self.event.next, self.event.next + 100_000);
            self.ack(Time::from_milliseconds(50), rtt)
        }
    }

    /// 100 ms / 8 = 12.5 ms more are not enough: the comparison is strict.
    #[test]
    fn slow_start_ends_at_the_ninth_rtt_of_a_round_that_exceeds_the_smallest_by_an_eighth() {
        for (rtt, ends_at) in [(112_500, None), (112_501, Some(8))] {
            let mut flow = Flow::new(false);
            let first = flow.begin_round(us(rtt));
            assert!(!first);
            let end = (1..40).find(|_| flow.ack(us(3_000), us(rtt)));
            assert_eq!(end, ends_at, "{rtt} us");
        }
    }

    /// An RTT of 10 ms: at least 4 ms more. One of 1 s: at most 16 ms more.
    #[test]
    fn the_increase_that_ends_slow_start_is_between_4_and_16_ms() {
        let ms = Time::from_milliseconds;
        for (least, rtt, is_found) in
            [(10, 14, false), (10, 15, true), (1_000, 1_016, false), (1_000, 1_017, true)]
        {
            let mut flow = Flow::new(false);
            flow.hystart.min_rtt = ms(least);
            flow.begin_round(ms(rtt));
            assert_eq!((0..40).any(|_| flow.ack(ms(3), ms(rtt))), is_found, "{least} {rtt}");
        }
    }

    /// One sample without a queue says that the round trip is not delayed, wherever it comes.
    #[test]
    fn one_short_rtt_in_a_round_keeps_slow_start_going() {
        let ms = Time::from_milliseconds;
        let mut flow = Flow::new(false);
        flow.begin_round(ms(130));
        for sample in 0..100 {
            assert!(!flow.ack(ms(3), ms(if sample == 4 { 101 } else { 130 })));
        }
    }

    /// Half of 100 ms + 1 ms: the first ACK after 50.5 ms of a train without a gap above 2 ms. A
    /// paced window has its own gaps and takes up to half a round trip, so all 101 ms count.
    #[test]
    fn a_train_of_acks_of_half_the_smallest_rtt_ends_slow_start() {
        let ms = Time::from_milliseconds;
        for (is_paced, ends_at) in [(false, 26), (true, 51)] {
            let mut flow = Flow::new(is_paced);
            flow.begin_round(ms(100));
            let end = (1..100).find(|_| flow.ack(ms(2), ms(100)));
            assert_eq!(end, Some(ends_at), "paced: {is_paced}");
        }
        let mut flow = Flow::new(false);
        flow.begin_round(ms(100));
        assert!(!flow.ack(us(2_001), ms(100)), "a gap of more than 2 ms");
        assert!((0..100).all(|_| !flow.ack(ms(1), ms(100))), "the train is over for the round");
    }

    /// 262,144 B at 5 Gbit/s are 0.42 ms.
    #[test]
    fn aggregates_of_segments_lengthen_the_train_by_their_time_at_the_pacing_rate() {
        let mut flow = Flow::new(false);
        flow.event.pacing_rate = 625e6;
        flow.begin_round(us(100_000));
        let end = (1..100_000).find(|_| flow.ack(us(10), us(100_000)));
        // (100 ms + 0.41943 ms) / 2 = 50.21 ms
        assert_eq!(end, Some(5_021));
    }

    /// The ACKs before are neither samples nor part of a train, which begins with a round trip.
    #[test]
    fn a_window_below_16_packets_is_not_judged() {
        let ms = Time::from_milliseconds;
        let mut flow = Flow::new(false);
        flow.event.cwnd_packets = 15.0;
        flow.begin_round(ms(150));
        assert!((0..100).all(|_| !flow.ack(ms(1), ms(150))));
        flow.event.cwnd_packets = 16.0;
        assert!((0..100).all(|_| !flow.ack(ms(1), ms(112))), "no train");
        flow.event.cwnd_packets = 15.0;
        flow.begin_round(ms(150));
        flow.ack(ms(3), ms(150));
        flow.event.cwnd_packets = 16.0;
        assert_eq!((1..40).find(|_| flow.ack(ms(3), ms(150))), Some(9), "nine samples");
    }

    #[test]
    fn slow_start_ends_once_until_a_timeout_begins_another() {
        let ms = Time::from_milliseconds;
        let mut flow = Flow::new(false);
        flow.begin_round(ms(130));
        assert!((0..9).any(|_| flow.ack(ms(3), ms(130))));
        flow.begin_round(ms(130));
        assert!((0..100).all(|_| !flow.ack(ms(1), ms(130))));
        // The smallest RTT is that since the timeout: 130 ms are no delay.
        flow.hystart.restart(flow.event.now, flow.event.next);
        flow.begin_round(ms(130));
        assert!((0..100).all(|_| !flow.ack(ms(3), ms(130))));
        flow.begin_round(ms(147));
        assert!((0..9).any(|_| flow.ack(ms(3), ms(147))));
    }
}
