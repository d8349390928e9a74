//! The queue disciplines of the registry.

use tailroom_engine::queue::{LinkInfo, QueueConfig};
use tailroom_engine::units::Rate;

/// Every queue discipline of the registry with a buffer of this size. Its other parameters have
/// their defaults, or the example of the schema if there is no default.
pub(crate) fn all(limit: &str) -> Vec<QueueConfig> {
    let schema = schemars::schema_for!(QueueConfig);
    let root = schema.as_value();
    let kinds = root["oneOf"].as_array().expect("one alternative per discipline");
    // "custom" stands for rules of the caller.
    let kinds = kinds.iter().filter(|kind| kind["properties"]["kind"]["const"] != "custom");
    let config = |kind: &serde_json::Value| {
        let mut config = serde_json::Map::new();
        for key in kind["required"].as_array().expect("at least a kind") {
            let key = key.as_str().expect("a name");
            let property = &kind["properties"][key];
            let value = property.get("const").or_else(|| property["examples"].get(0));
            config.insert(key.to_owned(), value.cloned().unwrap_or_default());
        }
        config.insert("limit".into(), limit.into());
        serde_json::from_value(config.into()).expect("the other parameters have defaults")
    };
    kinds.map(config).collect()
}

/// Those of [`all`] whose other parameters fit the limit, whatever the size of the packets: a threshold
/// lies below it.
pub(crate) fn valid(limit: &str) -> Vec<QueueConfig> {
    let info = |packet_bytes| {
        let rate = Rate::from_bits_per_second(8_000_000);
        with!(LinkInfo::new("link", rate, packet_bytes), LinkInfo { bdp_bytes: 12_345.0 })
    };
    let fits = |config: &QueueConfig, bytes| config.parameters().check(&info(bytes)).is_ok();
    let mut configs = all(limit);
    configs.retain(|config| [40, 1_500].into_iter().all(|bytes| fits(config, bytes)));
    configs
}
