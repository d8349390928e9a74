//! The routes of packets and ACKs: from link to link, and what lies behind the last link.
//!
//! The number of a flow is enough to look up a hop. The flow itself takes a dozen cache lines
//! elsewhere, which a packet that waits to be served need not touch.

use crate::network::{GroupSpec, Network};
use crate::packet::transit::{Stage, Transit};

/// A link on a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    /// Index of the group among the groups that cross the link.
    pub(super) class: u32,
    pub(super) group: u32,
    pub(super) exit: Exit,
    /// Whether a packet that arrives here lets an unresponsive source emit its next packet.
    pub(super) clocks_source: bool,
    pub(super) door: Door,
    /// Whether the wait of a packet here is added to its waits at other links. The wait at the only
    /// link of a path is measured by the link itself, unless ACKs of the group wait there too.
    pub(super) adds_wait: bool,
}

/// How a link takes the packets that arrive here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// By [`Link::arrive`](crate::link::Link::arrive).
    General,
    /// By [`Link::pass`](crate::link::Link::pass).
    Plain,
    /// By [`Link::pass`](crate::link::Link::pass), if its pool has room.
    PlainWithPool,
}

/// What lies behind a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// The next link of the route.
    Link,
    /// The receiver, for packets.
    Receiver,
    /// The sender, for ACKs.
    Sender,
}

/// The routes of the groups, and the route of each flow.
#[derive(Debug)]
pub(super) struct Routes {
    /// The hops of all groups in turn, forward path first.
    hops: Vec<Hop>,
    /// By group, the index of its first hop.
    starts: Vec<u32>,
    /// By flow, the index of its first hop.
    of_flows: Vec<u32>,
    add_waits: bool,
}

impl Routes {
    /// The routes of `network`, with its permanent flows. `is_plain` tells which links
    /// [`Link::pass`](crate::link::Link::pass) can be asked about.
    pub(super) fn new(network: &Network, is_plain: impl Fn(usize) -> bool) -> Self {
        let (mut hops, mut starts) = (Vec::new(), Vec::new());
        let crossing = network.crossing();
        for (index, group) in network.groups.iter().enumerate() {
            starts.push(hops.len() as u32);
            hops.extend(route(group, index, &crossing));
        }
        for hop in &mut hops {
            let link = hop.link as usize;
            if !is_plain(link) {
                hop.door = Door::General;
            } else if hop.door == Door::Plain && network.links[link].pool.is_some() {
                hop.door = Door::PlainWithPool;
            }
        }
        let of_flows = network.flows.iter().map(|flow| starts[flow.group]).collect();
        let add_waits = hops.iter().any(|hop| hop.adds_wait);
        Routes { hops, starts, of_flows, add_waits }
    }

    /// Whether packets add up their waits at several links.
    #[inline]
    pub(super) fn add_waits(&self) -> bool {
        self.add_waits
    }

    /// Assigns a flow to a group. A new number must be the next one.
    pub(super) fn assign(&mut self, flow: u32, group: usize) {
        let start = self.starts[group];
        match self.of_flows.get_mut(flow as usize) {
            Some(place) => *place = start,
            None => self.of_flows.push(start),
        }
    }

    /// The hop at this position of a flow's route.
    #[inline]
    pub(super) fn hop(&self, flow: u32, position: u8) -> Hop {
        self.hops[self.of_flows[flow as usize] as usize + usize::from(position)]
    }

    /// The group of a flow.
    pub(super) fn group_of(&self, flow: u32) -> usize {
        self.hop(flow, 0).group as usize
    }

    /// The class of a packet or an ACK at the link that it has reached.
    pub(super) fn class_of(&self, packet: Transit) -> u32 {
        let Stage::Arrival(position) = packet.stage() else { return 0 };
        self.hop(packet.flow(), position).class
    }
}

/// The links of the group at `index`; `crossing` has the groups that cross each link, in order.
fn route<'a>(
    group: &'a GroupSpec,
    index: usize,
    crossing: &'a [Vec<usize>],
) -> impl Iterator<Item = Hop> + 'a {
    let adds_waits = group.only_queue().is_none();
    let (forward, whole) = (group.path.len(), group.path.len() + group.reverse_path.len());
    let links = group.path.iter().chain(&group.reverse_path);
    links.zip(1..).map(move |(&link, passed)| Hop {
        link: link as u32,
        class: crossing[link].partition_point(|&group| group < index) as u32,
        group: index as u32,
        exit: match passed {
            _ if passed == forward => Exit::Receiver,
            _ if passed == whole => Exit::Sender,
            _ => Exit::Link,
        },
        clocks_source: passed == 1 && group.tcp.is_none(),
        door: if group.tcp.is_some() { Door::Plain } else { Door::General },
        adds_wait: adds_waits && passed <= forward,
    })
}
