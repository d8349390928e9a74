//! A shaper: packets wait until a token bucket lets them through.

use super::token_bucket::TokenBucket;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::framing::{Cells, Framing, MOST_OVERHEAD_BYTES};
use crate::packet::MAX_PACKET_BYTES;
use crate::quantity::{BitRate, PositiveDuration, Size};
use crate::units::{Rate, Time};

/// A token bucket in front of a link, which makes packets wait.
///
/// A transmission begins when the bucket holds the tokens of the largest packet that crosses the
/// link, and takes those of its own packet; the bits then leave at the rate of the link. Linux's
/// `tbf` waits for the tokens of the packet itself: the two are equal where all packets have one
/// size, and a smaller packet waits at most a packet's tokens longer here. Limits in time
/// and in bdp are measured by the rate at which packets leave the shaper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ShaperConfig")]
#[non_exhaustive]
pub struct ShaperSpec {
    /// Rate at which tokens arrive; at most the rate of the link.
    #[schemars(example = "50 Mbit/s")]
    pub rate: BitRate,
    /// Size of the bucket, in bytes of tokens; at least the largest packet with its overhead. After
    /// an idle time, this much leaves at the rate of the link.
    #[schemars(example = "32 kB")]
    pub burst: Size,
    /// Rate that a burst does not exceed either, from packet to packet; at least `rate`. Without
    /// it, a burst leaves at the rate of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "60 Mbit/s")]
    pub peak_rate: Option<BitRate>,
    /// Period of the timer that ends a wait for tokens, as the ticks of an older kernel do. A
    /// bucket that fills within a tick loses tokens: the link then sends at most `burst` per tick.
    /// Without it, a wait ends when the tokens are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1 ms")]
    pub granularity: Option<PositiveDuration>,
    /// Bytes of the link layer that each packet costs beyond its own, as `overhead` of CAKE; at
    /// most 256 B. Left out: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "40 B")]
    pub overhead: Option<Size>,
    /// Cells in which the link layer carries a packet with its overhead, as CAKE counts them. Left
    /// out: no cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Cells>,
}

impl ShaperSpec {
    /// A shaper with this rate and burst, and nothing else.
    pub fn new(rate: BitRate, burst: Size) -> Self {
        ShaperSpec { rate, burst, peak_rate: None, granularity: None, overhead: None, cells: None }
    }

    /// The rate at which packets of this size leave, without overhead and cells.
    pub fn packet_rate(&self, packet_bytes: f64) -> Rate {
        let rate = self.rate.rate();
        if self.overhead.is_none() && self.cells.is_none() {
            return rate;
        }
        let share =
            packet_bytes / f64::from(self.cost((packet_bytes.ceil() as u32).min(MAX_PACKET_BYTES)));
        Rate::from_bits_per_second(((rate.bits_per_second() as f64 * share) as u64).max(1))
    }

    /// The tokens that a packet costs, in bytes.
    pub fn cost(&self, bytes: u32) -> u32 {
        // A network built by hand is asked before it is checked.
        let overhead = self.overhead.map_or(0, |size| size.bytes().min(MOST_OVERHEAD_BYTES)) as u32;
        Framing { overhead, mpu: 0, cells: self.cells }.framed(bytes)
    }
}

/// The state of a shaper.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    spec: ShaperSpec,
    bucket: TokenBucket,
    /// How long before the bucket is full it holds the tokens of the largest packet.
    lead: Time,
    /// A bucket of one packet, if there is a peak rate.
    peak: Option<TokenBucket>,
    /// Share of the largest packet in the tokens that it costs.
    payload: f64,
    /// The tokens that have been taken, in bytes.
    taken_bytes: u64,
}

impl Shaper {
    /// A shaper with full buckets, for packets of at most `largest` bytes.
    pub(super) fn new(spec: ShaperSpec, largest: u32) -> Self {
        let cost = spec.cost(largest);
        let mut bucket = TokenBucket::new(spec.rate.rate(), spec.burst.bytes());
        let peak = spec.peak_rate.map(|peak| TokenBucket::new(peak.rate(), cost.into()));
        let lead = bucket.lead(cost).unwrap_or(Time::ZERO);
        let payload = f64::from(largest) / f64::from(cost);
        Shaper { spec, bucket, lead, peak, payload, taken_bytes: 0 }
    }

    /// When the buckets hold the tokens of the largest packet.
    pub(super) fn opens_at(&self) -> Time {
        let opens_at = self.bucket.full_at().since(self.lead);
        self.peak.map_or(opens_at, |peak| opens_at.max(peak.full_at()))
    }

    /// From when on a packet that is ready does not wait, on a line that is busy until
    /// `busy_until`, and when the transmission of a packet that is ready earlier begins.
    #[cold]
    pub(super) fn next_start(&self, busy_until: Time) -> (Time, Time) {
        let opens_at = self.opens_at();
        if opens_at <= busy_until {
            (busy_until, busy_until)
        } else {
            (opens_at, self.next_tick(opens_at))
        }
    }

    /// The first tick of the timer at `time` or after it.
    fn next_tick(&self, time: Time) -> Time {
        let Some(tick) = self.spec.granularity else { return time };
        let ticks = time.picoseconds().div_ceil(tick.time().picoseconds());
        Time::from_picoseconds(ticks.saturating_mul(tick.time().picoseconds()))
    }

    /// Takes the tokens of a packet that is sent from `start` until `departure`, if that ever
    /// comes.
    #[cold]
    pub(super) fn on_sent(&mut self, start: Time, bytes: u32, departure: Time) {
        if departure == Time::NEVER {
            return;
        }
        let cost = self.spec.cost(bytes);
        self.bucket.take(start, cost);
        if let Some(peak) = &mut self.peak {
            peak.take(start, cost);
        }
        self.taken_bytes += u64::from(cost);
    }

    /// The tokens that found the bucket full in `[0, now)`, in bit * ps / s.
    pub(super) fn unused(&self, now: Time) -> u128 {
        self.bucket.overflow(self.taken_bytes, now)
    }

    /// Bits in packets of the largest size that the tokens of `[from, to)` let through.
    pub(super) fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        self.payload * self.bucket.arriving_bits(from, to)
    }

    /// The tokens that arrive in `[from, to)`, in bit * ps / s.
    pub(super) fn capacity(&self, from: Time, to: Time) -> u128 {
        self.bucket.arriving(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    /// tc-stab(8): 1500 B of IP over `PPPoA` with VC multiplexing have 10 B of overhead and take 32
    /// cells.
    #[test]
    fn packets_cost_whole_cells() {
        let mut spec = ShaperSpec::new(BitRate::new(1_000_000), Size::new(10_000));
        assert_eq!(spec.cost(1_500), 1_500);
        (spec.overhead, spec.cells) = (Some(Size::new(10)), Some(Cells::Atm));
        assert_eq!(spec.cost(1_500), 32 * 53);
        assert_eq!(spec.cost(38), 53, "48 B fill a cell");
        assert_eq!(spec.cost(39), 2 * 53);
        (spec.overhead, spec.cells) = (None, Some(Cells::Ptm));
        assert_eq!(spec.cost(1_500), 1_500 + 24);
        assert_eq!((spec.cost(64), spec.cost(65)), (65, 67));
    }

    /// 12 Mbit/s make a packet's tokens in 1 ms; the bucket holds three. Packets that are always
    /// ready begin at once, then every millisecond.
    #[test]
    fn packets_begin_while_the_bucket_holds_the_tokens_of_the_largest() {
        let spec = ShaperSpec::new(BitRate::new(12_000_000), Size::new(4_500));
        let mut shaper = Shaper::new(spec, 1_500);
        let mut start_next = || {
            let (free_at, resumes_at) = shaper.next_start(Time::ZERO);
            let start = if free_at <= MS(7) { MS(7) } else { resumes_at };
            shaper.on_sent(start, 1_500, start);
            start
        };
        let starts: Vec<Time> = (0..6).map(|_| start_next()).collect();
        assert_eq!(starts, [MS(7), MS(7), MS(7), MS(8), MS(9), MS(10)]);
        // Eleven packets of 300 B leave 1200 B.
        let mut shaper = Shaper::new(spec, 1_500);
        (0..11).for_each(|_| shaper.on_sent(Time::ZERO, 300, Time::ZERO));
        assert_eq!(shaper.opens_at(), Time::from_picoseconds(200_000_000), "300 B are missing");
    }

    #[test]
    fn a_timer_ends_waits_at_its_ticks() {
        let burst = Size::new(3_000);
        let tick = Some(PositiveDuration::from_milliseconds(10));
        let spec =
            ShaperSpec { granularity: tick, ..ShaperSpec::new(BitRate::new(12_000_000), burst) };
        let mut shaper = Shaper::new(spec, 1_500);
        shaper.on_sent(MS(1), 1_500, MS(1));
        shaper.on_sent(MS(1), 1_500, MS(1));
        assert_eq!(shaper.next_start(MS(1)), (MS(2), MS(10)), "tokens are there at 2 ms");
        let idle = "the line becomes free when tokens are there";
        assert_eq!(shaper.next_start(MS(2)), (MS(2), MS(2)), "{idle}");
    }
}
