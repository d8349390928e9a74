//! What happens at the links: a packet arrives, a link serves a packet, and what follows for the
//! packet and for its flow.

use super::Simulation;
use super::flow::Flow;
use super::pending::Pending;
use super::routes::{Door, Exit, Hop};
use crate::flow::Endpoints;
use crate::link::LinkOutcome;
use crate::link::arrivals::{Content, EcnFeedback, Identity, Timestamps};
use crate::packet::transit::{Stage, Transit};
use crate::packet::{Ecn, Packet};
use crate::pool::{FlowPackets, Grant};
use crate::probe::flow::Checkpoints;
use crate::queue::buffer::DropReason;
use crate::tcp::Connection;
use crate::tcp::endpoint_log::End;
use crate::tcp::receiver::Receiver;
use crate::units::Time;

/// A packet at a link, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) packet: Transit,
    pub(super) outcome: LinkOutcome,
    /// What lies behind the link.
    pub(super) exit: Exit,
    /// Whether the packet has just arrived, and lets its source emit the next packet.
    pub(super) clocks_source: bool,
}

impl Simulation {
    /// A packet reaches a link. `None` if the packet waits to be served and nothing follows yet.
    #[inline]
    pub(super) fn arrive(&mut self, mut packet: Transit, position: u8) -> Option<Step> {
        let hop = self.routes.hop(packet.flow(), position);
        let link = hop.link as usize;
        if self.links[link].served().is_none() {
            // The packet will reach the ends of its flow in this event: fetch them meanwhile.
            std::hint::black_box(self.flows[packet.flow() as usize].forward_hops);
        }
        if self.any_link.needs_care {
            if hop.door == Door::FarEnd {
                return Some(self.reach_far_end(packet, hop));
            }
            self.prepare_arrival(link, packet, position);
        }
        self.admissions.on_arrival(link, &packet);
        let ingress = self.ingress_of(packet);
        let outcome = if let Some(ingress) = ingress {
            self.arrive_from(ingress, &mut packet, hop)
        } else if self.pools.has(link) {
            self.arrive_at_pool(&mut packet, hop)
        } else {
            self.links[link].arrive(&mut packet, hop.class)
        };
        if hop.adds_wait {
            packet = self.add_wait(packet, outcome, hop);
        }
        if outcome == LinkOutcome::Held {
            if self.any_link.counts_in_switch {
                self.note_wait(link, packet, packet.time(), true);
            }
            self.note_queue(link, packet.time());
            if let Some(ingress) = ingress {
                self.regulate(ingress, packet.time());
            }
            if !hop.clocks_source {
                return None;
            }
        }
        Some(Step { packet, outcome, exit: hop.exit, clocks_source: hop.clocks_source })
    }

    /// Does what is to be done before a packet arrives where links record their arrivals or pause.
    fn prepare_arrival(&mut self, link: usize, packet: Transit, position: u8) {
        if self.any_link.logs_arrivals {
            self.announce(link, packet, position);
        }
        if self.any_link.pauses {
            self.count_blocked(link, packet.time());
        }
    }

    /// Tells a link that records its arrivals which packet reaches it; a packet that has left a sender
    /// whose packets are recorded is recorded at its first link.
    #[cold]
    fn announce(&mut self, link: usize, packet: Transit, position: u8) {
        if position == 0 {
            self.record_sent(packet);
        }
        if self.links[link].probe.arrivals.is_none() {
            return;
        }
        let tcp = self.group_of(packet.flow() as usize).tcp.as_ref();
        let has_sack = tcp.is_some_and(|tcp| tcp.recovery.has_sack());
        let flow = &self.flows[packet.flow() as usize];
        let is_ack = position >= flow.forward_hops;
        let identity =
            if is_ack { self.identity_of_ack(packet) } else { self.identity_of_data(packet) };
        let Simulation { links, pending, .. } = self;
        let Some(arrivals) = &mut links[link].probe.arrivals else { return };
        if is_ack && has_sack {
            arrivals.announce_blocks(packet.time(), pending.acks.look(packet.slot()).reported());
        }
        arrivals.announce(identity);
    }

    fn identity_of_ack(&self, packet: Transit) -> Identity {
        let ack = self.pending.acks.look(packet.slot());
        let clocks = self.pending.timestamps.as_deref();
        Identity {
            sequence: ack.cumulative,
            sent: packet.time(),
            flow_start: self.dynamic.start_of(packet.flow()),
            content: Content::Ack,
            timestamps: clocks.map(|clocks| clocks.of_ack(packet.slot())).unwrap_or_default(),
            feedback: EcnFeedback::of_ack(&ack),
        }
    }

    fn identity_of_data(&self, packet: Transit) -> Identity {
        let (packet, sent) = self.pending.sent(packet);
        self.identity_of_sent(packet, sent)
    }

    /// The identity of a packet of data with its sequence number, which was sent at `sent`.
    fn identity_of_sent(&self, packet: Transit, sent: Time) -> Identity {
        let clocks = self.pending.timestamps.as_deref();
        let (sequence, timestamps) = match &self.flows[packet.flow() as usize].endpoints {
            Endpoints::Tcp(connection) => (
                sequence_of(connection, &packet),
                clocks.map(|clocks| clocks.of_packet(packet.flow(), sent)).unwrap_or_default(),
            ),
            Endpoints::Unresponsive(_) => (packet.slot().into(), Timestamps::default()),
        };
        let Packet { is_retransmission, is_cwr, .. } = packet.packet(0);
        let content = if is_retransmission { Content::Retransmission } else { Content::Data };
        let flow_start = self.dynamic.start_of(packet.flow());
        let feedback = EcnFeedback { is_cwr, ..EcnFeedback::default() };
        Identity { sequence, sent, flow_start, content, timestamps, feedback }
    }

    /// Whether the packets at the ends of a flow are recorded.
    fn records_ends(&self, flow: u32) -> bool {
        self.pending.endpoint_log.as_ref().is_some_and(|log| log.records(flow))
    }

    /// Records that a packet of data, which has not passed its first link, has left its sender.
    fn record_sent(&mut self, packet: Transit) {
        if self.records_ends(packet.flow()) {
            let identity = self.identity_of_data(packet);
            if let Some(log) = &mut self.pending.endpoint_log {
                log.on_data(identity.sent, End::Sender, packet, identity);
            }
        }
    }

    /// Records the packets of data that have left their senders and are on the way to the first link.
    pub(super) fn record_sent_on_the_way(&mut self) {
        if self.pending.endpoint_log.is_none() {
            return;
        }
        let is_first = |event: &Transit| event.stage() == Stage::Arrival(0);
        let mut packets: Vec<Transit> = self.pending.agenda.events().filter(is_first).collect();
        // The agenda lists its events in no order.
        packets.sort_by_key(|packet| (packet.time(), packet.flow()));
        for packet in packets {
            self.record_sent(packet);
        }
    }

    /// Tells the receiver's clock of a packet that leaves the last shared link at `at`.
    #[cold]
    fn note_reception(&mut self, at: Time, packet: Transit, sent: Time) {
        let number = packet.flow();
        let Endpoints::Tcp(connection) = &self.flows[number as usize].endpoints else { return };
        let sequence = sequence_of(connection, &packet);
        let at = connection.private_path.reach_receiver(at);
        let identity = self.records_ends(number).then(|| self.identity_of_sent(packet, sent));
        if let Some(clocks) = &mut self.pending.timestamps {
            clocks.on_packet(number, at, sequence, sent);
        }
        if let (Some(log), Some(identity)) = (&mut self.pending.endpoint_log, identity) {
            log.on_data(at, End::Receiver, packet, identity);
        }
    }

    /// A packet reaches a link that shares memory with others. The policer comes before the pool, and
    /// the pool before the discipline.
    #[inline(never)]
    pub(super) fn arrive_at_pool(&mut self, packet: &mut Transit, hop: Hop) -> LinkOutcome {
        let (link, now) = (hop.link as usize, packet.time());
        let refusal = self.links[link].police(packet);
        let granted = refusal.map_or_else(|| self.ask_pool(hop, packet.copied()), Err);
        let grant = match granted {
            Ok(grant) => grant,
            Err(reason) => return self.links[link].refuse(*packet, hop.class, reason),
        };
        let is_marked = self.pools.is_to_be_marked(link, now);
        let outcome = self.links[link].offer_from_pool(packet, hop.class, is_marked);
        self.occupy(link, now, grant, outcome);
        outcome
    }

    /// Asks a pool for the memory of a packet; a policy that pushes packets out makes room.
    #[expect(clippy::inline_always, reason = "two callers, one of them in the loop over packets")]
    #[inline(always)]
    pub(super) fn ask_pool(&mut self, hop: Hop, packet: Transit) -> Result<Grant, DropReason> {
        let (now, bytes) = (packet.time(), packet.bytes());
        let is_favoured = self.pools.favours() && self.is_favoured(hop, packet.copied());
        match self.pools.ask((hop.link as usize, hop.group), now, bytes, is_favoured) {
            Err(DropReason::Pool) => self.push_out(hop, now, bytes),
            answer => answer,
        }
    }

    /// Whether the policy of a link's pool favours a packet: that of a short flow, or data of a first window.
    #[cold]
    fn is_favoured(&mut self, hop: Hop, packet: Transit) -> bool {
        let (link, number) = (hop.link as usize, packet.flow());
        let flow = &self.flows[number as usize];
        let Stage::Arrival(position) = packet.stage() else { return false };
        let is_ack = position >= flow.forward_hops;
        let began = self.dynamic.start_of(number);
        let packets = FlowPackets { flow: number, began, are_acks: is_ack };
        if let Some(is_short) = self.pools.count_flow(link, packets, packet.time(), packet.bytes())
        {
            return is_short;
        }
        let Endpoints::Tcp(connection) = &flow.endpoints else { return false };
        let (packet, _) = if is_ack { (packet, Time::ZERO) } else { self.pending.sent(packet) };
        let window = u64::from(self.pools.first_window(hop.group));
        !is_ack && sequence_of(connection, &packet) < window
    }

    /// A packet takes what it has been granted, unless the link has dropped it.
    #[expect(clippy::inline_always, reason = "two callers, one of them in the loop over packets")]
    #[inline(always)]
    pub(super) fn occupy(&mut self, link: usize, now: Time, grant: Grant, outcome: LinkOutcome) {
        let Simulation { links, pools, .. } = self;
        match outcome {
            LinkOutcome::Dropped(_) => {}
            LinkOutcome::Held => {
                pools.take(link, now, grant);
                if self.any_link.expels {
                    self.await_expulsion(link, now);
                }
            }
            LinkOutcome::Delivered(_) | LinkOutcome::Lost => {
                let link_state = &links[link];
                let start = now.saturating_add(link_state.last_wait());
                pools.pass(link, now, grant, start, link_state.busy_until());
            }
        }
    }

    /// Drops the last packet of the longest queue of a full pool, as long as a packet that arrives at
    /// the link of `hop` finds no room and is not itself the last packet of the longest queue.
    #[cold]
    fn push_out(&mut self, hop: Hop, now: Time, bytes: u32) -> Result<Grant, DropReason> {
        let link = hop.link as usize;
        loop {
            let Simulation { links, pools, .. } = self;
            let longest = pools.longest(link, bytes, |link| links[link].can_push_out());
            let Some(longest) = longest.filter(|longest| *longest != link) else {
                return Err(DropReason::Pool);
            };
            links[longest].push_out(now, DropReason::Pool);
            self.note_queue(longest, now);
            match self.pools.ask((link, hop.group), now, bytes, false) {
                Err(DropReason::Pool) => {}
                answer => return answer,
            }
        }
    }

    /// Notes when the pool of a link where a packet has taken memory drops a head.
    #[cold]
    fn await_expulsion(&mut self, link: usize, now: Time) {
        if let Some((pool, at)) = self.pools.await_expulsion(link, now) {
            self.timers.set(self.links.len() + pool, at);
        }
    }

    /// A pool drops the head of a queue above its threshold, if it still can.
    fn expel(&mut self, pool: usize, now: Time) {
        let Simulation { links, pools, timers, .. } = self;
        let timer = links.len() + pool;
        match pools.expel(pool, now, |link| links[link].can_push_out()) {
            Err(at) => timers.set(timer, at),
            Ok(link) => {
                let bytes = links[link].push_out(now, DropReason::Head).unwrap_or(0);
                pools.read(pool, now, bytes);
                self.note_queue(link, now);
            }
        }
    }

    /// A link serves its next packet, unless its discipline has dropped all packets that waited.
    #[inline(never)]
    pub(super) fn serve(&mut self, link: usize) -> Option<Step> {
        let now = self.timers.earliest();
        let link = if self.any_link.gives_way { self.choose(link)? } else { link };
        // A link that pauses may stop or resume instead. There is one call of `Link::serve`, for it to be
        // compiled into this function.
        let was_stopped = self.any_link.pauses && self.count_before_service(link, now);
        let Simulation { links, routes, .. } = self;
        let served = links[link].serve(|packet| routes.class_of(packet));
        if self.any_link.pauses {
            self.note_gate(link, was_stopped, now);
        }
        self.note_queue(link, now);
        let (packet, outcome) = served?;
        let Stage::Arrival(position) = packet.stage() else { return None };
        let hop = self.routes.hop(packet.flow(), position);
        self.pools.send((link, hop.group), packet.bytes(), now, self.links[link].busy_until());
        if self.any_link.shares_line {
            self.take_line(link, packet.bytes(), now);
        }
        if self.any_link.counts_in_switch {
            self.note_wait(link, packet, now, false);
            self.leave_switch(packet, now);
        }
        let packet = if hop.adds_wait { self.add_wait(packet, outcome, hop) } else { packet };
        Some(Step { packet, outcome, exit: hop.exit, clocks_source: false })
    }

    /// The link that sends when the line of `link` is free, which `link` is the first to want. `None` if
    /// it is the turn of a pool, whose timers come behind those of links.
    #[inline(never)]
    fn choose(&mut self, link: usize) -> Option<usize> {
        if let Some(pool) = link.checked_sub(self.links.len()) {
            self.expel(pool, self.timers.earliest());
            return None;
        }
        Some(self.lines.choose(link, &self.links))
    }

    /// Lets the other links of its line wait for a link that sends a packet.
    #[inline(never)]
    fn take_line(&mut self, link: usize, bytes: u32, now: Time) {
        let Simulation { lines, links, timers, blocking, .. } = self;
        let free_at = links[link].busy_until();
        for other in lines.send(link, bytes) {
            blocking.count(other, links, now);
            links[other].wait_for_line(free_at);
            timers.set(other, links[other].next_service());
        }
    }

    /// Takes note of the packets that a link has dropped where packets are served, and of its next
    /// service.
    #[inline]
    pub(super) fn note_queue(&mut self, link: usize, now: Time) {
        let Some(queue) = self.links[link].served() else { return };
        let has_dropped = queue.has_dropped();
        self.timers.set(link, self.links[link].next_service());
        if has_dropped {
            self.take_dropped(link, now);
        }
    }

    #[inline(never)]
    fn take_dropped(&mut self, link: usize, now: Time) {
        self.let_dropped_leave(link, now);
        let measure_from = self.link_checkpoints.checkpoints.measure_from;
        let Simulation { flows, links, pools, routes, pending, dynamic, .. } = self;
        links[link].drain_dropped(now, |dropped| {
            let packet = dropped.packet;
            let group = routes.group_of(packet.flow()) as u32;
            pools.drop((link, group), now, packet.bytes());
            lose(flows, pending, packet, measure_from);
            dynamic.release_if_done(packet.flow(), flows);
            routes.class_of(packet)
        });
    }

    /// Carries out what follows from the outcome of a packet at a link.
    #[inline]
    pub(super) fn follow(&mut self, step: Step) {
        let Step { packet, outcome, exit, clocks_source } = step;
        let Simulation { flows, pending, link_checkpoints, fast_paths, .. } = self;
        let index = packet.flow();
        let mut may_be_done = match outcome {
            // The link stands still for good, or the run is over by then: the packet stays there.
            LinkOutcome::Delivered(at) if at >= Time::AFTER_ALL_RUNS => {
                pending.agenda.push(packet.never());
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
                    if let Some(log) = &mut pending.endpoint_log {
                        let timestamps = clocks.of_ack(packet.slot());
                        log.on_ack(at, End::Sender, index, &ack.ack(), timestamps);
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
        if self.any_link.logs_arrivals {
            self.note_reception(at, packet, sent);
        }
        let Simulation { flows, pending, routes, groups, .. } = self;
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
                let group = routes.group_of(index);
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
        let hop = self.routes.hop(packet.flow(), position);
        if hop.door == Door::FarEnd {
            return self.departure_to_far_end();
        }
        self.links[hop.link as usize].busy_until()
    }

    /// Counts a packet that its receiver discarded or had already, if the last link of its path sent its
    /// last bit inside the measured window, as the departures of the link are counted.
    #[cold]
    fn count_in_vain(&mut self, packet: Transit, is_discarded: bool) {
        let departure = self.last_departure(packet);
        let Checkpoints { measure_from, duration, .. } = self.link_checkpoints.checkpoints;
        if departure > measure_from && departure <= duration {
            let account = &mut self.flows[packet.flow() as usize].account;
            let group = &mut self.groups[self.routes.group_of(packet.flow())];
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

/// The number of a packet of data in its connection.
fn sequence_of(connection: &Connection, packet: &Transit) -> u64 {
    packet.packet(connection.receiver.next()).sequence
}
