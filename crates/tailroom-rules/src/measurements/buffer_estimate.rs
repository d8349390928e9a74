//! The buffer that explains a measurement: a full drop-tail queue delays by its size over the rate.
//!
//! Loss-based congestion controls fill a drop-tail buffer before each loss. The largest queueing delay
//! under load (RTT minus idle RTT) times the rate of the link is therefore the buffer. Samples rarely
//! hit the moment at which it is full, so its ends are:
//!
//! * low: the 90th percentile of the delay, at the lower end of the rate, minus two packets: the packet
//!   that is being sent and the one that is measured are no part of the queue;
//! * high: the upper confidence limit of the end point of the delay, at the upper end of the rate,
//!   plus two packets: a full buffer may have a packet's room, and delays grow by packets. With m
//!   separate visits above the 90th percentile x, whose largest delays are at least as dense near the
//!   end point as anywhere above x, the end point is below x + (largest - x) a^(-1/m) with confidence
//!   1 - a (Robson and Whitlock, "Estimation of a truncation point", Biometrika 51, 1964; Cooke,
//!   "Statistical inference for bounds of random variables", Biometrika 66, 1979).

use serde::Serialize;

use super::samples::{Direction, Measurement};
use crate::general_format::{general, thousands};
use crate::statistics::intervals::{Interval, mean_interval};
use crate::statistics::samples::{largest, mean, median, parts, percentile, smallest};

const CONFIDENCE: f64 = 0.95;
const FEWEST_RTTS: usize = 20;
/// Parts of a test that are compared with one another.
const PARTS: usize = 4;
/// Smallest ratio of the largest delays of two parts if a full buffer bounds the delay.
const LOWEST_PEAK: f64 = 0.75;
/// Smallest ratio of the 90th percentile to the largest delay if the queue is often almost full.
const LOWEST_UPPER_DECILE: f64 = 0.87;
/// Largest ratio of the rates of two parts if the link has one rate.
const HIGHEST_RATE_RATIO: f64 = 1.15;
/// Smallest queue that stands out, in packets.
const FEWEST_PACKETS: f64 = 3.0;
/// Controls of Linux that send more until a packet is lost.
const LOSS_BASED: [&str; 6] = ["reno", "cubic", "bic", "htcp", "highspeed", "scalable"];
const IS_DROP_TAIL: &str = "the queue is drop tail";
/// Twice the target of PIE (15 ms, RFC 8033 sec. 5.1), the largest default target of an AQM; that
/// of CoDel is 5 ms (RFC 8289 sec. 4.4).
const AQM_DELAY_S: f64 = 0.03;

/// A condition under which the largest delay shows the buffer.
#[derive(Clone, Debug, Serialize)]
pub struct Condition {
    /// The condition.
    pub statement: String,
    /// Whether the measurement meets it, if it tells.
    pub holds: Option<bool>,
    /// What the measurement shows.
    pub found: String,
}

/// The buffer of the bottleneck, in bytes of IP packets.
#[derive(Clone, Debug, Serialize)]
pub struct BufferEstimate {
    /// The buffer by the 95th percentile of the delay, if it can be identified.
    pub buffer_bytes: Option<f64>,
    /// Lower end of the 95 % interval, also a lower bound of a buffer that cannot be identified.
    pub low_bytes: Option<f64>,
    /// Upper end of the 95 % interval, if the buffer can be identified.
    pub high_bytes: Option<f64>,
    /// IP packet with full payload.
    pub packet_bytes: u32,
    /// The conditions, each checked against the measurement.
    pub conditions: Vec<Condition>,
    /// The answer in words.
    pub sentence: String,
}

/// Estimates the buffer of the bottleneck; `idle_rtt_s` replaces the RTTs of the idle path.
pub fn estimate_buffer(measured: &Measurement, idle_rtt_s: Option<f64>) -> BufferEstimate {
    let idle = idle_rtt_s.map_or_else(|| measured.idle_rtts_s.clone(), |rtt_s| vec![rtt_s]);
    let is_complete = measured.rtt_s.len() >= FEWEST_RTTS && measured.throughput_bps.len() >= PARTS;
    let mut conditions = of_load(measured, is_complete);
    let (mut low, mut middle, mut high) = (None, None, None);
    // With fewer rates, their smallest still gives a lower bound.
    let has_some = measured.rtt_s.len() >= FEWEST_RTTS && !measured.throughput_bps.is_empty();
    let is_one_way = matches!(measured.direction, Direction::Upload | Direction::Download);
    if has_some && is_one_way {
        // The smallest RTT under load is no smaller than that of the idle path.
        let base = if idle.is_empty() { vec![smallest(&measured.rtt_s)] } else { idle.clone() };
        let base_s = median(&base);
        let delays: Vec<f64> = measured.rtt_s.iter().map(|rtt_s| rtt_s - base_s).collect();
        let rate = Rate::of(measured, &delays);
        let queue = queue(measured, &delays, &idle, &rate);
        let is_kept = queue.holds == Some(true);
        conditions.extend([idle_is_known(&idle), queue]);
        if is_kept {
            conditions.extend(of_queue(measured, &delays, &rate));
            // If the rate varies, the queue may have been longest while the link was slowest.
            let slowest_bps = if rate.is_one() { rate.low } else { smallest(&rate.parts) };
            let spread_s = base_s - smallest(&base);
            let two_packets = 2.0 * f64::from(measured.packet_bytes);
            low = Some((slowest_bps / 8.0 * decile(&delays) - two_packets).max(0.0));
            high = Some(rate.high / 8.0 * (end_point(&delays) + spread_s) + two_packets);
            middle = Some(rate.mean / 8.0 * percentile(&delays, 95.0));
        }
    }
    if conditions.iter().any(|one| one.holds == Some(false)) {
        (middle, high) = (None, None);
    } else if let (Some(found), Some(low), Some(high)) = (middle, low, high) {
        middle = Some(found.max(low).min(high));
    }
    let sentence = sentence([low, middle, high], measured.packet_bytes, &conditions);
    BufferEstimate {
        buffer_bytes: middle,
        low_bytes: low,
        high_bytes: high,
        packet_bytes: measured.packet_bytes,
        conditions,
        sentence,
    }
}

fn sentence(sizes: [Option<f64>; 3], packet_bytes: u32, conditions: &[Condition]) -> String {
    if let [Some(low), Some(buffer), Some(high)] = sizes {
        let packets = thousands(&format!("{:.0}", buffer / f64::from(packet_bytes)));
        let (each, is_open) = (thousands(&packet_bytes.to_string()), |one: &&Condition| {
            one.holds.is_none() && one.statement == IS_DROP_TAIL
        });
        let doubt =
            conditions.iter().find(is_open).map_or(String::new(), |one| format!("; {}", one.found));
        return format!(
            "the bottleneck holds about {} ({packets} packets of {each} bytes), from {} to {}, if its \
             queue is drop tail and the load fills it{doubt}",
            kilobytes(buffer),
            kilobytes(low),
            kilobytes(high)
        );
    }
    let failing = conditions.iter().find(|one| one.holds == Some(false));
    let reason = failing.map_or(String::new(), |one| format!("{}: {}", one.statement, one.found));
    match sizes[0].filter(|low| *low > 0.0) {
        Some(low) => format!(
            "the bottleneck holds at least {}; how much more, the measurement does not show, since a \
             condition fails: {reason}",
            kilobytes(low)
        ),
        None => {
            format!("the measurement does not show the buffer, since a condition fails: {reason}")
        }
    }
}

/// The rate of the link in bits of IP packets per second, with its interval.
struct Rate {
    mean: f64,
    low: f64,
    high: f64,
    parts: Vec<f64>,
}

impl Rate {
    /// Measures the rate while a queue keeps the link busy.
    fn of(measured: &Measurement, delays: &[f64]) -> Rate {
        let half_full_s = decile(delays) / 2.0;
        let is_busy = |time_s: f64| between(time_s, &measured.rtt_time_s, delays) > half_full_s;
        let intervals = measured.throughput_time_s.iter().zip(&measured.throughput_bps);
        // The first interval has the beginning of the load.
        let busy = intervals.skip(1).filter(|(time_s, _)| is_busy(**time_s));
        let mut rates: Vec<f64> = busy.map(|(_, rate_bps)| *rate_bps).collect();
        if rates.len() < PARTS {
            rates.clone_from(&measured.throughput_bps);
        }
        let factor = f64::from(measured.packet_bytes) / f64::from(measured.payload_bytes);
        for rate_bps in &mut rates {
            *rate_bps *= factor;
        }
        if rates.len() < PARTS {
            let (low, high) = (smallest(&rates), largest(&rates));
            return Rate { mean: mean(&rates), low, high, parts: rates };
        }
        let interval = mean_interval(&rates, CONFIDENCE, None);
        let Interval { mean: rate_bps, low, high } = interval.expect("there are rates under load");
        Rate { mean: rate_bps, low, high, parts: parts(&rates, PARTS).map(mean).collect() }
    }

    /// Whether all parts of the test have nearly the same rate.
    fn is_one(&self) -> bool {
        largest(&self.parts) <= HIGHEST_RATE_RATIO * smallest(&self.parts)
    }
}

/// The value at a time, on a straight line between the samples before and after it.
fn between(time_s: f64, sampled_at_s: &[f64], values: &[f64]) -> f64 {
    let after = sampled_at_s.partition_point(|sample_s| *sample_s <= time_s);
    if after == 0 {
        return values[0];
    }
    let Some(next_s) = sampled_at_s.get(after) else { return values[values.len() - 1] };
    let (before_s, before) = (sampled_at_s[after - 1], values[after - 1]);
    before + (values[after] - before) / (next_s - before_s) * (time_s - before_s)
}

fn decile(delays: &[f64]) -> f64 {
    percentile(delays, 90.0)
}

/// Upper confidence limit of the largest possible delay, in seconds.
fn end_point(delays: &[f64]) -> f64 {
    let threshold = decile(delays);
    let visits = delays.chunk_by(|one, next| (*one > threshold) == (*next > threshold));
    let visits = visits.filter(|visit| visit[0] > threshold).count().max(1);
    let share = (1.0 - CONFIDENCE) / 2.0;
    threshold + (largest(delays) - threshold) * libm::pow(share, -1.0 / visits as f64)
}

/// What the load has to be like.
fn of_load(measured: &Measurement, is_complete: bool) -> Vec<Condition> {
    let load = match measured.direction {
        Direction::None => condition("a load fills the path", false, "there is no load"),
        Direction::Both => condition(
            "the load goes in one direction",
            false,
            "an RTT is the sum of the queues of both directions",
        ),
        way => condition("the load goes in one direction", true, way.word()),
    };
    let counted = |count: usize| thousands(&count.to_string());
    let (rtts, rates) = (measured.rtt_s.len(), measured.throughput_bps.len());
    let counts = if rtts == 0 {
        "no RTT; the side that sends knows the RTTs, or a ping".to_owned()
    } else {
        format!("{} RTTs, {} rates", counted(rtts), counted(rates))
    };
    let statement = format!("there are {FEWEST_RTTS} RTTs and {PARTS} rates under load");
    let mut conditions = vec![load, condition(&statement, is_complete, &counts)];
    if let Some(ratio) = measured.over_stated {
        conditions.push(condition(
            "the rates average to the mean that the file states",
            (HIGHEST_RATE_RATIO.recip()..=HIGHEST_RATE_RATIO).contains(&ratio),
            &format!("{:.0}% of it", 100.0 * ratio),
        ));
    }
    conditions
}

fn condition(statement: &str, holds: impl Into<Option<bool>>, found: &str) -> Condition {
    Condition { statement: statement.to_owned(), holds: holds.into(), found: found.to_owned() }
}

fn idle_is_known(idle: &[f64]) -> Condition {
    let found = if idle.is_empty() {
        "unknown; measure it with ping, and give it".to_owned()
    } else {
        milliseconds(median(idle))
    };
    condition("the RTT of the idle path is known", !idle.is_empty(), &found)
}

/// Whether the load keeps a queue that stands out from the jitter of the idle path.
fn queue(measured: &Measurement, delays: &[f64], idle: &[f64], rate: &Rate) -> Condition {
    let packet_s = 8.0 * f64::from(measured.packet_bytes) / rate.mean.max(1.0);
    let jitter_s = if idle.is_empty() { 0.0 } else { percentile(idle, 90.0) - median(idle) };
    let added_s = decile(delays);
    let stands_out = added_s > FEWEST_PACKETS * packet_s + 2.0 * jitter_s;
    let why = if stands_out { "" } else { ": an AQM, a queue per flow, or no full link" };
    let found = format!("the load adds {} (90th percentile){why}", milliseconds(added_s));
    condition("the load keeps a queue", stands_out, &found)
}

/// What a full drop-tail buffer shows.
fn of_queue(measured: &Measurement, delays: &[f64], rate: &Rate) -> Vec<Condition> {
    let peaks: Vec<f64> = parts(delays, PARTS).map(largest).collect();
    let (lowest, highest) = (smallest(&peaks), largest(&peaks));
    let share = if highest > 0.0 { decile(delays) / highest } else { 0.0 };
    let (slowest, fastest) = (smallest(&rate.parts), largest(&rate.parts));
    let unknown = "the file does not tell";
    let control = measured.congestion.as_deref();
    let lost = measured.retransmissions;
    let delay = format!("{} of queueing delay", milliseconds(decile(delays)));
    let is_long = decile(delays) > AQM_DELAY_S;
    vec![
        condition(
            &format!("the largest delay is the same in each of {PARTS} parts of the test"),
            lowest >= LOWEST_PEAK * highest,
            &format!("from {} to {}", milliseconds(lowest), milliseconds(highest)),
        ),
        condition(
            &format!(
                "the queue often has {:.0}% of its largest delay",
                100.0 * LOWEST_UPPER_DECILE
            ),
            share >= LOWEST_UPPER_DECILE,
            &format!("a tenth of the time it has at least {:.0}%", 100.0 * share),
        ),
        condition(
            "the link has one rate",
            (rate.parts.len() == PARTS).then(|| rate.is_one()),
            &format!("parts of the test have {} to {}", bit_rate(slowest), bit_rate(fastest)),
        ),
        condition(
            "the congestion control fills a buffer, as CUBIC does",
            control.map(|name| LOSS_BASED.contains(&name)),
            control.filter(|name| !name.is_empty()).unwrap_or(unknown),
        ),
        condition(
            "packets were lost, so the buffer was full",
            lost.map(|count| count > 0),
            &lost.map_or(unknown.to_owned(), |count| {
                format!("{} retransmissions", thousands(&count.to_string()))
            }),
        ),
        if is_long {
            condition(IS_DROP_TAIL, true, &format!("{delay} is more than an AQM permits"))
        } else {
            condition(IS_DROP_TAIL, None, &format!("{delay} may be that of an AQM"))
        },
    ]
}

fn kilobytes(bytes: f64) -> String {
    format!("{} kB", thousands(&general(bytes / 1e3, 4)))
}

/// Seconds as milliseconds with up to three decimals.
fn milliseconds(value_s: f64) -> String {
    let ms = 1e3 * value_s;
    let decimals = match ms.abs() {
        0.0 => return "0 ms".to_owned(),
        ms if ms < 1.0 => 3,
        ms if ms < 10.0 => 2,
        ms if ms < 1000.0 => 1,
        _ => 0,
    };
    format!("{} ms", thousands(&format!("{ms:.decimals$}")))
}

/// A rate in bit/s, kbit/s, Mbit/s or Gbit/s.
fn bit_rate(value_bps: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    match units.iter().find(|(size, _)| value_bps >= *size) {
        Some((size, unit)) => format!("{} {unit}", thousands(&format!("{:.2}", value_bps / size))),
        None => format!("{value_bps:.0} bit/s"),
    }
}
