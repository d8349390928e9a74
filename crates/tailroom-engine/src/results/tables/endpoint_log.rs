//! Packets at the ends of connections, one by one.

use super::arrival_log::{CONTENTS, ECN_FIELDS, connections};
use super::{FinishedRun, Labels, table};

/// Words for [`crate::tcp::endpoint_log::End`], in the order of its codes.
const ENDS: Labels = Labels::Words(&["sender", "receiver"]);

table! {
    /// Packets and ACKs at the ends of connections: one row for each that leaves or reaches the sender
    /// or the receiver, in order of time. Recorded for the groups with an `endpoint_log`.
    pub struct EndpointLog {
        /// Instant at which the sender or receiver sends the packet, or has received it.
        pub time_s: Vec<f64>,
        /// The end: data leave the `sender` and reach the `receiver`, ACKs the other way.
        pub end: Vec<u8> as ENDS,
        /// Name of the flow; of a flow that arrives and departs, the name of its group.
        pub flow: Vec<u32> as Labels::FlowsAndGroups,
        /// Number of the packet's flow: that of `arrival_log`, if that has the flow, or behind those.
        pub connection: Vec<u32>,
        /// What the packet carries: `data`, a `retransmission` of data, or an `ack`.
        pub content: Vec<u8> as CONTENTS,
        /// Position of the packet in its flow, from 0; of an ACK, the position that it asks for next.
        pub sequence: Vec<u64>,
        /// Instant at which the packet left its sender; of an ACK, `time_s`.
        pub sent_s: Vec<f64>,
        /// ECN field of the packet at this end (RFC 3168).
        pub ecn: Vec<u8> as ECN_FIELDS,
        /// Size of the packet on the wire.
        pub bytes: Vec<u32>,
        /// Timestamp (RFC 7323), in ms since the run began, modulo 2^32.
        pub timestamp_ms: Vec<u32>,
        /// The `timestamp_ms` that the packet echoes (RFC 7323 sec. 4.3); 0 before there is one.
        pub echo_ms: Vec<u32>,
        /// As in `arrival_ecn`.
        pub ece: Vec<u32>,
        /// As in `arrival_ecn`.
        pub cwr: Vec<u32>,
        /// As in `arrival_ecn`.
        pub marked_packets: Vec<u32>,
    }
}

impl EndpointLog {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let (passages, _) = run.endpoint_log.as_ref()?;
        let mut log = EndpointLog::default();
        let connections = connections(run);
        for passage in passages {
            let identity = passage.identity;
            log.time_s.push(passage.time.seconds());
            log.end.push(passage.end as u8);
            log.flow.push(run.flow_label(passage.flow));
            log.connection.push(connections[&(passage.flow, identity.flow_start)]);
            log.content.push(identity.content as u8);
            log.sequence.push(identity.sequence);
            log.sent_s.push(identity.sent.seconds());
            log.ecn.push(passage.ecn as u8);
            log.bytes.push(passage.bytes);
            log.timestamp_ms.push(identity.timestamps.value_ms);
            log.echo_ms.push(identity.timestamps.echo_ms);
            log.ece.push(identity.feedback.is_echo.into());
            log.cwr.push(identity.feedback.is_cwr.into());
            log.marked_packets.push(identity.feedback.marked_packets);
        }
        (!log.time_s.is_empty()).then_some(log)
    }
}
