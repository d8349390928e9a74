//! Decimal numbers, read and multiplied without rounding.

/// `mantissa` times ten to the power of `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    mantissa: u128,
    exponent: i32,
}

/// The product of a decimal and a whole number or a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    /// Rounded to the nearest integer, halves up.
    pub(crate) nearest: u128,
    /// Rounded down.
    pub(crate) floor: u128,
    /// Whether the product is exact without rounding.
    pub(crate) is_exact: bool,
}

/// Largest number of significant digits: more than a float prints, and few enough that the product
/// with the largest unit (3.6e15) fits in 128 bits.
const MAX_DIGITS: usize = 22;

impl Decimal {
    /// Reads an unsigned decimal (`12`, `0.5`, `1e-5`) from the start of `text`; returns the
    /// decimal and the rest of the text. Returns `None` if `text` does not start with a number, and
    /// the end of a message ("has more than 22 digits") if the number is not allowed.
    pub(crate) fn read(text: &str) -> Option<Result<(Decimal, &str), &'static str>> {
        let (whole, rest) = split_digits(text);
        if whole.is_empty() {
            return None;
        }
        let (fraction, rest) = match rest.strip_prefix('.').map(split_digits) {
            Some(("", _)) => return None,
            Some(parts) => parts,
            None => ("", rest),
        };
        let (power, rest) = split_power(rest);
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        if digits.len() > MAX_DIGITS {
            return Some(Err("has more than 22 digits"));
        }
        let mantissa = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        let exponent = i32::try_from(fraction.len()).ok().and_then(|len| power?.checked_sub(len));
        match exponent {
            Some(exponent) => Some(Ok((Decimal { mantissa, exponent }, rest))),
            None => Some(Err("has an exponent out of range")),
        }
    }

    /// A number of millionths.
    pub(crate) fn millionths(count: u64) -> Decimal {
        Decimal { mantissa: u128::from(count), exponent: -6 }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Multiplies by `factor`; `None` on overflow.
    pub(crate) fn times(self, factor: u64) -> Option<Product> {
        self.times_ratio(u128::from(factor), 1)
    }

    /// Multiplies by `numerator / denominator`; `None` on overflow.
    pub(crate) fn times_ratio(self, numerator: u128, denominator: u128) -> Option<Product> {
        if self.is_zero() || numerator == 0 {
            return Some(Product { nearest: 0, floor: 0, is_exact: true });
        }
        let product = self.mantissa.checked_mul(numerator)?;
        if self.exponent >= 0 {
            let power = 10_u128.checked_pow(self.exponent.unsigned_abs())?;
            return Some(divide(product.checked_mul(power)?, denominator));
        }
        let divisor = 10_u128
            .checked_pow(self.exponent.unsigned_abs())
            .and_then(|power| power.checked_mul(denominator));
        // A divisor that exceeds 128 bits exceeds any product.
        Some(divisor.map_or(Product { nearest: 0, floor: 0, is_exact: false }, |divisor| {
            divide(product, divisor)
        }))
    }
}

fn divide(dividend: u128, divisor: u128) -> Product {
    let (floor, rest) = (dividend / divisor, dividend % divisor);
    let rounds_up = rest >= divisor - rest;
    Product { nearest: floor + u128::from(rounds_up), floor, is_exact: rest == 0 }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = self.mantissa.to_string();
        match usize::try_from(-self.exponent) {
            Ok(0) => formatter.write_str(&digits),
            Ok(places) if places <= 2 * MAX_DIGITS => {
                let digits = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = digits.split_at(digits.len() - places);
                match fraction.trim_end_matches('0') {
                    "" => formatter.write_str(whole),
                    fraction => write!(formatter, "{whole}.{fraction}"),
                }
            }
            _ => write!(formatter, "{digits}e{}", self.exponent),
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()))
}

/// Splits off an exponent such as `e-5`; the power is 0 without an exponent and `None` if it does
/// not fit in an `i32`.
fn split_power(text: &str) -> (Option<i32>, &str) {
    let Some(power) = text.strip_prefix(['e', 'E']) else {
        return (Some(0), text);
    };
    let unsigned = power.strip_prefix(['+', '-']).unwrap_or(power);
    let (digits, rest) = split_digits(unsigned);
    if digits.is_empty() {
        return (Some(0), text);
    }
    let magnitude: Option<i32> = digits.parse().ok();
    (magnitude.map(|value| if power.starts_with('-') { -value } else { value }), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Decimal, &str) {
        Decimal::read(text).unwrap().unwrap()
    }

    #[test]
    fn reads_plain_fractional_and_exponent_forms() {
        assert_eq!(read("12 ms"), (Decimal { mantissa: 12, exponent: 0 }, " ms"));
        assert_eq!(read("0.05bdp"), (Decimal { mantissa: 5, exponent: -2 }, "bdp"));
        assert_eq!(read("1e-5 s"), (Decimal { mantissa: 1, exponent: -5 }, " s"));
        assert_eq!(read("2.5E+3 B").0.times(1).unwrap().floor, 2500);
    }

    #[test]
    fn refuses_text_that_is_not_an_unsigned_number() {
        for text in ["", "ms", ".5 s", "nan s", "inf s", "1. s", "+1 s"] {
            assert!(Decimal::read(text).is_none(), "{text}");
        }
        let long = "1".repeat(23);
        assert_eq!(Decimal::read(&long), Some(Err("has more than 22 digits")));
        assert_eq!(Decimal::read("1e9999999999 s"), Some(Err("has an exponent out of range")));
    }

    #[test]
    fn rounds_only_inexact_products() {
        let third = read("0.3333").0.times(1000).unwrap();
        assert_eq!((third.floor, third.nearest, third.is_exact), (333, 333, false));
        let half = read("0.5").0.times(1).unwrap();
        assert_eq!((half.floor, half.nearest, half.is_exact), (0, 1, false));
        let tenth = read("0.1").0.times(1_000_000_000).unwrap();
        assert_eq!((tenth.floor, tenth.is_exact), (100_000_000, true));
        assert_eq!(read("1e40").0.times(1), None);
        assert_eq!(read("1e-40").0.times(1).unwrap().floor, 0);
    }

    #[test]
    fn prints_the_text_that_it_reads() {
        for text in ["0.1", "12", "0.05", "1249", "100"] {
            assert_eq!(read(text).0.to_string(), text);
        }
        assert_eq!(read("1e-5").0.to_string(), "0.00001");
        assert_eq!(read("2e3").0.to_string(), "2e3");
    }
}
