//! The queueing delay of a packet, and its loss on the wire, count when its transmission begins in the
//! measured window, whether the link knows the time on arrival or a scheduler serves it: disciplines
//! that drop nothing have the same statistics.

use serde_json::Value;

use crate::support::case::{Case, below, case, near};

/// Disciplines that drop and mark nothing: arrival rules and schedulers.
const PATIENT: [&str; 6] = [
    "kind = 'drop_tail'",
    "kind = 'red', min_threshold = '90000 packets', max_threshold = '99000 packets'",
    "kind = 'step_mark', threshold = '99000 packets'",
    "kind = 'drop_head'",
    "kind = 'codel', target = '100 s', interval = '1000 s'",
    "kind = 'pie', target = '1000 s'",
];

/// The whole summary without what a discipline says of itself.
fn comparable(case: &Case) -> Value {
    let results = case.clone().seed(3).run().results;
    let mut summary = serde_json::to_value(results.summary).expect("a summary is JSON");
    summary["events"] = Value::Null;
    summary["warnings"] = Value::Null;
    for link in summary["links"].as_object_mut().expect("links by name").values_mut() {
        link["discipline"] = Value::Null;
        link["discipline_state"] = Value::Null;
    }
    summary
}

/// Compares the results with these links under every discipline.
fn assert_alike(case: &Case, links: &[&str]) {
    let under = |discipline: &str| {
        let queue = format!("{{ {discipline}, limit = '100000 packets' }}");
        let set = |case: Case, link: &&str| case.set(format!("links.{link}.queue"), &queue);
        comparable(&case.clone().each(links, set))
    };
    let expected = under(PATIENT[0]);
    for discipline in PATIENT {
        let found = under(discipline);
        for part in ["links", "groups", "flows"] {
            assert_eq!(found[part], expected[part], "{discipline} compared with tail drop: {part}");
        }
        assert_eq!(found, expected, "{discipline} compared with tail drop");
    }
}

/// A source of twice the link's rate: packets wait for half of the run so far, so that those served
/// in 10 s have waited 2.5 s on average, and those that arrive will have waited 5 s.
#[test]
fn a_growing_queue_has_the_same_delay_behind_every_discipline() {
    let keys = "cbr 20 Mbit/s, 1500 B, source.phase = '0 s'";
    let case =
        case("10 s").link("link", "10 Mbit/s, 10 ms, 100000 packets").stream("flood", "link", keys);
    assert_alike(&case, &["link"]);
    case.run().expect("links.link.queue_delay_s_mean", near(2.5, 0.001));
}

/// As many packets as are sent in the run still wait at its end: what the wire will do to them is not
/// part of the results.
#[test]
fn a_growing_queue_has_the_same_random_losses_behind_every_discipline() {
    let loss = "loss = { kind = 'periodic', every = 10 }";
    let case = case("10 s from 2 s")
        .link("link", format!("10 Mbit/s, 10 ms, 100000 packets, {loss}"))
        .stream("flood", "link", "cbr 20 Mbit/s, 1250 B, source.phase = '0 s'");
    assert_alike(&case, &["link"]);
    // A packet takes 1 ms.
    case.run().expect("links.link.random_losses_packets", 800);
}

/// Two links, several groups, a window that begins and ends while packets wait, and transmissions that
/// begin exactly at its edges: a packet of the source takes 1 ms.
#[test]
fn groups_and_links_have_the_same_delay_behind_every_discipline() {
    let short = "source = { kind = 'finite_flows', size = '20 kB', load = 0.3 }";
    let case = case("12 s from 4 s")
        .table("series", "interval = '500 ms'")
        .link("first", "10 Mbit/s, 10 ms, 100000 packets")
        .link("second", "8 Mbit/s, 5 ms, 100000 packets")
        .stream("even", "first", "cbr 5 Mbit/s, 1250 B, source.phase = '0 s'")
        .flows("long", "first second", "count = 3, rtt = '60 ms', congestion = 'reno'")
        .flows("short", "second", format!("rtt = '40 ms', congestion = 'cubic', {short}"));
    assert_alike(&case, &["first", "second"]);
}

/// A wait that ends after the run is not counted: it cannot be longer than the run.
#[test]
fn no_delay_is_longer_than_the_run() {
    let stop = "changes = [{ at = '5 s', rate = '0 bit/s' }, { at = '500 s', rate = '1 Mbit/s' }]";
    case("20 s")
        .link("link", format!("1 Mbit/s, 10 ms, 1000 packets, {stop}"))
        .stream("poisson", "link", "poisson 900 kbit/s, 1500 B")
        .run()
        .expect("links.link.queue_delay_s_p99", below(5.0));
}
