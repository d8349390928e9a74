//! The two kinds of flow in the reference loop, and what each leaves behind when it departs.

use tailroom_engine::flow::Endpoints;
use tailroom_engine::packet::Packet;
use tailroom_engine::private_path::PrivatePath;
use tailroom_engine::probe::dynamic_flows::Departure;
use tailroom_engine::probe::flow::{Checkpoints, FlowAccount, FlowCounters, FlowProbe, FlowState};
use tailroom_engine::probe::group::GroupProbe;
use tailroom_engine::tcp::Connection;
use tailroom_engine::tcp::receiver::Receiver;
use tailroom_engine::tcp::sender::{PacketSink, Sender};
use tailroom_engine::traffic::unresponsive::Unresponsive;
use tailroom_engine::traffic::{AnyPacketSource as Source, Emission, PacketSource};
use tailroom_engine::units::Time;

use super::heap::Stamp;

/// Collects what a sender sends.
#[derive(Debug, Default)]
pub(super) struct Tray(pub(super) Vec<Packet>);

impl PacketSink for Tray {
    fn send(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

#[derive(Debug)]
pub(super) struct TcpFlow {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) private_path: PrivatePath,
    /// When the sender was seen to have nothing left to do.
    pub(super) completed_at: Option<Time>,
    /// `TS.Recent` and `Last.ACK.sent` of the receiver (RFC 7323 sec. 4.3).
    recent: Time,
    last_ack: u64,
    /// Every ACK that has reached the sender: when, and when the newest of them had left the receiver.
    pub(super) heard: Vec<(Time, Time)>,
}

impl TcpFlow {
    /// A packet reaches the receiver.
    pub(super) fn stamp(&mut self, packet: &Packet) {
        if packet.sequence <= self.last_ack && packet.sequence + 1 >= self.last_ack {
            self.recent = self.recent.max(packet.sent);
        }
    }

    /// The receiver sends an ACK of everything below `cumulative`.
    pub(super) fn echo(&mut self, now: Time, cumulative: u64) -> Stamp {
        self.last_ack = cumulative;
        Stamp { left: now, echo: self.recent }
    }
}

/// A time as a timestamp; no run of the tests is as long as 2^32 ms.
pub(super) fn milliseconds(time: Time) -> u32 {
    u32::try_from(time.picoseconds() / 1_000_000_000).expect("the run is short")
}

/// A flow without congestion control.
#[derive(Debug)]
pub(super) struct OpenFlow {
    source: Source,
    stop: Time,
    header_bytes: u32,
    pub(super) private_path: PrivatePath,
    /// For the results of permanent flows.
    sent: FlowProbe,
    received: FlowProbe,
    delivered: FlowState,
    /// Every packet that was sent: when, and how many bytes.
    pub(super) emissions: Vec<(Time, u32)>,
    /// Every packet that was received: when, how many bytes of payload, and its delay.
    arrivals: Vec<(Time, u64, Time)>,
}

#[derive(Debug)]
pub(super) enum Flow {
    Tcp(Box<TcpFlow>),
    Open(Box<OpenFlow>),
}

impl OpenFlow {
    /// The next packet of the source, if it comes before the flow stops.
    pub(super) fn next_emission(&mut self) -> Option<Emission> {
        let next = std::iter::from_fn(|| Some(self.source.next_emission()))
            .find(|emission| emission.bytes > 0 || emission.time >= self.stop);
        next.filter(|emission| emission.time < self.stop)
    }

    /// A packet is sent.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u32) {
        self.sent.record_until(now, &FlowState::default());
        self.sent.on_sent(bytes, false);
        self.emissions.push((now, bytes));
    }

    /// A packet is received. Its group's probe is told of its delay inside the measured window.
    pub(super) fn on_received(
        &mut self,
        now: Time,
        packet: &Packet,
        checkpoints: Checkpoints,
        group: &mut GroupProbe,
    ) {
        self.received.record_until(now, &self.delivered);
        let delay = now.since(packet.sent);
        self.received.on_rtt(delay);
        if is_measured(now, checkpoints) {
            group.on_arrival(delay, self.arrivals.last().map(|arrival| arrival.2));
        }
        let payload = u64::from(packet.bytes.saturating_sub(self.header_bytes));
        self.arrivals.push((now, payload, delay));
        self.delivered.delivered += 1;
        self.delivered.delivered_bytes += payload;
    }

    pub(super) fn record_until(&mut self, end: Time) {
        self.sent.record_until(end, &FlowState::default());
        self.received.record_until(end, &self.delivered);
    }

    fn departure(&self, account: &FlowAccount, checkpoints: Checkpoints) -> Departure {
        let mut window = FlowCounters::default();
        for (_, bytes) in self.emissions.iter().filter(|packet| is_measured(packet.0, checkpoints))
        {
            window.sent += 1;
            window.sent_bytes += u64::from(*bytes);
        }
        for (_, payload, delay) in
            self.arrivals.iter().filter(|one| is_measured(one.0, checkpoints))
        {
            window.delivered += 1;
            window.delivered_bytes += payload;
            window.rtt_count += 1;
            window.rtt_sum += u128::from(delay.picoseconds());
        }
        let (lost, marked) = (account.lost_measured, account.marked_measured);
        Departure { completed_at: Some(self.stop), window, lost, marked }
    }
}

fn is_measured(time: Time, checkpoints: Checkpoints) -> bool {
    checkpoints.measure_from <= time && time < checkpoints.duration
}

impl Flow {
    pub(super) fn new(endpoints: Endpoints) -> Self {
        match endpoints {
            Endpoints::Tcp(connection) => {
                let Connection { sender, receiver, private_path } = connection;
                Flow::Tcp(Box::new(TcpFlow {
                    sender,
                    receiver,
                    private_path,
                    completed_at: None,
                    recent: Time::ZERO,
                    last_ack: 0,
                    heard: Vec::new(),
                }))
            }
            Endpoints::Unresponsive(endpoints) => Flow::Open(Box::new(OpenFlow {
                source: endpoints.source,
                stop: endpoints.stop,
                header_bytes: endpoints.header_bytes,
                private_path: endpoints.private_path,
                sent: endpoints.sent,
                received: endpoints.received,
                delivered: FlowState::default(),
                emissions: Vec::new(),
                arrivals: Vec::new(),
            })),
        }
    }

    pub(super) fn private_path(&mut self) -> &mut PrivatePath {
        match self {
            Flow::Tcp(tcp) => &mut tcp.private_path,
            Flow::Open(open) => &mut open.private_path,
        }
    }

    /// What is known of a dynamic flow when it has departed, or when the run is over.
    pub(super) fn departure(&self, account: &FlowAccount, checkpoints: Checkpoints) -> Departure {
        match self {
            Flow::Tcp(tcp) => Departure {
                completed_at: tcp.completed_at,
                window: tcp.sender.window(),
                lost: account.lost_measured,
                marked: account.marked_measured,
            },
            Flow::Open(open) => open.departure(account, checkpoints),
        }
    }

    /// The two ends put together again, for the results.
    pub(super) fn into_endpoints(self) -> Endpoints {
        match self {
            Flow::Tcp(flow) => {
                let TcpFlow { sender, receiver, private_path, .. } = *flow;
                Endpoints::Tcp(Connection { sender, receiver, private_path })
            }
            Flow::Open(flow) => {
                let OpenFlow { source, stop, header_bytes, private_path, sent, received, .. } =
                    *flow;
                let last_delay = flow.arrivals.last().map(|arrival| arrival.2);
                let delivered = flow.delivered;
                Endpoints::Unresponsive(Box::new(Unresponsive {
                    source,
                    stop,
                    has_stopped: true,
                    asks_at: Time::NEVER,
                    header_bytes,
                    private_path,
                    sent,
                    received,
                    delivered,
                    last_delay,
                }))
            }
        }
    }
}
