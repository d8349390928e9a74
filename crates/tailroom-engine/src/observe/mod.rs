//! What happens to packets, one by one: at links, and at the ends of connections.
//!
//! A link and an end tell the same [`Act`]s. A link's [`LinkObserver`](link::LinkObserver) keeps them as they come
//! (`packet_log`); a [`Recorder`](recorder::Recorder) keeps a row per packet and place, with the last act (`arrival_log` and
//! `endpoint_log`).

#[doc(hidden)]
pub mod ends;
#[doc(hidden)]
pub mod link;
#[doc(hidden)]
pub mod recorder;

use crate::packet::transit::Transit;
use crate::packet::{Ack, Range};
use crate::queue::buffer::DropReason;
use crate::units::Time;
pub use recorder::ArrivalLogSpec;

/// What happens to a packet at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// It reaches the buffer of a link.
    Arrived,
    /// The last bit of it leaves the link.
    Departed,
    /// The link marks it: after its arrival, or when its transmission begins.
    Marked,
    /// The link drops it, on arrival or later.
    Dropped(DropReason),
    /// It leaves an end of its connection.
    Sent,
    /// It has reached an end of its connection.
    Received,
}

impl Act {
    /// The words for the acts of a link one by one.
    pub const EVENTS: [&str; 4] = ["arrival", "departure", "drop", "mark"];

    /// The words for the last act at a place, among them those of the reasons of drops.
    pub const FATES: [&str; 4 + DropReason::COUNT] = {
        let mut words = ["accepted"; 4 + DropReason::COUNT];
        words[1] = "marked";
        words[2] = "sent";
        words[3] = "received";
        words.split_at_mut(4).1.copy_from_slice(&DropReason::WORDS);
        words
    };

    /// The place of its word among [`Act::EVENTS`]; no link sends or receives.
    pub fn event(self) -> u8 {
        match self {
            Act::Arrived | Act::Sent | Act::Received => 0,
            Act::Departed => 1,
            Act::Dropped(_) => 2,
            Act::Marked => 3,
        }
    }

    /// The place of its word among [`Act::FATES`]; a link accepts what arrives and is not dropped.
    pub fn fate(self) -> u8 {
        match self {
            Act::Arrived | Act::Departed => 0,
            Act::Marked => 1,
            Act::Sent => 2,
            Act::Received => 3,
            Act::Dropped(reason) => 4 + reason as u8,
        }
    }
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Data that are sent for the first time, or data of a flow without congestion control.
    #[default]
    Data = 0,
    /// Data that have been sent before.
    Retransmission = 1,
    /// An acknowledgement.
    Ack = 2,
}

impl Content {
    /// The word of each.
    pub const WORDS: [&str; 3] = ["data", "retransmission", "ack"];
}

/// Which packet of which flow it is: the event holds only a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Position in the flow; of an ACK, the next position that it asks for.
    pub sequence: u64,
    /// When it left its sender; of an ACK, when it is recorded.
    pub sent: Time,
    /// When its flow began: the number of a flow that has departed is given to another.
    pub flow_start: Time,
    /// What it carries.
    pub content: Content,
    /// Its timestamps; zero without congestion control.
    pub timestamps: Timestamps,
    /// What its TCP header says of marks.
    pub feedback: EcnFeedback,
}

impl Identity {
    /// That of an ACK which is recorded at `time`.
    pub fn of_ack(ack: &Ack<'_>, time: Time, flow_start: Time, timestamps: Timestamps) -> Self {
        let feedback = EcnFeedback {
            is_echo: ack.ece,
            is_cwr: false,
            marked_packets: ack.marked_packets as u32,
        };
        let (sequence, content) = (ack.cumulative, Content::Ack);
        Identity { sequence, sent: time, flow_start, content, timestamps, feedback }
    }
}

/// What the TCP header of a packet or ACK says of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnFeedback {
    /// ECN-Echo of an ACK (RFC 3168 sec. 6.1.3); never with accurate feedback.
    pub is_echo: bool,
    /// Congestion Window Reduced of a data packet (RFC 3168 sec. 6.1.2).
    pub is_cwr: bool,
    /// With accurate feedback (RFC 9768), the marked packets that the receiver of the data has had so
    /// far, modulo 2^32; of an ACK.
    pub marked_packets: u32,
}

/// The timestamps of a packet (RFC 7323 sec. 3.2): clocks of milliseconds since the begin of the run,
/// modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// `TSval`: when the packet left its sender, or the ACK its receiver.
    pub value_ms: u32,
    /// `TSecr`: the timestamp of the packet that an ACK echoes, or of the ACK that a packet echoes; 0
    /// if there was none.
    pub echo_ms: u32,
}

/// A packet or an ACK at a link or at an end of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// The packet as it arrives at the link or passes the end, and when.
    pub packet: Transit,
    /// Which packet it is.
    pub identity: Identity,
    /// Number of packets that it finds waiting; 0 at an end.
    pub queue: u32,
    /// The last act.
    pub act: Act,
}

impl Observed {
    /// Whether this is the receiver of the data, of a packet at an end.
    pub fn is_at_receiver(&self) -> bool {
        (self.act == Act::Sent) == (self.identity.content == Content::Ack)
    }
}

/// A SACK block of an ACK that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// The place of the ACK in the record.
    pub row: usize,
    /// The packets that have arrived at the receiver.
    pub range: Range,
}
