//! Scenarios from text to network: values, defaults, overrides, and the scenarios that tailroom
//! ships.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::float_cmp, reason = "the numbers compared are exact")]

use std::fs;
use std::path::{Path, PathBuf};

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::Network;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::scenario;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::traffic::poisson::PacketSizes;
use tailroom_engine::traffic::{PacketSourceSpec, SourceSpec};
use tailroom_engine::units::{Rate, Time};

use crate::support::networks::drop_tail;
use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{self, BASE, FILES, base_with, parse, resolve, resolve_with};

fn milliseconds(times: impl Iterator<Item = Time>) -> Vec<f64> {
    times.map(|time| time.picoseconds() as f64 / 1e9).collect()
}

#[test]
fn overrides_replace_and_add_keys() {
    let network = resolve_with(
        BASE,
        &[
            ("links.bottleneck.queue.limit", "625 packets"),
            ("flows.tcp.count", "2"),
            ("flows.tcp.congestion", "{ kind = \"reno\" }"),
            ("series.interval", "1 s"),
        ],
    )
    .unwrap();
    assert_eq!(network.links[0].queue, drop_tail(Limit::Packets(625)));
    assert_eq!(network.flows.len(), 2);
    assert_eq!(network.groups[0].tcp.as_ref().unwrap().congestion.name(), "reno");
    assert_eq!(network.series_interval, Some(Time::from_milliseconds(1000)));
}

#[test]
fn a_wrong_override_is_refused_with_its_key() {
    let refused = |key: &str, value: &str, place: &str, name: &str| {
        let message = resolve_with(BASE, &[(key, value)]).unwrap_err().to_string();
        assert_refused(&message, &format!("--set {place}"), &[name]);
    };
    refused("flows.tcp.rtt", "10 ms", "flows.tcp.rtt", "\"40 ms\"");
    refused("links.bottlneck.rate", "1 Gbps", "links.bottlneck.rate", "`bottleneck`");
    refused("flows.tcp.rtt.from", "1 s", "flows.tcp.rtt.from", "`flows.tcp.rtt`");
    refused("flows.tcp.cuont", "1", "flows.tcp.cuont", "`count`");
    refused("serise.interval", "1 s", "serise", "`series`");
    refused("flows tcp", "1", "flows tcp", "links.bottleneck.queue.limit");
}

#[test]
fn the_seed_option_overrides_the_seed_of_the_file() {
    let seeded = |seed| scenario::parse(BASE, &[], Some(seed), &FILES);
    assert_eq!(seeded(7).unwrap().resolve().unwrap().seed, 7);
    let error = seeded(u64::MAX).unwrap_err().to_string();
    assert_refused(&error, "--seed", &["9223372036854775807"]);
}

#[test]
fn a_program_may_leave_out_the_unit_of_a_key() {
    let overrides = [
        ("links.bottleneck.rate", "5e6"),
        ("links.bottleneck.queue.limit", "9"),
        ("flows.tcp.start.uniform", "[0, 0.5]"),
        ("defaults.packet_size", "1000"),
        ("flows.tcp.count", "2"),
    ];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let read = |bare: &[&str]| {
        let bare: Vec<String> = bare.iter().map(|key| (*key).to_owned()).collect();
        scenario::parse_from_program(BASE, &overrides, &bare, None, &FILES)
    };
    let whole = read(&[""]).unwrap();
    let units = whole.bare_numbers().iter().map(|(key, unit)| (key.as_str(), *unit));
    let expected = [
        ("links.bottleneck.rate", "bit/s"),
        ("links.bottleneck.queue.limit", "packets"),
        ("flows.tcp.start.uniform[0]", "s"),
        ("flows.tcp.start.uniform[1]", "s"),
        ("defaults.packet_size", "B"),
    ];
    let mut units: Vec<_> = units.collect();
    units.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(units, expected);
    let network = whole.resolve().unwrap();
    assert_eq!(network.groups[0].packet_size, 1000);
    assert_eq!(network.links[0].rate, Rate::from_bits_per_second(5_000_000));
    // Every other number is still without a unit.
    let error = read(&["links.bottleneck.rate"]).unwrap_err().to_string();
    assert_eq!(error.matches("without a unit").count(), 4, "{error}");
}

#[test]
fn another_seed_gives_what_the_text_with_that_seed_gives() {
    let text = BASE.replace("rtt = \"80 ms\"", "rtt = { uniform = [\"80 ms\", \"90 ms\"] }");
    let seeded = scenario::parse(&text, &[], Some(7), &FILES).unwrap();
    let again = scenario::parse(&text, &[], None, &FILES).unwrap().with_seed(7).unwrap();
    assert_eq!(again.to_toml(), seeded.to_toml());
    let round_trips =
        |network: &Network| network.flows.iter().map(|flow| flow.rtt).collect::<Vec<_>>();
    assert_eq!(round_trips(&again.resolve().unwrap()), round_trips(&seeded.resolve().unwrap()));
    assert!(again.with_seed(u64::MAX).is_err());
}

#[test]
fn limits_in_time_and_bdp_round_down_to_bytes() {
    let bytes = |limit: &str| {
        let network = resolve(&base_with("100 packets", limit));
        assert_eq!(network.links[0].bdp_bytes, 1e6);
        network.links[0].queue.clone()
    };
    let limit = drop_tail;
    assert_eq!(bytes("1249 packets"), limit(Limit::Packets(1249)));
    assert_eq!(bytes("1.25 MB"), limit(Limit::Bytes(1_250_000)));
    assert_eq!(bytes("20 ms"), limit(Limit::Bytes(250_000)));
    assert_eq!(bytes("0.1 bdp"), limit(Limit::Bytes(100_000)));
    assert_eq!(bytes("0.3 bdp"), limit(Limit::Bytes(300_000)));
    assert_eq!(bytes("0.1234567 bdp"), limit(Limit::Bytes(123_456)));
}

#[test]
fn a_trace_sets_the_rate_and_repeats() {
    let text = base_with("rate = \"100 Mbit/s\"", "trace = \"good.trace\"");
    let link = resolve(&text).links.remove(0);
    let rates: Vec<(u64, u64)> = link
        .rate_changes
        .iter()
        .map(|change| (change.at.picoseconds() / 1_000_000_000, change.rate.bits_per_second()))
        .collect();
    assert_eq!(rates, [(0, 24_000_000), (1, 12_000_000), (2, 0), (3, 12_000_000)]);
    assert_eq!(link.rate_period, Some(Time::from_milliseconds(4)));
    assert_eq!(link.rate, Rate::from_bits_per_second(12_000_000));
}

#[test]
fn a_link_has_the_loss_and_the_changes_that_are_written() {
    let text = base_with(
        "delay = \"20 ms\"",
        "delay = \"20 ms\"\nloss = { kind = \"gilbert_elliott\", good_to_bad = 0.01, \
         bad_to_good = 0.5 }\nchanges = [{ at = \"10 s\", rate = \"0 bit/s\" }, \
         { at = \"11 s\", rate = \"50 Mbit/s\", delay = \"30 ms\" }]",
    );
    let link = resolve(&text).links.remove(0);
    let expected = LossSpec::GilbertElliott {
        good_to_bad: 0.01,
        bad_to_good: 0.5,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    assert_eq!(link.loss, expected);
    let rates: Vec<u64> =
        link.rate_changes.iter().map(|change| change.rate.bits_per_second()).collect();
    assert_eq!(rates, [0, 50_000_000]);
    assert_eq!(milliseconds(link.delay_changes.iter().map(|change| change.at)), [11_000.0]);
}

#[test]
fn draws_of_a_group_depend_only_on_the_seed_and_the_name_of_the_group() {
    let drawn = base_with("rtt = \"80 ms\"", "rtt = { uniform = [\"50 ms\", \"90 ms\"] }");
    let rtts = |text: &str| -> Vec<Time> {
        let network = resolve(text);
        let own = network.groups.iter().position(|group| group.name == "tcp").unwrap();
        network.flows.iter().filter(|flow| flow.group == own).map(|flow| flow.rtt).collect()
    };
    let first = rtts(&drawn);
    assert!(first.iter().all(|rtt| (50.0..=90.0).contains(&(rtt.seconds() * 1e3))));
    assert_ne!(first[0], first[1]);
    let before = "[flows.other]\npath = [\"bottleneck\"]\ncongestion = { kind = \"reno\" }\n\
                  rtt = { uniform = [\"50 ms\", \"90 ms\"] }\n\n[flows.tcp]";
    assert_eq!(first, rtts(&drawn.replace("[flows.tcp]", before)));
    assert_ne!(first, rtts(&format!("seed = 2\n{drawn}")));
}

#[test]
fn the_rtt_defaults_to_the_round_trip_of_the_path() {
    let network = resolve(&base_with("rtt = \"80 ms\"\n", ""));
    assert_eq!(network.flows[0].rtt, Time::from_milliseconds(40));
    let text = base_with("rtt = \"80 ms\"\n", "");
    let error = resolve_with(&text, &[("links.bottleneck.delay", "0 s")]).unwrap_err();
    assert_refused(&error.to_string(), "line 10, flows.tcp.rtt", &["rtt"]);
}

fn shipped() -> Vec<PathBuf> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios"), &mut found);
    found.sort();
    found
}

#[test]
fn every_shipped_scenario_resolves_and_stays_the_same_when_written_out() {
    let files = shipped();
    assert!(files.len() >= 14, "{files:?}");
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let scenario = parse(&text, &[]).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let network = scenario.resolve().unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(!scenario.title().is_empty(), "{path:?}");
        let written = scenario.to_toml();
        assert!(written.contains("memory_limit = \"4 GB\""), "{written}");
        assert_eq!(format!("{network:?}"), format!("{:?}", resolve(&written)), "{path:?}");
    }
}

#[test]
fn a_scenario_with_every_kind_of_key_stays_the_same_when_written_out() {
    let text = r#"
title = "everything"
duration = "61.000000000001 s"
measure_from = "1 us"
seed = 12345678901234567
memory_limit = "8 GiB"
series = {}

[links."b"]
trace = "good.trace"
delay = "0 s"
queue = { kind = "drop_tail", limit = "1.0312500001 bdp" }
loss = { kind = "bernoulli", probability = 1e-7 }
changes = [{ at = "3 min", delay = "1.5 ms" }]
packet_log = 10

[links.a]
rate = "2.500000001 Gbps"
delay = "333.333333333 us"
queue = { kind = "drop_tail", limit = "1.5 MiB" }
loss = { kind = "periodic", every = 1000 }

[flows.z]
count = 3
path = ["a", "b"]
reverse_path = ["a"]
sender_side = 0.3333333333333333
congestion = { kind = "highspeed", low_p = 1.03878e-3, increase = "table" }
packet_size = "9000 B"
header_size = "52 B"
ack_size = "64 B"
rtt = { uniform = ["50 ms", "90 ms"] }
access_rate = "10 Mbps"
start = { from = "1 s", to = "0 s" }
stop = "50 s"
source = { kind = "bulk", bytes = "1 GB" }
recovery = "sack"
prr = true
delayed_ack = { packets = 4 }
ack_aggregation = "2 ms"
initial_window = 3
initial_ssthresh = 50
min_rto = "1 s"
rto_granularity = "1 ms"
restart_rto_at_retransmission = false
max_window = 1000
rtt_samples = "karn"
slow_start = { kind = "limited" }
pacing = true
send_burst = 16
forget_sack_at_timeout = true

[flows.y]
path = ["a"]
congestion = { kind = "reno" }
delayed_ack = true
slow_start = { kind = "hystart_plus_plus" }
count_lost_in_pipe = true

[flows.x]
path = ["b"]
source = { kind = "poisson", rate = "1 Mbps", sizes = "exponential" }
"#;
    let scenario = parse(text, &[]).unwrap();
    let network = scenario.resolve().unwrap();
    let written = scenario.to_toml();
    assert_eq!(format!("{network:?}"), format!("{:?}", resolve(&written)), "{written}");
    let names: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["b", "a"], "links keep the order of the file");
    let names: Vec<&str> = network.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["z", "y", "x"], "groups keep the order of the file");
    assert_eq!(network.groups[0].path, [1, 0]);
    let counts =
        |group: usize| network.groups[group].tcp.as_ref().map(|tcp| tcp.count_lost_in_pipe);
    assert_eq!((counts(0), counts(1), counts(2)), (Some(false), Some(true), None));
    let SourceSpec::Packets(PacketSourceSpec::Poisson(poisson)) = &network.groups[2].source else {
        panic!("a Poisson stream")
    };
    assert_eq!(poisson.sizes, PacketSizes::Exponential);
    assert_eq!(network.duration.picoseconds(), 61_000_000_000_001);
}

#[test]
fn figure_3_of_barman_resolves_to_the_numbers_of_the_paper() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/barman-2004/figure-3.toml");
    let network = resolve(&fs::read_to_string(path).unwrap());
    assert_eq!(network.duration, Time::from_milliseconds(160_000));
    assert_eq!(network.measure_from, Time::from_milliseconds(60_000));
    assert_eq!(network.series_interval, Some(Time::from_milliseconds(100)));
    let [link] = network.links.as_slice() else { panic!("one link") };
    assert_eq!(link.rate, Rate::from_bits_per_second(1_000_000_000));
    assert_eq!(link.delay, Time::from_milliseconds(50));
    assert_eq!(link.queue, drop_tail(Limit::Packets(1249)));
    assert_eq!(link.bdp_bytes, 15_000_000.0); // 1 Gbit/s times the mean RTT, 120 ms
    let rtts = milliseconds(network.flows.iter().map(|flow| flow.rtt));
    assert_eq!(rtts, [115.5, 116.5, 117.5, 118.5, 119.5, 120.5, 121.5, 122.5, 123.5, 124.5]);
    let starts = milliseconds(network.flows.iter().map(|flow| flow.start));
    assert_eq!(starts, [0.0, 1e3, 2e3, 3e3, 4e3, 5e3, 6e3, 7e3, 8e3, 9e3]);
    let [group] = network.groups.as_slice() else { panic!("one group") };
    assert_eq!((group.packet_size, group.header_size), (1000, 40));
    assert_eq!(network.flows[0].access_rate, Some(Rate::from_bits_per_second(10_000_000_000)));
    let tcp = group.tcp.as_ref().unwrap();
    assert!(matches!(tcp.congestion, CongestionConfig::Highspeed(_)));
    assert_eq!((tcp.delayed_ack, tcp.initial_window), (DelayedAck::OFF, 2));
    assert_eq!(tcp.min_rto.time(), Time::from_milliseconds(200));
}

#[test]
fn every_component_is_listed_with_its_documented_parameters() {
    let components = scenario_text::components();
    let kinds = |registry: &str| -> Vec<String> {
        let entries = components[registry].as_array().unwrap();
        entries.iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert!(kinds("congestion").contains(&"reno".to_owned()));
    assert!(kinds("queue").contains(&"drop_tail".to_owned()));
    let sources = [
        "bulk",
        "objects",
        "finite_flows",
        "trace",
        "streaming",
        "web",
        "incast",
        "collective",
        "custom_flows",
        "poisson",
        "cbr",
        "on_off",
        "custom_packets",
    ];
    assert_eq!(kinds("source"), sources);
    let at = kinds("congestion").iter().position(|kind| kind == "highspeed").unwrap();
    let highspeed = &components["congestion"][at];
    assert_eq!(highspeed["doc"], "HighSpeed TCP (RFC 3649).");
    let high_decrease = highspeed["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["name"] == "high_decrease");
    let high_decrease = high_decrease.unwrap();
    assert_eq!(high_decrease["default"], 0.1);
    assert_eq!(high_decrease["maximum"], 0.5);
    assert_eq!(high_decrease["type"], "number");
    for registry in components.as_object().unwrap().values() {
        for entry in registry.as_array().unwrap() {
            assert!(entry["doc"].as_str().is_some_and(|doc| !doc.is_empty()), "{entry}");
            for parameter in entry["parameters"].as_array().unwrap() {
                assert!(
                    parameter["doc"].as_str().is_some_and(|doc| !doc.is_empty()),
                    "{parameter}"
                );
                assert!(parameter["type"].is_string(), "{parameter}");
            }
        }
    }
}

#[test]
fn the_schema_has_no_null_and_names_quantities() {
    let text = scenario_text::schema().to_string();
    assert!(!text.contains("null"));
    assert!(text.contains("\"x-quantity\":\"queue_limit\""));
}

#[test]
fn a_control_may_be_given_by_its_name_alone() {
    let named = resolve(&base_with("{ kind = \"highspeed\" }", "\"highspeed\""));
    let written = resolve(BASE);
    let control = |network: &Network| network.groups[0].tcp.as_ref().unwrap().congestion.clone();
    assert_eq!(control(&named), control(&written));
}
