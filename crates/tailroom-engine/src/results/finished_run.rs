//! What the collectors of statistics and tables read.

use std::collections::HashMap;

use super::flow_data::FlowData;
use crate::dynamic_flows::bottlenecked::BottleneckedFlows;
use crate::dynamic_flows::{FlowGenerator, FlowGenerators};
use crate::link::Link;
use crate::network::{GroupSpec, Network};
use crate::observe::recorder::Recorder;
use crate::pool::Pools;
use crate::probe::group::GroupProbe;
use crate::switch::{LosslessDrops, WaitingInSwitch};
use crate::units::Time;

/// What is recorded of the flows that arrive and depart.
#[derive(Clone, Copy, Debug)]
pub struct DynamicFlowRecords<'a> {
    /// The groups whose flows arrive and depart.
    pub generators: &'a FlowGenerators,
    /// Numbers of flows in progress, per link.
    pub sharing: &'a [BottleneckedFlows],
}

/// The links of a network and the memory that they share.
#[derive(Clone, Copy, Debug)]
pub struct SharedLinks<'a> {
    /// The links, in the order of the network.
    pub links: &'a [Link],
    /// Their pools, in the order of the network.
    pub pools: &'a Pools,
    /// What waits at the end in switches that may pause the links over which it arrived.
    pub waiting: &'a [WaitingInSwitch],
    /// By link, for how long it was free in the measured window while packets for it waited at paused
    /// links.
    pub blocked: &'a [Time],
    /// Packets that were dropped in spite of pause frames.
    pub lossless_drops: &'a LosslessDrops,
    /// The packets at the ends of connections in order of time, if they are recorded.
    pub ends: Option<&'a Recorder>,
}

/// A network at the end of its run, with what its probes recorded.
pub(super) struct FinishedRun<'a> {
    pub(super) network: &'a Network,
    /// The links, in the order of the network.
    pub(super) links: &'a [Link],
    pub(super) pools: &'a Pools,
    pub(super) waiting: &'a [WaitingInSwitch],
    pub(super) blocked: &'a [Time],
    pub(super) lossless_drops: &'a LosslessDrops,
    ends: Option<&'a Recorder>,
    /// By link, whether packets reach it over links that may be paused.
    pub(super) behind_pauses: Vec<bool>,
    /// Mean capacity of each link over the measured window.
    pub(super) capacities_bps: Vec<f64>,
    /// The groups that cross each link, as [`Network::crossing`] gives them.
    pub(super) crossing: Vec<Vec<usize>>,
    /// The permanent flows, in the order of the network.
    pub(super) flows: Vec<FlowData<'a>>,
    /// By group between hosts and link, the mean share of the group's flows that cross the link.
    shares: HashMap<(usize, usize), f64>,
    /// What is measured per group, in the order of the network.
    pub(super) group_probes: &'a [GroupProbe],
    pub(super) dynamic_flows: DynamicFlowRecords<'a>,
}

impl<'a> FinishedRun<'a> {
    pub(super) fn new(
        network: &'a Network,
        SharedLinks { links, pools, waiting, blocked, lossless_drops, ends }: SharedLinks<'a>,
        flows: Vec<FlowData<'a>>,
        group_probes: &'a [GroupProbe],
        dynamic_flows: DynamicFlowRecords<'a>,
    ) -> Self {
        let (from, to) = (network.measure_from, network.duration);
        let capacity = |link: &Link| link.capacity_bits(from, to) / to.since(from).seconds();
        let capacities_bps = links.iter().map(capacity).collect();
        let crossing = network.crossing();
        let groups = network.groups.iter().enumerate();
        let between = groups.filter_map(|(at, group)| Some((at, group.hosts.as_ref()?)));
        let shares = between.flat_map(|(at, hosts)| {
            hosts.shares().into_iter().map(move |(link, share)| ((at, link), share))
        });
        let shares = shares.collect();
        FinishedRun {
            network,
            links,
            pools,
            waiting,
            blocked,
            lossless_drops,
            ends,
            behind_pauses: network.behind_pauses(),
            capacities_bps,
            crossing,
            flows,
            shares,
            group_probes,
            dynamic_flows,
        }
    }

    /// The records of packets: those of links, with the number of the link, and that of the ends of connections.
    pub(super) fn records(&self) -> impl Iterator<Item = (Option<usize>, &'a Recorder)> {
        let at_links = self
            .links
            .iter()
            .enumerate()
            .filter_map(|(number, link)| Some((Some(number), link.probe.record()?)));
        at_links.chain(self.ends.map(|ends| (None, ends)))
    }

    /// The mean share of a group's flows that cross a link; `None` if all do, as the group has a path.
    pub(super) fn share_across(&self, group: usize, link: usize) -> Option<f64> {
        self.shares.get(&(group, link)).copied()
    }

    /// The permanent flows of a group.
    pub(super) fn flows_of(&self, group: usize) -> &[FlowData<'a>] {
        let members = self.network.members(group);
        &self.flows[members.start as usize..members.end as usize]
    }

    /// The groups whose data cross a link, in order.
    pub(super) fn data_groups(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let groups = &self.network.groups;
        self.crossing[link].iter().copied().filter(move |&at| groups[at].path.contains(&link))
    }

    /// What generates the flows of a group, if they arrive and depart.
    pub(super) fn generator_of(&self, group: usize) -> Option<&'a FlowGenerator> {
        // A group has at most one, and they are in the order of the groups.
        let generators = self.dynamic_flows.generators.all();
        let at = generators.binary_search_by_key(&group, |generator| generator.group).ok()?;
        Some(&generators[at])
    }

    /// Length of the measured window.
    pub(super) fn measured_s(&self) -> f64 {
        self.network.duration.since(self.network.measure_from).seconds()
    }

    /// Smallest capacity on the path of a group.
    pub(super) fn path_capacity_bps(&self, group: &GroupSpec) -> f64 {
        let capacities = group.path.iter().map(|&link| self.capacities_bps[link]);
        capacities.fold(f64::INFINITY, f64::min)
    }

    /// Position of a flow's name among `Labels::FlowsAndGroups`.
    pub(super) fn flow_label(&self, flow: u32) -> u32 {
        let group = self.dynamic_flows.generators.group_of(flow);
        group.map_or(flow, |group| (self.network.flows.len() + group) as u32)
    }
}
