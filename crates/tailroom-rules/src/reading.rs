//! Reads the links of a network.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use tailroom_engine::model_input::{
    FlowsInput, GroupInput, LinkInput, ModelInput, SourceInput, TransportInput,
};

use crate::bottleneck::{Bottleneck, DynamicFlows, FlowClass, Parameters, Stream};
use crate::port_setting::PortSetting;

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
    pub fn of(input: &ModelInput) -> Self {
        let carries = |link: &&LinkInput| crossing(input, link).next().is_some();
        let crossed = input.links.iter().filter(carries);
        Bottlenecks {
            duration_s: input.duration_s,
            measure_from_s: input.measure_from_s,
            flows: input.groups.iter().flat_map(counts).sum(),
            links: input.links.iter().map(|link| read(input, link)).collect(),
            crossed: crossed.clone().map(|link| link.name.clone()).collect(),
            busiest: crossed
                .min_by(|a, b| slower(input, a, b))
                .or(input.links.first())
                .map(|link| link.name.clone()),
        }
    }
}

fn slower(input: &ModelInput, a: &LinkInput, b: &LinkInput) -> Ordering {
    let flows = |link| crossing(input, link).flat_map(counts).sum::<u64>();
    a.rate_bps.total_cmp(&b.rate_bps).then_with(|| flows(b).cmp(&flows(a)))
}

fn crossing<'a>(
    input: &'a ModelInput,
    link: &'a LinkInput,
) -> impl Iterator<Item = &'a GroupInput> {
    input.groups.iter().filter(|group| group.path.contains(&link.name))
}

fn counts(group: &GroupInput) -> impl Iterator<Item = u64> {
    group.flows.iter().map(|flows| flows.count)
}

fn read(input: &ModelInput, link: &LinkInput) -> Bottleneck {
    let classes: Vec<FlowClass> = crossing(input, link).flat_map(classes).collect();
    let mut others: BTreeSet<&String> = crossing(input, link)
        .flat_map(|group| group.path.iter().chain(&group.reverse_path))
        .collect();
    others.remove(&link.name);
    let amounts = link.amounts.iter().map(|amount| {
        let by_size = amount.bytes.unwrap_or(f64::NAN) / link.packet_bytes;
        (amount.key.to_owned(), amount.packets.unwrap_or(by_size))
    });
    Bottleneck {
        name: link.name.clone(),
        rate_bps: link.rate_bps,
        discipline: link.discipline.clone(),
        parameters: table(&link.parameters),
        amounts_packets: amounts.collect(),
        packet_bytes: link.packet_bytes,
        streams: crossing(input, link).filter_map(stream).collect(),
        dynamic: crossing(input, link).filter_map(dynamic).collect(),
        random_loss_fraction: link.random_loss_fraction,
        other_links: others.into_iter().cloned().collect(),
        changes: link.changes,
        has_token_bucket: link.has_token_bucket,
        packet_sizes_bytes: crossing(input, link).map(|group| group.packet_bytes).collect(),
        packets_differ: packets_differ(input, link),
        binding: link.binding.iter().map(|key| (*key).to_owned()).collect(),
        short_rtt_s: if classes.is_empty() { 8.0 * link.bdp_bytes / link.rate_bps } else { 0.0 },
        port: PortSetting(link.port.clone()),
        classes,
    }
}

/// Whether packets of several sizes may wait at the link: ACKs are smaller than data, and so is the last
/// packet of a flow that ends.
fn packets_differ(input: &ModelInput, link: &LinkInput) -> bool {
    let sizes: BTreeSet<u32> = crossing(input, link).map(|group| group.packet_bytes).collect();
    let has_one_size = |group: &GroupInput| match &group.source {
        SourceInput::Bulk { bytes } => bytes.is_none(),
        SourceInput::Stream { fixed_size, .. } => *fixed_size && group.transport.is_none(),
        _ => false,
    };
    let has_acks = |group: &GroupInput| group.reverse_path.contains(&link.name);
    sizes.len() > 1 || !crossing(input, link).all(has_one_size) || input.groups.iter().any(has_acks)
}

fn table(value: &Value) -> Parameters {
    value.as_object().cloned().unwrap_or_default()
}

/// A class per RTT and access rate of the group, in the order of its flows.
fn classes(group: &GroupInput) -> Vec<FlowClass> {
    let (SourceInput::Bulk { .. }, Some(transport)) = (&group.source, &group.transport) else {
        return Vec::new();
    };
    let mut classes: Vec<FlowClass> = Vec::new();
    let mut places: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    for flows in &group.flows {
        let class = class(group, transport, flows);
        let key = (class.rtt_s.to_bits(), class.access_rate_bps.to_bits());
        if let Some(&place) = places.get(&key) {
            classes[place].count += flows.count;
        } else {
            places.insert(key, classes.len());
            classes.push(class);
        }
    }
    classes
}

fn class(group: &GroupInput, transport: &TransportInput, flows: &FlowsInput) -> FlowClass {
    FlowClass {
        group: group.name.clone(),
        count: flows.count,
        rtt_s: flows.rtt_s,
        congestion: transport.congestion.clone(),
        parameters: table(&transport.parameters),
        packet_bytes: f64::from(group.packet_bytes),
        access_rate_bps: flows.access_rate_bps.unwrap_or(f64::INFINITY),
        max_window: window(transport),
        packets_per_ack: transport.packets_per_ack,
        pacing: transport.pacing,
        send_burst: transport.send_burst,
        ecn: transport.ecn,
    }
}

fn window(transport: &TransportInput) -> f64 {
    transport.max_window.map_or(f64::INFINITY, |packets| packets as f64)
}

fn stream(group: &GroupInput) -> Option<Stream> {
    let SourceInput::Stream { process, rate_bps, fixed_size } = &group.source else { return None };
    let count = counts(group).sum();
    Some(Stream {
        group: group.name.clone(),
        process: (*process).to_owned(),
        count,
        rate_bps: count as f64 * rate_bps,
        packet_bytes: f64::from(group.packet_bytes),
        fixed_size: *fixed_size,
    })
}

fn dynamic(group: &GroupInput) -> Option<DynamicFlows> {
    let SourceInput::Dynamic {
        process,
        arrivals_per_s,
        poisson,
        size_bytes_mean,
        wire_bytes_mean,
        sizes_bytes,
        rtt_s,
        peak_rate_bps,
    } = &group.source
    else {
        return None;
    };
    let transport = group.transport.as_ref();
    Some(DynamicFlows {
        group: group.name.clone(),
        process: (*process).to_owned(),
        congestion: transport.map(|transport| transport.congestion.clone()),
        parameters: transport.map_or_else(Parameters::new, |one| table(&one.parameters)),
        arrivals_per_s: *arrivals_per_s,
        poisson: *poisson,
        size_bytes_mean: *size_bytes_mean,
        wire_bytes_mean: *wire_bytes_mean,
        sizes_bytes: sizes_bytes.clone(),
        rtt_s: *rtt_s,
        peak_rate_bps: peak_rate_bps.unwrap_or(f64::INFINITY),
        packet_bytes: f64::from(group.packet_bytes),
        header_bytes: f64::from(group.header_bytes),
        initial_window: transport.map_or(1, |transport| transport.initial_window),
        max_window: transport.map_or(f64::INFINITY, window),
    })
}
