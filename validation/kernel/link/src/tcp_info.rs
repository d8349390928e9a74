//! What the kernel tells of a TCP connection (`struct tcp_info` of `linux/tcp.h`, since Linux 4.19).

use serde::Serialize;

use crate::statistics::microseconds;
use tailroom_engine::units::Time;

/// The state of a connection at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window, in packets.
    pub cwnd: u32,
    /// Slow-start threshold, in packets; 2^31 - 1 before the first loss.
    pub ssthresh: u32,
    /// Smoothed RTT, in microseconds.
    pub srtt_us: u32,
    /// Retransmissions so far.
    pub retransmissions: u32,
    /// Packets in flight, retransmissions and lost ones included.
    pub unacked: u32,
    /// The sender's state: 0 open, 1 disorder, 2 window reduced (ECN), 3 recovery, 4 loss (RTO).
    pub state: u8,
    /// Delivery rate that the last ACKs show, in byte/s.
    pub delivery_rate_bytes_per_s: u64,
    /// Pacing rate, in byte/s; `u64::MAX` without pacing.
    pub pacing_rate_bytes_per_s: u64,
    /// Payload acknowledged so far.
    pub acked_bytes: u64,
    /// Packets delivered so far.
    pub delivered: u32,
    /// Of these, with a mark.
    pub delivered_marked: u32,
    /// Bytes in the socket that have not been sent.
    pub unsent_bytes: u32,
    /// Largest payload of a packet, in bytes.
    pub mss: u32,
    /// Time in which the receiver's window limited the sender, in microseconds.
    pub receiver_limited_us: u64,
    /// Time in which the socket's memory limited the sender, in microseconds.
    pub memory_limited_us: u64,
    /// Packets sent, retransmissions included.
    pub sent_packets: u32,
    /// Packets that the receiver had already (DSACK).
    pub duplicates: u32,
    /// Retransmission timeouts, those of the handshake included (since Linux 6.7).
    pub timeouts: u16,
}

impl TcpInfo {
    /// Reads the kernel's structure.
    pub fn parse(info: &[u8; 256]) -> Self {
        let word =
            |at: usize| u32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
        let long = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&info[at..at + 8]);
            u64::from_ne_bytes(bytes)
        };
        TcpInfo {
            state: info[1],
            mss: word(16),
            unacked: word(24),
            srtt_us: word(68),
            ssthresh: word(76),
            cwnd: word(80),
            retransmissions: word(100),
            pacing_rate_bytes_per_s: long(104),
            acked_bytes: long(120),
            unsent_bytes: word(144),
            sent_packets: word(156),
            delivery_rate_bytes_per_s: long(160),
            receiver_limited_us: long(176),
            memory_limited_us: long(184),
            delivered: word(192),
            delivered_marked: word(196),
            duplicates: word(216),
            timeouts: u16::from_ne_bytes([info[240], info[241]]),
        }
    }
}

/// The states of a connection over time, a column for each quantity.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Samples {
    /// Times on the monotonic clock, from the start of the run; unlike the link's clock, it does not
    /// stop in stalls.
    pub time_s: Vec<f64>,
    /// [`TcpInfo::cwnd`].
    pub cwnd_packets: Vec<u32>,
    /// [`TcpInfo::ssthresh`]; 2^31 - 1 before the first loss.
    pub ssthresh_packets: Vec<u32>,
    /// [`TcpInfo::srtt_us`].
    pub srtt_us: Vec<u32>,
    /// [`TcpInfo::state`].
    pub state: Vec<u8>,
    /// [`TcpInfo::retransmissions`].
    pub retransmissions: Vec<u32>,
    /// [`TcpInfo::unacked`].
    pub unacked_packets: Vec<u32>,
    /// [`TcpInfo::delivered`].
    pub delivered_packets: Vec<u32>,
    /// [`TcpInfo::delivery_rate_bytes_per_s`], in bit/s.
    pub delivery_rate_bps: Vec<u64>,
    /// [`TcpInfo::pacing_rate_bytes_per_s`], in bit/s; 0 without pacing.
    pub pacing_rate_bps: Vec<u64>,
}

impl Samples {
    /// Adds a state.
    pub fn push(&mut self, at: Time, info: &TcpInfo) {
        self.time_s.push(microseconds(at));
        self.cwnd_packets.push(info.cwnd);
        self.ssthresh_packets.push(info.ssthresh);
        self.srtt_us.push(info.srtt_us);
        self.state.push(info.state);
        self.retransmissions.push(info.retransmissions);
        self.unacked_packets.push(info.unacked);
        self.delivered_packets.push(info.delivered);
        self.delivery_rate_bps.push(info.delivery_rate_bytes_per_s.saturating_mul(8));
        let pacing = info.pacing_rate_bytes_per_s;
        self.pacing_rate_bps.push(if pacing == u64::MAX { 0 } else { pacing.saturating_mul(8) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offsets, counted from the declaration in `linux/tcp.h`: 8 single bytes, 24 words, four
    /// longs, 6 words, four longs, two words, two longs, six words, two halves.
    #[test]
    fn fields_are_where_the_header_file_has_them() {
        let mut info = [0; 256];
        for (at, word) in info.chunks_mut(4).enumerate() {
            word.copy_from_slice(&(at as u32).to_ne_bytes());
        }
        let parsed = TcpInfo::parse(&info);
        let words = [parsed.mss, parsed.unacked, parsed.srtt_us, parsed.ssthresh, parsed.cwnd];
        assert_eq!(words, [4, 6, 17, 19, 20]);
        assert_eq!((parsed.retransmissions, parsed.unsent_bytes), (25, 36));
        assert_eq!((parsed.sent_packets, parsed.delivered, parsed.delivered_marked), (39, 48, 49));
        assert_eq!((parsed.duplicates, parsed.timeouts), (54, 60));
        let long = |word: u64| (word + 1) << 32 | word;
        assert_eq!(parsed.pacing_rate_bytes_per_s, long(26));
        assert_eq!((parsed.acked_bytes, parsed.delivery_rate_bytes_per_s), (long(30), long(40)));
    }
}
