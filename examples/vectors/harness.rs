//! Runs a congestion control on the paths of vectors, and prints its results.
//!
//! rustc -O harness.rs && ./harness vectors > results.json

use std::collections::VecDeque;
use std::fmt::Write;
use std::{env, fs, process};

const VECTORS: [&str; 3] = ["reno.slow-start", "reno.congestion-avoidance", "reno.halving"];

/// The control to check.
struct Reno {
    decrease: f64,
    cwnd: f64,
    ssthresh: f64,
}

impl Reno {
    fn on_ack(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
    }

    fn on_loss(&mut self) {
        self.ssthresh = (self.decrease * self.cwnd).max(2.0);
        self.cwnd = self.ssthresh;
    }
}

/// The numbers behind a key of a vector's script, one or an array; none if there is no such key.
fn numbers(vector: &str, key: &str) -> Vec<f64> {
    let Some((_, value)) = vector.split_once(&format!("\"{key}\":")) else { return Vec::new() };
    let value = value.trim_start();
    let end = if value.starts_with('[') { "]" } else { ",\n}" };
    let value = value.split(|one: char| end.contains(one)).next().unwrap_or_default();
    let parts = value.trim_start_matches('[').split(',');
    parts.filter_map(|part| part.trim().parse().ok()).collect()
}

fn number(vector: &str, key: &str) -> f64 {
    *numbers(vector, key).first().unwrap_or_else(|| fail(&format!("the vector has no {key}")))
}

fn fail(what: &str) -> ! {
    eprintln!("harness: {what}");
    process::exit(1)
}

/// Sends on the path of a script; the third later ACK shows that a packet is lost.
fn run(vector: &str, decrease: f64) -> String {
    let (rtt, duration) = (number(vector, "rtt_s"), number(vector, "duration_s"));
    let service = 8.0 * number(vector, "packet_bytes") / number(vector, "rate_bps");
    let ssthresh = numbers(vector, "initial_ssthresh_packets").first().copied().unwrap_or(1e9);
    let mut control = Reno { decrease, cwnd: number(vector, "initial_cwnd_packets"), ssthresh };
    let lost: Vec<u64> =
        numbers(vector, "lost_packets").into_iter().map(|packet| packet as u64).collect();
    let mut missing: VecDeque<u64> = VecDeque::new();
    let mut acks: VecDeque<(f64, u64)> = VecDeque::new();
    let (mut samples, mut reductions) = (Vec::new(), Vec::new());
    let (mut now, mut link_is_free) = (0.0_f64, 0.0_f64);
    let (mut sent, mut in_flight, mut recovery_ends) = (0_u64, 0_u64, 0_u64);
    while now <= duration {
        samples.push((now, control.cwnd, control.ssthresh));
        while in_flight < control.cwnd as u64 {
            sent += 1;
            in_flight += 1;
            link_is_free = link_is_free.max(now) + service;
            if lost.contains(&sent) {
                missing.push_back(sent);
            } else {
                acks.push_back((link_is_free + rtt, sent));
            }
        }
        let Some((time, acked)) = acks.pop_front() else { fail("all packets are lost") };
        now = time;
        in_flight -= 1;
        while missing.front().is_some_and(|packet| packet + 3 <= acked) {
            in_flight -= 1;
            if missing.pop_front() > Some(recovery_ends) {
                recovery_ends = sent;
                reductions.push(now);
                control.on_loss();
            }
        }
        if acked > recovery_ends {
            control.on_ack();
        }
    }
    let windows: Vec<_> = samples.iter().map(|one| [one.0, one.1]).collect();
    let thresholds: Vec<_> = samples.iter().map(|one| [one.0, one.2]).collect();
    format!(
        "{{\"samples\": {{\"cwnd_packets\": {windows:?}, \"ssthresh_packets\": {thresholds:?}}}, \
         \"events\": {{\"reduction\": {reductions:?}}}}}"
    )
}

fn main() {
    let place = env::args().nth(1).unwrap_or("vectors".into());
    let decrease = env::args().nth(2).map_or(0.5, |text| {
        text.parse().unwrap_or_else(|_| fail(&format!("{text} is not a number")))
    });
    let mut results = String::new();
    for name in VECTORS {
        let path = format!("{place}/{name}.json");
        let vector =
            fs::read_to_string(&path).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
        let comma = if results.is_empty() { "" } else { ", " };
        let _ = write!(results, "{comma}\"{name}\": {}", run(&vector, decrease));
    }
    println!("{{\"implementation\": \"my stack in Rust 1.0\", \"results\": {{{results}}}}}");
}
