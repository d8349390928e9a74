//! Two-way traffic: the position of the private propagation delay, the warning about it, and the
//! warning about bursts that compressed ACKs send through CoDel and PIE.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::scenario_run::run;
use tailroom_engine::results::{Results, WarningKind};

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
    let links: String = ["there", "back"]
        .map(|name| {
            format!(
                "[links.{name}]\nrate = \"10 Gbit/s\"\ndelay = \"10 ms\"\npacket_log = 100\n\
             queue = {{ kind = \"drop_tail\", limit = \"1000 packets\" }}\n"
            )
        })
        .concat();
    let text = format!(
        "duration = \"250 ms\"\n{links}[flows.one]\npath = [\"there\"]\nrtt = \"100 ms\"\n{flow}\n"
    );
    let mut found = arrivals_ms(&run(&text, 1));
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
        "source = { kind = \"bulk\" }",
        "source = { kind = \"finite_flows\", size = \"100 kB\", arrivals = [\"0 s\"] }",
    ];
    for transfer in transfers {
        for (key, at) in [
            ("sender_side = 0", 0.0),
            ("sender_side = 0.25", 10.0),
            ("", 20.0),
            ("sender_side = 0.5", 20.0),
            ("sender_side = 1.0", 40.0),
        ] {
            let flow = format!(
                "{transfer}\n{key}\nreverse_path = [\"back\"]\nsend_jitter = \"none\"\n\
                 congestion = {{ kind = \"reno\" }}"
            );
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
    let flow = "send_jitter = \"none\"\nsender_side = 0.25\ncongestion = { kind = \"reno\" }";
    assert!(is_close(&first_arrivals_ms(flow), &[10.0, 110.0, 210.0]));
}

/// An unresponsive flow has half of the private delay on its path, and no reverse path.
#[test]
fn sender_side_shifts_unresponsive_flows() {
    for (key, at) in [("sender_side = 0.25", 10.0), ("", 20.0), ("sender_side = 1", 40.0)] {
        let flow =
            format!("{key}\nsource = {{ kind = \"cbr\", rate = \"120 kbit/s\", phase = \"0 s\" }}");
        let found = first_arrivals_ms(&flow);
        // One packet of 1500 B per 100 ms, the first at time zero.
        assert!(is_close(&found, &[at, at + 100.0]), "{key}: {found:?}");
    }
}

/// One group in each direction over links of 100 and 20 Mbit/s.
fn both_ways(queue: &str, download: &str, upload: &str) -> String {
    format!(
        r#"
        duration = "70 s"
        measure_from = "10 s"
        [links.down]
        rate = "100 Mbit/s"
        delay = "5 ms"
        queue = {{ {queue} }}
        [links.up]
        rate = "20 Mbit/s"
        delay = "5 ms"
        queue = {{ {queue} }}
        [flows.download]
        path = ["down"]
        reverse_path = ["up"]
        congestion = {{ kind = "cubic" }}
        start = {{ uniform = ["0 s", "5 s"] }}
        {download}
        [flows.upload]
        path = ["up"]
        reverse_path = ["down"]
        congestion = {{ kind = "cubic" }}
        start = {{ uniform = ["0 s", "5 s"] }}
        {upload}
        "#
    )
}

const CODEL: &str = "kind = \"codel\"";
const RTT: &str = "rtt = \"30 ms\"";

/// The texts of the warnings of this kind.
fn warnings(text: &str, kind: WarningKind) -> Vec<String> {
    let warnings = run(text, 1).summary.warnings.into_iter();
    warnings.filter(|warning| warning.kind == kind).map(|warning| warning.text).collect()
}

fn shortened(text: &str) -> String {
    let text = text.replace("\"70 s\"", "\"2 s\"").replace("\"10 s\"", "\"1 s\"");
    text.replace("\"5 s\"", "\"1 s\"")
}

#[test]
fn a_run_warns_about_sender_side_if_data_and_acks_share_links_in_both_directions() {
    let open = warnings(&shortened(&both_ways(CODEL, RTT, RTT)), WarningKind::OpenSenderSide);
    let [warning] = &open[..] else { panic!("{open:?}") };
    // Two links of 5 ms leave 20 of 30 ms.
    for part in ["flows.download, flows.upload:", "up to 20 ms of the RTT"] {
        assert!(warning.contains(part), "{warning}");
    }
    let written = format!("{RTT}\nsender_side = 0.5");
    let half_open =
        warnings(&shortened(&both_ways(CODEL, RTT, &written)), WarningKind::OpenSenderSide);
    assert!(half_open[0].starts_with("flows.download:"), "{half_open:?}");
}

#[test]
fn a_run_does_not_warn_about_sender_side_if_the_key_is_set_or_has_no_effect() {
    let silent = |text: &str| {
        let found = warnings(&shortened(text), WarningKind::OpenSenderSide);
        assert!(found.is_empty(), "{found:?}");
    };
    let written = format!("{RTT}\nsender_side = 0.5");
    silent(&both_ways(CODEL, &written, &written));
    // There is no private delay in addition to the delay of the links.
    silent(&both_ways(CODEL, "", ""));
    // The ACKs of one direction cross no queue.
    silent(&both_ways(CODEL, RTT, RTT).replacen("reverse_path = [\"up\"]", "", 1));
    // ACKs share no link with data, as there is no other flow.
    let text = both_ways(CODEL, RTT, RTT);
    silent(text.split("[flows.upload]").next().unwrap());
}

#[test]
fn the_default_of_sender_side_is_one_half() {
    let written = format!("{RTT}\nsender_side = 0.5");
    let mut results = run(&shortened(&both_ways(CODEL, &written, &written)), 1);
    let mut plain = run(&shortened(&both_ways(CODEL, RTT, RTT)), 1);
    plain.summary.warnings.clear();
    results.summary.warnings.clear();
    assert_eq!(plain, results);
}

const BURSTS: WarningKind = WarningKind::BurstsAboveTarget;

/// An independent simulator (`tests/validation/two_way/simulator.py`) finds p99 delays of 76 and 77
/// ms at the two links: 15 times the target of 5 ms.
#[test]
fn a_run_warns_about_bursts_through_codel_with_one_flow_per_direction() {
    let found = warnings(&both_ways(CODEL, RTT, RTT), BURSTS);
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
    let keys = format!("{RTT}\nsend_jitter = \"none\"");
    let found = warnings(&both_ways("kind = \"pie\"", &keys, &keys), BURSTS);
    let [down, up] = &found[..] else { panic!("{found:?}") };
    assert!(down.starts_with("links.down:") && up.starts_with("links.up:"), "{found:?}");
    assert!(down.contains("target of pie") && down.contains("intervals of 150 ms"), "{down}");
}

#[test]
fn a_run_does_not_warn_about_bursts_with_fq_codel_pacing_many_flows_or_one_direction() {
    let silent = |text: &str| {
        let found = warnings(text, BURSTS);
        assert!(found.is_empty(), "{found:?}");
    };
    silent(&both_ways("kind = \"fq_codel\"", RTT, RTT));
    let paced = format!("{RTT}\npacing = true");
    silent(&both_ways(CODEL, &paced, &paced));
    let many = format!("{RTT}\ncount = 40");
    silent(&both_ways(CODEL, &many, &many));
    // Data in one direction only, with and without ACKs in a queue.
    let text = both_ways(CODEL, RTT, RTT);
    silent(text.split("[flows.upload]").next().unwrap());
    silent(text.replace("codel", "pie").split("[flows.upload]").next().unwrap());
    let text = text.replacen("reverse_path = [\"up\"]", "", 1);
    silent(text.split("[flows.upload]").next().unwrap());
}

/// The queue is often empty, because the load is half of the rate, and slow start causes long
/// queues.
#[test]
fn a_run_does_not_warn_about_bursts_of_short_flows_in_one_direction() {
    let text = r#"
        duration = "60 s"
        [links.down]
        rate = "20 Mbit/s"
        delay = "5 ms"
        queue = { kind = "codel" }
        [flows.web]
        path = ["down"]
        congestion = { kind = "cubic" }
        rtt = "30 ms"
        [flows.web.source]
        kind = "finite_flows"
        size = { kind = "pareto", shape = 1.3, mean = "50 kB" }
        load = 0.5
        "#;
    let results = run(text, 1).summary;
    let link = &results.links.0[0].1;
    assert!(link.queue_delay_s_p99.unwrap() > 0.015, "several targets: {link:?}");
    assert!(results.warnings.iter().all(|warning| warning.kind != BURSTS), "{results:?}");
}

/// A tail-drop queue has no target for its delay.
#[test]
fn a_run_does_not_warn_about_bursts_at_a_discipline_without_a_target() {
    let queue = "kind = \"drop_tail\", limit = \"200 packets\"";
    assert_eq!(warnings(&both_ways(queue, RTT, RTT), BURSTS), [""; 0]);
}
