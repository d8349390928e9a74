//! Congestion controls that the caller provides: the same window law gives the same run as the
//! built-in control, and an invalid window ends the run with the same error in every case.

use serde::Deserialize;
use tailroom_engine::congestion::packet_pair::PacketPair;
use tailroom_engine::congestion::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use tailroom_engine::network::Network;
use tailroom_engine::parameters::Ranges;
use tailroom_engine::results::Summary;
use tailroom_engine::scenario::OwnCode;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::units::Time;

use crate::support::case::{Case, case};
use crate::support::scenario_run;

/// Two flows over one link.
fn two_flows(control: &str) -> Case {
    let keys = "count = 2, rtt = { from = '20 ms', to = '30 ms' }";
    let keys = format!("{keys}, congestion = {control}");
    case("20 s").link("bottleneck", "10 Mbit/s, 5 ms, 20 packets").flows("two", "bottleneck", keys)
}

/// RFC 5681 for a number of ACKs; then the window is NaN.
#[derive(Deserialize, Ranges)]
#[serde(default, deny_unknown_fields)]
struct LimitedParams {
    acks: u64,
}

impl Default for LimitedParams {
    fn default() -> Self {
        LimitedParams { acks: u64::MAX }
    }
}

impl ControlParameters for LimitedParams {}

struct Limited {
    acks: u64,
}

impl WindowLaw for Limited {
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        self.acks -= 1;
        if self.acks == 0 {
            return f64::NAN;
        }
        cwnd_packets + event.acked_packets as f64 / cwnd_packets
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        event.cwnd_packets / 2.0
    }
}

/// A control with the same window after every ACK.
#[derive(Default, Deserialize, Ranges)]
struct GreedyParams {
    window: f64,
}

impl ControlParameters for GreedyParams {}

struct Greedy {
    window: f64,
}

impl WindowLaw for Greedy {
    fn on_ack(&mut self, _cwnd_packets: f64, _event: &AckEvent) -> f64 {
        self.window
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        event.cwnd_packets / 2.0
    }

    fn has_own_slow_start(&self) -> bool {
        true
    }
}

fn network(control: &str) -> Network {
    let mut controls = OwnCode::default();
    controls.add_window_law("greedy", |params: &GreedyParams| Greedy { window: params.window });
    controls.add_rate_based("pair", PacketPair::new);
    controls.add_window_law("limited", |params: &LimitedParams| Limited { acks: params.acks });
    two_flows(control).with_code(&controls).expect("the scenario is valid")
}

fn summary(control: &str) -> Summary {
    let results = scenario_run::finish(&network(control));
    results.summary
}

#[test]
fn a_custom_control_with_the_law_of_reno_gives_the_same_results_as_reno() {
    let mut own = summary("'limited'");
    let built_in = summary("'reno'");
    assert!(built_in.flows.iter().all(|flow| flow.congestion_events > 10));
    for flow in &mut own.flows {
        assert_eq!(flow.congestion.replace("reno".into()).as_deref(), Some("limited"));
    }
    assert_eq!(own.flows, built_in.flows);
}

#[test]
fn a_rate_based_control_of_ones_own_gives_the_run_of_the_built_in_one() {
    let mut own = summary("'pair'");
    let built_in = summary("'packet_pair'");
    for flow in &mut own.flows {
        assert_eq!(flow.congestion.replace("packet_pair".into()).as_deref(), Some("pair"));
    }
    assert_eq!(own.flows, built_in.flows);
}

fn failure(slice: Time) -> (RunError, Time) {
    let control = "{ kind = 'custom', control = 'limited', parameters = { acks = 1000 } }";
    let mut simulation = Simulation::new(&network(control)).expect("the network is valid");
    let mut now = Time::ZERO;
    loop {
        now += slice;
        if let Err(error) = simulation.run_until(now) {
            return (error, now);
        }
    }
}

/// Two flows share 833 packets per second: after about 2.4 s the first of them has seen 1000 ACKs,
/// including repairs.
#[test]
fn an_invalid_window_ends_the_run_in_the_slice_in_which_it_is_returned() {
    let slice = Time::from_milliseconds(1);
    let (error, ended) = failure(slice);
    let RunError::Control { group, control, flow, fault } = &error else { panic!("{error}") };
    assert_eq!((group.as_str(), control.as_str()), ("two", "limited"));
    assert!(flow == "two.0" || flow == "two.1", "{flow}");
    assert_names_method_value_and_bounds(&fault.problem, "on_ack", "NaN");
    // A flow is ahead of its links by less than a round trip: 30 ms, and 20 packets of 1.2 ms.
    assert!(ended < fault.time + slice && fault.time < ended + Time::from_milliseconds(54));
    assert!(fault.time < Time::from_milliseconds(4_000));
    for slice in [Time::from_milliseconds(7), Time::from_milliseconds(20_000)] {
        assert_eq!(failure(slice).0, error, "the length of the slices does not matter");
    }
}

#[track_caller]
fn assert_names_method_value_and_bounds(problem: &str, method: &str, value: &str) {
    let (found, allowed) = problem.split_once("; ").expect("a problem and the allowed values");
    assert!(found.starts_with(method) && found.ends_with(value), "{problem}");
    let allowed = allowed.trim_end_matches(": packets, not bytes?");
    for bound in ["0", "100000000"] {
        assert!(allowed.split(' ').any(|word| word == bound), "{problem}");
    }
}

fn greedy(window: &str) -> RunError {
    let parameters = format!("parameters = {{ window = {window} }}");
    let control = format!("{{ kind = 'custom', control = 'greedy', {parameters} }}");
    let mut network = network(&control);
    network.memory_limit_bytes = 10_000_000;
    Simulation::new(&network)
        .expect("the network is valid")
        .finish()
        .expect_err("the run ends with an error")
}

/// The sender sends the whole window in the event in which the control returns it.
#[test]
fn a_window_beyond_the_bound_or_the_memory_limit_ends_the_run_in_its_event() {
    for (window, shown) in [("1e9", "1000000000"), ("1e300", "1e300")] {
        let RunError::Control { control, fault, .. } = greedy(window) else { panic!("{window}") };
        assert_eq!(control, "greedy");
        assert_names_method_value_and_bounds(&fault.problem, "on_ack", shown);
    }
    let fault = greedy("9e7");
    let RunError::Memory { needed_bytes, .. } = fault else { panic!("{fault}") };
    assert!((10_000_001..74_000_000).contains(&needed_bytes), "{needed_bytes}");
    assert_eq!(greedy("9e7"), fault);
}
