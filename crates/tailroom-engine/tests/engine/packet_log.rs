//! The marks in the log of packets, against the counters of the link and the log of arrivals.

use std::collections::BTreeMap;

use serde_json::json;
use tailroom_engine::network::Network;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::results::{Results, Tables};

use crate::support::case::{Case, case};
use crate::support::{disciplines, scenario_run, summaries};

const DEPARTURE: u8 = 1;
const MARK: u8 = 3;
/// Fates in the log of arrivals.
const MARKED: u8 = 1;
const OVERFLOW: u8 = 4;

/// Disciplines that mark a packet when it arrives, and when it leaves.
const AT_ARRIVAL: [&str; 6] = ["red", "adaptive_red", "step_mark", "wred", "pie", "fq_pie"];
const AT_DEPARTURE: [&str; 4] = ["cake", "codel", "dual_pi2", "fq_codel"];

/// A byte takes 1 us at `first`; the second link marks too.
fn scenario() -> Case {
    let logs = "packet_log = 1_000_000, arrival_log = { from = '0 s', to = '3 s' }";
    let marking = "queue = { kind = 'step_mark', threshold = '5 packets', limit = '100 packets' }";
    case("3 s from 0 s")
        .link("first", format!("8 Mbit/s, 5 ms, 40 packets, {logs}"))
        .link("second", format!("7 Mbit/s, 5 ms, {marking}, {logs}"))
        .flows("l4s", "first second", "congestion = 'prague', rtt = '30 ms', ecn = 'l4s'")
        .flows(
            "classic",
            "first second",
            "congestion = 'reno', rtt = '40 ms', ecn = 'classic', count = 4",
        )
        .flows("dropped", "first", "congestion = 'cubic', rtt = '40 ms'")
        .stream("stream", "first", "poisson 1 Mbit/s, 500 B")
}

/// Every discipline of the registry; those whose examples need a larger buffer have other thresholds.
fn queues() -> Vec<QueueConfig> {
    let limit = "40 packets";
    let others = [
        json!({ "kind": "step_mark", "threshold": "10 packets", "limit": limit }),
        json!({ "kind": "wred", "k_min": "5 packets", "k_max": "30 packets", "limit": limit }),
    ];
    let others = others.map(|queue| serde_json::from_value(queue).expect("the keys are known"));
    let mut queues = disciplines::valid(limit);
    queues.extend(others);
    queues
}

fn network(queue: &QueueConfig, is_acted_on: bool) -> Network {
    let mut network = scenario().network();
    network.links[0].queue = queue.clone();
    network.links[0].is_acted_on = is_acted_on;
    network
}

/// A time of a log, in picoseconds.
fn picoseconds(time_s: f64) -> u64 {
    (time_s * 1e12).round() as u64
}

/// Times of an event at a link, by flow.
fn times(results: &Results, link: u32, event: u8) -> BTreeMap<u32, Vec<u64>> {
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let mut found = BTreeMap::<u32, Vec<u64>>::new();
    for row in (0..log.event.len()).filter(|row| log.link[*row] == link && log.event[*row] == event)
    {
        found.entry(log.flow[row]).or_default().push(picoseconds(log.time_s[row]));
    }
    found
}

/// When the first link marks packets by the log of arrivals, by flow: as they arrive, or as their
/// transmissions begin, which the departures show. The packets of a flow leave in order. A packet that is
/// marked and leaves after the run has no time.
fn expected(results: &Results, is_at_arrival: bool) -> BTreeMap<u32, Vec<u64>> {
    let log = results.tables.packets.as_ref().expect("it is recorded");
    let departures = times(results, 0, DEPARTURE);
    let mut left = BTreeMap::<u32, usize>::new();
    let mut found = BTreeMap::<u32, Vec<u64>>::new();
    for row in (0..log.fate.len()).filter(|row| log.link[*row] == 0 && log.fate[*row] < OVERFLOW) {
        let flow = log.flow[row];
        let place = left.entry(flow).or_default();
        let departure = departures.get(&flow).and_then(|times| times.get(*place));
        *place += 1;
        if log.fate[row] != MARKED {
            continue;
        }
        let begin = departure.map(|time| time - u64::from(log.bytes[row]) * 1_000_000);
        let time = if is_at_arrival { Some(picoseconds(log.time_s[row])) } else { begin };
        found.entry(flow).or_default().extend(time);
    }
    found
}

#[test]
fn the_log_has_each_mark_of_the_link_with_its_flow_and_time_under_every_discipline() {
    let mut marking = Vec::new();
    for queue in queues() {
        for is_acted_on in [false, true] {
            let name = queue.name();
            let results = scenario_run::finish(&network(&queue, is_acted_on));
            for (number, link) in ["first", "second"].into_iter().enumerate() {
                let marks =
                    times(&results, number as u32, MARK).values().map(Vec::len).sum::<usize>();
                let counted = summaries::link(&results.summary, link).marks_packets;
                assert_eq!(marks as u64, counted, "{name}: {link}");
            }
            let mut marks = times(&results, 0, MARK);
            if marks.is_empty() {
                continue;
            }
            marking.push(name.to_owned());
            let is_at_arrival = AT_ARRIVAL.contains(&name);
            let expected = expected(&results, is_at_arrival);
            for (flow, expected) in &expected {
                // The transmission that the run cuts off.
                let cut_off = usize::from(!is_at_arrival);
                let found = marks.remove(flow).unwrap_or_default();
                let (count, least) = (found.len(), expected.len());
                assert!((least..=least + cut_off).contains(&count), "{name}: {count}, {least}");
                assert_eq!(found[..expected.len()], expected[..], "{name}: flow {flow}");
            }
            assert!(marks.is_empty(), "{name}: marks of other flows");
        }
    }
    marking.dedup();
    marking.sort_unstable();
    let mut known = [&AT_ARRIVAL[..], &AT_DEPARTURE[..]].concat();
    known.sort_unstable();
    assert_eq!(marking, known);
}

/// The log takes the count of marks out of the buffer early.
#[test]
fn a_log_of_packets_changes_no_other_result() {
    for queue in queues() {
        let mut quiet = network(&queue, true);
        for link in &mut quiet.links {
            (link.packet_log, link.arrival_log) = (0, None);
        }
        let results = scenario_run::finish(&network(&queue, true));
        let tables = with!(results.tables.clone(), Tables { packet_log: None, packets: None });
        let unrecorded = with!(results, Results { tables });
        assert_eq!(scenario_run::finish(&quiet), unrecorded, "{}", queue.name());
    }
}
