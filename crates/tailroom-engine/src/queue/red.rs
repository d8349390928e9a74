//! Random Early Detection (Floyd and Jacobson 1993, "Random early detection gateways for congestion
//! avoidance"): an arriving packet is marked or dropped with a probability that grows with the
//! average queue. [`Red`] keeps `max_p` fixed; [`super::adaptive_red`] adapts it.
//!
//! As in ns-2, the queue that is averaged does not count the packet in transmission, and nothing is
//! dropped early while fewer than two packets wait.

use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer::DropReason;
use super::{Admission, BadParameter, EnqueueEvent, Gauge, LinkFacts, Parameters, Verdict};
use crate::quantity::Size;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::random::uniform;
use crate::units::{Rate, Time};

/// Parameters of RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedParams {
    /// How much may wait. A packet that does not fit is dropped, whatever the average.
    pub limit: QueueLimit,
    /// Average queue from which packets are marked or dropped (`min_th`). Left out, it is what the
    /// link sends in 2.5 ms, but at least 5 packets (Floyd, Gummadi, Shenker 2001: half of a target
    /// delay of 5 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<QueueLimit>,
    /// Average queue at which the probability reaches `max_p` (`max_th`). Left out, it is three times
    /// `min_threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<QueueLimit>,
    /// Probability at `max_threshold` (0.1, as in ns-2; Floyd and Jacobson used 0.02).
    #[serde(default = "default_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub max_p: f64,
    /// Weight of a new sample in the average queue (`w_q`). Left out, it is 1 - exp(-1/C), where C
    /// is how many packets of mean size the link sends in a second: the average then remembers about
    /// a second (Floyd, Gummadi, Shenker 2001). Floyd and Jacobson used 0.002; 1 takes the queue
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub weight: Option<f64>,
    /// Typical packet: it converts between packets and bytes, and tells how many packets an idle
    /// link could have sent. Left out, it is the largest packet that crosses the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
    /// What the average counts: packets, or bytes; the probability is then in proportion to the size
    /// of the arriving packet.
    #[serde(default)]
    pub mode: RedMode,
    /// Between `max_threshold` and its double the probability grows from `max_p` to 1, instead of
    /// jumping to 1 at `max_threshold` (Floyd 2000, "Recommendation on using the gentle variant of
    /// RED").
    #[serde(default = "yes")]
    pub gentle: bool,
    /// Spread the drops evenly: the probability grows with the packets since the last drop, so that
    /// the gaps between drops are uniform (Floyd and Jacobson sec. 7). Otherwise each packet is
    /// dropped independently of the others.
    #[serde(default = "yes")]
    pub uniform: bool,
    /// Let at least 1/p packets pass between two drops, where p is the probability at the average
    /// queue, and at most 2/p (`wait_` of ns-2, on there by default). Needs `uniform`.
    #[serde(default)]
    pub wait: bool,
}

/// What the average of RED counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedMode {
    /// Packets that wait.
    #[default]
    Packets,
    /// Bytes that wait.
    Bytes,
}

pub(super) fn default_max_p() -> f64 {
    0.1 // ns-2: linterm_ 10
}

pub(super) fn yes() -> bool {
    true
}

/// Half of the target delay of Floyd, Gummadi and Shenker 2001 sec. 6, 5 ms.
const HALF_TARGET_DELAY_S: f64 = 2.5e-3;
/// The least automatic `min_th` in packets (there too).
const LEAST_MIN_THRESHOLD: f64 = 5.0;
/// Automatic `max_th` in `min_th` (there too).
const MAX_OVER_MIN: f64 = 3.0;

impl RedParams {
    fn mean_packet_bytes(&self, link: &LinkFacts) -> u64 {
        self.mean_packet_size.map_or(u64::from(link.packet_bytes), Size::bytes).max(1)
    }

    /// Packets of mean size that the link sends in a second: C.
    fn packets_per_second(&self, link: &LinkFacts) -> f64 {
        link.rate.bits_per_second() as f64 / (8.0 * self.mean_packet_bytes(link) as f64)
    }

    /// In what the average counts.
    fn counted(&self, amount: QueueLimit, link: &LinkFacts) -> f64 {
        let mean = self.mean_packet_bytes(link) as f64;
        match (amount.at_rate(link.rate), self.mode) {
            (Limit::Packets(packets), RedMode::Packets) => packets as f64,
            (Limit::Packets(packets), RedMode::Bytes) => packets as f64 * mean,
            (Limit::Bytes(bytes), RedMode::Packets) => bytes as f64 / mean,
            (Limit::Bytes(bytes), RedMode::Bytes) => bytes as f64,
        }
    }

    /// `min_th` and `max_th`, in what the average counts.
    fn thresholds(&self, link: &LinkFacts) -> (f64, f64) {
        let automatic = || {
            let packets = self.packets_per_second(link) * HALF_TARGET_DELAY_S;
            packets.max(LEAST_MIN_THRESHOLD) * self.counted(QueueLimit::packets(1), link)
        };
        let min = self.min_threshold.map_or_else(automatic, |given| self.counted(given, link));
        let max = self.max_threshold.map_or(MAX_OVER_MIN * min, |given| self.counted(given, link));
        (min, max)
    }

    /// `w_q`.
    fn weight(&self, link: &LinkFacts) -> f64 {
        self.weight.unwrap_or_else(|| -libm::expm1(-1.0 / self.packets_per_second(link)))
    }

    fn unit(&self) -> &'static str {
        match self.mode {
            RedMode::Packets => "packets",
            RedMode::Bytes => "B",
        }
    }
}

impl Parameters for RedParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        let mut amounts = vec![("limit", &mut self.limit)];
        amounts.extend(self.min_threshold.as_mut().map(|amount| ("min_threshold", amount)));
        amounts.extend(self.max_threshold.as_mut().map(|amount| ("max_threshold", amount)));
        amounts
    }

    /// A `max_threshold` above the limit is no fault: the limit then cuts the slope off. Nor are
    /// automatic thresholds above a small limit: the buffer is then a tail-drop one.
    fn validate(&self, link: &LinkFacts) -> Result<(), BadParameter> {
        let (min, max) = self.thresholds(link);
        let unit = self.unit();
        if min >= max {
            let problem = format!("{max} {unit} is not above min_threshold, which is {min} {unit}");
            let remedy = format!("raise it above {min} {unit}, or lower min_threshold");
            return Err(BadParameter::new("max_threshold", problem, remedy));
        }
        let limit = self.counted(self.limit, link);
        if self.min_threshold.is_some() && min >= limit {
            let problem = format!("{min} {unit} is not below the limit, which is {limit} {unit}");
            let remedy = format!("lower it below {limit} {unit}; the average never gets there");
            return Err(BadParameter::new("min_threshold", problem, remedy));
        }
        if self.wait && !self.uniform {
            let problem = "a gap after each drop contradicts independent drops";
            return Err(BadParameter::new("wait", problem, "remove it, or `uniform = false`"));
        }
        Ok(())
    }
}

/// What RED and Adaptive RED share: the average, the probability and the gaps between drops.
#[derive(Debug)]
pub(super) struct Core {
    limit: Limit,
    rate: Rate,
    mean_packet_bytes: u64,
    mode: RedMode,
    uniform: bool,
    wait: bool,
    weight: f64,
    pub(super) min_threshold: f64,
    pub(super) max_threshold: f64,
    /// From here on everything is dropped.
    forced_threshold: f64,
    pub(super) max_p: f64,
    pub(super) average: f64,
    /// Packets since the last drop; in byte mode in packets of mean size.
    count: f64,
    random: Xoshiro256PlusPlus,
}

/// `count` of Floyd and Jacobson below `min_th`: the next packet becomes number 0.
const NOT_COUNTING: f64 = -1.0;

impl Core {
    pub(super) fn new(params: &RedParams, link: &LinkFacts) -> Self {
        let (min_threshold, max_threshold) = params.thresholds(link);
        Core {
            limit: params.limit.at_rate(link.rate),
            rate: link.rate,
            mean_packet_bytes: params.mean_packet_bytes(link),
            mode: params.mode,
            uniform: params.uniform,
            wait: params.wait,
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

    /// Takes the queue that a packet finds into the average.
    ///
    /// An idle link counts as if m packets had found it empty, those that it could have sent
    /// meanwhile. Like ns-2, and unlike the paper, the arriving packet is a sample of its own then.
    #[inline]
    pub(super) fn update_average(&mut self, event: &EnqueueEvent) {
        if event.is_link_idle() {
            let idle = event.now.since(event.free_at);
            let missed = self.rate.bytes_in(idle) / self.mean_packet_bytes;
            self.average *= power(1.0 - self.weight, missed);
        }
        let queue = match self.mode {
            RedMode::Packets => event.waiting_packets,
            RedMode::Bytes => event.waiting_bytes,
        };
        self.average += self.weight * (queue as f64 - self.average);
    }

    /// Decides about a packet, once it is in the average.
    #[inline]
    pub(super) fn decide(&mut self, event: &EnqueueEvent) -> Verdict {
        if !event.fits(self.limit) {
            self.count = 0.0; // as in ns-2; the paper knows no full buffer
            return Verdict::Drop(DropReason::Overflow);
        }
        // ns-2 counts on below min_th, sets the count to 1 at the first packet above and lets that
        // one pass. The paper makes that packet number 0, which may be dropped.
        if self.average < self.min_threshold || event.waiting_packets < 2 {
            self.count = NOT_COUNTING;
            return Verdict::Accept;
        }
        if self.average >= self.forced_threshold {
            // Marks have not helped: ns-2 drops all here, and so does Linux with `harddrop`.
            self.count = 0.0;
            return Verdict::Drop(DropReason::Early);
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

    /// The probability that the average alone gives: `p_b`.
    #[inline]
    fn probability(&self) -> f64 {
        if self.average < self.max_threshold {
            let span = self.max_threshold - self.min_threshold;
            return self.max_p * (self.average - self.min_threshold) / span;
        }
        self.max_p + (1.0 - self.max_p) * (self.average - self.max_threshold) / self.max_threshold
    }

    /// Whether this packet is marked or dropped: with probability `p_a` = `p_b` / (1 - count `p_b`),
    /// and 2 in place of 1 where gaps must last. `share` is its size in packets of mean size.
    ///
    /// Here the paper contradicts itself, and code has followed its figure since (ns-2, Linux): the
    /// count is 0 at the packet that enters the region, but 1 at the packet after a drop. A gap
    /// after a drop is thus uniform on 1 to 1/p - 1, not to 1/p as its text derives.
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
        // drawn < share * p / rest; where nothing is left, the packet goes.
        drawn * rest < share * probability
    }

    pub(super) fn gauges(&self) -> Vec<Gauge> {
        let average = match self.mode {
            RedMode::Packets => "average_queue_packets",
            RedMode::Bytes => "average_queue_bytes",
        };
        vec![(average, self.average), ("max_p", self.max_p)]
    }
}

/// `base` to the power of `exponent`, by repeated squaring: the same on every machine.
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

/// A RED buffer.
#[derive(Debug)]
pub struct Red {
    core: Core,
}

impl Red {
    /// Starts the discipline.
    pub fn new(params: &RedParams, link: &LinkFacts) -> Self {
        Red { core: Core::new(params, link) }
    }
}

impl Admission for Red {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        self.core.update_average(event);
        self.core.decide(event)
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        self.core.gauges()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::script;

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
        }
    }

    fn independent() -> RedParams {
        RedParams { uniform: false, ..params() }
    }

    /// A link whose packets of 1,000 bytes take 1 ms.
    fn start(params: &RedParams) -> Red {
        Red::new(params, &script::link(8_000_000))
    }

    /// A packet of 1,000 bytes that finds these packets waiting at a busy link.
    fn finds(waiting_packets: u64) -> EnqueueEvent {
        EnqueueEvent {
            now: Time::ZERO,
            bytes: 1_000,
            ecn: Ecn::NotEct,
            free_at: Time::from_milliseconds(1),
            waiting_packets,
            waiting_bytes: 1_000 * waiting_packets,
        }
    }

    const EARLY: Verdict = Verdict::Drop(DropReason::Early);

    /// The share of packets like `event` that are dropped, of 100,000.
    fn dropped(params: &RedParams, event: &EnqueueEvent) -> f64 {
        let mut queue = start(params);
        let drops = (0..100_000).filter(|_| queue.on_enqueue(event) == EARLY).count();
        drops as f64 / 1e5
    }

    fn assert_share(found: f64, expected: f64, case: &str) {
        // Binomial: four standard deviations, which are zero where all or none are dropped.
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
            assert_share(found, expected, &format!("{waiting} wait"));
        }
        let abrupt = RedParams { gentle: false, ..independent() };
        assert_share(dropped(&abrupt, &finds(19)), 0.09, "below max_th");
        assert_share(dropped(&abrupt, &finds(20)), 1.0, "at max_th");
    }

    #[test]
    fn in_byte_mode_drops_in_proportion_to_the_size() {
        let params = RedParams { mode: RedMode::Bytes, ..independent() };
        // Thresholds of 10,000 and 20,000 bytes; 15,000 wait: p = 0.05 for a packet of mean size.
        for (bytes, expected) in [(1_000, 0.05), (500, 0.025), (1_500, 0.075)] {
            let event = EnqueueEvent { bytes, waiting_bytes: 15_000, ..finds(99) };
            assert_share(dropped(&params, &event), expected, &format!("{bytes} bytes"));
        }
    }

    /// How many of 20,000 gaps between drops are 1, 2, 3, ... packets long, the drop counted. With
    /// `anew` each gap begins as the average enters the region, otherwise at the drop before it.
    fn gaps(params: &RedParams, event: &EnqueueEvent, anew: bool) -> Vec<u32> {
        let mut queue = start(params);
        while queue.on_enqueue(event) != EARLY {}
        let mut counts = vec![0; 40];
        for _ in 0..20_000 {
            if anew {
                assert_eq!(queue.on_enqueue(&finds(0)), Verdict::Accept);
            }
            let passed = (0..).take_while(|_| queue.on_enqueue(event) != EARLY).count();
            counts[passed] += 1;
        }
        counts
    }

    /// Every length from `shortest` to `longest` occurs equally often, and no other.
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

    /// With count k - 1 at packet k, P(gap = n) = p / (1 - (n - 1) p) times the product over k < n of
    /// (1 - k p) / (1 - (k - 1) p), which telescopes to p: uniform on 1 to 1/p (paper, sec. 7).
    #[test]
    fn the_first_gap_is_uniform_up_to_one_over_p() {
        assert_uniform(&gaps(&params(), &finds(20), true), 1, 10);
    }

    /// With count k at packet k the same product telescopes to p / (1 - p): uniform on 1 to 1/p - 1.
    #[test]
    fn gaps_after_a_drop_are_uniform_and_end_one_packet_sooner() {
        assert_uniform(&gaps(&params(), &finds(20), false), 1, 9);
    }

    /// P(gap = n) = p / (2 - n p) times the product over 1/p <= k < n of (2 - (k + 1) p) / (2 - k p),
    /// which telescopes to p: uniform on 1/p to 2/p - 1.
    #[test]
    fn with_wait_gaps_are_uniform_between_one_and_two_over_p() {
        let params = RedParams { wait: true, ..params() };
        assert_uniform(&gaps(&params, &finds(20), false), 10, 19);
    }

    /// Half as large, half as likely, and it takes two to count one: as if p were 0.05.
    #[test]
    fn in_byte_mode_gaps_count_bytes() {
        let params = RedParams { mode: RedMode::Bytes, ..params() };
        let event = EnqueueEvent { bytes: 500, ..finds(20) };
        assert_uniform(&gaps(&params, &event, false), 1, 19);
    }

    #[test]
    fn the_average_follows_the_queue_and_decays_while_the_link_is_idle() {
        let average = |queue: &Red| queue.gauges(Time::ZERO)[0];
        let half = RedParams { weight: Some(0.5), ..params() };
        // Packets of 1,000 bytes take 1 ms; 2.9 ms have room for 2 of them, or for 5 of 500 bytes.
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
            let free_at = Time::from_milliseconds(7);
            let now = free_at + Time::from_picoseconds(idle_us * 1_000_000);
            queue.on_enqueue(&EnqueueEvent { now, free_at, ..finds(0) });
            assert_eq!(average(&queue), ("average_queue_packets", expected), "{idle_us} us");
        }
        let mut queue = start(&RedParams { mode: RedMode::Bytes, ..half });
        queue.on_enqueue(&finds(4));
        assert_eq!(average(&queue), ("average_queue_bytes", 2_000.0));
    }

    #[test]
    fn marks_what_can_be_marked_until_it_must_drop_all() {
        let params = RedParams { max_p: 1.0, ..params() };
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
    fn drops_nothing_early_while_fewer_than_two_wait() {
        let mut queue = start(&RedParams { weight: Some(0.1), ..params() });
        (0..100).for_each(|_| drop(queue.on_enqueue(&finds(99))));
        // The average falls by a tenth each time: 89.2, 80.3, 72.3, 65.0, all above 40.
        for (waiting, expected) in
            [(1, Verdict::Accept), (2, EARLY), (0, Verdict::Accept), (2, EARLY)]
        {
            assert_eq!(queue.on_enqueue(&finds(waiting)), expected, "{waiting} wait");
        }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}, expected {expected}");
    }

    /// Floyd, Gummadi and Shenker 2001: C = 125,000 packets of 1,000 bytes a second at 1 Gbit/s, so
    /// `min_th` = C 2.5 ms = 312.5, `max_th` = 937.5, `w_q` = 1 - exp(-x) with x = 8e-6.
    #[test]
    fn automatic_parameters_are_those_of_the_authors() {
        let automatic =
            RedParams { min_threshold: None, max_threshold: None, weight: None, ..params() };
        let fast = script::link(1_000_000_000);
        assert_eq!(automatic.thresholds(&fast), (312.5, 937.5));
        // x - x^2 / 2 + x^3 / 6 = 8e-6 - 3.2e-11 + 8.53e-17
        assert_near(automatic.weight(&fast), 7.999_968_000_085_333e-6);
        assert_eq!(automatic.thresholds(&script::link(1_000_000)), (5.0, 15.0));
        let in_bytes = RedParams { mode: RedMode::Bytes, ..automatic.clone() };
        assert_eq!(in_bytes.thresholds(&fast), (312_500.0, 937_500.0));
        let small = RedParams { mean_packet_size: Some(Size::new(500)), ..automatic };
        assert_eq!(small.thresholds(&fast), (625.0, 1_875.0));
    }

    #[test]
    fn thresholds_may_be_given_in_any_unit() {
        let link = script::link(8_000_000);
        let read = |text| Some(QueueLimit::read(text).unwrap());
        let given = RedParams {
            min_threshold: read("12500 B"),
            max_threshold: read("40 ms"), // 40,000 bytes at 8 Mbit/s
            ..params()
        };
        assert_eq!(given.thresholds(&link), (12.5, 40.0));
        assert_eq!(RedParams { max_threshold: None, ..given }.thresholds(&link), (12.5, 37.5));
    }

    #[test]
    fn squaring_gives_powers() {
        assert_near(power(0.5, 10), 1.0 / 1_024.0);
        assert_near(power(3.0, 13), 1_594_323.0);
        assert_eq!((power(0.0, 0), power(0.0, 1)), (1.0, 0.0));
        assert_eq!(power(0.999, u64::MAX), 0.0);
    }

    #[test]
    fn refuses_what_contradicts_itself() {
        let link = script::link(1_000_000_000);
        let packets = |count| Some(QueueLimit::packets(count));
        let key = |params: RedParams| params.validate(&link).unwrap_err().key;
        assert_eq!(params().validate(&link), Ok(()));
        assert_eq!(key(RedParams { max_threshold: packets(10), ..params() }), "max_threshold");
        // The automatic minimum is 312.5 packets.
        let automatic = RedParams { min_threshold: None, max_threshold: packets(300), ..params() };
        assert_eq!(key(automatic.clone()), "max_threshold");
        let above = RedParams { max_threshold: packets(313), ..automatic };
        assert_eq!(above.validate(&link), Ok(()));
        let minimum = |count| RedParams {
            min_threshold: packets(count),
            max_threshold: packets(400),
            ..params()
        };
        assert_eq!(key(minimum(100)), "min_threshold");
        assert_eq!(minimum(99).validate(&link), Ok(()));
        assert_eq!(key(RedParams { wait: true, ..independent() }), "wait");
    }
}
