//! A refusal reports every independent problem of a scenario, and none that follows from another.
//! Defect 15.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::refusals::assert_all_refused;
use crate::support::scenario_text::{BASE, FILES, base_with, resolve_with};
use tailroom_engine::scenario;

/// The units of a duration, as an error lists them.
const UNITS: &str = "ps, ns, us, ms, s, min, h";

/// The refusal of a scenario: one problem per line.
fn refusal(text: &str, overrides: &[(&str, &str)]) -> String {
    resolve_with(text, overrides).unwrap_err().to_string()
}

#[test]
fn three_unknown_keys_and_a_wrong_unit_are_reported_together_in_the_order_of_their_lines() {
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
    assert_all_refused(
        &refusal(text, &[]),
        &[
            ("line 2, duratoin", &["`duration`"]),
            ("line 8, flows.tcp.rtt", &["\"80 s\""]),
            ("line 9, flows.tcp.cuont", &["`count`"]),
            ("line 14, links.bottleneck.quee", &["`queue`"]),
        ],
    );
}

#[test]
fn a_misspelled_key_is_not_also_reported_as_missing() {
    let text = BASE.replace("queue =", "quueue =").replace("path =", "paht =");
    assert_all_refused(
        &refusal(&text, &[]),
        &[
            ("line 8, links.bottleneck.quueue", &["`queue`"]),
            ("line 12, flows.tcp.paht", &["`path`"]),
        ],
    );
}

#[test]
fn a_missing_key_is_reported_with_another_misspelled_key() {
    let text = BASE.replace("delay = \"20 ms\"\n", "").replace("rate =", "raet =");
    assert_all_refused(
        &refusal(&text, &[]),
        &[
            ("line 5, links.bottleneck.delay", &["`delay = "]),
            ("line 6, links.bottleneck.raet", &["`rate`"]),
        ],
    );
}

#[test]
fn a_path_that_names_an_unknown_link_is_reported_once_with_other_problems() {
    let text = base_with("[\"bottleneck\"]", "[\"botleneck\"]\ncuont = 3");
    assert_all_refused(
        &refusal(&text, &[]),
        &[
            ("line 12, flows.tcp.path[0]", &["`bottleneck`"]),
            ("line 13, flows.tcp.cuont", &["`count`"]),
        ],
    );
    // If the table of links itself is misspelled, its links do not count as missing from paths.
    let found = refusal(&base_with("[links.", "[likns."), &[]);
    assert_all_refused(&found, &[("line 5, likns", &["`links`"])]);
}

#[test]
fn each_empty_list_of_a_mix_is_reported() {
    let mix = "{ kind = \"mix\", values = [], weights = [] }";
    assert_all_refused(
        &refusal(&base_with("\"80 ms\"", mix), &[]),
        &[
            ("line 14, flows.tcp.rtt.values", &["at least 1"]),
            ("line 14, flows.tcp.rtt.weights", &["at least 1"]),
        ],
    );
}

#[test]
fn contradictions_in_several_groups_are_reported_together() {
    let second = "\n[flows.second]\npath = [\"nowhere\"]\nrtt = \"80 ms\"\n";
    let text = base_with("rtt = \"80 ms\"\n", "rtt = \"1 ms\"\n") + second;
    let text = text.replace("measure_from = \"10 s\"", "measure_from = \"60 s\"");
    assert_all_refused(
        &refusal(&text, &[]),
        &[
            ("line 3, measure_from", &["measure_from", "duration"]),
            ("line 14, flows.tcp.rtt", &["\"40 ms\""]),
            ("line 16, flows.second.congestion", &["`congestion = { kind = \"reno\" }`"]),
            ("line 17, flows.second.path[0]", &["bottleneck"]),
        ],
    );
}

#[test]
fn wrong_overrides_are_reported_together_with_problems_of_the_file() {
    let text = base_with("count = 4", "cuont = 4");
    let overrides =
        [("links.botleneck.rate", "1 Mbit/s"), ("flows.tcp.rtt", "40"), ("not a key", "1")];
    assert_all_refused(
        &refusal(&text, &overrides),
        &[
            ("line 11, flows.tcp.cuont", &["`count`"]),
            ("--set links.botleneck.rate", &["`bottleneck`"]),
            ("--set not a key", &["links.bottleneck.queue.limit"]),
            ("--set flows.tcp.rtt", &[UNITS, "\"100 ms\""]),
        ],
    );
}

#[test]
fn all_unreadable_files_are_reported_together() {
    let text = base_with("rate = \"100 Mbit/s\"", "trace = \"none.trace\"")
        .replace("rtt = \"80 ms\"", "rtt = { kind = \"empirical\", file = \"none.csv\" }");
    let found = refusal(&text, &[]);
    assert_all_refused(
        &found,
        &[
            ("line 6, links.bottleneck.trace", &["a readable file"]),
            ("line 14, flows.tcp.rtt.file", &["a readable file"]),
        ],
    );
    assert!(found.contains("\"none.trace\"") && found.contains("\"none.csv\""), "{found}");
}

#[test]
fn problems_beyond_the_tenth_are_only_counted() {
    let with_unknown = |count: usize| {
        let keys: Vec<String> = (0..count).map(|index| format!("unknown_{index} = 1")).collect();
        base_with("count = 4", &keys.join("\n"))
    };
    for (count, lines) in [(10, 10), (11, 11), (13, 11)] {
        assert_eq!(refusal(&with_unknown(count), &[]).lines().count(), lines, "{count} problems");
    }
    for (count, rest) in [(11, "1"), (13, "3")] {
        let found = refusal(&with_unknown(count), &[]);
        let last = found.lines().last().unwrap();
        assert!(last.split(' ').any(|word| word == rest), "{count} problems: {last}");
    }
    let error = scenario::parse(&with_unknown(13), &[], None, &FILES).unwrap_err();
    assert_eq!(error.problems().len(), 13);
    assert_eq!(error.problems()[12].key, "flows.tcp.unknown_12");
}

#[test]
fn a_problem_takes_one_line_even_if_the_value_has_several() {
    let found = refusal(&base_with("\"80 ms\"", "\"80\\nms\\n\\nand\""), &[]);
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn reading_stops_at_the_first_syntax_error() {
    let text = base_with("count = 4", "count = = 4\npath = = 3");
    let found = refusal(&text, &[("nonsense here", "1")]);
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.starts_with("line 11: ") && found.contains("TOML"), "{found}");
}

/// The work grows with the size of a scenario, not with the number of its problems squared.
#[test]
fn the_check_stops_after_a_hundred_problems() {
    let lines: Vec<String> = (0..200_000).map(|number| format!("k{number} = 1\n")).collect();
    let message = refusal(&(lines.concat() + BASE), &[]);
    assert_eq!(message.lines().count(), 11, "{message}");
    assert!(message.ends_with("and at least 90 more problems; correct these first"), "{message}");
}

/// A key of 87,500 steps ended the process: what walks the nested tables recurses.
#[test]
fn a_key_with_very_many_steps_is_refused_shortly() {
    for steps in [33, 200_000] {
        let key = vec!["a"; steps].join(".");
        let message = refusal(BASE, &[(&key, "1")]);
        assert!(message.contains(&format!("has {steps} steps, more than 32")), "{message}");
        assert!(message.len() < 300, "{message}");
    }
    let below_a_link = format!("links.bottleneck.queue.{}", vec!["a"; 100_000].join("."));
    assert!(refusal(BASE, &[(&below_a_link, "1")]).contains("more than 32"));
}

/// Each wrong name is compared with all names, so that the number of such errors is bounded as that of others is.
#[test]
fn of_thousands_of_paths_to_no_link_a_hundred_are_looked_at() {
    let queue = r#"queue = { kind = "drop_tail", limit = "9 packets" }"#;
    let mut text = String::from("duration = \"1 s\"\n");
    for index in 0..1_000 {
        let link = format!("[links.l{index}]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{queue}\n");
        let group = format!(
            "[flows.f{index}]\npath = [\"x{index}\"]\ncongestion = \"reno\"\nrtt = \"9 ms\"\n"
        );
        text += &(link + &group);
    }
    for text in [text.replace("9 ms", "9"), text] {
        let scenario = scenario::parse(&text, &[], None, &scenario::NoFiles);
        let error = scenario
            .and_then(|scenario| scenario.resolve())
            .expect_err("no path leads over a link");
        let problems = error.problems();
        let unknown =
            problems.iter().filter(|problem| problem.problem.contains("there is no link"));
        assert!((1..=100).contains(&unknown.count()), "{} problems", problems.len());
    }
}
