//! The packets that wait at a link with a scheduler. The buffer stores, counts, marks and drops
//! them, so that a discipline cannot count them wrongly.

use std::num::NonZeroU32;
use std::ops::Range;

pub use super::drop_reason::{DropCounts, DropReason};
use super::turns_ahead::TurnsAhead;
use crate::packet::Ecn;
use crate::packet::transit::Transit;
use crate::prefetch::prefetch_start;

/// A dropped packet, represented by the event of its arrival at the link.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// The packet.
    pub packet: Transit,
    /// The reason for the drop.
    pub reason: DropReason,
}

/// A list of packets, the first to leave at the front, linked through the nodes of a [`Buffer`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketList {
    head: u32,
    tail: u32,
    packets: u32,
    bytes: u64,
}

/// Index of a node that never contains a packet. It stands for the end of a list; writing links to
/// it does no harm, which saves a branch that is hard to predict.
const NONE: u32 = 0;
/// Value of `previous` in a node without a packet.
const FREE: u32 = u32::MAX;

impl PacketList {
    /// Returns the number of packets.
    #[inline]
    pub fn packets(&self) -> u64 {
        u64::from(self.packets)
    }

    /// Returns the sum of the packet sizes, in bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}

/// A handle to a stored packet that has left its list and must now be sent or dropped. The packet
/// stays in its node, because passing a number is faster than passing a packet.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a packet must be sent or dropped"]
pub struct PacketHandle(NonZeroU32);

impl PacketHandle {
    #[inline]
    fn index(&self) -> usize {
        self.0.get() as usize
    }
}

/// Storage for one packet: 32 bytes.
#[derive(Clone, Copy, Debug)]
struct Node {
    packet: Transit,
    next: u32,
    /// Not maintained for the first node of a list, so that its removal touches no other node.
    previous: u32,
}

/// The packets that wait at a link, in the lists of its scheduler.
///
/// The fields `packets` and `bytes` are separated on purpose. If they were adjacent, the compiler
/// would update both with one vector instruction at an arrival but with two scalar ones at a
/// departure; a vector load after scalar stores defeats store forwarding and costs 1 to 2 ns.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Buffer {
    nodes: Vec<Node>,
    packets: u64,
    dropped: Vec<Dropped>,
    bytes: u64,
    marks: u64,
    free: u32,
    /// The class of the packet that arrives: the index of its group among those that cross the link.
    arriving_class: u32,
    pub(super) turns_ahead: TurnsAhead,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            nodes: vec![Node { packet: Transit::default(), next: NONE, previous: FREE }],
            free: NONE,
            arriving_class: 0,
            packets: 0,
            bytes: 0,
            dropped: Vec::new(),
            marks: 0,
            turns_ahead: TurnsAhead::default(),
        }
    }
}

impl Buffer {
    /// Creates an empty buffer at a link that these groups cross: their names and flow numbers.
    pub fn new(groups: &[(String, Range<u32>)]) -> Self {
        Buffer { turns_ahead: TurnsAhead::of_groups(groups), ..Buffer::default() }
    }

    /// Takes note that it is the turn of `queue`, where there are many flows, and prefetches
    /// what the turns after it need. `list_and_next` returns the packets of a queue and the queue whose
    /// turn follows; `prefetch` prefetches a queue.
    #[inline]
    pub(super) fn pass_turn_to<'a>(
        &mut self,
        queue: u32,
        list_and_next: impl Fn(u32) -> Option<(&'a PacketList, u32)>,
        prefetch: impl Fn(u32),
    ) {
        let next_of = |queue| list_and_next(queue).map(|(_, next)| next);
        if !self.turns_ahead.pass_to(queue, next_of, prefetch) {
            return;
        }
        if let Some((list, _)) = list_and_next(self.turns_ahead.packet_ahead()) {
            self.prefetch_front(list);
        }
        let Buffer { nodes, turns_ahead, .. } = self;
        let (queue, flow) = turns_ahead.flow_ahead();
        let list = list_and_next(queue).map(|(list, _)| list).filter(|list| !list.is_empty());
        *flow = list.map_or(u32::MAX, |list| nodes[list.head as usize].packet.flow());
    }

    /// Returns the flows of two packets that will probably be sent soon, the later one first, or numbers
    /// above those of all flows; `None` where the discipline does not follow the turns. Only the speed
    /// depends on it.
    #[inline]
    pub fn coming_flows(&self) -> Option<[u32; 2]> {
        self.turns_ahead.coming_flows()
    }

    /// Takes note of the class of the packet that arrives next.
    #[inline]
    pub fn set_arriving_class(&mut self, class: u32) {
        self.arriving_class = class;
    }

    /// Returns the class of the packet that arrives: the index of its group among those that cross the
    /// link.
    #[inline]
    pub fn arriving_class(&self) -> u32 {
        self.arriving_class
    }

    /// Returns the number of waiting packets.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the number of waiting bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a packet to `list`.
    #[inline]
    pub fn push_back(&mut self, list: &mut PacketList, packet: Transit) {
        let index = self.allocate(packet, list.tail);
        self.nodes[list.tail as usize].next = index;
        list.head = if list.head == NONE { index } else { list.head };
        list.tail = index;
        let bytes = u64::from(packet.bytes());
        list.packets += 1;
        list.bytes += bytes;
        self.packets += 1;
        self.bytes += bytes;
    }

    /// Returns the first packet of `list`, or `None` if the list is empty.
    #[inline]
    pub fn front(&self, list: &PacketList) -> Option<&Transit> {
        (list.head != NONE).then(|| &self.nodes[list.head as usize].packet)
    }

    /// Prefetches the first packet of `list`, which will be sent soon. In a large buffer it
    /// has left the caches since it arrived.
    #[inline]
    pub(super) fn prefetch_front(&self, list: &PacketList) {
        if let Some(node) = self.nodes.get(list.head as usize) {
            prefetch_start(node);
        }
    }

    /// Removes the first packet from `list`.
    #[inline]
    pub fn pop_front(&mut self, list: &mut PacketList) -> Option<PacketHandle> {
        let first = NonZeroU32::new(list.head)?;
        let (index, tail) = (list.head, list.tail);
        list.head = self.nodes[index as usize].next;
        // Written unconditionally, to avoid a branch.
        list.tail = if index == tail { NONE } else { tail };
        Some(self.subtract(list, first))
    }

    /// Removes the last packet from `list`.
    pub fn pop_back(&mut self, list: &mut PacketList) -> Option<PacketHandle> {
        self.unlink(list, list.tail)
    }

    /// Removes a packet from `list`, which must be the only list in the buffer, each packet with
    /// equal probability. `draw(n)` must return a random number below `n`.
    pub fn take_any(
        &mut self,
        list: &mut PacketList,
        mut draw: impl FnMut(u64) -> u64,
    ) -> Option<PacketHandle> {
        if list.is_empty() {
            return None;
        }
        // The buffer is full when it drops packets, so nearly every node contains one.
        loop {
            let index = 1 + draw(self.nodes.len() as u64 - 1) as u32;
            if self.nodes[index as usize].previous != FREE {
                return self.unlink(list, index);
            }
        }
    }

    /// Returns a packet that has left its list.
    #[inline]
    pub fn packet(&self, handle: &PacketHandle) -> &Transit {
        &self.nodes[handle.index()].packet
    }

    /// Removes a packet from the buffer, to be sent.
    #[inline]
    pub fn take(&mut self, PacketHandle(index): PacketHandle) -> Transit {
        let index = index.get();
        let node = &mut self.nodes[index as usize];
        (node.next, node.previous) = (self.free, FREE);
        self.free = index;
        node.packet
    }

    /// Drops a packet that has left its list.
    pub fn drop(&mut self, handle: PacketHandle, reason: DropReason) {
        let packet = self.take(handle);
        self.refuse(packet, reason);
    }

    /// Drops a packet that was never in a list.
    #[inline]
    pub fn refuse(&mut self, packet: Transit, reason: DropReason) {
        self.dropped.push(Dropped { packet, reason });
    }

    /// Marks an arriving packet if it is ECN-capable.
    pub fn mark_arriving(&mut self, packet: &mut Transit) {
        mark(packet, &mut self.marks);
    }

    /// Marks a packet if it is ECN-capable; returns false otherwise.
    #[inline]
    pub fn mark(&mut self, handle: &PacketHandle) -> bool {
        mark(&mut self.nodes[handle.index()].packet, &mut self.marks)
    }

    /// Marks and returns an ECN-capable packet; drops any other packet.
    pub fn mark_or_drop(
        &mut self,
        handle: PacketHandle,
        reason: DropReason,
    ) -> Option<PacketHandle> {
        if self.mark(&handle) {
            return Some(handle);
        }
        self.drop(handle, reason);
        None
    }

    /// Returns the number of packets marked since the last call.
    #[inline]
    pub fn take_marks(&mut self) -> u64 {
        std::mem::take(&mut self.marks)
    }

    /// Returns a packet dropped since the last [`Buffer::drain_dropped`], by its place among them.
    pub fn dropped(&self, place: usize) -> Option<Dropped> {
        self.dropped.get(place).copied()
    }

    /// Removes and returns the packets dropped since the last call.
    pub fn drain_dropped(&mut self) -> std::vec::Drain<'_, Dropped> {
        self.dropped.drain(..)
    }

    /// Returns whether packets have been dropped since the last [`Buffer::drain_dropped`].
    #[inline]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Returns every waiting packet, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = Transit> + '_ {
        self.nodes.iter().filter(|node| node.previous != FREE).map(|node| node.packet)
    }

    /// Returns the memory allocated for packets, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>()) as u64
    }

    #[inline]
    fn allocate(&mut self, packet: Transit, previous: u32) -> u32 {
        let index = self.free;
        if index == NONE {
            return self.grow(Node { packet: packet.copied(), next: NONE, previous });
        }
        // Written field by field: a whole node would be assembled in memory first, and its copy
        // would wait for those stores.
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        packet.write_to(&mut node.packet);
        (node.next, node.previous) = (NONE, previous);
        index
    }

    #[cold]
    fn grow(&mut self, node: Node) -> u32 {
        if self.nodes.len() == self.nodes.capacity() {
            // Grow by an eighth instead of doubling: large buffers are most of a run's memory.
            self.nodes.reserve_exact(64 + self.nodes.len() / 8);
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn unlink(&mut self, list: &mut PacketList, index: u32) -> Option<PacketHandle> {
        if index == list.head {
            return self.pop_front(list);
        }
        let Node { next, previous, .. } = self.nodes[index as usize];
        self.nodes[previous as usize].next = next;
        if index == list.tail {
            list.tail = previous;
        } else {
            self.nodes[next as usize].previous = previous;
        }
        NonZeroU32::new(index).map(|index| self.subtract(list, index))
    }

    /// Subtracts a packet that has been unlinked from `list` from all counts.
    #[inline]
    fn subtract(&mut self, list: &mut PacketList, index: NonZeroU32) -> PacketHandle {
        let handle = PacketHandle(index);
        let bytes = u64::from(self.packet(&handle).bytes());
        list.packets -= 1;
        list.bytes -= bytes;
        self.packets -= 1;
        self.bytes -= bytes;
        handle
    }
}

/// Marks and counts a packet if it is ECN-capable; returns false otherwise.
#[inline]
fn mark(packet: &mut Transit, marks: &mut u64) -> bool {
    match packet.ecn() {
        Ecn::NotEct => return false,
        Ecn::Ce => {} // already marked by another link
        Ecn::Ect0 | Ecn::Ect1 => {
            packet.set_congestion_experienced();
            *marks += 1;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn packet(number: u32) -> Transit {
        Transit::ack_arrival(Time::ZERO, 0, 0, 100 + number, number)
    }

    #[test]
    fn lists_keep_their_order_and_the_buffer_counts_all_packets() {
        let mut buffer = Buffer::default();
        let mut lists = [PacketList::default(), PacketList::default()];
        for number in 0..10 {
            buffer.push_back(&mut lists[number as usize % 2], packet(number));
        }
        let first = buffer.pop_front(&mut lists[0]).expect("five packets wait");
        assert_eq!(buffer.take(first), packet(0));
        let last = buffer.pop_back(&mut lists[0]).expect("four packets wait");
        assert_eq!(buffer.take(last), packet(8));
        buffer.push_back(&mut lists[0], packet(10));
        let next = || buffer.pop_front(&mut lists[0]).map(|next| buffer.take(next).slot());
        let rest: Vec<u32> = std::iter::from_fn(next).collect();
        assert_eq!(rest, [2, 4, 6, 10]);
        assert_eq!((buffer.packets(), lists[1].packets(), lists[0].packets()), (5, 5, 0));
        assert_eq!(buffer.bytes(), lists[1].bytes());
        assert_eq!(buffer.bytes(), 500 + 1 + 3 + 5 + 7 + 9);
        assert_eq!(size_of::<Node>(), 32);
    }

    /// A packet takes 32 bytes, and the memory grows by an eighth plus 64 packets at a time.
    #[test]
    fn the_memory_of_waiting_packets_is_counted() {
        let (mut buffer, mut list) = (Buffer::default(), PacketList::default());
        (0..1_000).for_each(|number| buffer.push_back(&mut list, packet(number)));
        let memory = buffer.memory_bytes();
        assert!((32 * 1_000..=32 * (1_000 + 1_000 / 8 + 64)).contains(&memory), "{memory} B");
    }

    #[test]
    fn take_any_chooses_each_packet_with_equal_probability() {
        let mut random = crate::random::stream(1, "buffer");
        let mut taken = [0; 5];
        for _ in 0..10_000 {
            let (mut buffer, mut list) = (Buffer::default(), PacketList::default());
            (0..6).for_each(|number| buffer.push_back(&mut list, packet(number)));
            let first = buffer.pop_front(&mut list).expect("six packets wait");
            buffer.take(first);
            let draw = |below| crate::random::below(&mut random, below);
            let any = buffer.take_any(&mut list, draw).expect("five packets wait");
            taken[buffer.take(any).slot() as usize - 1] += 1;
        }
        // Binomial with mean 2,000 and standard deviation 40.
        assert!(taken.iter().all(|count| (1_800..2_200).contains(count)), "{taken:?}");
    }
}
