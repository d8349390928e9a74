//! The packets and ACKs that leave and reach the ends of connections (`endpoint_log`).
//!
//! A receiver and the path of its ACKs run ahead of the links' time, and what a sender has sent is
//! known when it reaches the first link; so the passages come in no order of time.

use crate::link::arrivals::{
    ArrivalLogSpec, Content, EcnFeedback, Identity, SackBlock, Timestamps,
};
use crate::packet::transit::Transit;
use crate::packet::{Ack, AckSizes, Ecn};
use crate::units::Time;

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// That of the data's sender.
    Sender = 0,
    /// That of the data's receiver.
    Receiver = 1,
}

/// A packet or an ACK that leaves or reaches an end of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// When it leaves or reaches the end.
    pub time: Time,
    /// Which end.
    pub end: End,
    /// Number of the flow.
    pub flow: u32,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// Its ECN field there.
    pub ecn: Ecn,
    /// Which packet it is.
    pub identity: Identity,
}

/// A connection whose ends are recorded.
#[derive(Clone, Copy, Debug)]
pub struct RecordedEnds {
    /// What its group asks for.
    pub spec: ArrivalLogSpec,
    /// Index of its group.
    pub group: usize,
    /// When its flow began.
    pub flow_start: Time,
    /// Sizes of its ACKs.
    pub ack_sizes: AckSizes,
}

/// The passages at the ends of all connections that are recorded.
#[derive(Clone, Debug, Default)]
pub struct EndpointLog {
    /// By number of the flow.
    connections: Vec<Option<RecordedEnds>>,
    /// Number of passages by group.
    counts: Vec<u64>,
    passages: Vec<Passage>,
    blocks: Vec<SackBlock>,
    /// A group with more passages than may be recorded.
    pub overfull: Option<usize>,
}

impl EndpointLog {
    /// A connection begins under this number; `None` if its ends are not recorded.
    pub fn begin(&mut self, flow: u32, connection: Option<RecordedEnds>) {
        let flow = flow as usize;
        if flow >= self.connections.len() {
            self.connections.resize(flow + 1, None);
        }
        self.connections[flow] = connection;
    }

    /// Whether the ends of a flow are recorded.
    pub fn records(&self, flow: u32) -> bool {
        self.connections.get(flow as usize).is_some_and(Option::is_some)
    }

    /// A packet of data leaves or reaches an end at `time`.
    pub fn on_data(&mut self, time: Time, end: End, packet: Transit, identity: Identity) {
        let (flow, ecn) = (packet.flow(), packet.ecn());
        self.record(Passage { time, end, flow, bytes: packet.bytes(), ecn, identity });
    }

    /// An ACK leaves or reaches an end at `time`.
    pub fn on_ack(
        &mut self,
        time: Time,
        end: End,
        flow: u32,
        ack: &Ack<'_>,
        timestamps: Timestamps,
    ) {
        let Some(Some(connection)) = self.connections.get(flow as usize).copied() else { return };
        let identity = Identity {
            sequence: ack.cumulative,
            sent: time,
            flow_start: connection.flow_start,
            content: Content::Ack,
            timestamps,
            feedback: EcnFeedback::of_ack(ack),
        };
        let bytes = connection.ack_sizes.of(ack);
        let arrival = self.passages.len();
        let is_recorded =
            self.record(Passage { time, end, flow, bytes, ecn: Ecn::NotEct, identity });
        if is_recorded && connection.ack_sizes.has_sack {
            self.blocks.extend(ack.reported().map(|range| SackBlock { arrival, range }));
        }
    }

    /// The passages and their SACK blocks in order of time; of one instant, in that of the run.
    pub fn in_order(&self) -> (Vec<Passage>, Vec<SackBlock>) {
        let mut order: Vec<usize> = (0..self.passages.len()).collect();
        order.sort_by_key(|index| self.passages[*index].time);
        let mut place = vec![0; order.len()];
        for (at, index) in order.iter().enumerate() {
            place[*index] = at;
        }
        let placed = |block: &SackBlock| SackBlock { arrival: place[block.arrival], ..*block };
        let mut blocks: Vec<SackBlock> = self.blocks.iter().map(placed).collect();
        blocks.sort_by_key(|block| block.arrival);
        (order.iter().map(|index| self.passages[*index]).collect(), blocks)
    }

    /// Memory in bytes without that of the passages, which is estimated before the run.
    pub fn memory_bytes(&self) -> u64 {
        let bytes = self.connections.capacity() * size_of::<Option<RecordedEnds>>()
            + self.blocks.capacity() * size_of::<SackBlock>();
        bytes as u64
    }

    /// Returns whether the passage is in the span and has room.
    fn record(&mut self, passage: Passage) -> bool {
        let Some(Some(connection)) = self.connections.get(passage.flow as usize) else {
            return false;
        };
        let RecordedEnds { spec, group, .. } = *connection;
        if passage.time < spec.from.time() || passage.time >= spec.to.time() {
            return false;
        }
        if group >= self.counts.len() {
            self.counts.resize(group + 1, 0);
        }
        if self.counts[group] == spec.most_packets {
            self.overfull = Some(group);
            return false;
        }
        self.counts[group] += 1;
        self.passages.push(passage);
        true
    }
}
