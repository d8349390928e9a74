//! What the kernel counts of TCP in the network namespace of a host.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use crate::hosts::Host;
use crate::system;

/// The counters that are kept, by their names in `/proc/net/snmp` and `/proc/net/netstat`.
pub const COUNTERS: &[&str] = &[
    "OutSegs",
    "PAWSEstab",
    "RetransSegs",
    "TCPAckCompressed",
    "TCPDSACKRecv",
    "TCPDSACKUndo",
    "TCPFastRetrans",
    "TCPFullUndo",
    "TCPHystartDelayCwnd",
    "TCPHystartDelayDetect",
    "TCPHystartTrainCwnd",
    "TCPHystartTrainDetect",
    "TCPLossProbeRecovery",
    "TCPLossProbes",
    "TCPLossUndo",
    "TCPLostRetransmit",
    "TCPPartialUndo",
    "TCPSACKReorder",
    "TCPSackRecovery",
    "TCPSlowStartRetrans",
    "TCPSpuriousRTOs",
    "TCPSpuriousRtxHostQueues",
    "TCPSynRetrans",
    "TCPTimeouts",
    "TCPTSReorder",
];

/// Counters by name.
pub type Counters = BTreeMap<String, u64>;

/// The counters of a host so far; they begin at 0 with its namespace. The calling thread is in the
/// host's network namespace afterwards.
///
/// # Errors
/// The namespace cannot be entered, or its tables cannot be read.
pub fn read(host: &Host) -> io::Result<Counters> {
    system::enter_network(&host.namespace)?;
    let mut counters = Counters::new();
    for table in ["snmp", "netstat"] {
        parse(&fs::read_to_string(format!("/proc/thread-self/net/{table}"))?, &mut counters);
    }
    Ok(counters)
}

/// What was counted between two readings.
pub fn between(before: &Counters, after: &Counters) -> Counters {
    let since = |(name, value): (&String, &u64)| {
        (name.clone(), value - before.get(name).copied().unwrap_or(0))
    };
    after.iter().map(since).collect()
}

/// Reads pairs of lines, one with the names and one with the values, both after the same word.
fn parse(text: &str, counters: &mut Counters) {
    let lines: Vec<_> = text.lines().collect();
    for pair in lines.chunks_exact(2) {
        let words = pair[0].split_whitespace().zip(pair[1].split_whitespace());
        for (name, value) in words {
            if let (true, Ok(value)) = (COUNTERS.contains(&name), value.parse()) {
                counters.insert(name.to_owned(), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_by_name_and_subtracted() {
        let mut before = Counters::new();
        parse("TcpExt: TCPTimeouts Other TCPLossProbes\nTcpExt: 3 4 5\n", &mut before);
        assert_eq!(
            before,
            Counters::from([("TCPTimeouts".into(), 3), ("TCPLossProbes".into(), 5)])
        );
        let mut after = Counters::new();
        parse("Tcp: RetransSegs MaxConn\nTcp: 9 -1\nX: TCPTimeouts\nX: 10\n", &mut after);
        let expected = Counters::from([("RetransSegs".into(), 9), ("TCPTimeouts".into(), 7)]);
        assert_eq!(between(&before, &after), expected);
    }
}
