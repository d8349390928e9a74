//! Traffic between hosts of switches and fabrics, against closed forms.

use tailroom_engine::scenario::{self, NoFiles};
use tailroom_engine::units::Time;

use crate::support::case::{Case, Run, case, check, close, near, within};
use crate::support::scenario_run::finish;

/// A switch whose ports take 12 us for a packet of 1500 bytes; an RTT is 4 ms.
fn switch(duration: &str, limit: &str, group: &str) -> Case {
    let queue = format!("queue = {{ kind = 'drop_tail', limit = '{limit}' }}");
    case(duration)
        .table("switches.tor", format!("hosts = 40, rate = '1 Gbit/s', delay = '1 ms', {queue}"))
        .table("flows.some", format!("congestion = 'reno', send_jitter = 'none', {group}"))
}

fn incast(fan_in: u32, more: &str) -> String {
    let source = format!("kind = 'incast', fan_in = {fan_in}, size = '14600 B', {more}");
    format!("from = 'tor', to = 'tor.h0', source = {{ {source} }}")
}

/// n answers of 10 packets reach the port of the client at n times its rate. With room for all, the
/// port sends 10 n packets of 12 us, after one packet time at the servers, and an RTT passes.
#[test]
fn a_query_takes_as_long_as_the_client_s_port_needs_for_all_answers() {
    for fan_in in [1, 8, 39] {
        let run = switch("1 s", "10000 packets", &incast(fan_in, "think_time = '1 ms'")).run();
        let expected = 4e-3 + 12e-6 * (1.0 + 10.0 * f64::from(fan_in));
        // One query follows the other; the last one may be in progress.
        let queries = |until: f64| (until / (expected + 1e-3)) as u64 + 1;
        let (completed, all) = (queries(1.0 - expected), queries(1.0));
        let age = (all - completed) as f64 * (1.0 - completed as f64 * (expected + 1e-3));
        let mean = (completed as f64 * expected + age) / all as f64;
        run.expect("groups.some.coflows.completion_time_s_p50", close(expected, 1e-3))
            .expect("groups.some.coflows.completed_coflows", completed)
            .expect("groups.some.coflows.unfinished_coflows", all - completed)
            .expect("groups.some.coflows.completion_time_s_mean", near(mean, 1e-9));
    }
}

/// In each of the w = 10 packet times of the burst, n packets arrive and one leaves: a port with K
/// places accepts K + w packets if it is full at the end. The run ends before a packet comes again.
#[test]
fn a_full_port_drops_what_a_burst_has_beyond_its_places_and_its_time() {
    for (fan_in, limit) in [(39, 100), (20, 100), (39, 5), (12, 1)] {
        let group = incast(fan_in, "arrivals = ['0 s']");
        switch("4 ms", &format!("{limit} packets"), &group)
            .run()
            .expect("links.tor-switch-h0.arrivals_packets", u64::from(10 * fan_in))
            .expect("links.tor-switch-h0.drops_packets", u64::from(10 * fan_in) - limit - 10);
    }
}

/// Each host sends to one host and receives from one, so that a step of k packets takes k + 1
/// packet times, over two links, and an RTT. Of 4 hosts, a ring all-reduce of 58,400 bytes has 6
/// steps of 10 packets.
#[test]
fn a_step_of_a_ring_takes_the_time_of_one_flow() {
    let ring = |size: &str, more: &str| {
        let source = format!("kind = 'collective', size = '{size}', {more}");
        let hosts = ["tor.h0", "tor.h1", "tor.h2", "tor.h3"];
        let group = format!("from = {hosts:?}, source = {{ {source} }}");
        switch("1 s", "100 packets", &group).run()
    };
    let completed = |run: &Run| run.get("groups.some.coflows.completed_coflows");
    let step = 4e-3 + 11.0 * 12e-6;
    for run in [
        ring("58400 B", "operation = 'ring_all_reduce'"),
        ring("14600 B", "operation = 'permutation'"),
    ] {
        let steps = f64::floor(1.0 / step);
        // Together with the age of the step that is in progress, the steps fill the second.
        run.expect("groups.some.coflows.completed_coflows", steps)
            .expect("groups.some.coflows.completion_time_s_mean", near(1.0 / (steps + 1.0), 1e-9))
            .expect("groups.some.coflows.completion_time_s_p50", close(step, 1e-3))
            .expect("groups.some.flows", 4.0 * (steps + 1.0));
    }
    // 28 operations of six steps and 10 ms; then the 29th has begun.
    let paused = ring("58400 B", "operation = 'ring_all_reduce', compute_time = '10 ms'");
    let left = 1.0 - 28.0 * (6.0 * step + 10e-3);
    let steps = 28 * 6 + ((left / step) as u64).min(6);
    paused.expect("groups.some.coflows.completed_coflows", steps);
    // Every port gets the 10 packets of three hosts, which send them one after the other: the last
    // of the 30 leaves its host after 30 packet times.
    let all_to_all = ring("58400 B", "operation = 'all_to_all'");
    let longest = 4e-3 + (30.0 + 30.0) * 12e-6;
    let least = 4e-3 + 31.0 * 12e-6;
    all_to_all
        .expect("groups.some.coflows.completion_time_s_p50", within(0.999 * least..longest))
        .expect("groups.some.flows", 12.0 * (completed(&all_to_all) + 1.0));
}

fn leaf_spine(group: &str) -> Case {
    let fabric = "leaves = 3, hosts = 4, spines = 2, rate = '1 Gbit/s', uplink_rate = '2500 Mbit/s', \
                  delay = '20 us', uplink_delay = '50 us', \
                  queue = { kind = 'drop_tail', limit = '500 packets' }";
    case("1 s")
        .table("fabrics.dc", fabric)
        .table("flows.some", format!("congestion = 'reno', send_jitter = 'none', {group}"))
}

/// 4, 10 and 2 packets, the last of them shorter. No two flows are in the network at once.
#[test]
fn the_slowdown_of_a_flow_alone_is_one_on_every_route() {
    for (size, to) in [("5 kB", "dc"), ("14600 B", "dc.leaf2"), ("1461 B", "dc.h1"), ("7 B", "dc")]
    {
        let source = format!("kind = 'finite_flows', size = '{size}', period = '2 ms'");
        let group = format!("from = 'dc.leaf0', to = '{to}', source = {{ {source} }}");
        leaf_spine(&group)
            .seed(3)
            .run()
            .expect("groups.some.all_sizes.completed_flows", within(499.0..))
            .expect("groups.some.all_sizes.slowdown_mean", near(1.0, 1e-6))
            .expect("groups.some.all_sizes.slowdown_p99", near(1.0, 2e-3));
    }
}

#[test]
fn a_flow_has_the_round_trip_of_its_route() {
    let two = "from = 'dc.h0', to = ['dc.h1', 'dc.h11']";
    let network = leaf_spine(two).network();
    let round_trips: Vec<f64> = network.flows.iter().map(|flow| 1e6 * flow.rtt.seconds()).collect();
    assert_eq!(round_trips, [80.0, 280.0]);
    let given = leaf_spine(&format!("{two}, rtt = '1 ms'")).network();
    assert!(given.flows.iter().all(|flow| flow.rtt == Time::from_milliseconds(1)));
}

fn pairs(case: &Case, seed: u64) -> Vec<(u32, u32)> {
    let network = case.clone().seed(seed).network();
    let routes = network.flows.into_iter().filter_map(|flow| flow.route);
    routes.map(|route| (route.from, route.to)).collect()
}

/// Of 12 hosts, all but one in 12! / e draws differ; of 100 draws, no host is at its own place.
#[test]
fn in_a_permutation_each_host_sends_to_another_and_receives_from_another() {
    let case = leaf_spine("from = 'dc', pairs = 'permutation'");
    let mut receivers = vec![0; 12];
    for seed in 0..100 {
        let pairs = pairs(&case, seed);
        let mut to: Vec<u32> = pairs.iter().map(|(_, to)| *to).collect();
        receivers[to[0] as usize] += 1;
        to.sort_unstable();
        assert_eq!(to, (0..12).collect::<Vec<_>>());
        assert!(pairs.iter().all(|(from, to)| from != to), "{pairs:?}");
    }
    assert!(receivers[1..].iter().all(|count| *count > 0), "{receivers:?}");
    assert_ne!(pairs(&case, 1), pairs(&case, 2));
    assert_eq!(pairs(&case, 1), pairs(&case, 1));
    let every = leaf_spine("from = 'dc.leaf1', to = 'dc', count = 2");
    assert_eq!(pairs(&every, 1).len(), 2 * 4 * 11);
}

/// The load is a share of what the hosts' links carry: each host sends and receives a twelfth of
/// the bytes, and 8 of 11 flows, those from other leaves, pass one of the spines.
#[test]
fn a_load_between_hosts_is_the_load_of_each_host_and_spreads_over_the_spines() {
    let size = "{ kind = 'published', name = 'storage' }";
    let source = format!("{{ kind = 'finite_flows', load = 0.4, size = {size} }}");
    let run = leaf_spine(&format!("from = 'dc', source = {source}")).run();
    // A twelfth of 12 Gbit/s times 0.4 in flows of 40,870 bytes and their headers.
    run.expect("groups.some.flows", close(0.4 * 12e9 / (8.0 * 40_870.0 * 1_500.0 / 1_460.0), 0.03));
    let at_host = run.get("links.dc-h3-leaf0.offered_load");
    // 4 hosts share 2 uplinks that are 2.5 times as fast.
    let at_spine = at_host * 8.0 / 11.0 * 4.0 / 2.0 / 2.5;
    run.expect("links.dc-leaf2-h9.offered_load", near(at_host, 1e-12))
        .expect("links.dc-spine1-leaf2.offered_load", close(at_spine, 1e-12));
    let other = run.get("links.dc-leaf0-spine1.arrivals_packets");
    check("spines", run.get("links.dc-leaf0-spine0.arrivals_packets") / other, near(1.0, 0.3));
}

#[test]
fn a_resolved_scenario_with_hosts_reads_back_as_the_same_network() {
    let text = leaf_spine("from = 'dc', pairs = 'permutation'").text;
    let written = scenario::parse(&text, &[], None, &NoFiles).expect("valid").to_toml();
    assert!(written.contains("[fabrics.dc]") && !written.contains("dc-h0-leaf0"), "{written}");
    let [one, other] = [&text, &written].map(|text| {
        let network = scenario::parse(text, &[], None, &NoFiles).and_then(|read| read.resolve());
        finish(&network.expect("valid"))
    });
    assert_eq!(one, other);
}

/// By pool, its links.
fn members(case: &Case) -> Vec<(String, Vec<String>)> {
    let network = case.network();
    let of = |pool: usize| {
        let links = network.links.iter();
        let members = links.filter(|link| link.pool.is_some_and(|member| member.pool == pool));
        members.map(|link| link.name.clone()).collect()
    };
    let pools = network.pools.iter().enumerate();
    pools.map(|(pool, spec)| (spec.name.clone(), of(pool))).collect()
}

#[test]
fn the_ports_of_a_switch_share_its_memory_and_those_of_others_do_not() {
    let memory = "pool = { size = '1 MB', policy = 'complete_sharing' }, reserved = '5 kB'";
    let ports = "rate = '1 Gbit/s', delay = '1 us', queue = 'drop_tail'";
    let fabric = case("1 s")
        .table("fabrics.dc", format!("leaves = 2, hosts = 3, spines = 2, {ports}, {memory}"))
        .table("flows.some", "congestion = 'reno', from = 'dc'");
    let names = |links: &[&str]| links.iter().map(|link| (*link).to_owned()).collect::<Vec<_>>();
    let leaf0 = ["dc-leaf0-h0", "dc-leaf0-h1", "dc-leaf0-h2", "dc-leaf0-spine0", "dc-leaf0-spine1"];
    let whole = members(&fabric);
    assert_eq!(whole.len(), 4);
    assert_eq!(whole[0], ("dc-leaf0".to_owned(), names(&leaf0)));
    let spine0 = ["dc-spine0-leaf0", "dc-spine0-leaf1"];
    assert!(whole.contains(&("dc-spine0".to_owned(), names(&spine0))), "{whole:?}");

    let slices = members(&fabric.set("fabrics.dc.ports_per_pool", 3));
    assert_eq!(slices.len(), 6, "a leaf has two slices, a spine with two ports one");
    assert_eq!(slices[0], ("dc-leaf0-0".to_owned(), names(&leaf0[..3])));
    assert_eq!(slices[1], ("dc-leaf0-1".to_owned(), names(&leaf0[3..])));

    let switch = switch("1 s", "10 packets", "from = 'tor'")
        .set("switches.tor.hosts", 2)
        .set("switches.tor.uplinks", 1)
        .set("switches.tor.pool", "{ size = '1 MB', policy = 'complete_sharing' }");
    let ports = ["tor-switch-h0", "tor-switch-h1", "tor-switch-uplink0"];
    assert_eq!(members(&switch), [("tor-switch".to_owned(), names(&ports))]);
}

/// Waiting time at the interface of a host, whose long flow has 1,000 packets on the way, of a packet
/// that another flow sends now and then: the rest of one packet of 12 us and at most one packet more if
/// flows take turns, the queue of the long flow otherwise.
fn wait_at_interface(host: &str, nic_queue: Option<&str>) -> Run {
    let queue = |kind: &str| format!("{{ kind = '{kind}', limit = '2000 packets' }}");
    let ports = format!("rate = '1 Gbit/s', delay = '50 us', queue = {}", queue("drop_tail"));
    let nic = nic_queue.map_or(String::new(), |kind| format!("nic_queue = {}", queue(kind)));
    let window = "congestion = 'reno', initial_window = 1000, max_window = 1000";
    let run = case("300 ms from 100 ms")
        .table("switches.tor", format!("hosts = 3, {ports}, {nic}"))
        .table("flows.long", format!("from = 'tor.h0', to = 'tor.h1', host = '{host}', {window}"))
        .table(
            "flows.seldom",
            "from = ['tor.h0'], to = 'tor.h2', source = { kind = 'cbr', rate = '1 Mbit/s' }",
        )
        .run();
    run.expect("links.tor-h0-switch.drops_packets", 0);
    run
}

#[test]
fn the_flows_of_a_host_of_today_take_turns_at_its_interface_unless_a_fifo_is_asked_for() {
    let (turns, queue) = (within(..=24.5e-6), within(5e-3..));
    for (hosts, alone, other, with_other) in [
        (["linux", "data_center"], turns, "drop_tail", queue),
        (["plain", "ns2"], queue, "fair", turns),
    ] {
        for host in hosts {
            wait_at_interface(host, None).expect("groups.seldom.queue_delay_s_p99", alone);
            wait_at_interface(host, Some(other))
                .expect("groups.seldom.queue_delay_s_p99", with_other);
        }
    }
}

/// The queue of a switch without Linux hosts stays a FIFO, whatever other switches have.
#[test]
fn the_hosts_of_a_switch_decide_for_its_interfaces_alone() {
    let ports = "hosts = 2, rate = '1 Gbit/s', delay = '50 us', \
                 queue = { kind = 'drop_tail', limit = '100 packets' }";
    // The text names hosts, so that others have the host of today.
    let network = case("1 s")
        .table("switches.old", ports)
        .table("switches.new", ports)
        .table("flows.plain", "from = 'old', host = 'plain', congestion = 'reno'")
        .table("flows.today", "from = ['new.h0', 'new.h1'], congestion = 'reno'")
        .table("flows.also_plain", "from = 'new', host = 'plain', congestion = 'reno'")
        .network();
    let kind_of = |name: &str| {
        let found = network.links.iter().find(|link| &*link.name == name);
        found.expect("the network has this link").queue.name()
    };
    assert_eq!(kind_of("old-h0-switch"), "drop_tail");
    assert_eq!(kind_of("new-h0-switch"), "fair");
    assert_eq!(kind_of("new-switch-h0"), "drop_tail");
}
