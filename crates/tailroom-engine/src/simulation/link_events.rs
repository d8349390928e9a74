//! What happens at the links: a packet arrives, a scheduler sends a packet, and what follows for
//! the packet and for its flow.

use super::Simulation;
use super::flow::Flow;
use super::routes::Exit;
use super::stores::Stores;
use crate::flow::Endpoints;
use crate::link::LinkOutcome;
use crate::packet::in_network::{Event, Stage};
use crate::packet::{Ecn, Packet};
use crate::probe::flow::Checkpoints;
use crate::units::Time;

/// A packet at a link, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) packet: Event,
    pub(super) outcome: LinkOutcome,
    /// What lies behind the link.
    pub(super) exit: Exit,
    /// Whether the packet has just arrived, and lets its source emit the next packet.
    pub(super) clocks_source: bool,
}

impl Simulation {
    /// A packet reaches a link. `None` if a scheduler takes the packet in and nothing follows yet.
    #[inline]
    pub(super) fn arrive(&mut self, mut packet: Event, position: u8) -> Option<Step> {
        let hop = self.routes.hop(packet.flow(), position);
        let link = hop.link as usize;
        if self.links[link].scheduled().is_none() {
            // The packet will reach the ends of its flow in this event: fetch them meanwhile.
            std::hint::black_box(self.flows[packet.flow() as usize].forward_hops);
        }
        self.admissions.on_arrival(link, &packet);
        let outcome = self.links[link].arrive(&mut packet, hop.class);
        if hop.adds_wait {
            packet = self.add_wait(packet, outcome, hop);
        }
        if outcome == LinkOutcome::Held {
            self.after_scheduler(link, packet.time());
            if !hop.clocks_source {
                return None;
            }
        }
        Some(Step { packet, outcome, exit: hop.exit, clocks_source: hop.clocks_source })
    }

    /// A link's scheduler sends its next packet, unless it has dropped all packets that waited.
    #[inline(never)]
    pub(super) fn serve(&mut self, link: usize) -> Option<Step> {
        let now = self.services.next;
        let Simulation { links, routes, .. } = self;
        let served = links[link].serve(|packet| routes.class_of(packet));
        self.after_scheduler(link, now);
        let (packet, outcome) = served?;
        let Stage::Arrival(position) = packet.stage() else { return None };
        let hop = self.routes.hop(packet.flow(), position);
        let packet = if hop.adds_wait { self.add_wait(packet, outcome, hop) } else { packet };
        Some(Step { packet, outcome, exit: hop.exit, clocks_source: false })
    }

    /// Takes note of the packets that a link's scheduler has dropped, and of its next service.
    #[inline]
    pub(super) fn after_scheduler(&mut self, link: usize, now: Time) {
        let Some(queue) = self.links[link].scheduled() else { return };
        let (next, has_dropped) = (queue.next_service(), queue.has_dropped());
        self.services.set(link, next);
        if has_dropped {
            self.take_dropped(link, now);
        }
    }

    #[inline(never)]
    fn take_dropped(&mut self, link: usize, now: Time) {
        let measure_from = self.link_checkpoints.checkpoints.measure_from;
        let Simulation { flows, links, routes, stores, dynamic, .. } = self;
        links[link].drain_dropped(now, |dropped| {
            let packet = dropped.packet;
            lose(flows, stores, packet, measure_from);
            dynamic.release_if_done(packet.flow(), flows);
            routes.class_of(packet)
        });
    }

    /// Carries out what follows from the outcome of a packet at a link.
    #[inline]
    pub(super) fn follow(&mut self, step: Step) {
        let Step { packet: event, outcome, exit, clocks_source } = step;
        let Simulation { flows, schedule, stores, link_checkpoints, fast_paths, .. } = self;
        let index = event.flow();
        let mut may_be_done = match outcome {
            // The link stands still for good, or the run is over by then: the packet stays there.
            LinkOutcome::Delivered(at) if at >= Time::AFTER_ALL_RUNS => {
                schedule.push(event.never());
                false
            }
            LinkOutcome::Delivered(at) if exit == Exit::Receiver => {
                let (event, sent) = sent_at(event, stores);
                if fast_paths.deliver((at, event, sent), flows, schedule, stores) {
                    return;
                }
                self.deliver(at, event, sent)
            }
            LinkOutcome::Delivered(at) if exit == Exit::Sender => {
                let flow = &mut flows[index as usize];
                let ack = stores.acks.take(event.slot());
                flow.account.acks_on_the_way -= 1;
                let (endpoints, mut injector) =
                    flow.endpoints_and_injector(index, schedule, stores);
                endpoints.deliver_ack(at, ack.ack(), &mut injector);
                flow.arm(index, schedule)
            }
            // What the event cannot hold of a packet is in the stores by now. The age of an ACK is
            // never read.
            LinkOutcome::Delivered(at) => {
                schedule.push(event.at_next_link(at));
                false
            }
            LinkOutcome::Dropped | LinkOutcome::Lost => {
                lose(flows, stores, event, link_checkpoints.checkpoints.measure_from);
                true
            }
            LinkOutcome::Held => false,
        };
        // The next packet of the source cannot arrive earlier, so it is emitted only now.
        if clocks_source {
            let Simulation { flows, schedule, stores, .. } = self;
            let (endpoints, mut injector) =
                flows[index as usize].endpoints_and_injector(index, schedule, stores);
            may_be_done |= endpoints.emit_next(&mut injector);
        }
        if may_be_done {
            self.dynamic.release_if_done(index, &mut self.flows);
        }
    }

    /// Delivers a packet that was sent at `sent` and leaves the last shared link at `at`, on the general
    /// path. Returns whether nothing of its flow is in flight then.
    #[inline]
    pub(super) fn deliver(&mut self, at: Time, event: Event, sent: Time) -> bool {
        let Simulation { flows, schedule, stores, link_checkpoints, routes, groups, .. } = self;
        let index = event.flow();
        let flow = &mut flows[index as usize];
        self.fast_paths.leave(index, flow);
        flow.account.received += 1;
        if event.ecn() == Ecn::Ce {
            let measure_from = link_checkpoints.checkpoints.measure_from;
            flow.account.marked_measured += u64::from(sent >= measure_from);
        }
        let (endpoints, mut injector) = flow.endpoints_and_injector(index, schedule, stores);
        let is_duplicate = match endpoints {
            Endpoints::Tcp(connection) => {
                let packet = event.packet(connection.receiver.next());
                let duplicates = connection.receiver.duplicates();
                connection.deliver(at, Packet { sent, ..packet }, &mut injector);
                connection.receiver.duplicates() > duplicates
            }
            Endpoints::Unresponsive(source) => {
                let group = routes.group_of(index);
                source.deliver(at, sent, event.bytes(), &mut groups[group]);
                false
            }
        };
        let is_quiet = flow.arm(index, schedule);
        self.fast_paths.enter(index, flow, at);
        if is_duplicate {
            self.count_duplicate(event);
        }
        is_quiet
    }

    /// Counts a packet that its receiver had already, if the last link of its path sent its last bit
    /// inside the measured window, as the departures of the link are counted.
    #[cold]
    fn count_duplicate(&mut self, event: Event) {
        let Stage::Arrival(position) = event.stage() else { return };
        let hop = self.routes.hop(event.flow(), position);
        // The packet that the link has sent last, or will, is this one.
        let departure = self.links[hop.link as usize].busy_until();
        let Checkpoints { measure_from, duration, .. } = self.link_checkpoints.checkpoints;
        if departure > measure_from && departure <= duration {
            self.flows[event.flow() as usize].account.duplicates_measured += 1;
            self.groups[hop.group as usize].on_duplicate(event.bytes());
        }
    }
}

/// The send time of a packet at the end of its path, and its event with the sequence number.
#[inline]
fn sent_at(event: Event, stores: &mut Stores) -> (Event, Time) {
    if event.is_kept() { stores.kept_packets.take(event) } else { (event, event.sent()) }
}

/// Takes note of a packet or an ACK that a queue dropped or a wire lost.
fn lose(flows: &mut [Flow], stores: &mut Stores, event: Event, measure_from: Time) {
    let flow = &mut flows[event.flow() as usize];
    if matches!(event.stage(), Stage::Arrival(hop) if hop < flow.forward_hops) {
        let (_, sent) = sent_at(event, stores);
        flow.account.lost += 1;
        flow.account.lost_measured += u64::from(sent >= measure_from);
    } else {
        flow.account.acks_on_the_way -= 1;
        let _ = stores.acks.take(event.slot());
    }
}
