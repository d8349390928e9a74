//! Rate-based controls (BBR and packet pair) in whole simulations: the rates and queues that their
//! models predict.

use crate::support::case::{Case, Run, above, below, case, check, near, within};

/// Runs flows of one control over a bottleneck with a base RTT of 40 ms; the measurement starts
/// after a quarter of the run.
fn run(kind: &str, flows: u32, queue: &str, seconds: u32) -> Run {
    let start = "access_rate = '1 Gbit/s', start = { uniform = ['0 s', '1 s'] }";
    case(&format!("{seconds} s from {} s", seconds / 4))
        .link("bottleneck", format!("100 Mbit/s, 10 ms, {queue}"))
        .flows(
            "all",
            "bottleneck",
            format!("congestion = '{kind}', count = {flows}, rtt = '40 ms', {start}"),
        )
        .run()
}

const DEEP: &str = "4000 packets";

/// One flow at 100 Mbit/s with an RTT of 40 ms: the BDP is 333 packets of 1500 B. Version 1 may
/// send nothing for 200 ms in 10 s, 2 %, version 3 sends at half its rate for 200 ms in 5 s, 2 %,
/// and both pace at 1 % below the measured rate: a utilization of 0.95 leaves no room for errors of
/// either. The queue comes from the probes: a quarter of a BDP for two of eight RTTs (version 1; a
/// mean of 66 packets), or up to a BDP and three quanta of 8 packets for three of about sixty round
/// trips and while the queue drains (version 3; 21 packets).
#[test]
fn one_flow_fills_the_link_and_keeps_the_queue_short() {
    for kind in ["bbr1", "bbr3"] {
        run(kind, 1, DEEP, 40)
            .expect("links.bottleneck.utilization", above(0.95))
            .expect("links.bottleneck.queue_packets_mean", below(0.25 * 333.0))
            .expect("links.bottleneck.queue_packets_p99", within(..=333.0 + 24.0))
            .expect("links.bottleneck.drops_packets", 0);
    }
}

/// One flow of version 1 at 100 Mbit/s with an RTT of 75 ms, a BDP of 625 packets: a probe adds a
/// quarter of the BDP to the queue in one of eight RTTs and the next RTT removes it, a mean of 20
/// packets. The draining phase may leave the three quanta of 8 packets by which the window exceeds
/// the BDP. Pacing 1 % below the estimate drains six of these packets per round trip; if they
/// stayed, the mean queue would be 44 packets.
#[test]
fn version_1_drains_the_queue_of_its_probes() {
    let keys = "congestion = 'bbr1', rtt = '75 ms', access_rate = '1 Gbit/s'";
    let link = case("60 s from 20 s").link("bottleneck", "100 Mbit/s, 10 ms, 625 packets");
    let one = link.flows("one", "bottleneck", keys);
    for seed in [1, 2, 3] {
        one.clone()
            .seed(seed)
            .run()
            .expect("links.bottleneck.queue_packets_mean", within(20.0..44.0))
            .expect("links.bottleneck.utilization", above(0.95));
    }
}

/// Several flows of version 1 in a deep buffer overestimate their rates until their windows limit
/// them. In flight are 2 BDP (667 packets), three quanta of at most 8 packets per flow, and the
/// packets that early ACKs release. So more than a BDP of 333 packets is queued, less the
/// reductions by `ProbeRTT` and the phases at 3/4 of the rate. ACKs arrive early only for the
/// packets of a probe: an RTT at 5/4 of the rate of a flow adds a quarter of its BDP, 83 packets
/// for all flows together.
#[test]
fn flows_of_version_1_keep_two_bdp_in_flight_in_a_deep_buffer() {
    for flows in [2, 4] {
        let run = run("bbr1", flows, DEEP, 40);
        let beyond = 24.0 * f64::from(flows) + 83.0;
        let windows = run.summary.flows.iter().filter_map(|flow| flow.cwnd_packets_mean);
        check("packets", windows.sum(), within(0.95 * 667.0..667.0 + beyond));
        run.expect("links.bottleneck.queue_packets_mean", within(0.95 * 333.0..333.0 + beyond))
            .expect("links.bottleneck.utilization", above(0.97))
            .expect("links.bottleneck.drops_packets", 0);
    }
}

/// Cardwell et al. 2016, "Throughputs of five BBR flows sharing a bottleneck": flows that start one
/// after another at 100 Mbit/s with an RTT of 10 ms converge to fair shares.
#[test]
fn flows_of_version_1_that_start_one_after_another_converge_to_equal_shares() {
    for limit in ["2 bdp", "8 bdp"] {
        let flow = |case: Case, number: u32| {
            let keys = format!("congestion = 'bbr1', rtt = '10 ms', start = '{} s'", 2 * number);
            case.flows(format!("f{number}"), "bottleneck", keys)
        };
        let run = case("100 s from 60 s")
            .link("bottleneck", format!("100 Mbit/s, 1 ms, {limit}"))
            .each(0..5, flow)
            .run();
        for flow in 0..5 {
            run.expect(&format!("flows.{flow}.share"), within(0.8 / 5.0..1.2 / 5.0));
        }
    }
}

/// Four flows with a buffer of a quarter of a BDP: version 3 keeps its losses below its threshold
/// of 2 %, and version 1 does not.
#[test]
fn in_a_short_buffer_version_3_stays_below_its_loss_threshold_and_version_1_does_not() {
    for (kind, expected) in [("bbr1", above(0.02)), ("bbr3", below(0.02))] {
        run(kind, 4, "83 packets", 40)
            .expect("links.bottleneck.utilization", above(0.9))
            .expect("links.bottleneck.loss_fraction", expected);
    }
}

/// Keshav 1995: each of n flows gets C / n and keeps 4 packets queued (the set point), and one more
/// because packets leave in pairs.
#[test]
fn packet_pair_flows_share_a_fair_queue_equally_and_keep_it_short() {
    for flows in [1, 2, 5, 10] {
        let run = run("packet_pair", flows, "fair 1000 packets", 20);
        let count = f64::from(flows);
        for flow in &run.summary.flows {
            check(&flow.name, flow.share * count, near(1.0, 0.01));
        }
        run.expect("links.bottleneck.utilization", above(0.999))
            .expect("links.bottleneck.queue_packets_mean", within(4.0 * count..6.0 * count))
            .expect("links.bottleneck.drops_packets", 0);
    }
}
