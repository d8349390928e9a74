//! The parameters of the congestion controls by their schema.

use serde_json::Value;
use tailroom_engine::congestion::CongestionConfig;

/// The schema of each numeric parameter of a control, by its key.
pub(crate) fn numbers(control: &str) -> Vec<(String, Value)> {
    let schema = schemars::schema_for!(CongestionConfig);
    let entries = schema.as_value()["oneOf"].as_array().expect("one alternative per control");
    let entry = entries.iter().find(|entry| entry["properties"]["kind"]["const"] == control);
    let entry = entry.unwrap_or_else(|| panic!("the registry has no {control}"));
    let parameters = entry["properties"].as_object().expect("a control is a table");
    let numbers = parameters.iter().filter(|(_, schema)| schema["type"] == "number");
    numbers.map(|(key, schema)| (key.clone(), schema.clone())).collect()
}
