//! The pools of a network, as its links see them.

use super::recent_flows::{FlowPackets, RecentFlows};
use super::{Asking, Grant, Pool, PoolMember, PoolSpec};
use crate::queue::buffer::DropReason;
use crate::serializer::Serializer;
use crate::units::Time;
use crate::work::MOST_BEHIND;

/// The pools of a network.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    pub(super) all: Vec<Pool>,
    /// By link, its pool and its place among the members.
    pub(super) places: Vec<Option<(u32, u32)>>,
    /// By pool, the links that are its members, in order.
    pub(super) members: Vec<Vec<usize>>,
    /// By group, the loss priority of its packets; empty if all have 0.
    priorities: Vec<u32>,
    /// By group, the packets of a first window.
    first_windows: Vec<u32>,
    /// Whether a policy favours packets.
    favours: bool,
}

impl Pools {
    /// The pools that `specs` describes, empty; `of_links` has the place of each link in one,
    /// `ports` a link of each port of each pool and how it sends, `priorities` the loss priority and
    /// `first_windows` the first window of each group. The random draws depend on `seed`.
    pub fn new(
        specs: &[PoolSpec],
        of_links: &[Option<PoolMember>],
        ports: Vec<Vec<(usize, Serializer)>>,
        mut priorities: Vec<u32>,
        first_windows: Vec<u32>,
        seed: u64,
    ) -> Self {
        if priorities.iter().all(|priority| *priority == 0) {
            priorities.clear();
        }
        let has_alpha = |spec: &PoolSpec| spec.policy.parameters().favoured_alpha().is_some();
        let favours = specs.iter().any(has_alpha);
        let mut members = vec![Vec::new(); specs.len()];
        let mut places = vec![None; of_links.len()];
        for (link, member) in of_links.iter().enumerate() {
            if let Some(member) = member {
                places[link] = Some((member.pool as u32, members[member.pool].len() as u32));
                members[member.pool].push(link);
            }
        }
        let pools = specs.iter().zip(&members).zip(ports).map(|((spec, links), ports)| {
            let members: Vec<PoolMember> =
                links.iter().filter_map(|&link| of_links[link]).collect();
            Pool::new(spec, &members, ports, seed)
        });
        Pools { all: pools.collect(), places, members, priorities, first_windows, favours }
    }

    /// Whether no links share memory.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a link has a pool.
    #[inline]
    pub fn has(&self, link: usize) -> bool {
        self.places[link].is_some()
    }

    /// The pools, in order.
    pub fn list(&self) -> &[Pool] {
        &self.all
    }

    /// The links that are members of the pool at `index`, in order.
    pub fn links_of(&self, index: usize) -> &[usize] {
        &self.members[index]
    }

    #[inline]
    fn place(&mut self, link: usize) -> Option<(&mut Pool, usize)> {
        let (pool, member) = self.places[link]?;
        Some((&mut self.all[pool as usize], member as usize))
    }

    /// The pool of a link, its place there, and what a packet of a group takes.
    #[expect(clippy::inline_always, reason = "few callers, two of them in the loop over packets")]
    #[inline(always)]
    fn grant(
        &mut self,
        (link, group): (usize, u32),
        bytes: u32,
    ) -> Option<(&mut Pool, usize, Grant)> {
        let (pool, member) = self.places[link]?;
        let pool = &mut self.all[pool as usize];
        let priority = self.priorities.get(group as usize).copied().unwrap_or(0);
        let grant = Grant { cells: pool.cells(bytes), priority };
        Some((pool, member as usize, grant))
    }

    /// Whether a policy favours packets: those of short flows, or of first windows.
    #[inline]
    pub fn favours(&self) -> bool {
        self.favours
    }

    /// Counts a packet that arrives at `now` at a link whose pool favours short flows; returns whether its
    /// flow is short. `None` if the pool does not.
    pub fn count_flow(
        &mut self,
        link: usize,
        packets: FlowPackets,
        now: Time,
        bytes: u32,
    ) -> Option<bool> {
        let (pool, _) = self.place(link)?;
        Some(pool.recent_flows.as_mut()?.count(packets, now, bytes))
    }

    /// The packets of the first window of a flow of a group.
    pub fn first_window(&self, group: u32) -> u32 {
        self.first_windows[group as usize]
    }

    /// Asks for the memory of a packet of a group, favoured or not, that arrives at a link at `now`;
    /// returns what to [take](Pools::take), nothing without a pool. Memory that is freed at the time of the
    /// arrival is free.
    ///
    /// # Errors
    /// Why the packet is refused.
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    pub fn ask(
        &mut self,
        at: (usize, u32),
        now: Time,
        bytes: u32,
        is_favoured: bool,
    ) -> Result<Grant, DropReason> {
        let Some((pool, member, grant)) = self.grant(at, bytes) else {
            return Ok(Grant::default());
        };
        pool.ask(Asking { member, now, grant, is_favoured })
    }

    /// Whether a packet with ECN that has found memory at a link at `now`, and has not taken it yet, is to be
    /// marked.
    pub fn is_to_be_marked(&mut self, link: usize, now: Time) -> bool {
        self.place(link).is_some_and(|(pool, _)| pool.is_above_mark(now))
    }

    /// The link whose last packet makes room for a packet that a full pool has just refused at `link`:
    /// the link itself if the packet would be in the longest queue, `None` if nothing can be dropped or
    /// the policy drops nothing. `can_drop` tells of which links packets can be dropped.
    pub fn longest(
        &mut self,
        link: usize,
        bytes: u32,
        can_drop: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let (index, member) = self.places[link]?;
        let pool = &mut self.all[index as usize];
        if !pool.spec.policy.parameters().pushes_out() {
            return None;
        }
        let links = &self.members[index as usize];
        let arriving = (member as usize, pool.cells(bytes));
        pool.longest(arriving, |member| can_drop(links[member])).map(|member| links[member])
    }

    /// A packet takes what it has been granted.
    #[inline]
    pub fn take(&mut self, link: usize, now: Time, grant: Grant) {
        if let Some((pool, member)) = self.place(link) {
            pool.take(member, now, grant);
        }
    }

    /// A packet that has memory will be sent: its transmission begins at `start` and ends at `end`.
    #[inline]
    pub fn send(&mut self, at: (usize, u32), bytes: u32, start: Time, end: Time) {
        if let Some((pool, member, grant)) = self.grant(at, bytes) {
            pool.send(member, grant, start, end);
        }
    }

    /// [`Pools::take`] and [`Pools::send`] at once, for a packet whose departure is known.
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    pub fn pass(&mut self, link: usize, now: Time, grant: Grant, start: Time, end: Time) {
        if let Some((pool, member)) = self.place(link) {
            pool.pass(member, now, grant, start, end);
        }
    }

    /// A packet that has memory is dropped at `now`.
    pub fn drop(&mut self, at: (usize, u32), now: Time, bytes: u32) {
        if let Some((pool, member, grant)) = self.grant(at, bytes) {
            pool.drop(member, now, grant);
        }
    }

    /// Starts the statistics at `now`.
    pub fn begin_measuring(&mut self, now: Time) {
        self.all.iter_mut().for_each(|pool| pool.begin_measuring(now));
    }

    /// Closes the statistics at `now`.
    pub fn end_measuring(&mut self, now: Time) {
        self.all.iter_mut().for_each(|pool| pool.end_measuring(now));
    }

    /// When the policy of the first pool is so far behind that the run loop lets it catch up.
    pub(crate) fn behind_at(&self) -> Time {
        self.all.iter().map(Pool::behind_at).min().unwrap_or(Time::NEVER)
    }

    /// Each policy catches up with `now`, by as many looks as it may be behind.
    pub(crate) fn catch_up(&mut self, now: Time) {
        self.all.iter_mut().for_each(|pool| pool.look_before(now, MOST_BEHIND));
    }

    /// Records a sample of the time series at `now`.
    pub fn sample(&mut self, now: Time) {
        self.all.iter_mut().for_each(|pool| pool.sample(now));
    }

    /// The index of a pool that has given out another number of cells than it counts, and the two numbers.
    pub fn miscounted(&self) -> Option<(usize, u64, u64)> {
        let mut pools = self.all.iter().enumerate();
        pools.find_map(|(index, pool)| pool.imbalance().map(|(one, other)| (index, one, other)))
    }

    /// Counts cells of a pool that are not held.
    #[cfg(test)]
    pub fn miscount(&mut self, pool: usize, cells: u64) {
        self.all[pool].shared_occupied += cells;
    }

    /// The index of a pool that does not agree with the packets that its links hold, the cells that
    /// they take, and those that the pool counts; `held` has the bytes of the packets that wait to be
    /// served at a link.
    pub fn unbalanced(&self, held: impl Fn(usize) -> Vec<u32>) -> Option<(usize, u64, u64)> {
        let mut pools = self.all.iter().zip(&self.members).enumerate();
        pools.find_map(|(index, (pool, links))| {
            let held: Vec<Vec<u32>> = links.iter().map(|&link| held(link)).collect();
            let (counted, taken) = pool.account(&held);
            (counted != taken).then_some((index, taken, counted))
        })
    }

    /// Memory of the simulator, in bytes, that the pools need.
    pub fn memory_bytes(&self) -> u64 {
        let members = self.all.iter().flat_map(|pool| &pool.members);
        let releases = members.map(|member| member.releases.capacity());
        let releases_bytes = releases.sum::<usize>() * size_of::<(Time, Grant)>();
        let changes_bytes = self.all.iter().map(|pool| pool.changes.memory_bytes()).sum::<usize>();
        let flows = self.all.iter().filter_map(|pool| pool.recent_flows.as_ref());
        let flows_bytes = flows.map(RecentFlows::memory_bytes).sum::<usize>();
        (releases_bytes + changes_bytes + flows_bytes) as u64
    }
}
