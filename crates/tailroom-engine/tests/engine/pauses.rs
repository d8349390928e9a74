//! Pause frames: throughput, head-of-line blocking, deadlock and headroom against closed forms.

use proptest::prelude::*;
use tailroom_engine::link::serializer::Serializer;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::Network;
use tailroom_engine::quantity::Size;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::WarningKind;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::units::{Rate, Time};

use crate::support::case::{Case, NULL, Run, above, below, case, check, close, near, within};
use crate::support::paused_links::{PAUSE, STOPPED, count, value};
use crate::support::random_cases::config;
use crate::support::{networks, random_networks};

/// The paused link carries what the slower one does: it is open for that share of the time, but for the
/// rest of a packet at each pause, and for what waits between the two at the edges of the window.
#[test]
fn a_paused_link_has_the_throughput_of_the_slower_one_and_loses_nothing() {
    for slow in [0.5, 2.5, 9.0] {
        let run = case("60 ms from 20 ms")
            .wire("fast", 10.0, PAUSE)
            .wire("slow", slow, "")
            .packets("f", "fast slow", ("cbr", 10.0))
            .run();
        let carried = 10e9 * 40e-3 / 8.0;
        let edge = run.get("links.fast.ingress_bytes_max") / carried;
        let rests = run.get("links.fast.pause_frames") * 1_000.0 / carried;
        let (open, shut) = (slow / 10.0, 1.0 - slow / 10.0);
        run.expect("links.slow.drops_packets", 0)
            .expect("links.slow.utilization", above(0.999_999))
            .expect("links.fast.utilization", within(open - edge..=open + edge))
            .expect("links.fast.pause_frames", above(10.0))
            .expect(
                "links.fast.paused_fraction",
                within(shut - edge - rests..=shut + edge + rests),
            );
    }
}

/// The packets of 1,000 B that left a link within 0.4 s, in Gbit/s.
fn carried(run: &Run, name: &str) -> f64 {
    run.link(name).departures_packets as f64 * 8e-6 / 0.4
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
            case("420 ms from 20 ms")
                .wire("trunk", 10.0, keys)
                .wire("slow", 1.0, "")
                .wire("idle", 10.0, "")
                .packets("hot", "trunk slow", ("poisson", hot))
                .packets("victim", "trunk idle", ("poisson", victim))
                .run()
        };
        let run = paused(PAUSE);
        let (packets, ratio) = (50_000.0, victim / hot);
        let bound = 4.0 * (ratio * (1.0 + ratio) / packets).sqrt();
        check("slow", carried(&run, "slow"), near(1.0, 0.002));
        check("idle", carried(&run, "idle"), near(ratio, bound));
        let edges = run.get("links.trunk.pause_frames") * 2.6e-6 / 0.4;
        let blocked = near(1.0 - (1.0 + ratio) / 10.0, bound / 10.0 + edges);
        run.expect("links.slow.drops_packets", 0)
            .expect("links.idle.blocked_fraction", blocked)
            // The queue of the slow port never runs dry, and nothing can stop what leads to the trunk.
            .expect("links.slow.blocked_fraction", 0)
            .expect("links.trunk.blocked_fraction", NULL);
        // Without pause frames the victim has its share of the shared link.
        let lossy = paused("");
        check("lossy", carried(&lossy, "idle"), close(10.0 * victim / (hot + victim), 0.01));
        lossy
            .expect("links.slow.drops_packets", above(0.0))
            .expect("links.idle.blocked_fraction", NULL);
    }
}

/// The traffic classes of a port share its line, and a pause stops one of them. A victim in the class of
/// the slow port has the share of its offers, and one in another class has all that it offers, or the
/// rest of the line. The bounds are four standard deviations of its own packets, and of the packets of
/// one stream of the paused class between 50,000 of the other.
#[test]
fn a_victim_in_another_class_has_what_the_paused_class_leaves() {
    for (offered, expected) in [(6.0, 6.0), (10.0, 8.0)] {
        let of_trunk = "line = { name = 'trunk' }";
        let run = case("420 ms from 20 ms")
            .wire("lossless", 10.0, format!("{PAUSE}, {of_trunk}"))
            .wire("lossy", 10.0, of_trunk)
            .wire("slow", 1.0, "")
            .wire("idle-lossless", 10.0, "line = { name = 'idle' }")
            .wire("idle-lossy", 10.0, "line = { name = 'idle' }")
            .packets("hot", "lossless slow", ("poisson", 8.0))
            .packets("same", "lossless idle-lossless", ("poisson", 8.0))
            .packets("other", "lossy idle-lossy", ("poisson", offered))
            .run();
        let bound = 4.0 * (2.0_f64 / 50_000.0).sqrt();
        let own = 4.0 * (expected * 8e-6 / 0.4_f64).sqrt();
        check("slow", carried(&run, "slow"), near(1.0, 0.002));
        check("same", carried(&run, "idle-lossless"), near(1.0, bound));
        check("other", carried(&run, "idle-lossy"), near(expected, own + bound));
        run.expect("links.lossless.pause_frames", above(100.0))
            .expect("links.lossy.pause_frames", NULL)
            .expect("links.lossy.paused_fraction", NULL);
        for name in ["slow", "idle-lossless", "idle-lossy"] {
            run.expect(&format!("links.{name}.drops_packets"), 0);
        }
    }
}

/// Three switches in a ring, and streams that cross two of its links each.
fn ring(streams: &[[usize; 2]]) -> Case {
    let link = |case: Case, index: usize| {
        let leads_on = streams.iter().any(|[first, _]| *first == index);
        case.wire(format!("l{index}"), 10.0, if leads_on { PAUSE } else { "" })
    };
    let stream = |case: Case, (index, [first, second]): (usize, &[usize; 2])| {
        case.packets(format!("f{index}"), format!("l{first} l{second}"), ("cbr", 10.0))
    };
    case("40 ms from 20 ms").each(0..3, link).each(streams.iter().enumerate(), stream)
}

/// The buffer dependencies of three links form a cycle, and load above capacity closes it (the
/// standard example, as in Guo et al. 2016, section 4.2).
#[test]
fn a_circular_dependency_of_three_switches_deadlocks_and_is_reported() {
    let run = ring(&[[0, 1], [1, 2], [2, 0]]).run();
    let deadlock = run.warning(WarningKind::PauseDeadlock).expect("it is reported");
    assert_eq!(deadlock.place, "links.l0, links.l1, links.l2");
    assert_eq!((count(deadlock, "cycle_links"), count(deadlock, "stuck_links")), (3, 3));
    check("since", value(deadlock, "since_s"), below(0.02));
    for name in ["l0", "l1", "l2"] {
        run.expect(&format!("links.{name}.departures_packets"), 0)
            .expect(&format!("links.{name}.paused_fraction"), 1)
            .expect(&format!("links.{name}.pause_s_max"), 0.02);
    }
}

#[test]
fn without_the_cycle_nothing_stands_still() {
    for streams in [&[[0, 1], [1, 2]][..], &[[0, 1]]] {
        let run = ring(streams).run();
        assert_eq!(run.warning(WarningKind::PauseDeadlock), None);
        run.expect(&format!("links.l{}.utilization", streams.len()), above(0.99));
    }
}

/// A link that waits for a deadlock stands still too, and is no part of the cycle.
#[test]
fn links_that_wait_for_a_deadlock_are_counted() {
    let run = ring(&[[0, 1], [1, 2], [2, 0]])
        .wire("in", 10.0, PAUSE)
        .packets("more", "in l1", ("cbr", 10.0))
        .run();
    let deadlock = run.warning(WarningKind::PauseDeadlock).expect("it is reported");
    assert_eq!(deadlock.place, "links.l0, links.l1, links.l2");
    assert_eq!(count(deadlock, "stuck_links"), 4);
}

/// A busy link whose packets nothing serves any more behind it.
fn stopped(gigabits: f64, delay: &str, headroom: u64) -> Case {
    let pause = format!("pause = {{ xoff = '15001 B', xon = '1 B', headroom = '{headroom} B' }}");
    case("2 ms")
        .link("port", format!("{gigabits} Gbit/s, {delay}, 100 MB, {pause}"))
        .link("next", format!("1 Gbit/s, 0 s, 100 MB, {STOPPED}"))
        .stream("f", "port next", format!("cbr {gigabits} Gbit/s, 1500 B"))
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
        let enough = stopped(speed, delay, needed).run();
        let peak = (on_the_way / 1_500.0).ceil() * 1_500.0 + 1_499.0;
        enough.expect("links.next.drops_packets", 0).expect("links.port.headroom_bytes_max", peak);
        assert_eq!(enough.warning(WarningKind::ShortHeadroom), None);
        let less = stopped(speed, delay, needed - 1_501).run();
        less.expect("links.next.drops_headroom_packets", 1).expect("links.next.drops_packets", 1);
        let short = less.warning(WarningKind::ShortHeadroom).expect("it is reported");
        assert!((value(short, "needed_bytes") - needed as f64).abs() <= 1.0, "{short:?}");
    }
}

/// A link that changes needs what it would need if it had its highest rate and its longest delay throughout.
#[test]
fn headroom_is_judged_by_the_highest_rate_and_the_longest_delay() {
    let needed = |case: Case| {
        let run = case.run();
        count(run.warning(WarningKind::ShortHeadroom).expect("it is reported"), "needed_bytes")
    };
    let changed = |rate: &str, change: &str| {
        stopped(10.0, "50 ns", 100)
            .set("links.port.rate", rate)
            .set("links.port.changes", format!("[{{ at = '100 us', {change} }}]"))
    };
    let faster = changed("1 Gbit/s", "rate = '10 Gbit/s'");
    assert_eq!(needed(faster), needed(stopped(10.0, "50 ns", 100)));
    let longer = changed("10 Gbit/s", "delay = '500 ns'");
    assert_eq!(needed(longer), needed(stopped(10.0, "500 ns", 100)));
}

/// A busy link of 10 Gbit/s and 100 m, whose pause frames travel over `back`, on whose line 9,000 B packets
/// follow one another, the first of them at `phase`: packets of `back` itself, or of another class.
fn behind(headroom: u64, phase: &str, sender: &str) -> Case {
    stopped(10.0, "500 ns", headroom)
        .set("links.port.pause_frames_over", "back")
        .set("flows.f.source.phase", "0 s")
        .link("back", "10 Gbit/s, 500 ns, 100 MB, line = { name = 'back' }")
        .link("other", "10 Gbit/s, 500 ns, 100 MB, line = { name = 'back' }")
        .stream("back", sender, format!("cbr 10 Gbit/s, 9000 B, source.phase = '{phase}'"))
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
                behind(headroom, phase, sender)
                    .run()
                    .expect("links.next.drops_packets", drops)
                    .expect("links.port.headroom_bytes_max", arrived - 1_500 * drops);
            }
        }
    }
    let needed = (on_the_way + 9_000.0 + 1_500.0 + 1_499.0) as u64;
    for (headroom, is_short) in [(needed, false), (needed - 1, true)] {
        let run = behind(headroom, "0 s", "other").run();
        let short = run.warning(WarningKind::ShortHeadroom);
        assert_eq!(short.is_some(), is_short, "{headroom} B");
        assert!(short.is_none_or(|short| short.text.contains("behind a packet of the other")));
    }
}

/// In a switch, the link of the other direction is that between the same two nodes.
#[test]
fn the_pause_frames_of_a_switch_wait_for_what_it_sends_to_the_same_host() {
    let switch = "hosts = 3, rate = '10 Gbit/s', delay = '500 ns', \
                  queue = { kind = 'drop_tail', limit = '10 MB' }, \
                  pause = { xoff = '30 kB', xon = '10 kB', headroom = '60 kB' }";
    let flows = |from: &str, rate: &str| {
        let source = format!("source = {{ kind = 'cbr', rate = '{rate}' }}");
        format!("packet_size = '9000 B', {from}, {source}")
    };
    let ingress = |waits: bool, host: &str| {
        case("2 ms")
            .table("switches.s", format!("{switch}, pause_frames_wait = {waits}"))
            .table(
                "flows.f",
                flows("from = ['s.h0', 's.h1'], to = 's.h2', pairs = 'all'", "8 Gbit/s"),
            )
            .table("flows.back", flows("from = 's.h2', to = 's.h0'", "9.9 Gbit/s"))
            .run()
            .get(&format!("links.s-{host}-switch.ingress_bytes_max"))
    };
    assert!(ingress(true, "h0") > ingress(false, "h0"));
    check("at another host", ingress(true, "h1"), ingress(false, "h1"));
}

#[test]
fn a_next_queue_that_is_full_before_the_pause_is_reported() {
    for (xoff, is_short) in [("500 kB", true), ("60 kB", false)] {
        let pause = format!("pause = {{ xoff = '{xoff}', xon = '1 B', headroom = '20 kB' }}");
        let run = case("60 ms")
            .wire("fast", 10.0, pause)
            .wire("slow", 1.0, "")
            .packets("f", "fast slow", ("cbr", 10.0))
            .run();
        let short = run.warning(WarningKind::ShortLimit).map(|one| one.place.as_str());
        assert_eq!(short, is_short.then_some("links.slow.queue.limit"));
        assert_eq!(run.link("slow").drops_packets > 0, is_short);
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
        (link.loss, link.delay_changes, link.reorder) = (LossSpec::None, Vec::new(), None);
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
        let mut warnings = results.summary.warnings.iter();
        let is_reported = warnings.any(|one| one.kind == WarningKind::PauseDeadlock);
        prop_assert_eq!(is_stuck, is_reported);
    }
}
