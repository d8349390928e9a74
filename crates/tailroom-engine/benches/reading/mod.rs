//! Scenarios of benchmarks, which name no files.

use tailroom_engine::network::Network;
use tailroom_engine::scenario;

/// The network that a scenario describes.
pub(crate) fn network(text: &str) -> Network {
    scenario::parse(text, &[], None, &NoFiles)
        .and_then(|scenario| scenario.resolve())
        .expect("the scenario of the benchmark is valid")
}

struct NoFiles;

impl scenario::FileLoader for NoFiles {
    fn load(&self, path: &str, _most_bytes: u64) -> Result<Option<String>, String> {
        Err(format!("a benchmark has no files; cannot load {path}"))
    }
}
