//! What passed host A: each packet as it left the host, and each packet as it was handed to it.
//!
//! Times are those of the monotonic clock, as in the records of the kernel's callbacks. A packet
//! that is handed over is noted just before, and the kernel answers it while it takes it.

use std::fmt::Write;

use crate::ip::{self, Options, Segment};

/// Whether host A sends or receives a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The packet has left host A.
    Sent,
    /// The packet is handed to host A.
    Received,
}

/// The packets of host A, as text.
#[derive(Debug, Default)]
pub struct PacketLog {
    text: String,
}

impl PacketLog {
    /// Notes a TCP segment at `monotonic_ns`; other packets are left out.
    pub fn note(&mut self, way: Way, monotonic_ns: u64, packet: &[u8]) {
        let (Some(header), Some(segment)) = (ip::parse(packet), ip::segment(packet)) else {
            return;
        };
        let (letter, port) = match way {
            Way::Sent => ('s', header.source_port),
            Way::Received => ('r', header.destination_port),
        };
        let Segment { sequence, acknowledgment, payload_bytes, is_syn } = segment;
        let Options { timestamps, blocks } = ip::options(packet);
        let [value, echo] = timestamps.unwrap_or_default();
        let syn = u8::from(is_syn);
        // Writing to a string cannot fail.
        let _ = write!(
            self.text,
            "{letter},{monotonic_ns},{port},{syn},{sequence},{payload_bytes},{acknowledgment},\
             {value},{echo}"
        );
        for [start, end] in blocks {
            let _ = write!(self.text, ",{start},{end}");
        }
        self.text.push('\n');
    }

    /// A line per segment: `s` (sent) or `r` (received), time in nanoseconds, port of host A,
    /// whether it is a SYN, sequence number, payload in bytes, acknowledged sequence number, value
    /// and echo of the timestamps, and the ends of each SACK block.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_a_line_with_the_port_of_host_a() {
        let mut ack = vec![0x45, 0, 0, 52, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 77, 0, 2, 10, 77, 0, 1];
        ack.extend([0x27, 0x13, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 99, 8 << 4, 16, 0, 0, 0, 0, 0, 0]);
        ack.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
        let mut log = PacketLog::default();
        log.note(Way::Received, 12, &ack);
        log.note(Way::Sent, 13, &ack[..30]);
        assert_eq!(log.text(), "r,12,40000,0,1,0,99,5,6\n");
    }
}
