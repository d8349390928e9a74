//! How many random cases a property is tried with, and where a case that fails is kept.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// Tries `cases` random cases, or as many as the environment variable `PROPTEST_CASES` says. A case
/// that fails is kept beside the test's file, in one of the same name that ends in `.regressions`;
/// the next run tries it first.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").map_or(cases, |text| text.parse().unwrap_or(cases)),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 1_000,
        ..ProptestConfig::default()
    }
}
