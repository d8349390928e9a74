//! Networks that a program has built with a parameter out of its range: each is refused with the place,
//! the value and the range. The ranges are those of the schema, by which scenarios are checked.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::distribution::{Count, Distribution};
use tailroom_engine::link::jitter::JitterSpec;
use tailroom_engine::link::policer::PolicerSpec;
use tailroom_engine::link::shaper::ShaperSpec;
use tailroom_engine::link::spec::FlowAdmissionSpec;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::Network;
use tailroom_engine::observe::recorder::ArrivalLogSpec;
use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::quantity::{BitRate, PositiveDuration, Size};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::codel::CodelParams;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::slow_start::SlowStartSpec;
use tailroom_engine::traffic::arrivals::FlowArrivals;
use tailroom_engine::traffic::objects::ObjectsSpec;
use tailroom_engine::traffic::on_off::OnOffSpec;
use tailroom_engine::traffic::poisson::{PacketSizes, PoissonSpec};
use tailroom_engine::traffic::streaming::StreamingSpec;
use tailroom_engine::traffic::trace::{TraceFlow, TraceSpec};
use tailroom_engine::traffic::web::WebSpec;
use tailroom_engine::traffic::{FlowSourceSpec, SourceSpec};
use tailroom_engine::units::{Rate, Time};
use toml::{Table, Value};

use crate::support::refusals::assert_refused;
use crate::support::scenario_run;

const BITS: fn(u64) -> Rate = Rate::from_bits_per_second;

/// A connection, a stream, and flows that arrive and depart, at one link.
fn good() -> Network {
    let text = r#"
        duration = "2 s"
        [links.b]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = { kind = "drop_tail", limit = "50 packets" }
        [flows.lasting]
        path = ["b"]
        congestion = "reno"
        rtt = "40 ms"
        [flows.stream]
        path = ["b"]
        source = { kind = "poisson", rate = "1 Mbit/s" }
        [flows.short]
        path = ["b"]
        congestion = "reno"
        rtt = "40 ms"
        source = { kind = "web", model = "ieee80216m", pages = 2, arrivals_per_second = 1.0 }
        [flows.media]
        path = ["b"]
        rtt = "40 ms"
        source = { kind = "streaming", rate = "1 Mbit/s", duration = "1 s", load = 0.1 }
    "#;
    scenario_run::network(text, 1)
}

/// The network with this change is refused, by `validate` and by the run.
#[track_caller]
fn assert_wrong(place: &str, value: &str, remedies: &[&str], change: impl FnOnce(&mut Network)) {
    let mut network = good();
    change(&mut network);
    let refusal = network.validate().expect_err("the network is wrong");
    let message = refusal.to_string();
    assert_refused(&message, place, remedies);
    assert!(message.contains(value), "{message}: not of {value}");
    assert_eq!(Simulation::new(&network).expect_err("it does not start"), refusal);
}

/// Values just outside the range of a number in the schema, and the bound that each passes.
fn beyond(schema: &Json) -> Vec<(Value, String)> {
    let is_whole = is_of(schema, &["integer"]);
    let bounds = [
        ("minimum", -1, f64::next_down as fn(f64) -> f64),
        ("exclusiveMinimum", 0, |bound| bound),
        ("maximum", 1, f64::next_up),
        ("exclusiveMaximum", 0, |bound| bound),
    ];
    let mut values = Vec::new();
    for (key, step, outside) in bounds {
        let Some(bound) = schema[key].as_f64() else { continue };
        let whole = bound as i64 + step;
        if !is_whole {
            values.push((outside(bound).into(), bound.to_string()));
        } else if whole >= 0 {
            values.push((whole.into(), bound.to_string()));
        }
    }
    if !is_whole {
        values.push((f64::NAN.into(), String::new()));
    }
    values
}

/// The numbers of an alternative of a schema, or of the schema: key and schema.
fn numbers(schema: &Json) -> impl Iterator<Item = (&String, &Json)> {
    let properties = schema["properties"].as_object().expect("a table");
    properties.iter().filter(|(_, schema)| is_of(schema, &["number", "integer"]))
}

/// Whether one of the types of a schema is among `names`.
fn is_of(schema: &Json, names: &[&str]) -> bool {
    let mut types = schema["type"].as_array().into_iter().flatten().chain([&schema["type"]]);
    types.any(|kind| kind.as_str().is_some_and(|kind| names.contains(&kind)))
}

/// A table with the keys that have no default.
fn least(schema: &Json) -> Table {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let entry = |key: &str| {
        let property = &schema["properties"][key];
        let example = property.get("const").or_else(|| property["examples"].get(0));
        (key.to_owned(), Value::try_from(example.expect("an example")).expect("TOML"))
    };
    required.map(entry).collect()
}

/// Refuses each number of `T`, or of each of its kinds, at `place`; returns how many values.
fn refuse_each<T: DeserializeOwned + JsonSchema>(
    place: &str,
    put: impl Fn(&mut Network, T),
) -> usize {
    let schema = schemars::schema_for!(T);
    let root = schema.as_value();
    let kinds = root["oneOf"].as_array().cloned().unwrap_or_else(|| vec![root.clone()]);
    let mut tried = 0;
    for kind in kinds.iter().filter(|kind| kind["properties"].is_object()) {
        for (key, number) in numbers(kind) {
            for (value, bound) in beyond(number) {
                let mut table = least(kind);
                table.insert(key.clone(), value.clone());
                if let Some(limit) = table.get_mut("limit") {
                    *limit = "50 packets".into();
                }
                let wrong: T = table.try_into().expect("only a number differs");
                let shown = match value.as_float() {
                    Some(one) if one.to_string().len() > 60 => format!("{one:e}"),
                    Some(one) => one.to_string(),
                    None => value.to_string(),
                };
                let problem = format!("{shown} is out of range");
                let bounds = [bound.as_str()];
                let bounds = if bound.is_empty() { &bounds[..0] } else { &bounds };
                assert_wrong(&format!("{place}.{key}"), &problem, bounds, |network| {
                    put(network, wrong);
                });
                tried += 1;
            }
        }
    }
    tried
}

#[test]
fn each_number_of_each_control_is_refused_out_of_its_range() {
    let tried = refuse_each("groups[0].tcp.congestion", |network, wrong: CongestionConfig| {
        network.groups[0].tcp.as_mut().expect("a connection").congestion = wrong;
    });
    assert!(tried >= 120, "{tried}");
}

#[test]
fn each_number_of_each_discipline_is_refused_out_of_its_range() {
    let put = |network: &mut Network, wrong: QueueConfig| network.links[0].queue = wrong;
    let tried = refuse_each("links[0].queue", put);
    assert!(tried >= 50, "{tried}");
}

#[test]
fn each_number_of_a_transport_and_of_a_link_is_refused_out_of_its_range() {
    let tried = refuse_each("groups[0].tcp", |network, wrong: TcpSpec| {
        network.groups[0].tcp = Some(wrong);
    });
    let tried = tried
        + refuse_each("groups[0].tcp.slow_start", |network, wrong: SlowStartSpec| {
            network.groups[0].tcp.as_mut().expect("a connection").slow_start = wrong;
        });
    assert!(tried >= 8, "{tried}");
    let tried = refuse_each("links[0].loss", |network, wrong: LossSpec| {
        network.links[0].loss = wrong;
    });
    assert!(tried >= 16, "{tried}");
    let tried = refuse_each("links[0].admission", |network, wrong: FlowAdmissionSpec| {
        network.links[0].admission = Some(wrong);
    });
    assert!(tried >= 3, "{tried}");
    assert_wrong("links[0].arrival_log.most_packets", "0", &["1"], |network| {
        let (from, to) = (Time::ZERO.into(), Time::from_milliseconds(1).into());
        network.links[0].arrival_log =
            Some(with!(ArrivalLogSpec::new(from, to), ArrivalLogSpec { most_packets: 0 }));
    });
}

/// A text cannot say them: reading it refuses them.
#[test]
fn quantities_out_of_the_range_of_their_kind_are_refused() {
    let long = PositiveDuration::new(u64::MAX);
    for (interval, shown) in [(PositiveDuration::new(0), "0 ps is out"), (long, "is out of range")]
    {
        assert_wrong("links[0].queue.interval", shown, &["2592000 s"], |network| {
            let params = with!(CodelParams::default(), CodelParams { interval });
            network.links[0].queue = QueueConfig::Codel(params);
        });
    }
    assert_wrong("links[0].queue.limit", "0 packets", &["1 packet"], |network| {
        *network.links[0].queue.parameters_mut().amounts()[0].1 = QueueLimit::packets(0);
    });
    assert_wrong("groups[0].tcp.ack_size", "0 B", &["1 B"], |network| {
        network.groups[0].tcp.as_mut().expect("a connection").ack_size = Some(Size::new(0));
    });
    assert_wrong("links[0].shaper.rate", "0 bit/s", &["1 bit/s"], |network| {
        network.links[0].shaper = Some(ShaperSpec::new(BitRate::new(0), Size::new(3_000)));
    });
    assert_wrong("links[0].policer.burst", "0 B", &["1 B"], |network| {
        let policer = PolicerSpec::new(BitRate::new(1), Size::new(0));
        network.links[0].policer = Some(policer);
    });
}

#[test]
fn each_parameter_of_a_source_is_refused_out_of_its_range() {
    let wrong = |key: &str, value: &str, remedy: &str, source: SourceSpec| {
        let (group, is_packets) = match source {
            SourceSpec::Data(_) => (0, false),
            SourceSpec::Packets(_) => (1, true),
            SourceSpec::Flows(FlowSourceSpec::Streaming(_)) => (3, false),
            SourceSpec::Flows(_) => (2, false),
        };
        assert_wrong(&format!("groups[{group}].source.{key}"), value, &[remedy], |network| {
            network.groups[group].source = source;
            assert_eq!(network.groups[group].tcp.is_none(), is_packets || group == 3);
        });
    };
    let fixed = Distribution::Fixed;
    let objects = |per_second| ObjectsSpec::new(fixed(1e4), per_second, 1e5).into();
    wrong("per_second", "0", "0", objects(0.0));
    wrong("per_second", "NaN", "1000000000", objects(f64::NAN));
    wrong("rate", "0 bit/s", "1 bit/s", PoissonSpec::new(BITS(0), PacketSizes::Fixed).into());
    let sizes = |to| PacketSizes::Drawn(Distribution::Uniform { from: 40.0, to });
    wrong("sizes", "2000 B", "packet_size", PoissonSpec::new(BITS(1_000), sizes(2e3)).into());
    wrong("sizes.to", "20", "40", PoissonSpec::new(BITS(1_000), sizes(20.0)).into());
    let on_off = |on, off| OnOffSpec::new(BITS(1_000_000), on, off).into();
    wrong("off", "-1", "0", on_off(fixed(1e9), fixed(-1.0)));
    wrong("on", "thousandth", "rate", on_off(fixed(1.0), fixed(1e9)));

    let network = good();
    let SourceSpec::Flows(FlowSourceSpec::Web(web)) = &network.groups[2].source else {
        panic!("the group has web sessions");
    };
    let web = |change: fn(&mut WebSpec)| {
        let mut web = web.clone();
        change(&mut web);
        web.into()
    };
    wrong("parallel", "0", "1000", web(|web| web.parallel = 0));
    wrong("flow_log", "100000001", "100000000", web(|web| web.flow_log = 100_000_001));
    wrong(
        "pages.mean",
        "-1",
        "0",
        web(|web| web.pages = Count::Geometric { least: 1, mean: -1.0 }),
    );
    wrong(
        "think_time.mean",
        "NaN",
        "0",
        web(|web| {
            web.think_time = Distribution::Exponential { mean: f64::NAN };
        }),
    );
    wrong(
        "arrivals.per_second",
        "inf",
        "0",
        web(|web| {
            let (start, stop) = (Time::ZERO, Time::NEVER);
            web.arrivals = FlowArrivals::Poisson { per_second: f64::INFINITY, start, stop };
        }),
    );
    wrong("peak_rate", "-1", "0", web(|web| web.peak_rate = Some(Distribution::Fixed(-1.0))));
    let SourceSpec::Flows(FlowSourceSpec::Streaming(media)) = &network.groups[3].source else {
        panic!("the group has media flows");
    };
    let duration = Distribution::Pareto { shape: 0.5, minimum: 1e12 };
    wrong("duration.shape", "0.5", "1", with!(media.clone(), StreamingSpec { duration }).into());
    let flow = TraceFlow { start: Time::ZERO, bytes: 0, rate: None, rtt: None };
    let trace = TraceSpec::new([flow], fixed(1e9));
    wrong("flows[0].bytes", "0", "1", trace.into());
}

#[test]
fn a_distribution_of_a_link_is_refused_out_of_its_range() {
    assert_wrong("links[0].jitter.extra_delay.sigma", "11", &["10"], |network| {
        let extra_delay = Distribution::Lognormal { log_mean: 20.0, sigma: 11.0 };
        let draws = tailroom_engine::link::draws::Draws::AtNoTime;
        network.links[0].jitter = Some(JitterSpec::new(extra_delay, draws));
    });
}
