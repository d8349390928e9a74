//! Controlled Delay (RFC 8289): drops packets that have waited too long as they leave, the more
//! often the longer the delay stays above its target.
//!
//! Follows the pseudocode of RFC 8289 sec. 5. The RFC does not specify marking: as in Linux and
//! FQ-CoDel (RFC 8290 sec. 5.2.6), an ECN-capable packet is marked where it would be dropped. It is
//! then the packet to send, which ends the loop of sec. 5.5.

use super::buffer::{Buffer, DropReason, PacketHandle, PacketList};
use super::emptying::{EMPTIED_INTERVALS, Emptying};
use super::{BadParameter, DelayTarget, Gauge, LinkInfo, Parameters, Retune, Scheduler};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::transit::Transit;
use crate::quantity::PositiveDuration;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::units::Time;

/// Queueing delay that may persist (RFC 8289 sec. 4.3: 5 ms, a twentieth of the interval).
pub(super) const TARGET: PositiveDuration = PositiveDuration::new(5_000_000_000);
/// Time that senders need to react, a round trip (RFC 8289 sec. 4.2: 100 ms).
pub(super) const INTERVAL: PositiveDuration = PositiveDuration::new(100_000_000_000);
/// How long the last drop rate remains useful, in intervals (RFC 8289 sec. 5.5, as Linux).
const MEMORY: u64 = 16;

/// Parameters of a CoDel buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CodelParams {
    /// Buffer size; a full buffer drops arriving packets. RFC 8289 specifies no limit: the default
    /// is the 1000 packets of Linux.
    pub limit: QueueLimit,
    /// Queueing delay that may persist (5 ms: RFC 8289 sec. 4.3); best 5 to 10 % of the interval.
    pub target: PositiveDuration,
    /// How long the delay must stay above the target before the first drop; should be a little more
    /// than the round trip of most connections (100 ms: RFC 8289 sec. 4.2). After drop n, the next
    /// drop follows after this time divided by the square root of n.
    pub interval: PositiveDuration,
    /// How the square root is computed; if left out, as RFC 8289 has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<CodelVariant>,
}

/// How CoDel computes when the next packet is due, from the square root of the number of drops.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
pub enum CodelVariant {
    /// RFC 8289: exactly.
    #[default]
    #[serde(rename = "rfc8289")]
    Rfc8289,
    /// Linux (`codel_Newton_step` in `include/net/codel_impl.h`): by one step of Newton's method from
    /// the root for the number before. The third drop follows the second after 0.5 intervals, by the
    /// RFC after 0.71; the fourth after 0.56 and 0.58.
    #[serde(rename = "linux")]
    Linux,
}

impl Default for CodelParams {
    fn default() -> Self {
        CodelParams {
            limit: QueueLimit::packets(1_000),
            target: TARGET,
            interval: INTERVAL,
            variant: None,
        }
    }
}

impl Parameters for CodelParams {
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
        check_target(self.target, self.interval)
    }

    fn delay_target(&self) -> Option<DelayTarget> {
        Some(DelayTarget { target: self.target.time(), interval: self.interval.time() })
    }
}

/// Refuses a target that is not below the interval.
pub(super) fn check_target(
    target: PositiveDuration,
    interval: PositiveDuration,
) -> Result<(), BadParameter> {
    if target.time() < interval.time() {
        return Ok(());
    }
    let problem = format!("a target of {target} is not below the interval of {interval}");
    let remedy = format!("write a time above zero and below {interval}, or raise `interval`");
    Err(BadParameter::new("target", problem, remedy))
}

/// The parameters of CoDel at a link, which all its queues share.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    target: Time,
    interval: Time,
    packet_bytes: u64,
    variant: CodelVariant,
}

impl Settings {
    /// Creates the settings for `link`.
    pub fn new(
        target: PositiveDuration,
        interval: PositiveDuration,
        variant: Option<CodelVariant>,
        link: &LinkInfo,
    ) -> Self {
        Settings {
            target: target.time(),
            interval: interval.time(),
            packet_bytes: u64::from(link.packet_bytes),
            variant: variant.unwrap_or_default(),
        }
    }

    /// The square root of `count`, the number after the one whose root was `before`.
    fn root(&self, count: u32, before: f64) -> f64 {
        let count = f64::from(count);
        match self.variant {
            CodelVariant::Rfc8289 => libm::sqrt(count),
            CodelVariant::Linux if count <= 1.0 => 1.0,
            // Newton's step for x = 1 / sqrt(n) is x (3 - n x^2) / 2.
            CodelVariant::Linux => 2.0 * before.powi(3) / (3.0 * before * before - count),
        }
    }

    /// Returns when the drop after the drop at `from` is due (RFC 8289 sec. 5.6).
    fn control_law(&self, from: Time, root: f64) -> Time {
        let pause = self.interval.seconds() / root;
        from.saturating_add(Time::from_seconds(pause))
    }
}

/// The state of CoDel for one queue (RFC 8289 sec. 5.2).
#[derive(Clone, Copy, Debug)]
pub struct CodelState {
    /// When the delay will have been above the target for an interval; never while it is below.
    first_above: Time,
    drop_next: Time,
    /// Number of drops in the dropping state, including the initial count; sets the drop rate.
    count: u32,
    /// `count` at the start of the dropping state.
    last_count: u32,
    /// The square root of `count`.
    root: f64,
    is_dropping: bool,
}

impl Default for CodelState {
    fn default() -> Self {
        CodelState {
            first_above: Time::NEVER,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            root: 1.0,
            is_dropping: false,
        }
    }
}

impl CodelState {
    /// Returns the packet of `queue` to send at `now`. Drops the packets before it that are due, or
    /// marks and returns the first of them (RFC 8289 sec. 5.5).
    #[inline]
    pub fn dequeue(
        &mut self,
        settings: &Settings,
        now: Time,
        queue: &mut PacketList,
        buffer: &mut Buffer,
    ) -> Option<PacketHandle> {
        let (packet, may_drop) = self.take(settings, now, queue, buffer)?;
        if !may_drop {
            self.is_dropping = false;
            return Some(packet);
        }
        if !self.is_dropping {
            return self.begin_dropping(packet, settings, now, queue, buffer);
        }
        if now < self.drop_next {
            return Some(packet);
        }
        self.continue_dropping(packet, settings, now, queue, buffer)
    }

    /// Removes the first packet from `queue`; also returns whether the delay has been above the
    /// target for an interval (RFC 8289 sec. 5.6, `dodequeue`).
    #[inline]
    fn take(
        &mut self,
        settings: &Settings,
        now: Time,
        queue: &mut PacketList,
        buffer: &mut Buffer,
    ) -> Option<(PacketHandle, bool)> {
        let Some(packet) = buffer.pop_front(queue) else {
            self.on_empty_queue();
            return None;
        };
        // A slow link must not lose its last packet. Packets in any queue of the link keep it busy
        // (RFC 8289 sec. 4.1 and 4.4).
        let is_short = buffer.bytes() <= settings.packet_bytes;
        if now - buffer.packet(&packet).time() < settings.target || is_short {
            self.first_above = Time::NEVER;
            return Some((packet, false));
        }
        if self.first_above == Time::NEVER {
            self.first_above = now.saturating_add(settings.interval);
            return Some((packet, false));
        }
        Some((packet, now >= self.first_above))
    }

    /// Resets the state when the queue is found empty (RFC 8289 sec. 5.6).
    #[inline]
    pub fn on_empty_queue(&mut self) {
        (self.first_above, self.is_dropping) = (Time::NEVER, false);
    }

    fn begin_dropping(
        &mut self,
        packet: PacketHandle,
        settings: &Settings,
        now: Time,
        queue: &mut PacketList,
        buffer: &mut Buffer,
    ) -> Option<PacketHandle> {
        let next = match buffer.mark_or_drop(packet, DropReason::Head) {
            Some(marked) => Some(marked),
            None => self.take(settings, now, queue, buffer).map(|(next, _)| next),
        };
        // If the last dropping state is recent, resume with its drop rate.
        let gained = self.count - self.last_count;
        let memory = Time::from_picoseconds(settings.interval.picoseconds().saturating_mul(MEMORY));
        let is_recent = now.since(self.drop_next) < memory;
        self.set_count(if gained > 1 && is_recent { gained } else { 1 }, settings);
        self.last_count = self.count;
        self.is_dropping = true;
        self.drop_next = settings.control_law(now, self.root);
        next
    }

    /// Drops the packets that have become due since the last departure.
    fn continue_dropping(
        &mut self,
        mut packet: PacketHandle,
        settings: &Settings,
        now: Time,
        queue: &mut PacketList,
        buffer: &mut Buffer,
    ) -> Option<PacketHandle> {
        while now >= self.drop_next {
            self.set_count(self.count.saturating_add(1), settings);
            if let Some(marked) = buffer.mark_or_drop(packet, DropReason::Head) {
                self.drop_next = settings.control_law(self.drop_next, self.root);
                return Some(marked);
            }
            let (next, may_drop) = self.take(settings, now, queue, buffer)?;
            packet = next;
            if !may_drop {
                self.is_dropping = false;
                break;
            }
            self.drop_next = settings.control_law(self.drop_next, self.root);
        }
        Some(packet)
    }

    fn set_count(&mut self, count: u32, settings: &Settings) {
        self.root = settings.root(count, self.root);
        self.count = count;
    }
}

/// A CoDel buffer.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: Limit,
    settings: Settings,
    aqm_state: CodelState,
    queue: PacketList,
    emptying: Emptying,
}

impl Codel {
    /// Creates the discipline for `link`.
    pub fn new(params: &CodelParams, link: &LinkInfo) -> Self {
        Codel {
            limit: link.limit(params.limit),
            settings: Settings::new(params.target, params.interval, params.variant, link),
            aqm_state: CodelState::default(),
            queue: PacketList::default(),
            emptying: Emptying::for_target(params.delay_target()),
        }
    }
}

impl Retune for Codel {
    type Params = CodelParams;

    fn retune(&mut self, params: &CodelParams, link: &LinkInfo) {
        self.limit = link.limit(params.limit);
        self.settings = Settings::new(params.target, params.interval, params.variant, link);
    }
}

impl Scheduler for Codel {
    #[inline]
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
        self.emptying.on_arrival(packet.time(), self.queue.is_empty());
        let bytes = buffer.bytes() + u64::from(packet.bytes());
        if self.limit.holds(buffer.packets() + 1, bytes) {
            buffer.push_back(&mut self.queue, packet);
        } else {
            buffer.refuse(packet, DropReason::Overflow);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        let packet = self.aqm_state.dequeue(&self.settings, now, &mut self.queue, buffer);
        if self.queue.is_empty() {
            self.emptying.on_empty(now);
        }
        packet
    }

    /// Reports whether CoDel is dropping (1) or not (0), the count that sets the drop rate, and how
    /// often the queue empties.
    fn gauges(&self, now: Time) -> Vec<Gauge> {
        let is_dropping = f64::from(u8::from(self.aqm_state.is_dropping));
        vec![
            ("dropping_state", is_dropping),
            ("drop_count", f64::from(self.aqm_state.count)),
            (EMPTIED_INTERVALS, self.emptying.fraction(now)),
        ]
    }

    fn restart_gauges(&mut self, now: Time) {
        self.emptying.restart(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::script;

    fn tenths(count: u64) -> Time {
        Time::from_picoseconds(count * 100_000_000)
    }

    /// CoDel over packets of 1,000 bytes, called every tenth of a millisecond.
    struct Bench {
        aqm_state: CodelState,
        settings: Settings,
        waiting: u64,
        ecn: Ecn,
    }

    impl Bench {
        fn new(waiting: u64, ecn: Ecn) -> Self {
            Bench::of(CodelVariant::Rfc8289, waiting, ecn)
        }

        fn of(variant: CodelVariant, waiting: u64, ecn: Ecn) -> Self {
            let settings = Settings::new(TARGET, INTERVAL, Some(variant), &script::link(8_000_000));
            Bench { aqm_state: CodelState::default(), settings, waiting, ecn }
        }

        /// Removes a packet from a queue in which all packets have waited for `sojourn`; returns
        /// how many packets were dropped or marked.
        fn dequeue_after(&mut self, now: Time, sojourn: Time) -> usize {
            let (mut buffer, mut queue) = (Buffer::default(), PacketList::default());
            for sequence in 0..self.waiting {
                let packet = script::packet(now.since(sojourn), 0, sequence, 1_000, self.ecn);
                buffer.push_back(&mut queue, packet);
            }
            let sent = self.aqm_state.dequeue(&self.settings, now, &mut queue, &mut buffer);
            let sent = sent.map(|sent| buffer.take(sent));
            let sent = sent.expect("packets wait");
            let dropped = script::dropped(&mut buffer);
            assert!(dropped.iter().all(|(_, _, reason)| *reason == DropReason::Head));
            let marked = buffer.take_marks() as usize;
            assert_eq!(marked == 1, sent.ecn() == Ecn::Ce);
            dropped.len() + marked
        }

        /// Returns when packets are dropped or marked from `from` to before `until`, in tenths of a
        /// millisecond.
        fn hits(&mut self, from: u64, until: u64, sojourn_ms: u64) -> Vec<u64> {
            let sojourn = Time::from_milliseconds(sojourn_ms);
            let hits = |now| vec![now; self.dequeue_after(tenths(now), sojourn)];
            (from..until).flat_map(hits).collect()
        }
    }

    // The drop times of a queue whose delay is above 5 ms from 1 s on, in ms after 1 s. The first
    // drop is due after an interval, 100; drop n + 1 is due 100 / sqrt(n) after drop n:
    // 100 -> 200 -> + 70.7107 = 270.7107 -> + 57.7350 = 328.4457 -> + 50 = 378.4457
    // -> + 44.7214 = 423.1671 -> + 40.8248 = 463.9919 -> + 37.7964 = 501.7883,
    // each at the next tenth of a millisecond.
    const SCHEDULE: [u64; 8] = [11_000, 12_000, 12_708, 13_285, 13_785, 14_232, 14_640, 15_018];

    #[test]
    fn the_time_between_drops_is_the_interval_over_the_square_root_of_the_count() {
        assert_eq!(Bench::new(5, Ecn::NotEct).hits(10_000, 15_200, 10), SCHEDULE);
    }

    // One step of x (3 - n x^2) / 2 a drop, from x = 1 for n = 1: 0.5, 0.5625, 0.487793, 0.441523 and
    // 0.404070 intervals (1 / sqrt(n): 0.7071, 0.5774, 0.5, 0.4472, 0.4082) after drops 2 to 6:
    // 100 -> 200 -> + 50 = 250 -> + 56.25 = 306.25 -> + 48.7793 = 355.0293 -> + 44.1523 = 399.1816
    // -> + 40.4070 = 439.5886.
    #[test]
    fn linux_approximates_the_square_root_by_one_step() {
        let mut bench = Bench::of(CodelVariant::Linux, 5, Ecn::NotEct);
        let schedule = [11_000, 12_000, 12_500, 13_063, 13_551, 13_992, 14_396];
        assert_eq!(bench.hits(10_000, 14_500, 10), schedule);
    }

    #[test]
    fn marks_ecn_capable_packets_instead_of_dropping_them() {
        for ecn in [Ecn::Ect0, Ecn::Ect1] {
            assert_eq!(Bench::new(5, ecn).hits(10_000, 15_200, 10), SCHEDULE);
        }
    }

    #[test]
    fn drops_nothing_below_the_target() {
        let mut bench = Bench::new(5, Ecn::NotEct);
        assert_eq!(bench.hits(10_000, 20_000, 4), [0_u64; 0]);
        // One packet per interval below the target prevents drops.
        for start in (20_000..40_000).step_by(1_000) {
            assert_eq!(bench.hits(start, start + 999, 10), [0_u64; 0]);
            assert_eq!(bench.hits(start + 999, start + 1_000, 4), [0_u64; 0]);
        }
        // A delay equal to the target is not below it.
        assert_eq!(bench.hits(40_000, 41_001, 5), [41_000]);
    }

    #[test]
    fn drops_nothing_from_a_backlog_of_one_packet() {
        // One packet is sent, one is left.
        assert_eq!(Bench::new(2, Ecn::NotEct).hits(10_000, 20_000, 50), [0_u64; 0]);
        assert_eq!(Bench::new(3, Ecn::NotEct).hits(10_000, 11_001, 50), [11_000]);
    }

    #[test]
    fn a_slow_link_drops_all_packets_that_are_due() {
        // Drops are due at 1.1 s, 1.2 s, 1.270711 s and 1.328446 s; the link is free at 1.1 s and
        // 1.3 s.
        let mut bench = Bench::new(9, Ecn::NotEct);
        bench.hits(10_000, 10_001, 10);
        assert_eq!(bench.dequeue_after(tenths(11_000), tenths(100)), 1);
        assert_eq!(bench.dequeue_after(tenths(13_000), tenths(100)), 2);
        assert_eq!(bench.dequeue_after(tenths(13_001), tenths(100)), 0);
        // A marked packet is sent, so the next mark that is due waits for the next packet.
        let mut bench = Bench::new(9, Ecn::Ect0);
        bench.hits(10_000, 10_001, 10);
        let times = [11_000, 13_000, 13_001, 13_002];
        assert_eq!(times.map(|now| bench.dequeue_after(tenths(now), tenths(100))), [1, 1, 1, 0]);
    }

    #[test]
    fn a_packet_below_the_target_ends_dropping() {
        // Two drops are due at 1.3 s, but the packets behind the first have only just arrived.
        let mut bench = Bench::new(9, Ecn::NotEct);
        bench.hits(10_000, 10_001, 10);
        assert_eq!(bench.dequeue_after(tenths(11_000), tenths(100)), 1);
        let (mut buffer, mut queue) = (Buffer::default(), PacketList::default());
        for (sequence, arrival) in [(0, 12_000), (1, 12_990), (2, 12_990), (3, 12_990)] {
            let packet = script::packet(tenths(arrival), 0, sequence, 1_000, Ecn::NotEct);
            buffer.push_back(&mut queue, packet);
        }
        let Bench { aqm_state, settings, .. } = &mut bench;
        let sent = aqm_state.dequeue(settings, tenths(13_000), &mut queue, &mut buffer);
        let sent = buffer.take(sent.expect("packets wait"));
        assert_eq!(sent.packet(0).sequence, 1);
        assert_eq!(script::dropped(&mut buffer), [(0, 0, DropReason::Head)]);
        // The next drop requires another interval above the target.
        assert_eq!(bench.hits(13_001, 14_002, 10), [14_001]);
    }

    #[test]
    fn an_empty_queue_ends_dropping() {
        let mut bench = Bench::new(5, Ecn::NotEct);
        assert_eq!(bench.hits(10_000, 11_001, 10), [11_000]);
        let (mut buffer, mut queue) = (Buffer::default(), PacketList::default());
        let Bench { aqm_state, settings, .. } = &mut bench;
        assert_eq!(aqm_state.dequeue(settings, tenths(11_001), &mut queue, &mut buffer), None);
        assert_eq!(bench.hits(11_002, 12_003, 10), [12_002]);
    }

    /// Leaves the dropping state after the drops at 1.1, 1.2, 1.2708 and 1.3285 s with a count of
    /// 4, so that the count has grown by 3 and the next drop was due at 1.3784457 s.
    fn left_with_a_count_of_four() -> Bench {
        let mut bench = Bench::new(5, Ecn::NotEct);
        assert_eq!(bench.hits(10_000, 13_500, 10), SCHEDULE[..4]);
        assert_eq!(bench.hits(13_500, 13_501, 1), [0_u64; 0]);
        bench
    }

    #[test]
    fn dropping_resumes_with_the_gained_count_within_sixteen_intervals() {
        // An interval above the target ends at 1.45 s; + 100 / sqrt(3) = 57.7350 ms; + 100 / 2.
        let hits = left_with_a_count_of_four().hits(13_501, 15_600, 10);
        assert_eq!(hits, [14_501, 15_079, 15_579]);
        // 1.3784457 s + 16 intervals = 2.9784457 s: the last tenth before it, then + 57.7350 ms.
        let hits = left_with_a_count_of_four().hits(28_784, 30_400, 10);
        assert_eq!(hits, [29_784, 30_362]);
    }

    #[test]
    fn dropping_restarts_with_one_after_sixteen_intervals() {
        let hits = left_with_a_count_of_four().hits(28_785, 31_000, 10);
        assert_eq!(hits, [29_785, 30_785]);
    }

    #[test]
    fn dropping_restarts_with_one_after_a_gain_of_one() {
        let mut bench = Bench::new(5, Ecn::NotEct);
        assert_eq!(bench.hits(10_000, 12_500, 10), SCHEDULE[..2]);
        assert_eq!(bench.hits(12_500, 12_501, 1), [0_u64; 0]);
        assert_eq!(bench.hits(12_501, 14_600, 10), [13_501, 14_501]);
    }

    #[test]
    fn overflow_drops_the_tail_and_the_control_law_drops_the_head() {
        let params = CodelParams { limit: QueueLimit::packets(400), ..CodelParams::default() };
        let mut queue = Codel::new(&params, &script::link(8_000_000));
        let mut buffer = Buffer::default();
        for sequence in 0..402 {
            let packet = script::packet(Time::ZERO, 0, sequence, 1_000, Ecn::NotEct);
            queue.enqueue(packet, &mut buffer);
        }
        let overflow = DropReason::Overflow;
        assert_eq!(script::dropped(&mut buffer), [(0, 400, overflow), (0, 401, overflow)]);
        // One packet leaves per millisecond. The delay is above the target from 5 ms on, so a drop
        // is due at 105 ms, after packets 0 to 104 have left.
        for millisecond in 0..=105 {
            assert_eq!(script::dropped(&mut buffer), []);
            let sent = script::sent(&mut queue, Time::from_milliseconds(millisecond), &mut buffer);
            let number = millisecond + u64::from(millisecond == 105);
            assert_eq!(sent.expect("packets wait").packet(0).sequence, number);
        }
        assert_eq!(script::dropped(&mut buffer), [(0, 105, DropReason::Head)]);
        let state =
            [("dropping_state", 1.0), ("drop_count", 1.0), ("emptied_intervals_fraction", 1.0)];
        assert_eq!(queue.gauges(Time::from_milliseconds(105)), state);
    }
}
