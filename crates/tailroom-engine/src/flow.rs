//! The endpoints of a flow, with or without congestion control.

use rand_core::Rng;

use crate::network::{GroupSpec, Network};
use crate::packet::Ack;
use crate::private_path::{NetworkSink, PrivatePath};
use crate::probe::flow::Checkpoints;
use crate::random;
use crate::tcp::Connection;
use crate::tcp::sender::Demand;
use crate::traffic::cbr::Cbr;
use crate::traffic::objects::{Objects, ObjectsSpec};
use crate::traffic::unresponsive::Unresponsive;
use crate::traffic::{FlowPlan, Source, SourceSpec};
use crate::units::Time;

/// The endpoints of the two kinds of flow. A connection is inline, which saves a memory access per
/// packet.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "almost all flows are connections")]
pub enum Endpoints {
    /// A flow under congestion control.
    Tcp(Connection),
    /// A flow without congestion control.
    Unresponsive(Box<Unresponsive>),
}

impl Endpoints {
    /// The endpoints of flow `index` of `network`.
    pub fn new(network: &Network, index: usize, checkpoints: Checkpoints) -> Self {
        let flow = &network.flows[index];
        let group = &network.groups[flow.group];
        let name = network.flow_name(index);
        let bytes = match group.source {
            SourceSpec::Bulk { bytes } => bytes,
            _ => None,
        };
        let seed = random::stream(network.seed, &format!("control of {name}")).next_u64();
        let (start, rtt, access_rate) = (flow.start, flow.rtt, flow.access_rate);
        let plan = FlowPlan { start, bytes, rtt, access_rate, seed, media: None, tag: 0 };
        let (packet_bytes, seed) = (group.packet_size, network.seed);
        match Source::new(&group.source, packet_bytes, flow.start, seed, &name) {
            Some(source) => {
                let stop = group.stop.unwrap_or(Time::NEVER);
                Endpoints::unresponsive(network, group, &plan, (source, stop), checkpoints)
            }
            None => Endpoints::of_plan(network, group, &plan, checkpoints),
        }
    }

    /// The endpoints of a flow of `group` that `plan` describes.
    pub fn of_plan(
        network: &Network,
        group: &GroupSpec,
        plan: &FlowPlan,
        checkpoints: Checkpoints,
    ) -> Self {
        match (&group.tcp, plan.media) {
            (_, Some(media)) => {
                let source = Source::Cbr(Cbr::new(media.rate, group.packet_size, plan.start));
                Endpoints::unresponsive(network, group, plan, (source, media.end), checkpoints)
            }
            (Some(tcp), None) => {
                let objects = match &group.source {
                    SourceSpec::Objects(spec) => Some(objects(spec, group, plan)),
                    _ => None,
                };
                let private_path = private_path(network, group, plan);
                let demand = demand(group, plan);
                Endpoints::Tcp(Connection::new(
                    tcp,
                    demand,
                    objects,
                    private_path,
                    plan.seed,
                    checkpoints,
                ))
            }
            (None, None) => unreachable!("data to send come with a transport"),
        }
    }

    /// The endpoints of a flow that sends the packets of `source` until `stop`.
    fn unresponsive(
        network: &Network,
        group: &GroupSpec,
        plan: &FlowPlan,
        (source, stop): (Source, Time),
        checkpoints: Checkpoints,
    ) -> Self {
        let private_path = private_path(network, group, plan);
        let endpoints =
            Unresponsive::new(source, stop, group.header_size, private_path, checkpoints);
        Endpoints::Unresponsive(Box::new(endpoints))
    }

    /// Memory that a connection takes for its packets in flight, in bytes; 0 for an unresponsive flow.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Endpoints::Tcp(connection) => {
                connection.sender.memory_bytes() + connection.receiver.memory_bytes()
            }
            Endpoints::Unresponsive(_) => 0,
        }
    }

    /// An ACK leaves the last link of the reverse path at `time`.
    pub fn deliver_ack(&mut self, time: Time, ack: Ack<'_>, sink: &mut impl NetworkSink) {
        if let Endpoints::Tcp(connection) = self {
            connection.deliver_ack(time, ack, sink);
        }
    }

    /// Emits the next packet of an unresponsive source; returns whether there was none left.
    #[inline]
    pub fn emit_next(&mut self, sink: &mut impl NetworkSink) -> bool {
        let Endpoints::Unresponsive(source) = self else { return false };
        !source.emit(sink)
    }
}

/// What an application offers to its TCP sender.
fn demand(group: &GroupSpec, plan: &FlowPlan) -> Demand {
    let payload = u64::from(group.packet_size - group.header_size);
    let packets = plan.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(payload));
    let last_payload = plan.bytes.map_or(payload, |bytes| bytes - (packets - 1) * payload);
    // The stop of a group of dynamic flows ends arrivals; flows in progress continue.
    let stop = group.stop.filter(|_| group.source.passing_rtt().is_none());
    Demand {
        start: plan.start,
        stop: stop.unwrap_or(Time::NEVER),
        packets,
        packet_bytes: group.packet_size,
        last_packet_bytes: last_payload as u32 + group.header_size,
        header_bytes: group.header_size,
    }
}

/// The private path of a flow of `group` that `plan` describes, including its random delays.
fn private_path(network: &Network, group: &GroupSpec, plan: &FlowPlan) -> PrivatePath {
    PrivatePath::new(&network.shared_path(group), plan.rtt, plan.access_rate)
        .with_send_jitter(group.send_jitter, plan.seed)
}

/// The objects of the flow of `group` that `plan` describes.
fn objects(spec: &ObjectsSpec, group: &GroupSpec, plan: &FlowPlan) -> Objects {
    let payload_bytes = group.packet_size - group.header_size;
    Objects::new(spec, payload_bytes, plan.start, group.stop, plan.seed)
}
