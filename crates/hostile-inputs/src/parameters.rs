//! Parameters of the components of a network: of disciplines, controls, sources and distributions.

use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tailroom_engine::distribution::Distribution;
use tailroom_engine::link::draws::Draws;
use tailroom_engine::link::jitter::JitterSpec;
use tailroom_engine::network::Network;
use tailroom_engine::scenario;
use tailroom_engine::traffic::arrivals::FlowArrivals;
use tailroom_engine::traffic::objects::ObjectsSpec;
use tailroom_engine::traffic::on_off::OnOffSpec;
use tailroom_engine::traffic::poisson::{PacketSizes, PoissonSpec};
use tailroom_engine::traffic::{FlowSourceSpec, SourceSpec};
use tailroom_engine::units::Rate;
use toml::Table;

/// Sets a parameter; `at` says of which link or group, and which of its parameters.
pub(crate) fn edit(network: &mut Network, field: usize, at: usize, value: u64) {
    match field {
        0..5 => edit_link(network, field, at, value),
        5..8 => edit_transport(network, field, at, value),
        _ => edit_source(network, field, at, value),
    }
}

fn edit_link(network: &mut Network, field: usize, at: usize, value: u64) {
    let links = network.links.len();
    let (link, at) = (&mut network.links[at % links], at / links);
    match field {
        0 => replace(&mut link.queue, of_kind("QueueConfig", value as usize)),
        1 => set_number(&mut link.queue, at, value),
        2 => replace(&mut link.loss, of_kind("LossConfig", value as usize)),
        3 => set_number(&mut link.loss, at, value),
        _ => {
            let extra_delay = distribution(at, value);
            link.jitter = Some(JitterSpec::new(extra_delay, Draws::AtNoTime));
        }
    }
}

fn edit_transport(network: &mut Network, field: usize, at: usize, value: u64) {
    let groups = network.groups.len();
    let (group, at) = (&mut network.groups[at % groups], at / groups);
    let Some(tcp) = &mut group.tcp else { return };
    match field {
        5 => replace(&mut tcp.congestion, of_kind("CongestionConfig", value as usize)),
        6 => set_number(&mut tcp.congestion, at, value),
        _ => set_number(tcp, at, value),
    }
}

fn edit_source(network: &mut Network, field: usize, at: usize, value: u64) {
    let groups = network.groups.len();
    let (group, at) = (&mut network.groups[at % groups], at / groups);
    let rate = Rate::from_bits_per_second(1_000_000);
    let millisecond = Distribution::Fixed(1e9);
    match field {
        8 => {
            let sizes = PacketSizes::Drawn(distribution(at, value));
            group.source = PoissonSpec::new(rate, sizes).into();
        }
        9 => {
            group.source = OnOffSpec::new(rate, distribution(at, value), millisecond).into();
        }
        10 => {
            group.source = OnOffSpec::new(rate, millisecond, distribution(at, value)).into();
        }
        11 => {
            let (size, per_second) = (distribution(at, value), 10.0);
            group.source = ObjectsSpec::new(size, per_second, 1e5).into();
        }
        12 => {
            let (size, per_second) = (Distribution::Fixed(1e4), f64::from_bits(value));
            group.source = ObjectsSpec::new(size, per_second, 1e5).into();
        }
        _ => {
            let SourceSpec::Flows(FlowSourceSpec::FiniteFlows(flows)) = &mut group.source else {
                return;
            };
            match field {
                13 => flows.size = distribution(at, value),
                14 => flows.rtt = distribution(at, value),
                _ => {
                    if let FlowArrivals::Poisson { per_second, .. } = &mut flows.arrivals {
                        *per_second = f64::from_bits(value);
                    }
                }
            }
        }
    }
}

/// A distribution with a parameter of these bits.
fn distribution(at: usize, bits: u64) -> Distribution {
    let value = f64::from_bits(bits);
    match at % 10 {
        0 => Distribution::Fixed(value),
        1 => Distribution::Uniform { from: value, to: 1e9 },
        2 => Distribution::Uniform { from: 1.0, to: value },
        3 => Distribution::Exponential { mean: value },
        4 => Distribution::Lognormal { log_mean: 10.0, sigma: value },
        5 => Distribution::BoundedLognormal {
            log_mean: value,
            sigma: 1.0,
            minimum: 1e3,
            maximum: 1e6,
        },
        6 => Distribution::Pareto { shape: value, minimum: 1e3 },
        7 => Distribution::BoundedPareto { shape: 1.2, minimum: value, maximum: 1e6 },
        8 => Distribution::Weibull { shape: value, scale: 1e3 },
        _ => Distribution::Weibull { shape: 0.5, scale: value },
    }
}

fn replace<T>(component: &mut T, other: Option<T>) {
    if let Some(other) = other {
        *component = other;
    }
}

static SCHEMA: OnceLock<Value> = OnceLock::new();

/// A kind of component by its number, with the examples of the schema where there are no defaults.
fn of_kind<T: DeserializeOwned>(definition: &str, number: usize) -> Option<T> {
    let schema =
        SCHEMA.get_or_init(|| serde_json::from_str(&scenario::schema()).unwrap_or_default());
    let kinds = schema["$defs"][definition]["oneOf"].as_array()?;
    let kind = &kinds[number % kinds.len()];
    let mut parameters = Map::new();
    for key in kind["required"].as_array()?.iter().filter_map(Value::as_str) {
        let property = &kind["properties"][key];
        let value = property.get("const").or_else(|| property["examples"].get(0))?;
        parameters.insert(key.to_owned(), value.clone());
    }
    if parameters.contains_key("limit") {
        parameters.insert("limit".to_owned(), "100 packets".into());
    }
    serde_json::from_value(parameters.into()).ok()
}

/// Sets the number that comes at `at` among those of a component, if its type has such a value.
fn set_number<T: Serialize + DeserializeOwned>(component: &mut T, at: usize, bits: u64) {
    let changed = || {
        let mut table = Table::try_from(&*component).ok()?;
        let numbers = table.iter_mut().map(|(_, value)| value);
        let mut numbers: Vec<_> =
            numbers.filter(|value| value.is_float() || value.is_integer()).collect();
        let count = numbers.len().max(1);
        let number = numbers.get_mut(at % count)?;
        let is_float = number.is_float();
        **number = if is_float { f64::from_bits(bits).into() } else { bits.cast_signed().into() };
        table.try_into().ok()
    };
    let changed = changed();
    replace(component, changed);
}
