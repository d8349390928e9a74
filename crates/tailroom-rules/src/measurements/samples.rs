//! The samples of a measurement, in one form for all tools.

use serde::{Deserialize, Serialize};

/// Longest test, in seconds. Larger numbers than these three are damage.
pub(super) const LONGEST_S: f64 = 1e7;
pub(super) const LARGEST_RTT_S: f64 = 1000.0;
pub(super) const LARGEST_BPS: f64 = 1e15;
/// MSS below which Linux does not go by default (`tcp_min_snd_mss`).
pub(super) const SMALLEST_PAYLOAD_BYTES: f64 = 48.0;
pub(super) const LARGEST_PACKET_BYTES: f64 = 65_535.0;
/// Payload of a packet of 1,500 bytes over IPv4; for files that do not tell.
pub(super) const USUAL_PAYLOAD_BYTES: u32 = 1448;
/// IPv4 and TCP with timestamps.
pub(super) const IPV4_HEADERS_BYTES: u32 = 52;
pub(super) const IPV6_HEADERS_BYTES: u32 = 72;

/// Direction of a load, seen from the client (ss: from the host).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the client.
    Upload,
    /// To the client.
    Download,
    /// Both at the same time.
    Both,
    /// There is no load.
    None,
}

impl Direction {
    /// The direction in a word.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Upload => "upload",
            Direction::Download => "download",
            Direction::Both => "both",
            Direction::None => "none",
        }
    }
}

/// Where the RTTs come from.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// RTTs of pings.
    Ping,
    /// RTTs that TCP measured.
    Tcp,
}

/// What a tool measured on a path, idle and under load.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Measurement {
    /// Tool and kind of test: `flent tcp_8up`, `iperf3`, `ss`.
    pub tool: String,
    /// Direction of the load.
    pub direction: Direction,
    /// Whether RTTs are those of pings or those that TCP measured.
    pub probe: Probe,
    /// Times of the RTTs under load, in seconds, ascending.
    pub rtt_time_s: Vec<f64>,
    /// RTTs under load. Of TCP connections that were sampled at the same time, the smallest: after
    /// a loss, RTTs of TCP include the wait for the repaired packet.
    pub rtt_s: Vec<f64>,
    /// RTTs without load: pings before the load, or the smallest RTT of TCP; may be empty.
    pub idle_rtts_s: Vec<f64>,
    /// Ends of the intervals of `throughput_bps`, in seconds, ascending.
    pub throughput_time_s: Vec<f64>,
    /// Payload of all connections in the direction of the load, in bit/s; of a load in both
    /// directions, that of the upload.
    pub throughput_bps: Vec<f64>,
    /// Mean payload of the download, in bit/s, if the load goes in both directions.
    pub download_bps: Option<f64>,
    /// The mean of the series of throughput over the mean that the file states itself, if it does.
    pub over_stated: Option<f64>,
    /// Congestion control of the load, by Linux's name, if the file tells.
    pub congestion: Option<String>,
    /// Number of retransmitted packets, if the file tells.
    pub retransmissions: Option<u64>,
    /// Payload of a full packet.
    pub payload_bytes: u32,
    /// IP packet that carries it.
    pub packet_bytes: u32,
}
