//! Quantities as a scenario writes them, and their schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::limit::{EXAMPLES, QueueLimit, units};
use super::{Kind, Quantity, Unit, is_case_insensitive};

impl<'de, K: Kind> Deserialize<'de> for Quantity<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).map_err(serde::de::Error::custom)
    }
}

impl<K: Kind> JsonSchema for Quantity<K> {
    fn schema_name() -> Cow<'static, str> {
        K::NAME.into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        schema_of(K::NAME, K::MEANING, K::DIMENSION.units, &[K::DIMENSION.example])
    }
}

/// Returns a regular expression that matches a unit.
fn unit_pattern(unit: &str) -> String {
    let either = |letter: char| {
        if letter.is_ascii_alphabetic() {
            format!("[{}{}]", letter.to_ascii_lowercase(), letter.to_ascii_uppercase())
        } else {
            letter.to_string()
        }
    };
    if is_case_insensitive(unit) { unit.chars().map(either).collect() } else { unit.to_owned() }
}

/// Returns the schema of a string that contains a number and one of `units`.
fn schema_of(name: &str, meaning: &str, units: &[Unit], examples: &[&str]) -> Schema {
    let names: Vec<String> = units.iter().map(|(unit, _)| unit_pattern(unit)).collect();
    let pattern = format!(r"^\s*[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*({})\s*$", names.join("|"));
    json_schema!({
        "description": format!("{meaning}."),
        "type": "string",
        "pattern": pattern,
        "examples": examples,
        "x-quantity": name,
    })
}

impl<'de> Deserialize<'de> for QueueLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for QueueLimit {
    fn schema_name() -> Cow<'static, str> {
        "queue_limit".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let meaning = "Amount of waiting data, excluding the packet in transmission: packets, \
                       bytes (B, kB, MB, KiB, ...), time at the link's rate (us, ms, s), or bdp, \
                       rounded down";
        schema_of("queue_limit", meaning, &units(), EXAMPLES)
    }
}
