//! Results do not depend on how events are ordered and stored. On any network the engine and the
//! reference event loop, a plain heap over every stage of every packet, give the same results to
//! the last bit; so do runs in several threads and runs that are cut into slices.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::blocks::{BlockHold, BlockLength};
use tailroom_engine::congestion::fhstcp::{BlockCount, FhstcpParams};
use tailroom_engine::distribution::{Count, Distribution};
use tailroom_engine::link::LinkSpec;
use tailroom_engine::link::line::LineSpec;
use tailroom_engine::link::pause::PauseSpec;
use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::pool::policy::fab::FabParams;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::quantity::{PositiveDuration, Size, SizeOrZero};
use tailroom_engine::results::{Packets, Results, Warning, WarningKind};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::traffic::arrivals::FlowArrivals;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::traffic::web::WebSpec;
use tailroom_engine::units::{Rate, Time};

use crate::support::random_cases::config;
use crate::support::reference::{self, TieBreak};
use crate::support::summaries::group;
use crate::support::{disciplines, networks, random_fabrics, random_networks, transport};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// How to replay a failing case.
const REPLAY: &str = "the case is kept in tests/engine/ordering.regressions; \
                      `cargo test -p tailroom-engine --test engine ordering::` runs it again first";

/// The results without the number of events, which the two loops count differently. A NaN, for a
/// gauge that a discipline does not report, becomes a value that equals itself.
fn comparable(mut results: Results) -> Results {
    results.summary.events = 0;
    let columns =
        results.tables.link_series.iter_mut().flat_map(|series| &mut series.discipline_state);
    for value in columns.flat_map(|(_, column)| column).filter(|value| value.is_nan()) {
        *value = f64::NEG_INFINITY;
    }
    results.tables.packets.iter_mut().for_each(sort_fates_of_an_instant);
    results
}

/// Copies of a packet can arrive at the same instant. The reference always tells them apart and the
/// engine does not, so the fates of such copies are compared in sorted order.
fn sort_fates_of_an_instant(log: &mut Packets) {
    let arrival = |row: usize| (log.link[row], log.time_s[row].to_bits(), log.flow[row]);
    let mut rows: Vec<usize> = (0..log.fate.len()).collect();
    rows.sort_by_key(|row| arrival(*row));
    let mut by_fate = rows.clone();
    by_fate.sort_by_key(|row| (arrival(*row), log.fate[*row]));
    let fates: Vec<u8> = by_fate.into_iter().map(|row| log.fate[row]).collect();
    for (row, fate) in rows.into_iter().zip(fates) {
        log.fate[row] = fate;
    }
}

fn finish(simulation: Simulation) -> Results {
    comparable(simulation.finish().expect("the account of packets balances"))
}

fn run(network: &Network) -> Results {
    finish(Simulation::new(network).expect("the network is valid"))
}

/// The engine with a new number for every dynamic flow, as in the reference. The number of a flow
/// decides the order at one instant, and the queue to which a hash assigns the flow.
fn run_without_reuse(network: &Network) -> Results {
    run_counting_steps(network).0
}

/// The same, and the largest number of steps that an event took.
fn run_counting_steps(network: &Network) -> (Results, u64) {
    let mut simulation = Simulation::new(network).expect("the network is valid");
    simulation.keep_numbers();
    simulation.run_until(network.duration).expect("the account of packets balances");
    let steps = steps_of_an_event(&simulation);
    (finish(simulation), steps)
}

#[cfg(debug_assertions)]
fn steps_of_an_event(simulation: &Simulation) -> u64 {
    simulation.most_steps_per_event()
}

/// Release builds do not count.
#[cfg(not(debug_assertions))]
fn steps_of_an_event(_: &Simulation) -> u64 {
    0
}

/// The first differences of two results in each part, short enough to read.
pub(crate) fn difference(left: &Results, right: &Results) -> Option<String> {
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

/// Fails unless the engine and the reference give the same results, and no event does much work.
pub(crate) fn assert_agreement(network: &Network) -> Result<(), TestCaseError> {
    // What has a clock of its own may be 32 steps behind: the policies of pools, and admission controls.
    let clocks =
        network.pools.len() + network.links.iter().filter(|link| link.admission.is_some()).count();
    // In a silence, 40 samples and as many edges, changes of rate and ends of flows.
    assert_agreement_within(network, 40 + 40 + 32 * clocks as u64)
}

/// The same with another largest number of steps of an event.
pub(crate) fn assert_agreement_within(
    network: &Network,
    most_steps: u64,
) -> Result<(), TestCaseError> {
    let (engine, steps) = run_counting_steps(network);
    prop_assert!(steps <= most_steps, "{steps} steps in an event, seed {}; {REPLAY}", network.seed);
    let difference = difference(&engine, &comparable(reference::run(network)));
    prop_assert!(
        difference.is_none(),
        "seed {}; {REPLAY}; engine | reference:\n{}",
        network.seed,
        difference.unwrap_or_default()
    );
    Ok(())
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn engine_and_reference_agree_on_random_networks(network in random_networks::network()) {
        assert_agreement(&network)?;
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn engine_and_reference_agree_on_networks_with_pauses(
        network in random_networks::network_with_pauses()
    ) {
        assert_agreement(&network)?;
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn engine_and_reference_agree_on_pools_that_favour_short_flows_or_drop_heads(
        network in random_networks::network_with_flows_and_heads()
    ) {
        assert_agreement(&network)?;
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    #[ignore = "slow: the reference takes minutes for some of these networks"]
    fn engine_and_reference_agree_on_networks_with_lines(
        network in random_networks::network_with_lines()
    ) {
        assert_agreement(&network)?;
    }
}

proptest! {
    #![proptest_config(config(20))]

    #[test]
    fn a_line_that_a_link_has_to_itself_changes_no_result(network in random_networks::network()) {
        let mut alone = served(&network);
        for link in &mut alone.links {
            link.line = Some(LineSpec::new(link.name.clone()));
        }
        let [plain, alone] = [&served(&network), &alone].map(run_without_reuse);
        let difference = difference(&plain, &alone);
        prop_assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    }
}

/// Pause frames that are never sent.
fn far_from_xoff() -> PauseSpec {
    PauseSpec::new(Size::new(1_000_000_000), SizeOrZero::new(900_000_000), Size::new(1))
}

proptest! {
    #![proptest_config(config(20))]

    #[test]
    fn pauses_below_xoff_change_no_result(network in random_networks::network()) {
        let mut paused = served(&network);
        paused.links.iter_mut().for_each(|link| link.pause = Some(far_from_xoff()));
        let [mut plain, mut paused] = [&served(&network), &paused].map(run_without_reuse);
        for (_, link) in plain.summary.links.0.iter_mut().chain(&mut paused.summary.links.0) {
            (link.pause_frames, link.paused_fraction, link.pause_s_max) = (None, None, None);
            (link.ingress_bytes_max, link.headroom_bytes_max) = (None, None);
            link.blocked_fraction = None;
        }
        let of_pauses = [
            WarningKind::ShortHeadroom,
            WarningKind::ShortLimit,
            WarningKind::ShortPool,
            WarningKind::LosslessDrops,
        ];
        let is_about_results = |one: &Warning| !of_pauses.contains(&one.kind);
        for summary in [&mut plain.summary, &mut paused.summary] {
            summary.warnings.retain(is_about_results);
        }
        let difference = difference(&plain, &paused);
        prop_assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Equal rates and sizes make simultaneous events the rule, and steps begin at the instant at which
    /// those before are complete.
    #[test]
    fn engine_and_reference_agree_on_random_fabrics(network in random_fabrics::network()) {
        assert_agreement(&network)?;
    }
}

/// The same network, on whose links packets wait until they are served.
fn served(network: &Network) -> Network {
    let mut network = network.clone();
    network.links.iter_mut().for_each(|link| link.is_acted_on = true);
    network
}

/// The first differences between a run whose links know the departures of packets behind arrival
/// rules, and a run whose links serve them. A sample of the series, of links and of pools, is taken
/// before a service of the same instant, and the log of a link that knows departures is full earlier.
fn difference_of_service(network: &Network) -> Option<String> {
    let [known, served] = [network, &served(network)].map(|network| {
        let mut results = run_without_reuse(network);
        let tables = &mut results.tables;
        (tables.link_series, tables.pool_series, tables.packet_log) = (None, None, None);
        results
    });
    difference(&known, &served)
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn serving_packets_changes_no_result_on_random_networks(network in random_networks::network()) {
        let difference = difference_of_service(&network);
        prop_assert!(
            difference.is_none(),
            "seed {}; {REPLAY}; known | served:\n{}",
            network.seed,
            difference.unwrap_or_default()
        );
    }
}

/// Three links in a row and two on the way back, each behind the same rule, with random loss; all
/// flows can be marked. The comparison is worth something if packets are served.
#[test]
fn serving_packets_changes_no_result_behind_any_rule() {
    // A small buffer, which drops, and one that is larger than the thresholds of all rules.
    let rules = [disciplines::valid("20 packets"), disciplines::all("3000 packets")].concat();
    let rules = rules.into_iter().filter(|queue| !queue.is_scheduler());
    for (queue, seed) in rules.zip(1..) {
        let mut network = full_of_ties();
        network.links = [8_000_000, 6_000_000, 7_777_777, 600_000, 500_000]
            .map(|rate_bps| {
                let link = networks::link("", rate_bps, MS(3), Limit::Packets(20));
                let loss = LossSpec::Bernoulli { probability: 0.002 };
                with!(link, LinkSpec { name: format!("{rate_bps}"), queue: queue.clone(), loss })
            })
            .to_vec();
        network.groups[0].path = vec![0, 1, 2];
        network.groups[0].reverse_path = vec![3, 4];
        network.groups[1].path = vec![1, 2];
        network.groups[0].tcp = Some(with!(transport::reno(), TcpSpec { ecn: EcnMode::Classic }));
        (network.seed, network.measure_from) = (seed, MS(1_234));
        let difference = difference_of_service(&network);
        assert!(difference.is_none(), "{}: {}", queue.name(), difference.unwrap_or_default());
        let [known, served] = [&network, &served(&network)].map(|network| {
            let simulation = Simulation::new(network).expect("a valid network");
            simulation.finish().expect("the account of packets balances").summary.events
        });
        assert!(served > known + known / 2, "{}: {known} events, {served} served", queue.name());
    }
}

proptest! {
    #![proptest_config(config(15))]

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
    fn cutting_a_run_into_slices_or_pausing_it_changes_no_result(
        network in random_networks::network(),
        mut stops in prop::collection::vec((0_u64..2_500_000_000_000, 1_u64..5_000), 0..20),
        is_whole in any::<bool>(),
    ) {
        stops.sort_unstable();
        let mut sliced = Simulation::new(&network).expect("the network is valid");
        for (stop, events) in stops {
            let most = if is_whole { u64::MAX } else { events };
            let done = sliced.run_some(Time::from_picoseconds(stop), most);
            prop_assert!(done == Ok(true) || !is_whole, "{done:?}");
        }
        prop_assert!(run(&network) == finish(sliced), "seed {}; {REPLAY}", network.seed);
    }
}

/// The comparison covers the main events: each of them occurs in some of as many random networks.
#[test]
fn random_networks_have_losses_timeouts_reductions_and_refusals() {
    let mut runner = TestRunner::deterministic();
    let (mut refused, mut out_of_memory, mut over_threshold, mut reordered) = (0, 0, 0, 0);
    let (mut drops, mut losses, mut fast_repairs, mut timeouts, mut complete) = (0, 0, 0, 0, 0);
    for _ in 0..300 {
        let tree =
            random_networks::network().new_tree(&mut runner).expect("the strategy rejects no case");
        let summary = run(&tree.current()).summary;
        for (_, link) in &summary.links.0 {
            drops += u64::from(link.drops_packets > 0);
            losses += u64::from(link.random_losses_packets > 0);
            reordered += u64::from(link.reordered_packets.is_some_and(|packets| packets > 0));
            out_of_memory += u64::from(link.by_reason.drops_pool_packets > 0);
            over_threshold += u64::from(link.by_reason.drops_threshold_packets > 0);
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
    assert!(refused >= 10, "{refused} flows refused");
    assert!(out_of_memory >= 3 && over_threshold >= 3, "{out_of_memory}, {over_threshold}");
    for count in [drops, losses, fast_repairs, timeouts, complete, reordered] {
        let counts = [drops, losses, fast_repairs, timeouts, complete, reordered];
        assert!(
            count >= 10,
            "drops, losses, fast repairs, timeouts, completions, reordered: {counts:?}"
        );
    }
}

/// Short flows are favoured, and heads dropped, in many random networks of these policies.
#[test]
fn random_networks_of_small_pools_have_short_flows_and_drops_of_heads() {
    let mut runner = TestRunner::deterministic();
    let (mut heads, mut short) = (0, 0);
    for _ in 0..120 {
        let tree = random_networks::network_with_flows_and_heads().new_tree(&mut runner);
        let network = tree.expect("the strategy rejects no case").current();
        let results = run(&network);
        let links = |results: &Results| format!("{:?}", results.summary.links);
        if let PolicyConfig::Fab(params) = &network.pools[0].policy {
            let short_flow_alpha = params.alpha;
            let params = with!(params.clone(), FabParams { short_flow_alpha });
            let mut alike = network.clone();
            alike.pools[0].policy = PolicyConfig::Fab(params);
            short += u64::from(links(&run(&alike)) != links(&results));
        } else {
            let links = &results.summary.links.0;
            heads += u64::from(links.iter().any(|(_, link)| link.by_reason.drops_head_packets > 3));
        }
    }
    assert!(heads >= 10 && short >= 10, "{heads} and {short} networks");
}

/// Equal flows without access links: each packet of a flow arrives together with a packet of every
/// other flow.
fn full_of_ties() -> Network {
    let mut link =
        networks::link("bottleneck", 8_000_000, Time::from_milliseconds(5), Limit::Packets(7));
    link.packet_log = 100_000;
    let background = with!(
        networks::bulk("background", transport::reno()),
        GroupSpec {
            source: CbrParams::at_once(Rate::from_bits_per_second(800_000)).into(),
            tcp: None
        }
    );
    let mut flows = networks::alike(4, Time::from_milliseconds(50));
    flows.extend(networks::alike(2, Time::from_milliseconds(50)));
    flows[4..].iter_mut().for_each(|flow| flow.group = 1);
    with!(
        Network::new(
            Time::from_milliseconds(5_000),
            vec![link],
            vec![networks::bulk("reno", transport::reno()), background],
            flows
        ),
        Network {
            measure_from: Time::ZERO,
            seed: 1,
            ties: Ties::ByChance,
            memory_limit_bytes: u64::MAX,
            series_interval: Some(Time::from_milliseconds(100))
        }
    )
}

#[test]
fn engine_and_reference_agree_on_simultaneous_arrivals_of_all_flows() {
    let network = full_of_ties();
    let difference = difference(&run(&network), &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

/// One flow whose delayed ACKs wait for `packets` packets or for this time; the transmission of a
/// packet takes 1 ms.
fn one_flow_with_delayed_acks(packets: u32, timeout_ms: u64) -> Network {
    let mut network = full_of_ties();
    let timeout = PositiveDuration::from_milliseconds(timeout_ms);
    let tcp = with!(
        transport::reno(),
        TcpSpec { delayed_ack: DelayedAck::Set { packets, timeout }, initial_window: 1 }
    );
    network.groups = vec![networks::bulk("reno", tcp)];
    network.flows.truncate(1);
    network
}

/// A packet that arrives at the deadline of a delayed ACK precedes the timer.
#[test]
fn engine_and_reference_agree_when_packets_arrive_at_the_deadline_of_the_receiver() {
    let network = one_flow_with_delayed_acks(3, 1);
    let difference = difference(&run(&network), &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

/// The ACK of the first packet is delayed so that it arrives at the deadline of the first timeout,
/// 1 s (RFC 6298 sec. 2.1): 1 ms of transmission, 50 ms of propagation and 949 ms of delay. It
/// precedes the timer.
#[test]
fn engine_and_reference_agree_when_an_ack_arrives_at_the_deadline_of_the_sender() {
    let network = one_flow_with_delayed_acks(2, 949);
    let results = run(&network);
    let difference = difference(&results, &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    assert_eq!(results.summary.flows[0].timeouts, 0);
    let later = one_flow_with_delayed_acks(2, 950);
    assert!(run(&later).summary.flows[0].timeouts > 0, "an ACK one millisecond later is too late");
}

/// Every reading of FHSTCP's blocks, in which packets may be held while later ones leave.
fn fhstcp_readings() -> impl Iterator<Item = FhstcpParams> {
    (0..16).map(|bits| {
        with!(
            FhstcpParams::default(),
            FhstcpParams {
                // 100 blocks per second of round-trip time, for the short round trips of random networks.
                c: 100.0,
                block_count: if bits & 1 == 0 {
                    BlockCount::Integer
                } else {
                    BlockCount::Fractional
                },
                block_length: if bits & 2 == 0 {
                    BlockLength::WindowShare
                } else {
                    BlockLength::Printed
                },
                block_hold: if bits & 4 == 0 { BlockHold::Block } else { BlockHold::Packet },
                block_slow_start: bits & 8 != 0
            }
        )
    })
}

#[test]
fn engine_and_reference_agree_on_all_readings_of_fhstcp() {
    let mut runner = TestRunner::deterministic();
    for params in fhstcp_readings() {
        let tree =
            random_networks::network().new_tree(&mut runner).expect("the strategy rejects no case");
        let mut network = tree.current();
        for tcp in network.groups.iter_mut().filter_map(|group| group.tcp.as_mut()) {
            tcp.congestion = CongestionConfig::Fhstcp(params.clone());
        }
        let engine = run_without_reuse(&network);
        let difference = difference(&engine, &comparable(reference::run(&network)));
        assert!(difference.is_none(), "{params:?}: {}", difference.unwrap_or_default());
    }
}

/// A browser asks for the next object as soon as one is complete, before the next packet of another
/// flow, which has long been on its way.
#[test]
fn engine_and_reference_agree_when_one_object_follows_another_at_once() {
    let mut network = full_of_ties();
    let link = networks::link("fast", 100_000_000, Time::ZERO, Limit::Packets(100));
    network.links = vec![link];
    network.flows.truncate(4);
    let arrivals = FlowArrivals::Given((0..40).map(|number| MS(100 * number)).collect());
    let pages = Count::Rounded(Distribution::Fixed(5.0));
    let [think_time, object, rtt] = [3e9, 3_000.0, 0.0].map(Distribution::Fixed); // 3 ms, 3 kB
    let web = with!(
        WebSpec::new(arrivals, pages, think_time, object, rtt),
        WebSpec {
            embedded_objects: Count::Rounded(Distribution::Fixed(20.0)),
            embedded_object: Distribution::Exponential { mean: 2_000.0 },
            parallel: 2,
            flow_log: 10_000
        }
    );
    network.groups[1] =
        with!(networks::bulk("web", transport::reno()), GroupSpec { source: web.into() });
    let engine = run_without_reuse(&network);
    let difference = difference(&engine, &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    assert_eq!(engine.tables.flow_log.map(|log| log.start_s.len()), Some(40 * 5 * 21));
}

/// The comparison detects a wrong order of simultaneous events.
#[test]
fn a_tie_break_by_insertion_is_detected() {
    let network = full_of_ties();
    let wrong = comparable(reference::run_with(&network, TieBreak::LastFlowFirst));
    let right = run(&network);
    assert!(difference(&right, &wrong).is_some());
    assert_ne!(right.tables.packet_log, wrong.tables.packet_log);
}

/// The path has two slow links and the reverse path one. A packet takes 1 s on the first link,
/// where up to 401 s of packets wait, more than the 140 s that the age of an event can hold.
#[test]
fn engine_and_reference_agree_when_packets_take_minutes() {
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
    network.groups[1].source = CbrParams::at_once(Rate::from_bits_per_second(10_000)).into();
    network.groups[0].tcp = Some(with!(
        transport::reno(),
        TcpSpec { min_rto: PositiveDuration::from_milliseconds(60_000), initial_window: 100 }
    ));
    (network.duration, network.measure_from) = (MS(3_000_000), MS(700_000));
    network.series_interval = Some(MS(50_000));
    let results = run(&network);
    let difference = difference(&results, &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    let background = group(&results.summary, "background");
    assert!(background.one_way_delay_s_mean > Some(400.0), "{background:?}");
}

/// A link that stops for good keeps its packets. Its flows time out, and the run ends without an
/// error.
#[test]
fn a_run_ends_normally_if_a_link_stops_for_good() {
    let mut network = full_of_ties();
    network.links[0].rate_changes =
        vec![RateChange::new(Time::from_milliseconds(1_000), Rate::from_bits_per_second(0))];
    let results = run(&network);
    let difference = difference(&results, &comparable(reference::run(&network)));
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    let reno = group(&results.summary, "reno");
    // The RTO is at least 200 ms and doubles each time: 4 timeouts fit in 4 s (0.2 + 0.4 + 0.8 +
    // 1.6 = 3).
    assert!((12..=16).contains(&reno.timeouts), "{} timeouts of 4 flows", reno.timeouts);
}
