//! Arrivals of packets, one by one.

use std::collections::HashMap;

use super::{FinishedRun, Labels, table};
use crate::link::arrivals::Outcome;
use crate::units::Time;

const FATES: Labels = Labels::Words(&Outcome::WORDS);

/// Words for [`crate::link::arrivals::Content`], in the order of its codes.
pub(super) const CONTENTS: Labels = Labels::Words(&["data", "retransmission", "ack"]);

/// Words for [`crate::packet::Ecn`], in the order of its codes.
pub(super) const ECN_FIELDS: Labels = Labels::Words(&["not_ect", "ect1", "ect0", "ce"]);

table! {
    /// Arrivals of packets: one row per arrival, link by link in order of time. Recorded at the
    /// links with an `arrival_log`.
    pub struct ArrivalLog {
        /// Instant at which the packet reaches the buffer.
        pub time_s: Vec<f64>,
        /// Name of the link.
        pub link: Vec<u32> as Labels::Links,
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
        /// Instant at which the packet left its sender; of an ACK, that of its arrival.
        pub sent_s: Vec<f64>,
        /// ECN field of the packet as it arrives (RFC 3168).
        pub ecn: Vec<u8> as ECN_FIELDS,
        /// Size of the packet on the wire.
        pub bytes: Vec<u32>,
        /// Packets that wait when the packet arrives, without the packet in transmission.
        pub queue_packets: Vec<u32>,
        /// What becomes of the packet at this link, on arrival or later: `accepted`; `marked`, and
        /// accepted; or dropped, as `overflow` (no room), `early` (though there was room), `head`
        /// (at the head of its queue), `policed` (by the policer), `pool` or `threshold` (by its pool)
        /// or `headroom` (that of the link over which it arrived was full).
        pub fate: Vec<u8> as FATES,
    }
}

/// The numbers of the connections by flow and begin: those at links, then those at their ends.
pub(super) fn connections(run: &FinishedRun<'_>) -> HashMap<(u32, Time), u32> {
    let mut numbers = HashMap::new();
    let arrivals = run.links.iter().filter_map(|link| link.probe.arrivals.as_ref());
    let at_links = arrivals.flat_map(|arrivals| arrivals.list());
    let at_links = at_links.map(|one| (one.packet.flow(), one.identity.flow_start));
    let passages = run.endpoint_log.iter().flat_map(|(passages, _)| passages);
    let at_ends = passages.map(|one| (one.flow, one.identity.flow_start));
    for connection in at_links.chain(at_ends) {
        let next = numbers.len() as u32;
        numbers.entry(connection).or_insert(next);
    }
    numbers
}

impl ArrivalLog {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut log = ArrivalLog::default();
        let connections = connections(run);
        for (index, link) in run.links.iter().enumerate() {
            let arrivals = link.probe.arrivals.iter().flat_map(|arrivals| arrivals.list());
            for arrival in arrivals {
                log.time_s.push(arrival.packet.time().seconds());
                log.link.push(index as u32);
                log.flow.push(run.flow_label(arrival.packet.flow()));
                let identity = arrival.identity;
                log.connection.push(connections[&(arrival.packet.flow(), identity.flow_start)]);
                log.content.push(identity.content as u8);
                log.sequence.push(identity.sequence);
                log.sent_s.push(identity.sent.seconds());
                log.ecn.push(arrival.packet.ecn() as u8);
                log.bytes.push(arrival.packet.bytes());
                log.queue_packets.push(arrival.queue);
                log.fate.push(arrival.outcome.code());
            }
        }
        (!log.time_s.is_empty()).then_some(log)
    }
}
