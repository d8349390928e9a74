//! Memory that cannot be lossless is reported before and after it loses, and memory without a warning loses
//! nothing.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tailroom_engine::network::Network;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::{Results, Warning, WarningKind};
use tailroom_engine::units::Time;

use crate::pauses::lossless;
use crate::support::case::{Case, Run, above, case, check, within};
use crate::support::paused_links::{STOPPED, count};
use crate::support::random_cases::config;
use crate::support::scenario_run::finish;
use crate::support::{networks, random_networks};

/// Two links to one switch, each with a port of its own that has stopped: xoff and headroom of 126 kB each.
fn two_links(xoff_kb: u64, headroom_kb: u64, ingress: &str) -> Case {
    let pause = format!("xoff = '{xoff_kb} kB', xon = '1 kB', headroom = '{headroom_kb} kB'");
    case("20 ms").each(["a", "b"], |case, name| {
        case.wire(format!("in-{name}"), 10.0, format!("pause = {{ {pause} }}, {ingress}"))
            .wire(format!("out-{name}"), 10.0, STOPPED)
            .packets(name, format!("in-{name} out-{name}"), ("cbr", 10.0))
    })
}

/// Sets a key of both ports.
fn with_ports(case: Case, key: &str, value: &str) -> Case {
    ["a", "b"]
        .into_iter()
        .fold(case, |case, name| case.set(format!("links.out-{name}.{key}"), value))
}

/// The drops of the ports, in packets.
fn drops(run: &Run) -> u64 {
    ["out-a", "out-b"].map(|name| run.link(name).drops_packets).iter().sum()
}

/// xoff + headroom = 126 kB each: 252 kB in all.
#[test]
fn a_pool_below_xoff_and_headroom_of_all_links_is_reported_before_and_after() {
    for (size, is_short) in [(130_000, true), (251_999, true), (252_000, false)] {
        let pool = format!("size = '{size} B', policy = 'complete_sharing'");
        let case = with_ports(two_links(100, 26, "").table("pools.p", pool), "pool", "p");
        let run = case.run();
        let short = run.warning(WarningKind::ShortPool);
        assert_eq!(short.map(|one| one.place.as_str()), is_short.then_some("pools.p.size"));
        let lost = run.warning(WarningKind::LosslessDrops);
        if let Some(short) = short {
            assert_eq!(count(short, "needed_bytes"), 252_000);
            assert_eq!(count(short, "size_bytes"), size);
        }
        if size == 130_000 {
            let lost = lost.expect("it is reported");
            assert!(lost.place.contains("links.out-a.pool"), "{lost:?}");
            assert_eq!(count(lost, "drops_packets"), drops(&run));
        } else {
            // What arrives is whole packets, and less than the headroom.
            assert_eq!((lost, drops(&run)), (None, 0));
        }
    }
}

#[test]
fn a_limit_below_xoff_and_headroom_is_reported_before_and_after() {
    for (limit, is_short) in [(101, true), (125, true), (126, false)] {
        let limit = format!("{limit} kB");
        let case = with_ports(two_links(100, 26, ""), "queue.limit", &limit);
        let run = case.set("links.in-b.queue.limit", &limit).run();
        let short = run.warning(WarningKind::ShortLimit);
        assert_eq!(short.is_some(), is_short, "{limit}");
        if let Some(short) = short {
            assert!(short.place.contains("links.out-b.queue.limit"), "{short:?}");
            assert_eq!(count(short, "needed_bytes"), 126_000);
        }
    }
    let limited = |case: Case, name| case.set(format!("links.{name}.queue.limit"), "101 kB");
    let run = two_links(100, 26, "").each(["in-a", "out-a", "in-b", "out-b"], limited).run();
    let lost = run.warning(WarningKind::LosslessDrops).expect("it is reported");
    assert_eq!(lost.place, "links.out-a.queue.limit, links.out-b.queue.limit");
    assert_eq!(count(lost, "drops_packets"), drops(&run));
    assert!(drops(&run) > 0);
}

/// A headroom of 3 kB: the drops are those of the links whose headroom it is.
#[test]
fn drops_for_want_of_headroom_name_the_headroom() {
    let run = two_links(100, 3, "").run();
    let lost = run.warning(WarningKind::LosslessDrops).expect("it is reported");
    assert_eq!(lost.place, "links.in-a.pause.headroom, links.in-b.pause.headroom");
    let ports = ["out-a", "out-b"].map(|name| run.link(name).by_reason.drops_headroom_packets);
    assert_eq!(count(lost, "drops_packets"), ports.iter().sum::<u64>());
}

/// A discipline that drops instead of marking.
#[test]
fn drops_of_a_discipline_are_reported() {
    let red = "{ kind = 'wred', limit = '400 kB', k_min = '5 kB', k_max = '9 kB', p_max = 1.0 }";
    let run = two_links(100, 26, "").set("links.out-a.queue", red).run();
    let lost = run.warning(WarningKind::LosslessDrops).expect("it is reported");
    assert_eq!(lost.place, "links.out-a.queue");
    run.expect("links.out-a.drops_early_packets", above(0.0));
}

const INGRESS: &str = "ingress = { pool = 'm', alpha = 0.5 }";

/// Two links at their thresholds one after the other: alpha / (1 + alpha) of 100 kB, and of the rest.
#[test]
fn ingresses_that_are_filled_one_after_the_other_hold_the_most() {
    let size = 100_000.0;
    let alpha = 0.5;
    let [first, second] = [size * alpha / (1.0 + alpha), size * alpha / (1.0_f64 + alpha).powi(2)];
    let needed = 2 * (5_000 + 26_000) + (first + second).ceil() as u64;
    let memory = two_links(5, 26, INGRESS)
        .table("pools.p", "size = '60 kB', policy = 'complete_sharing'")
        .table("ingress_pools.m", "size = '100 kB'");
    let run = with_ports(memory, "pool", "p").run();
    let short = run.warning(WarningKind::ShortPool).expect("it is reported");
    assert_eq!(count(short, "needed_bytes"), needed);
}

/// The threshold is 5 kB + 0.5 x 100 kB = 55 kB at most.
#[test]
fn an_xon_offset_that_never_binds_is_reported() {
    for (offset, is_unused) in [(53_999, false), (54_000, true), (60_000, true), (0, false)] {
        let ingress = format!("ingress = {{ pool = 'm', alpha = 0.5, xon_offset = '{offset} B' }}");
        let run = two_links(5, 26, &ingress).table("ingress_pools.m", "size = '100 kB'").run();
        let unused = run.warning(WarningKind::UnusedXonOffset);
        assert_eq!(unused.is_some(), is_unused, "{offset}");
        if let Some(unused) = unused {
            assert_eq!(
                unused.place,
                "links.in-a.ingress.xon_offset, links.in-b.ingress.xon_offset"
            );
            assert_eq!(count(unused, "threshold_bytes"), 55_000);
        }
    }
}

#[test]
fn headroom_that_is_part_of_a_smaller_pool_is_reported() {
    for (size, is_above) in [(25_999, true), (26_000, false)] {
        let pool = format!("size = '{size} B', includes_headroom = true");
        let run = two_links(100, 26, INGRESS).table("ingress_pools.m", pool).run();
        let above = run.warning(WarningKind::HeadroomAbovePool);
        assert_eq!(above.is_some(), is_above, "{size}");
        if let Some(above) = above {
            assert_eq!(above.place, "links.in-a.pause.headroom, links.in-b.pause.headroom");
            assert_eq!(count(above, "headroom_bytes"), 26_000);
        }
    }
}

/// The switch lets the sender resume when its last packet has left the queue. That packet takes 1.6 us at 5
/// Gbit/s, and the next comes after the delay there and back, a pause frame, 60 quanta and 0.8 us: the port
/// is idle for the difference in each pause. With 5 kB, which take 8 us, it is never idle.
#[test]
fn an_xon_of_zero_resumes_when_all_has_left() {
    let away = 2e-6 + (84.0 + 60.0 * 64.0) * 8.0 / 10e9 + 0.8e-6;
    for (xon, idle) in [("0 B", away - 1.6e-6), ("5 kB", 0.0)] {
        let pause = format!("pause = {{ xoff = '10 kB', xon = '{xon}', headroom = '20 kB' }}");
        let run = case("60 ms from 20 ms")
            .wire("fast", 10.0, pause)
            .wire("slow", 5.0, "")
            .packets("f", "fast slow", ("cbr", 10.0))
            .run();
        run.expect("links.slow.drops_packets", 0).expect("links.fast.pause_frames", above(100.0));
        let frames = run.get("links.fast.pause_frames");
        let found = (1.0 - run.get("links.slow.utilization")) * 40e-3 / frames;
        // A pause at an edge of the window may count in part.
        let bound = idle / frames + 1e-12;
        check(format!("xon of {xon}"), found, within(idle - bound..=idle + bound));
    }
}

/// Two links, the second behind the first, for all paths of packets and of ACKs.
fn pairs(network: &Network) -> impl Iterator<Item = &[usize]> {
    let paths = network.groups.iter().flat_map(|group| [&group.path, &group.reverse_path]);
    paths.flat_map(|path| path.windows(2))
}

/// The links that packets reach over links with pause frames alone.
fn lossless_ports(network: &Network) -> Vec<usize> {
    let paths = network.groups.iter().flat_map(|group| [&group.path, &group.reverse_path]);
    let mut open: BTreeSet<usize> = paths.filter_map(|path| path.first().copied()).collect();
    let is_open = |pair: &&[usize]| network.links[pair[0]].pause.is_none();
    open.extend(pairs(network).filter(is_open).map(|pair| pair[1]));
    let is_behind = network.behind_pauses();
    (0..network.links.len()).filter(|link| is_behind[*link] && !open.contains(link)).collect()
}

/// The largest xoff of the links that lead to a link.
fn most_xoff(network: &Network, next: usize) -> u64 {
    let leading = pairs(network).filter(|pair| pair[1] == next);
    let pauses = leading.filter_map(|pair| network.links[pair[0]].pause);
    pauses.map(|pause| pause.xoff.bytes()).max().expect("a link with pause frames leads there")
}

fn dropped(results: &Results) -> u64 {
    let of = |warning: &&Warning| warning.kind == WarningKind::LosslessDrops;
    let warnings = results.summary.warnings.iter().filter(of);
    warnings.map(|warning| count(warning, "drops_packets")).sum()
}

fn short_limit(results: &Results) -> Option<&Warning> {
    results.summary.warnings.iter().find(|warning| warning.kind == WarningKind::ShortLimit)
}

proptest! {
    #![proptest_config(config(60))]

    /// Whatever drops packets: the discipline, the policer, the pool or the headroom. The other links behind
    /// pauses also drop packets that came another way.
    #[test]
    fn every_drop_of_a_lossless_packet_is_reported(network in random_networks::network_with_lines()) {
        let mut network = network;
        network.measure_from = Time::ZERO;
        let ports = lossless_ports(&network);
        let results = finish(&network);
        let drops = |link: usize| results.summary.links.0[link].1.drops_packets;
        let behind = network.behind_pauses();
        let most: u64 = (0..behind.len()).filter(|link| behind[*link]).map(drops).sum();
        let least: u64 = ports.iter().map(|link| drops(*link)).sum();
        let reported = dropped(&results);
        prop_assert!(least <= reported && reported <= most, "{least} {reported} {most}");
    }

    /// A limit that is as large as the warning asks.
    #[test]
    fn a_limit_without_a_warning_loses_nothing(network in random_networks::network_with_lines()) {
        let network = lossless(network);
        let port = lossless_ports(&network).first().copied();
        prop_assume!(port.is_some());
        let port = port.expect("assumed above");
        let with_limit = |bytes| {
            let mut network = network.clone();
            network.links[port].queue = networks::drop_tail(Limit::Bytes(bytes));
            finish(&network)
        };
        let short = with_limit(most_xoff(&network, port));
        let told = short_limit(&short).expect("there is no room for headroom");
        let needed = count(told, "needed_bytes");
        let enough = with_limit(needed);
        prop_assert!(short_limit(&enough).is_none());
        prop_assert_eq!(dropped(&enough), 0);
        let less = with_limit(needed - 1);
        prop_assert!(short_limit(&less).is_some());
    }
}
