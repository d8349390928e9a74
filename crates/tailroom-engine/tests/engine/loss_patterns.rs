//! Loss recovery by hand: chosen packets, retransmissions and ACKs of a transfer are lost or
//! overtaken, and the sender must react as the RFCs require.
//!
//! A transfer has 60 packets and starts with a window of 20 in congestion avoidance. The RTT is 100
//! ms and the timeout at least 1 s (RFC 6298 sec. 2.4), so a timeout never competes with an ACK.

use proptest::prelude::*;
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::tcp::sender::rtt::RttSamples;
use tailroom_engine::units::Time;

use crate::support::path::{
    Outcome, PERFECT, RTT, Script, WINDOW, every_recovery, is_drawn, tcp, transfer,
};
use crate::support::random_cases::config;
use crate::support::{controls, random_transports};

const PACKETS: u64 = 60;
/// `DupThresh` (RFC 6675 sec. 2; RFC 5681 sec. 3.2).
const THRESHOLD: u64 = 3;
/// A repair sends at most this number of packets beyond the first lost packet before it is
/// complete: the window, and half of it again.
const REACH: u64 = WINDOW + WINDOW / 2 + 4;

fn newreno() -> TcpSpec {
    tcp(Recovery::NewReno, false)
}

fn with_sack() -> [(&'static str, TcpSpec); 2] {
    let [_, sack, prr] = every_recovery();
    [sack, prr]
}

/// A transfer that loses the first transmission of each of `lost`.
fn losing(tcp: &TcpSpec, lost: &[u64]) -> Outcome {
    let loses_data = |sequence: u64, nth: u32| nth == 0 && lost.contains(&sequence);
    let outcome = transfer(tcp, PACKETS, &Script { loses_data: &loses_data, ..PERFECT });
    assert!(outcome.is_complete, "{lost:?}: {outcome:?}");
    outcome
}

/// Checks the retransmissions of a SACK sender: every lost packet once and, where the application
/// has no new data, one rescue per repair, which may be unnecessary (RFC 6675 sec. 4, `NextSeg`
/// rule 4).
fn assert_minimal(name: &str, lost: &[u64], outcome: &Outcome) {
    let count = lost.len() as u64;
    let highest = lost.iter().max().copied().unwrap_or(0);
    let rescues = if highest + REACH < PACKETS { 0 } else { outcome.reductions };
    assert!(
        (count..=count + rescues).contains(&outcome.retransmissions),
        "{name}, lost {lost:?}: {outcome:?}"
    );
}

#[test]
fn without_losses_no_packet_is_sent_twice() {
    for (name, tcp) in every_recovery() {
        let outcome = transfer(&tcp, PACKETS, &PERFECT);
        assert!(outcome.is_complete, "{name}");
        assert_eq!((outcome.retransmissions, outcome.reductions, outcome.timeouts), (0, 0, 0));
        // 20 packets in the first round trip, and one more in the next: 20 + 21 + 19.
        assert_eq!(outcome.finished_at, Time::from_milliseconds(300), "{name}");
    }
}

/// RFC 5681 sec. 3.2, RFC 6675 sec. 5: three packets after the lost packet cause the fast
/// retransmit. With fewer packets after it only the timeout repairs the loss (RFC 6298 sec. 5.4).
#[test]
fn a_single_lost_packet_is_retransmitted_once() {
    for (name, tcp) in every_recovery() {
        for lost in 0..PACKETS {
            let outcome = losing(&tcp, &[lost]);
            let expected = if lost + THRESHOLD < PACKETS { (1, 0) } else { (0, 1) };
            assert_eq!((outcome.reductions, outcome.timeouts), expected, "{name}, lost {lost}");
            assert_minimal(name, &[lost], &outcome);
            if name == "newreno" {
                assert_eq!(outcome.retransmissions, 1, "lost {lost}");
            }
        }
    }
}

/// 17 packets of a window of 20 are lost, and so are their retransmissions, so a timeout ends the
/// repair. By hand, ssthresh is half of 20 after the loss and half of 10 after the timeout. During
/// the repair proportional rate reduction lowers cwnd further (only three packets arrived), but
/// that cwnd must not be halved.
#[test]
fn a_timeout_during_a_repair_halves_the_target_window_of_the_repair() {
    for (name, tcp) in with_sack() {
        let loses_data = |sequence: u64, nth: u32| sequence < 17 && nth < 2;
        let outcome = transfer(&tcp, PACKETS, &Script { loses_data: &loses_data, ..PERFECT });
        assert!(outcome.reductions == 1 && outcome.timeouts >= 1, "{name}: {outcome:?}");
        let mut thresholds: Vec<f64> = outcome.acks.iter().map(|ack| ack.ssthresh).collect();
        thresholds.dedup();
        assert_eq!(thresholds[..3], [20.0, 10.0, 5.0], "{name}: {thresholds:?}");
    }
}

/// The packets that leave in each of three round trips, in order, starting when the loss of `lost`
/// is detected. 20 packets have arrived before, and the window is 20.98 packets.
fn repair_by_round_trip(tcp: &TcpSpec, lost: &[u64]) -> Vec<Vec<u64>> {
    let loses_data = |sequence: u64, nth: u32| nth == 0 && lost.contains(&sequence);
    let outcome = transfer(tcp, 200, &Script { loses_data: &loses_data, ..PERFECT });
    let of_round = |round: u64| -> Vec<u64> {
        let at = Time::from_milliseconds(100 * round);
        let sent = outcome.packets.iter().filter(|packet| packet.sent == at);
        sent.map(|packet| packet.sequence).collect()
    };
    (2..5).map(of_round).collect()
}

/// The packets that ns-2.35 (Agent/TCP/Sack1, a window of 20, `ErrorModel/List`) sends in each
/// round trip, where its packet 1 is our packet 0; and RFC 6675 by hand, with `IsLost` and
/// `SetPipe` at each ACK.
#[test]
fn a_pipe_that_counts_lost_packets_repairs_losses_as_ns2_does() {
    let rfc = tcp(Recovery::Sack, false);
    let ns2 = with!(rfc.clone(), TcpSpec { count_lost_in_pipe: true });
    let burst = [20, 21, 22, 23, 24];
    let by_rfc = repair_by_round_trip(&rfc, &burst);
    assert_eq!(by_rfc[0], [40, 41, 20, 21, 22, 23, 24, 42, 43, 44]);
    assert_eq!(by_rfc[1], (45..55).collect::<Vec<_>>());
    let by_ns2 = repair_by_round_trip(&ns2, &burst);
    assert_eq!(by_ns2[0], [40, 41, 20, 21, 22, 23]);
    assert_eq!(by_ns2[1], [24, 42, 43, 44, 45, 46, 47, 48, 49, 50]);
    assert_eq!(by_ns2[2], (51..62).collect::<Vec<_>>());

    let every_second = [20, 22, 24, 26, 28, 30, 32, 34];
    let by_rfc = repair_by_round_trip(&rfc, &every_second);
    assert_eq!(by_rfc[0], [40, 41, 20, 22, 24, 26, 28, 30, 32, 34]);
    assert_eq!(by_rfc[1], (42..52).collect::<Vec<_>>());
    let by_ns2 = repair_by_round_trip(&ns2, &every_second);
    assert_eq!(by_ns2[0], [40, 41, 20]);
    assert_eq!(by_ns2[1], [22, 24, 26, 28]);
    assert_eq!(by_ns2[2], [30, 32, 34, 42, 43, 44, 45, 46]);
}

/// RFC 6675: two losses in one window are one repair, and two losses in two windows are two
/// repairs. Each packet is retransmitted once, without a timeout, if three packets after it arrive.
#[test]
fn sack_repairs_every_pair_of_losses() {
    for (name, tcp) in with_sack() {
        for first in 0..PACKETS {
            for second in first + 1..PACKETS {
                let outcome = losing(&tcp, &[first, second]);
                let case = format!("{name}, lost {first} and {second}: {outcome:?}");
                assert_minimal(name, &[first, second], &outcome);
                if second + THRESHOLD >= PACKETS {
                    continue;
                }
                assert_eq!(outcome.timeouts, 0, "{case}");
                if second < first + WINDOW {
                    assert_eq!(outcome.reductions, 1, "{case}");
                } else if second > first + WINDOW + 5 {
                    assert_eq!(outcome.reductions, 2, "{case}");
                }
            }
        }
    }
}

/// RFC 6582: the partial ACK of the first repair identifies the second hole, so a pair of losses in
/// one window is one repair of two round trips.
#[test]
fn newreno_repairs_every_pair_of_losses_in_one_window_in_two_round_trips() {
    let tcp = newreno();
    for first in 0..PACKETS {
        for second in first + 1..PACKETS {
            let outcome = losing(&tcp, &[first, second]);
            let is_one_window = second < first + WINDOW;
            // The second hole needs no duplicate ACKs.
            if is_one_window && first + THRESHOLD + 1 < PACKETS {
                let case = format!("lost {first} and {second}: {outcome:?}");
                assert_eq!((outcome.timeouts, outcome.reductions), (0, 1), "{case}");
                assert_eq!(outcome.retransmissions, 2, "{case}");
                let [(one, _), (two, _)] = outcome.retransmitted[..] else { panic!("{case}") };
                assert_eq!(two - one, RTT, "{case}");
            }
        }
    }
}

/// Bursts of losses in one window, with at least three packets after them in the same window.
fn bursts(longest: u64) -> impl Iterator<Item = Vec<u64>> {
    (1..=longest).flat_map(|length| {
        (0..=PACKETS - length - THRESHOLD).map(move |first| (first..first + length).collect())
    })
}

/// RFC 6675 sec. 5: one reduction, no timeout, and each lost packet once.
#[test]
fn sack_repairs_a_burst_of_losses_with_one_reduction() {
    for (name, tcp) in with_sack() {
        for lost in bursts(WINDOW - THRESHOLD) {
            let outcome = losing(&tcp, &lost);
            let case = format!("{name}, lost {lost:?}: {outcome:?}");
            assert_eq!((outcome.reductions, outcome.timeouts), (1, 0), "{case}");
            assert_minimal(name, &lost, &outcome);
        }
    }
}

/// RFC 6675 fills the pipe to half the window at once, so a burst takes two round trips. PRR with
/// its slow-start reduction bound (RFC 9937 sec. 5) at least doubles the packets that it sends per
/// round trip: 1, 2, 4, 8, ...
#[test]
fn sack_repairs_a_burst_of_losses_in_few_round_trips() {
    for (name, tcp) in with_sack() {
        for lost in bursts(WINDOW - THRESHOLD) {
            let outcome = losing(&tcp, &lost);
            let is_repair = |(_, sequence): &&(Time, u64)| lost.contains(sequence);
            let repairs = outcome.retransmitted.iter().filter(is_repair);
            let times: Vec<Time> = repairs.take(lost.len()).map(|(time, _)| *time).collect();
            let rounds = (times[lost.len() - 1] - times[0]).picoseconds() / RTT.picoseconds();
            let allowed = if name == "sack" { 1 } else { u64::from(lost.len().ilog2()) };
            assert!(rounds <= allowed, "{name}, lost {lost:?}: {rounds} rounds, {times:?}");
        }
    }
}

/// RFC 6582 sec. 3.2 step 3: one retransmission per round trip. Only the first partial ACK restarts
/// the timer (the "impatient" variant, sec. 4), so ten holes can be filled within a timeout of 1 s.
#[test]
fn newreno_repairs_a_burst_of_losses_in_one_round_trip_per_packet() {
    let tcp = newreno();
    for lost in bursts(10) {
        let outcome = losing(&tcp, &lost);
        let case = format!("lost {lost:?}: {outcome:?}");
        assert_eq!((outcome.reductions, outcome.timeouts), (1, 0), "{case}");
        assert_eq!(outcome.retransmissions, lost.len() as u64, "{case}");
        for (pair, sequences) in outcome.retransmitted.windows(2).zip(lost.windows(2)) {
            assert_eq!((pair[0].1, pair[1].1), (sequences[0], sequences[1]), "{case}");
            assert_eq!(pair[1].0 - pair[0].0, RTT, "{case}");
        }
    }
}

#[test]
fn newreno_times_out_during_the_repair_of_a_long_burst() {
    let lost: Vec<u64> = (5..5 + 15).collect();
    let outcome = losing(&newreno(), &lost);
    assert_eq!((outcome.reductions, outcome.timeouts), (1, 1), "{outcome:?}");
}

/// Every burst, up to a whole window and at any position, is repaired (`losing` asserts it). If the
/// whole window is lost, only the timeout can repair it.
#[test]
fn a_burst_of_any_length_and_position_is_repaired() {
    for (name, tcp) in every_recovery() {
        for length in 1..=WINDOW {
            for first in 0..=PACKETS - length {
                let lost: Vec<u64> = (first..first + length).collect();
                let outcome = losing(&tcp, &lost);
                if length == WINDOW && first == 0 {
                    assert_eq!(outcome.timeouts, 1, "{name}: {outcome:?}");
                }
                if name != "newreno" && outcome.timeouts == 0 {
                    assert_minimal(name, &lost, &outcome);
                }
            }
        }
    }
}

/// Limited transmit (RFC 3042): even if all but one packet of the window are lost, the single
/// duplicate ACKs release enough new packets to cause three.
#[test]
fn one_delivered_packet_of_a_window_is_enough_for_a_fast_retransmit() {
    for (name, tcp) in every_recovery() {
        let lost: Vec<u64> = (0..WINDOW - 1).collect();
        let outcome = losing(&tcp, &lost);
        assert_eq!(outcome.reductions, 1, "{name}: {outcome:?}");
        if name != "newreno" {
            assert_eq!(outcome.timeouts, 0, "{name}: {outcome:?}");
        }
    }
}

/// Neither RFC 6582 nor RFC 6675 detects that a retransmission is lost. The timeout repairs it (RFC
/// 6675 sec. 5.1), and sacked data is not sent again.
#[test]
fn a_lost_retransmission_costs_a_timeout() {
    for (name, tcp) in every_recovery() {
        for lost in 0..PACKETS {
            let loses_data = |sequence: u64, nth: u32| nth < 2 && sequence == lost;
            let outcome = transfer(&tcp, PACKETS, &Script { loses_data: &loses_data, ..PERFECT });
            let case = format!("{name}, lost {lost}: {outcome:?}");
            assert!(outcome.is_complete, "{case}");
            let is_fast = lost + THRESHOLD < PACKETS;
            if name != "newreno" && is_fast && lost + REACH >= PACKETS {
                // The rescue repairs it if it is the highest packet that is not sacked.
                assert!(outcome.timeouts <= 1 && outcome.retransmissions <= 3, "{case}");
                continue;
            }
            assert_eq!(outcome.timeouts, if is_fast { 1 } else { 2 }, "{case}");
            assert_eq!(outcome.reductions, u64::from(is_fast), "{case}");
            // The repair lasts until the timeout, so the application runs out of data and a rescue
            // is due.
            let rescues = u64::from(name != "newreno" && is_fast);
            assert!((2..=2 + rescues).contains(&outcome.retransmissions), "{case}");
        }
    }
}

/// The timeout doubles each time (RFC 6298 sec. 5.5): 1 + 2 + 4 + 8 + 16 s for five losses.
#[test]
fn the_timeout_doubles_with_each_loss_of_a_retransmission() {
    for (name, tcp) in every_recovery() {
        let loses_data = |sequence: u64, nth: u32| nth < 5 && sequence == PACKETS - 1;
        let outcome = transfer(&tcp, PACKETS, &Script { loses_data: &loses_data, ..PERFECT });
        assert_eq!((outcome.timeouts, outcome.retransmissions), (5, 5), "{name}");
        let spans: Vec<u64> = outcome
            .retransmitted
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0).picoseconds() / 1_000_000_000_000)
            .collect();
        assert_eq!(spans, [2, 4, 8, 16], "{name}");
    }
}

/// A later cumulative ACK replaces a lost ACK. Only the last ACK has no successor, so the timeout
/// causes it to be sent again (RFC 6298 sec. 5.4).
#[test]
fn a_lost_ack_has_an_effect_only_if_it_is_the_last() {
    for (name, tcp) in every_recovery() {
        for lost in 0..PACKETS {
            let outcome =
                transfer(&tcp, PACKETS, &Script { loses_ack: &|nth| nth == lost, ..PERFECT });
            let expected = u64::from(lost == PACKETS - 1);
            assert!(outcome.is_complete, "{name}, ACK {lost}");
            assert_eq!(outcome.reductions, 0, "{name}, ACK {lost}: {outcome:?}");
            assert_eq!(
                (outcome.timeouts, outcome.retransmissions),
                (expected, expected),
                "{name}, ACK {lost}: {outcome:?}"
            );
        }
    }
}

#[test]
fn no_data_is_sent_twice_if_a_third_of_the_acks_is_lost() {
    for (name, tcp) in every_recovery() {
        for seed in 0..200 {
            let loses_ack = |nth: u64| nth + 1 != PACKETS && is_drawn(seed, nth, 0, 0.3);
            let outcome = transfer(&tcp, PACKETS, &Script { loses_ack: &loses_ack, ..PERFECT });
            assert!(outcome.is_complete, "{name}, seed {seed}");
            assert_eq!((outcome.retransmissions, outcome.timeouts), (0, 0), "{name}, seed {seed}");
        }
    }
}

/// No packet follows a lost tail, so no ACK reports it: a timeout, then each packet once. The
/// rescue of RFC 6675 sec. 4 (rule 4) requires a repair in progress.
#[test]
fn a_lost_tail_costs_one_timeout() {
    for (name, tcp) in every_recovery() {
        for length in 1..=5 {
            let lost: Vec<u64> = (PACKETS - length..PACKETS).collect();
            let outcome = losing(&tcp, &lost);
            let found = (outcome.reductions, outcome.timeouts, outcome.retransmissions);
            assert_eq!(found, (0, 1, length), "{name}, last {length}: {outcome:?}");
        }
    }
}

/// RFC 6675 sec. 4, `NextSeg` rule 4: during a repair the rescue repairs a lost tail of one packet
/// without a timeout.
#[test]
fn a_rescue_repairs_a_lost_tail_during_a_repair() {
    for (name, tcp) in with_sack() {
        let outcome = losing(&tcp, &[PACKETS - 10, PACKETS - 1]);
        let found = (outcome.reductions, outcome.timeouts, outcome.retransmissions);
        assert_eq!(found, (1, 0, 2), "{name}: {outcome:?}");
    }
}

/// RFC 6675 sec. 5, step 4.3: no rescue is sent before the first retransmission is acknowledged.
/// The third SACK begins the repair; the last packet is still in flight and is not sent again.
#[test]
fn a_rescue_waits_for_the_first_retransmission() {
    for (name, tcp) in with_sack() {
        let outcome = losing(&tcp, &[PACKETS - 5]);
        let found = (outcome.reductions, outcome.timeouts, outcome.retransmissions);
        assert_eq!(found, (1, 0, 1), "{name}: {outcome:?}");
    }
}

/// RFC 5681 sec. 3.2: a packet that fewer than three packets overtake is not considered lost; a
/// packet that more overtake is retransmitted unnecessarily. With SACK there is no further
/// retransmission. `NewReno` takes every ACK up to the recovery point for a partial ACK and answers
/// each with a packet (RFC 6582 sec. 3.2 step 3).
#[test]
fn reordering_below_the_threshold_causes_no_retransmission() {
    for (name, tcp) in every_recovery() {
        for by in 1..=10 {
            for packet in 0..PACKETS - by {
                let script = Script { overtaken: Some((packet, by)), ..PERFECT };
                let outcome = transfer(&tcp, PACKETS, &script);
                let case = format!("{name}, {packet} overtaken by {by}: {outcome:?}");
                assert!(outcome.is_complete, "{case}");
                let spurious = u64::from(by >= THRESHOLD);
                assert_eq!((outcome.reductions, outcome.timeouts), (spurious, 0), "{case}");
                let needless = match name {
                    "newreno" => WINDOW + 2,
                    _ if packet + REACH < PACKETS => 1,
                    _ => 2, // a rescue
                };
                let range = spurious..=spurious * needless;
                assert!(range.contains(&outcome.retransmissions), "{case}");
            }
        }
    }
}

/// RFC 6582 sec. 3.2 step 3: the partial ACK reveals the second loss, whichever control sets the
/// window. Three packets after the second loss do not repair it, because every ACK of them is a
/// duplicate of the partial ACK.
#[test]
fn under_a_rate_based_control_a_partial_ack_repairs_the_second_loss_of_a_window() {
    let mut names = Vec::new();
    for (name, congestion) in controls::all() {
        if congestion.is_rate_based() {
            let outcome = losing(&with!(newreno(), TcpSpec { congestion }), &[5, 7]);
            let sent_again: Vec<u64> =
                outcome.retransmitted.iter().map(|&(_, sequence)| sequence).collect();
            assert_eq!((outcome.timeouts, &*sent_again), (0, &[5, 7][..]), "{name}: {outcome:?}");
            names.push(name);
        }
    }
    assert!(names.len() >= 3, "{names:?}");
}

fn any_tcp() -> impl Strategy<Value = TcpSpec> {
    let recovery = random_transports::repair();
    let timeout = PositiveDuration::from_milliseconds(40);
    let delayed = prop::option::of(2_u32..5).prop_map(move |packets| {
        packets.map_or(DelayedAck::OFF, |packets| DelayedAck::Set { packets, timeout })
    });
    let slow_start = random_transports::slow_start(10);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    let windows = (1_u32..30, prop::option::of(2_u32..30), prop::option::of(1_u64..30));
    let host = (
        random_transports::bursts(),
        random_transports::beginning(),
        random_transports::acks(),
        random_transports::undo(),
    );
    (recovery, delayed, slow_start, switches, windows, host).prop_map(
        |((recovery, prr, counts), delayed_ack, slow_start, switches, windows, host)| {
            with!(
                tcp(recovery, prr),
                TcpSpec {
                    count_lost_in_pipe: counts,
                    delayed_ack,
                    slow_start,
                    pacing: switches.0,
                    forget_sack_at_timeout: switches.1,
                    rtt_samples: if switches.2 { RttSamples::Karn } else { RttSamples::Timestamps },
                    initial_window: windows.0,
                    initial_ssthresh: windows.1,
                    max_window: windows.2,
                    send_burst: host.0,
                    handshake: host.1.0,
                    initial_rto: host.1.1,
                    quick_acks: host.2.0,
                    sack_compression: host.2.1,
                    undo: host.3.0,
                    frto: host.3.1
                }
            )
        },
    )
}

proptest! {
    #![proptest_config(config(2_000))]

    /// A transfer completes under any losses in both directions, any delays and with any options.
    #[test]
    fn every_transfer_completes(
        tcp in any_tcp(),
        packets in 1_u64..300,
        seed in any::<u64>(),
        data_loss in prop::sample::select(vec![0.0, 0.01, 0.1, 0.4]),
        ack_loss in prop::sample::select(vec![0.0, 0.1, 0.4]),
        delayed in prop::sample::select(vec![0.0, 0.05, 0.5]),
        delay_ms in 1_u64..1_000,
    ) {
        let loses_data =
            |sequence: u64, nth: u32| is_drawn(seed, sequence, nth, data_loss);
        let loses_ack = |nth: u64| is_drawn(!seed, nth, 0, ack_loss);
        let delays = |sequence: u64, nth: u32| {
            let is_late = is_drawn(seed ^ 1, sequence, nth, delayed);
            if is_late { Time::from_milliseconds(delay_ms) } else { Time::ZERO }
        };
        let script =
            Script { loses_data: &loses_data, loses_ack: &loses_ack, delays: &delays, ..PERFECT };
        let outcome = transfer(&tcp, packets, &script);
        prop_assert!(outcome.is_complete, "{outcome:?}");
        prop_assert!(outcome.retransmissions >= outcome.lost, "{outcome:?}");
        // Each retransmission has a cause: a loss, a rescue, or a timeout, after which the sender
        // trusts no SACK; or a lost ACK with the only report of a range, since an ACK reports three
        // ranges.
        if tcp.recovery == Recovery::Sack
            && outcome.timeouts == 0
            && (ack_loss, delayed) == (0.0, 0.0)
        {
            let most = outcome.lost + outcome.reductions;
            prop_assert!(outcome.retransmissions <= most, "{outcome:?}");
        }
    }
}
