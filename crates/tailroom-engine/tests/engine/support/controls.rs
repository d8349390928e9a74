//! The congestion controls of the registry.

use serde_json::Value;
use tailroom_engine::congestion::CongestionConfig;

/// Every control of the registry with its default parameters, under its name in the schema.
pub(crate) fn all() -> Vec<(String, CongestionConfig)> {
    let schema = schemars::schema_for!(CongestionConfig);
    let entries =
        schema.as_value()["oneOf"].as_array().expect("one alternative per control").clone();
    let name = |entry: &Value| entry["properties"]["kind"]["const"].as_str().map(str::to_owned);
    // "custom" wraps controls of the caller and has no window law of its own.
    let names = entries.iter().filter_map(name).filter(|name| name != "custom");
    let with_defaults = names.map(|name| {
        let config = serde_json::json!({ "kind": name });
        (name, serde_json::from_value(config).expect("every parameter has a default"))
    });
    with_defaults.collect()
}
