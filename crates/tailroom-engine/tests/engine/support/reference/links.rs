//! What happens at links: arrivals, with the memory that they need and the pauses that they cause, and
//! services.

use tailroom_engine::link::LinkOutcome;
use tailroom_engine::observe::{Content, EcnFeedback, Identity, Timestamps};
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::packet::{Ack, Ecn, Packet};
use tailroom_engine::pool::Grant;
use tailroom_engine::queue::buffer::{DropReason, Dropped};
use tailroom_engine::units::Time;

use super::flows::{Flow, milliseconds};
use super::heap::Happening;
use super::{Reference, class};

impl Reference<'_> {
    pub(super) fn reach_link(&mut self, now: Time, flow: usize, happening: Happening) {
        let group = &self.network.groups[self.groups[flow]];
        let (link, bytes, ecn, passed) = match &happening {
            Happening::PacketAtLink(hop, packet, _) => {
                (self.paths[flow][*hop], packet.bytes, packet.ecn, *hop)
            }
            Happening::AckAtLink(hop, ack, _) => {
                let bytes = group.ack_sizes().map_or(0, |sizes| sizes.of(&ack.ack()));
                (group.reverse_path[*hop], bytes, Ecn::NotEct, group.path.len() + hop)
            }
            _ => unreachable!("only packets and ACKs reach links"),
        };
        // A link needs no more than this; the slot leads back to the rest.
        let slot = self.next_slot;
        self.next_slot += 1;
        let ingress = self.ingress_of(flow, &happening);
        let identity = self.identity_of(now, flow, &happening);
        if let Some(observer) = &mut self.links[link].probe.observer {
            let has_sack = group.tcp.as_ref().is_some_and(|tcp| tcp.recovery.has_sack());
            let ack = match &happening {
                Happening::AckAtLink(_, ack, _) if has_sack => Some(ack.ack()),
                _ => None,
            };
            observer.announce(identity, ack.iter().flat_map(Ack::reported));
        }
        self.at_links.insert(slot, happening);
        let packet = Packet { sequence: slot.into(), bytes, ecn, ..Packet::default() };
        let mut event = Transit::arrival(now, flow as u32, passed as u8, &packet);
        let class = class(&self.crossing[link], self.groups[flow]);
        if let Some(admission) = &mut self.admissions[link] {
            admission.on_arrival(event);
        }
        let refusal = self.ingress.refuses(ingress, &event);
        let refusal = refusal.or_else(|| self.links[link].police(&event));
        let first_window = group.tcp.as_ref().map_or(0, |tcp| u64::from(tcp.initial_window));
        let is_first = identity.content != Content::Ack && identity.sequence < first_window;
        let granted =
            refusal.map_or_else(|| self.ask_for_memory(link, &event, identity, is_first), Err);
        let outcome = match granted {
            Ok(_) => {
                let is_marked = self.memory.is_to_be_marked(link, &event);
                self.links[link].offer_from_pool(&mut event, class, is_marked)
            }
            Err(reason) => self.links[link].refuse(event, class, reason),
        };
        let is_sent = matches!(outcome, LinkOutcome::Delivered(_) | LinkOutcome::Lost);
        let waited = if is_sent { self.links[link].last_wait() } else { Time::ZERO };
        if let Ok(grant) = granted
            && !matches!(outcome, LinkOutcome::Dropped(_))
        {
            self.memory.take(link, self.groups[flow], &event, grant);
            if let Some((pool, at)) = self.memory.await_expulsion(link, now) {
                self.await_head_drop(pool, at);
            }
        }
        if is_sent {
            self.memory.send(&event, now + waited, self.links[link].busy_until());
        }
        let ingress = ingress.filter(|_| outcome == LinkOutcome::Held);
        if let Some(ingress) = ingress {
            self.ingress.enter(ingress, link, &event, &mut self.links);
        }
        self.note_departure(link, bytes, outcome);
        self.follow(event, outcome, waited);
        self.after_scheduler(now, link);
        if let Some(ingress) = ingress {
            self.ingress.regulate(ingress, now, &mut self.links);
            self.await_service(ingress);
        }
    }

    /// What a link that records its arrivals notes of a packet or an ACK.
    fn identity_of(&self, now: Time, flow: usize, happening: &Happening) -> Identity {
        let active = self.generators.active_flow(flow as u32);
        let flow_start = active.map_or(Time::ZERO, |active| active.flow_start.start);
        match happening {
            Happening::PacketAtLink(_, packet, _) => {
                let is_repeated = packet.is_retransmission;
                let content = if is_repeated { Content::Retransmission } else { Content::Data };
                let Packet { sequence, sent, .. } = *packet;
                let timestamps = self.timestamps_of(flow, sent);
                let feedback = EcnFeedback { is_cwr: packet.is_cwr, ..EcnFeedback::default() };
                Identity { sequence, sent, flow_start, content, timestamps, feedback }
            }
            Happening::AckAtLink(_, ack, stamp) => {
                let sequence = ack.ack().cumulative;
                let (timestamps, content) = (stamp.timestamps(), Content::Ack);
                let ack = ack.ack();
                let feedback = EcnFeedback {
                    is_echo: ack.ece,
                    is_cwr: false,
                    marked_packets: ack.marked_packets as u32,
                };
                Identity { sequence, sent: now, flow_start, content, timestamps, feedback }
            }
            _ => unreachable!("only packets and ACKs reach links"),
        }
    }

    /// The timestamps of a packet that was sent at `sent`: it echoes the newest of the ACKs that had
    /// arrived by then.
    fn timestamps_of(&self, flow: usize, sent: Time) -> Timestamps {
        let Flow::Tcp(tcp) = &self.flows[flow] else { return Timestamps::default() };
        let heard = &tcp.heard[..tcp.heard.partition_point(|(at, _)| *at <= sent)];
        let newest = heard.last().map_or(Time::ZERO, |(_, newest)| *newest);
        Timestamps { value_ms: milliseconds(sent), echo_ms: milliseconds(newest) }
    }

    /// The link over which a packet or an ACK reaches a link, if its far end counts what waits of it.
    fn ingress_of(&self, flow: usize, happening: &Happening) -> Option<usize> {
        let before = match happening {
            Happening::PacketAtLink(hop, ..) => self.paths[flow][hop.checked_sub(1)?],
            Happening::AckAtLink(hop, ..) => {
                self.network.groups[self.groups[flow]].reverse_path[hop.checked_sub(1)?]
            }
            _ => unreachable!("only packets and ACKs reach links"),
        };
        self.network.links[before].counts_in_switch().then_some(before)
    }

    /// A packet leaves the queue of the link at which it waits.
    fn leave_queue(&mut self, now: Time, slot: u32) {
        for link in self.ingress.leave(now, slot, &mut self.links) {
            self.await_service(link);
        }
    }

    fn await_service(&mut self, link: usize) {
        let next = self.links[link].next_service();
        if next < self.network.duration {
            self.heap.push(next, link, Happening::Service);
        }
    }

    /// Asks for the memory of an arriving packet, and drops others for it where the policy does.
    fn ask_for_memory(
        &mut self,
        link: usize,
        packet: &Transit,
        identity: Identity,
        is_first: bool,
    ) -> Result<Grant, DropReason> {
        let flow = packet.flow() as usize;
        let stream = (flow, identity.flow_start, identity.content == Content::Ack);
        let is_short = self.memory.is_short(link, stream, packet);
        let is_favoured = is_short.unwrap_or(is_first);
        loop {
            match self.memory.ask((link, self.groups[flow]), packet, is_favoured, &self.links) {
                Ok(answer) => return answer,
                Err(longest) => {
                    self.links[longest].push_out(packet.time(), DropReason::Pool);
                    self.after_scheduler(packet.time(), longest);
                }
            }
        }
    }

    fn await_head_drop(&mut self, pool: usize, at: Time) {
        if at < self.network.duration {
            self.heap.push(at, pool, Happening::HeadDrop);
        }
    }

    /// A pool drops the head of a queue above its threshold; comes in vain where it came before.
    pub(super) fn drop_head(&mut self, now: Time, pool: usize) {
        match self.memory.expel(pool, now, &self.links) {
            Err(at) => self.await_head_drop(pool, at),
            Ok(link) => {
                let bytes =
                    self.links[link].push_out(now, DropReason::Head).expect("a packet waits");
                self.memory.read(pool, now, bytes);
                self.after_scheduler(now, link);
                self.await_head_drop(pool, now);
            }
        }
    }

    pub(super) fn serve(&mut self, now: Time, link: usize) {
        if self.links[link].next_service() != now {
            return;
        }
        let Reference { links, lines, crossing, groups, .. } = self;
        let link = lines.choose(link, links);
        let class_of = |packet: Transit| class(&crossing[link], groups[packet.flow() as usize]);
        if let Some((packet, outcome)) = links[link].serve(class_of) {
            self.note_departure(link, packet.bytes(), outcome);
            self.memory.send(&packet, now, self.links[link].busy_until());
            let free_at = self.links[link].busy_until();
            let others: Vec<usize> = self.lines.send(link, packet.bytes()).collect();
            for other in others {
                self.links[other].wait_for_line(free_at);
                self.await_service(other);
            }
            self.leave_queue(now, packet.slot());
            self.follow(packet, outcome, now - packet.time());
        }
        self.after_scheduler(now, link);
    }

    /// A link sends a packet now, or knows that it will, or does not.
    fn note_departure(&mut self, link: usize, bytes: u32, outcome: LinkOutcome) {
        if matches!(outcome, LinkOutcome::Delivered(_) | LinkOutcome::Lost) {
            self.departures[link].push_back((self.links[link].busy_until(), bytes));
        }
    }

    /// Notes what a scheduler dropped; schedules its next service anew, so that many come in vain.
    fn after_scheduler(&mut self, now: Time, link: usize) {
        let mut dropped = Vec::new();
        let Reference { links, crossing, groups, .. } = self;
        links[link].drain_dropped(now, |one| {
            dropped.push(one);
            class(&crossing[link], groups[one.packet.flow() as usize])
        });
        for Dropped { packet, reason } in dropped {
            self.memory.drop(now, packet.slot());
            self.leave_queue(now, packet.slot());
            self.follow(packet, LinkOutcome::Dropped(reason), Time::ZERO);
        }
        self.await_service(link);
    }
}
