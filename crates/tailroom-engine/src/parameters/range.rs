//! The ranges of single parameters.
//!
//! The range of a parameter is written once, in the `schemars` attributes of its field. The JSON Schema,
//! by which a scenario is checked, is made from them, and so is [`Ranges`], by which a network that a
//! program builds is checked.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use super::BadParameter;
use crate::units::{Rate, Time};

/// An interval of numbers; without bounds, any finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    lower: Bound,
    upper: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    None,
    Included(f64),
    Excluded(f64),
}

impl Range {
    /// Any finite number.
    pub const ANY: Range = Range { lower: Bound::None, upper: Bound::None };

    /// The same range, from `bound` on.
    #[must_use]
    pub const fn at_least(self, bound: f64) -> Self {
        Range { lower: Bound::Included(bound), upper: self.upper }
    }

    /// The same range, above `bound`.
    #[must_use]
    pub const fn more_than(self, bound: f64) -> Self {
        Range { lower: Bound::Excluded(bound), upper: self.upper }
    }

    /// The same range, up to `bound`.
    #[must_use]
    pub const fn at_most(self, bound: f64) -> Self {
        Range { lower: self.lower, upper: Bound::Included(bound) }
    }

    /// The same range, below `bound`.
    #[must_use]
    pub const fn less_than(self, bound: f64) -> Self {
        Range { lower: self.lower, upper: Bound::Excluded(bound) }
    }

    /// Whether `value` is finite and in the range.
    pub fn holds(&self, value: f64) -> bool {
        let is_above = match self.lower {
            Bound::None => true,
            Bound::Included(bound) => value >= bound,
            Bound::Excluded(bound) => value > bound,
        };
        let is_below = match self.upper {
            Bound::None => true,
            Bound::Included(bound) => value <= bound,
            Bound::Excluded(bound) => value < bound,
        };
        value.is_finite() && is_above && is_below
    }

    /// Refuses a value out of the range; `shown` is the value as a message has it.
    ///
    /// # Errors
    /// The value and the range; the key is empty.
    pub fn check(&self, value: f64, shown: impl Display) -> Result<(), BadParameter> {
        if self.holds(value) {
            return Ok(());
        }
        let problem = format!("{} is out of range", super::short_number(value, shown));
        Err(BadParameter::new("", problem, format!("write {self}")))
    }
}

impl Display for Range {
    /// Writes the range in words, as in "more than 0 and at most 1".
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lower {
            Bound::None => {}
            Bound::Included(bound) => write!(formatter, "at least {bound}")?,
            Bound::Excluded(bound) => write!(formatter, "more than {bound}")?,
        }
        if self.lower != Bound::None && self.upper != Bound::None {
            formatter.write_str(" and ")?;
        }
        match self.upper {
            Bound::None if self.lower == Bound::None => formatter.write_str("a finite number"),
            Bound::None => Ok(()),
            // The largest whole number of a scenario, which no `f64` is.
            Bound::Included(bound) if bound.to_bits() == (i64::MAX as f64).to_bits() => {
                write!(formatter, "at most {}", i64::MAX)
            }
            Bound::Included(bound) => write!(formatter, "at most {bound}"),
            Bound::Excluded(bound) => write!(formatter, "less than {bound}"),
        }
    }
}

/// Parameters, or a value of one, that may be out of range.
///
/// Derive it for the parameters of a component; the macro reads the range of each field from its
/// `#[schemars(range(..))]` and similar attributes, whether or not the type has a schema.
pub trait Ranges {
    /// Checks each value against its own range, and not against other values.
    ///
    /// # Errors
    /// The key, relative to `self`, of the first value out of range, the value, and the range.
    fn check_ranges(&self) -> Result<(), BadParameter>;

    /// Checks the value of a parameter that has this range, or the values of a list.
    ///
    /// # Errors
    /// Those of [`Ranges::check_ranges`].
    fn check_within(&self, _range: &Range) -> Result<(), BadParameter> {
        self.check_ranges()
    }
}

/// Checks the value of the parameter `key`, for the derive macro.
///
/// # Errors
/// The value and its range.
#[doc(hidden)]
pub fn check_field<T: Ranges + ?Sized>(
    key: &str,
    value: &T,
    range: &Range,
) -> Result<(), BadParameter> {
    value.check_within(range).map_err(|bad| bad.below(key))
}

/// Checks the length of the text or list `key`, for the derive macro.
///
/// # Errors
/// The length and its range.
#[doc(hidden)]
pub fn check_length(key: &str, length: usize, range: &Range) -> Result<(), BadParameter> {
    let shown = format!("a length of {length}");
    range.check(length as f64, shown).map_err(|bad| bad.below(key))
}

macro_rules! numbers {
    ($($number:ty)+) => {
        $(impl Ranges for $number {
            fn check_ranges(&self) -> Result<(), BadParameter> {
                self.check_within(&Range::ANY)
            }

            fn check_within(&self, range: &Range) -> Result<(), BadParameter> {
                range.check(*self as f64, self)
            }
        })+
    };
}

#[allow(clippy::cast_lossless, reason = "some of the types have no lossless conversion")]
mod of_numbers {
    use super::{BadParameter, Range, Ranges};
    numbers! { f64 u32 u64 usize }
}

macro_rules! unbounded {
    ($($unbounded:ty)+) => {
        $(impl Ranges for $unbounded {
            fn check_ranges(&self) -> Result<(), BadParameter> {
                Ok(())
            }
        })+
    };
}

unbounded! { bool String Time }

impl Ranges for Rate {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        let is_allowed = *self > Rate::from_bits_per_second(0) && *self <= Rate::FASTEST;
        super::check("", self, is_allowed, "at least 1 bit/s and at most 1000000 Tbit/s")
    }
}

impl<T: Ranges> Ranges for Option<T> {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        self.as_ref().map_or(Ok(()), T::check_ranges)
    }

    fn check_within(&self, range: &Range) -> Result<(), BadParameter> {
        self.as_ref().map_or(Ok(()), |value| value.check_within(range))
    }
}

impl<T: Ranges> Ranges for Vec<T> {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        check_items(self, T::check_ranges)
    }

    fn check_within(&self, range: &Range) -> Result<(), BadParameter> {
        check_items(self, |item| item.check_within(range))
    }
}

impl<T: Ranges> Ranges for Arc<[T]> {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        check_items(self, T::check_ranges)
    }
}

impl<T: Ranges> Ranges for BTreeMap<String, T> {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        let mut entries = self.iter();
        entries.try_for_each(|(key, value)| value.check_ranges().map_err(|bad| bad.below(key)))
    }
}

fn check_items<T>(
    items: &[T],
    check: impl Fn(&T) -> Result<(), BadParameter>,
) -> Result<(), BadParameter> {
    let mut numbered = items.iter().enumerate();
    numbered
        .try_for_each(|(index, item)| check(item).map_err(|bad| bad.below(&format!("[{index}]"))))
}

#[cfg(test)]
mod tests {
    use tailroom_derive::Ranges;

    use super::*;

    #[derive(Ranges)]
    enum Shape {
        Plain,
        Bounded {
            #[schemars(range(min = 2, max = 1_000_u64))]
            every: u64,
        },
        Held(Weights),
    }

    #[derive(Ranges)]
    struct Weights {
        /// Two kinds of bounds, in any order.
        #[schemars(example = 1, extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
        gain: f64,
        #[schemars(length(min = 1), inner(range(min = -1.5)))]
        values: Vec<f64>,
        #[schemars(extend("exclusiveMaximum" = 4.0))]
        size: Option<u32>,
        any: std::vec::Vec<Option<f64>>,
        is_on: bool,
    }

    fn weights() -> Weights {
        Weights {
            gain: 1.0,
            values: vec![-1.5],
            size: Some(3),
            any: vec![Some(1e300)],
            is_on: true,
        }
    }

    fn refusal(wrong: &impl Ranges) -> String {
        wrong.check_ranges().expect_err("it is out of range").to_string()
    }

    #[test]
    fn a_range_is_what_the_attributes_of_the_field_say() {
        assert_eq!(weights().check_ranges(), Ok(()));
        assert_eq!(Weights { size: None, ..weights() }.check_ranges(), Ok(()));
        for gain in [0.0, -1.0, 1.000_1, f64::NAN, f64::INFINITY] {
            let expected = format!("gain: {gain} is out of range; write more than 0 and at most 1");
            assert_eq!(refusal(&Weights { gain, ..weights() }), expected);
        }
        assert_eq!(
            refusal(&Weights { values: vec![0.0, -1.6], ..weights() }),
            "values[1]: -1.6 is out of range; write at least -1.5"
        );
        assert_eq!(
            refusal(&Weights { values: vec![], ..weights() }),
            "values: a length of 0 is out of range; write at least 1"
        );
        assert_eq!(
            refusal(&Weights { size: Some(4), ..weights() }),
            "size: 4 is out of range; write less than 4"
        );
        assert_eq!(
            refusal(&Weights { any: vec![None, Some(f64::NAN)], ..weights() }),
            "any[1]: NaN is out of range; write a finite number"
        );
    }

    #[test]
    fn each_variant_has_the_ranges_of_its_fields() {
        assert_eq!(Shape::Plain.check_ranges(), Ok(()));
        assert_eq!(Shape::Bounded { every: 1_000 }.check_ranges(), Ok(()));
        assert_eq!(
            refusal(&Shape::Bounded { every: 1 }),
            "every: 1 is out of range; write at least 2 and at most 1000"
        );
        let held = Shape::Held(Weights { gain: 0.0, ..weights() });
        assert!(refusal(&held).starts_with("gain: 0 "));
    }
}
