//! Wrong scenarios that take more than a row of `refusals.toml`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{
    base_with, components, message, refusal, resolve, resolve_with,
};

#[test]
fn a_group_without_a_control_is_refused_with_the_list_of_controls() {
    let components = components();
    let entries = components["congestion"].as_array().unwrap();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    let kinds = format!("{} and {} more", kinds[..6].join(", "), kinds.len() - 6);
    assert_refused(
        &message("congestion = { kind = \"highspeed\" }\n", ""),
        "line 10, flows.tcp.congestion",
        &[r#"`congestion = { kind = "reno" }`"#, &kinds],
    );
    let number = message("{ kind = \"highspeed\" }", "3");
    assert_refused(&number, "line 13, flows.tcp.congestion", &[r#""reno""#, &kinds]);
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
