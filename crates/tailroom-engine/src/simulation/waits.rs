//! What packets wait in total at the links of their path.

use super::Simulation;
use super::routes::{Exit, Hop};
use crate::link::LinkOutcome;
use crate::packet::in_network::Event;
use crate::units::Time;

impl Simulation {
    /// Adds what a packet waits at the link of `hop` to what it waited before, if `outcome` says that the link
    /// sends it. Returns its event, which goes on.
    ///
    /// The last link of its path counts what it has waited in total: also where its wire loses the packet,
    /// as the link itself counts its wait.
    #[inline]
    pub(super) fn add_wait(&mut self, packet: Event, outcome: LinkOutcome, hop: Hop) -> Event {
        let is_sent = matches!(outcome, LinkOutcome::Delivered(_) | LinkOutcome::Lost);
        // On a link that stands still for good it has not waited to the end.
        let link = &self.links[hop.link as usize];
        if !is_sent || link.busy_until() == Time::NEVER {
            return packet;
        }
        let waited = link.last_wait();
        match (hop.exit, outcome) {
            (Exit::Receiver, _) => {
                let before = self.stores.kept_packets.waited(packet);
                self.groups[hop.group as usize].on_wait(before.saturating_add(waited));
                packet
            }
            (_, LinkOutcome::Lost) => packet,
            _ => self.stores.kept_packets.add_wait(packet, waited, &mut self.schedule),
        }
    }
}
