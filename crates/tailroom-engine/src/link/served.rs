//! The packets of a link that serves them one by one, when their time has come.

use crate::custom::CustomFault;
use crate::packet::transit::Transit;
use crate::queue::buffer::{Buffer, DropReason, PacketHandle, PacketList};
use crate::queue::custom::{DequeueEvent, RunningRule};
use crate::queue::fair::Measured;
use crate::queue::{
    AnyArrivalRule, ArrivalRule, EnqueueEvent, Gauge, LinkInfo, QueueConfig, Scheduler,
    SchedulerQueue, Verdict,
};
use crate::units::{Rate, Time};

/// A discipline, the packets that it holds, and the time of the next service.
#[derive(Clone, Debug)]
pub struct ServedQueue {
    discipline: Discipline,
    pub(super) buffer: Buffer,
    next_service: Time,
    /// From when on the link lets no packet wait, and when the transmission begins of a packet that
    /// is ready earlier.
    next_start: (Time, Time),
    /// Whether the discipline lets packets wait for a time of its own.
    shapes: bool,
    /// When the discipline returned no packet although some waited.
    stalled_at: Option<Time>,
}

/// What decides about packets that wait in a buffer.
#[derive(Clone, Debug)]
enum Discipline {
    /// The rule decides about each packet when it arrives; the others are served first come, first
    /// served.
    Rule {
        /// Accepts, marks or drops each arriving packet.
        rule: Box<AnyArrivalRule>,
        /// The packets that it has accepted.
        accepted: PacketList,
    },
    /// The scheduler chooses which packet leaves next, and may drop any packet at any time.
    Scheduler(Box<SchedulerQueue>),
}

impl Discipline {
    /// Hands over an arriving packet; a link that has been idle since `idle_since` would send it at
    /// once. A packet that its pool marks is marked if a rule accepts it, and before a scheduler, which
    /// may drop it later as what it marks itself.
    #[inline]
    fn enqueue<const IS_MARKED: bool>(
        &mut self,
        mut packet: Transit,
        idle_since: Option<Time>,
        buffer: &mut Buffer,
    ) {
        match self {
            Discipline::Scheduler(scheduler) => {
                if IS_MARKED {
                    buffer.mark_arriving(&mut packet);
                }
                scheduler.enqueue(packet, buffer);
            }
            Discipline::Rule { rule, accepted } => {
                enqueue_by_rule::<IS_MARKED>(rule, accepted, packet, idle_since, buffer);
            }
        }
    }

    /// See [`Scheduler::opens_at`].
    #[inline]
    fn opens_at(&self) -> Option<Time> {
        match self {
            Discipline::Scheduler(scheduler) => scheduler.opens_at(),
            Discipline::Rule { .. } => None,
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, buffer: &mut Buffer) -> Option<PacketHandle> {
        match self {
            Discipline::Scheduler(scheduler) => scheduler.dequeue(now, buffer),
            Discipline::Rule { rule, accepted } => match &mut **rule {
                AnyArrivalRule::Custom(rule) if rule.acts_on_departures() => {
                    dequeue_by_rule(rule, accepted, now, buffer)
                }
                _ => buffer.pop_front(accepted),
            },
        }
    }
}

/// Lets a rule decide about an arriving packet, which waits in the buffer unless it is dropped.
#[inline(never)]
fn enqueue_by_rule<const IS_MARKED: bool>(
    rule: &mut AnyArrivalRule,
    accepted: &mut PacketList,
    mut packet: Transit,
    idle_since: Option<Time>,
    buffer: &mut Buffer,
) {
    let waiting = (buffer.packets(), buffer.bytes());
    match rule.on_enqueue(&EnqueueEvent::of_packet(&packet, idle_since, waiting)) {
        Verdict::Accept if !IS_MARKED => {}
        Verdict::Accept | Verdict::Mark => buffer.mark_arriving(&mut packet),
        Verdict::Drop(reason) => return buffer.refuse(packet, reason),
    }
    buffer.push_back(accepted, packet);
}

/// Lets a rule decide about the packets that would leave at `now`, until one does.
#[inline(never)]
fn dequeue_by_rule(
    rule: &mut RunningRule,
    accepted: &mut PacketList,
    now: Time,
    buffer: &mut Buffer,
) -> Option<PacketHandle> {
    loop {
        let next = buffer.pop_front(accepted)?;
        let packet = buffer.packet(&next);
        let event = DequeueEvent {
            now,
            arrival: packet.time(),
            flow: packet.flow(),
            bytes: packet.bytes(),
            ecn: packet.ecn(),
            waiting_packets: buffer.packets(),
            waiting_bytes: buffer.bytes(),
        };
        match rule.on_dequeue(&event) {
            Verdict::Accept => return Some(next),
            Verdict::Mark => {
                buffer.mark(&next);
                return Some(next);
            }
            Verdict::Drop(reason) => buffer.drop(next, reason),
        }
    }
}

impl ServedQueue {
    /// An arrival rule whose packets wait in `buffer`, which is empty.
    pub fn of_rule(rule: AnyArrivalRule, buffer: Buffer) -> Self {
        let discipline = Discipline::Rule { rule: Box::new(rule), accepted: PacketList::default() };
        ServedQueue::new(discipline, buffer)
    }

    /// A scheduler whose packets wait in `buffer`, which is empty.
    pub fn of_scheduler(scheduler: Box<SchedulerQueue>, buffer: Buffer) -> Self {
        ServedQueue::new(Discipline::Scheduler(scheduler), buffer)
    }

    fn new(discipline: Discipline, buffer: Buffer) -> Self {
        let next_start = (Time::ZERO, Time::ZERO);
        let shapes = discipline.opens_at().is_some();
        let next_service = Time::NEVER;
        ServedQueue { discipline, buffer, next_service, next_start, shapes, stalled_at: None }
    }

    /// Number of packets that wait.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.buffer.packets()
    }

    /// Hands an arriving packet, which its pool marks or not, to the discipline, which may drop this packet or others.
    #[expect(clippy::inline_always, reason = "one caller a packet; a call costs 1 % of a hop")]
    #[inline(always)]
    pub fn enqueue<const IS_MARKED: bool>(&mut self, packet: Transit) {
        let now = packet.time();
        let (free_at, resumes_at) = self.next_start;
        let idle_since = (free_at <= now).then_some(free_at);
        self.discipline.enqueue::<IS_MARKED>(packet, idle_since, &mut self.buffer);
        if self.buffer.packets() == 0 {
            self.next_service = Time::NEVER;
        } else if self.next_service == Time::NEVER || self.shapes {
            self.next_service = self.shaped(if free_at <= now { now } else { resumes_at });
        }
    }

    /// The time, or when the discipline lets a packet leave.
    #[inline]
    fn shaped(&self, time: Time) -> Time {
        if self.shapes { self.discipline.opens_at().map_or(time, |at| time.max(at)) } else { time }
    }

    /// Takes the packet whose transmission begins now, at [`ServedQueue::next_service`]. `None` if
    /// the discipline has dropped all packets that waited.
    #[expect(clippy::inline_always, reason = "one caller a packet; a call costs 1 % of a hop")]
    #[inline(always)]
    pub fn dequeue(&mut self) -> Option<Transit> {
        let Some(next) = self.discipline.dequeue(self.next_service, &mut self.buffer) else {
            let opens_at = self.shaped(self.next_service);
            if self.buffer.packets() > 0 && opens_at > self.next_service {
                self.next_service = opens_at;
                return None;
            }
            if self.buffer.packets() > 0 {
                self.stalled_at.get_or_insert(self.next_service);
            }
            self.next_service = Time::NEVER;
            return None;
        };
        Some(self.buffer.take(next))
    }

    /// When the discipline first returned no packet to be sent although some waited: a fault of the discipline,
    /// which would let them wait for the next arrival.
    pub fn stalled_at(&self) -> Option<Time> {
        self.stalled_at
    }

    /// Whether a packet waits that [`ServedQueue::push_out`] can drop.
    pub fn can_push_out(&self) -> bool {
        matches!(self.discipline, Discipline::Rule { .. }) && self.buffer.packets() > 0
    }

    /// Drops the packet behind an arrival rule that arrived last, or with [`DropReason::Head`] the one that
    /// would be sent next; returns its size, in bytes.
    pub fn push_out(&mut self, reason: DropReason) -> Option<u32> {
        let Discipline::Rule { accepted, .. } = &mut self.discipline else { return None };
        let dropped = match reason {
            DropReason::Head => self.buffer.pop_front(accepted)?,
            _ => self.buffer.pop_back(accepted)?,
        };
        let bytes = self.buffer.packet(&dropped).bytes();
        self.buffer.drop(dropped, reason);
        if self.buffer.packets() == 0 {
            self.next_service = Time::NEVER;
        }
        Some(bytes)
    }

    /// From `free_at` on no packet waits, and the transmission of a packet that is ready earlier begins
    /// at `resumes_at`.
    #[inline]
    pub fn set_next_start(&mut self, free_at: Time, resumes_at: Time) {
        self.next_start = (free_at, resumes_at);
        self.next_service =
            if self.buffer.packets() == 0 { Time::NEVER } else { self.shaped(resumes_at) };
    }

    /// Since when a packet that arrives is sent at once, or from when on; `None` while packets wait.
    pub fn free_since(&self) -> Option<Time> {
        (self.packets() == 0).then(|| self.shaped(self.next_start.0))
    }

    /// When the transmission of the next packet begins; [`Time::NEVER`] if none waits.
    #[inline]
    pub fn next_service(&self) -> Time {
        self.next_service
    }

    /// Prefetches what the arrival of a packet of `flow` will need.
    #[inline]
    pub fn prefetch_flow(&self, flow: u32) {
        if let Discipline::Scheduler(scheduler) = &self.discipline {
            scheduler.prefetch_flow(flow);
        }
    }

    /// The flows of two packets that will probably be sent soon; see [`Buffer::coming_flows`].
    #[inline]
    pub fn coming_flows(&self) -> Option<[u32; 2]> {
        self.buffer.coming_flows()
    }

    /// Whether packets have been dropped that nobody has taken note of yet.
    #[inline]
    pub fn has_dropped(&self) -> bool {
        self.buffer.has_dropped()
    }

    /// Forgets which packets have been dropped.
    pub fn forget_dropped(&mut self) {
        self.buffer.drain_dropped();
    }

    /// What the discipline reports of itself at `now`.
    pub fn gauges(&self, now: Time) -> Vec<Gauge> {
        match &self.discipline {
            Discipline::Scheduler(scheduler) => scheduler.gauges(now),
            Discipline::Rule { rule, .. } => rule.gauges(now),
        }
    }

    /// Why a discipline of the caller's stopped the run, as far as it has shown by `now`.
    pub fn fault(&mut self, now: Time) -> Option<&CustomFault> {
        match &mut self.discipline {
            Discipline::Scheduler(scheduler) => scheduler.fault(now),
            Discipline::Rule { rule, .. } => rule.fault(now),
        }
    }

    /// Follows other parameters of the same discipline. Returns whether it can.
    pub fn retune(&mut self, config: &QueueConfig, link: &LinkInfo) -> bool {
        let can = match &mut self.discipline {
            Discipline::Scheduler(scheduler) => scheduler.retune(config, link),
            Discipline::Rule { rule, .. } => rule.retune(config, link),
        };
        self.shapes = self.discipline.opens_at().is_some();
        can
    }

    /// Starts the means of [`ServedQueue::gauges`] afresh.
    pub fn restart_gauges(&mut self, now: Time) {
        if let Discipline::Scheduler(scheduler) = &mut self.discipline {
            scheduler.restart_gauges(now);
        }
    }

    /// See [`Scheduler::set_rate`].
    pub fn set_rate(&mut self, rate: Rate) {
        if let Discipline::Scheduler(scheduler) = &mut self.discipline {
            scheduler.set_rate(rate);
        }
    }

    /// What a fair queue has measured since its gauges were restarted.
    pub fn measured(&self, now: Time) -> Option<Measured> {
        match &self.discipline {
            Discipline::Scheduler(scheduler) => match &**scheduler {
                SchedulerQueue::Fair(fair) => Some(fair.measured(now)),
                _ => None,
            },
            Discipline::Rule { .. } => None,
        }
    }

    /// Memory of the packets that wait and of the flows that the discipline knows, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let known_bytes = match &self.discipline {
            Discipline::Scheduler(scheduler) => scheduler.memory_bytes(),
            Discipline::Rule { .. } => 0,
        };
        self.buffer.memory_bytes() + known_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::quantity::limit::Limit;
    use crate::queue::Queue;
    use crate::queue::drop_head::DropHeadParams;
    use crate::units::Rate;

    /// The scheduler does not know the packet, which is in a list of another.
    #[test]
    fn a_scheduler_that_returns_nothing_while_packets_wait_is_noted() {
        let config = QueueConfig::DropHead(DropHeadParams::new(Limit::Packets(9).into()));
        let info = LinkInfo::new("link", Rate::from_bits_per_second(1_000_000), 1_500);
        let Queue::Scheduler(scheduler) = Queue::new(&config, &info) else {
            panic!("it is a scheduler")
        };
        let mut queue = ServedQueue::of_scheduler(scheduler, Buffer::default());
        assert_eq!((queue.dequeue(), queue.stalled_at()), (None, None));
        let at = Time::from_milliseconds(3);
        let packet = Transit::arrival(at, 0, 0, &Packet::default());
        queue.buffer.push_back(&mut PacketList::default(), packet);
        queue.next_service = at;
        assert_eq!((queue.dequeue(), queue.stalled_at()), (None, Some(at)));
    }
}
