//! The input of the analytic models: rates, delays, buffers and flows of a network as plain
//! numbers.
//!
//! Models do not simulate packets. Identical flows are therefore counted together, and flows that
//! arrive and depart are described by their arrival rate and by a sample of their sizes.

mod port;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::dynamic_flows::source_group;
use crate::link::LinkSpec;
use crate::link::wire_loss::LossSpec;
use crate::network::{GroupSpec, Network};
use crate::quantity::Size;
use crate::quantity::limit::Limit;
use crate::tcp::sender::burst::{SendBurst, automatic_packets};
use crate::traffic::{DataSpec, FlowStatistics, SourceSpec};
use crate::units::{Rate, Time};

/// Number of sizes that are drawn for a group whose flows arrive and depart.
const DRAWS: usize = 1_000;

/// A network in numbers.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ModelInput {
    /// Length of the run.
    pub duration_s: f64,
    /// Start of the measured window.
    pub measure_from_s: f64,
    /// Shared links, in the order of the scenario.
    pub links: Vec<LinkInput>,
    /// Groups of flows, in the order of the scenario.
    pub groups: Vec<GroupInput>,
}

/// A shared link.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct LinkInput {
    /// Its key in the scenario.
    pub name: String,
    /// What the link carries in the long run: the rate of its shaper or policer, or its own until the
    /// first change.
    pub rate_bps: f64,
    /// One-way propagation delay until the first change.
    pub delay_s: f64,
    /// Rate times the mean propagation RTT of the long flows that cross it, else of the other flows
    /// under congestion control.
    pub bdp_bytes: f64,
    /// Size of the packets in which its buffer is counted.
    pub packet_bytes: f64,
    /// Whether rate or delay change during the run.
    pub changes: bool,
    /// Whether the link has a shaper or a policer.
    pub has_token_bucket: bool,
    /// Mean share of packets that the wire loses at random.
    pub random_loss_fraction: f64,
    /// Kind of its queue discipline.
    pub discipline: String,
    /// Parameters of the discipline as in the scenario.
    pub parameters: Value,
    /// Parameters that are amounts in the buffer, `limit` among them.
    pub amounts: Vec<AmountInput>,
    /// Keys of the parameters that decide on the queue before its limit is reached.
    pub binding: &'static [&'static str],
    /// All that shapes its packets, by key as in the scenario.
    pub port: Map<String, Value>,
}

/// An amount in a buffer, in the unit that the discipline counts.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct AmountInput {
    /// Name of the parameter.
    pub key: &'static str,
    /// The amount in packets; absent if the discipline counts bytes.
    pub packets: Option<f64>,
    /// The amount in bytes; absent if the discipline counts packets.
    pub bytes: Option<f64>,
}

/// A group of flows.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct GroupInput {
    /// Its key in the scenario.
    pub name: String,
    /// Names of the shared links on its way to the receiver.
    pub path: Vec<String>,
    /// Names of the shared links that its ACKs cross.
    pub reverse_path: Vec<String>,
    /// Size of a data packet on the wire.
    pub packet_bytes: u32,
    /// Size of the headers in a data packet.
    pub header_bytes: u32,
    /// The data that the application wants to send.
    pub source: SourceInput,
    /// The transport; absent for unresponsive flows.
    pub transport: Option<TransportInput>,
    /// Permanent flows; identical flows are one entry.
    pub flows: Vec<FlowsInput>,
}

/// Permanent flows that differ only in their start.
#[derive(Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlowsInput {
    /// Number of flows.
    pub count: u64,
    /// Two-way propagation delay.
    pub rtt_s: f64,
    /// Rate of the access link of each flow; absent if the access link has no delay.
    pub access_rate_bps: Option<f64>,
}

/// The transport of a group.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct TransportInput {
    /// Name of the congestion control.
    pub congestion: String,
    /// Parameters of the congestion control as in the scenario.
    pub parameters: Value,
    /// Whether losses are repaired from selective ACKs.
    pub sack: bool,
    /// Packets per ACK.
    pub packets_per_ack: u32,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Upper bound of the window in packets.
    pub max_window: Option<u64>,
    /// Whether packets are paced.
    pub pacing: bool,
    /// Packets that must fit into the window before they are sent together.
    pub send_burst: u32,
    /// Whether packets may be marked (ECN).
    pub ecn: bool,
}

/// The data that an application wants to send.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SourceInput {
    /// As much as the window allows.
    Bulk {
        /// Payload to send; absent for a permanent flow.
        bytes: Option<u64>,
    },
    /// An unresponsive stream.
    Stream {
        /// Its kind in the scenario.
        process: &'static str,
        /// Mean rate of one flow on the wire.
        rate_bps: f64,
        /// Whether packets have one size.
        fixed_size: bool,
    },
    /// Flows that arrive and depart.
    Dynamic {
        /// Its kind in the scenario.
        process: &'static str,
        /// Mean number of connections or media flows that arrive per second.
        arrivals_per_s: f64,
        /// Whether they arrive as a Poisson process.
        poisson: bool,
        /// Mean payload of a flow; of media flows, mean bytes on the wire.
        size_bytes_mean: f64,
        /// Mean bytes of a flow on the wire, with a header per packet.
        wire_bytes_mean: f64,
        /// Payloads of a thousand drawn flows; empty for media flows.
        sizes_bytes: Vec<f64>,
        /// Mean two-way propagation delay.
        rtt_s: f64,
        /// Mean of the rate that a flow cannot exceed; absent if there is no such rate.
        peak_rate_bps: Option<f64>,
    },
}

impl ModelInput {
    /// Reads a network.
    pub fn of(network: &Network) -> Self {
        let shares = shares(network);
        ModelInput {
            duration_s: network.duration.seconds(),
            measure_from_s: network.measure_from.seconds(),
            links: network.links.iter().map(|spec| link(network, spec)).collect(),
            groups: (0..network.groups.len()).map(|index| group(network, index, &shares)).collect(),
        }
    }
}

fn link(network: &Network, spec: &LinkSpec) -> LinkInput {
    LinkInput {
        name: spec.name.clone(),
        rate_bps: spec.carried_rate().bits_per_second() as f64,
        delay_s: spec.delay.seconds(),
        bdp_bytes: spec.bdp_bytes,
        packet_bytes: spec.packet_bytes,
        changes: !spec.rate_changes.is_empty() || spec.varies_in_delay(),
        has_token_bucket: spec.shaper.is_some() || spec.policer.is_some(),
        random_loss_fraction: mean_loss(&spec.loss),
        discipline: spec.queue.name().to_owned(),
        parameters: parameters(&spec.queue),
        amounts: amounts(spec),
        binding: spec.queue.parameters().binding(),
        port: port::of(network, spec),
    }
}

fn amounts(spec: &LinkSpec) -> Vec<AmountInput> {
    let mut queue = spec.queue.clone();
    let named = queue.parameters_mut().amounts().into_iter();
    named
        .map(|(key, amount)| match spec.limit(*amount) {
            Limit::Packets(packets) => {
                AmountInput { key, packets: Some(packets as f64), bytes: None }
            }
            Limit::Bytes(bytes) => AmountInput { key, packets: None, bytes: Some(bytes as f64) },
        })
        .collect()
}

fn mean_loss(loss: &LossSpec) -> f64 {
    match *loss {
        LossSpec::None => 0.0,
        LossSpec::Bernoulli { probability } => probability,
        LossSpec::Periodic { every } => 1.0 / every as f64,
        LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            let bad = good_to_bad / (good_to_bad + bad_to_good);
            (1.0 - bad) * loss_good + bad * loss_bad
        }
    }
}

/// The parameters of a component, without its kind.
fn parameters(config: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(config).unwrap_or_default();
    if let Some(table) = value.as_object_mut() {
        table.remove("kind");
    }
    value
}

/// The share of each link, in bit/s, of a permanent flow whose data or ACKs cross it.
fn shares(network: &Network) -> Vec<f64> {
    let mut flows = vec![0_usize; network.links.len()];
    for (index, group) in network.groups.iter().enumerate() {
        let links: BTreeSet<usize> =
            group.path.iter().chain(&group.reverse_path).copied().collect();
        for link in links {
            flows[link] += network.members(index).len();
        }
    }
    let links = network.links.iter().zip(flows);
    links.map(|(link, flows)| bits_per_second(link.carried_rate()) / flows.max(1) as f64).collect()
}

fn group(network: &Network, index: usize, shares: &[f64]) -> GroupInput {
    let spec = &network.groups[index];
    let names = |path: &[usize]| path.iter().map(|&at| network.links[at].name.clone()).collect();
    GroupInput {
        name: spec.name.clone(),
        path: names(&spec.path),
        reverse_path: names(&spec.reverse_path),
        packet_bytes: spec.packet_size,
        header_bytes: spec.header_size,
        source: source(network, spec),
        transport: transport(network, index, shares),
        flows: flows(network, index),
    }
}

fn transport(network: &Network, index: usize, shares: &[f64]) -> Option<TransportInput> {
    let spec = &network.groups[index];
    let tcp = spec.tcp.as_ref()?;
    Some(TransportInput {
        congestion: tcp.congestion.name().to_owned(),
        parameters: parameters(&tcp.congestion),
        sack: tcp.recovery.has_sack(),
        packets_per_ack: tcp.delayed_ack.rule().map_or(1, |(packets, _)| packets),
        initial_window: tcp.initial_window,
        max_window: tcp.max_window,
        pacing: tcp.pacing,
        send_burst: match tcp.send_burst {
            SendBurst::Packets(packets) => packets,
            SendBurst::Named(_) => automatic_burst(network, index, shares),
        },
        ecn: tcp.ecn.codepoint().is_capable(),
    })
}

/// The burst of a flow of the group that has its share of the slowest link on its path.
fn automatic_burst(network: &Network, index: usize, shares: &[f64]) -> u32 {
    let spec = &network.groups[index];
    let slowest = spec.path.iter().map(|&link| shares[link]).fold(f64::INFINITY, f64::min);
    let rtts = network.members(index).map(|flow| network.flows[flow as usize].rtt);
    let min_rtt = rtts.min().unwrap_or(Time::ZERO);
    let packets_per_s = slowest / 8.0 / f64::from(spec.packet_size);
    automatic_packets(packets_per_s, spec.packet_size - spec.header_size, min_rtt) as u32
}

/// Consecutive identical flows become one entry, so that a million flows are a few numbers.
fn flows(network: &Network, group: usize) -> Vec<FlowsInput> {
    let members = network.members(group);
    let mut inputs: Vec<FlowsInput> = Vec::new();
    for flow in &network.flows[members.start as usize..members.end as usize] {
        let rtt_s = flow.rtt.seconds();
        let access_rate_bps = flow.access_rate.map(bits_per_second);
        match inputs.last_mut() {
            Some(last) if (last.rtt_s, last.access_rate_bps) == (rtt_s, access_rate_bps) => {
                last.count += 1;
            }
            _ => inputs.push(FlowsInput { count: 1, rtt_s, access_rate_bps }),
        }
    }
    inputs
}

fn bits_per_second(rate: Rate) -> f64 {
    rate.bits_per_second() as f64
}

fn source(network: &Network, spec: &GroupSpec) -> SourceInput {
    let process = spec.source.name();
    let stream = |fixed_size| SourceInput::Stream {
        process,
        rate_bps: spec.source.offered_rate_bps().unwrap_or(0.0),
        fixed_size,
    };
    match &spec.source {
        SourceSpec::Data(DataSpec::Bulk(bulk)) => {
            SourceInput::Bulk { bytes: bulk.bytes.map(Size::bytes) }
        }
        // A load that the rest of the link takes as given, although a window may hold it back.
        SourceSpec::Data(DataSpec::Objects(_)) => stream(true),
        SourceSpec::Packets(packets) => stream(packets.offered().has_fixed_size()),
        SourceSpec::Flows(flows) => {
            let group = source_group(network, spec);
            dynamic(process, flows.offered().statistics(&group, network.duration.seconds(), DRAWS))
        }
    }
}

fn dynamic(process: &'static str, flows: FlowStatistics) -> SourceInput {
    SourceInput::Dynamic {
        process,
        arrivals_per_s: flows.arrivals_per_s,
        poisson: flows.is_poisson,
        size_bytes_mean: flows.size_bytes_mean,
        wire_bytes_mean: flows.wire_bytes_mean,
        sizes_bytes: flows.sizes_bytes,
        rtt_s: flows.rtt_s,
        peak_rate_bps: flows.peak_rate_bps,
    }
}
