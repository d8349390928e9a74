//! Checks the place and the remedy in the refusal of a wrong scenario, whatever its wording.

/// Checks that `message` reports one problem at `place` (the line, if the text has one there, and
/// the key), and that its remedy names each of `names`: the nearest name, a bound, an example, or
/// the keys to change.
pub(crate) fn check_refusal(message: &str, place: &str, names: &[&str]) -> Result<(), String> {
    let rest = message.strip_prefix(place).and_then(|rest| rest.strip_prefix(": "));
    let rest = rest.ok_or_else(|| format!("{message}: not at {place}"))?;
    let (problem, remedy) = rest.split_once("; ").unwrap_or_default();
    if problem.is_empty() || rest.contains('\n') {
        return Err(format!("{message}: not one problem with a remedy"));
    }
    let missing = names.iter().find(|name| !contains_word(remedy, name));
    missing.map_or(Ok(()), |name| Err(format!("{message}: the remedy does not name {name}")))
}

/// [`check_refusal`], as an assertion.
#[track_caller]
pub(crate) fn assert_refused(message: &str, place: &str, names: &[&str]) {
    check_refusal(message, place, names).unwrap_or_else(|fault| panic!("{fault}"));
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
