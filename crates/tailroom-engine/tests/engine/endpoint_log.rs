//! The packets at the ends of flows: a case in closed form, and the arrivals at the links between them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::results::{ArrivalLog, EndpointLog, Results, Tables};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;

use crate::support::refusals::assert_refused;
use crate::support::scenario_run;

const SENDER: u8 = 0;
const RECEIVER: u8 = 1;
const ACK: u8 = 2;
const MARKED: u8 = 1;

/// Rows of an end, of data or of ACKs: time in picoseconds, sequence.
fn rows(log: &EndpointLog, end: u8, are_acks: bool) -> Vec<(u64, u64)> {
    let chosen = (0..log.end.len())
        .filter(|row| log.end[*row] == end && (log.content[*row] == ACK) == are_acks);
    chosen.map(|row| ((log.time_s[row] * 1e12).round() as u64, log.sequence[row])).collect()
}

/// A window of one packet of 1,000 B on a path of 8 Mbit/s, 2 ms and 20 ms in all: a quarter of the 16 ms
/// beyond the link's there and back is before the link, and a quarter behind it. A packet takes 1 ms.
#[test]
fn one_packet_at_a_time_passes_the_ends_at_the_times_of_the_closed_form() {
    let text = r#"
        duration = "1 s"
        [links.link]
        rate = "8 Mbit/s"
        delay = "2 ms"
        queue = { kind = "drop_tail", limit = "20 packets" }
        [flows.tcp]
        path = ["link"]
        host = "plain"
        congestion = { kind = "fixed_window", window = 1.0 }
        initial_window = 1
        packet_size = "1000 B"
        rtt = "20 ms"
        send_jitter = "none"
        endpoint_log = { from = "0 s", to = "2 s" }
    "#;
    let results = scenario_run::finish(&scenario_run::network(text, 1));
    let log = results.tables.endpoint_log.unwrap();
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
const PATHS: &str = r#"
    duration = "8 s"
    measure_from = "0 s"
    [links.first]
    rate = "20 Mbit/s"
    delay = "3 ms"
    queue = { kind = "drop_tail", limit = "30 packets" }
    LOG
    [links.second]
    rate = "8 Mbit/s"
    delay = "5 ms"
    queue = { kind = "step_mark", threshold = "6 packets", limit = "15 packets" }
    LOG
    [links.back]
    rate = "300 kbit/s"
    delay = "4 ms"
    queue = { kind = "drop_tail", limit = "10 packets" }
    LOG
    [flows.classic]
    path = ["first", "second"]
    reverse_path = ["back"]
    congestion = "reno"
    rtt = "32 ms"
    sender_side = 0.0
    send_jitter = "none"
    ecn = "classic"
    ENDS
    [flows.accurate]
    path = ["first", "second"]
    reverse_path = ["back"]
    congestion = "cubic"
    rtt = "42 ms"
    sender_side = 0.0
    send_jitter = "none"
    ecn = "accurate"
    ENDS
    [flows.short]
    path = ["first", "second"]
    reverse_path = ["back"]
    congestion = "cubic"
    rtt = "12 ms"
    sender_side = 0.0
    send_jitter = "none"
    source = { kind = "finite_flows", load = 0.1, size = "30 kB" }
    ENDS
"#;

fn paths(has_links: bool, has_ends: bool) -> Results {
    let span = "{ from = \"0 s\", to = \"8 s\", most_packets = 100_000 }";
    let line =
        |key: &str, is_on: bool| if is_on { format!("{key} = {span}") } else { String::new() };
    let text = PATHS
        .replace("LOG", &line("arrival_log", has_links))
        .replace("ENDS", &line("endpoint_log", has_ends));
    scenario_run::finish(&scenario_run::network(&text, 1))
}

type Row = (u32, u8, u64, u64, u32, u32, u32);

/// Connection, content, sequence, time of sending, timestamps and size of the packets that reach a link.
fn at_link(log: &ArrivalLog, ticks: &[(u32, u32)], link: u32) -> Vec<Row> {
    let chosen = (0..log.link.len()).filter(|row| log.link[*row] == link);
    let row = |row: usize| {
        let sent = (log.sent_s[row] * 1e12).round() as u64;
        let (stamp, echo) = ticks[row];
        let (connection, content) = (log.connection[row], log.content[row]);
        (connection, content, log.sequence[row], sent, stamp, echo, log.bytes[row])
    };
    chosen.map(row).collect()
}

fn at_end(log: &EndpointLog, end: u8, are_acks: bool) -> Vec<Row> {
    let chosen = (0..log.end.len())
        .filter(|row| log.end[*row] == end && (log.content[*row] == ACK) == are_acks);
    let row = |row: usize| {
        let sent = (log.sent_s[row] * 1e12).round() as u64;
        let (stamp, echo) = (log.timestamp_ms[row], log.echo_ms[row]);
        let (connection, content) = (log.connection[row], log.content[row]);
        (connection, content, log.sequence[row], sent, stamp, echo, log.bytes[row])
    };
    chosen.map(row).collect()
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
    let tables = paths(true, true).tables;
    let (arrivals, ends) = (tables.arrival_log.unwrap(), tables.endpoint_log.unwrap());
    let clocks = tables.arrival_timestamps.unwrap();
    let ticks: Vec<(u32, u32)> = clocks.timestamp_ms.into_iter().zip(clocks.echo_ms).collect();
    let sent = at_end(&ends, SENDER, false);
    assert!(sent.len() > 2_000);
    // Nothing lies before the first link: at the end of the run nothing is on the way to it.
    assert_same_order(&sent, &at_link(&arrivals, &ticks, 0), 0);
    let without_times = |rows: Vec<Row>| -> Vec<Row> {
        let cut = rows.into_iter().map(|(at, what, number, _, stamp, echo, bytes)| {
            (at, what, number, 0, stamp, echo, bytes)
        });
        cut.collect()
    };
    let answered = without_times(at_end(&ends, RECEIVER, true));
    let back = without_times(at_link(&arrivals, &ticks, 2));
    assert!(back.len() > 1_000);
    assert_same_order(&answered, &back, 40);
}

/// By the counters of RFC 3168 and RFC 9768 at the receiver: what its ACKs echo follows from the packets
/// that reach it.
#[test]
fn acks_echo_the_marks_that_have_reached_the_receiver() {
    let tables = paths(false, true).tables;
    let log = tables.endpoint_log.unwrap();
    let (mut is_echoing, mut marks, mut seen) = ([false; 2], [0_u32; 2], [0, 0, 0]);
    let mut next = [0_u64; 2];
    for row in (0..log.end.len()).filter(|row| log.end[*row] == RECEIVER && log.flow[*row] < 2) {
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
    let results = paths(true, true);
    let (arrivals, ends) =
        (results.tables.arrival_log.unwrap(), results.tables.endpoint_log.unwrap());
    let marked = arrivals.fate.into_iter().filter(|fate| *fate == MARKED).count();
    let received =
        (0..ends.end.len()).filter(|row| ends.end[*row] == RECEIVER && ends.ecn[*row] == 3);
    let received = received.count();
    // What is marked at the end is on the way for 5 ms and its transmission.
    assert!(marked > 20 && (received..=received + 8).contains(&marked), "{marked} {received}");
}

#[test]
fn a_record_of_the_ends_changes_no_result() {
    let recorded = paths(false, true);
    let tables =
        with!(recorded.tables.clone(), Tables { endpoint_log: None, endpoint_sack_blocks: None });
    assert!(
        recorded.tables.endpoint_log.is_some() && recorded.tables.endpoint_sack_blocks.is_some()
    );
    assert_eq!(paths(false, false), with!(recorded, Results { tables }));
}

#[test]
fn a_record_of_the_ends_that_is_too_long_is_refused() {
    let text = PATHS
        .replace("LOG", "")
        .replacen("ENDS", "endpoint_log = { from = \"0 s\", to = \"1 s\", most_packets = 99 }", 1)
        .replace("ENDS", "");
    let error = Simulation::new(&scenario_run::network(&text, 1)).unwrap().finish().unwrap_err();
    let RunError::EndpointLog { limit: 99, .. } = &error else { panic!("{error}") };
    assert_refused(&error.to_string(), "flows.classic.endpoint_log", &["shorten", "most_packets"]);
}
