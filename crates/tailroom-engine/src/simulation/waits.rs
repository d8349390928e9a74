//! Total waits of packets at the links of their paths.

use super::Simulation;
use super::pending::Pending;
use crate::link::LinkOutcome;
use crate::packet::transit::Transit;
use crate::switch::routes::{Exit, Hop};
use crate::units::Time;

impl Simulation {
    /// Adds the wait of a packet at the link of `hop` to its earlier waits, if the link sends the
    /// packet. Returns the event to continue with.
    ///
    /// At the last link of the path the total wait is recorded, also if the wire loses the packet:
    /// the link counts that wait too.
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    pub(super) fn add_wait(&mut self, packet: Transit, outcome: LinkOutcome, hop: Hop) -> Transit {
        let is_sent = matches!(outcome, LinkOutcome::Delivered(_) | LinkOutcome::Lost);
        // On a link that stands still for good the wait does not end.
        let link = &self.switch.links[hop.link as usize];
        if !is_sent || link.busy_until() == Time::NEVER {
            return packet;
        }
        let waited = link.last_wait();
        match (hop.exit, outcome) {
            (Exit::Receiver | Exit::FarEnd, _) => {
                let before = self.pending.kept_packets.waited(packet);
                let start = packet.time().saturating_add(waited);
                self.groups[hop.group as usize].on_wait(start, before.saturating_add(waited));
                packet
            }
            (_, LinkOutcome::Lost) => packet,
            _ => {
                let Pending { kept_packets, agenda, .. } = &mut self.pending;
                kept_packets.add_wait(packet, waited, agenda)
            }
        }
    }
}
