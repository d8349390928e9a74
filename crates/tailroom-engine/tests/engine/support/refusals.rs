//! Checks the place and the remedy in the refusal of a wrong scenario, whatever its wording.

/// Checks that `message` reports one problem at `place` (the line, if the text has one there, and
/// the key), and that its remedy names each of `names`: the nearest name, a bound, an example, or
/// the keys to change.
#[track_caller]
pub(crate) fn assert_refused(message: &str, place: &str, names: &[&str]) {
    let rest = message.strip_prefix(place).and_then(|rest| rest.strip_prefix(": "));
    let rest = rest.unwrap_or_else(|| panic!("{message}: not at {place}"));
    assert!(!rest.contains('\n'), "{message}: more than one problem");
    let (problem, remedy) = rest.split_once("; ").unwrap_or_else(|| panic!("{message}: no remedy"));
    assert!(!problem.is_empty(), "{message}");
    for name in names {
        assert!(contains_word(remedy, name), "{message}: the remedy does not name {name}");
    }
}

/// Checks that `message` reports these problems and no others, one per line and in this order. Each
/// is given by its place and by what its remedy names.
#[track_caller]
pub(crate) fn assert_all_refused(message: &str, refusals: &[(&str, &[&str])]) {
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), refusals.len(), "{message}");
    for (line, (place, names)) in lines.into_iter().zip(refusals) {
        assert_refused(line, place, names);
    }
}

/// Whether `text` contains `word`, not as part of a longer word or number.
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
