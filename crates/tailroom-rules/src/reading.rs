//! Reads the links of a network, in plain numbers.
//!
//! Identical flows are counted together, and flows that arrive and depart are described by their arrival
//! rate and by a sample of their sizes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use tailroom_engine::dynamic_flows::source_group;
use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::port_keys;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::burst::{SendBurst, automatic_packets};
use tailroom_engine::traffic::{DataSpec, SourceSpec};
use tailroom_engine::units::{Rate, Time};

use crate::bottleneck::{Bottleneck, DynamicFlows, FlowClass, Parameters, PortSetting, Stream};

/// Number of sizes that are drawn for a group whose flows arrive and depart.
const DRAWS: usize = 1_000;

/// The links of a network, as models read them.
#[derive(Debug, Serialize)]
pub struct Bottlenecks {
    /// Length of the run.
    pub duration_s: f64,
    /// Start of the measured window.
    pub measure_from_s: f64,
    /// Number of permanent flows of the network.
    pub flows: u64,
    /// Every link, in the order of the scenario.
    pub links: Vec<Bottleneck>,
    /// Names of the links that carry data packets, in the same order.
    pub crossed: Vec<String>,
    /// Name of the slowest of these links, and among equally slow links of the one with most flows;
    /// else of the first link.
    pub busiest: Option<String>,
}

impl Bottlenecks {
    /// Reads a network.
    pub fn of(network: &Network) -> Self {
        let traffic = Traffic::of(network);
        let links = 0..network.links.len();
        let name = |link: usize| network.links[link].name.clone();
        let crossed = links.clone().filter(|&link| traffic.crossing(link).next().is_some());
        let busiest = crossed.clone().min_by(|&a, &b| traffic.slower(a, b));
        Bottlenecks {
            duration_s: network.duration.seconds(),
            measure_from_s: network.measure_from.seconds(),
            flows: network.flows.len() as u64,
            links: links.clone().map(|link| traffic.read(link)).collect(),
            crossed: crossed.map(name).collect(),
            busiest: busiest.or(links.clone().next()).map(name),
        }
    }
}

/// A network, and the share of each link, in bit/s, of a permanent flow whose data or ACKs cross it.
struct Traffic<'a> {
    network: &'a Network,
    shares_bps: Vec<f64>,
}

impl<'a> Traffic<'a> {
    fn of(network: &'a Network) -> Self {
        let mut flows = vec![0_usize; network.links.len()];
        for (index, group) in network.groups.iter().enumerate() {
            let links: BTreeSet<usize> =
                group.path.iter().chain(&group.reverse_path).copied().collect();
            for link in links {
                flows[link] += network.members(index).len();
            }
        }
        let links = network.links.iter().zip(flows);
        let share =
            |(link, flows): (&LinkSpec, usize)| bps(link.carried_rate()) / flows.max(1) as f64;
        Traffic { network, shares_bps: links.map(share).collect() }
    }

    /// The groups whose data cross a link, by their numbers.
    fn crossing(&self, link: usize) -> impl Iterator<Item = usize> {
        let groups = self.network.groups.iter().enumerate();
        groups.filter(move |(_, group)| group.path.contains(&link)).map(|(index, _)| index)
    }

    fn slower(&self, a: usize, b: usize) -> Ordering {
        let rate = |link: usize| self.network.links[link].carried_rate();
        let flows = |link| {
            self.crossing(link).map(|index| self.network.members(index).len()).sum::<usize>()
        };
        rate(a).cmp(&rate(b)).then_with(|| flows(b).cmp(&flows(a)))
    }

    fn read(&self, link: usize) -> Bottleneck {
        let spec = &self.network.links[link];
        let groups = || self.crossing(link).map(|index| &self.network.groups[index]);
        let rate_bps = bps(spec.carried_rate());
        let classes: Vec<FlowClass> =
            self.crossing(link).flat_map(|index| self.classes(index)).collect();
        let paths = groups().flat_map(|group| group.path.iter().chain(&group.reverse_path));
        let others = paths.filter(|&&other| other != link);
        let others: BTreeSet<&String> =
            others.map(|&other| &self.network.links[other].name).collect();
        Bottleneck {
            name: spec.name.clone(),
            rate_bps,
            discipline: spec.queue.name().to_owned(),
            parameters: parameters(&spec.queue),
            amounts_packets: amounts_packets(spec),
            packet_bytes: spec.packet_bytes,
            streams: self.crossing(link).filter_map(|index| self.stream(index)).collect(),
            dynamic: groups().filter_map(|group| dynamic(self.network, group)).collect(),
            random_loss_fraction: spec.loss.mean(),
            other_links: others.into_iter().cloned().collect(),
            changes: !spec.rate_changes.is_empty() || spec.varies_in_delay(),
            has_token_bucket: spec.shaper.is_some() || spec.policer.is_some(),
            packet_sizes_bytes: groups().map(|group| group.packet_size).collect(),
            packets_differ: self.packets_differ(link),
            binding: spec.queue.parameters().binding().iter().map(ToString::to_string).collect(),
            short_rtt_s: if classes.is_empty() { 8.0 * spec.bdp_bytes / rate_bps } else { 0.0 },
            port: PortSetting(port_keys::of(self.network, spec)),
            classes,
        }
    }

    /// Whether packets of several sizes may wait at the link: ACKs are smaller than data, and so is the
    /// last packet of a flow that ends.
    fn packets_differ(&self, link: usize) -> bool {
        let groups = || self.crossing(link).map(|index| &self.network.groups[index]);
        let sizes: BTreeSet<u32> = groups().map(|group| group.packet_size).collect();
        let has_one_size = |group: &GroupSpec| match &group.source {
            SourceSpec::Data(DataSpec::Bulk(bulk)) => bulk.bytes.is_none(),
            SourceSpec::Packets(packets) => packets.offered().has_fixed_size(),
            _ => false,
        };
        let mut all = self.network.groups.iter();
        sizes.len() > 1
            || !groups().all(has_one_size)
            || all.any(|group| group.reverse_path.contains(&link))
    }

    /// A class per RTT and access rate of a group, in the order of its flows.
    fn classes(&self, index: usize) -> Vec<FlowClass> {
        let group = &self.network.groups[index];
        let (SourceSpec::Data(DataSpec::Bulk(_)), Some(tcp)) = (&group.source, &group.tcp) else {
            return Vec::new();
        };
        let send_burst = self.send_burst(index, tcp);
        let mut classes: Vec<FlowClass> = Vec::new();
        let mut places: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        for flow in self.network.members(index) {
            let flow = &self.network.flows[flow as usize];
            let (rtt_s, access_rate_bps) =
                (flow.rtt.seconds(), flow.access_rate.map_or(f64::INFINITY, bps));
            let place = places.entry((rtt_s.to_bits(), access_rate_bps.to_bits()));
            let place = *place.or_insert_with(|| {
                classes.push(FlowClass {
                    group: group.name.clone(),
                    count: 0,
                    rtt_s,
                    congestion: tcp.congestion.name().to_owned(),
                    parameters: parameters(&tcp.congestion),
                    packet_bytes: f64::from(group.packet_size),
                    access_rate_bps,
                    max_window: max_window(tcp),
                    packets_per_ack: tcp.delayed_ack.rule().map_or(1, |(packets, _)| packets),
                    pacing: tcp.pacing,
                    send_burst,
                    ecn: tcp.ecn.codepoint().is_capable(),
                });
                classes.len() - 1
            });
            classes[place].count += 1;
        }
        classes
    }

    /// The burst of a flow of the group, which has its share of the slowest link on its path.
    fn send_burst(&self, index: usize, tcp: &TcpSpec) -> u32 {
        if let SendBurst::Packets(packets) = tcp.send_burst {
            return packets;
        }
        let group = &self.network.groups[index];
        let shares = group.path.iter().map(|&link| self.shares_bps[link]);
        let rtts = self.network.members(index).map(|flow| self.network.flows[flow as usize].rtt);
        let packets_per_s =
            shares.fold(f64::INFINITY, f64::min) / 8.0 / f64::from(group.packet_size);
        let payload_bytes = group.packet_size - group.header_size;
        automatic_packets(packets_per_s, payload_bytes, rtts.min().unwrap_or(Time::ZERO)) as u32
    }

    fn stream(&self, index: usize) -> Option<Stream> {
        let group = &self.network.groups[index];
        let fixed_size = match &group.source {
            // A load that the rest of the link takes as given, although a window may hold it back.
            SourceSpec::Data(DataSpec::Objects(_)) => true,
            SourceSpec::Packets(packets) => packets.offered().has_fixed_size(),
            _ => return None,
        };
        let count = self.network.members(index).len() as u64;
        Some(Stream {
            group: group.name.clone(),
            process: group.source.name().to_owned(),
            count,
            rate_bps: count as f64 * group.source.offered_rate_bps().unwrap_or(0.0),
            packet_bytes: f64::from(group.packet_size),
            fixed_size,
        })
    }
}

fn dynamic(network: &Network, group: &GroupSpec) -> Option<DynamicFlows> {
    let SourceSpec::Flows(flows) = &group.source else { return None };
    let duration_s = network.duration.seconds();
    let drawn = flows.offered().statistics(&source_group(network, group), duration_s, DRAWS);
    let tcp = group.tcp.as_ref();
    Some(DynamicFlows {
        group: group.name.clone(),
        process: group.source.name().to_owned(),
        congestion: tcp.map(|tcp| tcp.congestion.name().to_owned()),
        parameters: tcp.map_or_else(Parameters::new, |tcp| parameters(&tcp.congestion)),
        arrivals_per_s: drawn.arrivals_per_s,
        poisson: drawn.is_poisson,
        size_bytes_mean: drawn.size_bytes_mean,
        wire_bytes_mean: drawn.wire_bytes_mean,
        sizes_bytes: drawn.sizes_bytes,
        rtt_s: drawn.rtt_s,
        peak_rate_bps: drawn.peak_rate_bps.unwrap_or(f64::INFINITY),
        packet_bytes: f64::from(group.packet_size),
        header_bytes: f64::from(group.header_size),
        initial_window: tcp.map_or(1, |tcp| tcp.initial_window),
        max_window: tcp.map_or(f64::INFINITY, max_window),
    })
}

fn max_window(tcp: &TcpSpec) -> f64 {
    tcp.max_window.map_or(f64::INFINITY, |packets| packets as f64)
}

fn amounts_packets(spec: &LinkSpec) -> BTreeMap<String, f64> {
    let mut queue = spec.queue.clone();
    let amounts = queue.parameters_mut().amounts().into_iter();
    amounts
        .map(|(key, amount)| {
            let packets = match spec.limit(*amount) {
                Limit::Packets(packets) => packets as f64,
                Limit::Bytes(bytes) => bytes as f64 / spec.packet_bytes,
            };
            (key.to_owned(), packets)
        })
        .collect()
}

/// The parameters of a component, without its kind.
fn parameters(component: &impl Serialize) -> Parameters {
    match serde_json::to_value(component) {
        Ok(Value::Object(mut table)) => {
            table.remove("kind");
            table
        }
        _ => Parameters::new(),
    }
}

fn bps(rate: Rate) -> f64 {
    rate.bits_per_second() as f64
}
