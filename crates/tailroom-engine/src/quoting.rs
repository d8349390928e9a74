//! How a message repeats text that somebody else wrote.

use std::fmt::Display;

/// Characters of the longest quote.
const LONGEST: usize = 80;
/// Characters that a quote has of a longer text, in front of the length of the text.
const BEGINNING: usize = 50;

/// The text for a message: at most 80 characters, control characters shown as `\x1b`.
pub fn quoted(text: impl Display) -> String {
    let text = text.to_string();
    let start: String = text.chars().take(LONGEST + 1).collect();
    let quote = shown(&start);
    if quote.chars().nth(LONGEST).is_none() {
        return quote;
    }
    let beginning: String = quote.chars().take(BEGINNING).collect();
    format!("{beginning}... ({} characters)", text.chars().count())
}

/// A text on one line, in which characters that a terminal obeys are written out: control characters, and
/// those that reverse the direction of text.
pub(crate) fn shown(text: &str) -> String {
    let is_obeyed = |letter: char| {
        letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let written = text.chars().map(|letter| match u32::from(letter) {
        _ if !is_obeyed(letter) => letter.to_string(),
        _ if "\n\r\t".contains(letter) => letter.escape_default().to_string(),
        code @ ..=0xff => format!("\\x{code:02x}"),
        code => format!("\\u{code:04x}"),
    });
    written.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_short_and_on_one_line_and_shows_control_characters() {
        assert_eq!(quoted("a\u{1b}[2J\nb\u{202e}\t\u{7}"), r"a\x1b[2J\nb\u202e\t\x07");
        for letter in ["x", "\u{1b}", "\u{e9}", "\n"] {
            let quote = quoted(letter.repeat(10_000));
            assert!(quote.chars().count() <= LONGEST, "{quote}");
            assert!(quote.ends_with("... (10000 characters)"), "{quote}");
            let whole = letter.repeat(LONGEST / shown(letter).chars().count());
            assert_eq!(quoted(&whole), shown(&whole));
        }
    }
}
