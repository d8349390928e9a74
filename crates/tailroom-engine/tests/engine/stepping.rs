//! A run in steps: what is seen adds up to the results, looking changes nothing, and what an action
//! changes is what a scenario or a formula says.

use proptest::prelude::*;
use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::reno::RenoParams;
use tailroom_engine::congestion::stepped::SteppedParams;
use tailroom_engine::distribution::Distribution;
use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
use tailroom_engine::parameters::BadParameter;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::quantity::{BitRate, Size};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::random::{SmallStream, below};
use tailroom_engine::results::Results;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::stepping::{Action, Seen, SeenArrived};
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::traffic::arrivals::FlowArrivals;
use tailroom_engine::traffic::bulk::BulkParams;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::traffic::finite_flows::FiniteFlowsSpec;
use tailroom_engine::units::{Rate, Time};
use tailroom_engine::{LinkSpec, QueueLimit};

use crate::support::random_cases::config;
use crate::support::{networks, random_networks};

const MS: fn(u64) -> Time = Time::from_milliseconds;

fn simulation(network: &Network) -> Simulation {
    Simulation::new(network).expect("the network is valid")
}

fn stepped(network: &Network, every: Time) -> Network {
    let mut network = network.clone();
    network.step_interval = Some(every);
    network
}

/// The next step of a run, in slices of a few events; `None` after the last.
fn step(simulation: &mut Simulation, duration: Time) -> Option<Seen> {
    while simulation.step_time() < duration {
        if let Some(seen) = simulation.step_some(17).expect("the run goes on") {
            return Some(seen);
        }
    }
    None
}

/// The results without the number of events: a flow that waits for the next step may have a wake-up more.
fn finish(simulation: Simulation) -> Results {
    let mut results = simulation.finish().expect("the account of packets balances");
    results.summary.events = 0;
    results
}

/// The steps and the results of a run without actions.
fn watch(network: &Network, every: Time) -> (Vec<Seen>, Results) {
    let network = stepped(network, every);
    let mut simulation = simulation(&network);
    let seen = std::iter::from_fn(|| step(&mut simulation, network.duration)).collect();
    (seen, finish(simulation))
}

/// Where the results first differ. A NaN, for a gauge that a discipline does not report, is the same as
/// another.
fn difference(one: &Results, other: &Results) -> Option<[String; 2]> {
    let [one, other] = [one, other].map(|results| format!("{results:?}"));
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let around = |text: &str| text[same.saturating_sub(200)..text.len().min(same + 60)].to_owned();
    (one != other).then(|| [around(&one), around(&other)])
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn looking_changes_no_result(network in random_networks::network(), steps in 1_u64..300) {
        let every = Time::from_picoseconds((network.duration.picoseconds() / steps).max(1));
        let (seen, results) = watch(&network, every);
        let whole = finish(simulation(&network));
        let difference = difference(&results, &whole);
        prop_assert!(difference.is_none(), "seed {}, every {every}: {difference:?}", network.seed);
        prop_assert_eq!(seen.len() as u64, network.duration.picoseconds().div_ceil(every.picoseconds()));
        // From measure_from 0 on, the steps add up to what the results say.
        let mut all = network.clone();
        all.measure_from = Time::ZERO;
        let (seen, results) = watch(&all, every);
        for (index, (_, link)) in results.summary.links.0.iter().enumerate() {
            let of = |count: fn(&tailroom_engine::simulation::stepping::SeenLink) -> u64| {
                seen.iter().map(|seen| count(&seen.links[index])).sum::<u64>()
            };
            prop_assert_eq!(of(|link| link.arrivals_packets), link.arrivals_packets);
            prop_assert_eq!(of(|link| link.drops_packets), link.drops_packets);
            prop_assert_eq!(of(|link| link.marks_packets), link.marks_packets);
        }
        for (index, flow) in results.summary.flows.iter().enumerate() {
            let of = seen.iter().map(|seen| seen.flows[index].retransmissions).sum::<u64>();
            prop_assert_eq!(of, flow.retransmissions);
        }
    }

    #[test]
    fn a_copy_goes_on_as_the_run_whichever_goes_on_first(
        network in random_networks::network(),
        steps in 1_u64..300,
        at in 0.0..1.0_f64,
    ) {
        let every = Time::from_picoseconds((network.duration.picoseconds() / steps).max(1));
        let (seen, whole) = watch(&network, every);
        let network = stepped(&network, every);
        let mut run = simulation(&network);
        let before = (at * seen.len() as f64) as usize;
        prop_assert!((0..before).all(|_| step(&mut run, network.duration).is_some()));
        let mut copy = run.copy().expect("all of the run is the engine's");
        for simulation in [&mut copy, &mut run] {
            let after: Vec<Seen> = std::iter::from_fn(|| step(simulation, network.duration)).collect();
            prop_assert_eq!(&after[..], &seen[before..], "seed {}, every {}", network.seed, every);
        }
        for simulation in [copy, run] {
            let difference = difference(&finish(simulation), &whole);
            prop_assert!(difference.is_none(), "seed {}, every {every}: {difference:?}", network.seed);
        }
    }

    /// The ACKs of a flow under the stepped control wait for the step in which they arrive.
    #[test]
    fn a_flow_that_waits_for_each_step_sends_as_one_that_runs_ahead(
        network in random_networks::network(),
        window in 1.0..60.0_f64,
        rate in prop::option::of(10_000_u64..1_000_000_000),
        steps in 1_u64..2_000,
    ) {
        let mut network = network;
        for tcp in network.groups.iter_mut().filter_map(|group| group.tcp.as_mut()) {
            let mut params = SteppedParams::default();
            (params.window, params.pacing_rate) = (Some(window), rate.map(BitRate::new));
            tcp.congestion = CongestionConfig::Stepped(params);
        }
        if network.validate().is_ok() {
            let every = Time::from_picoseconds((network.duration.picoseconds() / steps).max(1));
            let (_, results) = watch(&network, every);
            let whole = finish(simulation(&network));
            let difference = difference(&results, &whole);
            prop_assert!(difference.is_none(), "seed {}, every {every}: {difference:?}", network.seed);
        }
    }
}

/// A source of 1,000-byte packets every 500 us at a link that sends one per ms.
fn overloaded(limit: u64) -> Network {
    let mut link = networks::link("b", 8_000_000, MS(5), Limit::Packets(limit));
    link.is_acted_on = true;
    let cbr = CbrParams::at_once(Rate::from_bits_per_second(16_000_000));
    let mut group = GroupSpec::new("cbr", vec![0], cbr);
    (group.packet_size, group.header_size) = (1_000, 40);
    Network::new(MS(200), vec![link], vec![group], vec![FlowSpec::new(0, MS(10))])
}

/// From 100 ms on the link sends two packets per ms. The packet that is in transmission then leaves at
/// 100 ms as well, so that the change of the scenario and the action are the same.
#[test]
fn a_rate_set_between_packets_is_a_change_of_the_scenario() {
    let rate = Rate::from_bits_per_second(4_000_000);
    let mut changed = overloaded(50);
    changed.links[0].rate_changes = vec![RateChange::new(MS(100), rate)];
    let expected = finish(simulation(&changed));
    let network = stepped(&overloaded(50), MS(10));
    let mut run = simulation(&network);
    let mut rates = Vec::new();
    while let Some(seen) = step(&mut run, network.duration) {
        rates.push((seen.links[0].throughput_bps, seen.links[0].utilization));
        if seen.time == MS(100) {
            run.act(Action::Rate { link: 0, rate }).expect("the link is acted on");
        }
    }
    assert_eq!(finish(run), expected);
    assert!(rates[2..10].iter().all(|&step| step == (8e6, 1.0)), "{rates:?}");
    assert!(rates[10..].iter().all(|&step| step == (4e6, 1.0)), "{rates:?}");
}

/// Two packets arrive per ms and one leaves, so the buffer is full at the end of each step. Whether the link
/// knows the departures of packets changes nothing, between two of them.
#[test]
fn a_limit_holds_from_the_action_on() {
    let [known, served] = [false, true].map(|is_acted_on| {
        let mut network = stepped(&overloaded(15), Time::from_picoseconds(19_900_000_000));
        network.links[0].is_acted_on = is_acted_on;
        let mut run = simulation(&network);
        let queues = [15, 3, 18, 7].map(|limit| {
            let queue = networks::drop_tail(Limit::Packets(limit));
            run.act(Action::Queue { link: 0, queue }).expect("the limit may change");
            let seen = step(&mut run, network.duration).expect("there is a step");
            seen.links[0].queue_packets
        });
        (queues, finish(run))
    });
    assert_eq!(known.0, [15, 3, 18, 7]);
    assert_eq!(known, served);
}

/// Flows that lose, while the limit is drawn anew for each step: the same run where departures are known and
/// where packets are served.
#[test]
fn limits_at_random_give_one_run_at_known_and_served_links() {
    for seed in 0..20 {
        let run = |is_acted_on: bool| {
            let rate = Rate::from_bits_per_second(10_000_000);
            let mut link = LinkSpec::drop_tail(rate, MS(5), QueueLimit::packets(20));
            link.is_acted_on = is_acted_on;
            let reno = TcpSpec::new(CongestionConfig::Reno(RenoParams::default()));
            let mut network = Network::dumbbell(MS(3_000), link, reno, 3, MS(20));
            network.seed = seed;
            network.step_interval = Some(Time::from_picoseconds(10_300_000_000));
            let mut draws = SmallStream::seeded(seed);
            let mut run = simulation(&network);
            while let Some(seen) = step(&mut run, network.duration) {
                if seen.time < network.duration {
                    let limit = Limit::Packets(1 + below(&mut draws, 30));
                    let queue = networks::drop_tail(limit);
                    run.act(Action::Queue { link: 0, queue }).expect("the limit may change");
                }
            }
            finish(run)
        };
        let (known, served) = (run(false), run(true));
        let drops = known.summary.links.get("link").expect("its name").drops_packets;
        assert!(drops > 20, "seed {seed}: {drops}");
        assert_eq!(known, served, "seed {seed}");
    }
}

/// A flow alone on a fast path of 100 ms.
fn alone() -> Network {
    let mut tcp = TcpSpec::new(CongestionConfig::Stepped(SteppedParams::default()));
    tcp.initial_window = 4;
    let link = networks::link("b", 1_000_000_000, MS(5), Limit::Packets(10_000));
    let network = Network::new(
        MS(2_000),
        vec![link],
        vec![networks::bulk("f", tcp)],
        networks::alike(1, MS(100)),
    );
    stepped(&network, MS(10))
}

fn hold(window: Option<f64>, rate_bps: Option<u64>) -> Action {
    let mut hold = SteppedParams::default();
    (hold.window, hold.pacing_rate) = (window, rate_bps.map(BitRate::new));
    Action::Flow { flow: 0, hold }
}

/// W packets per round trip, of 100 ms and the microseconds of their transmission.
#[test]
fn a_window_is_sent_once_per_round_trip() {
    let network = alone();
    let mut run = simulation(&network);
    let mut delivered = 0;
    let mut sent = Vec::new();
    while let Some(seen) = step(&mut run, network.duration) {
        delivered += seen.flows[0].delivered_packets;
        sent.push(seen.flows[0].sent_packets);
        if seen.time == MS(500) {
            run.act(hold(Some(30.0), None)).expect("the flow is stepped");
            assert!((seen.flows[0].cwnd_packets - 4.0).abs() < 1e-9);
        }
    }
    let per_round = |from: usize| sent[from..from + 10].iter().sum::<u64>();
    assert_eq!((per_round(20), per_round(30)), (4, 4));
    // The action lets the 26 packets more leave in the step after it.
    assert_eq!(sent[50], 26 + sent[40]);
    assert_eq!((per_round(100), per_round(150)), (30, 30));
    assert_eq!(run.finish().expect("it balances").summary.flows[0].timeouts, 0);
    assert!(delivered > 400);
}

/// 1,000-byte packets at 800 kbit/s: one per 10 ms. At 80 kbit/s the next one comes 100 ms after the
/// last, and a rate that rises again does not wait for that.
#[test]
fn a_pacing_rate_holds_from_the_action_on() {
    let network = alone();
    let mut run = simulation(&network);
    run.act(hold(Some(1_000.0), Some(800_000))).expect("the flow is stepped");
    let mut sent = Vec::new();
    while let Some(seen) = step(&mut run, network.duration) {
        sent.push(seen.flows[0].sent_packets);
        let rate = match sent.len() {
            100 => 80_000,
            150 => 8_000_000,
            _ => continue,
        };
        run.act(hold(None, Some(rate))).expect("the flow is stepped");
    }
    let total = |steps: std::ops::Range<usize>| sent[steps].iter().sum::<u64>();
    assert_eq!(total(0..100), 100);
    assert_eq!(total(100..150), 5);
    assert_eq!(total(150..151), 10);
    assert_eq!(total(160..170), 100);
}

const FLOW_BYTES: u64 = 38_400; // 40 packets

fn stepped_tcp(initial_window: u32) -> TcpSpec {
    let mut tcp = TcpSpec::new(CongestionConfig::Stepped(SteppedParams::default()));
    tcp.initial_window = initial_window;
    tcp
}

/// Flows of 40 packets that arrive at these milliseconds, all with an RTT of 100 ms.
fn arriving(starts: &[u64], rate_bps: u64, limit: u64, tcp: TcpSpec) -> Network {
    let at = FlowArrivals::Given(starts.iter().map(|start| MS(*start)).collect());
    let size = Distribution::Fixed(FLOW_BYTES as f64);
    let source = FiniteFlowsSpec::new(at, size, Distribution::Fixed(1e11));
    let mut group = GroupSpec::new("web", vec![0], source);
    group.tcp = Some(tcp);
    (group.packet_size, group.header_size) = (1_000, 40);
    let link = networks::link("b", rate_bps, MS(5), Limit::Packets(limit));
    stepped(&Network::new(MS(2_000), vec![link], vec![group], vec![]), MS(10))
}

fn hold_arrived(ordinal: u64, window: f64) -> Action {
    let mut hold = SteppedParams::default();
    hold.window = Some(window);
    Action::ArrivedFlow { group: 0, ordinal, hold }
}

/// The names of the arriving flows that are seen.
fn ordinals(seen: &Seen) -> Vec<u64> {
    seen.arrived.iter().map(|flow| flow.ordinal).collect()
}

/// Four of 40 packets per round trip of 100 ms; the 36 others in one, once the window is 36: the flow that
/// arrives at 5 ms takes two round trips, or ten.
#[test]
fn a_window_holds_for_the_flow_that_arrived() {
    let network = arriving(&[5, 6], 1_000_000_000, 10_000, stepped_tcp(4));
    let mut run = simulation(&network);
    let (mut sent, mut present) = ([const { Vec::new() }; 2], Vec::new());
    while let Some(seen) = step(&mut run, network.duration) {
        for flow in &seen.arrived {
            sent[flow.ordinal as usize].push(flow.flow.sent_packets);
        }
        present.push(ordinals(&seen));
        if seen.time == MS(100) {
            run.act(hold_arrived(0, 36.0)).expect("the flow is in progress");
        }
    }
    let filled = |steps: &[(usize, u64)], length: usize| {
        let mut sent = vec![0; length];
        for &(step, packets) in steps {
            sent[step] = packets;
        }
        sent
    };
    // The last ACK of the first arrives after 205 ms, that of the second after 1,006 ms. The action lets
    // 32 packets leave at once, and the ACKs of the first four let four more.
    assert_eq!(sent[0], filled(&[(0, 4), (10, 36)], 21));
    let rounds: Vec<(usize, u64)> = (0..10).map(|round| (10 * round, 4)).collect();
    assert_eq!(sent[1], filled(&rounds, 101));
    assert!(present[..21].iter().all(|present| *present == [0, 1]), "{present:?}");
    assert!(present[21..101].iter().all(|present| *present == [1]), "{present:?}");
    assert!(present[101..].iter().all(Vec::is_empty), "{present:?}");
}

/// The packets of a flow reach the link 23.75 ms after its start, a quarter of the private paths' 95 ms, and
/// have left it 0.32 ms later. Then its number is free for the next flow, as in a run without steps, while
/// its ACKs arrive 100 ms after its start.
#[test]
fn a_flow_is_seen_until_its_last_ack_while_another_has_its_number() {
    let network = arriving(&[5, 36, 67, 305], 1_000_000_000, 10_000, stepped_tcp(40));
    let mut run = simulation(&network);
    let (mut present, mut delivered) = (Vec::new(), [const { Vec::new() }; 4]);
    while let Some(seen) = step(&mut run, network.duration) {
        for SeenArrived { ordinal, flow, .. } in &seen.arrived {
            delivered[*ordinal as usize].push(flow.delivered_packets);
        }
        let at = seen.time;
        if at == MS(100) || at == MS(110) {
            run.act(hold_arrived(0, 1.0)).expect("the flow was seen");
            assert_eq!(
                run.act(hold_arrived(3, 1.0)).expect_err("it is to come").key,
                "flows.web.3"
            );
        }
        if at == MS(120) {
            run.act(hold_arrived(0, 1.0)).expect_err("the flow was seen for the last time before");
        }
        present.push(ordinals(&seen));
    }
    assert_eq!(run.flow_places(), 1);
    let seen_in = [1..=11, 4..=14, 7..=17, 31..=41];
    let expected = (1..=200).map(|step| {
        let flows = seen_in.iter().zip(0..).filter(|(steps, _)| steps.contains(&step));
        flows.map(|(_, flow)| flow).collect()
    });
    assert_eq!(present, expected.collect::<Vec<Vec<u64>>>());
    // Nothing of the ACKs is seen before they arrive.
    let all_in_the_last_step = [vec![0; 10], vec![40]].concat();
    assert!(delivered.iter().all(|flow| *flow == all_in_the_last_step), "{delivered:?}");
    let mut whole = network.clone();
    whole.step_interval = None;
    assert_eq!(finish(run), finish(simulation(&whole)));
}

/// Three flows of 40 packets at a link that drops, each with a window that changes: as permanent flows they
/// are seen, step by step, as the flows that arrive are.
#[test]
fn a_flow_that_arrives_is_seen_and_steered_as_a_permanent_one() {
    let starts = [5, 42, 131];
    let arriving = arriving(&starts, 1_000_000, 6, stepped_tcp(10));
    let mut permanent = arriving.clone();
    permanent.groups[0].source = BulkParams::transfer(Size::new(FLOW_BYTES)).into();
    permanent.flows = networks::alike(starts.len(), MS(100));
    for (flow, start) in permanent.flows.iter_mut().zip(starts) {
        flow.start = MS(start);
    }
    let (mut one, mut other) = (simulation(&arriving), simulation(&permanent));
    let (mut compared, mut retransmissions, mut delivered) = (0, 0, [0; 3]);
    while let Some(seen) = step(&mut one, arriving.duration) {
        let expected = step(&mut other, arriving.duration).expect("the runs are as long");
        assert_eq!(seen.links, expected.links, "at {}", seen.time);
        for SeenArrived { ordinal, flow, .. } in &seen.arrived {
            assert_eq!(flow, &expected.flows[*ordinal as usize], "{ordinal} at {}", seen.time);
            (compared, retransmissions) = (compared + 1, retransmissions + flow.retransmissions);
            delivered[*ordinal as usize] += flow.delivered_packets;
            if seen.time < arriving.duration {
                let window = f64::from(3 + (compared * 7) % 11);
                let mut hold = SteppedParams::default();
                hold.window = Some(window);
                let flow = *ordinal as usize;
                other.act(Action::Flow { flow, hold }).expect("the flow is stepped");
                one.act(hold_arrived(*ordinal, window)).expect("the flow is in progress");
            }
        }
    }
    assert_eq!(delivered, [40; 3]);
    assert!(compared > 100 && retransmissions > 5, "{compared} {retransmissions}");
}

fn refusal(network: &Network, action: Action) -> BadParameter {
    simulation(network).act(action).expect_err("the action is refused")
}

#[test]
fn what_cannot_be_acted_on_is_refused_with_place_and_remedy() {
    let overloaded = stepped(&overloaded(5), MS(10));
    let mut known = overloaded.clone();
    known.links[0].is_acted_on = false;
    let mut scheduled = overloaded.clone();
    let rate = Rate::from_bits_per_second(1_000);
    scheduled.links[0].rate_changes = vec![RateChange::new(MS(10), rate)];
    let codel = serde_json::from_str::<QueueConfig>(r#"{"kind": "codel"}"#).expect("it is valid");
    let rate_of = |bits| Action::Rate { link: 0, rate: Rate::from_bits_per_second(bits) };
    for (network, action, key) in [
        (&known, rate_of(1_000), "links.b"),
        (&overloaded, rate_of(0), "links.b.rate"),
        (&scheduled, rate_of(1_000), "links.b.rate"),
        (&overloaded, Action::Queue { link: 0, queue: codel }, "links.b.queue"),
        (&overloaded, Action::Rate { link: 1, rate }, "links"),
        (&overloaded, hold(Some(1.0), None), "flows.cbr.congestion"),
        (&alone(), hold(Some(0.5), None), "flows.f.congestion.window"),
        (&overloaded_without_steps(), rate_of(1_000), "run"),
    ] {
        let bad = refusal(network, action);
        assert_eq!(bad.key, key, "{bad}");
        assert!(!bad.remedy.is_empty(), "{bad}");
    }
}

fn overloaded_without_steps() -> Network {
    overloaded(5)
}

#[test]
fn nothing_is_acted_on_after_the_last_step() {
    let network = stepped(&overloaded(5), MS(150));
    let mut run = simulation(&network);
    let ends: Vec<Time> =
        std::iter::from_fn(|| step(&mut run, network.duration).map(|seen| seen.time)).collect();
    assert_eq!(ends, [MS(150), MS(200)]);
    let rate = Rate::from_bits_per_second(1_000);
    assert_eq!(run.act(Action::Rate { link: 0, rate }).expect_err("it is over").key, "run");
}

#[test]
fn a_step_of_no_length_is_refused() {
    let network = stepped(&overloaded(5), Time::ZERO);
    let error = Simulation::new(&network).expect_err("it is refused");
    assert!(error.to_string().starts_with("step_interval: "), "{error}");
}
