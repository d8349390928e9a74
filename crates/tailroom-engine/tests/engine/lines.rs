//! Links that share a line, against closed forms of priority and of weights.

use crate::support::case::{Case, case, close, near};
use crate::support::refusals::assert_refused;

/// A link of 1 Gbit/s on a line, and its packets of 1,000 B at a rate in Mbit/s.
fn class(case: Case, name: &str, line: &str, kind: &str, megabits: f64) -> Case {
    let keys = format!("{kind} {megabits} Mbit/s, 1000 B");
    case.link(name, format!("1 Gbit/s, 1 us, 10000 packets, line = {{ {line} }}"))
        .stream(name, name, keys)
}

/// Mean waits of two classes with nonpreemptive priority (Cobham 1954; Kleinrock 1976, volume 2, section
/// 3.6): W1 = W0 / (1 - r1) and W2 = W0 / ((1 - r1) (1 - r1 - r2)), with W0 = (r1 + r2) S / 2 for packets
/// of one size. In 10 s the queue is busy with some 16,000 independent backlogs, so that the standard
/// deviation of a mean is 1.2 % of it; the bound is four of them.
#[test]
fn strict_priority_has_the_waits_of_cobham() {
    let (high, low, service) = (0.3, 0.4, 8e-6);
    let both = class(case("10 s"), "low", "name = 'port'", "poisson", low * 1e3);
    let run = class(both, "high", "name = 'port', priority = 7", "poisson", high * 1e3).run();
    let residual = (high + low) * service / 2.0;
    let of_low = residual / ((1.0 - high) * (1.0 - high - low));
    run.expect("links.high.queue_delay_s_mean", close(residual / (1.0 - high), 0.05))
        .expect("links.low.queue_delay_s_mean", close(of_low, 0.05));
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
        let weighted = |case: Case, (index, weight): (usize, i32)| {
            let line = format!("name = 'port', weight = {weight}");
            class(case, &format!("c{index}"), &line, "cbr", offered[index])
        };
        let run = case("1 s from 200 ms").each([(0, 1), (1, 2), (2, 5)], weighted).run();
        for (index, megabits) in expected.into_iter().enumerate() {
            run.expect(&format!("links.c{index}.utilization"), near(megabits / 1e3, 0.1e-3));
        }
    }
}

/// A class of a higher priority takes all that it offers, and the rest is for the others.
#[test]
fn priority_comes_before_weights() {
    let first = case("1 s from 200 ms");
    let first = class(first, "a", "name = 'port', weight = 100", "cbr", 1e3);
    class(first, "b", "name = 'port', priority = 1, weight = 0.001", "cbr", 900.0)
        .run()
        .expect("links.a.utilization", near(0.1, 1e-4))
        .expect("links.b.utilization", near(0.9, 1e-4));
}

#[test]
fn wrong_lines_are_refused_with_the_key_and_a_remedy() {
    let two = |first: &str, second: &str| {
        class(class(case("1 s"), "a", first, "cbr", 1.0), "b", second, "cbr", 1.0)
    };
    for (case, place, remedies) in [
        (two("name = 'port'", "name = 'prot'"), "line 2, links.a.line.name", &["`prot`"][..]),
        (
            two("name = 'port', priority = 8", "name = 'port'"),
            "line 2, links.a.line.priority",
            &["7"],
        ),
        (
            two("name = 'port', weight = 0", "name = 'port'"),
            "line 2, links.a.line.weight",
            &["0.001", "1000"],
        ),
        (
            two("name = 'port'", "name = 'port'")
                .replaced("links.b = { rate = '1 ", "links.b = { rate = '10 "),
            "line 4, links.b.rate",
            &["lines of their own"],
        ),
    ] {
        assert_refused(&case.refusal(), place, remedies);
    }
}
