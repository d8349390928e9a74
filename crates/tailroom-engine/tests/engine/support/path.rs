//! A sender and a receiver with a fixed delay between them. A script loses, marks or delays chosen
//! packets, so that the behavior of the sender shows without a queue.

use std::collections::{BTreeMap, HashMap};

use tailroom_engine::packet::{Ecn, Packet, StoredAck};
use tailroom_engine::probe::flow::Checkpoints;
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::PathRtt;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::Receiver;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::tcp::sender::{PacketSink, SendQueue, Sender};
use tailroom_engine::units::{Rate, Time};

use crate::support::transport;

/// One-way delay.
const DELAY: Time = Time::from_milliseconds(50);
/// The round trip without queues.
pub(crate) const RTT: Time = Time::from_milliseconds(100);
/// 28 hours: a transfer that takes longer does not end.
const PATIENCE: Time = Time::from_milliseconds(100_000_000);

const HEADER_BYTES: u32 = 40;

/// The initial window of the transfers, in packets, which is also their ssthresh.
pub(crate) const WINDOW: u64 = 20;

/// A sender that starts in congestion avoidance and whose retransmission timeout is at least ten
/// round trips.
pub(crate) fn tcp(recovery: Recovery, prr: bool) -> TcpSpec {
    with!(
        transport::reno(),
        TcpSpec {
            recovery,
            prr,
            initial_window: WINDOW as u32,
            initial_ssthresh: Some(WINDOW as u32),
            min_rto: PositiveDuration::from_milliseconds(1_000)
        }
    )
}

/// Every kind of loss recovery that counts duplicates, by name.
pub(crate) fn every_recovery() -> [(&'static str, TcpSpec); 3] {
    [
        ("newreno", tcp(Recovery::NewReno, false)),
        ("sack", tcp(Recovery::Sack, false)),
        ("sack with PRR", tcp(Recovery::Sack, true)),
    ]
}

/// Losses, marks and reordering on the path.
pub(crate) struct Script<'a> {
    /// Whether the n-th transmission (from 0) of a packet is lost.
    pub(crate) loses_data: &'a dyn Fn(u64, u32) -> bool,
    /// Whether the n-th transmission (from 0) of a packet is marked, if the packet is ECN-capable.
    pub(crate) marks: &'a dyn Fn(u64, u32) -> bool,
    /// Whether the n-th ACK of the transfer (from 0) is lost.
    pub(crate) loses_ack: &'a dyn Fn(u64) -> bool,
    /// A packet whose first transmission is overtaken, and the number of packets that overtake it.
    pub(crate) overtaken: Option<(u64, u64)>,
    /// How much longer than the others the n-th transmission (from 0) of a packet takes.
    pub(crate) delays: &'a dyn Fn(u64, u32) -> Time,
    /// Packets that would arrive between these times arrive at the second, in the order in which
    /// they were sent.
    pub(crate) stall: Option<(Time, Time)>,
}

/// A path that loses, marks, reorders and delays nothing.
pub(crate) const PERFECT: Script<'static> = Script {
    loses_data: &|_, _| false,
    marks: &|_, _| false,
    loses_ack: &|_| false,
    overtaken: None,
    delays: &|_, _| Time::ZERO,
    stall: None,
};

/// An ACK that reached the sender: when, its echo, and the state of the sender after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub(crate) at: Time,
    pub(crate) ece: bool,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
}

/// The record of a transfer.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) is_complete: bool,
    /// When the last ACK arrived.
    pub(crate) finished_at: Time,
    pub(crate) sent: u64,
    pub(crate) retransmissions: u64,
    /// Time and sequence number of each retransmission.
    pub(crate) retransmitted: Vec<(Time, u64)>,
    pub(crate) lost: u64,
    pub(crate) timeouts: u64,
    /// When the retransmission timer expired, and whether the packet sent last before was lost.
    pub(crate) timeouts_at: Vec<(Time, bool)>,
    /// Window reductions without a timeout.
    pub(crate) reductions: u64,
    /// Reductions that were taken back.
    pub(crate) undone: u64,
    /// Every packet as it left the sender.
    pub(crate) packets: Vec<Packet>,
    /// Every ACK as it reached the sender.
    pub(crate) acks: Vec<Acked>,
}

/// The kinds of event, in their order at the same instant: a packet precedes the timer of the
/// receiver, and an ACK the timer of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Packet,
    ReceiverTimer,
    Ack,
    SenderTimer,
}

struct Path<'a> {
    script: &'a Script<'a>,
    packets: BTreeMap<(Time, u64), Packet>,
    acks: BTreeMap<(Time, u64), StoredAck>,
    held: Option<Packet>,
    transmissions: HashMap<u64, u32>,
    outcome: Outcome,
    order: u64,
    acks_sent: u64,
    /// Whether the packet sent last was lost.
    is_last_lost: bool,
}

impl PacketSink for Path<'_> {
    fn send(&mut self, mut packet: Packet) {
        self.order += 1;
        self.outcome.sent += 1;
        self.outcome.packets.push(packet);
        if packet.is_retransmission {
            self.outcome.retransmitted.push((packet.sent, packet.sequence));
        }
        if packet.bytes == HEADER_BYTES {
            self.convey(packet, DELAY);
            return; // it opens the connection and carries no data
        }
        let nth = self.transmissions.entry(packet.sequence).or_insert(0);
        let index = *nth;
        *nth += 1;
        if packet.ecn.is_capable() && (self.script.marks)(packet.sequence, index) {
            packet.ecn = Ecn::Ce;
        }
        self.is_last_lost = (self.script.loses_data)(packet.sequence, index);
        if self.is_last_lost {
            self.outcome.lost += 1;
        } else if index == 0
            && self.script.overtaken.is_some_and(|(held, _)| held == packet.sequence)
        {
            self.held = Some(packet);
        } else {
            let delay = DELAY + (self.script.delays)(packet.sequence, index);
            self.convey(packet, delay);
        }
    }
}

impl Path<'_> {
    /// Lets a packet arrive after this delay, or at the end of the stall.
    fn convey(&mut self, packet: Packet, delay: Time) {
        let arrival = packet.sent + delay;
        let is_stalled = |(from, to): &(Time, Time)| (*from..*to).contains(&arrival);
        let arrival = self.script.stall.filter(is_stalled).map_or(arrival, |(_, to)| to);
        self.packets.insert((arrival, self.order), packet);
    }

    fn answer(&mut self, now: Time, ack: StoredAck) {
        if !(self.script.loses_ack)(self.acks_sent) {
            self.order += 1;
            self.acks.insert((now + DELAY, self.order), ack);
        }
        self.acks_sent += 1;
    }

    /// Delivers a packet, and after it the held packet if this is the last packet to overtake that
    /// one.
    fn deliver(&mut self, now: Time, packet: Packet, receiver: &mut Receiver) {
        if let Some(ack) = receiver.on_packet(now, packet).map(StoredAck::from) {
            self.answer(now, ack);
        }
        let is_last = |(held, by)| !packet.is_retransmission && packet.sequence == held + by;
        if self.script.overtaken.is_some_and(is_last)
            && let Some(held) = self.held.take()
        {
            self.deliver(now, held, receiver);
        }
    }
}

/// Packets that may leave at once, over a line of 10 Gbit/s.
pub(crate) fn send_queue(packets: u64, packet_bytes: u32, header_bytes: u32) -> SendQueue {
    SendQueue {
        start: Time::ZERO,
        stop: Time::NEVER,
        packets,
        packet_bytes,
        last_packet_bytes: packet_bytes,
        header_bytes,
        line_rate: Rate::from_bits_per_second(10_000_000_000),
        hops: 1,
    }
}

/// A sender that measures all the time and samples nothing.
pub(crate) fn no_checkpoints(reductions_kept: usize) -> Checkpoints {
    Checkpoints {
        measure_from: Time::ZERO,
        duration: Time::NEVER,
        series_interval: Time::NEVER,
        step_interval: Time::NEVER,
        progress_interval: Time::NEVER,
        reductions_kept,
    }
}

/// Transfers `packets` packets under `tcp` over the scripted path.
pub(crate) fn transfer(tcp: &TcpSpec, packets: u64, script: &Script<'_>) -> Outcome {
    let send_queue = send_queue(packets, 1_000, HEADER_BYTES);
    let mut sender = Sender::new(tcp, send_queue, 1, no_checkpoints(100));
    let unbounded = SendQueue { packets: u64::MAX, ..send_queue };
    let mut receiver = tailroom_engine::tcp::receiver(tcp, &unbounded, RTT);
    if tcp.handshake == Handshake::DONE {
        sender.know_rtt(PathRtt::without_queues(RTT));
    }
    let mut path = Path {
        script,
        packets: BTreeMap::new(),
        acks: BTreeMap::new(),
        held: None,
        transmissions: HashMap::new(),
        outcome: Outcome::default(),
        order: 0,
        acks_sent: 0,
        is_last_lost: false,
    };
    while !sender.is_complete() {
        let turns = [
            (path.packets.keys().next().map_or(Time::NEVER, |key| key.0), Turn::Packet),
            (receiver.deadline(), Turn::ReceiverTimer),
            (path.acks.keys().next().map_or(Time::NEVER, |key| key.0), Turn::Ack),
            (sender.deadline(), Turn::SenderTimer),
        ];
        let (now, turn) = turns.into_iter().min().expect("the array is not empty");
        if now > PATIENCE {
            break;
        }
        path.outcome.finished_at = now;
        match turn {
            Turn::Packet => {
                let (_, packet) = path.packets.pop_first().expect("a packet is due");
                path.deliver(now, packet, &mut receiver);
            }
            Turn::ReceiverTimer => {
                let ack = StoredAck::from(receiver.on_deadline());
                path.answer(now, ack);
            }
            Turn::Ack => {
                let (_, ack) = path.acks.pop_first().expect("an ACK is due");
                sender.on_ack(now, ack.ack(), &mut path);
                path.outcome.acks.push(Acked {
                    at: now,
                    ece: ack.ack().ece,
                    cwnd: sender.cwnd_packets(),
                    ssthresh: sender.ssthresh_packets(),
                });
            }
            Turn::SenderTimer => {
                let (timeouts, was_lost) = (sender.probe.counters.timeouts, path.is_last_lost);
                sender.on_deadline(now, &mut path);
                if sender.probe.counters.timeouts > timeouts {
                    path.outcome.timeouts_at.push((now, was_lost));
                }
            }
        }
        assert!(sender.cwnd_packets() >= 1.0 && sender.cwnd_packets().is_finite());
    }
    let counters = sender.probe.counters;
    let mut outcome = path.outcome;
    outcome.is_complete = sender.is_complete();
    outcome.retransmissions = counters.retransmissions;
    outcome.timeouts = counters.timeouts;
    outcome.undone = counters.undone;
    outcome.reductions = counters.reductions - counters.timeouts;
    assert_eq!(
        (outcome.sent, outcome.retransmitted.len() as u64),
        (counters.sent, counters.retransmissions)
    );
    outcome
}

/// A reproducible random decision for the n-th transmission of a packet.
pub(crate) fn is_drawn(seed: u64, packet: u64, nth: u32, probability: f64) -> bool {
    let mut mixed = seed ^ packet.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(nth) << 48;
    for _ in 0..2 {
        mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    ((mixed >> 11) as f64) < probability * (1_u64 << 53) as f64
}
