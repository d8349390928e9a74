//! The memory of a buffer whose packets a scheduler orders: it stores, counts, marks and drops, so
//! that a new discipline cannot get the counting wrong.

use std::num::NonZeroU32;

use crate::packet::Ecn;
use crate::packet::in_network::Event;

/// Why a queue discipline dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The buffer was full: the arriving packet, or one that had to make room.
    Overflow,
    /// At arrival, though there was room: congestion to come.
    Early,
    /// At the head of its queue, for having waited too long.
    Head,
}

impl DropReason {
    /// How many reasons there are.
    pub const COUNT: usize = 3;
}

/// A packet that was dropped. It is the event of its arrival at the link.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// Which.
    pub packet: Event,
    /// Why.
    pub reason: DropReason,
}

/// Packets in the order in which they will leave, linked through the nodes of a [`Buffer`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketList {
    head: u32,
    tail: u32,
    packets: u32,
    bytes: u64,
}

/// No packet: the node here holds none, so that what follows nothing may be written to it, which
/// spares a branch that nobody can predict.
const NONE: u32 = 0;
/// In `previous` of a node that holds no packet.
const FREE: u32 = u32::MAX;

impl PacketList {
    /// How many packets it holds.
    #[inline]
    pub fn packets(&self) -> u64 {
        u64::from(self.packets)
    }

    /// How many bytes they have.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it holds none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}

/// A packet that is in no list any more, and waits for what a scheduler makes of it: sent or dropped.
/// It stays where it lies until then, as a number passes from hand to hand faster than a packet.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a packet must be sent or dropped"]
pub struct PacketHandle(NonZeroU32);

impl PacketHandle {
    #[inline]
    fn index(&self) -> usize {
        self.0.get() as usize
    }
}

/// A place for one packet: 32 bytes.
#[derive(Clone, Copy, Debug)]
struct Node {
    packet: Event,
    next: u32,
    /// Of the first in a list this is not kept up: taking it out touches no other node.
    previous: u32,
}

/// The packets that wait at a link, whatever lists a scheduler keeps them in.
///
/// Packets and bytes lie apart: side by side, the compiler counts both at once where packets come and one
/// by one where they leave, and to read as a whole what has been written in parts takes 1 to 2 ns.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    nodes: Vec<Node>,
    packets: u64,
    dropped: Vec<Dropped>,
    bytes: u64,
    marks: u64,
    free: u32,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            nodes: vec![Node { packet: Event::default(), next: NONE, previous: FREE }],
            free: NONE,
            packets: 0,
            bytes: 0,
            dropped: Vec::new(),
            marks: 0,
        }
    }
}

impl Buffer {
    /// Packets that wait.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts a packet at the end of `list`.
    #[inline]
    pub fn push_back(&mut self, list: &mut PacketList, packet: Event) {
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

    /// The first packet of `list`.
    #[inline]
    pub fn front(&self, list: &PacketList) -> Option<&Event> {
        (list.head != NONE).then(|| &self.nodes[list.head as usize].packet)
    }

    /// Takes the first packet of `list`.
    #[inline]
    pub fn pop_front(&mut self, list: &mut PacketList) -> Option<PacketHandle> {
        let first = NonZeroU32::new(list.head)?;
        let (index, tail) = (list.head, list.tail);
        list.head = self.nodes[index as usize].next;
        // Written in any case, which takes no branch.
        list.tail = if index == tail { NONE } else { tail };
        Some(self.discount(list, first))
    }

    /// Takes the last packet of `list`.
    pub fn pop_back(&mut self, list: &mut PacketList) -> Option<PacketHandle> {
        self.unlink(list, list.tail)
    }

    /// Takes a packet out of the only list that there is, each with the same probability; `draw(n)`
    /// gives a number below `n`.
    pub fn take_any(
        &mut self,
        list: &mut PacketList,
        mut draw: impl FnMut(u64) -> u64,
    ) -> Option<PacketHandle> {
        if list.is_empty() {
            return None;
        }
        // A buffer that drops is full, so that nearly every place holds a packet.
        loop {
            let index = 1 + draw(self.nodes.len() as u64 - 1) as u32;
            if self.nodes[index as usize].previous != FREE {
                return self.unlink(list, index);
            }
        }
    }

    /// A packet that is in no list any more.
    #[inline]
    pub fn packet(&self, handle: &PacketHandle) -> &Event {
        &self.nodes[handle.index()].packet
    }

    /// Takes a packet out of the buffer, to be sent.
    #[inline]
    pub fn take(&mut self, PacketHandle(index): PacketHandle) -> Event {
        let index = index.get();
        let place = &mut self.nodes[index as usize];
        (place.next, place.previous) = (self.free, FREE);
        self.free = index;
        place.packet
    }

    /// Drops a packet that was in a list.
    pub fn drop(&mut self, handle: PacketHandle, reason: DropReason) {
        let packet = self.take(handle);
        self.refuse(packet, reason);
    }

    /// Drops a packet that has been in no list.
    pub fn refuse(&mut self, packet: Event, reason: DropReason) {
        self.dropped.push(Dropped { packet, reason });
    }

    /// Marks a packet on its way into a list, if its transport understands marks.
    pub fn mark_arriving(&mut self, packet: &mut Event) {
        mark(packet, &mut self.marks);
    }

    /// Marks a packet whose transport understands marks; false if it does not.
    #[inline]
    pub fn mark(&mut self, handle: &PacketHandle) -> bool {
        mark(&mut self.nodes[handle.index()].packet, &mut self.marks)
    }

    /// Marks a packet and returns it if its transport understands marks; drops it if not.
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

    /// How many packets have been marked since the last call.
    #[inline]
    pub fn take_marks(&mut self) -> u64 {
        std::mem::take(&mut self.marks)
    }

    /// Hands over what has been dropped since the last call.
    pub fn drain_dropped(&mut self) -> std::vec::Drain<'_, Dropped> {
        self.dropped.drain(..)
    }

    /// Whether something has been dropped since [`Buffer::drain_dropped`].
    #[inline]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Every packet that waits, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = Event> + '_ {
        self.nodes.iter().filter(|node| node.previous != FREE).map(|node| node.packet)
    }

    /// Memory that the packets take.
    pub fn memory_bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>()) as u64
    }

    #[inline]
    fn allocate(&mut self, packet: Event, previous: u32) -> u32 {
        let index = self.free;
        if index == NONE {
            return self.grow(Node { packet, next: NONE, previous });
        }
        // Field by field: a whole node would be put together in memory first, and waited for.
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        node.packet = packet;
        (node.next, node.previous) = (NONE, previous);
        index
    }

    #[cold]
    fn grow(&mut self, node: Node) -> u32 {
        if self.nodes.len() == self.nodes.capacity() {
            // An eighth more, not twice as much: large buffers are most of a run's memory.
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
        NonZeroU32::new(index).map(|index| self.discount(list, index))
    }

    /// Counts a packet out that `list` no longer links.
    #[inline]
    fn discount(&mut self, list: &mut PacketList, index: NonZeroU32) -> PacketHandle {
        let handle = PacketHandle(index);
        let bytes = u64::from(self.packet(&handle).bytes());
        list.packets -= 1;
        list.bytes -= bytes;
        self.packets -= 1;
        self.bytes -= bytes;
        handle
    }
}

/// Marks a packet whose transport understands marks, and counts it; false if it does not.
#[inline]
fn mark(packet: &mut Event, marks: &mut u64) -> bool {
    match packet.ecn() {
        Ecn::NotEct => return false,
        Ecn::Ce => {} // marked at a link before this one
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

    fn packet(number: u32) -> Event {
        Event::ack_arrival(Time::ZERO, 0, 0, 100 + number, number)
    }

    #[test]
    fn lists_keep_their_order_and_the_buffer_its_counts() {
        let mut buffer = Buffer::default();
        let mut lists = [PacketList::default(), PacketList::default()];
        for number in 0..10 {
            buffer.push_back(&mut lists[number as usize % 2], packet(number));
        }
        let first = buffer.pop_front(&mut lists[0]).expect("five wait");
        assert_eq!(buffer.take(first), packet(0));
        let last = buffer.pop_back(&mut lists[0]).expect("four wait");
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

    #[test]
    fn takes_any_packet_with_the_same_probability() {
        let mut random = crate::random::stream(1, "buffer");
        let mut taken = [0; 5];
        for _ in 0..10_000 {
            let (mut buffer, mut list) = (Buffer::default(), PacketList::default());
            (0..6).for_each(|number| buffer.push_back(&mut list, packet(number)));
            let first = buffer.pop_front(&mut list).expect("six wait");
            buffer.take(first);
            let draw = |below| crate::random::below(&mut random, below);
            let any = buffer.take_any(&mut list, draw).expect("five wait");
            taken[buffer.take(any).slot() as usize - 1] += 1;
        }
        // Binomial with mean 2,000 and standard deviation 40.
        assert!(taken.iter().all(|count| (1_800..2_200).contains(count)), "{taken:?}");
    }
}
