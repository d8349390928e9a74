//! Results of `iperf3 -J` over TCP, from the side that sends.
//!
//! Each interval has its streams: `rtt` in microseconds (the kernel's smoothed RTT), `bytes`,
//! `retransmits` and `pmtu` if the host sends; `sum` has the bytes of all (names as iperf 3.9 to 3.17
//! write them). The connections load the path from the start on, so the idle RTT is not in the file.

use serde_json::Value;

use super::fields::{Fields, is_set, list, number, object};
use super::samples::{
    Direction, IPV4_HEADERS_BYTES, IPV6_HEADERS_BYTES, LARGEST_BPS, LARGEST_PACKET_BYTES,
    LARGEST_RTT_S, LONGEST_S, Measurement, Probe, SMALLEST_PAYLOAD_BYTES, USUAL_PAYLOAD_BYTES,
};
use crate::statistics::samples::mean;

/// What the server saw, with `--get-server-output`.
const SERVER: &str = "server_output_json";
const BOTH_WAYS: &str = "sum_bidir_reverse";
const MOST_RETRANSMISSIONS: f64 = 1e15;

pub(super) fn is_iperf3(document: &Fields) -> bool {
    let has = |key| document.contains_key(key);
    has("intervals") || has("start") && has("end")
}

/// Reads the JSON object of a test.
pub(super) fn read(document: &Fields) -> Result<Measurement, String> {
    if document.contains_key("error") {
        return Err("error: iperf3 reported that the test failed; measure again".to_owned());
    }
    let start = object(document.get("start"), "start")?;
    let test = object(start.get("test_start"), "start.test_start")?;
    if test.get("protocol").and_then(Value::as_str) != Some("TCP") {
        return Err("start.test_start.protocol: is not TCP; measure without --udp".to_owned());
    }
    let is_download = is_set(test.get("reverse"));
    // The client of a download sees no RTTs; the server does.
    let (seen, place) = if is_download && document.contains_key(SERVER) {
        (object(document.get(SERVER), SERVER)?, format!("{SERVER}.intervals"))
    } else {
        (document, "intervals".to_owned())
    };
    let written = list(seen.get("intervals"), &place)?;
    let intervals = intervals(written, &place)?;
    let (rtt_time_s, rtt_s) =
        intervals.iter().filter_map(|one| Some((one.end_s, one.rtt_s?))).unzip();
    let counted: Vec<f64> = intervals.iter().filter_map(|one| one.retransmissions).collect();
    let is_both_ways = written.iter().any(|one| one.get(BOTH_WAYS).is_some());
    let backward: Vec<f64> = intervals.iter().filter_map(|one| one.backward_bps).collect();
    let payload_bytes = payload_bytes(start)?;
    Ok(Measurement {
        tool: "iperf3".to_owned(),
        direction: if is_both_ways {
            Direction::Both
        } else if is_download {
            Direction::Download
        } else {
            Direction::Upload
        },
        probe: Probe::Tcp,
        rtt_time_s,
        rtt_s,
        idle_rtts_s: Vec::new(),
        throughput_time_s: intervals.iter().map(|one| one.end_s).collect(),
        throughput_bps: intervals.iter().map(|one| one.rate_bps).collect(),
        download_bps: (!backward.is_empty()).then(|| mean(&backward)),
        over_stated: None,
        congestion: congestion(document)?,
        retransmissions: (!counted.is_empty()).then(|| counted.iter().sum::<f64>().round() as u64),
        payload_bytes,
        packet_bytes: payload_bytes + headers_bytes(start)?,
    })
}

fn payload_bytes(start: &Fields) -> Result<u32, String> {
    let value = start.get("tcp_mss_default");
    if !is_set(value) {
        return Ok(USUAL_PAYLOAD_BYTES);
    }
    let range = SMALLEST_PAYLOAD_BYTES..=LARGEST_PACKET_BYTES;
    Ok(number(value, "start.tcp_mss_default", range)?.round() as u32)
}

fn congestion(document: &Fields) -> Result<Option<String>, String> {
    let Some(end) = document.get("end") else { return Ok(None) };
    let name = object(Some(end), "end")?.get("sender_tcp_congestion");
    Ok(name.and_then(Value::as_str).map(str::to_owned))
}

fn headers_bytes(start: &Fields) -> Result<u32, String> {
    let Some(connected) = start.get("connected") else { return Ok(IPV4_HEADERS_BYTES) };
    let first = list(Some(connected), "start.connected")?.first();
    let host = first.and_then(|first| first.get("local_host")).and_then(Value::as_str);
    let is_ipv6 = host.is_some_and(|host| host.contains(':'));
    Ok(if is_ipv6 { IPV6_HEADERS_BYTES } else { IPV4_HEADERS_BYTES })
}

struct Interval {
    end_s: f64,
    rate_bps: f64,
    /// To the client, in a test of both directions.
    backward_bps: Option<f64>,
    rtt_s: Option<f64>,
    retransmissions: Option<f64>,
}

fn intervals(written: &[Value], parent: &str) -> Result<Vec<Interval>, String> {
    let mut read: Vec<Interval> = Vec::new();
    for (index, interval) in written.iter().enumerate() {
        let place = format!("{parent}[{index}]");
        let total = object(interval.get("sum"), &format!("{place}.sum"))?;
        // Before the test proper, whose times begin at 0 again.
        if is_set(total.get("omitted")) {
            continue;
        }
        let of =
            |key: &str, most| number(total.get(key), &format!("{place}.sum.{key}"), 0.0..=most);
        let end_s = of("end", LONGEST_S)?;
        if read.last().is_some_and(|before| end_s < before.end_s) {
            return Err(format!("{place}.sum.end: times do not ascend; measure again"));
        }
        let is_counted = total.get("retransmits").is_some_and(|value| !value.is_null());
        read.push(Interval {
            end_s,
            rate_bps: of("bits_per_second", LARGEST_BPS)?,
            backward_bps: backward_bps(interval, &place)?,
            rtt_s: smallest_rtt_s(interval, &place)?,
            retransmissions: is_counted
                .then(|| of("retransmits", MOST_RETRANSMISSIONS))
                .transpose()?,
        });
    }
    Ok(read)
}

/// The rate of the download in a test of both directions.
fn backward_bps(interval: &Value, place: &str) -> Result<Option<f64>, String> {
    let Some(total) = interval.get(BOTH_WAYS) else { return Ok(None) };
    let place = format!("{place}.{BOTH_WAYS}");
    let rate = object(Some(total), &place)?.get("bits_per_second");
    number(rate, &format!("{place}.bits_per_second"), 0.0..=LARGEST_BPS).map(Some)
}

/// The smallest RTT of an interval's streams that send; a receiver writes 0.
fn smallest_rtt_s(interval: &Value, place: &str) -> Result<Option<f64>, String> {
    let mut smallest: Option<f64> = None;
    let place = format!("{place}.streams");
    for (index, stream) in list(interval.get("streams"), &place)?.iter().enumerate() {
        let rtt = stream.get("rtt");
        if is_set(rtt) {
            let most_us = 1e6 * LARGEST_RTT_S;
            let rtt_s = number(rtt, &format!("{place}[{index}].rtt"), 0.0..=most_us)? / 1e6;
            smallest = Some(smallest.map_or(rtt_s, |before| before.min(rtt_s)));
        }
    }
    Ok(smallest)
}
