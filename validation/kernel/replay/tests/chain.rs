//! Recordings of a sender's chain that are written by hand: ten packets, the second of which is
//! lost.

use tailroom_kernel_replay::chain::comparison::{Outcome, compare};
use tailroom_kernel_replay::chain::recording::Recording;
use tailroom_kernel_replay::chain::replay::{Retransmits, replay};

const DESCRIPTION: &str = r#"{"is_rate_based":false,"srtt_8us":320000,"packet_bytes":1448,
"link_mbit":8,"scenario":"duration = \"1 s\"\n[links.one]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\n
queue = { kind = \"drop_tail\", limit = \"10 packets\" }\n[flows.flow]\npath = [\"one\"]\n
congestion = \"reno\"\nrtt = \"40 ms\"\n"}"#;

/// A callback: packets acknowledged, RTT in microseconds, packets lost and in flight.
fn sample(acked: u64, rtt_us: u64, una: u64, delivered: u64, lost: u64, in_flight: u64) -> String {
    format!("c,0,6,{acked},10,320000,{rtt_us},{una},10,{delivered},{lost},{in_flight}")
}

/// Ten packets leave at 0; each ACK comes a millisecond after the last one. The fourth tells that
/// three packets after the lost one have arrived, and 40 ms after the fast retransmission all
/// have.
fn rows() -> Vec<String> {
    let mut rows: Vec<String> = (0..10).map(|packet| format!("s,0,{packet},0")).collect();
    rows.extend(["r,40000,1,0".to_owned(), sample(1, 40_000, 1, 1, 0, 9)]);
    for end in 3..=5 {
        let arrived = end - 1;
        rows.push(format!("r,1000,1,0,2,{end}"));
        rows.push(sample(0, 40_000 + 1_000 * (end - 2), 1, arrived, 0, 10 - arrived));
    }
    rows.extend(
        ["c,0,2,0,5,320000,0,1,10,4,1,5", "c,0,4,3,0,320000,0,1,10,4,1,5"].map(String::from),
    );
    rows.push("s,0,1,43".to_owned());
    rows.extend(["r,40000,10,43".to_owned(), sample(9, 40_000, 10, 10, 1, 0)]);
    rows
}

fn outcome(rows: &[String]) -> Outcome {
    let text = format!("{}\n{}\n", DESCRIPTION.replace('\n', ""), rows.join("\n"));
    let recording: Recording = text.parse().expect("the recording is well formed");
    let replayed = replay(&recording, Retransmits::Freely).expect("it can be replayed");
    compare(&recording, &replayed, &replayed)
}

#[test]
fn a_loss_that_three_sacked_packets_show_is_found_and_repaired_at_the_same_ack() {
    let found = outcome(&rows());
    let events = [found.lost, found.congestions, found.retransmissions];
    let counts = events.map(|events| [events.kernel, events.tailroom, events.same]);
    assert_eq!(counts, [[1; 3]; 3], "{found:?}");
    let shares = [found.in_flight, found.lost_in_time, found.acked];
    assert_eq!(shares.map(|share| (share.compared, share.agree)), [(5, 5); 3]);
    assert_eq!((found.retransmitted_at.agree, found.timeouts.tailroom), (1, 0));
    assert_eq!((found.rtts.compared, found.rtts.agree), (2, 2));
    // An ACK that only sacks gives the kernel's control an RTT, and tailroom's nothing.
    assert_eq!(found.other_kinds.into_iter().collect::<Vec<_>>(), [("an RTT; nothing".into(), 3)]);
}

#[test]
fn a_sender_that_hears_less_loses_nothing_and_that_is_noticed() {
    let mut deaf = rows();
    for row in &mut deaf {
        if row.starts_with("r,1000,") {
            *row = "r,1000,1,0".to_owned();
        }
    }
    let found = outcome(&deaf);
    assert_eq!((found.lost.kernel, found.lost.same), (1, 0));
    assert_eq!((found.congestions.kernel, found.congestions.same), (1, 0));
    assert!(found.in_flight.agree < found.in_flight.compared);
    assert!(found.lost_in_time.agree < found.lost_in_time.compared);
}

/// Without ACKs a probe leaves after two RTTs, and the timer expires an RTT and 200 ms later. The
/// kernel's state tells that its call was for a timeout, if no other state came between.
#[test]
fn a_call_is_for_a_timeout_if_the_state_after_loss_follows_it() {
    let with = |states: &[&str]| {
        let mut quiet = rows();
        quiet.truncate(12);
        quiet.push("c,240000,2,0,5,320000,0,1,10,1,9,0".to_owned());
        quiet.extend(states.iter().map(|state| format!("c,0,4,{state},0,320000,0,1,10,1,9,0")));
        quiet.push("s,600000,1,900".to_owned());
        outcome(&quiet)
    };
    let timeout = with(&["4"]).timeouts;
    assert_eq!([timeout.kernel, timeout.tailroom, timeout.same], [1; 3]);
    let recovery = with(&["3", "4"]);
    assert_eq!((recovery.timeouts.kernel, recovery.congestions.kernel), (0, 1));
}

#[test]
fn a_damaged_line_is_named_and_so_is_an_ack_without_callback() {
    let parse = |rows: &[String]| {
        let text = format!("{}\n{}\n", DESCRIPTION.replace('\n', ""), rows.join("\n"));
        text.parse::<Recording>().expect_err("it is damaged")
    };
    let mut damaged = rows();
    damaged[3] = "s,0,x".to_owned();
    assert!(parse(&damaged).contains("line 5"));
    let mut lacking = rows();
    lacking.remove(11);
    assert!(parse(&lacking).contains("callback"));
}
