//! quinn's QUIC through a link of tailroom: an upload over a [`Bottleneck`], in simulated time.
//!
//! quinn-proto does no input and output, and takes the time as an argument. [`host::Host`] is an end of
//! a connection; [`Upload`] carries the datagrams of two hosts over the link, and those of a second,
//! thin flow that shows how long others wait. [`scripted`] runs the scripts of vectors.

pub mod host;
pub mod recording;
pub mod scripted;

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;

use quinn_proto::EcnCodepoint;
use quinn_proto::congestion::ControllerFactory;
use tailroom_engine::bottleneck::{Bottleneck, Fate};
use tailroom_engine::link::LinkSpec;
use tailroom_engine::packet::Ecn;
use tailroom_engine::units::Time;

use host::{Clock, Host};

/// Headers of UDP and IPv4.
const HEADER_BYTES: usize = 28;
/// The flow of the upload at the link.
const UPLOAD: u32 = 0;
/// The thin flow: a packet of 200 bytes each 20 ms.
const THIN: u32 = 1;
const THIN_BYTES: u32 = 200;
const THIN_GAP: Time = Time::from_milliseconds(20);

/// An upload from a client to a server, both of quinn.
#[derive(Debug)]
pub struct Upload {
    clock: Clock,
    now: Time,
    client: Host,
    server: Host,
    link: Bottleneck<Vec<u8>>,
    /// Delay of the way back, on which nothing waits.
    delay: Time,
    to_server: VecDeque<Datagram>,
    to_client: VecDeque<Datagram>,
    next_thin: Time,
    report: Report,
}

/// A datagram behind the link, with the time of its delivery.
type Datagram = (Time, Ecn, Vec<u8>);

/// What an upload comes to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Payload that the server's application has read.
    pub received_bytes: u64,
    /// Waits of the packets of the upload.
    pub waits: Vec<Time>,
    /// Waits of the packets of the thin flow.
    pub thin_waits: Vec<Time>,
    /// Packets of the upload that the queue has marked.
    pub marks: u64,
    /// Packets of the upload that the queue has dropped.
    pub drops: u64,
}

impl Upload {
    /// An upload over the link that `spec` describes, under this congestion control.
    ///
    /// # Errors
    /// The link is wrong, or TLS cannot be set up.
    pub fn new(
        spec: &LinkSpec,
        control: Arc<dyn ControllerFactory + Send + Sync>,
    ) -> Result<Self, Box<dyn Error>> {
        let clock = Clock::start();
        let (client, server) = host::pair(clock, control)?;
        let link = Bottleneck::new(spec, 1).map_err(|bad| bad.to_string())?;
        Ok(Upload {
            clock,
            now: Time::ZERO,
            client,
            server,
            link,
            delay: spec.delay,
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            next_thin: Time::ZERO,
            report: Report::default(),
        })
    }

    /// Runs for this time, and says what has come of it.
    pub fn run(mut self, duration: Time) -> Report {
        while self.now < duration {
            self.step();
            self.now = self.next_due().max(self.now);
        }
        self.report.received_bytes = self.server.received_bytes;
        self.report
    }

    /// Does what is due.
    fn step(&mut self) {
        let now = self.now;
        deliver(&mut self.to_server, now, &mut self.server, self.clock);
        deliver(&mut self.to_client, now, &mut self.client, self.clock);
        while self.next_thin <= now {
            self.link.arrive(now, THIN, THIN_BYTES, Ecn::NotEct, Vec::new());
            self.next_thin += THIN_GAP;
        }
        let (clock, link) = (self.clock, &mut self.link);
        self.client.drive(clock.instant(now), |ecn, datagram, _| {
            let bytes = (datagram.len() + HEADER_BYTES) as u32;
            link.arrive(now, UPLOAD, bytes, of_quinn(ecn), datagram.to_vec());
        });
        let (due, to_client) = (now + self.delay, &mut self.to_client);
        self.server.drive(clock.instant(now), |ecn, datagram, _| {
            to_client.push_back((due, of_quinn(ecn), datagram.to_vec()));
        });
        while let Some(outcome) = self.link.poll(now) {
            let report = &mut self.report;
            match outcome.fate {
                Fate::Delivered { waited, .. } if outcome.flow == THIN => {
                    report.thin_waits.push(waited);
                }
                Fate::Delivered { at, waited, ecn, is_marked, .. } => {
                    report.waits.push(waited);
                    report.marks += u64::from(is_marked);
                    self.to_server.push_back((at, ecn, outcome.packet));
                }
                _ => report.drops += u64::from(outcome.flow == UPLOAD),
            }
        }
    }

    /// When something happens next.
    fn next_due(&self) -> Time {
        let of = |queue: &VecDeque<Datagram>| queue.front().map_or(Time::NEVER, |first| first.0);
        let timers = [&self.client, &self.server].map(|host| self.clock.time(host.timeout));
        let others =
            [self.next_thin, self.link.next_due(), of(&self.to_server), of(&self.to_client)];
        others.into_iter().chain(timers).min().unwrap_or(Time::NEVER)
    }
}

/// Hands over the datagrams that have arrived by `now`.
fn deliver(queue: &mut VecDeque<Datagram>, now: Time, host: &mut Host, clock: Clock) {
    while queue.front().is_some_and(|(due, ..)| *due <= now) {
        if let Some((due, ecn, datagram)) = queue.pop_front() {
            host.receive(clock.instant(due), EcnCodepoint::from_bits(ecn as u8), &datagram);
        }
    }
}

fn of_quinn(ecn: Option<EcnCodepoint>) -> Ecn {
    Ecn::from_bits(ecn.map_or(0, |ecn| ecn as u32))
}
