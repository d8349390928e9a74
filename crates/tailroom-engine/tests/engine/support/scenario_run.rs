//! Runs a scenario from its text, or a network.

use tailroom_engine::network::Network;
use tailroom_engine::results::Results;
use tailroom_engine::scenario;
use tailroom_engine::scenario::FileLoader;
use tailroom_engine::simulation::Simulation;

/// For scenarios that name no files.
pub(crate) struct NoFiles;

impl FileLoader for NoFiles {
    fn load(&self, path: &str) -> Result<String, String> {
        Err(format!("no file is named here, but {path} is"))
    }
}

/// What a scenario that is right and names no files resolves to.
pub(crate) fn network(text: &str, seed: u64) -> Network {
    scenario::parse(text, &[], Some(seed), &NoFiles)
        .and_then(|scenario| scenario.resolve())
        .expect("the scenario is right")
}

/// The results of a scenario that is right and names no files.
pub(crate) fn run(text: &str, seed: u64) -> Results {
    finish(&network(text, seed))
}

/// The results of a network whose run ends well.
pub(crate) fn finish(network: &Network) -> Results {
    Simulation::new(network).finish().expect("the account of packets balances")
}

/// Why a scenario that names no files is refused.
pub(crate) fn refusal(text: &str) -> String {
    let resolved = scenario::parse(text, &[], None, &NoFiles).and_then(|found| found.resolve());
    resolved.expect_err("the scenario is wrong").to_string()
}
