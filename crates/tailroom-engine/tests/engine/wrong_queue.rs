//! Wrong queues are refused with the line, the key and a remedy; every discipline accepts its limit
//! in every unit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::disciplines;
use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{base_with, message, parse, resolve, resolve_with};
use tailroom_engine::quantity::limit::QueueLimit;

/// The queue of the base scenario.
const QUEUE: &str = "{ kind = \"drop_tail\", limit = \"100 packets\" }";

/// The refusal of the base scenario with this queue.
fn queue_message(queue: &str) -> String {
    message(QUEUE, queue)
}

/// Checks the refusal of each set of parameters. `queue` holds the valid beginning of the table;
/// each entry gives the parameters, the key that is wrong, and what the remedy names.
fn check_refusals(queue: &str, refusals: &[(&str, &str, &[&str])]) {
    for (parameters, key, names) in refusals {
        let found = queue_message(&format!("{{ {queue}, {parameters} }}"));
        assert_refused(&found, &format!("line 8, links.bottleneck.queue.{key}"), names);
    }
}

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
fn limits_below_one_packet_are_refused() {
    let limit = |value: &str| message("100 packets", value);
    // 0.001 of 100 Mbit/s times 80 ms = 1,000,000 B.
    assert_refused(
        &limit("0.001 bdp"),
        "line 8, links.bottleneck.queue.limit",
        &[r#""1 packet""#, r#""1500 B""#],
    );
    assert_refused(
        &limit("2.5 packets"),
        "line 8, links.bottleneck.queue.limit",
        &[r#""1249 packets""#],
    );
    assert_refused(&limit("100"), "line 8, links.bottleneck.queue.limit", &["packets, packet, B"]);
}

#[test]
fn queues_with_wrong_kinds_or_wrong_or_missing_keys_are_refused() {
    assert_refused(
        &queue_message("{ kind = \"drop_haed\", limit = \"100 packets\" }"),
        "line 8, links.bottleneck.queue.kind",
        &["`drop_head`"],
    );
    // An unknown unit, and the unit of a rate.
    for (limit, remedy) in
        [("100 pkts", "\"100 packets\""), ("100 Mbit/s", "packets, packet, B, kB")]
    {
        assert_refused(
            &queue_message(&format!("{{ kind = \"drop_head\", limit = \"{limit}\" }}")),
            "line 8, links.bottleneck.queue.limit",
            &[remedy],
        );
    }
    assert_refused(
        &queue_message("{ kind = \"random_drop\" }"),
        "line 8, links.bottleneck.queue.limit",
        &[r#"`limit = "1 bdp"`"#],
    );
    assert_refused(
        &queue_message("{ kind = \"step_mark\", limit = \"100 packets\" }"),
        "line 8, links.bottleneck.queue.threshold",
        &[r#"`threshold = "65 packets"`"#],
    );
    assert_refused(
        &queue_message("{ kind = \"drop_head\", limit = 100 }"),
        "line 8, links.bottleneck.queue.limit",
        &["packets, packet, B, kB, MB, GB, TB, KiB, MiB, GiB, ps, ns, us, ms, s, min, h, bdp"],
    );
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

#[test]
fn parameters_at_the_ends_of_their_ranges_are_accepted() {
    for queue in [
        r#"kind = "red", limit = "31 packets", min_threshold = "30 packets", max_p = 1.0"#,
        r#"kind = "red", limit = "100 packets", weight = 1.0"#,
        r#"kind = "adaptive_red", limit = "100 packets", lowest_max_p = 0.1, highest_max_p = 0.1"#,
        r#"kind = "step_mark", limit = "100 packets", threshold = "99 packets""#,
        r#"kind = "codel", target = "99 ms""#,
        r#"kind = "pie", update_interval = "10 us", mark_up_to = 1.0"#,
        r#"kind = "fq_codel", quantum = "256 B", flows = 1"#,
        r#"kind = "fq_pie", quantum = "1 GB", flows = 65536, mark_up_to = 0.0"#,
        r#"kind = "fair", limit = "100 packets", weights = { tcp = 0.001 }"#,
        r#"kind = "fair", limit = "100 packets", weights = { tcp = 1000 }"#,
        r#"kind = "fair", limit = "100 packets", buckets = 1048576"#,
        r#"kind = "fair", limit = "1 bdp", scheduler = "deficit_round_robin", quantum = "1500 B""#,
    ] {
        resolve(&base_with(QUEUE, &format!("{{ {queue} }}")));
    }
}

#[test]
fn wrong_parameters_of_red_are_refused() {
    check_refusals(
        r#"kind = "red", limit = "100 packets""#,
        &[
            (
                r#"min_threshold = "30 packets", max_threshold = "30 packets""#,
                "max_threshold",
                &["30 packets", "min_threshold"],
            ),
            (
                r#"min_threshold = "30 packets", max_threshold = "1 ms""#,
                "max_threshold",
                &["30 packets", "min_threshold"],
            ),
            (
                r#"max_threshold = "15 packets""#,
                "max_threshold",
                &["20.8 packets", "min_threshold"],
            ),
            (
                r#"mode = "bytes", min_threshold = "30 kB", max_threshold = "20 packets""#,
                "max_threshold",
                &["30000 B", "min_threshold"],
            ),
            (r#"min_threshold = "100 packets""#, "min_threshold", &["100 packets"]),
            (r#"min_threshold = "0 packets""#, "min_threshold", &[r#""1 packet""#]),
            (r#"max_threshold = "0.001 bdp""#, "max_threshold", &[r#""1 packet""#, r#""1500 B""#]),
            ("max_p = 0.0", "max_p", &["0", "1"]),
            ("max_p = 1.5", "max_p", &["0", "1"]),
            ("max_p = nan", "max_p", &["0", "1"]),
            ("weight = 0.0", "weight", &["0", "1"]),
            ("weight = 1.01", "weight", &["0", "1"]),
            ("weight = -0.002", "weight", &["0", "1"]),
            (r#"mean_packet_size = "0 B""#, "mean_packet_size", &[r#""1500 B""#]),
            (r#"mode = "packet""#, "mode", &["`packets`"]),
            ("wait = true, uniform = false", "wait", &["`wait`", "`uniform = false`"]),
        ],
    );
}

#[test]
fn wrong_parameters_of_adaptive_red_are_refused() {
    check_refusals(
        r#"kind = "adaptive_red", limit = "100 packets""#,
        &[
            (
                r#"min_threshold = "30 packets", max_threshold = "20 packets""#,
                "max_threshold",
                &["30 packets", "min_threshold"],
            ),
            (r#"min_threshold = "200 packets""#, "min_threshold", &["100 packets"]),
            ("max_p = 0.0", "max_p", &["0", "1"]),
            ("weight = 2.0", "weight", &["0", "1"]),
            ("weight = 0.0", "weight", &["0", "1"]),
            (r#"interval = "0 s""#, "interval", &[r#""100 ms""#]),
            ("lowest_max_p = 0.0", "lowest_max_p", &["0", "1"]),
            ("highest_max_p = 1.1", "highest_max_p", &["0", "1"]),
            ("lowest_max_p = 0.6", "lowest_max_p", &["0.5", "highest_max_p"]),
            ("max_p = 0.6", "max_p", &["0.01", "0.5"]),
            ("uniform = false", "uniform", &["above_max, lowest_max_p, interval", "and 8 more"]),
        ],
    );
}

#[test]
fn a_wrong_threshold_of_step_mark_is_refused() {
    check_refusals(
        r#"kind = "step_mark", limit = "100 packets""#,
        &[
            (r#"threshold = "100 packets""#, "threshold", &["100 packets"]),
            (r#"threshold = "150 kB""#, "threshold", &["100 packets"]),
            (r#"threshold = "0 packets""#, "threshold", &[r#""1 packet""#]),
        ],
    );
}

#[test]
fn wrong_parameters_of_codel_are_refused() {
    check_refusals(
        r#"kind = "codel""#,
        &[
            (r#"target = "0 ms""#, "target", &[r#""100 ms""#]),
            (r#"interval = "0 ms""#, "interval", &[r#""100 ms""#]),
            (r#"target = "100 ms""#, "target", &["100 ms", "`interval`"]),
            (r#"interval = "4 ms""#, "target", &["4 ms", "`interval`"]),
        ],
    );
}

#[test]
fn wrong_parameters_of_pie_are_refused() {
    check_refusals(
        r#"kind = "pie""#,
        &[
            (r#"target = "0 ms""#, "target", &[r#""100 ms""#]),
            (r#"update_interval = "0 ms""#, "update_interval", &[r#""100 ms""#]),
            (r#"update_interval = "9 us""#, "update_interval", &[r#""10 us""#]),
            ("mark_up_to = 1.1", "mark_up_to", &["0", "1"]),
            ("mark_up_to = -0.1", "mark_up_to", &["0", "1"]),
            ("mark_up_to = nan", "mark_up_to", &["0", "1"]),
            ("alpha = -1.0", "alpha", &["0"]),
            (r#"max_burst = "-1 ms""#, "max_burst", &[r#""100 ms""#]),
        ],
    );
}

#[test]
fn wrong_parameters_of_fq_codel_are_refused() {
    check_refusals(
        r#"kind = "fq_codel""#,
        &[
            (r#"quantum = "255 B""#, "quantum", &[r#""256 B""#, r#""1 GB""#]),
            (r#"quantum = "0 B""#, "quantum", &[r#""1500 B""#]),
            (r#"quantum = "2 GB""#, "quantum", &[r#""256 B""#, r#""1 GB""#]),
            ("flows = 0", "flows", &["1", "65536"]),
            ("flows = 65537", "flows", &["1", "65536"]),
            ("flows = 1.5", "flows", &["whole number"]),
            (r#"target = "0 ms""#, "target", &[r#""100 ms""#]),
            (r#"interval = "0 ms""#, "interval", &[r#""100 ms""#]),
            (r#"target = "200 ms""#, "target", &["100 ms", "`interval`"]),
        ],
    );
}

#[test]
fn wrong_parameters_of_fq_pie_are_refused() {
    check_refusals(
        r#"kind = "fq_pie""#,
        &[
            (r#"quantum = "255 B""#, "quantum", &[r#""256 B""#, r#""1 GB""#]),
            ("flows = 0", "flows", &["1", "65536"]),
            ("flows = 65537", "flows", &["1", "65536"]),
            (r#"target = "0 ms""#, "target", &[r#""100 ms""#]),
            (r#"update_interval = "0 ms""#, "update_interval", &[r#""100 ms""#]),
            (r#"update_interval = "9 us""#, "update_interval", &[r#""10 us""#]),
            ("mark_up_to = 1.1", "mark_up_to", &["0", "1"]),
            ("alpha = -0.1", "alpha", &["0"]),
            ("beta = -0.1", "beta", &["0"]),
        ],
    );
}

#[test]
fn wrong_parameters_of_fair_are_refused() {
    check_refusals(
        r#"kind = "fair", limit = "100 packets""#,
        &[
            (r#"quantum = "1500 B""#, "quantum", &[r#"`scheduler = "deficit_round_robin"`"#]),
            (
                r#"scheduler = "priority_fair", quantum = "1500 B""#,
                "quantum",
                &[r#"`scheduler = "deficit_round_robin"`"#],
            ),
            (
                r#"scheduler = "deficit_round_robin", quantum = "1499 B""#,
                "quantum",
                &["1500 B", r#""1500 B""#, r#""1 GB""#],
            ),
            (
                r#"scheduler = "deficit_round_robin", quantum = "2 GB""#,
                "quantum",
                &["1500 B", r#""1500 B""#, r#""1 GB""#],
            ),
            (
                r#"scheduler = "drr""#,
                "scheduler",
                &["start_time", "deficit_round_robin", "priority_fair"],
            ),
            ("buckets = 0", "buckets", &["1", "1048576"]),
            ("buckets = 1048577", "buckets", &["1", "1048576"]),
            ("weights = { tpc = 2.0 }", "weights", &["tcp"]),
            ("weights = { tcp = 0.0 }", "weights", &["0.001", "1000"]),
            ("weights = { tcp = 0.0009 }", "weights", &["0.001", "1000"]),
            ("weights = { tcp = 1000.1 }", "weights", &["0.001", "1000"]),
            ("weights = { tcp = nan }", "weights.tcp", &["finite number"]),
            (r#"weights = { tcp = "2" }"#, "weights.tcp", &["number"]),
            ("buckets = 8, weights = { tcp = 2.0 }", "weights", &["`weights`", "`buckets`"]),
            (r#"longest = "packet""#, "longest", &["`packets`"]),
            (r#"drop_from = "head""#, "drop_from", &["front, tail"]),
        ],
    );
}

/// Flows that arrive and depart have no weight, whatever other flows cross the link.
#[test]
fn weights_are_for_permanent_flows_only() {
    let with = |weighted: &str| {
        let queue = format!(
            r#"{{ kind = "fair", limit = "100 packets", weights = {{ {weighted} = 2.0 }} }}"#
        );
        let web = r#"
[flows.web]
path = ["bottleneck"]
congestion = { kind = "reno" }
rtt = "80 ms"
source = { kind = "finite_flows", size = "10 kB", load = 0.1 }
"#;
        resolve_with(&(base_with(QUEUE, &queue) + web), &[])
    };
    with("tcp").expect("the flows of the group are permanent");
    let message = with("web").expect_err("the flows of the group depart").to_string();
    assert_refused(&message, "line 8, links.bottleneck.queue.weights", &["permanent"]);
}

#[test]
fn wrong_parameters_of_dual_pi2_are_refused() {
    let message = |parameters: &str| {
        let message = queue_message(&format!("{{ kind = \"dual_pi2\", {parameters} }}"));
        let rest = message.strip_prefix("line 8, links.bottleneck.queue.");
        rest.unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    assert_refused(&message("targte = \"5 ms\""), "targte", &["`target`"]);
    assert_refused(&message("target = \"5\""), "target", &["ps, ns, us, ms, s, min, h"]);
    assert_refused(&message("target = \"0 ms\""), "target", &[r#""100 ms""#]);
    assert_refused(&message("classic_share = 1.0"), "classic_share", &["0.01", "0.99"]);
    assert_refused(&message("coupling = 0.0"), "coupling", &["0"]);
    assert_refused(&message("alpha = -0.1"), "alpha", &["0"]);
    assert_refused(&message("beta = nan"), "beta", &["0"]);
    assert_refused(&message("update_interval = \"100 ns\""), "update_interval", &[r#""1 us""#]);
    assert_refused(
        &message("l4s_threshold = \"800 us\", ramp = \"20 ms\""),
        "l4s_threshold",
        &["l4s_threshold"],
    );
    assert_refused(&message("limit = \"0.001 bdp\""), "limit", &[r#""1 packet""#, r#""1500 B""#]);
    let right = "{ kind = \"dual_pi2\", l4s_threshold = \"1 ms\", ramp = \"0 ms\" }";
    let queue = "{ kind = \"drop_tail\", limit = \"100 packets\" }";
    assert!(resolve_with(&base_with(queue, right), &[]).is_ok());
}
