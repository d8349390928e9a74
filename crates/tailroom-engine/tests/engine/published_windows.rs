//! Window laws of every control, ACK by ACK, against published formulas: growth and decrease at
//! windows from 10 to 80000 packets, at several round trip times and queueing delays. The expected
//! values come from `tools/expected_controls.py`, which contains the formulas and does not use this
//! crate.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use tailroom_engine::congestion::{
    AckEvent, AnyWindowLaw, Congestion, CongestionConfig, CongestionEvent, CongestionKind, Rounds,
    WindowLaw,
};
use tailroom_engine::units::Time;

use crate::support::controls;

const DATA: &str = include_str!("../data/expected_controls.json");

/// Rate-based controls have no window law; their tests are in `rate_based_controls.rs` and
/// `data_center_controls.rs`.
const WITHOUT_WINDOW_LAW: [&str; 7] =
    ["bbr1", "bbr3", "dcqcn", "timely", "swift", "packet_pair", "stepped"];

#[derive(Debug, Deserialize)]
struct Case {
    control: String,
    source: String,
    parameters: serde_json::Map<String, Value>,
    steps: Vec<Step>,
    expected: f64,
    error: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    /// Holds this window for a number of round trips, with an RTT in ms and a marked fraction of
    /// the packets.
    Hold(u64, f64, f64, f64),
    /// Lets the window grow for a number of round trips, from this window on, with an RTT in ms.
    Grow(u64, f64, f64),
    /// A loss at this window, before the last step.
    Loss(f64),
    /// The last congestion event, at this window, whose result is compared.
    Fall(f64, Cause),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cause {
    Loss,
    Mark,
}

/// The round trips of a step.
#[derive(Clone, Copy)]
struct RoundTrips {
    count: u64,
    window: f64,
    rtt: Time,
    marked: f64,
    is_held: bool,
}

/// A flow whose packets are acknowledged one by one, evenly spaced over a round trip.
struct Flow {
    control: AnyWindowLaw,
    event: AckEvent,
    rounds: Rounds,
    is_over: bool,
    /// The expected number of marked packets, with its fraction.
    marked: f64,
    acks: f64,
}

impl Flow {
    fn new(config: &CongestionConfig) -> Self {
        let event = AckEvent {
            now: Time::ZERO,
            acked_packets: 1,
            rtt: None,
            srtt: Time::ZERO,
            min_rtt: Time::NEVER,
            delivered_packets: 0,
            marked_packets: 0,
            next: 0,
            is_slow_start: false,
        };
        let Congestion::WindowLaw(control) = Congestion::new(config) else {
            panic!("{} is no window law", config.name());
        };
        let rounds = Rounds::default();
        Flow { control, event, rounds, is_over: false, marked: 0.0, acks: 0.0 }
    }

    /// Processes an ACK and returns the new window.
    fn ack(&mut self, window: f64, rtt: Time, spacing: Time, marked: f64) -> f64 {
        let event = &mut self.event;
        // Before the ACK a full window was in flight.
        event.next = event.delivered_packets + window as u64;
        event.delivered_packets += 1;
        event.now += spacing;
        self.marked += marked;
        event.marked_packets = (self.marked + 1e-6) as u64;
        (event.rtt, event.srtt, event.min_rtt) = (Some(rtt), rtt, event.min_rtt.min(rtt));
        self.is_over = self.rounds.is_over(event);
        self.acks += 1.0;
        if self.control.sees_every_ack() {
            self.control.on_every_ack(event);
        }
        self.control.on_ack(window, event)
    }

    /// Runs some round trips and returns the window after them.
    fn round_trips(&mut self, trips: RoundTrips) -> f64 {
        let RoundTrips { count, mut window, rtt, marked, is_held } = trips;
        if self.event.min_rtt == Time::NEVER {
            self.ack(window, rtt, Time::ZERO, marked);
        }
        for _ in 0..count {
            let acks = window as u64;
            let spacing = Time::from_picoseconds(rtt.picoseconds() / acks);
            for _ in 0..acks {
                let after = self.ack(window, rtt, spacing, marked);
                window = if is_held { window } else { after };
            }
        }
        window
    }

    fn congestion(&mut self, cwnd_packets: f64, kind: CongestionKind) -> f64 {
        let now = self.event.now;
        self.control.on_congestion(&CongestionEvent {
            now,
            kind,
            cwnd_packets,
            is_slow_start: false,
        })
    }

    /// Runs a step and returns the growth of the window, or the window after a decrease.
    fn step(&mut self, step: &Step) -> f64 {
        let rtt = |rtt_ms: f64| Time::from_picoseconds((rtt_ms * 1e9).round() as u64);
        match *step {
            Step::Hold(count, window, rtt_ms, marked) => {
                let rtt = rtt(rtt_ms);
                self.round_trips(RoundTrips { count, window, rtt, marked, is_held: true });
                assert!(self.is_over, "a round trip has one ACK per packet of the window");
                0.0
            }
            Step::Grow(count, window, rtt_ms) => {
                let rtt = rtt(rtt_ms);
                let trips = RoundTrips { count, window, rtt, marked: 0.0, is_held: false };
                self.round_trips(trips) - window
            }
            Step::Loss(window) | Step::Fall(window, Cause::Loss) => {
                self.congestion(window, CongestionKind::Loss)
            }
            Step::Fall(window, Cause::Mark) => self.congestion(window, CongestionKind::Mark),
        }
    }
}

impl Case {
    fn config(&self) -> CongestionConfig {
        let mut config = self.parameters.clone();
        config.insert("kind".to_owned(), self.control.clone().into());
        let config: CongestionConfig =
            serde_json::from_value(Value::Object(config)).expect("a control and its parameters");
        config.parameters().check().expect("parameters within their ranges");
        config
    }

    /// The result of the last step and its tolerance: each ACK rounds the window once here and once
    /// in the script, the file has nine digits, and some controls interpolate.
    fn run(&self) -> (f64, f64) {
        let mut flow = Flow::new(&self.config());
        let mut found = 0.0;
        for step in &self.steps {
            flow.acks = 0.0;
            found = flow.step(step);
        }
        let largest = match self.steps.last() {
            Some(Step::Grow(_, window, _) | Step::Fall(window, _)) => window + found.abs(),
            _ => panic!("the last step grows or falls"),
        };
        let rounding = (flow.acks + 10.0) * largest * f64::EPSILON;
        (found, rounding + (1e-8 + self.error) * self.expected.abs())
    }
}

fn cases() -> Vec<Case> {
    serde_json::from_str(DATA).expect("the script writes this format")
}

#[test]
fn every_window_law_follows_its_published_formula() {
    let mut wrong = String::new();
    for case in cases() {
        let (found, tolerance) = case.run();
        let error = (found - case.expected).abs();
        if error.is_nan() || error > tolerance {
            let Case { control, source, steps, expected, .. } = &case;
            writeln!(wrong, "{control} ({source}), {steps:?}: {found}, not {expected}")
                .expect("writing to a string cannot fail");
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{wrong}", wrong.lines().count());
}

/// A new control adds its formula to the script, or is listed as a control without a window law.
#[test]
fn every_control_has_a_published_window_law_or_is_listed_without_one() {
    let cases = cases();
    for (name, _) in controls::all() {
        let ends_with = |is_wanted: fn(&Step) -> bool| {
            let mut own = cases.iter().filter(|case| case.control == name);
            own.any(|case| case.steps.last().is_some_and(is_wanted))
        };
        let is_tested = ends_with(|step| matches!(step, Step::Grow(..)))
            && ends_with(|step| matches!(step, Step::Fall(..)));
        assert!(is_tested || WITHOUT_WINDOW_LAW.contains(&name.as_str()), "{name}");
    }
}
