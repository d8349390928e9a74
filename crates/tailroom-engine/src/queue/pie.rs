//! Proportional Integral controller Enhanced (RFC 8033): arriving packets are dropped with a
//! probability that a control loop sets so that the queueing delay comes to its target.
//!
//! As appendix A, with marks, derandomization and the cap of sec. 5, but without its activation: a
//! buffer that never fills to a third would have no control. Delays are timestamps (sec. 4.3), zero
//! while nothing waits, like the estimate of sec. 5.2. The probability decays without delay, not
//! below half the target, and packets of a burst do not bring the next drop closer (appendix B
//! differs in both). `MEAN_PKTSIZE` is the link's largest packet.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer::{Buffer, DropReason, PacketList, Unlisted};
use super::{BadParameter, Gauge, LinkFacts, Parameters, Scheduler, Verdict};
use crate::packet::Ecn;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{Duration, PositiveDuration};
use crate::random::uniform;
use crate::schedule::Event;
use crate::units::Time;

/// `QDELAY_REF` (RFC 8033 sec. 4.2).
pub(super) const TARGET: PositiveDuration = PositiveDuration::new(15_000_000_000);
/// `T_UPDATE` (RFC 8033 sec. 4.2).
pub(super) const UPDATE_INTERVAL: PositiveDuration = PositiveDuration::new(15_000_000_000);
/// `MAX_BURST` (RFC 8033 sec. 4.4).
pub(super) const MAX_BURST: Duration = Duration::new(150_000_000_000);
/// RFC 8033 appendix A, in 1/s.
pub(super) const ALPHA: f64 = 0.125;
/// RFC 8033 appendix A, in 1/s.
pub(super) const BETA: f64 = 1.25;
/// `mark_ecnth` (RFC 8033 sec. 5.1).
pub(super) const MARK_UP_TO: f64 = 0.1;

/// Below such a probability a step is divided by this much (RFC 8033 sec. 4.2).
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2_048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// From this probability on steps up are capped (RFC 8033 sec. 5.5), to the one below.
const CAPPED_FROM: f64 = 0.1;
const STEP_CAP: f64 = 0.02;
/// What is left of the probability after an update without delay (RFC 8033 sec. 4.2).
const DECAY: f64 = 0.98;
/// Below this probability a short delay is left alone (RFC 8033 sec. 4.1).
const HARMLESS: f64 = 0.2;
/// In packets: a backlog that is left alone (RFC 8033 sec. 4.1).
const SHORT_BACKLOG: u64 = 2;
/// No packet is dropped before the probabilities since the last drop sum to this (sec. 5.4).
const SUM_BEFORE_DROP: f64 = 0.85;
/// The packet that brings the sum to this is dropped (sec. 5.4).
const SUM_OF_CERTAIN_DROP: f64 = 8.5;
/// Shorter periods would only cost time.
const MIN_UPDATE: PositiveDuration = PositiveDuration::new(10_000_000);

/// Parameters of a PIE buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PieParams {
    /// How much may wait; what arrives beyond it is dropped. RFC 8033 gives no limit: the default
    /// is the 1000 packets of Linux.
    pub limit: QueueLimit,
    /// Queueing delay that the control loop aims at (15 ms: RFC 8033 sec. 4.2).
    pub target: PositiveDuration,
    /// Time between updates of the drop probability (15 ms: RFC 8033 sec. 4.2).
    pub update_interval: PositiveDuration,
    /// Gain of the distance from the target, in 1/s (0.125: RFC 8033 appendix A).
    #[schemars(range(min = 0.0))]
    pub alpha: f64,
    /// Gain of the change of the delay since the last update, in 1/s (1.25: RFC 8033 appendix A).
    #[schemars(range(min = 0.0))]
    pub beta: f64,
    /// How long a burst passes untouched after the queue was calm (150 ms: RFC 8033 sec. 4.4).
    pub max_burst: Duration,
    /// Up to this drop probability packets that understand marks are marked instead; above it they
    /// are dropped too (`mark_ecnth`, 0.1: RFC 8033 sec. 5.1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mark_up_to: f64,
    /// Keep drops from coming too close together or too far apart (true: RFC 8033 sec. 5.4).
    pub derandomize: bool,
}

impl Default for PieParams {
    fn default() -> Self {
        PieParams {
            limit: QueueLimit::packets(1_000),
            target: TARGET,
            update_interval: UPDATE_INTERVAL,
            alpha: ALPHA,
            beta: BETA,
            max_burst: MAX_BURST,
            mark_up_to: MARK_UP_TO,
            derandomize: true,
        }
    }
}

impl Parameters for PieParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }

    fn validate(&self, _link: &LinkFacts) -> Result<(), BadParameter> {
        check_update_interval(self.update_interval)
    }
}

/// Refuses a period so short that a run would only update.
pub(super) fn check_update_interval(interval: PositiveDuration) -> Result<(), BadParameter> {
    if interval.time() >= MIN_UPDATE.time() {
        return Ok(());
    }
    let problem = format!("an update every {interval} is too often");
    Err(BadParameter::new("update_interval", problem, format!("write at least \"{MIN_UPDATE}\"")))
}

/// What PIE goes by, the same for every queue under its control.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    target: Time,
    half_target: Time,
    update_interval: Time,
    alpha: f64,
    beta: f64,
    max_burst: Time,
    mark_up_to: f64,
    derandomize: bool,
    short_backlog: u64,
}

impl Settings {
    /// PIE with these parameters (their limit aside) at `link`.
    pub fn new(params: &PieParams, link: &LinkFacts) -> Self {
        let target = params.target.time();
        Settings {
            target,
            half_target: Time::from_picoseconds(target.picoseconds() / 2),
            update_interval: params.update_interval.time(),
            alpha: params.alpha,
            beta: params.beta,
            max_burst: params.max_burst.time(),
            mark_up_to: params.mark_up_to,
            derandomize: params.derandomize,
            short_backlog: SHORT_BACKLOG * u64::from(link.packet_bytes),
        }
    }
}

/// The state of PIE over one queue.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    probability: f64,
    /// Sum of the probabilities of the packets since the last drop.
    sum: f64,
    burst_allowance: Time,
    delay: Time,
    /// The delay as of the last update.
    delay_before: Time,
    next_update: Time,
}

impl Control {
    /// The control of a queue that is empty at the start of the run.
    pub fn new(settings: &Settings) -> Self {
        Control {
            probability: 0.0,
            sum: 0.0,
            burst_allowance: settings.max_burst,
            delay: Time::ZERO,
            delay_before: Time::ZERO,
            next_update: settings.update_interval,
        }
    }

    /// The probability with which it drops.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Makes the updates up to `now`. Nothing else has happened to the queue since the last of
    /// them, so that they find what they would have found at their own times.
    #[inline]
    pub fn advance(&mut self, settings: &Settings, now: Time) {
        if self.next_update <= now {
            self.catch_up(settings, now);
        }
    }

    fn catch_up(&mut self, settings: &Settings, now: Time) {
        while self.next_update <= now {
            let before = (self.probability, self.delay_before);
            self.update(settings);
            self.pass(settings, 1);
            if before == (self.probability, self.delay_before) && self.next_update <= now {
                // All further updates change nothing but the burst allowance.
                let rest = now.since(self.next_update).picoseconds();
                self.pass(settings, rest / settings.update_interval.picoseconds() + 1);
            }
        }
    }

    /// The time of so many updates passes.
    fn pass(&mut self, settings: &Settings, updates: u64) {
        let period = settings.update_interval.picoseconds();
        let span = Time::from_picoseconds(period.saturating_mul(updates));
        self.burst_allowance = self.burst_allowance.since(span);
        self.next_update = self.next_update.saturating_add(span);
    }

    /// RFC 8033 sec. 4.2, with the cap of sec. 5.5.
    fn update(&mut self, settings: &Settings) {
        let delay = self.delay.seconds();
        let from_target = delay - settings.target.seconds();
        let change = delay - self.delay_before.seconds();
        let mut step = settings.alpha * from_target + settings.beta * change;
        let scale = SCALES.iter().find(|(bound, _)| self.probability < *bound);
        step /= scale.map_or(1.0, |(_, divisor)| *divisor);
        if self.probability >= CAPPED_FROM {
            step = step.min(STEP_CAP);
        }
        self.probability += step;
        if self.delay == Time::ZERO && self.delay_before == Time::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_before = self.delay;
    }

    /// Decides about a packet that finds so many bytes in its queue.
    #[inline]
    pub fn on_arrival(
        &mut self,
        settings: &Settings,
        backlog_bytes: u64,
        ecn: Ecn,
        random: &mut impl Rng,
    ) -> Verdict {
        let is_calm = self.delay < settings.half_target && self.delay_before < settings.half_target;
        if self.probability == 0.0 && is_calm {
            self.burst_allowance = settings.max_burst; // RFC 8033 sec. 4.4
        }
        let is_burst = self.burst_allowance > Time::ZERO;
        if is_burst || !self.hits(settings, backlog_bytes, random) {
            return Verdict::Accept;
        }
        self.sum = 0.0;
        // RFC 8033 sec. 5.1: dropped if it "exceeds" the bound; the pseudo-code adds equality.
        if ecn.is_capable() && self.probability <= settings.mark_up_to {
            return Verdict::Mark;
        }
        Verdict::Drop(DropReason::Early)
    }

    /// RFC 8033 sec. 4.1 and 5.4 (`drop_early` of appendix B).
    fn hits(&mut self, settings: &Settings, backlog_bytes: u64, random: &mut impl Rng) -> bool {
        let is_harmless = self.delay_before < settings.half_target && self.probability < HARMLESS;
        if is_harmless || backlog_bytes <= settings.short_backlog {
            return false;
        }
        if !settings.derandomize {
            return uniform(random) < self.probability;
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.probability;
        if self.sum < SUM_BEFORE_DROP {
            return false;
        }
        self.sum >= SUM_OF_CERTAIN_DROP || uniform(random) < self.probability
    }

    /// A packet did not fit into the buffer: the next drop should not follow at once.
    pub fn on_overflow(&mut self) {
        self.sum = 0.0;
    }

    /// A packet left at `now` that had arrived at `arrival`.
    #[inline]
    pub fn on_departure(&mut self, now: Time, arrival: Time, queue: &PacketList) {
        self.delay = if queue.is_empty() { Time::ZERO } else { now.since(arrival) };
    }
}

/// A PIE buffer.
#[derive(Debug)]
pub struct Pie {
    limit: Limit,
    settings: Settings,
    control: Control,
    line: PacketList,
    random: Xoshiro256PlusPlus,
}

impl Pie {
    /// Starts the discipline.
    pub fn new(params: &PieParams, link: &LinkFacts) -> Self {
        let settings = Settings::new(params, link);
        Pie {
            limit: link.limit(params.limit),
            settings,
            control: Control::new(&settings),
            line: PacketList::default(),
            random: link.random(),
        }
    }
}

impl Scheduler for Pie {
    #[inline]
    fn enqueue(&mut self, mut packet: Event, buffer: &mut Buffer) {
        self.control.advance(&self.settings, packet.time());
        let bytes = buffer.bytes() + u64::from(packet.bytes());
        if !self.limit.holds(buffer.packets() + 1, bytes) {
            self.control.on_overflow();
            buffer.refuse(packet, DropReason::Overflow);
            return;
        }
        let backlog = self.line.bytes();
        let verdict =
            self.control.on_arrival(&self.settings, backlog, packet.ecn(), &mut self.random);
        match verdict {
            Verdict::Drop(reason) => return buffer.refuse(packet, reason),
            Verdict::Mark => buffer.mark_arriving(&mut packet),
            Verdict::Accept => {}
        }
        buffer.push_back(&mut self.line, packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted> {
        self.control.advance(&self.settings, now);
        let packet = buffer.pop_front(&mut self.line)?;
        self.control.on_departure(now, buffer.packet(&packet).time(), &self.line);
        Some(packet)
    }

    fn gauges(&self, now: Time) -> Vec<Gauge> {
        let mut control = self.control;
        control.advance(&self.settings, now);
        vec![("drop_probability", control.probability)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::script;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    fn settings() -> Settings {
        Settings::new(&PieParams::default(), &script::link(8_000_000))
    }

    /// A control after its burst allowance, in the middle of congestion.
    fn control(probability: f64, delay_ms: u64, delay_before_ms: u64) -> Control {
        Control {
            probability,
            burst_allowance: Time::ZERO,
            delay: MS(delay_ms),
            delay_before: MS(delay_before_ms),
            ..Control::new(&settings())
        }
    }

    /// The probability after one update.
    fn updated(probability: f64, delay_ms: u64, delay_before_ms: u64) -> f64 {
        let mut control = control(probability, delay_ms, delay_before_ms);
        control.advance(&settings(), MS(15));
        control.probability
    }

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-14
    }

    #[test]
    fn steps_shrink_with_the_probability() {
        // 0.125 (35 ms - 15 ms) + 1.25 (35 ms - 25 ms) = 0.0025 + 0.0125 = 0.015, over the divisor
        // of the band; a bound belongs to the band above it.
        let steps = [
            ([0.0, 0.000_000_9], 0.000_007_324_218_75),  // / 2048
            ([0.000_001, 0.000_009], 0.000_029_296_875), // / 512
            ([0.000_01, 0.000_09], 0.000_117_187_5),     // / 128
            ([0.000_1, 0.000_9], 0.000_468_75),          // / 32
            ([0.001, 0.009], 0.001_875),                 // / 8
            ([0.01, 0.09], 0.007_5),                     // / 2
            ([0.1, 0.9], 0.015),
        ];
        for (band, step) in steps {
            assert!(band.iter().all(|from| is_near(updated(*from, 35, 25), from + step)), "{step}");
        }
    }

    #[test]
    fn a_delay_below_the_target_lowers_the_probability() {
        // 0.125 (5 ms - 15 ms) + 1.25 (5 ms - 6 ms) = -0.00125 - 0.00125 = -0.0025
        assert!(is_near(updated(0.5, 5, 6), 0.497_5));
        assert!(is_near(updated(0.05, 5, 6), 0.048_75));
        assert!(is_near(updated(0.000_000_5, 5, 6), 0.0)); // 5e-7 - 0.0025 / 2048 is below zero
    }

    #[test]
    fn caps_the_step_up_from_a_tenth_on() {
        // 0.125 (100 ms - 15 ms) + 1.25 (100 ms) = 0.010625 + 0.125 = 0.135625
        assert!(is_near(updated(0.1, 100, 0), 0.12));
        assert!(is_near(updated(0.09, 100, 0), 0.09 + 0.067_812_5));
        assert!(is_near(updated(0.99, 100, 0), 1.0));
        // 0.125 (0 - 15 ms) + 1.25 (0 - 100 ms) = -0.001875 - 0.125 = -0.126875, not capped
        assert!(is_near(updated(0.5, 0, 100), 0.373_125));
    }

    #[test]
    fn decays_while_there_is_no_delay() {
        // (0.5 - 0.125 * 15 ms) * 0.98 = 0.498125 * 0.98
        assert!(is_near(updated(0.5, 0, 0), 0.488_162_5));
        // One delay that is not zero: 0.125 (1 ms - 15 ms) + 1.25 * 1 ms = -0.0005
        assert!(is_near(updated(0.5, 1, 0), 0.499_5));
    }

    #[test]
    fn late_updates_are_those_that_were_due() {
        for (probability, delay, before) in [(0.9, 0, 0), (0.0, 40, 0), (0.3, 10, 90)] {
            let mut late = control(probability, delay, before);
            late.burst_allowance = MS(150);
            let mut punctual = late;
            for update in 1..=300 {
                punctual.advance(&settings(), MS(15 * update));
            }
            late.advance(&settings(), MS(4_514));
            assert_eq!(late.probability.to_bits(), punctual.probability.to_bits());
            assert_eq!(late.next_update, MS(4_515));
            assert_eq!((late.delay_before, late.burst_allowance), (MS(delay), Time::ZERO));
        }
    }

    #[test]
    fn months_of_silence_pass_at_once() {
        for probability in [0.0, 1.0] {
            for delay in [0, 40] {
                let mut control = control(probability, delay, 0);
                let days = MS(17_280_000_000); // 200 days: 1,152,000,000 updates
                control.advance(&settings(), days);
                assert_eq!(control.next_update, days + MS(15));
                assert!(is_near(control.probability, if delay == 0 { 0.0 } else { 1.0 }));
            }
        }
    }

    #[test]
    fn a_burst_passes_for_as_long_as_it_is_allowed() {
        let (settings, mut random) = (settings(), script::link(8_000_000).random());
        let mut control = Control { burst_allowance: MS(150), ..control(1.0, 100, 100) };
        let mut verdict = |control: &mut Control, picoseconds| {
            control.advance(&settings, Time::from_picoseconds(picoseconds));
            control.on_arrival(&settings, 50_000, Ecn::NotEct, &mut random)
        };
        // Ten updates of 15 ms; every packet after them is dropped, as the probability is one.
        assert_eq!(verdict(&mut control, 1), Verdict::Accept);
        assert_eq!(verdict(&mut control, 149_999_999_999), Verdict::Accept);
        assert_eq!(verdict(&mut control, 150_000_000_000), Verdict::Drop(DropReason::Early));
        // Calm gives the allowance back; a probability or a delay of half the target does not.
        let allowance = |probability, delay, before| {
            let mut control = self::control(probability, delay, before);
            let mut random = script::link(8_000_000).random();
            control.on_arrival(&settings, 0, Ecn::NotEct, &mut random);
            control.burst_allowance
        };
        assert_eq!(allowance(0.0, 7, 7), MS(150));
        assert_eq!(allowance(0.0, 8, 7), Time::ZERO);
        assert_eq!(allowance(0.0, 7, 8), Time::ZERO);
        assert_eq!(allowance(0.001, 7, 7), Time::ZERO);
    }

    /// The verdict about a packet that is dropped if nothing keeps it.
    fn verdict(probability: f64, delay_before_ms: u64, backlog: u64, ecn: Ecn) -> Verdict {
        let mut control = control(probability, 100, delay_before_ms);
        control.sum = SUM_OF_CERTAIN_DROP;
        control.on_arrival(&settings(), backlog, ecn, &mut script::link(8_000_000).random())
    }

    #[test]
    fn leaves_short_delays_and_backlogs_alone() {
        let early = Verdict::Drop(DropReason::Early);
        // The half of the target is 7.5 ms.
        assert_eq!(verdict(0.199, 7, 50_000, Ecn::NotEct), Verdict::Accept);
        assert_eq!(verdict(0.199, 8, 50_000, Ecn::NotEct), early);
        assert_eq!(verdict(0.2, 7, 50_000, Ecn::NotEct), early);
        // Two packets of 1,000 bytes.
        assert_eq!(verdict(0.9, 100, 2_000, Ecn::NotEct), Verdict::Accept);
        assert_eq!(verdict(0.9, 100, 2_001, Ecn::NotEct), early);
    }

    #[test]
    fn marks_up_to_a_tenth_and_drops_above() {
        let early = Verdict::Drop(DropReason::Early);
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(verdict(0.1, 100, 50_000, ecn), Verdict::Mark);
            assert_eq!(verdict(0.100_1, 100, 50_000, ecn), early);
        }
        assert_eq!(verdict(0.05, 100, 50_000, Ecn::NotEct), early);
    }

    /// Numbers of packets from one drop to the next at a drop probability of 1/16.
    fn gaps(derandomize: bool) -> Vec<u32> {
        let params = PieParams { derandomize, ..PieParams::default() };
        let link = script::link(8_000_000);
        let settings = Settings::new(&params, &link);
        let (mut control, mut random) = (control(1.0 / 16.0, 100, 100), link.random());
        let mut gap = || {
            let accepts = |_: &u32| {
                control.on_arrival(&settings, 50_000, Ecn::NotEct, &mut random) == Verdict::Accept
            };
            1 + (0..1_000).take_while(accepts).count() as u32
        };
        (0..10_000).map(|_| gap()).collect()
    }

    #[test]
    fn drops_come_neither_too_close_nor_too_far_apart() {
        let mean = |gaps: &[u32]| f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        // 13 / 16 < 0.85 <= 14 / 16, and 136 / 16 = 8.5.
        let regular = gaps(true);
        assert_eq!(regular.iter().min(), Some(&14));
        assert!(regular.iter().all(|gap| *gap <= 136));
        // 13 + 16 (1 - (15 / 16)^123) = 28.99; standard deviation of the mean 15.5 / 100.
        assert!((mean(&regular) - 28.99).abs() < 0.7, "{}", mean(&regular));
        // Independent coins: geometric, mean 16, standard deviation of the mean 15.5 / 100.
        let random = gaps(false);
        assert_eq!(random.iter().min(), Some(&1));
        assert!((mean(&random) - 16.0).abs() < 0.7, "{}", mean(&random));
        // The packet at which the sum comes to 8.5 is dropped whatever the draw.
        let mut control = control(1e-3, 100, 100);
        control.sum = 8.499_5;
        let mut random = script::link(8_000_000).random();
        let verdict = control.on_arrival(&settings(), 50_000, Ecn::NotEct, &mut random);
        assert_eq!((verdict, control.sum), (Verdict::Drop(DropReason::Early), 0.0));
    }

    #[test]
    fn the_delay_is_that_of_the_packet_that_left_last() {
        let params = PieParams { limit: QueueLimit::packets(3), ..PieParams::default() };
        let mut queue = Pie::new(&params, &script::link(8_000_000));
        let mut buffer = Buffer::default();
        for (sequence, millisecond) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
            let packet = script::packet(MS(millisecond), 0, sequence, 1_000, Ecn::NotEct);
            queue.control.sum = 0.5;
            queue.enqueue(packet, &mut buffer);
        }
        assert_eq!(script::dropped(&mut buffer), [(0, 3, DropReason::Overflow)]);
        assert!(is_near(queue.control.sum, 0.0));
        assert!(script::sent(&mut queue, MS(40), &mut buffer).is_some());
        assert_eq!(queue.control.delay, MS(40));
        // At 45 ms, unless another packet leaves before: (0.125 * 25 ms + 1.25 * 40 ms) / 2048.
        let [(name, probability)] = queue.gauges(MS(45))[..] else { panic!("one gauge") };
        assert_eq!(name, "drop_probability");
        assert!(is_near(probability, 0.053_125 / 2_048.0));
        assert!(script::sent(&mut queue, MS(41), &mut buffer).is_some());
        assert_eq!(queue.control.delay, MS(40));
        assert!(script::sent(&mut queue, MS(42), &mut buffer).is_some());
        assert_eq!(queue.control.delay, Time::ZERO); // nothing waits
        assert_eq!(queue.gauges(MS(45)), [("drop_probability", 0.0)]);
    }

    #[test]
    fn an_arrival_finds_the_updates_before_it() {
        let mut queue = Pie::new(&PieParams::default(), &script::link(8_000_000));
        queue.control = Control { burst_allowance: MS(15), ..control(1.0, 100, 100) };
        let mut buffer = Buffer::default();
        for (number, millisecond) in [0, 0, 0, 14, 15].into_iter().enumerate() {
            let packet = script::packet(MS(millisecond), 0, number as u64, 1_000, Ecn::NotEct);
            queue.enqueue(packet, &mut buffer);
        }
        assert_eq!(script::dropped(&mut buffer), [(0, 4, DropReason::Early)]);
        // Without a probability the sum begins anew, so that nothing is dropped.
        queue.control = Control { sum: 9.0, ..control(0.0, 100, 100) };
        queue.enqueue(script::packet(MS(1), 0, 5, 1_000, Ecn::NotEct), &mut buffer);
        assert!(!buffer.has_dropped());
    }

    #[test]
    fn an_update_may_not_be_too_often() {
        let link = script::link(8_000_000);
        assert_eq!(PieParams::default().validate(&link), Ok(()));
        let update_interval = PositiveDuration::new(9_999_999);
        let fault = PieParams { update_interval, ..PieParams::default() }.validate(&link);
        assert_eq!(fault.expect_err("below 10 us").key, "update_interval");
    }
}
