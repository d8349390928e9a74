//! Data files of flent (versions 1 to 4), from their series on common times.
//!
//! A file is a JSON object: `x_values` are times in seconds, `results` maps the names of series to
//! values at these times or null. Names and units are those of flent's tests: "Ping (ms) ..." in ms,
//! "TCP upload ..." and "TCP download ..." in Mbit/s of payload, "...`::tcp_rtt`" in ms
//! (<https://flent.org/data-format.html>; the names are in flent's definitions of tests).
//! `metadata.SERIES_META.NAME.MEAN_VALUE` is the mean that netperf reported at the end.
//!
//! A connection reports when it has made progress, on a slow path less often than the file has times.
//! Each report is on the time since the one before, so a connection keeps its value until its next.
//! The series "TCP upload sum" adds only the connections that report at an instant: it is read only
//! if the file has no connections.

use serde_json::Value;

use super::fields::{Fields, list, number, object};
use super::samples::{
    Direction, IPV4_HEADERS_BYTES, IPV6_HEADERS_BYTES, LARGEST_BPS, LARGEST_RTT_S, LONGEST_S,
    Measurement, Probe,
};
use crate::general_format::{general, thousands};
use crate::statistics::samples::mean;

const NEWEST_VERSION: f64 = 4.0;
/// Packet of Ethernet; the files do not tell.
const PACKET_BYTES: u32 = 1500;
/// Pings this long before the first report of a connection are idle; it reports after an interval.
/// flent waits five seconds before it starts a load.
const BEFORE_LOAD_S: f64 = 1.0;
/// Beginnings of the names of pings, the best first; an average of several servers is none.
const PINGS: [&str; 3] = ["Ping (ms) ICMP", "Ping (ms) UDP", "Ping (ms)"];

/// Values at the times of the file; `None` where nothing is known.
type Series = Vec<Option<f64>>;

pub(super) fn is_flent(document: &Fields) -> bool {
    document.contains_key("x_values") && document.contains_key("results")
}

/// Reads the JSON object of a data file.
pub(super) fn read(document: &Fields) -> Result<Measurement, String> {
    let metadata = document.get("metadata").map(|value| object(Some(value), "metadata"));
    let metadata = metadata.transpose()?;
    let about = |key| metadata.and_then(|fields| fields.get(key));
    let version = document.get("version").map(|value| number(Some(value), "version", 0.0..=1e6));
    if let Some(version) = version.transpose()?.filter(|version| *version > NEWEST_VERSION) {
        let version = general(version, 6);
        return Err(format!(
            "version: {version} is newer than {NEWEST_VERSION}; use an older flent, or a newer \
             tailroom"
        ));
    }
    let times = times(document)?;
    let results = object(document.get("results"), "results")?;
    let upload = throughput(results, times.len(), "upload")?;
    let download = throughput(results, times.len(), "download")?;
    let (rtts, probe) = rtts(results, times.len())?;
    if rtts.is_none() && upload.is_none() && download.is_none() {
        return Err("results: has neither a ping nor a TCP connection; run a test such as tcp_8up"
            .to_owned());
    }
    let (direction, load, download_bps) = match (upload, download) {
        (Some(up), Some(down)) => (Direction::Both, Some(up), Some(known_mean(&down.total))),
        (Some(load), None) => (Direction::Upload, Some(load), None),
        (None, Some(load)) => (Direction::Download, Some(load), None),
        (None, None) => (Direction::None, None, None),
    };
    let stated = about("SERIES_META").and_then(Value::as_object);
    let over_stated = load.as_ref().zip(stated).and_then(|(load, meta)| load.over_stated(meta));
    let load = load.map_or_else(|| vec![None; times.len()], |load| load.total);
    let is_ipv6 = about("IP_VERSION").and_then(Value::as_f64) == Some(6.0);
    let headers = if is_ipv6 { IPV6_HEADERS_BYTES } else { IPV4_HEADERS_BYTES };
    let name = about("NAME").and_then(Value::as_str);
    Ok(Measurement {
        tool: name.map_or("flent".to_owned(), |name| format!("flent {name}")),
        direction,
        payload_bytes: PACKET_BYTES - headers,
        download_bps,
        over_stated,
        ..split(&times, &rtts.unwrap_or_else(|| vec![None; times.len()]), &load, probe)
    })
}

fn times(document: &Fields) -> Result<Vec<f64>, String> {
    let times = numbers(list(document.get("x_values"), "x_values")?, "x_values", LONGEST_S)?;
    let known: Option<Vec<f64>> = times.into_iter().collect();
    known.filter(|times| times.is_sorted()).ok_or_else(|| {
        "x_values: times do not ascend; the file is damaged: measure again".to_owned()
    })
}

/// Splits the series into idle and under load.
fn split(times: &[f64], pinged: &Series, load: &Series, probe: Probe) -> Measurement {
    let at = |series: &Series| -> Vec<(f64, f64)> {
        let known = times.iter().zip(series).map(|(time, value)| value.map(|value| (*time, value)));
        known.flatten().collect()
    };
    let (pinged, load) = (at(pinged), at(load));
    let first_s = load.first().map_or(f64::INFINITY, |(time_s, _)| *time_s);
    let last_s = load.last().map_or(f64::INFINITY, |(time_s, _)| *time_s);
    let is_under_load = |time_s: f64| first_s <= time_s && time_s <= last_s;
    let (rtt_time_s, rtt_s) =
        pinged.iter().filter(|(time_s, _)| is_under_load(*time_s)).copied().unzip();
    // A ping is idle whenever there is no load; RTTs of TCP exist under load only.
    let is_idle = |time_s: f64| probe == Probe::Ping && time_s < first_s - BEFORE_LOAD_S;
    let idle = pinged.iter().filter(|(time_s, _)| is_idle(*time_s)).map(|(_, rtt_s)| *rtt_s);
    let idle_rtts_s = idle.collect();
    let (throughput_time_s, throughput_bps) = load.into_iter().unzip();
    Measurement {
        tool: String::new(),
        direction: Direction::None,
        probe,
        rtt_time_s,
        rtt_s,
        idle_rtts_s,
        throughput_time_s,
        throughput_bps,
        download_bps: None,
        over_stated: None,
        congestion: None,
        retransmissions: None,
        payload_bytes: PACKET_BYTES,
        packet_bytes: PACKET_BYTES,
    }
}

/// The payload of the connections of a direction, in bit/s.
struct Throughput {
    /// Of all connections.
    total: Series,
    /// The name of each series that was added, and its mean.
    means: Vec<(String, f64)>,
}

impl Throughput {
    /// The mean of the series over that which netperf reported for them, if it did for all.
    fn over_stated(&self, meta: &Fields) -> Option<f64> {
        let stated_bps =
            |name: &str| meta.get(name)?.get("MEAN_VALUE")?.as_f64().map(|mbps| 1e6 * mbps);
        let stated = self.means.iter().map(|(name, _)| stated_bps(name)).sum::<Option<f64>>()?;
        (stated > 0.0).then(|| self.means.iter().map(|(_, mean)| mean).sum::<f64>() / stated)
    }
}

/// The mean of what is known; 0 if nothing is.
fn known_mean(series: &Series) -> f64 {
    let known: Vec<f64> = series.iter().flatten().copied().collect();
    if known.is_empty() { 0.0 } else { mean(&known) }
}

/// The series with each value kept until the next, up to the last one.
fn held(mut series: Series) -> Series {
    let end = series.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let mut before = None;
    for value in &mut series[..end] {
        before = value.or(before);
        *value = before;
    }
    series
}

fn throughput(results: &Fields, count: usize, way: &str) -> Result<Option<Throughput>, String> {
    let (whole, start) = (format!("TCP {way} sum"), format!("TCP {way}"));
    let is_part = |name: &str| {
        let is_sum = [" sum", " avg", " fairness"].iter().any(|end| name.ends_with(end));
        name.starts_with(&start) && !name.contains("::tcp_") && !is_sum
    };
    let mut names: Vec<&str> =
        results.keys().map(String::as_str).filter(|one| is_part(one)).collect();
    if names.is_empty() && results.contains_key(&whole) {
        names.push(&whole);
    }
    let (mut total, mut means): (Series, _) = (vec![None; count], Vec::new());
    for name in names {
        let mbps = held(series(results, name, count, LARGEST_BPS / 1e6)?);
        let bps: Series = mbps.into_iter().map(|value| Some(1e6 * value?)).collect();
        if bps.iter().any(Option::is_some) {
            means.push((name.to_owned(), known_mean(&bps)));
        }
        add(&mut total, bps, |one, other| one + other);
    }
    Ok((!means.is_empty()).then_some(Throughput { total, means }))
}

/// The RTTs of the best ping, else the smallest of the connections, in seconds.
fn rtts(results: &Fields, count: usize) -> Result<(Option<Series>, Probe), String> {
    let most_ms = 1e3 * LARGEST_RTT_S;
    let in_seconds = |ms: Series| ms.into_iter().map(|value| Some(value? / 1e3)).collect();
    let mut pings: Vec<(usize, &str)> = Vec::new();
    for name in results.keys().filter(|name| !name.contains("avg")) {
        if let Some(rank) = PINGS.iter().position(|start| name.starts_with(start)) {
            pings.push((rank, name));
        }
    }
    pings.sort_unstable();
    for (_, name) in pings {
        let series = series(results, name, count, most_ms)?;
        if series.iter().any(Option::is_some) {
            return Ok((Some(in_seconds(series)), Probe::Ping));
        }
    }
    let is_tcp = |name: &&str| name.starts_with("TCP ") && name.ends_with("::tcp_rtt");
    let mut smallest: Series = vec![None; count];
    for name in results.keys().map(String::as_str).filter(is_tcp) {
        add(&mut smallest, series(results, name, count, most_ms)?, f64::min);
    }
    let is_known = smallest.iter().any(Option::is_some);
    let probe = if is_known { Probe::Tcp } else { Probe::Ping };
    Ok((is_known.then(|| in_seconds(smallest)), probe))
}

/// Combines a series with another where both are known, else takes the known one.
fn add(total: &mut Series, series: Series, combine: fn(f64, f64) -> f64) {
    for (sum, value) in total.iter_mut().zip(series) {
        *sum = sum.map_or(value, |sum| Some(value.map_or(sum, |value| combine(sum, value))));
    }
}

fn series(results: &Fields, name: &str, count: usize, most: f64) -> Result<Series, String> {
    let place = format!("results.{name}");
    let series = numbers(list(results.get(name), &place)?, &place, most)?;
    if series.len() == count {
        return Ok(series);
    }
    let (found, count) = (thousands(&series.len().to_string()), thousands(&count.to_string()));
    Err(format!("{place}: has {found} values at {count} times; the file is damaged: measure again"))
}

fn numbers(found: &[Value], place: &str, most: f64) -> Result<Series, String> {
    let read = |(index, value): (usize, &Value)| match value {
        Value::Null => Ok(None),
        value => number(Some(value), &format!("{place}[{index}]"), 0.0..=most).map(Some),
    };
    found.iter().enumerate().map(read).collect()
}
