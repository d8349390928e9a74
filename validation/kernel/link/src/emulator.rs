//! The loop that carries packets between the hosts.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use tailroom_engine::units::Time;

use crate::clock::{Lateness, Stalls, VirtualClock};
use crate::conversations::Conversations;
use crate::direction::Direction;
use crate::hosts::Host;
use crate::ip::{self, Header, Segment};
use crate::packet_log::{PacketLog, Way};
use crate::plan::{FlowPlan, Plan};
use crate::settings::{LONGEST_STALL_S, MOST_STALLED, Settings};
use crate::system;

/// Largest packet that a link takes, in bytes.
const MAX_PACKET_BYTES: usize = 9_216;

/// Real-time priority of the link, above that of the senders.
pub const PRIORITY: i32 = 10;
/// The two directions of the link.
const FROM_HOST_A: usize = 0;
const TO_HOST_A: usize = 1;
/// Packets that are read from a device before anything else is looked at.
const MOST_READ_AT_ONCE: usize = 64;
/// Shortest sleep. Without one, a link that always has something due would never yield, and the
/// kernel throttles real-time threads that take all of a processor.
const SHORTEST_SLEEP_NS: u64 = 1_000;

/// What the loop has seen apart from the statistics of its directions.
#[derive(Debug)]
pub struct Outcome {
    /// Both directions at the end.
    pub directions: [Direction; 2],
    /// The link's clock, with the stalls of the machine.
    pub clock: VirtualClock,
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// In each direction, the most packets that came from a host without a pause within the measured
    /// window.
    pub largest_batch_packets: [usize; 2],
    /// In each direction, the packets by which such batches exceeded the buffer, in sum.
    pub batch_excess_packets: [u64; 2],
    /// Packets that a host's device did not take.
    pub write_errors: u64,
    /// By flow, its requests or its writes.
    pub conversations: Vec<Conversations>,
    /// The packets of host A, if they were to be noted.
    pub packet_log: Option<PacketLog>,
    /// When the loop ended.
    pub ended: Time,
}

/// The link between two hosts.
#[derive(Debug)]
pub struct Emulator<'a> {
    plan: &'a Plan,
    hosts: &'a [Host; 2],
    directions: [Direction; 2],
    clock: VirtualClock,
    lateness: Lateness,
    /// Packets read since the host last paused.
    batches: [usize; 2],
    largest_batch_packets: [usize; 2],
    batch_excess_packets: [u64; 2],
    write_errors: u64,
    conversations: Vec<Conversations>,
    packet_log: Option<PacketLog>,
    queue_sample_interval: Time,
    gives_up: bool,
    next_sample: Time,
    buffer: Box<[u8; MAX_PACKET_BYTES]>,
}

impl<'a> Emulator<'a> {
    /// A link that begins when the monotonic clock shows `origin_ns`. Its clock stops while packets
    /// are late by more than the threshold for stalls.
    pub fn new(plan: &'a Plan, hosts: &'a [Host; 2], origin_ns: u64, settings: Settings) -> Self {
        let direction = |at| Direction::new(plan, at, settings.most_drops);
        Emulator {
            plan,
            hosts,
            directions: [direction(0), direction(1)],
            clock: VirtualClock::new(origin_ns, settings.stall_threshold),
            lateness: Lateness::default(),
            batches: [0; 2],
            largest_batch_packets: [0; 2],
            batch_excess_packets: [0; 2],
            write_errors: 0,
            conversations: plan.flows.iter().map(Conversations::new).collect(),
            packet_log: settings.logs_packets.then(PacketLog::default),
            queue_sample_interval: settings.queue_sample_interval,
            gives_up: settings.gives_up,
            next_sample: Time::ZERO,
            buffer: Box::new([0; MAX_PACKET_BYTES]),
        }
    }

    /// Carries packets until `stop` is set, until `end`, or until it gives up.
    pub fn run(mut self, end: Time, stop: &AtomicBool) -> io::Result<Outcome> {
        let ended = loop {
            let due = self.next_due();
            let now = self.clock.observe(system::monotonic_ns(), due);
            let is_over = now >= end || stop.load(Ordering::Relaxed) || system::is_interrupted();
            if is_over || (self.gives_up && self.has_stalled()) {
                break now;
            }
            // Samples that are due lie before `now`, and the links' times never decrease.
            self.sample(now);
            self.deliver(now);
            let mut read = 0;
            for direction in 0..2 {
                read += self.read(direction, now)?;
            }
            if read == 0 {
                self.sleep();
            }
        };
        Ok(Outcome {
            directions: self.directions,
            clock: self.clock,
            lateness: self.lateness,
            largest_batch_packets: self.largest_batch_packets,
            batch_excess_packets: self.batch_excess_packets,
            write_errors: self.write_errors,
            conversations: self.conversations,
            packet_log: self.packet_log,
            ended,
        })
    }

    /// Whether the machine has stalled for too long for the run to be used.
    fn has_stalled(&self) -> bool {
        let Stalls { total_s, longest_s, .. } = self.clock.stalls();
        let most_s = MOST_STALLED * self.plan.network.duration.seconds();
        total_s > most_s || longest_s > LONGEST_STALL_S
    }

    fn next_due(&self) -> Time {
        let due = self.directions.iter().map(Direction::next_due);
        due.fold(self.next_sample, Time::min)
    }

    fn deliver(&mut self, now: Time) {
        let Emulator { plan, directions, hosts, lateness, write_errors, conversations, .. } = self;
        let packet_log = &mut self.packet_log;
        for (at, direction) in directions.iter_mut().enumerate() {
            let mut device: &File = &hosts[1 - at].device;
            direction.advance(now, |packet, due| {
                lateness.count(now, due);
                if let Some((flow, segment, port)) = of_conversation(plan, 1 - at, packet) {
                    conversations[flow].on_delivered(now, port, segment);
                }
                if let (TO_HOST_A, Some(log)) = (at, packet_log.as_mut()) {
                    log.note(Way::Received, system::monotonic_ns(), packet);
                }
                let is_taken = device.write(packet).is_ok_and(|bytes| bytes == packet.len());
                *write_errors += u64::from(!is_taken);
            });
        }
    }

    fn sample(&mut self, now: Time) {
        while self.next_sample <= now {
            for direction in &mut self.directions {
                direction.sample(self.next_sample);
            }
            self.next_sample += self.queue_sample_interval;
        }
    }

    /// Reads what a host has sent; everything arrives at `now`.
    fn read(&mut self, direction: usize, now: Time) -> io::Result<usize> {
        for read in 0..MOST_READ_AT_ONCE {
            let device = &self.hosts[direction].device;
            let Some(bytes) = system::read_packet(device, &mut self.buffer[..])? else {
                self.end_batch(direction, now);
                return Ok(read);
            };
            self.batches[direction] += 1;
            let packet = &self.buffer[..bytes];
            if let Some((flow, segment, port)) = of_conversation(self.plan, direction, packet) {
                self.conversations[flow].on_sent(now, port, segment);
            }
            if let (FROM_HOST_A, Some(log)) = (direction, &mut self.packet_log) {
                log.note(Way::Sent, system::monotonic_ns(), packet);
            }
            let header = ip::parse(packet);
            let flow = header
                .and_then(|header| self.plan.flow_of(header.source_port, header.destination_port));
            match (header, flow) {
                (Some(header), Some(flow)) => {
                    self.directions[direction].arrive(now, flow, header.ecn, packet);
                }
                _ => self.directions[direction].pass_foreign(now, packet),
            }
        }
        Ok(MOST_READ_AT_ONCE)
    }

    fn end_batch(&mut self, direction: usize, now: Time) {
        let packets = std::mem::take(&mut self.batches[direction]);
        let network = &self.plan.network;
        if network.measure_from <= now && now < network.duration {
            let largest = &mut self.largest_batch_packets[direction];
            *largest = packets.max(*largest);
            if let Some(buffer) = self.directions[direction].buffer_packets() {
                let excess = packets.saturating_sub(buffer as usize) as u64;
                self.batch_excess_packets[direction] += excess;
            }
        }
    }

    /// Waits for a packet, or until something is due.
    fn sleep(&self) {
        let timeout = self.clock.wait_ns(system::monotonic_ns(), self.next_due());
        let mut devices = [0, 1].map(|host: usize| libc::pollfd {
            fd: self.hosts[host].device.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        });
        system::wait(&mut devices, timeout.max(SHORTEST_SLEEP_NS));
    }
}

/// The flow, the segment and the sender's port of a packet, if it belongs to requests or writes whose data
/// go in `direction`.
fn of_conversation(plan: &Plan, direction: usize, packet: &[u8]) -> Option<(usize, Segment, u16)> {
    if !plan.has_conversations() {
        return None;
    }
    let Header { source_port, destination_port, .. } = ip::parse(packet)?;
    let flow = plan.flow_of(source_port, destination_port)? as usize;
    let FlowPlan { port, direction: of_data, .. } = &plan.flows[flow];
    if !plan.flows[flow].has_conversations() {
        return None;
    }
    let sender = if destination_port == *port { source_port } else { destination_port };
    (*of_data == direction).then_some((flow, ip::segment(packet)?, sender))
}
