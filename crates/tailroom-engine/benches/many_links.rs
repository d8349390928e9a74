//! What many links cost: the set-up of a run, its results, and a packet-hop.
//!
//! `cargo bench --bench many_links` prints, for each network, the CPU time in milliseconds of reading
//! the scenario, of building the run and of collecting its results, and the nanoseconds per
//! packet-hop in between; `-- codel` selects networks by a part of their names.

mod reading;
mod stopwatch;

use std::fmt::Write;

use tailroom_engine::simulation::Simulation;

use stopwatch::Stopwatch;

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!("{:<50} {:>9} {:>9} {:>9} {:>9}", "network", "read", "build", "per hop", "results");
    for (name, text) in networks() {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part)) {
            measure(&name, &text);
        }
    }
}

fn measure(name: &str, text: &str) {
    let mut watch = Stopwatch::start();
    let mut lap_ms = || {
        let spent = std::mem::replace(&mut watch, Stopwatch::start()).elapsed();
        spent.as_secs_f64() * 1e3
    };
    let network = reading::network(text);
    let read = lap_ms();
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    let build = lap_ms();
    simulation.run_until(network.duration).expect("the run fits in memory");
    let per_hop = lap_ms() * 1e6 / simulation.packet_hops() as f64;
    simulation.finish().expect("the account of packets balances");
    let results = lap_ms();
    println!("{name:<50} {read:>6.0} ms {build:>6.0} ms {per_hop:>6.0} ns {results:>6.0} ms");
}

fn networks() -> Vec<(String, String)> {
    let sizes = [1, 8, 64, 1_000, 4_000];
    let parallel = ["drop_tail", "codel"].into_iter().flat_map(|queue| {
        sizes.map(|links| (format!("{links} links, a flow each, {queue}"), apart(links, queue)))
    });
    let fabric = ["drop_tail", "codel"].into_iter().flat_map(|queue| {
        [
            (format!("one link, 4,096 flows, {queue}"), one_link(4_096, queue)),
            (format!("leaf-spine, 256 links, 4,096 flows, {queue}"), leaf_spine(16, 8, 17, queue)),
            // The cases that htsim was timed with: 245 and 613 ns.
            (format!("leaf-spine, 64 links, 560 flows, {queue}"), leaf_spine(8, 4, 10, queue)),
            (format!("leaf-spine, 256 links, 2,400 flows, {queue}"), leaf_spine(16, 8, 10, queue)),
        ]
    });
    parallel.chain(fabric).collect()
}

/// Links without common traffic, each with a flow: some two million packets in all.
fn apart(links: usize, queue: &str) -> String {
    let duration_ms = 2_000_000 / links.max(64);
    let mut text = head(duration_ms);
    for link in 0..links {
        let _ = writeln!(
            text,
            "[links.l{link}]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
             queue = {{ kind = \"{queue}\", limit = \"1 bdp\" }}\n\
             [flows.f{link}]\npath = [\"l{link}\"]\ncongestion = \"reno\"\nrtt = \"40 ms\""
        );
    }
    text
}

fn one_link(flows: usize, queue: &str) -> String {
    head(20)
        + &format!(
            "[links.l]\nrate = \"640 Gbit/s\"\ndelay = \"5 us\"\n\
             queue = {{ kind = \"{queue}\", limit = \"12800 packets\" }}\n\
             [flows.f]\ncount = {flows}\npath = [\"l\"]\n{BETWEEN_HOSTS}"
        )
}

/// A link up and a link down for each leaf and spine, and `flows` flows from each leaf to each other.
fn leaf_spine(leaves: usize, spines: usize, flows: usize, queue: &str) -> String {
    let mut text = head(20);
    for (leaf, spine) in (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, spine))) {
        for link in [format!("up{leaf}_{spine}"), format!("down{spine}_{leaf}")] {
            let _ = writeln!(
                text,
                "[links.{link}]\nrate = \"10 Gbit/s\"\ndelay = \"5 us\"\n\
                 queue = {{ kind = \"{queue}\", limit = \"200 packets\" }}"
            );
        }
    }
    for (from, to) in (0..leaves).flat_map(|from| (0..leaves).map(move |to| (from, to))) {
        let spine = (from * 31 + to * 17) % spines;
        if from != to {
            let _ = writeln!(
                text,
                "[flows.f{from}_{to}]\ncount = {flows}\n\
                 path = [\"up{from}_{spine}\", \"down{spine}_{to}\"]\n{BETWEEN_HOSTS}"
            );
        }
    }
    text
}

const BETWEEN_HOSTS: &str = r#"congestion = "reno"
rtt = { from = "90 us", to = "110 us" }
access_rate = "40 Gbit/s"
start = { from = "0 s", to = "1 ms" }
min_rto = "1 ms"
"#;

fn head(duration_ms: usize) -> String {
    format!("duration = \"{duration_ms} ms\"\nmemory_limit = \"16 GB\"\n")
}
