//! Scalable congestion controls (Prague and DCTCP): Prague alone at `DualPI2`, and the shares of
//! either alongside CUBIC at `DualPI2`, at a marking threshold and without marks.

use crate::support::case::{Case, Run, above, below, case, check, close, within};

const DUAL_PI2: &str = "{ kind = 'dual_pi2' }";
const STEP: &str = "{ kind = 'step_mark', threshold = '1 ms', limit = '50 ms' }";
const DROP_TAIL: &str = "{ kind = 'drop_tail', limit = '50 ms' }";

/// Round trip times without queueing, in ms.
const RTTS: [u32; 5] = [5, 10, 20, 50, 100];

/// Two flows of one control.
#[derive(Clone, Copy, Debug)]
struct Pair {
    control: &'static str,
    ecn: &'static str,
}

const PRAGUE: Pair = Pair { control: "prague", ecn: "l4s" };
const DCTCP: Pair = Pair { control: "dctcp", ecn: "l4s" };
const CUBIC: Pair = Pair { control: "cubic", ecn: "off" };
const CUBIC_WITH_ECN: Pair = Pair { control: "cubic", ecn: "classic" };

/// Runs pairs of flows with this RTT over 100 Mbit/s and measures 60 s after 30 s.
fn run(queue: &str, pairs: &[Pair], rtt_ms: u32, seed: u64) -> Run {
    let flows = |case: Case, (index, pair): (usize, &Pair)| {
        let Pair { control, ecn } = pair;
        let control = format!("congestion = '{control}', ecn = '{ecn}'");
        let others = format!("pacing = {}, rtt = '{rtt_ms} ms'", pair.control == "prague");
        let start = "count = 2, start = { uniform = ['0 s', '1 s'] }";
        case.flows(format!("pair{index}"), "bottleneck", format!("{control}, {others}, {start}"))
    };
    case("90 s from 30 s")
        .seed(seed)
        .link("bottleneck", format!("100 Mbit/s, 2 ms, queue = {queue}"))
        .each(pairs.iter().enumerate(), flows)
        .run()
}

/// The ratio of the goodput of the first pair to that of the second, and the run.
fn ratio(queue: &str, pairs: [Pair; 2], rtt_ms: u32, seed: u64) -> (f64, Run) {
    let run = run(queue, &pairs, rtt_ms, seed);
    (run.group("pair0").goodput_bps / run.group("pair1").goodput_bps, run)
}

/// The L4S queue marks every packet above a delay of 800 + 400 us. At RTTs above 25 ms whole
/// windows arrive on the ramp; even so, the mean delay stays below the ramp and the link stays
/// busy.
#[test]
fn prague_alone_keeps_the_l4s_queue_below_a_millisecond_and_the_link_busy() {
    for rtt_ms in RTTS {
        run(DUAL_PI2, &[PRAGUE], rtt_ms, 1)
            .expect("links.bottleneck.utilization", above(0.995))
            .expect("links.bottleneck.queue_delay_s_mean", below(800e-6))
            .expect("links.bottleneck.queue_delay_s_p99", below(1_200e-6))
            .expect("links.bottleneck.drops_packets", 0)
            .expect("groups.pair0.timeouts", 0);
    }
}

/// The window W of Prague in a virtual round trip of 25 ms, by its rules. `DualPI2` marks every
/// 1/p-th packet. After a mark the flow ignores marks for a virtual round trip, W packets; the next
/// mark follows after 1 / 2p packets on average. In this time the window grows by (1 - p) per W
/// packets, and then falls by p W / 2. So x = p W solves x = 2 (1 - p) (1 + 1 / 2x), and a flow
/// sends W packets per 25 ms at any RTT. The smaller p is, the more it varies alongside CUBIC.
#[test]
fn prague_has_the_response_function_of_its_virtual_round_trip() {
    for rtt_ms in [5, 10] {
        let run = run(DUAL_PI2, &[PRAGUE, CUBIC], rtt_ms, 1);
        let p = run.get("groups.pair0.marked_fraction");
        let x = (1.0 - p) + ((1.0 - p) * (1.0 - p) + (1.0 - p)).sqrt();
        let expected = x / p * 1500.0 * 8.0 / 0.025;
        run.expect("groups.pair0.throughput_bps", close(2.0 * expected, 0.05));
    }
}

/// RFC 9332 sec. 2.1: the coupling aims at similar rates for scalable and classic flows. The
/// measured goodput per flow is 0.71, 0.95, 1.46, 1.61 and 1.28 times that of CUBIC at the RTTs
/// above (standard deviation over seeds below 0.04), whether the packets of CUBIC are dropped or
/// marked.
#[test]
fn prague_and_cubic_share_a_dual_queue_within_a_factor_of_two() {
    for rtt_ms in RTTS {
        for cubic in [CUBIC, CUBIC_WITH_ECN] {
            for seed in [1, 2] {
                let (ratio, run) = ratio(DUAL_PI2, [PRAGUE, cubic], rtt_ms, seed);
                check(format!("{cubic:?}, {rtt_ms} ms"), ratio, within(0.6..1.8));
                run.expect("links.bottleneck.utilization", above(0.99));
            }
        }
    }
}

/// A classic packet waits 15 ms and an L4S packet does not. At an RTT of 5 ms the RTT of CUBIC is 4
/// times as long, and DCTCP, whose rate is inversely proportional to the RTT, gets 3.2 times the
/// rate. Prague avoids this by its virtual round trip.
#[test]
fn dctcp_gets_more_than_its_share_of_a_dual_queue_at_short_rtts() {
    for (rtt_ms, least, most) in [(5, 2.8, 3.6), (10, 2.0, 2.5), (20, 1.5, 2.0)] {
        let (ratio, _) = ratio(DUAL_PI2, [DCTCP, CUBIC], rtt_ms, 1);
        assert!((least..most).contains(&ratio), "{rtt_ms} ms: {ratio}");
    }
}

/// With one threshold for all packets, CUBIC reduces its window by 30 % at a mark, and a scalable
/// control by half of the few percent of its packets that are marked. Without ECN the packets of
/// CUBIC are dropped above the threshold, and CUBIC starves.
#[test]
fn cubic_starves_next_to_scalable_controls_at_a_shared_threshold() {
    for rtt_ms in [20, 50, 100] {
        for scalable in [PRAGUE, DCTCP] {
            let (marked, _) = ratio(STEP, [scalable, CUBIC_WITH_ECN], rtt_ms, 1);
            assert!((6.0..30.0).contains(&marked), "{scalable:?}, {rtt_ms} ms: {marked}");
            let (dropped, _) = ratio(STEP, [scalable, CUBIC], rtt_ms, 1);
            assert!(dropped > 10.0, "{scalable:?}, {rtt_ms} ms: {dropped}");
        }
    }
}

/// Without marks both controls are Reno (RFC 8257 sec. 3.5, draft sec. 2.4.1), which halves its
/// window where CUBIC keeps 70 %. They get less than CUBIC, and far less at long RTTs. At short
/// RTTs CUBIC is as gentle as Reno (RFC 9438 sec. 4.3); Prague, whose pacing avoids some losses at
/// the full buffer, gets about as much.
#[test]
fn scalable_controls_yield_to_cubic_without_marks() {
    let mean = |pair, rtt_ms| {
        let ratios = (1..=3).map(|seed| {
            let (ratio, run) = ratio(DROP_TAIL, [pair, CUBIC], rtt_ms, seed);
            run.expect("links.bottleneck.utilization", above(0.99));
            ratio
        });
        ratios.sum::<f64>() / 3.0
    };
    for rtt_ms in RTTS {
        let dctcp = mean(DCTCP, rtt_ms);
        assert!((0.1..0.9).contains(&dctcp), "DCTCP, {rtt_ms} ms: {dctcp}");
        let prague = mean(PRAGUE, rtt_ms);
        let most = if rtt_ms < 50 { 1.2 } else { 0.9 };
        assert!((0.1..most).contains(&prague), "Prague, {rtt_ms} ms: {prague}");
    }
}

/// Every packet of a control that needs marks is ECN-capable, the first of a connection and what is
/// sent again too (RFC 8257 sec. 3.5): where the queue marks and has room, no flow waits for a timer.
#[test]
fn flows_that_need_marks_lose_nothing_where_the_queue_marks_and_has_room() {
    let source = "source = { kind = 'finite_flows', load = 0.2, size = '10 kB' }";
    for queue in [
        "kind = 'step_mark', threshold = '65 packets'",
        "kind = 'wred', k_min = '40 packets', k_max = '120 packets', p_max = 0.2",
        "kind = 'codel', target = '50 us', interval = '1 ms'",
    ] {
        for (control, ecn) in [("dctcp", "accurate"), ("prague", "l4s")] {
            let queue = format!("queue = {{ {queue}, limit = '5000 packets' }}");
            let loss = "loss = { kind = 'bernoulli', probability = 0.001 }";
            let rtt = "rtt = { uniform = ['80 us', '120 us'] }";
            let keys = format!("congestion = '{control}', ecn = '{ecn}', {rtt}");
            let start = "count = 20, start = { uniform = ['0 s', '0.05 s'] }";
            case("0.4 s")
                .link("port", format!("10 Gbit/s, 5 us, {queue}, {loss}"))
                .flows("long", "port", format!("{keys}, {start}"))
                .flows("short", "port", format!("{keys}, {source}"))
                .run()
                .expect("links.port.marks_packets", above(0.0))
                .expect("links.port.random_losses_packets", above(0.0))
                .expect("links.port.drops_packets", 0);
        }
    }
}
