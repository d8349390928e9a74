//! A queue for each flow, served by deficit round robin that lets new flows go first: the scheduler
//! of FQ-CoDel (RFC 8290 sec. 4), over any control of the single queues.
//!
//! A flow's number takes the place of the addresses, ports and protocol that a router hashes. Flows
//! whose hashes meet share a queue.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use super::buffer::{Buffer, PacketList};
use super::{BadParameter, LinkInfo};
use crate::packet::in_network::Event;
use crate::quantity::Size;
use crate::random::below;

/// RFC 8290 sec. 5.2.5.
pub(super) const FLOWS: u32 = 1_024;
/// An Ethernet frame (RFC 8290 sec. 5.2.4).
pub(super) const QUANTUM: Size = Size::new(1_514);
/// In packets (RFC 8290 sec. 5.2.3: Linux, up to 10 Gbit/s).
pub(super) const LIMIT: u64 = 10_240;

/// So large a quantum is no round robin any more; the bound keeps credits far from overflow.
const LARGEST_QUANTUM: Size = Size::new(1_000_000_000);

/// In place of the index of a queue.
const NONE: u32 = u32::MAX;

/// Refuses a quantum with which a queue would have to be passed over to earn its next packet, and
/// one that is none.
pub(super) fn check_quantum(quantum: Size, link: &LinkInfo) -> Result<(), BadParameter> {
    let largest_packet = Size::new(u64::from(link.packet_bytes));
    if (largest_packet.bytes()..=LARGEST_QUANTUM.bytes()).contains(&quantum.bytes()) {
        return Ok(());
    }
    let problem = format!("{quantum} is out of range; the largest packet has {largest_packet}");
    let remedy = format!("write \"{largest_packet}\" to \"{LARGEST_QUANTUM}\"");
    Err(BadParameter::new("quantum", problem, remedy))
}

/// The packets of the flows of one hash, and what controls them. A simulation of many flows spends
/// its time fetching these, so they keep to cache lines.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct FlowQueue<C> {
    /// Its packets.
    pub line: PacketList,
    /// Its active queue management.
    pub control: C,
    /// Bytes that it may still send before another queue's turn.
    credits: i32,
    /// The queue whose turn is after its own; none while it waits for no turn.
    next: u32,
}

/// The queues of all flows, each under a control `C`.
///
/// Those that wait for a turn form a ring: first the new ones, then the old ones, of which the last
/// is linked to the first queue again. So a turn ends by moving on.
#[derive(Debug)]
pub struct FlowQueues<C> {
    queues: Box<[FlowQueue<C>]>,
    /// Bytes of each queue, close together for the search of the largest.
    backlogs: Box<[u64]>,
    /// The queue whose turn it is.
    first: u32,
    /// The queue that waits longest for its turn; none if none waits.
    last: u32,
    /// The last of the new ones.
    last_new: u32,
    quantum: i32,
    salt: u64,
}

impl<C: Clone> FlowQueues<C> {
    /// So many empty queues under controls like `control`, over which flows are spread by a hash
    /// that `random` salts.
    pub fn new(count: u32, quantum: Size, control: C, random: &mut impl Rng) -> Self {
        let queue = FlowQueue { line: PacketList::default(), control, credits: 0, next: NONE };
        FlowQueues {
            queues: vec![queue; count as usize].into_boxed_slice(),
            backlogs: vec![0; count as usize].into_boxed_slice(),
            first: NONE,
            last: NONE,
            last_new: NONE,
            quantum: quantum.bytes().min(LARGEST_QUANTUM.bytes()) as i32,
            salt: random.next_u64(),
        }
    }
}

impl<C> FlowQueues<C> {
    /// The queue of a flow.
    #[inline]
    pub fn index_of(&self, flow: u32) -> usize {
        let mut hash = SplitMix64::seed_from_u64(self.salt ^ u64::from(flow));
        below(&mut hash, self.queues.len() as u64) as usize
    }

    /// The queue at `index`.
    #[inline]
    pub fn at(&mut self, index: usize) -> &mut FlowQueue<C> {
        &mut self.queues[index]
    }

    /// The queues that hold packets.
    pub fn active(&self) -> impl Iterator<Item = &FlowQueue<C>> {
        self.queues.iter().filter(|queue| !queue.line.is_empty())
    }

    /// Lets `cut` take packets out of the queue with the most bytes, the first of several.
    pub fn cut_fattest(&mut self, cut: impl FnOnce(&mut PacketList)) {
        let (mut fattest, mut most) = (0, 0);
        for (index, &bytes) in self.backlogs.iter().enumerate() {
            if bytes > most {
                (fattest, most) = (index, bytes);
            }
        }
        let line = &mut self.queues[fattest].line;
        cut(line);
        self.backlogs[fattest] = line.bytes();
    }

    /// Puts a packet at the end of the queue at `index` (RFC 8290 sec. 4.1).
    #[inline]
    pub fn push(
        &mut self,
        index: usize,
        packet: Event,
        buffer: &mut Buffer,
        rest: impl FnMut(&mut C),
    ) {
        if buffer.packets() == 0 {
            self.forget_turns(rest);
        }
        let queue = &mut self.queues[index];
        buffer.push_back(&mut queue.line, packet);
        self.backlogs[index] = queue.line.bytes();
        if queue.next == NONE {
            queue.credits = self.quantum;
            self.list(index as u32);
        }
    }

    /// Gives the queue at `index` a turn, after the new queues and before the old ones.
    #[inline]
    fn list(&mut self, index: u32) {
        let before = if self.last_new == NONE { self.last } else { self.last_new };
        let next = match before {
            NONE => index,
            before => std::mem::replace(&mut self.queues[before as usize].next, index),
        };
        self.queues[index as usize].next = next;
        if self.last_new == NONE {
            self.first = index;
        }
        if self.last == self.last_new {
            self.last = index; // no old ones
        }
        self.last_new = index;
    }

    /// Takes every queue out of the ring and hands its control to `rest`. A router's link asks on
    /// until no queue has a packet, which comes to the same (RFC 8290 sec. 4.2); ours does not ask an
    /// empty buffer. A packet that arrives while the last one is being sent finds the ring empty
    /// too, a little early.
    #[inline]
    fn forget_turns(&mut self, mut rest: impl FnMut(&mut C)) {
        let mut index = self.last;
        while index != NONE {
            let queue = &mut self.queues[index as usize];
            rest(&mut queue.control);
            index = std::mem::replace(&mut queue.next, NONE);
        }
        (self.last, self.last_new) = (NONE, NONE);
    }

    /// The queue whose turn it is, which has packets (RFC 8290 sec. 4.2). Hands the control of every
    /// queue found empty before it to `rest`.
    #[inline]
    pub fn next(&mut self, mut rest: impl FnMut(&mut C)) -> Option<usize> {
        while self.last != NONE {
            let index = self.first;
            let queue = &mut self.queues[index as usize];
            // RFC 8290 sec. 4.2 says both "negative" and "at least a quantum"; Linux counts zero as
            // spent.
            if queue.credits <= 0 {
                queue.credits += self.quantum; // for its next turn
            } else if !queue.line.is_empty() {
                return Some(index as usize);
            } else {
                rest(&mut queue.control);
                if self.last_new == NONE {
                    self.take_out(index);
                    continue;
                }
            }
            // A new queue that is empty must wait for the old ones too, or flows that come back
            // quickly would starve them.
            self.move_on(index);
        }
        None
    }

    /// The queue at `index` has sent so many bytes, and may have dropped others.
    #[inline]
    pub fn on_service(&mut self, index: usize, bytes: u32) {
        let queue = &mut self.queues[index];
        queue.credits -= bytes.cast_signed();
        self.backlogs[index] = queue.line.bytes();
    }

    /// Ends the turn of the queue at `index`, which becomes the last of the old ones.
    #[inline]
    fn move_on(&mut self, index: u32) {
        if self.last_new == index {
            self.last_new = NONE;
        }
        self.last = index;
        self.first = self.queues[index as usize].next;
    }

    /// Takes the queue at `index`, whose turn it is, out of the ring.
    #[inline]
    fn take_out(&mut self, index: u32) {
        self.first = std::mem::replace(&mut self.queues[index as usize].next, NONE);
        if self.last == index {
            self.last = NONE;
        } else {
            self.queues[self.last as usize].next = self.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::script;
    use crate::units::Time;

    /// Queues without a control.
    struct Bench {
        queues: FlowQueues<()>,
        buffer: Buffer,
        next: [u64; 8],
    }

    impl Bench {
        fn new(quantum: u64) -> Self {
            let mut random = script::link(8_000_000).random();
            let queues = FlowQueues::new(FLOWS, Size::new(quantum), (), &mut random);
            let mut indices: Vec<usize> = (0..8).map(|flow| queues.index_of(flow)).collect();
            indices.sort_unstable();
            indices.dedup();
            assert_eq!(indices.len(), 8, "flows 0 to 7 must not share queues");
            Bench { queues, buffer: Buffer::default(), next: [0; 8] }
        }

        fn arrive(&mut self, flow: u32, count: u64, bytes: u32) {
            for _ in 0..count {
                let number = &mut self.next[flow as usize];
                let packet = script::packet(Time::ZERO, flow, *number, bytes, Ecn::NotEct);
                *number += 1;
                let index = self.queues.index_of(flow);
                self.queues.push(index, packet, &mut self.buffer, |()| ());
            }
        }

        /// Flow, sequence number and bytes of the next packet.
        fn leave(&mut self) -> Option<(u32, u64, u32)> {
            let Bench { queues, buffer, .. } = self;
            let index = queues.next(|()| ())?;
            let packet = buffer.pop_front(&mut queues.at(index).line)?;
            let packet = buffer.take(packet);
            queues.on_service(index, packet.bytes());
            Some((packet.flow(), packet.packet(0).sequence, packet.bytes()))
        }

        fn leave_in_order(&mut self, count: usize) -> Vec<(u32, u64)> {
            let next = || self.leave().map(|(flow, sequence, _)| (flow, sequence));
            std::iter::from_fn(next).take(count).collect()
        }
    }

    // By hand, from the rules of RFC 8290 sec. 4.2, with a quantum of 1,500 bytes and packets of
    // 1,000. Credits: 1500 -> 500 -> -500, so two packets; the turn ends: 1000 -> 0, one packet;
    // the turn ends: 1500, two packets again.
    #[test]
    fn a_quantum_a_turn() {
        let mut bench = Bench::new(1_500);
        bench.arrive(0, 6, 1_000);
        bench.arrive(1, 6, 1_000);
        let order = [
            (0, 0),
            (0, 1),
            (1, 0),
            (1, 1),
            (0, 2),
            (1, 2),
            (0, 3),
            (0, 4),
            (1, 3),
            (1, 4),
            (0, 5),
            (1, 5),
        ];
        assert_eq!(bench.leave_in_order(20), order);
    }

    #[test]
    fn a_new_flow_goes_first_for_a_quantum() {
        let mut bench = Bench::new(1_500);
        bench.arrive(0, 6, 1_000);
        bench.arrive(1, 6, 1_000);
        assert_eq!(bench.leave_in_order(5).last(), Some(&(0, 2)));
        bench.arrive(2, 4, 1_000);
        // Flow 2 sends two (500, -500) and goes behind the old flows with 1000. Flow 0 has spent
        // its credits: 1500 for its next turn, behind flow 2. Flow 1 sends one (1000 -> 0), then
        // flow 2 one (0), flow 0 two (-500), flow 1 two (-500), flow 2 its last, flow 0 and flow 1
        // theirs.
        let order = [
            (2, 0),
            (2, 1),
            (1, 2),
            (2, 2),
            (0, 3),
            (0, 4),
            (1, 3),
            (1, 4),
            (2, 3),
            (0, 5),
            (1, 5),
        ];
        assert_eq!(bench.leave_in_order(20), order);
    }

    #[test]
    fn flows_share_alike_within_a_quantum_and_two_packets() {
        // Deficit round robin (Shreedhar, Varghese 1996): while both have packets, what one gets
        // more than the other between any two instants is at most quantum + 2 packets.
        for (quantum, sizes) in [(1_514, [1_500, 100]), (1_514, [1_000, 700]), (9_000, [40, 1_500])]
        {
            let mut bench = Bench::new(quantum);
            bench.arrive(0, 600_000 / u64::from(sizes[0]), sizes[0]);
            bench.arrive(1, 600_000 / u64::from(sizes[1]), sizes[1]);
            let (mut lead, mut least, mut most) = (0_i64, 0_i64, 0_i64);
            let mut sent = [0_u64; 2];
            while sent.iter().all(|bytes| *bytes < 590_000) {
                let (flow, _, bytes) = bench.leave().expect("both have packets");
                sent[flow as usize] += u64::from(bytes);
                lead += if flow == 0 { i64::from(bytes) } else { -i64::from(bytes) };
                (least, most) = (least.min(lead), most.max(lead));
            }
            let bound = i64::try_from(quantum).expect("small") + 2 * 1_500;
            assert!(most - least <= bound, "{quantum}: {least} to {most}");
        }
    }

    #[test]
    fn flows_that_come_back_at_once_starve_nobody() {
        // As one of the flows 1 to 4 sends its only packet, the next of them gets one: were an
        // empty queue to leave the list of new flows, one of them would always be new.
        let mut bench = Bench::new(1_514);
        bench.arrive(0, 1_000, 1_000);
        bench.arrive(1, 1, 1_000);
        let mut sent = [0_u64; 5];
        for _ in 0..500 {
            let (flow, _, bytes) = bench.leave().expect("flow 0 has packets");
            sent[flow as usize] += u64::from(bytes);
            if flow > 0 {
                bench.arrive(1 + flow % 4, 1, 1_000);
            }
        }
        // A fifth of the 500,000 bytes, less a quantum and two packets.
        assert!(sent[0] >= 100_000 - 1_514 - 2_000, "{sent:?}");
    }

    #[test]
    fn a_flow_that_finds_the_buffer_empty_is_new() {
        let mut bench = Bench::new(1_500);
        bench.arrive(0, 3, 1_000);
        assert_eq!(bench.leave_in_order(3).len(), 3);
        // Flow 0 is on a list with credits that are nearly spent; an idle link forgets it.
        bench.arrive(0, 3, 1_000);
        bench.arrive(1, 1, 1_000);
        assert_eq!(bench.leave_in_order(9), [(0, 3), (0, 4), (1, 0), (0, 5)]);
    }

    #[test]
    fn the_hash_spreads_the_flows() {
        let link = script::link(8_000_000);
        let mut random = link.random();
        let mut occupied = 0;
        for _ in 0..1_000 {
            let queues = FlowQueues::new(FLOWS, QUANTUM, (), &mut random);
            let mut indices: Vec<usize> = (0..100).map(|flow| queues.index_of(flow)).collect();
            indices.sort_unstable();
            indices.dedup();
            occupied += indices.len();
        }
        // 1024 (1 - (1 - 1/1024)^100) = 95.32; standard deviation of the mean 2.1 / sqrt(1000).
        let mean = occupied as f64 / 1_000.0;
        assert!((mean - 95.32).abs() < 0.3, "{mean}");
        // 64 flows a queue: chi square with 1023 degrees of freedom, standard deviation 45.
        let queues = FlowQueues::new(FLOWS, QUANTUM, (), &mut random);
        let mut counts = [0_u32; FLOWS as usize];
        (0..64 * FLOWS).for_each(|flow| counts[queues.index_of(flow)] += 1);
        let square = |count: &u32| (f64::from(*count) - 64.0) * (f64::from(*count) - 64.0) / 64.0;
        let chi_square: f64 = counts.iter().map(square).sum();
        assert!((chi_square - 1_023.0).abs() < 225.0, "{chi_square}");
    }

    #[test]
    fn the_quantum_must_hold_the_largest_packet() {
        let link = script::link(8_000_000);
        let refusal = |bytes| check_quantum(Size::new(bytes), &link).err();
        assert_eq!((refusal(1_000), refusal(1_000_000_000)), (None, None));
        for bytes in [999, 1_000_000_001] {
            let bad = refusal(bytes).expect("packets have 1,000 bytes, credits 31 bits");
            let expected = ("quantum", "write \"1000 B\" to \"1 GB\"");
            assert_eq!((bad.key, bad.remedy.as_str()), expected);
        }
    }
}
