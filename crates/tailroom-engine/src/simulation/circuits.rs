//! Where the packets and ACKs of a group go: its links, and its place at each.

use super::Flow;
use crate::schedule::{Event, Stage};
use crate::topology::Network;

/// A link on a circuit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    /// The group's place among those that cross the link.
    pub(super) class: u32,
}

/// The circuits of all groups, one behind the other, forward path first, and where each begins.
pub(super) fn circuits(network: &Network) -> (Vec<Hop>, Vec<u32>) {
    let (mut circuits, mut starts) = (Vec::new(), Vec::new());
    let mut crossing = vec![0; network.links.len()];
    for group in &network.groups {
        let start = circuits.len();
        starts.push(start as u32);
        for &link in group.path.iter().chain(&group.reverse_path) {
            circuits.push(Hop { link: link as u32, class: crossing[link] });
        }
        let mut links: Vec<u32> = circuits[start..].iter().map(|hop: &Hop| hop.link).collect();
        links.sort_unstable();
        links.dedup();
        for link in links {
            crossing[link as usize] += 1;
        }
    }
    (circuits, starts)
}

/// The class of a packet or an ACK at the link that it has reached.
pub(super) fn class_of(flows: &[Flow], circuits: &[Hop], packet: Event) -> u32 {
    let Stage::Arrival(hop) = packet.stage() else { return 0 };
    let circuit = flows[packet.flow() as usize].circuit;
    circuits[circuit as usize + usize::from(hop)].class
}
