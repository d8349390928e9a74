//! Controls that model the path, in whole simulations: what BBR's models and Keshav's control law
//! say about rate and queue.

use tailroom_engine::results::Summary;

use crate::support::scenario_run;
use crate::support::summaries::link;

/// Flows of one control on a bottleneck with a base RTT of 40 ms. Measured from a quarter of the
/// run on.
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

/// One flow, 100 Mbit/s, 40 ms: a BDP of 333 packets of 1500 B. Version 1 may give up 200 ms in 10
/// s, 2 %, and version 3 gives up half the rate for 200 ms of 5 s, 2 %; both pace at 1 % less than
/// they measure; so 0.95 leaves room for neither's mistakes. The queue is
/// that of the probes: a quarter of a BDP for two RTTs of eight (version 1; 66 packets in the
/// mean), or up to a BDP and three quanta of 8 for three round trips of some sixty and while it
/// drains (version 3; 21 packets).
#[test]
fn one_flow_fills_the_link_and_leaves_the_queue_short() {
    for kind in ["bbr1", "bbr3"] {
        let summary = run(kind, 1, 100, DEEP, 40, 1);
        let link = link(&summary, "bottleneck");
        assert!(link.utilization > 0.95, "{kind}: {}", link.utilization);
        assert!(link.queue_packets_mean < 0.25 * 333.0, "{kind}: {}", link.queue_packets_mean);
        let p99 = link.queue_packets_p99.expect("there is a queue");
        assert!(p99 <= 333.0 + 24.0, "{kind}: {p99}");
        assert_eq!(link.drops_packets, 0);
    }
}

/// One flow of version 1 on 100 Mbit/s and 75 ms, a BDP of 625 packets: a probe puts a quarter of
/// it into the queue for one RTT of eight and takes it out in the next, 20 packets in the mean. The
/// phase that drains may leave the three quanta of 8 that its window has beyond the BDP. Pacing 1 %
/// below the estimate drains six of them a round trip; were they to stay, the queue would have 44.
#[test]
fn version_1_drains_what_its_probe_leaves() {
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

/// Several flows of version 1 in a deep buffer overestimate their rates until their windows hold
/// them: 2 BDP (667 packets), three quanta of at most 8 a flow and what ACKs have brought before
/// its time are in flight, so more than a BDP of 333 packets less what `ProbeRTT` and the phases of
/// 3/4 take away is queued. Before its time come at most the packets of a probe: an RTT at 5/4 of a
/// flow's rate brings a quarter of its BDP more, 83 packets of all flows together.
#[test]
fn flows_of_version_1_have_two_bdp_in_flight_in_a_deep_buffer() {
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

/// Cardwell et al. 2016, "Throughputs of five BBR flows sharing a bottleneck": flows that start one after
/// another on 100 Mbit/s with an RTT of 10 ms converge to fair shares.
#[test]
fn flows_of_version_1_that_start_one_after_another_come_to_share_evenly() {
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

/// Version 3 keeps its losses below its threshold of 2 % where version 1 does not: four flows and a
/// buffer of a quarter of a BDP.
#[test]
fn version_3_loses_less_than_its_threshold_in_a_short_buffer_and_version_1_more() {
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

/// Keshav's law: n flows have C/n each, and 4 packets (the set-point) queued each, and one more as
/// they leave in pairs.
#[test]
fn packet_pairs_share_a_fair_queue_evenly_and_keep_it_short() {
    for flows in [1, 2, 5, 10] {
        let fair = r#"kind = "fair", limit = "1000 packets""#;
        let summary = run("packet_pair", flows, 100, fair, 20, 1);
        let link = link(&summary, "bottleneck");
        assert!(link.utilization > 0.999, "{flows} flows: {}", link.utilization);
        for flow in &summary.flows {
            let share = flow.share * f64::from(flows);
            assert!((share - 1.0).abs() < 0.01, "{} of {flows} has {share} of its part", flow.name);
        }
        let queued = link.queue_packets_mean / f64::from(flows);
        assert!((4.0..6.0).contains(&queued), "{queued} packets a flow");
        assert_eq!(link.drops_packets, 0);
    }
}
