//! Nothing depends on the ordering machinery: the engine and the reference event loop, a plain heap
//! over every stage of every packet, give the same results to the last bit, whatever the network,
//! the threads and the slices that a run is cut into.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::{ArrivalLog, Results};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::schedule::TieBreak;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::traffic::SourceSpec;
use tailroom_engine::units::{Rate, Time};

use crate::support::random_cases::config;
use crate::support::summaries::group;
use crate::support::{networks, random_networks, reference, transport};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// What to tell whoever meets a failure.
const REPLAY: &str = "the case is kept in tests/engine/ordering.regressions; \
                      `cargo test -p tailroom-engine --test engine ordering::` runs it again first";

/// The results, the number of events aside: the loops count theirs differently; and what a link's
/// discipline does not report, a NaN, is equal to itself.
fn comparable(mut results: Results) -> Results {
    results.summary.events = 0;
    let columns =
        results.tables.link_series.iter_mut().flat_map(|series| &mut series.discipline_state);
    for value in columns.flat_map(|(_, column)| column).filter(|value| value.is_nan()) {
        *value = f64::NEG_INFINITY;
    }
    results.tables.arrival_log.iter_mut().for_each(sort_fates_of_an_instant);
    results
}

/// Copies of one packet can arrive at one instant. The reference tells them apart, the engine cannot
/// always, so which of them has which fate is not compared.
fn sort_fates_of_an_instant(log: &mut ArrivalLog) {
    let who = |row: usize| (log.link[row], log.time_s[row].to_bits(), log.flow[row]);
    let mut rows: Vec<usize> = (0..log.fate.len()).collect();
    rows.sort_by_key(|row| who(*row));
    let mut by_fate = rows.clone();
    by_fate.sort_by_key(|row| (who(*row), log.fate[*row]));
    let fates: Vec<u8> = by_fate.into_iter().map(|row| log.fate[row]).collect();
    for (row, fate) in rows.into_iter().zip(fates) {
        log.fate[row] = fate;
    }
}

fn finish(simulation: Simulation) -> Results {
    comparable(simulation.finish().expect("the account of packets balances"))
}

fn run(network: &Network) -> Results {
    finish(Simulation::new(network))
}

/// The engine with numbers of its own for all flows that come and go, as the reference has them: a
/// number decides who is first at one instant, and which queue a hash means.
fn run_without_reuse(network: &Network) -> Results {
    let mut simulation = Simulation::new(network);
    simulation.keep_numbers();
    finish(simulation)
}

/// Where two results differ, part by part, so that a failure is short enough to read.
fn difference(left: &Results, right: &Results) -> Option<String> {
    if left == right {
        return None;
    }
    let times = |results: &Results| results.tables.packet_log.clone().unwrap_or_default().time_s;
    let first = (times(left).iter().zip(&times(right)))
        .position(|(left, right)| left.to_bits() != right.to_bits());
    let mut parts = vec![
        ("links", format!("{:#?}", left.summary.links), format!("{:#?}", right.summary.links)),
        ("flows", format!("{:#?}", left.summary.flows), format!("{:#?}", right.summary.flows)),
        ("groups", format!("{:#?}", left.summary.groups), format!("{:#?}", right.summary.groups)),
    ];
    let tables = [left, right].map(|results| results.tables.clone().into_columns());
    let [left, right] = tables;
    parts
        .extend((left.iter().zip(&right)).map(|((name, left), (_, right))| {
            (*name, format!("{left:#?}"), format!("{right:#?}"))
        }));
    let mut text = format!("first packet log line that differs: {first:?}\n");
    for (name, left, right) in parts {
        let lines = left.lines().zip(right.lines()).filter(|(left, right)| left != right);
        for (left, right) in lines.take(4) {
            let _ = writeln!(text, "{name}: {} | {}", left.trim(), right.trim());
        }
    }
    Some(text)
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn engine_and_reference_agree_on_random_networks(network in random_networks::network()) {
        let engine = run_without_reuse(&network);
        let difference = difference(&engine, &comparable(reference::run(&network)));
        prop_assert!(
            difference.is_none(),
            "seed {}; {REPLAY}; engine | reference:\n{}",
            network.seed,
            difference.unwrap_or_default()
        );
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn the_same_seed_gives_the_same_results_in_any_thread(network in random_networks::network()) {
        let alone = run(&network);
        let together: Vec<Results> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| run(&network))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for results in together {
            prop_assert!(alone == results, "seed {}; {REPLAY}", network.seed);
        }
    }

    #[test]
    fn slices_change_nothing(
        network in random_networks::network(),
        mut stops in prop::collection::vec(0_u64..2_500_000_000_000, 0..20),
    ) {
        stops.sort_unstable();
        let mut sliced = Simulation::new(&network);
        for stop in stops {
            sliced.run_until(Time::from_picoseconds(stop)).expect("memory has no limit");
        }
        prop_assert!(run(&network) == finish(sliced), "seed {}; {REPLAY}", network.seed);
    }
}

/// The random networks are worth comparing: most of what can happen happens in some of them.
#[test]
fn random_networks_see_losses_timeouts_reductions_and_refusals() {
    let mut runner = TestRunner::deterministic();
    let mut refused = 0;
    let (mut drops, mut losses, mut fast_repairs, mut timeouts, mut complete) = (0, 0, 0, 0, 0);
    for _ in 0..100 {
        let tree = random_networks::network().new_tree(&mut runner).expect("nothing is filtered");
        let summary = run(&tree.current()).summary;
        for (_, link) in &summary.links.0 {
            drops += u64::from(link.drops_packets > 0);
            losses += u64::from(link.random_losses_packets > 0);
        }
        for (_, group) in &summary.groups.0 {
            refused += group.refused_flows;
        }
        for flow in &summary.flows {
            timeouts += u64::from(flow.timeouts > 0);
            fast_repairs += u64::from(flow.congestion_events > flow.timeouts);
            complete += flow.completed_flows;
        }
    }
    assert!(refused >= 30, "{refused} flows refused");
    for count in [drops, losses, fast_repairs, timeouts, complete] {
        let counts = [drops, losses, fast_repairs, timeouts, complete];
        assert!(count >= 30, "drops, losses, fast repairs, timeouts, completions: {counts:?}");
    }
}

/// Equal flows without access links: every packet of one flow meets a packet of every other.
fn full_of_ties() -> Network {
    let mut link =
        networks::link("bottleneck", 8_000_000, Time::from_milliseconds(5), Limit::Packets(7));
    link.packet_log = 100_000;
    let background = GroupSpec {
        source: SourceSpec::Cbr { rate: Rate::from_bits_per_second(800_000) },
        tcp: None,
        ..networks::bulk("background", transport::reno())
    };
    let mut flows = networks::alike(4, Time::from_milliseconds(50));
    flows.extend(networks::alike(2, Time::from_milliseconds(50)));
    flows[4..].iter_mut().for_each(|flow| flow.group = 1);
    Network {
        duration: Time::from_milliseconds(5_000),
        measure_from: Time::ZERO,
        seed: 1,
        memory_limit_bytes: u64::MAX,
        links: vec![link],
        groups: vec![networks::bulk("reno", transport::reno()), background],
        flows,
        series_interval: Some(Time::from_milliseconds(100)),
    }
}

#[test]
fn engine_and_reference_agree_where_everything_ties() {
    let network = full_of_ties();
    let difference = difference(&run(&network), &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

/// One flow whose delayed ACKs wait for `packets` packets or this long; a packet takes 1 ms on the
/// link.
fn one_flow_with_delayed_acks(packets: u32, timeout_ms: u64) -> Network {
    let mut network = full_of_ties();
    let timeout = PositiveDuration::from_milliseconds(timeout_ms);
    let tcp = TcpSpec {
        delayed_ack: DelayedAck::Set { packets, timeout },
        initial_window: 1,
        ..transport::reno()
    };
    network.groups = vec![networks::bulk("reno", tcp)];
    network.flows.truncate(1);
    network
}

/// A packet that arrives at the very deadline of a delayed ACK comes before the timer.
#[test]
fn engine_and_reference_agree_where_packets_meet_the_receivers_timer() {
    let network = one_flow_with_delayed_acks(3, 1);
    let difference = difference(&run(&network), &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

/// The first packet's ACK is delayed so that it arrives when the first timeout is due: 1 ms on the
/// link, 50 ms on the way and 949 ms of delay make the initial 1 s (RFC 6298 sec. 2.1). It comes
/// before the timer.
#[test]
fn engine_and_reference_agree_where_an_ack_meets_the_senders_timer() {
    let network = one_flow_with_delayed_acks(2, 949);
    let results = run(&network);
    let difference = difference(&results, &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    assert_eq!(results.summary.flows[0].timeouts, 0);
    let later = one_flow_with_delayed_acks(2, 950);
    assert!(run(&later).summary.flows[0].timeouts > 0, "a millisecond later it is too late");
}

/// The comparison is worth something: a wrong order at ties does not pass it.
#[test]
fn a_tie_break_by_insertion_is_noticed() {
    let network = full_of_ties();
    let wrong = finish(Simulation::with_tie_break(&network, TieBreak::InsertionOnly));
    let right = comparable(reference::run(&network));
    assert!(difference(&wrong, &right).is_some());
    assert_ne!(wrong.tables.packet_log, right.tables.packet_log);
}

/// Two slow links in a row there and one back: a packet takes 1 s at the first, where up to 401 s of
/// them wait, more than the 140 s that an event's age can say.
#[test]
fn engine_and_reference_agree_where_packets_take_minutes() {
    let slow = |name, rate, packets| networks::link(name, rate, MS(5), Limit::Packets(packets));
    let mut network = full_of_ties();
    network.links = vec![slow("first", 8_000, 400), slow("second", 6_000, 300)];
    network.links.push(slow("back", 500, 500));
    network.links.iter_mut().for_each(|link| link.packet_log = 100_000);
    network.links[1].loss = LossSpec::Periodic { every: 7 };
    for group in &mut network.groups {
        group.path = vec![0, 1];
    }
    network.groups[0].reverse_path = vec![2];
    network.groups[1].source = SourceSpec::Cbr { rate: Rate::from_bits_per_second(10_000) };
    network.groups[0].tcp = Some(TcpSpec {
        min_rto: PositiveDuration::from_milliseconds(60_000),
        initial_window: 100,
        ..transport::reno()
    });
    (network.duration, network.measure_from) = (MS(3_000_000), MS(700_000));
    network.series_interval = Some(MS(50_000));
    let results = run(&network);
    let difference = difference(&results, &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    let background = group(&results.summary, "background");
    assert!(background.one_way_delay_s_mean > Some(400.0), "{background:?}");
}

/// A link that stops for good keeps its packets; its flows time out and give up nothing.
#[test]
fn a_link_that_stands_still_for_good_ends_nothing_but_its_flows() {
    let mut network = full_of_ties();
    network.links[0].rate_changes = vec![RateChange {
        at: Time::from_milliseconds(1_000),
        rate: Rate::from_bits_per_second(0),
    }];
    let results = run(&network);
    let difference = difference(&results, &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    let reno = group(&results.summary, "reno");
    // RTO of at least 200 ms, doubled each time: 4 s hold 4 of them (0.2 + 0.4 + 0.8 + 1.6 = 3).
    assert!((12..=16).contains(&reno.timeouts), "{} timeouts of 4 flows", reno.timeouts);
}
