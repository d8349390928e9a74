//! The number of random cases per property, and the files that keep failing cases.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// Runs `cases` random cases, or the number in the environment variable `PROPTEST_CASES`. A failing
/// case is kept beside the source file of the test, in a file of the same name with the extension
/// `regressions`; the next run tries it first.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").map_or(cases, |text| text.parse().unwrap_or(cases)),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 1_000,
        ..ProptestConfig::default()
    }
}
