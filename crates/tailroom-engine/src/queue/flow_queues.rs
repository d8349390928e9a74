//! One queue per flow, served by deficit round robin with priority for new flows: the scheduler of
//! FQ-CoDel (RFC 8290 sec. 4), with any AQM in the queues.
//!
//! The flow number replaces the addresses, ports and protocol that a router hashes. Flows with the
//! same hash share a queue.

use super::buffer::{Buffer, PacketList};
use super::{BadParameter, LinkInfo};
use crate::packet::transit::Transit;
use crate::prefetch::prefetch_start;
use crate::quantity::Size;
use crate::random::{Random, SmallStream, below};

/// Default number of queues (RFC 8290 sec. 5.2.5).
pub(super) const FLOWS: u32 = 1_024;
/// Default quantum on a link without larger packets: the payload of an Ethernet frame.
const QUANTUM: Size = Size::new(1_500);
/// Smallest quantum (Linux `fq_codel_change`).
const SMALLEST_QUANTUM: Size = Size::new(256);
/// Default buffer size in packets (RFC 8290 sec. 5.2.3: Linux, up to 10 Gbit/s).
pub(super) const LIMIT: u64 = 10_240;

/// Largest quantum. With a larger one the service would no longer be a round robin; the bound also
/// prevents an overflow of credits.
const LARGEST_QUANTUM: Size = Size::new(1_000_000_000);

/// No queue, in place of an index.
const NONE: u32 = u32::MAX;

/// Refuses a quantum below the largest packet, with which a queue could need several turns to send
/// one packet, and one above [`LARGEST_QUANTUM`].
pub(super) fn check_quantum(quantum: Size, link: &LinkInfo) -> Result<(), BadParameter> {
    let largest_packet = Size::new(u64::from(link.packet_bytes));
    if (largest_packet.bytes()..=LARGEST_QUANTUM.bytes()).contains(&quantum.bytes()) {
        return Ok(());
    }
    let problem =
        format!("{quantum} is out of range; the largest packet of the link has {largest_packet}");
    let remedy = format!("write a size from \"{largest_packet}\" to \"{LARGEST_QUANTUM}\"");
    Err(BadParameter::new("quantum", problem, remedy))
}

/// The quantum of a link: that of the scenario, or the largest packet. RFC 8290 sec. 5.2.4 names 1514 B and
/// Linux the MTU with the header of the link layer (`psched_mtu`), which their packets have too: a new
/// flow sends one full packet in its turn, and none of a second one.
pub(super) fn quantum_or_packet(quantum: Option<Size>, link: &LinkInfo) -> Size {
    quantum.unwrap_or(Size::new(QUANTUM.bytes().max(link.packet_bytes.into())))
}

/// Refuses a quantum that Linux would not use, and one above [`LARGEST_QUANTUM`].
pub(super) fn check_turn(quantum: Option<Size>) -> Result<(), BadParameter> {
    let allowed = SMALLEST_QUANTUM.bytes()..=LARGEST_QUANTUM.bytes();
    let Some(quantum) = quantum.filter(|quantum| !allowed.contains(&quantum.bytes())) else {
        return Ok(());
    };
    let problem = format!("{quantum} is out of range; Linux uses no less than {SMALLEST_QUANTUM}");
    let remedy = format!("write a size from \"{SMALLEST_QUANTUM}\" to \"{LARGEST_QUANTUM}\"");
    Err(BadParameter::new("quantum", problem, remedy))
}

/// The queue of the flows with one hash, and the state of its AQM. With many flows, a simulation
/// spends most of its time fetching these from memory, so they are aligned to cache lines.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct FlowQueue<S> {
    /// The waiting packets.
    pub list: PacketList,
    /// The state of the queue's AQM.
    pub aqm_state: S,
    /// Bytes that the queue may still send in its turn.
    credits: i32,
    /// The queue that follows in the ring; [`NONE`] if this queue is not in the ring.
    next: u32,
}

/// The queues of all flows, each with an AQM state `S`.
///
/// The queues that wait for a turn form a ring: first the new ones, then the old ones, of which the
/// last is linked to the first queue. A turn therefore ends by moving to the next queue.
#[derive(Clone, Debug)]
pub struct FlowQueues<S> {
    queues: Box<[FlowQueue<S>]>,
    /// Bytes in each queue, stored contiguously for the search for the largest.
    backlogs: Box<[u64]>,
    /// The queue whose turn it is.
    first: u32,
    /// The queue whose turn comes last; [`NONE`] if the ring is empty.
    last: u32,
    /// The last of the new queues.
    last_new: u32,
    quantum: i32,
    salt: u64,
}

impl<S: Clone> FlowQueues<S> {
    /// Creates `count` empty queues with copies of `aqm_state`. A hash with a salt from `random`
    /// maps flows to queues.
    pub fn new(count: u32, quantum: Size, aqm_state: S, random: &mut impl Random) -> Self {
        let queue = FlowQueue { list: PacketList::default(), aqm_state, credits: 0, next: NONE };
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

impl<S> FlowQueues<S> {
    /// Returns the index of the queue of `flow`.
    #[inline]
    pub fn index_of(&self, flow: u32) -> usize {
        let mut hash = SmallStream::seeded(self.salt ^ u64::from(flow));
        below(&mut hash, self.queues.len() as u64) as usize
    }

    /// Returns the queue at `index`.
    #[inline]
    pub fn at(&mut self, index: usize) -> &mut FlowQueue<S> {
        &mut self.queues[index]
    }

    /// Returns the queues that have packets.
    pub fn active(&self) -> impl Iterator<Item = &FlowQueue<S>> {
        self.queues.iter().filter(|queue| !queue.list.is_empty())
    }

    /// Lets `cut` remove packets from the queue with the most bytes, the first one in a tie.
    pub fn cut_fattest(&mut self, cut: impl FnOnce(&mut PacketList)) {
        let (mut fattest, mut most) = (0, 0);
        for (index, &bytes) in self.backlogs.iter().enumerate() {
            if bytes > most {
                (fattest, most) = (index, bytes);
            }
        }
        let list = &mut self.queues[fattest].list;
        cut(list);
        self.backlogs[fattest] = list.bytes();
    }

    /// Appends a packet to the queue at `index` (RFC 8290 sec. 4.1). Calls `on_empty` with the AQM
    /// state of every queue that leaves the ring because the buffer was empty.
    #[inline]
    pub fn push(
        &mut self,
        index: usize,
        packet: Transit,
        buffer: &mut Buffer,
        on_empty: impl FnMut(&mut S),
    ) {
        if buffer.packets() == 0 {
            self.clear_ring(on_empty);
        }
        let queue = &mut self.queues[index];
        buffer.push_back(&mut queue.list, packet);
        self.backlogs[index] = queue.list.bytes();
        if queue.next == NONE {
            queue.credits = self.quantum;
            self.insert_new(index as u32);
        }
    }

    /// Inserts the queue at `index` into the ring, after the new queues and before the old ones.
    #[inline]
    fn insert_new(&mut self, index: u32) {
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
            self.last = index; // there are no old queues
        }
        self.last_new = index;
    }

    /// Removes every queue from the ring and calls `on_empty` with its AQM state. A router's link
    /// would dequeue until it finds every queue empty, with the same result (RFC 8290 sec. 4.2);
    /// the link here does not dequeue from an empty buffer. A packet that arrives during the
    /// transmission of the last packet also finds the ring empty, slightly too early.
    #[inline]
    fn clear_ring(&mut self, mut on_empty: impl FnMut(&mut S)) {
        let mut index = self.last;
        while index != NONE {
            let queue = &mut self.queues[index as usize];
            on_empty(&mut queue.aqm_state);
            index = std::mem::replace(&mut queue.next, NONE);
        }
        (self.last, self.last_new) = (NONE, NONE);
    }

    /// Returns the queue that has packets and the next turn (RFC 8290 sec. 4.2); `None` if no queue
    /// has packets. Calls `on_empty` with the AQM state of every queue found empty before it.
    #[inline]
    pub fn next(&mut self, mut on_empty: impl FnMut(&mut S)) -> Option<usize> {
        while self.last != NONE {
            let index = self.first;
            let queue = &mut self.queues[index as usize];
            // RFC 8290 sec. 4.2 says both "negative" and "at least a quantum"; Linux treats zero
            // credits as used up.
            if queue.credits <= 0 {
                queue.credits += self.quantum; // for its next turn
            } else if !queue.list.is_empty() {
                return Some(index as usize);
            } else {
                on_empty(&mut queue.aqm_state);
                if self.last_new == NONE {
                    self.remove(index);
                    continue;
                }
            }
            // An empty new queue must wait behind the old ones too, or flows that return quickly
            // would starve them.
            self.move_on(index);
        }
        None
    }

    /// Records that the queue at `index` has sent `bytes` and may have dropped packets.
    #[inline]
    pub fn on_service(&mut self, index: usize, bytes: u32) {
        let queue = &mut self.queues[index];
        queue.credits -= bytes.cast_signed();
        self.backlogs[index] = queue.list.bytes();
    }

    /// Prefetches the packet that the queue after that at `index` sends in its turn.
    #[inline]
    pub fn prefetch_next(&self, index: usize, buffer: &Buffer) {
        let next = self.queues[index].next as usize;
        if let Some(next) = self.queues.get(next) {
            buffer.prefetch_front(&next.list);
        }
    }

    /// Takes note that it is the turn of the queue at `index`, where there are many flows, and
    /// prefetches what the turns after it need.
    #[inline]
    pub fn follow_turns(&self, index: usize, buffer: &mut Buffer) {
        let get = |index: u32| self.queues.get(index as usize);
        let list_and_next = |index| get(index).map(|queue| (&queue.list, queue.next));
        let prefetch = |index| {
            if let Some(queue) = get(index) {
                prefetch_start(queue);
            }
        };
        buffer.pass_turn_to(index as u32, list_and_next, prefetch);
    }

    /// Ends the turn of the queue at `index`, which becomes the last of the old queues.
    #[inline]
    fn move_on(&mut self, index: u32) {
        if self.last_new == index {
            self.last_new = NONE;
        }
        self.last = index;
        self.first = self.queues[index as usize].next;
    }

    /// Removes the queue at `index`, whose turn it is, from the ring.
    #[inline]
    fn remove(&mut self, index: u32) {
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

    /// Queues without an AQM.
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

        /// Sends the next packet; returns its flow, sequence number and bytes.
        fn leave(&mut self) -> Option<(u32, u64, u32)> {
            let Bench { queues, buffer, .. } = self;
            let index = queues.next(|()| ())?;
            let packet = buffer.pop_front(&mut queues.at(index).list)?;
            let packet = buffer.take(packet);
            queues.on_service(index, packet.bytes());
            Some((packet.flow(), packet.packet(0).sequence, packet.bytes()))
        }

        fn leave_in_order(&mut self, count: usize) -> Vec<(u32, u64)> {
            let next = || self.leave().map(|(flow, sequence, _)| (flow, sequence));
            std::iter::from_fn(next).take(count).collect()
        }
    }

    // Computed by hand from the rules of RFC 8290 sec. 4.2, with a quantum of 1,500 bytes and
    // packets of 1,000. Credits: 1500 -> 500 -> -500, so two packets; next turn: 1000 -> 0, one
    // packet; next turn: 1500, two packets again.
    #[test]
    fn a_flow_sends_one_quantum_per_turn() {
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
    fn a_new_flow_goes_first_for_one_quantum() {
        let mut bench = Bench::new(1_500);
        bench.arrive(0, 6, 1_000);
        bench.arrive(1, 6, 1_000);
        assert_eq!(bench.leave_in_order(5).last(), Some(&(0, 2)));
        bench.arrive(2, 4, 1_000);
        // Flow 2 sends two packets (500, -500) and moves behind the old flows with 1000. Flow 0 has
        // used up its credits: it gets 1500 for its next turn, behind flow 2. Flow 1 sends one
        // packet (1000 -> 0), then flow 2 one (0), flow 0 two (-500), flow 1 two (-500); flows 2, 0
        // and 1 send their last packets.
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
    fn flows_share_equally_within_a_quantum_and_two_packets() {
        // Deficit round robin (Shreedhar, Varghese 1996): while both flows have packets, one flow
        // gets at most a quantum and two packets more than the other between any two instants.
        for (quantum, sizes) in [(1_514, [1_500, 100]), (1_514, [1_000, 700]), (9_000, [40, 1_500])]
        {
            let mut bench = Bench::new(quantum);
            bench.arrive(0, 600_000 / u64::from(sizes[0]), sizes[0]);
            bench.arrive(1, 600_000 / u64::from(sizes[1]), sizes[1]);
            let (mut lead, mut least, mut most) = (0_i64, 0_i64, 0_i64);
            let mut sent = [0_u64; 2];
            while sent.iter().all(|bytes| *bytes < 590_000) {
                let (flow, _, bytes) = bench.leave().expect("both flows have packets");
                sent[flow as usize] += u64::from(bytes);
                lead += if flow == 0 { i64::from(bytes) } else { -i64::from(bytes) };
                (least, most) = (least.min(lead), most.max(lead));
            }
            let bound = i64::try_from(quantum).expect("small") + 2 * 1_500;
            assert!(most - least <= bound, "{quantum}: {least} to {most}");
        }
    }

    #[test]
    fn flows_that_return_at_once_do_not_starve_others() {
        // When one of the flows 1 to 4 sends its only packet, a packet of the next flow arrives: if
        // an empty queue left the list of new flows, one of these flows would always be new.
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
        // Flow 0 is in the ring with nearly used-up credits; when the link is idle, the ring is
        // cleared.
        bench.arrive(0, 3, 1_000);
        bench.arrive(1, 1, 1_000);
        assert_eq!(bench.leave_in_order(9), [(0, 3), (0, 4), (1, 0), (0, 5)]);
    }

    #[test]
    fn the_hash_spreads_the_flows_evenly() {
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
        // 64 flows per queue: chi square with 1023 degrees of freedom, standard deviation 45.
        let queues = FlowQueues::new(FLOWS, QUANTUM, (), &mut random);
        let mut counts = [0_u32; FLOWS as usize];
        (0..64 * FLOWS).for_each(|flow| counts[queues.index_of(flow)] += 1);
        let square = |count: &u32| (f64::from(*count) - 64.0) * (f64::from(*count) - 64.0) / 64.0;
        let chi_square: f64 = counts.iter().map(square).sum();
        assert!((chi_square - 1_023.0).abs() < 225.0, "{chi_square}");
    }

    #[test]
    fn the_quantum_must_cover_the_largest_packet() {
        let link = script::link(8_000_000);
        let refusal = |bytes| check_quantum(Size::new(bytes), &link).err();
        assert_eq!((refusal(1_000), refusal(1_000_000_000)), (None, None));
        for bytes in [999, 1_000_000_001] {
            let bad = refusal(bytes).expect("the quantum is out of range");
            assert_eq!(bad.key, "quantum");
            assert!(bad.remedy.contains("\"1000 B\" to \"1 GB\""), "{}", bad.remedy);
        }
    }
}
