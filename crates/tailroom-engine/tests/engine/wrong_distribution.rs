//! Distributions in a scenario: valid ones resolve as written, and wrong ones are refused with the
//! line, the key and a remedy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::distribution::Distribution;
use tailroom_engine::traffic::poisson::PacketSizes;
use tailroom_engine::traffic::{PacketSourceSpec, SourceSpec};

use crate::support::refusals::{assert_all_refused, assert_refused};
use crate::support::scenario_text::{parse, refusal, resolve, resolve_with};

/// A scenario with one group of unresponsive flows; its source is on line 9.
fn scenario(source: &str) -> String {
    format!(
        r#"duration = "10 s"

[links.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
queue = {{ kind = "drop_tail", limit = "100 packets" }}
[flows.stream]
path = ["bottleneck"]
source = {source}
"#
    )
}

fn on(distribution: &str) -> String {
    scenario(&format!(
        "{{ kind = \"on_off\", rate = \"1 Mbit/s\", off = \"1 s\", on = {distribution} }}"
    ))
}

fn on_periods(distribution: &str) -> Distribution {
    let network = resolve(&on(distribution));
    match &network.groups[0].source {
        SourceSpec::Packets(PacketSourceSpec::OnOff(on_off)) => on_off.on.clone(),
        other => panic!("{other:?}"),
    }
}

fn sizes(distribution: &str) -> String {
    scenario(&format!("{{ kind = \"poisson\", rate = \"1 Mbit/s\", sizes = {distribution} }}"))
}

fn drawn_sizes(distribution: &str) -> Distribution {
    let network = resolve(&sizes(distribution));
    let SourceSpec::Packets(PacketSourceSpec::Poisson(poisson)) = &network.groups[0].source else {
        panic!("a Poisson stream")
    };
    let PacketSizes::Drawn(distribution) = &poisson.sizes else { panic!("{poisson:?}") };
    distribution.clone()
}

#[test]
fn every_kind_of_distribution_resolves_to_its_mean_and_bounds() {
    let s = 1e12;
    let infinite = f64::INFINITY;
    let cases = [
        ("\"2 s\"", 2.0, 2.0, 2.0),
        ("{ kind = \"uniform\", from = \"1 s\", to = \"4 s\" }", 2.5, 1.0, 4.0),
        ("{ kind = \"exponential\", mean = \"500 ms\" }", 0.5, 0.0, infinite),
        ("{ kind = \"lognormal\", mean = \"3 s\", sigma = 1.5 }", 3.0, 0.0, infinite),
        // 3 s * 0.5 / 1.5
        ("{ kind = \"pareto\", shape = 1.5, mean = \"3 s\" }", 3.0, 1.0, infinite),
        // Shape 2 from 1 to 10: 200 / 99 * 0.9.
        (
            "{ kind = \"bounded_pareto\", shape = 2, min = \"1 s\", max = \"10 s\" }",
            180.0 / 99.0,
            1.0,
            10.0,
        ),
        ("{ kind = \"weibull\", shape = 0.5, mean = \"3 s\" }", 3.0, 0.0, infinite),
        ("{ kind = \"mix\", values = [\"1 s\", \"5 s\"], weights = [3, 1] }", 2.0, 1.0, 5.0),
        // 1 s * 0.5 + 2 s * 0.5
        ("{ kind = \"empirical\", file = \"periods.csv\" }", 1.5, 1.0, 3.0),
        // 0.5 s * 50 % + 2 s * 50 %
        ("{ kind = \"empirical\", file = \"percent.txt\" }", 1.25, 0.0, 3.0),
        // 2.5 s * 50 % + 52 s * 50 %; the second column of ns-2's lists counts nothing.
        ("{ kind = \"empirical\", file = \"ns2.tcl\" }", 27.25, 1.0, 100.0),
        ("{ kind = \"empirical\", file = \"ns2.tcl\", unit = \"20 ms\" }", 0.545, 0.02, 2.0),
        // 1 s * 25 % + 2 s * 25 % + 3 s * 50 %, or 1 s * 25 % + 1.5 s * 25 % + 2.5 s * 50 %.
        ("{ kind = \"empirical\", file = \"mean-of-values.txt\" }", 2.25, 1.0, 3.0),
        ("{ kind = \"empirical\", file = \"mean-of-lines.txt\" }", 1.875, 1.0, 3.0),
        ("{ kind = \"empirical\", file = \"mean-of-lines.txt\", unit = \"2 s\" }", 3.75, 2.0, 6.0),
    ];
    for (text, mean, minimum, maximum) in cases {
        let periods = on_periods(text);
        assert!((periods.mean() / (mean * s) - 1.0).abs() < 1e-9, "{text}: {}", periods.mean());
        assert!((periods.minimum() - minimum * s).abs() < 1.0, "{text}: {}", periods.minimum());
        assert_eq!(periods.maximum().to_bits(), (maximum * s).to_bits(), "{text}");
    }
}

#[test]
fn packet_sizes_from_a_mix_and_from_a_file_have_the_mean_of_the_mix() {
    let imix =
        "{ kind = \"mix\", values = [\"40 B\", \"576 B\", \"1500 B\"], weights = [7, 4, 1] }";
    // (7 * 40 + 4 * 576 + 1500) / 12 = 340.33 bytes.
    assert!((drawn_sizes(imix).mean() - 4084.0 / 12.0).abs() < 1e-9);
    let file = "{ kind = \"empirical\", file = \"imix.csv\" }";
    assert!((drawn_sizes(file).mean() - 4084.0 / 12.0).abs() < 1e-3);
}

#[test]
fn a_distribution_stays_the_same_when_written_out() {
    for text in [
        sizes("{ kind = \"mix\", values = [\"40 B\", \"1500 B\"], weights = [7, 1] }"),
        sizes("{ kind = \"empirical\", file = \"imix.csv\" }"),
        on("{ kind = \"pareto\", shape = 1.5, mean = \"3 s\" }"),
        on("\"3 s\""),
    ] {
        let scenario = parse(&text, &[]).unwrap();
        let written = scenario.to_toml();
        let (network, again) = (scenario.resolve().unwrap(), resolve(&written));
        assert_eq!(format!("{network:?}"), format!("{again:?}"), "{written}");
    }
}

#[test]
fn parameters_without_a_finite_positive_mean_are_refused() {
    let cases: [(&str, &str, &[&str]); 9] = [
        ("{ kind = \"exponential\", mean = \"-1 s\" }", "mean", &[r#""100 ms""#]),
        ("{ kind = \"exponential\", mean = \"0 s\" }", "mean", &[r#""100 ms""#]),
        ("{ kind = \"exponential\" }", "mean", &[r#"`mean = "100 ms"`"#]),
        (
            "{ kind = \"pareto\", shape = 1.0, mean = \"1 s\" }",
            "shape",
            &["more than 1", r#""bounded_pareto""#],
        ),
        ("{ kind = \"pareto\", shape = -1.0, mean = \"1 s\" }", "shape", &["0", "1000"]),
        ("{ kind = \"lognormal\", mean = \"1 s\", sigma = nan }", "sigma", &["0", "10"]),
        ("{ kind = \"weibull\", shape = 0.01, mean = \"1 s\" }", "shape", &["0.1", "1000"]),
        (
            "{ kind = \"bounded_pareto\", shape = 1, min = \"2 s\", max = \"1 s\" }",
            "max",
            &["max", "min"],
        ),
        ("{ kind = \"uniform\", from = \"2 s\", to = \"1 s\" }", "from", &["swap"]),
    ];
    for (distribution, key, names) in cases {
        let place = format!("line 9, flows.stream.source.on.{key}");
        assert_refused(&refusal(&on(distribution)), &place, names);
    }
}

#[test]
fn zero_is_refused_where_it_is_a_duration_but_makes_no_distribution() {
    for (distribution, key, remedy) in [
        (r#"kind = "bounded_pareto", shape = 2, min = "0 s", max = "1 ms""#, "min", "more than 0"),
        (r#"kind = "empirical", file = "ns2.tcl", unit = "0 s""#, "unit", "1 ms"),
    ] {
        let delay = format!("jitter = {{ every = \"1 ms\", extra_delay = {{ {distribution} }} }}");
        let text = on("\"1 s\"").replace("[flows.stream]", &format!("{delay}\n[flows.stream]"));
        let place = format!("line 7, links.bottleneck.jitter.extra_delay.{key}");
        assert_refused(&refusal(&text), &place, &[remedy]);
    }
}

#[test]
fn mixes_with_wrong_values_or_weights_are_refused() {
    let mix = |values: &str, weights: &str| {
        refusal(&on(&format!("{{ kind = \"mix\", values = [{values}], weights = [{weights}] }}")))
    };
    assert_refused(
        &mix("\"1 s\", \"2 s\"", "1"),
        "line 9, flows.stream.source.on.weights",
        &["weight for each value"],
    );
    assert_refused(&mix("\"1 s\"", "0"), "line 9, flows.stream.source.on.weights", &["above 0"]);
    assert_refused(
        &mix("\"1 s\", \"2 s\"", "1, -1"),
        "line 9, flows.stream.source.on.weights[1]",
        &["0", "1000000000000"],
    );
    assert_refused(
        &mix("\"2 s\", \"1 s\"", "1, 1"),
        "line 9, flows.stream.source.on.values[1]",
        &["ascending"],
    );
    assert_all_refused(
        &mix("", ""),
        &[
            ("line 9, flows.stream.source.on.values", &["at least 1"]),
            ("line 9, flows.stream.source.on.weights", &["at least 1"]),
        ],
    );
}

#[test]
fn values_that_are_not_distributions_are_refused_with_the_kinds() {
    let kinds = "uniform, exponential, lognormal, pareto, bounded_pareto, weibull and 3 more";
    assert_refused(
        &refusal(&on("{ kind = \"paretto\", shape = 1.5 }")),
        "line 9, flows.stream.source.on.kind",
        &["`pareto`"],
    );
    assert_refused(
        &refusal(&on("{ mean = \"1 s\" }")),
        "line 9, flows.stream.source.on.kind",
        &[r#"`kind = "uniform"`"#, kinds],
    );
    assert_refused(
        &refusal(&on("{ kind = \"exponential\", maen = \"1 s\" }")),
        "line 9, flows.stream.source.on.maen",
        &["`mean`"],
    );
    assert_refused(
        &refusal(&on("true")),
        "line 9, flows.stream.source.on",
        &[r#""100 ms""#, r#""uniform""#, kinds],
    );
    assert_refused(&refusal(&on("3")), "line 9, flows.stream.source.on", &[r#""100 ms""#]);
    assert_refused(
        &refusal(&sizes("\"expnential\"")),
        "line 9, flows.stream.source.sizes",
        &["`exponential`"],
    );
    assert_refused(
        &refusal(&sizes("7")),
        "line 9, flows.stream.source.sizes",
        &[r#""fixed""#, r#""exponential""#, r#""uniform""#, kinds],
    );
}

#[test]
fn files_without_a_valid_distribution_function_are_refused_with_their_line() {
    for (file, place) in [
        ("empty.csv", ""),
        ("fields.csv", "line 2: "),
        ("unit.csv", "line 1: "),
        ("negative.csv", "line 1: "),
        ("probability.csv", "line 2: "),
        ("nan.csv", "line 1: "),
        ("value.csv", "line 4: "),
        ("falling.csv", "line 3: "),
        ("short.csv", "ends at probability 0.9,"),
        ("short-percent.txt", "ends at probability 99.9,"),
        ("commas.csv", "line 2: "),
        ("zero.csv", "line 1: "),
        ("mean-of-others.txt", "line 1: 3.75 is not the mean of the list, which is 1.875 with"),
    ] {
        let text = on(&format!("{{ kind = \"empirical\", file = \"{file}\" }}"));
        let found = refusal(&text);
        assert_refused(&found, "line 9, flows.stream.source.on.file", &["`1500 B, 0.75`"]);
        assert!(found.contains(&format!("\"{file}\" {place}")), "{found}");
    }
    assert_refused(
        &refusal(&on("{ kind = \"empirical\", file = \"missing.csv\" }")),
        "line 9, flows.stream.source.on.file",
        &["a readable file"],
    );
}

#[test]
fn drawn_sizes_must_fit_in_the_packet_size() {
    assert_refused(
        &refusal(&sizes("{ kind = \"uniform\", from = \"40 B\", to = \"9000 B\" }")),
        "line 9, flows.stream.source.sizes",
        &["packet_size", "smaller"],
    );
    assert_refused(
        &refusal(&sizes("{ kind = \"exponential\", mean = \"500 B\" }")),
        "line 9, flows.stream.source.sizes",
        &["uniform, bounded_pareto, mix or empirical", r#"`sizes = "exponential"`"#],
    );
}

#[test]
fn on_periods_far_shorter_than_the_gap_between_packets_are_refused() {
    // A packet of 1500 bytes takes 12 ms at 1 Mbit/s.
    assert_refused(
        &refusal(&on("\"1 us\"")),
        "line 9, flows.stream.source.on",
        &["on", "rate", "packet_size"],
    );
    assert!(resolve_with(&on("\"12 us\""), &[]).is_ok());
}
