//! The queueing delay of a packet, and its loss on the wire, count when its transmission begins in the
//! measured window, whether the link knows the time on arrival or a scheduler serves it: disciplines
//! that drop nothing have the same statistics.

use serde_json::Value;

use crate::support::scenario_run::{finish, network, run};
use crate::support::summaries::link;

/// Disciplines that drop and mark nothing with this limit: arrival rules and schedulers.
fn patient_queues(limit: &str) -> [(&'static str, String); 6] {
    let with =
        |kind: &str, keys: &str| format!("{{ kind = \"{kind}\", limit = \"{limit}\"{keys} }}");
    [
        ("drop_tail", with("drop_tail", "")),
        (
            "red",
            with("red", ", min_threshold = \"90000 packets\", max_threshold = \"99000 packets\""),
        ),
        ("step_mark", with("step_mark", ", threshold = \"99000 packets\"")),
        ("drop_head", with("drop_head", "")),
        ("codel", with("codel", ", target = \"100 s\", interval = \"1000 s\"")),
        ("pie", with("pie", ", target = \"1000 s\"")),
    ]
}

/// The whole summary without what a discipline says of itself.
fn comparable(text: &str) -> Value {
    let mut summary = serde_json::to_value(run(text, 3).summary).expect("a summary is JSON");
    summary["events"] = Value::Null;
    summary["warnings"] = Value::Null;
    for link in summary["links"].as_object_mut().expect("links by name").values_mut() {
        link["discipline"] = Value::Null;
        link["discipline_state"] = Value::Null;
    }
    summary
}

fn assert_alike(text: impl Fn(&str) -> String) {
    let queues = patient_queues("100000 packets");
    let expected = comparable(&text(&queues[0].1));
    for (kind, queue) in &queues {
        let found = comparable(&text(queue));
        for part in ["links", "groups", "flows"] {
            assert_eq!(found[part], expected[part], "{kind} compared with drop_tail: {part}");
        }
        assert_eq!(found, expected, "{kind} compared with drop_tail");
    }
}

/// A source of twice the link's rate: packets wait for half of the run so far, so that those served
/// in 10 s have waited 2.5 s on average, and those that arrive will have waited 5 s.
#[test]
fn a_growing_queue_has_the_same_delay_behind_every_discipline() {
    let text = |queue: &str| {
        format!(
            r#"
            duration = "10 s"
            [links.link]
            rate = "10 Mbit/s"
            delay = "10 ms"
            queue = {queue}
            [flows.flood]
            path = ["link"]
            source = {{ kind = "cbr", rate = "20 Mbit/s", phase = "0 s" }}
            "#
        )
    };
    assert_alike(text);
    let results = run(&text(&patient_queues("100000 packets")[0].1), 1);
    let mean = link(&results.summary, "link").queue_delay_s_mean.expect("packets were sent");
    assert!((mean - 2.5).abs() < 0.001, "{mean}");
}

/// As many packets as are sent in the run still wait at its end: what the wire will do to them is not
/// part of the results.
#[test]
fn a_growing_queue_has_the_same_random_losses_behind_every_discipline() {
    let text = |queue: &str| {
        format!(
            r#"
            duration = "10 s"
            measure_from = "2 s"
            [links.link]
            rate = "10 Mbit/s"
            delay = "10 ms"
            loss = {{ kind = "periodic", every = 10 }}
            queue = {queue}
            [flows.flood]
            path = ["link"]
            packet_size = "1250 B"
            source = {{ kind = "cbr", rate = "20 Mbit/s", phase = "0 s" }}
            "#
        )
    };
    assert_alike(text);
    let results = run(&text(&patient_queues("100000 packets")[0].1), 1);
    // A packet takes 1 ms.
    assert_eq!(link(&results.summary, "link").random_losses_packets, 800);
}

/// Two links, several groups, a window that begins and ends while packets wait, and transmissions that
/// begin exactly at its edges: a packet of the source takes 1 ms.
#[test]
fn groups_and_links_have_the_same_delay_behind_every_discipline() {
    assert_alike(|queue| {
        format!(
            r#"
            duration = "12 s"
            measure_from = "4 s"
            series = {{ interval = "500 ms" }}
            [links.first]
            rate = "10 Mbit/s"
            delay = "10 ms"
            queue = {queue}
            [links.second]
            rate = "8 Mbit/s"
            delay = "5 ms"
            queue = {queue}
            [flows.even]
            path = ["first"]
            packet_size = "1250 B"
            source = {{ kind = "cbr", rate = "5 Mbit/s", phase = "0 s" }}
            [flows.long]
            count = 3
            path = ["first", "second"]
            rtt = "60 ms"
            congestion = "reno"
            [flows.short]
            path = ["second"]
            rtt = "40 ms"
            congestion = "cubic"
            source = {{ kind = "finite_flows", size = "20 kB", load = 0.3 }}
            "#
        )
    });
}

/// A wait that ends after the run is not counted: it cannot be longer than the run.
#[test]
fn no_delay_is_longer_than_the_run() {
    let text = r#"
        duration = "20 s"
        [links.link]
        rate = "1 Mbit/s"
        changes = [{ at = "5 s", rate = "0 bit/s" }, { at = "500 s", rate = "1 Mbit/s" }]
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "1000 packets" }
        [flows.poisson]
        path = ["link"]
        source = { kind = "poisson", rate = "900 kbit/s" }
        "#;
    let results = finish(&network(text, 1));
    let link = link(&results.summary, "link");
    let p99 = link.queue_delay_s_p99.expect("packets were sent");
    assert!(p99 < 5.0, "{p99}");
}
