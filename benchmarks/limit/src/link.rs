//! A link with a buffer. Behind tail drop and RED a packet's departure is known when it arrives;
//! behind `CoDel` and fair queueing packets wait, and depart one by one.

use crate::event_queue::NEVER;
use crate::flow::NONE;

/// A packet that waits.
#[derive(Clone, Copy, Default)]
pub struct Waiting {
    pub enqueued_at_ps: u64,
    pub payload: u64,
    pub flow: u32,
    /// The next packet of the flow, or the next free place (fair queueing).
    pub next: u32,
}

pub struct Link {
    pub busy_until_ps: u64,
    pub packet_ps: u64,
    /// The longest waiting time in the buffer.
    pub limit_ps: u64,
    pub limit_packets: u64,
    /// When the packet in service departs; `NEVER` if the link is idle.
    pub next_departure_ps: u64,
    /// A ring of waiting packets; with fair queueing a pool of places.
    pub buffer: Vec<Waiting>,
    head: usize,
    tail: usize,
    mask: usize,
    pub drops: u64,
    pub departures: u64,
    red: Red,
    codel: CoDel,
}

impl Link {
    pub fn new(rate_bps: f64, packet_bytes: f64, limit_packets: u64) -> Self {
        let packet_ps = (packet_bytes * 8.0 / rate_bps * 1e12).round() as u64;
        let places = (limit_packets as usize + 2).next_power_of_two();
        let place = |index| Waiting { next: index as u32 + 1, ..Waiting::default() };
        Self {
            busy_until_ps: 0,
            packet_ps,
            limit_ps: (limit_packets - 1) * packet_ps,
            limit_packets,
            next_departure_ps: NEVER,
            buffer: (0..places).map(place).collect(),
            head: 0,
            tail: 0,
            mask: places - 1,
            drops: 0,
            departures: 0,
            red: Red::new(packet_ps, limit_packets),
            codel: CoDel::default(),
        }
    }

    /// Returns when a packet that arrives now departs, or none if it is dropped (tail drop, RED).
    #[inline(always)]
    pub fn pass(&mut self, now_ps: u64, has_red: bool) -> Option<u64> {
        let begin_ps = self.busy_until_ps.max(now_ps);
        let wait_ps = begin_ps - now_ps;
        let early = has_red && self.red.drops(now_ps, self.busy_until_ps, wait_ps);
        if early || wait_ps > self.limit_ps {
            self.drops += 1;
            return None;
        }
        self.busy_until_ps = begin_ps + self.packet_ps;
        self.departures += 1;
        Some(self.busy_until_ps)
    }

    /// Puts a packet into the ring; returns false if it is full (`CoDel`).
    #[inline(always)]
    pub fn enqueue(&mut self, now_ps: u64, flow: u32) -> bool {
        let queued = self.tail - self.head;
        if queued as u64 >= self.limit_packets {
            self.drops += 1;
            return false;
        }
        if queued == 0 {
            self.next_departure_ps = now_ps + self.packet_ps;
        }
        // SAFETY: an index and the mask is below the ring's length.
        let place = unsafe { self.buffer.get_unchecked_mut(self.tail & self.mask) };
        place.flow = flow;
        place.enqueued_at_ps = now_ps;
        self.tail += 1;
        true
    }

    /// Sends the packet in service and chooses the next one (`CoDel`). Returns the packet that
    /// departs, and puts the flows of up to four dropped packets into `dropped`.
    #[inline(always)]
    pub fn depart(&mut self, dropped: &mut [u32; 4]) -> (Waiting, usize) {
        let now_ps = self.next_departure_ps;
        self.departures += 1;
        let departing = self.at(self.head);
        self.head += 1;
        let mut drops = 0;
        while self.head != self.tail {
            let next = self.at(self.head);
            let is_short = self.tail - self.head < 2;
            let may_repeat = drops < dropped.len();
            if !self.codel.drops(now_ps, now_ps - next.enqueued_at_ps, is_short, may_repeat) {
                break;
            }
            self.head += 1;
            self.drops += 1;
            dropped[drops & 3] = next.flow;
            drops += 1;
        }
        self.next_departure_ps = if self.head == self.tail {
            self.busy_until_ps = now_ps;
            NEVER
        } else {
            now_ps + self.packet_ps
        };
        (departing, drops.min(dropped.len()))
    }

    /// Returns the flow of the packet this many places behind the head of the ring.
    #[inline(always)]
    pub fn flow_ahead(&self, places: usize) -> usize {
        self.at(self.head + places).flow as usize
    }

    #[inline(always)]
    fn at(&self, index: usize) -> Waiting {
        // SAFETY: an index and the mask is below the ring's length.
        unsafe { *self.buffer.get_unchecked(index & self.mask) }
    }
}

/// Random early detection in single precision, with a queue in packets.
struct Red {
    average: f32,
    since_drop: i32,
    min_threshold: f32,
    max_threshold: f32,
    packets_per_ps: f32,
    random: u64,
}

impl Red {
    const WEIGHT: f32 = 0.0002;
    const MAX_PROBABILITY: f32 = 0.1;

    fn new(packet_ps: u64, limit_packets: u64) -> Self {
        Self {
            average: 0.0,
            since_drop: -1,
            min_threshold: limit_packets as f32 * 0.2,
            max_threshold: limit_packets as f32 * 0.6,
            packets_per_ps: 1.0 / packet_ps as f32,
            random: 88_172_645_463_325_252,
        }
    }

    #[inline(always)]
    fn drops(&mut self, now_ps: u64, busy_until_ps: u64, wait_ps: u64) -> bool {
        let queue = wait_ps as i64 as f32 * self.packets_per_ps;
        if queue <= 0.0 && now_ps > busy_until_ps {
            let idle = (now_ps - busy_until_ps) as f32 * self.packets_per_ps;
            self.average *= (-Self::WEIGHT * idle).exp();
        } else {
            self.average += Self::WEIGHT * (queue - self.average);
        }
        if self.average < self.min_threshold {
            self.since_drop = -1;
            return false;
        }
        if self.average >= 2.0 * self.max_threshold {
            self.since_drop = 0;
            return true;
        }
        self.since_drop += 1;
        let probability = if self.average < self.max_threshold {
            Self::MAX_PROBABILITY * (self.average - self.min_threshold)
                / (self.max_threshold - self.min_threshold)
        } else {
            Self::MAX_PROBABILITY + 0.9 * (self.average - self.max_threshold) / self.max_threshold
        };
        let remaining = 1.0 - self.since_drop as f32 * probability;
        if self.draw() * remaining < probability || remaining <= 0.0 {
            self.since_drop = 0;
            return true;
        }
        false
    }

    /// Draws from [0, 1) with Marsaglia's xorshift.
    #[inline(always)]
    fn draw(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 40) as f32 * (1.0 / 16_777_216.0)
    }
}

/// RFC 8289 with targets for data centres.
#[derive(Default)]
struct CoDel {
    /// When the waiting time has been above the target for an interval; 0 if it is below.
    first_above_ps: u64,
    next_drop_ps: u64,
    count: u32,
    is_dropping: bool,
}

impl CoDel {
    const TARGET_PS: u64 = 1_000_000_000; // 1 ms
    const INTERVAL_PS: u64 = 20_000_000_000; // 20 ms

    /// Whether the packet at the head is dropped instead of sent.
    #[inline(always)]
    fn drops(&mut self, now_ps: u64, sojourn_ps: u64, is_short: bool, may_repeat: bool) -> bool {
        if sojourn_ps < Self::TARGET_PS || is_short {
            self.first_above_ps = 0;
            self.is_dropping = false;
        } else if self.first_above_ps == 0 {
            self.first_above_ps = now_ps + Self::INTERVAL_PS;
        } else if now_ps >= self.first_above_ps {
            if !self.is_dropping {
                self.is_dropping = true;
                let is_recent = now_ps < self.next_drop_ps + Self::INTERVAL_PS * 8;
                self.count = if self.count > 2 && is_recent { self.count - 2 } else { 1 };
                self.next_drop_ps = now_ps + self.spacing_ps();
                return true;
            }
            if now_ps >= self.next_drop_ps && may_repeat {
                self.count += 1;
                self.next_drop_ps += self.spacing_ps();
                return true;
            }
        }
        false
    }

    fn spacing_ps(&self) -> u64 {
        (Self::INTERVAL_PS as f64 / f64::from(self.count).sqrt()) as u64
    }
}

/// The flows that have packets, in turn (deficit round robin with packets of one size).
pub struct Turns {
    pub queued: usize,
    pub first: u32,
    pub last: u32,
    pub free: u32,
}

impl Turns {
    pub fn new() -> Self {
        Self { queued: 0, first: NONE, last: NONE, free: 0 }
    }
}
