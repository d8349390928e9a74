//! Random fabrics of a few hosts with every kind of traffic between them.

use proptest::prelude::*;
use proptest::sample::select;
use tailroom_engine::network::Network;

use crate::support::scenario_run;

const SOURCES: &[&str] = &[
    r#"from = "net"
       source = { kind = "incast", fan_in = 2, size = "9 kB", think_time = "0 s" }"#,
    r#"from = "net"
       to = "net.h0"
       source = { kind = "incast", fan_in = 1, size = "4 kB", period = "7 ms" }"#,
    r#"from = ["net.h2", "net.h1"]
       to = ["net.h0", "net.h3"]
       source.kind = "incast"
       source.fan_in = 2
       source.size = { kind = "exponential", mean = "8 kB" }
       source.arrivals_per_second = 90.0
       source.service_time = { kind = "uniform", from = "0 s", to = "9 ms" }"#,
    r#"from = "net"
       source = { kind = "collective", operation = "ring_all_reduce", size = "9 kB" }"#,
    r#"from = ["net.h3", "net.h0", "net.h1"]
       stop = "400 ms"
       source.kind = "collective"
       source.operation = "all_to_all"
       source.size = "30 kB"
       source.compute_time = "3 ms""#,
    r#"from = "net"
       source = { kind = "collective", operation = "permutation", size = "7 kB" }"#,
    r#"from = "net"
       source = { kind = "finite_flows", load = 0.3, size = "6 kB", flow_log = 10000 }"#,
    r#"from = "net"
       pairs = "permutation"
       start = { uniform = ["0 s", "5 ms"] }"#,
    r#"from = "net.h0"
       to = ["net.h1", "net.h3"]
       count = 2"#,
];

const STREAM: &str = r#"from = "net"
    pairs = "permutation"
    source = { kind = "cbr", rate = "1 Mbit/s" }"#;

/// A switch or a fabric of at least four hosts with two to four groups of flows, for half a second.
pub(crate) fn network() -> impl Strategy<Value = Network> {
    let shape = (any::<bool>(), 2_u32..4, 1_u32..4, select(vec!["3 packets", "12 packets"]));
    let groups = prop::collection::vec(select(SOURCES), 1..4);
    let options = (any::<bool>(), any::<bool>(), select(vec!["none", "auto"]), 0_u64..1_000_000);
    (shape, groups, options).prop_map(|((is_switch, hosts, spines, limit), groups, options)| {
        let (has_stream, opens, jitter, seed) = options;
        let size = if is_switch {
            format!("[switches.net]\nuplinks = {spines}\nhosts = {}", 2 * hosts)
        } else {
            format!("[fabrics.net]\nleaves = 2\nspines = {spines}\nhosts = {hosts}")
        };
        let groups = groups.into_iter().enumerate();
        let transport = format!(
            "congestion = \"reno\"\nsend_jitter = \"{jitter}\"\nhandshake = {opens}\n\
             min_rto = \"20 ms\""
        );
        let groups: Vec<String> = groups
            .map(|(at, group)| format!("[flows.group{at}]\n{transport}\n{group}\n"))
            .collect();
        let groups = groups.concat();
        let stream = if has_stream { format!("[flows.stream]\n{STREAM}\n") } else { String::new() };
        let text = format!(
            "duration = \"500 ms\"\nmeasure_from = \"50 ms\"\n{size}\nrate = \"8 Mbit/s\"\n\
             delay = \"1 ms\"\nqueue = {{ kind = \"drop_tail\", limit = \"{limit}\" }}\n\
             {groups}{stream}"
        );
        scenario_run::network(&text, seed)
    })
}
