//! The routes of packets and ACKs: from link to link, and what lies behind the last link.
//!
//! The number of a flow is enough to look up a hop. The flow itself takes a dozen cache lines
//! elsewhere, which a packet that waits to be served need not touch.

use crate::fabric::Route;
use crate::network::{GroupSpec, Network};
use crate::packet::transit::{Stage, Transit};

/// A link on a route.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    /// Index of the group among the groups that cross the link.
    pub(crate) class: u32,
    pub(crate) group: u32,
    pub(crate) exit: Exit,
    /// Whether a packet that arrives here lets an unresponsive source emit its next packet.
    pub(crate) clocks_source: bool,
    pub(crate) door: Door,
    /// Whether the wait of a packet here is added to its waits at other links. The wait at the only
    /// link of a path is measured by the link itself, unless ACKs of the group wait there too.
    pub(crate) adds_wait: bool,
}

/// How a link takes the packets that arrive here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
pub(crate) enum Door {
    /// By [`Link::arrive`](crate::link::Link::arrive).
    #[default]
    General,
    /// Not at all: the packet has left the link, which reorders, and arrives at its far end.
    BehindLink,
    /// By [`Switch::arrive`](super::Switch::arrive), also in the loop over plain events: the packet takes memory of
    /// an ingress, or its link pauses.
    Counted,
    /// By [`Link::pass`](crate::link::Link::pass).
    Plain,
    /// By [`Link::pass`](crate::link::Link::pass), if its pool has room.
    PlainWithPool,
}

/// What lies behind a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The next link of the route.
    #[default]
    Link,
    /// The receiver, for packets.
    Receiver,
    /// The sender, for ACKs.
    Sender,
    /// The far end of a link that reorders, and then the receiver or the sender.
    FarEnd,
}

/// The routes of the groups, and the route of each flow.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    /// The hops of all groups in turn, forward path first, then those of each flow between hosts.
    hops: Vec<Hop>,
    /// By group, the index of its first hop; meaningless for a group between hosts.
    starts: Vec<u32>,
    /// By flow, the index of its first hop.
    of_flows: Vec<u32>,
    add_waits: bool,
    /// The groups that cross each link, in order.
    crossing: Vec<Vec<usize>>,
    /// By link, how it takes packets under congestion control.
    doors: Vec<Door>,
    /// By link, whether packets leave it out of order.
    reorders: Vec<bool>,
}

/// Links of the longest route between hosts, and the far end of one that reorders.
const MOST_HOPS: usize = 4;
const MOST_HOPS_REORDERED: usize = MOST_HOPS + 1;

impl Routes {
    /// The routes of `network`, with its permanent flows, and how each link takes packets under congestion
    /// control.
    pub(crate) fn new(network: &Network, doors: Vec<Door>) -> Self {
        let mut routes = Routes {
            hops: Vec::new(),
            starts: Vec::new(),
            of_flows: Vec::with_capacity(network.flows.len()),
            add_waits: network.groups.iter().any(|group| group.only_queue().is_none()),
            crossing: network.crossing(),
            doors,
            reorders: network.links.iter().map(|link| link.reorder.is_some()).collect(),
        };
        for (index, group) in network.groups.iter().enumerate() {
            routes.starts.push(routes.hops.len() as u32);
            if group.hosts.is_none() {
                let hops: Vec<Hop> = routes.hops_of(group, index, &group.path).collect();
                routes.hops.extend(hops);
            }
        }
        for (number, flow) in network.flows.iter().enumerate() {
            routes.assign(number as u32, flow.group, &network.groups[flow.group], flow.route);
        }
        routes
    }

    /// Whether packets add up their waits at several links.
    #[inline]
    pub(crate) fn add_waits(&self) -> bool {
        self.add_waits
    }

    /// Assigns a flow to a group, and to its route if the group's flows run between hosts. A new number
    /// must be the next one; the number of a flow that has departed stays with its group.
    pub(crate) fn assign(
        &mut self,
        flow: u32,
        index: usize,
        group: &GroupSpec,
        route: Option<Route>,
    ) {
        let flow = flow as usize;
        if flow == self.of_flows.len() {
            let is_between_hosts = group.hosts.is_some();
            let start = if is_between_hosts { self.hops.len() as u32 } else { self.starts[index] };
            self.of_flows.push(start);
            if is_between_hosts {
                let reorders = self.reorders.contains(&true);
                let most = if reorders { MOST_HOPS_REORDERED } else { MOST_HOPS };
                self.hops.resize(self.hops.len() + most, Hop::default());
            }
        }
        if route.is_some() {
            let hops: Vec<Hop> = self.hops_of(group, index, &group.path_of(route)).collect();
            let start = self.of_flows[flow] as usize;
            self.hops[start..start + hops.len()].copy_from_slice(&hops);
        }
    }

    /// The hop at this position of a flow's route.
    #[inline]
    pub(crate) fn hop(&self, flow: u32, position: u8) -> Hop {
        self.hops[self.of_flows[flow as usize] as usize + usize::from(position)]
    }

    /// The link over which a packet or an ACK has reached the link where it is; `None` at the first
    /// link of a path.
    pub(crate) fn link_before(&self, packet: Transit) -> Option<usize> {
        let Stage::Arrival(position) = packet.stage() else { return None };
        let before = self.hop(packet.flow(), position.checked_sub(1)?);
        (before.exit == Exit::Link).then_some(before.link as usize)
    }

    /// The link that a packet or an ACK reaches after the one where it is; `None` at the last link of a
    /// path.
    pub(crate) fn link_after(&self, packet: Transit) -> Option<usize> {
        let Stage::Arrival(position) = packet.stage() else { return None };
        let hop = self.hop(packet.flow(), position);
        let next = (hop.exit == Exit::Link).then(|| self.hop(packet.flow(), position + 1));
        next.map(|next| next.link as usize)
    }

    /// The group of a flow.
    pub(crate) fn group_of(&self, flow: u32) -> usize {
        self.hop(flow, 0).group as usize
    }

    /// The class of a packet or an ACK at the link that it has reached.
    pub(crate) fn class_of(&self, packet: Transit) -> u32 {
        let Stage::Arrival(position) = packet.stage() else { return 0 };
        self.hop(packet.flow(), position).class
    }

    /// The hop, and behind the last link of a path, if it reorders, the arrival at its far end.
    fn with_far_end(&self, hop: Hop) -> impl Iterator<Item = Hop> + use<> {
        let is_further = hop.exit != Exit::Link && self.reorders[hop.link as usize];
        let far_end = Hop { door: Door::BehindLink, clocks_source: false, adds_wait: false, ..hop };
        let exit = if is_further { Exit::FarEnd } else { hop.exit };
        std::iter::once(Hop { exit, ..hop }).chain(is_further.then_some(far_end))
    }

    /// The hops of a flow of the group at `index` that takes this path.
    fn hops_of<'a>(
        &'a self,
        group: &'a GroupSpec,
        index: usize,
        path: &'a [usize],
    ) -> impl Iterator<Item = Hop> + 'a {
        let adds_waits = group.only_queue().is_none();
        let (forward, whole) = (path.len(), path.len() + group.reverse_path.len());
        let links = path.iter().chain(&group.reverse_path);
        let hops = links.zip(1..).map(move |(&link, passed)| Hop {
            link: link as u32,
            class: self.crossing[link].partition_point(|&group| group < index) as u32,
            group: index as u32,
            exit: match passed {
                _ if passed == forward => Exit::Receiver,
                _ if passed == whole => Exit::Sender,
                _ => Exit::Link,
            },
            clocks_source: passed == 1 && group.tcp.is_none(),
            door: if group.tcp.is_some() { self.doors[link] } else { Door::General },
            adds_wait: adds_waits && passed <= forward,
        });
        hops.flat_map(|hop| self.with_far_end(hop))
    }
}
