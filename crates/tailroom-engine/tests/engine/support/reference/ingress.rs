//! The packets that wait in switches which may pause the links over which they arrived: summed anew
//! for each arrival. The count that a link keeps of them must be the same.

use std::collections::BTreeMap;

use tailroom_engine::link::Link;
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::results::WaitingInSwitch;
use tailroom_engine::units::Time;

/// By slot of a packet that waits, the link over which it arrived, the link at which it waits, and its
/// bytes.
#[derive(Debug, Default)]
pub(super) struct Ingress(BTreeMap<u32, (usize, usize, u32)>);

impl Ingress {
    fn bytes_of(&self, ingress: usize) -> u64 {
        let waiting = self.0.values().filter(|(link, ..)| *link == ingress);
        waiting.map(|(_, _, bytes)| u64::from(*bytes)).sum()
    }

    /// Why a packet that arrived over a link is refused, if it is.
    pub(super) fn refuses(
        &self,
        ingress: Option<usize>,
        packet: &Transit,
        memory_bytes: impl Fn(usize) -> u64,
    ) -> Option<DropReason> {
        let waiting = self.bytes_of(ingress?) + u64::from(packet.bytes());
        (waiting > memory_bytes(ingress?)).then_some(DropReason::Headroom)
    }

    /// A packet that arrived over `ingress` waits at a link.
    pub(super) fn enter(
        &mut self,
        ingress: usize,
        at: usize,
        packet: &Transit,
        links: &mut [Link],
    ) {
        self.0.insert(packet.slot(), (ingress, at, packet.bytes()));
        links[ingress].enter_switch(packet.bytes());
        assert_eq!(links[ingress].waiting_in_switch(), self.bytes_of(ingress), "link {ingress}");
    }

    /// A packet no longer waits; the link over which it arrived, if its far end sends pause frames.
    pub(super) fn leave(&mut self, now: Time, slot: u32, links: &mut [Link]) -> Option<usize> {
        let (ingress, _, bytes) = self.0.remove(&slot)?;
        links[ingress].leave_switch(now, bytes);
        assert_eq!(links[ingress].waiting_in_switch(), self.bytes_of(ingress), "link {ingress}");
        Some(ingress)
    }

    /// What waits in switches.
    pub(super) fn waiting(&self) -> Vec<WaitingInSwitch> {
        WaitingInSwitch::sums(self.0.values().copied())
    }
}
