//! What is recorded of packets one by one at a link.

use super::recorder::{ArrivalLogSpec, Recorder};
use super::{Act, Identity, Observed};
use crate::packet::Range;
use crate::packet::transit::Transit;
use crate::probe::index_of_dispersion::IndexOfDispersion;
use crate::quantity::PositiveDuration;
use crate::queue::buffer::DropReason;
use crate::units::Time;

/// An act of a link, for the packet log.
#[derive(Clone, Copy, Debug)]
pub struct LinkEvent {
    /// Time.
    pub time: Time,
    /// The flow of the packet.
    pub flow: u32,
    /// The act.
    pub act: Act,
}

/// What observes the packets at a link.
#[derive(Clone, Debug)]
pub struct LinkObserver {
    /// The packet log, in no particular order.
    pub log: Vec<LinkEvent>,
    log_limit: usize,
    /// Arrivals by time scale, where they are asked for.
    pub dispersion: Option<IndexOfDispersion>,
    /// Arrivals one by one, where they are asked for.
    pub record: Option<Recorder>,
    /// Which packet arrives next, and its SACK blocks.
    coming: (Identity, Vec<Range>),
}

impl LinkObserver {
    /// The observer that these records need; `None` without one.
    pub fn of(
        log_limit: u64,
        dispersion: Option<PositiveDuration>,
        span: Option<ArrivalLogSpec>,
    ) -> Option<Box<Self>> {
        let is_needed = log_limit > 0 || dispersion.is_some() || span.is_some();
        is_needed.then(|| {
            Box::new(LinkObserver {
                log: Vec::new(),
                log_limit: log_limit as usize,
                dispersion: dispersion.map(|base| IndexOfDispersion::new(base.time())),
                record: span.map(|span| Recorder::new([Some(span)])),
                coming: (Identity::default(), Vec::new()),
            })
        })
    }

    /// Tells which packet arrives next, and the SACK blocks of an ACK, in their order.
    pub fn announce(&mut self, identity: Identity, blocks: impl Iterator<Item = Range>) {
        self.coming.0 = identity;
        self.coming.1.clear();
        self.coming.1.extend(blocks);
    }

    /// A packet arrives and finds `queue` packets waiting; packets arrive in order of time.
    #[cold]
    pub fn on_arrival(&mut self, packet: Transit, queue: u64) {
        self.log(packet.time(), packet.flow(), Act::Arrived);
        if let Some(dispersion) = &mut self.dispersion {
            dispersion.on_arrival(packet.time());
        }
        if let Some(record) = &mut self.record {
            let (identity, blocks) = &self.coming;
            let queue = u32::try_from(queue).unwrap_or(u32::MAX);
            let row = Observed { packet, identity: *identity, queue, act: Act::Arrived };
            record.record(0, row, blocks.iter().copied());
        }
    }

    /// The link drops a packet at `now`.
    #[cold]
    pub fn on_drop(&mut self, now: Time, packet: Transit, reason: DropReason) {
        self.log(now, packet.flow(), Act::Dropped(reason));
        if let Some(record) = &mut self.record {
            record.on_drop(packet, reason);
        }
    }

    /// A packet leaves the queue with its present ECN field.
    #[cold]
    pub fn on_pass(&mut self, packet: Transit) {
        if let Some(record) = &mut self.record {
            record.on_pass(packet);
        }
    }

    /// Keeps an act, if the packet log has room.
    #[cold]
    pub fn log(&mut self, time: Time, flow: u32, act: Act) {
        if self.log.len() < self.log_limit {
            self.log.push(LinkEvent { time, flow, act });
        }
    }
}
