//! Hosts behind switches: the links that a flow between two hosts crosses.
//!
//! A fabric has a link each way between each host and its leaf, and between each leaf and each
//! spine. A single switch is a fabric of one leaf, whose uplinks take the place of the links to the
//! spines and lead to hosts outside.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::derives::Ranges;
use crate::random::{Random, SmallStream, below};

/// The number of each host outside of a switch, which the uplinks lead to.
pub const OUTSIDE: u32 = u32::MAX;

/// The size of a leaf-spine fabric, and the place of its links in a network.
///
/// The links of a leaf are adjacent: to the leaf and from it for each host, then for each spine
/// from the leaf and to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Ranges)]
pub struct Fabric {
    /// Index of the first link.
    pub first_link: usize,
    /// Number of leaves.
    pub leaves: u32,
    /// Number of hosts of each leaf. The hosts are numbered from 0, leaf after leaf.
    pub hosts_per_leaf: u32,
    /// Number of spines, or of uplinks of a single switch.
    pub spines: u32,
}

/// The way of a flow through a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The host that sends, or [`OUTSIDE`].
    pub from: u32,
    /// The host that receives, or [`OUTSIDE`].
    pub to: u32,
    /// Chooses among the spines, all of which are as near (ECMP): spine s of n if it is in the part
    /// s of n equal parts of all numbers.
    pub hash: u32,
}

impl Route {
    /// The route of a flow with this seed.
    pub fn of_flow(from: u32, to: u32, seed: u64) -> Self {
        // A further draw from the seed, so that it is independent of the flow's other draws.
        let hash = (SmallStream::seeded(seed ^ ECMP).next_u64() >> 32) as u32;
        Route { from, to, hash }
    }
}

/// Tells the choice of a route from other draws with the same seed.
const ECMP: u64 = u64::from_be_bytes(*b"ECMPhash");

impl Fabric {
    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.leaves * self.hosts_per_leaf
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.leaves as usize * self.links_per_leaf()
    }

    fn links_per_leaf(&self) -> usize {
        2 * (self.hosts_per_leaf as usize + self.spines as usize)
    }

    /// The leaf of a host.
    pub fn leaf_of(&self, host: u32) -> u32 {
        host / self.hosts_per_leaf
    }

    /// Index of the link from a host to its leaf.
    pub fn from_host(&self, host: u32) -> usize {
        let leaf = self.leaf_of(host) as usize * self.links_per_leaf();
        self.first_link + leaf + 2 * (host % self.hosts_per_leaf) as usize
    }

    /// Index of the link from a leaf to its host.
    pub fn to_host(&self, host: u32) -> usize {
        self.from_host(host) + 1
    }

    /// Index of the link from a leaf to a spine, or of an uplink of a switch.
    pub fn up(&self, leaf: u32, spine: u32) -> usize {
        let place = self.hosts_per_leaf as usize + spine as usize;
        self.first_link + leaf as usize * self.links_per_leaf() + 2 * place
    }

    /// Index of the link from a spine to a leaf, or from outside to a switch.
    pub fn down(&self, leaf: u32, spine: u32) -> usize {
        self.up(leaf, spine) + 1
    }

    /// The links that packets may cross right after a link; none after one that leads to a host.
    pub fn links_behind(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let place = link.checked_sub(self.first_link).filter(|&place| place < self.links());
        let per_leaf = self.links_per_leaf();
        let (leaf, place) =
            place.map_or((0, per_leaf), |at| ((at / per_leaf) as u32, at % per_leaf));
        let (of_hosts, is_first) = (2 * self.hosts_per_leaf as usize, place.is_multiple_of(2));
        let comes_from_host = place < of_hosts && is_first;
        let comes_from_spine = (of_hosts..per_leaf).contains(&place) && !is_first;
        let goes_to_spine = (of_hosts..per_leaf).contains(&place) && is_first;
        let hosts = leaf * self.hosts_per_leaf..(leaf + 1) * self.hosts_per_leaf;
        let hosts = hosts.filter(move |_| comes_from_host || comes_from_spine);
        let spines = (0..self.spines).filter(move |_| comes_from_host);
        // A switch alone has no leaf but its own, and its uplinks lead to hosts outside.
        let others = (0..self.leaves).filter(move |&other| goes_to_spine && other != leaf);
        let spine = (place.saturating_sub(of_hosts) / 2) as u32;
        let to_hosts = hosts.map(|host| self.to_host(host));
        let up = spines.map(move |spine| self.up(leaf, spine));
        to_hosts.chain(up).chain(others.map(move |other| self.down(other, spine)))
    }

    /// Whether packets between these hosts pass a spine or an uplink.
    pub fn passes_spine(&self, from: u32, to: u32) -> bool {
        from == OUTSIDE || to == OUTSIDE || self.leaf_of(from) != self.leaf_of(to)
    }

    /// The links of a route in order.
    pub fn path(&self, route: Route) -> Vec<usize> {
        let Route { from, to, hash } = route;
        let spine = ((u64::from(hash) * u64::from(self.spines)) >> 32) as u32;
        let mut path = Vec::with_capacity(4);
        if from != OUTSIDE {
            path.push(self.from_host(from));
        }
        if self.passes_spine(from, to) {
            path.extend((from != OUTSIDE).then(|| self.up(self.leaf_of(from), spine)));
            path.extend((to != OUTSIDE).then(|| self.down(self.leaf_of(to), spine)));
        }
        if to != OUTSIDE {
            path.push(self.to_host(to));
        }
        path
    }
}

/// The hosts between which the flows of a group run.
#[derive(Clone, Debug, PartialEq, Ranges)]
pub struct HostPairs {
    /// The fabric of the hosts.
    pub fabric: Fabric,
    /// The hosts that send, each once.
    pub from: Arc<[u32]>,
    /// The hosts that receive, each once.
    pub to: Arc<[u32]>,
    /// Whether each sender has one receiver, that at its place of `to`, instead of all.
    pub is_one_to_one: bool,
    /// Whether the RTT of a flow is the propagation of its route, there and back.
    pub has_rtt_of_route: bool,
}

impl HostPairs {
    /// The pairs of a sender and a receiver that are not the same host, in the order of the
    /// senders.
    pub fn all(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let senders = self.from.iter().enumerate();
        let pairs = senders.flat_map(|(place, &from)| {
            let to = if self.is_one_to_one { &self.to[place..=place] } else { &self.to[..] };
            to.iter().map(move |&to| (from, to))
        });
        pairs.filter(|(from, to)| from != to)
    }

    /// Draws one of the pairs, all of which are as likely. There must be one.
    pub fn draw(&self, random: &mut impl Random) -> (u32, u32) {
        loop {
            let place = below(random, self.from.len() as u64) as usize;
            let other = if self.is_one_to_one {
                place
            } else {
                below(random, self.to.len() as u64) as usize
            };
            if self.from[place] != self.to[other] {
                return (self.from[place], self.to[other]);
            }
        }
    }

    /// The links that flows may cross, by index.
    pub fn links(&self) -> Vec<usize> {
        self.shares().into_keys().collect()
    }

    /// By link that flows may cross, the share of the flows that cross it if all pairs have as
    /// many.
    pub fn shares(&self) -> BTreeMap<usize, f64> {
        let fabric = &self.fabric;
        let leaf = |host: u32| (host != OUTSIDE).then(|| fabric.leaf_of(host));
        let mut pairs_at: BTreeMap<usize, f64> = BTreeMap::new();
        let mut pairs_of_leaves: BTreeMap<(Option<u32>, Option<u32>), f64> = BTreeMap::new();
        let mut pairs = 0.0;
        for (from, to) in self.all() {
            pairs += 1.0;
            let ends = [(from, fabric.from_host(from)), (to, fabric.to_host(to))];
            for (_, link) in ends.into_iter().filter(|(host, _)| *host != OUTSIDE) {
                *pairs_at.entry(link).or_default() += 1.0;
            }
            if fabric.passes_spine(from, to) {
                *pairs_of_leaves.entry((leaf(from), leaf(to))).or_default() += 1.0;
            }
        }
        for ((from, to), count) in pairs_of_leaves {
            for spine in 0..fabric.spines {
                let links = [
                    from.map(|leaf| fabric.up(leaf, spine)),
                    to.map(|leaf| fabric.down(leaf, spine)),
                ];
                for link in links.into_iter().flatten() {
                    *pairs_at.entry(link).or_default() += count / f64::from(fabric.spines);
                }
            }
        }
        for count in pairs_at.values_mut() {
            *count /= pairs;
        }
        pairs_at
    }
}

/// The links of a flow: those of its route, or of its group's path if the group has no hosts.
pub fn path_of<'a>(
    fabric: Option<&Fabric>,
    path: &'a [usize],
    route: Option<Route>,
) -> Cow<'a, [usize]> {
    match (fabric, route) {
        (Some(fabric), Some(route)) => Cow::Owned(fabric.path(route)),
        _ => Cow::Borrowed(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    const FABRIC: Fabric = Fabric { first_link: 5, leaves: 3, hosts_per_leaf: 4, spines: 2 };

    fn route(from: u32, to: u32, hash: u32) -> Vec<usize> {
        FABRIC.path(Route { from, to, hash })
    }

    /// A leaf has 12 links: 8 of its hosts, then 4 of the spines.
    #[test]
    fn a_route_leads_from_the_host_over_a_spine_to_the_other_host() {
        assert_eq!(route(0, 3, 0), [5, 5 + 7]);
        assert_eq!(route(1, 4, 0), [5 + 2, 5 + 8, 5 + 12 + 9, 5 + 12 + 1]);
        assert_eq!(route(1, 11, u32::MAX), [5 + 2, 5 + 10, 5 + 24 + 11, 5 + 24 + 7]);
        assert_eq!(route(OUTSIDE, 2, 0), [5 + 9, 5 + 5]);
        assert_eq!(route(2, OUTSIDE, u32::MAX), [5 + 4, 5 + 10]);
        assert_eq!(FABRIC.links(), 36);
    }

    #[test]
    fn every_link_of_a_fabric_has_one_number() {
        let mut links = Vec::new();
        (0..FABRIC.hosts())
            .for_each(|host| links.extend([FABRIC.from_host(host), FABRIC.to_host(host)]));
        for leaf in 0..3 {
            (0..2)
                .for_each(|spine| links.extend([FABRIC.up(leaf, spine), FABRIC.down(leaf, spine)]));
        }
        links.sort_unstable();
        assert_eq!(links, (5..41).collect::<Vec<_>>());
    }

    /// What follows a link is read off all routes.
    #[test]
    fn the_links_behind_a_link_are_those_that_follow_it_on_some_route() {
        for fabric in [FABRIC, Fabric { leaves: 1, ..FABRIC }] {
            let mut followed = vec![std::collections::BTreeSet::new(); 50];
            let outside = (fabric.leaves == 1).then_some(OUTSIDE);
            let hosts: Vec<u32> = (0..fabric.hosts()).chain(outside).collect();
            for (from, to) in hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to)))
            {
                for hash in [0, u32::MAX].into_iter().filter(|_| from != to) {
                    let path = fabric.path(Route { from, to, hash });
                    for pair in path.windows(2) {
                        followed[pair[0]].insert(pair[1]);
                    }
                }
            }
            // One that leads to a leaf leads back to each of its hosts, also to the one that sends.
            for (link, mut expected) in followed.into_iter().enumerate() {
                let behind: std::collections::BTreeSet<usize> = fabric.links_behind(link).collect();
                let own = (0..fabric.hosts()).find(|&host| fabric.from_host(host) == link);
                expected.extend(own.map(|host| fabric.to_host(host)));
                assert_eq!(behind, expected, "link {link}");
            }
        }
    }

    fn pairs(from: &[u32], to: &[u32]) -> HostPairs {
        HostPairs {
            fabric: FABRIC,
            from: from.into(),
            to: to.into(),
            is_one_to_one: false,
            has_rtt_of_route: true,
        }
    }

    #[test]
    fn no_host_sends_to_itself() {
        let pairs = pairs(&[0, 1, 2], &[2, 1]);
        assert_eq!(pairs.all().collect::<Vec<_>>(), [(0, 2), (0, 1), (1, 2), (2, 1)]);
        let mut random = stream(1, "test");
        let mut counts = std::collections::BTreeMap::new();
        (0..4_000).for_each(|_| *counts.entry(pairs.draw(&mut random)).or_insert(0) += 1);
        // 1000 expected, standard deviation 27.
        assert_eq!(counts.len(), 4);
        assert!(counts.values().all(|count| (880..1_120).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_links_of_a_group_are_those_of_its_routes() {
        let pairs = pairs(&[0, 1, 4, OUTSIDE], &[1, 2, 9]);
        let hashes = [0, u32::MAX];
        let crossed = pairs.all().flat_map(|(from, to)| hashes.map(|hash| route(from, to, hash)));
        let mut crossed: Vec<usize> = crossed.flatten().collect();
        crossed.sort_unstable();
        crossed.dedup();
        assert_eq!(pairs.links(), crossed);
    }

    /// Pearson's statistic of 60,000 flows over 6 spines: 5 degrees of freedom, 20.5 at 0.1 %.
    #[test]
    fn flows_spread_over_the_spines_as_a_multinomial_draw() {
        let fabric = Fabric { spines: 6, ..FABRIC };
        let mut seeds = stream(7, "controls of flows");
        let mut counts = [0.0_f64; 6];
        for _ in 0..60_000 {
            let path = fabric.path(Route::of_flow(0, 4, seeds.next_u64()));
            counts[(path[1] - fabric.up(0, 0)) / 2] += 1.0;
        }
        let statistic: f64 = counts.iter().map(|count| (count - 1e4) * (count - 1e4) / 1e4).sum();
        assert!(statistic < 20.5, "{statistic}: {counts:?}");
    }
}
