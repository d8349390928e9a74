//! The example's control does what its law says, in a run and alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use rust_control::{DelayBound, DelayBoundParams, controls};
use tailroom_engine::congestion::{AckEvent, WindowLaw};
use tailroom_engine::results::Summary;
use tailroom_engine::scenario::{self, NoFiles};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

const SCENARIO: &str = include_str!("../scenario.toml");

fn run(text: &str) -> Summary {
    let scenario = scenario::parse(text, &[], None, &NoFiles).unwrap();
    let network = scenario.with_code(&controls()).unwrap().resolve().unwrap();
    Simulation::new(&network).expect("the network is valid").finish().unwrap().summary
}

fn refusal(from: &str, to: &str) -> String {
    assert!(SCENARIO.contains(from));
    let scenario = scenario::parse(&SCENARIO.replace(from, to), &[], None, &NoFiles).unwrap();
    scenario.with_code(&controls()).unwrap_err().to_string()
}

/// The window after an ACK that finds this queueing delay, on a path of 50 ms.
fn after_ack(control: &mut DelayBound, cwnd_packets: f64, queueing_ms: u64) -> f64 {
    let event = AckEvent {
        now: Time::ZERO,
        acked_packets: 1,
        rtt: Some(Time::from_milliseconds(50 + queueing_ms)),
        srtt: Time::from_milliseconds(50 + queueing_ms),
        min_rtt: Time::from_milliseconds(50),
        delivered_packets: 1,
        marked_packets: 0,
        next: 1,
        is_slow_start: false,
    };
    control.on_ack(cwnd_packets, &event)
}

#[test]
fn a_round_trip_adds_the_increase_below_the_bound_and_takes_it_above() {
    let mut control = DelayBound::new(&DelayBoundParams { increase: 2.0, bound_ms: 10.0 });
    let below = after_ack(&mut control, 100.0, 10);
    assert!((below - 100.02).abs() < 1e-12, "2 packets over 100 ACKs, not {below}");
    let above = after_ack(&mut control, 100.0, 11);
    assert!((above - 99.98).abs() < 1e-12, "2 packets over 100 ACKs, not {above}");
}

/// A control that turns at the bound sees each turn a round trip late. Its window moves by 1 packet a
/// round trip, a packet is 1.2 ms of queue at 10 Mbit/s, and so the delay leaves the bound by a packet
/// of lag and one of rounding, at most.
#[test]
fn the_queueing_delay_stays_at_the_bound() {
    for bound_ms in [10.0_f64, 30.0] {
        let summary = run(&SCENARIO.replace("10.0", &format!("{bound_ms:.1}")));
        let link = &summary.links.0[0].1;
        let delay_ms = 1e3 * link.queue_delay_s_mean.unwrap();
        assert!((delay_ms - bound_ms).abs() < 2.4, "{delay_ms} ms at a bound of {bound_ms} ms");
        assert_eq!(link.drops_packets, 0, "the buffer of 200 packets never fills");
        assert!(link.utilization > 0.999, "a queue that never empties wastes nothing");
        assert_eq!(summary.flows[0].congestion.as_deref(), Some("delay_bound"));
    }
}

#[test]
fn wrong_names_and_parameters_are_refused_with_their_place() {
    assert_eq!(
        refusal("\"delay_bound\"", "\"delay_bond\""),
        "line 12, flows.mine.congestion: there is no control \"delay_bond\"; \
         did you mean `delay_bound`?"
    );
    assert_eq!(
        refusal("bound_ms = 10.0", "bound = 10.0"),
        "line 12, flows.mine.congestion: unknown field `bound`, expected `increase` or `bound_ms`; \
         correct the parameters"
    );
    assert_eq!(
        refusal("bound_ms = 10.0", "bound_ms = -1.0"),
        "line 12, flows.mine.congestion.parameters.bound_ms: -1 is out of range; \
         write more than 0"
    );
}
