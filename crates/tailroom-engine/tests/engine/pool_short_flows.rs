//! FAB: packets of short flows have the threshold of a larger alpha, others that of the smaller.

use crate::pools::{PACKET, accepted_before_a_drop, links, pool_of, stream};
use crate::support::scenario_run::run;

/// A pool of `size` bytes under FAB, with these parameters.
fn fab(size: f64, parameters: &str) -> String {
    format!("size = \"{size} B\"\npolicy = {{ kind = \"fab\", {parameters} }}")
}

/// Long flows hold what dynamic thresholds with their alpha leave them, alpha B / (1 + alpha M).
#[test]
fn saturated_queues_of_long_flows_settle_at_the_threshold_of_the_smaller_alpha() {
    const SIZE: f64 = 200_000.0;
    for (queues, alpha) in [(1, 0.5), (4, 0.5), (16, 0.0625), (16, 2.0)] {
        let parameters = format!("alpha = {alpha}, short_flow_alpha = 64");
        let mut text = "duration = \"1 s\"\nmeasure_from = \"600 ms\"\n".to_owned();
        text += &links(queues, &fab(SIZE, &parameters), "");
        for index in 0..queues {
            text += &stream(&format!("f{index}"), index, 1.5, "0 s");
        }
        let found = pool_of(&run(&text, 1).summary).memory_bytes_mean / queues as f64;
        let expected = alpha * SIZE / (1.0 + alpha * queues as f64);
        let bound = (1.0 + alpha) * PACKET;
        let case = format!("{queues} queues, alpha {alpha}: {found} B, expected {expected} B");
        assert!((found - expected).abs() <= bound, "{case}");
    }
}

/// Next to four queues of long flows at their threshold, alpha B / (1 + alpha M) = B / 6 each, a burst at 8
/// times the rate of its link fills its queue until `q = a (B / 3 - (7 - 4) q / 7)`, since the others only
/// drain. Four flows of less than 200 kB each have the larger alpha for `a`, and one flow the smaller.
#[test]
fn a_burst_of_short_flows_is_cut_at_the_threshold_of_the_larger_alpha() {
    const SIZE: f64 = 1e6;
    const FLOWS: f64 = 4.0;
    let parameters = "alpha = 0.5, short_flow_alpha = 8, short_flow_size = \"200 kB\"";
    for (flows, alpha) in [(FLOWS, 8.0), (1.0, 0.5)] {
        let mut text = "duration = \"1700 ms\"\n".to_owned();
        text += &links(5, &fab(SIZE, parameters), "");
        text += "arrival_log = { from = \"1500 ms\", to = \"1700 ms\", most_packets = 2000000 }\n";
        for index in 0..4 {
            text += &stream(&format!("f{index}"), index, 2.0, "0 s");
        }
        let burst = stream("burst", 4, 8.0 / flows, "1500 ms");
        text += &burst.replace("path", &format!("count = {flows}\npath"));
        if flows < FLOWS {
            // From the beginning of the burst on, its one flow has sent all that a short flow may.
            text = text.replace("200 kB", "100 B");
        }
        let found = accepted_before_a_drop(&run(&text, 1), 4);
        let (fill, others) = (7.0, 4.0);
        let closing = fill + alpha * (fill - others);
        let queue = fill * alpha * SIZE / 3.0 / closing;
        // Each queue is off by a packet when the burst begins, the burst by one for each of its flows.
        let packets_off = 2.0 + FLOWS + fill * alpha * (others + 1.0) / closing;
        let [expected, bound] = [queue / PACKET, packets_off].map(|count| count * 8.0 / fill);
        assert!((found - expected).abs() <= bound, "alpha {alpha}: {found}, {expected} expected");
    }
}

/// With the same alpha for all flows, FAB is dynamic thresholds.
#[test]
fn equal_alphas_give_the_results_of_dynamic_thresholds() {
    let with = |policy: &str| {
        let pool = format!("size = \"30 kB\"\npolicy = {policy}");
        let mut text = "duration = \"3 s\"\n".to_owned() + &links(3, &pool, "");
        text += "[defaults]\ncongestion = \"cubic\"\nrtt = \"20 ms\"\n[flows.a]\ncount = 3\npath = \
                 [\"l0\", \"l1\"]\nreverse_path = [\"l2\"]\n[flows.short]\npath = [\"l1\"]\nsource = \
                 { kind = \"finite_flows\", size = \"15 kB\", load = 0.5 }\n";
        run(&text, 1).summary.links
    };
    let fab =
        |alpha| with(&format!("{{ kind = \"fab\", alpha = 0.5, short_flow_alpha = {alpha} }}"));
    let dynamic = with("{ kind = \"dynamic_threshold\", alpha = 0.5 }");
    assert_eq!(fab(0.5), dynamic);
    assert_ne!(fab(64.0), dynamic, "short flows matter");
}
