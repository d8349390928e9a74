//! Queue disciplines that the caller provides: the same rule gives the same run as the built-in
//! discipline, and a wrong verdict ends the run with the same error in every case.

use serde::Deserialize;
use tailroom_engine::bottleneck::Bottleneck;
use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::Network;
use tailroom_engine::parameters::Ranges;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::queue::custom::{
    CustomParams, CustomRule, CustomScheduler, DequeueEvent, DisciplineMaker, Placement,
    QueuedPacket, Waiting,
};
use tailroom_engine::queue::step_mark::{StepMark, StepMarkParams};
use tailroom_engine::queue::{ArrivalRule, EnqueueEvent, LinkInfo, QueueConfig, Verdict};
use tailroom_engine::results::Results;
use tailroom_engine::scenario::{self, OwnCode, ScenarioError};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::units::{Rate, Time};

use crate::support::case::{Case, case};
use crate::support::refusals::assert_refused;
use crate::support::scenario_run;

fn scenario(queue: &str) -> Case {
    let marked = "count = 2, ecn = 'classic', rtt = { from = '20 ms', to = '30 ms' }";
    case("10 s")
        .link("bottleneck", format!("10 Mbit/s, 5 ms, queue = {queue}"))
        .flows("two", "bottleneck", format!("congestion = 'reno', {marked}"))
        .flows("one", "bottleneck", "congestion = 'reno', rtt = '25 ms'")
}

/// A discipline of this file, with these keys.
fn own(name: &str, keys: &str) -> String {
    let separator = if keys.is_empty() { "" } else { ", " };
    format!("{{ kind = 'custom', discipline = '{name}'{separator}{keys} }}")
}

/// Accepts all packets; drops or marks the packet of this number at its departure, if there is one.
#[derive(Default, Deserialize, Ranges)]
#[serde(default, deny_unknown_fields)]
struct PlainParams {
    marks_until: u64,
    #[schemars(range(max = 10_000.0))]
    drops_every: u64,
}

struct Plain {
    marks_until: u64,
    drops_every: u64,
    departures: u64,
}

impl Plain {
    fn new(params: &PlainParams, _link: &LinkInfo, _limit: Limit) -> Self {
        let PlainParams { marks_until, drops_every } = *params;
        Plain { marks_until, drops_every, departures: 0 }
    }
}

impl ArrivalRule for Plain {
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        let marks = event.now < Time::from_milliseconds(self.marks_until);
        if marks { Verdict::Mark } else { Verdict::Accept }
    }
}

impl CustomRule for Plain {
    fn on_dequeue(&mut self, _event: &DequeueEvent) -> Verdict {
        self.departures += 1;
        if self.drops_every > 0 && self.departures.is_multiple_of(self.drops_every) {
            return Verdict::Drop(DropReason::Head);
        }
        Verdict::Accept
    }
}

/// The built-in rule, registered as a program outside registers its own.
struct Step(StepMark);

impl ArrivalRule for Step {
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        self.0.on_enqueue(event)
    }
}

impl CustomRule for Step {}

/// First in, first out, from one list or from a list per flow; drops the packet that has waited longest.
#[derive(Deserialize, Ranges)]
#[serde(deny_unknown_fields)]
struct OldestParams {
    #[serde(default)]
    per_flow: bool,
    /// The first time at which it finds no packet to send.
    #[serde(default)]
    sleeps_from: Option<u64>,
}

struct Oldest(OldestParams);

fn oldest(waiting: &Waiting<'_>) -> Option<u32> {
    waiting.lists().min_by_key(|list| list.first.arrival).map(|list| list.number)
}

impl CustomScheduler for Oldest {
    fn on_arrival(
        &mut self,
        packet: &QueuedPacket,
        _fits: bool,
        _waiting: &Waiting<'_>,
    ) -> Placement {
        Placement::Append(if self.0.per_flow { packet.flow } else { 7 })
    }

    fn make_room(&mut self, _arrived: &QueuedPacket, waiting: &Waiting<'_>) -> Option<u32> {
        oldest(waiting)
    }

    fn next_packet(&mut self, now: Time, waiting: &Waiting<'_>) -> Option<u32> {
        let sleeps = self.0.sleeps_from.is_some_and(|from| now >= Time::from_milliseconds(from));
        oldest(waiting).filter(|_| !sleeps)
    }
}

fn disciplines() -> OwnCode {
    let mut disciplines = OwnCode::default();
    disciplines.add_rule("plain", Plain::new);
    disciplines.add_rule_at_departures("at_departure", Plain::new);
    disciplines.add_scheduler("oldest", |params: &OldestParams, _: &LinkInfo, _| {
        let OldestParams { per_flow, sleeps_from } = *params;
        Oldest(OldestParams { per_flow, sleeps_from })
    });
    disciplines.add_rule("step", |params: &StepMarkParams, link: &LinkInfo, _| {
        Step(StepMark::new(params, link))
    });
    disciplines
}

fn resolved(queue: &str) -> Result<Network, ScenarioError> {
    scenario(queue).with_code(&disciplines())
}

fn run(queue: &str) -> Results {
    scenario_run::finish(&resolved(queue).expect("the scenario is valid"))
}

fn assert_same(own: &str, built_in: &str) {
    let (own, built_in) = (run(own), run(built_in));
    let (_, link) = &built_in.summary.links.0[0];
    assert!(link.drops_packets + link.marks_packets > 20);
    assert_eq!(own.summary.flows, built_in.summary.flows);
    let (_, own) = &own.summary.links.0[0];
    assert_eq!(own.drops_packets, link.drops_packets);
    assert_eq!(own.marks_packets, link.marks_packets);
    assert_eq!(own.queue_delay_s_p99, link.queue_delay_s_p99);
}

const TAIL_DROP: &str = "{ kind = 'drop_tail', limit = '20 packets' }";

#[test]
fn the_limit_alone_is_tail_drop_whether_or_not_departures_are_known() {
    for name in ["plain", "at_departure"] {
        assert_same(&own(name, "limit = '20 packets'"), TAIL_DROP);
    }
}

#[test]
fn a_rule_of_the_registry_gives_the_same_run_from_outside() {
    let keys =
        "limit = '40 packets', parameters = { threshold = '5 packets', limit = '40 packets' }";
    let built_in = "{ kind = 'step_mark', limit = '40 packets', threshold = '5 packets' }";
    assert_same(&own("step", keys), built_in);
}

#[test]
fn a_run_with_a_rule_from_outside_is_not_copied() {
    let copies = |queue: &str| {
        let network = resolved(queue).expect("the scenario is valid");
        Simulation::new(&network).expect("the network is valid").copy().is_some()
    };
    assert!(!copies(&own("plain", "")));
    assert!(copies(TAIL_DROP));
}

/// One list, or as many as flows: the order of service is that of the arrivals.
#[test]
fn a_scheduler_from_outside_gives_the_run_of_the_same_scheduler_of_the_registry() {
    for per_flow in [false, true] {
        let keys = format!("limit = '20 packets', parameters = {{ per_flow = {per_flow} }}");
        assert_same(&own("oldest", &keys), "{ kind = 'drop_head', limit = '20 packets' }");
    }
}

#[test]
fn a_scheduler_that_sleeps_while_packets_wait_ends_the_run_then() {
    let queue = own("oldest", "parameters = { sleeps_from = 2000 }");
    let network = resolved(&queue).expect("the scenario is valid");
    let ended = Simulation::new(&network).expect("the network is valid").finish();
    let Err(RunError::Discipline { fault, .. }) = &ended else { panic!("{ended:?}") };
    assert!(fault.problem.contains("next_packet returned no list"), "{fault:?}");
    assert!(fault.problem.contains("packets wait in 7"), "{fault:?}");
    // The link is busy, so it asks for a packet of 1,500 bytes each 1.2 ms.
    let times = Time::from_milliseconds(2_000)..Time::from_milliseconds(2_002);
    assert!(times.contains(&fault.time), "{fault:?}");
}

/// The link would send every packet that arrives; one in a hundred of those is dropped instead.
#[test]
fn packets_that_are_dropped_at_departure_are_counted() {
    let results = run(&own("at_departure", "parameters = { drops_every = 100 }"));
    let (_, link) = &results.summary.links.0[0];
    let arrivals = link.arrivals_packets;
    // Those that still wait at the end, at most 1,000, have not been asked about.
    assert!(link.drops_packets <= arrivals / 100, "{} of {arrivals}", link.drops_packets);
    assert!(link.drops_packets >= (arrivals - 1_000) / 100, "{} of {arrivals}", link.drops_packets);
}

#[test]
fn a_mark_on_a_packet_without_ecn_ends_the_run_at_that_packet() {
    let queue = own("plain", "parameters = { marks_until = 9000 }");
    let network = resolved(&queue).expect("the scenario is valid");
    let ended = Simulation::new(&network).expect("the network is valid").finish();
    let Err(RunError::Discipline { link, discipline, fault }) = &ended else { panic!("{ended:?}") };
    assert_eq!((link.as_str(), discipline.as_str()), ("bottleneck", "plain"));
    assert!(fault.problem.contains("on_arrival") && fault.problem.contains("ECN"), "{fault:?}");
    // The first packet without ECN arrives after the handshake and half the round trip at the latest.
    assert!(fault.time < Time::from_milliseconds(50), "{fault:?}");
}

#[test]
fn unknown_names_and_wrong_parameters_are_refused_at_their_place() {
    let refusal = |queue: &str| resolved(queue).expect_err("it is wrong").to_string();
    let place = "line 2, links.bottleneck.queue";
    assert_refused(&refusal(&own("plein", "")), place, &["plain"]);
    assert_refused(&refusal(&own("cdoel", "")), place, &["codel"]);
    let wrong = own("plain", "parameters = { drops_every = 10001 }");
    let place = "line 2, links.bottleneck.queue.parameters.drops_every";
    assert_refused(&refusal(&wrong), place, &["10000"]);
    let text = scenario("'module:Class'").text;
    let read =
        scenario::parse(&text, &[], None, &scenario::NoFiles).expect("the name may be found");
    assert_eq!(read.custom_disciplines(), ["module:Class"]);
    let lost = read.resolve().expect_err("nobody has found it").to_string();
    assert!(lost.starts_with("line 2, links.bottleneck.queue: "), "{lost}");
}

/// A copy of a link cannot copy the rule inside; it says so as any rule that fails.
#[test]
fn a_copy_of_a_link_with_a_rule_of_the_callers_fails_without_a_panic() {
    struct Accept;
    impl ArrivalRule for Accept {
        fn on_enqueue(&mut self, _: &EnqueueEvent) -> Verdict {
            Verdict::Accept
        }
    }
    impl CustomRule for Accept {}
    let maker = DisciplineMaker::rule(|_, _| Box::new(Accept));
    let queue = QueueConfig::Custom(CustomParams::named("mine").made_by(maker));
    let spec = LinkSpec::new(Rate::from_bits_per_second(1_000_000), Time::ZERO, queue);
    let bottleneck: Bottleneck<u32> = Bottleneck::new(&spec, 1).expect("the link is valid");
    let mut copy = bottleneck.link().clone();
    let fault = copy.fault(Time::ZERO).expect("the copy has no rule");
    assert!(fault.problem.contains("this is a copy"), "{}", fault.problem);
    assert!(bottleneck.link().clone().fault(Time::ZERO).is_some());
}
