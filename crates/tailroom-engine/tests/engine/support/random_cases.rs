//! The number of random cases per property, and the files that keep failing cases.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// Runs `cases` random cases, times the environment variable `TAILROOM_CASES` if it is set. A
/// failing case is kept next to the source file of the test, in a file of
/// the same name with the extension `regressions`; the next run tries it first.
///
/// # Panics
///
/// Panics if the variable is no positive integer.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let factor = std::env::var("TAILROOM_CASES").map_or(1, |text| {
        let factor = text.parse::<u32>().ok().filter(|factor| *factor > 0);
        factor.unwrap_or_else(|| panic!("TAILROOM_CASES={text}: give a positive integer"))
    });
    ProptestConfig {
        cases: cases * factor,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 1_000,
        ..ProptestConfig::default()
    }
}
