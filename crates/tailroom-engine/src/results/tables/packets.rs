//! Packets, one by one.

use std::collections::HashMap;

use super::{FinishedRun, Labels, table};
use crate::observe::{Act, Content, Observed};

const FATES: Labels = Labels::Words(&Act::FATES);
const CONTENTS: Labels = Labels::Words(&Content::WORDS);

/// Words for [`crate::packet::Ecn`], in the order of its codes.
const ECN_FIELDS: Labels = Labels::Words(&["not_ect", "ect1", "ect0", "ce"]);

table! {
    /// Packets and ACKs: one row per arrival at a link with an `arrival_log`, link by link in order of
    /// time, and behind them one for each that leaves or reaches the sender or the receiver of a flow whose
    /// group has an `endpoint_log`, in order of time.
    pub struct Packets {
        /// Instant at which the packet reaches the buffer, or at which the sender or receiver sends it or
        /// has received it.
        pub time_s: Vec<f64>,
        /// Name of the link; at an end, name of the flow and the end, as in `reno.0.sender`: data leave the
        /// sender and reach the receiver, ACKs the other way.
        pub link: Vec<u32> as Labels::Places,
        /// Name of the flow; of a flow that arrives and departs, the name of its group.
        pub flow: Vec<u32> as Labels::FlowsAndGroups,
        /// Number of the packet's flow among the flows of this table, by their first rows, from 0:
        /// flows that arrive and depart have the name of their group in common.
        pub connection: Vec<u32>,
        /// What the packet carries: `data`, a `retransmission` of data, or an `ack`.
        pub content: Vec<u8> as CONTENTS,
        /// Position of the packet in its flow, from 0; of an ACK, the position that it asks for next;
        /// of a flow without congestion control, modulo 2^29.
        pub sequence: Vec<u64>,
        /// Instant at which the packet left its sender; of an ACK, `time_s`.
        pub sent_s: Vec<f64>,
        /// ECN field of the packet as it arrives, or at its end (RFC 3168).
        pub ecn: Vec<u8> as ECN_FIELDS,
        /// Size of the packet on the wire.
        pub bytes: Vec<u32>,
        /// Packets that wait when the packet arrives, without the packet in transmission; 0 at an end.
        pub queue_packets: Vec<u32>,
        /// What becomes of the packet at this link, on arrival or later: `accepted`; `marked`, and
        /// accepted; or dropped, with the reason as in the counts `drops_*_packets` of a link. At an end,
        /// `sent` or `received`.
        pub fate: Vec<u8> as FATES,
        /// Timestamp (RFC 7323), in ms since the run began, modulo 2^32: when the packet left its sender, or
        /// the ACK its receiver; 0 without congestion control.
        pub timestamp_ms: Vec<u32>,
        /// The `timestamp_ms` that the packet echoes (RFC 7323 sec. 4.3); 0 before there is one.
        pub echo_ms: Vec<u32>,
        /// 1 if an ACK has ECN-Echo (RFC 3168 sec. 6.1.3), else 0; 0 with accurate feedback.
        pub ece: Vec<u32>,
        /// 1 if a data packet has Congestion Window Reduced (RFC 3168 sec. 6.1.2), else 0.
        pub cwr: Vec<u32>,
        /// With accurate feedback (RFC 9768), the marked packets that the receiver of the data has had
        /// when it sends the ACK, modulo 2^32; else 0.
        pub marked_packets: Vec<u32>,
    }
}

impl Packets {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut table = Packets::default();
        let mut connections = HashMap::new();
        for (link, record) in run.records() {
            for observed in record.packets() {
                let Observed { packet, identity, queue, act } = *observed;
                let flow = run.flow_label(packet.flow());
                let end = || 2 * flow as usize + usize::from(observed.is_at_receiver());
                let place = link.unwrap_or_else(|| run.links.len() + end());
                let next = connections.len() as u32;
                let connection = connections.entry((packet.flow(), identity.flow_start));
                table.time_s.push(packet.time().seconds());
                table.link.push(place as u32);
                table.flow.push(flow);
                table.connection.push(*connection.or_insert(next));
                table.content.push(identity.content as u8);
                table.sequence.push(identity.sequence);
                table.sent_s.push(identity.sent.seconds());
                table.ecn.push(packet.ecn() as u8);
                table.bytes.push(packet.bytes());
                table.queue_packets.push(queue);
                table.fate.push(act.fate());
                table.timestamp_ms.push(identity.timestamps.value_ms);
                table.echo_ms.push(identity.timestamps.echo_ms);
                table.ece.push(identity.feedback.is_echo.into());
                table.cwr.push(identity.feedback.is_cwr.into());
                table.marked_packets.push(identity.feedback.marked_packets);
            }
        }
        (!table.time_s.is_empty()).then_some(table)
    }
}
