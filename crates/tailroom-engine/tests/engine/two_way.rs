//! Two-way traffic: the position of the private propagation delay, the warning about it, and the
//! warning about bursts that compressed ACKs send through CoDel and PIE.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::results::{Results, WarningKind};

use crate::support::case::{Case, above, case};

/// Arrival times of packets at links, in order, in milliseconds.
fn arrivals_ms(results: &Results) -> Vec<f64> {
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let lines = log.time_s.iter().zip(&log.event).filter(|line| *line.1 == 0);
    let mut times: Vec<f64> = lines.map(|line| *line.0 * 1e3).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The first arrival of each window at two links of 10 ms with a transmission time of 1.2 us. The
/// flow has an RTT of 100 ms: 80 ms are private, 40 ms in each direction.
fn first_arrivals_ms(flow: &str) -> Vec<f64> {
    let run = case("250 ms")
        .link("there", "10 Gbit/s, 10 ms, 1000 packets, packet_log = 100")
        .link("back", "10 Gbit/s, 10 ms, 1000 packets, packet_log = 100")
        .flows("one", "there", format!("rtt = '100 ms', {flow}"))
        .run();
    let mut found = arrivals_ms(&run);
    found.dedup_by(|later, earlier| *later - *earlier < 1.0);
    found
}

fn is_close(found: &[f64], expected: &[f64]) -> bool {
    found.len() >= expected.len()
        && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.01)
}

/// Data arrives at s, ACKs at s + 10 + 2 (40 - s), and the next data an RTT after the first, where
/// s is the part of 40 ms on the side of the sender.
#[test]
fn sender_side_is_the_fraction_of_the_private_delay_before_the_path_and_after_the_reverse_path() {
    let transfers = [
        "source = { kind = 'bulk' }",
        "source = { kind = 'finite_flows', size = '100 kB', arrivals = ['0 s'] }",
    ];
    for transfer in transfers {
        for (key, at) in [
            ("sender_side = 0, ", 0.0),
            ("sender_side = 0.25, ", 10.0),
            ("", 20.0),
            ("sender_side = 0.5, ", 20.0),
            ("sender_side = 1.0, ", 40.0),
        ] {
            let reno = "reverse_path = ['back'], send_jitter = 'none', congestion = 'reno'";
            let flow = format!("{transfer}, {key}{reno}");
            let found = first_arrivals_ms(&flow);
            let ack = at + 10.0 + 2.0 * (40.0 - at);
            let expected = [at, ack, at + 100.0, ack + 100.0];
            assert!(is_close(&found, &expected), "{transfer} {key}: {found:?} not {expected:?}");
        }
    }
}

/// With a private reverse path the arrivals of data show the position: 10 ms before the link, and
/// an RTT of 100 ms.
#[test]
fn sender_side_shifts_data_with_a_private_reverse_path_and_keeps_the_rtt() {
    let flow = "send_jitter = 'none', sender_side = 0.25, congestion = 'reno'";
    assert!(is_close(&first_arrivals_ms(flow), &[10.0, 110.0, 210.0]));
}

/// An unresponsive flow has half of the private delay on its path, and no reverse path.
#[test]
fn sender_side_shifts_unresponsive_flows() {
    for (key, at) in [("sender_side = 0.25, ", 10.0), ("", 20.0), ("sender_side = 1, ", 40.0)] {
        let source = "source = { kind = 'cbr', rate = '120 kbit/s', phase = '0 s' }";
        let found = first_arrivals_ms(&format!("{key}{source}"));
        // One packet of 1500 B per 100 ms, the first at time zero.
        assert!(is_close(&found, &[at, at + 100.0]), "{key}: {found:?}");
    }
}

/// One group in each direction over links of 100 and 20 Mbit/s.
fn both_ways(queue: &str, keys: &str) -> Case {
    let cubic = format!("congestion = 'cubic', start = {{ uniform = ['0 s', '5 s'] }}, {keys}");
    case("70 s from 10 s")
        .link("down", format!("100 Mbit/s, 5 ms, queue = {{ {queue} }}"))
        .link("up", format!("20 Mbit/s, 5 ms, queue = {{ {queue} }}"))
        .flows("download", "down", format!("reverse_path = ['up'], {cubic}"))
        .flows("upload", "up", format!("reverse_path = ['down'], {cubic}"))
}

const CODEL: &str = "kind = 'codel'";
const RTT: &str = "rtt = '30 ms'";

/// The texts of the warnings of this kind.
fn warnings(case: &Case, kind: WarningKind) -> Vec<String> {
    let warnings = case.run().results.summary.warnings.into_iter();
    warnings.filter(|warning| warning.kind == kind).map(|warning| warning.text).collect()
}

fn shortened(case: &Case) -> Case {
    let case = case.clone().set("duration", "2 s").set("measure_from", "1 s");
    case.replaced("'5 s'", "'1 s'")
}

#[test]
fn a_run_warns_about_sender_side_if_data_and_acks_share_links_in_both_directions() {
    let open = warnings(&shortened(&both_ways(CODEL, RTT)), WarningKind::OpenSenderSide);
    let [warning] = &open[..] else { panic!("{open:?}") };
    // Two links of 5 ms leave 20 of 30 ms.
    for part in ["flows.download, flows.upload:", "up to 20 ms of the RTT"] {
        assert!(warning.contains(part), "{warning}");
    }
    // The other group has the key.
    let half = both_ways(CODEL, RTT).set("flows.upload.sender_side", 0.5);
    let half_open = warnings(&shortened(&half), WarningKind::OpenSenderSide);
    assert!(half_open[0].starts_with("flows.download:"), "{half_open:?}");
}

#[test]
fn a_run_does_not_warn_about_sender_side_if_the_key_is_set_or_has_no_effect() {
    let silent = |case: &Case| {
        let found = warnings(&shortened(case), WarningKind::OpenSenderSide);
        assert!(found.is_empty(), "{found:?}");
    };
    silent(&both_ways(CODEL, "rtt = '30 ms', sender_side = 0.5"));
    // There is no private delay in addition to the delay of the links.
    silent(&both_ways(CODEL, ""));
    // The ACKs of one direction cross no queue.
    silent(&both_ways(CODEL, RTT).replaced("reverse_path = ['up'], ", ""));
    // ACKs share no link with data, as there is no other flow.
    silent(&both_ways(CODEL, RTT).without("flows.upload"));
}

#[test]
fn the_default_of_sender_side_is_one_half() {
    let run = |keys: &str| {
        let mut results = shortened(&both_ways(CODEL, keys)).run().results;
        results.summary.warnings.clear();
        results
    };
    assert_eq!(run(RTT), run("rtt = '30 ms', sender_side = 0.5"));
}

const BURSTS: WarningKind = WarningKind::BurstsAboveTarget;

/// An independent simulator (`tests/validation/two_way/simulator.py`) finds p99 delays of 76 and 77
/// ms at the two links: 15 times the target of 5 ms.
#[test]
fn a_run_warns_about_bursts_through_codel_with_one_flow_per_direction() {
    let found = warnings(&both_ways(CODEL, RTT), BURSTS);
    let [down, up] = &found[..] else { panic!("{found:?}") };
    assert!(down.starts_with("links.down:") && up.starts_with("links.up:"), "{found:?}");
    for part in ["times the target of codel", "intervals of 100 ms", "Data and ACKs share the link"]
    {
        assert!(down.contains(part), "{down}");
    }
    for remedy in ["pacing = true", "kind = \"fq_codel\""] {
        assert!(down.contains(remedy), "{down}");
    }
}

/// RFC 8033 allows bursts of 150 ms. With the default jitter of senders the queue of the slow link
/// empties less often (in half of the intervals), so this test has no jitter.
#[test]
fn a_run_warns_about_bursts_through_pie_with_one_flow_per_direction() {
    let found = warnings(&both_ways("kind = 'pie'", "rtt = '30 ms', send_jitter = 'none'"), BURSTS);
    let [down, up] = &found[..] else { panic!("{found:?}") };
    assert!(down.starts_with("links.down:") && up.starts_with("links.up:"), "{found:?}");
    assert!(down.contains("target of pie") && down.contains("intervals of 150 ms"), "{down}");
}

#[test]
fn a_run_does_not_warn_about_bursts_with_fq_codel_pacing_many_flows_or_one_direction() {
    let silent = |case: &Case| {
        let found = warnings(case, BURSTS);
        assert!(found.is_empty(), "{found:?}");
    };
    silent(&both_ways("kind = 'fq_codel'", RTT));
    silent(&both_ways(CODEL, "rtt = '30 ms', pacing = true"));
    silent(&both_ways(CODEL, "rtt = '30 ms', count = 40"));
    // Data in one direction only, with and without ACKs in a queue.
    let download = both_ways(CODEL, RTT).without("flows.upload");
    silent(&download);
    silent(&download.replaced("codel", "pie"));
    silent(&download.replaced("reverse_path = ['up'], ", ""));
}

/// The queue is often empty, because the load is half of the rate, and slow start causes long
/// queues.
#[test]
fn a_run_does_not_warn_about_bursts_of_short_flows_in_one_direction() {
    let source = "kind = 'finite_flows', size = { kind = 'pareto', shape = 1.3, mean = '50 kB' }, \
                  load = 0.5";
    let keys = format!("congestion = 'cubic', rtt = '30 ms', source = {{ {source} }}");
    let case = case("60 s")
        .link("down", "20 Mbit/s, 5 ms, queue = { kind = 'codel' }")
        .flows("web", "down", keys);
    // Several targets.
    case.run().expect("links.down.queue_delay_s_p99", above(0.015));
    assert_eq!(warnings(&case, BURSTS), [""; 0]);
}

/// A tail-drop queue has no target for its delay.
#[test]
fn a_run_does_not_warn_about_bursts_at_a_discipline_without_a_target() {
    let queue = "kind = 'drop_tail', limit = '200 packets'";
    assert_eq!(warnings(&both_ways(queue, RTT), BURSTS), [""; 0]);
}
