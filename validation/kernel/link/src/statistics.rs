//! What is counted in a direction: per flow, per bin of time, and of the queue.

use serde::Serialize;
use tailroom_engine::probe::histogram::Histogram;
use tailroom_engine::units::Time;

use crate::plan::Plan;

const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;

/// Packets of a flow in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets that arrived at the link.
    pub arrivals_packets: u64,
    /// Of these, packets with payload: neither pure ACKs nor those of handshakes.
    pub data_arrivals_packets: u64,
    /// Packets that pass no link in this direction, and are only delayed.
    pub bypassing_packets: u64,
    /// Packets whose last bit has left the link.
    pub departures_packets: u64,
    /// Their bytes.
    pub departures_bytes: u64,
    /// Packets that the discipline dropped.
    pub drops_packets: u64,
    /// Packets that the wire lost at random.
    pub random_losses_packets: u64,
    /// Of the packets that were dropped or lost, those with payload.
    pub data_losses_packets: u64,
    /// Packets that the discipline marked.
    pub marks_packets: u64,
}

/// Why a packet got no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The discipline dropped it.
    Dropped,
    /// The wire lost it after its transmission.
    OnTheWire,
}

/// The statistics of a direction.
#[derive(Debug)]
pub struct Statistics {
    measure_from: Time,
    duration: Time,
    bin: Time,
    /// By flow: over the whole run, and in the measured window.
    whole: Vec<Counts>,
    measured: Vec<Counts>,
    /// By flow: bytes that departed in each bin.
    bins: Vec<Vec<u64>>,
    queue_packets: Vec<u64>,
    waits: Histogram<7>,
    wait_sum: u128,
    waits_counted: u64,
    /// Drops that are recorded one by one; more are only counted.
    most_drops: usize,
    drops: Vec<(Time, u32)>,
    /// Packets of no flow.
    pub foreign_packets: u64,
}

impl Statistics {
    /// Empty statistics of the flows of a plan. At most `most_drops` drops are recorded one by one.
    pub fn new(plan: &Plan, bin: Time, most_drops: usize) -> Self {
        let (flows, network) = (plan.flows.len(), &plan.network);
        let (measure_from, duration) = (network.measure_from, network.duration);
        Statistics {
            measure_from,
            duration,
            bin,
            whole: vec![Counts::default(); flows],
            measured: vec![Counts::default(); flows],
            bins: vec![Vec::new(); flows],
            queue_packets: Vec::new(),
            waits: Histogram::default(),
            wait_sum: 0,
            waits_counted: 0,
            most_drops,
            drops: Vec::new(),
            foreign_packets: 0,
        }
    }

    fn is_measured(&self, at: Time) -> bool {
        self.measure_from <= at && at < self.duration
    }

    fn count(&mut self, at: Time, flow: u32, change: impl Fn(&mut Counts)) {
        change(&mut self.whole[flow as usize]);
        if self.is_measured(at) {
            change(&mut self.measured[flow as usize]);
        }
    }

    /// Counts an arrival.
    pub fn on_arrival(&mut self, at: Time, flow: u32, is_data: bool) {
        self.count(at, flow, |counts| {
            counts.arrivals_packets += 1;
            counts.data_arrivals_packets += u64::from(is_data);
        });
    }

    /// Counts a packet that passes no link.
    pub fn on_bypass(&mut self, at: Time, flow: u32) {
        self.count(at, flow, |counts| counts.bypassing_packets += 1);
    }

    /// Counts a packet that got no further.
    pub fn on_lost(&mut self, at: Time, flow: u32, loss: Loss, is_data: bool) {
        self.count(at, flow, |counts| {
            match loss {
                Loss::Dropped => counts.drops_packets += 1,
                Loss::OnTheWire => counts.random_losses_packets += 1,
            }
            counts.data_losses_packets += u64::from(is_data);
        });
        if self.drops.len() < self.most_drops {
            self.drops.push((at, flow));
        }
    }

    /// Counts a packet that the discipline has marked and that departs at `at`.
    pub fn on_mark(&mut self, at: Time, flow: u32) {
        self.count(at, flow, |counts| counts.marks_packets += 1);
    }

    /// Counts a departure at `at`, after a wait for the start of the transmission.
    pub fn on_departure(&mut self, at: Time, flow: u32, bytes: u32, waited: Time) {
        let bytes = u64::from(bytes);
        self.count(at, flow, |counts| {
            counts.departures_packets += 1;
            counts.departures_bytes += bytes;
        });
        let bin = (at.picoseconds() / self.bin.picoseconds()) as usize;
        let bins = &mut self.bins[flow as usize];
        if bins.len() <= bin {
            bins.resize(bin + 1, 0);
        }
        bins[bin] += bytes;
        if self.is_measured(at) {
            self.waits.add(waited.picoseconds() / PICOSECONDS_PER_MICROSECOND, 1);
            self.wait_sum += u128::from(waited.picoseconds());
            self.waits_counted += 1;
        }
    }

    /// Records the length of the queue, once per interval.
    pub fn sample_queue(&mut self, packets: u64) {
        self.queue_packets.push(packets);
    }

    /// The counts of a flow over the whole run.
    pub fn whole(&self, flow: u32) -> Counts {
        self.whole[flow as usize]
    }

    /// The result.
    pub fn report(&self) -> Report {
        let wait = |share| self.waits.quantile(share).unwrap_or(0.0) * 1e-6;
        let mean_ps = self.wait_sum as f64 / self.waits_counted.max(1) as f64;
        let bins = self.bins.iter().map(Vec::len).max().unwrap_or(0);
        let filled = |counts: &Vec<u64>| {
            let mut counts = counts.clone();
            counts.resize(bins, 0);
            counts
        };
        Report {
            whole: self.whole.clone(),
            measured: self.measured.clone(),
            departures_bytes_per_bin: self.bins.iter().map(filled).collect(),
            queue_packets: self.queue_packets.clone(),
            queue_delay_s_mean: mean_ps * 1e-12,
            queue_delay_s_p50: wait(0.5),
            queue_delay_s_p99: wait(0.99),
            drop_times_s: self.drops.iter().map(|(at, _)| microseconds(*at)).collect(),
            drop_flows: self.drops.iter().map(|(_, flow)| *flow).collect(),
            foreign_packets: self.foreign_packets,
        }
    }
}

/// A time in seconds, to the microsecond: fewer digits in the file.
pub fn microseconds(at: Time) -> f64 {
    (at.seconds() * 1e6).round() / 1e6
}

/// The microseconds between two times.
pub fn microseconds_from(from: Time, to: Time) -> u64 {
    to.since(from).picoseconds() / PICOSECONDS_PER_MICROSECOND
}

/// The statistics of a direction, as they are written.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// By flow, over the whole run, until the last packet.
    pub whole: Vec<Counts>,
    /// By flow, in the measured window of the scenario.
    pub measured: Vec<Counts>,
    /// By flow: bytes that departed in each bin of time.
    pub departures_bytes_per_bin: Vec<Vec<u64>>,
    /// Packets that wait, at equal intervals from 0.
    pub queue_packets: Vec<u64>,
    /// Mean wait of the packets that departed in the measured window.
    pub queue_delay_s_mean: f64,
    /// Median of these waits.
    pub queue_delay_s_p50: f64,
    /// 99th percentile of these waits.
    pub queue_delay_s_p99: f64,
    /// When packets were dropped or lost, over the whole run.
    pub drop_times_s: Vec<f64>,
    /// The flows of these packets.
    pub drop_flows: Vec<u32>,
    /// Packets that belong to no flow.
    pub foreign_packets: u64,
}
