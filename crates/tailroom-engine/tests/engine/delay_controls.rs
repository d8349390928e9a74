//! Delay-based controls (Vegas, FAST and LEDBAT) in whole simulations: the queues and delays that
//! their laws predict at a bottleneck.

use tailroom_engine::results::Summary;

use crate::support::scenario_run;
use crate::support::summaries::link;

/// Runs flows over a bottleneck with a deep buffer. Each flow has a control and a start in
/// milliseconds. The measurement covers the second half of the run.
fn run(rate_mbps: u32, seconds: u32, limit: &str, flows: &[(&str, u32)]) -> Summary {
    let groups = flows.iter().enumerate().map(|(index, (congestion, start_ms))| {
        format!(
            r#"
[flows.f{index}]
path = ["bottleneck"]
congestion = {{ {congestion} }}
packet_size = "1000 B"
rtt = "50 ms"
access_rate = "1 Gbit/s"
start = "{start_ms} ms"
initial_window = 2
"#
        )
    });
    let groups: String = groups.collect();
    let text = format!(
        r#"
duration = "{seconds} s"
measure_from = "{} s"
[links.bottleneck]
rate = "{rate_mbps} Mbit/s"
delay = "20 ms"
queue = {{ kind = "drop_tail", limit = "{limit}" }}
{groups}"#,
        seconds / 2
    );
    scenario_run::run(&text, 1).summary
}

/// Brakmo and Peterson 1995: the window stays constant while alpha to beta packets are queued.
#[test]
fn one_vegas_flow_keeps_alpha_to_beta_packets_queued() {
    for (params, alpha, beta) in [
        ("", 2.0, 4.0),
        (", alpha = 10, beta = 12", 10.0, 12.0),
        (", alpha = 1, beta = 3", 1.0, 3.0),
    ] {
        let summary = run(10, 40, "500 packets", &[(&format!(r#"kind = "vegas"{params}"#), 0)]);
        let queued = link(&summary, "bottleneck").queue_packets_mean;
        assert!((alpha..=beta).contains(&queued), "{queued} packets, alpha {alpha}, beta {beta}");
        assert!(link(&summary, "bottleneck").utilization > 0.999);
        assert_eq!(link(&summary, "bottleneck").drops_packets, 0);
    }
}

/// Jin, Wei and Low 2004: in equilibrium alpha packets of each flow are queued, and flows that
/// measure the same base RTT share the link equally. The first packet of each flow finds an empty
/// queue.
#[test]
fn each_fast_flow_keeps_alpha_packets_queued() {
    let fast = r#"kind = "fast", alpha = 40"#;
    for count in [1, 2, 4] {
        let flows: Vec<_> = (0..count).map(|index| (fast, 2 * index)).collect();
        let summary = run(40, 20, "1000 packets", &flows);
        let (queued, expected) =
            (link(&summary, "bottleneck").queue_packets_mean, 40.0 * f64::from(count));
        assert!((queued / expected - 1.0).abs() < 0.03, "{queued} packets, not {expected}");
        assert_eq!(link(&summary, "bottleneck").drops_packets, 0);
        for flow in &summary.flows {
            let share = flow.share * f64::from(count);
            assert!((share - 1.0).abs() < 0.03, "{}: {share} of the equal share", flow.name);
        }
    }
}

/// RFC 6817 sec. 2.1: a flow alone uses the whole link and holds the queueing delay at the target.
/// It converges slowly: near the target the window moves by (125 - q) / 125 packets per round trip
/// of 150 ms (125 packets queue for 100 ms), a time constant of 19 s.
#[test]
fn ledbat_alone_holds_the_delay_at_its_target() {
    for (params, target_s) in [("", 0.1), (r#", target = "25 ms""#, 0.025)] {
        let summary = run(10, 400, "400 ms", &[(&format!(r#"kind = "ledbat"{params}"#), 0)]);
        let delay_s = link(&summary, "bottleneck").queue_delay_s_mean.expect("packets passed");
        assert!((delay_s / target_s - 1.0).abs() < 0.03, "{delay_s} s, not {target_s} s");
        assert!(link(&summary, "bottleneck").utilization > 0.999);
    }
}

/// RFC 6817 sec. 2.1: LEDBAT yields to standard TCP. Reno halves 62 + 500 packets to 281, of which
/// 219 (175 ms) still wait, above the target. So LEDBAT stays at two packets per round trip of at
/// least 225 ms: 0.071 Mbit/s, 0.7 % of the link.
#[test]
fn ledbat_yields_to_reno() {
    let flows = [(r#"kind = "ledbat""#, 0), (r#"kind = "reno""#, 1000)];
    let summary = run(10, 400, "400 ms", &flows);
    let share = summary.flows[0].share;
    assert!(share < 0.0072, "LEDBAT uses {share} of the link");
    assert!(link(&summary, "bottleneck").utilization > 0.99);
}
