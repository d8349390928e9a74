//! Memory that links share: closed forms of dynamic thresholds, what a switch measures, and what holds
//! for every policy and discipline.

use std::fmt::Write;

use tailroom_engine::results::{PoolSummary, Results, Summary};
use tailroom_engine::scenario::{self, NoFiles};

use crate::support::scenario_run::run;
use crate::support::summaries::link;

/// Bytes of each packet of these tests.
pub(crate) const PACKET: f64 = 100.0;

/// Links `l0`, `l1`, ... of 10 Mbit/s that share the pool `p`.
pub(crate) fn links(count: usize, pool: &str, keys: &str) -> String {
    let mut text = format!("[pools.p]\n{pool}\n");
    for index in 0..count {
        let _ = write!(
            text,
            "[links.l{index}]
            rate = \"10 Mbit/s\"
            delay = \"0 ms\"
            queue = \"drop_tail\"
            pool = \"p\"
            {keys}\n"
        );
    }
    text
}

/// A stream of packets of 100 B at so many times the rate of a link.
pub(crate) fn stream(name: &str, link: usize, times: f64, start: &str) -> String {
    format!(
        "[flows.{name}]
        path = [\"l{link}\"]
        packet_size = \"100 B\"
        header_size = \"40 B\"
        start = \"{start}\"
        source = {{ kind = \"cbr\", rate = \"{} bit/s\" }}\n",
        (times * 1e7).round()
    )
}

pub(crate) fn pool_of(summary: &Summary) -> &PoolSummary {
    summary.pools.get("p").expect("the scenario has a pool")
}

/// Queues that are always full hold alpha B / (1 + alpha M) each (Choudhury and Hahne 1998).
#[test]
fn saturated_queues_settle_at_the_dynamic_threshold() {
    const SIZE: f64 = 200_000.0;
    for queues in [1, 4, 16, 64] {
        for alpha in [0.0625, 0.5, 1.0, 8.0] {
            let policy = format!("policy = {{ kind = \"dynamic_threshold\", alpha = {alpha} }}");
            let mut text = "duration = \"1 s\"\nmeasure_from = \"600 ms\"\n".to_owned();
            text += &links(queues, &format!("size = \"{SIZE} B\"\n{policy}"), "");
            for index in 0..queues {
                text += &stream(&format!("f{index}"), index, 1.5, "0 s");
            }
            let results = run(&text, 1);
            let found = pool_of(&results.summary).memory_bytes_mean / queues as f64;
            let expected = alpha * SIZE / (1.0 + alpha * queues as f64);
            let bound = (1.0 + alpha) * PACKET;
            let case = format!("{queues} queues, alpha {alpha}: {found} B, expected {expected} B");
            assert!((found - expected).abs() <= bound, "{case}");
        }
    }
}

/// Packets that a link accepts before it refuses one for its threshold.
pub(crate) fn accepted_before_a_drop(results: &Results, link: u32) -> f64 {
    let log = results.tables.arrival_log.as_ref().expect("it is recorded");
    let fates = log.link.iter().zip(&log.fate).filter(|(at, _)| **at == link);
    let accepted = fates.map(|(_, fate)| *fate).take_while(|fate| *fate != 7).count();
    assert!(accepted < log.fate.len(), "no packet is refused");
    accepted as f64
}

/// A queue that is idle until its input begins at R times the rate of its link, with M saturated
/// queues. These follow the threshold down if R < 1 + M + 1 / alpha, and else drain at the rate of
/// their links.
#[test]
fn a_burst_next_to_saturated_queues_is_cut_where_the_fluid_model_says() {
    const SIZE: f64 = 1e6;
    for (alpha, saturated, input) in [
        (0.5, 1, 1.5),
        (0.5, 1, 4.0), // the boundary
        (0.5, 1, 8.0),
        (1.0, 4, 3.0),
        (1.0, 4, 6.0), // the boundary
        (1.0, 4, 16.0),
        (2.0, 0, 3.0),
        (8.0, 1, 2.0),
        (8.0, 1, 8.0),
        (8.0, 16, 32.0),
        (0.0625, 4, 16.0),
    ] {
        let policy = format!("policy = {{ kind = \"dynamic_threshold\", alpha = {alpha} }}");
        let mut text = "duration = \"2500 ms\"\n".to_owned();
        text += &links(saturated + 1, &format!("size = \"{SIZE} B\"\n{policy}"), "");
        text += "arrival_log = { from = \"1500 ms\", to = \"2500 ms\", most_packets = 2000000 }\n";
        for index in 0..saturated {
            text += &stream(&format!("f{index}"), index, 2.0, "0 s");
        }
        text += &stream("burst", saturated, input, "1500 ms");
        let found = accepted_before_a_drop(&run(&text, 1), saturated as u32);
        let others = saturated as f64;
        let (follow, fill) = (1.0 + others + 1.0 / alpha, input - 1.0);
        let (queue, packets_off) = if input < follow {
            // The threshold moves in steps of alpha packets, and a queue may exceed it by a packet.
            (alpha * SIZE / (1.0 + alpha * (others + 1.0)), 1.0 + alpha.max(1.0))
        } else {
            // Each queue is off by at most a packet when the burst begins, the threshold by alpha
            // times as much.
            let closing = fill + alpha * (fill - others);
            let before = alpha * SIZE / (1.0 + alpha * others);
            (fill * before / closing, 2.0 + fill * alpha * (others + 1.0) / closing)
        };
        let (expected, bound) = (queue / PACKET * input / fill, packets_off * input / fill);
        let case = format!("alpha {alpha}, {saturated} saturated queues, input {input}");
        assert!((found - expected).abs() <= bound, "{case}: {found} packets, {expected} expected");
    }
}

/// A ladder of Tomahawk 5: the shared memory and the reserve of a priority group, in cells of 254 B, and the
/// cells at which each group is paused.
type Ladder = (u64, u64, &'static [u64]);

/// Cells at which Tomahawk 5 pauses priority groups that are filled one after another, with alpha 1, while
/// nothing is sent: `pkts_num_trig_pfc_multi` in the tests of buffers of `sonic-mgmt`, commit b4ba9de
/// (`tests/qos/files/qos_params.th5.yaml`), with the reserve that `pkts_num_fill_min` has there. The shared
/// memory follows from the first step, half of it. A group that finds no free cell has its reserve alone.
const LADDERS: [Ladder; 5] = [
    // topo-ft2-64, 800G, 5 m
    (
        284_501,
        34,
        &[142_285, 71_159, 35_597, 17_815, 8_925, 4_479, 2_257, 1_145, 590, 312, 173, 103, 69],
    ),
    // topo-lt2-p32o64, 800G, 5 m
    (
        251_109,
        34,
        &[
            125_589, 62_811, 31_423, 15_728, 7_881, 3_958, 1_996, 1_015, 524, 279, 157, 95, 65, 49,
            42, 38, 36, 35, 34, 34, 34, 34,
        ],
    ),
    // topo-t0-isolated-d96u32s2, 400G, 5 m, and the first 23 steps at 40 m
    (
        269_302,
        74,
        &[
            134_725, 67_400, 33_737, 16_905, 8_490, 4_282, 2_178, 1_126, 600, 337, 205, 140, 107,
            90, 82, 78, 76, 75, 75, 74, 74, 74, 74, 74, 74, 74,
        ],
    ),
    // topo-t1-isolated-d128, 400G, 40 m
    (
        266_549,
        74,
        &[
            133_349, 66_711, 33_393, 16_733, 8_404, 4_239, 2_156, 1_115, 595, 334, 204, 139, 107,
            90, 82, 78, 76, 75, 75, 74, 74, 74, 74, 74, 74,
        ],
    ),
    // topo-t0-standalone, 200G, 5 m, without the last 28 of 32 groups of 74 cells
    (
        240_086,
        74,
        &[
            120_117, 60_096, 30_085, 15_079, 7_577, 3_825, 1_950, 1_012, 543, 308, 191, 133, 103,
            89, 81, 78, 76, 75, 74, 74, 74, 74,
        ],
    ),
];

#[test]
fn queues_that_fill_in_turn_stop_where_those_of_a_tomahawk_5_do() {
    for (shared, reserve, ladder) in LADDERS {
        let queues = ladder.len();
        let pool = format!(
            "size = \"{} B\"\ncell = \"254 B\"\npolicy = {{ kind = \"dynamic_threshold\" }}",
            (shared + queues as u64 * reserve) * 254
        );
        let reserved = format!("reserved = \"{} B\"", reserve * 254);
        let mut text = format!("duration = \"{queues} s\"\n");
        text += &links(queues, &pool, &reserved).replace("10 Mbit/s", "1 bit/s");
        for (index, stops_at) in ladder.iter().enumerate() {
            let _ = write!(
                text,
                "[flows.f{index}]
                path = [\"l{index}\"]
                packet_size = \"254 B\"
                start = \"{index} s\"
                stop = \"{} s\"
                source = {{ kind = \"cbr\", rate = \"{} bit/s\" }}\n",
                index + 1,
                (stops_at + 100) * 254 * 8
            );
        }
        let summary = run(&text, 1).summary;
        for (index, stops_at) in ladder.iter().enumerate() {
            let at = link(&summary, &format!("l{index}"));
            assert!(
                at.by_reason.drops_threshold_packets > 0,
                "queue {index} reaches its threshold"
            );
            let taken = at.arrivals_packets - at.drops_packets;
            assert_eq!(taken, *stops_at, "queue {index} of {queues}, {shared} cells shared");
        }
    }
}

/// A policy with an alpha of queues and one of ports.
fn two_alphas(queue: f64, port: f64) -> String {
    format!("policy = {{ kind = \"dynamic_threshold\", alpha = {queue}, port_alpha = {port} }}")
}

/// M ports of k queues each that are always full: q = aq (ap (B - M k q) - k q).
#[test]
fn saturated_queues_settle_where_the_alphas_of_queue_and_port_allow() {
    const SIZE: f64 = 200_000.0;
    for (ports, queues) in [(1, 1), (1, 4), (4, 1), (4, 4), (16, 2)] {
        for (queue, port) in [(0.5, 0.5), (1.0, 8.0), (8.0, 1.0), (4.0, 4.0), (0.0625, 2.0)] {
            let mut text = "duration = \"1 s\"\nmeasure_from = \"600 ms\"\n".to_owned();
            let memory = format!("size = \"{SIZE} B\"\n{}", two_alphas(queue, port));
            text += &links(ports * queues, &memory, "");
            for index in 0..ports * queues {
                let of_port = format!("[links.l{index}]\nport = \"p{}\"", index / queues);
                text = text.replacen(&format!("[links.l{index}]"), &of_port, 1);
                text += &stream(&format!("f{index}"), index, 1.5, "0 s");
            }
            let results = run(&text, 1);
            let all = (ports * queues) as f64;
            let found = pool_of(&results.summary).memory_bytes_mean / all;
            let expected = queue * port * SIZE / (1.0 + queue * (port * all + queues as f64));
            // A packet that leaves moves the threshold of its port by so many.
            let bound = (1.0 + queue * (port + 1.0)) * PACKET;
            let case = format!("{ports} ports of {queues} queues, alphas {queue} and {port}");
            assert!((found - expected).abs() <= bound, "{case}: {found} B, expected {expected} B");
        }
    }
}

/// Two queues of each of seven ports that are filled one after another, as `sonic-mgmt` does with
/// Spectrum-4 and 5: `tests/qos/files/mellanox/qos_param_generator.py` has where each stops. A new port
/// sees what is left as a smaller memory.
#[test]
fn queues_of_ports_that_fill_in_turn_stop_where_those_of_a_spectrum_4_do() {
    const CELLS: f64 = 100_000.0;
    for (queue, port) in [(1.0, 8.0), (4.0, 1.0), (0.5, 0.5)] {
        let mut stops = Vec::new();
        let mut left = CELLS;
        for _ in 0..7 {
            let mut taken = 0.0;
            for _ in 0..2 {
                let allowed = queue * port * (left - taken) - queue * taken;
                let stop = (allowed / (1.0 + queue * port + queue)).ceil();
                stops.push(stop);
                taken += stop;
            }
            left -= taken;
        }
        let pool = format!(
            "size = \"{} B\"\ncell = \"192 B\"\n{}",
            CELLS * 192.0,
            two_alphas(queue, port)
        );
        let mut text = "duration = \"14 s\"\n".to_owned();
        text += &links(14, &pool, "").replace("10 Mbit/s", "1 bit/s");
        for (index, stop) in stops.iter().enumerate() {
            let of_port = format!("[links.l{index}]\nport = \"p{}\"", index / 2);
            text = text.replacen(&format!("[links.l{index}]"), &of_port, 1);
            let _ = write!(
                text,
                "[flows.f{index}]
                path = [\"l{index}\"]
                packet_size = \"192 B\"
                start = \"{index} s\"
                stop = \"{} s\"
                source = {{ kind = \"cbr\", rate = \"{} bit/s\" }}\n",
                index + 1,
                (stop + 100.0) * 192.0 * 8.0
            );
        }
        let summary = run(&text, 1).summary;
        for (index, stop) in stops.into_iter().enumerate() {
            let at = link(&summary, &format!("l{index}"));
            let taken = (at.arrivals_packets - at.drops_packets) as f64;
            let case = format!("alphas {queue} and {port}, queue {index}");
            assert!((taken - stop).abs() <= 1.0, "{case}: {taken} cells, {stop} expected");
        }
    }
}

const POLICIES: [&str; 13] = [
    "\"complete_sharing\"",
    "\"complete_partitioning\"",
    "{ kind = \"static_threshold\", threshold = \"3 kB\" }",
    "\"dynamic_threshold\"",
    "{ kind = \"dynamic_threshold\", alpha = 8 }",
    "{ kind = \"dynamic_threshold\", alpha = 2, port_alpha = 4 }",
    "{ kind = \"dynamic_threshold\", lower_alphas = [0.5] }",
    "{ kind = \"abm\", interval = \"10 ms\" }",
    "\"fab\"",
    "{ kind = \"fab\", alpha = 8, short_flow_alpha = 0.5 }",
    "\"occamy\"",
    "{ kind = \"occamy\", alpha = 0.5, memory_rate = \"1 Gbit/s\" }",
    "\"longest_queue_drop\"",
];

/// Equal streams whose packets arrive at the same picosecond.
#[test]
fn symmetric_senders_lose_alike_under_every_policy() {
    for policy in POLICIES {
        let mut text = "duration = \"4 s\"\n".to_owned();
        text += &links(2, &format!("size = \"5 kB\"\npolicy = {policy}"), "");
        for index in 0..2 {
            let paced = stream(&format!("f{index}"), index, 1.6, "0 s");
            text += &paced.replace("bit/s\" }", "bit/s\", phase = \"0 s\" }");
        }
        let summary = run(&text, 1).summary;
        let [first, second] = ["l0", "l1"].map(|name| link(&summary, name).drops_packets as f64);
        assert!(first > 20_000.0, "{policy}: {first} drops");
        assert!((first / second - 1.0).abs() < 0.01, "{policy}: {first} and {second} drops");
    }
}

/// A flood takes all it can, and a slow stream alongside it loses nothing within its reserve.
#[test]
fn a_reserve_is_free_for_its_queue_under_every_policy() {
    for policy in POLICIES {
        let mut text = "duration = \"2 s\"\n".to_owned();
        text += &links(2, &format!("size = \"3 kB\"\npolicy = {policy}"), "reserved = \"150 B\"");
        text += &stream("flood", 0, 3.0, "0 s");
        text += &stream("slow", 1, 0.9, "0 s");
        let summary = run(&text, 1).summary;
        assert!(link(&summary, "l0").drops_packets > 10_000, "{policy}");
        assert_eq!(link(&summary, "l1").drops_packets, 0, "{policy}");
    }
}

/// With memory for all that the disciplines hold, a pool decides nothing.
#[test]
fn a_pool_that_never_binds_changes_no_statistic_of_a_link() {
    let with = |pool: &str, key: &str| {
        let mut text = "duration = \"2 s\"\n".to_owned();
        let queue = "queue = { kind = \"drop_tail\", limit = \"20 packets\" }";
        text += &links(3, pool, "").replace("queue = \"drop_tail\"", queue);
        let text = text.replace("pool = \"p\"", key);
        let text =
            if key.is_empty() { text.replace(&format!("[pools.p]\n{pool}\n"), "") } else { text };
        let flows = "[defaults]\ncongestion = \"cubic\"\nrtt = \"20 ms\"\n[flows.a]\ncount = 3\npath = \
                     [\"l0\", \"l1\"]\n[flows.b]\npath = [\"l2\"]\nreverse_path = [\"l0\"]\n";
        run(&(text + flows), 1).summary
    };
    let without = with("", "");
    for policy in ["\"complete_sharing\"", "{ kind = \"dynamic_threshold\", alpha = 1e6 }"] {
        for frees in ["at start", "at end"] {
            let pool = format!("size = \"94500 B\"\npolicy = {policy}\nfrees = \"{frees}\"");
            let summary = with(&pool, "pool = \"p\"");
            assert!(pool_max(&summary) > 30_000.0, "the pool is used");
            assert_eq!(summary.links, without.links, "{policy}, {frees}");
        }
    }
    assert!(without.links.0[0].1.by_reason.drops_overflow_packets > 0, "the limits bind");
}

/// A link that is never idle holds ten packets: with the one that it sends, or without it.
#[test]
fn the_packet_that_is_sent_occupies_memory_until_it_is_freed() {
    for (frees, waiting) in [("at start", 10.0), ("at end", 9.0)] {
        let pool = format!("size = \"1 kB\"\npolicy = \"complete_sharing\"\nfrees = \"{frees}\"");
        let mut text = "duration = \"1 s\"\nmeasure_from = \"100 ms\"\n".to_owned();
        text += &links(1, &pool, "");
        text += &stream("flood", 0, 3.0, "0 s");
        let summary = run(&text, 1).summary;
        assert_eq!(link(&summary, "l0").queue_packets_max, Some(waiting), "{frees}");
        assert!((pool_max(&summary) - 1_000.0).abs() <= 8.0, "{frees}");
    }
}

fn pool_max(summary: &Summary) -> f64 {
    pool_of(summary).memory_bytes_max.expect("time passes")
}

/// Every discipline takes a pool without a limit of its own, and thresholds of ECN still mark.
#[test]
fn every_discipline_works_on_a_pool() {
    let queues = [
        "\"drop_tail\"",
        "\"red\"",
        "\"adaptive_red\"",
        "{ kind = \"step_mark\", threshold = \"5 packets\" }",
        "{ kind = \"wred\", k_min = \"5 kB\", k_max = \"20 kB\" }",
        "\"drop_head\"",
        "\"random_drop\"",
        "\"codel\"",
        "\"pie\"",
        "\"dual_pi2\"",
        "\"fair\"",
        "\"fq_codel\"",
        "\"fq_pie\"",
    ];
    for queue in queues {
        let mut text = "duration = \"3 s\"\nmeasure_from = \"500 ms\"\n".to_owned();
        let pool = "size = \"60 kB\"\ncell = \"208 B\"\npolicy = \"dynamic_threshold\"";
        text += &links(2, pool, "").replace("queue = \"drop_tail\"", &format!("queue = {queue}"));
        text += "[defaults]\npath = [\"l0\"]\nrtt = \"10 ms\"\n[flows.marked]\ncount = 2\n\
                 congestion = \"dctcp\"\necn = \"accurate\"\n[flows.flood]\npath = [\"l1\"]\nsource = \
                 { kind = \"cbr\", rate = \"11 Mbit/s\" }\n";
        let summary = run(&text, 1).summary;
        let at = link(&summary, "l0");
        assert!(at.utilization > 0.8, "{queue}: {}", at.utilization);
        let marks = ["step_mark", "wred", "codel"];
        let is_marking = marks.iter().any(|kind| queue.contains(kind));
        assert!(!is_marking || at.marks_packets > 0, "{queue} marks");
        let pool = pool_of(&summary);
        let max = pool_max(&summary);
        assert!(max <= 60_000.0 && max > 3_000.0, "{queue}: {max}");
        let shares: f64 = pool.links.0.iter().filter_map(|(_, link)| link.memory_share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{queue}: shares add up to {shares}");
    }
}

/// The scenario with its defaults filled in gives the same network.
#[test]
fn a_pool_is_written_as_it_is_read() {
    let overrides = [
        ("pools.p.policy.alpha".to_owned(), "0.5".to_owned()),
        ("pools.p.cell".to_owned(), "208 B".to_owned()),
        ("links.l0.reserved".to_owned(), "2 kB".to_owned()),
    ];
    let read = |text: &str, overrides: &[(String, String)]| {
        scenario::parse(text, overrides, None, &NoFiles).expect("it is valid")
    };
    let pool = "size = \"16 kB\"\npolicy = { kind = \"dynamic_threshold\", alpha = 1 }";
    let text =
        "duration = \"1 s\"\n".to_owned() + &links(1, pool, "") + &stream("f", 0, 1.0, "0 s");
    let written = read(&text, &overrides).to_toml();
    let again = read(&written, &[]);
    assert_eq!(again.to_toml(), written);
    let network = again.resolve().expect("it is valid");
    assert_eq!(network.pools[0].cell_bytes, 208);
    assert_eq!(network.links[0].pool.expect("it has a pool").reserved_bytes, 2_000);
}
