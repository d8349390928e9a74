//! Converts a capture to a list of flows.

use std::collections::HashMap;
use std::io::{self, Read};

use crate::connection::{Connection, Taken};
use crate::file::{CaptureFile, Record, Stop};
use crate::report::{Report, Skip};
use crate::segment::{self, Endpoint, Segment};

/// Largest number of connections, which need about 300 bytes each; beyond it, the import stops.
pub const MOST_CONNECTIONS: usize = 4_000_000;

/// One direction of a connection that carried data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Time of the first data since the earliest packet of the capture.
    pub start_ns: u64,
    /// Payload, each byte counted once.
    pub bytes: u64,
    /// Peak rate of the IP packets; `None` if the flow sent for less than a window.
    pub rate_bps: Option<u64>,
    /// Round-trip time that the handshake shows.
    pub rtt_ns: Option<i64>,
    /// The end that opened the connection.
    pub opener: Endpoint,
    /// The other end.
    pub acceptor: Endpoint,
    /// Whether the opener sent the data, rather than the acceptor.
    pub forward: bool,
}

impl Flow {
    /// The end that sent the data, and the end that received them.
    #[must_use]
    pub fn ends(&self) -> (Endpoint, Endpoint) {
        if self.forward { (self.opener, self.acceptor) } else { (self.acceptor, self.opener) }
    }
}

/// A capture being imported.
pub struct Import<R> {
    file: CaptureFile<R>,
    window_ns: u64,
    connections: Vec<Connection>,
    /// The latest connection between two ends, the smaller end first.
    latest: HashMap<(Endpoint, Endpoint), usize>,
    earliest_ns: Option<i64>,
    report: Report,
}

impl<R: Read> Import<R> {
    /// Begins to read a capture; peak rates are measured over `window_ns`, at least 1.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or is not a capture.
    pub fn new(input: R, window_ns: u64) -> Result<Self, Stop> {
        Ok(Import {
            file: CaptureFile::new(input)?,
            window_ns: window_ns.max(1),
            connections: Vec::new(),
            latest: HashMap::new(),
            earliest_ns: None,
            report: Report::default(),
        })
    }

    /// Reads up to `records` records; returns whether there may be more.
    ///
    /// Reading ends at a broken record, and the report says so.
    ///
    /// # Errors
    ///
    /// The operating system cannot read the file any further.
    pub fn read(&mut self, records: usize) -> io::Result<bool> {
        for _ in 0..records {
            let offset = self.file.offset();
            match self.read_record() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(Stop::Io(error)) => return Err(error),
                Err(Stop::Broken(why)) => {
                    self.report.broken = Some((offset, why));
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn read_record(&mut self) -> Result<bool, Stop> {
        let (time_ns, segment) = match self.file.next_record()? {
            None => return Ok(false),
            Some(Record::Other) => return Ok(true),
            Some(Record::Skipped(reason)) => {
                self.report.packets += u64::from(reason != Skip::BadBlock);
                self.report.skip(reason);
                return Ok(true);
            }
            Some(Record::Packet(time_ns, frame)) => (time_ns, segment::read(frame)),
        };
        self.report.packets += 1;
        self.earliest_ns = Some(self.earliest_ns.map_or(time_ns, |earliest| earliest.min(time_ns)));
        match segment {
            Ok(segment) => self.take(&segment, time_ns)?,
            Err(reason) => self.report.skip(reason),
        }
        Ok(true)
    }

    fn take(&mut self, segment: &Segment, time_ns: i64) -> Result<(), Stop> {
        let (one, other) = (segment.source, segment.destination);
        let ends = if one <= other { (one, other) } else { (other, one) };
        if let Some(&index) = self.latest.get(&ends) {
            match self.connections[index].take(segment, time_ns, self.window_ns) {
                Taken::Here { unseen_bytes, confirms } => {
                    self.report.unseen_bytes += unseen_bytes;
                    if confirms {
                        self.report.withdraw(Skip::OutOfWindow);
                    }
                    return Ok(());
                }
                Taken::OutOfWindow => {
                    self.report.skip(Skip::OutOfWindow);
                    return Ok(());
                }
                Taken::Elsewhere => {}
            }
        }
        if self.connections.len() == MOST_CONNECTIONS {
            return Err(Stop::Broken(format!(
                "more than {MOST_CONNECTIONS} connections; cut the capture into shorter ones, \
                 for example with editcap -i SECONDS"
            )));
        }
        let mut connection = Connection::beginning_with(segment);
        connection.take(segment, time_ns, self.window_ns);
        self.latest.insert(ends, self.connections.len());
        self.connections.push(connection);
        Ok(())
    }

    /// The flows in order of their start, and the report of what was left out.
    pub fn finish(self) -> (Vec<Flow>, Report) {
        let earliest_ns = self.earliest_ns.unwrap_or(0);
        let mut flows = Vec::new();
        for connection in self.connections {
            for (index, direction) in connection.directions.iter().enumerate() {
                let Some(data) = &direction.data else { continue };
                let lasted_ns = data.last_ns.saturating_sub(data.first_ns) as u64;
                flows.push(Flow {
                    start_ns: data.first_ns.saturating_sub(earliest_ns) as u64,
                    bytes: direction.bytes,
                    rate_bps: (lasted_ns >= self.window_ns)
                        .then(|| data.peak.bits_per_second(self.window_ns)),
                    rtt_ns: connection.rtt_ns(),
                    opener: connection.opener,
                    acceptor: connection.acceptor,
                    forward: index == 0,
                });
            }
        }
        flows.sort_by_key(|flow| flow.start_ns); // stable: ties stay in the capture's order
        (flows, self.report)
    }
}
