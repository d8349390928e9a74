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
mod expulsion;
mod member;
pub mod policy;
mod pools;
mod probe;
mod recent_flows;
pub mod spec;

use std::collections::HashMap;

use crate::probe::window::Window;
use crate::queue::buffer::DropReason;
use crate::random::{Stream, below, stream};
use crate::serializer::Serializer;
use crate::units::{Time, float};
use crate::work::{MOST_BEHIND, count_step};
use changes::Changes;
use expulsion::Expulsion;
use member::{Member, weighted};
use policy::{AnyPolicy, Policy, PoolInfo, QueueInfo, QueueState, Request};
pub use pools::Pools;
pub use probe::{PoolProbe, PoolSample};
pub use recent_flows::FlowPackets;
use recent_flows::RecentFlows;
pub use spec::{Frees, PoolMember, PoolSpec};

/// The memory that a packet asks for, in cells.
pub type Cells = u32;

/// What a packet takes of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Its memory.
    pub cells: Cells,
    /// Its loss priority.
    pub priority: u32,
}

/// A pool, and the memory that its queues occupy, in cells: what was occupied when the pool caught up
/// last, and what packets have taken since.
#[derive(Clone, Debug)]
pub struct Pool {
    spec: PoolSpec,
    policy: AnyPolicy,
    /// The memory without the reserves, and what of it is occupied.
    shared: u64,
    shared_occupied: u64,
    members: Vec<Member>,
    /// Alphas of loss priorities 1, 2 and so on.
    lower_alphas: Vec<f64>,
    /// Alpha of favoured packets, if it is another.
    favoured_alpha: Option<f64>,
    /// What flows have sent, if the packets of short ones are favoured.
    recent_flows: Option<RecentFlows>,
    /// Which heads are dropped in the background, if the policy does.
    expulsion: Option<Box<Expulsion>>,
    /// By port, what its queues occupy of the shared memory.
    ports: Vec<u64>,
    /// By member, when it frees memory next.
    next_releases: Vec<Time>,
    /// When the policy looks at its queues next, how often it does, and what it sees.
    next_look: Time,
    look_interval: Time,
    states: Vec<QueueState>,
    /// The cells of the shared memory in use above which packets are marked; all of them if none is.
    mark_above: u64,
    /// What is still to be measured.
    changes: Changes,
    random: Stream,
    /// What is measured.
    pub probe: PoolProbe,
}

/// A packet of a member that asks for memory at `now`.
#[derive(Clone, Copy, Debug)]
struct Asking {
    member: usize,
    now: Time,
    grant: Grant,
    /// Whether the policy favours it.
    is_favoured: bool,
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
    /// The pool that `spec` describes, empty, with these queues; `ports` has a link of each port, and how it
    /// sends.
    fn new(
        spec: &PoolSpec,
        members: &[PoolMember],
        ports: Vec<(usize, Serializer)>,
        seed: u64,
    ) -> Self {
        let reserves = members.iter().map(|member| spec.cells(member.reserved_bytes));
        let shared = spec.size_cells().saturating_sub(reserves.sum());
        let parameters = spec.policy.parameters();
        let alpha = parameters.alpha().unwrap_or(0.0);
        let places_of_ports = ports_of(members);
        let places: Vec<QueueInfo> = members
            .iter()
            .zip(places_of_ports)
            .map(|(member, port)| QueueInfo {
                alpha: member.alpha.unwrap_or(alpha),
                port,
                priority: member.priority.unwrap_or(0),
            })
            .collect();
        let info = PoolInfo { size: shared, cell_bytes: spec.cell_bytes, queues: &places };
        let lower_alphas = parameters.lower_alphas().to_vec();
        let counted = if parameters.counts_priorities() { lower_alphas.len() + 1 } else { 0 };
        let look_interval = parameters.look_interval().unwrap_or(Time::NEVER);
        let quick = parameters.quick();
        let queues = members.iter().zip(&places).map(|(member, place)| {
            Member::new(spec.cells(member.reserved_bytes), place, (counted, quick))
        });
        Pool {
            policy: AnyPolicy::new(&spec.policy, &info),
            shared,
            shared_occupied: 0,
            members: queues.collect(),
            lower_alphas,
            favoured_alpha: parameters.favoured_alpha(),
            recent_flows: parameters.short_flows().map(RecentFlows::new),
            expulsion: parameters.expulsion().map(|spec| Box::new(Expulsion::new(spec, ports))),
            ports: vec![0; members.len()],
            next_releases: vec![Time::NEVER; members.len()],
            next_look: look_interval,
            look_interval,
            states: vec![QueueState::default(); members.len()],
            mark_above: spec
                .mark_above_bytes
                .map_or(shared, |bytes| bytes / u64::from(spec.cell_bytes)),
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

    /// Whether an arriving packet finds room: what it takes, or why it is refused. A packet that finds
    /// room in more than what is occupied does so all the more in what is ([`Policy::admits`]).
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    fn ask(&mut self, asking: Asking) -> Result<Grant, DropReason> {
        let queue = &self.members[asking.member];
        let free = self.shared - self.shared_occupied;
        if u64::from(asking.grant.cells) <= free
            && float(queue.occupied) < queue.quick_alpha * float(free)
        {
            return Ok(asking.grant);
        }
        self.ask_policy(asking)
    }

    #[inline(never)]
    fn ask_policy(&mut self, asking: Asking) -> Result<Grant, DropReason> {
        if asking.now < self.next_look && self.decide(asking).is_ok() {
            return Ok(asking.grant);
        }
        self.look_until(asking.now, u32::MAX);
        self.catch_up(asking.now);
        self.decide(asking).map(|()| asking.grant)
    }

    #[inline]
    fn decide(&self, asking: Asking) -> Result<(), DropReason> {
        let Asking { member, grant, is_favoured, .. } = asking;
        let queue = &self.members[member];
        let after = (queue.occupied + u64::from(grant.cells)).saturating_sub(queue.reserved);
        let priority = grant.priority as usize;
        let lower_alpha = self.lower_alphas.get(priority.wrapping_sub(1));
        let mut request = Request {
            member,
            needed: after - queue.shared(),
            queue: queue.by_priority.get(priority).copied().unwrap_or(queue.shared()),
            port: self.ports[queue.port],
            occupied: self.shared_occupied,
            size: self.shared,
            alpha: lower_alpha.copied().unwrap_or(queue.alpha),
        };
        if is_favoured {
            request.alpha = self.favoured_alpha.unwrap_or(request.alpha);
        }
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

    /// Whether a packet that arrives at `now` finds more of the shared memory in use than the threshold
    /// of ECN. What is due to be free by now counts as in use until the pool catches up.
    fn is_above_mark(&mut self, now: Time) -> bool {
        if self.shared_occupied > self.mark_above {
            self.catch_up(now);
        }
        self.shared_occupied > self.mark_above
    }

    /// A packet takes memory at `now`, and is still to be sent.
    #[inline]
    fn take(&mut self, member: usize, now: Time, grant: Grant) {
        self.members[member].weighted_times -= weighted(grant.cells, now);
        self.grow(member, grant);
        self.note_taken(now, grant.cells);
    }

    /// A packet of a member will be sent from `start` to `end`, no earlier than those before it.
    #[inline]
    fn send(&mut self, member: usize, grant: Grant, start: Time, end: Time) {
        let at = if self.spec.frees == Frees::AtStart { start } else { end };
        let queue = &mut self.members[member];
        queue.weighted_times += weighted(grant.cells, at);
        queue.release_at(at, grant, &mut self.next_releases[member]);
        if let Some(expulsion) = &mut self.expulsion {
            expulsion.read(start, u64::from(grant.cells) * u64::from(self.spec.cell_bytes));
        }
    }

    /// A packet takes memory at `now`, and will be sent from `start` to `end`, no earlier than those
    /// before it.
    #[expect(clippy::inline_always, reason = "few callers, one of them in the loop over packets")]
    #[inline(always)]
    fn pass(&mut self, member: usize, now: Time, grant: Grant, start: Time, end: Time) {
        let at = if self.spec.frees == Frees::AtStart { start } else { end };
        let queue = &mut self.members[member];
        queue.weighted_times += weighted(grant.cells, at.since(now));
        queue.release_at(at, grant, &mut self.next_releases[member]);
        self.grow(member, grant);
        self.note_taken(now, grant.cells);
    }

    /// A queue and its port occupy more.
    #[inline]
    fn grow(&mut self, member: usize, grant: Grant) {
        let queue = &mut self.members[member];
        let taken = queue.take(grant);
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
    fn drop(&mut self, member: usize, now: Time, grant: Grant) {
        self.look_before(now, u32::MAX);
        let Grant { cells, .. } = grant;
        let queue = &mut self.members[member];
        let given = queue.give(u64::from(cells));
        queue.give_of_priority(grant);
        self.ports[queue.port] -= given;
        self.shared_occupied -= given;
        queue.weighted_times += weighted(cells, now);
        self.changes.drop(now, cells);
        debug_assert!(self.is_balanced(), "{self:?}");
    }

    /// Lets the policy look at its queues whenever it was due to by `now`: what is freed then is free,
    /// and what arrives then is still to come. It looks `most` times at most.
    fn look_until(&mut self, now: Time, most: u32) {
        for _ in 0..most {
            if self.next_look > now {
                return;
            }
            count_step();
            let at = self.next_look;
            self.next_look = at.saturating_add(self.look_interval);
            self.free(at);
            let mut is_still = true;
            for (state, queue) in self.states.iter_mut().zip(&mut self.members) {
                let seen = QueueState { held: queue.shared(), freed: queue.freed };
                is_still &= *state == seen;
                *state = seen;
                queue.freed = 0;
            }
            let changes = self.policy.look(&self.states, self.shared - self.shared_occupied);
            if is_still && !changes {
                // Nothing arrives before `now`: what it would see is the same until memory is freed.
                let releases = self.next_releases.iter().copied();
                let until = releases.fold(now, Time::min);
                let interval = self.look_interval.picoseconds();
                let spans = until.since(self.next_look).picoseconds() / interval;
                self.next_look += Time::from_picoseconds(spans * interval);
            }
        }
    }

    /// As [`look_until`](Self::look_until), without what is due at `now`.
    #[inline]
    fn look_before(&mut self, now: Time, most: u32) {
        if self.next_look < now {
            self.look_until(Time::from_picoseconds(now.picoseconds() - 1), most);
        }
    }

    /// When its policy is [so far behind](MOST_BEHIND) that the run loop lets it catch up.
    fn behind_at(&self) -> Time {
        let span = self.look_interval.picoseconds().saturating_mul(MOST_BEHIND.into());
        self.next_look.saturating_add(Time::from_picoseconds(span))
    }

    /// Frees what is due by `now`, and measures what was occupied until then.
    #[inline(never)]
    fn catch_up(&mut self, now: Time) {
        self.look_before(now, u32::MAX);
        self.free(now);
    }

    fn free(&mut self, now: Time) {
        for (next, queue) in self.next_releases.iter_mut().zip(&mut self.members) {
            if *next > now {
                continue;
            }
            let mut freed = 0;
            *next = Time::NEVER;
            while let Some(&(at, grant)) = queue.releases.front() {
                if at > now {
                    *next = at;
                    break;
                }
                queue.releases.pop_front();
                queue.give_of_priority(grant);
                self.changes.free(at, grant.cells);
                freed += u64::from(grant.cells);
            }
            queue.freed += freed;
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
        self.imbalance().is_none()
    }

    /// The shared cells that are counted, of the pool, a port or the loss priorities of a queue, and another
    /// number that are held; `None` if they agree and there are so many.
    fn imbalance(&self) -> Option<(u64, u64)> {
        let has_ports = self.spec.policy.parameters().has_ports();
        let mut of_ports = vec![0; if has_ports { self.ports.len() } else { 0 }];
        let mut shared = 0;
        for member in &self.members {
            let by_priority: u64 = member.by_priority.iter().sum();
            if !member.by_priority.is_empty() && by_priority != member.occupied {
                return Some((by_priority, member.occupied));
            }
            shared += member.shared();
            if has_ports {
                of_ports[member.port] += member.shared();
            }
        }
        let mut ports = self.ports.iter().copied().zip(of_ports);
        let whole = [(self.shared_occupied, shared), (shared.min(self.shared), shared)];
        whole
            .into_iter()
            .find(|(one, other)| one != other)
            .or_else(|| ports.find(|(one, other)| one != other))
    }

    /// The cells that are occupied, and those of the packets that its links hold: the packets that wait
    /// to be served, whose sizes `held` has by member, and those that are still to be freed.
    fn account(&self, held: &[Vec<u32>]) -> (u64, u64) {
        let released = self.members.iter().flat_map(|member| &member.releases);
        let released: u64 = released.map(|(_, grant)| u64::from(grant.cells)).sum();
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
