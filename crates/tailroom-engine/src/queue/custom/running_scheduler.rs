//! Custom schedulers while they run. Each list that they name is checked, so that no packet is lost and
//! the link never sleeps while packets wait.

use std::fmt;

use super::running::checked;
use super::scheduler::{Placement, QueuedPacket, Waiting};
use super::{CustomParams, CustomScheduler, Make};
use crate::custom::{CallersCode, CustomFault, FirstFault, Guest, Missing};
use crate::packet::transit::Transit;
use crate::quantity::limit::Limit;
use crate::queue::buffer::{Buffer, DropReason, PacketHandle, PacketList};
use crate::queue::{Gauge, LinkInfo, Scheduler, Verdict};
use crate::units::Time;

/// A running scheduler of the caller's, and its lists.
#[derive(Clone)]
pub struct RunningScheduler {
    scheduler: CallersCode<dyn CustomScheduler + Send>,
    limit: Limit,
    /// The lists that hold packets, by ascending number.
    lists: Vec<(u32, PacketList)>,
    fault: FirstFault,
}

impl fmt::Debug for RunningScheduler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("RunningScheduler");
        shown.field("lists", &self.lists).field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl RunningScheduler {
    /// Starts the scheduler for `link`; `None` if the discipline is not a scheduler.
    pub fn new(params: &CustomParams, link: &LinkInfo) -> Option<Self> {
        let Make::Scheduler(make) = &params.maker.as_ref()?.0 else { return None };
        let limit = link.limit(params.limit);
        let (scheduler, fault) = (CallersCode(make(link, limit)), FirstFault::default());
        Some(RunningScheduler { scheduler, limit, lists: Vec::new(), fault })
    }

    /// Why the scheduler stopped the run, as far as it has shown by `now`.
    pub fn fault(&mut self, now: Time) -> Option<&CustomFault> {
        self.fault.note(now, self.scheduler.failure());
        self.fault.get()
    }

    /// The list to which an arriving packet goes, which is marked if need be; `None` if it is dropped.
    fn place(&mut self, packet: &mut Transit, buffer: &mut Buffer) -> Option<u32> {
        if !self.fault.is_none() {
            return Some(0);
        }
        let arriving = QueuedPacket::of(packet);
        let bytes = buffer.bytes() + u64::from(arriving.bytes);
        let fits = self.limit.holds(buffer.packets() + 1, bytes);
        let waiting = Waiting { lists: &self.lists, buffer };
        match self.scheduler.on_arrival(&arriving, fits, &waiting) {
            Placement::Append(number) => Some(number),
            Placement::MarkAndAppend(number) => {
                let (now, mark) = (arriving.arrival, Verdict::Mark);
                if checked(&mut self.fault, "on_arrival", now, mark, arriving.ecn) == mark {
                    buffer.mark_arriving(packet);
                }
                Some(number)
            }
            Placement::Drop(reason) => {
                buffer.refuse(*packet, reason);
                None
            }
        }
    }

    /// Drops packets until the buffer is large enough; the packet that `arrived` is the last of list
    /// `number`.
    fn make_room(&mut self, arrived: &QueuedPacket, number: u32, buffer: &mut Buffer) {
        while !self.limit.holds(buffer.packets(), buffer.bytes()) {
            let waiting = Waiting { lists: &self.lists, buffer };
            let chosen = if self.fault.is_none() {
                self.scheduler.make_room(arrived, &waiting)
            } else {
                None
            };
            let chosen = chosen.and_then(|chosen| {
                let list = self.filled("make_room", arrived.arrival, Some(chosen));
                list.and_then(|at| self.take(at, buffer, Buffer::pop_front))
            });
            if let Some(first) = chosen {
                buffer.drop(first, DropReason::Overflow);
                continue;
            }
            let at = self.lists.binary_search_by_key(&number, |list| list.0).ok();
            if let Some(last) = at.and_then(|at| self.take(at, buffer, Buffer::pop_back)) {
                buffer.drop(last, DropReason::Overflow);
            }
            return;
        }
    }

    /// The place of the list that a method has chosen, which must hold packets.
    fn filled(&mut self, method: &str, now: Time, chosen: Option<u32>) -> Option<usize> {
        let place = |number| self.lists.binary_search_by_key(&number, |list| list.0).ok();
        let found = chosen.and_then(place);
        if found.is_none() {
            // A method that has failed returns no list.
            self.fault.note(now, self.scheduler.failure());
            let answer = chosen.map_or_else(|| "no list".to_owned(), |chosen| chosen.to_string());
            let mut holding: Vec<String> =
                self.lists.iter().take(10).map(|(number, _)| number.to_string()).collect();
            if self.lists.len() > holding.len() {
                holding.push("...".to_owned());
            }
            let holding = holding.join(", ");
            self.fault.keep(
                now,
                format!(
                    "{method} returned {answer} while packets wait in {holding}; it returns the \
                     number of a list that holds packets"
                ),
            );
        }
        found
    }

    /// Takes a packet from an end of the list at a place, and forgets the list if that was its last.
    fn take(
        &mut self,
        at: usize,
        buffer: &mut Buffer,
        pop: fn(&mut Buffer, &mut PacketList) -> Option<PacketHandle>,
    ) -> Option<PacketHandle> {
        let list = &mut self.lists[at].1;
        let packet = pop(buffer, list);
        if list.is_empty() {
            self.lists.remove(at);
        }
        packet
    }
}

impl Scheduler for RunningScheduler {
    fn enqueue(&mut self, mut packet: Transit, buffer: &mut Buffer) {
        let Some(number) = self.place(&mut packet, buffer) else { return };
        let arrived = QueuedPacket::of(&packet);
        let at = self.lists.binary_search_by_key(&number, |list| list.0).unwrap_or_else(|at| {
            self.lists.insert(at, (number, PacketList::default()));
            at
        });
        buffer.push_back(&mut self.lists[at].1, packet);
        self.make_room(&arrived, number, buffer);
    }

    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        while buffer.packets() > 0 {
            let mut at = None;
            if self.fault.is_none() {
                let waiting = Waiting { lists: &self.lists, buffer };
                let chosen = self.scheduler.next_packet(now, &waiting);
                at = self.filled("next_packet", now, chosen);
            }
            let next = self.take(at.unwrap_or(0), buffer, Buffer::pop_front)?;
            if !self.fault.is_none() {
                return Some(next);
            }
            let packet = QueuedPacket::of(buffer.packet(&next));
            let waiting = Waiting { lists: &self.lists, buffer };
            let verdict = self.scheduler.on_departure(now, &packet, &waiting);
            match checked(&mut self.fault, "on_departure", now, verdict, packet.ecn) {
                Verdict::Accept => return Some(next),
                Verdict::Mark => {
                    buffer.mark(&next);
                    return Some(next);
                }
                Verdict::Drop(reason) => buffer.drop(next, reason),
            }
        }
        None
    }

    fn memory_bytes(&self) -> u64 {
        (self.lists.capacity() * size_of::<(u32, PacketList)>()) as u64
    }

    fn gauges(&self, now: Time) -> Vec<Gauge> {
        if self.fault.is_none() { self.scheduler.gauges(now) } else { Vec::new() }
    }
}

impl Guest for dyn CustomScheduler + Send {
    fn failing(reason: String) -> Box<Self> {
        Box::new(Missing(reason))
    }
}

impl CustomScheduler for Missing {
    fn on_arrival(&mut self, _: &QueuedPacket, _: bool, _: &Waiting<'_>) -> Placement {
        Placement::Append(0)
    }

    fn next_packet(&mut self, _: Time, _: &Waiting<'_>) -> Option<u32> {
        None
    }

    fn failure(&mut self) -> Option<String> {
        Some(self.0.clone())
    }
}
