//! For how long links were free while packets for them waited at paused links: looked up anew between
//! any two events.

use tailroom_engine::link::Link;
use tailroom_engine::units::Time;

use super::Reference;
use super::heap::Happening;

impl Reference<'_> {
    /// Adds what links were blocked since the last event, up to `now`.
    pub(super) fn count_blocked_until(&mut self, now: Time) {
        let from = self.blocked_until;
        self.blocked_until = now;
        for next in self.wanted() {
            if let Some(free) = self.links[next].free_since()
                && self.is_measuring
            {
                self.blocked[next] += now.since(free.max(from));
            }
        }
    }

    /// The links for which packets wait at paused links, each once.
    fn wanted(&self) -> Vec<usize> {
        let stopped = self.links.iter().filter(|link| link.is_stopped());
        let waiting = stopped.flat_map(Link::held);
        let mut wanted: Vec<usize> = waiting
            .filter_map(|packet| {
                let flow = packet.flow() as usize;
                match self.at_links.get(&packet.slot())? {
                    Happening::PacketAtLink(hop, ..) => self.paths[flow].get(hop + 1).copied(),
                    Happening::AckAtLink(hop, ..) => {
                        let group = &self.network.groups[self.groups[flow]];
                        group.reverse_path.get(hop + 1).copied()
                    }
                    _ => None,
                }
            })
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}
