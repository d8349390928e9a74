//! The far ends of links that reorder.
//!
//! Packets leave other links in the order in which they reach the far end, so that the last link of a
//! path determines what follows at once. Behind a last link that reorders, the arrival at the far end is
//! an event, a further hop of the route, which [`out_of_order`](super::out_of_order) handles.

use crate::link::LinkSpec;
use crate::units::Time;

/// What packets on the way to the far end of a link have to remember.
#[derive(Clone, Debug)]
pub(super) struct FarEnds {
    /// By link, by how much the event comes before the arrival. It comes as early as for a link that
    /// keeps packets in order, whose departure determines the arrival, and before a timer of the same
    /// instant.
    pub(super) ahead: Vec<Time>,
    /// By slot of a kept packet of data, when it left the link.
    departures: Vec<Time>,
    /// The departure of the packet that is arriving.
    pub(super) departure: Time,
    /// Whether the packets that were on the way at the end of the run have arrived.
    pub(super) is_empty: bool,
}

impl FarEnds {
    /// Of these links; `None` if none of them reorders.
    pub(super) fn new(links: &[LinkSpec]) -> Option<Box<Self>> {
        links.iter().any(|link| link.reorder.is_some()).then(|| {
            // No transmission takes as little as a picosecond.
            let instant = Time::from_picoseconds(1);
            let ahead = links.iter().map(|link| link.least_delay().saturating_add(instant));
            Box::new(FarEnds {
                ahead: ahead.collect(),
                departures: Vec::new(),
                departure: Time::ZERO,
                is_empty: false,
            })
        })
    }

    /// Memory of the departures, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.departures.capacity() * size_of::<Time>()) as u64
    }

    /// Records when a packet in this slot left the link.
    pub(super) fn note_departure(&mut self, slot: u32, departure: Time) {
        let slot = slot as usize;
        if slot >= self.departures.len() {
            self.departures.resize(slot + 1, Time::ZERO);
        }
        self.departures[slot] = departure;
    }

    /// When the packet in this slot left the link.
    pub(super) fn departure_of(&self, slot: u32) -> Time {
        self.departures.get(slot as usize).copied().unwrap_or(Time::ZERO)
    }
}
