//! The pipe of ns-2's Sack1 agent, counted from the ACKs and packets of a fast recovery instead of
//! derived from the scoreboard.
//!
//! RFC 6675 `SetPipe` leaves lost packets out of the pipe. ns-2 (2.35, tcp-sack1.cc, with its
//! default `partial_ack_` 0) counts a lost packet until its retransmission is acknowledged, so
//! that a recovery from many losses sends less in its first round trip and more after partial
//! ACKs:
//!
//! * at the start of a recovery the pipe is the packets in flight minus the three packets that the
//!   duplicate ACKs reported;
//! * an ACK reduces it by one packet, a partial ACK by two: the lost packet and its
//!   retransmission;
//! * a transmission adds one packet, except the retransmission that starts the recovery.

use super::scoreboard::DUPLICATE_THRESHOLD;

/// The pipe of one recovery episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedPipe {
    /// In packets. Negative if more ACKs arrived than packets were counted.
    packets: i64,
}

impl CountedPipe {
    /// Starts a recovery with `in_flight` packets above the cumulative ACK.
    pub fn new(in_flight: u64) -> Self {
        CountedPipe { packets: in_flight.cast_signed() - DUPLICATE_THRESHOLD.cast_signed() }
    }

    /// Counts an ACK that does not end the recovery. A partial ACK is one that advances the
    /// cumulative ACK.
    pub fn on_ack(&mut self, is_partial: bool) {
        self.packets -= if is_partial { 2 } else { 1 };
    }

    /// Counts a packet that is sent.
    pub fn on_sent(&mut self) {
        self.packets += 1;
    }

    /// The pipe, in packets; may be negative.
    pub fn packets(self) -> i64 {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::Scoreboard;
    use super::*;
    use crate::packet::Range;

    /// One recovery with both pipes: that of RFC 6675 and that of ns-2.
    struct Both {
        board: Scoreboard,
        next: u64,
        counted: CountedPipe,
    }

    impl Both {
        /// Packets 0 to 21 are in flight; packet 0 is lost and has been retransmitted.
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

        /// Adds a duplicate ACK that reports `packet`.
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

        fn retransmit(&mut self, packet: u64) -> (u64, i64) {
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

    /// Of the packets 0 to 21, 0 to 4 are lost. Computed by hand: in RFC 6675 the pipe is 22
    /// packets in flight minus 3 sacked and 5 lost packets plus 1 retransmission, 15. In ns-2 it
    /// is 22 - 3 = 19.
    #[test]
    fn lost_packets_stay_in_the_pipe_until_their_retransmissions_are_acknowledged() {
        let mut both = Both::begin(&[Range { start: 5, end: 8 }]);
        assert_eq!(both.pipes(), (15, 19));
        // Each of twelve more duplicate ACKs removes one packet from both pipes.
        for (packet, removed) in (8..20).zip(1_i64..) {
            assert_eq!(both.duplicate(packet), (15 - removed.cast_unsigned(), 19 - removed));
        }
        assert_eq!(both.retransmit(1), (4, 8));
        assert_eq!(both.send_new(), (5, 9));
        // The retransmission of packet 0 has arrived: the pipe of the RFC loses one packet, that
        // of ns-2 also the lost packet.
        assert_eq!(both.partial(1), (4, 7));
        assert_eq!(both.retransmit(2), (5, 8));
        assert_eq!(both.partial(2), (4, 6));
        assert_eq!(both.partial(3), (3, 4));
        // Packets 3 and 4 are lost, whether or not they have been retransmitted: the RFC excludes
        // them from the pipe, ns-2 does not.
        assert_eq!((both.retransmit(3), both.retransmit(4)), ((4, 5), (5, 6)));
        assert_eq!((both.partial(4), both.partial(20)), ((4, 4), (3, 2)));
    }

    /// Every second packet from 0 to 14 is lost. RFC 6675 declares a packet lost when three
    /// packets after it are sacked, so each duplicate ACK removes two packets: the reported packet
    /// and a lost one.
    #[test]
    fn a_packet_that_a_duplicate_ack_declares_lost_stays_in_the_pipe() {
        let single = |start: u64| Range { start, end: start + 1 };
        let mut both = Both::begin(&[single(5), single(3), single(1)]);
        assert_eq!(both.pipes(), (19, 19));
        let pipes: Vec<_> = [7, 9, 11, 13, 15].map(|packet| both.duplicate(packet)).to_vec();
        assert_eq!(pipes, [(17, 18), (15, 17), (13, 16), (11, 15), (9, 14)]);
    }
}
