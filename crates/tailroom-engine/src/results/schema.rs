//! What the results mean, as a JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::Named;

/// The JSON Schema of [`Summary`](super::Summary), with what each statistic means, as JSON.
#[cfg(feature = "results")]
pub fn summary_schema() -> String {
    schemars::schema_for!(super::Summary).to_value().to_string()
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Named{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": values })
    }
}
