//! Sources that a Rust program provides: the same packets and flows give the same run as the built-in
//! sources, by a name in a scenario and in a network without one.

use serde::Deserialize;
use tailroom_engine::network::Network;
use tailroom_engine::parameters::Ranges;
use tailroom_engine::quantity::Size;
use tailroom_engine::results::Results;
use tailroom_engine::scenario::{OwnCode, ScenarioError};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::traffic::context::{Group, StartingFlow};
use tailroom_engine::traffic::custom::{CustomFlows, CustomPackets, FlowsMaker, PacketsMaker};
use tailroom_engine::traffic::custom_flows::{CustomFlowsParams, CustomFlowsSpec};
use tailroom_engine::traffic::custom_packets::CustomPacketsParams;
use tailroom_engine::traffic::{Emission, FlowSourceSpec, PacketSourceSpec, SourceSpec, TraceFlow};
use tailroom_engine::units::{Rate, Time};

use crate::support::case::{Case, case};
use crate::support::refusals::assert_refused;
use crate::support::scenario_run;

/// 1,000 packets of 1,000 bytes per second, and 49 flows of 30 kB in 5 s.
fn scenario(stream: &str, short: &str) -> Case {
    let short = format!("congestion = 'reno', rtt = '20 ms', source = {{ {short} }}");
    case("5 s from 1 s")
        .link("bottleneck", "10 Mbit/s, 5 ms, 20 packets")
        .flows("stream", "bottleneck", format!("packet_size = '1000 B', source = {{ {stream} }}"))
        .flows("short", "bottleneck", short)
}

const CBR: &str = "kind = 'cbr', rate = '8 Mbit/s', phase = '0 s'";
const STEADY: &str =
    "kind = 'custom_packets', source = 'steady', rate = '8 Mbit/s', parameters = { gap_us = 1000 }";
const REGULAR: &str =
    "kind = 'custom_flows', source = 'regular', arrivals_per_second = 9.8, size = '30 kB'";

/// Equally spaced packets.
#[derive(Deserialize, Ranges)]
#[serde(deny_unknown_fields)]
struct SteadyParams {
    #[schemars(range(min = 1.0, max = 1e6))]
    gap_us: u64,
}

struct Steady {
    next: Time,
    gap: Time,
    bytes: u32,
}

impl Steady {
    fn new(params: &SteadyParams, flow: &StartingFlow<'_>) -> Self {
        let gap = Time::from_picoseconds(1_000_000 * params.gap_us);
        Steady { next: flow.start, gap, bytes: flow.packet_bytes }
    }
}

impl CustomPackets for Steady {
    fn next_packet(&mut self) -> Option<Emission> {
        let emission = Emission { time: self.next, bytes: self.bytes };
        self.next += self.gap;
        Some(emission)
    }
}

#[derive(Default, Deserialize, Ranges)]
#[serde(default, deny_unknown_fields)]
struct NoParams {}

/// A flow of 30 kB every 100 ms.
struct Regular {
    next: Time,
}

impl Regular {
    fn new(_: &NoParams, _: &Group<'_>, start: Time) -> Self {
        Regular { next: start }
    }
}

impl CustomFlows for Regular {
    fn next_flow(&mut self) -> Option<TraceFlow> {
        self.next += Time::from_milliseconds(100);
        Some(TraceFlow { start: self.next, bytes: 30_000, rate: None, rtt: None })
    }
}

fn sources() -> OwnCode {
    let mut sources = OwnCode::default();
    sources.add_packets("steady", Steady::new);
    sources.add_flows("regular", Regular::new);
    sources
}

/// The built-in source of the flows of `Regular`.
fn list() -> String {
    let times: Vec<String> = (1..50).map(|at| format!("{} ms", 100 * at)).collect();
    format!("kind = 'finite_flows', size = '30 kB', arrivals = {times:?}")
}

fn resolved(stream: &str, short: &str) -> Result<Network, ScenarioError> {
    scenario(stream, short).with_code(&sources())
}

fn run(stream: &str, short: &str) -> Results {
    scenario_run::finish(&resolved(stream, short).expect("the scenario is valid"))
}

fn assert_same(own: &Results, built_in: &Results) {
    let (_, link) = &built_in.summary.links.0[0];
    assert!(link.drops_packets > 20 && link.arrivals_packets > 4_000);
    assert_eq!(own.summary.links, built_in.summary.links);
    assert_eq!(own.summary.flows, built_in.summary.flows);
}

#[test]
fn registered_sources_give_the_run_of_the_same_built_in_sources() {
    let built_in = run(CBR, &list());
    assert_same(&run(STEADY, &list()), &built_in);
    assert_same(&run(CBR, REGULAR), &built_in);
    assert_same(&run(STEADY, REGULAR), &built_in);
}

#[test]
fn a_network_without_a_scenario_takes_sources_of_the_callers() {
    let mut network = resolved(CBR, &list()).expect("the scenario is valid");
    let built_in = scenario_run::finish(&network);
    let steady =
        PacketsMaker::new(|flow| Box::new(Steady::new(&SteadyParams { gap_us: 1_000 }, flow)));
    let regular = FlowsMaker::new(|group, at| Box::new(Regular::new(&NoParams {}, group, at)));
    let packets =
        CustomPacketsParams::named("steady", Rate::from_bits_per_second(8_000_000)).made_by(steady);
    let params = CustomFlowsParams::named("regular", 9.8, Size::new(30_000)).made_by(regular);
    let SourceSpec::Flows(FlowSourceSpec::FiniteFlows(listed)) = &network.groups[1].source else {
        panic!("the flows are listed");
    };
    let flows = CustomFlowsSpec::new(params, listed.rtt.clone());
    network.groups[0].source = SourceSpec::Packets(PacketSourceSpec::CustomPackets(packets));
    network.groups[1].source = SourceSpec::Flows(FlowSourceSpec::CustomFlows(flows));
    assert_same(&scenario_run::finish(&network), &built_in);
}

#[test]
fn unknown_names_and_wrong_parameters_are_refused_at_their_place() {
    let refusal =
        |stream: &str, short: &str| resolved(stream, short).expect_err("it is wrong").to_string();
    let place = "line 4, flows.stream.source";
    assert_refused(&refusal(&STEADY.replace("steady", "study"), REGULAR), place, &["steady"]);
    let place = "line 5, flows.short.source";
    assert_refused(&refusal(STEADY, &REGULAR.replace("regular", "steady")), place, &["regular"]);
    let place = "line 4, flows.stream.source.parameters.gap_us";
    assert_refused(&refusal(&STEADY.replace("= 1000", "= 0"), REGULAR), place, &["1"]);
}

/// Flows or packets with these gaps, in picoseconds.
struct Close(u64, Time);

#[derive(Deserialize, Ranges)]
struct CloseParams {
    gap_ps: u64,
}

impl Close {
    fn new(params: &CloseParams) -> Self {
        Close(params.gap_ps, Time::from_milliseconds(7))
    }

    fn next(&mut self) -> Time {
        self.1 += Time::from_picoseconds(self.0);
        self.1
    }
}

impl CustomFlows for Close {
    fn next_flow(&mut self) -> Option<TraceFlow> {
        Some(TraceFlow { start: self.next(), bytes: 1_000, rate: None, rtt: None })
    }
}

impl CustomPackets for Close {
    fn next_packet(&mut self) -> Option<Emission> {
        Some(Emission { time: self.next(), bytes: 100 })
    }
}

#[test]
fn a_source_that_lets_hardly_any_time_pass_ends_the_run() {
    for gap in [0, 1, 1_000] {
        let mut sources = OwnCode::default();
        sources.add_flows("close", |params: &CloseParams, _, _| Close::new(params));
        sources.add_packets("close", |params: &CloseParams, _| Close::new(params));
        let own = format!("source = 'close', parameters = {{ gap_ps = {gap} }}");
        let stream = format!("kind = 'custom_packets', rate = '8 Mbit/s', {own}");
        let flows =
            format!("kind = 'custom_flows', arrivals_per_second = 9.8, size = '30 kB', {own}");
        let short = list();
        for (stream, short, found) in [
            (CBR, &flows, "next_flow returned 100000 flows in 0.2 ms, until 0.007"),
            (&stream, &short, "next_packet returned 1000000 packets in 2 ms, until 0.00"),
        ] {
            let network = scenario(stream, short).with_code(&sources).expect("it is valid");
            let run = Simulation::new(&network).expect("it is valid").finish();
            let message = run.expect_err("no time passes").to_string();
            assert!(message.contains(found), "{message}");
            assert!(message.contains("let time pass"), "{message}");
        }
    }
}
