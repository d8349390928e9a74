//! Runs one case under callgrind, which counts instructions inside `measured` only, and prints the
//! packet-hops of that part. Without a case the program prints the names of all.
//!
//! ```sh
//! cargo bench --package tailroom-engine --bench instructions --no-run    # prints the path of the program
//! valgrind --tool=callgrind --toggle-collect='*instructions*measured*' PROGRAM ten_flows
//! ```
//!
//! `benchmarks/instructions.py` does so for all cases and compares the counts with recorded ones. A
//! case simulates little, as callgrind is 50 times as slow as the processor.

mod dumbbell;
mod reading;

use dumbbell::dumbbell;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

fn main() {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let Some(wanted) = wanted else {
        for case in cases() {
            println!("{}", case.0);
        }
        return;
    };
    let (_, text, from_s, to_s) = cases()
        .into_iter()
        .find(|case| case.0 == wanted)
        .unwrap_or_else(|| panic!("no case is named {wanted}"));
    let mut simulation = Simulation::new(&reading::network(&text)).expect("the network is valid");
    simulation.run_until(Time::from_seconds(from_s)).expect("the run fits in memory");
    let before = simulation.packet_hops();
    measured(&mut simulation, Time::from_seconds(to_s));
    println!("{}", simulation.packet_hops() - before);
}

/// What callgrind counts.
#[inline(never)]
fn measured(simulation: &mut Simulation, until: Time) {
    simulation.run_until(until).expect("the run fits in memory");
}

/// 32 ports of a switch, with this key, and four flows over each of them.
fn ports(key: &str) -> String {
    let memory =
        "[pools.asic]\nsize = \"16 MB\"\ncell = \"208 B\"\npolicy = \"dynamic_threshold\"\n";
    let memory = if key.is_empty() { "" } else { memory };
    let ports = (0..32).map(|port| {
        format!(
            "[links.port{port}]\nrate = \"1 Gbit/s\"\ndelay = \"100 us\"\nqueue = {{ kind = \
             \"drop_tail\", limit = \"50 packets\" }}\n{key}\n[flows.f{port}]\ncount = 4\npath = \
             [\"port{port}\"]\ncongestion = \"reno\"\nrtt = \"1 ms\"\n"
        )
    });
    let ports: String = ports.collect();
    format!("duration = \"1 s\"\n[defaults]\nhost = \"plain\"\n{memory}{ports}")
}

/// Name, scenario, and the simulated seconds between which instructions are counted.
fn cases() -> Vec<(&'static str, String, f64, f64)> {
    let ten = |queue: &str| {
        dumbbell("1 Gbit/s", 10, "highspeed", "1000 B", "115.5 ms", "124.5 ms", "1249 packets", 60)
            .replace("kind = \"drop_tail\"", queue)
    };
    let many = |queue: &str| {
        dumbbell("100 Gbit/s", 10_000, "reno", "1500 B", "40 ms", "60 ms", "5 ms", 3)
            .replace("kind = \"drop_tail\"", queue)
    };
    let two_hops = ten("kind = \"drop_tail\"")
        .replace("path = [\"bottleneck\"]", "path = [\"bottleneck\", \"second\"]")
        + "[links.second]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
           queue = { kind = \"drop_tail\", limit = \"1249 packets\" }\n";
    let pauses =
        "[links.bottleneck]\npause = { xoff = \"600 kB\", xon = \"500 kB\", headroom = \"10 MB\" }";
    let two_hops_paused = two_hops.replace("[links.bottleneck]", pauses);
    // Without timers of their own, hosts of today take what a packet costs most often.
    let linux = |control: &str| {
        ten("kind = \"drop_tail\"")
            .replace("host = \"plain\"", "host = \"linux\"")
            .replace("\"highspeed\"", control)
    };
    vec![
        ("ten_flows", ten("kind = \"drop_tail\""), 20.0, 24.0),
        ("ten_thousand_flows", many("kind = \"drop_tail\""), 1.2, 1.25),
        ("codel", ten("kind = \"codel\""), 20.0, 24.0),
        ("red", ten("kind = \"red\""), 20.0, 24.0),
        ("fair", many("kind = \"fair\""), 1.0, 1.05),
        ("cubic", ten("kind = \"drop_tail\"").replace("\"highspeed\"", "\"cubic\""), 20.0, 24.0),
        ("linux", linux("\"cubic\""), 20.0, 24.0),
        ("linux_bbr", linux("\"bbr1\""), 20.0, 24.0),
        ("two_hops", two_hops, 20.0, 24.0),
        ("two_hops_paused", two_hops_paused, 20.0, 24.0),
        ("ports", ports(""), 0.5, 0.6),
        ("ports_of_a_pool", ports("pool = \"asic\""), 0.5, 0.6),
    ]
}
