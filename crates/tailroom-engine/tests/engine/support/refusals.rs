//! Checks what a wrong scenario is answered with, apart from the wording.

/// Checks that `message` tells of one problem, at `place` (the line, where there is one, and the
/// key), and that its remedy has each of `names` in it: the nearest name, a bound, an example, or
/// the keys to change.
#[track_caller]
pub(crate) fn assert_refused(message: &str, place: &str, names: &[&str]) {
    let told = message.strip_prefix(place).and_then(|rest| rest.strip_prefix(": "));
    let told = told.unwrap_or_else(|| panic!("{message}: not at {place}"));
    assert!(!told.contains('\n'), "{message}: more than one problem");
    let (problem, remedy) = told.split_once("; ").unwrap_or_else(|| panic!("{message}: no remedy"));
    assert!(!problem.is_empty(), "{message}");
    for name in names {
        assert!(contains_word(remedy, name), "{message}: the remedy does not name {name}");
    }
}

/// Whether `text` has `word` in it, not as a part of a longer word or number.
fn contains_word(text: &str, word: &str) -> bool {
    let is_inner = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || "_.".contains(letter))
    };
    let (first, last) = (word.chars().next(), word.chars().next_back());
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !(is_inner(before) && is_inner(first) || is_inner(last) && is_inner(after))
    })
}
