//! How many packets a host with segmentation offload sends at once.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::units::{Time, float};

/// Largest burst (Linux `sk_gso_max_size`).
const MAX_BYTES: f64 = 65_536.0;
/// The burst lasts this part of a second at the sending rate (Linux `sk_pacing_shift`, 10 bits).
const PER_SECOND: f64 = 1024.0;
/// Smallest burst in packets (Linux `tcp_min_tso_segs`).
const MIN_PACKETS: u64 = 2;
/// The allowance for near hosts halves with each 512 us of RTT (Linux `tcp_tso_rtt_log`, 9 bits).
const HALVING_PICOSECONDS: u64 = 512_000_000;

/// Number of packets that must fit into the window before the sender sends. Under a rate-based control,
/// which has its own rule, a host that sends bursts paces each packet that it sends again by itself
/// (Linux `tcp_xmit_retransmit_queue`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(untagged)]
#[schemars(rename = "SendBurstConfig")]
pub enum SendBurst {
    /// This many packets, at most a third of the window.
    Packets(#[schemars(range(min = 1, max = 65_536))] u32),
    /// As many as Linux sends at once: 1 ms at the sending rate, at least 2 packets and at most 64 KB,
    /// and more if the RTT is below about 3 ms (`tcp_tso_autosize`). For a rate-based control only the
    /// part for short RTTs is added to its own rule.
    Named(Automatic),
}

/// The name of the rule of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum Automatic {
    /// The rule of Linux.
    Auto,
}

impl SendBurst {
    /// The rule of Linux.
    pub const AUTO: SendBurst = SendBurst::Named(Automatic::Auto);
    /// Packets leave one by one.
    pub const SINGLE: SendBurst = SendBurst::Packets(1);
}

impl Default for SendBurst {
    fn default() -> Self {
        SendBurst::SINGLE
    }
}

/// The burst of a sender whose packets have `payload_bytes` bytes of data, at `rate` packets/s and
/// with the smallest RTT `min_rtt` (Linux `tcp_tso_autosize`).
pub fn automatic_packets(rate: f64, payload_bytes: u32, min_rtt: Time) -> u64 {
    let payload = f64::from(payload_bytes);
    let bytes = rate * payload / PER_SECOND + near_bytes(min_rtt);
    ((bytes.min(MAX_BYTES) / payload) as u64).max(MIN_PACKETS)
}

/// A quantum of `packets`, and what a host adds to it at short RTTs.
pub fn near_quantum(packets: u64, payload_bytes: u32, min_rtt: Time) -> u64 {
    let payload = f64::from(payload_bytes);
    let bytes = (float(packets) * payload + near_bytes(min_rtt)).min(MAX_BYTES);
    ((bytes / payload) as u64).max(packets)
}

fn near_bytes(min_rtt: Time) -> f64 {
    let halvings = min_rtt.picoseconds() / HALVING_PICOSECONDS;
    // Linux shifts an integer: less than a byte is nothing.
    if halvings > 16 { 0.0 } else { MAX_BYTES / float(1 << halvings) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;
    const FAR: Time = Time::from_milliseconds(40);

    /// By hand: 100 Mbit/s in packets of 1448 B of data are 8,632.6 packets/s, 8.4 in 1/1024 s; 10
    /// Gbit/s would be 843, and 64 KB hold 45.
    #[test]
    fn a_burst_lasts_a_millisecond_within_its_bounds() {
        let at =
            |bits_per_second: f64| automatic_packets(bits_per_second / 8.0 / 1448.0, 1448, FAR);
        assert_eq!([at(1e6), at(100e6), at(10e9)], [2, 8, 45]);
    }

    /// The allowance is 64 KB below 512 us, 32 KB below 1,024 us, and so on: 45, 22 and 11 packets;
    /// at 3 ms it is 1 KB, less than a packet.
    #[test]
    fn near_hosts_send_larger_bursts_at_any_rate() {
        let at = |microseconds: u64| {
            let rtt = Time::from_picoseconds(microseconds * PICOSECONDS_PER_MICROSECOND);
            automatic_packets(0.0, 1448, rtt)
        };
        assert_eq!([100, 600, 1_100, 3_100].map(at), [45, 22, 11, 2]);
    }

    #[test]
    fn the_quantum_of_a_control_never_shrinks() {
        assert_eq!(near_quantum(3, 1448, FAR), 3);
        assert_eq!(near_quantum(3, 1448, Time::ZERO), 45);
        assert_eq!(near_quantum(60, 1448, Time::ZERO), 60);
    }
}
