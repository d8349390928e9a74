//! Explicit congestion notification at the sender (RFC 3168 sec. 6.1.2): the ECN field of its
//! packets, and the marks that ACKs report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::{Ack, Ecn};

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EcnFile")]
pub enum EcnMode {
    /// Packets are not ECN-capable: queues drop them.
    #[default]
    Off,
    /// RFC 3168: packets carry ECT(0), and the receiver echoes a mark until the sender has answered
    /// it.
    Classic,
    /// Packets carry ECT(0), and the receiver counts every mark (RFC 9768), as DCTCP requires.
    Accurate,
    /// Packets carry ECT(1), and the receiver counts every mark: for scalable controls (RFC 9331).
    L4s,
}

impl EcnMode {
    /// Whether the receiver reports how many packets came marked.
    pub fn is_accurate(self) -> bool {
        matches!(self, EcnMode::Accurate | EcnMode::L4s)
    }

    /// The ECN field of packets with new data.
    pub fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic | EcnMode::Accurate => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
        }
    }
}

/// The ECN state of a sender.
#[derive(Debug)]
pub struct EcnState {
    codepoint: Ecn,
    is_accurate: bool,
    /// Whether the next new packet carries CWR: it tells the receiver that the window is reduced.
    owes_cwr: bool,
    /// Number of marks that the receiver has reported.
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

    /// Whether an ACK may report a new mark.
    #[inline]
    pub fn is_news(&self, ack: Ack<'_>) -> bool {
        // A receiver reports marks in one of the two ways. An ACK that another one has overtaken is
        // taken for news, too; `note` tells it apart.
        ack.ece || ack.marked_packets != self.reported
    }

    /// Number of marks that the receiver has reported so far; zero without accurate feedback.
    #[inline]
    pub fn reported(&self) -> u64 {
        self.reported
    }

    /// Takes in the feedback of an ACK; returns whether it reports a new mark.
    pub fn note(&mut self, ack: Ack<'_>) -> bool {
        let is_marked = ack.ece || ack.marked_packets > self.reported;
        self.reported = self.reported.max(ack.marked_packets);
        is_marked
    }

    /// Whether a mark has reduced the window since `packet` was sent. Losses and marks of the same
    /// window of data reduce it once.
    pub fn has_reduced_since(&self, packet: u64) -> bool {
        packet < self.reduction_point
    }

    /// Records that a mark has reduced the window; `next` is the first packet that has not been
    /// sent.
    pub fn on_marked_reduction(&mut self, next: u64) {
        self.reduction_point = next;
    }

    /// Records that the window has been reduced, for any reason.
    pub fn on_reduction(&mut self) {
        self.owes_cwr = self.codepoint != Ecn::NotEct && !self.is_accurate;
    }

    /// Returns the ECN field and the CWR flag of a packet that is being sent. Retransmissions are
    /// not ECN-capable (RFC 3168 sec. 6.1.5) and do not carry the flag.
    #[inline]
    pub fn on_sent(&mut self, is_retransmission: bool) -> (Ecn, bool) {
        if is_retransmission {
            return (Ecn::NotEct, false);
        }
        (self.codepoint, std::mem::take(&mut self.owes_cwr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn ack(ece: bool, marked_packets: u64) -> Ack<'static> {
        Ack {
            cumulative: 0,
            echo: Time::ZERO,
            echoes_retransmission: false,
            ece,
            marked_packets,
            blocks: &[],
        }
    }

    /// RFC 3168 sec. 6.1.2 and 6.1.5.
    #[test]
    fn the_first_new_packet_after_a_reduction_has_cwr_and_no_retransmission_has() {
        let mut ecn = EcnState::new(EcnMode::Classic);
        assert_eq!(ecn.on_sent(false), (Ecn::Ect0, false));
        ecn.on_reduction();
        assert_eq!(ecn.on_sent(true), (Ecn::NotEct, false));
        assert_eq!(ecn.on_sent(false), (Ecn::Ect0, true));
        assert_eq!(ecn.on_sent(false), (Ecn::Ect0, false));
        assert_eq!(ecn.on_sent(true), (Ecn::NotEct, false));
    }

    /// RFC 9768 has counters in the place of the two flags; RFC 9331 sec. 4.1 asks for ECT(1).
    #[test]
    fn only_the_classic_mode_has_cwr() {
        for (mode, codepoint) in
            [(EcnMode::Off, Ecn::NotEct), (EcnMode::Accurate, Ecn::Ect0), (EcnMode::L4s, Ecn::Ect1)]
        {
            let mut ecn = EcnState::new(mode);
            ecn.on_reduction();
            assert_eq!(ecn.on_sent(false), (codepoint, false), "{mode:?}");
            assert_eq!(ecn.on_sent(true), (Ecn::NotEct, false), "{mode:?}");
        }
    }

    #[test]
    fn news_is_an_echo_or_a_count_that_has_risen() {
        let mut classic = EcnState::new(EcnMode::Classic);
        assert!(classic.note(ack(true, 0)) && classic.note(ack(true, 0)));
        assert!(!classic.note(ack(false, 0)));
        let mut accurate = EcnState::new(EcnMode::Accurate);
        assert!(!accurate.note(ack(false, 0)));
        assert!(accurate.note(ack(false, 2)));
        assert!(!accurate.note(ack(false, 2)));
        assert!(!accurate.note(ack(false, 1)), "an ACK that was overtaken");
        assert!(accurate.note(ack(false, 3)));
    }

    #[test]
    fn a_reduction_covers_what_had_been_sent_before_it() {
        let mut ecn = EcnState::new(EcnMode::Classic);
        assert!(!ecn.has_reduced_since(0));
        ecn.on_marked_reduction(20);
        assert!(ecn.has_reduced_since(19) && !ecn.has_reduced_since(20));
    }
}
