//! Rate-based controls (BBR and packet pair) in whole simulations: the rates and queues that their
//! models predict.

use tailroom_engine::results::Summary;

use crate::support::scenario_run;
use crate::support::summaries::link;

/// Runs flows of one control over a bottleneck with a base RTT of 40 ms; the measurement starts
/// after a quarter of the run.
fn run(kind: &str, flows: u32, rate_mbps: u32, queue: &str, seconds: u32, seed: u64) -> Summary {
    let text = format!(
        r#"
duration = "{seconds} s"
measure_from = "{} s"
[links.bottleneck]
rate = "{rate_mbps} Mbit/s"
delay = "10 ms"
queue = {{ {queue} }}
[flows.all]
count = {flows}
path = ["bottleneck"]
congestion = {{ kind = "{kind}" }}
rtt = "40 ms"
access_rate = "1 Gbit/s"
start = {{ uniform = ["0 s", "1 s"] }}
"#,
        seconds / 4
    );
    scenario_run::run(&text, seed).summary
}

const DEEP: &str = r#"kind = "drop_tail", limit = "4000 packets""#;

/// One flow at 100 Mbit/s with an RTT of 40 ms: the BDP is 333 packets of 1500 B. Version 1 may
/// send nothing for 200 ms in 10 s, 2 %, version 3 sends at half its rate for 200 ms in 5 s, 2 %,
/// and both pace at 1 % below the measured rate: a utilization of 0.95 leaves no room for errors of
/// either. The queue comes from the probes: a quarter of a BDP for two of eight RTTs (version 1; a
/// mean of 66 packets), or up to a BDP and three quanta of 8 packets for three of about sixty round
/// trips and while the queue drains (version 3; 21 packets).
#[test]
fn one_flow_fills_the_link_and_keeps_the_queue_short() {
    for kind in ["bbr1", "bbr3"] {
        let summary = run(kind, 1, 100, DEEP, 40, 1);
        let link = link(&summary, "bottleneck");
        assert!(link.utilization > 0.95, "{kind}: {}", link.utilization);
        assert!(link.queue_packets_mean < 0.25 * 333.0, "{kind}: {}", link.queue_packets_mean);
        let p99 = link.queue_packets_p99.expect("the queue is measured");
        assert!(p99 <= 333.0 + 24.0, "{kind}: {p99}");
        assert_eq!(link.drops_packets, 0);
    }
}

/// One flow of version 1 at 100 Mbit/s with an RTT of 75 ms, a BDP of 625 packets: a probe adds a
/// quarter of the BDP to the queue in one of eight RTTs and the next RTT removes it, a mean of 20
/// packets. The draining phase may leave the three quanta of 8 packets by which the window exceeds
/// the BDP. Pacing 1 % below the estimate drains six of these packets per round trip; if they
/// stayed, the mean queue would be 44 packets.
#[test]
fn version_1_drains_the_queue_of_its_probes() {
    let text = r#"
duration = "60 s"
measure_from = "20 s"
[links.bottleneck]
rate = "100 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", limit = "625 packets" }
[flows.one]
path = ["bottleneck"]
congestion = { kind = "bbr1" }
rtt = "75 ms"
access_rate = "1 Gbit/s"
"#;
    for seed in [1, 2, 3] {
        let summary = scenario_run::run(text, seed).summary;
        let link = link(&summary, "bottleneck");
        assert!((20.0..44.0).contains(&link.queue_packets_mean), "{}", link.queue_packets_mean);
        assert!(link.utilization > 0.95, "{}", link.utilization);
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
        let summary = run("bbr1", flows, 100, DEEP, 40, 1);
        let link = link(&summary, "bottleneck");
        let beyond = 24.0 * f64::from(flows) + 83.0;
        let windows: f64 = summary.flows.iter().filter_map(|flow| flow.cwnd_packets_mean).sum();
        assert!((0.95 * 667.0..667.0 + beyond).contains(&windows), "{windows} packets");
        let queued = link.queue_packets_mean;
        assert!((0.95 * 333.0..333.0 + beyond).contains(&queued), "{queued} packets");
        assert!(link.utilization > 0.97, "{}", link.utilization);
        assert_eq!(link.drops_packets, 0);
    }
}

/// Cardwell et al. 2016, "Throughputs of five BBR flows sharing a bottleneck": flows that start one
/// after another at 100 Mbit/s with an RTT of 10 ms converge to fair shares.
#[test]
fn flows_of_version_1_that_start_one_after_another_converge_to_equal_shares() {
    for limit in ["2 bdp", "8 bdp"] {
        let link = format!(
            r#"
duration = "100 s"
measure_from = "60 s"
[links.bottleneck]
rate = "100 Mbit/s"
delay = "1 ms"
queue = {{ kind = "drop_tail", limit = "{limit}" }}
"#
        );
        let group = |number: u32| {
            format!(
                r#"
[flows.f{number}]
path = ["bottleneck"]
congestion = {{ kind = "bbr1" }}
rtt = "10 ms"
start = "{} s"
"#,
                2 * number
            )
        };
        let text = (0..5).map(group).fold(link, |text, group| text + &group);
        let summary = scenario_run::run(&text, 1).summary;
        let shares: Vec<f64> = summary.flows.iter().map(|flow| 5.0 * flow.share).collect();
        assert!(shares.iter().all(|share| (0.8..1.2).contains(share)), "{limit}: {shares:?}");
    }
}

/// Four flows with a buffer of a quarter of a BDP: version 3 keeps its losses below its threshold
/// of 2 %, and version 1 does not.
#[test]
fn in_a_short_buffer_version_3_stays_below_its_loss_threshold_and_version_1_does_not() {
    let short = r#"kind = "drop_tail", limit = "83 packets""#;
    let loss = |kind| {
        let summary = run(kind, 4, 100, short, 40, 1);
        let link = link(&summary, "bottleneck");
        assert!(link.utilization > 0.9, "{kind}: {}", link.utilization);
        link.loss_fraction.expect("packets arrive")
    };
    let (first, third) = (loss("bbr1"), loss("bbr3"));
    assert!(third < 0.02 && first > 0.02, "version 1 loses {first}, version 3 {third}");
}

/// Keshav 1995: each of n flows gets C / n and keeps 4 packets queued (the set point), and one more
/// because packets leave in pairs.
#[test]
fn packet_pair_flows_share_a_fair_queue_equally_and_keep_it_short() {
    for flows in [1, 2, 5, 10] {
        let fair = r#"kind = "fair", limit = "1000 packets""#;
        let summary = run("packet_pair", flows, 100, fair, 20, 1);
        let link = link(&summary, "bottleneck");
        assert!(link.utilization > 0.999, "{flows} flows: {}", link.utilization);
        for flow in &summary.flows {
            let share = flow.share * f64::from(flows);
            assert!(
                (share - 1.0).abs() < 0.01,
                "{} of {flows} flows: {share} of the equal share",
                flow.name
            );
        }
        let queued = link.queue_packets_mean / f64::from(flows);
        assert!((4.0..6.0).contains(&queued), "{queued} packets per flow");
        assert_eq!(link.drops_packets, 0);
    }
}
