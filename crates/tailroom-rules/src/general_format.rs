//! Numbers with so many significant digits, as C's and Python's format `g` writes them.

/// `value` with at most `digits` significant digits, without zeros at the end.
pub fn general(value: f64, digits: u8) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".to_owned() } else { format!("{value}") };
    }
    let scientific = format!("{value:.*e}", usize::from(digits) - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let digits = i32::from(digits);
    if power >= -4 && power < digits {
        let decimals = (digits - 1 - power) as usize;
        return without_zeros(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), power.abs())
}

/// A number in digits, with commas between thousands.
pub fn thousands(number: &str) -> String {
    let digits = number.trim_start_matches('-');
    let length = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    let start = number.len() - digits.len();
    let mut written = number.to_owned();
    for place in (1..length).filter(|place| (length - place) % 3 == 0).rev() {
        written.insert(start + place, ',');
    }
    written
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::{general, thousands};

    #[test]
    fn commas_stand_between_thousands() {
        for (number, expected) in [
            ("1234567.25", "1,234,567.25"),
            ("-1234", "-1,234"),
            ("999", "999"),
            ("1.235e+04", "1.235e+04"),
            ("", ""),
        ] {
            assert_eq!(thousands(number), expected);
        }
    }

    #[test]
    fn numbers_are_written_as_by_format_g_of_c() {
        for (value, digits, expected) in [
            (0.000_123_45, 3, "0.000123"),
            (0.000_012_3, 4, "1.23e-05"),
            (1_234_567.0, 6, "1.23457e+06"),
            (999_999.5, 6, "1e+06"),
            (100.0, 6, "100"),
            (0.0, 4, "0"),
            (2.5, 1, "2"),
            (f64::INFINITY, 3, "inf"),
        ] {
            assert_eq!(general(value, digits), expected);
        }
    }
}
