//! Every discipline accepts its limit in every unit, and refuses one that no packet fits.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::disciplines;
use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{base_with, parse, resolve, resolve_with};
use tailroom_engine::quantity::limit::QueueLimit;

/// The queue of the base scenario.
const QUEUE: &str = "{ kind = \"drop_tail\", limit = \"100 packets\" }";

/// Every discipline of the registry with this limit, as a scenario writes it.
fn every_queue(limit: &str) -> Vec<String> {
    let texts: Vec<String> = disciplines::all("100 packets")
        .iter()
        .map(|config| {
            let mut table = toml::Table::try_from(config).unwrap();
            table.insert("limit".into(), limit.into());
            toml::Value::Table(table).to_string()
        })
        .collect();
    assert!(texts.len() >= 12, "{texts:?}");
    texts
}

#[test]
fn every_discipline_accepts_its_limit_in_every_unit() {
    // 40 ms at 100 Mbit/s are 500,000 B; the bdp is 100 Mbit/s times 80 ms, 1,000,000 B.
    let limits = [
        ("625 packets", QueueLimit::packets(625)),
        ("1.5 MB", QueueLimit::bytes(1_500_000)),
        ("40 ms", QueueLimit::bytes(500_000)),
        ("0.75 bdp", QueueLimit::bytes(750_000)),
    ];
    for (limit, expected) in limits {
        for queue in every_queue(limit) {
            let scenario = parse(&base_with(QUEUE, &queue), &[]).unwrap();
            let network = scenario.resolve().unwrap_or_else(|error| panic!("{queue}: {error}"));
            assert_eq!(network.links[0].queue.parameters().limit(), expected, "{queue}");
            let again = resolve(&scenario.to_toml());
            assert_eq!(format!("{again:?}"), format!("{network:?}"), "{queue}");
        }
    }
}

#[test]
fn every_discipline_refuses_a_limit_below_one_packet_and_an_undefined_bdp() {
    let check = |queue: &str, overrides: &[(&str, &str)], names: &[&str]| {
        // The test harness prints this if the check fails.
        println!("{queue}");
        let refused = resolve_with(&base_with(QUEUE, queue), overrides).unwrap_err();
        assert_refused(&refused.to_string(), "line 8, links.bottleneck.queue.limit", names);
    };
    for limit in ["0 packets", "0 B", "0 ms", "0 bdp"] {
        for queue in every_queue(limit) {
            check(&queue, &[], &["\"1 packet\""]);
        }
    }
    for queue in every_queue("1499 B") {
        check(&queue, &[], &["\"1 packet\"", "\"1500 B\""]);
    }
    let source = "{ path = [\"bottleneck\"], source = { kind = \"cbr\", rate = \"1 Mbps\" } }";
    for queue in every_queue("1 bdp") {
        check(&queue, &[("flows.tcp", source)], &["packets, bytes or milliseconds"]);
    }
}
