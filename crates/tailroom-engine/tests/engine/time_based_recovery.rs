//! Loss recovery by RACK-TLP (RFC 8985): the example of the RFC, and what no rule of duplicates can do.
//! The path takes 100 ms there and back.

use proptest::prelude::*;
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::units::Time;

use crate::support::ack_by_ack::{Driven, transport};
use crate::support::path::{Outcome, PERFECT, RTT, Script, WINDOW, is_drawn, tcp, transfer};
use crate::support::random_cases::config;

fn rack() -> TcpSpec {
    tcp(Recovery::Rack, true)
}

fn ms(milliseconds: u64) -> Time {
    Time::from_milliseconds(milliseconds)
}

/// A transfer that loses the transmissions of `lost`: packet, and which of its transmissions.
fn losing(tcp: &TcpSpec, packets: u64, lost: &[(u64, u32)]) -> Outcome {
    let loses_data = |sequence: u64, nth: u32| lost.contains(&(sequence, nth));
    let outcome = transfer(tcp, packets, &Script { loses_data: &loses_data, ..PERFECT });
    assert!(outcome.is_complete, "{lost:?}: {outcome:?}");
    outcome
}

/// RFC 8985 sec. 3.4, Figure 1: of P0 to P3 the last three are lost, then the retransmission of P1. The
/// probe leaves two round trips after the ACK of P0.
#[test]
fn the_example_of_rfc_8985_needs_no_timeout() {
    // The example says nothing of the window, so it has to have room for both retransmissions.
    let four = with!(rack(), TcpSpec { initial_window: 4, initial_ssthresh: Some(4), prr: false });
    let outcome = losing(&four, 4, &[(1, 0), (2, 0), (3, 0), (1, 1)]);
    assert_eq!(outcome.retransmitted, [(ms(300), 3), (ms(400), 1), (ms(400), 2), (ms(500), 1)]);
    assert_eq!((outcome.timeouts, outcome.finished_at), (0, ms(600)));
}

/// Packet 5 is lost again and again. Each time a round trip later the ACK of a packet that was sent after
/// it shows it.
#[test]
fn a_lost_retransmission_is_sent_again_after_a_round_trip() {
    let lost: Vec<(u64, u32)> = (0..6).map(|nth| (5, nth)).collect();
    let outcome = losing(&rack(), 400, &lost);
    assert_eq!((outcome.timeouts, outcome.retransmissions), (0, 6));
    let times: Vec<Time> = outcome.retransmitted.iter().map(|&(time, _)| time).collect();
    for pair in times.windows(2) {
        let wait = pair[1].since(pair[0]);
        assert!(wait >= RTT && wait < ms(150), "{times:?}");
    }
    let by_duplicates = losing(&tcp(Recovery::Sack, true), 400, &lost);
    assert_eq!(by_duplicates.timeouts, 5, "RFC 6675 needs the timer for each");
}

/// Bursts of losses at any position, in the middle of the data and at their end.
#[test]
fn each_lost_packet_is_sent_again_once_and_without_a_timeout() {
    for tcp in [rack(), with!(rack(), TcpSpec { prr: false })] {
        for first in 0..80 {
            for length in 1..=WINDOW / 2 {
                let lost: Vec<(u64, u32)> = (first..first + length).map(|at| (at, 0)).collect();
                let outcome = losing(&tcp, 90, &lost);
                let found = (outcome.timeouts, outcome.retransmissions);
                assert_eq!(found, (0, length), "from {first}: {outcome:?}");
            }
        }
    }
}

/// The last packet of a transfer is lost: the probe sends it again, two round trips after the last ACK.
/// For a single packet in flight the receiver may delay its ACK, so the probe waits for the timer.
#[test]
fn a_probe_repairs_the_loss_of_the_last_packet() {
    let outcome = losing(&rack(), 10, &[(9, 0), (8, 0)]);
    assert_eq!((outcome.timeouts, outcome.retransmitted[0]), (0, (ms(300), 9)));
    let single = losing(&rack(), 10, &[(9, 0)]);
    assert_eq!((single.timeouts, single.retransmitted), (0, vec![(ms(1_100), 9)]));
}

/// Two packets before the last one are lost: two are sacked, too few to prove the loss at once, so it is
/// found a quarter of the RTT later.
#[test]
fn fewer_than_three_sacked_packets_prove_a_loss_after_the_reordering_window() {
    let outcome = losing(&rack(), 10, &[(7, 0)]);
    let [(time, packet)] = outcome.retransmitted[..] else { panic!("{outcome:?}") };
    assert_eq!((outcome.timeouts, packet), (0, 7));
    // Packets that leave at the same instant are recorded a picosecond apart.
    assert!(ms(125).since(time) < Time::from_picoseconds(100), "{time:?}");
}

/// Linux adds 2 ms to both timers (`tcp_schedule_loss_probe`, `tcp_rack_reo_timeout`), but not to the
/// probe of a single packet.
#[test]
fn the_timers_of_a_linux_host_wait_two_milliseconds_longer() {
    let rack_timer_margin = Some(PositiveDuration::from_milliseconds(2));
    let linux = with!(rack(), TcpSpec { rack_timer_margin });
    for (lost, first, expected) in [
        (vec![(9, 0), (8, 0)], 9, ms(302)),
        (vec![(9, 0)], 9, ms(1_100)),
        (vec![(7, 0)], 7, ms(127)),
    ] {
        let outcome = losing(&linux, 10, &lost);
        let (time, packet) = outcome.retransmitted[0];
        assert_eq!((outcome.timeouts, packet), (0, first));
        assert!(time.since(expected) < Time::from_picoseconds(100), "{lost:?}: {time:?}");
    }
}

/// A packet that is overtaken by as many as a timer allows is not sent again: three packets prove its
/// loss, two do not.
#[test]
fn reordering_within_the_window_causes_no_retransmission() {
    for (by, retransmissions) in [(2, 0), (3, 1)] {
        let script = Script { overtaken: Some((10, by)), ..PERFECT };
        let outcome = transfer(&rack(), 200, &script);
        assert_eq!(outcome.retransmissions, retransmissions, "{by}");
    }
}

/// The handshake and the data met a queue of 20 ms, the retransmissions none. The answer to the first one is
/// faster than all RTTs before, so that it may be that of the first transmission; its timestamp says otherwise, and
/// makes the answer to the second one an ordinary one: packet 7 is missed (Linux `tcp_ack_update_rtt`).
#[test]
fn the_timestamp_of_a_retransmission_tells_the_smallest_rtt() {
    let mut host = Driven::new(&transport("linux", "reno"), 60.0);
    host.write(0.0, 8);
    host.ack(60.0, 4, &[(6, 7)]);
    host.run_to(90.0);
    let &(again, sequence) = host.sent().last().expect("packets have left");
    assert_eq!(sequence, 4, "{again}");
    assert_eq!(host.ack(again + 42.0, 5, &[(6, 7)]), [5]);
    assert_eq!(host.ack(again + 85.0, 7, &[]), [7]);
}

/// The handshake took 40 ms and met no queue, which the data did: packets 4 and 7 of eight are lost. The
/// answer to the retransmission, after 42 ms, is faster than all packets before, but not than the handshake,
/// so that packet 7 is missed too (Linux `tcp_rack_advance`, `tcp_min_rtt`).
#[test]
fn an_answer_that_is_slower_than_the_handshake_is_that_of_the_retransmission() {
    let mut host = Driven::new(&transport("linux", "reno"), 40.0);
    host.write(0.0, 8);
    host.ack(50.0, 4, &[(5, 7)]);
    host.run_to(80.0);
    let &(again, sequence) = host.sent().last().expect("packets have left");
    assert_eq!(sequence, 4, "{again}");
    assert_eq!(host.ack(again + 42.0, 7, &[]), [7]);
}

proptest! {
    #![proptest_config(config(2_000))]

    /// Where no ACK is lost, the timer expires only if the packet that was sent last is lost.
    #[test]
    fn only_the_loss_of_the_last_packet_waits_for_the_timer(
        packets in 1_u64..300,
        seed in any::<u64>(),
        loss in prop::sample::select(vec![0.01, 0.1, 0.3, 0.6]),
        prr in any::<bool>(),
        initial_window in 1_u32..2 * WINDOW as u32,
    ) {
        let tcp = with!(tcp(Recovery::Rack, prr), TcpSpec { initial_window });
        let loses_data = |sequence: u64, nth: u32| is_drawn(seed, sequence, nth, loss);
        let outcome = transfer(&tcp, packets, &Script { loses_data: &loses_data, ..PERFECT });
        prop_assert!(outcome.is_complete, "{outcome:?}");
        for &(time, last_is_lost) in &outcome.timeouts_at {
            prop_assert!(last_is_lost, "{time:?}: {outcome:?}");
        }
    }
}
