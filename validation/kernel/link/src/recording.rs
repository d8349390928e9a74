//! A run from its beginning to the file of its results.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use serde::Serialize;

use crate::clock::{LatenessReport, Stalls};
use crate::connection::DRAIN;
use crate::counters::{self, Counters};
use crate::direction::BIN;
use crate::emulator::{self, Emulator, Outcome};
use crate::hosts::{self, DeviceCounts, Host};
use crate::packet_log::PacketLog;
use crate::plan::Plan;
use crate::settings::{LONGEST_STALL_S, MOST_STALLED, Settings};
use crate::statistics::Report;
use crate::system;
use crate::traffic::{self, FlowRecord, Traffic};

/// Share of the drops that a machine may cause by handing over, at once, more than the buffer holds: a
/// sender that was held up. One that paces into a tiny buffer loses far more by itself.
const MOST_DROPPED_BY_BATCHES: f64 = 0.02;
/// Time between the preparations and time 0 of the run.
const LEAD_NS: u64 = 50_000_000;

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct Recording {
    /// Why the run must not be used; empty if it is valid.
    pub invalid: Vec<String>,
    /// Release of the kernel.
    pub kernel: String,
    /// Settings of TCP (`net.ipv4.tcp_...`) at the hosts.
    pub settings: BTreeMap<String, String>,
    /// Start of the measured window.
    pub measured_from_s: f64,
    /// End of the measured window.
    pub measured_to_s: f64,
    /// What the monotonic clock showed at time 0 of the run.
    pub origin_monotonic_ns: u64,
    /// Stalls of the machine, by which the link's clock is behind the monotonic clock at the end.
    pub stalls: Stalls,
    /// How late packets were delivered.
    pub lateness: LatenessReport,
    /// Packets that a host's device did not take.
    pub write_errors_packets: u64,
    /// Interval of the samples of queues.
    pub queue_sample_interval_s: f64,
    /// Interval of the series of departures.
    pub departures_bin_s: f64,
    /// From host A to host B, and back.
    pub directions: Vec<DirectionRecord>,
    /// Counts of the devices of host A and host B.
    pub devices: [DeviceCounts; 2],
    /// The kernel's counters of TCP at host A and host B.
    pub counters: CountersRecord,
    /// By flow.
    pub flows: Vec<FlowRecord>,
    /// The packets of host A, which have a file of their own.
    #[serde(skip)]
    pub packet_log: Option<PacketLog>,
}

/// Counters of host A and host B. Those of the measured window are read on the monotonic clock.
#[derive(Debug, Serialize)]
pub struct CountersRecord {
    /// In the measured window.
    pub measured: [Counters; 2],
    /// Over the whole run.
    pub whole: [Counters; 2],
}

impl CountersRecord {
    /// What was counted, by the readings at the start of the measured window, at its end, and at the
    /// end of the run; a run that was interrupted lacks the first ones.
    fn new(readings: &[[Counters; 2]]) -> Self {
        let nothing = || [Counters::new(), Counters::new()];
        let (first, last) = (readings.first(), readings.last().cloned().unwrap_or_else(nothing));
        let (from, to) = (first.unwrap_or(&last), readings.get(1).unwrap_or(&last));
        let measured = [0, 1].map(|host| counters::between(&from[host], &to[host]));
        CountersRecord { measured, whole: last }
    }
}

/// The result of a direction.
#[derive(Debug, Serialize)]
pub struct DirectionRecord {
    /// Name of its link in the scenario, if it has one.
    pub link: Option<String>,
    /// Rate of the link until its first change.
    pub rate_bps: Option<u64>,
    /// Fraction of the capacity that departing packets used in the measured window.
    pub utilization: Option<f64>,
    /// Size of the buffer, in packets of the largest size.
    pub buffer_packets: Option<f64>,
    /// The most packets that came from the host without a pause, in the measured window.
    pub largest_batch_packets: usize,
    /// The packets by which such batches exceeded the buffer, in sum.
    pub batch_excess_packets: u64,
    /// Packets that waited or propagated at the end.
    pub packets_inside: usize,
    /// The statistics.
    #[serde(flatten)]
    pub statistics: Report,
}

/// Runs a plan. The program has to have the rights of root.
///
/// # Errors
/// The system call that failed.
pub fn record(plan: &Plan, settings: Settings) -> io::Result<Recording> {
    let host = |number| {
        let told = |error| io::Error::other(format!("host {number} cannot be made: {error}"));
        Host::new(number, plan.mtu).map_err(told)
    };
    let hosts = [host(0)?, host(1)?];
    let stop = AtomicBool::new(false);
    let (outcome, traffic, origin_ns) = thread::scope(|scope| {
        let (ready, is_ready) = mpsc::channel();
        let (origin, when) = mpsc::channel();
        let (hosts, stop) = (&hosts, &stop);
        let traffic = scope.spawn(move || -> io::Result<Traffic<'_>> {
            let prepared = Traffic::new(plan, hosts, settings.sample_interval);
            let prepared = prepared
                .and_then(|traffic| system::run_in_real_time(traffic::PRIORITY).map(|()| traffic));
            let _ = ready.send(()); // the other side waits for it
            let traffic = prepared?;
            let ended = when.recv().map(|origin_ns| traffic.run(origin_ns, stop));
            stop.store(true, Ordering::Relaxed);
            ended.map_err(io::Error::other)?
        });
        let _ = is_ready.recv(); // a thread that has failed tells so at its end
        let origin_ns = system::monotonic_ns() + LEAD_NS;
        let _ = origin.send(origin_ns);
        let outcome = carry(plan, hosts, settings, origin_ns, stop);
        stop.store(true, Ordering::Relaxed);
        let traffic =
            traffic.join().unwrap_or_else(|_| Err(io::Error::other("the traffic failed")))?;
        io::Result::Ok((outcome?, traffic, origin_ns))
    })?;
    let counters = CountersRecord::new(traffic.readings());
    let flows = traffic.into_records(&outcome.conversations, &outcome.clock);
    let devices = [hosts[0].counts()?, hosts[1].counts()?];
    let mut recording = Recording {
        invalid: Vec::new(),
        kernel: system::kernel_release(),
        settings: hosts::settings(),
        measured_from_s: plan.network.measure_from.seconds(),
        measured_to_s: plan.network.duration.seconds(),
        origin_monotonic_ns: origin_ns,
        stalls: outcome.clock.stalls(),
        lateness: outcome.lateness.report(),
        write_errors_packets: outcome.write_errors,
        queue_sample_interval_s: settings.queue_sample_interval.seconds(),
        departures_bin_s: BIN.seconds(),
        directions: (0..2).map(|at| DirectionRecord::new(plan, &outcome, at)).collect(),
        devices,
        counters,
        flows,
        packet_log: None,
    };
    recording.invalid = recording.faults(outcome.ended >= plan.network.duration);
    recording.packet_log = outcome.packet_log;
    Ok(recording)
}

/// The link's part of a run.
fn carry(
    plan: &Plan,
    hosts: &[Host; 2],
    settings: Settings,
    origin_ns: u64,
    stop: &AtomicBool,
) -> io::Result<Outcome> {
    hurry(emulator::PRIORITY)?;
    let end = plan.network.duration + DRAIN + DRAIN;
    Emulator::new(plan, hosts, origin_ns, settings).run(end, stop)
}

/// Gives the calling thread a real-time priority.
fn hurry(priority: i32) -> io::Result<()> {
    let told = |error| io::Error::other(format!("no real-time priority (SCHED_FIFO): {error}"));
    system::run_in_real_time(priority).map_err(told)
}

impl Recording {
    /// Why the run must not be used.
    fn faults(&self, is_whole: bool) -> Vec<String> {
        let mut faults = Vec::new();
        let Stalls { total_s, longest_s, .. } = self.stalls;
        let most_s = MOST_STALLED * self.measured_to_s;
        if !is_whole && total_s <= most_s && longest_s <= LONGEST_STALL_S {
            faults.push("the run was interrupted".to_owned());
        }
        if total_s > most_s {
            faults
                .push(format!("the machine stalled for {total_s:.3} s; {most_s:.3} s is allowed"));
        }
        if longest_s > LONGEST_STALL_S {
            faults.push(format!(
                "the machine stalled for {longest_s:.3} s at once; {LONGEST_STALL_S} s is allowed"
            ));
        }
        for direction in &self.directions {
            let excess = direction.batch_excess_packets;
            let drops = direction.measured_drops();
            if excess as f64 > MOST_DROPPED_BY_BATCHES * drops as f64 {
                faults.push(format!(
                    "bursts exceeded the buffer by {excess} packets, of {drops} drops"
                ));
            }
        }
        let drops =
            |counts: &DeviceCounts| counts.send_drops_packets + counts.receive_drops_packets;
        let drops = self.devices.iter().map(drops).sum::<u64>() + self.write_errors_packets;
        if drops > 0 {
            faults.push(format!("devices of the hosts dropped {drops} packets"));
        }
        for flow in &self.flows {
            if let Some(failure) = &flow.failure {
                faults.push(format!("flow {} failed: {failure}", flow.plan.name));
            }
        }
        faults
    }
}

impl DirectionRecord {
    fn measured_drops(&self) -> u64 {
        self.statistics.measured.iter().map(|counts| counts.drops_packets).sum()
    }

    fn new(plan: &Plan, outcome: &Outcome, at: usize) -> Self {
        let direction = &outcome.directions[at];
        let statistics = direction.statistics().report();
        let bytes: u64 = statistics.measured.iter().map(|counts| counts.departures_bytes).sum();
        let link = plan.network.links.get(at);
        DirectionRecord {
            link: link.map(|link| link.name.clone()),
            rate_bps: link.map(|link| link.rate.bits_per_second()),
            utilization: direction.capacity_bits(plan).map(|bits| bytes as f64 * 8.0 / bits),
            buffer_packets: direction.buffer_packets(),
            largest_batch_packets: outcome.largest_batch_packets[at],
            batch_excess_packets: outcome.batch_excess_packets[at],
            packets_inside: direction.packets_inside(),
            statistics,
        }
    }
}
