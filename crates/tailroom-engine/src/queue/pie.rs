//! Proportional Integral controller Enhanced (RFC 8033): drops arriving packets with a probability
//! that a control loop adjusts to bring the queueing delay to its target.
//!
//! Follows appendix A, with marks, derandomization and the cap of sec. 5, but without its
//! activation: a buffer that never fills to a third would not be controlled. Delays are measured
//! with timestamps (sec. 4.3) and are zero while no packet waits, like the estimate of sec. 5.2.
//! The probability decays while there is no delay, not while the delay is below half of the target,
//! and packets of a burst do not bring the next drop closer (appendix B differs in both).
//! `MEAN_PKTSIZE` is the link's largest packet.

use super::buffer::{Buffer, DropReason, PacketHandle, PacketList};
use super::emptying::{EMPTIED_INTERVALS, Emptying};
use super::{BadParameter, DelayTarget, Gauge, LinkInfo, Parameters, Retune, Scheduler, Verdict};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::Ecn;
use crate::packet::transit::Transit;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{Duration, PositiveDuration};
use crate::random::{Random, Stream, uniform};
use crate::units::{Time, float};

/// `QDELAY_REF` (RFC 8033 sec. 4.2).
pub(super) const TARGET: PositiveDuration = PositiveDuration::new(15_000_000_000);
/// `T_UPDATE` (RFC 8033 sec. 4.2).
pub(super) const UPDATE_INTERVAL: PositiveDuration = PositiveDuration::new(15_000_000_000);
/// `MAX_BURST` (RFC 8033 sec. 4.4).
pub(super) const MAX_BURST: Duration = Duration::new(150_000_000_000);
/// Default `alpha` in 1/s (RFC 8033 appendix A).
pub(super) const ALPHA: f64 = 0.125;
/// Default `beta` in 1/s (RFC 8033 appendix A).
pub(super) const BETA: f64 = 1.25;
/// `mark_ecnth` (RFC 8033 sec. 5.1).
pub(super) const MARK_UP_TO: f64 = 0.1;

/// Probabilities, and the divisors of a step below them (RFC 8033 sec. 4.2).
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2_048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// Probability from which upward steps are capped (RFC 8033 sec. 5.5), to [`STEP_CAP`].
const CAPPED_FROM: f64 = 0.1;
const STEP_CAP: f64 = 0.02;
/// Factor of the probability at an update without delay (RFC 8033 sec. 4.2).
const DECAY: f64 = 0.98;
/// Probability below which no packet is dropped at short delays (RFC 8033 sec. 4.1).
const HARMLESS: f64 = 0.2;
/// Backlog in packets up to which no packet is dropped (RFC 8033 sec. 4.1).
const SHORT_BACKLOG: u64 = 2;
/// Sum of the probabilities since the last drop below which no packet is dropped (sec. 5.4).
const SUM_BEFORE_DROP: f64 = 0.85;
/// Sum from which a packet is dropped for certain (sec. 5.4).
const SUM_OF_CERTAIN_DROP: f64 = 8.5;
/// Length of the intervals in which the queue should empty, in targets: the ratio of burst
/// allowance to target (RFC 8033 sec. 4.2 and 4.4: 150 and 15 ms).
const TARGETS_PER_INTERVAL: u64 = 10;
/// Updates that are performed one by one when nothing has happened for long; those before them are performed
/// in a few steps.
pub(super) const MOST_AT_ONCE: u64 = 1 << 9;
/// Shorter periods would only cost computing time.
const MIN_UPDATE: PositiveDuration = PositiveDuration::new(10_000_000);

/// Parameters of a PIE buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PieParams {
    /// Buffer size; a full buffer drops arriving packets. RFC 8033 specifies no limit: the default
    /// is the 1000 packets of Linux.
    pub limit: QueueLimit,
    /// Queueing delay that the control loop aims for (15 ms: RFC 8033 sec. 4.2).
    pub target: PositiveDuration,
    /// Time between updates of the drop probability (15 ms: RFC 8033 sec. 4.2).
    pub update_interval: PositiveDuration,
    /// Gain for the difference between delay and target, in 1/s (0.125: RFC 8033 appendix A).
    #[schemars(range(min = 0.0))]
    pub alpha: f64,
    /// Gain for the change of the delay since the last update, in 1/s (1.25: RFC 8033 appendix A).
    #[schemars(range(min = 0.0))]
    pub beta: f64,
    /// How long a burst passes without drops after a calm period (150 ms: RFC 8033 sec. 4.4).
    pub max_burst: Duration,
    /// Drop probability up to which ECN-capable packets are marked instead of dropped
    /// (`mark_ecnth`, 0.1: RFC 8033 sec. 5.1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mark_up_to: f64,
    /// Prevent drops that are too close together or too far apart (true: RFC 8033 sec. 5.4).
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

    fn binding(&self) -> &'static [&'static str] {
        &["target"]
    }

    fn validate(&self, _link: &LinkInfo) -> Result<(), BadParameter> {
        check_update_interval(self.update_interval)
    }

    fn delay_target(&self) -> Option<DelayTarget> {
        let target = self.target.time();
        let interval = target.picoseconds().saturating_mul(TARGETS_PER_INTERVAL);
        Some(DelayTarget { target, interval: Time::from_picoseconds(interval) })
    }
}

/// Refuses a period so short that the updates would dominate the run time.
pub(super) fn check_update_interval(interval: PositiveDuration) -> Result<(), BadParameter> {
    if interval.time() >= MIN_UPDATE.time() {
        return Ok(());
    }
    let problem = format!("an update every {interval} is too frequent");
    Err(BadParameter::new("update_interval", problem, format!("write at least \"{MIN_UPDATE}\"")))
}

/// The parameters of PIE at a link, which all its queues share.
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
    /// Creates the settings for `link`; ignores the limit of `params`.
    pub fn new(params: &PieParams, link: &LinkInfo) -> Self {
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

/// The state of PIE for one queue.
#[derive(Clone, Copy, Debug)]
pub struct PieState {
    probability: f64,
    /// Sum of the probabilities of the packets since the last drop.
    sum: f64,
    burst_allowance: Time,
    delay: Time,
    /// The delay at the last update.
    delay_before: Time,
    next_update: Time,
}

impl PieState {
    /// Creates the state of a queue that is empty at the start of the run.
    pub fn new(settings: &Settings) -> Self {
        PieState {
            probability: 0.0,
            sum: 0.0,
            burst_allowance: settings.max_burst,
            delay: Time::ZERO,
            delay_before: Time::ZERO,
            next_update: settings.update_interval,
        }
    }

    /// Returns the drop probability.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Performs the updates that are due by `now`. The queue has not changed since they were due,
    /// so a late update sees the same delay as a punctual one.
    #[inline]
    pub fn advance(&mut self, settings: &Settings, now: Time) {
        if self.next_update <= now {
            self.catch_up(settings, now);
        }
    }

    fn catch_up(&mut self, settings: &Settings, now: Time) {
        let mut updates = 0;
        while self.next_update <= now {
            updates += 1;
            // Two at the edge of each range.
            let most = MOST_AT_ONCE + 2 * (SCALES.len() as u64 + 3);
            debug_assert!(updates <= most, "{updates} updates in an event");
            let before = (self.probability, self.delay_before);
            self.update(settings);
            self.pass(settings, 1);
            if before == (self.probability, self.delay_before) && self.next_update <= now {
                // Further updates change only the burst allowance.
                let rest = now.since(self.next_update).picoseconds();
                self.pass(settings, rest / settings.update_interval.picoseconds() + 1);
            }
            let left = now.since(self.next_update).picoseconds();
            let left = left / settings.update_interval.picoseconds();
            if left > MOST_AT_ONCE {
                self.leap(settings, left - MOST_AT_ONCE);
            }
        }
    }

    /// Performs up to `updates` updates at once. The delay has not changed, so that each adds the same, and
    /// without delay takes the same part, until the probability comes into another range.
    fn leap(&mut self, settings: &Settings, updates: u64) {
        let step = self.step(settings);
        let bounds = || SCALES.iter().map(|(bound, _)| *bound).chain([0.0, 1.0]);
        let edge = if step > 0.0 {
            bounds().filter(|&bound| bound > self.probability).fold(1.0, f64::min)
        } else {
            bounds().filter(|&bound| bound <= self.probability).fold(0.0, f64::max)
        };
        let probability = if self.delay > Time::ZERO {
            let until_edge = ((edge - self.probability) / step).floor().max(0.0);
            let steps = until_edge.min(float(updates));
            self.pass(settings, steps as u64);
            self.probability + steps * step
        } else {
            // p becomes DECAY (p + step), which brings it nearer to where it would stay.
            let rest = step * DECAY / (1.0 - DECAY);
            let parts = (edge - rest) / (self.probability - rest);
            let until_edge = (libm::log(parts) / libm::log(DECAY)).floor().max(0.0);
            let steps = until_edge.min(float(updates));
            self.pass(settings, steps as u64);
            rest + (self.probability - rest) * libm::pow(DECAY, steps)
        };
        self.probability = probability.clamp(0.0, 1.0);
    }

    /// Advances the time by `updates` update intervals.
    fn pass(&mut self, settings: &Settings, updates: u64) {
        let period = settings.update_interval.picoseconds();
        let span = Time::from_picoseconds(period.saturating_mul(updates));
        self.burst_allowance = self.burst_allowance.since(span);
        self.next_update = self.next_update.saturating_add(span);
    }

    /// What an update adds to the probability (RFC 8033 sec. 4.2, with the cap of sec. 5.5).
    fn step(&self, settings: &Settings) -> f64 {
        let delay = self.delay.seconds();
        let from_target = delay - settings.target.seconds();
        let change = delay - self.delay_before.seconds();
        let mut step = settings.alpha * from_target + settings.beta * change;
        let scale = SCALES.iter().find(|(bound, _)| self.probability < *bound);
        step /= scale.map_or(1.0, |(_, divisor)| *divisor);
        if self.probability >= CAPPED_FROM {
            step = step.min(STEP_CAP);
        }
        step
    }

    /// Updates the probability.
    fn update(&mut self, settings: &Settings) {
        self.probability += self.step(settings);
        if self.delay == Time::ZERO && self.delay_before == Time::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_before = self.delay;
    }

    /// Decides about a packet that finds `backlog_bytes` in its queue.
    #[inline]
    pub fn on_arrival(
        &mut self,
        settings: &Settings,
        backlog_bytes: u64,
        ecn: Ecn,
        random: &mut impl Random,
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
        // RFC 8033 sec. 5.1: dropped if the probability "exceeds" the bound; by the pseudocode,
        // also if it equals the bound.
        if ecn.is_capable() && self.probability <= settings.mark_up_to {
            return Verdict::Mark;
        }
        Verdict::Drop(DropReason::Early)
    }

    /// Draws whether a packet is marked or dropped (RFC 8033 sec. 4.1 and 5.4, `drop_early` of
    /// appendix B).
    fn hits(&mut self, settings: &Settings, backlog_bytes: u64, random: &mut impl Random) -> bool {
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

    /// Records that a packet did not fit into the buffer: the next drop should not follow at once.
    pub fn on_overflow(&mut self) {
        self.sum = 0.0;
    }

    /// Records that a packet that arrived at `arrival` leaves `queue` at `now`.
    #[inline]
    pub fn on_departure(&mut self, now: Time, arrival: Time, queue: &PacketList) {
        self.delay = if queue.is_empty() { Time::ZERO } else { now.since(arrival) };
    }
}

/// A PIE buffer.
#[derive(Clone, Debug)]
pub struct Pie {
    limit: Limit,
    settings: Settings,
    aqm_state: PieState,
    queue: PacketList,
    random: Stream,
    emptying: Emptying,
}

impl Pie {
    /// Creates the discipline for `link`.
    pub fn new(params: &PieParams, link: &LinkInfo) -> Self {
        let settings = Settings::new(params, link);
        Pie {
            limit: link.limit(params.limit),
            settings,
            aqm_state: PieState::new(&settings),
            queue: PacketList::default(),
            random: link.random(),
            emptying: Emptying::for_target(params.delay_target()),
        }
    }
}

impl Retune for Pie {
    type Params = PieParams;

    fn retune(&mut self, params: &PieParams, link: &LinkInfo) {
        self.limit = link.limit(params.limit);
        self.settings = Settings::new(params, link);
    }
}

impl Scheduler for Pie {
    #[inline]
    fn enqueue(&mut self, mut packet: Transit, buffer: &mut Buffer) {
        self.aqm_state.advance(&self.settings, packet.time());
        self.emptying.on_arrival(packet.time(), self.queue.is_empty());
        let bytes = buffer.bytes() + u64::from(packet.bytes());
        if !self.limit.holds(buffer.packets() + 1, bytes) {
            self.aqm_state.on_overflow();
            buffer.refuse(packet, DropReason::Overflow);
            return;
        }
        let backlog = self.queue.bytes();
        let verdict =
            self.aqm_state.on_arrival(&self.settings, backlog, packet.ecn(), &mut self.random);
        match verdict {
            Verdict::Drop(reason) => return buffer.refuse(packet, reason),
            Verdict::Mark => buffer.mark_arriving(&mut packet),
            Verdict::Accept => {}
        }
        buffer.push_back(&mut self.queue, packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        self.aqm_state.advance(&self.settings, now);
        let packet = buffer.pop_front(&mut self.queue)?;
        self.aqm_state.on_departure(now, buffer.packet(&packet).time(), &self.queue);
        if self.queue.is_empty() {
            self.emptying.on_empty(now);
        }
        Some(packet)
    }

    fn gauges(&self, now: Time) -> Vec<Gauge> {
        let mut aqm_state = self.aqm_state;
        aqm_state.advance(&self.settings, now);
        vec![
            ("drop_probability", aqm_state.probability),
            (EMPTIED_INTERVALS, self.emptying.fraction(now)),
        ]
    }

    fn restart_gauges(&mut self, now: Time) {
        self.emptying.restart(now);
    }
}

#[cfg(test)]
mod tests;
