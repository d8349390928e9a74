//! The CSV of Waveform's bufferbloat test (waveform.com/tools/bufferbloat).
//!
//! Headings between `======` begin sections. One has the names and values of a summary, with a speed
//! per direction; three have RTTs of HTTP requests in milliseconds, one a line and without times: idle,
//! during the download, and during the upload. No specification is published: the names are those
//! that readers of such files use.

use super::fields::in_range;
use super::samples::{
    Direction, IPV4_HEADERS_BYTES, LARGEST_BPS, LARGEST_RTT_S, Measurement, Probe,
    USUAL_PAYLOAD_BYTES,
};
use crate::statistics::samples::percentile;

const RTTS: &str = "LATENCY MEASUREMENTS (ms)";
const IDLE: &str = "UNLOADED";
const STAGES: [(Direction, &str, &str); 2] = [
    (Direction::Download, "DOWNLOAD STAGE", "Download speed (Mbps)"),
    (Direction::Upload, "UPLOAD STAGE", "Upload speed (Mbps)"),
];

/// Whether a text has a section of RTTs.
pub(super) fn is_waveform(text: &str) -> bool {
    text.lines().filter_map(heading).any(|name| name.ends_with(RTTS))
}

/// Reads the direction whose load adds more to the RTT (90th percentile).
pub(super) fn read(text: &str) -> Result<Measurement, String> {
    let idle_rtts_s = rtts_s(text, IDLE)?;
    let mut measured = Vec::new();
    for (direction, stage, speed) in STAGES {
        let rtts_s = rtts_s(text, stage)?;
        if !rtts_s.is_empty() {
            measured.push((percentile(&rtts_s, 90.0), direction, speed, rtts_s));
        }
    }
    let longest = measured.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((_, direction, speed, rtt_s)) = longest else {
        return Err("has no RTT during a download or an upload; measure again".to_owned());
    };
    let rate_bps = 1e6 * number_of(text, speed)?;
    // The file has no times: one second for each RTT.
    let rtt_time_s: Vec<f64> = (1..=rtt_s.len()).map(|second| second as f64).collect();
    Ok(Measurement {
        tool: "waveform".to_owned(),
        direction,
        probe: Probe::Ping,
        throughput_time_s: vec![rtt_s.len() as f64],
        throughput_bps: vec![rate_bps],
        download_bps: None,
        over_stated: None,
        rtt_time_s,
        rtt_s,
        idle_rtts_s,
        congestion: None,
        retransmissions: None,
        payload_bytes: USUAL_PAYLOAD_BYTES,
        packet_bytes: USUAL_PAYLOAD_BYTES + IPV4_HEADERS_BYTES,
    })
}

fn heading(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("======")?.strip_suffix("======")?;
    Some(name.trim_matches('=').trim())
}

/// The RTTs of a section.
fn rtts_s(text: &str, section: &str) -> Result<Vec<f64>, String> {
    let mut is_within = false;
    let mut rtts_s = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = heading(line) {
            is_within = name.starts_with(section) && name.ends_with(RTTS);
        } else if is_within && !line.trim().is_empty() {
            let place = format!("line {}", index + 1);
            rtts_s
                .push(in_range(line.trim().parse().ok(), &place, 0.0..=1e3 * LARGEST_RTT_S)? / 1e3);
        }
    }
    Ok(rtts_s)
}

/// The value behind a name, in Mbit/s.
fn number_of(text: &str, name: &str) -> Result<f64, String> {
    let value =
        text.lines().find_map(|line| line.split_once(',').filter(|(key, _)| key.trim() == name));
    in_range(value.and_then(|(_, value)| value.trim().parse().ok()), name, 0.0..=LARGEST_BPS / 1e6)
}
