//! Traffic between hosts of switches and fabrics, against closed forms.

use tailroom_engine::network::Network;
use tailroom_engine::results::{CoflowSummary, Results};
use tailroom_engine::scenario::{self, NoFiles};
use tailroom_engine::units::Time;

use crate::support::scenario_run::{finish, network, run};
use crate::support::summaries::{group, link};

/// A switch whose ports take 12 us for a packet of 1500 bytes; an RTT is 4 ms.
fn switch(duration: &str, limit: &str, group: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        [switches.tor]
        hosts = 40
        rate = "1 Gbit/s"
        delay = "1 ms"
        queue = {{ kind = "drop_tail", limit = "{limit}" }}
        [flows.some]
        congestion = "reno"
        send_jitter = "none"
        {group}
        "#
    )
}

fn coflows(results: &Results) -> CoflowSummary {
    group(&results.summary, "some").coflows.clone().expect("the source has coflows")
}

fn incast(fan_in: u32, more: &str) -> String {
    let source = format!("kind = \"incast\", fan_in = {fan_in}, size = \"14600 B\"{more}");
    format!("from = \"tor\"\nto = \"tor.h0\"\nsource = {{ {source} }}")
}

/// n answers of 10 packets reach the port of the client at n times its rate. With room for all, the
/// port sends 10 n packets of 12 us, after one packet time at the servers, and an RTT passes.
#[test]
fn a_query_takes_as_long_as_the_client_s_port_needs_for_all_answers() {
    for fan_in in [1, 8, 39] {
        let text = switch("1 s", "10000 packets", &incast(fan_in, ", think_time = \"1 ms\""));
        let coflows = coflows(&run(&text, 1));
        let expected = 4e-3 + 12e-6 * (1.0 + 10.0 * f64::from(fan_in));
        let median = coflows.completion.completion_time_s_p50.expect("queries complete");
        assert!((median / expected - 1.0).abs() < 1e-3, "{fan_in}: {median}, expected {expected}");
        // One query follows the other; the last one may be in progress.
        let queries = |until: f64| (until / (expected + 1e-3)) as u64 + 1;
        assert_eq!(coflows.completed_coflows, queries(1.0 - expected));
        assert_eq!(coflows.completed_coflows + coflows.unfinished_coflows, queries(1.0));
        let completed = coflows.completed_coflows as f64;
        let age = coflows.unfinished_coflows as f64 * (1.0 - completed * (expected + 1e-3));
        let mean = coflows.completion.completion_time_s_mean.expect("queries complete");
        let exact = (completed * expected + age) / queries(1.0) as f64;
        assert!((mean - exact).abs() < 1e-9, "{fan_in}: {mean}, expected {exact}");
    }
}

/// In each of the w = 10 packet times of the burst, n packets arrive and one leaves: a port with K
/// places accepts K + w packets if it is full at the end. The run ends before a packet comes again.
#[test]
fn a_full_port_drops_what_a_burst_has_beyond_its_places_and_its_time() {
    for (fan_in, limit) in [(39, 100), (20, 100), (39, 5), (12, 1)] {
        let group = incast(fan_in, ", arrivals = [\"0 s\"]");
        let results = run(&switch("4 ms", &format!("{limit} packets"), &group), 1);
        let port = link(&results.summary, "tor-switch-h0");
        assert_eq!(port.arrivals_packets, u64::from(10 * fan_in));
        assert_eq!(port.drops_packets, u64::from(10 * fan_in) - limit - 10, "{fan_in}, {limit}");
    }
}

/// Each host sends to one host and receives from one, so that a step of k packets takes k + 1
/// packet times, over two links, and an RTT. Of 4 hosts, a ring all-reduce of 58,400 bytes has 6
/// steps of 10 packets.
#[test]
fn a_step_of_a_ring_takes_the_time_of_one_flow() {
    let ring = |size: &str, more: &str| {
        let source = format!("{{ kind = \"collective\", size = \"{size}\", {more} }}");
        let hosts = ["tor.h0", "tor.h1", "tor.h2", "tor.h3"];
        let text = format!("from = {hosts:?}\nsource = {source}");
        let results = run(&switch("1 s", "100 packets", &text), 1);
        (coflows(&results), group(&results.summary, "some").flows)
    };
    let step = 4e-3 + 11.0 * 12e-6;
    for (coflows, flows) in [
        ring("58400 B", "operation = \"ring_all_reduce\""),
        ring("14600 B", "operation = \"permutation\""),
    ] {
        assert_eq!(coflows.completed_coflows, (1.0 / step) as u64);
        // Together with the age of the step that is in progress, the steps fill the second.
        let mean = coflows.completion.completion_time_s_mean.expect("steps complete");
        let exact = 1.0 / (coflows.completed_coflows + 1) as f64;
        assert!((mean - exact).abs() < 1e-9, "{mean}, expected {exact}");
        let median = coflows.completion.completion_time_s_p50.expect("steps complete");
        assert!((median / step - 1.0).abs() < 1e-3, "{median}, expected {step}");
        assert_eq!(flows, 4 * (coflows.completed_coflows + 1));
    }
    // 28 operations of six steps and 10 ms; then the 29th has begun.
    let (coflows, _) = ring("58400 B", "operation = \"ring_all_reduce\", compute_time = \"10 ms\"");
    let left = 1.0 - 28.0 * (6.0 * step + 10e-3);
    assert_eq!(coflows.completed_coflows, 28 * 6 + ((left / step) as u64).min(6));
    // Every port gets the 10 packets of three hosts, which send them one after the other: the last
    // of the 30 leaves its host after 30 packet times.
    let (coflows, flows) = ring("58400 B", "operation = \"all_to_all\"");
    let longest = 4e-3 + (30.0 + 30.0) * 12e-6;
    let least = 4e-3 + 31.0 * 12e-6;
    let median = coflows.completion.completion_time_s_p50.expect("steps complete");
    assert!((0.999 * least..longest).contains(&median), "{median}, {least} to {longest}");
    assert_eq!(flows, 12 * (coflows.completed_coflows + 1));
}

fn leaf_spine(group: &str) -> String {
    format!(
        r#"
        duration = "1 s"
        [fabrics.dc]
        leaves = 3
        hosts = 4
        spines = 2
        rate = "1 Gbit/s"
        uplink_rate = "2500 Mbit/s"
        delay = "20 us"
        uplink_delay = "50 us"
        queue = {{ kind = "drop_tail", limit = "500 packets" }}
        [flows.some]
        congestion = "reno"
        send_jitter = "none"
        {group}
        "#
    )
}

/// 4, 10 and 2 packets, the last of them shorter. No two flows are in the network at once.
#[test]
fn the_slowdown_of_a_flow_alone_is_one_on_every_route() {
    for (size, to) in [("5 kB", "dc"), ("14600 B", "dc.leaf2"), ("1461 B", "dc.h1"), ("7 B", "dc")]
    {
        let source = format!("kind = \"finite_flows\", size = \"{size}\", period = \"2 ms\"");
        let text =
            leaf_spine(&format!("from = \"dc.leaf0\"\nto = \"{to}\"\nsource = {{ {source} }}"));
        let results = run(&text, 3);
        let all = group(&results.summary, "some").all_sizes.clone().expect("flows arrive");
        assert!(all.completed_flows >= 499);
        for slowdown in [all.slowdown_mean, all.slowdown_p99] {
            let slowdown = slowdown.expect("flows complete");
            assert!((slowdown - 1.0).abs() < 2e-3, "{size} to {to}: {slowdown}");
        }
        let mean = all.slowdown_mean.expect("flows complete");
        assert!((mean - 1.0).abs() < 1e-6, "{size} to {to}: {mean}");
    }
}

#[test]
fn a_flow_has_the_round_trip_of_its_route() {
    let network = network(&leaf_spine("from = \"dc.h0\"\nto = [\"dc.h1\", \"dc.h11\"]"), 1);
    let round_trips: Vec<f64> = network.flows.iter().map(|flow| 1e6 * flow.rtt.seconds()).collect();
    assert_eq!(round_trips, [80.0, 280.0]);
    let given = network_of("from = \"dc.h0\"\nto = [\"dc.h1\", \"dc.h11\"]\nrtt = \"1 ms\"");
    assert!(given.flows.iter().all(|flow| flow.rtt == Time::from_milliseconds(1)));
}

fn network_of(group: &str) -> Network {
    network(&leaf_spine(group), 1)
}

fn pairs(text: &str, seed: u64) -> Vec<(u32, u32)> {
    let routes = network(text, seed).flows.into_iter().filter_map(|flow| flow.route);
    routes.map(|route| (route.from, route.to)).collect()
}

/// Of 12 hosts, all but one in 12! / e draws differ; of 100 draws, no host is at its own place.
#[test]
fn in_a_permutation_each_host_sends_to_another_and_receives_from_another() {
    let text = leaf_spine("from = \"dc\"\npairs = \"permutation\"");
    let mut receivers = vec![0; 12];
    for seed in 0..100 {
        let pairs = pairs(&text, seed);
        let mut to: Vec<u32> = pairs.iter().map(|(_, to)| *to).collect();
        receivers[to[0] as usize] += 1;
        to.sort_unstable();
        assert_eq!(to, (0..12).collect::<Vec<_>>());
        assert!(pairs.iter().all(|(from, to)| from != to), "{pairs:?}");
    }
    assert!(receivers[1..].iter().all(|count| *count > 0), "{receivers:?}");
    assert_ne!(pairs(&text, 1), pairs(&text, 2));
    assert_eq!(pairs(&text, 1), pairs(&text, 1));
    let every = leaf_spine("from = \"dc.leaf1\"\nto = \"dc\"\ncount = 2");
    assert_eq!(pairs(&every, 1).len(), 2 * 4 * 11);
}

/// The load is a share of what the hosts' links carry: each host sends and receives a twelfth of
/// the bytes, and 8 of 11 flows, those from other leaves, pass one of the spines.
#[test]
fn a_load_between_hosts_is_the_load_of_each_host_and_spreads_over_the_spines() {
    let size = "{ kind = \"published\", name = \"storage\" }";
    let source = format!("{{ kind = \"finite_flows\", load = 0.4, size = {size} }}");
    let results = run(&leaf_spine(&format!("from = \"dc\"\nsource = {source}")), 1);
    let offered = group(&results.summary, "some").flows as f64;
    // A twelfth of 12 Gbit/s times 0.4 in flows of 40,870 bytes and their headers.
    let expected = 0.4 * 12e9 / (8.0 * 40_870.0 * 1_500.0 / 1_460.0);
    assert!((offered / expected - 1.0).abs() < 0.03, "{offered} flows, expected {expected}");
    let load = |name: &str| link(&results.summary, name).sharing.offered_load;
    let at_host = load("dc-h3-leaf0");
    assert!((at_host - load("dc-leaf2-h9")).abs() < 1e-12);
    // 4 hosts share 2 uplinks that are 2.5 times as fast.
    let at_spine = at_host * 8.0 / 11.0 * 4.0 / 2.0 / 2.5;
    assert!((load("dc-spine1-leaf2") / at_spine - 1.0).abs() < 1e-12);
    let sent = |name: &str| link(&results.summary, name).arrivals_packets as f64;
    let at_spines = [0, 1].map(|spine| sent(&format!("dc-leaf0-spine{spine}")));
    assert!((at_spines[0] / at_spines[1] - 1.0).abs() < 0.3, "{at_spines:?}");
}

#[test]
fn a_resolved_scenario_with_hosts_reads_back_as_the_same_network() {
    let text = leaf_spine("from = \"dc\"\npairs = \"permutation\"");
    let written = scenario::parse(&text, &[], None, &NoFiles).expect("valid").to_toml();
    assert!(written.contains("[fabrics.dc]") && !written.contains("dc-h0-leaf0"), "{written}");
    let [one, other] = [&text, &written].map(|text| {
        let network = scenario::parse(text, &[], None, &NoFiles).and_then(|read| read.resolve());
        finish(&network.expect("valid"))
    });
    assert_eq!(one, other);
}

/// By pool, its links.
fn members(text: &str) -> Vec<(String, Vec<String>)> {
    let network = network(text, 1);
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
    let memory = "queue = \"drop_tail\"\npool = { size = \"1 MB\", policy = \"complete_sharing\" }";
    let fabric = format!(
        r#"
        duration = "1 s"
        [fabrics.dc]
        leaves = 2
        hosts = 3
        spines = 2
        rate = "1 Gbit/s"
        delay = "1 us"
        reserved = "5 kB"
        {memory}
        [flows.some]
        congestion = "reno"
        from = "dc"
        "#
    );
    let names = |links: &[&str]| links.iter().map(|link| (*link).to_owned()).collect::<Vec<_>>();
    let leaf0 = ["dc-leaf0-h0", "dc-leaf0-h1", "dc-leaf0-h2", "dc-leaf0-spine0", "dc-leaf0-spine1"];
    let whole = members(&fabric);
    assert_eq!(whole.len(), 4);
    assert_eq!(whole[0], ("dc-leaf0".to_owned(), names(&leaf0)));
    let spine0 = ["dc-spine0-leaf0", "dc-spine0-leaf1"];
    assert!(whole.contains(&("dc-spine0".to_owned(), names(&spine0))), "{whole:?}");

    let slices = members(&fabric.replace("reserved", "ports_per_pool = 3\nreserved"));
    assert_eq!(slices.len(), 6, "a leaf has two slices, a spine with two ports one");
    assert_eq!(slices[0], ("dc-leaf0-0".to_owned(), names(&leaf0[..3])));
    assert_eq!(slices[1], ("dc-leaf0-1".to_owned(), names(&leaf0[3..])));

    let switch = switch("1 s", "10 packets", "from = \"tor\"").replace(
        "hosts = 40",
        "hosts = 2\nuplinks = 1\npool = { size = \"1 MB\", policy = \"complete_sharing\" }",
    );
    let ports = ["tor-switch-h0", "tor-switch-h1", "tor-switch-uplink0"];
    assert_eq!(members(&switch), [("tor-switch".to_owned(), names(&ports))]);
}

/// Waiting time at the interface of a host, whose long flow has 1,000 packets on the way, of a packet
/// that another flow sends now and then: the rest of one packet of 12 us and at most one packet more if
/// flows take turns, the queue of the long flow otherwise.
fn wait_at_interface(host: &str, nic_queue: &str) -> f64 {
    let text = format!(
        r#"
        duration = "300 ms"
        measure_from = "100 ms"
        [switches.tor]
        hosts = 3
        rate = "1 Gbit/s"
        delay = "50 us"
        queue = {{ kind = "drop_tail", limit = "2000 packets" }}
        {nic_queue}
        [flows.long]
        from = "tor.h0"
        to = "tor.h1"
        {host}
        congestion = "reno"
        initial_window = 1000
        max_window = 1000
        [flows.seldom]
        from = ["tor.h0"]
        to = "tor.h2"
        source = {{ kind = "cbr", rate = "1 Mbit/s" }}
        "#
    );
    let results = run(&text, 1);
    assert_eq!(link(&results.summary, "tor-h0-switch").drops_packets, 0);
    group(&results.summary, "seldom").queue_delay_s_p99.expect("packets were sent")
}

#[test]
fn the_flows_of_a_host_of_today_take_turns_at_its_interface_unless_a_fifo_is_asked_for() {
    let fifo = "nic_queue = { kind = \"drop_tail\", limit = \"2000 packets\" }";
    let fair = "nic_queue = { kind = \"fair\", limit = \"2000 packets\" }";
    let (turns, queue) = (..=24.5e-6, 5e-3..);
    for host in ["host = \"linux\"", "host = \"data_center\""] {
        let wait = wait_at_interface(host, "");
        assert!(turns.contains(&wait), "{host}: {wait}");
        let wait = wait_at_interface(host, fifo);
        assert!(queue.contains(&wait), "{host}, FIFO: {wait}");
    }
    for host in ["host = \"plain\"", "host = \"ns2\""] {
        let wait = wait_at_interface(host, "");
        assert!(queue.contains(&wait), "{host}: {wait}");
        let wait = wait_at_interface(host, fair);
        assert!(turns.contains(&wait), "{host}, fair: {wait}");
    }
}

/// The queue of a switch without Linux hosts stays a FIFO, whatever other switches have.
#[test]
fn the_hosts_of_a_switch_decide_for_its_interfaces_alone() {
    let text = r#"
        duration = "1 s"
        [switches.old]
        hosts = 2
        rate = "1 Gbit/s"
        delay = "50 us"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [switches.new]
        hosts = 2
        rate = "1 Gbit/s"
        delay = "50 us"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.plain]
        from = "old"
        host = "plain"
        congestion = "reno"
        [flows.today]
        from = ["new.h0", "new.h1"]
        congestion = "reno"
        [flows.also_plain]
        from = "new"
        host = "plain"
        congestion = "reno"
    "#;
    let network = network(text, 1);
    let kind_of = |name: &str| {
        let found = network.links.iter().find(|link| &*link.name == name);
        found.expect("the network has this link").queue.name()
    };
    assert_eq!(kind_of("old-h0-switch"), "drop_tail");
    assert_eq!(kind_of("new-h0-switch"), "fair");
    assert_eq!(kind_of("new-switch-h0"), "drop_tail");
}
