//! The accounts of links and of what they share, which show that nothing appeared or vanished.

use super::Switch;
use crate::link::Link;
#[cfg(test)]
use crate::link::ingress_pool::Occupied;
use crate::network::Network;
use crate::packet::transit::Transit;
use crate::units::Time;

/// An account that does not balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Imbalance {
    /// Whose account it is.
    pub(crate) place: String,
    /// What it should show.
    pub(crate) expected: u64,
    /// What it shows.
    pub(crate) found: u64,
}

/// Whether both numbers of an account are equal.
///
/// # Errors
/// They are not.
pub(crate) fn balance(
    place: impl FnOnce() -> String,
    expected: u64,
    found: u64,
) -> Result<(), Imbalance> {
    if expected == found { Ok(()) } else { Err(Imbalance { place: place(), expected, found }) }
}

impl Switch {
    /// Checks what the links of `network` share: the memory of pools and ingresses, and the time of lines.
    ///
    /// # Errors
    /// The first account that does not balance.
    pub(crate) fn check_shares(&self, network: &Network) -> Result<(), Imbalance> {
        if let Some((pool, expected, found)) = self.pools.miscounted() {
            balance(|| format!("pool {}", network.pools[pool].name), expected, found)?;
        }
        let occupied = |link: usize| self.links[link].occupied_in_switch();
        if let Some((pool, expected, found)) = self.ingress_pools.unbalanced(occupied) {
            balance(|| format!("ingress pool {pool}"), expected, found)?;
        }
        if let Some((link, times)) = self.lines.unbalanced(&self.links) {
            let [expected, found] = times.map(Time::picoseconds);
            balance(|| format!("the line of link {}", network.links[link].name), expected, found)?;
        }
        Ok(())
    }

    /// Checks at the end of a run: occupied = waiting + in transmission, for each pool; arrived = dropped + taken
    /// in + waiting, for each link; and that its queue was accounted for at every instant.
    ///
    /// # Errors
    /// The first account that does not balance.
    pub(crate) fn check_accounts(&self, network: &Network) -> Result<(), Imbalance> {
        self.check_shares(network)?;
        let held = |link: usize| self.links[link].held().map(Transit::bytes).collect();
        if let Some((pool, expected, found)) = self.pools.unbalanced(held) {
            balance(|| format!("pool {}", network.pools[pool].name), expected, found)?;
        }
        let window = network.duration.since(network.measure_from).picoseconds();
        self.links.iter().zip(&network.links).try_for_each(|(link, spec)| {
            let place = || format!("link {}", spec.name);
            check_packets(link, place)?;
            balance(place, window, link.probe.queue_lengths.over_time().total() as u64)
        })
    }

    /// Counts cells of a pool that are not held.
    #[cfg(test)]
    pub(crate) fn miscount(&mut self, pool: usize, cells: u64) {
        self.pools.miscount(pool, cells);
    }

    /// Counts bytes at the ingress of a link that are not there.
    #[cfg(test)]
    pub(crate) fn miscount_ingress(&mut self, link: usize, more: Occupied) {
        self.ingress_pools.replace(link, Occupied::default(), more);
    }
}

fn check_packets(link: &Link, place: impl FnOnce() -> String) -> Result<(), Imbalance> {
    let (arrivals, drops, accepted) = link.probe.account();
    balance(place, arrivals, drops + accepted + link.held().count() as u64)
}
