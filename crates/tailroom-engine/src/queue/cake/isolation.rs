//! Isolation of flows and hosts: what is hashed to queues, and by how many bulk flows of a host a quantum is
//! divided.

use super::ways::{SLOTS, Slot, find};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::random::{Random, SmallStream};

/// What has queues of its own.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// One queue for all.
    Flowblind,
    /// A queue for each host that sends.
    Srchost,
    /// A queue for each host that receives.
    Dsthost,
    /// A queue for each pair of hosts.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// A queue for each flow; hosts that send have equal shares, divided among their flows.
    DualSrchost,
    /// A queue for each flow; hosts that receive have equal shares, divided among their flows.
    DualDsthost,
    /// A queue for each flow, whose share is divided by the flows of its source or of its destination,
    /// whichever are more.
    #[default]
    TripleIsolate,
}

impl Isolation {
    /// Whether quanta are divided by the bulk flows of source and destination.
    pub(super) const fn divides(self) -> [bool; 2] {
        match self {
            Isolation::TripleIsolate => [true, true],
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            _ => [false, false],
        }
    }

    /// The hash by which a packet of a flow between these hosts has its queue.
    #[inline]
    pub(super) fn hash(self, hosts: impl FnOnce() -> [u64; 2], flow: u64, salt: u64) -> u32 {
        match self {
            Isolation::Flowblind => 0,
            Isolation::Srchost => mixed(hosts()[0], salt),
            Isolation::Dsthost => mixed(hosts()[1], salt),
            Isolation::Hosts => {
                let [source, destination] = hosts();
                mixed(source, salt) ^ mixed(destination, !salt)
            }
            _ => mixed(flow, salt),
        }
    }
}

#[inline]
pub(super) fn mixed(number: u64, salt: u64) -> u32 {
    (SmallStream::seeded(number ^ salt).next_u64() >> 32) as u32
}

/// The hosts on one side of a tin's flows, with the number of their bulk flows.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    tags: Box<[u32]>,
    bulk: Box<[u16]>,
}

impl Hosts {
    /// No hosts, where nothing is divided by their flows.
    pub(super) fn new(divides: bool) -> Self {
        let slots = if divides { SLOTS } else { 0 };
        Hosts { tags: vec![0; slots].into(), bulk: vec![0; slots].into() }
    }

    /// Whether quanta are divided by the bulk flows of these hosts.
    #[inline]
    pub(super) fn divides(&self) -> bool {
        !self.tags.is_empty()
    }

    /// The slot of a host.
    pub(super) fn slot(&mut self, hash: u32) -> u16 {
        let found = find(hash, |way| self.tags[way] == hash, |way| self.bulk[way] == 0);
        let (Slot::Own(way) | Slot::Free(way) | Slot::Shared(way)) = found;
        self.tags[way] = hash;
        way as u16
    }

    /// A flow of a host becomes bulk, or stops to be.
    #[inline]
    pub(super) fn change(&mut self, slot: u16, becomes_bulk: bool) {
        if let Some(bulk) = self.bulk.get_mut(usize::from(slot)) {
            *bulk = if becomes_bulk { *bulk + 1 } else { *bulk - 1 };
        }
    }

    /// Number of bulk flows of a host; 0 where they do not matter.
    #[inline]
    pub(super) fn bulk_flows(&self, slot: u16) -> u16 {
        self.bulk.get(usize::from(slot)).copied().unwrap_or(0)
    }
}
