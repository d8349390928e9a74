//! Wrong sources of media flows, lists of flows and web sessions are refused with the line, the key
//! and a remedy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{parse, resolve, resolve_with};

/// A scenario whose source is on line 10; `more` is the line before it.
fn scenario(source: &str, more: &str) -> String {
    format!(
        r#"duration = "10 s"

[links.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
queue = {{ kind = "drop_tail", limit = "100 packets" }}
[flows.some]
path = ["bottleneck"]
{more}
source = {source}
"#
    )
}

fn refusal(source: &str, more: &str) -> String {
    resolve_with(&scenario(source, more), &[]).unwrap_err().to_string()
}

const TCP: &str = "congestion = { kind = \"reno\" }";

#[test]
fn a_file_without_a_valid_list_of_flows_is_refused_with_its_line() {
    let of = |file: &str| refusal(&format!("{{ kind = \"trace\", file = \"{file}\" }}"), TCP);
    let form = &["`start_s,bytes,rate_bps,rtt_s`", "`tailroom import`"];
    let cases: [(&str, &str, &[&str]); 5] = [
        ("missing.csv", "cannot read \"missing.csv\"", &["a readable file"]),
        ("no-flows.csv", "\"no-flows.csv\" ", form),
        ("unsorted.csv", "\"unsorted.csv\" line 3: ", &["start_s"]),
        ("words.csv", "\"words.csv\" line 2: ", form),
        ("good.trace", "\"good.trace\" line 1: ", form),
    ];
    for (file, place, names) in cases {
        let message = of(file);
        assert_refused(&message, "line 10, flows.some.source.file", names);
        assert!(message.contains(place), "{message}");
    }
}

/// A source, further keys of its group, the place of the refusal, and what its remedy names.
type Case = (String, &'static str, &'static str, &'static [&'static str]);

fn media_cases() -> Vec<Case> {
    let media = |more: &str| {
        format!("{{ kind = \"streaming\", rate = \"1 Mbit/s\", duration = \"1 s\"{more} }}")
    };
    vec![
        (media(""), "", "line 10, flows.some.source", &["`load = 0.5`"]),
        (
            media(", load = 0.5"),
            TCP,
            "line 9, flows.some.congestion",
            &["remove", "\"finite_flows\"", "\"trace\"", "\"web\""],
        ),
        (
            media(", load = 0.5"),
            "access_rate = \"1 Mbit/s\"",
            "line 9, flows.some.access_rate",
            &["remove"],
        ),
        (media(", load = 0"), "", "line 10, flows.some.source.load", &["0", "1000"]),
        (media(", load = 0.5"), "count = 2", "line 9, flows.some.count", &["remove"]),
        (
            media(", load = 0.5, load_of = \"x\""),
            "",
            "line 10, flows.some.source.load_of",
            &["bottleneck"],
        ),
    ]
}

fn list_cases() -> Vec<Case> {
    let list = || "{ kind = \"trace\", file = \"flows.csv\" }".to_owned();
    vec![
        (list(), "", "line 7, flows.some.congestion", &[r#"`congestion = { kind = "reno" }`"#]),
        (list(), "congestion = \"reno\"\ncount = 2", "line 10, flows.some.count", &["remove"]),
        (
            list(),
            "congestion = \"reno\"\nrtt = { from = \"1 s\", to = \"2 s\" }",
            "line 10, flows.some.rtt",
            &["uniform"],
        ),
    ]
}

fn web(keys: &str) -> String {
    format!("{{ kind = \"web\", arrivals_per_second = 1, {keys} }}")
}

fn web_cases() -> Vec<Case> {
    vec![
        (
            web("model = \"surge\", pages = 1"),
            TCP,
            "line 10, flows.some.source.model",
            &["ieee80216m, ns3"],
        ),
        (
            web("pages = 3"),
            TCP,
            "line 10, flows.some.source.main_object",
            &[r#"`model = "ieee80216m"`"#],
        ),
        (
            web("pages = 3, main_object = \"1 kB\""),
            TCP,
            "line 10, flows.some.source.think_time",
            &[r#"`model = "ieee80216m"`"#],
        ),
        (
            web("model = \"ieee80216m\", pages = 1, parallel = 0"),
            TCP,
            "line 10, flows.some.source.parallel",
            &["1", "1000"],
        ),
        (
            web("model = \"ieee80216m\", pages = 1, think_tim = \"1 s\""),
            TCP,
            "line 10, flows.some.source.think_tim",
            &["`think_time`"],
        ),
    ]
}

fn page_cases() -> Vec<Case> {
    vec![
        (web("model = \"ieee80216m\""), TCP, "line 10, flows.some.source.pages", &["`pages = 5`"]),
        (
            web("model = \"ieee80216m\", pages = 0"),
            TCP,
            "line 10, flows.some.source.pages",
            &["at least 1"],
        ),
        (
            web("model = \"ieee80216m\", pages = 1.5"),
            TCP,
            "line 10, flows.some.source.pages",
            &["whole number"],
        ),
        (
            web("model = \"ieee80216m\", pages = -1"),
            TCP,
            "line 10, flows.some.source.pages",
            &["0", "1000000"],
        ),
        (
            web("model = \"ieee80216m\", pages = { kind = \"geometric\", mean = 0.5 }"),
            TCP,
            "line 10, flows.some.source.pages",
            &["at least 1"],
        ),
        (
            web(
                "model = \"ieee80216m\", pages = { kind = \"mix\", values = [1, 2], weights = [1] }",
            ),
            TCP,
            "line 10, flows.some.source.pages.weights",
            &["weight for each value"],
        ),
        (
            web(
                "model = \"ieee80216m\", pages = { kind = \"mix\", values = [2, 1], weights = [1, 1] }",
            ),
            TCP,
            "line 10, flows.some.source.pages.values",
            &["ascending"],
        ),
    ]
}

#[test]
fn contradictory_keys_of_dynamic_flows_are_refused() {
    let cases = [media_cases(), list_cases(), web_cases(), page_cases()];
    for (source, more, place, names) in cases.concat() {
        assert_refused(&refusal(&source, more), place, names);
    }
}

/// A scenario that is written out with every default resolves to the same source.
#[test]
fn a_source_stays_the_same_when_written_out() {
    for (source, more) in [
        ("{ kind = \"trace\", file = \"flows.csv\" }", TCP),
        (
            "{ kind = \"streaming\", rate = \"1 Mbit/s\", duration = \"1 s\", arrivals = [\"1 s\"] }",
            "",
        ),
        (
            "{ kind = \"web\", model = \"ieee80216m\", load = 0.5, \
             pages = { kind = \"geometric\", mean = 5 } }",
            TCP,
        ),
        (
            "{ kind = \"web\", load = 0.5, pages = 3, think_time = \"1 s\", main_object = \"1 kB\", \
             embedded_objects = { kind = \"mix\", values = [0, 3], weights = [1, 2] } }",
            TCP,
        ),
    ] {
        let text = scenario(source, more);
        let written = parse(&text, &[]).unwrap().to_toml();
        assert!(resolve(&text).groups[0].source.bulk().is_none());
        assert_eq!(
            resolve(&text).groups[0].source,
            resolve(&written).groups[0].source,
            "{written}"
        );
    }
}

/// A billion a second, as `arrivals_per_second` allows.
#[test]
fn sources_that_let_next_to_no_time_pass_are_refused() {
    for rest in ["", ", fan_in = 3"] {
        let kind = if rest.is_empty() { "finite_flows" } else { "incast" };
        let of = |key: &str| {
            refusal(&format!("{{ kind = \"{kind}\", size = \"1 B\", {key}{rest} }}"), TCP)
        };
        assert_refused(&of("period = \"999 ps\""), "line 10, flows.some.source.period", &["1 ns"]);
    }
    let text = scenario("{ kind = \"finite_flows\", size = \"1 B\", load = 1000 }", TCP);
    let fast = text.replace("100 Mbit/s", "10 Tbit/s");
    let message = resolve_with(&fast, &[]).unwrap_err().to_string();
    assert_refused(&message, "line 10, flows.some.source.load", &["lower it"]);
    let slowest = "{ kind = \"finite_flows\", size = \"1 B\", period = \"1 ns\" }";
    assert!(resolve_with(&scenario(slowest, TCP), &[]).is_ok());
}
