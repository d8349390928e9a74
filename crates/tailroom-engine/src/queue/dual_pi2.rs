//! `DualPI2` (RFC 9332): two coupled queues, so that scalable (L4S) flows have a short delay beside
//! classic ones and a like share of the link.
//!
//! The pseudo-code of appendix A.2 of the RFC, with these choices:
//!
//! - Delays are sojourn times (note a of appendix A.1), in the L4S queue of the packet that leaves.
//! - The scheduler is a weighted round robin by bytes, which the RFC recommends.
//! - A probability of 1 marks every packet: `recur()` of the RFC lets the first one pass.
//! - `Th_len` counts the packet that leaves, so that the last one of a burst is not marked, as the
//!   note on Linux says; line 5a alone would exempt the last two.
//! - Not taken over from Linux: no coupled marks while less than two packets wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer::{Buffer, DropReason, PacketList, Unlisted};
use super::{BadParameter, Gauge, LinkInfo, Parameters, Scheduler};
use crate::packet::Ecn;
use crate::packet::in_network::Event;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{Duration, PositiveDuration};
use crate::units::Time;

const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;
const PICOSECONDS_PER_MILLISECOND: u64 = 1_000_000_000;
/// Shortest interval between updates: each costs a step, however little happens at the link.
const MIN_UPDATE_INTERVAL: Time = Time::from_picoseconds(1_000_000);
/// The L4S queue is saturated when every packet is marked (RFC 9332 appendix A.2).
const P_LMAX: f64 = 1.0;
/// Shares of the link are counted in parts of a million.
const WHOLE: i64 = 1_000_000;

/// Parameters of `DualPI2`; defaults as RFC 9332 appendix A.1 has them for round trips up to 100 ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Params {
    /// How much may wait in both queues together, at the rate that the link has at first (RFC 9332
    /// `limit`: 250 ms). A limit in bytes or in time keeps room for the largest packet, so that small
    /// ones have no advantage.
    #[serde(default = "default_limit")]
    pub limit: QueueLimit,
    /// Queueing delay that the classic queue is held at (RFC 9332 target: 15 ms).
    #[serde(default = "default_target")]
    pub target: PositiveDuration,
    /// Time between updates of the probabilities, at least 1 us (RFC 9332 `Tupdate`: by its formula
    /// 15 ms, here the 16 ms that its text has tested with these gains). Alpha should change in
    /// proportion.
    #[serde(default = "default_update_interval")]
    pub update_interval: PositiveDuration,
    /// Integral gain: what an update adds to the base probability for each second above the target,
    /// in Hz (RFC 9332: 0.16 for a `Tupdate` of 16 ms).
    #[serde(default = "default_alpha")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha: f64,
    /// Proportional gain: what an update adds for each second that the delay has grown by, in Hz
    /// (RFC 9332: 3.2).
    #[serde(default = "default_beta")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub beta: f64,
    /// Coupling factor k: L4S packets are marked with k times the base probability, classic ones
    /// marked or dropped with its square (RFC 9332 sec. 2.5.1: 2).
    #[serde(default = "default_coupling")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub coupling: f64,
    /// Queueing delay from which on L4S packets are marked, if another one waits behind (RFC 9332
    /// `minTh`: 800 us).
    #[serde(default = "default_l4s_threshold")]
    pub l4s_threshold: PositiveDuration,
    /// Width of the ramp above `l4s_threshold` on which the marking probability rises from 0 to 1
    /// (RFC 9332 `range`: 400 us). With 0 every packet is marked from the threshold on, as by
    /// Linux, whose threshold is 1 ms; RFC 9332 recommends the ramp.
    #[serde(default = "default_ramp")]
    pub ramp: Duration,
    /// Part of the link that classic packets get while L4S packets want all of it (RFC 9332
    /// sec. 4.2.2: small, as 1/16; Linux: 0.1).
    #[serde(default = "default_classic_share")]
    #[schemars(range(min = 0.01, max = 0.99))]
    pub classic_share: f64,
}

fn default_limit() -> QueueLimit {
    QueueLimit::span(Time::from_milliseconds(250))
}

fn default_target() -> PositiveDuration {
    PositiveDuration::new(15 * PICOSECONDS_PER_MILLISECOND)
}

fn default_update_interval() -> PositiveDuration {
    PositiveDuration::new(16 * PICOSECONDS_PER_MILLISECOND)
}

fn default_alpha() -> f64 {
    0.16
}

fn default_beta() -> f64 {
    3.2
}

fn default_coupling() -> f64 {
    2.0
}

fn default_l4s_threshold() -> PositiveDuration {
    PositiveDuration::new(800 * PICOSECONDS_PER_MICROSECOND)
}

fn default_ramp() -> Duration {
    Duration::new(400 * PICOSECONDS_PER_MICROSECOND)
}

fn default_classic_share() -> f64 {
    1.0 / 16.0
}

impl Parameters for DualPi2Params {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }

    fn validate(&self, _link: &LinkInfo) -> Result<(), BadParameter> {
        if self.update_interval.time() < MIN_UPDATE_INTERVAL {
            let problem = format!("{} is too short to simulate", self.update_interval);
            return Err(BadParameter::new("update_interval", problem, "write at least \"1 us\""));
        }
        let top = self.l4s_threshold.time() + self.ramp.time();
        if top >= self.target.time() {
            let end = PositiveDuration::new(top.picoseconds());
            let problem = format!(
                "L4S packets are marked up to {end}, not before the target {}",
                self.target
            );
            let remedy =
                "lower l4s_threshold or ramp, or raise target: L4S packets are to wait less";
            return Err(BadParameter::new("l4s_threshold", problem, remedy));
        }
        Ok(())
    }
}

/// One of the two queues.
#[derive(Debug, Default)]
struct Line {
    list: PacketList,
    /// `count` of RFC 9332 `recur()`: the probabilities that have added up since the last mark or
    /// drop.
    likelihood: f64,
    sent: u64,
    waited: u128,
}

impl Line {
    /// True for a part `probability` of the calls, evenly spread: the deterministic form of RFC 9332
    /// appendix A.1, which varies less than random draws.
    #[inline]
    fn recurs(&mut self, probability: f64) -> bool {
        self.likelihood += probability;
        let is_due = self.likelihood >= 1.0;
        self.likelihood -= f64::from(is_due);
        is_due
    }

    #[inline]
    fn note_sent(&mut self, waited: Time) {
        self.sent += 1;
        self.waited += u128::from(waited.picoseconds());
    }

    /// Mean wait of the packets sent, in seconds; 0 if there were none.
    fn mean_wait_s(&self) -> f64 {
        1e-12 * self.waited as f64 / self.sent.max(1) as f64
    }
}

/// The PI controller of both queues (RFC 9332 appendix A.2, `dualpi2_update`).
#[derive(Debug)]
struct Controller {
    target_s: f64,
    interval: Time,
    alpha: f64,
    beta: f64,
    coupling: f64,
    /// p'.
    base: f64,
    /// The delay at the update before.
    previous_s: f64,
    next_update: Time,
}

impl Controller {
    fn new(params: &DualPi2Params) -> Self {
        let interval = params.update_interval.time();
        Controller {
            target_s: params.target.time().seconds(),
            interval,
            alpha: params.alpha,
            beta: params.beta,
            coupling: params.coupling,
            base: 0.0,
            previous_s: 0.0,
            next_update: interval,
        }
    }

    /// `p_C`.
    #[inline]
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// `p_CL`.
    #[inline]
    fn l4s(&self) -> f64 {
        (self.coupling * self.base).min(P_LMAX)
    }

    /// Whether classic packets are dropped even if they could be marked: `p_C` has reached
    /// `p_Cmax`, the square of 1 / k, at which every L4S packet is marked (RFC 9332 appendix A.2).
    #[inline]
    fn is_saturated(&self) -> bool {
        self.coupling * self.base >= 1.0 || self.base >= 1.0
    }

    /// Makes the updates that were due up to `now`, while the packet that has waited longest in
    /// either queue was the one that came at `oldest`.
    #[cold]
    fn catch_up(&mut self, now: Time, oldest: Option<Time>) {
        while self.next_update <= now {
            let delay = oldest.map_or(Time::ZERO, |arrived| self.next_update.since(arrived));
            self.update(delay.seconds());
            self.next_update = self.next_update.saturating_add(self.interval);
            if oldest.is_none() {
                self.rest(now);
            }
        }
    }

    fn update(&mut self, delay_s: f64) {
        let integral = self.alpha * (delay_s - self.target_s);
        let proportional = self.beta * (delay_s - self.previous_s);
        self.base = (self.base + integral + proportional).clamp(0.0, 1.0);
        self.previous_s = delay_s;
    }

    /// Makes the updates up to `now` at once, both queues having been empty at the last one: each
    /// takes the same off.
    fn rest(&mut self, now: Time) {
        if self.next_update > now {
            return;
        }
        let interval = self.interval.picoseconds();
        let updates = now.since(self.next_update).picoseconds() / interval + 1;
        self.base = (self.base - updates as f64 * self.alpha * self.target_s).max(0.0);
        self.next_update += Time::from_picoseconds(updates * interval);
    }
}

/// A pair of coupled queues.
#[derive(Debug)]
pub struct DualPi2 {
    limit: Limit,
    controller: Controller,
    threshold: Time,
    ramp_s: f64,
    classic: Line,
    l4s: Line,
    /// Parts of the link in millionths.
    classic_weight: i64,
    l4s_weight: i64,
    /// Bytes times weight that the classic queue lags behind its share.
    credit: i64,
    /// The credit after a turn of the classic queue.
    first_credit: i64,
    largest_packet: u64,
}

impl DualPi2 {
    /// Starts the discipline.
    pub fn new(params: &DualPi2Params, link: &LinkInfo) -> Self {
        let classic_weight = (params.classic_share * WHOLE as f64) as i64;
        let l4s_weight = WHOLE - classic_weight;
        // Its turn comes when it lags by an L4S packet, and costs a classic one.
        let after_a_turn = (classic_weight - l4s_weight).min(0);
        let first_credit = after_a_turn * i64::from(link.packet_bytes);
        DualPi2 {
            limit: link.limit(params.limit),
            controller: Controller::new(params),
            threshold: params.l4s_threshold.time(),
            ramp_s: params.ramp.time().seconds(),
            classic: Line::default(),
            l4s: Line::default(),
            classic_weight,
            l4s_weight,
            credit: first_credit,
            first_credit,
            largest_packet: u64::from(link.packet_bytes),
        }
    }

    /// Lets the controller see the queues as they have been up to `now`.
    #[inline]
    fn keep_up(&mut self, now: Time, buffer: &Buffer) {
        if now < self.controller.next_update {
            return;
        }
        let arrival = |line: &Line| buffer.front(&line.list).map(|packet| packet.time());
        let oldest = [arrival(&self.classic), arrival(&self.l4s)].into_iter().flatten().min();
        self.controller.catch_up(now, oldest);
    }

    /// RFC 9332 `laqm()`: what the L4S queue's own delay asks for.
    #[inline]
    fn native_probability(&self, delay: Time) -> f64 {
        if delay < self.threshold {
            return 0.0;
        }
        let above_s = delay.since(self.threshold).seconds();
        if above_s < self.ramp_s { above_s / self.ramp_s } else { 1.0 }
    }

    /// Whether the next packet is an L4S one. While only one queue has packets nobody owes anything
    /// (appendix A.1, but there it is forgotten when the link is idle): the first L4S packets of a
    /// burst then pass what waits, 15 at a share of 1/16 (sec. 4.2.2).
    #[inline]
    fn is_l4s_next(&mut self) -> bool {
        if self.is_contended() {
            return self.credit <= 0;
        }
        self.credit = self.first_credit;
        !self.l4s.list.is_empty()
    }

    #[inline]
    fn is_contended(&self) -> bool {
        !self.classic.list.is_empty() && !self.l4s.list.is_empty()
    }

    /// Charges a packet that the other queue had to wait for.
    #[inline]
    fn charge(&mut self, is_l4s: bool, bytes: u32) {
        let weight = if is_l4s { self.classic_weight } else { -self.l4s_weight };
        self.credit += weight * i64::from(bytes);
    }

    /// RFC 9332 appendix A.2, `dualpi2_dequeue`, the L4S branch; `None` if the packet is dropped.
    #[inline]
    fn take_l4s(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted> {
        let packet = buffer.pop_front(&mut self.l4s.list)?;
        let delay = now.since(buffer.packet(&packet).time());
        if self.controller.l4s() < P_LMAX {
            // RFC 9332 `Th_len`: a queue of one packet is as short as it can be.
            let is_alone = self.l4s.list.is_empty();
            let native = if is_alone { 0.0 } else { self.native_probability(delay) };
            if self.l4s.recurs(native.max(self.controller.l4s())) {
                buffer.mark(&packet);
            }
        } else if self.l4s.recurs(self.controller.classic()) {
            buffer.drop(packet, DropReason::Head);
            return None;
        } else {
            buffer.mark(&packet); // line 8h, where p_CL is 1
        }
        self.l4s.note_sent(delay);
        Some(packet)
    }

    /// The classic branch.
    #[inline]
    fn take_classic(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted> {
        let mut packet = buffer.pop_front(&mut self.classic.list)?;
        if self.classic.recurs(self.controller.classic()) {
            if self.controller.is_saturated() {
                buffer.drop(packet, DropReason::Head);
                return None;
            }
            packet = buffer.mark_or_drop(packet, DropReason::Head)?;
        }
        self.classic.note_sent(now.since(buffer.packet(&packet).time()));
        Some(packet)
    }
}

impl Scheduler for DualPi2 {
    #[inline]
    fn enqueue(&mut self, packet: Event, buffer: &mut Buffer) {
        self.keep_up(packet.time(), buffer);
        // RFC 9332 appendix A.1, figure 3: there must be room for the largest packet.
        let bytes = buffer.bytes() + self.largest_packet.max(u64::from(packet.bytes()));
        if !self.limit.holds(buffer.packets() + 1, bytes) {
            buffer.refuse(packet, DropReason::Overflow);
            return;
        }
        // RFC 9331 sec. 5.1, RFC 9332 figure 3: a packet that is marked already counts as L4S.
        let line = match packet.ecn() {
            Ecn::Ect1 | Ecn::Ce => &mut self.l4s,
            Ecn::NotEct | Ecn::Ect0 => &mut self.classic,
        };
        buffer.push_back(&mut line.list, packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<Unlisted> {
        self.keep_up(now, buffer);
        while buffer.packets() > 0 {
            let (is_l4s, is_contended) = (self.is_l4s_next(), self.is_contended());
            let packet =
                if is_l4s { self.take_l4s(now, buffer) } else { self.take_classic(now, buffer) };
            if let Some(packet) = packet {
                if is_contended {
                    self.charge(is_l4s, buffer.packet(&packet).bytes());
                }
                return Some(packet);
            }
        }
        None
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        vec![
            ("base_probability", self.controller.base),
            ("classic_probability", self.controller.classic()),
            ("l4s_probability", self.controller.l4s()),
            ("classic_delay_s", self.classic.mean_wait_s()),
            ("l4s_delay_s", self.l4s.mean_wait_s()),
        ]
    }

    fn restart_gauges(&mut self, _now: Time) {
        for line in [&mut self.classic, &mut self.l4s] {
            (line.sent, line.waited) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests;
