//! Growth of the window below ssthresh: standard, limited (RFC 3742), HyStart (Linux) and HyStart++
//! (RFC 9406) slow start.

use super::hystart::Hystart;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::units::Time;

/// Growth of the window below ssthresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "SlowStartConfig")]
#[non_exhaustive]
pub enum SlowStartSpec {
    /// One packet per acknowledged packet (RFC 5681). Without selective ACKs an ACK counts for at most
    /// two packets (RFC 3465 sec. 2.3); with them, or with `send_burst = "auto"`, for all that it newly
    /// reports, as in Linux.
    #[default]
    Standard,
    /// At most `max_ssthresh / 2` packets per round trip above `max_ssthresh` (RFC 3742).
    Limited {
        /// Window above which growth is limited, in packets (RFC 3742: 100).
        #[serde(default = "hundred")]
        #[schemars(range(min = 2, max = 1_000_000_000))]
        max_ssthresh: u32,
    },
    /// HyStart as in CUBIC of Linux (`tcp_cubic.c`).
    ///
    /// From 16 packets on, slow start ends at once when a round trip's ACKs come at most 2 ms apart for
    /// more than half of the smallest RTT, or when its RTT samples, at least nine, all exceed the smallest
    /// RTT by more than an eighth, at least 4 and at most 16 ms. Needs a control without a start of its own.
    Hystart,
    /// HyStart++ (RFC 9406).
    ///
    /// When the RTT grows, slow start goes on at a quarter of its growth for five round trips, and then
    /// ends. An ACK counts for at most eight packets, unless the flow is
    /// paced (sec. 4.3, L).
    HystartPlusPlus,
}

fn hundred() -> u32 {
    100
}

/// The input of slow start for one ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartEvent {
    /// Packets newly acknowledged; without selective ACKs at most two (RFC 3465 sec. 2.3).
    pub acked_packets: u64,
    /// The RTT sample of this ACK, if any.
    pub rtt: Option<Time>,
    /// The cumulative ACK.
    pub una: u64,
    /// The next new sequence number.
    pub next: u64,
}

/// The state of slow start for one flow.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// One packet per acknowledged packet.
    Standard,
    /// At most `max_ssthresh / 2` packets per round trip above `max_ssthresh`.
    Limited {
        /// Window above which growth is limited, in packets.
        max_ssthresh: f64,
    },
    /// Ends slow start at once. Boxed, because the state is not used after slow start.
    Hystart(Box<Hystart>),
    /// Ends slow start some round trips after the RTT has grown. Boxed like the other.
    HystartPlusPlus(Box<HystartPlusPlus>),
}

impl SlowStart {
    /// Creates the state for `spec`. HyStart++ has no credit limit if `is_paced`.
    pub fn new(spec: SlowStartSpec, is_paced: bool) -> Self {
        match spec {
            SlowStartSpec::Standard => SlowStart::Standard,
            SlowStartSpec::Limited { max_ssthresh } => {
                SlowStart::Limited { max_ssthresh: f64::from(max_ssthresh) }
            }
            SlowStartSpec::Hystart => {
                SlowStart::Hystart(Box::new(Hystart::new(is_paced, Time::ZERO, 0)))
            }
            SlowStartSpec::HystartPlusPlus => {
                SlowStart::HystartPlusPlus(Box::new(HystartPlusPlus::new(is_paced)))
            }
        }
    }

    /// Returns the growth of a window of `cwnd_packets`, in packets, and whether slow start ends
    /// with this ACK.
    #[inline]
    pub fn on_ack(&mut self, cwnd_packets: f64, event: &SlowStartEvent) -> (f64, bool) {
        let credit = event.acked_packets as f64;
        match self {
            SlowStart::Standard | SlowStart::Hystart(_) => (credit, false),
            SlowStart::Limited { max_ssthresh } => {
                if cwnd_packets <= *max_ssthresh {
                    return (credit, false);
                }
                // RFC 3742 sec. 2: K = int(cwnd / (0.5 max_ssthresh)); cwnd += 1/K per ACK.
                (credit / libm::floor(cwnd_packets / (0.5 * *max_ssthresh)), false)
            }
            SlowStart::HystartPlusPlus(hystart) => hystart.on_ack(event),
        }
    }

    /// The state of HyStart, if slow start has it.
    #[inline]
    pub fn hystart(&self) -> Option<&Hystart> {
        if let SlowStart::Hystart(hystart) = self { Some(hystart) } else { None }
    }

    /// The state of HyStart, if slow start has it.
    pub fn hystart_mut(&mut self) -> Option<&mut Hystart> {
        if let SlowStart::Hystart(hystart) = self { Some(hystart) } else { None }
    }

    /// Begins a new slow start after a timeout, and returns the one that it replaces, if it is of
    /// another kind. HyStart++ applies to the first slow start only (RFC 9406 sec. 4.3), because
    /// later ones end at ssthresh; HyStart begins afresh, with the packets below `next` sent.
    pub fn replace_after_timeout(&mut self, now: Time, next: u64) -> Option<SlowStart> {
        if let Some(hystart) = self.hystart_mut() {
            hystart.restart(now, next);
        }
        let is_first_only = matches!(self, SlowStart::HystartPlusPlus(_));
        is_first_only.then(|| std::mem::replace(self, SlowStart::Standard))
    }
}

const MIN_RTT_THRESHOLD: Time = Time::from_milliseconds(4); // RFC 9406 sec. 4.3
const MAX_RTT_THRESHOLD: Time = Time::from_milliseconds(16); // RFC 9406 sec. 4.3
const MIN_RTT_DIVISOR: u64 = 8; // RFC 9406 sec. 4.3
const RTT_SAMPLES: u32 = 8; // RFC 9406 sec. 4.3, N_RTT_SAMPLE
const CSS_GROWTH_DIVISOR: f64 = 4.0; // RFC 9406 sec. 4.3
const CSS_ROUNDS: u32 = 5; // RFC 9406 sec. 4.3
const UNPACED_CREDIT_LIMIT: u64 = 8; // RFC 9406 sec. 4.3, L

/// State of HyStart++ (RFC 9406 sec. 4.2).
#[derive(Clone, Debug)]
pub struct HystartPlusPlus {
    credit_limit: u64,
    round_end: u64,
    last_round_min: Time,
    round_min: Time,
    samples: u32,
    /// Minimum RTT at the start of conservative slow start; `None` outside conservative slow
    /// start.
    baseline: Option<Time>,
    conservative_rounds: u32,
}

impl HystartPlusPlus {
    fn new(is_paced: bool) -> Self {
        HystartPlusPlus {
            credit_limit: if is_paced { u64::MAX } else { UNPACED_CREDIT_LIMIT },
            round_end: 0,
            last_round_min: Time::NEVER,
            round_min: Time::NEVER,
            samples: 0,
            baseline: None,
            conservative_rounds: 0,
        }
    }

    fn on_ack(&mut self, event: &SlowStartEvent) -> (f64, bool) {
        let mut is_over = false;
        if event.una > self.round_end {
            is_over = self.end_round(event.next);
        }
        if let Some(rtt) = event.rtt {
            self.round_min = self.round_min.min(rtt);
            self.samples += 1;
            self.check_delay();
        }
        let credit = event.acked_packets.min(self.credit_limit) as f64;
        let growth = if self.baseline.is_some() { credit / CSS_GROWTH_DIVISOR } else { credit };
        (growth, is_over)
    }

    /// Ends a round trip. Returns true if it was the last round trip of conservative slow start.
    fn end_round(&mut self, next: u64) -> bool {
        self.round_end = next;
        self.last_round_min = self.round_min;
        self.round_min = Time::NEVER;
        self.samples = 0;
        if self.baseline.is_some() {
            self.conservative_rounds += 1;
        }
        self.conservative_rounds >= CSS_ROUNDS
    }

    fn check_delay(&mut self) {
        if self.samples < RTT_SAMPLES || self.round_min == Time::NEVER {
            return;
        }
        match self.baseline {
            None if self.last_round_min != Time::NEVER => {
                let eighth =
                    Time::from_picoseconds(self.last_round_min.picoseconds() / MIN_RTT_DIVISOR);
                let threshold = eighth.max(MIN_RTT_THRESHOLD).min(MAX_RTT_THRESHOLD);
                if self.round_min >= self.last_round_min + threshold {
                    self.baseline = Some(self.round_min);
                    self.conservative_rounds = 0;
                }
            }
            // The increase was spurious: return to slow start.
            Some(baseline) if self.round_min < baseline => self.baseline = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(una: u64, next: u64, rtt_ms: u64) -> SlowStartEvent {
        SlowStartEvent { acked_packets: 1, rtt: Some(Time::from_milliseconds(rtt_ms)), una, next }
    }

    #[test]
    fn limited_slow_start_adds_at_most_half_the_threshold_per_round_trip() {
        let mut slow_start = SlowStart::new(SlowStartSpec::Limited { max_ssthresh: 100 }, false);
        let ack = event(1, 2, 100);
        assert_eq!(slow_start.on_ack(100.0, &ack), (1.0, false));
        // RFC 3742: cwnd = 425 gives K = int(425 / 50) = 8, so 425 / 8 = 53 packets per round
        // trip.
        assert_eq!(slow_start.on_ack(425.0, &ack), (1.0 / 8.0, false));
    }

    #[test]
    fn slow_start_ends_after_five_conservative_round_trips() {
        let mut slow_start = SlowStart::new(SlowStartSpec::HystartPlusPlus, false);
        let mut una = 0;
        let mut round = |slow_start: &mut SlowStart, rtt_ms: u64| {
            let next = una + 20;
            let mut last = (0.0, false);
            let mut is_over = false;
            for _ in 0..10 {
                una += 1;
                last = slow_start.on_ack(20.0, &event(una, next, rtt_ms));
                is_over |= last.1;
            }
            una = next;
            (last.0, is_over)
        };
        assert_eq!(round(&mut slow_start, 100), (1.0, false));
        assert_eq!(round(&mut slow_start, 100), (1.0, false));
        // The threshold is 100 / 8 = 12.5 ms, so an increase of 12 ms is too small. Then it is
        // 112 / 8 = 14 ms, and an increase of 15 ms is large enough, although below the bound of
        // 16 ms.
        assert_eq!(round(&mut slow_start, 112), (1.0, false));
        assert_eq!(round(&mut slow_start, 127), (0.25, false));
        for _ in 0..4 {
            assert_eq!(round(&mut slow_start, 128), (0.25, false));
        }
        assert!(round(&mut slow_start, 128).1);
    }

    #[test]
    fn hystart_returns_to_slow_start_after_a_spurious_increase_of_the_rtt() {
        let mut hystart = HystartPlusPlus::new(false);
        hystart.last_round_min = Time::from_milliseconds(100);
        hystart.round_end = 1_000;
        (0..8).for_each(|_| {
            hystart.on_ack(&event(1, 2_000, 120));
        });
        assert!(hystart.baseline.is_some());
        hystart.round_end = 0;
        (0..9).for_each(|_| {
            hystart.on_ack(&event(1, 2_000, 101));
        });
        assert!(hystart.baseline.is_none());
    }
}
