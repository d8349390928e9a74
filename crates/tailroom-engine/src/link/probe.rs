//! The measurements of a link: its queue over time and as arriving packets find it, counts of
//! arrivals, departures, drops and marks.

use std::borrow::Cow;

use super::LinkSpec;
use crate::observe::Act;
use crate::observe::link::LinkObserver;
use crate::observe::recorder::Recorder;
use crate::packet::transit::Transit;
use crate::probe::delays::Delays;
use crate::probe::histogram::Histogram;
use crate::probe::index_of_dispersion::IndexOfDispersion;
use crate::probe::queue_lengths::QueueLengths;
use crate::probe::window::Window;
use crate::queue::Gauge;
use crate::queue::buffer::DropReason;
use crate::units::Time;

/// Counts since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    arrivals: u64,
    drops: [u64; DropReason::COUNT],
    marks: u64,
    accepted: u64,
    accepted_bytes: u64,
    /// Packets accepted that have not left, at the moment of the snapshot.
    backlog: u64,
    backlog_bytes: u64,
}

impl Counters {
    fn dropped(&self) -> u64 {
        self.drops.iter().sum()
    }
}

/// One row of a link's time series.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSample {
    /// Time.
    pub time: Time,
    /// Packets waiting at that instant.
    pub queue_packets: u64,
    /// Capacity that the link left unused since the previous sample, in bit * ps / s.
    pub idle_capacity: u128,
    /// Drops since the previous sample.
    pub drops: u64,
    /// Marks since the previous sample.
    pub marks: u64,
    /// What the discipline reports of itself.
    pub gauges: Vec<Gauge>,
}

/// Counts of a link since the start of the run, and what waits now.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Packets that reached the buffer.
    pub arrivals: u64,
    /// Packets that the policer, the pool or the discipline dropped.
    pub drops: u64,
    /// Packets that the discipline marked.
    pub marks: u64,
    /// Packets whose transmission has begun.
    pub begun: u64,
    /// Sum of their waits, in picoseconds.
    pub waits: u128,
    /// Bytes of the packets whose last bit has left.
    pub sent_bytes: u64,
    /// Capacity that the link left unused, in bit * ps / s.
    pub idle_capacity: u128,
    /// Packets that wait.
    pub queue_packets: u64,
    /// Bytes of these packets.
    pub queue_bytes: u64,
}

/// Totals over the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Packets that reached the buffer.
    pub arrivals: u64,
    /// Packets the discipline dropped, by the number of the [`DropReason`].
    pub drops: [u64; DropReason::COUNT],
    /// Dropped packets that had arrived before the window.
    pub earlier_arrivals_dropped: u64,
    /// Packets the discipline marked.
    pub marks: u64,
    /// Packets lost on the wire, by the beginning of their transmission.
    pub random_losses: u64,
    /// Packets whose last bit left.
    pub departures: u64,
    /// Bytes of the packets whose last bit left.
    pub departed_bytes: u64,
    /// Capacity that the link left unused, in bit * ps / s.
    pub idle_capacity: u128,
}

/// Counts of one class of traffic, a group of flows, since the statistics began.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassCounts {
    /// Packets that reached the buffer.
    pub arrivals: u64,
    /// Packets the discipline dropped.
    pub drops: u64,
    /// Dropped packets that had arrived before the statistics began.
    pub earlier_arrivals_dropped: u64,
}

/// The measurements of one class.
#[derive(Clone, Debug, Default)]
struct ClassProbe {
    counts: ClassCounts,
    /// Waits before transmission, of packets whose transmission began in the measured window.
    waits: Delays,
}

impl LinkTotals {
    /// The fraction of the packets that arrived in the window and were dropped; `None` if no packet
    /// arrived.
    pub fn loss_fraction(&self) -> Option<f64> {
        (self.arrivals > 0).then(|| self.lost() as f64 / self.arrivals as f64)
    }

    /// The packets that arrived in the window and were dropped.
    pub fn lost(&self) -> u64 {
        self.drops.iter().sum::<u64>() - self.earlier_arrivals_dropped
    }
}

impl ClassCounts {
    /// The same for the packets of the class.
    pub fn loss_fraction(&self) -> Option<f64> {
        let drops = self.drops - self.earlier_arrivals_dropped;
        (self.arrivals > 0).then(|| drops as f64 / self.arrivals as f64)
    }
}

/// Counts that change at checkpoints, or for few packets: apart from the fields that every packet
/// touches.
#[derive(Clone, Debug)]
struct RareCounts {
    measured_from: Time,
    /// Packets dropped since then that had arrived earlier.
    earlier_arrivals_dropped: u64,
    /// Packets that the wire has lost whose transmission began in the window.
    random_losses: u64,
    /// See [`LinkTotals::idle_capacity`]; since the start of the run, at the edges of the window
    /// and at the previous sample.
    idle_before: u128,
    idle_after: u128,
    idle_at_sample: u128,
    /// Bytes accepted that no run is long enough to send, and when their transmission would begin.
    stuck_bytes: u64,
    stuck_from: Time,
    /// Sum of the waits that ended outside the measured window, in picoseconds.
    other_waits: u128,
}

/// The measurements of one link.
#[derive(Clone, Debug)]
pub struct LinkProbe {
    now: Counters,
    before: Counters,
    last_sample: Counters,
    rare: Box<RareCounts>,
    changed_at: Time,
    /// Packets waiting, over time and as arriving packets find them.
    pub queue_lengths: QueueLengths,
    /// Waits before transmission, of packets whose transmission began in `window`.
    pub waits: Delays,
    /// The measured window.
    window: Window,
    /// The classes of traffic except the first. The first class has the rest of the totals, so that
    /// a link with one class counts nothing twice.
    later_classes: Vec<ClassProbe>,
    /// Lengths of bursts, in packets.
    pub bursts: Histogram<9>,
    burst_flow: u32,
    burst_length: u64,
    last_arrival: Time,
    /// The time series.
    pub samples: Vec<LinkSample>,
    /// What records packets one by one, where that is asked for.
    pub observer: Option<Box<LinkObserver>>,
}

impl LinkProbe {
    /// A probe of a link that `classes` classes of traffic cross, with the records that `spec` asks
    /// for. Waits are counted if they end in `window`.
    pub fn new(classes: usize, spec: &LinkSpec, window: Window) -> Self {
        LinkProbe {
            now: Counters::default(),
            before: Counters::default(),
            last_sample: Counters::default(),
            rare: Box::new(RareCounts {
                measured_from: Time::ZERO,
                earlier_arrivals_dropped: 0,
                random_losses: 0,
                idle_before: 0,
                idle_after: 0,
                idle_at_sample: 0,
                stuck_bytes: 0,
                stuck_from: Time::NEVER,
                other_waits: 0,
            }),
            changed_at: Time::ZERO,
            queue_lengths: QueueLengths::default(),
            waits: Delays::default(),
            window,
            later_classes: vec![ClassProbe::default(); classes.max(1) - 1],
            bursts: Histogram::default(),
            burst_flow: u32::MAX,
            burst_length: 0,
            last_arrival: Time::ZERO,
            samples: Vec::new(),
            observer: LinkObserver::of(spec.packet_log, spec.arrival_dispersion, spec.arrival_log),
        }
    }

    /// Records a packet that reaches the buffer and finds `queue` packets waiting. A burst is a run
    /// of packets of one flow that arrive faster than the link can send them, that is, closer
    /// together than `burst_gap`.
    #[expect(clippy::inline_always, reason = "two callers; a call costs 2 % per packet")]
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, packet: &Transit, queue: u64, burst_gap: Time) {
        self.count_arrival(packet.time(), packet.flow(), queue, burst_gap);
        if let Some(observer) = &mut self.observer {
            observer.on_arrival(*packet, queue);
        }
    }

    /// The same where nobody [observes](LinkProbe::observer) packets.
    #[expect(clippy::inline_always, reason = "two callers; a call costs 2 % per packet")]
    #[expect(clippy::needless_bitwise_bool, reason = "no branch: which flow is next is random")]
    #[inline(always)]
    pub(crate) fn count_arrival(&mut self, now: Time, flow: u32, queue: u64, burst_gap: Time) {
        self.now.arrivals += 1;
        self.count_queue(now, queue, 1);
        let continues = (flow == self.burst_flow) & (now - self.last_arrival < burst_gap);
        let length = self.burst_length;
        let is_over = !continues & (length > 0);
        self.bursts.add(if is_over { length } else { 0 }, u64::from(is_over));
        self.burst_flow = flow;
        self.burst_length = if continues { length + 1 } else { 1 };
        self.last_arrival = now;
    }

    /// Records that the link will send a packet, where nobody [observes](LinkProbe::observer) packets.
    #[inline]
    pub(crate) fn count_accepted(&mut self, bytes: u32) {
        self.now.accepted += 1;
        self.now.accepted_bytes += u64::from(bytes);
    }

    /// Records that the transmission of a packet of this class begins at `start`, after a wait.
    #[inline]
    pub(crate) fn count_wait(&mut self, start: Time, wait: Time, class: u32) {
        if self.window.contains(start) {
            self.waits.add(wait);
            if class > 0 {
                self.count_class_wait(class, wait);
            }
        } else {
            self.rare.other_waits += u128::from(wait.picoseconds());
        }
    }

    /// The counts so far, of which `known` packets wait whose departure is known.
    pub(crate) fn look(&self, known: u64) -> LinkCounts {
        LinkCounts {
            arrivals: self.now.arrivals,
            drops: self.now.dropped(),
            marks: self.now.marks,
            begun: self.now.accepted - known,
            waits: self.waits.sum() + self.rare.other_waits,
            ..LinkCounts::default()
        }
    }

    #[inline(never)]
    fn count_class_wait(&mut self, class: u32, wait: Time) {
        if let Some(class) = self.later_class(class) {
            class.waits.add(wait);
        }
    }

    /// Records that a packet of this class reached the buffer.
    pub(crate) fn on_class_arrival(&mut self, class: u32) {
        if let Some(class) = self.later_class(class) {
            class.counts.arrivals += 1;
        }
    }

    /// The arrivals one by one, where they are recorded.
    pub fn record(&self) -> Option<&Recorder> {
        self.observer.as_ref()?.record.as_ref()
    }

    /// Whether more than one class of traffic crosses the link.
    #[inline]
    pub(crate) fn tells_classes(&self) -> bool {
        !self.later_classes.is_empty()
    }

    fn later_class(&mut self, class: u32) -> Option<&mut ClassProbe> {
        self.later_classes.get_mut((class as usize).checked_sub(1)?)
    }

    #[inline]
    fn close_burst(&mut self) {
        if self.burst_length > 0 {
            self.bursts.add(self.burst_length, 1);
        }
    }

    #[inline]
    pub(crate) fn on_drop(&mut self, now: Time, packet: Transit, class: u32, reason: DropReason) {
        self.now.drops[reason as usize] += 1;
        if let Some(class) = self.later_class(class) {
            class.counts.drops += 1;
        }
        if packet.time() < now {
            self.note_late_drop(packet.time(), class);
        }
        if let Some(observer) = &mut self.observer {
            observer.on_drop(now, packet.copied(), reason);
        }
    }

    /// Counts a packet that is dropped after it has waited.
    #[inline(never)]
    fn note_late_drop(&mut self, arrival: Time, class: u32) {
        if arrival < self.rare.measured_from {
            self.rare.earlier_arrivals_dropped += 1;
            if let Some(class) = self.later_class(class) {
                class.counts.earlier_arrivals_dropped += 1;
            }
        }
    }

    /// Counts `marks` of one packet at `now`, 0 or 1, where somebody [observes](LinkProbe::observer)
    /// packets.
    #[cold]
    pub(crate) fn observe_marks(&mut self, now: Time, flow: u32, marks: u64) {
        debug_assert!(marks <= 1, "{marks} packets marked in one event");
        self.count_marks(marks);
        if let Some(observer) = self.observer.as_mut().filter(|_| marks > 0) {
            observer.log(now, flow, Act::Marked);
        }
    }

    /// The same of a packet that leaves the queue with its present ECN field.
    #[cold]
    pub(crate) fn observe_pass(&mut self, now: Time, packet: Transit, marks: u64) {
        self.observe_marks(now, packet.flow(), marks);
        if let Some(observer) = &mut self.observer {
            observer.on_pass(packet);
        }
    }

    /// Counts marked packets.
    #[inline]
    pub(crate) fn count_marks(&mut self, marks: u64) {
        self.now.marks += marks;
    }

    /// Records that the link will send a packet from `start` until `departure`.
    #[inline]
    pub(crate) fn on_accepted(&mut self, flow: u32, bytes: u32, start: Time, departure: Time) {
        self.count_accepted(bytes);
        if departure == Time::NEVER {
            self.note_stuck(start, bytes);
        }
        if let Some(observer) = &mut self.observer {
            observer.log(departure, flow, Act::Departed);
        }
    }

    #[cold]
    fn note_stuck(&mut self, start: Time, bytes: u32) {
        self.rare.stuck_bytes += u64::from(bytes);
        self.rare.stuck_from = self.rare.stuck_from.min(start);
    }

    /// Bytes accepted whose transmissions end, and the end of the last one if the link is busy
    /// until `busy_until`.
    pub(crate) fn transmissions(&self, busy_until: Time) -> (u64, Time) {
        let bytes = self.now.accepted_bytes - self.rare.stuck_bytes;
        (bytes, busy_until.min(self.rare.stuck_from))
    }

    /// Adds the time since the last change to the bin of the queue's length.
    #[inline]
    pub(crate) fn account_queue(&mut self, now: Time, queue: u64) {
        self.count_queue(now, queue, 0);
    }

    #[inline]
    fn count_queue(&mut self, now: Time, queue: u64, arrivals: u64) {
        let span = now - self.changed_at;
        self.changed_at = now;
        self.queue_lengths.add(queue, span, arrivals);
    }

    /// Records that the wire loses a packet whose transmission begins at `start`.
    #[inline]
    pub(crate) fn on_random_loss(&mut self, start: Time) {
        self.rare.random_losses += u64::from(self.window.contains(start));
    }

    /// When the statistics began that are counted now.
    pub(crate) fn measured_from(&self) -> Time {
        self.rare.measured_from
    }

    /// The measured window, which ends with the run.
    #[inline]
    pub(crate) fn window(&self) -> Window {
        self.window
    }

    fn dispersion_mut(&mut self) -> Option<&mut IndexOfDispersion> {
        self.observer.as_mut()?.dispersion.as_mut()
    }

    fn snapshot(&self, backlog: u64, backlog_bytes: u64) -> Counters {
        Counters { backlog, backlog_bytes, ..self.now }
    }

    /// Starts the statistics afresh at `now`; series and log go on.
    pub(crate) fn begin(&mut self, now: Time, backlog: u64, backlog_bytes: u64, idle: u128) {
        self.before = self.snapshot(backlog, backlog_bytes);
        (self.rare.measured_from, self.rare.idle_before) = (now, idle);
        self.rare.earlier_arrivals_dropped = 0;
        self.changed_at = now;
        self.burst_length = 0;
        self.burst_flow = u32::MAX;
        self.queue_lengths.clear();
        for class in &mut self.later_classes {
            class.counts = ClassCounts::default();
        }
        self.bursts.clear();
        if let Some(dispersion) = self.dispersion_mut() {
            dispersion.restart(now);
        }
    }

    /// Closes the statistics at `now`.
    pub(crate) fn end(
        &mut self,
        now: Time,
        queue: u64,
        backlog: u64,
        backlog_bytes: u64,
        idle: u128,
    ) {
        self.rare.idle_after = idle;
        self.account_queue(now, queue);
        self.close_burst();
        if let Some(dispersion) = self.dispersion_mut() {
            dispersion.pass(now);
        }
        self.now = self.snapshot(backlog, backlog_bytes);
    }

    pub(crate) fn sample(
        &mut self,
        time: Time,
        queue_packets: u64,
        idle: u128,
        gauges: Vec<Gauge>,
    ) {
        let (now, last) = (self.now, self.last_sample);
        self.samples.push(LinkSample {
            time,
            queue_packets,
            idle_capacity: idle - std::mem::replace(&mut self.rare.idle_at_sample, idle),
            drops: now.dropped() - last.dropped(),
            marks: now.marks - last.marks,
            gauges,
        });
        self.last_sample = now;
    }

    /// Totals between `begin` and `end`.
    pub fn totals(&self) -> LinkTotals {
        let (now, before) = (self.now, self.before);
        LinkTotals {
            arrivals: now.arrivals - before.arrivals,
            drops: std::array::from_fn(|reason| now.drops[reason] - before.drops[reason]),
            earlier_arrivals_dropped: self.rare.earlier_arrivals_dropped,
            idle_capacity: self.rare.idle_after - self.rare.idle_before,
            marks: now.marks - before.marks,
            random_losses: self.rare.random_losses,
            departures: (now.accepted - now.backlog) - (before.accepted - before.backlog),
            departed_bytes: (now.accepted_bytes - now.backlog_bytes)
                - (before.accepted_bytes - before.backlog_bytes),
        }
    }

    /// Bytes of the packets accepted since the start of the run.
    pub fn accepted_bytes(&self) -> u64 {
        self.now.accepted_bytes
    }

    /// Packets that arrived, were dropped, and were accepted since the start of the run.
    pub fn account(&self) -> (u64, u64, u64) {
        (self.now.arrivals, self.now.dropped(), self.now.accepted)
    }

    /// The counts of a class between `begin` and `end`.
    pub fn class_counts(&self, class: usize) -> ClassCounts {
        if let Some(later) = class.checked_sub(1) {
            return self.later_classes[later].counts;
        }
        let totals = self.totals();
        let (arrivals, drops) = (totals.arrivals, totals.drops.iter().sum());
        let earlier_arrivals_dropped = totals.earlier_arrivals_dropped;
        let mut first = ClassCounts { arrivals, drops, earlier_arrivals_dropped };
        for ClassProbe { counts, .. } in &self.later_classes {
            first.arrivals -= counts.arrivals;
            first.drops -= counts.drops;
            first.earlier_arrivals_dropped -= counts.earlier_arrivals_dropped;
        }
        first
    }

    /// The waits of a class.
    pub fn class_waits(&self, class: usize) -> Cow<'_, Delays> {
        if let Some(later) = class.checked_sub(1) {
            return Cow::Borrowed(&self.later_classes[later].waits);
        }
        let mut first = Cow::Borrowed(&self.waits);
        for ClassProbe { waits, .. } in &self.later_classes {
            first.to_mut().subtract(waits);
        }
        first
    }

    /// Time-weighted mean of the packets that wait, over a window of length `span`.
    pub fn mean_queue(&self, span: Time) -> f64 {
        self.queue_lengths.integral() as f64 / span.picoseconds() as f64
    }
}
