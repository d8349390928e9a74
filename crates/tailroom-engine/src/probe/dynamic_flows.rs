//! What a group of flows that come and go measures: totals of all of them, and how long those took
//! that arrived in the measured window.

use super::flow::FlowCounters;
use super::histogram::Histogram;
use crate::units::Time;

/// Upper bounds of the classes of flow sizes, in bytes of payload; the last class has none.
pub const SIZE_CLASSES: [u64; 6] = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, u64::MAX];

/// Slowdowns are kept in thousandths.
const SLOWDOWN_UNIT: f64 = 1e3;

/// A flow that comes and goes, as it began.
#[derive(Clone, Copy, Debug)]
pub struct FlowStart {
    /// When it arrived.
    pub start: Time,
    /// Its payload.
    pub bytes: u64,
    /// What it would take alone: its bits at its peak rate or the slowest link's, whichever is less,
    /// and a round trip for the last acknowledgement.
    pub ideal: Time,
}

/// What is known of a flow when it has ended, or when the run has.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When its last byte was acknowledged; `None` if that is to come.
    pub completed_at: Option<Time>,
    /// Counts inside the measured window.
    pub window: FlowCounters,
    /// Packets sent inside the measured window that were lost.
    pub lost: u64,
    /// Packets sent inside the measured window that arrived with a mark.
    pub marked: u64,
}

/// The flows of one class of sizes.
#[derive(Clone, Debug, Default)]
pub struct SizeClass {
    /// Flows that arrived inside the measured window and completed before its end.
    pub completed: u64,
    /// Those that did not complete.
    pub unfinished: u64,
    /// Packets that those of both kinds sent, and how many of them were lost.
    pub sent: u64,
    /// See `sent`.
    pub lost: u64,
    /// Integers, so that the order in which flows end leaves no trace: picoseconds and billionths.
    duration_sum: u128,
    slowdown_sum: u128,
    /// Completion times in picoseconds.
    pub duration: Histogram<9>,
    slowdown: Histogram<9>,
}

impl SizeClass {
    /// Mean time from arrival to completion, in seconds; `None` if none has completed.
    pub fn mean_duration_s(&self) -> Option<f64> {
        (self.completed > 0).then(|| 1e-12 * self.duration_sum as f64 / self.completed as f64)
    }

    /// Mean of completion time over ideal time; `None` if none has completed.
    pub fn mean_slowdown(&self) -> Option<f64> {
        (self.completed > 0).then(|| 1e-9 * self.slowdown_sum as f64 / self.completed as f64)
    }

    /// Quantile of completion time over ideal time.
    pub fn slowdown_quantile(&self, quantile: f64) -> Option<f64> {
        self.slowdown.quantile(quantile).map(|value| value / SLOWDOWN_UNIT)
    }

    fn add(&mut self, flow_start: &FlowStart, departure: &Departure) {
        self.sent += departure.window.sent;
        self.lost += departure.lost;
        let Some(completed_at) = departure.completed_at else {
            self.unfinished += 1;
            return;
        };
        self.completed += 1;
        let duration = completed_at.since(flow_start.start);
        let slowdown = duration.seconds() / flow_start.ideal.seconds();
        self.duration_sum += u128::from(duration.picoseconds());
        self.slowdown_sum += (1e9 * slowdown) as u128;
        self.duration.add(duration.picoseconds(), 1);
        self.slowdown.add((slowdown * SLOWDOWN_UNIT) as u64, 1);
    }
}

/// One completed flow, for the flow log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLogEntry {
    /// When it arrived.
    pub start: Time,
    /// Its payload.
    pub bytes: u64,
    /// From its arrival until its last byte was acknowledged.
    pub duration: Time,
    /// What it would have taken alone.
    pub ideal: Time,
}

/// The measurements of one group.
#[derive(Clone, Debug)]
pub struct DynamicFlowProbe {
    measure_from: Time,
    end: Time,
    /// Flows that arrived inside the measured window.
    pub arrived: u64,
    /// Of those, flows that were refused.
    pub refused: u64,
    /// Bytes on the wire of all that arrived, without retransmissions.
    pub arrived_wire_bytes: u128,
    /// Sum of the counts inside the window, of every flow.
    pub totals: FlowCounters,
    /// Packets sent inside the window that were lost.
    pub lost: u64,
    /// Packets sent inside the window that arrived with a mark.
    pub marked: u64,
    /// By size, bounded by [`SIZE_CLASSES`]; flows that arrived inside the window.
    pub classes: [SizeClass; SIZE_CLASSES.len()],
    /// The same, of all sizes.
    pub all: SizeClass,
    /// The completed flows, in the order in which they left; the first ones if there are too many.
    pub log: Vec<FlowLogEntry>,
    log_limit: usize,
}

impl DynamicFlowProbe {
    /// A probe that measures from `measure_from` to `end` and keeps so many flows one by one.
    pub fn new(measure_from: Time, end: Time, log_limit: usize) -> Self {
        DynamicFlowProbe {
            measure_from,
            end,
            arrived: 0,
            refused: 0,
            arrived_wire_bytes: 0,
            totals: FlowCounters::default(),
            lost: 0,
            marked: 0,
            classes: std::array::from_fn(|_| SizeClass::default()),
            all: SizeClass::default(),
            log: Vec::new(),
            log_limit,
        }
    }

    /// Whether a flow that starts then counts.
    fn is_measured(&self, start: Time) -> bool {
        (self.measure_from..self.end).contains(&start)
    }

    /// A flow arrives.
    pub fn on_arrival(&mut self, flow_start: &FlowStart, wire_bytes: u128) {
        if self.is_measured(flow_start.start) {
            self.arrived += 1;
            self.arrived_wire_bytes += wire_bytes;
        }
    }

    /// The flow that has arrived is refused.
    pub fn on_refusal(&mut self, flow_start: &FlowStart) {
        self.refused += u64::from(self.is_measured(flow_start.start));
    }

    /// A flow has ended, or the run has while it was in progress.
    pub fn on_departure(&mut self, flow_start: &FlowStart, departure: &Departure) {
        self.totals.add(&departure.window);
        self.lost += departure.lost;
        self.marked += departure.marked;
        if !self.is_measured(flow_start.start) {
            return;
        }
        // A flow that runs ahead of the links may know of its end beyond that of the run.
        let completed_at = departure.completed_at.filter(|&at| at < self.end);
        let departure = Departure { completed_at, ..*departure };
        let class = SIZE_CLASSES.partition_point(|&bound| bound <= flow_start.bytes);
        self.classes[class.min(SIZE_CLASSES.len() - 1)].add(flow_start, &departure);
        self.all.add(flow_start, &departure);
        let has_room = self.log.len() < self.log_limit;
        if let Some(completed_at) = completed_at.filter(|_| has_room) {
            let FlowStart { start, bytes, ideal } = *flow_start;
            self.log.push(FlowLogEntry {
                start,
                bytes,
                duration: completed_at.since(start),
                ideal,
            });
        }
    }
}
