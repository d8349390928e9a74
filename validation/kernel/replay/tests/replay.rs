//! Replays of recordings that are written by hand: Reno from four packets.

use tailroom_kernel_replay::trace::Trace;
use tailroom_kernel_replay::{continuous, counted, rate_based};

const DESCRIPTION: &str = r#"{"control":"reno","tailroom":{"kind":"reno"},"bound_packets":0,
"continuous_bound_packets":1.5}"#;

/// A row of a recording: kind, packets, window and count before, ssthresh, and the window and count
/// after.
fn row(kind: u64, acked: u64, before: [u64; 2], ssthresh: u64, after: [u64; 2]) -> String {
    let ([cwnd, count], [cwnd_after, count_after]) = (before, after);
    let answer = if kind == 2 { cwnd / 2 } else { 0 };
    format!(
        "{kind},0,{acked},{cwnd},{count},{ssthresh},{cwnd_after},{count_after},{ssthresh},{answer},\
         0,0,0,0,0,1,0"
    )
}

/// A flow that begins in slow start, leaves it, grows by a packet, halves, and goes on at ssthresh.
fn rows() -> Vec<String> {
    vec![
        row(0, 0, [2, 0], 4, [2, 0]),
        row(1, 1, [2, 0], 4, [3, 0]),
        row(1, 2, [3, 0], 4, [4, 1]), // one packet for slow start, one is counted
        row(1, 2, [4, 1], 4, [4, 3]),
        row(1, 2, [4, 3], 4, [5, 1]), // five of four
        row(2, 0, [5, 0], 4, [5, 0]),
        row(4, 3, [5, 0], 2, [5, 0]),
        row(1, 1, [2, 0], 2, [2, 1]),
        row(1, 1, [2, 1], 2, [3, 0]),
    ]
}

fn trace(rows: &[String]) -> Trace {
    let text = format!("{}\n{}\n", DESCRIPTION.replace('\n', ""), rows.join("\n"));
    text.parse().expect("the recording is well formed")
}

#[test]
fn a_recording_that_counts_as_rfc_5681_says_is_equal_at_every_callback() {
    let outcome = counted::replay(&trace(&rows())).expect("Reno is a window law");
    assert_eq!((outcome.compared, outcome.equal, outcome.different), (7, 7, 0));
    assert_eq!((outcome.congestions, outcome.taken_over), (1, 0));
}

#[test]
fn one_wrong_callback_shows_in_all_that_follow() {
    let mut wrong = rows();
    wrong[4] = row(1, 2, [4, 3], 4, [6, 1]);
    wrong[5] = row(2, 0, [6, 0], 4, [6, 0]);
    let outcome = counted::replay(&trace(&wrong)).expect("Reno is a window law");
    assert_eq!((outcome.equal, outcome.different), (5, 2));
    assert_eq!(outcome.differences[0].callback, 4);
    assert!(outcome.differences[1].is_congestion);
}

#[test]
fn a_window_that_the_sender_has_set_is_taken_over() {
    let mut set = rows();
    set[7] = row(1, 1, [7, 0], 2, [7, 1]);
    set.truncate(8);
    let outcome = counted::replay(&trace(&set)).expect("Reno is a window law");
    assert_eq!((outcome.taken_over, outcome.different), (1, 0));
}

/// The window of the engine grows by 1 / w: 4 + 1 / 4 + 2 / 4.25 + 2 / 4.7206 = 5.144 packets.
#[test]
fn the_window_of_the_engine_is_a_fraction() {
    let outcome = continuous::replay(&trace(&rows()[..5])).expect("Reno is a window law");
    assert_eq!(outcome.different, 0);
    assert!((outcome.largest_packets - 0.7206).abs() < 1e-3, "{outcome:?}");
}

#[test]
fn a_line_that_is_no_callback_is_named() {
    let text = format!("{}\n1,2,3\n", DESCRIPTION.replace('\n', ""));
    let problem = text.parse::<Trace>().expect_err("a callback has 17 numbers");
    assert!(problem.contains("line 2"), "{problem}");
}

/// BBR from the answer to its SYN: an RTT of 40.229 ms, ten packets, and the rate that Linux paced them
/// at. The ACK has no rate sample, so that the rate stays, and a smoothed RTT of 60 ms.
const BBR: &str = r#"{"control":"bbr","tailroom":{"kind":"bbr1"},"bound_packets":0,
"continuous_bound_packets":1.0,"packet_bytes":1448}
0,7319,0,10,0,2147483647,10,0,2147483647,0,321832,0,40229,0,0,0,0
2,40000000,0,10,0,2147483647,10,0,2147483647,2147483647,321832,0,40229,0,10,1,1
7,40892643,0,10,0,2147483647,11,0,2147483647,0,480000,0,40229,1,10,1,0,\
2,4294967295,4294967295,4294967295,0,1,10,1,0,9,40890,0,1028547,0
"#;

#[test]
fn bbr_begins_with_the_rtt_of_the_syn_and_its_congestions_are_counted() {
    let (description, rows) = BBR.split_once("}\n").expect("a description");
    let text = format!("{}}}\n{}", description.replace('\n', ""), rows.replace("\\\n", ""));
    let trace: Trace = text.parse().expect("the recording is well formed");
    let found = rate_based::replay(&trace).expect("BBR is rate-based");
    assert_eq!((found.windows.compared, found.windows.congestions), (1, 1));
    assert_eq!((found.rates.equal, found.rates.different), (1, 0), "{found:?}");
}
