//! Distributions in a scenario resolve as written.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::distribution::Distribution;
use tailroom_engine::traffic::poisson::PacketSizes;
use tailroom_engine::traffic::{PacketSourceSpec, SourceSpec};

use crate::support::scenario_text::{parse, resolve};

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
