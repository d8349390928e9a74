//! Explicit congestion notification at the sender (RFC 3168 sec. 6.1.2): the ECN field of its
//! packets, and its response to echoed marks.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::{Ack, Ecn};

/// Explicit congestion notification: the ECN field of the flow's packets, and how the receiver
/// reports marks.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EcnConfig")]
pub enum EcnMode {
    /// Packets are not ECN-capable (Not-ECT): queues drop them instead of marking them.
    #[default]
    Off,
    /// RFC 3168: packets carry ECT(0); the receiver echoes a mark until the sender reports a
    /// window reduction.
    Classic,
    /// Packets carry ECT(0), those sent again too; the receiver reports the number of marks
    /// (RFC 9768), as DCTCP requires.
    Accurate,
    /// Packets carry ECT(1), those sent again too; the receiver reports the number of marks. For
    /// scalable controls (RFC 9331).
    L4s,
}

impl EcnMode {
    /// Whether the receiver reports the number of marked packets.
    pub fn is_accurate(self) -> bool {
        matches!(self, EcnMode::Accurate | EcnMode::L4s)
    }

    /// The ECN field of new data packets.
    pub fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic | EcnMode::Accurate => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
        }
    }
}

/// The ECN state of a sender.
#[derive(Clone, Debug)]
pub struct EcnState {
    codepoint: Ecn,
    /// The ECN field of the packet that opens the connection.
    opening: Ecn,
    is_accurate: bool,
    /// Whether the next new packet must carry CWR, to report a window reduction to the receiver.
    owes_cwr: bool,
    /// Marks that the receiver has reported so far.
    reported: u64,
    /// Packets below this sequence number were sent before the last reduction for a mark.
    reduction_point: u64,
}

impl EcnState {
    /// Creates the state at the start of a connection. The first packet is ECN-capable if the
    /// control `needs_marks` (RFC 8257 sec. 3.5; Linux `tcp_ecn_send_syn`), and otherwise is not
    /// (RFC 3168 sec. 6.1.1): a queue that marks would drop it, and the flow wait for a timer.
    pub fn new(mode: EcnMode, needs_marks: bool) -> Self {
        let codepoint = mode.codepoint();
        EcnState {
            codepoint,
            opening: if needs_marks { codepoint } else { Ecn::NotEct },
            is_accurate: mode.is_accurate(),
            owes_cwr: false,
            reported: 0,
            reduction_point: 0,
        }
    }

    /// Whether an ACK may report a new mark, so that [`note`](EcnState::note) must be called.
    #[inline]
    pub fn is_news(&self, ack: Ack<'_>) -> bool {
        // A receiver uses one of the two reports. A reordered old ACK gives a false positive,
        // which is harmless.
        ack.ece || ack.marked_packets != self.reported
    }

    /// The ECN field of the next new packets, if a receiver that has counted `marked_packets` marks
    /// has reported them all and need not be told of a reduction.
    pub fn settled_codepoint(&self, marked_packets: u64) -> Option<Ecn> {
        let is_settled = !self.owes_cwr && self.reported == marked_packets;
        is_settled.then_some(self.codepoint)
    }

    /// Number of marks that the receiver has reported so far; zero without accurate feedback.
    #[inline]
    pub fn reported(&self) -> u64 {
        self.reported
    }

    /// Records the marks that an ACK reports, and returns whether it reports any.
    pub fn note(&mut self, ack: Ack<'_>) -> bool {
        let is_marked = ack.ece || ack.marked_packets > self.reported;
        self.reported = self.reported.max(ack.marked_packets);
        is_marked
    }

    /// Whether a mark has reduced the window since `packet` was sent. Losses and marks in one
    /// window of data reduce the window once.
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

    /// Records that the reduction has been taken back (Linux `tcp_ecn_withdraw_cwr`).
    pub fn withdraw_reduction(&mut self) {
        self.owes_cwr = false;
    }

    /// The ECN field of the packet that opens the connection.
    pub fn opening(&self) -> Ecn {
        self.opening
    }

    /// Returns the ECN field and the CWR flag of a packet to send. Retransmissions do not carry the
    /// flag, and are ECN-capable with accurate feedback only (RFC 8311 sec. 4.3, Linux
    /// `tcp_ecn_send`; RFC 3168 sec. 6.1.5).
    #[inline]
    pub fn on_sent(&mut self, is_retransmission: bool) -> (Ecn, bool) {
        if is_retransmission && !self.is_accurate {
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
            duplicate: None,
            blocks: &[],
        }
    }

    /// RFC 3168 sec. 6.1.2 and 6.1.5.
    #[test]
    fn the_first_new_packet_after_a_reduction_has_cwr_but_a_retransmission_has_not() {
        let mut ecn = EcnState::new(EcnMode::Classic, false);
        assert_eq!(ecn.on_sent(false), (Ecn::Ect0, false));
        ecn.on_reduction();
        assert_eq!(ecn.on_sent(true), (Ecn::NotEct, false));
        assert_eq!(ecn.on_sent(false), (Ecn::Ect0, true));
        assert_eq!(ecn.on_sent(false), (Ecn::Ect0, false));
        assert_eq!(ecn.on_sent(true), (Ecn::NotEct, false));
    }

    /// RFC 9768 replaces the two flags with counters; RFC 9331 sec. 4.1 requires ECT(1); RFC 8257
    /// sec. 3.5 and RFC 8311 sec. 4.3 let all packets be ECN-capable.
    #[test]
    fn only_the_classic_mode_sends_cwr() {
        for (mode, codepoint) in
            [(EcnMode::Off, Ecn::NotEct), (EcnMode::Accurate, Ecn::Ect0), (EcnMode::L4s, Ecn::Ect1)]
        {
            let mut ecn = EcnState::new(mode, true);
            ecn.on_reduction();
            for is_retransmission in [false, true] {
                assert_eq!(ecn.on_sent(is_retransmission), (codepoint, false), "{mode:?}");
            }
            assert_eq!(ecn.opening(), codepoint, "{mode:?}");
            assert_eq!(EcnState::new(mode, false).opening(), Ecn::NotEct, "{mode:?}");
        }
    }

    #[test]
    fn an_echo_or_a_higher_count_reports_a_mark() {
        let mut classic = EcnState::new(EcnMode::Classic, false);
        assert!(classic.note(ack(true, 0)) && classic.note(ack(true, 0)));
        assert!(!classic.note(ack(false, 0)));
        let mut accurate = EcnState::new(EcnMode::Accurate, true);
        assert!(!accurate.note(ack(false, 0)));
        assert!(accurate.note(ack(false, 2)));
        assert!(!accurate.note(ack(false, 2)));
        assert!(!accurate.note(ack(false, 1)), "a reordered ACK");
        assert!(accurate.note(ack(false, 3)));
    }

    #[test]
    fn a_reduction_covers_the_packets_sent_before_it() {
        let mut ecn = EcnState::new(EcnMode::Classic, false);
        assert!(!ecn.has_reduced_since(0));
        ecn.on_marked_reduction(20);
        assert!(ecn.has_reduced_since(19) && !ecn.has_reduced_since(20));
    }
}
