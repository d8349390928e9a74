//! Logs of repeated `ss -tin`, on the host that sends.
//!
//! A socket is a line with its two ends and a line with the kernel's statistics: `rtt:` and `minrtt:`
//! in ms, `bytes_acked:`, `busy:` (time with data in flight, in ms), `retrans:now/total`, `mss:`,
//! `pmtu:` (names as iproute2 writes them). A line with a time (`date +%s.%N`, or ISO 8601) may stand
//! before each output, or a time before every line (`ts '%.s'`); without times, the clock is `busy` of
//! the busiest socket.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::in_range;
use super::samples::{
    Direction, IPV4_HEADERS_BYTES, LARGEST_PACKET_BYTES, LARGEST_RTT_S, LONGEST_S, Measurement,
    Probe, SMALLEST_PAYLOAD_BYTES, USUAL_PAYLOAD_BYTES,
};
use super::times;
use crate::general_format::general;

/// The local and the remote end of a socket.
type Ends<'a> = (&'a str, &'a str);

const STATISTICS: [&str; 7] = ["rtt", "minrtt", "bytes_acked", "busy", "retrans", "mss", "pmtu"];
/// A socket carries load if it has this share of the bytes of the log.
const LEAST_SHARE: f64 = 0.01;
const MOST_BYTES: f64 = 18_446_744_073_709_551_616.0;

/// Statistics of one socket in one output.
#[derive(Default)]
struct Socket<'a> {
    rtt_s: Option<f64>,
    idle_rtt_s: Option<f64>,
    acked_bytes: f64,
    busy_s: Option<f64>,
    retransmissions: f64,
    congestion: Option<&'a str>,
    payload_bytes: Option<u32>,
    packet_bytes: Option<u32>,
}

/// One output of ss.
#[derive(Default)]
struct Output<'a> {
    time_s: Option<f64>,
    sockets: BTreeMap<Ends<'a>, Socket<'a>>,
}

/// Whether a text has statistics of sockets.
pub(super) fn is_log(text: &str) -> bool {
    text.lines().flat_map(str::split_whitespace).any(|word| statistic(word).is_some())
}

/// Reads the text of a log.
pub(super) fn read(text: &str) -> Result<Measurement, String> {
    let mut outputs = outputs(text)?;
    outputs.retain(|output| !output.sockets.is_empty());
    check_times(&outputs)?;
    let sockets = || outputs.iter().flat_map(|output| &output.sockets);
    let last: BTreeMap<&Ends<'_>, &Socket<'_>> = sockets().collect();
    let mut first: BTreeMap<&Ends<'_>, &Socket<'_>> = BTreeMap::new();
    for (ends, socket) in sockets() {
        first.entry(ends).or_insert(socket);
    }
    let carried = |ends: &Ends<'_>| last[ends].acked_bytes - first[ends].acked_bytes;
    if last.is_empty() {
        return Err(
            "no line names a socket as ss prints it; give the output of `ss -tin` as it is, or with \
             a time in seconds before every line (`ts '%.s'`)"
                .to_owned(),
        );
    }
    let total: f64 = last.keys().map(|ends| carried(ends)).sum();
    if total <= 0.0 {
        return Err(
            "no socket sent data between two outputs; log `ss -tin` on the host that sends, several \
             times a second during the transfer"
                .to_owned(),
        );
    }
    let is_load = |ends: &&Ends<'_>| carried(ends) >= LEAST_SHARE * total;
    let loading: BTreeSet<Ends<'_>> = last.keys().copied().filter(is_load).copied().collect();
    let by_bytes = |one: &&Ends<'_>, other: &&Ends<'_>| carried(one).total_cmp(&carried(other));
    let Some(busiest) = loading.iter().max_by(by_bytes) else {
        return Err("no socket sent most of the data; give the log of one test".to_owned());
    };
    // Sockets to other hosts may have other paths behind the bottleneck, so other idle RTTs.
    let is_same_path = |ends: &&Ends<'_>| host(ends) == host(busiest);
    let same_path: BTreeSet<Ends<'_>> = loading.iter().filter(is_same_path).copied().collect();
    let samples = samples(&outputs, &loading, &same_path)?;
    let idle = sockets().filter(|(ends, _)| same_path.contains(*ends));
    let idle = idle.filter_map(|(_, socket)| socket.idle_rtt_s).reduce(f64::min);
    let payload_bytes = last[busiest].payload_bytes.unwrap_or(USUAL_PAYLOAD_BYTES);
    let sent_again = |ends: &Ends<'_>| last[ends].retransmissions - first[ends].retransmissions;
    let (rtt_time_s, rtt_s) =
        samples.iter().filter_map(|one| Some((one.time_s, one.rtt_s?))).unzip();
    Ok(Measurement {
        tool: "ss".to_owned(),
        direction: Direction::Upload,
        probe: Probe::Tcp,
        rtt_time_s,
        rtt_s,
        idle_rtts_s: idle.into_iter().collect(),
        throughput_time_s: samples.iter().map(|one| one.time_s).collect(),
        throughput_bps: samples.iter().map(|one| one.rate_bps).collect(),
        download_bps: None,
        over_stated: None,
        congestion: last[busiest].congestion.map(str::to_owned),
        retransmissions: Some(loading.iter().map(sent_again).sum::<f64>().max(0.0) as u64),
        payload_bytes,
        packet_bytes: last[busiest].packet_bytes.unwrap_or(payload_bytes + IPV4_HEADERS_BYTES),
    })
}

/// The host to which a socket sends.
fn host<'a>(ends: &Ends<'a>) -> &'a str {
    ends.1.rsplit_once(':').map_or("", |(host, _)| host)
}

/// The time before a line, in seconds, and the line.
fn stamped(line: &str) -> (Option<f64>, &str) {
    let rest = |(stamp, rest): (&str, _)| Some((times::time_s(stamp).ok()??, rest));
    let found = line.split_once(' ').and_then(rest).filter(|(_, rest)| {
        // A number before the two queues of a socket, or before anything that is no number.
        !rest.trim().is_empty() && (socket_ends(rest).is_some() || socket_ends(line).is_none())
    });
    found.map_or((None, line), |(time_s, rest)| (Some(time_s), rest))
}

/// The outputs of a log: each begins with a time, a heading, or a socket seen before.
fn outputs(text: &str) -> Result<Vec<Output<'_>>, String> {
    let (mut read, mut current) = (Vec::new(), Output::default());
    let (mut ends, mut is_begun) = (None, false);
    for (index, line) in text.lines().enumerate() {
        let (stamp_s, line) = stamped(line);
        let time_s = times::time_s(line).map_err(|()| {
            let place = index + 1;
            format!("line {place}: is not a time; write for example the output of `date +%s.%N`")
        })?;
        if time_s.is_some() || is_heading(line) {
            if !is_begun || time_s.is_some() {
                let next = Output { time_s: time_s.or(stamp_s), ..Output::default() };
                read.push(std::mem::replace(&mut current, next));
            }
            // A heading follows the time of its output.
            (is_begun, ends) = (time_s.is_some(), None);
            continue;
        }
        if let Some(found) = socket_ends(line) {
            (ends, is_begun) = (Some(found), false);
            if current.sockets.contains_key(&found) {
                read.push(std::mem::take(&mut current));
            }
            current.time_s = current.time_s.or(stamp_s);
            current.sockets.insert(found, Socket::default());
        }
        if let Some(socket) = ends.and_then(|ends| current.sockets.get_mut(&ends)) {
            add_statistics(socket, line, index + 1)?;
        }
    }
    read.push(current);
    Ok(read)
}

fn is_heading(line: &str) -> bool {
    let words = line.split_whitespace().skip_while(|word| matches!(*word, "Netid" | "State"));
    words.take(2).eq(["Recv-Q", "Send-Q"])
}

/// The ends of a socket on a line such as `tcp ESTAB 0 100 192.0.2.1:22 192.0.2.9:50000`.
fn socket_ends(line: &str) -> Option<Ends<'_>> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let mut words = line.split_whitespace().peekable();
    words.next_if(|word| word.starts_with(|letter: char| letter.is_ascii_lowercase()));
    let is_state =
        |letter: char| letter.is_ascii_uppercase() || letter == '-' || letter.is_ascii_digit();
    words.next_if(|word| {
        word.starts_with(|letter: char| letter.is_ascii_uppercase()) && word.chars().all(is_state)
    });
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    if !(is_number(words.next()?) && is_number(words.next()?)) {
        return None;
    }
    let (local, remote) = (words.next()?, words.next()?);
    (local.contains(':') && remote.contains(':')).then_some((local, remote))
}

/// The name and the value of a statistic such as `minrtt:20.5`.
fn statistic(word: &str) -> Option<(&str, &str)> {
    word.split_once(':').filter(|(name, value)| STATISTICS.contains(name) && !value.is_empty())
}

/// Adds what a line says about a socket.
fn add_statistics<'a>(socket: &mut Socket<'a>, line: &'a str, place: usize) -> Result<(), String> {
    socket.congestion = control(line).or(socket.congestion);
    for word in line.split_whitespace() {
        let Some((name, text)) = statistic(word) else { continue };
        let here = format!("line {place}: {name}");
        let number = |text: &str, most: f64| in_range(text.parse().ok(), &here, 0.0..=most);
        let size = || {
            let range = SMALLEST_PAYLOAD_BYTES..=LARGEST_PACKET_BYTES;
            in_range(text.parse().ok(), &here, range).map(|size: f64| size.round() as u32)
        };
        match name {
            "rtt" => {
                let smoothed = text.split_once('/').map_or(text, |(smoothed, _)| smoothed);
                socket.rtt_s = Some(number(smoothed, 1e3 * LARGEST_RTT_S)? / 1e3);
            }
            "minrtt" => socket.idle_rtt_s = Some(number(text, 1e3 * LARGEST_RTT_S)? / 1e3),
            "bytes_acked" => socket.acked_bytes = number(text, MOST_BYTES)?,
            "busy" => {
                let ms = text.strip_suffix("ms").unwrap_or(text);
                socket.busy_s = Some(number(ms, 1e3 * LONGEST_S)? / 1e3);
            }
            "retrans" => {
                let total = text.split_once('/').map_or("", |(_, total)| total);
                socket.retransmissions = number(total, MOST_BYTES)?.round();
            }
            "mss" => socket.payload_bytes = Some(size()?),
            _ => socket.packet_bytes = Some(size()?),
        }
    }
    Ok(())
}

/// The congestion control, which iproute2 writes before the scale of the window: `cubic wscale:7,7`.
fn control(line: &str) -> Option<&str> {
    let begins =
        |text: &str, test: fn(&char) -> bool| text.chars().next().is_some_and(|one| test(&one));
    line.match_indices(" wscale:").find_map(|(at, mark)| {
        let (_, name) = line[..at].rsplit_once(char::is_whitespace)?;
        let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let is_scale = begins(&line[at + mark.len()..], char::is_ascii_digit);
        (is_name && is_scale && begins(name, char::is_ascii_lowercase)).then_some(name)
    })
}

/// Checks that all outputs have a time or none has, and that times ascend.
fn check_times(outputs: &[Output<'_>]) -> Result<(), String> {
    let known: Vec<f64> = outputs.iter().filter_map(|output| output.time_s).collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return Ok(()) };
    if known.len() < outputs.len() {
        let problem =
            "some outputs have no time; write a line of `date +%s.%N` before each `ss -tin`";
        return Err(problem.to_owned());
    }
    if !known.is_sorted() {
        return Err("times do not ascend; give one log, in its order".to_owned());
    }
    if last - first > LONGEST_S {
        let longest = general(LONGEST_S, 6);
        return Err(format!("times span more than {longest} s; give the log of one test"));
    }
    Ok(())
}

/// What the sockets show at the end of an interval.
struct Sample {
    time_s: f64,
    rate_bps: f64,
    /// The smallest RTT of the sockets that sent.
    rtt_s: Option<f64>,
}

/// A sample after each interval with data.
fn samples(
    outputs: &[Output<'_>],
    loading: &BTreeSet<Ends<'_>>,
    same_path: &BTreeSet<Ends<'_>>,
) -> Result<Vec<Sample>, String> {
    let (mut samples, mut time_s) = (Vec::new(), 0.0);
    for (earlier, later) in outputs.iter().zip(outputs.iter().skip(1)) {
        let (mut grown_bytes, mut rtt_s): (f64, Option<f64>) = (0.0, None);
        let sending = || later.sockets.iter().filter(|(ends, _)| loading.contains(*ends));
        for (ends, socket) in sending() {
            let before = earlier.sockets.get(ends).map_or(0.0, |socket| socket.acked_bytes);
            let bytes = (socket.acked_bytes - before).max(0.0);
            grown_bytes += bytes;
            if bytes > 0.0 && same_path.contains(ends) {
                rtt_s = rtt_s.into_iter().chain(socket.rtt_s).reduce(f64::min);
            }
        }
        let length_s = match (earlier.time_s, later.time_s) {
            (Some(from), Some(to)) => to - from,
            _ => longest_busy_s(earlier, sending())?,
        };
        time_s += length_s;
        if length_s > 0.0 && grown_bytes > 0.0 {
            samples.push(Sample { time_s, rate_bps: 8.0 * grown_bytes / length_s, rtt_s });
        }
    }
    Ok(samples)
}

/// The time that the busiest socket sent since an earlier output.
fn longest_busy_s<'a>(
    earlier: &Output<'_>,
    sending: impl Iterator<Item = (&'a Ends<'a>, &'a Socket<'a>)>,
) -> Result<f64, String> {
    let mut longest_s: f64 = 0.0;
    for (ends, socket) in sending {
        let before = earlier.sockets.get(ends).map_or(Some(0.0), |socket| socket.busy_s);
        let (Some(before), Some(after)) = (before, socket.busy_s) else {
            return Err(
                "neither times nor busy: in the log; write a line of `date +%s.%N` before \
                        each `ss -tin`"
                    .to_owned(),
            );
        };
        longest_s = longest_s.max(after - before);
    }
    Ok(longest_s)
}
