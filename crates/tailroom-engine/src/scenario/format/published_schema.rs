//! The JSON Schema as editors and other programs get it. tailroom itself reads a scenario after the limits
//! that pools set are written out; the published schema says where a limit may be left out instead.

use serde_json::{Map, Value, json};

use super::schema::schema;
use crate::kind_or_name::alternatives::kind_of;
use crate::kind_or_name::required;

/// The tables whose queue may have a pool as its limit.
const WITH_POOL: [&str; 3] = ["LinkConfig", "SwitchConfig", "FabricConfig"];

/// The schema in which a queue needs its own limit where no pool is its limit.
pub(in crate::scenario) fn published() -> Value {
    let mut schema = schema().clone();
    let definitions = &mut schema["$defs"];
    let limited = release_limits(&mut definitions["QueueConfig"]);
    let names: Vec<Value> = limited
        .iter()
        .filter(|kind| required(kind).next().is_none())
        .map(|kind| json!({ "const": kind_of(kind), "type": "string" }))
        .collect();
    let lacks_limit = lacks_limit(limited.iter().filter_map(kind_of));
    for table in WITH_POOL {
        let Some(table) = definitions[table].as_object_mut() else { continue };
        demand_limits(table, &names, &lacks_limit);
    }
    schema
}

/// Lets each kind of queue leave its limit out; returns those that could not.
fn release_limits(queues: &mut Value) -> Vec<Value> {
    let mut limited = Vec::new();
    for kind in queues["oneOf"].as_array_mut().into_iter().flatten() {
        if !required(kind).any(|key| key == "limit") {
            continue;
        }
        if let Some(keys) = kind["required"].as_array_mut() {
            keys.retain(|key| key != "limit");
        }
        if let Value::String(text) = &mut kind["properties"]["limit"]["description"] {
            text.push_str(" Left out only where a pool is the limit.");
        }
        limited.push(kind.clone());
    }
    limited
}

/// The schema of queues of these kinds without a limit.
fn lacks_limit<'a>(kinds: impl Iterator<Item = &'a str>) -> Value {
    let kinds: Vec<&str> = kinds.collect();
    json!({
        "anyOf": [
            { "enum": &kinds },
            {
                "type": "object",
                "properties": { "kind": { "enum": &kinds } },
                "required": ["kind"],
                "not": { "required": ["limit"] },
            },
        ]
    })
}

/// Adds the names of kinds to the queues of a table, and refuses queues without a limit where there is no
/// pool, and for the interfaces of hosts, which have none.
fn demand_limits(table: &mut Map<String, Value>, names: &[Value], lacks_limit: &Value) {
    let properties = &mut table["properties"];
    if let Some(all) = properties["queue"]["anyOf"][1]["oneOf"].as_array_mut() {
        all.extend_from_slice(names);
    }
    if let Some(interfaces) = properties.get_mut("nic_queue").and_then(Value::as_object_mut) {
        interfaces.insert("not".into(), lacks_limit.clone());
    }
    table.insert("if".into(), json!({ "required": ["pool"] }));
    table.insert("else".into(), json!({ "properties": { "queue": { "not": lacks_limit } } }));
}
