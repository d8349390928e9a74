//! What the TCP headers of packets that arrive say of marks.

use super::{FinishedRun, table};

table! {
    /// ECN in the TCP headers of packets: one row per row of `arrival_log`, in its order. Recorded at
    /// the links with an `arrival_log` if a header says anything of marks.
    pub struct ArrivalEcn {
        /// 1 if an ACK has ECN-Echo (RFC 3168 sec. 6.1.3), else 0; 0 with accurate feedback.
        pub ece: Vec<u32>,
        /// 1 if a data packet has Congestion Window Reduced (RFC 3168 sec. 6.1.2), else 0.
        pub cwr: Vec<u32>,
        /// With accurate feedback (RFC 9768), the marked packets that the receiver of the data has had
        /// when it sends the ACK, modulo 2^32; else 0.
        pub marked_packets: Vec<u32>,
    }
}

impl ArrivalEcn {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut table = ArrivalEcn::default();
        let logs = run.links.iter().filter_map(|link| link.probe.arrivals.as_ref());
        for arrival in logs.flat_map(|log| log.list()) {
            let feedback = arrival.identity.feedback;
            table.ece.push(feedback.is_echo.into());
            table.cwr.push(feedback.is_cwr.into());
            table.marked_packets.push(feedback.marked_packets);
        }
        let columns = [&table.ece, &table.cwr, &table.marked_packets];
        let is_recorded = columns.into_iter().flatten().any(|value| *value > 0);
        is_recorded.then_some(table)
    }
}
