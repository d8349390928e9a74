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
use tailroom_engine::pool::policy::abm::AbmParams;
use tailroom_engine::pool::policy::dynamic_threshold::Limits;
use tailroom_engine::pool::{Frees, Grant, PoolSpec, Pools};
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::units::Time;

use super::expulsion::Reading;
use super::short_flows::Arrivals;

/// A packet in memory.
#[derive(Debug)]
struct Stored {
    link: usize,
    group: usize,
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
    /// By pool, where its policy looks at its queues: what it found, by link.
    looks: Vec<Look>,
    /// By pool, where its policy drops heads.
    readings: Vec<Option<Reading>>,
    arrivals: Arrivals,
}

/// What ABM found when it looked at the queues of a pool last.
#[derive(Debug)]
struct Look {
    next: Time,
    /// By link, cells that have been freed since then.
    freed: BTreeMap<usize, u64>,
    /// By link, its share of the rate of its port.
    shares: BTreeMap<usize, f64>,
    /// By priority, the congested queues.
    congested: BTreeMap<u32, u32>,
}

impl Look {
    fn new(spec: &PoolSpec) -> Self {
        let PolicyConfig::Abm(params) = &spec.policy else {
            return Look::at(Time::NEVER);
        };
        Look::at(params.interval.time())
    }

    fn at(next: Time) -> Self {
        let (freed, shares, congested) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Look { next, freed, shares, congested }
    }
}

impl<'a> Memory<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        let looks = network.pools.iter().map(Look::new).collect();
        let readings = (0..network.pools.len()).map(|pool| Reading::new(network, pool)).collect();
        let (stored, arrivals) = (BTreeMap::new(), Arrivals::default());
        Memory { network, pools: network.empty_pools(), stored, looks, readings, arrivals }
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
    fn members(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let links = &self.network.links;
        let pool = |one: usize| links[one].pool.map(|member| member.pool);
        (0..links.len()).filter(move |one| pool(*one) == pool(link))
    }

    /// The links whose queues are of the same port as that of a link.
    fn at_port(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let port = |one: usize| self.network.links[one].pool.and_then(|member| member.port);
        let of_link = port(link);
        self.members(link)
            .filter(move |one| *one == link || of_link.is_some() && port(*one) == of_link)
    }

    /// Cells of the packets of a link with a loss priority.
    fn cells_of_priority(&self, link: usize, priority: u32) -> u64 {
        let spec = self.pool_of(link).expect("the link has a pool");
        let stored = self.stored.values().filter(|one| {
            one.link == link && self.network.groups[one.group].loss_priority == priority
        });
        stored.map(|one| u64::from(one.bytes.div_ceil(spec.cell_bytes))).sum()
    }

    fn reserve(&self, link: usize) -> u64 {
        let member = self.network.links[link].pool.expect("a member");
        let spec = &self.network.pools[member.pool];
        member.reserved_bytes.div_ceil(u64::from(spec.cell_bytes))
    }

    /// Cells of a link beyond its reserve, and those of the pool that no link holds or has reserved.
    fn shared(&self, link: usize) -> (u64, u64) {
        let spec = self.pool_of(link).expect("the link has a pool");
        let beyond = |one: usize| self.cells_of(one).saturating_sub(self.reserve(one));
        let size = spec.size_bytes / u64::from(spec.cell_bytes);
        let reserved: u64 = self.members(link).map(|one| self.reserve(one)).sum();
        (beyond(link), size - reserved - self.members(link).map(beyond).sum::<u64>())
    }

    /// The threshold of a link under ABM, for packets with an alpha of their own or others.
    fn abm_threshold(
        &self,
        link: usize,
        own_alpha: Option<f64>,
        params: &AbmParams,
        look: &Look,
        free: u64,
    ) -> f64 {
        let member = self.network.links[link].pool.expect("a member");
        let congested = look.congested.get(&member.priority.unwrap_or(0)).copied().unwrap_or(1);
        let share = look.shares.get(&link).copied().unwrap_or(1.0);
        own_alpha.or(member.alpha).unwrap_or(params.alpha)
            * (share / f64::from(congested))
            * free as f64
    }

    /// Frees what is due by `now`.
    fn free(&mut self, now: Time) {
        let Memory { network, stored, looks, .. } = self;
        stored.retain(|_, one| {
            let is_kept = one.free_at > now;
            if let Some(member) = network.links[one.link].pool.filter(|_| !is_kept) {
                let spec = &network.pools[member.pool];
                let cells = u64::from(one.bytes.div_ceil(spec.cell_bytes));
                *looks[member.pool].freed.entry(one.link).or_default() += cells;
            }
            is_kept
        });
    }

    /// Lets the policies look that are due before `end`.
    fn look_before(&mut self, end: Time) {
        let first = |looks: &[Look]| (0..looks.len()).min_by_key(|&pool| looks[pool].next);
        while let Some(pool) = first(&self.looks).filter(|&pool| self.looks[pool].next < end) {
            self.look(pool);
        }
    }

    fn look(&mut self, pool: usize) {
        let PolicyConfig::Abm(params) = &self.network.pools[pool].policy else { return };
        let at = self.looks[pool].next;
        self.free(at);
        let places = |link: &usize| self.network.links[*link].pool;
        let links = 0..self.network.links.len();
        let links = links.filter(|link| places(link).is_some_and(|member| member.pool == pool));
        let mut look = Look::at(at + params.interval.time());
        look.congested.clone_from(&self.looks[pool].congested);
        let mut counts = BTreeMap::new();
        for link in links {
            let freed =
                |link: usize| self.looks[pool].freed.get(&link).copied().unwrap_or(0) as f64;
            let (of_port, queues) = self
                .at_port(link)
                .fold((0.0, 0.0), |(sum, queues), one| (sum + freed(one), queues + 1.0));
            look.shares.insert(link, f64::max(freed(link) / f64::max(of_port, 1.0), 1.0 / queues));
            let (held, free) = self.shared(link);
            let threshold = self.abm_threshold(link, None, params, &look, free);
            let is_congested = held > 0 && held as f64 >= 0.9 * threshold;
            let priority = places(&link).expect("a member").priority.unwrap_or(0);
            *counts.entry(priority).or_insert(0) += u32::from(is_congested);
        }
        look.congested = counts.into_iter().map(|(at, count)| (at, count.max(1))).collect();
        self.looks[pool] = look;
    }

    fn decide(
        &self,
        (link, group): (usize, usize),
        bytes: u32,
        is_favoured: bool,
    ) -> Result<(), DropReason> {
        let Some(spec) = self.pool_of(link) else { return Ok(()) };
        let reserve = |link: usize| self.reserve(link);
        let beyond = |link: usize, cells: u64| cells.saturating_sub(reserve(link));
        let packet = u64::from(bytes.div_ceil(spec.cell_bytes));
        let (queue, free) = self.shared(link);
        let after = beyond(link, self.cells_of(link) + packet);
        if after == 0 {
            return Ok(());
        }
        let member = self.network.links[link].pool.expect("a member");
        let size = spec.size_bytes / u64::from(spec.cell_bytes);
        let shared = size - self.members(link).map(reserve).sum::<u64>();
        let all = shared - free;
        let is_within = match &spec.policy {
            PolicyConfig::CompletePartitioning(_) => {
                after <= shared / self.members(link).count() as u64
            }
            PolicyConfig::StaticThreshold(params) => {
                after <= params.threshold.bytes() / u64::from(spec.cell_bytes)
            }
            PolicyConfig::DynamicThreshold(params) => {
                let free = free as f64;
                let port: u64 = self.at_port(link).map(|one| beyond(one, self.cells_of(one))).sum();
                let allowance = params.port_alpha.map_or(free, |alpha| alpha * free - port as f64);
                let priority = self.network.groups[group].loss_priority;
                let lower = (priority as usize).checked_sub(1);
                let lower = lower.and_then(|at| params.lower_alphas.get(at)).copied();
                let alpha = lower.or(member.alpha).unwrap_or(params.alpha);
                let limited = match params.limits {
                    Limits::Queue => queue,
                    Limits::Priority => self.cells_of_priority(link, priority),
                };
                (limited as f64) < alpha * allowance
            }
            PolicyConfig::Abm(params) => {
                let look = &self.looks[member.pool];
                let first = params.first_window_alpha.filter(|_| is_favoured);
                (queue as f64) < self.abm_threshold(link, first, params, look, free)
            }
            PolicyConfig::Fab(params) => {
                let usual = member.alpha.unwrap_or(params.alpha);
                let alpha = if is_favoured { params.short_flow_alpha } else { usual };
                (queue as f64) < alpha * free as f64
            }
            PolicyConfig::Occamy(params) => {
                (queue as f64) < member.alpha.unwrap_or(params.alpha) * free as f64
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
        (link, group): (usize, usize),
        packet: &Transit,
        is_favoured: bool,
        links: &[Link],
    ) -> Result<Result<Grant, DropReason>, usize> {
        let (now, bytes) = (packet.time(), packet.bytes());
        self.look_before(now + Time::from_picoseconds(1));
        self.free(now);
        let answer = self.pools.ask((link, group as u32), now, bytes, is_favoured);
        let decided = self.decide((link, group), bytes, is_favoured);
        assert_eq!(answer.map(|_| ()), decided, "link {link} at {now}");
        if answer != Err(DropReason::Pool) {
            return Ok(answer);
        }
        let can_drop = |link: usize| links[link].can_push_out();
        let longest = self.pools.longest(link, bytes, can_drop);
        let Some(longest) = longest.filter(|longest| *longest != link) else { return Ok(answer) };
        let spec = self.pool_of(link).expect("the link has a pool");
        let own = self.cells_of(link) + u64::from(bytes.div_ceil(spec.cell_bytes));
        assert!(self.cells_of(longest) >= own, "link {longest} is not longer than {link}");
        let others = self.members(link).filter(|other| *other != link && can_drop(*other));
        let most = others.map(|other| self.cells_of(other)).max();
        assert_eq!(Some(self.cells_of(longest)), most, "link {longest} is not the longest");
        Err(longest)
    }

    /// Whether a packet that has found memory at a link is to be marked by the pool.
    pub(super) fn is_to_be_marked(&mut self, link: usize, packet: &Transit) -> bool {
        let answer = self.pools.is_to_be_marked(link, packet.time());
        let Some(spec) = self.pool_of(link) else { return false };
        let beyond = |one: usize| self.cells_of(one).saturating_sub(self.reserve(one));
        let in_use: u64 = self.members(link).map(beyond).sum();
        let bytes = in_use * u64::from(spec.cell_bytes);
        let decided = spec.mark_above_bytes.is_some_and(|threshold| bytes > threshold);
        assert_eq!(answer, decided, "link {link} at {}", packet.time());
        decided
    }

    pub(super) fn take(&mut self, link: usize, group: usize, packet: &Transit, grant: Grant) {
        if self.pool_of(link).is_none() {
            return;
        }
        let stored = Stored { link, group, bytes: packet.bytes(), free_at: Time::NEVER };
        self.stored.insert(packet.slot(), stored);
        self.pools.take(link, packet.time(), grant);
    }

    /// Whether the flow of an arriving packet is short, where the policy of the pool asks for that.
    pub(super) fn is_short(
        &mut self,
        link: usize,
        (flow, began, is_ack): (usize, Time, bool),
        packet: &Transit,
    ) -> Option<bool> {
        let pool = self.network.links[link].pool?.pool;
        let policy = &self.network.pools[pool].policy;
        self.arrivals.note(policy, (pool, flow, began, is_ack), packet.time(), packet.bytes())
    }

    /// Whether a link holds more than its threshold, where the policy drops heads.
    fn is_above(&self, link: usize) -> bool {
        let spec = self.pool_of(link).expect("the link has a pool");
        let PolicyConfig::Occamy(params) = &spec.policy else { return false };
        let (queue, free) = self.shared(link);
        let alpha = self.network.links[link].pool.and_then(|member| member.alpha);
        queue as f64 > alpha.unwrap_or(params.alpha) * free as f64
    }

    /// After a packet has taken memory at a link: the pool that drops a head, and when.
    pub(super) fn await_expulsion(&mut self, link: usize, now: Time) -> Option<(usize, Time)> {
        let pool = self.network.links[link].pool?.pool;
        let answer = self.pools.await_expulsion(link, now);
        self.free(now);
        let is_any_above = self.members(link).any(|one| self.is_above(one));
        let reading = self.readings[pool].as_ref().filter(|_| is_any_above);
        let awaited = reading.map(|reading| (pool, reading.looks_at(now)));
        assert!(answer.is_none() || answer == awaited, "{answer:?} {awaited:?} at {now}");
        awaited
    }

    /// The link whose head a pool drops now, or else when it will.
    pub(super) fn expel(&mut self, pool: usize, now: Time, links: &[Link]) -> Result<usize, Time> {
        self.free(now);
        let can_drop = |link: usize| links[link].can_push_out();
        let answer = self.pools.expel(pool, now, can_drop);
        let is_member =
            |link: &usize| self.network.links[*link].pool.is_some_and(|it| it.pool == pool);
        let mut above: Vec<usize> = (0..links.len())
            .filter(is_member)
            .filter(|link| self.is_above(*link) && can_drop(*link))
            .collect();
        let reading = self.readings[pool].as_mut().expect("it drops heads");
        // Those behind the last one come first.
        above.sort_by_key(|link| (reading.last.is_some_and(|last| *link <= last), *link));
        let decided = match above.first() {
            None => Err(Time::NEVER),
            Some(_) if reading.ready_at(now) > now => Err(reading.looks_at(now)),
            Some(link) => Ok(*link),
        };
        assert_eq!(answer, decided, "pool {pool} at {now}");
        reading.last = decided.ok().or(reading.last);
        decided
    }

    /// A packet is read, to be dropped.
    pub(super) fn read(&mut self, pool: usize, now: Time, bytes: u32) {
        self.pools.read(pool, now, bytes);
        self.note_read(pool, now, bytes);
    }

    fn note_read(&mut self, pool: usize, now: Time, bytes: u32) {
        let cell = self.network.pools[pool].cell_bytes;
        let bytes = u64::from(bytes.div_ceil(cell)) * u64::from(cell);
        self.readings[pool].iter_mut().for_each(|reading| reading.read(now, bytes));
    }

    /// A packet is sent from `start` to `end`.
    pub(super) fn send(&mut self, packet: &Transit, start: Time, end: Time) {
        let Some(stored) = self.stored.get_mut(&packet.slot()) else { return };
        let (link, group, bytes) = (stored.link, stored.group as u32, stored.bytes);
        let spec = self.network.links[link].pool.map(|member| &self.network.pools[member.pool]);
        let is_at_start = spec.is_some_and(|spec| spec.frees == Frees::AtStart);
        stored.free_at = if is_at_start { start } else { end };
        self.pools.send((link, group), bytes, start, end);
        if let Some(member) = self.network.links[link].pool {
            self.note_read(member.pool, start, bytes);
        }
    }

    /// A packet that was stored is dropped.
    pub(super) fn drop(&mut self, now: Time, slot: u32) {
        self.look_before(now);
        if let Some(Stored { link, group, bytes, .. }) = self.stored.remove(&slot) {
            self.pools.drop((link, group as u32), now, bytes);
        }
    }
}
