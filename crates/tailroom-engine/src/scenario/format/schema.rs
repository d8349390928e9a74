//! The JSON Schema of the scenario file. Editors complete keys from it, `check` compares scenarios
//! with it, and `components` reads the list of components from it.

use std::sync::LazyLock;

use serde_json::Value;

use super::file::ScenarioFile;
use super::flows::TransportConfig;

/// The JSON Schema (draft 2020-12) of the scenario file.
///
/// A quantity is a string whose schema has `x-quantity`, the name of its kind.
pub(in crate::scenario) fn schema() -> &'static Value {
    // Generating it takes longer than reading a scenario.
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = schemars::schema_for!(ScenarioFile).to_value();
        tidy(&mut schema);
        schema
    });
    &SCHEMA
}

/// Names of the keys that only groups under congestion control have.
pub(in crate::scenario) fn tcp_keys() -> &'static [String] {
    static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let schema = schemars::schema_for!(TransportConfig).to_value();
        let properties = schema["properties"].as_object();
        properties.map(|keys| keys.keys().cloned().collect()).unwrap_or_default()
    });
    &KEYS
}

/// Adapts the schema to TOML, which has no null: a key that may be left out must not be null. Also
/// removes the line breaks of doc comments.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get("type") {
                let named = types.iter().find(|name| *name != "null").cloned();
                object.insert("type".into(), named.into());
            }
            if let Some(Value::Array(options)) = object.get_mut("anyOf") {
                options.retain(|option| option["type"] != "null");
                if let [Value::Object(only)] = options.as_slice() {
                    let only = only.clone();
                    object.shift_remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            object.values_mut().for_each(tidy);
        }
        _ => {}
    }
}
