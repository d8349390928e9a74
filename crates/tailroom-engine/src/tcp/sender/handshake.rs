//! The beginning of a connection: a packet without data crosses the path of the flow, and its answer
//! gives the first RTT sample (RFC 9293 sec. 3.5, RFC 6298 sec. 2).

use super::{PacketSink, Phase, Sender};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::{Ack, Packet};
use crate::tcp::PathRtt;
use crate::units::Time;

/// Whether the flow opens its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(untagged)]
#[schemars(rename = "HandshakeConfig")]
pub enum Handshake {
    /// `true`: the flow begins with a packet without data, waits a round trip for its answer, which is
    /// the first RTT sample, and then sends data; its completion time includes the round trip. `false`:
    /// data leave at once, and their first ACK is the first sample.
    Switch(bool),
    /// The connection is open already.
    Named(Opened),
}

/// The name of a connection that has been opened before the flow begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum Opened {
    /// Data leave at once, and the RTT is known: that of the path without queues, and what the group's
    /// last flow that ended before has measured in addition.
    Done,
}

impl Handshake {
    /// The flow opens its connection.
    pub const BY_FLOW: Handshake = Handshake::Switch(true);
    /// Data leave at once, and the RTT is not known.
    pub const NONE: Handshake = Handshake::Switch(false);
    /// Data leave at once, and the RTT is known.
    pub const DONE: Handshake = Handshake::Named(Opened::Done);
}

impl Default for Handshake {
    fn default() -> Self {
        Handshake::NONE
    }
}

/// Transmissions of the first packet after which a connection begins with a window of one packet
/// (Linux `tcp_init_transfer`; RFC 5681 sec. 3.1 already after the second), unless the first one was
/// only late.
const TRANSMISSIONS_FOR_INITIAL_WINDOW: u32 = 2;

impl Sender {
    /// The RTT is known before the first packet; the smallest one is that of the path without queues.
    pub fn know_rtt(&mut self, rtt: PathRtt) {
        self.rtt.know(rtt);
        self.tell_rack(rtt.without_queues);
        self.begin_control(self.send_queue.start);
    }

    fn tell_rack(&mut self, rtt: Time) {
        if let Some(rack) = &mut self.rack {
            rack.know_rtt(rtt);
        }
    }

    /// Sends the first packet of the handshake.
    pub(super) fn open(&mut self, now: Time, out: &mut impl PacketSink) {
        let is_retransmission = self.openings > 0;
        self.openings += 1;
        self.last_sent = now;
        self.rto_deadline = now.saturating_add(self.rtt.rto());
        let bytes = self.send_queue.header_bytes;
        self.probe.on_sent(bytes, is_retransmission);
        let (sequence, ecn, is_cwr) = (0, self.ecn.opening(), false);
        out.send(Packet { sequence, bytes, sent: now, is_retransmission, ecn, is_cwr });
    }

    /// The first packet of the handshake has not been answered in time.
    pub(super) fn open_again(&mut self, now: Time, out: &mut impl PacketSink) {
        self.probe.on_reduction(now, true);
        self.rtt.back_off();
        self.open(now, out);
    }

    /// Takes in the answer, and begins to send data.
    #[cold]
    pub(super) fn on_opened(&mut self, now: Time, ack: Ack<'_>, out: &mut impl PacketSink) {
        self.phase = Phase::Open;
        if let Some(rtt) = self.sample_rtt(now, ack) {
            self.tell_rack(rtt);
        }
        (self.rto_deadline, self.quiet_since) = (Time::NEVER, now);
        let is_lost = !self.is_answer_to(self.send_queue.start, ack);
        if self.openings > TRANSMISSIONS_FOR_INITIAL_WINDOW && is_lost {
            self.probe.on_window(now, self.cwnd);
            self.cwnd = 1.0;
        }
        self.begin_control(now);
        self.send_allowed(now, out);
    }
}
