//! The text of a recording of the sender's chain: a line of JSON that describes it, and a line per
//! packet sent (`s`), ACK received (`r`) and callback (`c`), each with the time since the line
//! before.

use std::str::FromStr;

use serde::Deserialize;
use tailroom_engine::congestion::CongestionKind;
use tailroom_engine::packet::Range;
use tailroom_engine::units::Time;

const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;
const EIGHTHS: u64 = 8;
/// Kinds of callbacks, as in controls/trace.bpf.h.
const CONGESTION: i64 = 2;
const STATE: i64 = 4;
const SAMPLE: i64 = 6;
const RATE: i64 = 7;
/// The state of the sender after a timeout.
const LOSS: i64 = 4;
/// Numbers of a callback, and those of a rate sample.
const FIELDS: usize = 10;
const RATE_FIELDS: usize = 7;

/// What a recording is of.
#[derive(Clone, Debug, Deserialize)]
pub struct Description {
    /// Whether the control is told rate samples.
    pub is_rate_based: bool,
    /// Smoothed RTT when the control began, in eighths of a microsecond.
    pub srtt_8us: u64,
    /// Payload of a packet.
    pub packet_bytes: u32,
    /// Rate of the link.
    pub link_mbit: u64,
    /// The scenario.
    pub scenario: String,
}

/// A packet that host A has sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left.
    pub now: Time,
    /// Its position in the flow.
    pub packet: u64,
    /// Its timestamp, in milliseconds.
    pub timestamp: u64,
}

/// An ACK that was handed to host A.
#[derive(Clone, Debug)]
pub struct Received {
    /// When.
    pub now: Time,
    /// The next packet that the receiver expects.
    pub cumulative: u64,
    /// The timestamp that it echoes, in milliseconds.
    pub echo: u64,
    /// The SACK blocks without a duplicate, the most recent first.
    pub blocks: Vec<Range>,
    /// A packet that has arrived twice.
    pub duplicate: Option<u64>,
}

/// The callback of an ACK, and the state of the kernel's sender after it has taken in what the ACK
/// acknowledges, and before it looks for losses (those of a rate sample: after that).
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Packets acknowledged cumulatively; 0 with a rate sample.
    pub acked: u64,
    /// The window until the next ACK.
    pub window: u64,
    /// Smoothed RTT.
    pub srtt: Time,
    /// RTT sample.
    pub rtt: Option<Time>,
    /// Packets sent since the flow began, without retransmissions.
    pub next: u64,
    /// Packets lost since the flow began; a retransmission that is lost counts again.
    pub lost: u64,
    /// Packets in flight.
    pub in_flight: u64,
    /// The rate sample, for a control that is told it.
    pub rate: Option<Rate>,
}

/// A rate sample.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Packets newly delivered.
    pub newly_delivered: u64,
    /// Packets of the sample and its interval, where they are valid.
    pub sample: Option<(u64, Option<Time>)>,
    /// The pacing rate after the callback.
    pub pacing_bytes_per_second: u64,
}

/// A call for ssthresh.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Number of ACKs that the sender had received.
    pub acks: usize,
    /// Whether it was a timeout.
    pub kind: CongestionKind,
    /// The answer, in packets.
    pub ssthresh: u64,
}

/// What happened at host A, in order.
#[derive(Clone, Debug)]
pub enum Event {
    /// A packet left.
    Sent(Sent),
    /// An ACK was handed over.
    Received(Received),
}

impl Event {
    /// When it happened.
    pub fn now(&self) -> Time {
        match self {
            Event::Sent(sent) => sent.now,
            Event::Received(ack) => ack.now,
        }
    }
}

/// A recording.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What it is of.
    pub description: Description,
    /// Packets and ACKs.
    pub events: Vec<Event>,
    /// By ACK, its callback.
    pub answers: Vec<Answer>,
    /// The calls for ssthresh.
    pub congestions: Vec<Congestion>,
}

impl Description {
    /// Smoothed RTT when the control began.
    pub fn srtt(&self) -> Time {
        eighths(self.srtt_8us)
    }
}

impl FromStr for Recording {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (description, rows) = text.split_once('\n').ok_or("there is no first line")?;
        let description = serde_json::from_str(description)
            .map_err(|error| format!("line 1 is no description: {error}"))?;
        let (events, answers, congestions) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = Reader {
            recording: Recording { description, events, answers, congestions },
            now: Time::ZERO,
            acks: 0,
            asks: false,
        };
        for (index, line) in rows.lines().enumerate() {
            reader.read(line).ok_or_else(|| format!("line {} is damaged: {line}", index + 2))?;
        }
        if reader.acks == 0 || reader.acks != reader.recording.answers.len() {
            return Err("there is not one callback per ACK".to_owned());
        }
        Ok(reader.recording)
    }
}

struct Reader {
    recording: Recording,
    now: Time,
    acks: usize,
    /// Whether the last call was for ssthresh.
    asks: bool,
}

impl Reader {
    fn read(&mut self, line: &str) -> Option<()> {
        let (letter, numbers) = line.split_once(',')?;
        let numbers: Vec<i64> =
            numbers.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
        let (&passed_us, numbers) = numbers.split_first()?;
        self.now += microseconds(passed_us.try_into().ok()?);
        match letter {
            "s" => self.sent(numbers),
            "r" => self.received(numbers),
            "c" => self.callback(numbers),
            _ => None,
        }
    }

    fn sent(&mut self, numbers: &[i64]) -> Option<()> {
        let [packet, timestamp] = whole(numbers)?;
        self.recording.events.push(Event::Sent(Sent { now: self.now, packet, timestamp }));
        Some(())
    }

    fn received(&mut self, numbers: &[i64]) -> Option<()> {
        let ([cumulative, echo], rest) = numbers.split_first_chunk()?;
        let [cumulative, echo] = whole(&[*cumulative, *echo])?;
        let mut blocks = Vec::new();
        for pair in rest.chunks(2) {
            let [start, end] = whole(pair)?;
            blocks.push(Range { start, end });
        }
        let duplicate = take_duplicate(cumulative, &mut blocks);
        let ack = Received { now: self.now, cumulative, echo, blocks, duplicate };
        self.recording.events.push(Event::Received(ack));
        self.acks += 1;
        Some(())
    }

    fn callback(&mut self, numbers: &[i64]) -> Option<()> {
        let (head, rate) = numbers.split_at_checked(FIELDS)?;
        let kind = *head.first()?;
        let [_kind, acked, answer, srtt, rtt, _una, next, _delivered, lost, in_flight] =
            whole::<FIELDS>(head)?;
        match kind {
            SAMPLE | RATE => self.recording.answers.push(Answer {
                acked,
                window: answer,
                srtt: eighths(srtt),
                rtt: (rtt > 0).then(|| microseconds(rtt)),
                next,
                lost,
                in_flight,
                rate: if kind == RATE { Some(rate_of(rate)?) } else { None },
            }),
            CONGESTION => {
                let (acks, kind) = (self.acks, CongestionKind::Loss);
                self.recording.congestions.push(Congestion { acks, kind, ssthresh: answer });
                self.asks = true;
            }
            STATE => self.note_state(acked.cast_signed()),
            _ => {}
        }
        Some(())
    }

    /// The kernel asks for ssthresh first, and enters the state that tells why next.
    fn note_state(&mut self, state: i64) {
        if let (true, Some(last)) = (self.asks, self.recording.congestions.last_mut())
            && state == LOSS
        {
            last.kind = CongestionKind::Timeout;
        }
        self.asks = false;
    }
}

/// RFC 2883 sec. 4: the first block reports a duplicate if it is below the cumulative ACK or
/// inside the second block.
fn take_duplicate(cumulative: u64, blocks: &mut Vec<Range>) -> Option<u64> {
    let first = *blocks.first()?;
    let is_inside = |second: &Range| second.start <= first.start && first.end <= second.end;
    if first.start >= cumulative && !blocks.get(1).is_some_and(is_inside) {
        return None;
    }
    blocks.remove(0);
    Some(first.start)
}

fn rate_of(numbers: &[i64]) -> Option<Rate> {
    let [_prior_in_flight, _lost, newly_delivered, packets, interval, _prior_delivered, pacing] =
        <[i64; RATE_FIELDS]>::try_from(numbers).ok()?;
    let interval = u64::try_from(interval).ok().filter(|&interval| interval > 0);
    let [newly_delivered, pacing_bytes_per_second] = whole(&[newly_delivered, pacing])?;
    Some(Rate {
        newly_delivered,
        // The kernel writes "none" as a negative number.
        sample: u64::try_from(packets).ok().map(|packets| (packets, interval.map(microseconds))),
        pacing_bytes_per_second,
    })
}

fn whole<const COUNT: usize>(numbers: &[i64]) -> Option<[u64; COUNT]> {
    let numbers: Vec<u64> =
        numbers.iter().map(|&number| number.try_into().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn microseconds(count: u64) -> Time {
    Time::from_picoseconds(count * PICOSECONDS_PER_MICROSECOND)
}

fn eighths(count: u64) -> Time {
    Time::from_picoseconds(count * PICOSECONDS_PER_MICROSECOND / EIGHTHS)
}
