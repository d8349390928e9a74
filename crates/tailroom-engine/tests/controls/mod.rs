//! The congestion controls of the registry.

use tailroom_engine::congestion::CongestionConfig;

/// Every entry of the registry with its default parameters, found by its name in the schema.
pub(crate) fn all() -> Vec<(String, CongestionConfig)> {
    let schema = schemars::schema_for!(CongestionConfig);
    let entries = schema.as_value()["oneOf"].as_array().expect("one alternative a control").clone();
    let named = entries.iter().map(|entry| {
        let name = entry["properties"]["kind"]["const"].as_str().expect("a name").to_owned();
        let config = serde_json::json!({ "kind": name });
        (name, serde_json::from_value(config).expect("every parameter has a default"))
    });
    named.collect()
}
