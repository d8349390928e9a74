//! Groups of requests: connections that send so much and are closed when it is acknowledged.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use serde::Serialize;
use tailroom_engine::units::Time;

use crate::connection::{DRAIN, connect, send_some};
use crate::conversations::Conversations;
use crate::hosts::Host;
use crate::plan::{FlowPlan, Request};
use crate::statistics::{microseconds, microseconds_from};
use crate::system;
use crate::tcp_info::TcpInfo;

/// How often is looked whether requests are complete; their times are the link's.
const CHECK: Time = Time::from_milliseconds(5);
/// Requests that may connect at once.
const BACKLOG: i32 = 1_000;

/// A request while it lasts.
#[derive(Debug)]
struct Active {
    index: usize,
    sender: OwnedFd,
    left_bytes: u64,
}

/// What the sender of a request tells at its end.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    port: u16,
    info: TcpInfo,
    is_complete: bool,
}

/// The requests of a run, a column for each quantity. No end of the stream is sent: a request is
/// complete when its last byte is acknowledged, and then its connection is reset.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RequestsRecord {
    /// When the scenario lets each request arrive, and its connection begins.
    pub start_s: Vec<f64>,
    /// From its first SYN until its first packet with payload, both at the link: the handshake. A
    /// SYN that was lost costs a second.
    pub handshake_us: Vec<Option<u64>>,
    /// From its first packet with payload at the link until the ACK of its last byte at the sender;
    /// `None` if it is not complete.
    pub transfer_us: Vec<Option<u64>>,
    /// Its retransmissions, those of the SYN included.
    pub retransmissions_packets: Vec<u32>,
    /// Its timeouts, those of the SYN included.
    pub timeouts: Vec<u16>,
}

/// A group of requests.
#[derive(Debug)]
pub struct RequestGroup<'a> {
    plan: &'a FlowPlan,
    requests: &'a [Request],
    end: Time,
    listener: OwnedFd,
    waiting: VecDeque<usize>,
    active: Vec<Active>,
    receivers: Vec<OwnedFd>,
    ended: Vec<Ended>,
    next_check: Time,
    /// Why requests failed.
    pub failure: Option<String>,
    /// Payload that the receivers have read.
    pub received_bytes: u64,
}

impl<'a> RequestGroup<'a> {
    /// Opens the port of a group. The calling thread is in the receiver's network namespace
    /// afterwards.
    pub fn new(
        plan: &'a FlowPlan,
        requests: &'a [Request],
        hosts: &[Host; 2],
        duration: Time,
    ) -> io::Result<Self> {
        let receiver = &hosts[1 - plan.direction];
        system::enter_network(&receiver.namespace)?;
        Ok(RequestGroup {
            plan,
            requests,
            end: duration + DRAIN,
            listener: system::listen(receiver.address, plan.port, BACKLOG)?,
            waiting: (0..requests.len()).collect(),
            active: Vec::new(),
            receivers: Vec::new(),
            ended: vec![Ended::default(); requests.len()],
            next_check: Time::ZERO,
            failure: None,
            received_bytes: 0,
        })
    }

    /// The plan of the group.
    pub fn plan(&self) -> &'a FlowPlan {
        self.plan
    }

    /// Packets that the senders of ended requests have sent, retransmissions included.
    pub fn sent_packets(&self) -> u32 {
        self.ended.iter().map(|ended| ended.info.sent_packets).sum()
    }

    /// Largest payload of a packet.
    pub fn mss_bytes(&self) -> u32 {
        self.ended.iter().map(|ended| ended.info.mss).max().unwrap_or(0)
    }

    /// Whether nothing is left to do.
    pub fn has_ended(&self) -> bool {
        self.waiting.is_empty() && self.active.is_empty()
    }

    /// When [`RequestGroup::step`] has to be called next.
    pub fn next_due(&self) -> Time {
        let start = self.waiting.front().map_or(Time::NEVER, |&index| self.requests[index].start);
        if self.active.is_empty() { start } else { start.min(self.next_check) }
    }

    /// Opens the connections that are due, and closes those that are complete, or all at the end.
    pub fn step(&mut self, now: Time, hosts: &[Host; 2], unsent_bytes: i32) {
        while let Some(&index) = self.waiting.front()
            && self.requests[index].start <= now
        {
            self.waiting.pop_front();
            match self.open(index, hosts, unsent_bytes) {
                Ok(active) => self.active.push(active),
                Err(error) => self.fail(&error),
            }
        }
        if now >= self.next_check {
            self.next_check = now + CHECK;
            let is_over = now >= self.end;
            for at in (0..self.active.len()).rev() {
                let info = system::tcp_info(&self.active[at].sender);
                let info = info.map_or_else(|_| TcpInfo::default(), |info| TcpInfo::parse(&info));
                let is_sent = self.active[at].left_bytes == 0 && info.unsent_bytes == 0;
                let is_complete = is_sent && info.unacked == 0;
                if is_complete || is_over {
                    self.close(at, info, is_complete);
                }
            }
        }
    }

    fn open(&mut self, index: usize, hosts: &[Host; 2], unsent_bytes: i32) -> io::Result<Active> {
        let sender = connect(self.plan, hosts, unsent_bytes)?;
        self.ended[index].port = system::local_port(&sender)?;
        Ok(Active { index, sender, left_bytes: self.requests[index].bytes })
    }

    fn close(&mut self, at: usize, info: TcpInfo, is_complete: bool) {
        let Active { index, sender, .. } = self.active.swap_remove(at);
        self.ended[index] = Ended { info, is_complete, ..self.ended[index] };
        let _ = system::reset_at_close(&sender); // it closes anyway
    }

    fn fail(&mut self, error: &io::Error) {
        self.failure.get_or_insert(error.to_string());
    }

    /// The sockets to wait for, with the events.
    pub fn watched(&self) -> impl Iterator<Item = (i32, i16)> {
        let listener = (!self.has_ended()).then_some((self.listener.as_raw_fd(), libc::POLLIN));
        let sending = self.active.iter().filter(|active| active.left_bytes > 0);
        let sending = sending.map(|active| (active.sender.as_raw_fd(), libc::POLLOUT));
        let receiving = self.receivers.iter().map(|socket| (socket.as_raw_fd(), libc::POLLIN));
        listener.into_iter().chain(sending).chain(receiving)
    }

    /// Does what a socket is ready for.
    pub fn transfer(&mut self, descriptor: i32) {
        let is = |socket: &OwnedFd| socket.as_raw_fd() == descriptor;
        if let Some(at) = self.active.iter().position(|active| is(&active.sender)) {
            let Active { sender, left_bytes, .. } = &mut self.active[at];
            if let Err(error) = send_some(sender, left_bytes) {
                self.fail(&error);
                self.close(at, TcpInfo::default(), false);
            }
        } else if let Some(at) = self.receivers.iter().position(is) {
            self.receive(at);
        } else if is(&self.listener) {
            match system::accept(&self.listener) {
                Ok(socket) => self.receivers.extend(socket),
                Err(error) => self.fail(&error),
            }
        }
    }

    /// Reads what has arrived; a connection that is reset or closed has ended.
    fn receive(&mut self, at: usize) {
        loop {
            match system::discard(&self.receivers[at]) {
                Ok(Some(bytes @ 1..)) => self.received_bytes += bytes as u64,
                Ok(None) => return,
                Ok(Some(0)) | Err(_) => break,
            }
        }
        self.receivers.swap_remove(at);
    }

    /// The requests, with the times that the link has seen.
    pub fn into_record(self, seen: &Conversations) -> RequestsRecord {
        let ports: Vec<_> = self.ended.iter().map(|ended| ended.port).collect();
        let mut record = RequestsRecord::default();
        let each = self.requests.iter().zip(&self.ended).zip(seen.of(&ports));
        for ((request, ended), seen) in each {
            let sent = seen.and_then(|seen| seen.sent);
            let acknowledged = seen.and_then(|seen| seen.acknowledged);
            let handshake = seen.zip(sent).map(|(seen, at)| microseconds_from(seen.connected, at));
            let transfer = sent.zip(acknowledged).filter(|_| ended.is_complete);
            record.start_s.push(microseconds(request.start));
            record.handshake_us.push(handshake);
            record.transfer_us.push(transfer.map(|(from, to)| microseconds_from(from, to)));
            record.retransmissions_packets.push(ended.info.retransmissions);
            record.timeouts.push(ended.info.timeouts);
        }
        record
    }
}
