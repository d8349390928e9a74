//! tailroom's sender, driven by a recording.

use tailroom_engine::congestion::rate_based::RateSampleEvent;
use tailroom_engine::congestion::{AckEvent, CongestionKind};
use tailroom_engine::packet::{Ack, Packet};
use tailroom_engine::probe::flow::Checkpoints;
use tailroom_engine::tcp::PathRtt;
use tailroom_engine::tcp::sender::{PacketSink, SendQueue, Sender};
use tailroom_engine::units::{Rate, Time};

use super::arrivals::Arrivals;
use super::control::{Call, Recorded, Script};
use super::recording::{Event, Received, Recording, Sent};
use super::timestamps::Timestamps;
use super::transport::transport;

const HEADER_BYTES: u32 = 52;
/// A pacing rate, in packets/s, at which no packet leaves by itself.
const HELD: f64 = 1e-9;
const NO_CHECKPOINTS: Checkpoints = Checkpoints {
    measure_from: Time::ZERO,
    duration: Time::NEVER,
    series_interval: Time::NEVER,
    step_interval: Time::NEVER,
    progress_interval: Time::NEVER,
    reductions_kept: 0,
};

/// Who decides when a lost packet is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retransmits {
    /// tailroom's sender.
    Freely,
    /// The recording: a packet leaves when the kernel sends one again, or as soon after as one is
    /// lost. Which one it is, tailroom's sender decides. So the order of transmissions, from which
    /// losses are found, does not depend on the pacer.
    AsRecorded,
}

/// What tailroom's sender has told its control at an ACK, and its state.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// An ACK of new data, as a window law is told.
    pub ack: Option<AckEvent>,
    /// The rate sample of a rate-based control.
    pub rate: Option<RateSampleEvent>,
    /// Packets in flight after what the ACK acknowledges was taken in, before losses are looked
    /// for.
    pub in_flight: u64,
    /// Packets lost since the flow began, with those that this ACK shows.
    pub lost: u64,
}

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub struct Retransmission {
    /// When it left.
    pub now: Time,
    /// The packet.
    pub packet: u64,
}

/// What tailroom's sender did, compared with the kernel's retransmissions.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// By ACK.
    pub seen: Vec<Seen>,
    /// Calls for ssthresh, with the number of ACKs that the sender had received.
    pub congestions: Vec<(usize, CongestionKind)>,
    /// Retransmissions of the kernel's.
    pub kernel_retransmissions: Vec<Retransmission>,
    /// Retransmissions of tailroom's.
    pub retransmissions: Vec<Retransmission>,
    /// Tail loss probes of tailroom's.
    pub probes: u64,
}

/// Replays a recording.
///
/// # Errors
/// The scenario of the recording is wrong, or an ACK echoes no packet's timestamp.
pub fn replay(recording: &Recording, retransmits: Retransmits) -> Result<Replay, String> {
    let mut driver = Driver::new(recording, retransmits)?;
    for (at, event) in recording.events.iter().enumerate() {
        driver.fire_timers(event.now(), at);
        match event {
            Event::Sent(sent) => driver.on_sent(sent),
            Event::Received(ack) => driver.on_received(ack)?,
        }
    }
    let Driver { mut replay, sink, sender, .. } = driver;
    replay.retransmissions = sink.retransmissions;
    replay.probes = sender.probe.counters.loss_probes;
    Ok(replay)
}

/// The packets that tailroom's sender sends.
#[derive(Debug, Default)]
struct Sink {
    transmissions: u64,
    next: u64,
    retransmissions: Vec<Retransmission>,
}

impl PacketSink for Sink {
    fn send(&mut self, packet: Packet) {
        self.transmissions += 1;
        self.next = self.next.max(packet.sequence + 1);
        if packet.is_retransmission {
            let Packet { sent: now, sequence: packet, .. } = packet;
            self.retransmissions.push(Retransmission { now, packet });
        }
    }
}

struct Driver<'a> {
    recording: &'a Recording,
    control: Recorded,
    sender: Sender,
    sink: Sink,
    retransmits: Retransmits,
    /// Retransmissions of the recording for which no packet was lost yet.
    owed: u64,
    timestamps: Timestamps,
    arrivals: Arrivals,
    replay: Replay,
}

impl<'a> Driver<'a> {
    fn new(recording: &'a Recording, retransmits: Retransmits) -> Result<Self, String> {
        let control = Recorded::default();
        let bytes = recording.description.packet_bytes + HEADER_BYTES;
        let send_queue = SendQueue {
            start: Time::ZERO,
            stop: Time::NEVER,
            packets: 0,
            packet_bytes: bytes,
            last_packet_bytes: bytes,
            header_bytes: HEADER_BYTES,
            line_rate: Rate::FASTEST,
            hops: 1,
        };
        let mut tcp = transport(&recording.description, &control)?;
        // An ACK echoes when the kernel sent a packet again, which may be before the sender here does:
        // that would look like a late original. The kernel took nothing back.
        tcp.undo = retransmits == Retransmits::AsRecorded;
        let sender = Sender::new(&tcp, send_queue, 1, NO_CHECKPOINTS);
        let mut driver = Driver {
            recording,
            control,
            sender,
            sink: Sink::default(),
            retransmits,
            owed: 0,
            timestamps: Timestamps::default(),
            arrivals: Arrivals::default(),
            replay: Replay::default(),
        };
        driver.set_answers(0);
        driver.sender.know_rtt(PathRtt::without_queues(recording.description.srtt()));
        Ok(driver)
    }

    fn on_sent(&mut self, sent: &Sent) {
        let &Sent { now, packet, .. } = sent;
        if !self.timestamps.note(sent) {
            self.send_up_to(now, packet + 1);
            return;
        }
        self.replay.kernel_retransmissions.push(Retransmission { now, packet });
        self.owed += u64::from(self.retransmits == Retransmits::AsRecorded);
        self.retransmit_owed(now);
    }

    fn retransmit_owed(&mut self, now: Time) {
        while self.owed > 0 && self.sender.retransmit_as_recorded(now, &mut self.sink) {
            self.owed -= 1;
        }
    }

    /// Sends the new packets below `next` that have not been sent.
    fn send_up_to(&mut self, now: Time, next: u64) {
        let packets = next.saturating_sub(self.sink.next);
        self.sender.send_as_recorded(now, packets, &mut self.sink);
    }

    fn on_received(&mut self, ack: &Received) -> Result<(), String> {
        let at = self.replay.seen.len();
        // The link notes a packet a little later than the kernel has sent it.
        self.send_up_to(ack.now, self.recording.answers[at].next);
        let echoed = self.timestamps.echoed(ack);
        let echoed = echoed.ok_or_else(|| format!("ACK {at} echoes no packet's timestamp"))?;
        self.set_answers(at);
        let (sent, lost) = (self.sink.transmissions, self.lost());
        self.arrivals.take_in(ack);
        let heard = Ack {
            cumulative: ack.cumulative,
            echo: echoed.sent,
            echoes_retransmission: echoed.is_retransmission,
            ece: false,
            marked_packets: 0,
            duplicate: ack.duplicate,
            blocks: &ack.blocks,
        };
        self.sender.on_ack(ack.now, heard, &mut self.sink);
        let sent = self.sink.transmissions - sent;
        let in_flight =
            (self.sender.packets_in_network() + self.lost()).saturating_sub(sent + lost);
        let lost = self.lost();
        self.replay.seen.push(Seen { ack: None, rate: None, in_flight, lost });
        self.note_calls();
        self.retransmit_owed(ack.now);
        Ok(())
    }

    /// Fires the timers before event `at`. A probe may take a new packet if the kernel sends one
    /// next.
    fn fire_timers(&mut self, until: Time, at: usize) {
        while self.sender.deadline() < until {
            if let Event::Sent(sent) = &self.recording.events[at] {
                self.sender.hand_over(sent.packet + 1);
            }
            self.set_answers(self.replay.seen.len().saturating_sub(1));
            let now = self.sender.deadline();
            self.sender.on_deadline(now, &mut self.sink);
            self.retransmit_owed(now);
            self.sender.hand_over(0);
            self.note_calls();
        }
    }

    /// Sets what the control answers from ACK `at` on: the kernel's window, and the ssthresh that
    /// the kernel sets next.
    fn set_answers(&self, at: usize) {
        let Recording { description, answers, congestions, .. } = self.recording;
        let answer = &answers[at];
        let bytes = answer.rate.map_or(0, |rate| rate.pacing_bytes_per_second);
        let next = congestions.iter().find(|congestion| congestion.acks > at);
        let congestion = next.or(congestions.last());
        self.control.answer(Script {
            window: answer.window as f64,
            ssthresh: congestion.map_or(answer.window, |congestion| congestion.ssthresh) as f64,
            pacing_rate: match self.retransmits {
                Retransmits::Freely => bytes as f64 / f64::from(description.packet_bytes),
                Retransmits::AsRecorded => HELD,
            },
        });
    }

    /// Packets lost so far: each transmission has arrived, is in flight, or is lost.
    fn lost(&self) -> u64 {
        let known = self.arrivals.delivered() + self.sender.packets_in_network();
        self.sink.transmissions.saturating_sub(known)
    }

    fn note_calls(&mut self) {
        let acks = self.replay.seen.len();
        for call in self.control.take_calls() {
            match (call, self.replay.seen.last_mut()) {
                (Call::Congestion(kind), _) => self.replay.congestions.push((acks, kind)),
                (Call::Ack(event), Some(seen)) => seen.ack = Some(event),
                (Call::Rate(event), Some(seen)) => seen.rate = Some(event),
                (_, None) => {}
            }
        }
    }
}
