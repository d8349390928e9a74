//! The keys of `[defaults]`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toml::Table;

use super::flows::FlowsConfig;

/// Defaults for the keys of groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::scenario) struct DefaultsConfig(Table);

impl JsonSchema for DefaultsConfig {
    fn schema_name() -> Cow<'static, str> {
        "DefaultsConfig".into()
    }

    /// The keys of a group, without required keys and without their own defaults.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = FlowsConfig::json_schema(generator);
        schema.remove("required");
        schema.insert(
            "description".into(),
            "Keys that groups of flows share. A group has them unless it gives them itself.".into(),
        );
        let properties = schema.get_mut("properties").and_then(|keys| keys.as_object_mut());
        for (key, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object_mut() else { continue };
            property.remove("default");
            let meaning = format!("`{key}` of each group that does not give it.");
            property.insert("description".into(), json!(meaning));
        }
        schema
    }
}
