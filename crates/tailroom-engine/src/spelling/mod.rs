//! What a person meant who wrote a name that does not exist.
//!
//! Keys and kinds of scenarios, names of metrics, units, and options of commands have one table of
//! synonyms and one order of likely names: the Python package and the page call these functions too.

mod synonyms;

/// Most names that a message lists.
pub const MOST_LISTED: usize = 6;

/// Jaro-Winkler similarity from which a name counts as a misspelling of another.
#[cfg(feature = "scenario")]
const NEAR: f64 = 0.8;

/// What a rival of the most similar name may lack in similarity.
#[cfg(feature = "scenario")]
const RIVAL: f64 = 0.05;

/// Statistics at the end of a metric's name, those that people ask for first.
#[cfg(feature = "scenario")]
const STATISTICS: [&str; 3] = ["_p99", "_mean", "_max"];

/// A name without what does not matter: case, hyphens, underscores and blanks.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['-', '_', ' '], "")
}

/// Returns the candidates that a word means: one that differs in case or hyphens alone, or those of
/// the table of synonyms, the most likely first.
pub(crate) fn known<'a>(word: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    let word = plain(word);
    let same: Vec<&str> =
        candidates.iter().copied().filter(|candidate| plain(candidate) == word).collect();
    if !same.is_empty() {
        return same;
    }
    let names = synonyms::of(&word).iter();
    names.filter_map(|name| candidates.iter().find(|one| *one == name).copied()).collect()
}

/// Returns the candidates that a person who wrote `name` may have meant, the most likely first: those
/// that the name stands for, else those that begin with it, else those that resemble it, else those
/// that contain it, else those with two neighbouring letters in another order.
#[cfg(feature = "scenario")]
pub fn meant<'a>(name: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    let known = known(name, candidates);
    if !known.is_empty() || plain(name).is_empty() {
        return known;
    }
    let word = plain(name);
    let mut begun = matching(candidates, |candidate| candidate.starts_with(&word));
    if !begun.is_empty() {
        begun.sort_by_key(|candidate| {
            STATISTICS.iter().position(|end| candidate.ends_with(end)).unwrap_or(STATISTICS.len())
        });
        return begun;
    }
    let ranked = by_similarity(&word, candidates);
    let best = ranked.first().map_or(0.0, |(similarity, _)| *similarity);
    let alike = ranked.iter().take_while(|(similarity, _)| *similarity >= NEAR.max(best - RIVAL));
    let alike: Vec<&str> = alike.map(|(_, candidate)| *candidate).collect();
    if !alike.is_empty() {
        return alike;
    }
    let containing = matching(candidates, |one| one.contains(&word));
    if containing.is_empty() {
        matching(candidates, |one| is_swapped(&word, one))
    } else {
        containing
    }
}

/// Whether two neighbouring letters that change places make one name of the other. Of three letters, the
/// similarity of names does not tell this from another word: dls, dsl.
#[cfg(feature = "scenario")]
fn is_swapped(one: &str, other: &str) -> bool {
    let pairs: Vec<(char, char)> = one.chars().zip(other.chars()).collect();
    let differs = |(one, other): &(char, char)| one != other;
    let first = pairs.iter().position(differs);
    let last = pairs.iter().rposition(differs);
    one.len() == other.len()
        && first.zip(last).is_some_and(|(first, last)| {
            let ((a, b), (c, d)) = (pairs[first], pairs[last]);
            last == first + 1 && (a, b) == (d, c)
        })
}

/// Returns at most [`MOST_LISTED`] candidates, those that resemble a name most first, and the number
/// of the others. A few candidates keep their order.
#[cfg(feature = "scenario")]
pub fn few<'a>(name: &str, candidates: &[&'a str]) -> (Vec<&'a str>, usize) {
    if candidates.len() <= MOST_LISTED {
        return (candidates.to_vec(), 0);
    }
    let ranked = by_similarity(&plain(name), candidates).into_iter().take(MOST_LISTED);
    (ranked.map(|(_, candidate)| candidate).collect(), candidates.len() - MOST_LISTED)
}

/// Returns what to say about a word that means the candidate `name`, if that needs a sentence.
#[cfg(feature = "scenario")]
pub fn remark(word: &str, name: &str) -> Option<&'static str> {
    synonyms::remark(&plain(word), name)
}

#[cfg(feature = "scenario")]
fn matching<'a>(candidates: &[&'a str], is_meant: impl Fn(&str) -> bool) -> Vec<&'a str> {
    candidates.iter().copied().filter(|candidate| is_meant(&plain(candidate))).collect()
}

/// The candidates with their similarity to a word, the most similar first; equals keep their order.
#[cfg(feature = "scenario")]
fn by_similarity<'a>(word: &str, candidates: &[&'a str]) -> Vec<(f64, &'a str)> {
    let similarity =
        |candidate: &&'a str| (strsim::jaro_winkler(word, &plain(candidate)), *candidate);
    let mut ranked: Vec<(f64, &str)> = candidates.iter().map(similarity).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    ranked
}

#[cfg(all(test, feature = "scenario"))]
mod tests {
    use super::*;

    const CONTROLS: [&str; 5] = ["reno", "cubic", "bbr1", "bbr3", "dctcp"];
    const METRICS: [&str; 5] = [
        "queue_delay_s_p01",
        "queue_delay_s_mean",
        "queue_delay_s_p99",
        "utilization",
        "utilization_without_duplicates",
    ];

    #[test]
    fn case_and_hyphens_do_not_matter() {
        assert_eq!(meant("DCTCP", &CONTROLS), ["dctcp"]);
        assert_eq!(meant("FQ-CoDel", &["codel", "fq_codel"]), ["fq_codel"]);
        assert_eq!(meant("--DRY-run", &["dry_run"]), ["dry_run"]);
        assert_eq!(meant("DropTail", &["drop_head", "drop_tail"]), ["drop_tail"]);
    }

    #[test]
    fn a_synonym_comes_before_names_that_begin_alike() {
        assert_eq!(meant("bbr", &CONTROLS), ["bbr1"]);
        assert_eq!(meant("latency", &METRICS), ["queue_delay_s_p99", "queue_delay_s_mean"]);
        assert_eq!(meant("ports", &["ports_per_pool", "hosts"]), ["hosts"]);
        assert_eq!(meant("ports", &["ports_per_pool"]), ["ports_per_pool"]);
    }

    #[test]
    fn of_statistics_the_99th_percentile_and_the_mean_come_first() {
        let first = ["queue_delay_s_p99", "queue_delay_s_mean", "queue_delay_s_p01"];
        assert_eq!(meant("queue_delay", &METRICS), first);
    }

    #[test]
    fn a_message_lists_few_names_and_counts_the_others() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "zebra"];
        let (listed, others) = few("zebras", &names);
        assert_eq!((listed[0], listed.len(), others), ("zebra", MOST_LISTED, 2));
        assert_eq!(few("x", &CONTROLS), (CONTROLS.to_vec(), 0));
    }

    #[test]
    fn letters_that_have_changed_places_are_known_in_short_words_too() {
        assert_eq!(meant("dls", &["cable", "dsl", "wifi"]), ["dsl"]);
        assert_eq!(meant("DLS", &["Dsl"]), ["Dsl"]);
        assert_eq!(meant("der", &["red", "pie"]), [] as [&str; 0]);
    }

    #[test]
    fn an_empty_name_means_nothing() {
        assert!(meant(" ", &CONTROLS).is_empty());
    }
}
