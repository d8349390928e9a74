//! Flows that come and go, against processor sharing and the claims of Auge and Roberts (2006).

use tailroom_engine::results::{FlowCounts, Regime};
use tailroom_engine::simulation::Simulation;

use crate::support::scenario_run;
use crate::support::summaries::{group, link};

/// Elastic flows with exponential sizes over a fair queue of 100 Mbit/s: round trips of 1 ms, and mean
/// sizes of 100 bandwidth-delay products.
fn elastic(load: f64, more: &str) -> String {
    format!(
        r#"
        duration = "2000 s"
        measure_from = "100 s"
        [links.link]
        rate = "100 Mbit/s"
        delay = "0.5 ms"
        queue = {{ kind = "fair", limit = "1000 packets" }}
        [flows.elastic]
        path = ["link"]
        congestion = {{ kind = "reno" }}
        source = {{ kind = "finite_flows", size = {{ kind = "exponential", mean = "1.25 MB" }}, load = {load} }}
        {more}
        "#
    )
}

/// Half the sum of the distances between the shares of the time with n bottlenecked flows and
/// (1 - rho) rho^n.
fn variation_from_geometric(counts: &FlowCounts, rho: f64) -> f64 {
    let mut unseen = 1.0;
    let mut distance = 0.0;
    for (flows, share) in counts.flows.iter().zip(&counts.bottlenecked_fraction) {
        let expected = (1.0 - rho) * rho.powf(*flows);
        unseen -= expected;
        distance += (share - expected).abs();
    }
    0.5 * (distance + unseen)
}

/// Processor sharing (Auge and Roberts sec. III-C): with n flows in progress each gets an n-th of the
/// link, so P(n) = (1 - rho) rho^n, and a flow takes as long as its size at a rate of C (1 - rho).
#[test]
fn elastic_flows_share_as_processor_sharing_says() {
    for load in [0.3, 0.6] {
        let results = scenario_run::run(&elastic(load, ""), 1);
        let (link, group) = (link(&results.summary, "link"), group(&results.summary, "elastic"));
        let rho = link.sharing.offered_load;
        // At 8.3 bit/s a byte and mean 1.28 MB on the wire: 4,400 and 8,800 flows. Their number has
        // a relative standard deviation of 1.5 and 1.1 %, their total size sqrt(2) times that.
        assert!((rho / load - 1.0).abs() < 3.0 * 1.414 / (group.flows as f64).sqrt(), "{rho}");
        let variation = variation_from_geometric(
            results.tables.flow_counts.as_ref().expect("it is recorded"),
            rho,
        );
        assert!(variation < 0.05, "load {load}: {variation}");
        let all = group.all_sizes.as_ref().expect("they come and go");
        let duration_s = all.completion_time_s_mean.expect("most complete");
        let mean_bits = 8.0 * group.goodput_bps / 8.0 * 1_900.0 / group.flows as f64;
        let rate = mean_bits / duration_s / (100e6 * (1.0 - rho));
        assert!((0.9..1.02).contains(&rate), "load {load}: {rate} of C (1 - rho)");
        assert_eq!(link.sharing.regime, Regime::Elastic);
    }
}

/// The same beside flows that the link does not hold back: they take their part, and the elastic flows
/// share the rest C' as if it were the link, with rho' = elastic load over C'.
#[test]
fn elastic_flows_share_what_others_leave() {
    let background = r#"
        [flows.background]
        count = 40
        path = ["link"]
        source = { kind = "poisson", rate = "1 Mbit/s" }
    "#;
    let results = scenario_run::run(&elastic(0.3, background), 1);
    let link = link(&results.summary, "link");
    let rho = (link.sharing.offered_load - 0.4) / 0.6;
    let variation =
        variation_from_geometric(results.tables.flow_counts.as_ref().expect("it is recorded"), rho);
    assert!(variation < 0.05, "{variation}");
    assert_eq!(group(&results.summary, "background").loss_fraction, Some(0.0));
    assert_eq!(link.sharing.regime, Regime::Elastic);
}

/// Flows of 1 Mbit/s that offer so much load to a link behind 100 packets.
fn limited(rate: &str, load: f64, duration_s: u32) -> String {
    format!(
        r#"
        duration = "{duration_s} s"
        measure_from = "5 s"
        [links.link]
        rate = "{rate}"
        delay = "1 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        [flows.limited]
        path = ["link"]
        congestion = {{ kind = "reno" }}
        rtt = {{ uniform = ["20 ms", "200 ms"] }}
        access_rate = "1 Mbit/s"
        source = {{ kind = "finite_flows", size = {{ kind = "exponential", mean = "125 kB" }}, load = {load} }}
        "#
    )
}

/// Transparent (Auge and Roberts sec. III-B): at 10 Gbit/s and a load of 0.9 "a buffer of 100 packets"
/// loses less than 1 packet in 30,000. The number of flows is 9,000 with a standard deviation of 95:
/// it does not come near 10,000.
#[test]
fn limited_flows_on_a_large_link_leave_it_transparent() {
    let results = scenario_run::run(&limited("10 Gbit/s", 0.9, 10), 1);
    let link = link(&results.summary, "link");
    assert_eq!(link.sharing.regime, Regime::Transparent);
    assert!(link.sharing.bottlenecked_time_fraction <= 0.0);
    assert!((link.utilization - 0.9).abs() < 0.03, "{}", link.utilization);
    let loss = link.loss_fraction.expect("packets arrive");
    assert!(loss < 1.0 / 30_000.0, "{loss}");
}

/// Overload: what is not served stays, so that the number of flows grows and all are bottlenecked.
#[test]
fn overload_lets_flows_pile_up() {
    let at = |seconds| {
        let results = scenario_run::run(&limited("20 Mbit/s", 1.5, seconds), 1);
        let sharing = link(&results.summary, "link").sharing.clone();
        assert_eq!(sharing.regime, Regime::Overload);
        (
            sharing.flows_in_progress_mean.expect("time"),
            sharing.bottlenecked_flows_mean.expect("time"),
        )
    };
    let ((early, _), (late, bottlenecked)) = (at(20), at(80));
    assert!(late > 2.0 * early, "{early}, {late}");
    assert!(bottlenecked > 0.98 * late, "{bottlenecked} of {late}");
}

/// At its stop a group of flows that come and go lets no more arrive; those in progress finish.
#[test]
fn flows_in_progress_at_the_stop_finish() {
    let text = elastic(1.3, "stop = \"20 s\"")
        .replace("2000 s", "60 s")
        .replace("100 s", "0 s")
        .replace("load =", "flow_log = 1000, load =");
    let results = scenario_run::run(&text, 1);
    let flows = group(&results.summary, "elastic");
    // 13 a second for 20 s, which 26 s of the link's time serve: some 60 are there at the stop.
    assert!((200..330).contains(&flows.flows), "{} flows", flows.flows);
    assert_eq!(flows.completed_flows, flows.flows);
    let log = results.tables.flow_log.as_ref().expect("it is recorded");
    assert!(log.start_s.iter().all(|start| *start < 20.0));
    let ends = log.start_s.iter().zip(&log.completion_time_s).map(|(start, time)| start + time);
    let late = ends.filter(|end| *end > 20.0).count();
    assert!(late > 20, "{late} of {}", flows.flows);
}

/// A number that is given again brings nothing with it, and there are as many numbers as flows were
/// in progress at once, a few waiting for their last packets.
#[test]
fn numbers_are_used_again_without_a_trace() {
    let text = limited("30 Mbit/s", 0.8, 200);
    let network = scenario_run::network(&text, 1);
    let again = scenario_run::run(&text, 1);
    let mut fresh = Simulation::new(&network);
    fresh.keep_numbers();
    fresh.run_until(network.duration).expect("memory has no limit");
    let flows = fresh.flow_places();
    let fresh = fresh.finish().expect("the account balances");
    assert_eq!(fresh.summary, again.summary);
    assert_eq!(fresh.tables.flow_counts, again.tables.flow_counts);
    assert!(flows > 4_000, "{flows}");
    let mut simulation = Simulation::new(&network);
    simulation.run_until(network.duration).expect("memory has no limit");
    let counts = again.tables.flow_counts.expect("it is recorded");
    let most = counts.flows.iter().fold(0.0_f64, |most, flows| most.max(*flows));
    let places = simulation.flow_places() as f64;
    assert!(places <= 1.2 * most + 20.0, "{places} for at most {most} at once");
}

/// Flows at given times take what their sizes and round trips say: alone, a flow of ten packets needs
/// slow start's rounds of 2, 4 and 4.
#[test]
fn a_flow_alone_takes_slow_starts_round_trips() {
    let text = r#"
        duration = "10 s"
        [links.link]
        rate = "12 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        [flows.one]
        path = ["link"]
        congestion = { kind = "reno" }
        send_jitter = "none"
        rtt = "100 ms"
        initial_window = 2
        source = { kind = "finite_flows", size = "14600 B", arrivals = ["1 s", "3 s"], flow_log = 10 }
    "#;
    let results = scenario_run::run(text, 1);
    let log = results.tables.flow_log.as_ref().expect("it is recorded");
    assert_eq!(
        (log.start_s.as_slice(), log.bytes.as_slice()),
        (&[1.0, 3.0][..], &[14_600.0; 2][..])
    );
    // Two round trips until the first of the last four leaves, whose ACK is there 101 ms later: each
    // packet takes 1 ms. The packets of the third round follow two ACKs each 1 ms apart: two at
    // once, so that the fourth waits for three: 100 + 1 + 100 + 1 + 100 + 4 - 1 + 1 ms, by hand:
    // ACK of packet 0 at 101 sends 2 and 3 (leave the link at 102, 103), of 1 at 102 sends 4 and 5
    // (104, 105); ACKs at 202, 203, 204, 205 (+100) send 6 to 9 at 202, 203; these leave the link
    // two by two at 203, 204, 205, 206, and the last ACK comes 100 ms later.
    for duration in &log.completion_time_s {
        assert!((duration - 0.306).abs() < 1e-9, "{duration}");
    }
    // Alone: ten packets at 12 Mbit/s and one round trip, 110 ms.
    assert!((log.slowdown[0] - 0.306 / 0.110).abs() < 1e-6, "{}", log.slowdown[0]);
    assert_eq!(group(&results.summary, "one").completed_flows, 2);
}
