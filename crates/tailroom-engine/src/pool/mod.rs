//! Memory that several links share: how much of it each of their queues occupies, and whether an
//! arriving packet finds room.
//!
//! A pool knows what is free at any time without an event: when a link fixes the transmission of a
//! packet, it states when the memory of the packet is free again. A pool that has room even for what
//! is due to be free by now need not free it: it catches up only before it refuses a packet, before it
//! is measured, and when enough changes have gathered, which a batch puts in order of time.
//!
//! A queue has its reserve to itself; what it holds beyond that is part of the shared memory, to
//! which the [policy] applies.

mod changes;
pub mod policy;
mod probe;
pub mod spec;

use std::collections::{HashMap, VecDeque};

use crate::probe::window::Window;
use crate::queue::buffer::DropReason;
use crate::random::{Stream, below, stream};
use crate::units::Time;
use changes::Changes;
use policy::{AnyPolicy, Policy, PoolInfo, Request};
pub use probe::{PoolProbe, PoolSample};
pub use spec::{Frees, PoolMember, PoolSpec};

/// The memory that a packet asks for, in cells.
pub type Cells = u32;

/// A pool, and the memory that its queues occupy, in cells: what was occupied when the pool caught up
/// last, and what packets have taken since.
#[derive(Debug)]
pub struct Pool {
    spec: PoolSpec,
    policy: AnyPolicy,
    /// The memory without the reserves, and what of it is occupied.
    shared: u64,
    shared_occupied: u64,
    members: Vec<Member>,
    /// By port, what its queues occupy of the shared memory.
    ports: Vec<u64>,
    /// By member, when it frees memory next.
    next_releases: Vec<Time>,
    /// What is still to be measured.
    changes: Changes,
    random: Stream,
    /// What is measured.
    pub probe: PoolProbe,
}

/// The queue of a link in a pool.
#[derive(Debug)]
struct Member {
    occupied: u64,
    reserved: u64,
    alpha: f64,
    /// Index of its port.
    port: usize,
    /// What is freed when, in order of time.
    releases: VecDeque<(Time, Cells)>,
    /// Cells times the time at which they are or will be freed, where it is known, less cells taken
    /// times the time, since the start of the run.
    weighted_times: i128,
    /// Cells times picoseconds before the measured window.
    before_window: i128,
}

impl Member {
    /// A packet will free these cells at `at`, no earlier than the packets before it. `next_release`
    /// is when the first of them does.
    #[inline]
    fn release_at(&mut self, at: Time, cells: Cells, next_release: &mut Time) {
        if self.releases.is_empty() {
            *next_release = at;
        }
        self.releases.push_back((at, cells));
    }

    /// The part of what it occupies that is shared memory.
    #[inline]
    fn shared(&self) -> u64 {
        self.occupied.saturating_sub(self.reserved)
    }

    /// What it has occupied until `now`, to which the pool has caught up, in cells times picoseconds.
    fn integral(&self, now: Time) -> i128 {
        let ahead = self.releases.iter().map(|(at, cells)| weighted(*cells, *at)).sum::<i128>();
        let occupied = i128::from(self.occupied) * i128::from(now.picoseconds());
        self.weighted_times + occupied - ahead
    }

    /// Adds to what it occupies; returns how much of that is shared memory.
    #[inline]
    fn take(&mut self, cells: Cells) -> u64 {
        let before = self.shared();
        self.occupied += u64::from(cells);
        self.shared() - before
    }

    /// Takes from what it occupies; returns how much of that was shared memory.
    #[inline]
    fn give(&mut self, cells: u64) -> u64 {
        let before = self.shared();
        self.occupied -= cells;
        before - self.shared()
    }
}

/// Cells times a time.
#[inline]
fn weighted(cells: Cells, time: Time) -> i128 {
    i128::from(cells) * i128::from(time.picoseconds())
}

/// By member, the index of its port: that of the first member with the same port.
fn ports_of(members: &[PoolMember]) -> Vec<usize> {
    let mut first = HashMap::new();
    let ports = members.iter().enumerate().map(|(index, member)| match member.port {
        Some(port) => *first.entry(port).or_insert(index),
        None => index,
    });
    ports.collect()
}

impl Pool {
    /// The pool that `spec` describes, empty, with these queues.
    fn new(spec: &PoolSpec, members: &[PoolMember], seed: u64) -> Self {
        let reserves = members.iter().map(|member| spec.cells(member.reserved_bytes));
        let shared = spec.size_cells().saturating_sub(reserves.sum());
        let queues = members.len() as u64;
        let info = PoolInfo { size: shared, cell_bytes: spec.cell_bytes, queues };
        let alpha = spec.policy.parameters().alpha().unwrap_or(0.0);
        let ports = ports_of(members);
        let queues = members.iter().zip(&ports).map(|(member, &port)| Member {
            occupied: 0,
            reserved: spec.cells(member.reserved_bytes),
            alpha: member.alpha.unwrap_or(alpha),
            port,
            releases: VecDeque::new(),
            weighted_times: 0,
            before_window: 0,
        });
        Pool {
            policy: AnyPolicy::new(&spec.policy, &info),
            shared,
            shared_occupied: 0,
            members: queues.collect(),
            ports: vec![0; members.len()],
            next_releases: vec![Time::NEVER; members.len()],
            changes: Changes::default(),
            random: stream(seed, &format!("pool {}", spec.name)),
            probe: PoolProbe::default(),
            spec: spec.clone(),
        }
    }

    /// The cells that a packet of this size takes.
    #[inline]
    fn cells(&self, bytes: u32) -> Cells {
        if self.spec.cell_bytes == 1 { bytes } else { bytes.div_ceil(self.spec.cell_bytes) }
    }

    /// Whether a packet of a member that arrives at `now` finds room: the cells that it takes, or why
    /// it is refused. A packet that finds room in more than what is occupied does so all the more in
    /// what is ([`Policy::admits`]).
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    fn ask(&mut self, member: usize, now: Time, bytes: u32) -> Result<Cells, DropReason> {
        let cells = self.cells(bytes);
        match self.decide(member, cells) {
            Ok(()) => Ok(cells),
            Err(_) => self.ask_again(member, now, cells),
        }
    }

    #[inline(never)]
    fn ask_again(&mut self, member: usize, now: Time, cells: Cells) -> Result<Cells, DropReason> {
        self.catch_up(now);
        self.decide(member, cells).map(|()| cells)
    }

    #[inline]
    fn decide(&self, member: usize, cells: Cells) -> Result<(), DropReason> {
        let queue = &self.members[member];
        let after = (queue.occupied + u64::from(cells)).saturating_sub(queue.reserved);
        let request = Request {
            needed: after - queue.shared(),
            queue: queue.shared(),
            port: self.ports[queue.port],
            occupied: self.shared_occupied,
            size: self.shared,
            alpha: queue.alpha,
        };
        if request.needed == 0 {
            Ok(())
        } else if !self.policy.admits(&request) {
            Err(DropReason::Threshold)
        } else if request.occupied + request.needed > request.size {
            Err(DropReason::Pool)
        } else {
            Ok(())
        }
    }

    /// A packet takes memory at `now`, and is still to be sent.
    #[inline]
    fn take(&mut self, member: usize, now: Time, cells: Cells) {
        self.members[member].weighted_times -= weighted(cells, now);
        self.grow(member, cells);
        self.note_taken(now, cells);
    }

    /// A packet of a member will be sent from `start` to `end`, no earlier than those before it.
    #[inline]
    fn send(&mut self, member: usize, cells: Cells, start: Time, end: Time) {
        let at = if self.spec.frees == Frees::AtStart { start } else { end };
        let queue = &mut self.members[member];
        queue.weighted_times += weighted(cells, at);
        queue.release_at(at, cells, &mut self.next_releases[member]);
    }

    /// A packet takes memory at `now`, and will be sent from `start` to `end`, no earlier than those
    /// before it.
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    fn pass(&mut self, member: usize, now: Time, cells: Cells, start: Time, end: Time) {
        let at = if self.spec.frees == Frees::AtStart { start } else { end };
        let queue = &mut self.members[member];
        queue.weighted_times += weighted(cells, at.since(now));
        queue.release_at(at, cells, &mut self.next_releases[member]);
        self.grow(member, cells);
        self.note_taken(now, cells);
    }

    /// A queue and its port occupy more.
    #[inline]
    fn grow(&mut self, member: usize, cells: Cells) {
        let queue = &mut self.members[member];
        let taken = queue.take(cells);
        self.ports[queue.port] += taken;
        self.shared_occupied += taken;
    }

    /// Measures, now or with later changes, that a packet has taken memory at `now`.
    #[inline]
    fn note_taken(&mut self, now: Time, cells: Cells) {
        debug_assert!(self.is_balanced(), "{self:?}");
        if self.changes.take(now, cells) {
            self.catch_up(now);
        }
    }

    /// A packet that waits is dropped at `now`.
    fn drop(&mut self, member: usize, now: Time, cells: Cells) {
        let queue = &mut self.members[member];
        let given = queue.give(u64::from(cells));
        self.ports[queue.port] -= given;
        self.shared_occupied -= given;
        queue.weighted_times += weighted(cells, now);
        self.changes.drop(now, cells);
        debug_assert!(self.is_balanced(), "{self:?}");
    }

    /// Frees what is due by `now`, and measures what was occupied until then.
    #[inline(never)]
    fn catch_up(&mut self, now: Time) {
        for (next, queue) in self.next_releases.iter_mut().zip(&mut self.members) {
            if *next > now {
                continue;
            }
            let due = queue.releases.partition_point(|(at, _)| *at <= now);
            let freed = self.changes.free(queue.releases.range(..due));
            queue.releases.drain(..due);
            *next = queue.releases.front().map_or(Time::NEVER, |(at, _)| *at);
            let given = queue.give(freed);
            self.ports[queue.port] -= given;
            self.shared_occupied -= given;
        }
        self.changes.measure(now, &mut self.probe);
        debug_assert!(self.is_balanced(), "{self:?}");
        debug_assert_eq!(self.occupied(), self.probe.occupied(), "{self:?}");
    }

    fn occupied(&self) -> u64 {
        self.members.iter().map(|member| member.occupied).sum()
    }

    /// Whether nothing is given out twice, and each reserve is free for its queue.
    fn is_balanced(&self) -> bool {
        let shared: u64 = self.members.iter().map(Member::shared).sum();
        let of_port = |port: usize| {
            let queues = self.members.iter().filter(|member| member.port == port);
            queues.map(Member::shared).sum::<u64>()
        };
        let has_ports = self.spec.policy.parameters().limits_ports();
        let are_ports_balanced =
            !has_ports || self.ports.iter().enumerate().all(|(port, held)| of_port(port) == *held);
        shared == self.shared_occupied && shared <= self.shared && are_ports_balanced
    }

    /// The cells that are occupied, and those of the packets that its links hold: the packets that wait
    /// to be served, whose sizes `held` has by member, and those that are still to be freed.
    fn account(&self, held: &[Vec<u32>]) -> (u64, u64) {
        let released = self.members.iter().flat_map(|member| &member.releases);
        let released: u64 = released.map(|(_, cells)| u64::from(*cells)).sum();
        let waiting = held.iter().flatten().map(|bytes| u64::from(self.cells(*bytes)));
        (self.occupied(), released + waiting.sum::<u64>())
    }

    /// The queue that occupies most, if the arriving packet of a member were in it, and one of its
    /// packets can be dropped; of several, each with equal probability.
    fn longest(
        &mut self,
        arriving: (usize, Cells),
        can_drop: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let (arriving, cells) = arriving;
        let (mut longest, mut length, mut ties) = (None, 0, 0);
        for (index, member) in self.members.iter().enumerate() {
            let is_arriving = index == arriving;
            if !is_arriving && (member.shared() == 0 || !can_drop(index)) {
                continue;
            }
            let queue = member.occupied + if is_arriving { u64::from(cells) } else { 0 };
            if queue < length {
                continue;
            }
            ties = if queue > length { 1 } else { ties + 1 };
            if ties == 1 || below(&mut self.random, ties) == 0 {
                (longest, length) = (Some(index), queue);
            }
        }
        longest
    }

    /// Starts the statistics at `now`.
    fn begin_measuring(&mut self, now: Time) {
        self.catch_up(now);
        self.probe.begin(now);
        for member in &mut self.members {
            member.before_window = member.integral(now);
        }
    }

    /// Closes the statistics at `now`.
    fn end_measuring(&mut self, now: Time) {
        self.catch_up(now);
        self.probe.close(now);
    }

    /// Records a sample of the time series at `now`.
    fn sample(&mut self, now: Time) {
        self.catch_up(now);
        let occupied = self.members.iter().map(|member| member.occupied).collect();
        self.probe.samples.push(PoolSample { time: now, occupied });
    }

    /// The pool as a scenario describes it.
    pub fn spec(&self) -> &PoolSpec {
        &self.spec
    }

    /// The memory without the reserves, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        self.shared * u64::from(self.spec.cell_bytes)
    }

    /// The mean memory that each queue occupied in the measured window, in bytes.
    pub fn member_bytes_mean(&self, window: Window) -> Vec<f64> {
        let span = window.to.since(window.from).picoseconds() as f64;
        let cells = self
            .members
            .iter()
            .map(|member| (member.integral(window.to) - member.before_window) as f64 / span);
        cells.map(|cells| cells * f64::from(self.spec.cell_bytes)).collect()
    }
}

/// The pools of a network.
#[derive(Debug, Default)]
pub struct Pools {
    all: Vec<Pool>,
    /// By link, its pool and its place among the members.
    places: Vec<Option<(u32, u32)>>,
    /// By pool, the links that are its members, in order.
    members: Vec<Vec<usize>>,
}

impl Pools {
    /// The pools that `specs` describes, empty; `of_links` has the place of each link in one. The
    /// random draws depend on `seed`.
    pub fn new(specs: &[PoolSpec], of_links: &[Option<PoolMember>], seed: u64) -> Self {
        let mut members = vec![Vec::new(); specs.len()];
        let mut places = vec![None; of_links.len()];
        for (link, member) in of_links.iter().enumerate() {
            if let Some(member) = member {
                places[link] = Some((member.pool as u32, members[member.pool].len() as u32));
                members[member.pool].push(link);
            }
        }
        let pools = specs.iter().zip(&members).map(|(spec, links)| {
            let members: Vec<PoolMember> =
                links.iter().filter_map(|&link| of_links[link]).collect();
            Pool::new(spec, &members, seed)
        });
        Pools { all: pools.collect(), places, members }
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

    /// Asks for the memory of a packet that arrives at a link at `now`; returns the cells to
    /// [take](Pools::take), none without a pool. Memory that is freed at the time of the arrival is free.
    ///
    /// # Errors
    /// Why the packet is refused.
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    pub fn ask(&mut self, link: usize, now: Time, bytes: u32) -> Result<Cells, DropReason> {
        let Some((pool, member)) = self.place(link) else { return Ok(0) };
        pool.ask(member, now, bytes)
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

    /// A packet takes the cells that it has been granted.
    #[inline]
    pub fn take(&mut self, link: usize, now: Time, cells: Cells) {
        if let Some((pool, member)) = self.place(link) {
            pool.take(member, now, cells);
        }
    }

    /// A packet that has memory will be sent: its transmission begins at `start` and ends at `end`.
    #[inline]
    pub fn send(&mut self, link: usize, bytes: u32, start: Time, end: Time) {
        if let Some((pool, member)) = self.place(link) {
            let cells = pool.cells(bytes);
            pool.send(member, cells, start, end);
        }
    }

    /// [`Pools::take`] and [`Pools::send`] at once, for a packet whose departure is known.
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    pub fn pass(&mut self, link: usize, now: Time, cells: Cells, start: Time, end: Time) {
        if let Some((pool, member)) = self.place(link) {
            pool.pass(member, now, cells, start, end);
        }
    }

    /// A packet that has memory is dropped at `now`.
    pub fn drop(&mut self, link: usize, now: Time, bytes: u32) {
        if let Some((pool, member)) = self.place(link) {
            let cells = pool.cells(bytes);
            pool.drop(member, now, cells);
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

    /// Records a sample of the time series at `now`.
    pub fn sample(&mut self, now: Time) {
        self.all.iter_mut().for_each(|pool| pool.sample(now));
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
        let releases_bytes = releases.sum::<usize>() * size_of::<(Time, Cells)>();
        let changes_bytes = self.all.iter().map(|pool| pool.changes.memory_bytes()).sum::<usize>();
        (releases_bytes + changes_bytes) as u64
    }
}
