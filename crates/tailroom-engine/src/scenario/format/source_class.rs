//! What the kind of a source says of its group before the group is read.

use toml::Value;

use crate::traffic::{SourceClass, class_of};

/// The class of a source as it is written, bulk if left out, before the group is read.
pub(in crate::scenario) fn class_as_written(source: Option<&Value>) -> SourceClass {
    let kind = match source {
        Some(Value::Table(table)) => table.get("kind").and_then(Value::as_str),
        named => named.and_then(Value::as_str),
    };
    kind.and_then(class_of).unwrap_or(SourceClass::Data)
}
