//! The part that RED and Adaptive RED share: the average queue, the probability, and the gaps
//! between drops.

use super::{AboveMax, RedMode, RedParams};
use crate::quantity::limit::Limit;
use crate::queue::buffer::DropReason;
use crate::queue::{EnqueueEvent, Gauge, LinkInfo, Verdict};
use crate::random::{Stream, uniform};
use crate::units::Rate;

/// The state of RED.
#[derive(Clone, Debug)]
pub(in crate::queue) struct RedCore {
    limit: Limit,
    rate: Rate,
    mean_packet_bytes: u64,
    mode: RedMode,
    uniform: bool,
    wait: bool,
    above_max: AboveMax,
    weight: f64,
    pub(in crate::queue) min_threshold: f64,
    pub(in crate::queue) max_threshold: f64,
    /// Average queue from which every packet is marked or dropped.
    forced_threshold: f64,
    pub(in crate::queue) max_p: f64,
    pub(in crate::queue) average: f64,
    /// Packets since the last drop; in byte mode, in packets of mean size.
    count: f64,
    random: Stream,
}

/// `count` of Floyd and Jacobson below `min_th`; the next packet gets number 0.
const NOT_COUNTING: f64 = -1.0;

impl RedCore {
    pub(in crate::queue) fn new(params: &RedParams, link: &LinkInfo) -> Self {
        let (min_threshold, max_threshold) = params.thresholds(link);
        RedCore {
            limit: link.limit(params.limit),
            // As `bandwidth` of tc-red(8), it is configured: it does not follow changes.
            rate: link.rate,
            mean_packet_bytes: params.mean_packet_bytes(link),
            mode: params.mode,
            uniform: params.uniform,
            wait: params.wait,
            above_max: params.above_max,
            weight: params.weight(link),
            min_threshold,
            max_threshold,
            forced_threshold: if params.gentle { 2.0 * max_threshold } else { max_threshold },
            max_p: params.max_p,
            average: 0.0,
            count: NOT_COUNTING,
            random: link.random(),
        }
    }

    /// Takes over the parameters of `other`; the state stays.
    pub(in crate::queue) fn retune(&mut self, mut other: RedCore) {
        (other.average, other.count) = (self.average, self.count);
        std::mem::swap(&mut other.random, &mut self.random);
        *self = other;
    }

    /// Updates the average with the queue that a packet finds, and decides about the packet.
    #[inline]
    pub(in crate::queue) fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        self.update_average(event);
        self.decide(event)
    }

    /// Updates the average with the queue that a packet finds.
    ///
    /// The idle time of a link counts as m packets that found the queue empty, where m is the
    /// number of packets that the link could have sent in that time. As in ns-2 and unlike the
    /// paper, the arriving packet is then one more sample.
    #[inline]
    pub(in crate::queue) fn update_average(&mut self, event: &EnqueueEvent) {
        if let Some(idle_since) = event.idle_since {
            let idle = event.now.since(idle_since);
            let missed = self.rate.bytes_in(idle) / self.mean_packet_bytes;
            self.average *= power(1.0 - self.weight, missed);
        }
        let queue = match self.mode {
            RedMode::Packets => event.waiting_packets,
            RedMode::Bytes => event.waiting_bytes,
        };
        self.average += self.weight * (queue as f64 - self.average);
    }

    /// Decides about a packet; the average must have been updated before.
    #[inline]
    pub(in crate::queue) fn decide(&mut self, event: &EnqueueEvent) -> Verdict {
        if !event.fits(self.limit) {
            self.count = 0.0; // as in ns-2; the paper does not treat full buffers
            return Verdict::Drop(DropReason::Overflow);
        }
        // Below min_th, ns-2 continues to count; it sets the count to 1 at the first packet above
        // min_th and accepts that packet. In the paper, that packet has number 0 and may be
        // dropped.
        if self.average < self.min_threshold || event.waiting_packets < 2 {
            self.count = NOT_COUNTING;
            return Verdict::Accept;
        }
        if self.average >= self.forced_threshold {
            self.count = 0.0;
            return match self.above_max {
                AboveMax::Mark => event.mark_or_drop(),
                AboveMax::Drop => Verdict::Drop(DropReason::Early),
            };
        }
        let share = match self.mode {
            RedMode::Packets => 1.0,
            RedMode::Bytes => f64::from(event.bytes) / self.mean_packet_bytes as f64,
        };
        if self.draw(share) {
            self.count = 0.0;
            return event.mark_or_drop();
        }
        Verdict::Accept
    }

    /// Returns `p_b`, the probability that the average alone determines.
    #[inline]
    fn probability(&self) -> f64 {
        if self.average < self.max_threshold {
            let span = self.max_threshold - self.min_threshold;
            return self.max_p * (self.average - self.min_threshold) / span;
        }
        self.max_p + (1.0 - self.max_p) * (self.average - self.max_threshold) / self.max_threshold
    }

    /// Draws whether this packet is marked or dropped, with probability `p_b` / (1 - `p_b` count),
    /// where `wait` replaces the 1 by 2. `share` is the packet's size in packets of mean size.
    ///
    /// The paper contradicts itself here, and implementations follow its figure (ns-2, Linux): the
    /// count is 0 at the packet that enters the region, but 1 at the packet after a drop. A gap
    /// after a drop is therefore uniform on 1 to 1/p - 1, not on 1 to 1/p as the text derives.
    #[inline]
    fn draw(&mut self, share: f64) -> bool {
        let probability = self.probability();
        let drawn = uniform(&mut self.random);
        if !self.uniform {
            return drawn < share * probability;
        }
        self.count = if self.count < 0.0 { 0.0 } else { self.count + share };
        let counted = self.count * probability;
        if self.wait && counted < 1.0 {
            return false;
        }
        let rest = if self.wait { 2.0 - counted } else { 1.0 - counted };
        // drawn < share * p / rest; if `rest` is zero, the packet is dropped.
        drawn * rest < share * probability
    }

    pub(in crate::queue) fn gauges(&self) -> Vec<Gauge> {
        let average = match self.mode {
            RedMode::Packets => "average_queue_packets",
            RedMode::Bytes => "average_queue_bytes",
        };
        vec![(average, self.average), ("max_p", self.max_p)]
    }
}

/// Computes `base` to the power of `exponent` by repeated squaring: the result is the same on every
/// machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::quantity::Size;
    use crate::quantity::limit::QueueLimit;
    use crate::queue::script;
    use crate::units::Time;

    /// Thresholds of 10 and 20 packets; the average is the queue itself.
    fn params() -> RedParams {
        RedParams {
            limit: QueueLimit::packets(100),
            min_threshold: Some(QueueLimit::packets(10)),
            max_threshold: Some(QueueLimit::packets(20)),
            max_p: 0.1,
            weight: Some(1.0),
            mean_packet_size: None,
            mode: RedMode::Packets,
            gentle: true,
            uniform: true,
            wait: false,
            above_max: AboveMax::Mark,
        }
    }

    fn independent() -> RedParams {
        RedParams { uniform: false, ..params() }
    }

    /// Starts RED at a link that sends a packet of 1,000 bytes in 1 ms.
    fn start(params: &RedParams) -> RedCore {
        RedCore::new(params, &script::link(8_000_000))
    }

    /// A packet of 1,000 bytes that finds `waiting_packets` packets at a busy link.
    fn finds(waiting_packets: u64) -> EnqueueEvent {
        EnqueueEvent {
            now: Time::ZERO,
            flow: 0,
            bytes: 1_000,
            ecn: Ecn::NotEct,
            idle_since: None,
            waiting_packets,
            waiting_bytes: 1_000 * waiting_packets,
        }
    }

    const EARLY: Verdict = Verdict::Drop(DropReason::Early);

    /// Returns the fraction of 100,000 packets like `event` that are dropped.
    fn dropped(params: &RedParams, event: &EnqueueEvent) -> f64 {
        let mut queue = start(params);
        let drops = (0..100_000).filter(|_| queue.on_enqueue(event) == EARLY).count();
        drops as f64 / 1e5
    }

    fn assert_share(found: f64, expected: f64, case: &str) {
        // Four standard deviations of a binomial, which are zero if all packets or none are
        // dropped.
        let tolerance = 4.0 * (expected * (1.0 - expected) / 1e5).sqrt();
        assert!((found - expected).abs() <= tolerance, "{case}: {found}, expected {expected}");
    }

    /// p = `max_p` (avg - min) / (max - min), then `max_p` + (1 - `max_p`) (avg - max) / max.
    #[test]
    fn drops_with_the_probability_of_both_slopes() {
        for (waiting, expected) in [
            (9, 0.0),
            (10, 0.0),
            (15, 0.05), // 0.1 * 5 / 10
            (19, 0.09),
            (20, 0.1),
            (30, 0.55), // 0.1 + 0.9 * 10 / 20
            (36, 0.82), // 0.1 + 0.9 * 16 / 20
            (40, 1.0),
            (99, 1.0),
        ] {
            let found = dropped(&independent(), &finds(waiting));
            assert_share(found, expected, &format!("{waiting} packets wait"));
        }
        let abrupt = RedParams { gentle: false, ..independent() };
        assert_share(dropped(&abrupt, &finds(19)), 0.09, "below max_th");
        assert_share(dropped(&abrupt, &finds(20)), 1.0, "at max_th");
    }

    #[test]
    fn in_byte_mode_the_probability_is_proportional_to_the_packet_size() {
        let params = RedParams { mode: RedMode::Bytes, ..independent() };
        // Thresholds of 10,000 and 20,000 bytes; 15,000 bytes wait: p = 0.05 for a packet of mean
        // size.
        for (bytes, expected) in [(1_000, 0.05), (500, 0.025), (1_500, 0.075)] {
            let event = EnqueueEvent { bytes, waiting_bytes: 15_000, ..finds(99) };
            assert_share(dropped(&params, &event), expected, &format!("{bytes} bytes"));
        }
    }

    /// Returns how many of 20,000 gaps between drops are 1, 2, 3, ... packets long, including the
    /// drop. If `anew`, each gap begins when the average enters the region, otherwise at the
    /// previous drop.
    fn gaps(params: &RedParams, event: &EnqueueEvent, anew: bool) -> Vec<u32> {
        let mut queue = start(params);
        while queue.on_enqueue(event) != EARLY {}
        let mut counts = vec![0; 40];
        for _ in 0..20_000 {
            if anew {
                assert_eq!(queue.on_enqueue(&finds(0)), Verdict::Accept);
            }
            let passed = (0..40).take_while(|_| queue.on_enqueue(event) != EARLY).count();
            counts[passed] += 1;
        }
        counts
    }

    /// Checks that every length from `shortest` to `longest` occurs equally often, and no other
    /// length.
    fn assert_uniform(gaps: &[u32], shortest: usize, longest: usize) {
        let share = 1.0 / (longest - shortest + 1) as f64;
        let expected = 20_000.0 * share;
        let deviation = (expected * (1.0 - share)).sqrt(); // binomial
        for (index, count) in gaps.iter().enumerate() {
            let length = index + 1;
            if (shortest..=longest).contains(&length) {
                let error = f64::from(*count) - expected;
                assert!(error.abs() < 4.0 * deviation, "{length}: {count}, expected {expected}");
            } else {
                assert_eq!(*count, 0, "gaps of {length}");
            }
        }
    }

    /// With count k - 1 at packet k, P(gap = n) = p / (1 - (n - 1) p) times the product over k < n
    /// of (1 - k p) / (1 - (k - 1) p), which telescopes to p: uniform on 1 to 1/p (paper, sec. 7).
    #[test]
    fn the_first_gap_is_uniform_up_to_one_over_p() {
        assert_uniform(&gaps(&params(), &finds(20), true), 1, 10);
    }

    /// With count k at packet k the same product telescopes to p / (1 - p): uniform on
    /// 1 to 1/p - 1.
    #[test]
    fn gaps_after_a_drop_are_uniform_up_to_one_packet_less() {
        assert_uniform(&gaps(&params(), &finds(20), false), 1, 9);
    }

    /// P(gap = n) = p / (2 - n p) times the product over 1/p <= k < n of
    /// (2 - (k + 1) p) / (2 - k p), which telescopes to p: uniform on 1/p to 2/p - 1.
    #[test]
    fn with_wait_gaps_are_uniform_between_one_and_two_over_p() {
        let params = RedParams { wait: true, ..params() };
        assert_uniform(&gaps(&params, &finds(20), false), 10, 19);
    }

    /// A packet of half the size counts half and has half the probability, as if p were 0.05.
    #[test]
    fn in_byte_mode_gaps_count_bytes() {
        let params = RedParams { mode: RedMode::Bytes, ..params() };
        let event = EnqueueEvent { bytes: 500, ..finds(20) };
        assert_uniform(&gaps(&params, &event, false), 1, 19);
    }

    #[test]
    fn the_average_follows_the_queue_and_decays_while_the_link_is_idle() {
        let average = |queue: &RedCore| queue.gauges()[0];
        let half = RedParams { weight: Some(0.5), ..params() };
        // A packet of 1,000 bytes takes 1 ms: 2.9 ms suffice for 2 of them, or for 5 of 500 bytes.
        for (mean, idle_us, expected) in [
            (None, 0, 1.25),                            // 2.5 / 2
            (None, 1_999, 0.625),                       // m = 1: 2.5 / 4
            (None, 2_000, 0.3125),                      // m = 2: 2.5 / 8
            (None, 2_900, 0.3125),                      // m = 2
            (Some(Size::new(500)), 2_900, 0.039_062_5), // m = 5: 2.5 / 64
        ] {
            let mut queue = start(&RedParams { mean_packet_size: mean, ..half.clone() });
            for (waiting, expected) in [(4, 2.0), (8, 5.0), (0, 2.5)] {
                queue.on_enqueue(&finds(waiting));
                assert_eq!(average(&queue), ("average_queue_packets", expected));
            }
            let idle_since = Time::from_milliseconds(7);
            let now = idle_since + Time::from_picoseconds(idle_us * 1_000_000);
            queue.on_enqueue(&EnqueueEvent { now, idle_since: Some(idle_since), ..finds(0) });
            assert_eq!(average(&queue), ("average_queue_packets", expected), "{idle_us} us");
        }
        let mut queue = start(&RedParams { mode: RedMode::Bytes, ..half });
        queue.on_enqueue(&finds(4));
        assert_eq!(average(&queue), ("average_queue_bytes", 2_000.0));
    }

    #[test]
    fn marks_ecn_capable_packets_below_the_forced_threshold() {
        let params = RedParams { max_p: 1.0, above_max: AboveMax::Drop, ..params() };
        let verdict = |waiting, ecn| {
            let event = EnqueueEvent { ecn, ..finds(waiting) };
            start(&params).on_enqueue(&event)
        };
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(verdict(30, ecn), Verdict::Mark);
            assert_eq!(verdict(40, ecn), EARLY);
            assert_eq!(verdict(100, ecn), Verdict::Drop(DropReason::Overflow));
        }
        assert_eq!(verdict(30, Ecn::NotEct), EARLY);
    }

    #[test]
    fn drops_nothing_early_while_fewer_than_two_packets_wait() {
        let mut queue = start(&RedParams { weight: Some(0.1), ..params() });
        for _ in 0..100 {
            queue.on_enqueue(&finds(99));
        }
        // The average falls by a tenth per packet: 89.2, 80.3, 72.3, 65.0, all above 40.
        for (waiting, expected) in
            [(1, Verdict::Accept), (2, EARLY), (0, Verdict::Accept), (2, EARLY)]
        {
            assert_eq!(queue.on_enqueue(&finds(waiting)), expected, "{waiting} packets wait");
        }
    }

    #[test]
    fn an_overflow_restarts_the_gap() {
        let mut queue = start(&RedParams { wait: true, ..params() });
        for _ in 0..20 {
            // At p = 0.1, the tenth packet after a drop is the first that may be dropped.
            for _ in 0..9 {
                assert_eq!(queue.on_enqueue(&finds(20)), Verdict::Accept);
            }
            let full = queue.on_enqueue(&finds(100));
            assert_eq!(full, Verdict::Drop(DropReason::Overflow));
        }
    }

    #[test]
    fn repeated_squaring_computes_powers() {
        assert_near(power(0.5, 10), 1.0 / 1_024.0);
        assert_near(power(3.0, 13), 1_594_323.0);
        assert_eq!((power(0.0, 0), power(0.0, 1)), (1.0, 0.0));
        assert!(power(0.999, u64::MAX) < f64::MIN_POSITIVE);
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}, expected {expected}");
    }

    /// Linux marks what it would drop (`RED_HARD_MARK` without `harddrop`); ns-2 drops it.
    #[test]
    fn above_the_upper_threshold_packets_are_marked_unless_the_scenario_says_drop() {
        for (gentle, full) in [(true, 40), (false, 20)] {
            let verdict = |above_max, ecn| {
                let mut red = start(&RedParams { gentle, above_max, ..params() });
                red.on_enqueue(&EnqueueEvent { ecn, ..finds(full) })
            };
            for ecn in [Ecn::Ect0, Ecn::Ect1] {
                assert_eq!(verdict(AboveMax::Mark, ecn), Verdict::Mark);
                assert_eq!(verdict(AboveMax::Drop, ecn), EARLY);
            }
            assert_eq!(verdict(AboveMax::Mark, Ecn::NotEct), EARLY);
        }
    }
}
