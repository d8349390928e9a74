//! What is recorded of packets one by one: at links that keep their arrivals, and at the ends of flows.

use super::Simulation;
use crate::flow::Endpoints;
use crate::network::{GroupSpec, Network};
use crate::observe::ends::EndRecorder;
use crate::observe::recorder::ArrivalLogSpec;
use crate::observe::{Act, Content, EcnFeedback, Identity, Timestamps};
use crate::packet::transit::{Stage, Transit};
use crate::packet::{Ack, Packet};
use crate::tcp::Connection;
use crate::units::Time;

impl Simulation {
    /// Tells a link that records its arrivals which packet reaches it; a packet that has left a sender
    /// whose packets are recorded is recorded at its first link.
    #[cold]
    pub(super) fn announce(&mut self, link: usize, packet: Transit, position: u8) {
        if position == 0 {
            self.record_sent(packet);
        }
        if self.switch.links[link].probe.record().is_none() {
            return;
        }
        let tcp = self.group_of(packet.flow() as usize).tcp.as_ref();
        let has_sack = tcp.is_some_and(|tcp| tcp.recovery.has_sack());
        let flow = &self.flows[packet.flow() as usize];
        let is_ack = position >= flow.forward_hops;
        let identity =
            if is_ack { self.identity_of_ack(packet) } else { self.identity_of_data(packet) };
        let Simulation { switch, pending, .. } = self;
        let ack = (is_ack && has_sack).then(|| pending.acks.look(packet.slot()));
        if let Some(observer) = &mut switch.links[link].probe.observer {
            observer.announce(identity, ack.iter().flat_map(Ack::reported));
        }
    }

    fn identity_of_ack(&self, packet: Transit) -> Identity {
        let ack = self.pending.acks.look(packet.slot());
        let clocks = self.pending.timestamps.as_deref();
        let timestamps = clocks.map(|clocks| clocks.of_ack(packet.slot())).unwrap_or_default();
        let start = self.dynamic.start_of(packet.flow());
        Identity::of_ack(&ack, packet.time(), start, timestamps)
    }

    fn identity_of_data(&self, packet: Transit) -> Identity {
        let (packet, sent) = self.pending.sent(packet);
        self.identity_of_sent(packet, sent)
    }

    /// The identity of a packet of data with its sequence number, which was sent at `sent`.
    fn identity_of_sent(&self, packet: Transit, sent: Time) -> Identity {
        let clocks = self.pending.timestamps.as_deref();
        let (sequence, timestamps) = match &self.flows[packet.flow() as usize].endpoints {
            Endpoints::Tcp(connection) => (
                sequence_of(connection, &packet),
                clocks.map(|clocks| clocks.of_packet(packet.flow(), sent)).unwrap_or_default(),
            ),
            Endpoints::Unresponsive(_) => (packet.slot().into(), Timestamps::default()),
        };
        let Packet { is_retransmission, is_cwr, .. } = packet.packet(0);
        let content = if is_retransmission { Content::Retransmission } else { Content::Data };
        let flow_start = self.dynamic.start_of(packet.flow());
        let feedback = EcnFeedback { is_cwr, ..EcnFeedback::default() };
        Identity { sequence, sent, flow_start, content, timestamps, feedback }
    }

    /// Whether the packets at the ends of a flow are recorded.
    fn records_ends(&self, flow: u32) -> bool {
        self.pending.ends.as_ref().is_some_and(|ends| ends.records(flow))
    }

    /// Records that a packet of data, which has not passed its first link, has left its sender.
    fn record_sent(&mut self, packet: Transit) {
        if self.records_ends(packet.flow()) {
            let identity = self.identity_of_data(packet);
            if let Some(ends) = &mut self.pending.ends {
                ends.on_data(identity.sent, Act::Sent, packet, identity);
            }
        }
    }

    /// Records the packets of data that have left their senders and are on the way to the first link.
    pub(super) fn record_sent_on_the_way(&mut self) {
        if self.pending.ends.is_none() {
            return;
        }
        let is_recorded =
            |event: &Transit| event.stage() == Stage::Arrival(0) && self.records_ends(event.flow());
        let events = self.pending.agenda.events().filter(is_recorded);
        let mut packets: Vec<(Transit, Identity)> =
            events.map(|packet| (packet, self.identity_of_data(packet))).collect();
        // The agenda lists its events in no order.
        packets.sort_by_key(|(packet, identity)| (packet.time(), packet.flow(), identity.sequence));
        let Some(ends) = &mut self.pending.ends else { return };
        for (packet, identity) in packets {
            ends.on_data(identity.sent, Act::Sent, packet, identity);
        }
    }

    /// Tells the receiver's clock of a packet that leaves the last shared link at `at`.
    #[cold]
    pub(super) fn note_reception(&mut self, at: Time, packet: Transit, sent: Time) {
        let number = packet.flow();
        let Endpoints::Tcp(connection) = &self.flows[number as usize].endpoints else { return };
        let sequence = sequence_of(connection, &packet);
        let at = connection.private_path.reach_receiver(at);
        let identity = self.records_ends(number).then(|| self.identity_of_sent(packet, sent));
        if let Some(clocks) = &mut self.pending.timestamps {
            clocks.on_packet(number, at, sequence, sent);
        }
        if let (Some(ends), Some(identity)) = (&mut self.pending.ends, identity) {
            ends.on_data(at, Act::Received, packet, identity);
        }
    }
}

/// The number of a packet of data in its connection.
pub(super) fn sequence_of(connection: &Connection, packet: &Transit) -> u64 {
    packet.packet(connection.receiver.next()).sequence
}

/// The record of the packets at the ends of flows; `None` if no group asks for one.
pub(super) fn of_ends(network: &Network) -> Option<Box<EndRecorder>> {
    if !network.groups.iter().any(GroupSpec::logs_ends) {
        return None;
    }
    let of_group = |group: &GroupSpec| {
        let log = group.tcp.as_ref().and_then(|tcp| tcp.endpoint_log);
        let end = |log: ArrivalLogSpec| log.to.time().min(network.duration).into();
        let log = log.map(|log| ArrivalLogSpec { to: end(log), ..log });
        (log, group.ack_sizes().unwrap_or_default())
    };
    let mut ends = EndRecorder::new(network.groups.iter().map(of_group));
    for (number, flow) in (0..).zip(&network.flows) {
        ends.begin(number, flow.group, Time::ZERO);
    }
    Some(Box::new(ends))
}
