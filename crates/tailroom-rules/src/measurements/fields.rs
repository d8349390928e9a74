//! Typed values of JSON objects that other tools wrote, each with its place in messages.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::general_format::general;

/// The keys of a JSON object.
pub(super) type Fields = Map<String, Value>;

pub(super) fn object<'a>(value: Option<&'a Value>, place: &str) -> Result<&'a Fields, String> {
    value.and_then(Value::as_object).ok_or_else(|| damaged(place, "an object"))
}

pub(super) fn list<'a>(value: Option<&'a Value>, place: &str) -> Result<&'a [Value], String> {
    value.and_then(Value::as_array).map(Vec::as_slice).ok_or_else(|| damaged(place, "a list"))
}

pub(super) fn number(
    value: Option<&Value>,
    place: &str,
    range: RangeInclusive<f64>,
) -> Result<f64, String> {
    in_range(value.and_then(Value::as_f64), place, range)
}

/// A number that is plausible at its place.
pub(super) fn in_range(
    value: Option<f64>,
    place: &str,
    range: RangeInclusive<f64>,
) -> Result<f64, String> {
    value.filter(|value| range.contains(value)).ok_or_else(|| {
        let (least, most) = (general(*range.start(), 6), general(*range.end(), 6));
        damaged(place, &format!("a number from {least} to {most}"))
    })
}

fn damaged(place: &str, kind: &str) -> String {
    format!("{place}: is not {kind}; the file is damaged: measure again")
}

/// Whether a value is there and is not zero, false or empty.
pub(super) fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_on)) => *is_on,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(fields)) => !fields.is_empty(),
    }
}
