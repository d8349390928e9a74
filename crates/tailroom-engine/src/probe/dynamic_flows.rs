//! Measurements of a group of dynamic flows: totals over all flows, and the completion times of
//! those that arrived in the measured window, or their ages when the run ends.

use super::coflows::CoflowProbe;
use super::durations::{Durations, Percentile};
use super::flow::FlowCounters;
use crate::units::Time;

/// Upper bounds of the classes of flow sizes, in bytes of payload; the last class is unbounded.
pub const SIZE_CLASSES: [u64; 6] = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, u64::MAX];

/// Slowdowns are stored in thousandths.
const SLOWDOWN_UNIT: f64 = 1e3;

/// The start of a dynamic flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowStart {
    /// Arrival time of the flow.
    pub start: Time,
    /// Payload in bytes.
    pub bytes: u64,
    /// Completion time of the flow if it were alone: its bits divided by its peak rate or the rate
    /// of the slowest link, whichever is less, plus what the further links add because they send whole
    /// packets, plus a round trip for the last acknowledgement.
    pub ideal: Time,
}

/// The end of a dynamic flow, or its state at the end of the run.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When the last byte was acknowledged; `None` if the flow has not completed.
    pub completed_at: Option<Time>,
    /// Counts inside the measured window.
    pub window: FlowCounters,
    /// Packets sent inside the measured window that were lost.
    pub lost: u64,
    /// Packets sent inside the measured window that arrived with a mark.
    pub marked: u64,
}

/// The flows of one size class.
#[derive(Clone, Debug, Default)]
pub struct SizeClass {
    /// Packets sent by the completed and the unfinished flows.
    pub sent: u64,
    /// Number of these packets that were lost.
    pub lost: u64,
    /// From the arrival of a flow inside the measured window to its completion before the end of the
    /// run, in picoseconds.
    pub durations: Durations,
    /// These times over the ideal ones.
    slowdowns: Durations,
}

impl SizeClass {
    /// Returns the mean of completion time over ideal time; `None` if there are no flows.
    pub fn mean_slowdown(&self) -> Option<f64> {
        self.slowdowns.mean(1e-9)
    }

    /// Returns percentiles of completion time over ideal time; `None` if there are no flows.
    pub fn slowdowns<const N: usize>(&self, quantiles: [f64; N]) -> [Option<Percentile>; N] {
        let found = self.slowdowns.percentiles(quantiles);
        found.map(|found| found.map(|found| found.map(|thousandths| thousandths / SLOWDOWN_UNIT)))
    }

    /// Adds a flow, which has not completed if `completed_at` is `None`.
    fn add(&mut self, flow_start: &FlowStart, departure: &Departure, end: Time) {
        self.sent += departure.window.sent;
        self.lost += departure.lost;
        let has_ended = departure.completed_at.is_some();
        let duration = departure.completed_at.unwrap_or(end).since(flow_start.start);
        let slowdown = duration.seconds() / flow_start.ideal.seconds();
        let picoseconds = duration.picoseconds();
        self.durations.add(picoseconds, picoseconds.into(), has_ended);
        let thousandths = (slowdown * SLOWDOWN_UNIT) as u64;
        self.slowdowns.add(thousandths, (1e9 * slowdown) as u128, has_ended);
    }
}

/// One completed flow, for the flow log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLogEntry {
    /// Arrival time of the flow.
    pub start: Time,
    /// Payload in bytes.
    pub bytes: u64,
    /// Time from arrival until the last byte was acknowledged.
    pub duration: Time,
    /// Completion time of the flow if it had been alone.
    pub ideal: Time,
}

/// The measurements of one group.
#[derive(Clone, Debug)]
pub struct DynamicFlowProbe {
    measure_from: Time,
    end: Time,
    /// Flows that arrived inside the measured window.
    pub arrived: u64,
    /// Flows that arrived inside the measured window and were refused.
    pub refused: u64,
    /// Bytes on the wire of the flows that arrived inside the measured window, without
    /// retransmissions.
    pub arrived_wire_bytes: u128,
    /// Sum of the counts of every flow inside the window.
    pub totals: FlowCounters,
    /// Packets sent inside the window that were lost.
    pub lost: u64,
    /// Packets sent inside the window that arrived with a mark.
    pub marked: u64,
    /// Flows that arrived inside the window, by size; the bounds are [`SIZE_CLASSES`].
    pub classes: [SizeClass; SIZE_CLASSES.len()],
    /// Flows of all sizes that arrived inside the window.
    pub all: SizeClass,
    /// The completed flows in the order of their departure; only the first ones if there are too
    /// many.
    pub log: Vec<FlowLogEntry>,
    log_limit: usize,
    /// The coflows of the group, if its source has any.
    pub coflows: Option<CoflowProbe>,
}

impl DynamicFlowProbe {
    /// Creates a probe that measures from `measure_from` to `end` and logs at most `log_limit`
    /// flows. `coflows` measures the coflows of a source that has any.
    pub fn new(
        measure_from: Time,
        end: Time,
        log_limit: usize,
        coflows: Option<CoflowProbe>,
    ) -> Self {
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
            coflows,
        }
    }

    /// Returns whether a flow that starts at `start` counts.
    fn is_measured(&self, start: Time) -> bool {
        (self.measure_from..self.end).contains(&start)
    }

    /// Records the arrival of a flow.
    pub fn on_arrival(&mut self, flow_start: &FlowStart, wire_bytes: u128) {
        if self.is_measured(flow_start.start) {
            self.arrived += 1;
            self.arrived_wire_bytes += wire_bytes;
        }
    }

    /// Records that a flow that has arrived is refused.
    pub fn on_refusal(&mut self, flow_start: &FlowStart) {
        self.refused += u64::from(self.is_measured(flow_start.start));
    }

    /// Records that a flow has ended, or that the run has ended while the flow was in progress.
    pub fn on_departure(&mut self, flow_start: &FlowStart, departure: &Departure) {
        self.totals.add(&departure.window);
        self.lost += departure.lost;
        self.marked += departure.marked;
        if !self.is_measured(flow_start.start) {
            return;
        }
        // A flow is ahead of the links' clock, so its completion may be after the end of the run.
        let completed_at = departure.completed_at.filter(|&at| at < self.end);
        let departure = Departure { completed_at, ..*departure };
        let class = SIZE_CLASSES.partition_point(|&bound| bound <= flow_start.bytes);
        self.classes[class.min(SIZE_CLASSES.len() - 1)].add(flow_start, &departure, self.end);
        self.all.add(flow_start, &departure, self.end);
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
