//! What every source of the registry owes the engine: order, the rate that it offers, the same flow
//! for the same seed, and refusals that name the key and the remedy.

use std::sync::Arc;

use serde_json::{Map, Value};
use tailroom_engine::fabric::{Fabric, HostPairs};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::traffic::context::{Group, StartingFlow};
use tailroom_engine::traffic::{
    AnyPacketSource, Emission, FlowRequest, FlowSource, FlowSourceSpec, KINDS, PacketSource,
    PacketSourceSpec, SourceClass, SourceConfig, SourceSpec, class_of,
};
use tailroom_engine::units::Time;

use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{self, parse, resolve, resolve_with};

/// Normal quantile of a two-sided significance of 0.1 %.
const QUANTILE: f64 = 3.29;
/// Arrivals per second of the flow sources, unless their example says otherwise.
const ARRIVALS_PER_S: f64 = 2.0;

/// The parameters of a kind by its schema: the example of the whole, or those of the keys that have
/// no default; flows and objects arrive as a Poisson process.
fn example(schema: &Value) -> Value {
    let required = schema["required"].as_array().expect("at least a kind");
    let keys = required.iter().filter_map(Value::as_str).map(|key| {
        let property = &schema["properties"][key];
        let value = property.get("const").or_else(|| property["examples"].get(0));
        (key.to_owned(), value.unwrap_or_else(|| panic!("{key} needs an example")).clone())
    });
    let mut parameters: Map<String, Value> = keys.collect();
    let whole = schema["examples"].get(0).and_then(Value::as_object);
    parameters.extend(whole.cloned().unwrap_or_default());
    if schema["properties"].get("arrivals").is_some() && !parameters.contains_key("load") {
        parameters.entry("arrivals_per_second").or_insert_with(|| ARRIVALS_PER_S.into());
    }
    parameters.into()
}

/// The schema of each kind that sends by itself, by its name; those of the caller's send what it says.
fn schemas() -> Vec<(String, Value)> {
    let schema = scenario_text::schema();
    let kinds = schema["$defs"]["SourceConfig"]["oneOf"].as_array().expect("an alternative a kind");
    let name = |kind: &Value| kind["properties"]["kind"]["const"].as_str().expect("a name").into();
    let named: Vec<(String, Value)> = kinds.iter().map(|kind| (name(kind), kind.clone())).collect();
    named.into_iter().filter(|(name, _)| !name.starts_with("custom_")).collect()
}

/// A scenario with one group whose source has these parameters; 1000 s long.
fn scenario_with(source: &Value, more: &str) -> String {
    let place = if source["kind"] == HOSTS { "from = \"tor\"" } else { "path = [\"link\"]" };
    let source: toml::Value = serde_json::from_value(source.clone()).expect("TOML has its types");
    format!(
        r#"
        duration = "1000 s"
        [links.link]
        rate = "100 Mbit/s"
        delay = "10 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        [flows.some]
        {place}
        {more}
        source = {source}
        [switches.tor]
        hosts = 4
        rate = "100 Mbit/s"
        delay = "5 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        "#
    )
}

/// The keys that a group with a source of this kind needs.
fn group_keys(kind: &str) -> &'static str {
    let class = class_of(kind).expect("a kind of the registry");
    if class.is_responsive() { "congestion = \"reno\"" } else { "" }
}

/// The source that needs hosts.
const HOSTS: &str = "collective";

/// The group of [`scenario_with`] as its source sees it.
fn with_group<T>(name: &str, seed: u64, use_group: impl FnOnce(&Group<'_>) -> T) -> T {
    let fabric = Fabric { first_link: 1, leaves: 1, hosts_per_leaf: 4, spines: 0 };
    let all: Arc<[u32]> = (0..4).collect();
    let (from, to) = (Arc::clone(&all), all);
    let hosts = HostPairs { fabric, from, to, is_one_to_one: false, has_rtt_of_route: true };
    let hosts = (name == HOSTS).then_some(&hosts);
    use_group(&Group { name: "group", seed, packet_bytes: 1_500, header_bytes: 40, hosts })
}

/// Every source of the registry with its example parameters, resolved.
fn sources() -> Vec<SourceSpec> {
    let resolved = schemas().into_iter().map(|(kind, schema)| {
        let text = scenario_with(&example(&schema), group_keys(&kind));
        resolve(&text).groups[0].source.clone()
    });
    resolved.collect()
}

fn packet_sources() -> Vec<PacketSourceSpec> {
    let packets = |spec| if let SourceSpec::Packets(spec) = spec { Some(spec) } else { None };
    sources().into_iter().filter_map(packets).collect()
}

fn flow_sources() -> Vec<FlowSourceSpec> {
    let flows = |spec| if let SourceSpec::Flows(spec) = spec { Some(spec) } else { None };
    sources().into_iter().filter_map(flows).collect()
}

/// A packet source of a flow that starts at 3 s, in packets of 1500 bytes.
fn started(spec: &PacketSourceSpec, seed: u64) -> AnyPacketSource {
    let start = Time::from_seconds(3.0);
    spec.start(&StartingFlow { name: "flow", seed, packet_bytes: 1_500, start })
}

/// What a source emits within `seconds` of its start.
fn emissions(mut source: AnyPacketSource, seconds: f64) -> Vec<Emission> {
    let end = Time::from_seconds(3.0 + seconds);
    let emitted = std::iter::from_fn(|| Some(source.next_emission()));
    emitted.take_while(|emission| emission.time < end).collect()
}

/// Mean of some samples and its standard error.
fn mean_and_error(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn the_registry_and_the_schema_name_the_same_kinds_in_the_same_order() {
    let written: Vec<String> = schemas().into_iter().map(|(kind, _)| kind).collect();
    let own = KINDS.iter().filter(|(kind, _)| !kind.starts_with("custom_"));
    let registered: Vec<&str> = own.clone().map(|(kind, _)| *kind).collect();
    assert_eq!(written, registered);
    for (source, (kind, class)) in sources().iter().zip(own) {
        assert_eq!(source.name(), *kind);
        let is_of_class = match source {
            SourceSpec::Data(_) => *class == SourceClass::Data,
            SourceSpec::Packets(_) => *class == SourceClass::Packets,
            SourceSpec::Flows(_) => class.is_dynamic(),
        };
        assert!(is_of_class, "{kind}: {class:?}");
    }
    assert!(!packet_sources().is_empty() && !flow_sources().is_empty());
}

#[test]
fn parameters_written_as_json_or_in_a_scenario_read_back_as_themselves() {
    for (kind, schema) in schemas() {
        let parameters = example(&schema);
        let config: SourceConfig = serde_json::from_value(parameters.clone()).expect(&kind);
        assert_eq!(config.name(), kind);
        let written = serde_json::to_value(&config).expect(&kind);
        let again: SourceConfig = serde_json::from_value(written).expect(&kind);
        assert_eq!(again, config);
        let text = scenario_with(&parameters, group_keys(&kind));
        let written = parse(&text, &[]).expect(&kind).to_toml();
        assert_eq!(
            resolve(&written).groups[0].source,
            resolve(&text).groups[0].source,
            "{written}"
        );
    }
}

#[test]
fn packets_leave_in_order_of_time_and_not_before_the_flow_starts() {
    for spec in packet_sources() {
        let emitted = emissions(started(&spec, 1), 100.0);
        let name = spec.name();
        assert!(emitted.first().is_some_and(|it| it.time >= Time::from_seconds(3.0)), "{name}");
        assert!(emitted.is_sorted_by_key(|emission| emission.time), "{name}");
        assert!(emitted.iter().all(|emission| emission.bytes > 0), "{name}");
        if spec.offered().has_fixed_size() {
            assert!(emitted.iter().all(|emission| emission.bytes == 1_500), "{name}");
        }
    }
}

#[test]
fn a_packet_source_sends_at_the_rate_that_it_offers() {
    let seconds = 100.0;
    for spec in packet_sources() {
        let rates = (0..100).map(|seed| {
            let emitted = emissions(started(&spec, seed), seconds);
            emitted.iter().map(|it| 8.0 * f64::from(it.bytes)).sum::<f64>() / seconds
        });
        let (mean, error) = mean_and_error(&rates.collect::<Vec<f64>>());
        let (offered, name) = (spec.offered().rate_bps(), spec.name());
        let one_packet = 8.0 * 1_500.0 / seconds;
        assert!(error < 0.02 * offered, "{name}: +- {error}");
        assert!(
            (mean - offered).abs() < QUANTILE * error + one_packet,
            "{name}: {mean} +- {error} bit/s, and it offers {offered}"
        );
    }
}

#[test]
fn a_packet_source_repeats_itself_for_the_same_seed() {
    for spec in packet_sources() {
        let of_seed = |seed| emissions(started(&spec, seed), 20.0);
        assert_eq!(of_seed(7), of_seed(7), "{}", spec.name());
    }
}

/// The flows that a source asks for within `seconds`, each complete a second after it begins.
fn requests(spec: &FlowSourceSpec, seed: u64, seconds: f64) -> Vec<FlowRequest> {
    let mut source = with_group(spec.name(), seed, |group| spec.start(group, SHORTEST_RTT));
    let mut in_progress = std::collections::VecDeque::new();
    let mut requests = Vec::new();
    let end = Time::from_seconds(seconds);
    loop {
        let next = source.next_arrival();
        let complete = in_progress.front().map_or(Time::NEVER, |(at, _)| *at);
        if next.min(complete) >= end {
            return requests;
        }
        if complete <= next {
            let (at, tag) = in_progress.pop_front().expect("it is complete");
            source.on_completion(tag, at);
        } else {
            let request = source.next_flow().expect("a flow has been announced");
            assert_eq!(request.start, next, "{}: the time that was announced", spec.name());
            in_progress.push_back((request.start + Time::from_seconds(1.0), request.tag));
            requests.push(request);
        }
    }
}

const SHORTEST_RTT: Time = Time::from_milliseconds(20);

#[test]
fn flows_begin_in_order_of_time_over_a_possible_path() {
    for spec in flow_sources() {
        let requests = requests(&spec, 1, 100.0);
        let name = spec.name();
        assert!(requests.len() > 1, "{name}");
        assert!(requests.is_sorted_by_key(|request| request.start), "{name}");
        for request in requests {
            assert!(request.bytes.is_some_and(|bytes| bytes > 0), "{name}: {request:?}");
            assert!(request.rtt >= SHORTEST_RTT, "{name}: {request:?}");
            assert!(request.media.is_none_or(|media| media.end > request.start), "{request:?}");
        }
    }
}

/// Over the second half of the time: sessions take a while until as many end as begin. A source
/// that has come to its end is a list, whose flows all count.
#[test]
fn as_many_flows_begin_as_the_source_offers() {
    let seconds = 1_000.0;
    for spec in flow_sources().into_iter().filter(|spec| !spec.offered().is_closed_loop()) {
        let statistics = |group: &Group<'_>| spec.offered().statistics(group, seconds, 1_000);
        let offered = with_group(spec.name(), 1, statistics);
        let name = spec.name();
        let half = Time::from_seconds(seconds / 2.0);
        let runs: Vec<Vec<FlowRequest>> = (0..20).map(|at| requests(&spec, at, seconds)).collect();
        if runs.iter().all(|run| run.last().is_none_or(|last| last.start < half)) {
            let listed = (offered.arrivals_per_s * seconds).round() as usize;
            assert!(runs.iter().all(|run| run.len() == listed), "{name}: {listed}");
            continue;
        }
        let late = |run: &Vec<FlowRequest>| run.iter().filter(|flow| flow.start >= half).count();
        let rates = runs.iter().map(|run| late(run) as f64 / (seconds / 2.0));
        let (mean, error) = mean_and_error(&rates.collect::<Vec<f64>>());
        let one_flow = 1.0 / (seconds / 2.0);
        assert!(error < 0.03 * offered.arrivals_per_s, "{name}: +- {error}");
        assert!(
            (mean - offered.arrivals_per_s).abs() < QUANTILE * error + one_flow,
            "{name}: {mean} +- {error} a second, and it offers {}",
            offered.arrivals_per_s
        );
    }
}

#[test]
fn a_flow_source_repeats_itself_for_the_same_seed() {
    for spec in flow_sources() {
        assert_eq!(requests(&spec, 7, 50.0), requests(&spec, 7, 50.0), "{}", spec.name());
    }
}

/// The account of packets is checked at the end of the run.
#[test]
fn a_run_sends_packets_of_every_source_and_loses_count_of_none() {
    for (kind, schema) in schemas() {
        let text = scenario_with(&example(&schema), group_keys(&kind));
        let network = resolve(&text.replace("1000 s", "4 s"));
        let mut simulation = Simulation::new(&network).expect("the network is valid");
        simulation.run_until(network.duration).expect(&kind);
        assert!(simulation.packet_hops() > 0, "{kind}");
        simulation.finish().expect(&kind);
    }
}

/// The refusal of a source of this kind with one key changed.
fn refusal(kind: &str, schema: &Value, key: &str, value: Value) -> String {
    let mut parameters = example(schema);
    parameters[key] = value;
    let text = scenario_with(&parameters, group_keys(kind));
    resolve_with(&text, &[]).expect_err("the key is wrong").to_string()
}

#[test]
fn a_value_out_of_its_range_is_refused_with_the_key_and_the_range() {
    let mut bounds = 0;
    for (kind, schema) in schemas() {
        for (key, property) in schema["properties"].as_object().expect("keys") {
            let number = |bound: &str| property.get(bound).and_then(Value::as_f64);
            let below = number("minimum").map(|least| least - 1.0);
            let below = below.or_else(|| number("exclusiveMinimum"));
            let above = number("maximum").map(|most| most + 1.0);
            for wrong in below.into_iter().chain(above) {
                let is_whole = property["type"] == "integer";
                let value = if is_whole { (wrong as i64).into() } else { wrong.into() };
                let message = refusal(&kind, &schema, key, value);
                assert_refused(&message, &format!("line 10, flows.some.source.{key}"), &["write"]);
                bounds += 1;
            }
        }
    }
    assert!(bounds > 0, "no source has a range");
}

#[test]
fn a_value_of_another_type_and_a_misspelled_key_are_refused_with_the_key() {
    for (kind, schema) in schemas() {
        let keys = schema["properties"].as_object().expect("keys").keys();
        for key in keys.filter(|key| *key != "kind") {
            let place = format!("line 10, flows.some.source.{key}");
            assert_refused(&refusal(&kind, &schema, key, true.into()), &place, &[""]);
            let misspelled = format!("{key}x");
            let message = refusal(&kind, &schema, &misspelled, 1.into());
            let named = format!("`{key}`");
            assert_refused(
                &message,
                &format!("line 10, flows.some.source.{misspelled}"),
                &[&named],
            );
        }
    }
}

#[test]
fn a_source_without_the_control_that_it_needs_is_called_by_its_kind() {
    for (kind, schema) in schemas() {
        if group_keys(&kind).is_empty() {
            continue;
        }
        let text = scenario_with(&example(&schema), "");
        let message = resolve_with(&text, &[]).expect_err("no control").to_string();
        let remedy = [r#"`congestion = { kind = "reno" }`"#, "cubic"];
        assert_refused(&message, "line 7, flows.some.congestion", &remedy);
        assert!(message.contains(&format!("a source of kind \"{kind}\"")), "{message}");
    }
}

/// The remedy names sources of the same shape: permanent flows, or flows that arrive and depart.
#[test]
fn a_control_for_an_unresponsive_source_is_refused_with_sources_that_have_one() {
    for (kind, schema) in schemas() {
        if !group_keys(&kind).is_empty() {
            continue;
        }
        let text = scenario_with(&example(&schema), "congestion = \"reno\"");
        let message = resolve_with(&text, &[]).expect_err("a control").to_string();
        assert!(message.contains(&format!("a source of kind \"{kind}\"")), "{message}");
        let is_dynamic = class_of(&kind).is_some_and(SourceClass::is_dynamic);
        let (near, far) =
            if is_dynamic { ("\"trace\"", "\"bulk\"") } else { ("\"bulk\"", "\"trace\"") };
        assert_refused(&message, "line 9, flows.some.congestion", &["remove the key", near]);
        assert!(!message.contains(far), "{message}");
    }
}
