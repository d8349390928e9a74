//! Both ends of the pauses of a link.
//!
//! The far end, the ingress of a switch, counts the bytes that arrived over the link and wait for the
//! next links of their paths, wherever in the switch that is. The near end, the gate, stops and resumes
//! the transmitter when the frames have reached it. A pause lasts until the switch ends it: the
//! repetition of pause frames before their time runs out is not simulated.

use std::collections::VecDeque;

use super::Link;
use super::ingress_pool::{Free, IngressMember, Occupied};
use super::pause::PauseSpec;
use super::queue::LinkQueue;
use super::spec::LinkSpec;
use super::transmitter::Transmitter;
use crate::units::Time;

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
    /// The most headroom that they took, in bytes.
    pub headroom_bytes_max: u64,
}

/// Both ends of the pauses of a link.
#[derive(Clone, Debug)]
pub(super) struct Pause {
    spec: PauseSpec,
    member: Option<IngressMember>,
    /// The link over which the frames travel, if they wait for its packets.
    frames_over: Option<usize>,
    /// What arrived over the link and waits at the far end.
    waiting_bytes: u64,
    /// What of it is in the headroom.
    headroom_bytes: u64,
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
            member: spec.ingress,
            frames_over: spec.pause_frames_over,
            waiting_bytes: 0,
            headroom_bytes: 0,
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

    /// Bytes at which the switch asks for a pause.
    fn xoff(&self, free: Free) -> u64 {
        self.spec.xoff.bytes() + self.member.map_or(0, |member| member.allowance(free))
    }

    /// Bytes down to which they must fall before the switch lets the sender resume: always below those at
    /// which it asks for a pause, or both would hold at once and nothing would end the pause.
    fn xon(&self, free: Free) -> u64 {
        let xoff = self.xoff(free);
        let moving = self.member.map_or(0, |member| xoff.saturating_sub(member.xon_offset));
        self.spec.xon.bytes().max(moving).min(xoff.saturating_sub(1))
    }

    /// What may be added below the threshold, in bytes.
    fn room(&self, free: Free) -> u64 {
        let below = self.waiting_bytes - self.headroom_bytes;
        self.xoff(free).saturating_sub(below).min(self.unused(free))
    }

    /// The memory that may be taken, without headroom outside the pool, in bytes.
    fn unused(&self, free: Free) -> u64 {
        let below = self.waiting_bytes - self.headroom_bytes;
        self.spec.xoff.bytes().saturating_sub(below) + free.shared
    }

    /// Whether what is in the headroom may count as shared memory: it does already, or fits.
    fn may_keep_headroom(&self, free: Free) -> bool {
        free.includes_headroom || self.headroom_bytes <= self.room(free)
    }

    /// What a packet takes of the headroom: the part of it that is above the threshold.
    fn needed_headroom(&self, bytes: u32, free: Free) -> u64 {
        u64::from(bytes).saturating_sub(self.room(free))
    }

    fn occupied(&self) -> Occupied {
        let below = self.waiting_bytes - self.headroom_bytes;
        let shared = below.saturating_sub(self.spec.xoff.bytes());
        Occupied { shared, headroom: self.headroom_bytes }
    }

    fn note_most(&mut self) {
        let probe = &mut self.probe;
        probe.waiting_bytes_max = probe.waiting_bytes_max.max(self.waiting_bytes);
        probe.headroom_bytes_max = probe.headroom_bytes_max.max(self.headroom_bytes);
    }

    /// Sends a frame that begins at `begins`. It travels at the rate and the delay that the link has then, and
    /// overtakes none.
    fn send_signal(&mut self, begins: Time, shuts: bool, transmitter: &Transmitter) {
        self.is_asked = shuts;
        self.probe.frames += u64::from(shuts);
        let begins = transmitter.serializer.sends_from(begins);
        let at = if begins == Time::NEVER {
            begins
        } else {
            let rate = transmitter.serializer.rate_at(begins);
            begins.saturating_add(self.spec.acts_after(rate, transmitter.delay_at(begins)))
        };
        let last = self.signals.back().map_or(Time::ZERO, |(at, _)| *at);
        self.signals.push_back((at.max(last), shuts));
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
        self.probe = PauseProbe::default();
        self.note_most();
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

    /// The link over which the pause frames of this link travel, if they wait for its packets.
    #[inline]
    pub fn pause_frames_over(&self) -> Option<usize> {
        self.pause.as_ref().and_then(|pause| pause.frames_over)
    }

    /// Until when the link, or another link of its line, sends the packet that it has begun last.
    pub fn sends_until(&self) -> Time {
        self.transmitter.busy_until.max(self.line_free_at)
    }

    /// When the gate shuts or opens next.
    #[inline]
    pub(super) fn next_signal(&self) -> Time {
        self.pause.as_ref().map_or(Time::NEVER, |pause| pause.next_signal())
    }

    /// Whether the sender of the link is stopped.
    pub fn is_stopped(&self) -> bool {
        self.pause.as_ref().is_some_and(|pause| pause.shut.is_some())
    }

    /// Whether the switch at the far end counts what arrived over the link and waits there.
    #[inline]
    pub fn counts_in_switch(&self) -> bool {
        self.has_pause() || self.lossy_ingress.is_some()
    }

    /// Whether a packet that has crossed the link finds memory in the switch, of which this is free.
    pub fn has_room_in_switch(&self, bytes: u32, free: Free) -> bool {
        if let Some(ingress) = &self.lossy_ingress {
            return ingress.has_room(bytes, free);
        }
        self.pause.as_ref().is_none_or(|pause| {
            let needed = pause.needed_headroom(bytes, free);
            needed == 0
                || (pause.headroom_bytes + needed <= pause.spec.headroom.bytes()
                    && needed <= free.headroom
                    && (!free.includes_headroom || u64::from(bytes) <= pause.unused(free)))
        })
    }

    /// A packet that has crossed the link waits in the switch, of which this was free.
    pub fn enter_switch(&mut self, bytes: u32, free: Free) {
        if let Some(pause) = &mut self.pause {
            pause.headroom_bytes += pause.needed_headroom(bytes, free);
            pause.waiting_bytes += u64::from(bytes);
        }
        if let Some(ingress) = &mut self.lossy_ingress {
            ingress.enter(bytes);
        }
    }

    /// Asks for a pause if too much waits in the switch, once the queue has decided about the packet that
    /// arrived. The frame begins at `begins`. Returns whether the link has asked.
    pub fn regulate(&mut self, begins: Time, free: Free) -> bool {
        let Some(pause) = &mut self.pause else { return false };
        pause.note_most();
        let asks = !pause.is_asked && pause.waiting_bytes >= pause.xoff(free);
        if asks {
            pause.send_signal(begins, true, &self.transmitter);
        }
        asks
    }

    /// A packet that waited in the switch leaves its queue; headroom is free first.
    pub fn leave_switch(&mut self, bytes: u32) {
        if let Some(ingress) = &mut self.lossy_ingress {
            ingress.leave(bytes);
        }
        let Some(pause) = &mut self.pause else { return };
        pause.waiting_bytes -= u64::from(bytes);
        pause.headroom_bytes = pause.headroom_bytes.saturating_sub(bytes.into());
    }

    /// Lets the sender resume, with a frame that begins at `begins`, if it is paused, and little enough waits
    /// in the switch. Returns whether it may resume.
    pub fn release(&mut self, begins: Time, free: Free) -> bool {
        let Some(pause) = &mut self.pause else { return false };
        let ends = pause.is_asked
            && pause.waiting_bytes <= pause.xon(free)
            && pause.may_keep_headroom(free);
        if ends {
            pause.headroom_bytes = 0;
            pause.send_signal(begins, false, &self.transmitter);
        }
        ends
    }

    /// What the ingress occupies of what it may share with others.
    pub fn occupied_in_switch(&self) -> Occupied {
        match (&self.pause, &self.lossy_ingress) {
            (Some(pause), _) => pause.occupied(),
            (None, Some(ingress)) => ingress.occupied(),
            (None, None) => Occupied::default(),
        }
    }

    /// What arrived over the link and waits in the switch, in bytes.
    pub fn waiting_in_switch(&self) -> u64 {
        match (&self.pause, &self.lossy_ingress) {
            (Some(pause), _) => pause.waiting_bytes,
            (None, ingress) => ingress.as_ref().map_or(0, |ingress| ingress.waiting_bytes()),
        }
    }

    /// The most bytes that arrived over the link and waited in the switch in the measured window; `None`
    /// if the switch does not count them.
    pub fn waiting_in_switch_max(&self) -> Option<u64> {
        let of_pause = self.pause.as_ref().map(|pause| pause.probe.waiting_bytes_max);
        of_pause.or_else(|| Some(self.lossy_ingress.as_ref()?.waiting_bytes_max()))
    }

    /// Whether the switch has asked for a pause that it has not ended.
    pub fn is_asked_to_pause(&self) -> bool {
        self.pause.as_ref().is_some_and(|pause| pause.is_asked)
    }

    /// Since when the sender is stopped, if it is, and no frame is on the way that lets it resume.
    pub fn stopped_since(&self) -> Option<Time> {
        let pause = self.pause.as_ref().filter(|pause| pause.is_asked)?;
        pause.shut.map(|(since, _)| since)
    }

    /// Down to how many bytes what waits in the switch must fall before the sender resumes, if so much is
    /// free for the ingress; [`u64::MAX`] without pauses.
    pub fn resumes_at(&self, free: Free) -> u64 {
        self.pause.as_ref().map_or(u64::MAX, |pause| pause.xon(free))
    }

    /// What is measured of the pauses, if the link has any.
    pub fn pause_probe(&self) -> Option<PauseProbe> {
        self.pause.as_ref().map(|pause| pause.probe)
    }

    /// Shuts or opens the gate, at [`Link::next_signal`].
    #[inline(never)]
    pub(super) fn take_signal(&mut self) {
        let Link { queue: LinkQueue::Served(queue), pause: Some(pause), .. } = self else { return };
        let Some((now, shuts)) = pause.signals.pop_front() else { return };
        if shuts {
            pause.shut = Some((now, now));
            queue.set_next_start(Time::NEVER, Time::NEVER);
        } else {
            pause.count_pause(now);
            pause.shut = None;
            self.resume(now);
        }
    }
}
