//! The Rust that pages of the guide print whole is compiled here, and gives what the pages say.

mod behind_fq_codel;
#[path = "../../examples/burst.rs"]
#[expect(dead_code, reason = "its main function prints the report")]
mod burst;

const TRANSPORT_TESTS: &str = include_str!("../../../../docs/guide/transport-tests.md");
const OWN_SOURCE: &str = include_str!("../../../../docs/guide/own-source.md");

/// Whether a page has a block of this language with this text.
fn has_block(page: &str, language: &str, text: &str) -> bool {
    page.contains(&format!("```{language}\n{text}```\n"))
}

#[test]
fn pages_print_the_files_that_are_compiled() {
    assert!(has_block(TRANSPORT_TESTS, "rust", include_str!("behind_fq_codel.rs")));
    assert!(has_block(OWN_SOURCE, "rust", include_str!("../../examples/burst.rs")));
}

#[test]
fn the_example_prints_what_its_page_shows() {
    let command = "$ cargo run --release -p tailroom-engine --example burst\n";
    let report = burst::report().expect("the run ends");
    assert!(has_block(OWN_SOURCE, "console", &format!("{command}{report}\n")), "{report}");
}
