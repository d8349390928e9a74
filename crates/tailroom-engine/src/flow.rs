//! The endpoints of a flow, with or without congestion control.

use crate::network::{FlowSpec, GroupSpec, Network};
use crate::packet::Ack;
use crate::private_path::{NetworkSink, PrivatePath};
use crate::probe::flow::Checkpoints;
use crate::quantity::Size;
use crate::random;
use crate::random::Random;
use crate::tcp::sender::SendQueue;
use crate::tcp::{Connection, PathRtt};
use crate::traffic::cbr::{Cbr, CbrParams};
use crate::traffic::context::StartingFlow;
use crate::traffic::objects::{Objects, ObjectsSpec};
use crate::traffic::unresponsive::Unresponsive;
use crate::traffic::{AnyPacketSource, FlowRequest, SourceSpec};
use crate::units::{Rate, Time};

/// The endpoints of the two kinds of flow. A connection is inline, which saves a memory access per
/// packet.
#[derive(Clone, Debug)]
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
        let (group, request) = permanent(network, index);
        let FlowRequest { start, access_rate, route, .. } = request;
        if let SourceSpec::Packets(source) = &group.source {
            let name = network.flow_name(index);
            let starting = starting_flow(network, group, &name, start);
            let source = (source.start(&starting), group.stop.unwrap_or(Time::NEVER));
            return Endpoints::unresponsive(network, group, &request, source, checkpoints);
        }
        let first = &network.links[group.path_of(route)[0]];
        let host_rate = access_rate.unwrap_or_else(|| first.sending_rate(start));
        Endpoints::of_request(network, group, &request, Time::ZERO, host_rate, checkpoints)
    }

    /// The endpoints of a flow of `group` that a source asks for; its host sends at `host_rate`. A
    /// connection in use knows that packets `wait` on its path.
    pub fn of_request(
        network: &Network,
        group: &GroupSpec,
        request: &FlowRequest,
        wait: Time,
        host_rate: Rate,
        checkpoints: Checkpoints,
    ) -> Self {
        match (&group.tcp, request.media) {
            (_, Some(media)) => {
                let flow = starting_flow(network, group, &group.name, request.start);
                let source = AnyPacketSource::Cbr(Cbr::new(&CbrParams::at_once(media.rate), &flow));
                Endpoints::unresponsive(network, group, request, (source, media.end), checkpoints)
            }
            (Some(tcp), None) => {
                let objects = group.source.objects().map(|spec| objects(spec, group, request));
                let private_path = private_path(network, group, request);
                let send_queue = send_queue(group, request, host_rate);
                Endpoints::Tcp(Connection::new(
                    tcp,
                    send_queue,
                    objects,
                    private_path,
                    PathRtt { without_queues: request.rtt, wait },
                    request.seed,
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
        request: &FlowRequest,
        (source, stop): (AnyPacketSource, Time),
        checkpoints: Checkpoints,
    ) -> Self {
        let private_path = private_path(network, group, request);
        let endpoints =
            Unresponsive::new(source, stop, group.header_size, private_path, checkpoints);
        Endpoints::Unresponsive(Box::new(endpoints))
    }

    /// Memory behind the endpoints, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Endpoints::Tcp(connection) => {
                connection.sender.memory_bytes() + connection.receiver.memory_bytes()
            }
            Endpoints::Unresponsive(source) => source.memory_bytes(),
        }
    }

    /// An ACK leaves the last link of the reverse path at `time`.
    pub fn deliver_ack(&mut self, time: Time, ack: Ack<'_>, sink: &mut impl NetworkSink) {
        if let Endpoints::Tcp(connection) = self {
            connection.deliver_ack(time, ack, sink);
        }
    }

    /// Emits the next packet of an unresponsive source, unless there is none left.
    #[inline]
    pub fn emit_next(&mut self, sink: &mut impl NetworkSink) {
        if let Endpoints::Unresponsive(source) = self {
            source.emit(sink);
        }
    }
}

/// The permanent flow `index` of `network`: its group, and what it asks for.
fn permanent(network: &Network, index: usize) -> (&GroupSpec, FlowRequest) {
    let FlowSpec { group, start, rtt, access_rate, route, .. } = network.flows[index];
    let (name, group) = (network.flow_name(index), &network.groups[group]);
    let bytes = group.source.bulk().and_then(|bulk| bulk.bytes).map(Size::bytes);
    let seed = random::stream(network.seed, &format!("control of {name}")).next_u64();
    let request = FlowRequest { start, bytes, rtt, access_rate, seed, media: None, route, tag: 0 };
    (group, request)
}

/// The objects of the permanent flow `index` of `network`, if its application writes objects.
pub fn objects_of(network: &Network, index: usize) -> Option<Objects> {
    let (group, request) = permanent(network, index);
    group.source.objects().map(|spec| objects(spec, group, &request))
}

/// A flow of `group` as its packet source sees it.
fn starting_flow<'a>(
    network: &Network,
    group: &GroupSpec,
    name: &'a str,
    start: Time,
) -> StartingFlow<'a> {
    StartingFlow { name, seed: network.seed, packet_bytes: group.packet_size, start }
}

/// What an application offers to its TCP sender.
fn send_queue(group: &GroupSpec, request: &FlowRequest, line_rate: Rate) -> SendQueue {
    let payload = u64::from(group.packet_size - group.header_size);
    let packets = request.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(payload));
    let last_payload = request.bytes.map_or(payload, |bytes| bytes - (packets - 1) * payload);
    // Flows that arrive and depart: their group's stop endpoints arrivals, and who is there goes
    // on.
    let stop = group.stop.filter(|_| group.source.dynamic_rtt().is_none());
    SendQueue {
        start: request.start,
        stop: stop.unwrap_or(Time::NEVER),
        packets,
        packet_bytes: group.packet_size,
        last_packet_bytes: last_payload as u32 + group.header_size,
        header_bytes: group.header_size,
        line_rate,
        hops: group.path.len() as u32, // at most 250
    }
}

/// The private path of a flow of `group` that a source requests, including its random delays.
fn private_path(network: &Network, group: &GroupSpec, request: &FlowRequest) -> PrivatePath {
    let shared_path = network.shared_path(group, request.route);
    PrivatePath::new(&shared_path, request.rtt, request.access_rate)
        .with_send_jitter(group.send_jitter, request.seed)
}

/// The objects of a permanent flow of `group`.
fn objects(spec: &ObjectsSpec, group: &GroupSpec, request: &FlowRequest) -> Objects {
    let payload_bytes = group.packet_size - group.header_size;
    Objects::new(spec, payload_bytes, request.start, group.stop, request.seed)
}
