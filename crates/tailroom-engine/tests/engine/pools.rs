//! Memory that links share: closed forms of dynamic thresholds, what a switch measures, and what holds
//! for every policy and discipline.

use tailroom_engine::observe::Act;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::results::{PoolSummary, Results, Summary};
use tailroom_engine::scenario::{self, NoFiles};

use crate::support::case::{Case, Expected, Run, above, case, check, near, within};

/// Bytes of each packet of these tests.
pub(crate) const PACKET: f64 = 100.0;

impl Case {
    /// Links `l0`, `l1`, ... of 10 Mbit/s that share the pool `p`.
    pub(crate) fn ports(self, count: usize, pool: impl AsRef<str>, keys: &str) -> Self {
        let keys = format!("10 Mbit/s, 0 ms, queue = 'drop_tail', pool = 'p', {keys}");
        let port = |case: Case, index: usize| case.link(format!("l{index}"), &keys);
        self.table("pools.p", pool).each(0..count, port)
    }

    /// A stream of packets of 100 B at so many times the rate of a port.
    pub(crate) fn load(self, name: impl AsRef<str>, port: usize, times: f64, keys: &str) -> Self {
        let rate = (times * 1e7).round();
        let keys = format!("cbr {rate} bit/s, 100 B, header_size = '40 B', {keys}");
        self.stream(name, format!("l{port}"), keys)
    }

    /// Streams `f0`, `f1`, ... of this kind, one to each of the first ports.
    pub(crate) fn loads(self, ports: usize, times: f64, keys: &str) -> Self {
        self.each(0..ports, |case, port| case.load(format!("f{port}"), port, times, keys))
    }
}

pub(crate) fn pool_of(summary: &Summary) -> &PoolSummary {
    summary.pools.get("p").expect("the scenario has a pool")
}

/// Memory of this size under dynamic thresholds.
pub(crate) fn dynamic(size: f64, alpha: f64) -> String {
    format!("size = '{size} B', policy = {{ kind = 'dynamic_threshold', alpha = {alpha} }}")
}

/// So many bytes for each of some queues, or up to the bound from it.
pub(crate) fn each(queues: usize, bytes: f64, bound: f64) -> Expected {
    let queues = queues as f64;
    within(queues * (bytes - bound)..=queues * (bytes + bound))
}

/// Queues that are always full hold alpha B / (1 + alpha M) each (Choudhury and Hahne 1998).
#[test]
fn saturated_queues_settle_at_the_dynamic_threshold() {
    const SIZE: f64 = 200_000.0;
    for queues in [1, 4, 16, 64] {
        for alpha in [0.0625, 0.5, 1.0, 8.0] {
            let expected = alpha * SIZE / (1.0 + alpha * queues as f64);
            case("1 s from 600 ms")
                .ports(queues, dynamic(SIZE, alpha), "")
                .loads(queues, 1.5, "")
                .run()
                .expect(
                    "pools.p.memory_bytes_mean",
                    each(queues, expected, (1.0 + alpha) * PACKET),
                );
        }
    }
}

/// Packets that a link accepts before it refuses one for its threshold.
pub(crate) fn accepted_before_a_drop(results: &Results, link: u32) -> f64 {
    let log = results.tables.packets.as_ref().expect("it is recorded");
    let refused = Act::Dropped(DropReason::Threshold).fate();
    let fates = log.link.iter().zip(&log.fate).filter(|(at, _)| **at == link);
    let accepted = fates.map(|(_, fate)| *fate).take_while(|fate| *fate != refused).count();
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
        let log = "arrival_log = { from = '1500 ms', to = '2500 ms', most_packets = 2000000 }";
        let run = case("2500 ms")
            .ports(saturated, dynamic(SIZE, alpha), "")
            .link(
                format!("l{saturated}"),
                format!("10 Mbit/s, 0 ms, queue = 'drop_tail', pool = 'p', {log}"),
            )
            .loads(saturated, 2.0, "")
            .load("burst", saturated, input, "start = '1500 ms'")
            .run();
        let found = accepted_before_a_drop(&run, saturated as u32);
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
        let size = (shared + ladder.len() as u64 * reserve) * 254;
        let pool =
            format!("size = '{size} B', cell = '254 B', policy = {{ kind = 'dynamic_threshold' }}");
        let reserved = format!("reserved = '{} B'", reserve * 254);
        let run = filled_in_turn(
            ladder,
            254,
            case(&format!("{} s", ladder.len())).ports(ladder.len(), pool, &reserved),
        );
        for (index, stops_at) in ladder.iter().enumerate() {
            let at = run.link(&format!("l{index}"));
            assert!(
                at.by_reason.drops_threshold_packets > 0,
                "queue {index} reaches its threshold"
            );
            let taken = at.arrivals_packets - at.drops_packets;
            assert_eq!(taken, *stops_at, "queue {index}, {shared} cells shared");
        }
    }
}

/// Ports that send next to nothing, each of which gets 100 packets of a cell more than it holds, one port a
/// second.
fn filled_in_turn(holds: &[u64], cell: u64, case: Case) -> Run {
    let fill = |case: Case, (index, packets): (usize, &u64)| {
        let rate = (packets + 100) * cell * 8;
        let span = format!("start = '{index} s', stop = '{} s'", index + 1);
        let keys = format!("cbr {rate} bit/s, {cell} B, {span}");
        let case = case.set(format!("links.l{index}.rate"), "1 bit/s");
        case.stream(format!("f{index}"), format!("l{index}"), keys)
    };
    case.each(holds.iter().enumerate(), fill).run()
}

/// Names the ports of links, of which so many belong to one.
fn with_ports(case: Case, links: usize, of_port: usize) -> Case {
    case.each(0..links, |case, link| {
        case.set(format!("links.l{link}.port"), format!("p{}", link / of_port))
    })
}

/// Memory with an alpha of queues and one of ports.
fn two_alphas(size: f64, queue: f64, port: f64) -> String {
    let policy = format!("kind = 'dynamic_threshold', alpha = {queue}, port_alpha = {port}");
    format!("size = '{size} B', policy = {{ {policy} }}")
}

/// M ports of k queues each that are always full: q = aq (ap (B - M k q) - k q).
#[test]
fn saturated_queues_settle_where_the_alphas_of_queue_and_port_allow() {
    const SIZE: f64 = 200_000.0;
    for (ports, queues) in [(1, 1), (1, 4), (4, 1), (4, 4), (16, 2)] {
        for (queue, port) in [(0.5, 0.5), (1.0, 8.0), (8.0, 1.0), (4.0, 4.0), (0.0625, 2.0)] {
            let all = ports * queues;
            let saturated = case("1 s from 600 ms")
                .ports(all, two_alphas(SIZE, queue, port), "")
                .loads(all, 1.5, "");
            let (of_all, of_port) = (all as f64, queues as f64);
            let expected = queue * port * SIZE / (1.0 + queue * (port * of_all + of_port));
            // A packet that leaves moves the threshold of its port by so many.
            let bound = (1.0 + queue * (port + 1.0)) * PACKET;
            with_ports(saturated, all, queues)
                .run()
                .expect("pools.p.memory_bytes_mean", each(all, expected, bound));
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
        let memory = two_alphas(CELLS * 192.0, queue, port) + ", cell = '192 B'";
        let case = with_ports(case("14 s").ports(14, memory, ""), 14, 2);
        let run =
            filled_in_turn(&stops.iter().map(|stop| *stop as u64).collect::<Vec<_>>(), 192, case);
        for (index, stop) in stops.into_iter().enumerate() {
            let at = run.link(&format!("l{index}"));
            let taken = (at.arrivals_packets - at.drops_packets) as f64;
            check(format!("queue {index}"), taken, within(stop - 1.0..=stop + 1.0));
        }
    }
}

const POLICIES: [&str; 13] = [
    "'complete_sharing'",
    "'complete_partitioning'",
    "{ kind = 'static_threshold', threshold = '3 kB' }",
    "'dynamic_threshold'",
    "{ kind = 'dynamic_threshold', alpha = 8 }",
    "{ kind = 'dynamic_threshold', alpha = 2, port_alpha = 4 }",
    "{ kind = 'dynamic_threshold', lower_alphas = [0.5] }",
    "{ kind = 'abm', interval = '10 ms' }",
    "'fab'",
    "{ kind = 'fab', alpha = 8, short_flow_alpha = 0.5 }",
    "'occamy'",
    "{ kind = 'occamy', alpha = 0.5, memory_rate = '1 Gbit/s' }",
    "'longest_queue_drop'",
];

/// Equal streams whose packets arrive at the same picosecond.
#[test]
fn symmetric_senders_lose_alike_under_every_policy() {
    for policy in POLICIES {
        let run = case("4 s")
            .ports(2, format!("size = '5 kB', policy = {policy}"), "")
            .loads(2, 1.6, "source.phase = '0 s'")
            .run();
        let first = run.get("links.l0.drops_packets");
        run.expect("links.l0.drops_packets", above(20_000.0));
        check(policy, first / run.get("links.l1.drops_packets"), near(1.0, 0.01));
    }
}

/// A flood takes all it can, and a slow stream alongside it loses nothing within its reserve.
#[test]
fn a_reserve_is_free_for_its_queue_under_every_policy() {
    for policy in POLICIES {
        case("2 s")
            .ports(2, format!("size = '3 kB', policy = {policy}"), "reserved = '150 B'")
            .load("flood", 0, 3.0, "")
            .load("slow", 1, 0.9, "")
            .run()
            .expect("links.l0.drops_packets", above(10_000.0))
            .expect("links.l1.drops_packets", 0);
    }
}

/// With memory for all that the disciplines hold, a pool decides nothing.
#[test]
fn a_pool_that_never_binds_changes_no_statistic_of_a_link() {
    let limited = |ports: Case, key: &str| {
        let link = |case: Case, index: i32| {
            case.link(format!("l{index}"), format!("10 Mbit/s, 0 ms, 20 packets, {key}"))
        };
        ports
            .each(0..3, link)
            .toml("defaults = { congestion = 'cubic', rtt = '20 ms' }")
            .flows("a", "l0 l1", "count = 3")
            .flows("b", "l2", "reverse_path = ['l0']")
            .run()
    };
    let without = limited(case("2 s"), "");
    for policy in ["'complete_sharing'", "{ kind = 'dynamic_threshold', alpha = 1e6 }"] {
        for frees in ["at start", "at end"] {
            let pool = format!("size = '94500 B', policy = {policy}, frees = '{frees}'");
            let run = limited(case("2 s").table("pools.p", pool), "pool = 'p'");
            run.expect("pools.p.memory_bytes_max", above(30_000.0));
            assert_eq!(run.summary.links, without.summary.links, "{policy}, {frees}");
        }
    }
    without.expect("links.l0.drops_overflow_packets", above(0.0));
}

/// A link that is never idle holds ten packets: with the one that it sends, or without it.
#[test]
fn the_packet_that_is_sent_occupies_memory_until_it_is_freed() {
    for (frees, waiting) in [("at start", 10), ("at end", 9)] {
        let pool = format!("size = '1 kB', policy = 'complete_sharing', frees = '{frees}'");
        case("1 s from 100 ms")
            .ports(1, pool, "")
            .load("flood", 0, 3.0, "")
            .run()
            .expect("links.l0.queue_packets_max", waiting)
            .expect("pools.p.memory_bytes_max", within(992.0..=1_008.0));
    }
}

/// Every discipline takes a pool without a limit of its own, and thresholds of ECN still mark.
#[test]
fn every_discipline_works_on_a_pool() {
    for queue in [
        "'drop_tail'",
        "'red'",
        "'adaptive_red'",
        "{ kind = 'step_mark', threshold = '5 packets' }",
        "{ kind = 'wred', k_min = '5 kB', k_max = '20 kB' }",
        "'drop_head'",
        "'random_drop'",
        "'codel'",
        "'pie'",
        "'dual_pi2'",
        "'fair'",
        "'fq_codel'",
        "'fq_pie'",
        "'cake'",
    ] {
        let pool = "size = '60 kB', cell = '208 B', policy = 'dynamic_threshold'";
        let marked = "count = 2, rtt = '10 ms', congestion = 'dctcp', ecn = 'accurate'";
        let run = case("3 s from 500 ms")
            .table("pools.p", pool)
            .link("l0", format!("10 Mbit/s, 0 ms, queue = {queue}, pool = 'p'"))
            .link("l1", format!("10 Mbit/s, 0 ms, queue = {queue}, pool = 'p'"))
            .flows("marked", "l0", marked)
            .stream("flood", "l1", "cbr 11 Mbit/s, 1500 B, rtt = '10 ms'")
            .run();
        run.expect("links.l0.utilization", above(0.8))
            .expect("pools.p.memory_bytes_max", above(3_000.0))
            .expect("pools.p.memory_bytes_max", within(..=60_000.0));
        if ["step_mark", "wred", "codel"].iter().any(|kind| queue.contains(kind)) {
            run.expect("links.l0.marks_packets", above(0.0));
        }
        let shares = pool_of(&run.summary).links.0.iter().filter_map(|(_, link)| link.memory_share);
        check(format!("{queue}: shares"), shares.sum(), near(1.0, 1e-9));
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
    let pool = "size = '16 kB', policy = { kind = 'dynamic_threshold', alpha = 1 }";
    let text = case("1 s").ports(1, pool, "").load("f", 0, 1.0, "").text;
    let written = read(&text, &overrides).to_toml();
    let again = read(&written, &[]);
    assert_eq!(again.to_toml(), written);
    let network = again.resolve().expect("it is valid");
    assert_eq!(network.pools[0].cell_bytes, 208);
    assert_eq!(network.links[0].pool.expect("it has a pool").reserved_bytes, 2_000);
}
