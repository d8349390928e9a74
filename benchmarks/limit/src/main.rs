//! The least that an engine of this kind must do: a prototype of the event structure of tailroom
//! with a simplified TCP and no statistics. README.md says what it includes.
//!
//! `tailroom-limit SCENARIO VARIANT [SECONDS [RTT]]`

mod cpu_time;
mod event_queue;
mod fair_queue;
mod flow;
mod inline_flows;
mod link;
mod prefetch;
mod report;
mod scenario;
mod window_law;

use inline_flows::{CoDel, DropTail, Red, TwoHops};
use report::Report;
use scenario::Scenario;

const USAGE: &str = "usage: tailroom-limit SCENARIO VARIANT [SECONDS [RTT]]
  SCENARIO  1: 10 flows, 1 Gbit/s       2: 100 flows, 10 Gbit/s
            3: 10,000 flows, 100 Gbit/s  4: 100,000 flows, 400 Gbit/s
  VARIANT   edel: tail drop   edelred: RED   ecodel: CoDel   e2: two links   fq: fair queueing
  SECONDS   simulated time; 300, 60, 10 and 10 s if left out
  RTT       mean in ms, instead of the scenario's";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match simulate(&arguments) {
        Some(report) => println!("{report}"),
        None => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    }
}

/// Runs the variant; none if the arguments are wrong.
fn simulate(arguments: &[String]) -> Option<Report> {
    let [number, variant, more @ ..] = arguments else { return None };
    let mut scenario = Scenario::numbered(number.parse().ok()?)?;
    if let Some(seconds) = more.first() {
        scenario.duration_s = seconds.parse().ok()?;
    }
    if let Some(milliseconds) = more.get(1) {
        scenario.rtt_s = milliseconds.parse::<f64>().ok()? / 1000.0;
    }
    if more.len() > 2 {
        return None;
    }
    match variant.as_str() {
        "edel" => Some(inline_flows::run::<DropTail>(&scenario)),
        "edelred" => Some(inline_flows::run::<Red>(&scenario)),
        "ecodel" => Some(inline_flows::run::<CoDel>(&scenario)),
        "e2" => Some(inline_flows::run::<TwoHops>(&scenario)),
        "fq" => Some(fair_queue::run(&scenario)),
        _ => None,
    }
}
