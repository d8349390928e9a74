//! The text of a recording: a line of JSON that describes it, and a line per callback.

use std::str::FromStr;

use serde::Deserialize;
use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::units::Time;

/// What a recording is of.
#[derive(Clone, Debug, Deserialize)]
pub struct Description {
    /// The control that ran in the kernel.
    pub control: String,
    /// tailroom's control with its parameters, as in a scenario.
    pub tailroom: CongestionConfig,
    /// The window grows by a packet after as many acknowledged packets as it holds, but at most
    /// this many.
    #[serde(default)]
    pub goal_at_most: Option<u64>,
    /// What one of the kernel's count is, in acknowledged packets of Reno; 0 if the control counts by
    /// itself.
    #[serde(default = "one")]
    pub count_unit: f64,
    /// Most packets by which the whole packets of the two windows may differ.
    pub bound_packets: u64,
    /// The same with tailroom's window as the engine has it; of a rate-based control, the percentage
    /// by which the pacing rates may differ.
    pub continuous_bound_packets: f64,
    /// Payload of a packet.
    #[serde(default)]
    pub packet_bytes: u32,
}

impl Trace {
    /// The callbacks since the control began, with their numbers. The kernel shows a control the
    /// answer to the SYN, or the loss of a SYN, before.
    pub fn begun(&self) -> impl Iterator<Item = (usize, &Callback)> {
        let numbered = self.callbacks.iter().enumerate();
        numbered.skip_while(|(_, callback)| callback.kind != Kind::Init)
    }
}

fn one() -> f64 {
    1.0
}

/// What a callback is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The flow begins.
    Init,
    /// An ACK of new data, outside recovery.
    Avoid,
    /// Congestion: the control answers with ssthresh.
    Congestion,
    /// A congestion that was none: the control answers with the window.
    Undo,
    /// The sender changes its state.
    State,
    /// Another event of the sender.
    Event,
    /// Packets have been acknowledged, in recovery too; with an RTT sample.
    Sample,
    /// An ACK, with a rate sample.
    Rate,
}

impl Kind {
    /// Whether the control uses or sets the window in this callback.
    pub fn is_about_window(self) -> bool {
        matches!(self, Kind::Init | Kind::Avoid | Kind::Congestion | Kind::Rate)
    }
}

/// State of the sender in which it has lost everything, after a timeout.
pub const LOSS: u64 = 4;
/// State of the sender that repairs losses which ACKs have shown.
pub const RECOVERY: u64 = 3;

/// A callback of the kernel's control.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    /// What it is for.
    pub kind: Kind,
    /// When the control was called, since the first callback.
    pub now: Time,
    /// Packets acknowledged; the new state of a [`Kind::State`].
    pub acked: u64,
    /// The kernel's window, count of the growth, and ssthresh before the callback.
    pub cwnd: u64,
    /// Count of the growth before.
    pub count: u64,
    /// ssthresh before.
    pub ssthresh: u64,
    /// The same three after the callback.
    pub cwnd_after: u64,
    /// Count of the growth after.
    pub count_after: u64,
    /// ssthresh after.
    pub ssthresh_after: u64,
    /// What the control answered.
    pub answer: u64,
    /// Smoothed RTT.
    pub srtt: Time,
    /// RTT sample.
    pub rtt: Option<Time>,
    /// Smallest RTT.
    pub min_rtt: Time,
    /// Packets acknowledged since the first callback.
    pub una_packets: u64,
    /// Packets sent since the first callback.
    pub next_packets: u64,
    /// Whether the window limits the flow.
    pub is_limited: bool,
    /// State of the sender.
    pub state: u64,
    /// Whether a congestion is a timeout.
    pub is_timeout: bool,
    /// What a [`Kind::Rate`] tells in addition.
    pub rates: Option<Rates>,
}

/// A rate sample of the kernel's, and the state of its sender.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// The sender's clock.
    pub now: Time,
    /// Packets delivered since the flow began.
    pub delivered: u64,
    /// Packets of the rate sample and its interval, where they are valid.
    pub sample: Option<(u64, Option<Time>)>,
    /// RTT of the packet that gives the sample.
    pub rtt: Option<Time>,
    /// Packets newly lost.
    pub newly_lost: u64,
    /// Packets newly delivered.
    pub newly_delivered: u64,
    /// Packets in flight before the ACK.
    pub prior_in_flight: u64,
    /// Packets delivered when the sampled packet left.
    pub prior_delivered: u64,
    /// Whether the application limited the flow then.
    pub is_app_limited: bool,
    /// Packets in flight after the ACK.
    pub in_flight: u64,
    /// When the pacer lets the next packet leave.
    pub next_departure: Time,
    /// The kernel's pacing rate after the callback.
    pub pacing_bytes_per_second: u64,
}

/// A recording.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What it is of.
    pub description: Description,
    /// The callbacks of one flow, in order.
    pub callbacks: Vec<Callback>,
}

const FIELDS: usize = 17;
const RATE_FIELDS: usize = 14;
const PICOSECONDS_PER_NANOSECOND: u64 = 1_000;
const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;
const EIGHTHS: u64 = 8;

impl FromStr for Trace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (description, rows) = text.split_once('\n').ok_or("there is no first line")?;
        let description = serde_json::from_str(description)
            .map_err(|error| format!("line 1 is no description: {error}"))?;
        let callbacks = rows.lines().enumerate().map(|(index, line)| {
            callback(line).ok_or_else(|| format!("line {} is no callback: {line}", index + 2))
        });
        let mut callbacks: Vec<Callback> = callbacks.collect::<Result<_, _>>()?;
        find_timeouts(&mut callbacks);
        Ok(Trace { description, callbacks })
    }
}

/// The kernel asks for ssthresh first, and then enters the state that tells what the reason was.
fn find_timeouts(callbacks: &mut [Callback]) {
    let mut is_loss_next = false;
    for callback in callbacks.iter_mut().rev() {
        match callback.kind {
            Kind::State => is_loss_next = callback.acked == LOSS,
            Kind::Congestion => callback.is_timeout = is_loss_next,
            _ => {}
        }
    }
}

fn callback(line: &str) -> Option<Callback> {
    let numbers: Vec<u64> = line.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (numbers, more) = numbers.split_at_checked(FIELDS)?;
    let [
        kind,
        now_ns,
        acked,
        cwnd,
        count,
        ssthresh,
        cwnd_after,
        count_after,
        ssthresh_after,
        answer,
        srtt_8us,
        rtt_us,
        min_rtt_us,
        una_packets,
        next_packets,
        limited,
        state,
    ] = *<&[u64; FIELDS]>::try_from(numbers).ok()?;
    Some(Callback {
        kind: kind_of(kind)?,
        now: Time::from_picoseconds(now_ns * PICOSECONDS_PER_NANOSECOND),
        acked,
        cwnd,
        count,
        ssthresh,
        cwnd_after,
        count_after,
        ssthresh_after,
        answer,
        srtt: Time::from_picoseconds(srtt_8us * PICOSECONDS_PER_MICROSECOND / EIGHTHS),
        rtt: (rtt_us > 0).then(|| microseconds(rtt_us)),
        min_rtt: microseconds(min_rtt_us),
        una_packets,
        next_packets,
        is_limited: limited > 0,
        state,
        is_timeout: false,
        rates: if more.is_empty() { None } else { Some(rates(more)?) },
    })
}

fn rates(numbers: &[u64]) -> Option<Rates> {
    let [
        delivered,
        sample_packets,
        interval_us,
        rtt_us,
        newly_lost,
        newly_delivered,
        prior_in_flight,
        prior_delivered,
        app_limited,
        in_flight,
        now_us,
        wait_ns,
        pacing_bytes_per_second,
        _phase,
    ] = *<&[u64; RATE_FIELDS]>::try_from(numbers).ok()?;
    let now = microseconds(now_us);
    let interval = positive(interval_us).map(microseconds);
    let wait = Time::from_picoseconds(wait_ns * PICOSECONDS_PER_NANOSECOND);
    Some(Rates {
        now,
        delivered,
        sample: (!is_negative(sample_packets)).then_some((sample_packets, interval)),
        rtt: positive(rtt_us).map(microseconds),
        newly_lost,
        newly_delivered,
        prior_in_flight,
        prior_delivered,
        is_app_limited: app_limited > 0,
        in_flight,
        next_departure: now + wait,
        pacing_bytes_per_second,
    })
}

/// The kernel writes "none" as a negative number of 32 bits.
fn is_negative(number: u64) -> bool {
    number > i32::MAX as u64
}

fn positive(number: u64) -> Option<u64> {
    (number > 0 && !is_negative(number)).then_some(number)
}

fn kind_of(number: u64) -> Option<Kind> {
    let kinds = [
        Kind::Init,
        Kind::Avoid,
        Kind::Congestion,
        Kind::Undo,
        Kind::State,
        Kind::Event,
        Kind::Sample,
        Kind::Rate,
    ];
    kinds.get(number as usize).copied()
}

fn microseconds(count: u64) -> Time {
    Time::from_picoseconds(count * PICOSECONDS_PER_MICROSECOND)
}
