//! The network of one run: what a scenario resolves to, with every quantity in engine units.
//!
//! A flow has an access link of its own, a forward path through shared links, a receiver, and an
//! ACK path that is either private (the default) or a reverse path through shared links. Everything
//! between two shared links is private to the flow and keeps packets in order.

pub mod error;
pub mod validate;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::congestion::CongestionConfig;
use crate::fabric::{HostPairs, Route, path_of};
use crate::link::LinkSpec;
use crate::link::ingress_pool::IngressMemory;
use crate::packet::AckSizes;
use crate::packet::addresses::{FlowHosts, Headers};
use crate::packet::dscp::Dscp;
use crate::packet::ties::Ties;
use crate::pool::{PoolSpec, Pools};
use crate::private_path::SharedPath;
use crate::private_path::delays::SenderSide;
use crate::probe::flow::Checkpoints;
use crate::probe::window::Window;
use crate::quantity::PositiveDuration;
use crate::queue::LinkInfo;
use crate::serializer::Serializer;
use crate::tcp::TcpSpec;
use crate::traffic::SourceSpec;
use crate::traffic::bulk::BulkParams;
use crate::units::{Rate, Time};

/// Flows that a run can tell apart: 24 bits in a packet.
pub const MAX_FLOWS: usize = 16_777_215;

/// One run, fully resolved: without files, defaults or units.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Network {
    /// The run covers `[0, duration]`.
    pub duration: Time,
    /// Statistics cover `[measure_from, duration]`.
    pub measure_from: Time,
    /// Root of every random stream.
    pub seed: u64,
    /// Whose packet comes first at a shared link when several arrive at the same instant.
    pub ties: Ties,
    /// Shared links, in the order of the scenario file.
    pub links: Vec<LinkSpec>,
    /// Memory that links share, in the order of the scenario file.
    pub pools: Vec<PoolSpec>,
    /// Memory that the ingresses of links share, in the order of the scenario file.
    pub ingress_pools: Vec<IngressMemory>,
    /// Flow groups, in the order of the scenario file.
    pub groups: Vec<GroupSpec>,
    /// All permanent flows; the flows of a group are adjacent and in order.
    pub flows: Vec<FlowSpec>,
    /// Interval of the time series, if they are recorded.
    pub series_interval: Option<Time>,
    /// Interval at which a caller looks at the run and acts on it, if one does.
    pub step_interval: Option<Time>,
    /// The run fails if its pending packets and flows need more memory than this.
    pub memory_limit_bytes: u64,
}

/// A group of flows that differ only in RTT, access link and start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GroupSpec {
    /// Key in the scenario's `[flows]` table.
    pub name: String,
    /// Indices of the shared links to the receiver, at least one and none twice; of a group between
    /// hosts of a fabric, of all links that its flows may cross.
    pub path: Vec<usize>,
    /// The hosts between which the flows run, each on its own route; `None` if all take `path`.
    pub hosts: Option<HostPairs>,
    /// Indices of the shared links that the ACKs cross; empty for a private ACK path.
    pub reverse_path: Vec<usize>,
    /// The traffic source of the group.
    pub source: SourceSpec,
    /// When the source stops.
    pub stop: Option<Time>,
    /// Size of a data packet on the wire, header included, in bytes.
    pub packet_size: u32,
    /// Part of `packet_size` that is header, in bytes.
    pub header_size: u32,
    /// Where the private propagation of its flows lies; `None` if the scenario leaves it open,
    /// which means [`SenderSide::HALF`].
    pub sender_side: Option<SenderSide>,
    /// Longest random processing time before a packet leaves its sender, if there is one.
    pub send_jitter: Option<Time>,
    /// Loss priority of its packets in a pool whose policy has them; those with 0 are lost last.
    pub loss_priority: u32,
    /// Code point of its packets, data and ACKs.
    pub dscp: Dscp,
    /// Between which hosts its flows run, for queues that tell hosts apart.
    pub flow_hosts: FlowHosts,
    /// The transport, for sources under congestion control.
    pub tcp: Option<TcpSpec>,
}

impl GroupSpec {
    /// A group that sends over these links, by their indices, in packets of 1,500 bytes. A source
    /// under congestion control needs a transport too, in `tcp`.
    pub fn new(name: impl Into<String>, path: Vec<usize>, source: impl Into<SourceSpec>) -> Self {
        GroupSpec {
            name: name.into(),
            path,
            hosts: None,
            reverse_path: Vec::new(),
            source: source.into(),
            stop: None,
            packet_size: 1_500,
            header_size: 40,
            sender_side: None,
            send_jitter: None,
            loss_priority: 0,
            dscp: Dscp::Be,
            flow_hosts: FlowHosts::default(),
            tcp: None,
        }
    }

    /// A group of permanent connections that always have data to send.
    pub fn bulk(name: impl Into<String>, path: Vec<usize>, tcp: TcpSpec) -> Self {
        GroupSpec { tcp: Some(tcp), ..GroupSpec::new(name, path, BulkParams { bytes: None }) }
    }

    /// A group whose flows run between hosts of a fabric; see [`GroupSpec::new`].
    pub fn between(
        name: impl Into<String>,
        hosts: HostPairs,
        source: impl Into<SourceSpec>,
    ) -> Self {
        let group = GroupSpec::new(name, hosts.links(), source);
        GroupSpec { hosts: Some(hosts), ..group }
    }

    /// The sizes of its ACKs on the wire; `None` without a transport.
    pub fn ack_sizes(&self) -> Option<AckSizes> {
        self.tcp.as_ref().map(|tcp| tcp.ack_sizes(self.header_size))
    }

    /// Whether the packets at the ends of its flows are recorded.
    pub fn logs_ends(&self) -> bool {
        self.tcp.as_ref().is_some_and(|tcp| tcp.endpoint_log.is_some())
    }

    /// The links that a flow with this route crosses; without a route, those of the path.
    pub fn path_of(&self, route: Option<Route>) -> Cow<'_, [usize]> {
        path_of(self.hosts.as_ref().map(|hosts| &hosts.fabric), &self.path, route)
    }

    /// The only link of the path, if no ACKs of the group cross it: the waits of the group at this
    /// link are the queueing delays of its packets. `None` if the path has several links, or ACKs
    /// wait too.
    pub fn only_queue(&self) -> Option<usize> {
        match self.path[..] {
            [link] if !self.reverse_path.contains(&link) => Some(link),
            _ => None,
        }
    }
}

/// One flow of a group.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FlowSpec {
    /// Index into [`Network::groups`].
    pub group: usize,
    /// Two-way propagation delay of the whole path, at the links' initial delays.
    pub rtt: Time,
    /// When the flow starts.
    pub start: Time,
    /// Rate of its own access link; `None` for an access link without serialization time.
    pub access_rate: Option<Rate>,
    /// Its route, if the group's flows run between hosts.
    pub route: Option<Route>,
}

impl FlowSpec {
    /// A flow of a group, by its index, that starts with the run and has an access link without
    /// serialization time.
    pub fn new(group: usize, rtt: Time) -> Self {
        FlowSpec { group, rtt, start: Time::ZERO, access_rate: None, route: None }
    }
}

impl Network {
    /// A run with seed 1 whose statistics cover the whole of it, without time series.
    pub fn new(
        duration: Time,
        links: Vec<LinkSpec>,
        groups: Vec<GroupSpec>,
        flows: Vec<FlowSpec>,
    ) -> Self {
        Network {
            duration,
            measure_from: Time::ZERO,
            seed: 1,
            ties: Ties::default(),
            links,
            pools: Vec::new(),
            ingress_pools: Vec::new(),
            groups,
            flows,
            series_interval: None,
            step_interval: None,
            memory_limit_bytes: 4_000_000_000,
        }
    }

    /// Flows with data without end and this RTT that share one link: a group named `flows` at a link named `link`.
    pub fn dumbbell(duration: Time, link: LinkSpec, tcp: TcpSpec, flows: usize, rtt: Time) -> Self {
        let group = GroupSpec::bulk("flows", vec![0], tcp);
        Network::new(duration, vec![link], vec![group], vec![FlowSpec::new(0, rtt); flows])
    }

    /// The memory that links share, empty.
    pub fn empty_pools(&self) -> Pools {
        let members: Vec<_> = self.links.iter().map(|link| link.pool).collect();
        let priorities = self.groups.iter().map(|group| group.loss_priority);
        let first_windows = self.groups.iter().map(|group| match &group.tcp {
            Some(tcp) => tcp.initial_window,
            None => 0,
        });
        let first_windows = first_windows.collect();
        let ports = (0..self.pools.len()).map(|pool| self.ports_of_pool(pool)).collect();
        Pools::new(&self.pools, &members, ports, priorities.collect(), first_windows, self.seed)
    }

    /// The links of a pool, of those that share a line the first, and how they send.
    fn ports_of_pool(&self, pool: usize) -> Vec<(usize, Serializer)> {
        let mut names = BTreeSet::new();
        let members = self.links.iter().enumerate().filter(|(_, link)| {
            link.pool.is_some_and(|member| member.pool == pool)
                && link.line.as_ref().is_none_or(|line| names.insert(&line.name))
        });
        members.map(|(index, link)| (index, link.serializer())).collect()
    }

    /// When links and flows record their state.
    pub fn checkpoints(&self) -> Checkpoints {
        // Enough points to see a convergence, bounded where there are many flows.
        let intervals = (1_000_000 / self.flows.len().max(1) as u64).clamp(20, 400);
        Checkpoints {
            measure_from: self.measure_from,
            duration: self.duration,
            series_interval: self.series_interval.unwrap_or(Time::NEVER),
            step_interval: self.step_interval.unwrap_or(Time::NEVER),
            progress_interval: Time::from_picoseconds(
                (self.duration.picoseconds() / intervals).max(1),
            ),
            reductions_kept: (1_000_000 / self.flows.len().max(1)).max(16),
        }
    }

    /// The time in which statistics are measured.
    pub fn measured(&self) -> Window {
        Window { from: self.measure_from, to: self.duration }
    }

    /// Group, two-way propagation and access rate of every permanent flow, and of a typical flow of
    /// each group of dynamic flows.
    pub(crate) fn round_trips(&self) -> impl Iterator<Item = (usize, Time, Option<Rate>)> + '_ {
        let permanent = self.flows.iter().map(|flow| (flow.group, flow.rtt, flow.access_rate));
        let dynamic = self.groups.iter().enumerate().filter_map(|(index, group)| {
            let rtt = group.source.dynamic_rtt()?;
            Some((index, Time::from_picoseconds(rtt as u64), None))
        });
        permanent.chain(dynamic)
    }

    /// The longest two-way propagation of a flow; for a group of dynamic flows, that of a typical
    /// flow.
    pub fn longest_rtt(&self) -> Time {
        self.round_trips().map(|(_, rtt, _)| rtt).max().unwrap_or(Time::ZERO)
    }

    /// The hops of a packet that crosses these links: behind a last link that reorders, its arrival at
    /// the far end is one more.
    pub(crate) fn hops(&self, path: &[usize]) -> usize {
        let reorders = |link: &usize| self.links[*link].reorder.is_some();
        path.len() + usize::from(path.last().is_some_and(reorders))
    }

    /// Propagation of the shared links of a flow of the group, forward and backward. ACKs on a private
    /// path take as long as the data. Without a route, a group between hosts has none.
    pub fn propagation(&self, group: &GroupSpec, route: Option<Route>) -> (Time, Time) {
        if group.hosts.is_some() && route.is_none() {
            return (Time::ZERO, Time::ZERO);
        }
        let sum = |path: &[usize]| {
            let delays = path.iter().map(|&link| self.links[link].delay);
            delays.fold(Time::ZERO, Time::saturating_add)
        };
        let forward = sum(&group.path_of(route));
        let has_reverse_path = !group.reverse_path.is_empty();
        (forward, if has_reverse_path { sum(&group.reverse_path) } else { forward })
    }

    /// The shared part of the path of a flow of the group.
    pub fn shared_path(&self, group: &GroupSpec, route: Option<Route>) -> SharedPath {
        let (forward, backward) = self.propagation(group, route);
        SharedPath {
            forward,
            backward,
            has_reverse_path: !group.reverse_path.is_empty(),
            sender_side: group.sender_side,
            ack_aggregation: group
                .tcp
                .as_ref()
                .and_then(|tcp| tcp.ack_aggregation)
                .map(PositiveDuration::time),
        }
    }

    /// The longest private propagation of a group's flows: the RTT without the shared links. For
    /// dynamic flows, that of the mean RTT.
    pub fn private_propagation(&self, group: usize) -> Time {
        let members = self.members(group);
        let permanent = &self.flows[members.start as usize..members.end as usize];
        let dynamic = self.groups[group].source.dynamic_rtt();
        let dynamic = dynamic.map(|rtt| Time::from_picoseconds(rtt as u64));
        let round_trips = permanent.iter().map(|flow| flow.rtt).chain(dynamic);
        let longest = round_trips.max().unwrap_or(Time::ZERO);
        let (forward, backward) = self.propagation(&self.groups[group], None);
        longest.since(forward + backward)
    }

    /// Whether the data of each of two groups share a link with the ACKs of the other.
    pub fn is_two_way(&self, one: &GroupSpec, other: &GroupSpec) -> bool {
        let meet = |data: &GroupSpec, acks: &GroupSpec| {
            data.path.iter().any(|link| acks.reverse_path.contains(link))
        };
        meet(one, other) && meet(other, one)
    }

    /// What the queue discipline of each link may know about it.
    pub fn link_facts(&self) -> Vec<LinkInfo> {
        let crossing = self.crossing();
        let links = crossing.iter().enumerate();
        links.map(|(index, groups)| self.facts_of_link(index, groups)).collect()
    }

    /// What the discipline of a link may know, which these groups cross.
    fn facts_of_link(&self, index: usize, crossing: &[usize]) -> LinkInfo {
        let groups = || crossing.iter().map(|&at| &self.groups[at]);
        let data = groups().filter(|group| group.path.contains(&index));
        let largest = data.map(|group| group.packet_size).max();
        let acks = groups().filter(|group| group.reverse_path.contains(&index));
        let largest_ack = acks.filter_map(GroupSpec::ack_sizes).map(|sizes| sizes.least).max();
        let members = crossing.iter().map(|&at| (self.groups[at].name.clone(), self.members(at)));
        let headers = crossing.iter().map(|&at| self.headers_of(at));
        LinkInfo {
            name: self.links[index].name.clone(),
            seed: self.seed,
            rate: self.links[index].sustained_rate(),
            bdp_bytes: self.links[index].bdp_bytes,
            packet_bytes: largest.or(largest_ack).unwrap_or(1_500),
            groups: members.collect(),
            headers: headers.collect(),
        }
    }

    fn headers_of(&self, index: usize) -> Headers {
        let group = &self.groups[index];
        let passed = if group.reverse_path.is_empty() { usize::MAX } else { group.path.len() };
        let forward_hops = u8::try_from(passed).unwrap_or(u8::MAX);
        let first = self.members(index).start;
        Headers::new(group.dscp, &group.name, &group.flow_hosts, first, forward_hops)
    }

    /// By link, the groups whose packets or ACKs cross it, in order: its classes of traffic.
    pub fn crossing(&self) -> Vec<Vec<usize>> {
        let mut crossing = vec![Vec::new(); self.links.len()];
        for (index, group) in self.groups.iter().enumerate() {
            for &link in group.path.iter().chain(&group.reverse_path) {
                // The data and the ACKs of a group may cross the same link.
                if crossing[link].last() != Some(&index) {
                    crossing[link].push(index);
                }
            }
        }
        crossing
    }

    /// The links that packets may cross right after a link; in a fabric, on any route.
    pub(crate) fn links_behind(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        self.groups.iter().flat_map(move |group| {
            let fabric = group.hosts.as_ref().map(|hosts| &hosts.fabric);
            let routed = fabric.into_iter().flat_map(move |fabric| fabric.links_behind(link));
            let has_path = fabric.is_none();
            let paths = [&group.path, &group.reverse_path].into_iter().filter(move |_| has_path);
            let pairs = paths.flat_map(|path| path.windows(2));
            routed.chain(pairs.filter(move |pair| pair[0] == link).map(|pair| pair[1]))
        })
    }

    /// By link, whether packets may reach it over a link whose far end sends pause frames.
    pub fn behind_pauses(&self) -> Vec<bool> {
        self.behind(|link| link.pause.is_some())
    }

    /// By link, whether packets may reach it over a link [whose far end counts
    /// them](LinkSpec::counts_in_switch). There they wait where they can be counted until they leave.
    pub fn behind_ingresses(&self) -> Vec<bool> {
        self.behind(LinkSpec::counts_in_switch)
    }

    /// By link, whether packets may reach it over a link like these.
    fn behind(&self, leads: impl Fn(&LinkSpec) -> bool) -> Vec<bool> {
        let mut behind = vec![false; self.links.len()];
        let leading = (0..behind.len()).filter(|&link| leads(&self.links[link]));
        for next in leading.flat_map(|link| self.links_behind(link)) {
            // A path of a wrong network may name a link that does not exist.
            if let Some(is_behind) = behind.get_mut(next) {
                *is_behind = true;
            }
        }
        behind
    }

    /// The flows of a group.
    pub fn members(&self, group: usize) -> Range<u32> {
        let first = self.flows.partition_point(|flow| flow.group < group);
        let last = self.flows.partition_point(|flow| flow.group <= group);
        first as u32..last as u32
    }

    /// Whether a group's control is one that the registry does not hold.
    pub fn has_custom_controls(&self) -> bool {
        let mut transports = self.groups.iter().filter_map(|group| group.tcp.as_ref());
        transports.any(|tcp| matches!(tcp.congestion, CongestionConfig::Custom(_)))
    }

    /// Whether a group's source is one that the registry does not hold.
    pub fn has_custom_sources(&self) -> bool {
        self.groups.iter().any(|group| group.source.custom().is_some())
    }

    /// Name of flow `index`: its group's name, and its place in the group where there are several.
    pub fn flow_name(&self, index: usize) -> String {
        let group = self.flows[index].group;
        let members = self.members(group);
        if members.len() == 1 {
            self.groups[group].name.clone()
        } else {
            format!("{}.{}", self.groups[group].name, index - members.start as usize)
        }
    }
}
