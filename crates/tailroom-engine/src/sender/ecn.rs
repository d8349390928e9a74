//! Explicit congestion notification at the sender (RFC 3168 sec. 6.1.2): what its packets carry, and
//! when an echoed mark is news.

use crate::packet::{Ack, Ecn};
use crate::topology::EcnMode;

/// What a sender remembers about marks.
#[derive(Debug)]
pub struct EcnState {
    codepoint: Ecn,
    is_accurate: bool,
    /// The next new packet tells the receiver that the window has been reduced.
    owes_cwr: bool,
    /// Marks that the receiver has reported.
    reported: u64,
    /// Packets below this one were sent before the last reduction that a mark caused.
    reduction_point: u64,
}

impl EcnState {
    /// The state at the start of a connection.
    pub fn new(mode: EcnMode) -> Self {
        EcnState {
            codepoint: mode.codepoint(),
            is_accurate: mode.is_accurate(),
            owes_cwr: false,
            reported: 0,
            reduction_point: 0,
        }
    }

    /// Whether an ACK says something about marks that has to be looked at.
    #[inline]
    pub fn is_news(&self, ack: &Ack<'_>) -> bool {
        // A receiver reports by one of the two; an old ACK, overtaken, is looked at in vain.
        ack.ece || ack.marked_packets != self.reported
    }

    /// Takes note of an ACK's echo; whether it tells of a mark.
    pub fn note(&mut self, ack: &Ack<'_>) -> bool {
        let is_marked = ack.ece || ack.marked_packets > self.reported;
        self.reported = self.reported.max(ack.marked_packets);
        is_marked
    }

    /// Whether the window has been reduced for a mark since `packet` was sent: losses and marks of one
    /// window of data reduce it once.
    pub fn has_reduced_since(&self, packet: u64) -> bool {
        packet < self.reduction_point
    }

    /// A mark has reduced the window; `next` is the first packet that has not been sent.
    pub fn on_marked_reduction(&mut self, next: u64) {
        self.reduction_point = next;
    }

    /// The window has been reduced, for whatever reason.
    pub fn on_reduction(&mut self) {
        self.owes_cwr = self.codepoint != Ecn::NotEct && !self.is_accurate;
    }

    /// The ECN field and the CWR flag of a packet that is being sent. Retransmissions are not
    /// ECN-capable (RFC 3168 sec. 6.1.5) and do not carry the flag.
    #[inline]
    pub fn on_sent(&mut self, is_retransmission: bool) -> (Ecn, bool) {
        if is_retransmission {
            return (Ecn::NotEct, false);
        }
        (self.codepoint, std::mem::take(&mut self.owes_cwr))
    }
}
