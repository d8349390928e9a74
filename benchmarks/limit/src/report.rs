//! What a run prints.

use std::fmt;

use crate::cpu_time::Chunks;
use crate::flow::Flow;

/// Counts of a run, and how long it took.
pub struct Report {
    pub chunks: Chunks,
    /// CPU time of the whole run in ns, set-up included.
    pub cpu_ns: f64,
    /// Packets that left the first and the second link.
    pub departures: [u64; 2],
    pub drops: u64,
    pub acked: u64,
    pub timeouts: u64,
    /// Acknowledgements that the timer of a delayed acknowledgement sent.
    pub late_acks: u64,
    pub events: u64,
    pub in_flight: u64,
    pub hash: u64,
}

impl Report {
    /// Returns a hash of the flows' states.
    pub fn hash(flows: &[Flow]) -> u64 {
        flows.iter().fold(0, |hash, flow| flow.mix_into(hash))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packet_hops = self.departures[0] + self.departures[1];
        let steady = self.chunks.steady();
        let quantile = |share: usize| steady.get(steady.len() * share / 100).unwrap_or(&f64::NAN);
        write!(
            f,
            "ns per packet-hop: steady={:.2} p10={:.2} p50={:.2} whole={:.2}; loss: steady={:.5}",
            self.chunks.steady_mean(),
            quantile(10),
            quantile(50),
            self.cpu_ns / packet_hops as f64,
            self.chunks.steady_loss(),
        )?;
        write!(
            f,
            "; packet_hops={packet_hops} first={} second={} drops={} acked={} timeouts={} \
             late_acks={} events={} in_flight={} hash={:016x}",
            self.departures[0],
            self.departures[1],
            self.drops,
            self.acked,
            self.timeouts,
            self.late_acks,
            self.events,
            self.in_flight,
            self.hash,
        )
    }
}
