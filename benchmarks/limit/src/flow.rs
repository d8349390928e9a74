//! The sender of a flow: window, loss detection by counting, retransmission timer. Packets are
//! numbered by transmission, so that a repeated packet has a number of its own.

use std::collections::VecDeque;

use crate::window_law::WindowLaw;

/// In place of a packet's number: none. Three more do not overflow.
pub const NONE: u32 = u32::MAX - 16;

/// A packet is lost when one that left this many transmissions later has been acknowledged.
const REORDERING: u32 = 3;

/// What every packet changes, in one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Flow {
    /// Without the waiting times in queues.
    pub rtt_ps: u64,
    pub cwnd: u32,
    /// What the acknowledgements since the last increase add up to; an increase takes `cwnd`.
    growth: u32,
    ssthresh: u32,
    pub in_flight: u32,
    /// The next transmission.
    pub next: u32,
    /// The next transmission to be acknowledged.
    pub acked: u32,
    /// Packets that are in the network.
    pub live: u32,
    /// The first transmission that was dropped and is not known as lost yet.
    first_dropped: u32,
    /// Transmissions before this one belong to the loss event that shrank the window last.
    recovery_end: u32,
    /// Dropped packets that are not known as lost yet.
    pub undetected: u32,
    /// Lost packets that have not been sent again.
    to_repeat: u32,
    /// The window at which the next level of the window law begins.
    next_window: u32,
    level: u32,
    /// Transmissions before this one were given up by a timeout.
    pub timeout_mark: u32,
}

/// The numbers of the dropped packets that are not known as lost yet.
pub type Dropped = VecDeque<u32>;

impl Flow {
    pub fn new(rtt_ps: u64, law: &WindowLaw) -> Self {
        Self {
            rtt_ps,
            cwnd: 2,
            growth: 0,
            ssthresh: u32::MAX,
            in_flight: 0,
            next: 0,
            acked: 0,
            live: 0,
            first_dropped: NONE,
            recovery_end: 0,
            undetected: 0,
            to_repeat: 0,
            next_window: law.next_window(1),
            level: 1,
            timeout_mark: 0,
        }
    }

    /// Takes the next transmission: its number and the time of sending, for two-hop paths.
    #[inline(always)]
    pub fn transmit(&mut self, now_ps: u64) -> u64 {
        let number = self.next;
        self.next = number + 1;
        self.in_flight += 1;
        if self.to_repeat > 0 {
            self.to_repeat -= 1;
        }
        u64::from(number) << 32 | u64::from((now_ps >> 10) as u32)
    }

    /// Records that a packet was dropped.
    pub fn record_drop(&mut self, dropped: &mut Dropped, number: u32) {
        dropped.push_back(number);
        self.undetected += 1;
        if self.first_dropped == NONE {
            self.first_dropped = number;
        }
    }

    /// Records that all packets before this number, which is acknowledged, were dropped.
    #[cold]
    #[inline(never)]
    pub fn record_gap(&mut self, dropped: &mut Dropped, number: u32) {
        while self.acked < number {
            if self.acked >= self.timeout_mark {
                self.record_drop(dropped, self.acked);
            }
            self.acked += 1;
        }
    }

    /// Whether the acknowledgement of a packet shows that another one is lost.
    #[inline(always)]
    pub fn shows_loss(&self, number: u32) -> bool {
        number >= self.first_dropped.wrapping_add(REORDERING)
    }

    /// Takes the lost packets out of flight, and shrinks the window once per loss event.
    #[cold]
    #[inline(never)]
    pub fn detect_losses(&mut self, dropped: &mut Dropped, number: u32, law: &WindowLaw) {
        while self.first_dropped != NONE && number >= self.first_dropped + REORDERING {
            let lost = dropped.pop_front().expect("the first dropped packet is in the list");
            self.first_dropped = dropped.front().copied().unwrap_or(NONE);
            self.undetected -= 1;
            self.in_flight -= 1;
            self.to_repeat += 1;
            if lost >= self.recovery_end {
                let kept = 1.0 - law.decrease(self.level);
                self.cwnd = ((self.cwnd as f32 * kept) as u32).max(2);
                self.ssthresh = self.cwnd;
                self.growth = 0;
                self.recovery_end = self.next;
                self.level = law.level_at_most(self.level, self.cwnd);
                self.next_window = law.next_window(self.level);
            }
        }
    }

    /// Whether no loss event is under repair when this packet is acknowledged.
    #[inline(always)]
    pub fn may_grow(&self, number: u32) -> bool {
        number >= self.recovery_end
    }

    /// Grows the window for one acknowledged packet.
    #[inline(always)]
    pub fn grow(&mut self, law: &WindowLaw) {
        if self.cwnd >= self.ssthresh {
            self.growth += self.level;
            if self.growth < self.cwnd {
                return;
            }
            self.growth -= self.cwnd;
        }
        self.cwnd += 1;
        if self.cwnd >= self.next_window {
            self.raise_level(law);
        }
    }

    #[cold]
    #[inline(never)]
    fn raise_level(&mut self, law: &WindowLaw) {
        while self.cwnd >= self.next_window {
            self.level += 1;
            self.next_window = law.next_window(self.level);
        }
    }

    /// Gives up everything in flight.
    #[cold]
    #[inline(never)]
    pub fn time_out(&mut self, dropped: &mut Dropped, law: &WindowLaw) {
        dropped.clear();
        self.to_repeat += self.in_flight;
        self.in_flight = 0;
        self.undetected = 0;
        self.live = 0;
        self.first_dropped = NONE;
        self.ssthresh = (self.cwnd / 2).max(2);
        self.cwnd = 1;
        self.growth = 0;
        self.recovery_end = self.next;
        self.acked = self.next;
        self.timeout_mark = self.next;
        self.level = 1;
        self.next_window = law.next_window(1);
    }

    /// Mixes the flow's state into a hash, which tells runs apart.
    pub fn mix_into(&self, hash: u64) -> u64 {
        (hash ^ u64::from(self.next) << 32 ^ u64::from(self.cwnd))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(23)
    }
}

/// Round-trip times are in ticks of 1024 ps, so that they fit 32 bits.
const TICK_SHIFT: u32 = 10;
const MIN_RTO_TICKS: u32 = 195_312_500; // 200 ms
const FIRST_RTO_PS: u64 = 1_000_000_000_000; // RFC 6298, section 2.1

/// RFC 6298, in integers.
#[derive(Clone, Copy)]
pub struct RetransmissionTimer {
    pub deadline_ps: u64,
    pub srtt: u32,
    rttvar: u32,
    backoff: u32,
}

impl RetransmissionTimer {
    pub fn new() -> Self {
        Self { deadline_ps: u64::MAX, srtt: 0, rttvar: 0, backoff: 0 }
    }

    pub fn start(&mut self, now_ps: u64) {
        self.deadline_ps = now_ps + FIRST_RTO_PS;
    }

    /// Takes a sample of the round-trip time and starts again.
    #[inline(always)]
    pub fn sample(&mut self, now_ps: u64, rtt: u32) {
        if self.srtt == 0 {
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            let deviation = rtt as i32 - self.srtt as i32;
            self.srtt = (self.srtt as i32 + (deviation >> 3)) as u32;
            let more = (deviation.abs() - self.rttvar as i32) >> 2;
            self.rttvar = (self.rttvar as i32 + more) as u32;
        }
        self.backoff = 0;
        self.deadline_ps = now_ps + self.rto_ps();
    }

    /// Doubles the time up to the next deadline.
    pub fn back_off(&mut self, now_ps: u64) {
        self.backoff = (self.backoff + 1).min(6);
        self.deadline_ps = now_ps + (self.rto_ps() << self.backoff);
    }

    #[inline(always)]
    fn rto_ps(&self) -> u64 {
        u64::from((self.srtt + 4 * self.rttvar).max(MIN_RTO_TICKS)) << TICK_SHIFT
    }
}

/// Returns a duration in the ticks of the timer.
#[inline(always)]
pub fn ticks(duration_ps: u64) -> u32 {
    (duration_ps >> TICK_SHIFT) as u32
}
