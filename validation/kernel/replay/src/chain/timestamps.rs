//! When the packet was sent whose timestamp an ACK echoes.
//!
//! The kernel's timestamps have a tick of a millisecond, in which it sends several packets.
//! tailroom's ACKs carry the time itself.

use std::collections::BTreeMap;

use tailroom_engine::units::Time;

use super::recording::{Received, Sent};

/// A transmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// When it left.
    pub sent: Time,
    /// Whether the packet had been sent before.
    pub is_retransmission: bool,
    timestamp: u64,
}

/// The transmissions of packets in flight.
#[derive(Debug, Default)]
pub struct Timestamps {
    una: u64,
    stamps: BTreeMap<u64, Vec<Stamp>>,
    last: Stamp,
}

impl Timestamps {
    /// Takes note of a packet that has left; returns whether it had been sent before.
    pub fn note(&mut self, sent: &Sent) -> bool {
        let stamps = self.stamps.entry(sent.packet).or_default();
        let is_retransmission = !stamps.is_empty();
        stamps.push(Stamp { sent: sent.now, is_retransmission, timestamp: sent.timestamp });
        is_retransmission
    }

    /// The transmission that an ACK echoes; `None` if no packet has its timestamp.
    ///
    /// The receiver keeps the timestamp of the packet that it expected after its last ACK (RFC
    /// 7323 sec. 4.3). Another packet of the same tick takes the place of one that left before it
    /// was noted.
    pub fn echoed(&mut self, ack: &Received) -> Option<Stamp> {
        if ack.cumulative <= self.una {
            return Some(self.last); // an ACK without news gives no sample
        }
        let mut in_order = self.stamps.range(self.una..).flat_map(|(_, stamps)| stamps);
        self.last = *in_order.find(|stamp| stamp.timestamp == ack.echo)?;
        self.una = ack.cumulative;
        self.stamps = self.stamps.split_off(&self.una);
        Some(self.last)
    }
}
