//! Media flows, lists of flows and web sessions that are refused, and how.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::traffic::SourceSpec;

use crate::support::scenario_text::{parse, resolve, resolve_with};

/// A scenario whose group's source is on line 10.
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
fn a_list_that_is_none_is_refused_with_file_line_and_remedy() {
    let of = |file: &str| refusal(&format!("{{ kind = \"trace\", file = \"{file}\" }}"), TCP);
    let at = "line 10, flows.some.source.file:";
    let form = "write a first line `start_s,bytes,rate_bps,rtt_s` and below it a flow a line, as in \
                `0.25,14600,,0.1`; `tailroom import` makes such a list from a capture";
    let cases = [
        ("missing.csv", "cannot read \"missing.csv\": no such file", ""),
        ("no-flows.csv", "\"no-flows.csv\" holds no flow", form),
        (
            "unsorted.csv",
            "\"unsorted.csv\" line 3: the flow starts before the one in front of it",
            "sort the lines by start_s",
        ),
        (
            "words.csv",
            "\"words.csv\" line 2: bytes is \"many\", and not a whole number above 0",
            form,
        ),
        ("good.trace", "\"good.trace\" line 1: there is no column start_s", form),
    ];
    for (file, problem, remedy) in cases {
        let message = of(file);
        assert!(message.starts_with(&format!("{at} {problem}; {remedy}")), "{message}");
    }
}

#[test]
fn contradictions_of_flows_that_come_and_go_are_refused() {
    let media = |more: &str| {
        format!("{{ kind = \"streaming\", rate = \"1 Mbit/s\", duration = \"1 s\"{more} }}")
    };
    let web = |more: &str| format!("{{ kind = \"web\", arrivals_per_second = 1, {more} }}");
    let list = "{ kind = \"trace\", file = \"flows.csv\" }".to_owned();
    let cases = [
        (media(""), "", "source: needs load, arrivals_per_second or arrivals"),
        (
            media(", load = 0.5"),
            TCP,
            "congestion: a source of kind \"streaming\" has no congestion",
        ),
        (
            media(", load = 0.5"),
            "access_rate = \"1 Mbit/s\"",
            "access_rate: a media flow has its own rate, whatever its access link",
        ),
        (media(", load = 0"), "", "source.load: 0 is out of range"),
        (media(", load = 0.5"), "count = 2", "count: flows that come and go are not counted"),
        (
            media(", load = 0.5, load_of = \"x\""),
            "",
            "source.load_of: the path does not pass \"x\"",
        ),
        (list.clone(), "", "congestion: is missing"),
        (list.clone(), "congestion = \"reno\"\ncount = 2", "count: flows that come and go are not"),
        (
            list,
            "congestion = \"reno\"\nrtt = { from = \"1 s\", to = \"2 s\" }",
            "rtt: an even spread needs a count of flows",
        ),
        (web("model = \"ieee80216m\""), TCP, "source.pages: is missing"),
        (web("model = \"surge\", pages = 1"), TCP, "source.model: \"surge\" is not"),
        (web("pages = 3"), TCP, "source.main_object: is missing"),
        (web("pages = 3, main_object = \"1 kB\""), TCP, "source.think_time: is missing"),
        (web("model = \"ieee80216m\", pages = 0"), TCP, "source.pages: 0 is below 1"),
        (web("model = \"ieee80216m\", pages = 1.5"), TCP, "source.pages: "),
        (web("model = \"ieee80216m\", pages = -1"), TCP, "source.pages: "),
        (web("model = \"ieee80216m\", pages = 1, parallel = 0"), TCP, "source.parallel: "),
        (
            web("model = \"ieee80216m\", pages = { kind = \"geometric\", mean = 0.5 }"),
            TCP,
            "source.pages: a mean of 0.5 is below 1",
        ),
        (
            web(
                "model = \"ieee80216m\", pages = { kind = \"mix\", values = [1, 2], weights = [1] }",
            ),
            TCP,
            "source.pages.weights: there are 2 values and 1 weights",
        ),
        (
            web(
                "model = \"ieee80216m\", pages = { kind = \"mix\", values = [2, 1], weights = [1, 1] }",
            ),
            TCP,
            "source.pages.values: the values do not ascend",
        ),
        (
            web("model = \"ieee80216m\", pages = 1, think_tim = \"1 s\""),
            TCP,
            "source.think_tim: there is no such key here; did you mean `think_time`?",
        ),
    ];
    for (source, more, problem) in cases {
        let message = refusal(&source, more);
        assert!(message.contains(&format!(", flows.some.{problem}")), "{source}: {message}");
    }
}

/// What is written out with every default filled in resolves to the same.
#[test]
fn a_written_out_scenario_means_the_same() {
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
        assert!(!matches!(resolve(&text).groups[0].source, SourceSpec::Bulk { .. }));
        assert_eq!(
            resolve(&text).groups[0].source,
            resolve(&written).groups[0].source,
            "{written}"
        );
    }
}
