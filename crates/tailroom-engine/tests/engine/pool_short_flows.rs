//! FAB: packets of short flows have the threshold of a larger alpha, others that of the smaller.

use crate::pools::{PACKET, accepted_before_a_drop, each};
use crate::support::case::{case, check, within};

/// A pool of `size` bytes under FAB, with these parameters.
fn fab(size: f64, parameters: &str) -> String {
    format!("size = '{size} B', policy = {{ kind = 'fab', {parameters} }}")
}

/// Long flows hold what dynamic thresholds with their alpha leave them, alpha B / (1 + alpha M).
#[test]
fn saturated_queues_of_long_flows_settle_at_the_threshold_of_the_smaller_alpha() {
    const SIZE: f64 = 200_000.0;
    for (queues, alpha) in [(1, 0.5), (4, 0.5), (16, 0.0625), (16, 2.0)] {
        let parameters = format!("alpha = {alpha}, short_flow_alpha = 64");
        let expected = alpha * SIZE / (1.0 + alpha * queues as f64);
        case("1 s from 600 ms")
            .ports(queues, fab(SIZE, &parameters), "")
            .loads(queues, 1.5, "")
            .run()
            .expect("pools.p.memory_bytes_mean", each(queues, expected, (1.0 + alpha) * PACKET));
    }
}

/// Next to four queues of long flows at their threshold, alpha B / (1 + alpha M) = B / 6 each, a burst at 8
/// times the rate of its link fills its queue until `q = a (B / 3 - (7 - 4) q / 7)`, since the others only
/// drain. Four flows of less than 200 kB each have the larger alpha for `a`, and one flow the smaller.
#[test]
fn a_burst_of_short_flows_is_cut_at_the_threshold_of_the_larger_alpha() {
    const SIZE: f64 = 1e6;
    const FLOWS: f64 = 4.0;
    let log = "arrival_log = { from = '1500 ms', to = '1700 ms', most_packets = 2000000 }";
    // In the second case the one flow of the burst sends all that a short flow may from its beginning.
    for (flows, alpha, short) in [(FLOWS, 8.0, "200 kB"), (1.0, 0.5, "100 B")] {
        let parameters = format!("alpha = 0.5, short_flow_alpha = 8, short_flow_size = '{short}'");
        let run = case("1700 ms")
            .ports(4, fab(SIZE, &parameters), "")
            .link("l4", format!("10 Mbit/s, 0 ms, queue = 'drop_tail', pool = 'p', {log}"))
            .loads(4, 2.0, "")
            .load("burst", 4, 8.0 / flows, &format!("start = '1500 ms', count = {flows}"))
            .run();
        let found = accepted_before_a_drop(&run, 4);
        let (fill, others) = (7.0, 4.0);
        let closing = fill + alpha * (fill - others);
        let queue = fill * alpha * SIZE / 3.0 / closing;
        // Each queue is off by a packet when the burst begins, the burst by one for each of its flows.
        let packets_off = 2.0 + FLOWS + fill * alpha * (others + 1.0) / closing;
        let [expected, bound] = [queue / PACKET, packets_off].map(|count| count * 8.0 / fill);
        check(format!("alpha {alpha}"), found, within(expected - bound..=expected + bound));
    }
}

/// With the same alpha for all flows, FAB is dynamic thresholds.
#[test]
fn equal_alphas_give_the_results_of_dynamic_thresholds() {
    let with = |policy: &str| {
        let short = "source = { kind = 'finite_flows', size = '15 kB', load = 0.5 }";
        case("3 s")
            .ports(3, format!("size = '30 kB', policy = {{ {policy} }}"), "")
            .toml("defaults = { congestion = 'cubic', rtt = '20 ms' }")
            .flows("a", "l0 l1", "count = 3, reverse_path = ['l2']")
            .flows("short", "l1", short)
            .run()
            .results
            .summary
            .links
    };
    let fab = |alpha| with(&format!("kind = 'fab', alpha = 0.5, short_flow_alpha = {alpha}"));
    let dynamic = with("kind = 'dynamic_threshold', alpha = 0.5");
    assert_eq!(fab(0.5), dynamic);
    assert_ne!(fab(64.0), dynamic, "short flows matter");
}
