//! What happens to a packet at a link, and what follows for it and for its flow.

use super::Simulation;
use super::dynamic_flows::DynamicFlows;
use super::flow::Flow;
use super::pending::Pending;
use super::records::sequence_of;
use crate::flow::Endpoints;
use crate::link::LinkOutcome;
use crate::observe::Act;
use crate::packet::transit::{Stage, Transit};
use crate::packet::{Ecn, Packet};
use crate::pool::FlowPackets;
use crate::prefetch::prefetch;
use crate::probe::flow::Checkpoints;
use crate::switch::PacketFacts;
use crate::switch::routes::{Door, Exit, Hop};
use crate::tcp::receiver::Receiver;
use crate::units::Time;

/// A packet at a link, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    pub(super) packet: Transit,
    pub(super) outcome: LinkOutcome,
    /// What lies behind the link.
    pub(super) exit: Exit,
    /// Whether the packet has just arrived, and lets its source emit the next packet.
    pub(super) clocks_source: bool,
}

/// What the flows of a run know of packets on their way.
pub(super) struct OfFlows<'a> {
    pub(super) flows: &'a [Flow],
    pub(super) pending: &'a Pending,
    pub(super) dynamic: &'a DynamicFlows,
}

impl PacketFacts for OfFlows<'_> {
    fn flow_packets(&self, packet: &Transit, position: u8) -> FlowPackets {
        let flow = packet.flow();
        let are_acks = position >= self.flows[flow as usize].forward_hops;
        FlowPackets { flow, began: self.dynamic.start_of(flow), are_acks }
    }

    fn sequence(&self, packet: Transit) -> Option<u64> {
        let (packet, _) = self.pending.sent(packet);
        match &self.flows[packet.flow() as usize].endpoints {
            Endpoints::Tcp(connection) => Some(sequence_of(connection, &packet)),
            Endpoints::Unresponsive(_) => None,
        }
    }
}

impl Simulation {
    /// A packet reaches a link. `None` if the packet waits to be served and nothing follows yet.
    #[inline]
    pub(super) fn arrive(&mut self, packet: Transit, position: u8) -> Option<Decided> {
        let hop = self.switch.routes.hop(packet.flow(), position);
        let link = hop.link as usize;
        if self.switch.links[link].served().is_none() {
            // The packet will reach the ends of its flow in this event.
            prefetch(&self.flows[packet.flow() as usize]);
        }
        if self.observes_or_reorders {
            if hop.door == Door::BehindLink {
                return Some(self.reach_far_end(packet, hop));
            }
            if self.observes {
                self.announce(link, packet, position);
            }
        }
        self.arrive_at(packet, hop)
    }

    /// A packet takes the general way into a link.
    #[inline]
    pub(super) fn arrive_at(&mut self, mut packet: Transit, hop: Hop) -> Option<Decided> {
        let Simulation { switch, flows, pending, dynamic, .. } = self;
        let outcome = switch.arrive(&mut packet, hop, &OfFlows { flows, pending, dynamic });
        self.note_dropped();
        if hop.adds_wait {
            packet = self.add_wait(packet, outcome, hop);
        }
        if outcome == LinkOutcome::Held && !hop.clocks_source {
            return None;
        }
        Some(Decided { packet, outcome, exit: hop.exit, clocks_source: hop.clocks_source })
    }

    /// A link serves its next packet, or a pool drops one. `None` if no packet leaves.
    #[inline(never)]
    pub(super) fn serve(&mut self) -> Option<Decided> {
        let served = self.switch.serve();
        self.note_dropped();
        let (packet, outcome, hop) = served?;
        let packet = if hop.adds_wait { self.add_wait(packet, outcome, hop) } else { packet };
        Some(Decided { packet, outcome, exit: hop.exit, clocks_source: false })
    }

    /// Takes note of waiting packets that were dropped.
    #[inline]
    pub(super) fn note_dropped(&mut self) {
        if self.switch.has_dropped() {
            self.lose_dropped();
        }
    }

    #[inline(never)]
    pub(super) fn lose_dropped(&mut self) {
        let measure_from = self.link_checkpoints.checkpoints.measure_from;
        let Simulation { switch, flows, pending, dynamic, .. } = self;
        switch.drain_dropped(|packet| {
            lose(flows, pending, packet, measure_from);
            dynamic.release_if_done(packet.flow(), flows);
        });
    }

    /// Carries out what follows from the outcome of a packet at a link.
    #[inline]
    pub(super) fn follow(&mut self, decided: Decided) {
        let Decided { packet, outcome, exit, clocks_source } = decided;
        let Simulation { flows, pending, link_checkpoints, fast_paths, .. } = self;
        let index = packet.flow();
        let mut may_be_done = match outcome {
            // The link stands still for good, or the run is over by then: the packet stays there.
            LinkOutcome::Delivered(at) if at >= Time::AFTER_ALL_RUNS => {
                pending.agenda.push(packet.at(Time::NEVER));
                false
            }
            LinkOutcome::Delivered(at) if exit == Exit::Receiver => {
                let (packet, sent) = pending.take_sent(packet);
                if fast_paths.deliver((at, packet, sent), flows, pending) {
                    return;
                }
                self.deliver(at, packet, sent)
            }
            LinkOutcome::Delivered(at) if exit == Exit::Sender => {
                let flow = &mut flows[index as usize];
                let ack = pending.acks.take(packet.slot());
                if let (Some(clocks), Endpoints::Tcp(connection)) =
                    (&mut pending.timestamps, &flow.endpoints)
                {
                    let at = connection.private_path.reach_sender(at);
                    clocks.on_stored_ack(index, at, packet.slot());
                    if let Some(ends) = &mut pending.ends {
                        let timestamps = clocks.of_ack(packet.slot());
                        ends.on_ack(at, Act::Received, index, &ack.ack(), timestamps);
                    }
                }
                flow.account.acks_on_the_way -= 1;
                let (endpoints, mut injector) = flow.endpoints_and_injector(index, pending);
                endpoints.deliver_ack(at, ack.ack(), &mut injector);
                flow.arm(index, &mut pending.agenda)
            }
            LinkOutcome::Delivered(at) if exit == Exit::FarEnd => {
                self.leave_for_far_end(packet, at);
                false
            }
            // What the event cannot hold of a packet is in the stores by now. The age of an ACK is
            // never read.
            LinkOutcome::Delivered(at) => {
                pending.agenda.push(packet.at_next_link(at));
                false
            }
            LinkOutcome::Dropped(_) | LinkOutcome::Lost => {
                lose(flows, pending, packet, link_checkpoints.checkpoints.measure_from);
                true
            }
            LinkOutcome::Held => false,
        };
        // The next packet of the source cannot arrive earlier, so it is emitted only now.
        if clocks_source {
            let Simulation { flows, pending, .. } = self;
            let flow = &mut flows[index as usize];
            let (endpoints, mut injector) = flow.endpoints_and_injector(index, pending);
            endpoints.emit_next(&mut injector);
            may_be_done |= flow.arm(index, &mut pending.agenda);
        }
        if may_be_done {
            self.dynamic.release_if_done(index, &mut self.flows);
        }
    }

    /// Delivers a packet that was sent at `sent` and leaves the last shared link at `at`, on the general
    /// path. Returns whether nothing of its flow is in flight then.
    #[inline]
    pub(super) fn deliver(&mut self, at: Time, packet: Transit, sent: Time) -> bool {
        if packet.ecn() == Ecn::Ce {
            self.count_mark(packet, sent);
        }
        if self.observes {
            self.note_reception(at, packet, sent);
        }
        let Simulation { flows, pending, switch, groups, .. } = self;
        let index = packet.flow();
        let flow = &mut flows[index as usize];
        self.fast_paths.leave(index, flow);
        flow.account.received += 1;
        let (endpoints, mut injector) = flow.endpoints_and_injector(index, pending);
        let (is_duplicate, is_discarded) = match endpoints {
            Endpoints::Tcp(connection) => {
                let packet = packet.packet(connection.receiver.next());
                let counts = |receiver: &Receiver| (receiver.duplicates(), receiver.discarded());
                let (duplicates, discarded) = counts(&connection.receiver);
                connection.deliver(at, Packet { sent, ..packet }, &mut injector);
                let after = counts(&connection.receiver);
                (after.0 > duplicates, after.1 > discarded)
            }
            Endpoints::Unresponsive(source) => {
                let group = switch.routes.group_of(index);
                source.deliver(at, sent, packet.bytes(), &mut groups[group]);
                (false, false)
            }
        };
        let is_quiet = flow.arm(index, &mut pending.agenda);
        self.fast_paths.enter(index, flow, at);
        if is_duplicate || is_discarded {
            self.count_in_vain(packet, is_discarded);
        }
        is_quiet
    }

    /// Counts a marked packet that was sent inside the measured window, if the last link of its path
    /// sends its last bit in the run.
    fn count_mark(&mut self, packet: Transit, sent: Time) {
        let departure = self.last_departure(packet);
        let Checkpoints { measure_from, duration, .. } = self.link_checkpoints.checkpoints;
        let is_counted = sent >= measure_from && departure <= duration;
        self.flows[packet.flow() as usize].account.marked_measured += u64::from(is_counted);
    }

    /// When the last link of its path sends the last bit of a packet that is being delivered: it is the
    /// packet that the link has sent last, or will, unless the link reorders.
    fn last_departure(&self, packet: Transit) -> Time {
        let Stage::Arrival(position) = packet.stage() else { return Time::NEVER };
        let hop = self.switch.routes.hop(packet.flow(), position);
        if hop.door == Door::BehindLink {
            return self.departure_to_far_end();
        }
        self.switch.links[hop.link as usize].busy_until()
    }

    /// Counts a packet that its receiver discarded or had already, if the last link of its path sent its
    /// last bit inside the measured window, as the departures of the link are counted.
    #[cold]
    fn count_in_vain(&mut self, packet: Transit, is_discarded: bool) {
        let departure = self.last_departure(packet);
        let Checkpoints { measure_from, duration, .. } = self.link_checkpoints.checkpoints;
        if departure > measure_from && departure <= duration {
            let account = &mut self.flows[packet.flow() as usize].account;
            let group = &mut self.groups[self.switch.routes.group_of(packet.flow())];
            if is_discarded {
                account.discarded_measured += 1;
                group.discarded += 1;
            } else {
                account.duplicates_measured += 1;
                group.on_duplicate(packet.bytes());
            }
        }
    }
}

/// Takes note of a packet or an ACK that a queue dropped or a wire lost.
fn lose(flows: &mut [Flow], pending: &mut Pending, packet: Transit, measure_from: Time) {
    let flow = &mut flows[packet.flow() as usize];
    if matches!(packet.stage(), Stage::Arrival(hop) if hop < flow.forward_hops) {
        let (_, sent) = pending.take_sent(packet);
        flow.account.lost += 1;
        flow.account.lost_measured += u64::from(sent >= measure_from);
    } else {
        flow.account.acks_on_the_way -= 1;
        let _ = pending.acks.take(packet.slot());
    }
}
