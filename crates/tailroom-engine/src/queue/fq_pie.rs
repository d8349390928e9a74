//! Flow Queue PIE: each flow has its own queue under PIE, with its own drop probability (RFC 8033
//! sec. 6); the turns are those of FQ-CoDel (RFC 8290 sec. 4). As in Linux and in
//! draft-tahiliani-tsvwg-fq-pie, delays are measured with timestamps and a full buffer drops
//! arriving packets: PIE drops early enough that no queue needs to be cut.

use super::buffer::{Buffer, DropReason, PacketHandle};
use super::flow_queues::{FLOWS, FlowQueues, LIMIT, check_turn, quantum_or_packet};
use super::pie::{
    ALPHA, BETA, MARK_UP_TO, MAX_BURST, PieParams, PieState, Settings, TARGET, UPDATE_INTERVAL,
    check_update_interval,
};
use super::{BadParameter, Gauge, LinkInfo, Parameters, Retune, Scheduler, Verdict};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::transit::Transit;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{Duration, PositiveDuration, Size};
use crate::random::Stream;
use crate::units::Time;

/// Parameters of an FQ-PIE buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FqPieParams {
    /// Size of all queues together; a full buffer drops arriving packets (10240 packets: Linux, as
    /// RFC 8290 sec. 5.2.3).
    pub limit: QueueLimit,
    /// Number of queues that flows are hashed to (1024: Linux, as RFC 8290 sec. 5.2.5). Flows with
    /// the same hash share a queue.
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Bytes that a flow may send per turn, 256 B or more; with less than a packet ("300 B", for slow
    /// links), small packets pass large ones of other flows. Default: the largest packet of the link, at
    /// least 1500 B: the MTU of RFC 8290 sec. 5.2.4 and of Linux, which both count the header of the link
    /// layer if packets do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Queueing delay that the control loop of a flow aims for (15 ms: RFC 8033 sec. 4.2).
    pub target: PositiveDuration,
    /// Time between updates of the drop probabilities (15 ms: RFC 8033 sec. 4.2).
    pub update_interval: PositiveDuration,
    /// Gain for the difference between delay and target, in 1/s (0.125: RFC 8033 appendix A).
    #[schemars(range(min = 0.0))]
    pub alpha: f64,
    /// Gain for the change of the delay since the last update, in 1/s (1.25: RFC 8033 appendix A).
    #[schemars(range(min = 0.0))]
    pub beta: f64,
    /// How long a burst of a flow passes without drops after a calm period of its queue (150 ms:
    /// RFC 8033 sec. 4.4).
    pub max_burst: Duration,
    /// Drop probability up to which ECN-capable packets are marked instead of dropped (0.1: RFC
    /// 8033 sec. 5.1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mark_up_to: f64,
    /// Prevent drops of a flow that are too close together or too far apart (true: RFC 8033 sec.
    /// 5.4).
    pub derandomize: bool,
}

impl Default for FqPieParams {
    fn default() -> Self {
        FqPieParams {
            limit: QueueLimit::packets(LIMIT),
            flows: FLOWS,
            quantum: None,
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

impl FqPieParams {
    /// Returns the parameters of each queue.
    fn per_queue(&self) -> PieParams {
        PieParams {
            limit: self.limit,
            target: self.target,
            update_interval: self.update_interval,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            mark_up_to: self.mark_up_to,
            derandomize: self.derandomize,
        }
    }
}

impl Parameters for FqPieParams {
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
        check_update_interval(self.update_interval)?;
        check_turn(self.quantum)
    }
}

/// An FQ-PIE buffer.
#[derive(Clone, Debug)]
pub struct FqPie {
    limit: Limit,
    settings: Settings,
    queues: FlowQueues<PieState>,
    random: Stream,
}

impl FqPie {
    /// Creates the discipline for `link`.
    pub fn new(params: &FqPieParams, link: &LinkInfo) -> Self {
        let settings = Settings::new(&params.per_queue(), link);
        let mut random = link.random();
        let aqm_state = PieState::new(&settings);
        let quantum = quantum_or_packet(params.quantum, link);
        FqPie {
            limit: link.limit(params.limit),
            settings,
            queues: FlowQueues::new(params.flows, quantum, aqm_state, &mut random),
            random,
        }
    }
}

impl Retune for FqPie {
    type Params = FqPieParams;
    const FIXED: &'static [&'static str] = &["flows", "quantum"];

    fn retune(&mut self, params: &FqPieParams, link: &LinkInfo) {
        self.limit = link.limit(params.limit);
        self.settings = Settings::new(&params.per_queue(), link);
    }
}

impl Scheduler for FqPie {
    #[expect(clippy::inline_always, reason = "one caller: the event stays in registers")]
    #[inline(always)]
    fn enqueue(&mut self, mut packet: Transit, buffer: &mut Buffer) {
        let index = self.queues.index_of(packet.flow());
        let queue = self.queues.at(index);
        queue.aqm_state.advance(&self.settings, packet.time());
        let bytes = buffer.bytes() + u64::from(packet.bytes());
        if !self.limit.holds(buffer.packets() + 1, bytes) {
            queue.aqm_state.on_overflow();
            buffer.refuse(packet, DropReason::Overflow);
            return;
        }
        let (backlog, ecn) = (queue.list.bytes(), packet.ecn());
        match queue.aqm_state.on_arrival(&self.settings, backlog, ecn, &mut self.random) {
            Verdict::Drop(reason) => return buffer.refuse(packet, reason),
            Verdict::Mark => buffer.mark_arriving(&mut packet),
            Verdict::Accept => {}
        }
        self.queues.push(index, packet, buffer, |_| ());
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        let index = self.queues.next(|_| ())?;
        let queue = self.queues.at(index);
        let packet = buffer.pop_front(&mut queue.list)?;
        queue.aqm_state.advance(&self.settings, now);
        let sent = *buffer.packet(&packet);
        queue.aqm_state.on_departure(now, sent.time(), &queue.list);
        self.queues.on_service(index, sent.bytes());
        self.queues.prefetch_next(index, buffer);
        Some(packet)
    }

    /// Reports the number of queues that have packets, and the largest drop probability among them.
    fn gauges(&self, now: Time) -> Vec<Gauge> {
        let (mut active, mut largest) = (0_u32, 0.0_f64);
        for queue in self.queues.active() {
            let mut aqm_state = queue.aqm_state;
            aqm_state.advance(&self.settings, now);
            active += 1;
            largest = largest.max(aqm_state.probability());
        }
        vec![("backlogged_flows", f64::from(active)), ("largest_drop_probability", largest)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::script;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    fn start(limit: u64) -> (FqPie, Buffer) {
        let params = FqPieParams { limit: QueueLimit::packets(limit), ..Default::default() };
        (FqPie::new(&params, &script::link(8_000_000)), Buffer::default())
    }

    #[test]
    fn a_full_buffer_drops_arriving_packets() {
        let (mut queue, mut buffer) = start(3);
        for (flow, number) in [(0, 0), (0, 1), (0, 2), (1, 0), (0, 3)] {
            let packet = script::packet(Time::ZERO, flow, number, 1_000, Ecn::NotEct);
            queue.enqueue(packet, &mut buffer);
        }
        let overflow = DropReason::Overflow;
        assert_eq!(script::dropped(&mut buffer), [(1, 0, overflow), (0, 3, overflow)]);
    }

    #[test]
    fn each_flow_has_its_own_drop_probability() {
        let (mut queue, mut buffer) = start(10_240);
        for (flow, count) in [(0, 100), (1, 1), (2, 100)] {
            for number in 0..count {
                let packet = script::packet(Time::ZERO, flow, number, 1_000, Ecn::NotEct);
                queue.enqueue(packet, &mut buffer);
            }
        }
        // A turn is two packets, as a packet of 1,000 bytes leaves 500 of the first quantum. Flow 0
        // sends at 40 and 41 ms, flow 1 its only packet at 42 ms, flow 2 at 43 and 44 ms.
        for (now, flow) in [(40, 0), (41, 0), (42, 1), (43, 2), (44, 2)] {
            let sent = script::sent(&mut queue, MS(now), &mut buffer).expect("packets wait");
            assert_eq!(sent.flow(), flow);
        }
        // The updates at 15 and 30 ms see no delay: the probability stays zero. The update of flow
        // 2 at 45 ms gives the largest one, as 44 > 41: (0.125 (44 - 15) ms + 1.25 * 44 ms) / 2048
        // = 0.058625 / 2048.
        let [(_, active), (_, largest)] = queue.gauges(MS(45))[..] else { panic!("two gauges") };
        assert!((active - 2.0).abs() < 1e-9);
        assert!((largest - 0.058_625 / 2_048.0).abs() < 1e-15, "{largest}");
        // Flow 0: (0.125 (41 - 15) ms + 1.25 * 41 ms) / 2048 = 0.0545 / 2048.
        let probability = |queue: &mut FqPie, flow| {
            let settings = queue.settings;
            let index = queue.queues.index_of(flow);
            let mut aqm_state = queue.queues.at(index).aqm_state;
            aqm_state.advance(&settings, MS(45));
            aqm_state.probability()
        };
        assert!((probability(&mut queue, 0) - 0.054_5 / 2_048.0).abs() < 1e-15);
        assert!(probability(&mut queue, 1).abs() < 1e-15);
    }

    /// A flow that sends at twice the link's rate alongside a flow that sends at a tenth of it, for
    /// six seconds. Returns the early drops of each, the marks, and how many packets of the second
    /// left within 3 ms.
    fn greedy_and_modest(ecn: Ecn) -> ([u64; 2], u64, u64) {
        let (mut queue, mut buffer) = start(10_240);
        let (mut drops, mut marks, mut quick) = ([0; 2], 0, 0);
        for now in 0..6_000 {
            for number in [2 * now, 2 * now + 1] {
                queue.enqueue(script::packet(MS(now), 0, number, 1_000, ecn), &mut buffer);
            }
            if now % 10 == 0 {
                queue.enqueue(script::packet(MS(now), 1, now, 1_000, ecn), &mut buffer);
            }
            for (flow, _, reason) in script::dropped(&mut buffer) {
                assert_eq!(reason, DropReason::Early);
                drops[flow as usize] += 1;
            }
            marks += buffer.take_marks();
            let sent = script::sent(&mut queue, MS(now), &mut buffer).expect("packets wait");
            quick += u64::from(sent.flow() == 1 && MS(now).since(sent.time()) <= MS(3));
        }
        (drops, marks, quick)
    }

    #[test]
    fn only_the_flow_with_a_standing_queue_loses_packets() {
        let (drops, marks, quick) = greedy_and_modest(Ecn::NotEct);
        assert!(drops[0] > 0);
        assert_eq!((drops[1], marks, quick), (0, 0, 600));
    }

    #[test]
    fn a_backlog_of_two_packets_is_not_dropped_however_long_the_other_queues_are() {
        // Twenty flows send at twice the link's rate. Flow 20 always has two packets waiting, which
        // wait for a round each: far longer than the target.
        let (mut queue, mut buffer) = start(10_240);
        let mut drops = [0; 21];
        let (mut number, mut longest) = (0, Time::ZERO);
        let mut arrive = |queue: &mut FqPie, buffer: &mut Buffer, now, flow| {
            number += 1;
            queue.enqueue(script::packet(MS(now), flow, number, 1_000, Ecn::NotEct), buffer);
        };
        (0..2).for_each(|_| arrive(&mut queue, &mut buffer, 0, 20));
        for now in 0..10_000 {
            let first = 2 * (now % 10) as u32;
            (first..first + 2).for_each(|flow| arrive(&mut queue, &mut buffer, now, flow));
            let sent = script::sent(&mut queue, MS(now), &mut buffer).expect("packets wait");
            if sent.flow() == 20 {
                longest = longest.max(MS(now).since(sent.time()));
                arrive(&mut queue, &mut buffer, now, 20);
            }
            for (flow, _, _) in script::dropped(&mut buffer) {
                drops[flow as usize] += 1;
            }
        }
        assert!(longest > MS(40), "{longest}");
        assert_eq!(drops[20], 0);
        assert!(drops[..20].iter().all(|count| *count > 0), "{drops:?}");
    }

    #[test]
    fn a_stalled_link_drops_more_and_more_packets() {
        let (mut queue, mut buffer) = start(10_240);
        let arrive = |queue: &mut FqPie, buffer: &mut Buffer, now, number| {
            queue.enqueue(script::packet(MS(now), 0, number, 1_000, Ecn::NotEct), buffer);
        };
        (0..100).for_each(|number| arrive(&mut queue, &mut buffer, 0, number));
        assert!(script::sent(&mut queue, MS(200), &mut buffer).is_some());
        // The delay stays at 200 ms. The first update gives 0.273 / 2048 = 1.3e-4; then steps of
        // 0.023125, divided by 32, 8 and 2 and finally capped at 0.02, reach 1 within 2 + 4 + 8 +
        // 46 updates: at 1.2 s at the latest. From then on every packet is dropped.
        (201..1_200).for_each(|now| arrive(&mut queue, &mut buffer, now, now));
        script::dropped(&mut buffer);
        (1_200..1_300).for_each(|now| arrive(&mut queue, &mut buffer, now, now));
        assert_eq!(script::dropped(&mut buffer).len(), 100);
    }

    #[test]
    fn marks_precede_drops() {
        // Marks do not slow this flow down, so its probability grows beyond a tenth, above which
        // ECN-capable packets are dropped too.
        let (drops, marks, quick) = greedy_and_modest(Ecn::Ect0);
        assert!(marks > 0 && drops[0] > 0, "{marks} {drops:?}");
        assert_eq!((drops[1], quick), (0, 600));
    }
}
