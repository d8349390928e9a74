//! Follows both directions of a TCP connection by their sequence numbers.

use crate::coverage::{Coverage, OutOfWindow};
use crate::peak::PeakRate;
use crate::segment::{Endpoint, Segment};

/// The outcome for a segment.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// The segment is part of this connection.
    Here {
        /// Acknowledged bytes that the capture lacks.
        unseen_bytes: u64,
        /// Whether the ACK confirms the segment of the other direction that was out of any window.
        confirms: bool,
    },
    /// The segment begins a new connection between the same ends: port reuse.
    Elsewhere,
    /// The sequence number is further away than any window.
    OutOfWindow,
}

/// A connection between two ends.
#[derive(Debug)]
pub struct Connection {
    /// The end that opened the connection, or sent the first segment if the capture lacks the
    /// handshake.
    pub opener: Endpoint,
    /// The other end.
    pub acceptor: Endpoint,
    /// The data of the opener, and those of the acceptor.
    pub directions: [Direction; 2],
    handshake: Handshake,
    /// A FIN or RST was seen.
    ended: bool,
}

/// The data that one end sent.
#[derive(Debug, Default)]
pub struct Direction {
    /// Bytes of payload, each counted once.
    pub bytes: u64,
    /// `None` if no data were sent.
    pub data: Option<Box<Data>>,
    coverage: Option<Coverage>,
    /// Whether more than a SYN was seen.
    established: bool,
    /// The last segment that was out of any window, and its time: an ACK of it shows that the capture
    /// has a gap before it.
    beyond: Option<Box<(Segment, i64)>>,
}

/// When and how fast a direction sent new data.
#[derive(Debug)]
pub struct Data {
    /// Time of the first data.
    pub first_ns: i64,
    /// Time of the last new data.
    pub last_ns: i64,
    /// Peak rate of the IP packets with new data.
    pub peak: PeakRate,
}

/// Times at which SYN, SYN-ACK and ACK passed the capture point.
#[derive(Debug, Default)]
enum Handshake {
    #[default]
    Nothing,
    Syn {
        at_ns: i64,
    },
    SynAck {
        syn_ns: i64,
        acknowledgment: u32,
    },
    Complete {
        rtt_ns: i64,
    },
    /// Whether a SYN or SYN-ACK was repeated: it is then unknown which one was answered (Karn
    /// 1987).
    Ambiguous,
}

impl Connection {
    /// A connection that begins with this segment, which must then be passed to
    /// [`Connection::take`].
    pub fn beginning_with(segment: &Segment) -> Self {
        let answers = segment.syn() && segment.ack();
        let (opener, acceptor) = if answers {
            (segment.destination, segment.source)
        } else {
            (segment.source, segment.destination)
        };
        Connection {
            opener,
            acceptor,
            directions: [Direction::default(), Direction::default()],
            handshake: Handshake::Nothing,
            ended: false,
        }
    }

    /// Round-trip time that the handshake shows: from the SYN to the ACK of the SYN-ACK.
    pub fn rtt_ns(&self) -> Option<i64> {
        match self.handshake {
            Handshake::Complete { rtt_ns } if rtt_ns > 0 => Some(rtt_ns),
            _ => None,
        }
    }

    /// Adds a segment, unless it belongs to another connection between the same ends.
    pub fn take(&mut self, segment: &Segment, time_ns: i64, window_ns: u64) -> Taken {
        if segment.syn() && self.is_reopened_by(segment) {
            return Taken::Elsewhere;
        }
        let sender = usize::from(segment.source != self.opener);
        if segment.rst() {
            // Its numbers may be invented, and its payload is a message to people.
            self.ended = true;
            return Taken::Here { unseen_bytes: 0, confirms: false };
        }
        if self.directions[sender].take(segment, time_ns, window_ns) == Err(OutOfWindow) {
            if self.ended {
                return Taken::Elsewhere;
            }
            self.directions[sender].beyond = Some(Box::new((segment.clone(), time_ns)));
            return Taken::OutOfWindow;
        }
        self.ended |= segment.fin();
        self.handshake.take(segment, sender, time_ns);
        let answered = &mut self.directions[1 - sender];
        if !segment.ack() {
            return Taken::Here { unseen_bytes: 0, confirms: false };
        }
        let confirms = answered.confirm(segment.acknowledgment, window_ns);
        Taken::Here { unseen_bytes: answered.acknowledge(segment.acknowledgment), confirms }
    }

    /// A SYN opens a new connection if this one has ended or began with another number.
    fn is_reopened_by(&self, segment: &Segment) -> bool {
        let sender = usize::from(segment.source != self.opener);
        let restarted = match &self.directions[sender].coverage {
            Some(known) => known.base() != segment.sequence.wrapping_add(1),
            None => !segment.ack() && self.directions[1 - sender].established,
        };
        self.ended || restarted
    }
}

impl Direction {
    fn take(&mut self, segment: &Segment, time_ns: i64, window: u64) -> Result<(), OutOfWindow> {
        // A SYN takes the number before the first byte.
        let sequence = segment.sequence.wrapping_add(u32::from(segment.syn()));
        let coverage = self.coverage.get_or_insert_with(|| Coverage::starting_at(sequence));
        let new = coverage.add(sequence, segment.payload_bytes)?;
        if segment.fin() {
            coverage.end_at(sequence.wrapping_add(segment.payload_bytes));
        }
        self.established |= !segment.syn();
        if new > 0 {
            self.bytes += new;
            let data = self.data.get_or_insert_with(|| {
                let peak = PeakRate::starting_at(time_ns);
                Box::new(Data { first_ns: time_ns, last_ns: time_ns, peak })
            });
            data.last_ns = data.last_ns.max(time_ns);
            data.peak.add(time_ns, u64::from(segment.ip_bytes), window);
        }
        Ok(())
    }

    /// Takes the segment that was out of any window if this ACK is of it.
    fn confirm(&mut self, acknowledgment: u32, window: u64) -> bool {
        let Some((held, coverage)) = self.beyond.as_deref().zip(self.coverage.as_mut()) else {
            return false;
        };
        let last = held.0.sequence.wrapping_add(held.0.payload_bytes);
        if !coverage.confirms(acknowledgment, last) {
            return false;
        }
        let Some((segment, time_ns)) = self.beyond.take().map(|held| *held) else { return false };
        self.take(&segment, time_ns, window).is_ok()
    }

    fn acknowledge(&mut self, acknowledgment: u32) -> u64 {
        let Some(coverage) = &mut self.coverage else { return 0 };
        let unseen = coverage.acknowledge(acknowledgment);
        self.bytes += unseen;
        unseen
    }
}

impl Handshake {
    fn take(&mut self, segment: &Segment, sender: usize, time_ns: i64) {
        *self = match (&*self, segment.syn(), segment.ack()) {
            (Handshake::Nothing, true, false) => Handshake::Syn { at_ns: time_ns },
            (Handshake::Syn { at_ns }, true, true) => Handshake::SynAck {
                syn_ns: *at_ns,
                acknowledgment: segment.sequence.wrapping_add(1),
            },
            (Handshake::Nothing | Handshake::Complete { .. }, ..) => return,
            (_, true, _) => Handshake::Ambiguous,
            (&Handshake::SynAck { syn_ns, acknowledgment }, false, true)
                if sender == 0 && segment.acknowledgment == acknowledgment =>
            {
                Handshake::Complete { rtt_ns: time_ns.saturating_sub(syn_ns) }
            }
            _ => return,
        };
    }
}
