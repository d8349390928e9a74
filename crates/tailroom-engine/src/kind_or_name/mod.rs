//! Values that are written either as a table with a `kind` and its parameters, or as the name of a
//! kind: `queue = "codel"` is short for `queue = { kind = "codel" }`.

pub(crate) mod alternatives;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Deserializer, Error};
use serde_json::{Value as Json, json};
use toml::{Table, Value};

use alternatives::{alternatives, follow, kind_of};

/// Reads a kind with its parameters, or the name of a kind.
pub(crate) fn read<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = match <Value as serde::Deserialize>::deserialize(deserializer)? {
        Value::String(name) => Table::from_iter([("kind".to_owned(), name.into())]).into(),
        other => other,
    };
    T::deserialize(value).map_err(|error: toml::de::Error| D::Error::custom(error.message()))
}

/// Returns the table that a name stands for as the value of `key`: a kind, or code of the caller's as
/// in `"module:Class"`.
pub(crate) fn table_of(key: &str, name: &str) -> Table {
    let component = match key {
        "queue" | "nic_queue" => Some("discipline"),
        "congestion" => Some("control"),
        _ => None,
    };
    let entry = |key: &str, name: &str| (key.to_owned(), name.into());
    match component.filter(|_| name.contains(':')) {
        Some(component) => Table::from_iter([entry("kind", "custom"), entry(component, name)]),
        None => Table::from_iter([entry("kind", name)]),
    }
}

/// Returns the schema of a table of type `T`, or of the name of a kind whose parameters all have
/// defaults.
pub(crate) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<T>();
    let reference = table.as_value()["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let definition = reference.and_then(|name| generator.definitions().get(name));
    let kinds = definition.and_then(alternatives).into_iter().flatten();
    let names: Vec<Json> = kinds
        .filter(|kind| required(kind).next().is_none())
        .map(|kind| json!({ "const": kind_of(kind), "type": "string" }))
        .collect();
    schemars::json_schema!({ "anyOf": [table, { "oneOf": names }] })
}

/// As [`schema`], for a registry of which the caller may supply more: `"module:Class"` names code.
pub(crate) fn schema_with_code<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = schema::<T>(generator);
    if let Some(options) = schema.get_mut("anyOf").and_then(Json::as_array_mut) {
        options.push(json!({ "pattern": ":", "type": "string" }));
    }
    schema
}

/// Returns the kinds of a schema that [`schema`] made, or `None` for any other schema.
pub(crate) fn kinds<'a>(root: &'a Json, options: &'a [Json]) -> Option<&'a [Json]> {
    let [table, names, ..] = options else { return None };
    let kinds = alternatives(follow(root, table))?;
    let are_kinds = kinds.iter().all(|kind| kind_of(kind).is_some());
    let are_names = alternatives(names)?.iter().all(|name| name.get("const").is_some());
    (are_kinds && are_names).then_some(kinds)
}

/// Returns the parameters of a kind that have no default.
pub(crate) fn required(kind: &Json) -> impl Iterator<Item = &str> {
    let keys = kind["required"].as_array().into_iter().flatten();
    keys.filter_map(Json::as_str).filter(|key| *key != "kind")
}
