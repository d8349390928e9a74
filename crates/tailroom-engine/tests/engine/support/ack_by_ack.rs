//! A sender whose application and whose receiver a test is: it writes, acknowledges, and sees which
//! packets leave.

use tailroom_engine::packet::{Ack, Packet, Range};
use tailroom_engine::tcp::PathRtt;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::{PacketSink, SendQueue, Sender};
use tailroom_engine::units::{Rate, Time};

use super::path::{no_checkpoints, send_queue};
use super::scenario_text::{BASE, resolve_with};

/// The transport of a group of `host` under `congestion`, whose connection is open.
pub(crate) fn transport(host: &str, congestion: &str) -> TcpSpec {
    let (host, congestion) = (format!("\"{host}\""), format!("\"{congestion}\""));
    let overrides = [("flows.tcp.host", &*host), ("flows.tcp.congestion", &*congestion)];
    let network = resolve_with(BASE, &overrides).expect("the scenario is valid");
    let tcp = network.groups[0].tcp.clone().expect("the group has a congestion control");
    with!(tcp, TcpSpec { handshake: Handshake::DONE })
}

/// The packets that have left, in order.
#[derive(Default)]
struct Wire(Vec<Packet>);

impl PacketSink for Wire {
    fn send(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

/// A sender, and what it has sent.
pub(crate) struct Driven {
    pub(crate) sender: Sender,
    wire: Wire,
    marks: u64,
}

pub(crate) fn ms(milliseconds: f64) -> Time {
    Time::from_seconds(milliseconds / 1e3)
}

impl Driven {
    /// A sender of packets with 1,000 B of data on a path with this RTT.
    pub(crate) fn new(tcp: &TcpSpec, rtt_ms: f64) -> Self {
        let send_queue = SendQueue { line_rate: Rate::FASTEST, ..send_queue(0, 1_052, 52) };
        let mut sender = Sender::new(tcp, send_queue, 1, no_checkpoints(0));
        sender.expect_writes();
        sender.know_rtt(PathRtt::without_queues(ms(rtt_ms)));
        Driven { sender, wire: Wire::default(), marks: 0 }
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.sender.cwnd_packets()
    }

    pub(crate) fn ssthresh(&self) -> f64 {
        self.sender.ssthresh_packets()
    }

    /// Every packet that has left, with the time in milliseconds.
    pub(crate) fn sent(&self) -> Vec<(f64, u64)> {
        let sent = |packet: &Packet| (packet.sent.seconds() * 1e3, packet.sequence);
        self.wire.0.iter().map(sent).collect()
    }

    /// Fires the timers before `now`.
    pub(crate) fn run_to(&mut self, now_ms: f64) {
        while self.sender.deadline() < ms(now_ms) {
            self.sender.on_deadline(self.sender.deadline(), &mut self.wire);
        }
    }

    /// The packets that left during `act`.
    fn during(&mut self, act: impl FnOnce(&mut Sender, &mut Wire)) -> Vec<u64> {
        let before = self.wire.0.len();
        act(&mut self.sender, &mut self.wire);
        self.wire.0[before..].iter().map(|packet| packet.sequence).collect()
    }

    /// The application writes packets; returns those that leave at once.
    pub(crate) fn write(&mut self, now_ms: f64, packets: u64) -> Vec<u64> {
        self.run_to(now_ms);
        self.during(|sender, wire| sender.write(ms(now_ms), packets, wire))
    }

    /// An ACK of all packets below `cumulative`, and of those in `blocks`, arrives; returns the packets
    /// that it lets leave.
    pub(crate) fn ack(&mut self, now_ms: f64, cumulative: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        self.run_to(now_ms);
        let blocks: Vec<Range> = blocks.iter().map(|&(start, end)| Range { start, end }).collect();
        let una = self.sender.delivered();
        let first = self.wire.0.iter().rev().find(|packet| packet.sequence == una);
        let ack = Ack {
            cumulative,
            echo: first.map_or(Time::ZERO, |packet| packet.sent),
            echoes_retransmission: first.is_some_and(|packet| packet.is_retransmission),
            ece: false,
            marked_packets: self.marks,
            duplicate: None,
            blocks: &blocks,
        };
        self.during(|sender, wire| sender.on_ack(ms(now_ms), ack, wire))
    }

    /// As [`Driven::ack`], with the report of a mark, to a sender with accurate feedback.
    pub(crate) fn marked_ack(&mut self, now_ms: f64, cumulative: u64) -> Vec<u64> {
        self.marks += 1;
        self.ack(now_ms, cumulative, &[])
    }
}
