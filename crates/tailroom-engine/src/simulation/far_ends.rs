//! The far ends of links that reorder.
//!
//! Packets leave other links in the order in which they reach the far end, so that the last link of a
//! path determines what follows at once. Behind a last link that reorders, the arrival at the far end is
//! an event, a further hop of the route.

use super::Simulation;
use super::link_events::Step;
use super::routes::{Door, Hop};
use crate::link::{LinkOutcome, LinkSpec};
use crate::packet::transit::{Stage, Transit};
use crate::units::Time;

/// What packets on the way to the far end of a link have to remember.
#[derive(Clone, Debug)]
pub(super) struct FarEnds {
    /// By link, by how much the event comes before the arrival. It comes as early as for a link that
    /// keeps packets in order, whose departure determines the arrival, and before a timer of the same
    /// instant.
    ahead: Vec<Time>,
    /// By slot of a kept packet of data, when it left the link.
    departures: Vec<Time>,
    /// The departure of the packet that is arriving.
    departure: Time,
    /// Whether the packets that were on the way at the end of the run have arrived.
    is_empty: bool,
}

impl FarEnds {
    /// Of these links; `None` if none of them reorders.
    pub(super) fn new(links: &[LinkSpec]) -> Option<Box<Self>> {
        links.iter().any(|link| link.reorder.is_some()).then(|| {
            // No transmission takes as little as a picosecond.
            let instant = Time::from_picoseconds(1);
            let ahead = links.iter().map(|link| link.least_delay().saturating_add(instant));
            Box::new(FarEnds {
                ahead: ahead.collect(),
                departures: Vec::new(),
                departure: Time::ZERO,
                is_empty: false,
            })
        })
    }

    /// Memory of the departures, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.departures.capacity() * size_of::<Time>()) as u64
    }

    fn note_departure(&mut self, slot: u32, departure: Time) {
        let slot = slot as usize;
        if slot >= self.departures.len() {
            self.departures.resize(slot + 1, Time::ZERO);
        }
        self.departures[slot] = departure;
    }

    fn departure_of(&self, slot: u32) -> Time {
        self.departures.get(slot as usize).copied().unwrap_or(Time::ZERO)
    }
}

impl Simulation {
    /// A packet or an ACK has left the last link of its path, which reorders, and reaches the far end at
    /// `at`.
    #[cold]
    pub(super) fn leave_for_far_end(&mut self, mut packet: Transit, at: Time) {
        let Stage::Arrival(position) = packet.stage() else { return };
        let link = self.routes.hop(packet.flow(), position).link as usize;
        let is_data = position < self.flows[packet.flow() as usize].forward_hops;
        let departure = self.links[link].busy_until();
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
    pub(super) fn reach_far_end(&mut self, packet: Transit, hop: Hop) -> Step {
        let mut at = packet.time();
        if let Some(far_ends) = &mut self.pending.far_ends {
            at = at.saturating_add(far_ends.ahead[hop.link as usize]);
            far_ends.departure = far_ends.departure_of(packet.slot());
        }
        let outcome = LinkOutcome::Delivered(at);
        Step { packet, outcome, exit: hop.exit, clocks_source: false }
    }

    /// When the packet of data that is reaching the far end of a link has left it.
    pub(super) fn departure_to_far_end(&self) -> Time {
        self.pending.far_ends.as_ref().map_or(Time::NEVER, |far_ends| far_ends.departure)
    }

    /// Whether a packet of data of the agenda is on the way to the far end of a link.
    fn is_for_far_end(&self, packet: &Transit) -> bool {
        let Stage::Arrival(position) = packet.stage() else { return false };
        let is_data = position < self.flows[packet.flow() as usize].forward_hops;
        is_data && self.routes.hop(packet.flow(), position).door == Door::FarEnd
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
            let hop = self.routes.hop(packet.flow(), position);
            let step = self.reach_far_end(packet, hop);
            self.follow(step);
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
