//! Wrong parameters of a component: the key, the problem, and the remedy.

mod range;

use std::fmt::{self, Display};

use crate::quoting::quoted;

pub use range::{Range, Ranges, check_field, check_length};
/// Derives [`trait@Ranges`].
pub use tailroom_derive::Ranges;

/// A parameter that is out of range, or that contradicts another parameter or its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// The parameter as a scenario names it, below its component: dotted, with list indices in
    /// brackets, as in `size.values[2]`. Empty for the component as a whole.
    pub key: String,
    /// What is wrong.
    pub problem: String,
    /// What to do: the allowed values.
    pub remedy: String,
}

impl BadParameter {
    /// A problem of the parameter `key`.
    pub fn new(
        key: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        BadParameter { key: key.into(), problem: problem.into(), remedy: remedy.into() }
    }

    /// The same, with its key below `place`: `gain` below `congestion` is `congestion.gain`.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        let is_joined = place.is_empty() || self.key.is_empty() || self.key.starts_with('[');
        let dot = if is_joined { "" } else { "." };
        BadParameter { key: format!("{place}{dot}{}", self.key), ..self }
    }
}

impl std::error::Error for BadParameter {}

impl Display for BadParameter {
    /// Writes the key, the problem and the remedy.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}; {}", self.key, self.problem, self.remedy)
    }
}

/// A number as it was `shown`, or with an exponent in place of dozens of digits.
pub(crate) fn short_number(value: f64, shown: impl Display) -> String {
    let text = shown.to_string();
    if text.len() > 60 && value.is_finite() { format!("{value:e}") } else { quoted(text) }
}

/// Refuses the value of the parameter `key` unless `is_allowed`; `allowed` describes the allowed
/// values, as in `"more than 0 and at most 1"`.
///
/// # Errors
/// The parameter, its value, and the allowed values.
pub fn check(
    key: &'static str,
    value: impl Display,
    is_allowed: bool,
    allowed: &str,
) -> Result<(), BadParameter> {
    if is_allowed {
        return Ok(());
    }
    let problem = format!("{} is out of range", quoted(value));
    Err(BadParameter::new(key, problem, format!("write {allowed}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_out_of_range_is_told_with_its_key_and_the_range() {
        assert_eq!(check("gain", 0.5, true, "at most 1"), Ok(()));
        let bad = check("gain", f64::NAN, false, "at most 1").expect_err("it is refused");
        assert_eq!((bad.key.as_str(), bad.problem.as_str()), ("gain", "NaN is out of range"));
        assert_eq!(bad.remedy, "write at most 1");
        let long = check("gain", 1e308, false, "at most 1").expect_err("it is refused");
        let digits = "0".repeat(49);
        assert_eq!(long.problem, format!("1{digits}... (309 characters) is out of range"));
    }
}
