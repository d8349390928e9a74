//! The components of a scenario (controls, disciplines, sources and others) with their parameters,
//! read from the schema. Whatever is in a registry appears here by itself.

use serde_json::{Map, Value, json};

use super::hosts;
use super::schema::schema;
use crate::kind_or_name::alternatives::{alternatives, follow, kind_of};

/// Keys of the result, and the schema definitions that list their kinds.
const REGISTRIES: &[(&str, &str)] = &[
    ("congestion", "CongestionConfig"),
    ("queue", "QueueConfig"),
    ("source", "SourceConfig"),
    ("slow_start", "SlowStartConfig"),
    ("loss", "LossConfig"),
];

/// See [`crate::scenario::components`].
pub(in crate::scenario) fn components() -> Value {
    let root = schema();
    let registries = REGISTRIES.iter().map(|(name, definition)| {
        let union = &root["$defs"][definition];
        let kinds = alternatives(union).into_iter().flatten();
        ((*name).to_owned(), kinds.map(|kind| component(root, kind)).collect())
    });
    let hosts = std::iter::once(("host".to_owned(), hosts::components()));
    Value::Object(registries.chain(hosts).collect())
}

fn component(root: &Value, schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parameters: Vec<Value> = properties
        .filter(|(name, _)| *name != "kind")
        .map(|(name, property)| parameter(root, name, property))
        .collect();
    json!({
        "kind": kind_of(schema),
        "doc": schema["description"],
        "parameters": parameters,
    })
}

/// The alternatives of a union, one word per alternative.
fn choices(root: &Value, union: &Value) -> Vec<Value> {
    let options = alternatives(union).into_iter().flatten().map(|option| follow(root, option));
    let words = options.flat_map(|option| match (option.get("const"), option.get("x-quantity")) {
        (Some(word), _) | (None, Some(word)) => vec![word.clone()],
        _ if kind_of(option).is_some() => vec!["{ kind = .. }".into()],
        _ => choices(root, option),
    });
    let mut words: Vec<Value> = words.collect();
    words.dedup();
    words
}

fn parameter(root: &Value, name: &str, property: &Value) -> Value {
    let target = follow(root, property);
    let choices = choices(root, target);
    let mut parameter = Map::new();
    parameter.insert("name".into(), name.into());
    parameter.insert("doc".into(), property["description"].clone());
    let kind = target.get("x-quantity").or_else(|| target.get("type"));
    parameter.insert("type".into(), kind.cloned().unwrap_or_else(|| "string".into()));
    for key in ["default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
        if let Some(value) = property.get(key) {
            let name = match key {
                "exclusiveMinimum" => "minimum",
                "exclusiveMaximum" => "maximum",
                other => other,
            };
            parameter.insert(name.into(), value.clone());
        }
    }
    if !choices.is_empty() {
        parameter.insert("choices".into(), json!(choices));
    }
    Value::Object(parameter)
}
