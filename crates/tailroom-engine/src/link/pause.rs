//! The keys of pause frames (IEEE 802.3 Annex 31B; for the lossless class of a link, IEEE 802.1Qbb): a
//! switch that holds too many bytes of a link asks the sender of the link to stop.

use super::serializer::Serializer;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::{Duration, Size, SizeOrZero};
use crate::units::{Rate, Time};

/// A pause frame with preamble and gap, in bytes.
const FRAME_BYTES: u32 = 64 + 20;

/// Bytes of a pause quantum, 512 bits (IEEE 802.3, 31B.2).
const QUANTUM_BYTES: u32 = 64;

/// By speed in Gbit/s, the most quanta until a sender stops: IEEE 802.3, 31B.3.7, for 10, 25, 40, 100
/// and 400; `buffer_headroom_mellanox.lua` of SONiC for the others.
const RESPONSES: [(u64, u32); 8] =
    [(1, 2), (10, 60), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905)];

/// Pause frames from the switch at the far end of a link to the sender of the link.
///
/// The switch counts the bytes that arrived over the link and wait in its queues; a packet that is
/// being sent on no longer waits. A pause begins one propagation delay, one pause frame and one
/// response time after the switch asks for it, and ends as long after the switch allows the sender to
/// resume; a packet whose transmission has begun is sent to its end. The frame itself waits for a packet
/// in transmission only with `pause_frames_over`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PauseConfig")]
#[non_exhaustive]
pub struct PauseSpec {
    /// Bytes at which the switch asks the sender to stop.
    #[schemars(example = "60 kB")]
    pub xoff: Size,
    /// Bytes down to which they must fall before the switch lets the sender resume; at most `xoff`. At
    /// `"0 B"`, all of them must have left.
    #[schemars(example = "50 kB")]
    pub xon: SizeOrZero,
    /// Memory beyond `xoff`, for what arrives until the sender has stopped. Packets that find neither
    /// are dropped.
    #[schemars(example = "30 kB")]
    pub headroom: Size,
    /// Time from the arrival of a pause frame until the sender begins no further packet, with the delays
    /// of the interfaces and of what the switch was sending. Default: the longest response that IEEE
    /// 802.3 allows at the speed of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1 us")]
    pub response_time: Option<Duration>,
}

impl PauseSpec {
    /// Thresholds and headroom, with the longest response that the standard allows.
    pub fn new(xoff: Size, xon: SizeOrZero, headroom: Size) -> Self {
        PauseSpec { xoff, xon, headroom, response_time: None }
    }

    /// All memory of the ingress, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.xoff.bytes().saturating_add(self.headroom.bytes())
    }

    /// From the decision of the switch until the sender of a link with this rate and delay begins no
    /// further packet.
    pub fn acts_after(&self, rate: Rate, delay: Time) -> Time {
        let time_of = |bytes| Serializer::constant(rate).nominal_time(bytes);
        let response = self
            .response_time
            .map_or_else(|| time_of(longest_response(rate) * QUANTUM_BYTES), Duration::time);
        time_of(FRAME_BYTES).saturating_add(response).saturating_add(delay)
    }

    /// The headroom that a busy link with packets of at most `largest` bytes needs, in bytes: what of a
    /// packet is above the threshold that it crosses, what is on the wire when the switch decides, what is
    /// sent until the sender stops, and a packet that it has just begun. The frame waits for `waits` at most.
    pub fn least_headroom_bytes(&self, rate: Rate, delay: Time, largest: u32, waits: Time) -> u64 {
        let span = self.acts_after(rate, delay).saturating_add(delay).saturating_add(waits);
        let packet = u64::from(largest);
        rate.bytes_in(span).saturating_add(2 * packet - packet.min(1))
    }
}

/// The most quanta until the sender of a link at this rate stops: those of the next speed of Ethernet.
fn longest_response(rate: Rate) -> u32 {
    let gigabits = rate.bits_per_second().div_ceil(1_000_000_000);
    let known = RESPONSES.iter().find(|(speed, _)| gigabits <= *speed);
    known.or(RESPONSES.last()).map_or(0, |(_, quanta)| *quanta)
}
