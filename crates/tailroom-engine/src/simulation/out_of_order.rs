//! Packets and ACKs on the way to the far end of a last link that reorders ([`FarEnds`]).
//!
//! [`FarEnds`]: super::far_ends::FarEnds

use super::Simulation;
use super::at_links::Decided;
use crate::link::LinkOutcome;
use crate::packet::transit::{Stage, Transit};
use crate::switch::routes::{Door, Hop};
use crate::units::Time;

impl Simulation {
    /// A packet or an ACK has left the last link of its path, which reorders, and reaches the far end at
    /// `at`.
    #[cold]
    pub(super) fn leave_for_far_end(&mut self, mut packet: Transit, at: Time) {
        let Stage::Arrival(position) = packet.stage() else { return };
        let link = self.switch.routes.hop(packet.flow(), position).link as usize;
        let is_data = position < self.flows[packet.flow() as usize].forward_hops;
        let departure = self.switch.links[link].busy_until();
        let pending = &mut self.pending;
        let Some(far_ends) = &mut pending.far_ends else { return };
        if is_data {
            packet = pending.kept_packets.add_wait(packet, Time::ZERO, &mut pending.agenda);
            // Without memory for it the packet is not kept, and the run ends.
            if packet.is_kept() {
                far_ends.note_departure(packet.slot(), departure);
            }
        }
        let event_at = at.since(far_ends.ahead[link]);
        pending.agenda.push(packet.at_next_link(event_at));
    }

    /// A packet or an ACK reaches the far end.
    #[cold]
    pub(super) fn reach_far_end(&mut self, packet: Transit, hop: Hop) -> Decided {
        let mut at = packet.time();
        if let Some(far_ends) = &mut self.pending.far_ends {
            at = at.saturating_add(far_ends.ahead[hop.link as usize]);
            far_ends.departure = far_ends.departure_of(packet.slot());
        }
        let outcome = LinkOutcome::Delivered(at);
        Decided { packet, outcome, exit: hop.exit, clocks_source: false }
    }

    /// When the packet of data that is reaching the far end of a link has left it.
    pub(super) fn departure_to_far_end(&self) -> Time {
        self.pending.far_ends.as_ref().map_or(Time::NEVER, |far_ends| far_ends.departure)
    }

    /// Whether a packet of data of the agenda is on the way to the far end of a link.
    fn is_for_far_end(&self, packet: &Transit) -> bool {
        let Stage::Arrival(position) = packet.stage() else { return false };
        let is_data = position < self.flows[packet.flow() as usize].forward_hops;
        is_data && self.switch.routes.hop(packet.flow(), position).door == Door::BehindLink
    }

    /// The packets of data that are on the way at the end of the run arrive: what a link has sent in the
    /// run counts wherever it is then.
    pub(super) fn reach_far_ends(&mut self) {
        let Some(far_ends) = &self.pending.far_ends else { return };
        let events = self.pending.agenda.events();
        let mut packets: Vec<Transit> = events.filter(|event| self.is_for_far_end(event)).collect();
        // The agenda lists its events in no order.
        let order =
            |packet: &Transit| (packet.time(), packet.flow(), far_ends.departure_of(packet.slot()));
        packets.sort_by_key(order);
        for packet in packets {
            let Stage::Arrival(position) = packet.stage() else { continue };
            let hop = self.switch.routes.hop(packet.flow(), position);
            let decided = self.reach_far_end(packet, hop);
            self.follow(decided);
        }
        if let Some(far_ends) = &mut self.pending.far_ends {
            far_ends.is_empty = true;
        }
    }

    /// Whether an event of the agenda is that of a packet that [has arrived](Self::reach_far_ends).
    pub(super) fn has_reached_far_end(&self, packet: &Transit) -> bool {
        let is_empty = self.pending.far_ends.as_ref().is_some_and(|far_ends| far_ends.is_empty);
        is_empty && self.is_for_far_end(packet)
    }
}
