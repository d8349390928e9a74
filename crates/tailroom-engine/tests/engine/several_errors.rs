//! A wrong file is answered with all that is wrong with it, and with nothing that follows from
//! something else. Defect 15.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::scenario_text::{BASE, FILES, base_with, resolve_with};
use tailroom_engine::scenario;

/// The messages of a scenario, one a line.
fn messages(text: &str, overrides: &[(&str, &str)]) -> Vec<String> {
    let error = resolve_with(text, overrides).unwrap_err().to_string();
    error.lines().map(str::to_owned).collect()
}

#[test]
fn three_unknown_keys_and_a_bad_unit_are_told_together_in_the_order_of_their_lines() {
    let text = r#"
duratoin = "60 s"
duration = "60 s"

[flows.tcp]
path = ["bottleneck"]
congestion = "reno"
rtt = "80 sec"
cuont = 4

[links.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
quee = 1
queue = "codel"
"#;
    let found = messages(text, &[]);
    assert_eq!(
        found,
        [
            "line 2, duratoin: there is no such key here; did you mean `duration`?",
            "line 8, flows.tcp.rtt: \"sec\" is not a known unit; write a number and one of \
             ps, ns, us, ms, s, min, h, as in \"100 ms\"",
            "line 9, flows.tcp.cuont: there is no such key here; did you mean `count`?",
            "line 14, links.bottleneck.quee: there is no such key here; did you mean `queue`?",
        ]
    );
}

#[test]
fn a_misspelled_key_is_not_missing_too() {
    let text = BASE.replace("queue =", "quueue =").replace("path =", "paht =");
    assert_eq!(
        messages(&text, &[]),
        [
            "line 8, links.bottleneck.quueue: there is no such key here; did you mean `queue`?",
            "line 12, flows.tcp.paht: there is no such key here; did you mean `path`?",
        ]
    );
}

#[test]
fn a_key_that_is_missing_beside_another_misspelled_one_is_told_too() {
    let text = BASE.replace("delay = \"20 ms\"\n", "").replace("rate =", "raet =");
    let found = messages(&text, &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("line 5, links.bottleneck.delay: is missing"), "{found:?}");
    assert!(found[1].starts_with("line 6, links.bottleneck.raet: there is no"), "{found:?}");
}

#[test]
fn a_path_that_names_an_unknown_link_gives_one_message_beside_others() {
    let text = base_with("[\"bottleneck\"]", "[\"botleneck\"]\ncuont = 3");
    assert_eq!(
        messages(&text, &[]),
        [
            "line 12, flows.tcp.path[0]: there is no link \"botleneck\"; \
             did you mean `bottleneck`?",
            "line 13, flows.tcp.cuont: there is no such key here; did you mean `count`?",
        ]
    );
    // The links' table itself is misspelled: no path is wrong on that account.
    let found = messages(&base_with("[links.", "[likns."), &[]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn contradictions_of_several_groups_are_told_together() {
    let second = "\n[flows.second]\npath = [\"nowhere\"]\nrtt = \"80 ms\"\n";
    let text = base_with("rtt = \"80 ms\"\n", "rtt = \"1 ms\"\n") + second;
    let text = text.replace("measure_from = \"10 s\"", "measure_from = \"60 s\"");
    let found = messages(&text, &[]);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert!(found[0].starts_with("line 3, measure_from: 60 s is not before the end"), "{found:#?}");
    assert!(found[1].starts_with("line 14, flows.tcp.rtt: 1 ms is less than"), "{found:#?}");
    assert!(found[2].starts_with("line 16, flows.second.congestion: is missing"), "{found:#?}");
    assert!(found[3].starts_with("line 17, flows.second.path[0]: there is no link"), "{found:#?}");
}

#[test]
fn overrides_are_told_with_the_file() {
    let text = base_with("count = 4", "cuont = 4");
    let overrides =
        [("links.botleneck.rate", "1 Mbit/s"), ("flows.tcp.rtt", "40"), ("not a key", "1")];
    let found = messages(&text, &overrides);
    assert_eq!(
        found,
        [
            "line 11, flows.tcp.cuont: there is no such key here; did you mean `count`?",
            "--set links.botleneck.rate: there is no `links.botleneck`; \
             did you mean `bottleneck`?",
            "--set not a key: is not a dotted key; write it as in links.bottleneck.queue.limit",
            "--set flows.tcp.rtt: is the bare number 40, without a unit; write a string with one \
             of the units ps, ns, us, ms, s, min, h, as in \"100 ms\"",
        ]
    );
}

#[test]
fn unreadable_files_are_told_together() {
    let text = base_with("rate = \"100 Mbit/s\"", "trace = \"none.trace\"")
        .replace("rtt = \"80 ms\"", "rtt = { kind = \"empirical\", file = \"none.csv\" }");
    let found = messages(&text, &[]);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("cannot read \"none.trace\""), "{found:#?}");
    assert!(found[1].contains("cannot read \"none.csv\""), "{found:#?}");
}

#[test]
fn more_than_ten_problems_are_counted() {
    let with_unknown = |count: usize| {
        let keys: Vec<String> = (0..count).map(|index| format!("unknown_{index} = 1")).collect();
        base_with("count = 4", &keys.join("\n"))
    };
    let found = messages(&with_unknown(10), &[]);
    assert_eq!(found.len(), 10);
    let found = messages(&with_unknown(11), &[]);
    assert_eq!(found.len(), 11);
    assert_eq!(found[10], "and 1 more problem; correct these first");
    let found = messages(&with_unknown(13), &[]);
    assert_eq!(found[10], "and 3 more problems; correct these first");
    let error = scenario::parse(&with_unknown(13), &[], None, &FILES).unwrap_err();
    assert_eq!(error.problems().len(), 13);
    assert_eq!(error.problems()[12].key, "flows.tcp.unknown_12");
}

#[test]
fn a_problem_is_one_line_whatever_the_text_says() {
    let found = messages(&base_with("\"80 ms\"", "\"80\\nms\\n\\nand\""), &[]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn wrong_syntax_stops_at_the_first_place() {
    let text = base_with("count = 4", "count = = 4\npath = = 3");
    let found = messages(&text, &[("nonsense here", "1")]);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("line 11: not valid TOML"), "{found:?}");
}
