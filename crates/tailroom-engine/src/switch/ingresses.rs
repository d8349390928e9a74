//! The packets that wait in a switch which counts them at the link over which they arrived.

use super::{Switch, WaitingInSwitch};
use crate::link::Link;
use crate::link::ingress_pool::Free;
use crate::packet::transit::Transit;
use crate::queue::buffer::DropReason;
use crate::units::Time;

impl Switch {
    /// The link over which a packet has reached the link where it is, if the switch between the two counts
    /// what waits of it.
    #[inline]
    pub(super) fn ingress_of(&self, packet: Transit) -> Option<usize> {
        if !self.any_link.counts_in_switch {
            return None;
        }
        self.routes.link_before(packet).filter(|&link| self.links[link].counts_in_switch())
    }

    /// Whether a packet that arrives over `ingress` finds memory.
    pub(super) fn has_room(&self, ingress: usize, bytes: u32) -> bool {
        self.links[ingress].has_room_in_switch(bytes, self.ingress_pools.free(ingress))
    }

    /// A packet that arrived over `ingress` waits.
    pub(super) fn enter(&mut self, ingress: usize, bytes: u32) {
        self.at_ingress(ingress, |link, free| link.enter_switch(bytes, free));
    }

    /// A packet that arrived over `ingress` is dropped at `link`, which pause frames should prevent.
    pub(super) fn note_lossless_drop(&mut self, ingress: usize, link: usize, reason: DropReason) {
        if self.links[ingress].has_pause() {
            self.lossless_drops.count(ingress, link, reason);
        }
    }

    /// Changes what the ingress of a link occupies, in its pool too.
    #[inline]
    fn at_ingress<T>(&mut self, link: usize, change: impl FnOnce(&mut Link, Free) -> T) -> T {
        let Switch { links, ingress_pools, .. } = self;
        let (link_state, free) = (&mut links[link], ingress_pools.free(link));
        if !ingress_pools.has(link) {
            return change(link_state, free);
        }
        let before = link_state.occupied_in_switch();
        let changed = change(link_state, free);
        ingress_pools.replace(link, before, link_state.occupied_in_switch());
        changed
    }

    /// When the transmission of a pause frame for a link begins that the switch decides on at `now`: once the
    /// link of the other direction has sent the packet that it is sending.
    fn frame_begins(&self, link: usize, now: Time) -> Time {
        let over = self.links[link].pause_frames_over();
        over.map_or(now, |over| now.max(self.links[over].sends_until()))
    }

    /// Lets a switch ask for a pause of the link over which a packet has arrived, if it is time.
    pub(super) fn regulate(&mut self, ingress: usize, now: Time) {
        let begins = self.frame_begins(ingress, now);
        if self.links[ingress].regulate(begins, self.ingress_pools.free(ingress)) {
            self.timers.set(ingress, self.links[ingress].next_service());
        }
    }

    /// A packet leaves its queue at `now`.
    #[inline(never)]
    pub(super) fn leave(&mut self, packet: Transit, now: Time) {
        let Some(ingress) = self.ingress_of(packet) else { return };
        self.at_ingress(ingress, |link, _| link.leave_switch(packet.bytes()));
        let mut place = 0;
        while let Some(member) = self.ingress_pools.member(ingress, place) {
            let begins = self.frame_begins(member, now);
            if self.at_ingress(member, |link, free| link.release(begins, free)) {
                self.timers.set(member, self.links[member].next_service());
            }
            place += 1;
        }
    }

    /// The packets that a link has dropped, and of which nobody has taken note yet, leave their queue.
    pub(super) fn let_dropped_leave(&mut self, link: usize, now: Time) {
        if !self.any_link.counts_in_switch {
            return;
        }
        let mut place = 0;
        while let Some(dropped) = self.links[link].dropped(place) {
            if let Some(ingress) = self.ingress_of(dropped.packet) {
                self.note_lossless_drop(ingress, link, dropped.reason);
            }
            self.note_wait(link, dropped.packet, now, false);
            self.leave(dropped.packet, now);
            place += 1;
        }
    }

    /// What waits in switches that count it at the links over which it arrived.
    pub(crate) fn waiting_in_switches(&self) -> Vec<WaitingInSwitch> {
        let held = self.links.iter().enumerate().flat_map(|(at, link)| {
            let of_ingress =
                move |packet: Transit| Some((self.ingress_of(packet)?, packet.bytes()));
            Link::held(link)
                .filter_map(of_ingress)
                .map(move |(ingress, bytes)| (ingress, at, bytes))
        });
        WaitingInSwitch::sums(held)
    }
}
