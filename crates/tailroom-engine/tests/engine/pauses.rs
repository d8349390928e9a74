//! Pause frames: throughput, head-of-line blocking, deadlock and headroom against closed forms.

use proptest::prelude::*;
use tailroom_engine::link::serializer::Serializer;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::Network;
use tailroom_engine::quantity::Size;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::{LinkSummary, Results, Warning, WarningKind};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::units::{Rate, Time};

use crate::support::paused_links::{PAUSE, stream, value, warning, wire};
use crate::support::random_cases::config;
use crate::support::scenario_run::run;
use crate::support::summaries::link;
use crate::support::{networks, random_networks};

/// A value that is a number of links.
fn count(warning: &Warning, name: &str) -> u64 {
    value(warning, name) as u64
}

/// The paused link carries what the slower one does: it is open for that share of the time, but for the
/// rest of a packet at each pause, and for what waits between the two at the edges of the window.
#[test]
fn a_paused_link_has_the_throughput_of_the_slower_one_and_loses_nothing() {
    for slow in [0.5, 2.5, 9.0] {
        let text = format!(
            "duration = \"60 ms\"\nmeasure_from = \"20 ms\"\n{}{}{}",
            wire("fast", 10.0, PAUSE),
            wire("slow", slow, ""),
            stream("f", "[\"fast\", \"slow\"]", "cbr", 10.0)
        );
        let results = run(&text, 1);
        let [fast, slow_link] = ["fast", "slow"].map(|name| link(&results.summary, name));
        assert_eq!(slow_link.drops_packets, 0);
        assert!(slow_link.utilization > 0.999_999, "{slow}: {}", slow_link.utilization);
        let carried = 10e9 * 40e-3 / 8.0;
        let edge = fast.ingress_bytes_max.expect("it is measured") / carried;
        assert!((fast.utilization - slow / 10.0).abs() <= edge, "{slow}: {}", fast.utilization);
        let frames = fast.pause_frames.expect("it is measured");
        let rests = frames as f64 * 1_000.0 / carried;
        let paused = fast.paused_fraction.expect("it is measured");
        let expected = 1.0 - slow / 10.0;
        assert!(frames > 10, "{frames}");
        assert!((paused - expected).abs() <= edge + rests, "{slow}: {paused}, {frames} frames");
    }
}

/// The packets of 1,000 B that left a link within 0.4 s, in Gbit/s.
fn carried(results: &Results, name: &str) -> f64 {
    link(&results.summary, name).departures_packets as f64 * 8e-6 / 0.4
}

/// Two streams of packets share a link, and then one of them a slow link. The shared link is paused for
/// the slow one, and serves first come, first served: each stream passes in proportion to what it
/// offers, as all find the same full queue, so that the other gets that multiple of the slow link's
/// rate. The bound is four standard deviations of the packets of one stream between 50,000 of the
/// other.
///
/// The port of the other is blocked for as long as the shared link, always full, is stopped: all the time
/// but what it takes to carry both. When the link stops, the port is still busy for at most a
/// transmission, the delay, and another transmission, of 0.8, 1, and 0.8 us.
#[test]
fn a_victim_behind_a_paused_port_has_the_share_of_its_offers() {
    for (hot, victim) in [(8.0, 8.0), (5.0, 10.0), (9.0, 3.0)] {
        let paused = |keys: &str| {
            format!(
                "duration = \"420 ms\"\nmeasure_from = \"20 ms\"\n{}{}{}{}{}",
                wire("trunk", 10.0, keys),
                wire("slow", 1.0, ""),
                wire("idle", 10.0, ""),
                stream("hot", "[\"trunk\", \"slow\"]", "poisson", hot),
                stream("victim", "[\"trunk\", \"idle\"]", "poisson", victim)
            )
        };
        let results = run(&paused(PAUSE), 1);
        assert_eq!(link(&results.summary, "slow").drops_packets, 0);
        let [slow, found] = ["slow", "idle"].map(|name| carried(&results, name));
        let (packets, ratio) = (50_000.0, victim / hot);
        let bound = 4.0 * (ratio * (1.0 + ratio) / packets).sqrt();
        assert!((slow - 1.0).abs() < 0.002, "{slow}");
        assert!((found - ratio).abs() < bound, "{found}, expected {ratio} within {bound}");
        let blocked = |name: &str| link(&results.summary, name).blocked_fraction;
        let (expected, frames) = (1.0 - (1.0 + ratio) / 10.0, link(&results.summary, "trunk"));
        let edges = frames.pause_frames.expect("it is measured") as f64 * 2.6e-6 / 0.4;
        let (idle, bound) = (blocked("idle").expect("it is measured"), bound / 10.0 + edges);
        assert!((idle - expected).abs() < bound, "{idle}, expected {expected} within {bound}");
        // The queue of the slow port never runs dry, and nothing can stop what leads to the trunk.
        assert_eq!((blocked("slow"), blocked("trunk")), (Some(0.0), None));
        // Without pause frames the victim has its share of the shared link.
        let lossy = run(&paused(""), 1);
        let expected = 10.0 * victim / (hot + victim);
        let free = carried(&lossy, "idle");
        assert!((free / expected - 1.0).abs() < 0.01, "{free}, expected {expected}");
        assert!(link(&lossy.summary, "slow").drops_packets > 0);
        assert_eq!(link(&lossy.summary, "idle").blocked_fraction, None);
    }
}

/// The traffic classes of a port share its line, and a pause stops one of them. A victim in the class of
/// the slow port has the share of its offers, and one in another class has all that it offers, or the
/// rest of the line. The bounds are four standard deviations of its own packets, and of the packets of
/// one stream of the paused class between 50,000 of the other.
#[test]
fn a_victim_in_another_class_has_what_the_paused_class_leaves() {
    for (offered, expected) in [(6.0, 6.0), (10.0, 8.0)] {
        let line = |name: &str| format!("line = {{ name = \"{name}\" }}");
        let text = [
            "duration = \"420 ms\"\nmeasure_from = \"20 ms\"\n".to_owned(),
            wire("lossless", 10.0, &format!("{PAUSE}\n{}", line("trunk"))),
            wire("lossy", 10.0, &line("trunk")),
            wire("slow", 1.0, ""),
            wire("idle-lossless", 10.0, &line("idle")),
            wire("idle-lossy", 10.0, &line("idle")),
            stream("hot", "[\"lossless\", \"slow\"]", "poisson", 8.0),
            stream("same", "[\"lossless\", \"idle-lossless\"]", "poisson", 8.0),
            stream("other", "[\"lossy\", \"idle-lossy\"]", "poisson", offered),
        ];
        let results = run(&text.concat(), 1);
        let [slow, same, other] =
            ["slow", "idle-lossless", "idle-lossy"].map(|name| carried(&results, name));
        let bound = 4.0 * (2.0_f64 / 50_000.0).sqrt();
        assert!((slow - 1.0).abs() < 0.002, "{slow}");
        assert!((same - 1.0).abs() < bound, "{same}");
        let own = 4.0 * (expected * 8e-6 / 0.4_f64).sqrt();
        assert!((other - expected).abs() < own + bound, "{other}, expected {expected}");
        let [paused, free] = ["lossless", "lossy"].map(|name| link(&results.summary, name));
        assert!(paused.pause_frames > Some(100));
        assert_eq!((free.pause_frames, free.paused_fraction), (None, None));
        let drops = |name: &str| link(&results.summary, name).drops_packets;
        assert_eq!((drops("slow"), drops("idle-lossless"), drops("idle-lossy")), (0, 0, 0));
    }
}

/// Three switches in a ring, and streams that cross two of its links each.
fn ring(streams: &[[usize; 2]]) -> String {
    let mut text = "duration = \"40 ms\"\nmeasure_from = \"20 ms\"\n".to_owned();
    for index in 0..3 {
        let leads_on = streams.iter().any(|[first, _]| *first == index);
        text += &wire(&format!("l{index}"), 10.0, if leads_on { PAUSE } else { "" });
    }
    for (index, [first, second]) in streams.iter().enumerate() {
        let path = format!("[\"l{first}\", \"l{second}\"]");
        text += &stream(&format!("f{index}"), &path, "cbr", 10.0);
    }
    text
}

/// The buffer dependencies of three links form a cycle, and load above capacity closes it (the
/// standard example, as in Guo et al. 2016, section 4.2).
#[test]
fn a_circular_dependency_of_three_switches_deadlocks_and_is_reported() {
    let results = run(&ring(&[[0, 1], [1, 2], [2, 0]]), 1);
    let deadlock = warning(&results, WarningKind::PauseDeadlock).expect("it is reported");
    assert_eq!(deadlock.place, "links.l0, links.l1, links.l2");
    assert_eq!(count(deadlock, "cycle_links"), 3);
    assert_eq!(count(deadlock, "stuck_links"), 3);
    assert!(value(deadlock, "since_s") < 0.02);
    for name in ["l0", "l1", "l2"] {
        let LinkSummary { departures_packets, paused_fraction, pause_s_max, .. } =
            link(&results.summary, name);
        assert_eq!((*departures_packets, *paused_fraction), (0, Some(1.0)), "{name}");
        assert_eq!(*pause_s_max, Some(0.02), "{name}");
    }
}

#[test]
fn without_the_cycle_nothing_stands_still() {
    for streams in [&[[0, 1], [1, 2]][..], &[[0, 1]]] {
        let results = run(&ring(streams), 1);
        assert_eq!(warning(&results, WarningKind::PauseDeadlock), None);
        let last = streams.len();
        assert!(link(&results.summary, &format!("l{last}")).utilization > 0.99);
    }
}

/// A link that waits for a deadlock stands still too, and is no part of the cycle.
#[test]
fn links_that_wait_for_a_deadlock_are_counted() {
    let mut text = ring(&[[0, 1], [1, 2], [2, 0]]);
    text += &wire("in", 10.0, PAUSE);
    text += &stream("more", "[\"in\", \"l1\"]", "cbr", 10.0);
    let results = run(&text, 1);
    let deadlock = warning(&results, WarningKind::PauseDeadlock).expect("it is reported");
    assert_eq!(deadlock.place, "links.l0, links.l1, links.l2");
    assert_eq!(count(deadlock, "stuck_links"), 4);
}

/// A busy link whose packets nothing serves any more behind it.
fn stopped(speed_gigabits: f64, delay: &str, headroom: u64) -> String {
    format!(
        "duration = \"2 ms\"
        [links.port]
        rate = \"{speed_gigabits} Gbit/s\"
        delay = \"{delay}\"
        queue = {{ kind = \"drop_tail\", limit = \"100 MB\" }}
        pause = {{ xoff = \"15001 B\", xon = \"1 B\", headroom = \"{headroom} B\" }}
        [links.next]
        rate = \"1 Gbit/s\"
        delay = \"0 s\"
        queue = {{ kind = \"drop_tail\", limit = \"100 MB\" }}
        changes = [{{ at = \"0 s\", rate = \"0 bit/s\" }}]
        [flows.f]
        path = [\"port\", \"next\"]
        source = {{ kind = \"cbr\", rate = \"{speed_gigabits} Gbit/s\" }}\n"
    )
}

/// Cable both ways, pause frame, response, a packet just begun, and all but a byte of the packet that crosses
/// the threshold: 2 d C + 84 B + quanta x 64 B + L + L - 1. The quanta are those of IEEE 802.3, 31B.3.7.
#[test]
fn the_headroom_of_the_standard_is_enough_and_a_packet_less_is_not() {
    for (speed, quanta, delay, meters) in [
        (10.0, 60.0, "500 ns", 100.0),
        (25.0, 80.0, "50 ns", 10.0),
        (40.0, 118.0, "1500 ns", 300.0),
        (100.0, 394.0, "15 ns", 3.0),
        (400.0, 905.0, "10 us", 2_000.0),
    ] {
        let on_the_way = 2.0 * meters * 5e-9 * speed * 1e9 / 8.0 + 84.0 + quanta * 64.0;
        let needed = (on_the_way + 1_500.0 + 1_499.0) as u64;
        let results = run(&stopped(speed, delay, needed), 1);
        let [port, next] = ["port", "next"].map(|name| link(&results.summary, name));
        let peak = port.headroom_bytes_max.expect("it is measured");
        assert_eq!(next.drops_packets, 0, "{speed}");
        assert_eq!(peak as u64, (on_the_way / 1_500.0).ceil() as u64 * 1_500 + 1_499, "{speed}");
        assert_eq!(warning(&results, WarningKind::ShortHeadroom), None);
        let results = run(&stopped(speed, delay, needed - 1_501), 1);
        let next = link(&results.summary, "next");
        assert_eq!((next.by_reason.drops_headroom_packets, next.drops_packets), (1, 1), "{speed}");
        let short = warning(&results, WarningKind::ShortHeadroom).expect("it is reported");
        assert!((value(short, "needed_bytes") - needed as f64).abs() <= 1.0, "{short:?}");
    }
}

/// A link that changes needs what it would need if it had its highest rate and its longest delay throughout.
#[test]
fn headroom_is_judged_by_the_highest_rate_and_the_longest_delay() {
    let needed = |text: &str| {
        let results = run(text, 1);
        let short = warning(&results, WarningKind::ShortHeadroom).expect("it is reported");
        value(short, "needed_bytes") as u64
    };
    let changed = |at_first: &str, change: &str| {
        let text = stopped(10.0, "50 ns", 100);
        let (key, _) = at_first.split_once(" = ").expect("it is a key");
        let line = text.lines().find(|line| line.trim().starts_with(key)).expect("it is there");
        let lines = format!("{at_first}\nchanges = [{{ at = \"100 us\", {change} }}]");
        text.replacen(line, &lines, 1)
    };
    let faster = changed("rate = \"1 Gbit/s\"", "rate = \"10 Gbit/s\"");
    assert_eq!(needed(&faster), needed(&stopped(10.0, "50 ns", 100)));
    let longer = changed("delay = \"50 ns\"", "delay = \"500 ns\"");
    assert_eq!(needed(&longer), needed(&stopped(10.0, "500 ns", 100)));
}

/// A busy link of 10 Gbit/s and 100 m, whose pause frames travel over `back`, on whose line 9,000 B packets
/// follow one another, the first of them at `phase`: packets of `back` itself, or of another class.
fn behind(headroom: u64, phase: &str, sender: &str) -> String {
    let keys = r#"
        rate = "10 Gbit/s"
        delay = "500 ns"
        queue = { kind = "drop_tail", limit = "100 MB" }
        line = { name = "back" }"#;
    let port = stopped(10.0, "500 ns", headroom)
        .replace("[links.next]", "pause_frames_over = \"back\"\n[links.next]")
        .replace("source = { kind = \"cbr\",", "source = { kind = \"cbr\", phase = \"0 s\",");
    format!(
        "{port}
        [links.back]{keys}
        [links.other]{keys}
        [flows.back]
        path = [\"{sender}\"]
        packet_size = \"9000 B\"
        source = {{ kind = \"cbr\", rate = \"10 Gbit/s\", phase = \"{phase}\" }}\n"
    )
}

/// The first packet of 1,500 B does not wait, so that the twelfth crosses the threshold when it has arrived,
/// after 12 x 1.2 us + 0.5 us = 14.9 us. Packets of the other direction take 7.2 us: the pause frame waits until the one ends that began
/// last. In the worst case it has just begun, and the headroom is that of the formula with a largest frame
/// that the switch has just begun.
#[test]
fn a_pause_frame_waits_for_the_packet_of_the_other_direction() {
    let on_the_way: f64 = 2.0 * 625.0 + 84.0 + 60.0 * 64.0;
    for sender in ["back", "other"] {
        for (phase, wait_us) in
            [("1200 ns", 0.7), ("600 ns", 0.1), ("400 ns", 7.1), ("499999 ps", 7.2)]
        {
            let packets = ((on_the_way + wait_us * 1_250.0) / 1_500.0).ceil() as u64;
            let arrived = packets * 1_500 + 1_499;
            for (headroom, drops) in [(arrived, 0), (arrived - 1_500, 1)] {
                let results = run(&behind(headroom, phase, sender), 1);
                let [port, next] = ["port", "next"].map(|name| link(&results.summary, name));
                assert_eq!(next.drops_packets, drops, "{sender}, {phase}, {headroom} B");
                assert_eq!(port.headroom_bytes_max, Some((arrived - 1_500 * drops) as f64));
            }
        }
    }
    let needed = (on_the_way + 9_000.0 + 1_500.0 + 1_499.0) as u64;
    for (headroom, is_short) in [(needed, false), (needed - 1, true)] {
        let results = run(&behind(headroom, "0 s", "other"), 1);
        let short = warning(&results, WarningKind::ShortHeadroom);
        assert_eq!(short.is_some(), is_short, "{headroom} B");
        assert!(short.is_none_or(|short| short.text.contains("behind a packet of the other")));
    }
}

/// In a switch, the link of the other direction is that between the same two nodes.
#[test]
fn the_pause_frames_of_a_switch_wait_for_what_it_sends_to_the_same_host() {
    let text = |keys: &str| {
        format!(
            "duration = \"2 ms\"
            [switches.s]
            hosts = 3
            rate = \"10 Gbit/s\"
            delay = \"500 ns\"
            queue = {{ kind = \"drop_tail\", limit = \"10 MB\" }}
            pause = {{ xoff = \"30 kB\", xon = \"10 kB\", headroom = \"60 kB\" }}
            {keys}
            [flows.f]
            from = [\"s.h0\", \"s.h1\"]
            to = \"s.h2\"
            pairs = \"all\"
            packet_size = \"9000 B\"
            source = {{ kind = \"cbr\", rate = \"8 Gbit/s\" }}
            [flows.back]
            from = \"s.h2\"
            to = \"s.h0\"
            packet_size = \"9000 B\"
            source = {{ kind = \"cbr\", rate = \"9.9 Gbit/s\" }}\n"
        )
    };
    let ingress = |keys: &str, host: &str| {
        let results = run(&text(keys), 1);
        let most = link(&results.summary, &format!("s-{host}-switch")).ingress_bytes_max;
        most.expect("it is measured") as u64
    };
    assert!(ingress("pause_frames_wait = true", "h0") > ingress("", "h0"));
    assert_eq!(ingress("pause_frames_wait = true", "h1"), ingress("", "h1"));
}

#[test]
fn a_next_queue_that_is_full_before_the_pause_is_reported() {
    for (xoff, is_short) in [("500 kB", true), ("60 kB", false)] {
        let keys = format!("pause = {{ xoff = \"{xoff}\", xon = \"1 B\", headroom = \"20 kB\" }}");
        let text = format!(
            "duration = \"60 ms\"\n{}{}{}",
            wire("fast", 10.0, &keys),
            wire("slow", 1.0, ""),
            stream("f", "[\"fast\", \"slow\"]", "cbr", 10.0)
        );
        let results = run(&text, 1);
        let short = warning(&results, WarningKind::ShortLimit).map(|one| one.place.as_str());
        assert_eq!(short, is_short.then_some("links.slow.queue.limit"));
        assert_eq!(link(&results.summary, "slow").drops_packets > 0, is_short);
    }
}

/// The same links, whose headroom is the least that is enough; without what else drops packets or lengthens
/// the delay. The sources stop after half a second.
pub(crate) fn lossless(mut network: Network) -> Network {
    let packets: Vec<u32> = network.link_facts().iter().map(|link| link.packet_bytes).collect();
    let largest_of_all = packets.iter().copied().max().unwrap_or(0);
    for (link, largest) in network.links.iter_mut().zip(packets) {
        link.queue = networks::drop_tail(Limit::Bytes(1_000_000_000));
        (link.pool, link.policer, link.jitter) = (None, None, None);
        (link.admission, link.arrival_log) = (None, None);
        (link.loss, link.delay_changes) = (LossSpec::None, Vec::new());
        if let Some(pause) = &mut link.pause {
            // All links share a line.
            let wait = Serializer::constant(link.rate).nominal_time(largest_of_all);
            let waits = link.pause_frames_over.map_or(Time::ZERO, |_| wait);
            let needed = pause.least_headroom_bytes(link.rate, link.delay, largest, waits);
            pause.headroom = Size::new(needed);
        } else {
            link.ingress = None; // without pause frames, it drops
        }
    }
    for pool in &mut network.ingress_pools {
        (pool.headroom, pool.includes_headroom) = (None, false);
    }
    network.pools = Vec::new();
    for group in &mut network.groups {
        (group.tcp, group.reverse_path) = (None, Vec::new());
        group.loss_priority = 0;
        group.source = CbrParams::at_once(Rate::from_bits_per_second(800_000)).into();
        (group.stop, group.send_jitter) = (Some(Time::from_milliseconds(501)), None);
    }
    // Without a reverse path, the links of the path count there and back.
    for flow in &mut network.flows {
        let path = &network.groups[flow.group].path;
        let one_way = path.iter().map(|&link| network.links[link].delay.picoseconds()).sum::<u64>();
        flow.rtt = flow.rtt.max(Time::from_picoseconds(2 * one_way));
    }
    network.duration = Time::from_seconds(300.0);
    (network.measure_from, network.series_interval) = (Time::ZERO, None);
    network
}

proptest! {
    #![proptest_config(config(60))]

    /// With pauses, thresholds that move, and links that share a line. Either all packets leave, or some of
    /// them wait for ever, and then the deadlock is reported.
    #[test]
    fn headroom_of_the_formula_loses_nothing_and_what_stands_still_is_reported(
        network in random_networks::network_with_lines()
    ) {
        let network = lossless(network);
        let mut simulation = Simulation::new(&network).expect("the network is valid");
        simulation.run_until(network.duration).expect("the run fits in memory");
        let results = simulation.finish().expect("the account of packets balances");
        let links = || results.summary.links.0.iter();
        for (name, link) in links() {
            prop_assert_eq!(link.drops_packets, 0, "{}", name);
        }
        let is_stuck = links().any(|(_, link)| link.departures_packets < link.arrivals_packets);
        let is_reported = warning(&results, WarningKind::PauseDeadlock).is_some();
        prop_assert_eq!(is_stuck, is_reported);
    }
}
