//! What queues are refused, and how: place, key, problem, remedy; what every discipline accepts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::disciplines;
use crate::support::scenario_text::{base_with, message, parse, resolve, resolve_with};
use tailroom_engine::quantity::limit::QueueLimit;

/// The queue of the base scenario.
const QUEUE: &str = "{ kind = \"drop_tail\", limit = \"100 packets\" }";

/// What the base scenario says about this queue.
fn queue_message(queue: &str) -> String {
    message(QUEUE, queue)
}

/// Checks what the base scenario says about a queue that is right, as far as it goes, with each of
/// the parameters: the key and all that follows.
fn check_refusals(queue: &str, refusals: &[(&str, &str)]) {
    let with = |parameters: &str| format!("{{ {queue}, {parameters} }}");
    for (parameters, expected) in refusals {
        let found = queue_message(&with(parameters));
        assert_eq!(found, format!("line 8, links.bottleneck.queue.{expected}"), "{parameters}");
    }
}

/// Every discipline of the registry with such a limit, as a scenario writes it.
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
    let key = "line 8, links.bottleneck.queue.limit: ";
    // 0.001 of 100 Mbit/s times 80 ms = 1,000,000 B.
    assert_eq!(
        limit("0.001 bdp"),
        format!(
            "{key}0.001 bdp is 1000 B at this link, less than one packet of 1500 B; \
             raise it to at least \"1 packet\" or \"1500 B\""
        )
    );
    assert_eq!(
        limit("2.5 packets"),
        format!(
            "{key}\"2.5 packets\" is not a whole number of packets; \
             write whole packets, as in \"1249 packets\""
        )
    );
    assert!(
        limit("100").starts_with(&format!("{key}\"100\" has no unit; write a number and one of"))
    );
}

#[test]
fn queues_that_are_written_wrong_are_refused() {
    let key = "line 8, links.bottleneck.queue";
    assert_eq!(
        queue_message("{ kind = \"drop_haed\", limit = \"100 packets\" }"),
        format!("{key}.kind: \"drop_haed\" is not a kind known here; did you mean `drop_head`?")
    );
    // A limit in an unknown unit, and one in a unit of something else.
    for (limit, unit) in [("100 pkts", "pkts"), ("100 Mbit/s", "Mbit/s")] {
        let found = queue_message(&format!("{{ kind = \"drop_head\", limit = \"{limit}\" }}"));
        let expected =
            format!("{key}.limit: \"{unit}\" is not a unit known here; write a number and one of");
        assert!(found.starts_with(&expected), "{found}");
    }
    assert_eq!(
        queue_message("{ kind = \"random_drop\" }"),
        format!("{key}.limit: is missing; add it, as in `limit = \"1 bdp\"`")
    );
    assert_eq!(
        queue_message("{ kind = \"step_mark\", limit = \"100 packets\" }"),
        format!("{key}.threshold: is missing; add it, as in `threshold = \"65 packets\"`")
    );
    assert_eq!(
        queue_message("{ kind = \"drop_head\", limit = 100 }"),
        format!(
            "{key}.limit: is the bare number 100, without a unit; write a string with one of the \
             units packets, packet, B, kB, MB, GB, TB, KiB, MiB, GiB, ps, ns, us, ms, s, min, h, \
             bdp, as in \"1249 packets\""
        )
    );
}

#[test]
fn every_discipline_accepts_its_limit_in_every_unit() {
    // 40 ms at 100 Mbit/s are 500,000 B; a bdp is 100 Mbit/s times 80 ms, 1,000,000 B.
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
fn no_discipline_accepts_a_limit_without_room_or_meaning() {
    let key = "line 8, links.bottleneck.queue.limit: ";
    for limit in ["0 packets", "0 B", "0 ms", "0 bdp"] {
        let expected = format!(
            "{key}\"{limit}\" lets no packet wait; \
             write at least \"1 packet\" (the packet being sent does not count)"
        );
        for queue in every_queue(limit) {
            assert_eq!(queue_message(&queue), expected, "{queue}");
        }
    }
    for queue in every_queue("1499 B") {
        let expected = format!(
            "{key}1499 B is less than one packet of 1500 B; \
             raise it to at least \"1 packet\" or \"1500 B\""
        );
        assert_eq!(queue_message(&queue), expected, "{queue}");
    }
    let source = "{ path = [\"bottleneck\"], source = { kind = \"cbr\", rate = \"1 Mbps\" } }";
    for queue in every_queue("1 bdp") {
        let resolved = resolve_with(&base_with(QUEUE, &queue), &[("flows.tcp", source)]);
        let expected = format!(
            "{key}no flow under congestion control crosses the link, so it has no bdp; \
             give the limit in packets, bytes or milliseconds"
        );
        assert_eq!(resolved.unwrap_err().to_string(), expected, "{queue}");
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
        r#"kind = "fq_codel", quantum = "1500 B", flows = 1"#,
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
fn parameters_of_red_are_checked() {
    check_refusals(
        r#"kind = "red", limit = "100 packets""#,
        &[
            (
                r#"min_threshold = "30 packets", max_threshold = "30 packets""#,
                "max_threshold: 30 packets is not above min_threshold, which is 30 packets; \
                 raise it above 30 packets, or set a lower min_threshold",
            ),
            (
                r#"min_threshold = "30 packets", max_threshold = "1 ms""#,
                "max_threshold: 8.3 packets is not above min_threshold, which is 30 packets; \
                 raise it above 30 packets, or set a lower min_threshold",
            ),
            (
                r#"max_threshold = "15 packets""#,
                "max_threshold: 15 packets is not above min_threshold, which is 20.8 packets; \
                 raise it above 20.8 packets, or set a lower min_threshold",
            ),
            (
                r#"mode = "bytes", min_threshold = "30 kB", max_threshold = "20 packets""#,
                "max_threshold: 30000 B is not above min_threshold, which is 30000 B; raise it \
                 above 30000 B, or set a lower min_threshold",
            ),
            (
                r#"min_threshold = "100 packets""#,
                "min_threshold: 100 packets is not below the limit, which is 100 packets; \
                 lower it below 100 packets; the average never gets there",
            ),
            (
                r#"min_threshold = "0 packets""#,
                "min_threshold: \"0 packets\" lets no packet wait; write at least \"1 packet\" \
                 (the packet being sent does not count)",
            ),
            (
                r#"max_threshold = "0.001 bdp""#,
                "max_threshold: 0.001 bdp is 1000 B at this link, less than one packet of 1500 \
                 B; raise it to at least \"1 packet\" or \"1500 B\"",
            ),
            ("max_p = 0.0", "max_p: 0.0 is out of range; write more than 0.0 and at most 1.0"),
            ("max_p = 1.5", "max_p: 1.5 is out of range; write more than 0.0 and at most 1.0"),
            ("max_p = nan", "max_p: nan is out of range; write more than 0.0 and at most 1.0"),
            ("weight = 0.0", "weight: 0.0 is out of range; write more than 0.0 and at most 1.0"),
            ("weight = 1.01", "weight: 1.01 is out of range; write more than 0.0 and at most 1.0"),
            (
                "weight = -0.002",
                "weight: -0.002 is out of range; write more than 0.0 and at most 1.0",
            ),
            (
                r#"mean_packet_size = "0 B""#,
                "mean_packet_size: \"0 B\" must not be zero; write a positive value, as in \
                 \"1500 B\"",
            ),
            (
                r#"mode = "packet""#,
                "mode: \"packet\" is not one of the choices; did you mean `packets`?",
            ),
            (
                "wait = true, uniform = false",
                "wait: a gap after each drop contradicts independent drops; remove `wait` or \
                 `uniform = false`",
            ),
        ],
    );
}

#[test]
fn parameters_of_adaptive_red_are_checked() {
    check_refusals(
        r#"kind = "adaptive_red", limit = "100 packets""#,
        &[
            (
                r#"min_threshold = "30 packets", max_threshold = "20 packets""#,
                "max_threshold: 20 packets is not above min_threshold, which is 30 packets; \
                 raise it above 30 packets, or set a lower min_threshold",
            ),
            (
                r#"min_threshold = "200 packets""#,
                "min_threshold: 200 packets is not below the limit, which is 100 packets; \
                 lower it below 100 packets; the average never gets there",
            ),
            ("max_p = 0.0", "max_p: 0.0 is out of range; write more than 0.0 and at most 1.0"),
            ("weight = 2.0", "weight: 2.0 is out of range; write more than 0.0 and at most 1.0"),
            ("weight = 0.0", "weight: 0.0 is out of range; write more than 0.0 and at most 1.0"),
            (
                r#"interval = "0 s""#,
                "interval: \"0 s\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                "lowest_max_p = 0.0",
                "lowest_max_p: 0.0 is out of range; write more than 0.0 and at most 1.0",
            ),
            (
                "highest_max_p = 1.1",
                "highest_max_p: 1.1 is out of range; write more than 0.0 and at most 1.0",
            ),
            (
                "lowest_max_p = 0.6",
                "lowest_max_p: 0.6 is more than highest_max_p, which is 0.5; lower it to at \
                 most 0.5, or raise highest_max_p",
            ),
            (
                "max_p = 0.6",
                "max_p: 0.6 lies outside of lowest_max_p to highest_max_p; write 0.01 to 0.5, \
                 or move the bounds",
            ),
            (
                "uniform = false",
                "uniform: there is no such key here; use one of kind, limit, min_threshold, \
                 max_threshold, max_p, lowest_max_p, highest_max_p, interval, weight, \
                 mean_packet_size, mode, gentle, wait",
            ),
        ],
    );
}

#[test]
fn the_threshold_of_step_mark_is_checked() {
    check_refusals(
        r#"kind = "step_mark", limit = "100 packets""#,
        &[
            (
                r#"threshold = "100 packets""#,
                "threshold: 100 packets is not below the limit of 100 packets; lower it below \
                 100 packets; a packet that finds a full buffer is dropped",
            ),
            (
                r#"threshold = "150 kB""#,
                "threshold: 150000 B is not below the limit of 100 packets; lower it below 100 \
                 packets; a packet that finds a full buffer is dropped",
            ),
            (
                r#"threshold = "0 packets""#,
                "threshold: \"0 packets\" lets no packet wait; write at least \"1 packet\" \
                 (the packet being sent does not count)",
            ),
        ],
    );
}

#[test]
fn parameters_of_codel_are_checked() {
    check_refusals(
        r#"kind = "codel""#,
        &[
            (
                r#"target = "0 ms""#,
                "target: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"interval = "0 ms""#,
                "interval: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"target = "100 ms""#,
                "target: a target of 100 ms is not below the interval of 100 ms; write a time \
                 above zero and below 100 ms, or raise `interval`",
            ),
            (
                r#"interval = "4 ms""#,
                "target: a target of 5 ms is not below the interval of 4 ms; write a time \
                 above zero and below 4 ms, or raise `interval`",
            ),
        ],
    );
}

#[test]
fn parameters_of_pie_are_checked() {
    check_refusals(
        r#"kind = "pie""#,
        &[
            (
                r#"target = "0 ms""#,
                "target: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"update_interval = "0 ms""#,
                "update_interval: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"update_interval = "9 us""#,
                "update_interval: an update every 9 us is too often; write at least \"10 us\"",
            ),
            (
                "mark_up_to = 1.1",
                "mark_up_to: 1.1 is out of range; write at least 0.0 and at most 1.0",
            ),
            (
                "mark_up_to = -0.1",
                "mark_up_to: -0.1 is out of range; write at least 0.0 and at most 1.0",
            ),
            (
                "mark_up_to = nan",
                "mark_up_to: nan is out of range; write at least 0.0 and at most 1.0",
            ),
            ("alpha = -1.0", "alpha: -1.0 is out of range; write at least 0.0"),
            (
                r#"max_burst = "-1 ms""#,
                "max_burst: \"-1 ms\" is negative; write a number and one of ps, ns, us, ms, \
                 s, min, h, as in \"100 ms\"",
            ),
        ],
    );
}

#[test]
fn parameters_of_fq_codel_are_checked() {
    check_refusals(
        r#"kind = "fq_codel""#,
        &[
            (
                r#"quantum = "1499 B""#,
                "quantum: 1499 B is out of range; the largest packet has 1500 B; write \"1500 \
                 B\" to \"1 GB\"",
            ),
            (
                r#"quantum = "0 B""#,
                "quantum: \"0 B\" must not be zero; write a positive value, as in \"1500 B\"",
            ),
            (
                r#"quantum = "2 GB""#,
                "quantum: 2 GB is out of range; the largest packet has 1500 B; write \"1500 \
                 B\" to \"1 GB\"",
            ),
            ("flows = 0", "flows: 0 is out of range; write at least 1 and at most 65536"),
            ("flows = 65537", "flows: 65537 is out of range; write at least 1 and at most 65536"),
            ("flows = 1.5", "flows: is the number 1.5; write a whole number"),
            (
                r#"target = "0 ms""#,
                "target: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"interval = "0 ms""#,
                "interval: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"target = "200 ms""#,
                "target: a target of 200 ms is not below the interval of 100 ms; write a time \
                 above zero and below 100 ms, or raise `interval`",
            ),
        ],
    );
}

#[test]
fn parameters_of_fq_pie_are_checked() {
    check_refusals(
        r#"kind = "fq_pie""#,
        &[
            (
                r#"quantum = "1499 B""#,
                "quantum: 1499 B is out of range; the largest packet has 1500 B; write \"1500 \
                 B\" to \"1 GB\"",
            ),
            ("flows = 0", "flows: 0 is out of range; write at least 1 and at most 65536"),
            ("flows = 65537", "flows: 65537 is out of range; write at least 1 and at most 65536"),
            (
                r#"target = "0 ms""#,
                "target: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"update_interval = "0 ms""#,
                "update_interval: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\"",
            ),
            (
                r#"update_interval = "9 us""#,
                "update_interval: an update every 9 us is too often; write at least \"10 us\"",
            ),
            (
                "mark_up_to = 1.1",
                "mark_up_to: 1.1 is out of range; write at least 0.0 and at most 1.0",
            ),
            ("alpha = -0.1", "alpha: -0.1 is out of range; write at least 0.0"),
            ("beta = -0.1", "beta: -0.1 is out of range; write at least 0.0"),
        ],
    );
}

#[test]
fn parameters_of_fair_are_checked() {
    check_refusals(
        r#"kind = "fair", limit = "100 packets""#,
        &[
            (
                r#"quantum = "1500 B""#,
                "quantum: only `deficit_round_robin` has a quantum; remove it, or set \
                 `scheduler = \"deficit_round_robin\"`",
            ),
            (
                r#"scheduler = "priority_fair", quantum = "1500 B""#,
                "quantum: only `deficit_round_robin` has a quantum; remove it, or set \
                 `scheduler = \"deficit_round_robin\"`",
            ),
            (
                r#"scheduler = "deficit_round_robin", quantum = "1499 B""#,
                "quantum: 1499 B is out of range; the largest packet has 1500 B; write \"1500 \
                 B\" to \"1 GB\"",
            ),
            (
                r#"scheduler = "deficit_round_robin", quantum = "2 GB""#,
                "quantum: 2 GB is out of range; the largest packet has 1500 B; write \"1500 \
                 B\" to \"1 GB\"",
            ),
            (
                r#"scheduler = "drr""#,
                "scheduler: \"drr\" is not one of the choices; use one of start_time, \
                 deficit_round_robin, priority_fair",
            ),
            ("buckets = 0", "buckets: 0 is out of range; write at least 1 and at most 1048576"),
            (
                "buckets = 1048577",
                "buckets: 1048577 is out of range; write at least 1 and at most 1048576",
            ),
            (
                "weights = { tpc = 2.0 }",
                "weights: no group \"tpc\" crosses the link; name one of tcp",
            ),
            (
                "weights = { tcp = 0.0 }",
                "weights: the weight 0 of \"tcp\" is out of range; write 0.001 to 1000",
            ),
            (
                "weights = { tcp = 0.0009 }",
                "weights: the weight 0.0009 of \"tcp\" is out of range; write 0.001 to 1000",
            ),
            (
                "weights = { tcp = 1000.1 }",
                "weights: the weight 1000.1 of \"tcp\" is out of range; write 0.001 to 1000",
            ),
            ("weights = { tcp = nan }", "weights.tcp: nan is out of range; write a finite number"),
            (r#"weights = { tcp = "2" }"#, "weights.tcp: is the string \"2\"; write a number"),
            (
                "buckets = 8, weights = { tcp = 2.0 }",
                "weights: weigh flows, but `buckets` gives flows a queue together; remove one \
                 of the two",
            ),
            (
                r#"longest = "packet""#,
                "longest: \"packet\" is not one of the choices; did you mean `packets`?",
            ),
            (
                r#"drop_from = "head""#,
                "drop_from: \"head\" is not one of the choices; use one of front, tail",
            ),
        ],
    );
}

#[test]
fn parameters_of_dual_pi2_are_checked() {
    let message = |parameters: &str| {
        let message = queue_message(&format!("{{ kind = \"dual_pi2\", {parameters} }}"));
        let rest = message.strip_prefix("line 8, links.bottleneck.queue.");
        rest.unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    assert_eq!(
        message("targte = \"5 ms\""),
        "targte: there is no such key here; did you mean `target`?"
    );
    assert!(message("target = \"5\"").starts_with("target: \"5\" has no unit; write a number"));
    assert_eq!(
        message("target = \"0 ms\""),
        "target: \"0 ms\" must not be zero; write a positive value, as in \"100 ms\""
    );
    assert_eq!(
        message("classic_share = 1.0"),
        "classic_share: 1.0 is out of range; write at least 0.01 and at most 0.99"
    );
    assert_eq!(message("coupling = 0.0"), "coupling: 0.0 is out of range; write more than 0.0");
    assert_eq!(message("alpha = -0.1"), "alpha: -0.1 is out of range; write more than 0.0");
    assert_eq!(message("beta = nan"), "beta: nan is out of range; write more than 0.0");
    assert_eq!(
        message("update_interval = \"100 ns\""),
        "update_interval: 100 ns is too short to simulate; write at least \"1 us\""
    );
    assert_eq!(
        message("l4s_threshold = \"800 us\", ramp = \"20 ms\""),
        "l4s_threshold: L4S packets are marked up to 20.8 ms, not before the target 15 ms; \
         lower l4s_threshold or ramp, or raise target: L4S packets are to wait less"
    );
    assert_eq!(
        message("limit = \"0.001 bdp\""),
        "limit: 0.001 bdp is 1000 B at this link, less than one packet of 1500 B; \
         raise it to at least \"1 packet\" or \"1500 B\""
    );
    let right = "{ kind = \"dual_pi2\", l4s_threshold = \"1 ms\", ramp = \"0 ms\" }";
    let queue = "{ kind = \"drop_tail\", limit = \"100 packets\" }";
    assert!(resolve_with(&base_with(queue, right), &[]).is_ok());
}
