//! The pipe of ns-2's Sack1 agent, counted from the ACKs and packets of a fast recovery instead of
//! derived from the scoreboard.
//!
//! RFC 6675 `SetPipe` leaves lost packets out of the pipe. ns-2 (2.35, tcp-sack1.cc, with its
//! default `partial_ack_` 0) counts a lost packet until its retransmission is acknowledged, so that
//! a recovery from many losses sends less in its first round trip and more behind partial ACKs:
//!
//! * recovery begins with the packets in flight, less the three that duplicate ACKs reported;
//! * an ACK takes one packet off, a partial ACK two: the lost packet and its retransmission;
//! * a packet sent adds one, except the retransmission with which recovery begins.

use super::scoreboard::DUPLICATE_THRESHOLD;

/// The count of one recovery episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedPipe {
    /// In packets; negative if more ACKs have arrived than packets were counted.
    packets: i64,
}

impl CountedPipe {
    /// The count at the beginning of a recovery with `in_flight` packets above the cumulative ACK.
    pub fn new(in_flight: u64) -> Self {
        CountedPipe { packets: in_flight.cast_signed() - DUPLICATE_THRESHOLD.cast_signed() }
    }

    /// Takes in an ACK that does not end the recovery; a partial ACK advances the cumulative ACK.
    pub fn on_ack(&mut self, is_partial: bool) {
        self.packets -= if is_partial { 2 } else { 1 };
    }

    /// Counts a packet that was sent.
    pub fn on_sent(&mut self) {
        self.packets += 1;
    }

    /// Number of packets counted.
    pub fn packets(self) -> i64 {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::Scoreboard;
    use super::*;
    use crate::packet::Range;

    /// A recovery followed by both rules: the pipe of RFC 6675 and that of ns-2.
    struct Both {
        board: Scoreboard,
        next: u64,
        counted: CountedPipe,
    }

    impl Both {
        /// Packets 0 to 21 are in flight; 0 is lost and has been sent again.
        fn begin(sacked: &[Range]) -> Self {
            let mut board = Scoreboard::default();
            board.add(sacked, 22, |_| {});
            let counted = CountedPipe::new(22);
            board.on_retransmission(0);
            Both { board, next: 22, counted }
        }

        fn pipes(&self) -> (u64, i64) {
            (self.board.pipe(self.next), self.counted.packets())
        }

        /// A duplicate ACK that reports `packet`.
        fn duplicate(&mut self, packet: u64) -> (u64, i64) {
            let block = Range { start: packet, end: packet + 1 };
            assert_eq!(self.board.add(&[block], self.next, |_| {}), 1);
            self.counted.on_ack(false);
            self.pipes()
        }

        fn partial(&mut self, cumulative: u64) -> (u64, i64) {
            self.board.advance(cumulative);
            self.counted.on_ack(true);
            self.pipes()
        }

        fn send_again(&mut self, packet: u64) -> (u64, i64) {
            assert_eq!(self.board.next_lost(), Some(packet));
            self.board.on_retransmission(packet);
            self.counted.on_sent();
            self.pipes()
        }

        fn send_new(&mut self) -> (u64, i64) {
            self.next += 1;
            self.counted.on_sent();
            self.pipes()
        }
    }

    /// Of 0 to 21 the packets 0 to 4 are lost. By hand: RFC 6675 has 22 in flight less three
    /// sacked and five lost, and the retransmission: 15. ns-2 has 22 - 3 = 19.
    #[test]
    fn a_burst_of_losses_stays_in_the_pipe_until_it_is_acknowledged() {
        let mut both = Both::begin(&[Range { start: 5, end: 8 }]);
        assert_eq!(both.pipes(), (15, 19));
        // Each of twelve more duplicate ACKs takes one packet off both.
        for (packet, taken) in (8..20).zip(1_i64..) {
            assert_eq!(both.duplicate(packet), (15 - taken.cast_unsigned(), 19 - taken));
        }
        assert_eq!(both.send_again(1), (4, 8));
        assert_eq!(both.send_new(), (5, 9));
        // The retransmission of 0 has arrived: for the RFC one packet less is in the network, for
        // ns-2 the lost packet leaves as well.
        assert_eq!(both.partial(1), (4, 7));
        assert_eq!(both.send_again(2), (5, 8));
        assert_eq!(both.partial(2), (4, 6));
        assert_eq!(both.partial(3), (3, 4));
        // Sent again or not, 3 and 4 are lost: the RFC leaves them out, ns-2 does not.
        assert_eq!((both.send_again(3), both.send_again(4)), ((4, 5), (5, 6)));
        assert_eq!((both.partial(4), both.partial(20)), ((4, 4), (3, 2)));
    }

    /// Every second packet from 0 to 14 is lost. RFC 6675 takes a packet for lost when three behind
    /// it are sacked, so that each duplicate ACK takes two off: the packet that it reports and a
    /// lost one.
    #[test]
    fn a_lost_packet_that_a_duplicate_ack_reveals_does_not_leave_the_pipe() {
        let single = |start: u64| Range { start, end: start + 1 };
        let mut both = Both::begin(&[single(5), single(3), single(1)]);
        assert_eq!(both.pipes(), (19, 19));
        let after: Vec<_> = [7, 9, 11, 13, 15].map(|packet| both.duplicate(packet)).to_vec();
        assert_eq!(after, [(17, 18), (15, 17), (13, 16), (11, 15), (9, 14)]);
    }
}
