//! What an analytic model reads of a network: rates, delays, buffers and flows as plain numbers.
//!
//! A model knows no packets, so flows that do not differ are counted together, and what comes and
//! goes is given by its rate of arrival and by draws of its size.

use serde::Serialize;
use serde_json::Value;

use crate::dynamic_flows::source_group;
use crate::link::LinkSpec;
use crate::link::wire_loss::LossSpec;
use crate::network::{GroupSpec, Network};
use crate::quantity::Size;
use crate::quantity::limit::Limit;
use crate::tcp::sender::recovery::Recovery;
use crate::traffic::{DataSpec, FlowStatistics, SourceSpec};
use crate::units::Rate;

/// How many sizes of flows that come and go are drawn.
const DRAWS: usize = 1_000;

/// A network in numbers.
#[derive(Debug, Serialize)]
pub struct Outline {
    /// Length of a run.
    pub duration_s: f64,
    /// Where its statistics begin.
    pub measure_from_s: f64,
    /// Shared links, in the order of the scenario.
    pub links: Vec<LinkOutline>,
    /// Groups of flows, in the order of the scenario.
    pub groups: Vec<GroupOutline>,
}

/// A shared link.
#[derive(Debug, Serialize)]
pub struct LinkOutline {
    /// Its key in the scenario.
    pub name: String,
    /// Rate until the first change.
    pub rate_bps: f64,
    /// One-way propagation delay until the first change.
    pub delay_s: f64,
    /// Rate times the mean propagation RTT of the flows under congestion control that cross it.
    pub bdp_bytes: f64,
    /// Whether rate or delay change during the run.
    pub changes: bool,
    /// Mean share of packets that the wire loses at random.
    pub random_loss_fraction: f64,
    /// Kind of its queue discipline.
    pub discipline: &'static str,
    /// The discipline's parameters as the scenario gives them.
    pub parameters: Value,
    /// Those that are amounts in the buffer, `limit` among them.
    pub amounts: Vec<AmountOutline>,
}

/// An amount in a buffer; one of the two numbers is what the discipline counts.
#[derive(Debug, Serialize)]
pub struct AmountOutline {
    /// The discipline's parameter.
    pub key: &'static str,
    /// In packets; absent if it counts bytes.
    pub packets: Option<f64>,
    /// In bytes; absent if it counts packets.
    pub bytes: Option<f64>,
}

/// A group of flows.
#[derive(Debug, Serialize)]
pub struct GroupOutline {
    /// Its key in the scenario.
    pub name: String,
    /// Names of the shared links on its way to the receiver.
    pub path: Vec<String>,
    /// Names of the shared links that its ACKs cross.
    pub reverse_path: Vec<String>,
    /// Size of a data packet on the wire.
    pub packet_bytes: u32,
    /// Part of it that is header.
    pub header_bytes: u32,
    /// What its application wants to send.
    pub source: SourceOutline,
    /// The transport; absent if nothing controls the flows.
    pub transport: Option<TransportOutline>,
    /// Its permanent flows, those that do not differ counted together.
    pub flows: Vec<FlowsOutline>,
}

/// Permanent flows that do not differ but in their start.
#[derive(Debug, PartialEq, Serialize)]
pub struct FlowsOutline {
    /// How many.
    pub count: u64,
    /// Two-way propagation delay.
    pub rtt_s: f64,
    /// Rate of each one's access link; absent for one that takes no time.
    pub access_rate_bps: Option<f64>,
}

/// The transport of a group.
#[derive(Debug, Serialize)]
pub struct TransportOutline {
    /// Name of the congestion control.
    pub congestion: String,
    /// Its parameters as the scenario gives them.
    pub parameters: Value,
    /// Whether losses are repaired from selective ACKs.
    pub sack: bool,
    /// Packets per ACK.
    pub packets_per_ack: u32,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Upper bound of the window in packets.
    pub max_window: Option<u64>,
    /// Whether packets are spread over the round trip.
    pub pacing: bool,
    /// Whether its packets may be marked.
    pub ecn: bool,
}

/// What an application wants to send.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SourceOutline {
    /// As much as the window allows.
    Bulk {
        /// Payload to send; absent for a permanent flow.
        bytes: Option<u64>,
    },
    /// A stream that nothing controls.
    Stream {
        /// Its kind in the scenario.
        process: &'static str,
        /// Mean rate of one flow on the wire.
        rate_bps: f64,
        /// Whether packets have one size.
        fixed_size: bool,
    },
    /// Flows that come and go.
    Passing {
        /// Its kind in the scenario.
        process: &'static str,
        /// Mean number of connections or media flows that arrive in a second.
        arrivals_per_s: f64,
        /// Whether they arrive as a Poisson process.
        poisson: bool,
        /// Mean payload of one; of media flows, bytes on the wire.
        size_bytes_mean: f64,
        /// The same with a header for each packet.
        wire_bytes_mean: f64,
        /// Payload of a thousand drawn ones; empty for media flows.
        sizes_bytes: Vec<f64>,
        /// Mean two-way propagation delay.
        rtt_s: f64,
        /// Mean of the rate that a flow cannot exceed; absent if there is none.
        peak_rate_bps: Option<f64>,
    },
}

impl Outline {
    /// Reads a network.
    pub fn of(network: &Network) -> Self {
        Outline {
            duration_s: network.duration.seconds(),
            measure_from_s: network.measure_from.seconds(),
            links: network.links.iter().map(link).collect(),
            groups: (0..network.groups.len()).map(|index| group(network, index)).collect(),
        }
    }
}

fn link(spec: &LinkSpec) -> LinkOutline {
    LinkOutline {
        name: spec.name.clone(),
        rate_bps: spec.rate.bits_per_second() as f64,
        delay_s: spec.delay.seconds(),
        bdp_bytes: spec.bdp_bytes,
        changes: !spec.rate_changes.is_empty() || !spec.delay_changes.is_empty(),
        random_loss_fraction: mean_loss(&spec.loss),
        discipline: spec.queue.name(),
        parameters: parameters(&spec.queue),
        amounts: amounts(spec),
    }
}

fn amounts(spec: &LinkSpec) -> Vec<AmountOutline> {
    let mut queue = spec.queue.clone();
    let named = queue.parameters_mut().amounts().into_iter();
    named
        .map(|(key, amount)| match spec.limit(*amount) {
            Limit::Packets(packets) => {
                AmountOutline { key, packets: Some(packets as f64), bytes: None }
            }
            Limit::Bytes(bytes) => AmountOutline { key, packets: None, bytes: Some(bytes as f64) },
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

/// What a component is configured with, without its kind.
fn parameters(config: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(config).unwrap_or_default();
    if let Some(table) = value.as_object_mut() {
        table.remove("kind");
    }
    value
}

fn group(network: &Network, index: usize) -> GroupOutline {
    let spec = &network.groups[index];
    let names = |path: &[usize]| path.iter().map(|&at| network.links[at].name.clone()).collect();
    GroupOutline {
        name: spec.name.clone(),
        path: names(&spec.path),
        reverse_path: names(&spec.reverse_path),
        packet_bytes: spec.packet_size,
        header_bytes: spec.header_size,
        source: source(network, spec),
        transport: transport(spec),
        flows: flows(network, index),
    }
}

fn transport(spec: &GroupSpec) -> Option<TransportOutline> {
    let tcp = spec.tcp.as_ref()?;
    Some(TransportOutline {
        congestion: tcp.congestion.name().to_owned(),
        parameters: parameters(&tcp.congestion),
        sack: tcp.recovery == Recovery::Sack,
        packets_per_ack: tcp.delayed_ack.rule().map_or(1, |(packets, _)| packets),
        initial_window: tcp.initial_window,
        max_window: tcp.max_window,
        pacing: tcp.pacing,
        ecn: tcp.ecn.codepoint().is_capable(),
    })
}

/// Neighbours that do not differ become one entry, so that a million flows are a few numbers.
fn flows(network: &Network, group: usize) -> Vec<FlowsOutline> {
    let members = network.members(group);
    let mut outlines: Vec<FlowsOutline> = Vec::new();
    for flow in &network.flows[members.start as usize..members.end as usize] {
        let rtt_s = flow.rtt.seconds();
        let access_rate_bps = flow.access_rate.map(bits_per_second);
        match outlines.last_mut() {
            Some(last) if (last.rtt_s, last.access_rate_bps) == (rtt_s, access_rate_bps) => {
                last.count += 1;
            }
            _ => outlines.push(FlowsOutline { count: 1, rtt_s, access_rate_bps }),
        }
    }
    outlines
}

fn bits_per_second(rate: Rate) -> f64 {
    rate.bits_per_second() as f64
}

fn source(network: &Network, spec: &GroupSpec) -> SourceOutline {
    let process = spec.source.name();
    let stream = |fixed_size| SourceOutline::Stream {
        process,
        rate_bps: spec.source.offered_rate_bps().unwrap_or(0.0),
        fixed_size,
    };
    match &spec.source {
        SourceSpec::Data(DataSpec::Bulk(bulk)) => {
            SourceOutline::Bulk { bytes: bulk.bytes.map(Size::bytes) }
        }
        // A load that the rest of the link takes as given, although a window may hold it back.
        SourceSpec::Data(DataSpec::Objects(_)) => stream(true),
        SourceSpec::Packets(packets) => stream(packets.offered().has_fixed_size()),
        SourceSpec::Flows(flows) => {
            let group = source_group(network, spec);
            passing(process, flows.offered().statistics(&group, network.duration.seconds(), DRAWS))
        }
    }
}

fn passing(process: &'static str, flows: FlowStatistics) -> SourceOutline {
    SourceOutline::Passing {
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
