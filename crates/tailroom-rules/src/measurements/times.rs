//! Times on lines of their own: seconds, milliseconds, microseconds or nanoseconds since 1970, or a
//! time of the calendar as ISO 8601 has it.

/// The time on a line, in seconds since 1970; `None` if the line is none. A time of the calendar
/// without an offset is read as UTC: only differences count.
///
/// # Errors
/// The line looks like a time of the calendar and is none.
pub(super) fn time_s(line: &str) -> Result<Option<f64>, ()> {
    let text = line.trim();
    if let Some(time_s) = clock_s(text) {
        return Ok(Some(time_s));
    }
    if !is_like_calendar(text) {
        return Ok(None);
    }
    calendar_s(text).map(Some).ok_or(())
}

/// A number since 1970, whose digits tell its unit; a word may stand before it, as in `time: 17...`.
fn clock_s(text: &str) -> Option<f64> {
    let number = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let number = if number.len() == text.len() {
        number
    } else {
        number.trim_start().strip_prefix([':', '='])?.trim_start()
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !is_digits(whole) || !(fraction.is_empty() || is_digits(fraction)) {
        return None;
    }
    let thousands = match whole.len() {
        9 | 10 => 0,
        11..=13 => 1,
        14..=16 => 2,
        17..=19 => 3,
        _ => return None,
    };
    let number: f64 = number.trim_end_matches('.').parse().ok()?;
    Some(number / 1e3_f64.powi(thousands))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text begins as `2026-01-31T12:00:00` and is one word, but for the space before the hour.
fn is_like_calendar(text: &str) -> bool {
    const PATTERN: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let fits = |(byte, like): (&u8, &u8)| match like {
        b'd' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b' '),
        _ => byte == like,
    };
    bytes.len() >= PATTERN.len()
        && bytes.iter().zip(PATTERN).all(fits)
        && !text[PATTERN.len()..].contains(char::is_whitespace)
}

fn calendar_s(text: &str) -> Option<f64> {
    let field = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days_of_month).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years begin in March, so that a leap day is their last.
    let years = if month <= 2 { year - 1 } else { year };
    let days_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * years + years / 4 - years / 100 + years / 400 + days_of_year - 719_468;
    let rest = text.get(19..)?;
    let digits = rest.strip_prefix(['.', ',']).unwrap_or("");
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if rest.starts_with(['.', ',']) && length == 0 {
        return None;
    }
    let fraction: f64 = format!("0.{}", &digits[..length]).parse().unwrap_or(0.0);
    let offset_s = if digits.is_empty() { offset_s(rest)? } else { offset_s(&digits[length..])? };
    let whole_s = 86_400 * days + 3_600 * hour + 60 * minute + second - offset_s;
    Some(whole_s as f64 + fraction)
}

/// An offset from UTC: nothing, `Z`, `+02`, `+0200` or `+02:00`.
fn offset_s(text: &str) -> Option<i64> {
    if text.is_empty() || text == "Z" {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = digits.replacen(':', "", 1);
    if !is_digits(&digits) || !matches!(digits.len(), 2 | 4) {
        return None;
    }
    let (hours, minutes) = digits.split_at(2);
    let minutes: i64 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
    Some(sign * (3_600 * hours.parse::<i64>().ok()? + 60 * minutes))
}

#[cfg(test)]
mod tests {
    use super::time_s;

    #[test]
    fn any_clock_and_the_calendar_give_seconds_since_1970() {
        for (line, expected) in [
            ("1700000000", 1_700_000_000.0),
            ("1700000000.5", 1_700_000_000.5),
            (" time: 1700000000123 ", 1_700_000_000.123),
            ("T=1700000000123456789", 1_700_000_000.123_456_7),
            // As `date --utc --date=... +%s` has them.
            ("2023-11-14T22:13:20Z", 1_700_000_000.0),
            ("2023-11-15 00:13:20.25+02:00", 1_700_000_000.25),
            ("2024-02-29T12:00:00,5-0130", 1_709_213_400.5),
            ("1970-01-01T00:00:00", 0.0),
        ] {
            let time_s = time_s(line).unwrap().unwrap();
            assert!((time_s - expected).abs() < 1e-6, "{line}: {time_s}");
        }
    }

    #[test]
    fn what_only_looks_like_a_time_is_an_error_and_other_lines_are_none() {
        for line in ["2023-02-29T00:00:00", "2023-11-14T25:13:20", "2023-11-14T22:13:20+9"] {
            assert_eq!(time_s(line), Err(()), "{line}");
        }
        for line in ["", "ESTAB 0 0", "12345678", "1700000000x", "time 1700000000", "2023-11-14"] {
            assert_eq!(time_s(line), Ok(None), "{line}");
        }
    }
}
