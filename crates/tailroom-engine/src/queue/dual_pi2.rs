//! `DualPI2` (RFC 9332): two coupled queues, which give scalable (L4S) flows a short delay and a
//! share of the link similar to that of classic flows.
//!
//! Follows the pseudocode of appendix A.2 of the RFC, with these choices:
//!
//! - Delays are sojourn times (note a of appendix A.1); in the L4S queue, that of the packet that
//!   leaves.
//! - The scheduler is a weighted round robin by bytes, as the RFC recommends.
//! - A probability of 1 marks every packet; `recur()` of the RFC does not mark the first one.
//! - `Th_len` includes the packet that leaves, so that the last packet of a burst is not marked, as
//!   the note on Linux says; line 5a alone would exempt the last two.
//! - Coupled marks apply even while fewer than two packets wait, unlike in Linux.

use super::buffer::{Buffer, DropReason, PacketHandle, PacketList};
use super::pie::MOST_AT_ONCE;
use super::{BadParameter, Gauge, LinkInfo, Parameters, Retune, Scheduler};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::Ecn;
use crate::packet::transit::Transit;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{Duration, PositiveDuration};
use crate::units::{Time, float};

const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;
const PICOSECONDS_PER_MILLISECOND: u64 = 1_000_000_000;
/// Shortest interval between updates; each update costs computing time, even at a quiet link.
const MIN_UPDATE_INTERVAL: Time = Time::from_picoseconds(1_000_000);
/// Probability at which the L4S queue is saturated: every packet is marked (RFC 9332 appendix A.2).
const P_LMAX: f64 = 1.0;
/// The whole link, in the unit of shares: parts per million.
const WHOLE: i64 = 1_000_000;

/// Parameters of `DualPI2`, with the defaults of RFC 9332 appendix A.1 for round trips up to 100
/// ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DualPi2Params {
    /// Size of both queues together; a time is converted at the initial rate of the link (RFC 9332
    /// `limit`: 250 ms). A limit in bytes or in time reserves room for the largest packet, so that
    /// small packets have no advantage.
    pub limit: QueueLimit,
    /// Target of the classic queue's delay (RFC 9332 target: 15 ms).
    pub target: PositiveDuration,
    /// Time between updates of the probabilities, at least 1 us (RFC 9332 `Tupdate`: 15 ms by its
    /// formula; the default is 16 ms, which its text has tested with these gains). Alpha should
    /// change in proportion.
    pub update_interval: PositiveDuration,
    /// Integral gain in Hz: what an update adds to the base probability per second of delay above
    /// the target (RFC 9332: 0.16 for a `Tupdate` of 16 ms).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha: f64,
    /// Proportional gain in Hz: what an update adds to the base probability per second by which the
    /// delay has grown (RFC 9332: 3.2).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub beta: f64,
    /// Coupling factor k: L4S packets are marked with k times the base probability; classic packets
    /// are marked or dropped with the square of the base probability (RFC 9332 sec. 2.5.1: 2).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub coupling: f64,
    /// Queueing delay from which L4S packets are marked if another L4S packet waits behind them
    /// (RFC 9332 `minTh`: 800 us).
    pub l4s_threshold: PositiveDuration,
    /// Width of the ramp above `l4s_threshold` over which the marking probability rises from 0 to 1
    /// (RFC 9332 `range`: 400 us). With 0, every packet is marked from the threshold on, as in
    /// Linux, whose threshold is 1 ms; RFC 9332 recommends the ramp.
    pub ramp: Duration,
    /// Share of the link that classic packets get while L4S packets want all of it (RFC 9332 sec.
    /// 4.2.2: small, such as 1/16; Linux: 0.1).
    #[schemars(range(min = 0.01, max = 0.99))]
    pub classic_share: f64,
}

impl Default for DualPi2Params {
    fn default() -> Self {
        DualPi2Params {
            limit: QueueLimit::span(Time::from_milliseconds(250)),
            target: PositiveDuration::new(15 * PICOSECONDS_PER_MILLISECOND),
            update_interval: PositiveDuration::new(16 * PICOSECONDS_PER_MILLISECOND),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            l4s_threshold: PositiveDuration::new(800 * PICOSECONDS_PER_MICROSECOND),
            ramp: Duration::new(400 * PICOSECONDS_PER_MICROSECOND),
            classic_share: 1.0 / 16.0,
        }
    }
}

impl Parameters for DualPi2Params {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }

    fn binding(&self) -> &'static [&'static str] {
        &["target", "l4s_threshold"]
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
                "the marking ramp ends at {end}, which is not below the target of {}",
                self.target
            );
            let remedy = "lower l4s_threshold or ramp, or raise target: L4S packets must wait less";
            return Err(BadParameter::new("l4s_threshold", problem, remedy));
        }
        Ok(())
    }
}

/// One of the two queues.
#[derive(Clone, Debug, Default)]
struct CoupledQueue {
    list: PacketList,
    /// `count` of RFC 9332 `recur()`: the sum of the probabilities since the last mark or drop.
    likelihood: f64,
    sent: u64,
    waited: u128,
}

impl CoupledQueue {
    /// Returns true for a fraction `probability` of the calls, evenly spread: the deterministic
    /// form of RFC 9332 appendix A.1, which varies less than random draws.
    #[inline]
    fn recurs(&mut self, probability: f64) -> bool {
        self.likelihood += probability;
        let is_due = self.likelihood >= 1.0;
        self.likelihood -= f64::from(is_due);
        is_due
    }

    #[inline]
    fn record_sent(&mut self, waited: Time) {
        self.sent += 1;
        self.waited += u128::from(waited.picoseconds());
    }

    /// Returns the mean delay of the packets sent, in seconds; 0 if no packet was sent.
    fn mean_wait_s(&self) -> f64 {
        1e-12 * self.waited as f64 / self.sent.max(1) as f64
    }
}

/// The PI controller of both queues (RFC 9332 appendix A.2, `dualpi2_update`).
#[derive(Clone, Debug)]
struct Controller {
    target_s: f64,
    interval: Time,
    alpha: f64,
    beta: f64,
    coupling: f64,
    /// Base probability (p').
    base: f64,
    /// Delay at the previous update, in seconds.
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

    /// Returns `p_C`, the probability for classic packets.
    #[inline]
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// Returns `p_CL`, the coupled probability for L4S packets.
    #[inline]
    fn l4s(&self) -> f64 {
        (self.coupling * self.base).min(P_LMAX)
    }

    /// Returns whether classic packets are dropped even if they are ECN-capable: `p_C` has reached
    /// `p_Cmax`, the square of 1 / k, at which every L4S packet is marked (RFC 9332 appendix A.2).
    #[inline]
    fn is_saturated(&self) -> bool {
        self.coupling * self.base >= 1.0 || self.base >= 1.0
    }

    /// Performs the updates that were due by `now`. `oldest` is the arrival time of the packet that
    /// has waited longest in either queue; `None` if both were empty.
    #[cold]
    fn catch_up(&mut self, now: Time, oldest: Option<Time>) {
        let mut updates = 0;
        while self.next_update <= now {
            updates += 1;
            debug_assert!(updates <= MOST_AT_ONCE + 2, "{updates} updates in an event");
            let delay = oldest.map_or(Time::ZERO, |arrived| self.next_update.since(arrived));
            self.update(delay.seconds());
            self.next_update = self.next_update.saturating_add(self.interval);
            if oldest.is_none() {
                self.catch_up_empty(now);
            } else if self.base >= 1.0 && delay.seconds() >= self.target_s {
                // The delay only grows, and the probability stays: only the last update matters.
                let rest = now.since(self.next_update).picoseconds();
                let updates = rest / self.interval.picoseconds();
                self.next_update += Time::from_picoseconds(updates * self.interval.picoseconds());
            }
            let left = now.since(self.next_update).picoseconds() / self.interval.picoseconds();
            if left > MOST_AT_ONCE
                && let Some(arrived) = oldest
            {
                self.leap(left - MOST_AT_ONCE, arrived);
            }
        }
    }

    /// Performs `updates` updates at once, while a packet that arrived at `arrived` waits. Each adds more than the
    /// one before, as the delay grows: the probability falls first, if at all, and then rises.
    fn leap(&mut self, updates: u64, arrived: Time) {
        let interval_s = self.interval.seconds();
        let first =
            self.alpha * (self.previous_s + interval_s - self.target_s) + self.beta * interval_s;
        let more = self.alpha * interval_s;
        let falling = (-first / more).ceil().clamp(0.0, float(updates));
        let sum = |count: f64| count * first + more * count * (count - 1.0) / 2.0;
        let least = (self.base + sum(falling)).clamp(0.0, 1.0);
        self.base = (least + sum(float(updates)) - sum(falling)).clamp(0.0, 1.0);
        self.next_update += Time::from_picoseconds(updates * self.interval.picoseconds());
        self.previous_s = self.next_update.since(arrived).since(self.interval).seconds();
    }

    fn update(&mut self, delay_s: f64) {
        let integral = self.alpha * (delay_s - self.target_s);
        let proportional = self.beta * (delay_s - self.previous_s);
        self.base = (self.base + integral + proportional).clamp(0.0, 1.0);
        self.previous_s = delay_s;
    }

    /// Performs the updates due by `now` at once, if both queues were empty at the last update:
    /// each update subtracts the same amount.
    fn catch_up_empty(&mut self, now: Time) {
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
#[derive(Clone, Debug)]
pub struct DualPi2 {
    limit: Limit,
    controller: Controller,
    threshold: Time,
    ramp_s: f64,
    classic: CoupledQueue,
    l4s: CoupledQueue,
    /// Shares of the link in parts per million.
    classic_weight: i64,
    l4s_weight: i64,
    /// How far the classic queue lags behind its share, in bytes times weight.
    credit: i64,
    /// Credit after a turn of the classic queue.
    first_credit: i64,
    largest_packet: u64,
}

impl DualPi2 {
    /// Creates the discipline for `link`.
    pub fn new(params: &DualPi2Params, link: &LinkInfo) -> Self {
        let classic_weight = (params.classic_share * WHOLE as f64) as i64;
        let l4s_weight = WHOLE - classic_weight;
        // The turn of the classic queue comes when it lags by an L4S packet, and costs a classic
        // packet.
        let after_a_turn = (classic_weight - l4s_weight).min(0);
        let first_credit = after_a_turn * i64::from(link.packet_bytes);
        DualPi2 {
            limit: link.limit(params.limit),
            controller: Controller::new(params),
            threshold: params.l4s_threshold.time(),
            ramp_s: params.ramp.time().seconds(),
            classic: CoupledQueue::default(),
            l4s: CoupledQueue::default(),
            classic_weight,
            l4s_weight,
            credit: first_credit,
            first_credit,
            largest_packet: u64::from(link.packet_bytes),
        }
    }

    /// Updates the controller with the state of the queues up to `now`.
    #[inline]
    fn keep_up(&mut self, now: Time, buffer: &Buffer) {
        if now < self.controller.next_update {
            return;
        }
        let arrival = |queue: &CoupledQueue| buffer.front(&queue.list).map(|packet| packet.time());
        let oldest = [arrival(&self.classic), arrival(&self.l4s)].into_iter().flatten().min();
        self.controller.catch_up(now, oldest);
    }

    /// Returns the marking probability that the L4S queue's own delay requires (RFC 9332 `laqm()`).
    #[inline]
    fn native_probability(&self, delay: Time) -> f64 {
        if delay < self.threshold {
            return 0.0;
        }
        let above_s = delay.since(self.threshold).seconds();
        if above_s < self.ramp_s { above_s / self.ramp_s } else { 1.0 }
    }

    /// Returns whether the next packet is an L4S packet. While only one queue has packets, the
    /// credit is reset (in appendix A.1, only when the link is idle): the first L4S packets of a
    /// burst then pass the waiting classic packets, 15 of them at a share of 1/16 (sec. 4.2.2).
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

    /// Charges for a packet that was sent while the other queue had packets.
    #[inline]
    fn charge(&mut self, is_l4s: bool, bytes: u32) {
        let weight = if is_l4s { self.classic_weight } else { -self.l4s_weight };
        self.credit += weight * i64::from(bytes);
    }

    /// Removes the first L4S packet (RFC 9332 appendix A.2, `dualpi2_dequeue`, the L4S branch);
    /// returns `None` if it is dropped.
    #[inline]
    fn take_l4s(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        let packet = buffer.pop_front(&mut self.l4s.list)?;
        let delay = now.since(buffer.packet(&packet).time());
        if self.controller.l4s() < P_LMAX {
            // RFC 9332 `Th_len`: a queue of one packet cannot be shorter.
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
        self.l4s.record_sent(delay);
        Some(packet)
    }

    /// Removes the first classic packet (the classic branch); returns `None` if it is dropped.
    #[inline]
    fn take_classic(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        let mut packet = buffer.pop_front(&mut self.classic.list)?;
        if self.classic.recurs(self.controller.classic()) {
            if self.controller.is_saturated() {
                buffer.drop(packet, DropReason::Head);
                return None;
            }
            packet = buffer.mark_or_drop(packet, DropReason::Head)?;
        }
        self.classic.record_sent(now.since(buffer.packet(&packet).time()));
        Some(packet)
    }
}

impl Retune for DualPi2 {
    type Params = DualPi2Params;
    const FIXED: &'static [&'static str] = &["classic_share"];

    fn retune(&mut self, params: &DualPi2Params, link: &LinkInfo) {
        let Controller { base, previous_s, next_update, .. } = self.controller;
        self.limit = link.limit(params.limit);
        self.controller = Controller { base, previous_s, next_update, ..Controller::new(params) };
        self.threshold = params.l4s_threshold.time();
        self.ramp_s = params.ramp.time().seconds();
    }
}

impl Scheduler for DualPi2 {
    #[inline]
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
        self.keep_up(packet.time(), buffer);
        // RFC 9332 appendix A.1, figure 3: there must be room for the largest packet.
        let bytes = buffer.bytes() + self.largest_packet.max(u64::from(packet.bytes()));
        if !self.limit.holds(buffer.packets() + 1, bytes) {
            buffer.refuse(packet, DropReason::Overflow);
            return;
        }
        // RFC 9331 sec. 5.1, RFC 9332 figure 3: a packet that is already marked counts as L4S.
        let queue = match packet.ecn() {
            Ecn::Ect1 | Ecn::Ce => &mut self.l4s,
            Ecn::NotEct | Ecn::Ect0 => &mut self.classic,
        };
        buffer.push_back(&mut queue.list, packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
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
        for queue in [&mut self.classic, &mut self.l4s] {
            (queue.sent, queue.waited) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests;
