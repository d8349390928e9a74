//! Wrong scenarios are refused with the line, the key and a remedy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{
    self, BASE, base_with, message, refusal, resolve, resolve_with,
};

/// Every congestion control, as an error lists them.
fn congestion_kinds() -> String {
    let components = scenario_text::components();
    let entries = components["congestion"].as_array().unwrap();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    format!("{} and {} more", kinds[..6].join(", "), kinds.len() - 6)
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_name() {
    assert_refused(&message("duration", "duratoin"), "line 2, duratoin", &["`duration`"]);
    assert_refused(&message("rate =", "Rate ="), "line 6, links.bottleneck.Rate", &["`rate`"]);
    assert_refused(
        &message("\"highspeed\"", "\"highspeed\", low_windw = 10.0"),
        "line 13, flows.tcp.congestion.low_windw",
        &["`low_window`"],
    );
    assert_refused(
        &message("limit = ", "qqq = "),
        "line 8, links.bottleneck.queue.qqq",
        &["limit"],
    );
    assert_refused(
        &message("\"highspeed\"", "\"higspeed\""),
        "line 13, flows.tcp.congestion.kind",
        &["`highspeed`"],
    );
    assert_refused(
        &message("{ kind = \"highspeed\" }", "3"),
        "line 13, flows.tcp.congestion",
        &[r#""reno""#, &congestion_kinds()],
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_what_the_key_means() {
    let with = |line: &str| message("delay = \"20 ms\"", &format!("delay = \"20 ms\"\n{line}"));
    assert_refused(
        &with("packet_log = true"),
        "line 8, links.bottleneck.packet_log",
        &["a whole number: number of arrivals, departures, drops and marks at this link"],
    );
    assert_refused(
        &with("arrival_log = true"),
        "line 8, links.bottleneck.arrival_log",
        &["a table, as in { from = \"60 s\", to = \"62 s\" }"],
    );
}

#[test]
fn where_words_are_allowed_a_wrong_quantity_is_told_the_words_too() {
    for value in ["80", "0.5", "\"80\"", "\"80 kg\"", "[80]"] {
        let jitter = format!("congestion = {{ kind = \"highspeed\" }}\nsend_jitter = {value}");
        assert_refused(
            &message("congestion = { kind = \"highspeed\" }", &jitter),
            "line 14, flows.tcp.send_jitter",
            &["ps, ns, us, ms, s", r#"or write "auto" or "none""#],
        );
    }
}

/// The schema accepts each of these values by itself.
#[test]
fn parameters_of_a_control_that_contradict_one_another_are_told_at_their_own_keys() {
    for (control, key, names) in [
        ("kind = \"vegas\", alpha = 5.0", "alpha", ["beta", "4"]),
        ("kind = \"illinois\", alpha_min = 11.0", "alpha_min", ["alpha_max", "10"]),
        ("kind = \"illinois\", beta_min = 0.6", "beta_min", ["beta_max", "0.5"]),
        ("kind = \"highspeed\", high_window = 30.0", "high_window", ["low_window", "38"]),
        ("kind = \"highspeed\", high_p = 0.5", "high_p", ["low_p", "0.001"]),
    ] {
        let place = format!("line 13, flows.tcp.congestion.{key}");
        assert_refused(&message("kind = \"highspeed\"", control), &place, &names);
    }
}

#[test]
fn a_long_text_is_refused_and_not_quoted() {
    let text = "é".repeat(10_001);
    let title = format!("title = \"{text}\"\nduration");
    assert_refused(&message("duration", &title), "line 2, title", &["10000"]);
    let limit = message("\"100 packets\"", &format!("\"{text}\""));
    assert_refused(&limit, "line 8, links.bottleneck.queue.limit", &["10000"]);
    assert!(limit.len() < 200, "{limit}");
    let control =
        format!("kind = \"custom\", control = \"mine\", parameters = {{ a = [\"{text}\"] }}");
    let place = "line 13, flows.tcp.congestion.parameters.a[0]";
    assert_refused(&message("kind = \"highspeed\"", &control), place, &["10000"]);
    let short = "é".repeat(10_000);
    resolve(&base_with("duration", &format!("title = \"{short}\"\nduration")));
}

#[test]
fn an_unknown_congestion_control_is_refused() {
    assert_refused(
        &message("{ kind = \"highspeed\" }", "\"higspeed\""),
        "line 13, flows.tcp.congestion",
        &["`highspeed`"],
    );
    assert_refused(
        &message("kind = \"highspeed\"", "kind = \"custom\", control = \"mine\""),
        "line 13, flows.tcp.congestion",
        &["reno", "highspeed", "`tailroom list congestion`"],
    );
    assert_refused(
        &message("kind = \"highspeed\"", "kind = \"custom\""),
        "line 13, flows.tcp.congestion.control",
        &[r#"`control = "mymodule:MyControl"`"#],
    );
}

#[test]
fn missing_keys_are_refused_with_an_example() {
    assert_refused(&message("duration = \"60 s\"\n", ""), "duration", &[r#"`duration = "60 s"`"#]);
    assert_refused(
        &message("queue = { kind = \"drop_tail\", limit = \"100 packets\" }\n", ""),
        "line 5, links.bottleneck.queue",
        &[r#"`queue = { kind = "drop_tail", limit = "100 packets" }`"#],
    );
    assert_refused(
        &message("path = [\"bottleneck\"]\n", ""),
        "line 10, flows.tcp.path",
        &[r#"`path = ["bottleneck"]`"#],
    );
    assert_refused(
        &message("rate = \"100 Mbit/s\"\n", ""),
        "line 5, links.bottleneck.rate",
        &[r#"`rate = "1 Gbit/s"`"#, "`trace`"],
    );
    assert_refused(
        &message("congestion = { kind = \"highspeed\" }\n", ""),
        "line 10, flows.tcp.congestion",
        &[r#"`congestion = { kind = "reno" }`"#, &congestion_kinds()],
    );
}

#[test]
fn quantities_without_a_known_unit_are_refused() {
    let units = "ps, ns, us, ms, s, min, h";
    let duration = |value: &str| message("\"60 s\"", value);
    assert_refused(&duration("\"60\""), "line 2, duration", &[units, r#""100 ms""#]);
    assert_refused(&duration("\"60 sec\""), "line 2, duration", &[r#""60 s""#]);
    assert_refused(&duration("\"nan s\""), "line 2, duration", &[units, r#""100 ms""#]);
    assert_refused(&duration("\"-1 s\""), "line 2, duration", &["more than 0", r#""100 ms""#]);
    assert_refused(&duration("60"), "line 2, duration", &[units, r#""100 ms""#]);
    assert_refused(&duration("inf"), "line 2, duration", &[units, r#""100 ms""#]);
    assert_refused(&duration("true"), "line 2, duration", &[units, r#""100 ms""#]);
}

#[test]
fn quantities_out_of_range_are_refused() {
    assert_refused(&message("\"60 s\"", "\"0 s\""), "line 2, duration", &[r#""100 ms""#]);
    assert_refused(&message("\"60 s\"", "\"1e30 s\""), "line 2, duration", &[r#""2592000 s""#]);
    assert_refused(&message("\"60 s\"", "\"0.1 ps\""), "line 2, duration", &[r#""1 ps""#]);
    assert_refused(
        &message("\"100 Mbit/s\"", "\"0 bit/s\""),
        "line 6, links.bottleneck.rate",
        &[r#""1 Gbit/s""#],
    );
    assert_refused(
        &message("rtt =", "packet_size = \"1000.5 B\"\nrtt ="),
        "line 14, flows.tcp.packet_size",
        &[r#""1500 B""#],
    );
    assert_refused(
        &message("count = 4", "count = 0"),
        "line 11, flows.tcp.count",
        &["1", "16777215"],
    );
    assert_refused(
        &message("\"highspeed\"", "\"highspeed\", high_decrease = nan"),
        "line 13, flows.tcp.congestion.high_decrease",
        &["0", "0.5"],
    );
    assert_refused(
        &message("count = 4", "count = 4.0"),
        "line 11, flows.tcp.count",
        &["whole number"],
    );
}

#[test]
fn a_path_must_name_each_existing_link_at_most_once() {
    assert_refused(
        &message("path = [\"bottleneck\"]", "path = [\"botleneck\"]"),
        "line 12, flows.tcp.path[0]",
        &["`bottleneck`"],
    );
    assert_refused(
        &message("path = [\"bottleneck\"]", "path = [\"bottleneck\", \"bottleneck\"]"),
        "line 12, flows.tcp.path[1]",
        &["each link once"],
    );
    assert_refused(
        &message("path = [\"bottleneck\"]", "path = []"),
        "line 12, flows.tcp.path",
        &["1", "250"],
    );
    assert_refused(
        &message("path = [\"bottleneck\"]", "path = \"bottleneck\""),
        "line 12, flows.tcp.path",
        &[r#"["bottleneck"]"#],
    );
}

/// Checks that `count_lost_in_pipe` is refused with keys that contradict it.
fn assert_count_lost_in_pipe_needs_plain_sack() {
    for (keys, remedy) in
        [("recovery = \"newreno\"", "`recovery = \"sack\"`"), ("prr = true", "`prr = false`")]
    {
        assert_refused(
            &message("rtt =", &format!("count_lost_in_pipe = true\n{keys}\nrtt =")),
            "line 14, flows.tcp.count_lost_in_pipe",
            &[remedy, "count_lost_in_pipe"],
        );
    }
    assert_refused(
        &message("{ kind = \"highspeed\" }", "\"bbr1\"\ncount_lost_in_pipe = true"),
        "line 14, flows.tcp.count_lost_in_pipe",
        &["`congestion`"],
    );
}

#[test]
fn a_timeout_above_the_longest_is_refused() {
    assert_refused(
        &message("rtt =", "min_rto = \"300 s\"\nrtt ="),
        "line 14, flows.tcp.min_rto",
        &["60 s"],
    );
}

/// 41 B take 3.3 ps at 100 Tbit/s, and 32.8 ps at 10 Tbit/s.
#[test]
fn a_link_at_which_packets_take_a_few_picoseconds_is_refused() {
    let fast = |rate: &str| {
        let packets = "packet_size = \"41 B\"\nheader_size = \"40 B\"\nrtt =";
        let near = [("links.bottleneck.delay", "1 us"), ("flows.tcp.rtt", "10 us")];
        let overrides = [("links.bottleneck.rate", rate), near[0], near[1]];
        resolve_with(&base_with("rtt =", packets), &overrides)
    };
    let refusal = fast("100 Tbit/s").expect_err("it is too fast").to_string();
    assert_refused(&refusal, "--set links.bottleneck.rate", &["10250 Gbit/s", "larger"]);
    fast("10 Tbit/s").expect("a picosecond is 3 % of a packet's time");
}

#[test]
fn contradictory_keys_are_refused() {
    assert_refused(
        &message("\"10 s\"", "\"60 s\""),
        "line 3, measure_from",
        &["measure_from", "duration"],
    );
    assert_refused(
        &message("\"80 ms\"", "{ from = \"30 ms\", to = \"50 ms\" }"),
        "line 14, flows.tcp.rtt",
        &[r#""40 ms""#],
    );
    assert_refused(
        &message("rtt =", "packet_size = \"40 B\"\nrtt ="),
        "line 14, flows.tcp.packet_size",
        &["packet_size", "header_size"],
    );
    assert_refused(
        &message("rtt =", "packet_size = \"64 KiB\"\nrtt ="),
        "line 14, flows.tcp.packet_size",
        &[r#""65535 B""#],
    );
    assert_refused(
        &message("rtt =", "start = \"60 s\"\nrtt ="),
        "line 14, flows.tcp.start",
        &["start", "duration"],
    );
    assert_refused(
        &message("rtt =", "start = \"5 s\"\nstop = \"4 s\"\nrtt ="),
        "line 15, flows.tcp.stop",
        &["stop", "start"],
    );
    assert_refused(
        &message("\"80 ms\"", "{ uniform = [\"90 ms\", \"80 ms\"] }"),
        "line 14, flows.tcp.rtt.uniform",
        &["swap"],
    );
    assert_refused(
        &message("rtt =", "source = { kind = \"poisson\", rate = \"1 Mbps\" }\nrtt ="),
        "line 13, flows.tcp.congestion",
        &["remove", r#"`source = { kind = "bulk" }`"#],
    );
    assert_refused(
        &message("\"highspeed\"", "\"highspeed\", high_window = 38"),
        "line 13, flows.tcp.congestion.high_window",
        &["low_window", "38"],
    );
    for ecn in ["", "ecn = \"off\"\n", "ecn = \"classic\"\n"] {
        let dctcp = format!("{ecn}congestion = {{ kind = \"dctcp\" }}");
        assert_refused(
            &message("congestion = { kind = \"highspeed\" }", &dctcp),
            if ecn.is_empty() { "line 10, flows.tcp.ecn" } else { "line 13, flows.tcp.ecn" },
            &[r#"`ecn = "accurate"`"#],
        );
    }
    assert_refused(
        &message("rtt =", "prr = true\nrecovery = \"newreno\"\nrtt ="),
        "line 14, flows.tcp.prr",
        &[r#"`recovery = "sack"`"#, r#"`recovery = "rack"`"#],
    );
    assert_refused(
        &message("rtt =", "sack_compression = true\nrecovery = \"newreno\"\nrtt ="),
        "line 14, flows.tcp.sack_compression",
        &[r#"`recovery = "rack"`"#, "drop sack_compression"],
    );
    assert_refused(
        &message("rtt =", "forget_sack_at_timeout = true\nrecovery = \"rack\"\nrtt ="),
        "line 14, flows.tcp.forget_sack_at_timeout",
        &[r#"`recovery = "sack"`"#],
    );
    assert_refused(
        &message("rtt =", "rack_timer_margin = \"2 ms\"\nrecovery = \"sack\"\nrtt ="),
        "line 14, flows.tcp.rack_timer_margin",
        &[r#"`recovery = "rack"`"#, "drop rack_timer_margin"],
    );
    assert_refused(
        &message("rtt =", "count_lost_in_pipe = true\nrecovery = \"rack\"\nrtt ="),
        "line 14, flows.tcp.count_lost_in_pipe",
        &[r#"`recovery = "sack"`"#],
    );
    assert_refused(
        &message("rtt =", "initial_rto = \"100 ms\"\nrtt ="),
        "line 14, flows.tcp.initial_rto",
        &["min_rto", r#""200 ms""#],
    );
    assert_count_lost_in_pipe_needs_plain_sack();
}

#[test]
fn a_scenario_without_flows_is_refused() {
    let flows_at = BASE.find("[flows").unwrap();
    assert_refused(&refusal(&BASE[..flows_at]), "flows", &["`path`", "`congestion`"]);
}

#[test]
fn wrong_logs_and_admission_controls_of_a_link_are_refused() {
    let with = |keys: &str| message("packets\" }\n", &format!("packets\" }}\n{keys}\n"));
    assert_refused(
        &with("arrival_dispersion = 10"),
        "line 9, links.bottleneck.arrival_dispersion",
        &["ps, ns, us, ms, s, min, h"],
    );
    assert_refused(
        &with("arrival_dispersion = \"0 s\""),
        "line 9, links.bottleneck.arrival_dispersion",
        &["\"100 ms\""],
    );
    assert_refused(
        &with("arrival_log = { from = \"2 s\", to = \"2 s\" }"),
        "line 9, links.bottleneck.arrival_log.to",
        &[r#""60 s""#, r#""62 s""#],
    );
    assert_refused(
        &with("arrival_log = { from = \"2 h\", to = \"3 h\" }"),
        "line 9, links.bottleneck.arrival_log.from",
        &["duration"],
    );
    assert_refused(
        &with("arrival_log = { from = \"2 s\" }"),
        "line 9, links.bottleneck.arrival_log.to",
        &["`to = "],
    );
    assert_refused(
        &with("arrival_log = { from = \"2 s\", to = \"3 s\", most_packets = 100_000_000 }"),
        "memory_limit",
        &["memory_limit", "packet_log", "arrival_log.most_packets"],
    );
    assert_refused(
        &with("admission = {}"),
        "line 9, links.bottleneck.admission",
        &[r#"`min_fair_rate = "1 Mbit/s"`"#, "`max_priority_load = 0.9`"],
    );
    assert_refused(
        &with("admission = { min_fair_rate = \"100 Mbit/s\" }"),
        "line 9, links.bottleneck.admission.min_fair_rate",
        &["lower"],
    );
    assert_refused(
        &with("admission = { max_priority_load = 1.5 }"),
        "line 9, links.bottleneck.admission.max_priority_load",
        &["0", "1"],
    );
    assert_refused(
        &with("admission = { max_priority_load = 0.9, interval = \"1 us\" }"),
        "line 9, links.bottleneck.admission.interval",
        &[r#""1 ms""#],
    );
    assert_refused(
        &with("admission = { max_priority_load = 0.9 }"),
        "line 9, links.bottleneck.admission",
        &["`finite_flows`"],
    );
}

#[test]
fn text_that_is_not_toml_or_is_too_long_is_refused() {
    let syntax = refusal("duration = \"1 s\"\nx = = 1\n");
    assert!(syntax.starts_with("line 2: ") && syntax.contains("TOML"), "{syntax}");
    let twice = message("measure_from", "duration");
    assert!(twice.starts_with("line 3: ") && twice.contains("TOML"), "{twice}");
    let huge = refusal(&"#".repeat((4 << 20) + 1));
    for part in ["4194305 bytes", "4194304", "; check"] {
        assert!(huge.contains(part), "{huge}");
    }
}

#[test]
fn a_scenario_that_needs_more_memory_than_its_limit_is_refused() {
    let many = base_with("count = 4", "count = 5000000");
    assert_refused(&refusal(&many), "memory_limit", &["memory_limit", "fewer flows"]);
    // A run of a million flows has taken 2.5 GB.
    assert!(resolve_with(&many, &[("memory_limit", "12 GB")]).is_err());
    assert_eq!(resolve_with(&many, &[("memory_limit", "13 GB")]).unwrap().flows.len(), 5_000_000);
    let deep = base_with("100 packets", "1000000000000 packets");
    assert_refused(&refusal(&deep), "memory_limit", &["rate", "rtt", "queue limit"]);
    // The windows of the flows limit how many packets a deep buffer can hold.
    assert!(resolve_with(&deep, &[("flows.tcp.max_window", "1000")]).is_ok());
}
