//! Reads parts of a JSON Schema: references, unions and the kinds of a tagged union.

use serde_json::Value;

/// Returns the schema that `schema` refers to, or `schema` itself.
pub(crate) fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = || root.get("$defs")?.get(schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?);
    target().unwrap_or(schema)
}

/// Returns the alternatives of a union, or `None` if the schema is not a union.
pub(crate) fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)
}

/// Returns the `kind` of an alternative of a tagged union.
pub(crate) fn kind_of(alternative: &Value) -> Option<&str> {
    alternative.get("properties")?.get("kind")?.get("const")?.as_str()
}
