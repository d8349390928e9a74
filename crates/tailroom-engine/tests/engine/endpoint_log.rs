//! The packets at the ends of flows: a case in closed form, and the arrivals at the links between them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::results::{Packets, Results, Tables};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;

use crate::support::case::{Case, case};
use crate::support::refusals::assert_refused;

const SENDER: u32 = 0;
const RECEIVER: u32 = 1;
const ACK: u8 = 2;
const MARKED: u8 = 1;

/// The end of a row; `None` at one of the links, of which there are so many.
fn end_of(log: &Packets, links: u32, row: usize) -> Option<u32> {
    Some(log.link[row].checked_sub(links)? % 2)
}

/// The rows of an end, of data or of ACKs.
fn rows_of(log: &Packets, links: u32, end: u32, are_acks: bool) -> impl Iterator<Item = usize> {
    (0..log.link.len()).filter(move |&row| {
        end_of(log, links, row) == Some(end) && (log.content[row] == ACK) == are_acks
    })
}

fn picoseconds(time_s: f64) -> u64 {
    (time_s * 1e12).round() as u64
}

/// Time in picoseconds and sequence.
fn rows(log: &Packets, end: u32, are_acks: bool) -> Vec<(u64, u64)> {
    rows_of(log, 1, end, are_acks)
        .map(|at| (picoseconds(log.time_s[at]), log.sequence[at]))
        .collect()
}

/// A window of one packet of 1,000 B on a path of 8 Mbit/s, 2 ms and 20 ms in all: a quarter of the 16 ms
/// beyond the link's there and back is before the link, and a quarter behind it. A packet takes 1 ms.
#[test]
fn one_packet_at_a_time_passes_the_ends_at_the_times_of_the_closed_form() {
    let window = "congestion = { kind = 'fixed_window', window = 1.0 }, initial_window = 1";
    let group = "packet_size = '1000 B', rtt = '20 ms', send_jitter = 'none'";
    let log = "endpoint_log = { from = '0 s', to = '2 s' }";
    let run = case("1 s")
        .link("link", "8 Mbit/s, 2 ms, 20 packets")
        .flows("tcp", "link", [window, group, log].join(", "))
        .run();
    let log = run.results.tables.packets.unwrap();
    let expected = |first_us: u64, next: u64| -> Vec<(u64, u64)> {
        let sent = (0..).map(|number| (number * 21_000 + first_us, number + next));
        sent.take_while(|(us, _)| *us < 1_000_000)
            .map(|(us, number)| (us * 1_000_000, number))
            .collect()
    };
    assert_eq!(rows(&log, SENDER, false), expected(0, 0));
    assert_eq!(rows(&log, RECEIVER, false), expected(11_000, 0));
    assert_eq!(rows(&log, RECEIVER, true), expected(11_000, 1));
    assert_eq!(rows(&log, SENDER, true), expected(21_000, 1));
    assert!(log.time_s.is_sorted());
}

/// Two links there and one back, losses and marks; by the group, none of the private propagation or all
/// of it lies on the sender's side.
fn paths(log_of_links: &str, log_of_ends: &str) -> Case {
    let group = |keys: &str| {
        let path = "reverse_path = ['back'], sender_side = 0.0, send_jitter = 'none'";
        format!("{path}, {keys}, {log_of_ends}")
    };
    let marking = "queue = { kind = 'step_mark', threshold = '6 packets', limit = '15 packets' }";
    let short = "source = { kind = 'finite_flows', load = 0.1, size = '30 kB' }";
    case("8 s from 0 s")
        .link("first", format!("20 Mbit/s, 3 ms, 30 packets, {log_of_links}"))
        .link("second", format!("8 Mbit/s, 5 ms, {marking}, {log_of_links}"))
        .link("back", format!("300 kbit/s, 4 ms, 10 packets, {log_of_links}"))
        .flows(
            "classic",
            "first second",
            group("congestion = 'reno', rtt = '32 ms', ecn = 'classic'"),
        )
        .flows(
            "accurate",
            "first second",
            group("congestion = 'cubic', rtt = '42 ms', ecn = 'accurate'"),
        )
        .flows(
            "short",
            "first second",
            group(&format!("congestion = 'cubic', rtt = '12 ms', {short}")),
        )
}

const LINKS: &str = "arrival_log = { from = '0 s', to = '8 s', most_packets = 100_000 }";
const ENDS: &str = "endpoint_log = { from = '0 s', to = '8 s', most_packets = 100_000 }";

type Row = (u32, u8, u64, u64, u32, u32, u32);

/// Connection, content, sequence, time of sending, timestamps and size of some rows.
fn identities(log: &Packets, rows: impl Iterator<Item = usize>) -> Vec<Row> {
    let row = |at: usize| {
        let (connection, content, sequence) =
            (log.connection[at], log.content[at], log.sequence[at]);
        let (stamp, echo) = (log.timestamp_ms[at], log.echo_ms[at]);
        (connection, content, sequence, picoseconds(log.sent_s[at]), stamp, echo, log.bytes[at])
    };
    rows.map(row).collect()
}

/// Checks that the packets of each connection in `some` are those of `all`, in their order, but for the
/// last few, which are on the way.
fn assert_same_order(all: &[Row], some: &[Row], most_missing: usize) {
    let connections = all.iter().map(|row| row.0).max().unwrap() + 1;
    assert!(connections > 5);
    let mut missing = 0;
    for connection in 0..connections {
        let of = |rows: &[Row]| -> Vec<Row> {
            rows.iter().filter(|row| row.0 == connection).copied().collect()
        };
        let (all, some) = (of(all), of(some));
        assert!(all.len() >= some.len(), "{connection}");
        assert_eq!(all[..some.len()], some[..], "{connection}");
        missing += all.len() - some.len();
    }
    assert!(missing <= most_missing, "{missing}");
}

#[test]
fn what_the_sender_sends_reaches_the_first_link_and_what_the_receiver_answers_the_first_link_back()
{
    let log = paths(LINKS, ENDS).run().results.tables.packets.unwrap();
    let at_link =
        |link: u32| identities(&log, (0..log.link.len()).filter(|&row| log.link[row] == link));
    let sent = identities(&log, rows_of(&log, 3, SENDER, false));
    assert!(sent.len() > 2_000);
    // Nothing lies before the first link: at the end of the run nothing is on the way to it.
    assert_same_order(&sent, &at_link(0), 0);
    let without_times = |rows: Vec<Row>| -> Vec<Row> {
        let cut = rows.into_iter().map(|(at, what, number, _, stamp, echo, bytes)| {
            (at, what, number, 0, stamp, echo, bytes)
        });
        cut.collect()
    };
    let answered = without_times(identities(&log, rows_of(&log, 3, RECEIVER, true)));
    let back = without_times(at_link(2));
    assert!(back.len() > 1_000);
    assert_same_order(&answered, &back, 40);
}

/// By the counters of RFC 3168 and RFC 9768 at the receiver: what its ACKs echo follows from the packets
/// that reach it.
#[test]
fn acks_echo_the_marks_that_have_reached_the_receiver() {
    let log = paths("", ENDS).run().results.tables.packets.unwrap();
    let (mut is_echoing, mut marks, mut seen) = ([false; 2], [0_u32; 2], [0, 0, 0]);
    let mut next = [0_u64; 2];
    let at_receivers = (0..log.link.len()).filter(|row| end_of(&log, 3, *row) == Some(RECEIVER));
    for row in at_receivers.filter(|row| log.flow[*row] < 2) {
        let flow = log.flow[row] as usize;
        if log.content[row] == ACK {
            let expected = if flow == 0 { (is_echoing[0], 0) } else { (false, marks[1]) };
            assert_eq!((log.ece[row] == 1, log.marked_packets[row]), expected, "row {row}");
            next[flow] = log.sequence[row];
            seen[0] += u32::from(is_echoing[0]);
            continue;
        }
        // A packet that has arrived before is not counted (RFC 3168 sec. 6.1.5).
        let is_ce = log.ecn[row] == 3 && log.sequence[row] >= next[flow];
        seen[1] += log.cwr[row];
        seen[2] += u32::from(is_ce);
        is_echoing[flow] = is_ce || is_echoing[flow] && log.cwr[row] == 0;
        marks[flow] += u32::from(is_ce);
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

#[test]
fn marks_of_the_links_reach_the_receivers() {
    let log = paths(LINKS, ENDS).run().results.tables.packets.unwrap();
    let marked = (0..log.fate.len()).filter(|row| log.fate[*row] == MARKED).count();
    let received = rows_of(&log, 3, RECEIVER, false).filter(|row| log.ecn[*row] == 3).count();
    // What is marked at the end is on the way for 5 ms and its transmission.
    assert!(marked > 20 && (received..=received + 8).contains(&marked), "{marked} {received}");
}

#[test]
fn a_record_of_the_ends_changes_no_result() {
    let recorded = paths("", ENDS).run().results;
    let tables = with!(recorded.tables.clone(), Tables { packets: None, sack_blocks: None });
    assert!(recorded.tables.packets.is_some() && recorded.tables.sack_blocks.is_some());
    assert_eq!(paths("", "").run().results, with!(recorded, Results { tables }));
}

#[test]
fn a_record_of_the_ends_that_is_too_long_is_refused() {
    let short = "{ from = '0 s', to = '1 s', most_packets = 99 }";
    let network = paths("", "").set("flows.classic.endpoint_log", short).network();
    let error = Simulation::new(&network).unwrap().finish().unwrap_err();
    let RunError::PacketLog { limit: 99, .. } = &error else { panic!("{error}") };
    assert_refused(&error.to_string(), "flows.classic.endpoint_log", &["shorten", "most_packets"]);
}

/// At the end the first windows of two flows are on the way to their first link, 50 of 100 ms.
#[test]
fn packets_that_have_reached_no_link_by_the_end_are_in_the_order_in_which_they_were_sent() {
    let log = "endpoint_log = { from = '0 s', to = '1 s' }";
    let group = "count = 2, rtt = '400 ms', sender_side = 1.0, send_jitter = 'none'";
    let run = case("50 ms")
        .link("link", "10 Mbit/s, 1 ms, 20 packets")
        .flows("tcp", "link", format!("congestion = 'reno', initial_window = 10, {group}, {log}"))
        .run();
    let log = run.results.tables.packets.unwrap();
    for flow in [0, 1] {
        let of_flow = (0..log.flow.len()).filter(|&row| log.flow[row] == flow);
        let sequences: Vec<u64> = of_flow.map(|row| log.sequence[row]).collect();
        assert_eq!(sequences, (0..10).collect::<Vec<_>>());
    }
}
