//! Resolves and runs scenarios that read no files, and runs networks.

use tailroom_engine::network::Network;
use tailroom_engine::results::Results;
use tailroom_engine::scenario::{self, NoFiles};
use tailroom_engine::simulation::Simulation;

/// What the scenarios of these tests have apart from their text: no profile of a host, unless the text
/// names one, since formulas know of none.
pub(crate) fn plain_hosts(text: &str) -> Vec<(String, String)> {
    let plain = ("defaults.host".to_owned(), "plain".to_owned());
    Some(plain).filter(|_| !text.contains("host =")).into_iter().collect()
}

/// The network of a valid scenario, under [`plain_hosts`].
pub(crate) fn network(text: &str, seed: u64) -> Network {
    scenario::parse(text, &plain_hosts(text), Some(seed), &NoFiles)
        .and_then(|scenario| scenario.resolve())
        .expect("the scenario is valid")
}

/// The results of a run that ends without an error.
pub(crate) fn finish(network: &Network) -> Results {
    Simulation::new(network)
        .expect("the network is valid")
        .finish()
        .expect("the account of packets balances")
}
