//! A sender without a network: Python says when the application writes and which ACKs come.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailroom_engine::packet::{Ack, MAX_SACK_BLOCKS, Packet, Range};
use tailroom_engine::probe::flow::Checkpoints;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::{PacketSink, SendQueue, Sender};
use tailroom_engine::units::{Rate, Time};

use crate::error::RunError;
use crate::scenario::PyScenario;

const NO_CHECKPOINTS: Checkpoints = Checkpoints {
    measure_from: Time::ZERO,
    duration: Time::NEVER,
    series_interval: Time::NEVER,
    step_interval: Time::NEVER,
    progress_interval: Time::NEVER,
    reductions_kept: 0,
};
/// The least RTT that the clock of a host shows.
const LEAST_RTT: Time = Time::from_picoseconds(1_000_000);

/// The last transmission of a packet.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    sent: Time,
    is_retransmission: bool,
    has_arrived: bool,
}

/// Packets that have left, and those of them that Python has not taken yet.
#[derive(Debug, Default)]
struct Sent {
    last: Vec<Transmission>,
    new: Vec<Packet>,
}

impl PacketSink for Sent {
    fn send(&mut self, packet: Packet) {
        let Packet { sequence, sent, is_retransmission, .. } = packet;
        let transmission = Transmission { sent, is_retransmission, has_arrived: false };
        match self.last.get_mut(sequence as usize) {
            Some(last) => *last = transmission,
            None => self.last.push(transmission),
        }
        self.new.push(packet);
    }
}

/// The transmission that an ACK echoes.
#[derive(Clone, Copy, Debug)]
struct Echo {
    sent: Time,
    is_retransmission: bool,
}

/// A sender of the first group of a scenario, whose links do not matter; for one thread.
#[pyclass(unsendable, name = "ScriptedSender", module = "tailroom._engine")]
pub(crate) struct PyScriptedSender {
    sender: Sender,
    sent: Sent,
    una: u64,
    echo: Echo,
    marked_packets: u64,
}

#[pymethods]
impl PyScriptedSender {
    /// Opens a connection at `opens_at_s`, which takes `handshake_rtt_s`.
    #[new]
    fn new(scenario: &PyScenario, opens_at_s: f64, handshake_rtt_s: f64) -> PyResult<Self> {
        let network = scenario.resolved_network()?;
        let mut groups = network.groups.into_iter();
        let group =
            groups.find_map(|group| Some((group.tcp?, group.packet_size, group.header_size)));
        let missing = || RunError::new_err("the scenario has no group under congestion control");
        let (mut tcp, packet_bytes, header_bytes) = group.ok_or_else(missing)?;
        tcp.handshake = Handshake::BY_FLOW;
        let start = Time::from_seconds(opens_at_s);
        let send_queue = SendQueue {
            start,
            stop: Time::NEVER,
            packets: 0,
            packet_bytes,
            last_packet_bytes: packet_bytes,
            header_bytes,
            line_rate: Rate::FASTEST,
            hops: 1,
        };
        let mut sender = Sender::new(&tcp, send_queue, 1, NO_CHECKPOINTS);
        sender.expect_writes();
        let mut opening = Sent::default();
        sender.on_deadline(start, &mut opening);
        let echo = Echo { sent: start, is_retransmission: false };
        let mut scripted =
            PyScriptedSender { sender, sent: Sent::default(), una: 0, echo, marked_packets: 0 };
        let rtt = Time::from_seconds(handshake_rtt_s).max(LEAST_RTT);
        scripted.hear(start + rtt, 0, &[], false, None);
        Ok(scripted)
    }

    /// The application writes packets.
    fn write(&mut self, at_s: f64, packets: u64) {
        self.sender.write(Time::from_seconds(at_s), packets, &mut self.sent);
    }

    /// An ACK comes. Without `echo_s`, its timestamp is that of the first packet that it
    /// acknowledges. `marked` is the number of marks that it reports beyond those before.
    #[pyo3(signature = (
        at_s, cumulative, blocks, *, ece=false, marked=0, duplicate=None, echo_s=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is a field of an ACK")]
    fn ack(
        &mut self,
        at_s: f64,
        cumulative: u64,
        blocks: Vec<(u64, u64)>,
        ece: bool,
        marked: u64,
        duplicate: Option<u64>,
        echo_s: Option<f64>,
    ) -> PyResult<()> {
        let sent = self.sent.last.len() as u64;
        let is_known = |&(start, end): &(u64, u64)| start < end && end <= sent;
        if cumulative > sent || !blocks.iter().all(is_known) || blocks.len() > MAX_SACK_BLOCKS {
            let message = format!(
                "an ACK up to packet {cumulative} with the blocks {blocks:?}: {sent} packets have \
                 been sent, and an ACK has at most {MAX_SACK_BLOCKS} blocks"
            );
            return Err(RunError::new_err(message));
        }
        self.note_arrivals(cumulative, &blocks);
        if let Some(echo_s) = echo_s {
            self.echo = self.transmission_at(Time::from_seconds(echo_s));
        }
        self.marked_packets += marked;
        self.una = self.una.max(cumulative);
        let blocks: Vec<Range> =
            blocks.into_iter().map(|(start, end)| Range { start, end }).collect();
        self.hear(Time::from_seconds(at_s), cumulative, &blocks, ece, duplicate);
        Ok(())
    }

    /// Fires the timers that are due next, if that is before `before_s`; returns the time.
    fn fire(&mut self, before_s: f64) -> Option<f64> {
        let due = self.sender.deadline();
        (due < Time::from_seconds(before_s)).then(|| {
            self.sender.on_deadline(due, &mut self.sent);
            due.seconds()
        })
    }

    /// The packets that have left since the last call: time, packet from 0, and whether it was sent
    /// before.
    fn take_sent(&mut self) -> Vec<(f64, u64, bool)> {
        let taken = self.sent.new.drain(..);
        taken
            .map(|packet| (packet.sent.seconds(), packet.sequence, packet.is_retransmission))
            .collect()
    }

    /// What Linux shows as `tcp_info`.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = self.sender.info();
        let shown = PyDict::new(py);
        shown.set_item("state", info.state.name())?;
        shown.set_item("cwnd_packets", info.cwnd)?;
        shown.set_item("ssthresh_packets", info.ssthresh)?;
        shown.set_item("unacked_packets", info.unacked)?;
        shown.set_item("sacked_packets", info.sacked)?;
        shown.set_item("lost_packets", info.lost)?;
        shown.set_item("retransmitted_packets", info.retransmitted)?;
        shown.set_item("delivered_packets", info.delivered)?;
        shown.set_item("srtt_s", info.srtt.seconds())?;
        shown.set_item("min_rtt_s", info.min_rtt.seconds())?;
        shown.set_item("rto_s", info.rto.seconds())?;
        shown.set_item("pacing_packets_per_s", info.pacing_rate)?;
        Ok(shown)
    }
}

impl PyScriptedSender {
    /// Notes which packets have arrived, and which transmission the ACK echoes: the packet that the
    /// receiver waited for (RFC 7323 sec. 4.3). One that acknowledges a retransmission is ambiguous
    /// (Karn's algorithm).
    fn note_arrivals(&mut self, cumulative: u64, blocks: &[(u64, u64)]) {
        let newly = self.una as usize..(cumulative.max(self.una)) as usize;
        let acked = &self.sent.last[newly];
        let mut news = acked.iter().filter(|packet| !packet.has_arrived);
        if let Some(first) = news.clone().next() {
            let is_retransmission = news.any(|packet| packet.is_retransmission);
            self.echo = Echo { sent: first.sent, is_retransmission };
        } else if let Some(last) = acked.last() {
            self.echo = Echo { sent: last.sent, is_retransmission: last.is_retransmission };
        }
        for &(start, end) in blocks {
            for packet in &mut self.sent.last[start as usize..end as usize] {
                packet.has_arrived = true;
            }
        }
    }

    fn transmission_at(&self, sent: Time) -> Echo {
        let is_retransmission =
            self.sent.last.iter().any(|last| last.is_retransmission && last.sent == sent);
        Echo { sent, is_retransmission }
    }

    fn hear(
        &mut self,
        now: Time,
        cumulative: u64,
        blocks: &[Range],
        ece: bool,
        duplicate: Option<u64>,
    ) {
        let ack = Ack {
            cumulative,
            echo: self.echo.sent,
            echoes_retransmission: self.echo.is_retransmission,
            ece,
            marked_packets: self.marked_packets,
            duplicate,
            blocks,
        };
        self.sender.on_ack(now, ack, &mut self.sent);
    }
}
