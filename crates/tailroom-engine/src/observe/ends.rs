//! The packets and ACKs that leave and reach the ends of connections (`endpoint_log`).
//!
//! A receiver and the path of its ACKs run ahead of the links' time, and what a sender has sent is
//! known when it reaches the first link; so the packets come in no order of time.

use super::recorder::{ArrivalLogSpec, Recorder};
use super::{Act, Identity, Observed, Timestamps};
use crate::packet::transit::Transit;
use crate::packet::{Ack, AckSizes};
use crate::units::Time;

/// The packets at the ends of all connections that are recorded.
#[derive(Clone, Debug)]
pub struct EndRecorder {
    /// Sizes of the ACKs, by group.
    ack_sizes: Vec<AckSizes>,
    /// By number of the flow, its group and when it began.
    flows: Vec<(usize, Time)>,
    /// The packets, with a bound for each group.
    pub record: Recorder,
}

impl EndRecorder {
    /// An empty record; by group, what is recorded of its flows, and the sizes of their ACKs.
    pub fn new(groups: impl Iterator<Item = (Option<ArrivalLogSpec>, AckSizes)>) -> Self {
        let (spans, ack_sizes): (Vec<_>, _) = groups.unzip();
        EndRecorder { ack_sizes, flows: Vec::new(), record: Recorder::new(spans) }
    }

    /// A flow of a group begins under this number.
    pub fn begin(&mut self, flow: u32, group: usize, start: Time) {
        let flow = flow as usize;
        if flow >= self.flows.len() {
            self.flows.resize(flow + 1, (group, start));
        }
        self.flows[flow] = (group, start);
    }

    /// Whether the ends of a flow are recorded.
    pub fn records(&self, flow: u32) -> bool {
        self.record.records(self.flows[flow as usize].0)
    }

    /// A packet of data leaves or has reached an end at `time`.
    pub fn on_data(&mut self, time: Time, act: Act, packet: Transit, identity: Identity) {
        let (group, _) = self.flows[packet.flow() as usize];
        let packet = packet.at(time);
        self.record.record(group, Observed { packet, identity, queue: 0, act }, []);
    }

    /// An ACK leaves or has reached an end at `time`.
    pub fn on_ack(
        &mut self,
        time: Time,
        act: Act,
        flow: u32,
        ack: &Ack<'_>,
        timestamps: Timestamps,
    ) {
        let (group, start) = self.flows[flow as usize];
        let sizes = self.ack_sizes[group];
        let packet = Transit::ack_arrival(time, flow, 0, sizes.of(ack), 0);
        let identity = Identity::of_ack(ack, time, start, timestamps);
        let blocks = ack.reported().filter(|_| sizes.has_sack);
        self.record.record(group, Observed { packet, identity, queue: 0, act }, blocks);
    }

    /// Memory in bytes without that of the packets, which is estimated before the run.
    pub fn memory_bytes(&self) -> u64 {
        let flows = self.flows.capacity() * size_of::<(usize, Time)>();
        flows as u64 + self.record.blocks_bytes()
    }
}
