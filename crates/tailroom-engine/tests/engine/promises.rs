//! What the front page of the crate promises of its types.

use std::fs;
use std::path::Path;

/// Specifications, parameters and results whose names do not show it.
const OTHERS: [&str; 12] = [
    "ArrivalsConfig",
    "DelayChange",
    "IngressMember",
    "IngressMemory",
    "Network",
    "PoolMember",
    "RateChange",
    "Results",
    "Seen",
    "SeenFlow",
    "SeenLink",
    "Warning",
];

fn may_gain_fields(name: &str) -> bool {
    let ends = ["Spec", "Params", "Summary", "Input"];
    ends.iter().any(|end| name.ends_with(end)) || OTHERS.contains(&name)
}

/// The name of the public structure that a paragraph of a source declares, if it does.
fn declared(paragraph: &str) -> Option<&str> {
    let declaration = paragraph.lines().find_map(|line| line.strip_prefix("pub struct "))?;
    declaration.split(|letter: char| !letter.is_alphanumeric()).next()
}

/// Counts the structures below `folder` that may gain fields, and notes those that are open.
fn count(folder: &Path, open: &mut Vec<String>) -> usize {
    let mut counted = 0;
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the sources are readable").path();
        if path.is_dir() {
            counted += count(&path, open);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        for paragraph in text.split("\n\n") {
            let Some(name) = declared(paragraph).filter(|name| may_gain_fields(name)) else {
                continue;
            };
            counted += 1;
            if !paragraph.contains("#[non_exhaustive]") {
                open.push(format!("{}: {name}", path.display()));
            }
        }
    }
    counted
}

#[test]
fn specifications_parameters_and_results_may_gain_fields() {
    let mut open = Vec::new();
    let counted = count(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut open);
    assert!(counted > 100, "only {counted} structures");
    assert!(open.is_empty(), "without #[non_exhaustive]: {open:#?}");
}
