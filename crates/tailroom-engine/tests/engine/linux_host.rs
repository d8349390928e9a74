//! What a Linux host does in addition to its congestion control: the beginning of a connection, its
//! ACKs, and the use of its window. The path takes 100 ms there and back.

use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::units::Time;

use crate::support::case::case;
use crate::support::controls;
use crate::support::path::{PERFECT, Script, tcp, transfer};

fn ms(milliseconds: u64) -> Time {
    Time::from_milliseconds(milliseconds)
}

fn opened(handshake: Handshake) -> TcpSpec {
    let min_rto = PositiveDuration::from_milliseconds(200);
    with!(tcp(Recovery::Sack, true), TcpSpec { handshake, min_rto })
}

#[test]
fn a_handshake_takes_a_round_trip() {
    for (handshake, end) in
        [(Handshake::NONE, 100), (Handshake::BY_FLOW, 200), (Handshake::DONE, 100)]
    {
        let outcome = transfer(&opened(handshake), 10, &PERFECT);
        assert_eq!(outcome.finished_at, ms(end), "{handshake:?}");
    }
}

/// The first of three packets is lost. The timer takes 1 s without an RTT sample, and with one of 100 ms
/// 100 + 4 * 50 ms (RFC 6298 sec. 2.2).
#[test]
fn the_first_timeout_follows_from_the_rtt_of_the_handshake() {
    let loses_data = |sequence: u64, nth: u32| (sequence, nth) == (0, 0);
    let script = Script { loses_data: &loses_data, ..PERFECT };
    for (handshake, time) in
        [(Handshake::NONE, 1_000), (Handshake::BY_FLOW, 400), (Handshake::DONE, 300)]
    {
        let outcome = transfer(&opened(handshake), 3, &script);
        assert_eq!(outcome.retransmitted, [(ms(time), 0)], "{handshake:?}");
    }
    let slow = PositiveDuration::from_milliseconds(3_000);
    let outcome =
        transfer(&with!(opened(Handshake::NONE), TcpSpec { initial_rto: Some(slow) }), 3, &script);
    assert_eq!(outcome.retransmitted, [(ms(3_000), 0)]);
}

/// Of 20 packets in one window the first 16 are acknowledged one by one.
#[test]
fn quick_acks_are_not_delayed() {
    for (quick_acks, acks) in [(0, 10), (16, 18)] {
        let delayed_ack = DelayedAck::Switch(true);
        let spec = with!(tcp(Recovery::Sack, true), TcpSpec { delayed_ack, quick_acks });
        assert_eq!(transfer(&spec, 20, &PERFECT).acks.len(), acks);
    }
}

/// Packet 0 of 20 that arrive at once is lost: three packets are acknowledged at once, and the other 16 by
/// one ACK, 1 ms later. The retransmission is acknowledged too.
#[test]
fn the_acks_of_packets_behind_a_gap_are_sent_as_one() {
    let loses_data = |sequence: u64, nth: u32| (sequence, nth) == (0, 0);
    let script = Script { loses_data: &loses_data, ..PERFECT };
    for (sack_compression, acks) in [(false, 20), (true, 5)] {
        let spec = with!(tcp(Recovery::Rack, true), TcpSpec { sack_compression });
        let outcome = transfer(&spec, 20, &script);
        assert_eq!((outcome.acks.len(), outcome.retransmissions), (acks, 1));
    }
}

/// Requests of 60 kB, 60 per second: 101 packets per round trip of 40 ms, with peaks of some hundred.
/// Before, a paced window grew to 12,373 packets in 600 s (RFC 9438 sec. 5.8 forbids it). A window that
/// such a peak has filled may double in the round trip, and Hybla's slow start triples it.
#[test]
fn a_window_that_the_application_does_not_use_stays_small_under_every_law() {
    for (name, config) in controls::all() {
        if config.is_rate_based() || config.parameters().needs_marks() || name == "fixed_window" {
            continue;
        }
        for (pacing, validation) in [(true, false), (false, false), (true, true)] {
            let objects = "source = { kind = 'objects', arrivals_per_second = 60, size = '60 kB' }";
            let window = format!("pacing = {pacing}, window_validation = {validation}");
            let host = "rtt = '40 ms', slow_start_after_idle = false";
            let run = case("30 s from 20 s")
                .link("link", "1 Gbit/s, 10 ms, 1 bdp")
                .flows(
                    "flow",
                    "link",
                    format!("congestion = '{name}', {host}, {window}, {objects}"),
                )
                .run();
            let window = run.get("flows.0.cwnd_packets_mean");
            let most = if name == "hybla" { 900.0 * 3.0 / 2.0 } else { 900.0 };
            assert!(window < most, "{name}, paced {pacing}: {window}");
        }
    }
}

/// A window of 200 packets holds a queue of 220 ms on a path of 20 ms, so that the probe of a sender that knows
/// an empty path leaves after 40 ms. Nothing is lost: a connection in use, which knows the queue, sends no
/// packet twice. Only the first requests, before which nobody has measured the queue, may.
#[test]
fn a_connection_in_use_knows_what_waits() {
    let fixed = "congestion = { kind = 'fixed_window', window = 200.0 }, rtt = '20 ms'";
    let source = "source = { kind = 'finite_flows', size = '10 kB', period = '1 s' }";
    let reno = "congestion = 'reno', rtt = '20 ms', handshake = 'done'";
    case("30 s from 1500 ms")
        .link("link", "10 Mbit/s, 5 ms, 1000 packets")
        .flows("long", "link", fixed)
        .flows("requests", "link", format!("{reno}, {source}"))
        .run()
        .expect("groups.requests.flows", 28)
        .expect("groups.requests.retransmissions", 0);
}
