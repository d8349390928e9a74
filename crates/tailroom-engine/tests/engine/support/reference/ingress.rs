//! The packets that wait in switches which count them at the links over which they arrived: summed anew
//! for each arrival. The counts that a link keeps of them must be the same.

use std::collections::BTreeMap;

use tailroom_engine::link::Link;
use tailroom_engine::link::ingress_pool::{Free, Occupied};
use tailroom_engine::network::Network;
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::switch::WaitingInSwitch;
use tailroom_engine::units::Time;

/// What waits, and the headroom that it takes.
#[derive(Debug)]
pub(super) struct Ingress<'a> {
    network: &'a Network,
    /// By slot of a packet that waits, the link over which it arrived, the link at which it waits, and
    /// its bytes.
    packets: BTreeMap<u32, (usize, usize, u32)>,
    /// By link.
    headroom: Vec<u64>,
}

impl<'a> Ingress<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        Ingress { network, packets: BTreeMap::new(), headroom: vec![0; network.links.len()] }
    }

    fn bytes_of(&self, ingress: usize) -> u64 {
        let waiting = self.packets.values().filter(|(link, ..)| *link == ingress);
        waiting.map(|(_, _, bytes)| u64::from(*bytes)).sum()
    }

    /// The shared memory and the headroom that a link occupies.
    fn occupied(&self, link: usize) -> Occupied {
        let own = self.network.links[link].pause.map_or(0, |pause| pause.xoff.bytes());
        let headroom = self.headroom[link];
        Occupied { shared: (self.bytes_of(link) - headroom).saturating_sub(own), headroom }
    }

    fn members(&self, link: usize) -> Vec<usize> {
        let links = &self.network.links;
        let pool = |link: usize| links[link].ingress.map(|member| member.pool);
        let shares =
            |other: &usize| *other == link || pool(link).is_some() && pool(*other) == pool(link);
        (0..links.len()).filter(shares).collect()
    }

    fn free(&self, link: usize) -> Free {
        let Some(member) = self.network.links[link].ingress else { return Free::OWN };
        let memory = self.network.ingress_pools[member.pool];
        let all = || self.members(link).into_iter().map(|link| self.occupied(link));
        let includes_headroom = memory.includes_headroom;
        let headroom: u64 = all().map(|one| one.headroom).sum();
        let inside = if includes_headroom { headroom } else { 0 };
        let used = all().map(|one| one.shared).sum::<u64>() + inside;
        let shared = memory.size.bytes().checked_sub(used).expect("the pool holds what is in it");
        let headroom = memory.headroom.map(|size| size.bytes() - headroom);
        Free { shared, headroom: headroom.unwrap_or(u64::MAX), includes_headroom }
    }

    /// The threshold of a link, and what it may hold below it.
    fn threshold(&self, link: usize) -> (u64, u64) {
        let spec = &self.network.links[link];
        let own = spec.pause.map_or(u64::MAX, |pause| pause.xoff.bytes());
        let Some(member) = spec.ingress else { return (own, own) };
        let free = self.free(link).shared;
        let threshold = own + (member.alpha * free as f64).floor() as u64;
        (threshold, threshold.min(own + self.occupied(link).shared + free))
    }

    /// The part of a packet that is above the threshold.
    fn above(&self, link: usize, bytes: u32) -> u64 {
        let below = self.bytes_of(link) - self.headroom[link];
        (below + u64::from(bytes)).saturating_sub(self.threshold(link).1).min(bytes.into())
    }

    /// What is unused of the memory that a link has to itself, without headroom.
    fn unused_own(&self, link: usize) -> u64 {
        let own = self.network.links[link].pause.map_or(0, |pause| pause.xoff.bytes());
        own.saturating_sub(self.bytes_of(link) - self.headroom[link])
    }

    /// Whether a paused link may resume.
    fn may_resume(&self, link: usize) -> bool {
        let spec = &self.network.links[link];
        let (threshold, most) = self.threshold(link);
        let moving = spec.ingress.map(|member| threshold.saturating_sub(member.xon_offset));
        let xon = spec.pause.map_or(0, |pause| pause.xon.bytes()).max(moving.unwrap_or(0));
        let waiting = self.bytes_of(link);
        let fits = waiting <= most || self.headroom[link] == 0 || self.free(link).includes_headroom;
        waiting <= xon && waiting < threshold && fits
    }

    /// Why a packet that arrived over a link is refused, if it is.
    pub(super) fn refuses(&self, ingress: Option<usize>, packet: &Transit) -> Option<DropReason> {
        let link = ingress?;
        if self.network.links[link].pause.is_none() {
            return self.refuses_lossy(link, packet.bytes()).then_some(DropReason::Headroom);
        }
        let above = self.above(link, packet.bytes());
        let own = self.network.links[link].pause.map_or(u64::MAX, |pause| pause.headroom.bytes());
        let is_full = self.headroom[link] + above > own || above > self.free(link).headroom;
        let overfills = self.free(link).includes_headroom
            && u64::from(packet.bytes()) > self.unused_own(link) + self.free(link).shared;
        (above > 0 && (is_full || overfills)).then_some(DropReason::Headroom)
    }

    /// Whether a link without pause frames is at its threshold, or the packet does not fit.
    fn refuses_lossy(&self, link: usize, bytes: u32) -> bool {
        let alpha = self.network.links[link].ingress.map_or(0.0, |member| member.alpha);
        let free = self.free(link).shared;
        self.bytes_of(link) as f64 >= alpha * free as f64 || u64::from(bytes) > free
    }

    /// A packet that arrived over `ingress` waits at a link.
    pub(super) fn enter(
        &mut self,
        ingress: usize,
        at: usize,
        packet: &Transit,
        links: &mut [Link],
    ) {
        links[ingress].enter_switch(packet.bytes(), self.free(ingress));
        if self.network.links[ingress].pause.is_some() {
            self.headroom[ingress] += self.above(ingress, packet.bytes());
        }
        self.packets.insert(packet.slot(), (ingress, at, packet.bytes()));
        self.compare(ingress, links);
    }

    /// Lets a switch ask for a pause of the link over which a packet has arrived.
    pub(super) fn regulate(&self, ingress: usize, now: Time, links: &mut [Link]) {
        let begins = self.frame_begins(ingress, now, links);
        links[ingress].regulate(begins, self.free(ingress));
    }

    /// When a pause frame for a link leaves: not before the packet that is on the line of the other direction.
    fn frame_begins(&self, paused: usize, now: Time, links: &[Link]) -> Time {
        let Some(over) = self.network.links[paused].pause_frames_over else { return now };
        let line_of = |link: usize| self.network.links[link].line.as_ref().map(|line| &line.name);
        let is_on_line = |link: &usize| {
            *link == over || (line_of(over).is_some() && line_of(*link) == line_of(over))
        };
        let busy = (0..links.len()).filter(is_on_line).map(|link| links[link].busy_until());
        busy.max().map_or(now, |busy| busy.max(now))
    }

    /// A packet no longer waits; the links whose pauses may end then.
    pub(super) fn leave(&mut self, now: Time, slot: u32, links: &mut [Link]) -> Vec<usize> {
        let Some((ingress, _, bytes)) = self.packets.remove(&slot) else { return Vec::new() };
        self.headroom[ingress] = self.headroom[ingress].saturating_sub(bytes.into());
        links[ingress].leave_switch(bytes);
        self.compare(ingress, links);
        let members = self.members(ingress);
        for &member in &members {
            let before = links[member].is_asked_to_pause();
            let begins = self.frame_begins(member, now, links);
            links[member].release(begins, self.free(member));
            let resumes = before && self.may_resume(member);
            assert_eq!(before && !links[member].is_asked_to_pause(), resumes, "link {member}");
            if resumes {
                self.headroom[member] = 0;
            }
        }
        members
    }

    fn compare(&self, ingress: usize, links: &[Link]) {
        assert_eq!(links[ingress].waiting_in_switch(), self.bytes_of(ingress), "link {ingress}");
        assert_eq!(links[ingress].occupied_in_switch(), self.occupied(ingress), "link {ingress}");
    }

    /// What waits in switches.
    pub(super) fn waiting(&self) -> Vec<WaitingInSwitch> {
        WaitingInSwitch::sums(self.packets.values().copied())
    }
}
