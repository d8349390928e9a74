//! Flow Queue CoDel (RFC 8290): each flow has its own queue under CoDel; new flows go first.
//!
//! The CE threshold of RFC 8290 sec. 5.2.7, off by default there, is not implemented.

use super::buffer::{Buffer, DropReason, PacketHandle};
use super::codel::{CodelState, CodelVariant, INTERVAL, Settings, TARGET, check_target};
use super::flow_queues::{FLOWS, FlowQueues, LIMIT, check_turn, quantum_or_packet};
use super::{BadParameter, Gauge, LinkInfo, Parameters, Retune, Scheduler};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::transit::Transit;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::quantity::{PositiveDuration, Size};
use crate::units::Time;

/// Largest number of packets that a full buffer drops at once (RFC 8290 sec. 4.1).
const DROP_BATCH: u64 = 64;

/// Parameters of an FQ-CoDel buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FqCodelParams {
    /// Size of all queues together (10240 packets: RFC 8290 sec. 5.2.3). When the buffer is full,
    /// the queue with the most bytes loses half of its packets, at most 64, from its head (sec.
    /// 4.1).
    pub limit: QueueLimit,
    /// Number of queues that flows are hashed to (1024: RFC 8290 sec. 5.2.5). Flows with the same
    /// hash share a queue.
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Bytes that a flow may send per turn, 256 B or more; with less than a packet ("300 B", for slow
    /// links), small packets pass large ones of other flows. Default: the largest packet of the link, at
    /// least 1500 B: the MTU of RFC 8290 sec. 5.2.4 and of Linux, which both count the header of the link
    /// layer if packets do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Queueing delay that may persist per flow; at least the time that the link takes for the
    /// largest packet (5 ms: RFC 8290 sec. 5.2.2).
    pub target: PositiveDuration,
    /// How long the delay of a flow must stay above the target before its first drop; should be
    /// about the longest usual round trip (100 ms: RFC 8290 sec. 5.2.1).
    pub interval: PositiveDuration,
    /// How the square root of the number of drops is computed; if left out, as RFC 8289 has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<CodelVariant>,
}

impl Default for FqCodelParams {
    fn default() -> Self {
        FqCodelParams {
            limit: QueueLimit::packets(LIMIT),
            flows: FLOWS,
            quantum: None,
            target: TARGET,
            interval: INTERVAL,
            variant: None,
        }
    }
}

impl Parameters for FqCodelParams {
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
        check_target(self.target, self.interval)?;
        check_turn(self.quantum)
    }
}

/// An FQ-CoDel buffer.
#[derive(Clone, Debug)]
pub struct FqCodel {
    limit: Limit,
    settings: Settings,
    queues: FlowQueues<CodelState>,
}

impl FqCodel {
    /// Creates the discipline for `link`.
    pub fn new(params: &FqCodelParams, link: &LinkInfo) -> Self {
        let (flows, quantum) = (params.flows, quantum_or_packet(params.quantum, link));
        FqCodel {
            limit: link.limit(params.limit),
            settings: Settings::new(params.target, params.interval, params.variant, link),
            queues: FlowQueues::new(flows, quantum, CodelState::default(), &mut link.random()),
        }
    }

    /// Drops half of the largest queue, at most [`DROP_BATCH`] packets, from its head: several
    /// packets at once, because the search for the queue takes time (RFC 8290 sec. 4.1).
    #[cold]
    fn make_room(&mut self, buffer: &mut Buffer) {
        self.queues.cut_fattest(|list| {
            for _ in 0..list.packets().div_ceil(2).min(DROP_BATCH) {
                if let Some(packet) = buffer.pop_front(list) {
                    buffer.drop(packet, DropReason::Overflow);
                }
            }
        });
    }
}

impl Retune for FqCodel {
    type Params = FqCodelParams;
    const FIXED: &'static [&'static str] = &["flows", "quantum"];

    fn retune(&mut self, params: &FqCodelParams, link: &LinkInfo) {
        self.limit = link.limit(params.limit);
        self.settings = Settings::new(params.target, params.interval, params.variant, link);
    }
}

impl Scheduler for FqCodel {
    #[expect(clippy::inline_always, reason = "one caller: the event stays in registers")]
    #[inline(always)]
    fn enqueue(&mut self, packet: Transit, buffer: &mut Buffer) {
        let index = self.queues.index_of(packet.flow());
        self.queues.push(index, packet, buffer, CodelState::on_empty_queue);
        while !self.limit.holds(buffer.packets(), buffer.bytes()) {
            self.make_room(buffer);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        loop {
            let index = self.queues.next(CodelState::on_empty_queue)?;
            let queue = self.queues.at(index);
            let packet = queue.aqm_state.dequeue(&self.settings, now, &mut queue.list, buffer);
            let bytes = packet.as_ref().map_or(0, |packet| buffer.packet(packet).bytes());
            self.queues.on_service(index, bytes);
            self.queues.follow_turns(index, buffer);
            if packet.is_some() {
                return packet;
            }
        }
    }

    /// Reports the number of queues that have packets.
    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        vec![("backlogged_flows", self.queues.active().count() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::script;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    fn start(limit: u64) -> (FqCodel, Buffer) {
        let params = FqCodelParams { limit: QueueLimit::packets(limit), ..Default::default() };
        (FqCodel::new(&params, &script::link(8_000_000)), Buffer::default())
    }

    fn arrive(
        queue: &mut FqCodel,
        buffer: &mut Buffer,
        flow: u32,
        numbers: std::ops::Range<u64>,
        bytes: u32,
    ) {
        for number in numbers {
            queue.enqueue(script::packet(Time::ZERO, flow, number, bytes, Ecn::NotEct), buffer);
        }
    }

    fn numbers_dropped(buffer: &mut Buffer, of: u32) -> Vec<u64> {
        let number = |(flow, number, reason)| {
            assert_eq!((flow, reason), (of, DropReason::Overflow));
            number
        };
        script::dropped(buffer).into_iter().map(number).collect()
    }

    #[test]
    fn a_full_buffer_halves_the_queue_with_the_most_bytes() {
        let (mut queue, mut buffer) = start(200);
        arrive(&mut queue, &mut buffer, 0, 0..150, 100); // 15,000 bytes
        arrive(&mut queue, &mut buffer, 1, 0..50, 1_000); // 50,000 bytes
        assert!(!buffer.has_dropped());
        // The packet that does not fit belongs to flow 0; flow 1 loses 25 of its 50 packets, from
        // the head.
        arrive(&mut queue, &mut buffer, 0, 150..151, 100);
        assert_eq!(numbers_dropped(&mut buffer, 1), (0..25).collect::<Vec<_>>());
        assert_eq!(buffer.packets(), 151 + 25);
        // 24 more packets fit. Flow 1 then has 25 packets and 25,000 bytes, more than flow 0: it
        // loses 13.
        arrive(&mut queue, &mut buffer, 0, 151..175, 100);
        assert!(!buffer.has_dropped());
        arrive(&mut queue, &mut buffer, 0, 175..176, 100);
        assert_eq!(numbers_dropped(&mut buffer, 1), (25..38).collect::<Vec<_>>());
    }

    #[test]
    fn a_full_buffer_drops_at_most_64_packets_at_once() {
        let (mut queue, mut buffer) = start(200);
        arrive(&mut queue, &mut buffer, 1, 0..201, 1_000);
        assert_eq!(numbers_dropped(&mut buffer, 1), (0..64).collect::<Vec<_>>());
        assert_eq!(buffer.packets(), 137);
    }

    #[test]
    fn a_buffer_of_one_packet_keeps_the_newest_packet() {
        let (mut queue, mut buffer) = start(1);
        arrive(&mut queue, &mut buffer, 1, 0..3, 1_000);
        assert_eq!(numbers_dropped(&mut buffer, 1), [0, 1]);
        let sent = script::sent(&mut queue, Time::ZERO, &mut buffer).expect("one packet waits");
        assert_eq!(sent.packet(0).sequence, 2);
        assert_eq!(script::sent(&mut queue, Time::ZERO, &mut buffer), None);
    }

    /// With 300 B, the usual advice for slow links, RFC 8290 sec. 4.2 by hand: a packet of 1500 B leaves
    /// 300 - 1500 = -1200 B of credit, which five turns of another flow with 300 B each make up for.
    #[test]
    fn small_packets_pass_large_ones_if_the_quantum_is_small() {
        let link = LinkInfo { packet_bytes: 1_500, ..script::link(8_000_000) };
        let params = FqCodelParams { quantum: Some(Size::new(300)), ..Default::default() };
        let (mut queue, mut buffer) = (FqCodel::new(&params, &link), Buffer::default());
        arrive(&mut queue, &mut buffer, 0, 0..2, 1_500);
        arrive(&mut queue, &mut buffer, 1, 0..40, 100);
        let sent = |_| script::sent(&mut queue, Time::ZERO, &mut buffer).map(Transit::flow);
        let order: Vec<u32> = (0..42).filter_map(sent).collect();
        assert_eq!(order[0], 0);
        assert_eq!(order.iter().skip(1).position(|&flow| flow == 0), Some(5 * 3));
    }

    #[test]
    fn reports_the_number_of_backlogged_flows() {
        let (mut queue, mut buffer) = start(200);
        for flow in 0..5 {
            arrive(&mut queue, &mut buffer, flow, 0..2, 100);
        }
        let active = |queue: &FqCodel| queue.gauges(Time::ZERO);
        assert_eq!(active(&queue), [("backlogged_flows", 5.0)]);
        // The 200 bytes of a flow are less than a quantum, so the flows leave one after the other.
        assert_eq!(
            (0..4).filter_map(|_| script::sent(&mut queue, Time::ZERO, &mut buffer)).count(),
            4
        );
        assert_eq!(active(&queue), [("backlogged_flows", 3.0)]);
    }

    /// A flow with a standing queue alongside a flow that sends a packet every 10 ms. Returns when
    /// packets of the first are dropped or marked, and how many packets of the second leave.
    fn standing_and_sparse(ecn: Ecn) -> (Vec<u64>, u64) {
        let (mut queue, mut buffer) = start(10_240);
        for number in 0..2_000 {
            queue.enqueue(script::packet(Time::ZERO, 0, number, 1_000, ecn), &mut buffer);
        }
        let (mut hits, mut sparse) = (Vec::new(), 0);
        for now in 0..420 {
            if now % 10 == 0 {
                queue.enqueue(script::packet(MS(now), 1, now, 1_000, ecn), &mut buffer);
            }
            let sent = script::sent(&mut queue, MS(now), &mut buffer).expect("packets wait");
            sparse += u64::from(sent.flow() == 1);
            assert!(sent.flow() == 0 || sent.ecn() == ecn);
            let dropped = script::dropped(&mut buffer);
            assert!(dropped.iter().all(|drop| drop.0 == 0 && drop.2 == DropReason::Head));
            let count = dropped.len() + buffer.take_marks() as usize;
            hits.extend(std::iter::repeat_n(now, count));
        }
        (hits, sparse)
    }

    #[test]
    fn each_flow_has_its_own_codel_state() {
        // The delay of flow 0 is above 5 ms from 5 ms on, so its first drop is due at 105 ms, then
        // at 205, 275.71, 333.45 and 383.45 ms (see the tests of CoDel), each at the next
        // millisecond.
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let (hits, sparse) = standing_and_sparse(ecn);
            assert_eq!(hits, [105, 205, 276, 334, 384]);
            assert_eq!(sparse, 42);
        }
    }

    /// Queues with a quantum of one packet of 1,000 bytes, so that each turn sends one packet.
    fn start_with_turns_of_one() -> (FqCodel, Buffer) {
        let params = FqCodelParams { quantum: Some(Size::new(1_000)), ..Default::default() };
        (FqCodel::new(&params, &script::link(8_000_000)), Buffer::default())
    }

    /// RFC 8289 sec. 4.4: the backlog that allows a drop includes the other queues. Flow f of 0 to
    /// 10 is served at f, f + 11, f + 22 ms and so on; flow 10 never has more than one packet
    /// waiting. Flows 5 to 10 have a delay of 5 ms or more at their first turn, so they drop at
    /// their first turn at least 100 ms later: at f + 110. Flow 0 is above 5 ms at 11 ms and also
    /// has the turn at 120 ms, as flow 10 has no packet left to send.
    #[test]
    fn the_other_queues_count_as_backlog_of_a_queue_of_one_packet() {
        let (mut queue, mut buffer) = start_with_turns_of_one();
        for flow in 0..10 {
            arrive(&mut queue, &mut buffer, flow, 0..100, 1_000);
        }
        arrive(&mut queue, &mut buffer, 10, 0..1, 1_000);
        let mut drops = Vec::new();
        for now in 0..=120 {
            let sent = script::sent(&mut queue, MS(now), &mut buffer).expect("packets wait");
            drops.extend(script::dropped(&mut buffer).into_iter().map(|drop| (now, drop.0)));
            if sent.flow() == 10 {
                assert_eq!(now % 11, 10);
                queue.enqueue(script::packet(MS(now), 10, now, 1_000, Ecn::NotEct), &mut buffer);
            }
        }
        let expected = [(115, 5), (116, 6), (117, 7), (118, 8), (119, 9), (120, 10), (120, 0)];
        assert_eq!(drops, expected);
    }

    /// Flow 0 sends at 0, 3, 6, 9 and 12 ms, with a delay above 5 ms from 6 ms on, flows 1 and 2
    /// after it; then no packet waits. A later packet that waits for 10 ms begins a new interval.
    #[test]
    fn an_idle_link_ends_the_intervals_of_all_queues() {
        let (mut queue, mut buffer) = start_with_turns_of_one();
        for flow in 0..3 {
            arrive(&mut queue, &mut buffer, flow, 0..5, 1_000);
        }
        for now in 0..15 {
            let sent = script::sent(&mut queue, MS(now), &mut buffer).expect("packets wait");
            assert_eq!(u64::from(sent.flow()), now % 3);
        }
        for number in 5..10 {
            queue.enqueue(script::packet(MS(200), 0, number, 1_000, Ecn::NotEct), &mut buffer);
        }
        assert!(script::sent(&mut queue, MS(210), &mut buffer).is_some());
        assert!(!buffer.has_dropped());
    }
}
