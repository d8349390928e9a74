//! The undo of recoveries that were not necessary (RFC 3522, RFC 3708, RFC 5682), over a path of
//! 100 ms that loses nothing unless a test says so. A stall is what a link does whose rate falls
//! for a while: packets arrive late, all of them and in order.

use std::cell::Cell;

use proptest::prelude::*;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::tcp::sender::rtt::RttSamples;
use tailroom_engine::tcp::sender::slow_start::SlowStartSpec;
use tailroom_engine::units::Time;

use crate::support::controls;
use crate::support::path::{Acked, Outcome, PERFECT, Script, WINDOW, is_drawn, tcp, transfer};
use crate::support::random_cases::config;

const PACKETS: u64 = 400;

fn ms(milliseconds: u64) -> Time {
    Time::from_milliseconds(milliseconds)
}

/// A sender that takes reductions back. Its timer takes at least a second.
fn undoing(recovery: Recovery, prr: bool) -> TcpSpec {
    with!(tcp(recovery, prr), TcpSpec { undo: true })
}

/// A sender that has F-RTO alone: neither timestamps nor reports of duplicates.
fn with_frto() -> TcpSpec {
    let undoing = undoing(Recovery::Sack, false);
    with!(undoing, TcpSpec { frto: true, rtt_samples: RttSamples::Karn })
}

fn kinds() -> [(&'static str, TcpSpec); 6] {
    let frto = |recovery| with!(undoing(recovery, true), TcpSpec { frto: true });
    [
        ("newreno", undoing(Recovery::NewReno, false)),
        ("sack", undoing(Recovery::Sack, false)),
        ("sack with PRR", undoing(Recovery::Sack, true)),
        ("rack", undoing(Recovery::Rack, true)),
        ("sack with F-RTO", frto(Recovery::Sack)),
        ("rack with F-RTO", frto(Recovery::Rack)),
    ]
}

fn stalled(tcp: &TcpSpec, from: Time, to: Time) -> Outcome {
    let outcome = transfer(tcp, PACKETS, &Script { stall: Some((from, to)), ..PERFECT });
    assert!(outcome.is_complete && outcome.lost == 0, "{outcome:?}");
    outcome
}

/// The sender after the last ACK before a stall, and after the first that the sender gets
/// thereafter.
fn around(outcome: &Outcome, from: Time) -> (Acked, Acked) {
    let next = outcome.acks.partition_point(|ack| ack.at < from + ms(50));
    (outcome.acks[next - 1], outcome.acks[next])
}

proptest! {
    #![proptest_config(config(500))]

    /// A delay that outlasts the timer, once or several times, changes neither window nor ssthresh,
    /// and only the first packet is sent again, as often as the timer expires. A probe sends new
    /// data.
    #[test]
    fn a_stall_without_loss_leaves_the_window_as_it_was(
        kind in 0_usize..6,
        from in 350_u64..1_000,
        length in 1_300_u64..9_000,
    ) {
        let (name, tcp) = &kinds()[kind];
        let (from, to) = (ms(from), ms(from + length));
        let outcome = stalled(tcp, from, to);
        prop_assert!(outcome.timeouts > 0, "{name}: {outcome:?}");
        prop_assert_eq!(outcome.undone, 1, "{}: {:?}", name, outcome);
        let (before, after) = around(&outcome, from);
        let growth = after.cwnd - before.cwnd;
        prop_assert!((0.0..1.0).contains(&growth), "{name}: {before:?}, {after:?}");
        let change = (after.ssthresh - before.ssthresh).abs();
        prop_assert!(change < 1e-9, "{name}: {before:?}, {after:?}");
        let first = outcome.retransmitted[0].1;
        let others = outcome.retransmitted.iter().filter(|&&(_, sequence)| sequence != first);
        prop_assert_eq!(others.count(), 0, "{}: {:?}", name, outcome);
        prop_assert_eq!(outcome.retransmissions, outcome.timeouts);
    }

    /// Where no packet is late, nothing is taken back, whatever is lost.
    #[test]
    fn losses_are_never_taken_for_delays(
        kind in 0_usize..6,
        karn in any::<bool>(),
        seed in any::<u64>(),
        loss in prop::sample::select(vec![0.01, 0.1, 0.4, 0.7]),
    ) {
        let (name, tcp) = &kinds()[kind];
        let rtt_samples = if karn { RttSamples::Karn } else { RttSamples::Timestamps };
        let tcp = with!(tcp.clone(), TcpSpec { rtt_samples });
        let loses_data = |sequence: u64, nth: u32| is_drawn(seed, sequence, nth, loss);
        let outcome = transfer(&tcp, PACKETS, &Script { loses_data: &loses_data, ..PERFECT });
        prop_assert!(outcome.is_complete, "{name}: {outcome:?}");
        prop_assert_eq!(outcome.undone, 0, "{}: {:?}", name, outcome);
    }
}

/// The same stall without undo: the window falls, and a window of packets is sent again.
#[test]
fn without_undo_a_stall_costs_the_window() {
    let outcome = stalled(&tcp(Recovery::Sack, false), ms(500), ms(2_500));
    let (before, after) = around(&outcome, ms(500));
    assert!(after.cwnd < 0.2 * before.cwnd && after.ssthresh < 0.6 * before.cwnd, "{after:?}");
    assert!(outcome.retransmissions > WINDOW / 2 && outcome.undone == 0, "{outcome:?}");
}

#[test]
fn every_control_sends_on_after_a_stall() {
    for (name, congestion) in controls::all() {
        let ecn =
            if congestion.parameters().needs_marks() { EcnMode::Accurate } else { EcnMode::Off };
        let max_window = Some(2 * WINDOW);
        let undoing = undoing(Recovery::Rack, true);
        let tcp = with!(undoing, TcpSpec { congestion, ecn, frto: true, max_window });
        let outcome = stalled(&tcp, ms(400), ms(3_400));
        let again: Vec<u64> = outcome.retransmitted.iter().map(|&(_, sequence)| sequence).collect();
        let is_first = again.iter().all(|&sequence| sequence == again[0]);
        assert!(outcome.timeouts > 0 && is_first, "{name}: {outcome:?}");
        assert_eq!(outcome.undone, 1, "{name}: {outcome:?}");
    }
}

/// HyStart++ belongs to the first slow start (RFC 9406 sec. 4.3), which the stall does not end: the
/// window reaches what it would without a stall, and no threshold.
#[test]
fn a_stall_does_not_end_the_first_slow_start() {
    let slow_start = SlowStartSpec::HystartPlusPlus;
    let spec = undoing(Recovery::Rack, true);
    let spec = with!(spec, TcpSpec { slow_start, initial_window: 4, initial_ssthresh: None });
    let outcome = stalled(&spec, ms(160), ms(2_160));
    let (before, after) = around(&outcome, ms(160));
    assert!(before.ssthresh.is_infinite() && after.ssthresh.is_infinite(), "{after:?}");
    assert!(after.cwnd > before.cwnd, "{after:?}");
}

/// RFC 5682 sec. 3.1, a spurious timeout: packet 20 is sent again (step 1), its ACK lets two new
/// packets leave (step 2b), and the ACK of the next one, which was not sent again, ends the
/// recovery (step 3b).
#[test]
fn f_rto_sends_new_data_after_the_first_ack_and_undoes_at_the_second() {
    let outcome = stalled(&with_frto(), ms(140), ms(2_000));
    let [(_, first)] = outcome.retransmitted[..] else { panic!("{outcome:?}") };
    let at = |packet: u64| outcome.packets.iter().filter(move |sent| sent.sequence == packet);
    let again = outcome.packets.iter().position(|sent| sent.is_retransmission).expect("one is");
    let next: Vec<u64> =
        outcome.packets[again + 1..][..2].iter().map(|sent| sent.sequence).collect();
    let highest = outcome.packets[..again].iter().map(|sent| sent.sequence).max().expect("some");
    assert_eq!(next, [highest + 1, highest + 2]);
    assert_eq!((at(first).count(), at(first + 1).count()), (2, 1));
    assert_eq!((outcome.undone, outcome.timeouts), (1, 1));
}

/// RFC 5682 sec. 3.1, a timeout for lost packets: new data arrive behind the gap and are sacked
/// (step 3a), so what was lost is sent again.
#[test]
fn f_rto_goes_on_with_retransmissions_if_packets_were_lost() {
    let is_over = Cell::new(false);
    let loses_data = |sequence: u64, nth: u32| {
        is_over.set(is_over.get() || nth > 0);
        sequence >= 40 && !is_over.get()
    };
    let outcome = transfer(&with_frto(), PACKETS, &Script { loses_data: &loses_data, ..PERFECT });
    assert!(outcome.is_complete && outcome.undone == 0, "{outcome:?}");
    assert_eq!((outcome.timeouts, outcome.retransmissions), (1, outcome.lost));
    let again = outcome.packets.iter().position(|sent| sent.is_retransmission).expect("one is");
    let next: Vec<bool> =
        outcome.packets[again + 1..][..3].iter().map(|sent| sent.is_retransmission).collect();
    assert_eq!(next, [false, false, true], "two new packets, then the lost ones");
}

/// RFC 5682 sec. 3.1, step 2a: without new data the lost packets are sent again at once.
#[test]
fn f_rto_without_new_data_sends_the_lost_packets_again() {
    let loses_data = |sequence: u64, nth: u32| nth == 0 && sequence >= 30;
    let outcome = transfer(&with_frto(), 40, &Script { loses_data: &loses_data, ..PERFECT });
    assert!(outcome.is_complete, "{outcome:?}");
    assert_eq!((outcome.timeouts, outcome.retransmissions, outcome.undone), (1, 10, 0));
}

/// RFC 3522 sec. 3: five packets overtake packet 45. Three duplicates let the sender halve its
/// window and send packet 45 again; the ACK of the first transmission echoes an older timestamp.
#[test]
fn the_timestamp_of_an_overtaken_packet_undoes_a_fast_recovery() {
    for (name, tcp) in &kinds()[..4] {
        let outcome = transfer(tcp, PACKETS, &Script { overtaken: Some((45, 5)), ..PERFECT });
        assert_eq!((outcome.reductions, outcome.undone), (1, 1), "{name}: {outcome:?}");
        assert_eq!(outcome.retransmitted.len(), 1, "{name}: {outcome:?}");
        let least = outcome.acks[60..].iter().map(|ack| ack.ssthresh).fold(f64::INFINITY, f64::min);
        assert!(outcome.acks[60].cwnd >= 20.0 && least >= 20.0, "{name}: {least} {outcome:?}");
    }
}

/// RFC 3708: the same without timestamps. The recovery ends with the halved window; a round trip
/// later the receiver reports the duplicate, and the window returns.
#[test]
fn the_report_of_a_duplicate_undoes_a_fast_recovery_later() {
    let tcp = with!(undoing(Recovery::Rack, true), TcpSpec { rtt_samples: RttSamples::Karn });
    let outcome = transfer(&tcp, PACKETS, &Script { overtaken: Some((45, 5)), ..PERFECT });
    assert_eq!((outcome.reductions, outcome.undone), (1, 1), "{outcome:?}");
    let halved = outcome.acks.iter().position(|ack| ack.ssthresh < 15.0).expect("it was halved");
    let restored = outcome.acks[halved..].iter().position(|ack| ack.ssthresh >= 20.0);
    let restored = outcome.acks[halved + restored.expect("it returned")];
    let wait = restored.at.since(outcome.acks[halved].at);
    assert!(wait <= ms(100) && restored.cwnd >= 20.0, "{wait:?} {restored:?}");
}

/// Without timestamps and reports nothing shows that the recovery was spurious.
#[test]
fn the_halved_window_stays_without_evidence() {
    let karn = RttSamples::Karn;
    let tcp = with!(undoing(Recovery::Sack, true), TcpSpec { rtt_samples: karn, frto: true });
    let outcome = transfer(&tcp, PACKETS, &Script { overtaken: Some((45, 5)), ..PERFECT });
    assert_eq!((outcome.reductions, outcome.undone), (1, 0), "{outcome:?}");
}

/// A mark in the stalled packets shows congestion (Linux: `prior_ssthresh` of 0): the recovery
/// ends, since nothing is lost, but the window stays reduced.
#[test]
fn a_mark_forbids_that_the_window_returns() {
    let marks = |sequence: u64, _: u32| sequence >= 60;
    let spec = with!(undoing(Recovery::Sack, false), TcpSpec { ecn: EcnMode::Classic });
    let script = Script { marks: &marks, stall: Some((ms(340), ms(2_340))), ..PERFECT };
    let outcome = transfer(&spec, 100, &script);
    let (before, after) = around(&outcome, ms(340));
    assert!(outcome.undone == 1 && after.ece, "{outcome:?}");
    assert!(after.cwnd < 0.6 * before.cwnd && after.ssthresh < 0.6 * before.cwnd, "{after:?}");
    assert_eq!(outcome.retransmitted.len(), 1, "{outcome:?}");
}

/// Linux `tcp_try_undo_spurious_syn`: the first packet of the handshake leaves at 0, 1 and 3 s, and the
/// answer to the first of the three comes at 4 s. Without timestamps the sender does not know which
/// was answered, and begins with a window of one packet.
#[test]
fn a_late_answer_to_the_first_packet_leaves_the_initial_window() {
    let (karn, timestamps) = (RttSamples::Karn, RttSamples::Timestamps);
    for (undo, rtt_samples, window) in
        [(true, timestamps, WINDOW), (true, karn, 1), (false, timestamps, 1)]
    {
        let handshake = Handshake::BY_FLOW;
        let tcp = with!(undoing(Recovery::Rack, true), TcpSpec { undo, rtt_samples, handshake });
        let outcome = stalled(&tcp, ms(0), ms(4_000));
        let leaving: Vec<Time> = outcome.packets[..4].iter().map(|packet| packet.sent).collect();
        assert_eq!(leaving, [ms(0), ms(1_000), ms(3_000), ms(4_050)]);
        let begun = outcome.packets.iter().filter(|packet| packet.sent == ms(4_050)).count();
        assert_eq!(begun as u64, window, "{undo} {rtt_samples:?}");
    }
}
