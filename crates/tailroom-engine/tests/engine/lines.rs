//! Links that share a line, against closed forms of priority and of weights.

use crate::support::refusals::assert_refused;
use crate::support::scenario_run::{refusal, run};
use crate::support::summaries::link;

/// A link of 1 Gbit/s on a line.
fn class(name: &str, line: &str) -> String {
    format!(
        "[links.{name}]
        rate = \"1 Gbit/s\"
        delay = \"1 us\"
        queue = {{ kind = \"drop_tail\", limit = \"10000 packets\" }}
        line = {{ {line} }}\n"
    )
}

/// Packets of 1,000 B at a rate in Mbit/s.
fn stream(path: &str, kind: &str, megabits: f64) -> String {
    format!(
        "[flows.{path}]
        path = [\"{path}\"]
        packet_size = \"1000 B\"
        source = {{ kind = \"{kind}\", rate = \"{megabits} Mbit/s\" }}\n"
    )
}

/// Mean waits of two classes with nonpreemptive priority (Cobham 1954; Kleinrock 1976, volume 2, section
/// 3.6): W1 = W0 / (1 - r1) and W2 = W0 / ((1 - r1) (1 - r1 - r2)), with W0 = (r1 + r2) S / 2 for packets
/// of one size. In 10 s the queue is busy with some 16,000 independent backlogs, so that the standard
/// deviation of a mean is 1.2 % of it; the bound is four of them.
#[test]
fn strict_priority_has_the_waits_of_cobham() {
    let (high, low, service) = (0.3, 0.4, 8e-6);
    let text = [
        "duration = \"10 s\"\n".to_owned(),
        class("low", "name = \"port\""),
        class("high", "name = \"port\", priority = 7"),
        stream("low", "poisson", low * 1e3),
        stream("high", "poisson", high * 1e3),
    ];
    let results = run(&text.concat(), 1);
    let residual = (high + low) * service / 2.0;
    let expected = [residual / (1.0 - high), residual / ((1.0 - high) * (1.0 - high - low))];
    for (name, expected) in ["high", "low"].iter().zip(expected) {
        let wait = link(&results.summary, name).queue_delay_s_mean.expect("packets pass");
        assert!((wait / expected - 1.0).abs() < 0.05, "{name}: {wait}, expected {expected}");
    }
}

/// Max-min fairness with weights 1, 2 and 5: what one class does not use is shared by the others. A turn
/// moves at most the packets of a quantum, 1,000 B times the weight, from one end of the window to the
/// other.
#[test]
fn classes_of_one_priority_share_the_line_by_their_weights() {
    for (offered, expected) in [
        ([1e3, 1e3, 1e3], [125.0, 250.0, 625.0]),
        ([1e3, 1e3, 100.0], [300.0, 600.0, 100.0]),
        ([50.0, 1e3, 1e3], [50.0, 950.0 * 2.0 / 7.0, 950.0 * 5.0 / 7.0]),
    ] {
        let mut text = "duration = \"1 s\"\nmeasure_from = \"200 ms\"\n".to_owned();
        for (index, weight) in [1.0, 2.0, 5.0].iter().enumerate() {
            let name = format!("c{index}");
            text += &class(&name, &format!("name = \"port\", weight = {weight}"));
            text += &stream(&name, "cbr", offered[index]);
        }
        let results = run(&text, 1);
        for (index, expected) in expected.iter().enumerate() {
            let found = link(&results.summary, &format!("c{index}")).utilization * 1e3;
            assert!((found - expected).abs() < 0.1, "c{index}: {found}, expected {expected}");
        }
    }
}

/// A class of a higher priority takes all that it offers, and the rest is for the others.
#[test]
fn priority_comes_before_weights() {
    let text = [
        "duration = \"1 s\"\nmeasure_from = \"200 ms\"\n".to_owned(),
        class("a", "name = \"port\", weight = 100"),
        class("b", "name = \"port\", priority = 1, weight = 0.001"),
        stream("a", "cbr", 1e3),
        stream("b", "cbr", 900.0),
    ];
    let results = run(&text.concat(), 1);
    let used = ["a", "b"].map(|name| link(&results.summary, name).utilization);
    assert!((used[0] - 0.1).abs() < 1e-4 && (used[1] - 0.9).abs() < 1e-4, "{used:?}");
}

#[test]
fn wrong_lines_are_refused_with_the_key_and_a_remedy() {
    let two = |first: &str, second: &str| {
        let links = [class("a", first), class("b", second)].concat();
        refusal(&format!("duration = \"1 s\"\n{links}{}", stream("a", "cbr", 1.0)))
    };
    let message = two("name = \"port\"", "name = \"prot\"");
    assert_refused(&message, "line 6, links.a.line.name", &["`prot`"]);
    let message = two("name = \"port\", priority = 8", "name = \"port\"");
    assert_refused(&message, "line 6, links.a.line.priority", &["7"]);
    let message = two("name = \"port\", weight = 0", "name = \"port\"");
    assert_refused(&message, "line 6, links.a.line.weight", &["0.001", "1000"]);
    let slow = class("b", "name = \"port\"").replace("1 Gbit/s", "10 Gbit/s");
    let links = [class("a", "name = \"port\""), slow].concat();
    let message = refusal(&format!("duration = \"1 s\"\n{links}{}", stream("a", "cbr", 1.0)));
    assert_refused(&message, "line 8, links.b.rate", &["lines of their own"]);
}
