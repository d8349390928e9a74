//! The compression of selective ACKs at the receiver.

use crate::units::Time;

/// Largest delay of a compressed ACK, and its share of the RTT (Linux `tcp_comp_sack_delay_ns`, 1 ms
/// and a twentieth).
const MAX_COMPRESSION: Time = Time::from_milliseconds(1);
const COMPRESSION_SHARE: u64 = 20;
/// Packets behind one gap that are acknowledged at once before ACKs are compressed (Linux
/// `TCP_FASTRETRANS_THRESH`).
const UNCOMPRESSED: u32 = 3;
/// Most packets that one compressed ACK reports (Linux `tcp_comp_sack_nr`).
const MAX_COMPRESSED: u32 = 44;

/// Ranges that may begin to grow after an ACK before the next one is sent at once, so that it reports
/// all that have grown (Linux `TCP_SACK_BLOCKS_EXPECTED`).
const RANGES_PER_ACK: usize = 2;

/// Compression of the ACKs of packets behind a gap (Linux `__tcp_ack_snd_check`): after three packets
/// behind the same gap, an ACK waits for more.
#[derive(Clone, Debug)]
pub struct Compression {
    delay: Time,
    /// The gap, and the number of packets behind it that have been acknowledged at once.
    gap: u64,
    uncompressed: u32,
    /// Packets that the next ACK reports.
    held: u32,
    /// Ranges that have begun to grow since the last ACK.
    ranges: usize,
}

impl Compression {
    /// The compression of a receiver whose RTT without queues is `rtt`.
    pub fn new(rtt: Time) -> Self {
        let share = Time::from_picoseconds(rtt.picoseconds() / COMPRESSION_SHARE);
        Compression {
            delay: share.min(MAX_COMPRESSION),
            gap: 0,
            uncompressed: 0,
            held: 0,
            ranges: 0,
        }
    }

    /// Whether the ACK of a packet behind `gap` waits.
    pub fn holds(&mut self, gap: u64) -> bool {
        if gap != self.gap {
            (self.gap, self.uncompressed) = (gap, 0);
        }
        let is_full = self.held >= MAX_COMPRESSED || self.ranges >= RANGES_PER_ACK;
        if self.uncompressed < UNCOMPRESSED || is_full {
            self.uncompressed = (self.uncompressed + 1).min(UNCOMPRESSED);
            return false;
        }
        self.held += 1;
        true
    }

    /// How long the first packet that an ACK reports waits for others.
    pub fn delay(&self) -> Time {
        self.delay
    }

    /// Records that another range has begun to grow.
    pub fn on_range(&mut self) {
        self.ranges += 1;
    }

    /// Records an ACK, which reports all packets that have arrived.
    pub fn on_ack(&mut self) {
        (self.held, self.ranges) = (0, 0);
    }
}
