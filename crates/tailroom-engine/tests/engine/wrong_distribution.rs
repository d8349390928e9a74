//! Distributions in a scenario: what they resolve to, and what is refused, and how.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::distribution::Distribution;
use tailroom_engine::traffic::SourceSpec;
use tailroom_engine::traffic::poisson::PacketSizes;

use crate::support::scenario_text::{parse, refusal, resolve, resolve_with};

/// A scenario with one uncontrolled group; its source is on line 9.
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
    let SourceSpec::OnOff { on, .. } = network.groups[0].source.clone() else { panic!("on_off") };
    on
}

fn sizes(distribution: &str) -> String {
    scenario(&format!("{{ kind = \"poisson\", rate = \"1 Mbit/s\", sizes = {distribution} }}"))
}

fn drawn_sizes(distribution: &str) -> Distribution {
    let network = resolve(&sizes(distribution));
    match network.groups[0].source.clone() {
        SourceSpec::Poisson { sizes: PacketSizes::Drawn(distribution), .. } => distribution,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kind_resolves_to_the_mean_and_the_bounds_that_are_written() {
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
    ];
    for (text, mean, minimum, maximum) in cases {
        let periods = on_periods(text);
        assert!((periods.mean() / (mean * s) - 1.0).abs() < 1e-9, "{text}: {}", periods.mean());
        assert!((periods.minimum() - minimum * s).abs() < 1.0, "{text}: {}", periods.minimum());
        assert_eq!(periods.maximum().to_bits(), (maximum * s).to_bits(), "{text}");
    }
}

#[test]
fn a_mix_and_a_file_of_packet_sizes_have_their_mean() {
    let imix =
        "{ kind = \"mix\", values = [\"40 B\", \"576 B\", \"1500 B\"], weights = [7, 4, 1] }";
    // (7 * 40 + 4 * 576 + 1500) / 12 = 340.33 bytes.
    assert!((drawn_sizes(imix).mean() - 4084.0 / 12.0).abs() < 1e-9);
    let file = "{ kind = \"empirical\", file = \"imix.csv\" }";
    assert!((drawn_sizes(file).mean() - 4084.0 / 12.0).abs() < 1e-3);
}

#[test]
fn a_distribution_written_out_reads_back_as_itself() {
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
    let at = "line 9, flows.stream.source.on";
    let time = "write a number and one of ps, ns, us, ms, s, min, h, as in \"100 ms\"";
    for (distribution, expected) in [
        (
            "{ kind = \"exponential\", mean = \"-1 s\" }",
            format!("{at}.mean: \"-1 s\" is negative; {time}"),
        ),
        (
            "{ kind = \"exponential\", mean = \"0 s\" }",
            format!(
                "{at}.mean: \"0 s\" must not be zero; write a positive value, as in \"100 ms\""
            ),
        ),
        (
            "{ kind = \"exponential\" }",
            format!("{at}.mean: is missing; add it, as in `mean = \"100 ms\"`"),
        ),
        (
            "{ kind = \"pareto\", shape = 1.0, mean = \"1 s\" }",
            format!(
                "{at}.shape: a Pareto distribution of shape 1 has no mean; write more than 1, or \
                 bound it: {{ kind = \"bounded_pareto\", shape = .., min = .., max = .. }}"
            ),
        ),
        (
            "{ kind = \"pareto\", shape = -1.0, mean = \"1 s\" }",
            format!("{at}.shape: -1.0 is out of range; write more than 0.0 and at most 1000.0"),
        ),
        (
            "{ kind = \"lognormal\", mean = \"1 s\", sigma = nan }",
            format!("{at}.sigma: nan is out of range; write more than 0.0 and at most 10.0"),
        ),
        (
            "{ kind = \"weibull\", shape = 0.01, mean = \"1 s\" }",
            format!("{at}.shape: 0.01 is out of range; write at least 0.1 and at most 1000.0"),
        ),
        (
            "{ kind = \"bounded_pareto\", shape = 1, min = \"2 s\", max = \"1 s\" }",
            format!("{at}.max: 1 s is not above the smallest value, 2 s; raise max or lower min"),
        ),
        (
            "{ kind = \"uniform\", from = \"2 s\", to = \"1 s\" }",
            format!("{at}.from: the lower bound 2 s is above the upper bound 1 s; swap the bounds"),
        ),
    ] {
        assert_eq!(refusal(&on(distribution)), expected);
    }
}

#[test]
fn mixes_that_do_not_fit_together_are_refused() {
    let at = "line 9, flows.stream.source.on";
    let mix = |values: &str, weights: &str| {
        refusal(&on(&format!("{{ kind = \"mix\", values = [{values}], weights = [{weights}] }}")))
    };
    assert_eq!(
        mix("\"1 s\", \"2 s\"", "1"),
        format!("{at}.weights: there are 2 values and 1 weights; write a weight for each value")
    );
    assert_eq!(
        mix("\"1 s\"", "0"),
        format!("{at}.weights: no value has a share; write at least one weight above 0")
    );
    assert_eq!(
        mix("\"1 s\", \"2 s\"", "1, -1"),
        format!(
            "{at}.weights[1]: -1 is out of range; write at least 0.0 and at most 1000000000000.0"
        )
    );
    assert_eq!(
        mix("\"2 s\", \"1 s\"", "1, 1"),
        format!(
            "{at}.values[1]: 1 s is not above the value before it, 2 s; \
             write the values in ascending order"
        )
    );
    assert_eq!(
        mix("", ""),
        format!(
            "{at}.values: is empty; write at least 1\n{at}.weights: is empty; write at least 1"
        )
    );
}

#[test]
fn what_is_no_distribution_is_refused_with_the_kinds() {
    let at = "line 9, flows.stream.source.on";
    assert_eq!(
        refusal(&on("{ kind = \"paretto\", shape = 1.5 }")),
        format!("{at}.kind: \"paretto\" is not a kind known here; did you mean `pareto`?")
    );
    assert_eq!(
        refusal(&on("{ mean = \"1 s\" }")),
        format!(
            "{at}.kind: is missing; add `kind = \"uniform\"`, with one of the kinds uniform, \
             exponential, lognormal, pareto, bounded_pareto, weibull, mix, empirical"
        )
    );
    assert_eq!(
        refusal(&on("{ kind = \"exponential\", maen = \"1 s\" }")),
        format!("{at}.maen: there is no such key here; did you mean `mean`?")
    );
    assert_eq!(
        refusal(&on("true")),
        format!(
            "{at}: is true; write a string with a unit, as in \"100 ms\", or \
             {{ kind = \"uniform\" }}, with one of the kinds uniform, exponential, lognormal, \
             pareto, bounded_pareto, weibull, mix, empirical"
        )
    );
    assert_eq!(
        refusal(&on("3")),
        format!(
            "{at}: is the bare number 3, without a unit; write a string with one of the units ps, \
             ns, us, ms, s, min, h, as in \"100 ms\""
        )
    );
    assert_eq!(
        refusal(&sizes("\"expnential\"")),
        "line 9, flows.stream.source.sizes: \"expnential\" is not one of the choices; \
         did you mean `exponential`?"
    );
    assert_eq!(
        refusal(&sizes("7")),
        "line 9, flows.stream.source.sizes: is the number 7; write \"fixed\" or \"exponential\", \
         or { kind = \"uniform\" }, with one of the kinds uniform, exponential, lognormal, pareto, \
         bounded_pareto, weibull, mix, empirical"
    );
}

#[test]
fn files_that_hold_no_distribution_function_are_refused_by_line() {
    let remedy = "write a value and the probability of this or a smaller one a line, \
                  as in `1500 B, 0.75`, ascending to probability 1";
    for (file, problem) in [
        ("empty.csv", "holds no point"),
        ("fields.csv", "line 2: \"2 s\" is not a value, a comma and a probability"),
        ("unit.csv", "line 1: \"MB\" is not a unit known here"),
        ("negative.csv", "line 1: \"-1s\" is negative"),
        ("probability.csv", "line 2: \"50\" is not between 0 and 1"),
        ("nan.csv", "line 1: \"nan\" is not between 0 and 1"),
        ("value.csv", "line 4: the value is below that of the line before"),
        ("falling.csv", "line 3: the probability falls from 0.5 to 0.4"),
        ("short.csv", "ends at probability 0.9, not at 1"),
        ("zero.csv", "line 1: the value 0 must not have a probability"),
    ] {
        let text = on(&format!("{{ kind = \"empirical\", file = \"{file}\" }}"));
        assert_eq!(
            refusal(&text),
            format!("line 9, flows.stream.source.on.file: \"{file}\" {problem}; {remedy}")
        );
    }
    assert_eq!(
        refusal(&on("{ kind = \"empirical\", file = \"missing.csv\" }")),
        "line 9, flows.stream.source.on.file: cannot read \"missing.csv\": no such file; \
         give a readable file, relative to the scenario file"
    );
}

#[test]
fn packet_sizes_must_fit_in_a_packet() {
    let at = "line 9, flows.stream.source.sizes";
    assert_eq!(
        refusal(&sizes("{ kind = \"uniform\", from = \"40 B\", to = \"9000 B\" }")),
        format!(
            "{at}: sizes reach 9000 B, more than packet_size, 1500 B; \
             raise packet_size, or draw smaller sizes"
        )
    );
    assert_eq!(
        refusal(&sizes("{ kind = \"exponential\", mean = \"500 B\" }")),
        format!(
            "{at}: sizes have no upper bound, but a packet has one, packet_size; use a kind that \
             has: uniform, bounded_pareto, mix or empirical; or, cut at 65535 B, \
             `sizes = \"exponential\"`"
        )
    );
}

#[test]
fn on_periods_far_shorter_than_the_gap_between_packets_are_refused() {
    // 1500 bytes at 1 Mbit/s: 12 ms.
    assert_eq!(
        refusal(&on("\"1 us\"")),
        "line 9, flows.stream.source.on: lasts 1 us on average, less than a thousandth of the \
         12 ms from packet to packet; raise on or rate, or lower packet_size"
    );
    assert!(resolve_with(&on("\"12 us\""), &[]).is_ok());
}
