//! The log of arrivals at a link, against the counters of the link, cases by hand, and the bursts
//! that Auge and Roberts (2006) describe.

use std::collections::HashSet;

use tailroom_engine::results::{Packets, Results, Tables};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::units::Time;

use crate::support::case::{Case, case};
use crate::support::refusals::assert_refused;
use crate::support::{disciplines, scenario_run};

const ACCEPTED: u8 = 0;
const MARKED: u8 = 1;
const OVERFLOW: u8 = 4;

fn count(log: &Packets, fates: &[u8]) -> u64 {
    log.fate.iter().filter(|fate| fates.contains(fate)).count() as u64
}

/// Two CBR streams of 1000 B into a link with a transmission time of 10 ms.
fn by_hand(queue: &str) -> Packets {
    let log = "arrival_log = { from = '1 ms', to = '25 ms' }";
    let case = case("1 s")
        .link("link", format!("800 kbit/s, 1 ms, {queue} 2 packets, {log}"))
        .stream("fast", "link", "cbr 4 Mbit/s, 1000 B, source.phase = '0 s'")
        .stream("slow", "link", "cbr 8 kbit/s, 1000 B, source.phase = '0 s', start = '5 ms'");
    log_of(&case)
}

fn log_of(case: &Case) -> Packets {
    case.run().results.tables.packets.expect("it is recorded")
}

/// When packets arrived, in ms.
fn times_ms(log: &Packets) -> Vec<u64> {
    log.time_s.iter().map(|time| (time * 1e3).round() as u64).collect()
}

/// The fast stream sends at 0, 2, 4, ... ms and the slow stream at 5 ms. The packet of 0 ms is
/// transmitted until 10 ms, and the next packet until 20 ms.
#[test]
fn each_arrival_is_logged_with_the_queue_and_the_fate_found_by_hand() {
    let log = by_hand("drop_tail");
    assert_eq!(times_ms(&log), [2, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24]);
    assert_eq!(log.flow, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // At 10 and at 20 ms a transmission begins before another packet arrives.
    assert_eq!(log.queue_packets, [0, 1, 2, 2, 2, 1, 2, 2, 2, 2, 1, 2, 2]);
    assert_eq!(log.fate, [0, 0, 4, 4, 4, 0, 4, 4, 4, 4, 0, 4, 4]);
    assert!(log.bytes.iter().all(|bytes| *bytes == 1_000));
    assert!(log.link.iter().all(|link| *link == 0));
}

/// The same under a discipline that drops the oldest packet when a packet finds the buffer full:
/// every packet is accepted, and most are dropped later.
#[test]
fn a_packet_that_is_dropped_after_it_was_accepted_counts_as_dropped() {
    let log = by_hand("drop_head");
    // 2 and 4 wait; 5 pushes 2 out, 6: 4, 8: 5. At 10 ms 6 is sent, 8 and 10 wait; 12 pushes out 8,
    // 14: 10, 16: 12, 18: 14. At 20 ms 16 is sent, 18 and 20 wait; 22 pushes out 18, 24: 20. Later
    // 22 and 24, which wait when the log ends, are pushed out by 26 and 28.
    let sent = [6, 16];
    let fate = |time: &u64| if sent.contains(time) { ACCEPTED } else { OVERFLOW };
    assert_eq!(log.fate, times_ms(&log).iter().map(fate).collect::<Vec<_>>());
    assert_eq!(log.queue_packets, [0, 1, 2, 2, 2, 1, 2, 2, 2, 2, 1, 2, 2]);
}

/// For every discipline, the log has as many drops and marks as the counters of the link and of
/// each group; and it changes no other result.
#[test]
fn the_fates_in_the_log_add_up_to_the_counters_under_every_discipline() {
    let under = |log: &str| {
        case("3 s")
            .link("link", format!("8 Mbit/s, 5 ms, 15 packets, {log}"))
            .flows(
                "marked",
                "link",
                "count = 2, congestion = 'reno', rtt = '20 ms', ecn = 'classic'",
            )
            .flows("dropped", "link", "count = 2, congestion = 'cubic', rtt = '40 ms'")
            .stream("stream", "link", "poisson 2 Mbit/s, 500 B")
            .network()
    };
    let mut kinds_seen = [0_u64; 7];
    for queue in disciplines::valid("15 packets") {
        let name = queue.name();
        let run = |log: &str| {
            let mut network = under(log);
            network.links[0].queue = queue.clone();
            scenario_run::finish(&network)
        };
        let results = run("arrival_log = { from = '0 s', to = '3 s' }");
        let log = results.tables.packets.as_ref().expect("it is recorded");
        let link = results.summary.links.get("link").expect("the only link");
        assert_eq!(log.time_s.len() as u64, link.arrivals_packets, "{name}");
        assert!(log.time_s.is_sorted(), "{name}");
        let drops = [
            link.by_reason.drops_overflow_packets,
            link.by_reason.drops_early_packets,
            link.by_reason.drops_head_packets,
        ];
        for (fate, expected) in (OVERFLOW..).zip(drops) {
            assert_eq!(count(log, &[fate]), expected, "{name}: fate {fate}");
        }
        assert_eq!(count(log, &[MARKED]), link.marks_packets, "{name}");
        for (group, flows) in [("marked", 0..2), ("dropped", 2..4), ("stream", 4..5)] {
            let at_link = &results.summary.groups.get(group).expect("the group").links;
            let at_link = at_link.get("link").expect("the group crosses the link");
            let fates = log.flow.iter().zip(&log.fate).filter(|(flow, _)| flows.contains(*flow));
            let dropped = fates.filter(|(_, fate)| **fate >= OVERFLOW).count() as u64;
            assert_eq!(dropped, at_link.drops_packets, "{name}: {group}");
        }
        log.fate.iter().for_each(|fate| kinds_seen[*fate as usize] += 1);
        let tables = with!(results.tables.clone(), Tables { packets: None });
        let unrecorded = with!(results.clone(), Results { tables });
        assert_eq!(run(""), unrecorded, "{name}");
    }
    // No link sends or receives.
    let seen = kinds_seen.map(|count| count > 20);
    assert_eq!(seen, [true, true, false, false, true, true, true], "{kinds_seen:?}");
}

#[test]
fn more_arrivals_than_the_log_may_hold_end_the_run_with_an_error() {
    let run = |most: u32| {
        let log = format!("arrival_log = {{ from = '0 s', to = '10 s', most_packets = {most} }}");
        let keys = "cbr 800 kbit/s, 1000 B";
        let case = case("1 s")
            .link("link", format!("8 Mbit/s, 1 ms, 2 packets, {log}"))
            .stream("stream", "link", keys);
        Simulation::new(&case.network()).expect("the network is valid").finish()
    };
    // A packet at 0, 10, ... 990 ms.
    let log = run(100).expect("it fits").tables.packets.expect("it is recorded");
    assert_eq!(log.time_s.len(), 100);
    let error = run(99).expect_err("one too many");
    assert_eq!(error, RunError::PacketLog { key: "links.link.arrival_log".into(), limit: 99 });
    assert_refused(&error.to_string(), "links.link.arrival_log", &["shorten", "most_packets"]);
}

/// A dynamic flow has the number of its group, after those of the permanent flows.
#[test]
fn dynamic_flows_are_logged_under_one_number_per_group() {
    let flows = "kind = 'finite_flows', size = '9600 B', arrivals = ['0.1 s', '1 s']";
    let reno = "congestion = 'reno', packet_size = '1000 B', rtt = '20 ms'";
    let case = case("2 s")
        .link("link", "8 Mbit/s, 1 ms, 20 packets, arrival_log = { from = '0 s', to = '2 s' }")
        .stream("stream", "link", "cbr 80 kbit/s, 500 B")
        .flows("short", "link", format!("{reno}, source = {{ {flows} }}"));
    let log = log_of(&case);
    let of = |flow: u32| log.flow.iter().filter(|one| **one == flow).count();
    // 40 packets of the stream; two flows of ten packets with 960 B of payload each, under the
    // number 1 + 1.
    assert_eq!((of(0), of(1), of(2)), (40, 0, 20));
    // Each flow has its own connection, whose packets are counted from 0.
    for connection in [1, 2] {
        let rows = (0..log.flow.len()).filter(|row| log.connection[*row] == connection);
        let sequences: Vec<u64> = rows.map(|row| log.sequence[row]).collect();
        assert_eq!(sequences, (0..10).collect::<Vec<_>>(), "{connection}");
    }
}

/// Behind the first link, and for ACKs, the event of a packet no longer holds its sequence number.
#[test]
fn a_packet_has_the_same_identity_at_every_link() {
    let log = "arrival_log = { from = '0 s', to = '3 s', most_packets = 10_000 }";
    let reno =
        "congestion = 'reno', packet_size = '1000 B', rtt = { from = '30 ms', to = '50 ms' }";
    let results = case("3 s from 0 s")
        .link("first", format!("8 Mbit/s, 5 ms, 20 packets, {log}"))
        .link("second", format!("4 Mbit/s, 5 ms, 10 packets, {log}"))
        .link("back", format!("1 Mbit/s, 5 ms, 10 packets, {log}"))
        .flows("reno", "first second", format!("count = 3, reverse_path = ['back'], {reno}"))
        .run();
    let log = results.tables.packets.as_ref().expect("it is recorded");
    let at = |link: u32| (0..log.link.len()).filter(move |row| log.link[*row] == link);
    let identity = |row: usize| {
        (log.connection[row], log.sequence[row], log.content[row], log.sent_s[row].to_bits())
    };
    let first: HashSet<_> = at(0).map(identity).collect();
    assert_eq!(first.len(), at(0).count(), "no packet arrives twice");
    assert!(at(1).all(|row| first.contains(&identity(row))) && at(1).count() > 500);
    let (data, retransmissions) = at(0).partition::<Vec<_>, _>(|row| log.content[*row] == 0);
    assert!(retransmissions.iter().all(|row| log.content[*row] == 1));
    let sent: u64 = results.summary.flows.iter().map(|flow| flow.retransmissions).sum();
    assert!(sent > 10 && retransmissions.len() as u64 == sent, "{sent}");
    // First transmissions count up.
    for connection in 0..3 {
        let own = data.iter().filter(|row| log.connection[**row] == connection);
        assert!(own.zip(0..).all(|(row, expected)| log.sequence[*row] == expected));
    }
    assert!(at(2).all(|row| log.content[row] == 2 && log.bytes[row] < 100) && at(2).count() > 200);
}

/// An arrival of the window-limited flow.
struct Arrival {
    time_s: f64,
    is_dropped: bool,
}

/// Figure 4 over 250 s: the arrivals of the Reno flow at a buffer of 20 packets.
fn reno_of_figure_4(seed: u64) -> Vec<Arrival> {
    let scenario = include_str!("../../../../scenarios/auge-roberts-2006/figure-4.toml");
    let mut network = scenario_run::network(scenario, seed);
    let log = network.links[0]
        .arrival_log
        .as_mut()
        .expect("the scenario of the figure has a log of arrivals");
    (log.from, log.to) = (Time::from_milliseconds(50_000).into(), network.duration.into());
    let results = scenario_run::finish(&network);
    let reno = network.flows.len() as u32 - 1;
    let log = results.tables.packets.expect("it is recorded");
    let all = (0..log.flow.len()).filter(|at| log.flow[*at] == reno);
    all.map(|at| Arrival { time_s: log.time_s[at], is_dropped: log.fate[at] == OVERFLOW }).collect()
}

/// A longer gap separates two bursts. Gaps between ACKs that a full buffer delays are about 3 ms.
const BETWEEN_BURSTS_S: f64 = 10e-3;
const PACKET_TIME_S: f64 = 160e-6;

/// Auge and Roberts on their Figure 4: "the TCP window mechanism ... tends to emit packets in
/// bursts", "during each burst packets arrive at link rate but with some randomness". The flow gets
/// half the link, so its packets are two transmission times apart where ACKs clock them.
#[test]
fn a_window_limited_flow_arrives_in_bursts_a_round_trip_apart() {
    let packets = reno_of_figure_4(1);
    let gaps: Vec<f64> = packets.windows(2).map(|pair| pair[1].time_s - pair[0].time_s).collect();
    let (inside, mut between): (Vec<f64>, Vec<f64>) =
        gaps.iter().partition(|gap| **gap <= BETWEEN_BURSTS_S);
    let share = |packet_times: f64| {
        let short = inside.iter().filter(|gap| **gap <= packet_times * PACKET_TIME_S).count();
        short as f64 / inside.len() as f64
    };
    assert!(inside.len() > 250_000);
    assert!(share(4.0) > 0.7, "{}", share(4.0));
    assert!(share(8.0) > 0.95, "{}", share(8.0));
    // Each round trip has a burst: an RTT takes at least the 100 ms of propagation, and a window is
    // sent in at most two bursts.
    let bursts = between.len() as f64;
    assert!((0.8..1.2).contains(&(bursts / 2_500.0)), "{bursts} bursts in 250 s");
    // The flow is idle for the rest of the round trip: about half of it, since the window is about
    // half of the bandwidth-delay product.
    between.sort_by(f64::total_cmp);
    let median = between[between.len() / 2];
    assert!((0.04..0.1).contains(&median), "{median} s");
}

/// "In the figure, packet loss occurs at the end of the first depicted burst." The position of a
/// packet in its burst is its rank divided by the number of packets, from 0 to 1, and is uniform
/// over all packets. For every tenth, fewer dropped packets than packets in general lie before it.
/// The mean position of the drops, burst by burst, is further from 1/2 than chance allows: the mean
/// position within a burst has at most the standard deviation of a single position, 1 / sqrt(12),
/// for any dependence between the drops.
#[test]
fn bursts_lose_mostly_their_last_packets() {
    let mut positions = Vec::new();
    let mut means = Vec::new();
    for seed in 1..=3 {
        let packets = reno_of_figure_4(seed);
        let bursts = packets.chunk_by(|one, next| next.time_s - one.time_s <= BETWEEN_BURSTS_S);
        for burst in bursts {
            let rank = |at: usize| (at as f64 + 0.5) / burst.len() as f64;
            let drops = (0..burst.len()).filter(|at| burst[*at].is_dropped).map(rank);
            let drops: Vec<f64> = drops.collect();
            if !drops.is_empty() {
                means.push(drops.iter().sum::<f64>() / drops.len() as f64);
            }
            positions.extend(drops);
        }
    }
    for tenth in (1..10).map(|tenth| f64::from(tenth) / 10.0) {
        let before = positions.iter().filter(|position| **position < tenth).count() as f64;
        let share = before / positions.len() as f64;
        assert!(share < tenth, "{share} of the drops before {tenth}");
    }
    let bursts = means.len() as f64;
    let mean = means.iter().sum::<f64>() / bursts;
    assert!(bursts > 60.0, "{bursts} bursts lose packets");
    assert!(mean > 0.5 + 6.0 / (12.0 * bursts).sqrt(), "{mean} in {bursts} bursts");
    // About two thirds of the drops are in the last quarter.
    let late = positions.iter().filter(|position| **position > 0.75).count() as f64;
    assert!(late / positions.len() as f64 > 0.6, "{late} of {}", positions.len());
}
