//! Delay-based controls (Vegas, FAST and LEDBAT) in whole simulations: the queues and delays that
//! their laws predict at a bottleneck.

use crate::support::case::{Case, Run, above, below, case, check, close, near, within};

/// Runs flows over a bottleneck with a deep buffer. Each flow has a control and a start in
/// milliseconds. The measurement covers the second half of the run.
fn run(rate_mbps: u32, seconds: u32, limit: &str, flows: &[(&str, u32)]) -> Run {
    let keys =
        "packet_size = '1000 B', rtt = '50 ms', access_rate = '1 Gbit/s', initial_window = 2";
    let flow = |case: Case, (index, (control, start_ms)): (usize, &(&str, u32))| {
        let control = format!("congestion = {{ {control} }}, start = '{start_ms} ms'");
        case.flows(format!("f{index}"), "bottleneck", format!("{control}, {keys}"))
    };
    case(&format!("{seconds} s from {} s", seconds / 2))
        .link("bottleneck", format!("{rate_mbps} Mbit/s, 20 ms, {limit}"))
        .each(flows.iter().enumerate(), flow)
        .run()
}

/// Brakmo and Peterson 1995: the window stays constant while alpha to beta packets are queued.
#[test]
fn one_vegas_flow_keeps_alpha_to_beta_packets_queued() {
    for (params, alpha, beta) in [
        ("", 2.0, 4.0),
        (", alpha = 10, beta = 12", 10.0, 12.0),
        (", alpha = 1, beta = 3", 1.0, 3.0),
    ] {
        run(10, 40, "500 packets", &[(&format!("kind = 'vegas'{params}"), 0)])
            .expect("links.bottleneck.queue_packets_mean", within(alpha..=beta))
            .expect("links.bottleneck.utilization", above(0.999))
            .expect("links.bottleneck.drops_packets", 0);
    }
}

/// Jin, Wei and Low 2004: in equilibrium alpha packets of each flow are queued, and flows that
/// measure the same base RTT share the link equally. The first packet of each flow finds an empty
/// queue.
#[test]
fn each_fast_flow_keeps_alpha_packets_queued() {
    let fast = "kind = 'fast', alpha = 40";
    for count in [1, 2, 4] {
        let flows: Vec<_> = (0..count).map(|index| (fast, 2 * index)).collect();
        let run = run(40, 20, "1000 packets", &flows);
        run.expect("links.bottleneck.queue_packets_mean", close(40.0 * f64::from(count), 0.03))
            .expect("links.bottleneck.drops_packets", 0);
        for flow in &run.summary.flows {
            check(&flow.name, flow.share * f64::from(count), near(1.0, 0.03));
        }
    }
}

/// RFC 6817 sec. 2.1: a flow alone uses the whole link and holds the queueing delay at the target.
/// It converges slowly: near the target the window moves by (125 - q) / 125 packets per round trip
/// of 150 ms (125 packets queue for 100 ms), a time constant of 19 s.
#[test]
fn ledbat_alone_holds_the_delay_at_its_target() {
    for (params, target_s) in [("", 0.1), (", target = '25 ms'", 0.025)] {
        run(10, 400, "400 ms", &[(&format!("kind = 'ledbat'{params}"), 0)])
            .expect("links.bottleneck.queue_delay_s_mean", close(target_s, 0.03))
            .expect("links.bottleneck.utilization", above(0.999));
    }
}

/// RFC 6817 sec. 2.1: LEDBAT yields to standard TCP. Reno halves 62 + 500 packets to 281, of which
/// 219 (175 ms) still wait, above the target. So LEDBAT stays at two packets per round trip of at
/// least 225 ms: 0.071 Mbit/s, 0.7 % of the link.
#[test]
fn ledbat_yields_to_reno() {
    run(10, 400, "400 ms", &[("kind = 'ledbat'", 0), ("kind = 'reno'", 1000)])
        .expect("flows.0.share", below(0.0072))
        .expect("links.bottleneck.utilization", above(0.99));
}
