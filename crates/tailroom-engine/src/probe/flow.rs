//! The measurements of a flow, in the flow's own time.
//!
//! The state of a flow is ahead of the links' clock by up to a round trip, so the engine cannot
//! sample it at the links' time. Instead, before a flow takes a step at or after a checkpoint (an
//! edge of the window or a sample of the series), it records its state as of that checkpoint.

use std::collections::VecDeque;

use crate::units::Time;
use crate::work::count_step;

/// The times at which every flow of a run records its state.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoints {
    /// Start of the measured window.
    pub measure_from: Time,
    /// End of the measured window and of the run.
    pub duration: Time,
    /// Interval of the time series; [`Time::NEVER`] for none.
    pub series_interval: Time,
    /// Interval at which a caller looks at the flows; [`Time::NEVER`] if none does.
    pub step_interval: Time,
    /// Interval at which deliveries are recorded for the convergence time.
    pub progress_interval: Time,
    /// Largest number of reductions whose times are recorded.
    pub reductions_kept: usize,
}

impl Checkpoints {
    /// When the first step ends; [`Time::NEVER`] if nobody looks at the flows.
    pub fn first_step_end(&self) -> Time {
        self.step_end_after(Time::ZERO)
    }

    /// When the step ends that begins at `start`: the last one with the run.
    pub fn step_end_after(&self, start: Time) -> Time {
        if self.step_interval == Time::NEVER || start >= self.duration {
            return Time::NEVER;
        }
        start.saturating_add(self.step_interval).min(self.duration)
    }
}

/// The state of a flow at a checkpoint.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowState {
    /// Window in packets.
    pub cwnd_packets: f64,
    /// Slow-start threshold in packets.
    pub ssthresh_packets: f64,
    /// Smoothed RTT.
    pub srtt: Time,
    /// New packets delivered since the start of the run.
    pub delivered: u64,
    /// Payload bytes of these packets.
    pub delivered_bytes: u64,
    /// Packets acknowledged since the start of the run, in sequence or selectively.
    pub acknowledged: u64,
}

/// Counts since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowCounters {
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Bytes of these packets on the wire.
    pub sent_bytes: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Sum of the RTT samples, in picoseconds.
    pub rtt_sum: u128,
    /// Number of RTT samples.
    pub rtt_count: u64,
    /// Integral of the window over time, in packets times picoseconds; filled in at checkpoints.
    pub cwnd_area: f64,
    /// Window reductions, timeouts included.
    pub reductions: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Reductions that were taken back.
    pub undone: u64,
    /// Tail loss probes (RFC 8985).
    pub loss_probes: u64,
    /// New packets delivered; filled in at checkpoints.
    pub delivered: u64,
    /// Payload bytes of these packets; filled in at checkpoints.
    pub delivered_bytes: u64,
}

impl FlowCounters {
    /// Adds the counts of another flow.
    pub fn add(&mut self, other: &FlowCounters) {
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.retransmissions += other.retransmissions;
        self.rtt_sum += other.rtt_sum;
        self.rtt_count += other.rtt_count;
        self.cwnd_area += other.cwnd_area;
        self.reductions += other.reductions;
        self.timeouts += other.timeouts;
        self.undone += other.undone;
        self.loss_probes += other.loss_probes;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
    }

    /// Returns the counts since `before`.
    #[must_use]
    pub fn since(&self, before: &FlowCounters) -> FlowCounters {
        FlowCounters {
            sent: self.sent - before.sent,
            sent_bytes: self.sent_bytes - before.sent_bytes,
            retransmissions: self.retransmissions - before.retransmissions,
            rtt_sum: self.rtt_sum - before.rtt_sum,
            rtt_count: self.rtt_count - before.rtt_count,
            cwnd_area: self.cwnd_area - before.cwnd_area,
            reductions: self.reductions - before.reductions,
            timeouts: self.timeouts - before.timeouts,
            undone: self.undone - before.undone,
            loss_probes: self.loss_probes - before.loss_probes,
            delivered: self.delivered - before.delivered,
            delivered_bytes: self.delivered_bytes - before.delivered_bytes,
        }
    }
}

/// What became of the packets of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowAccount {
    /// Packets that left the last shared link.
    pub received: u64,
    /// Packets dropped by a queue or lost on a wire.
    pub lost: u64,
    /// Lost packets that were sent inside the measured window.
    pub lost_measured: u64,
    /// Packets sent inside the measured window that left the last shared link with a mark by the end
    /// of the run.
    pub marked_measured: u64,
    /// Packets that left the last shared link inside the measured window and that the receiver had
    /// already.
    pub duplicates_measured: u64,
    /// Packets that left the last shared link inside the measured window and that the receiver
    /// discarded.
    pub discarded_measured: u64,
    /// ACKs on the shared links of the reverse path.
    pub acks_on_the_way: u64,
}

/// Rows of a flow's time series in which nothing has happened since the first of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSamples {
    /// Number of rows.
    pub count: u64,
    /// Window in packets.
    pub cwnd_packets: f64,
    /// Slow-start threshold in packets.
    pub ssthresh_packets: f64,
    /// Smoothed RTT.
    pub srtt: Time,
    /// Payload bytes delivered between the row before and the first of these.
    pub delivered_bytes: u64,
}

/// The state and the counts of a flow at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowStep {
    /// The state.
    pub state: FlowState,
    /// The counts since the start of the run.
    pub counters: FlowCounters,
}

/// Steps in which nothing happens to a flow from the end of the first on.
#[derive(Clone, Copy, Debug)]
struct FlowSteps {
    step: FlowStep,
    window_area: WindowArea,
    /// The end of the first, and of the last.
    next: Time,
    last: Time,
}

/// A window reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Time.
    pub time: Time,
    /// Packets that the flow had sent by then.
    pub sent: u64,
}

/// The integral of a window over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowArea {
    /// Up to the last change, in packets times picoseconds.
    area: f64,
    changed_at: Time,
}

impl WindowArea {
    /// Records that the window was `cwnd_packets` up to `now`.
    #[inline]
    pub fn on_window(&mut self, now: Time, cwnd_packets: f64) {
        self.area = self.at(now, cwnd_packets);
        self.changed_at = now;
    }

    /// Returns the integral up to `now`, if the window was `cwnd_packets` since its last change.
    #[inline]
    fn at(&self, now: Time, cwnd_packets: f64) -> f64 {
        // A signed integer converts to a float faster.
        let span = now.since(self.changed_at).picoseconds().cast_signed();
        self.area + cwnd_packets * span as f64
    }
}

/// The measurements of one flow.
#[derive(Clone, Debug)]
pub struct FlowProbe {
    next_checkpoint: Time,
    /// Running counts.
    pub counters: FlowCounters,
    /// The integral of the window.
    pub window_area: WindowArea,
    record: Box<FlowRecord>,
}

/// The part of the measurements that is accessed only at checkpoints.
#[derive(Clone, Debug)]
pub struct FlowRecord {
    checkpoints: Checkpoints,
    next_series: Time,
    next_progress: Time,
    next_step: Time,
    /// The steps that nobody has taken: a flow is ahead of the links by several.
    steps: VecDeque<FlowSteps>,
    last_sampled_bytes: u64,
    /// Counts at the start of the measured window.
    pub before: Option<FlowCounters>,
    /// Counts at the end of the measured window.
    pub after: Option<FlowCounters>,
    /// The rows of the time series.
    samples: Vec<FlowSamples>,
    /// Packets delivered by each multiple of the progress interval.
    pub progress: Vec<u64>,
    /// Reductions inside the measured window; only the first ones if there are too many.
    pub reductions: Vec<Reduction>,
}

impl FlowProbe {
    /// Creates a probe that records at `checkpoints`.
    pub fn new(checkpoints: Checkpoints) -> Self {
        let intervals =
            checkpoints.duration.picoseconds() / checkpoints.progress_interval.picoseconds();
        let mut probe = FlowProbe {
            next_checkpoint: Time::ZERO,
            counters: FlowCounters::default(),
            window_area: WindowArea::default(),
            record: Box::new(FlowRecord {
                checkpoints,
                next_series: checkpoints.series_interval,
                next_progress: checkpoints.progress_interval,
                next_step: checkpoints.first_step_end(),
                steps: VecDeque::new(),
                last_sampled_bytes: 0,
                before: None,
                after: None,
                samples: Vec::new(),
                progress: Vec::with_capacity(intervals as usize),
                reductions: Vec::new(),
            }),
        };
        probe.next_checkpoint = probe.record.next_checkpoint();
        probe
    }

    /// Memory behind the probe, in bytes; that of its series is estimated before a run.
    pub fn memory_bytes(&self) -> u64 {
        size_of::<FlowRecord>() as u64
    }

    /// Returns whether the checkpoint at the end of the run is still to come.
    pub fn is_open(&self) -> bool {
        self.record.after.is_none()
    }

    /// Returns whether the last checkpoint passed is inside the measured window.
    pub fn is_measuring(&self) -> bool {
        self.record.before.is_some() && self.is_open()
    }

    /// Returns whether a checkpoint is at or before `now`.
    #[inline]
    pub fn is_checkpoint_due(&self, now: Time) -> bool {
        now >= self.next_checkpoint
    }

    /// Returns the counts inside the measured window; up to `now` if the flow has ended in the
    /// window.
    pub fn window(&self, now: &FlowState) -> FlowCounters {
        let counters = FlowCounters {
            cwnd_area: self.window_area.area,
            delivered: now.delivered,
            delivered_bytes: now.delivered_bytes,
            ..self.counters
        };
        let record = &self.record;
        let after = record.after.unwrap_or(counters);
        after.since(&record.before.unwrap_or(after))
    }

    /// Records `state` at every checkpoint up to `now`; must be called before the flow takes its
    /// step at `now`.
    pub fn record_until(&mut self, now: Time, state: &FlowState) {
        if self.next_checkpoint <= now {
            self.record_checkpoints(now, state);
        }
    }

    /// Nothing has happened since the first of the checkpoints: all of one kind are one record.
    #[cold]
    fn record_checkpoints(&mut self, now: Time, state: &FlowState) {
        let FlowProbe { counters, window_area, record, .. } = self;
        let now = now.min(record.checkpoints.duration);
        let counters = FlowCounters {
            delivered: state.delivered,
            delivered_bytes: state.delivered_bytes,
            ..*counters
        };
        record.pass_samples(now, state);
        record.pass_steps(now, FlowStep { state: *state, counters }, *window_area);
        record.pass_edges(now, |edge| FlowCounters {
            // Computed without storing the sum, so that a checkpoint does not change how later sums
            // are rounded.
            cwnd_area: window_area.at(edge, state.cwnd_packets),
            ..counters
        });
        self.next_checkpoint = self.record.next_checkpoint();
    }

    /// Records that the window was `cwnd_packets` up to `now`.
    #[inline]
    pub fn on_window(&mut self, now: Time, cwnd_packets: f64) {
        self.window_area.on_window(now, cwnd_packets);
    }

    /// When the next checkpoint is due; [`Time::NEVER`] after the last.
    pub fn next_checkpoint(&self) -> Time {
        self.next_checkpoint
    }

    /// Records that a packet left the sender; returns the number of packets sent before it.
    #[inline]
    pub fn on_sent(&mut self, bytes: u32, is_retransmission: bool) -> u64 {
        let sent_before = self.counters.sent;
        self.counters.sent += 1;
        self.counters.sent_bytes += u64::from(bytes);
        self.counters.retransmissions += u64::from(is_retransmission);
        sent_before
    }

    /// Records an RTT sample.
    #[inline]
    pub fn on_rtt(&mut self, sample: Time) {
        self.counters.rtt_sum += u128::from(sample.picoseconds());
        self.counters.rtt_count += 1;
    }

    /// Records a reduction of the window.
    pub fn on_reduction(&mut self, now: Time, is_timeout: bool) {
        self.counters.reductions += 1;
        self.counters.timeouts += u64::from(is_timeout);
        let record = &mut self.record;
        let is_inside = now >= record.checkpoints.measure_from && now < record.checkpoints.duration;
        if is_inside && record.reductions.len() < record.checkpoints.reductions_kept {
            record.reductions.push(Reduction { time: now, sent: self.counters.sent });
        }
    }

    /// When the next step ends whose state is not recorded.
    pub fn next_step(&self) -> Time {
        self.record.next_step
    }

    /// Records steps of this length, from the one that ends at `end` on.
    pub fn begin_steps(&mut self, end: Time, interval: Time) {
        self.record.checkpoints.step_interval = interval;
        self.record.next_step = end;
        self.next_checkpoint = self.record.next_checkpoint();
    }

    /// Leaves out the next step: a copy of the flow has recorded it.
    pub fn skip_step(&mut self) {
        self.record.next_step = self.record.checkpoints.step_end_after(self.record.next_step);
        self.next_checkpoint = self.record.next_checkpoint();
    }

    /// Records no more steps.
    pub fn end_steps(&mut self) {
        self.record.steps = VecDeque::new();
        self.record.next_step = Time::NEVER;
        self.next_checkpoint = self.record.next_checkpoint();
    }

    /// Takes the state at the end of the earliest step that is recorded.
    pub fn take_step(&mut self) -> Option<FlowStep> {
        let FlowRecord { steps, checkpoints, .. } = &mut *self.record;
        let first = steps.front_mut()?;
        let FlowSteps { mut step, window_area, next, last } = *first;
        step.counters.cwnd_area = window_area.at(next, step.state.cwnd_packets);
        first.next = checkpoints.step_end_after(next);
        if next >= last {
            steps.pop_front();
        }
        Some(step)
    }

    /// Returns the data recorded at the checkpoints.
    pub fn record(&self) -> &FlowRecord {
        &self.record
    }
}

impl FlowRecord {
    fn next_checkpoint(&self) -> Time {
        let edge = match (&self.before, &self.after) {
            (None, _) => self.checkpoints.measure_from,
            (Some(_), None) => self.checkpoints.duration,
            (Some(_), Some(_)) => return Time::NEVER,
        };
        edge.min(self.next_series).min(self.next_progress).min(self.next_step)
    }

    fn pass_samples(&mut self, now: Time, state: &FlowState) {
        let Checkpoints { series_interval, progress_interval, .. } = self.checkpoints;
        let count = take_multiples(&mut self.next_series, series_interval, now);
        if count > 0 {
            count_step();
            self.samples.push(FlowSamples {
                count,
                cwnd_packets: state.cwnd_packets,
                ssthresh_packets: state.ssthresh_packets,
                srtt: state.srtt,
                delivered_bytes: state.delivered_bytes - self.last_sampled_bytes,
            });
            self.last_sampled_bytes = state.delivered_bytes;
        }
        let count = take_multiples(&mut self.next_progress, progress_interval, now);
        self.progress.resize(self.progress.len() + count as usize, state.delivered);
    }

    fn pass_steps(&mut self, now: Time, step: FlowStep, window_area: WindowArea) {
        if self.next_step > now {
            return;
        }
        count_step();
        let next = self.next_step;
        // The run ends with a step, however short.
        let interval = self.checkpoints.step_interval.picoseconds();
        let whole =
            next + Time::from_picoseconds(now.since(next).picoseconds() / interval * interval);
        let last = if now == self.checkpoints.duration { now } else { whole };
        self.steps.push_back(FlowSteps { step, window_area, next, last });
        self.next_step = self.checkpoints.step_end_after(last);
    }

    fn pass_edges(&mut self, now: Time, counters: impl Fn(Time) -> FlowCounters) {
        let Checkpoints { measure_from, duration, .. } = self.checkpoints;
        if self.before.is_none() && measure_from <= now {
            self.before = Some(counters(measure_from));
        }
        if self.after.is_none() && duration <= now {
            self.after = Some(counters(duration));
        }
    }

    /// The time series so far, each row by itself.
    pub fn series(&self) -> impl Iterator<Item = FlowSamples> {
        self.samples.iter().flat_map(|&rows| {
            let silent = FlowSamples { delivered_bytes: 0, ..rows };
            let silent = std::iter::repeat_n(silent, rows.count as usize - 1);
            std::iter::once(rows).chain(silent)
        })
    }
}

/// Takes the multiples of an interval up to `now`, of which `next` is the first; returns their number.
fn take_multiples(next: &mut Time, interval: Time, now: Time) -> u64 {
    if *next > now {
        return 0;
    }
    let count = now.since(*next).picoseconds() / interval.picoseconds() + 1;
    let span = Time::from_picoseconds(interval.picoseconds().saturating_mul(count));
    *next = next.saturating_add(span);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    fn probe() -> FlowProbe {
        FlowProbe::new(Checkpoints {
            measure_from: MS(25),
            duration: MS(1_003),
            series_interval: MS(7),
            step_interval: MS(10),
            progress_interval: MS(100),
            reductions_kept: 0,
        })
    }

    fn taken(probe: &mut FlowProbe) -> Vec<String> {
        std::iter::from_fn(|| probe.take_step()).map(|step| format!("{step:?}")).collect()
    }

    /// A flow that does something at three times: it records each millisecond, or only when it does something.
    #[test]
    fn silence_is_recorded_at_once_as_it_is_bit_by_bit() {
        let (mut often, mut rarely) = (probe(), probe());
        let mut state = FlowState { cwnd_packets: 10.0 / 3.0, ..FlowState::default() };
        for (from, to) in [(0, 14), (14, 15), (15, 640), (640, 1_200)] {
            (from + 1..=to).for_each(|ms| often.record_until(MS(ms), &state));
            rarely.record_until(MS(to), &state);
            for probe in [&mut often, &mut rarely] {
                probe.on_window(MS(to), state.cwnd_packets);
                probe.on_sent(1_000, false);
            }
            (state.cwnd_packets, state.delivered) = (state.cwnd_packets * 1.7, state.delivered + 3);
            state.delivered_bytes += 2_900;
        }
        let rows = |probe: &FlowProbe| {
            let rows = probe.record().series().map(|row| FlowSamples { count: 1, ..row });
            rows.collect::<Vec<_>>()
        };
        assert_eq!((rows(&often).len(), rarely.record().samples.len()), (1_003 / 7, 3));
        assert_eq!(rows(&often), rows(&rarely));
        assert_eq!(often.record().progress, rarely.record().progress);
        let edges =
            |probe: &FlowProbe| format!("{:?}", (probe.record().before, probe.record().after));
        assert_eq!(edges(&often), edges(&rarely));
        let steps = taken(&mut rarely);
        assert_eq!(steps.len(), 101); // the last one has 3 ms
        assert_eq!(steps, taken(&mut often));
    }
}
