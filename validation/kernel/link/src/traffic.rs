//! The connections: who connects when, sends until when, and what the kernel tells of it meanwhile.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tailroom_engine::units::Time;

use crate::clock::VirtualClock;
use crate::connection::{DRAIN, connect, send_some};
use crate::conversations::Conversations;
use crate::counters::{self, Counters};
use crate::hosts::Host;
use crate::plan::{FlowPlan, Plan};
use crate::requests::{RequestGroup, RequestsRecord};
use crate::system;
use crate::tcp_info::{Samples, TcpInfo};
use crate::writes::{Writes, WritesRecord};

/// Real-time priority: above all ordinary work, below the link. A sender that is preempted while it
/// holds its socket answers many ACKs at once, in a burst that no free sender sends.
pub const PRIORITY: i32 = 5;
/// How much longer a flow sends that lasts to the end of the run. The link's clock, which ends the
/// measured window, is behind by the stalls of the machine.
const LINGER: Time = Time::from_milliseconds(500);
/// How much of the link's time the unsent data of a socket cover: enough for a sender that wakes up
/// late, and little enough that a flow stops when it is told to.
const UNSENT: Time = Time::from_milliseconds(20);
const LEAST_UNSENT_BYTES: u64 = 65_536;
const SHORTEST_WAIT_NS: u64 = 1_000;
const CHECK_OF_THE_END: Time = Time::from_milliseconds(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Sending,
    Finishing,
    Ended,
}

/// A flow, and its sockets while it lasts.
#[derive(Debug)]
struct Connection<'a> {
    plan: &'a FlowPlan,
    start: Time,
    stop: Time,
    stage: Stage,
    listener: OwnedFd,
    sender: Option<OwnedFd>,
    receiver: Option<OwnedFd>,
    /// What its application writes; `None` if it always has data.
    writes: Option<Writes<'a>>,
    received_bytes: u64,
    has_received_all: bool,
    samples: Samples,
    last: TcpInfo,
    /// The last state before the measured window, and the last one in it.
    window: [TcpInfo; 2],
    failure: Option<String>,
}

/// What the sender of a flow has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SenderCounts {
    /// Packets sent, retransmissions included.
    pub sent_packets: u32,
    /// Retransmissions.
    pub retransmissions_packets: u32,
    /// Packets that the receiver had already (DSACK).
    pub duplicates_packets: u32,
    /// Retransmission timeouts.
    pub timeouts: u16,
}

/// What is known of a flow after the run.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRecord {
    /// The flow.
    #[serde(flatten)]
    pub plan: FlowPlan,
    /// Payload that the receiver has read.
    pub received_bytes: u64,
    /// Retransmissions.
    pub retransmissions_packets: u32,
    /// Packets sent, retransmissions included.
    pub sent_packets: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// What was counted between the start and the end of the measured window, on the monotonic
    /// clock; `None` for requests.
    pub measured: Option<SenderCounts>,
    /// The requests, if it is a group of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestsRecord>,
    /// What its application has written, if it does not always have data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<WritesRecord>,
    /// Largest payload of a packet.
    pub mss_bytes: u32,
    /// Time in which the receiver's window limited the sender; should be zero.
    pub receiver_limited_s: f64,
    /// Time in which the memory of the socket limited the sender; should be zero.
    pub memory_limited_s: f64,
    /// Whether everything that was sent was acknowledged before the run ended.
    pub is_complete: bool,
    /// Why the flow failed.
    pub failure: Option<String>,
    /// States of the sender.
    pub samples: Samples,
}

/// All flows of a run.
#[derive(Debug)]
pub struct Traffic<'a> {
    hosts: &'a [Host; 2],
    connections: Vec<Connection<'a>>,
    groups: Vec<RequestGroup<'a>>,
    /// When counters are read next: at both ends of the measured window, or never again.
    readings_due: Vec<Time>,
    readings: Vec<[Counters; 2]>,
    end: Time,
    sample_interval: Time,
    unsent_bytes: i32,
}

impl<'a> Traffic<'a> {
    /// Opens the ports of all flows. The calling thread changes its network namespace, here and in
    /// [`Traffic::run`].
    pub fn new(plan: &'a Plan, hosts: &'a [Host; 2], sample_interval: Time) -> io::Result<Self> {
        let permanent = plan.flows.iter().filter(|flow| flow.requests.is_none());
        let connections = permanent.map(|flow| {
            let receiver = &hosts[1 - flow.direction];
            system::enter_network(&receiver.namespace)?;
            let stop = Time::from_seconds(flow.stop_s);
            let linger = if stop < plan.network.duration { Time::ZERO } else { LINGER };
            Ok(Connection {
                plan: flow,
                start: Time::from_seconds(flow.start_s),
                stop: stop + linger,
                stage: Stage::Waiting,
                listener: system::listen(receiver.address, flow.port, 1)?,
                sender: None,
                receiver: None,
                writes: flow.writes.as_deref().map(Writes::new),
                received_bytes: 0,
                has_received_all: false,
                samples: Samples::default(),
                last: TcpInfo::default(),
                window: [TcpInfo::default(); 2],
                failure: None,
            })
        });
        let duration = plan.network.duration;
        let requests = plan.flows.iter().filter_map(|flow| Some((flow, flow.requests.as_ref()?)));
        let groups =
            requests.map(|(flow, requests)| RequestGroup::new(flow, requests, hosts, duration));
        let rates = plan.network.links.iter().map(|link| link.rate.bytes_in(UNSENT));
        let unsent = rates.max().unwrap_or(0).max(LEAST_UNSENT_BYTES);
        Ok(Traffic {
            hosts,
            connections: connections.collect::<io::Result<_>>()?,
            groups: groups.collect::<io::Result<_>>()?,
            readings_due: vec![duration, plan.network.measure_from],
            readings: Vec::new(),
            end: duration + LINGER,
            sample_interval,
            unsent_bytes: i32::try_from(unsent).unwrap_or(i32::MAX),
        })
    }

    /// Runs all flows. The run begins when the monotonic clock shows `origin_ns`; it ends early when
    /// `stop` is set.
    pub fn run(mut self, origin_ns: u64, stop: &AtomicBool) -> io::Result<Self> {
        wait_for(origin_ns);
        let mut next_sample = Time::ZERO;
        while !stop.load(Ordering::Relaxed) && !self.has_ended(since(origin_ns)) {
            let now = since(origin_ns);
            self.read_counters(now)?;
            for connection in &mut self.connections {
                connection.step(now, self.hosts, self.unsent_bytes);
            }
            for group in &mut self.groups {
                group.step(now, self.hosts, self.unsent_bytes);
            }
            if now >= next_sample {
                self.connections.iter_mut().for_each(|connection| connection.sample(now));
                while next_sample <= now {
                    next_sample += self.sample_interval;
                }
            }
            let due = self.next_due(now).min(next_sample);
            self.wait_and_transfer(origin_ns, due);
        }
        self.readings.push(self.counters()?);
        Ok(self)
    }

    /// What is known of the flows after the run, in the order of the plan. `seen` is what the link
    /// has seen of each, by its `clock`.
    pub fn into_records(self, seen: &[Conversations], clock: &VirtualClock) -> Vec<FlowRecord> {
        let (of_permanent, of_groups) = seen.split_at(self.connections.len());
        let permanent = self.connections.into_iter().zip(of_permanent);
        let permanent = permanent.map(|(connection, seen)| connection.into_record(seen, clock));
        let groups = self.groups.into_iter().zip(of_groups);
        permanent.chain(groups.map(|(group, seen)| group_record(group, seen))).collect()
    }

    /// The counters of both hosts: at the start of the measured window, at its end, and at the end.
    pub fn readings(&self) -> &[[Counters; 2]] {
        &self.readings
    }

    fn counters(&self) -> io::Result<[Counters; 2]> {
        Ok([counters::read(&self.hosts[0])?, counters::read(&self.hosts[1])?])
    }

    /// Reads the counters at either end of the measured window.
    fn read_counters(&mut self, now: Time) -> io::Result<()> {
        while self.readings_due.last().is_some_and(|due| *due <= now) {
            self.readings_due.pop();
            let end = self.readings.len();
            self.readings.push(self.counters()?);
            for connection in &mut self.connections {
                connection.look();
                connection.window[end..].fill(connection.last);
            }
        }
        Ok(())
    }

    fn has_ended(&self, now: Time) -> bool {
        let mut stages = self.connections.iter().map(|connection| connection.stage);
        now >= self.end
            && stages.all(|stage| stage == Stage::Ended)
            && self.groups.iter().all(RequestGroup::has_ended)
    }

    fn next_due(&self, now: Time) -> Time {
        let due = self.connections.iter().map(|connection| match connection.stage {
            Stage::Waiting => connection.start,
            Stage::Sending => connection.stop.min(connection.next_write()),
            Stage::Finishing => now + CHECK_OF_THE_END,
            Stage::Ended => Time::NEVER,
        });
        let groups = self.groups.iter().map(RequestGroup::next_due);
        let due = due.chain(groups).chain(self.readings_due.last().copied());
        due.chain((now < self.end).then_some(self.end)).min().unwrap_or(Time::NEVER)
    }

    /// Waits for a socket, or until `due`; then sends, receives and accepts what is possible.
    fn wait_and_transfer(&mut self, origin_ns: u64, due: Time) {
        let mut descriptors = Vec::with_capacity(2 * self.connections.len());
        let mut owners = Vec::with_capacity(2 * self.connections.len());
        let mut watch = |owner: usize, (fd, events): (i32, i16)| {
            descriptors.push(libc::pollfd { fd, events, revents: 0 });
            owners.push(owner);
        };
        for (owner, connection) in self.connections.iter().enumerate() {
            connection.watched().for_each(|socket| watch(owner, socket));
        }
        for (owner, group) in (self.connections.len()..).zip(&self.groups) {
            group.watched().for_each(|socket| watch(owner, socket));
        }
        let due_ns = origin_ns + due.picoseconds() / 1_000;
        let timeout = due_ns.saturating_sub(system::monotonic_ns()).max(SHORTEST_WAIT_NS);
        system::wait(&mut descriptors, timeout);
        for (descriptor, owner) in descriptors.iter().zip(owners) {
            if descriptor.revents != 0 {
                match owner.checked_sub(self.connections.len()) {
                    Some(group) => self.groups[group].transfer(descriptor.fd),
                    None => self.connections[owner].transfer(descriptor.fd),
                }
            }
        }
    }
}

/// Sleeps until the monotonic clock shows `origin_ns`.
fn wait_for(origin_ns: u64) {
    while let left @ 1.. = origin_ns.saturating_sub(system::monotonic_ns()) {
        system::wait(&mut [], left);
    }
}

fn since(origin_ns: u64) -> Time {
    Time::from_picoseconds(system::monotonic_ns().saturating_sub(origin_ns) * 1_000)
}

/// What is known of a group of requests after the run.
fn group_record(group: RequestGroup<'_>, seen: &Conversations) -> FlowRecord {
    let (plan, failure) = (group.plan().clone(), group.failure.clone());
    let (received_bytes, sent_packets) = (group.received_bytes, group.sent_packets());
    let mss_bytes = group.mss_bytes();
    let requests = group.into_record(seen);
    FlowRecord {
        mss_bytes,
        plan,
        received_bytes,
        retransmissions_packets: requests.retransmissions_packets.iter().sum(),
        sent_packets,
        timeouts: requests.timeouts.iter().copied().map(u32::from).sum(),
        measured: None,
        receiver_limited_s: 0.0,
        memory_limited_s: 0.0,
        is_complete: requests.transfer_us.iter().all(Option::is_some),
        requests: Some(requests),
        writes: None,
        failure,
        samples: Samples::default(),
    }
}

impl Connection<'_> {
    /// Begins or ends the flow, if it is time.
    fn step(&mut self, now: Time, hosts: &[Host; 2], unsent_bytes: i32) {
        let result = match self.stage {
            Stage::Waiting if now >= self.start => self.open(hosts, unsent_bytes),
            Stage::Sending if now >= self.stop => self.finish(),
            Stage::Sending if now >= self.next_write() => {
                if let Some(writes) = &mut self.writes {
                    writes.take_due(now);
                }
                self.send()
            }
            Stage::Finishing => {
                self.end_if_complete(now);
                Ok(())
            }
            _ => Ok(()),
        };
        self.note(result);
    }

    /// Connects to the receiver.
    fn open(&mut self, hosts: &[Host; 2], unsent_bytes: i32) -> io::Result<()> {
        self.stage = Stage::Sending;
        self.sender = Some(connect(self.plan, hosts, unsent_bytes)?);
        Ok(())
    }

    fn next_write(&self) -> Time {
        self.writes.as_ref().map_or(Time::NEVER, Writes::next_due)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.stage = Stage::Finishing;
        self.sender.as_ref().map_or(Ok(()), system::finish_sending)
    }

    /// Ends the flow when everything has arrived and is acknowledged, or when that takes too long.
    fn end_if_complete(&mut self, now: Time) {
        self.look();
        let is_complete = self.has_received_all && self.last.unacked == 0;
        if is_complete || now >= self.stop + DRAIN {
            self.close();
        }
    }

    fn close(&mut self) {
        self.stage = Stage::Ended;
        for socket in [self.sender.take(), self.receiver.take()].into_iter().flatten() {
            let _ = system::reset_at_close(&socket); // it closes anyway
        }
    }

    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error.to_string());
            self.close();
        }
    }

    /// Asks the kernel for the state of the sender.
    fn look(&mut self) {
        if let Some(Ok(info)) = self.sender.as_ref().map(system::tcp_info) {
            self.last = TcpInfo::parse(&info);
        }
    }

    fn sample(&mut self, now: Time) {
        if self.stage == Stage::Sending {
            self.look();
            self.samples.push(now, &self.last);
        }
    }

    /// The sockets to wait for, with the events.
    fn watched(&self) -> impl Iterator<Item = (i32, i16)> {
        let is_open = matches!(self.stage, Stage::Sending | Stage::Finishing);
        let accepts = is_open && self.receiver.is_none();
        let listener = accepts.then_some((self.listener.as_raw_fd(), libc::POLLIN));
        let has_data = self.writes.as_ref().is_none_or(|writes| writes.left_bytes() > 0);
        let is_sending = self.stage == Stage::Sending && has_data;
        let outgoing = self.sender.as_ref().filter(|_| is_sending);
        let incoming = self.receiver.as_ref().filter(|_| !self.has_received_all);
        let outgoing = outgoing.map(|socket| (socket.as_raw_fd(), libc::POLLOUT));
        let incoming = incoming.map(|socket| (socket.as_raw_fd(), libc::POLLIN));
        [listener, outgoing, incoming].into_iter().flatten()
    }

    /// Does what a socket is ready for.
    fn transfer(&mut self, descriptor: i32) {
        let is = |socket: &Option<OwnedFd>| {
            socket.as_ref().is_some_and(|socket| socket.as_raw_fd() == descriptor)
        };
        let result = if is(&self.sender) {
            self.send()
        } else if is(&self.receiver) {
            self.receive()
        } else {
            system::accept(&self.listener).map(|socket| self.receiver = socket)
        };
        self.note(result);
    }

    fn send(&mut self) -> io::Result<()> {
        let Some(socket) = self.sender.as_ref().filter(|_| self.stage == Stage::Sending) else {
            return Ok(());
        };
        match &mut self.writes {
            Some(writes) => writes.send(socket)?,
            None => send_some(socket, &mut { u64::MAX })?,
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<()> {
        let Some(socket) = &self.receiver else { return Ok(()) };
        while let Some(bytes) = system::discard(socket)? {
            self.received_bytes += bytes as u64;
            if bytes == 0 {
                self.has_received_all = true;
                break;
            }
        }
        Ok(())
    }

    fn into_record(mut self, seen: &Conversations, clock: &VirtualClock) -> FlowRecord {
        self.look();
        let writes = self.writes.as_ref();
        let writes = writes.map(|writes| writes.record(seen.writes_acknowledged(), clock));
        let [before, at_end] = self.window;
        FlowRecord {
            measured: Some(SenderCounts {
                sent_packets: at_end.sent_packets - before.sent_packets,
                retransmissions_packets: at_end.retransmissions - before.retransmissions,
                duplicates_packets: at_end.duplicates - before.duplicates,
                timeouts: at_end.timeouts - before.timeouts,
            }),
            timeouts: self.last.timeouts.into(),
            requests: None,
            writes,
            plan: self.plan.clone(),
            received_bytes: self.received_bytes,
            retransmissions_packets: self.last.retransmissions,
            sent_packets: self.last.sent_packets,
            mss_bytes: self.last.mss,
            receiver_limited_s: self.last.receiver_limited_us as f64 * 1e-6,
            memory_limited_s: self.last.memory_limited_us as f64 * 1e-6,
            is_complete: self.has_received_all && self.last.unacked == 0,
            failure: self.failure,
            samples: self.samples,
        }
    }
}
