//! The memory that links share, packet by packet: what is occupied is summed anew for each arrival,
//! and each policy is written out here once more.
//!
//! The engine's pools are told the same things, for the results. Their answers must be those found
//! here.

use std::collections::BTreeMap;

use tailroom_engine::link::Link;
use tailroom_engine::network::Network;
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::pool::{Cells, Frees, PoolSpec, Pools};
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::units::Time;

/// A packet in memory.
#[derive(Debug)]
struct Stored {
    link: usize,
    bytes: u32,
    /// [`Time::NEVER`] until its transmission begins.
    free_at: Time,
}

#[derive(Debug)]
pub(super) struct Memory<'a> {
    network: &'a Network,
    pub(super) pools: Pools,
    /// By slot.
    stored: BTreeMap<u32, Stored>,
}

impl<'a> Memory<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        Memory { network, pools: network.empty_pools(), stored: BTreeMap::new() }
    }

    fn pool_of(&self, link: usize) -> Option<&'a PoolSpec> {
        let member = self.network.links[link].pool?;
        Some(&self.network.pools[member.pool])
    }

    /// Cells of all packets of a link.
    fn cells_of(&self, link: usize) -> u64 {
        let spec = self.pool_of(link).expect("the link has a pool");
        let stored = self.stored.values().filter(|one| one.link == link);
        stored.map(|one| u64::from(one.bytes.div_ceil(spec.cell_bytes))).sum()
    }

    /// The links of the pool of a link.
    fn beside(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let links = &self.network.links;
        let pool = |one: usize| links[one].pool.map(|member| member.pool);
        (0..links.len()).filter(move |one| pool(*one) == pool(link))
    }

    /// The links whose queues are of the same port as that of a link.
    fn at_port(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let port = |one: usize| self.network.links[one].pool.and_then(|member| member.port);
        let of_link = port(link);
        self.beside(link)
            .filter(move |one| *one == link || of_link.is_some() && port(*one) == of_link)
    }

    fn decide(&self, link: usize, bytes: u32) -> Result<(), DropReason> {
        let Some(spec) = self.pool_of(link) else { return Ok(()) };
        let reserve = |link: usize| {
            let member = self.network.links[link].pool.expect("a member");
            member.reserved_bytes.div_ceil(u64::from(spec.cell_bytes))
        };
        let beyond = |link: usize, cells: u64| cells.saturating_sub(reserve(link));
        let packet = u64::from(bytes.div_ceil(spec.cell_bytes));
        let queue = beyond(link, self.cells_of(link));
        let after = beyond(link, self.cells_of(link) + packet);
        if after == 0 {
            return Ok(());
        }
        let size = spec.size_bytes / u64::from(spec.cell_bytes);
        let shared = size - self.beside(link).map(reserve).sum::<u64>();
        let all: u64 = self.beside(link).map(|one| beyond(one, self.cells_of(one))).sum();
        let is_within = match &spec.policy {
            PolicyConfig::CompletePartitioning(_) => {
                after <= shared / self.beside(link).count() as u64
            }
            PolicyConfig::StaticThreshold(params) => {
                after <= params.threshold.bytes() / u64::from(spec.cell_bytes)
            }
            PolicyConfig::DynamicThreshold(params) => {
                let own = self.network.links[link].pool.and_then(|member| member.alpha);
                let free = (shared - all) as f64;
                let port: u64 = self.at_port(link).map(|one| beyond(one, self.cells_of(one))).sum();
                let allowance = params.port_alpha.map_or(free, |alpha| alpha * free - port as f64);
                (queue as f64) < own.unwrap_or(params.alpha) * allowance
            }
            _ => true,
        };
        match (is_within, all + after - queue <= shared) {
            (false, _) => Err(DropReason::Threshold),
            (true, false) => Err(DropReason::Pool),
            (true, true) => Ok(()),
        }
    }

    /// Whether an arriving packet finds memory, or else the link whose last packet must go first.
    pub(super) fn ask(
        &mut self,
        link: usize,
        packet: &Transit,
        links: &[Link],
    ) -> Result<Result<Cells, DropReason>, usize> {
        let (now, bytes) = (packet.time(), packet.bytes());
        self.stored.retain(|_, one| one.free_at > now);
        let answer = self.pools.ask(link, now, bytes);
        assert_eq!(answer.map(|_| ()), self.decide(link, bytes), "link {link} at {now}");
        if answer != Err(DropReason::Pool) {
            return Ok(answer);
        }
        let can_drop = |link: usize| links[link].can_push_out();
        let longest = self.pools.longest(link, bytes, can_drop);
        let Some(longest) = longest.filter(|longest| *longest != link) else { return Ok(answer) };
        let spec = self.pool_of(link).expect("the link has a pool");
        let own = self.cells_of(link) + u64::from(bytes.div_ceil(spec.cell_bytes));
        assert!(self.cells_of(longest) >= own, "link {longest} is not longer than {link}");
        let others = self.beside(link).filter(|other| *other != link && can_drop(*other));
        let most = others.map(|other| self.cells_of(other)).max();
        assert_eq!(Some(self.cells_of(longest)), most, "link {longest} is not the longest");
        Err(longest)
    }

    pub(super) fn take(&mut self, link: usize, packet: &Transit, cells: Cells) {
        if self.pool_of(link).is_none() {
            return;
        }
        let stored = Stored { link, bytes: packet.bytes(), free_at: Time::NEVER };
        self.stored.insert(packet.slot(), stored);
        self.pools.take(link, packet.time(), cells);
    }

    /// A packet is sent from `start` to `end`.
    pub(super) fn send(&mut self, packet: &Transit, start: Time, end: Time) {
        let Some(stored) = self.stored.get_mut(&packet.slot()) else { return };
        let (link, bytes) = (stored.link, stored.bytes);
        let spec = self.network.links[link].pool.map(|member| &self.network.pools[member.pool]);
        let is_at_start = spec.is_some_and(|spec| spec.frees == Frees::AtStart);
        stored.free_at = if is_at_start { start } else { end };
        self.pools.send(link, bytes, start, end);
    }

    /// A packet that was stored is dropped.
    pub(super) fn drop(&mut self, now: Time, slot: u32) {
        if let Some(Stored { link, bytes, .. }) = self.stored.remove(&slot) {
            self.pools.drop(link, now, bytes);
        }
    }
}
