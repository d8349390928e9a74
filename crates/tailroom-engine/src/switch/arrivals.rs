//! A packet arrives at a link: the memory of the ingress comes before the policer, this before the pool, and
//! the pool before the discipline.

use super::Switch;
use super::routes::{Door, Hop};
use crate::link::LinkOutcome;
use crate::packet::transit::{Stage, Transit};
use crate::pool::{FlowPackets, Grant};
use crate::queue::buffer::DropReason;
use crate::units::Time;

/// What only the ends of flows know of a packet. Pools that favour short flows or first windows ask.
pub(crate) trait PacketFacts {
    /// The packets to which a packet at this place of its route belongs.
    fn flow_packets(&self, packet: &Transit, position: u8) -> FlowPackets;
    /// The number of a packet of data in its connection; `None` without one.
    fn sequence(&self, packet: Transit) -> Option<u64>;
}

impl Switch {
    /// A packet reaches a link. Those that were dropped for it wait for
    /// [`Switch::drain_dropped`].
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        packet: &mut Transit,
        hop: Hop,
        facts: &impl PacketFacts,
    ) -> LinkOutcome {
        let link = hop.link as usize;
        if self.any_link.pauses {
            self.count_blocked(link, packet.time());
        }
        self.admissions.on_arrival(link, packet);
        let ingress = self.ingress_of(packet.copied());
        let outcome = if let Some(ingress) = ingress {
            self.arrive_from(ingress, packet, hop, facts)
        } else {
            self.arrive_here(packet, hop, facts)
        };
        if outcome == LinkOutcome::Held {
            if self.any_link.counts_in_switch {
                self.note_wait(link, packet.copied(), packet.time(), true);
            }
            self.note_queue(link, packet.time());
            if let Some(ingress) = ingress {
                self.regulate(ingress, packet.time());
            }
        }
        outcome
    }

    /// A packet reaches a link of a switch over `ingress`.
    fn arrive_from(
        &mut self,
        ingress: usize,
        packet: &mut Transit,
        hop: Hop,
        facts: &impl PacketFacts,
    ) -> LinkOutcome {
        let (link, bytes) = (hop.link as usize, packet.bytes());
        if !self.has_room(ingress, bytes) {
            self.note_lossless_drop(ingress, link, DropReason::Headroom);
            return self.links[link].refuse(*packet, hop.class, DropReason::Headroom);
        }
        let outcome = self.arrive_here(packet, hop, facts);
        match outcome {
            // Packets that were pushed out for this one have freed memory.
            LinkOutcome::Held => self.enter(ingress, bytes),
            LinkOutcome::Dropped(reason) => self.note_lossless_drop(ingress, link, reason),
            LinkOutcome::Delivered(_) | LinkOutcome::Lost => {}
        }
        outcome
    }

    #[inline]
    fn arrive_here(
        &mut self,
        packet: &mut Transit,
        hop: Hop,
        facts: &impl PacketFacts,
    ) -> LinkOutcome {
        let link = hop.link as usize;
        if self.pools.has(link) {
            self.arrive_at_pool(packet, hop, facts)
        } else {
            self.links[link].arrive(packet, hop.class)
        }
    }

    /// A packet reaches a link that shares memory with others.
    #[inline(never)]
    fn arrive_at_pool(
        &mut self,
        packet: &mut Transit,
        hop: Hop,
        facts: &impl PacketFacts,
    ) -> LinkOutcome {
        let (link, now) = (hop.link as usize, packet.time());
        let refusal = self.links[link].police(packet);
        let granted = refusal.map_or_else(|| self.ask_pool(hop, packet.copied(), facts), Err);
        let grant = match granted {
            Ok(grant) => grant,
            Err(reason) => return self.links[link].refuse(*packet, hop.class, reason),
        };
        let is_marked = self.pools.is_to_be_marked(link, now);
        let outcome = self.links[link].offer_from_pool(packet, hop.class, is_marked);
        self.occupy(link, now, grant, outcome);
        outcome
    }

    /// A packet reaches a link by one of the plain doors.
    #[expect(clippy::inline_always, reason = "one caller a packet: it stays in registers")]
    #[inline(always)]
    pub(crate) fn pass(
        &mut self,
        packet: &mut Transit,
        hop: Hop,
        facts: &impl PacketFacts,
    ) -> LinkOutcome {
        let (link, now) = (hop.link as usize, packet.time());
        if hop.door != Door::PlainWithPool {
            return self.links[link].pass(packet, hop.class);
        }
        let grant = match self.ask_pool(hop, packet.copied(), facts) {
            Ok(grant) => grant,
            Err(reason) => {
                let [time, size, place] = packet.words();
                return self.refuse_by_words(time, size, place, hop, reason);
            }
        };
        let outcome = self.links[link].pass(packet, hop.class);
        self.occupy(link, now, grant, outcome);
        outcome
    }

    /// A pool refuses a packet, which comes word by word, in registers.
    #[inline(never)]
    fn refuse_by_words(
        &mut self,
        time: u64,
        size: u64,
        place: u64,
        hop: Hop,
        reason: DropReason,
    ) -> LinkOutcome {
        let packet = Transit::from_words([time, size, place]);
        self.links[hop.link as usize].refuse(packet, hop.class, reason)
    }

    /// Asks a pool for the memory of a packet; a policy that pushes packets out makes room.
    #[expect(clippy::inline_always, reason = "two callers, one of them in the loop over packets")]
    #[inline(always)]
    fn ask_pool(
        &mut self,
        hop: Hop,
        packet: Transit,
        facts: &impl PacketFacts,
    ) -> Result<Grant, DropReason> {
        let (now, bytes) = (packet.time(), packet.bytes());
        let is_favoured = self.pools.favours() && self.is_favoured(hop, packet.copied(), facts);
        match self.pools.ask((hop.link as usize, hop.group), now, bytes, is_favoured) {
            Err(DropReason::Pool) => self.push_out(hop, now, bytes),
            answer => answer,
        }
    }

    /// Whether the policy of a link's pool favours a packet: that of a short flow, or data of a first window.
    #[cold]
    fn is_favoured(&mut self, hop: Hop, packet: Transit, facts: &impl PacketFacts) -> bool {
        let Stage::Arrival(position) = packet.stage() else { return false };
        let packets = facts.flow_packets(&packet, position);
        let (now, bytes) = (packet.time(), packet.bytes());
        if let Some(is_short) = self.pools.count_flow(hop.link as usize, packets, now, bytes) {
            return is_short;
        }
        let window = u64::from(self.pools.first_window(hop.group));
        !packets.are_acks && facts.sequence(packet).is_some_and(|sequence| sequence < window)
    }

    /// A packet takes what it has been granted, unless the link has dropped it.
    #[expect(clippy::inline_always, reason = "two callers, one of them in the loop over packets")]
    #[inline(always)]
    fn occupy(&mut self, link: usize, now: Time, grant: Grant, outcome: LinkOutcome) {
        match outcome {
            LinkOutcome::Dropped(_) => {}
            LinkOutcome::Held => {
                self.pools.take(link, now, grant);
                if self.any_link.expels {
                    self.await_expulsion(link, now);
                }
            }
            LinkOutcome::Delivered(_) | LinkOutcome::Lost => {
                let state = &self.links[link];
                let start = now.saturating_add(state.last_wait());
                self.pools.pass(link, now, grant, start, state.busy_until());
            }
        }
    }

    /// Drops the last packet of the longest queue of a full pool, as long as a packet that arrives at
    /// the link of `hop` finds no room and is not itself the last packet of the longest queue.
    #[cold]
    fn push_out(&mut self, hop: Hop, now: Time, bytes: u32) -> Result<Grant, DropReason> {
        let link = hop.link as usize;
        loop {
            let Switch { links, pools, .. } = self;
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
}
