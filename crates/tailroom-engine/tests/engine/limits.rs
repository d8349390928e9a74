//! Limits of a run: memory, links on a path, age of a packet, and time. Beyond them a run is
//! refused or ends with an error; it never gives wrong results.

use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::Summary;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::units::{Rate, Time};

use crate::support::case::{Case, case, near};
use crate::support::refusals::assert_refused;
use crate::support::scenario_text::{base_with, parse};
use crate::support::{networks, scenario_run, transport};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// How far one event may exceed the limit, in bytes.
const EXCESS_OF_AN_EVENT: u64 = 64_000_000;

fn error(network: &Network) -> RunError {
    Simulation::new(network)
        .expect("the network is valid")
        .finish()
        .expect_err("the run ends with an error")
}

fn summary(network: &Network) -> Summary {
    scenario_run::finish(network).summary
}

/// A flow with these keys.
fn flow(keys: &str) -> Case {
    let keys = format!("rtt = '20 ms', {keys}");
    case("1 s").link("b", "10 Mbit/s, 2 ms, 50 packets").flows("f", "b", keys)
}

/// The scenario allows 100 GB, so that it resolves, and the run only 20 MB.
fn hungry(keys: &str) -> Network {
    let mut network = flow(keys).set("memory_limit", "100 GB").network();
    network.memory_limit_bytes = 20_000_000;
    network
}

/// A place with less memory than the scenario allows refuses it, whatever it allows, and says that raising the
/// limit does not help.
#[test]
fn a_scenario_is_refused_where_there_is_less_memory_than_it_allows() {
    let text = base_with("count = 4", "count = 100000")
        .replace("duration", "memory_limit = \"100 GB\"\nduration");
    let scenario = parse(&text, &[]).expect("the scenario is valid");
    let network = scenario.resolve_within(1_000_000_000).expect("there is room");
    assert_eq!(network.memory_limit_bytes, 1_000_000_000);
    let refusal = scenario.resolve_within(100_000_000).expect_err("there is none").to_string();
    assert_refused(
        &refusal,
        "line 2, memory_limit",
        &["fewer flows", "where there is more memory"],
    );
    assert!(!refusal.contains("raise"), "{refusal}");
}

/// A window of 4 million packets is handed over in four parts, between which the caller can look at an
/// interrupt, though no time passes.
#[test]
fn a_run_pauses_while_a_large_window_is_filled() {
    let mut network = hungry("congestion = 'reno', initial_window = 4_194_304, count = 2");
    network.memory_limit_bytes = 10_000_000_000;
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    let mut pauses = 0;
    while !simulation.run_some(MS(5), u64::MAX).expect("there is memory") {
        pauses += 1;
    }
    assert_eq!(pauses, 2 * 3);
}

/// The packets of a window arrive at one instant, or one by one from a fast or a slow access link,
/// where the last of them lie beyond the buckets of the schedule; or the first ACK sets the window.
#[test]
fn a_run_out_of_memory_ends_within_one_event() {
    let with = |key: &str| format!("congestion = 'reno', initial_window = 30_000_000, {key}");
    let jump = "congestion = { kind = 'fixed_window', window = 30_000_000.0 }";
    for flow in [
        with(""),
        with("access_rate = '100 Gbit/s'"),
        with("access_rate = '1 Mbit/s'"),
        with("send_burst = 16"),
        with("pacing = true"),
        jump.to_owned(),
    ] {
        let network = hungry(&flow);
        let fault = error(&network);
        let RunError::Memory { needed_bytes, limit_bytes, .. } = fault else {
            panic!("{flow}: {fault}")
        };
        assert_eq!(limit_bytes, 20_000_000);
        let needed = limit_bytes + 1..=limit_bytes + EXCESS_OF_AN_EVENT;
        assert!(needed.contains(&needed_bytes), "{flow}: {needed_bytes}");
        assert_eq!(error(&network), fault, "{flow}");
        // The error is the same if the run is cut into slices, and if it is continued after the
        // error.
        let mut sliced = Simulation::new(&network).expect("the network is valid");
        for stop in 1..2_000 {
            let done = sliced.run_until(Time::from_picoseconds(stop * 1_000_000_000 / 2));
            assert!(done.as_ref().err().is_none_or(|other| *other == fault), "{flow}: {done:?}");
        }
        assert_eq!(sliced.finish().expect_err("it has failed"), fault, "{flow}");
    }
}

#[test]
fn windows_too_large_for_the_memory_limit_are_refused_before_the_run() {
    let fixed = |window: &str| {
        flow(&format!("congestion = {{ kind = 'fixed_window', window = {window} }}")).refusal()
    };
    let initial =
        |window: &str| flow(&format!("congestion = 'reno', initial_window = {window}")).refusal();
    for message in [initial("100_000_000"), fixed("1e8")] {
        let remedies = ["memory_limit", "initial_window", "fixed window"];
        assert_refused(&message, "memory_limit", &remedies);
        assert!(message.contains("4.8 GB") && message.contains("4 GB"), "{message}");
    }
    // The largest window that a scenario may give is 10^8 packets.
    assert_refused(&fixed("1e9"), "line 3, flows.f.congestion.window", &["100000000"]);
    assert_refused(&initial("1_000_000_000"), "line 3, flows.f.initial_window", &["100000000"]);
}

/// A scenario with a path of `forward` links and a reverse path of `back` links.
fn long_path(forward: usize, back: usize) -> Case {
    let names = |links: std::ops::Range<usize>| links.map(|link| format!("l{link}"));
    let path: Vec<String> = names(0..forward).collect();
    let reverse: Vec<String> = names(forward..forward + back).collect();
    let one = "congestion = 'reno', initial_window = 1, max_window = 1, send_jitter = 'none'";
    case("1 s")
        .each(names(0..forward + back), |case, name| {
            case.link(name, "100 Mbit/s, 10 us, 50 packets")
        })
        .flows("f", path.join(" "), format!("reverse_path = {reverse:?}, {one}, rtt = '20 ms'"))
}

/// Propagation takes 10 us per link. A packet of 1,500 bytes takes 120 us on each link of the path,
/// and an ACK of 40 bytes 3.2 us on each link of the reverse path; the rest of 20 ms is private.
#[test]
fn a_flow_and_its_acks_may_cross_255_links() {
    let run = long_path(130, 125).run();
    let expected = 20e-3 + 130.0 * 120e-6 + 125.0 * 3.2e-6;
    run.expect("flows.0.rtt_s_mean", near(expected, 1e-12)).expect("flows.0.timeouts", 0);
    assert!(run.summary.flows[0].goodput_bps > 0.0);
}

#[test]
fn more_than_255_links_are_refused() {
    let place = "line 258, flows.f.reverse_path";
    assert_refused(&long_path(130, 126).refusal(), place, &["shorten", "255"]);
    let mut network = long_path(130, 125).network();
    let first = network.groups[0].path[0];
    network.groups[0].reverse_path.push(first);
    let refusal = network.validate().expect_err("the paths are too long");
    assert_refused(&refusal.to_string(), "groups[0].reverse_path", &["shorten", "255"]);
}

/// A constant-rate source of 1000-byte packets over two links, the second at 1 Mbit/s.
fn constant(rate_bps: u64, first_link_bps: u64, stop_ms: u64, duration_ms: u64) -> Network {
    let link = |name, rate| networks::link(name, rate, Time::ZERO, Limit::Packets(1_000_000));
    let source = CbrParams::at_once(Rate::from_bits_per_second(rate_bps)).into();
    with!(
        Network::new(
            MS(duration_ms),
            vec![link("first", first_link_bps), link("second", 1_000_000)],
            vec![with!(
                networks::bulk("constant", transport::reno()),
                GroupSpec { path: vec![0, 1], source, stop: Some(MS(stop_ms)), tcp: None }
            )],
            networks::alike(1, Time::ZERO)
        ),
        Network {
            measure_from: Time::ZERO,
            seed: 1,
            ties: Ties::ByChance,
            series_interval: None,
            memory_limit_bytes: u64::MAX
        }
    )
}

fn assert_one_way_delay(network: &Network, expected: f64) {
    let delay = summary(network).flows[0].one_way_delay_s_mean.expect("packets arrive");
    assert!((delay / expected - 1.0).abs() < 1e-12, "{delay} s, not {expected} s");
}

/// 50 packets arrive 8 ms apart and leave the first link 8 s apart: packet i, counted from 1, after
/// 8 i s. Each leaves the second link 8 ms later.
#[test]
fn the_delay_of_a_packet_that_waits_for_minutes_is_exact() {
    let network = constant(1_000_000, 1_000, 400, 600_000);
    assert_one_way_delay(&network, 8.0 * 25.5 + 0.008 - 0.008 * 24.5);
}

/// A packet is sent every 100 ms for 10 s. The first link stops from 1 s to 301 s and then sends
/// the 90 packets that wait, one per 8 ms. Each of the packets before them takes 16 ms.
#[test]
fn the_delay_of_a_packet_is_exact_after_a_link_has_stopped_for_minutes() {
    let mut network = constant(80_000, 1_000_000, 10_000, 600_000);
    network.links[0].rate_changes = vec![
        RateChange::new(MS(1_000), Rate::from_bits_per_second(0)),
        RateChange::new(MS(301_000), Rate::from_bits_per_second(1_000_000)),
    ];
    let held = 300.0 + 0.008 * 45.5 + 0.008 - 0.1 * 44.5;
    assert_one_way_delay(&network, (10.0 * 0.016 + 90.0 * held) / 100.0);
}

/// Each packet takes 12,000 s, so the transmission of packet 1,538 would end beyond the largest
/// time in 64 bits of picoseconds. Only packet 0, which has not waited, begins in the run.
#[test]
fn times_do_not_overflow_in_a_queue_that_takes_centuries_to_drain() {
    let mut network = constant(12_000_000, 1, 3_000, 4_000);
    network.groups[0].packet_size = 1_500;
    let rate = Rate::from_bits_per_second(1);
    for changes in [vec![], vec![RateChange::new(Time::ZERO, rate)]] {
        network.links[0].rate_changes = changes;
        let summary = summary(&network);
        let link = &summary.links.0[0].1;
        assert_eq!((link.arrivals_packets, link.departures_packets), (3_000, 0));
        assert_eq!((link.drops_packets, link.utilization), (0, 1.0));
        assert_eq!(link.queue_delay_s_mean, Some(0.0));
        assert_eq!(summary.flows[0].one_way_delay_s_mean, None);
    }
}

/// The flows of a source that lets next to no time pass: no window grows. Answers that wait for their time
/// count, too.
#[test]
fn flows_that_arrive_too_fast_are_named_when_memory_is_used_up() {
    for source in [
        "kind = 'finite_flows', size = '1 kB', period = '1 ns'",
        "kind = 'incast', fan_in = 3, size = '1 kB', period = '1 ns'",
        "kind = 'incast', fan_in = 3, size = '1 kB', period = '1 ns', service_time = '1 s'",
    ] {
        let keys = format!("congestion = 'reno', source = {{ {source} }}");
        let message = error(&hungry(&keys)).to_string();
        assert!(message.contains("flows of flows.f are in progress"), "{message}");
        assert!(message.contains("lengthen the time between its flows"), "{message}");
        assert!(!message.contains("access_rate"), "{message}");
    }
}
