//! Pause frames (IEEE 802.3 Annex 31B; for the lossless class of a link, IEEE 802.1Qbb): a switch that
//! holds too many bytes of a link asks the sender of the link to stop.
//!
//! Both ends are here. The far end, the ingress of a switch, counts the bytes that arrived over the
//! link and wait for the next links of their paths, wherever in the switch that is. The near end, the
//! gate, stops and resumes the transmitter when the frames have reached it. A pause lasts until the
//! switch ends it: the repetition of pause frames before their time runs out is not simulated.

use std::collections::VecDeque;

use super::queue::LinkQueue;
use super::serializer::Serializer;
use super::spec::LinkSpec;
use super::{Link, Transmitter};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::{Duration, Size};
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
/// resume; a packet whose transmission has begun is sent to its end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PauseConfig")]
pub struct PauseSpec {
    /// Bytes at which the switch asks the sender to stop.
    #[schemars(example = "60 kB")]
    pub xoff: Size,
    /// Bytes down to which they must fall before the switch lets the sender resume; at most `xoff`.
    #[schemars(example = "50 kB")]
    pub xon: Size,
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
    pub fn new(xoff: Size, xon: Size, headroom: Size) -> Self {
        PauseSpec { xoff, xon, headroom, response_time: None }
    }

    /// All memory of the ingress, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.xoff.bytes().saturating_add(self.headroom.bytes())
    }

    /// From the decision of the switch until the sender begins no further packet.
    pub fn delay(&self, link: &LinkSpec) -> Time {
        let time_of = |bytes| Serializer::constant(link.rate).nominal_time(bytes);
        let response = self
            .response_time
            .map_or_else(|| time_of(longest_response(link.rate) * QUANTUM_BYTES), Duration::time);
        time_of(FRAME_BYTES).saturating_add(response).saturating_add(link.delay)
    }

    /// The headroom that a busy link with packets of at most `largest` bytes needs, in bytes: what is on
    /// the wire when the switch decides, what is sent until the sender stops, and a packet that it has
    /// just begun.
    pub fn least_headroom_bytes(&self, link: &LinkSpec, largest: u32) -> u64 {
        let span = self.delay(link).saturating_add(link.delay);
        link.rate.bytes_in(span).saturating_add(largest.into())
    }
}

/// The most quanta until the sender of a link at this rate stops: those of the next speed of Ethernet.
fn longest_response(rate: Rate) -> u32 {
    let gigabits = rate.bits_per_second().div_ceil(1_000_000_000);
    let known = RESPONSES.iter().find(|(speed, _)| gigabits <= *speed);
    known.or(RESPONSES.last()).map_or(0, |(_, quanta)| *quanta)
}

/// What is measured of the pauses of a link, in the measured window.
#[derive(Clone, Copy, Debug, Default)]
pub struct PauseProbe {
    /// Pause frames that the switch has sent.
    pub frames: u64,
    /// How long the sender was stopped.
    pub paused: Time,
    /// The longest time for which it was stopped without a break.
    pub longest: Time,
    /// The most bytes that waited.
    pub waiting_bytes_max: u64,
}

/// Both ends of the pauses of a link.
#[derive(Debug)]
pub(super) struct Pause {
    spec: PauseSpec,
    delay: Time,
    /// What arrived over the link and waits at the far end.
    waiting_bytes: u64,
    /// Whether the switch has asked for a pause that it has not ended.
    is_asked: bool,
    /// When the gate shuts (true) or opens, in order of time.
    signals: VecDeque<(Time, bool)>,
    /// Since when the gate is shut, if it is, and since when in the measured window.
    shut: Option<(Time, Time)>,
    probe: PauseProbe,
}

impl Pause {
    /// The pauses of the link that `spec` describes, if it has any.
    pub(super) fn of(spec: &LinkSpec) -> Option<Box<Self>> {
        let pause = spec.pause?;
        Some(Box::new(Pause {
            spec: pause,
            delay: pause.delay(spec),
            waiting_bytes: 0,
            is_asked: false,
            signals: VecDeque::with_capacity(8),
            shut: None,
            probe: PauseProbe::default(),
        }))
    }

    #[inline]
    fn next_signal(&self) -> Time {
        self.signals.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    fn send_signal(&mut self, now: Time, shuts: bool) {
        self.is_asked = shuts;
        self.probe.frames += u64::from(shuts);
        self.signals.push_back((now.saturating_add(self.delay), shuts));
    }

    /// Counts the pause that ends at `now`, or is in progress.
    fn count_pause(&mut self, now: Time) {
        let Some((_, from)) = self.shut else { return };
        let length = now.since(from);
        self.probe.paused = self.probe.paused.saturating_add(length);
        self.probe.longest = self.probe.longest.max(length);
    }

    /// Starts the statistics at `now`.
    pub(super) fn begin_measuring(&mut self, now: Time) {
        let probe = PauseProbe { waiting_bytes_max: self.waiting_bytes, ..PauseProbe::default() };
        self.probe = probe;
        self.shut = self.shut.map(|(since, _)| (since, now));
    }

    /// Closes the statistics at `now`.
    pub(super) fn end_measuring(&mut self, now: Time) {
        self.count_pause(now);
    }
}

impl Link {
    /// Whether the switch at the far end may pause the link.
    #[inline]
    pub fn has_pause(&self) -> bool {
        self.pause.is_some()
    }

    /// When the gate shuts or opens next.
    #[inline]
    pub(super) fn next_signal(&self) -> Time {
        self.pause.as_ref().map_or(Time::NEVER, |pause| pause.next_signal())
    }

    /// Whether a packet that has crossed the link finds memory in the switch.
    pub fn has_headroom(&self, bytes: u32) -> bool {
        self.pause
            .as_ref()
            .is_none_or(|pause| pause.waiting_bytes + u64::from(bytes) <= pause.spec.memory_bytes())
    }

    /// A packet that has crossed the link waits in the switch.
    pub fn enter_switch(&mut self, bytes: u32) {
        if let Some(pause) = &mut self.pause {
            pause.waiting_bytes += u64::from(bytes);
        }
    }

    /// Asks for a pause at `now` if too much waits in the switch, once the queue has decided about the
    /// packet that arrived.
    pub fn regulate(&mut self, now: Time) {
        let Some(pause) = &mut self.pause else { return };
        pause.probe.waiting_bytes_max = pause.probe.waiting_bytes_max.max(pause.waiting_bytes);
        if !pause.is_asked && pause.waiting_bytes >= pause.spec.xoff.bytes() {
            pause.send_signal(now, true);
        }
    }

    /// A packet that waited in the switch leaves its queue at `now`.
    pub fn leave_switch(&mut self, now: Time, bytes: u32) {
        let Some(pause) = &mut self.pause else { return };
        pause.waiting_bytes -= u64::from(bytes);
        if pause.is_asked && pause.waiting_bytes <= pause.spec.xon.bytes() {
            pause.send_signal(now, false);
        }
    }

    /// What arrived over the link and waits in the switch, in bytes.
    pub fn waiting_in_switch(&self) -> u64 {
        self.pause.as_ref().map_or(0, |pause| pause.waiting_bytes)
    }

    /// Since when the sender is stopped, if it is, and no frame is on the way that lets it resume.
    pub fn stopped_since(&self) -> Option<Time> {
        let pause = self.pause.as_ref().filter(|pause| pause.is_asked)?;
        pause.shut.map(|(since, _)| since)
    }

    /// What is measured of the pauses, if the link has any.
    pub fn pause_probe(&self) -> Option<PauseProbe> {
        self.pause.as_ref().map(|pause| pause.probe)
    }

    /// Shuts or opens the gate, at [`Link::next_signal`].
    #[inline(never)]
    pub(super) fn take_signal(&mut self) {
        let Link { queue: LinkQueue::Served(queue), transmitter, pause: Some(pause), .. } = self
        else {
            return;
        };
        let Some((now, shuts)) = pause.signals.pop_front() else { return };
        if shuts {
            pause.shut = Some((now, now));
            queue.set_next_start(Time::NEVER, Time::NEVER);
        } else {
            pause.count_pause(now);
            pause.shut = None;
            let (free_at, resumes_at) = Transmitter::next_start(transmitter);
            queue.set_next_start(free_at.max(now), resumes_at.max(now));
        }
    }
}
