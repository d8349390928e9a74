//! What a receiver acknowledges, reports and echoes.

use super::*;
use crate::random::{SmallStream, below};

fn delayed_ack(packets: u32) -> DelayedAck {
    DelayedAck::Set { packets, timeout: PositiveDuration::from_milliseconds(40) }
}

fn packet(sequence: u64) -> Packet {
    let sent = Time::from_picoseconds(sequence);
    Packet { sequence, bytes: 1_000, sent, ..Packet::default() }
}

fn range(start: u64, end: u64) -> Range {
    Range { start, end }
}

/// RFC 2018 sec. 4: the first block contains the packet that triggered the ACK; the most
/// recently reported blocks follow.
#[test]
fn the_latest_block_is_reported_first() {
    let mut receiver = Receiver::new(DelayedAck::OFF, false, u64::MAX);
    for (sequence, blocks) in [
        (2, vec![range(2, 3)]),
        (5, vec![range(5, 6), range(2, 3)]),
        (8, vec![range(8, 9), range(5, 6), range(2, 3)]),
        (11, vec![range(11, 12), range(8, 9), range(5, 6), range(2, 3)]),
        (3, vec![range(2, 4), range(11, 12), range(8, 9), range(5, 6)]),
        (4, vec![range(2, 6), range(11, 12), range(8, 9)]),
        (0, vec![range(2, 6), range(11, 12), range(8, 9)]),
        (1, vec![range(11, 12), range(8, 9)]),
    ] {
        let ack = receiver.on_packet(Time::ZERO, packet(sequence)).expect("a gap is acknowledged");
        assert_eq!(ack.blocks, blocks, "after packet {sequence}");
    }
    assert_eq!(receiver.next(), 6);
}

/// Linux `tcp_sack_new_ofo_skb`: next to timestamps an ACK has room for three blocks, and the receiver
/// remembers the fourth, which returns when two of the others become one.
#[test]
fn with_timestamps_three_of_four_blocks_are_reported() {
    let mut receiver = with_timestamps(DelayedAck::OFF, None);
    for (sequence, blocks) in [
        (2, vec![range(2, 3)]),
        (5, vec![range(5, 6), range(2, 3)]),
        (8, vec![range(8, 9), range(5, 6), range(2, 3)]),
        (11, vec![range(11, 12), range(8, 9), range(5, 6)]),
        (9, vec![range(8, 10), range(11, 12), range(5, 6)]),
        (10, vec![range(8, 12), range(5, 6), range(2, 3)]),
    ] {
        let ack = receiver.on_packet(Time::ZERO, packet(sequence)).expect("a gap is acknowledged");
        assert_eq!(ack.blocks, blocks, "after packet {sequence}");
    }
}

#[test]
fn every_second_packet_is_acknowledged_and_a_single_packet_after_the_timeout() {
    let delayed = delayed_ack(2);
    let mut receiver = Receiver::new(delayed, false, u64::MAX);
    assert!(receiver.on_packet(Time::ZERO, packet(0)).is_none());
    let ack = receiver.on_packet(Time::ZERO, packet(1)).expect("the second");
    assert_eq!((ack.cumulative, ack.echo), (2, Time::ZERO));
    assert!(receiver.on_packet(Time::from_milliseconds(1), packet(2)).is_none());
    assert_eq!(receiver.deadline(), Time::from_milliseconds(41));
    assert_eq!(receiver.on_deadline().cumulative, 3);
    assert_eq!(receiver.deadline(), Time::NEVER);
}

fn marked(sequence: u64) -> Packet {
    Packet { ecn: Ecn::Ce, ..packet(sequence) }
}

fn cwr(packet: Packet) -> Packet {
    Packet { is_cwr: true, ..packet }
}

/// RFC 3168 sec. 6.1.3: every ACK echoes the mark until a packet with CWR arrives.
#[test]
fn acks_echo_a_mark_until_a_packet_with_cwr_arrives() {
    let mut receiver = Receiver::new(DelayedAck::OFF, false, u64::MAX);
    for (packet, echoes) in [
        (packet(0), false),
        (marked(1), true),
        (packet(2), true),
        (packet(3), true),
        (cwr(packet(4)), false),
        (packet(5), false),
        (marked(6), true),
        (cwr(marked(7)), true), // the mark is newer than the reduction
        (packet(8), true),
        (cwr(packet(9)), false),
    ] {
        let ack = receiver.on_packet(Time::ZERO, packet).expect("no ACK is delayed");
        assert_eq!(ack.ece, echoes, "{packet:?}");
    }
}

/// RFC 3168 sec. 6.1.3: a delayed ACK echoes a mark if any packet that it covers is marked.
/// The mark does not make the ACK immediate.
#[test]
fn a_delayed_ack_echoes_the_mark_of_either_packet() {
    let delayed = delayed_ack(2);
    for [first, second] in [[marked(0), packet(1)], [packet(0), marked(1)]] {
        let mut receiver = Receiver::new(delayed, false, u64::MAX);
        assert!(receiver.on_packet(Time::ZERO, first).is_none());
        assert!(receiver.on_packet(Time::ZERO, second).expect("the second").ece);
    }
    let mut receiver = Receiver::new(delayed, false, u64::MAX);
    assert!(receiver.on_packet(Time::ZERO, marked(0)).is_none());
    assert!(receiver.on_deadline().ece);
    // A mark is echoed once even if a packet with CWR arrives before the ACK is sent.
    let mut receiver = Receiver::new(delayed, false, u64::MAX);
    assert!(receiver.on_packet(Time::ZERO, marked(0)).is_none());
    assert!(receiver.on_packet(Time::ZERO, cwr(packet(1))).expect("the second").ece);
    assert!(receiver.on_packet(Time::ZERO, packet(2)).is_none());
    assert!(!receiver.on_packet(Time::ZERO, packet(3)).expect("the second").ece);
}

/// Linux `__tcp_ecn_check_ce`: the first mark that is echoed, and the packet after it, are acknowledged at
/// once.
#[test]
fn a_host_with_quick_acks_does_not_delay_the_echo_of_a_new_mark() {
    let habits = Habits { quick_acks: 1, ..Habits::default() };
    let mut receiver = Receiver::new(delayed_ack(2), false, u64::MAX).with_habits(habits);
    for (packet, is_acked) in [
        (packet(0), true), // the first one of the connection
        (packet(1), false),
        (packet(2), true),
        (marked(3), true),
        (packet(4), true),
        (packet(5), false),
        (marked(6), true), // the second packet; the echo has not ended
        (marked(7), false),
        (cwr(packet(8)), true),
        (cwr(marked(9)), true), // the echo begins again
        (marked(10), true),
        (packet(11), false),
    ] {
        let ack = receiver.on_packet(Time::ZERO, packet);
        assert_eq!(ack.is_some(), is_acked, "{packet:?}");
    }
}

/// RFC 9768 sec. 3.2.2.5.1: an ACK when marks begin, and after two marks since the last ACK.
/// RFC 8257 sec. 3.2: an ACK when marks end.
#[test]
fn with_accurate_feedback_marks_that_begin_continue_or_end_are_acknowledged_at_once() {
    let delayed = delayed_ack(4);
    let mut receiver = Receiver::new(delayed, true, u64::MAX);
    for (packet, acked) in [
        (packet(0), None),
        (marked(1), Some((2, 1))), // begin
        (marked(2), None),
        (marked(3), Some((4, 3))), // two more
        (packet(4), Some((5, 3))), // end
        (packet(5), None),
        (packet(6), None),
        (packet(7), None),
        (packet(8), Some((9, 3))), // four packets
        (packet(9), None),
        (marked(10), Some((11, 4))),
        (packet(11), Some((12, 4))),
    ] {
        let ack = receiver.on_packet(Time::ZERO, packet);
        let found = ack.map(|ack| (ack.cumulative, ack.marked_packets));
        assert_eq!(found, acked, "{packet:?}");
    }
}

#[test]
fn packets_that_have_arrived_before_are_counted_whether_acknowledged_or_behind_a_gap() {
    let mut receiver = Receiver::new(DelayedAck::OFF, false, u64::MAX);
    for (sequence, duplicates) in [
        (0, 0),
        (0, 1), // acknowledged
        (2, 1),
        (3, 1),
        (2, 2), // at the start of the last range
        (3, 3), // at its end
        (6, 3),
        (3, 4), // in a range that is not the last
        (4, 4), // next to it
        (5, 4), // joins both
        (4, 5),
        (1, 5), // fills the gap
        (6, 6),
        (7, 6),
    ] {
        receiver.on_packet(Time::ZERO, packet(sequence));
        assert_eq!(receiver.duplicates(), duplicates, "after packet {sequence}");
    }
    assert_eq!(receiver.next(), 8);
}

/// RFC 3168 sec. 6.1.5: the receiver ignores the ECN field of a packet that it has
/// acknowledged.
#[test]
fn a_mark_on_a_duplicate_is_ignored() {
    let mut receiver = Receiver::new(DelayedAck::OFF, false, u64::MAX);
    receiver.on_packet(Time::ZERO, packet(0));
    let ack = receiver.on_packet(Time::ZERO, marked(0)).expect("at once");
    assert!(!ack.ece);
    let ack = receiver.on_packet(Time::ZERO, marked(2)).expect("at once");
    assert!(ack.ece, "the packet follows a gap but lies in the window");
}

// Timestamps, RFC 7323. A packet's sequence number is its letter.

const TICK: Time = Time::from_milliseconds(1);

fn with_timestamps(delayed: DelayedAck, timestamp_tick: Option<Time>) -> Receiver {
    let habits = Habits { has_timestamps: true, timestamp_tick, ..Habits::default() };
    Receiver::new(delayed, false, u64::MAX).with_habits(habits)
}

fn sent_at(letter: char, milliseconds: u64) -> Packet {
    let sequence = u64::from(letter) - u64::from('A');
    Packet { sent: Time::from_milliseconds(milliseconds), ..packet(sequence) }
}

/// RFC 7323 sec. 4.3, example B: packets arrive out of order, and each is acknowledged.
#[test]
fn an_ack_echoes_the_packet_that_filled_the_gap_and_none_behind_it() {
    let mut receiver = with_timestamps(DelayedAck::OFF, None);
    let example =
        [('A', 1, 'A', 1), ('C', 3, 'A', 1), ('B', 2, 'C', 2), ('E', 5, 'C', 2), ('D', 4, 'E', 4)];
    for (letter, sent, acked, echoed) in example {
        let ack = receiver.on_packet(Time::ZERO, sent_at(letter, sent)).expect("at once");
        let expected = sent_at(acked, echoed);
        assert_eq!((ack.cumulative, ack.echo), (expected.sequence + 1, expected.sent), "{letter}");
    }
}

/// B is lost and D is late. B's retransmission fills the first gap; D, which left before it, the second:
/// its timestamp would make the retransmission look unnecessary.
#[test]
fn a_late_packet_behind_a_retransmission_is_not_echoed() {
    let mut receiver = with_timestamps(DelayedAck::OFF, None);
    for (letter, sent, echoed) in [
        ('A', 1, 1),
        ('C', 3, 1),
        ('E', 5, 1),
        ('B', 50, 50),
        ('D', 4, 50),
        ('F', 6, 50),
        ('G', 51, 51),
    ] {
        let ack = receiver.on_packet(Time::ZERO, sent_at(letter, sent)).expect("at once");
        assert_eq!(ack.echo, Time::from_milliseconds(echoed), "{letter}");
    }
}

/// RFC 7323 sec. 5 with the window of Linux, one tick: TS.Recent is 50.
#[test]
fn a_packet_that_is_late_by_more_than_a_tick_is_discarded_and_answered_at_once() {
    let delayed = delayed_ack(2);
    for (sent, is_discarded) in [(48, true), (49, false), (50, false)] {
        let habits = Habits {
            has_timestamps: true,
            timestamp_tick: Some(TICK),
            reports_duplicates: true,
            ..Habits::default()
        };
        let mut receiver = Receiver::new(delayed, false, u64::MAX).with_habits(habits);
        for letter in ['A', 'B'] {
            receiver.on_packet(Time::ZERO, sent_at(letter, 50));
        }
        // The next packet expected: kept and delayed, or discarded and answered.
        let ack = receiver.on_packet(Time::ZERO, sent_at('C', sent));
        let answer = ack.map(|ack| (ack.cumulative, ack.echo.picoseconds() / TICK.picoseconds()));
        assert_eq!(answer, is_discarded.then_some((2, 50)));
        assert_eq!(receiver.discarded(), u64::from(is_discarded));
        // One that had arrived is reported either way (Linux `tcp_send_dupack`).
        let ack = receiver.on_packet(Time::ZERO, sent_at('A', sent)).expect("at once");
        assert_eq!(ack.duplicate, Some(0));
        assert_eq!(receiver.duplicates(), u64::from(!is_discarded));
        assert_eq!(receiver.arrived(), 4);
    }
}

/// A host whose timestamps have no tick, and one without timestamps.
#[test]
fn other_hosts_discard_no_packet() {
    let without = Receiver::new(DelayedAck::OFF, false, u64::MAX);
    for mut receiver in [with_timestamps(DelayedAck::OFF, None), without] {
        receiver.on_packet(Time::ZERO, sent_at('A', 50));
        let ack = receiver.on_packet(Time::ZERO, sent_at('B', 1)).expect("at once");
        assert_eq!(ack.cumulative, 2);
        assert_eq!(receiver.discarded(), 0);
    }
}

/// Timestamps leave 28 bytes for selective ACKs: three blocks (RFC 2018 sec. 3), one of which reports the
/// duplicate (RFC 2883 sec. 4).
#[test]
fn a_duplicate_takes_the_place_of_a_block() {
    let habits = Habits { has_timestamps: true, reports_duplicates: true, ..Habits::default() };
    let mut receiver = Receiver::new(DelayedAck::OFF, false, u64::MAX).with_habits(habits);
    for sequence in [2, 4, 6] {
        receiver.on_packet(Time::ZERO, packet(sequence));
    }
    let reported = receiver.on_packet(Time::ZERO, packet(4)).map(|ack| ack.reported().collect());
    assert_eq!(reported, Some(vec![range(4, 5), range(4, 5), range(6, 7)]));
}

/// Packets and retransmissions arrive in any order, delayed and compressed ACKs among their answers.
#[test]
fn the_echoed_timestamp_never_goes_back_and_every_packet_is_accounted_for() {
    for seed in 0..300 {
        let mut draws = SmallStream::seeded(seed);
        let mut draw = |bound: u64| below(&mut draws, bound);
        let habits = Habits {
            quick_acks: 4,
            compressed_rtt: (seed % 2 == 0).then_some(Time::from_milliseconds(40)),
            reports_duplicates: true,
            has_timestamps: true,
            timestamp_tick: (seed % 3 > 0).then_some(TICK),
            ..Habits::default()
        };
        let mut receiver = Receiver::new(delayed_ack(2), false, u64::MAX).with_habits(habits);
        let (mut echoed, mut arrived) = (Time::ZERO, 0);
        for step in 0..400 {
            let now = Time::from_milliseconds(step);
            while receiver.deadline() < now {
                let ack = receiver.on_deadline();
                assert!(ack.echo >= echoed, "{:?} after {echoed:?}", ack.echo);
                echoed = ack.echo;
            }
            let sequence = (receiver.next() + draw(12)).saturating_sub(4);
            let sent = Time::from_milliseconds(step.saturating_sub(draw(1 + step % 30)));
            arrived += 1;
            let before = receiver.in_order.echo;
            let is_behind_gap = sequence > receiver.next();
            let packet = Packet { sequence, sent, is_retransmission: draw(4) == 0, ..packet(0) };
            if let Some(ack) = receiver.on_packet(now, packet) {
                assert!(ack.echo >= echoed, "{:?} after {echoed:?}", ack.echo);
                echoed = ack.echo;
            }
            assert!(!is_behind_gap || receiver.in_order.echo == before, "packet {sequence}");
            assert_eq!(receiver.arrived(), arrived);
        }
    }
}

/// Linux `tcp_event_data_recv`: a gap as long as the retransmission timeout changes nothing, one that is a
/// millisecond longer lets the next ACKs leave at once, of which there are four here.
#[test]
fn acks_are_not_delayed_after_a_gap() {
    let gap = Time::from_milliseconds(300);
    let habits = Habits { quick_acks: 4, gap: Some(gap), ..Habits::default() };
    let mut receiver = Receiver::new(delayed_ack(2), false, u64::MAX).with_habits(habits);
    let mut number = 0;
    let mut acks_at = |milliseconds: u64, packets: u64| {
        let answers = (0..packets).map(|_| {
            number += 1;
            let now = Time::from_milliseconds(milliseconds);
            u32::from(receiver.on_packet(now, packet(number - 1)).is_some())
        });
        answers.collect::<Vec<_>>()
    };
    assert_eq!(acks_at(1_000, 8), [1, 1, 1, 1, 0, 1, 0, 1]);
    assert_eq!(acks_at(1_300, 4), [0, 1, 0, 1]);
    assert_eq!(acks_at(1_601, 7), [1, 1, 1, 1, 0, 1, 0]);
}
