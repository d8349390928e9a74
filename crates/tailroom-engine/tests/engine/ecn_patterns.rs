//! ECN end to end by hand: chosen packets of a transfer are marked or lost, and sender and receiver
//! must react as RFC 3168 requires.
//!
//! A transfer has 80 packets and starts with a window of 20 in congestion avoidance: packets 0 to
//! 19 leave together. The RTT is 100 ms and the timeout at least 1 s.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::dctcp::DctcpParams;
use tailroom_engine::congestion::prague::PragueParams;
use tailroom_engine::congestion::reno::RenoParams;
use tailroom_engine::packet::{Ecn, Packet};
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::units::Time;

use crate::support::path;
use crate::support::path::{Acked, Outcome, PERFECT, RTT, Script, WINDOW, transfer};

const PACKETS: u64 = 80;

fn tcp(ecn: EcnMode, recovery: Recovery, prr: bool) -> TcpSpec {
    with!(path::tcp(recovery, prr), TcpSpec { ecn })
}

fn classic() -> TcpSpec {
    tcp(EcnMode::Classic, Recovery::Sack, false)
}

/// Every kind of loss recovery, with the ECN of RFC 3168.
fn every_recovery() -> [(&'static str, TcpSpec); 3] {
    path::every_recovery().map(|(name, tcp)| (name, with!(tcp, TcpSpec { ecn: EcnMode::Classic })))
}

/// A transfer in which the first transmissions of some packets are marked or lost.
fn with(tcp: &TcpSpec, marked: &[u64], lost: &[u64]) -> Outcome {
    let marks = |sequence: u64, nth: u32| nth == 0 && marked.contains(&sequence);
    let loses_data = |sequence: u64, nth: u32| nth == 0 && lost.contains(&sequence);
    let script = Script { marks: &marks, loses_data: &loses_data, ..PERFECT };
    let outcome = transfer(tcp, PACKETS, &script);
    assert!(outcome.is_complete, "marked {marked:?}, lost {lost:?}");
    assert_codepoints(tcp, &outcome);
    // The check does not apply to accurate ECN, which has counters instead of the echo; to PRR,
    // which sets the window by the data in flight; and after a timeout, when the window must grow,
    // or every retransmission would take a round trip.
    if tcp.ecn == EcnMode::Classic && !tcp.prr && outcome.timeouts == 0 {
        assert_no_growth_under_echo(&outcome);
    }
    outcome
}

/// RFC 3168 sec. 6.1.5: new data is ECN-capable; retransmissions are not without accurate feedback,
/// and have no CWR.
fn assert_codepoints(tcp: &TcpSpec, outcome: &Outcome) {
    for packet in &outcome.packets {
        let is_capable = !packet.is_retransmission || tcp.ecn.is_accurate();
        let codepoint = if is_capable { tcp.ecn.codepoint() } else { Ecn::NotEct };
        assert_eq!(packet.ecn, codepoint, "{packet:?}");
        assert!(!(packet.is_retransmission && packet.is_cwr), "{packet:?}");
    }
}

/// RFC 3168 sec. 6.1.2: an ACK with the echo does not let the window grow. Fast recovery may set it
/// to ssthresh, which is not growth.
fn assert_no_growth_under_echo(outcome: &Outcome) {
    for pair in outcome.acks.windows(2) {
        let grows = pair[1].cwnd > pair[0].cwnd && pair[1].cwnd > pair[1].ssthresh;
        assert!(!(pair[1].ece && grows), "{pair:?}");
    }
}

fn cwr_packets(outcome: &Outcome) -> Vec<u64> {
    let has_cwr = |packet: &&Packet| packet.is_cwr;
    outcome.packets.iter().filter(has_cwr).map(|packet| packet.sequence).collect()
}

#[test]
fn without_marks_there_is_no_echo_reduction_or_cwr() {
    for mode in [EcnMode::Off, EcnMode::Classic, EcnMode::Accurate, EcnMode::L4s] {
        let outcome = with(&tcp(mode, Recovery::Sack, false), &[], &[]);
        assert_eq!((outcome.reductions, outcome.timeouts), (0, 0), "{mode:?}");
        assert!(outcome.acks.iter().all(|ack| !ack.ece), "{mode:?}");
        assert!(cwr_packets(&outcome).is_empty(), "{mode:?}");
    }
}

/// The packets of a transport without ECN cannot be marked.
#[test]
fn packets_without_ecn_are_not_marked() {
    let all: Vec<u64> = (0..PACKETS).collect();
    let outcome = with(&tcp(EcnMode::Off, Recovery::Sack, false), &all, &[]);
    assert_eq!((outcome.reductions, outcome.timeouts), (0, 0));
}

/// RFC 3168 sec. 6.1.2: any marks in one window of data cause one reduction and one packet with
/// CWR.
#[test]
fn the_marks_of_one_window_cause_one_reduction() {
    let delayed = DelayedAck::Switch(true);
    for (name, tcp) in every_recovery() {
        for delayed_ack in [DelayedAck::OFF, delayed] {
            let tcp = with!(tcp.clone(), TcpSpec { delayed_ack });
            for first in 0..WINDOW {
                for last in first..WINDOW {
                    let marked: Vec<u64> = (first..=last).collect();
                    let outcome = with(&tcp, &marked, &[]);
                    let case = format!("{name}, {delayed_ack:?}, marked {first} to {last}");
                    let counts = (outcome.reductions, outcome.timeouts, outcome.retransmissions);
                    assert_eq!(counts, (1, 0, 0), "{case}");
                    assert_eq!(cwr_packets(&outcome).len(), 1, "{case}");
                }
            }
        }
    }
}

#[test]
fn the_marks_of_one_window_cause_one_reduction_with_accurate_feedback() {
    for mode in [EcnMode::Accurate, EcnMode::L4s] {
        let tcp = tcp(mode, Recovery::Sack, false);
        for first in 0..WINDOW {
            for last in first..WINDOW {
                let marked: Vec<u64> = (first..=last).collect();
                let outcome = with(&tcp, &marked, &[]);
                let case = format!("{mode:?}, marked {first} to {last}");
                assert_eq!((outcome.reductions, outcome.timeouts), (1, 0), "{case}");
                assert!(cwr_packets(&outcome).is_empty(), "{case}");
            }
        }
    }
}

/// The first packet is marked, and its ACK halves the window to 10 while 19 packets are in flight.
/// The ACKs of packets 1 to 10 reduce these to 9, and packet 20 leaves with CWR; with PRR it leaves at
/// the first ACK. Exactly the ACKs of packets 0 to 19 have the echo.
#[test]
fn cwr_is_sent_once_and_stops_the_echo() {
    for (name, tcp) in every_recovery() {
        let outcome = with(&tcp, &[0], &[]);
        assert!(outcome.packets[..20].iter().all(|packet| packet.sent == Time::ZERO));
        assert_eq!((outcome.packets[20].sequence, outcome.packets[20].sent), (20, RTT));
        assert_eq!(cwr_packets(&outcome), [20], "{name}");
        let echoes: Vec<bool> = outcome.acks.iter().map(|ack| ack.ece).collect();
        let expected: Vec<bool> = (0..PACKETS).map(|packet| packet < 20).collect();
        assert_eq!(echoes, expected, "{name}");
        let state = |ack: &Acked| (ack.ssthresh, tcp.prr || ack.cwnd <= 10.0);
        assert!(outcome.acks[..20].iter().all(|ack| state(ack) == (10.0, true)), "{name}");
        // Packet 20 is the first to let the window grow again: by 1 / 10.
        assert!((outcome.acks[20].cwnd - 10.1).abs() < 1e-12, "{name}");
    }
}

/// The packet with CWR was sent after the reduction, so its mark belongs to a new window of data.
#[test]
fn marks_of_two_windows_cause_two_reductions() {
    for mode in [EcnMode::Classic, EcnMode::Accurate, EcnMode::L4s] {
        let outcome = with(&tcp(mode, Recovery::Sack, false), &[0, 20], &[]);
        assert_eq!((outcome.reductions, outcome.timeouts), (2, 0), "{mode:?}");
    }
    // Packet 25 is sent before the reduction, though a round trip after packet 10: the same window.
    let outcome = with(&classic(), &[10, 25], &[]);
    assert_eq!((outcome.reductions, cwr_packets(&outcome).len()), (1, 1));
}

/// RFC 3168 sec. 6.1.2: if the packet with CWR is lost, its repair causes another reduction, and
/// another new packet has CWR. The echo continues until that packet arrives.
#[test]
fn a_lost_cwr_packet_repeats_the_echo_until_the_next_one() {
    for (name, tcp) in every_recovery() {
        let outcome = with(&tcp, &[0], &[20]);
        let counts = (outcome.reductions, outcome.timeouts, outcome.retransmissions);
        assert_eq!(counts, (2, 0, 1), "{name}");
        let cwr = cwr_packets(&outcome);
        assert!(cwr.len() == 2 && cwr[0] == 20 && cwr[1] > 20, "{name}: {cwr:?}");
        let echoes = outcome.acks.iter().filter(|ack| ack.ece).count();
        assert!(echoes > 20, "{name}: {echoes}");
        let last = outcome.acks.iter().rposition(|ack| ack.ece).unwrap_or_default();
        assert!(outcome.acks[..=last].iter().all(|ack| ack.ece), "{name}: the echo is interrupted");
        assert!(last + 1 < outcome.acks.len(), "{name}: the echo does not end");
    }
}

/// RFC 3168 sec. 6.1.2: dropped and marked packets in one window are one congestion event.
#[test]
fn a_loss_and_a_mark_in_one_window_cause_one_reduction() {
    for (name, tcp) in every_recovery() {
        for lost in 0..WINDOW - 3 {
            for marked in (0..WINDOW).filter(|&marked| marked != lost) {
                let outcome = with(&tcp, &[marked], &[lost]);
                let case = format!("{name}, lost {lost}, marked {marked}");
                let counts = (outcome.reductions, outcome.timeouts, outcome.retransmissions);
                assert_eq!(counts, (1, 0, 1), "{case}");
                assert_eq!(cwr_packets(&outcome).len(), 1, "{case}");
                let last = outcome.acks.last().expect("the transfer has ACKs");
                assert!(!last.ece && last.ssthresh >= 10.0, "{case}: {last:?}");
            }
        }
    }
}

/// RFC 8511 sec. 3.1: 0.8 of the window on a mark, half on a loss.
#[test]
fn abe_reduces_the_window_less_on_a_mark_than_on_a_loss() {
    for (abe, on_mark) in [(false, 10.0), (true, 16.0)] {
        let congestion = CongestionConfig::Reno(with!(RenoParams::default(), RenoParams { abe }));
        let tcp = with!(classic(), TcpSpec { congestion });
        let outcome = with(&tcp, &[0], &[]);
        assert_eq!((outcome.acks[0].cwnd, outcome.acks[0].ssthresh), (on_mark, on_mark));
        let outcome = with(&tcp, &[], &[0]);
        let reduced = outcome.acks.iter().find(|ack| ack.ssthresh < 20.0).expect("a reduction");
        assert!((reduced.ssthresh - 10.0).abs() < 1e-12);
    }
}

/// The window doubles from 4 to 8 and grows by 6 on the ACKs of packets 4 to 9. The echo of packet
/// 10 halves 14, also with ABE (RFC 8511 sec. 4). From then on the window grows by 1 / window.
#[test]
fn a_mark_ends_slow_start() {
    let modes = [EcnMode::Classic, EcnMode::Accurate];
    for (mode, abe) in modes.into_iter().flat_map(|mode| [(mode, false), (mode, true)]) {
        let tcp = with!(
            tcp(mode, Recovery::Sack, false),
            TcpSpec {
                congestion: CongestionConfig::Reno(with!(
                    RenoParams::default(),
                    RenoParams { abe }
                )),
                initial_window: 4,
                initial_ssthresh: None
            }
        );
        let outcome = with(&tcp, &[10], &[]);
        assert_eq!((outcome.acks[9].cwnd, outcome.acks[9].ssthresh), (14.0, f64::INFINITY));
        assert_eq!((outcome.acks[10].cwnd, outcome.acks[10].ssthresh), (7.0, 7.0), "{mode:?}");
        let next =
            outcome.acks[11..].iter().find(|ack| ack.cwnd > 7.0).expect("the window grows again");
        assert!((next.cwnd - (7.0 + 1.0 / 7.0)).abs() < 1e-12, "{mode:?}: {next:?}");
    }
}

/// The window after the reduction is lost, including CWR. The timeout is another reduction, and the
/// first new packet after it has CWR (RFC 3168 sec. 6.1.2), which ends the echo.
#[test]
fn the_first_new_packet_after_a_timeout_has_cwr() {
    let window: Vec<u64> = (20..30).collect();
    for (name, tcp) in every_recovery() {
        let outcome = with(&tcp, &[0], &window);
        assert_eq!((outcome.reductions, outcome.timeouts), (1, 1), "{name}");
        assert_eq!(cwr_packets(&outcome), [20, 30], "{name}");
        let last = outcome.acks.iter().rposition(|ack| ack.ece).expect("some ACKs have the echo");
        assert!(last + 1 < outcome.acks.len(), "{name}: the echo does not end");
    }
}

/// A lost ACK loses no mark: the echo is repeated, and the counter includes every mark.
#[test]
fn a_mark_survives_the_loss_of_its_ack() {
    for mode in [EcnMode::Classic, EcnMode::Accurate, EcnMode::L4s] {
        for marked in 0..WINDOW - 1 {
            let marks = |sequence: u64, nth: u32| nth == 0 && sequence == marked;
            let script = Script { marks: &marks, loses_ack: &|nth| nth == marked, ..PERFECT };
            let outcome = transfer(&tcp(mode, Recovery::Sack, false), PACKETS, &script);
            assert!(outcome.is_complete);
            assert_eq!((outcome.reductions, outcome.timeouts), (1, 0), "{mode:?}, {marked}");
        }
    }
}

/// A mark reduces the window of a scalable control only a little, so it does not replace the
/// reduction for a loss (RFC 8257 sec. 3.5). Packet 0 is marked and packet 10 lost; nine packets
/// between them let the window grow. DCTCP: alpha is 1/16 after the first ACK, which leaves 31/32
/// of 20 packets, 19.375; the window grows to 19.83, and half of that is 9.92. Prague with an alpha
/// of 0.2: 18, then 18.49, of which 0.5 / 0.9 remain, 10.27: half of the window before both.
#[test]
fn scalable_controls_also_reduce_for_a_loss_after_a_mark() {
    let dctcp = with!(DctcpParams::default(), DctcpParams { initial_alpha: 0.0 });
    let prague = with!(PragueParams::default(), PragueParams { initial_alpha: 0.2 });
    let reno = CongestionConfig::Reno(RenoParams::default());
    for (congestion, reductions, ssthresh) in [
        (CongestionConfig::Dctcp(dctcp), 2, 9.917),
        (CongestionConfig::Prague(prague), 2, 10.274),
        (reno, 1, 10.0),
    ] {
        let name = congestion.name().to_owned();
        let tcp = with!(tcp(EcnMode::Accurate, Recovery::Sack, false), TcpSpec { congestion });
        let outcome = with(&tcp, &[0], &[10]);
        assert_eq!((outcome.reductions, outcome.timeouts), (reductions, 0), "{name}");
        let last = outcome.acks.last().expect("there are ACKs").ssthresh;
        assert!((last - ssthresh).abs() < 0.005, "{name}: {last}");
    }
}
