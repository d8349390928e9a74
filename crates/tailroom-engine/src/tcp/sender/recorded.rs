//! A sender that follows the recording of another host's sender: the caller says when packets
//! leave, and the sender finds the losses. Its [`SendQueue::packets`](super::SendQueue::packets)
//! begin at 0, so that it sends no new packet by itself.

use super::{PacketSink, Sender};
use crate::units::Time;

impl Sender {
    /// Packets in the network: sent, and neither acknowledged nor lost (RFC 6675 `pipe`).
    pub fn packets_in_network(&self) -> u64 {
        self.scoreboard.pipe(self.next)
    }

    /// Lets the sender send new packets below `packets` by itself, as window and pacer allow.
    pub fn hand_over(&mut self, packets: u64) {
        self.send_queue.packets = packets;
    }

    /// Sends `packets` new packets at `now`, whatever window and pacer allow.
    pub fn send_as_recorded(&mut self, now: Time, packets: u64, out: &mut impl PacketSink) {
        for sequence in self.next..self.next + packets {
            self.next = sequence + 1;
            self.repair_rule.on_sent();
            self.transmit(now, sequence, false, out);
        }
    }

    /// Sends the first lost packet again at `now`, whatever window and pacer allow. Returns
    /// whether a packet is lost.
    pub fn retransmit_as_recorded(&mut self, now: Time, out: &mut impl PacketSink) -> bool {
        let lost = self.scoreboard.next_lost();
        if let Some(sequence) = lost {
            self.retransmit(now, sequence, out);
        }
        lost.is_some()
    }
}
