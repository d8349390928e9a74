//! Links that meet, and what they share: what happens to packets from their arrival at a link until they
//! leave for the next one.
//!
//! A network has one `Switch` with all of its links. It knows flows by number only; what it drops is left
//! for its caller to take note of.

mod admission;
mod arrivals;
pub(crate) mod balances;
mod blocked;
mod ingresses;
pub mod lines;
mod lossless_drops;
pub(crate) mod routes;
mod services;
mod waiting;

pub(crate) use arrivals::PacketFacts;
pub use lossless_drops::LosslessDrops;
pub use waiting::WaitingInSwitch;

use crate::link::ingress_pool::IngressPools;
use crate::link::{Link, LinkSpec};
use crate::network::Network;
use crate::observe::recorder::Recorder;
use crate::packet::transit::Transit;
use crate::pool::Pools;
use crate::queue::LinkInfo;
use crate::tournament::Tournament;
use crate::units::{Rate, Time};
use admission::FlowAdmissions;
use blocked::Blocking;
use lines::Lines;
use routes::{Door, Routes};

/// The links of a network, with the memory and the lines that they share.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    /// In the order of the network.
    pub(crate) links: Vec<Link>,
    pools: Pools,
    ingress_pools: IngressPools,
    lines: Lines,
    admissions: FlowAdmissions,
    /// The way of each flow from link to link.
    pub(crate) routes: Routes,
    /// By link, when it serves its next packet; behind them, where pools drop heads of queues, by pool
    /// when it does.
    timers: Tournament,
    blocking: Blocking,
    lossless_drops: LosslessDrops,
    /// Packets that waited and were dropped, of which the caller has not taken note.
    dropped: Vec<Transit>,
    any_link: AnyLink,
}

/// What at least one link of the network does.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
struct AnyLink {
    /// It has a timer.
    is_served: bool,
    /// It shares its line with others.
    shares_line: bool,
    /// Its pool drops heads of queues in the background.
    expels: bool,
    /// When its time comes, another link of its line may send instead, or a pool may drop a packet.
    may_choose: bool,
    /// Its far end sends pause frames.
    pauses: bool,
    /// Its far end counts what arrived over it and waits there, as pauses need it.
    counts_in_switch: bool,
}

impl Switch {
    /// The links of `network`, empty, at time 0; `facts` are its [`Network::link_facts`]. Packets of flows whose
    /// ends are recorded take no [plain](Link::pass) way.
    pub(crate) fn new(network: &Network, facts: &[LinkInfo], records_ends: bool) -> Self {
        let links = network.links.iter().zip(facts);
        let links = links.map(|(spec, facts)| Link::new(spec, facts, network.measured()));
        let links: Vec<Link> = links.collect();
        let behind_ingresses = network.behind_ingresses();
        let pools = network.empty_pools();
        let (shares_line, expels) =
            (network.links.iter().any(|link| link.line.is_some()), pools.expel_any());
        let is_watched = behind_ingresses.contains(&true);
        let marks = |pool: usize| network.pools[pool].mark_above_bytes.is_some();
        let specs = network.links.iter().zip(&links).zip(&behind_ingresses);
        let doors = specs.map(|((spec, link), is_behind)| match spec.pool {
            _ if !link.is_plain() || records_ends => Door::General,
            _ if link.has_pause() || *is_behind => Door::Counted,
            None => Door::Plain,
            // A pool that marks costs those that do not nothing.
            Some(member) if marks(member.pool) => Door::General,
            Some(_) => Door::PlainWithPool,
        });
        let doors = doors.collect();
        Switch {
            routes: Routes::new(network, doors),
            timers: Tournament::new(links.len() + if expels { network.pools.len() } else { 0 }),
            lines: Lines::new(&network.links, facts),
            ingress_pools: IngressPools::new(
                &network.ingress_pools,
                network.links.iter().map(|link| link.ingress),
            ),
            blocking: Blocking::new(network),
            lossless_drops: LosslessDrops::new(if is_watched { links.len() } else { 0 }),
            admissions: FlowAdmissions::new(network, facts),
            any_link: AnyLink {
                is_served: network.links.iter().any(LinkSpec::is_served),
                shares_line,
                expels,
                may_choose: shares_line || expels,
                pauses: links.iter().any(Link::has_pause),
                counts_in_switch: links.iter().any(Link::counts_in_switch),
            },
            dropped: Vec::new(),
            links,
            pools,
        }
    }

    /// Whether departures of a link are not known before they happen, and have a time in
    /// [`Switch::next_service`].
    pub(crate) fn serves(&self) -> bool {
        self.any_link.is_served
    }

    /// The memory that links share.
    pub(crate) fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Packets that were dropped in spite of pause frames.
    pub(crate) fn lossless_drops(&self) -> &LosslessDrops {
        &self.lossless_drops
    }

    /// The links, and whether one on a path refuses a flow that arrives at `now`.
    pub(crate) fn links_and_admission(
        &mut self,
        now: Time,
    ) -> (&[Link], impl FnMut(&[usize]) -> bool) {
        let Switch { links, admissions, .. } = self;
        (links, move |path: &[usize]| admissions.refuse_flow(path, now))
    }

    /// Whether packets that waited were dropped, of which the caller has not taken note.
    #[inline]
    pub(crate) fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Hands over these packets, in the order in which they were dropped.
    pub(crate) fn drain_dropped(&mut self, take: impl FnMut(Transit)) {
        self.dropped.drain(..).for_each(take);
    }

    /// Transmissions of a link that begin from `now` on run at `rate`.
    pub(crate) fn set_rate(&mut self, link: usize, now: Time, rate: Rate) {
        let before = self.links[link].rate(now);
        self.links[link].set_rate(now, rate);
        self.admissions.set_rate(link, now, rate);
        if let Some(pool) = self.pools.change_rate(link, now, [before, rate]) {
            self.timers.set(self.links.len() + pool, now);
        }
    }

    /// When what has a clock of its own, the policy of a pool or the meter of an admission control, is so far
    /// behind that the run loop lets it [catch up](Switch::catch_up).
    pub(crate) fn behind_at(&self) -> Time {
        self.pools.behind_at().min(self.admissions.behind_at())
    }

    /// It catches up with `now`, by as many steps as it may be behind; nothing arrives before.
    pub(crate) fn catch_up(&mut self, now: Time) {
        self.pools.catch_up(now);
        self.admissions.catch_up(now);
    }

    /// Records a sample of the time series at `now`.
    pub(crate) fn sample(&mut self, now: Time) {
        self.links.iter_mut().for_each(|link| link.sample(now));
        self.pools.sample(now);
    }

    /// Restarts the statistics at `now`.
    pub(crate) fn begin_measuring(&mut self, now: Time) {
        self.links.iter_mut().for_each(|link| link.begin_measuring(now));
        self.pools.begin_measuring(now);
        self.blocking.begin_measuring(&self.links, now);
    }

    /// Closes the statistics at `now`. Returns for how long each link was blocked.
    pub(crate) fn end_measuring(&mut self, now: Time) -> Vec<Time> {
        self.links.iter_mut().for_each(|link| link.end_measuring(now));
        self.pools.end_measuring(now);
        self.blocking.times(&self.links, now)
    }

    /// Memory of what waits and what is recorded, in bytes; of queues whose memory grows in large steps, what
    /// they need after so many more `packets`.
    pub(crate) fn memory_bytes_within(&self, packets: u64) -> u64 {
        let links = self.links.iter();
        let of_link = |link: &Link| {
            let blocks = link.probe.record().map_or(0, Recorder::blocks_bytes);
            link.memory_bytes_within(packets) + blocks
        };
        links.map(of_link).sum::<u64>() + self.pools.memory_bytes() + self.admissions.memory_bytes()
    }
}
