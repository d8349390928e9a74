//! What a link measures: its queue over time and as packets see it, what passed, what was dropped.

use crate::probe::arrivals::Arrivals;
use crate::probe::dispersion::Dispersion;
use crate::probe::histogram::Histogram;
use crate::probe::over_time::OverTime;
use crate::queue::Gauge;
use crate::queue::buffer::DropReason;
use crate::schedule::Event;
use crate::topology::LinkSpec;
use crate::units::Time;

/// Counts since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    arrivals: u64,
    drops: [u64; DropReason::COUNT],
    marks: u64,
    random_losses: u64,
    accepted: u64,
    accepted_bytes: u64,
    /// Taken in but not yet out, at the moment of the snapshot.
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
    /// When.
    pub time: Time,
    /// Packets waiting at that instant.
    pub queue_packets: u64,
    /// Bytes that left since the sample before.
    pub departed_bytes: u64,
    /// Drops since the sample before.
    pub drops: u64,
    /// Marks since the sample before.
    pub marks: u64,
    /// What the discipline reports of itself.
    pub gauges: Vec<Gauge>,
}

/// What happened to a packet, for the packet log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// It reached the buffer.
    Arrival = 0,
    /// Its last bit left.
    Departure = 1,
    /// The discipline dropped it.
    Drop = 2,
}

/// One line of the packet log.
#[derive(Clone, Copy, Debug)]
pub struct LogEntry {
    /// When.
    pub time: Time,
    /// Whose packet.
    pub flow: u32,
    /// What happened.
    pub event: LogEvent,
}

/// Totals over the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Packets that reached the buffer.
    pub arrivals: u64,
    /// Packets the discipline dropped, by the number of the [`DropReason`].
    pub drops: [u64; DropReason::COUNT],
    /// Packets the discipline marked.
    pub marks: u64,
    /// Packets lost on the wire.
    pub random_losses: u64,
    /// Packets whose last bit left.
    pub departures: u64,
    /// Bytes of the packets whose last bit left.
    pub departed_bytes: u64,
}

/// What the packets of one group of flows meet at a link, since the statistics began.
#[derive(Clone, Debug, Default)]
pub struct ClassProbe {
    /// Packets that reached the buffer.
    pub arrivals: u64,
    /// Packets the discipline dropped.
    pub drops: u64,
    /// What the others waited.
    pub waits: Waits,
}

/// How long packets wait before their transmission, of those whose departure is known.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    sum: u128,
    /// In picoseconds.
    pub histogram: Histogram<9>,
}

impl Waits {
    #[inline]
    fn add(&mut self, delay: Time) {
        let delay = delay.picoseconds();
        self.histogram.add(delay, 1);
        self.sum += u128::from(delay);
    }

    fn clear(&mut self) {
        self.sum = 0;
        self.histogram.clear();
    }

    /// Takes away those of packets that have all been added here too.
    fn subtract(&mut self, other: &Self) {
        self.sum -= other.sum;
        self.histogram.subtract(&other.histogram);
    }

    /// In seconds; `None` when no packet passed.
    pub fn mean_s(&self) -> Option<f64> {
        let packets = self.histogram.total();
        (packets > 0).then(|| 1e-12 * self.sum as f64 / packets as f64)
    }

    /// In seconds; `None` when no packet passed.
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        self.histogram.quantile(quantile).map(|picoseconds| 1e-12 * picoseconds)
    }
}

/// The measurements of one link.
#[derive(Debug)]
pub struct LinkProbe {
    now: Counters,
    before: Counters,
    last_sample: Counters,
    changed_at: Time,
    /// Packets waiting, over time.
    pub queue_over_time: OverTime<10>,
    /// Packets waiting, as arriving packets find them.
    pub queue_seen: Histogram<10>,
    /// What all packets waited.
    pub waits: Waits,
    /// The classes of traffic but the first, which has what they leave: a link that one group crosses
    /// counts nothing twice.
    later_classes: Vec<ClassProbe>,
    /// Lengths of bursts, in packets.
    pub bursts: Histogram<9>,
    burst_flow: u32,
    burst_length: u64,
    last_arrival: Time,
    /// The time series.
    pub samples: Vec<LinkSample>,
    /// The packet log, in no particular order.
    pub log: Vec<LogEntry>,
    log_limit: usize,
    /// Arrivals by time scale, where they are asked for.
    pub dispersion: Option<Box<Dispersion>>,
    /// Arrivals one by one, where they are asked for.
    pub arrivals: Option<Box<Arrivals>>,
    /// Whether arrivals and drops go to the log, to `dispersion` or to `arrivals`.
    watches_packets: bool,
}

impl LinkProbe {
    /// A probe of a link that so many classes of traffic cross, and that records what `spec` says.
    pub fn new(classes: usize, spec: &LinkSpec) -> Self {
        let log_limit = spec.packet_log;
        LinkProbe {
            now: Counters::default(),
            before: Counters::default(),
            last_sample: Counters::default(),
            changed_at: Time::ZERO,
            queue_over_time: OverTime::default(),
            queue_seen: Histogram::default(),
            waits: Waits::default(),
            later_classes: vec![ClassProbe::default(); classes.max(1) - 1],
            bursts: Histogram::default(),
            burst_flow: u32::MAX,
            burst_length: 0,
            last_arrival: Time::ZERO,
            samples: Vec::new(),
            log: Vec::new(),
            log_limit,
            dispersion: spec.arrival_dispersion.map(|base| Box::new(Dispersion::new(base))),
            arrivals: spec.arrival_log.map(|span| Box::new(Arrivals::new(span))),
            watches_packets: log_limit > 0
                || spec.arrival_dispersion.is_some()
                || spec.arrival_log.is_some(),
        }
    }

    /// A packet reached the buffer and finds so many waiting. A burst is a run of packets of one flow that follow one another
    /// faster than the link can send them, that is, closer than `burst_gap`.
    #[expect(clippy::inline_always, reason = "two callers: a call costs 2 % of a packet")]
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, packet: &Event, queue: u64, burst_gap: Time) {
        let (now, flow) = (packet.time(), packet.flow());
        self.now.arrivals += 1;
        let bin = self.account_queue(now, queue);
        self.queue_seen.add_to_bin(bin, 1);
        if flow == self.burst_flow && now - self.last_arrival < burst_gap {
            self.burst_length += 1;
        } else {
            self.close_burst();
            self.burst_flow = flow;
            self.burst_length = 1;
        }
        self.last_arrival = now;
        if self.watches_packets {
            self.watch_arrival(*packet, queue);
        }
    }

    /// A packet of this class reached the buffer.
    pub(crate) fn on_class_arrival(&mut self, class: u32) {
        if let Some(class) = self.later_class(class) {
            class.arrivals += 1;
        }
    }

    /// A packet of this class was, or will be, sent; it waits `delay` and has left by `departure`.
    #[inline(never)]
    pub(crate) fn on_class_service(&mut self, class: u32, delay: Time, departure: Time) {
        if let Some(class) = self.later_class(class).filter(|_| departure < Time::NEVER) {
            class.waits.add(delay);
        }
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
    pub(crate) fn on_drop(&mut self, now: Time, packet: Event, class: u32, reason: DropReason) {
        self.now.drops[reason as usize] += 1;
        if let Some(class) = self.later_class(class) {
            class.drops += 1;
        }
        if self.watches_packets {
            self.watch_drop(now, packet, reason);
        }
    }

    /// A packet goes on with its ECN field as it is now.
    #[inline]
    pub(crate) fn on_pass(&mut self, packet: Event) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.on_pass(packet);
        }
    }

    /// So many packets were marked.
    #[inline]
    pub(crate) fn count_marks(&mut self, marks: u64) {
        self.now.marks += marks;
    }

    /// A packet was, or will be, sent; it waits `delay` and has left by `departure`.
    #[inline]
    pub(crate) fn on_service(&mut self, flow: u32, bytes: u32, delay: Time, departure: Time) {
        self.now.accepted += 1;
        self.now.accepted_bytes += u64::from(bytes);
        // A packet on a link that stands still for good has no delay yet.
        if departure < Time::NEVER {
            self.waits.add(delay);
        }
        if self.log_limit > 0 {
            self.record(departure, flow, LogEvent::Departure);
        }
    }

    /// Books the time since the last change under the length that the queue had; returns its bin.
    #[inline]
    pub(crate) fn account_queue(&mut self, now: Time, queue: u64) -> usize {
        let span = now - self.changed_at;
        self.changed_at = now;
        self.queue_over_time.add(queue, span)
    }

    #[inline]
    pub(crate) fn on_random_loss(&mut self) {
        self.now.random_losses += 1;
    }

    #[cold]
    fn watch_arrival(&mut self, packet: Event, queue: u64) {
        self.record(packet.time(), packet.flow(), LogEvent::Arrival);
        if let Some(dispersion) = &mut self.dispersion {
            dispersion.on_arrival(packet.time());
        }
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.on_arrival(packet, queue);
        }
    }

    #[cold]
    fn watch_drop(&mut self, now: Time, packet: Event, reason: DropReason) {
        self.record(now, packet.flow(), LogEvent::Drop);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.on_drop(packet, reason);
        }
    }

    #[cold]
    fn record(&mut self, time: Time, flow: u32, event: LogEvent) {
        if self.log.len() < self.log_limit {
            self.log.push(LogEntry { time, flow, event });
        }
    }

    fn snapshot(&self, backlog: u64, backlog_bytes: u64) -> Counters {
        Counters { backlog, backlog_bytes, ..self.now }
    }

    /// Starts the statistics afresh at `now`; series and log go on.
    pub(crate) fn begin(&mut self, now: Time, backlog: u64, backlog_bytes: u64) {
        self.before = self.snapshot(backlog, backlog_bytes);
        self.changed_at = now;
        self.burst_length = 0;
        self.burst_flow = u32::MAX;
        self.queue_over_time.clear();
        self.queue_seen.clear();
        self.waits.clear();
        for class in &mut self.later_classes {
            (class.arrivals, class.drops) = (0, 0);
            class.waits.clear();
        }
        self.bursts.clear();
        if let Some(dispersion) = &mut self.dispersion {
            dispersion.restart(now);
        }
    }

    /// Closes the statistics at `now`.
    pub(crate) fn end(&mut self, now: Time, queue: u64, backlog: u64, backlog_bytes: u64) {
        self.account_queue(now, queue);
        self.close_burst();
        if let Some(dispersion) = &mut self.dispersion {
            dispersion.pass(now);
        }
        self.now = self.snapshot(backlog, backlog_bytes);
    }

    pub(crate) fn sample(
        &mut self,
        time: Time,
        queue_packets: u64,
        backlog_bytes: u64,
        gauges: Vec<Gauge>,
    ) {
        let now = self.snapshot(0, backlog_bytes);
        let last = self.last_sample;
        let departed = |counters: Counters| counters.accepted_bytes - counters.backlog_bytes;
        self.samples.push(LinkSample {
            time,
            queue_packets,
            departed_bytes: departed(now) - departed(last),
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
            marks: now.marks - before.marks,
            random_losses: now.random_losses - before.random_losses,
            departures: (now.accepted - now.backlog) - (before.accepted - before.backlog),
            departed_bytes: (now.accepted_bytes - now.backlog_bytes)
                - (before.accepted_bytes - before.backlog_bytes),
        }
    }

    /// Bytes of the packets that were taken in since the start of the run.
    pub fn accepted_bytes(&self) -> u64 {
        self.now.accepted_bytes
    }

    /// Packets that arrived, were dropped and were taken in since the start of the run.
    pub fn account(&self) -> (u64, u64, u64) {
        (self.now.arrivals, self.now.dropped(), self.now.accepted)
    }

    /// The measurements of a class between `begin` and `end`.
    pub fn class(&self, class: usize) -> ClassProbe {
        if let Some(later) = class.checked_sub(1) {
            return self.later_classes[later].clone();
        }
        let totals = self.totals();
        let (arrivals, drops) = (totals.arrivals, totals.drops.iter().sum());
        let mut first = ClassProbe { arrivals, drops, waits: self.waits.clone() };
        for class in &self.later_classes {
            first.arrivals -= class.arrivals;
            first.drops -= class.drops;
            first.waits.subtract(&class.waits);
        }
        first
    }

    /// Time-weighted mean of the packets that wait, over a window of length `span`.
    pub fn mean_queue(&self, span: Time) -> f64 {
        self.queue_over_time.integral() as f64 / span.picoseconds() as f64
    }
}
